"""Which notebook file this kernel belongs to, and what is recorded in it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rooflab.lecture.recorded import digest, origin, recorded

#: Set for every kernel of a Jupyter server (2.0 and newer): the notebook's path.
SESSION = "JPY_SESSION_NAME"
TIMEOUT = 5  # seconds that git may take to answer


@dataclass(frozen=True)
class Recording:
    """Recorded outputs by cell id, where they come from, and the tags of every cell.

    ``missing`` says in a sentence why there are none; it is empty where there are some.
    """

    cells: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    of: str = ""
    tags: dict[str, list[str]] = field(default_factory=dict)
    missing: str = ""


def notebook_path() -> Path | None:
    """The notebook that started this kernel, if its front end says so; else None."""
    said = os.environ.get(SESSION, "")
    in_vscode = getattr(sys.modules.get("__main__"), "__vsc_ipynb_file__", "")
    for name in (in_vscode, said):
        if name.endswith(".ipynb"):
            return Path(name)
    return None


def read(path: Path | None) -> Recording:
    """Read tags and recorded outputs; whatever is wrong with the file is said in ``missing``.

    The outputs of the last commit go before those in the file, which a lecturer who saves has
    overwritten with their own.
    """
    if path is None:
        return Recording(missing="This front end does not say which notebook file this is.")
    try:
        here = _parsed(path.read_bytes())
    except OSError as error:
        return Recording(
            missing=f"The notebook file {path.name!r} cannot be read: {error.strerror}."
        )
    except ValueError:
        return Recording(missing=f"The file {path.name!r} is no notebook of format 4.5 or newer.")
    tags = {cell["id"]: list(cell.get("metadata", {}).get("tags", [])) for cell in here["cells"]}
    committed = _committed(path)
    source = committed if committed and digest(committed["cells"]) != digest([]) else here
    found = recorded(source["cells"])
    if not found:
        return Recording(tags=tags, missing=f"{path.name!r} holds no outputs: nothing is recorded.")
    return Recording(found, origin(source), tags)


def _parsed(content: bytes) -> dict[str, Any]:
    """A notebook as plain data. Raises ValueError for anything else."""
    notebook = json.loads(content)  # UnicodeDecodeError and JSONDecodeError are ValueErrors
    cells = notebook.get("cells") if isinstance(notebook, dict) else None
    if not isinstance(cells, list) or not all(isinstance(c, dict) and "id" in c for c in cells):
        raise ValueError("not a notebook of format 4.5")
    return notebook


def _committed(path: Path) -> dict[str, Any] | None:
    """The notebook as it was committed last; None without git, or where it is not tracked."""
    command = ["git", "-C", str(path.parent), "show", f"HEAD:./{path.name}"]
    try:
        shown = subprocess.run(command, capture_output=True, timeout=TIMEOUT, check=True).stdout
        return _parsed(shown)
    except (OSError, subprocess.SubprocessError, ValueError):
        return None
