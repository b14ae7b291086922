"""``python -m rooflab`` is ``rooflab``."""

from __future__ import annotations

import sys

from rooflab.optional import installed


def main() -> None:
    """Run the command line, or say what it needs."""
    try:
        with installed("The command rooflab"):
            from rooflab.cli import main as run
    except ModuleNotFoundError as error:
        print(f"rooflab: {error}", file=sys.stderr)
        sys.exit(2)
    run()


if __name__ == "__main__":
    main()
