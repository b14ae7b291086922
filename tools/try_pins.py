"""Try the package beside the versions that other places pin: a serving stack, Google Colab.

    python tools/try_pins.py serving           tests of counting and predicting, nothing else there
    python tools/try_pins.py colab [LESSON …]  the lessons, from their sources, solved

Each makes an environment of its own, with the Python that starts it, and installs the versions in
tools/pins/NAME.txt. pip may not move them, so that a lower bound in pyproject.toml that is too high
fails here. ``--folder`` keeps the environment for the next time. This needs a network and takes
minutes; it is no part of the tests.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

HERE = Path(__file__).resolve().parent.parent
PINS = HERE / "tools" / "pins"
EXTRAS = {"serving": "", "colab": "[terminal,plot,measure]"}
BESIDE = {"serving": ["pytest", "hypothesis"], "colab": []}  # what trying needs, and nobody pins
LIGHT = ["tests/count", "tests/predict", "tests/labs/llm/test_model.py"]


def environment(folder: Path) -> str:
    """The Python of the environment in ``folder``, which is made if it is not there."""
    if not folder.exists():
        venv.EnvBuilder(with_pip=True).create(folder)
    return str(folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python"))


def install(python: str, name: str) -> None:
    """Install the pins, then the package as a wheel with its extras, which must fit beside them."""
    pins = str(PINS / f"{name}.txt")
    pip = [python, "-m", "pip", "--disable-pip-version-check", "--quiet"]
    run([*pip, "install", "-r", pins, *BESIDE[name]])
    run([*pip, "uninstall", "--yes", "rooflab"])  # of an earlier time
    run([*pip, "install", "-c", pins, f"{HERE}{EXTRAS[name]}"])
    run([*pip, "check"])


def run(command: list[str], **more: str) -> None:
    """Run a command in the repository; leave with its status if it fails."""
    left_out = ("PYTHONPATH", "PYTHONHOME")
    clean = {key: value for key, value in os.environ.items() if key not in left_out}
    status = subprocess.run(command, cwd=HERE, env={**clean, **more}).returncode
    if status:
        sys.exit(status)


def lessons(chosen: list[str]) -> None:
    """Run the solved lessons in the Python that runs this; RuntimeError names a cell that fails."""
    from tools.execute import run_notebook
    from tools.lesson import read_lesson

    sources = sorted((HERE / "notebooks" / "source").glob("*.py"))
    for source in sources:
        if chosen and source.stem not in chosen:
            continue
        with tempfile.TemporaryDirectory(prefix="rooflab-pins-") as folder:
            run_notebook(read_lesson(source).solution, source.stem, Path(folder))
        print(f"{source.stem}: every cell ran", flush=True)


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("name", choices=[*EXTRAS, "lessons"])  # lessons: inside the environment
    parser.add_argument("lessons", nargs="*", help="colab: names such as 00_free_lunch")
    parser.add_argument("--folder", type=Path, help="where the environment is kept")
    given = parser.parse_intermixed_args()
    if given.name == "lessons":
        return lessons(given.lessons)
    with tempfile.TemporaryDirectory(prefix="rooflab-pins-") as folder:
        python = environment(given.folder or Path(folder) / given.name)
        install(python, given.name)
        if given.name == "serving":
            run([python, "-m", "pytest", "-q", "-p", "no:cacheprovider", *LIGHT])
        else:
            again = ["-m", "tools.try_pins", "lessons", *given.lessons]
            run([python, *again], ROOFLAB_QUICK="1")
    return None


if __name__ == "__main__":
    main()
