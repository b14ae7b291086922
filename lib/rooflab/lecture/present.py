"""``rl.lecture()``: the open notebook as a presentation, one step at a time."""

from __future__ import annotations

import hashlib
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from datetime import date
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import anywidget
import traitlets

from rooflab.exercises.guesses import GUESSES, Store, store
from rooflab.show import canvas
from rooflab.show.guess_axis import GuessAxis
from rooflab.show.sort_cards import SortCards

# Cells that say nothing from a wall, or belong to one learner: no lecture shows them.


#: How such a cell begins. A browser reads it too, so only what Python and JavaScript share.
BACKSTAGE = re.compile(r"rl\.(check|mine\.save|my_guesses|progress|lecture)\(")

# The outputs saved in a notebook, as plain data that a page can draw again.


ESCAPE = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
STAMP = "recorded"  # under notebook.metadata.rooflab


def recorded(cells: Iterable[Mapping[str, Any]]) -> dict[str, list[dict[str, Any]]]:
    """What every cell with an id and an output showed, by the cell's id.

    cells: code and text cells of a notebook (nbformat 4.5). An output becomes {"png", "alt"},
    {"html"} or {"text"}, the first of these that it has; an empty one and an error are left out.
    A covered one also has "under": {"png", "alt"} of what it covers, and two pictures in one
    have "cut", the share of the height at which they meet. Words that were still covered, and the
    note that a picture is a still, are left out: they say nothing of what was measured.
    """
    found = {}
    for cell in cells:
        outputs = [shown for output in cell.get("outputs", ()) if (shown := _shown(output))]
        if outputs and cell.get("id"):
            found[str(cell["id"])] = _joined(outputs)
    return found


def _shown(output: Mapping[str, Any]) -> dict[str, Any] | None:
    data, told = output.get("data", {}), output.get("metadata", {})
    own = told.get("rooflab", {})
    if own.get("waits") or own.get("still"):
        return None
    plain = _text(data.get("text/plain") or output.get("text"))
    if "image/png" in data:
        alt = told.get("image/png", {}).get("alt")
        picture = {"png": _text(data["image/png"]).replace("\n", ""), "alt": alt or plain}
        return picture | {name: own[name] for name in ("under", "cut") if name in own}
    if "text/html" in data:
        return {"html": _text(data["text/html"])}
    return {"text": plain} if plain.strip() else None


def _joined(outputs: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Printed lines that follow each other become one text, as a notebook shows them."""
    joined: list[dict[str, Any]] = []
    for output in outputs:
        if joined and set(output) == set(joined[-1]) == {"text"}:
            joined[-1] = {"text": joined[-1]["text"].rstrip("\n") + "\n" + output["text"]}
        else:
            joined.append(output)
    return joined


def _text(value: object) -> str:
    # In the file a text is one string or a list of lines.
    lines = value if isinstance(value, list) else [value or ""]
    return ESCAPE.sub("", "".join(map(str, lines)))


def digest(cells: Iterable[Mapping[str, Any]]) -> str:
    """A fingerprint of all outputs: a stamp counts only for the outputs that it was made for."""
    text = json.dumps(recorded(cells), sort_keys=True, ensure_ascii=True)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def stamp(cells: Iterable[Mapping[str, Any]], machine: str, day: date) -> dict[str, str]:
    """What a build writes beside the outputs: where and when they were made."""
    return {"machine": machine, "day": day.isoformat(), "outputs": digest(cells)}


def origin(notebook: Mapping[str, Any]) -> str:
    """Where and when a notebook's outputs were made, in words, or that it is not known."""
    cells = notebook.get("cells", ())
    given = notebook.get("metadata", {}).get("rooflab", {}).get(STAMP, {})
    if given and given.get("outputs") == digest(cells):
        day = date.fromisoformat(given["day"])
        return f"recorded on {given['machine']}, {day.day} {day:%B %Y}"
    return "saved in this notebook; machine and day are unknown"


# Which notebook file this kernel belongs to, and what is recorded in it.


#: Set for every kernel of a Jupyter server (2.0 and newer): the notebook's path.
SESSION = "JPY_SESSION_NAME"
TIMEOUT = 5  # seconds that git may take to answer


@dataclass(frozen=True)
class RecordedOutputs:
    """Recorded outputs by cell id, where they come from, and the tags of every cell.

    ``missing`` says in a sentence why there are none; it is empty where there are some.
    """

    cells: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    of: str = ""
    tags: dict[str, list[str]] = field(default_factory=dict)
    missing: str = ""


def notebook_path() -> Path | None:
    """The notebook that started this kernel, if its front end says so; else None."""
    in_vscode = getattr(sys.modules.get("__main__"), "__vsc_ipynb_file__", "")
    names = in_vscode, os.environ.get(SESSION, "")
    return next((Path(name) for name in names if name.endswith(".ipynb")), None)


def read(path: Path | None) -> RecordedOutputs:
    """Read tags and recorded outputs; whatever is wrong with the file is said in ``missing``.

    The outputs of the last commit are preferred: a lecturer who saves overwrites those in the file.
    """
    if path is None:
        return RecordedOutputs(missing="This front end does not say which notebook file this is.")
    try:
        here = _parsed(path.read_bytes())
    except OSError as error:
        return RecordedOutputs(
            missing=f"The notebook file {path.name!r} cannot be read: {error.strerror}."
        )
    except ValueError:
        return RecordedOutputs(
            missing=f"The file {path.name!r} is no notebook of format 4.5 or newer."
        )
    tags = {cell["id"]: list(cell.get("metadata", {}).get("tags", [])) for cell in here["cells"]}
    committed = _committed(path)
    source = committed if committed and digest(committed["cells"]) != digest([]) else here
    found = recorded(source["cells"])
    if not found:
        return RecordedOutputs(
            tags=tags, missing=f"{path.name!r} holds no outputs: nothing is recorded."
        )
    return RecordedOutputs(found, origin(source), tags)


def _parsed(content: bytes) -> dict[str, Any]:
    """A notebook as plain data. Raises ValueError for anything else."""
    notebook: dict[str, Any] = json.loads(content)  # whose errors are ValueErrors, too
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


KEYS = (
    "→ next, ← back, 23 Enter goes to step 23, G lists headings, R uncovers, L recorded ↔ live, "
    "Esc leaves, ? tells all keys"
)


class Lecture(anywidget.AnyWidget):
    """A button that puts the notebook on a stage. Make one with ``rl.lecture()``."""

    _esm = canvas.source(
        "cut.js", "replay.js", "jump.js", "stage.js", "present.js", beside=__file__
    )
    _css = canvas.source("stage.css", "pictures.css", beside=__file__)
    recording = traitlets.Dict().tag(sync=True)
    #: How a cell begins that stays off the stage, as a regular expression.
    backstage = traitlets.Unicode(BACKSTAGE.pattern).tag(sync=True)
    #: The step on show, counted from 0; where a lecture goes on when it is opened again.
    step = traitlets.Int(0).tag(sync=True)
    #: Set by the browser: a page that is loaded again must not jump onto the stage by itself.
    opened = traitlets.Bool(False).tag(sync=True)

    def __init__(self, recording: RecordedOutputs, **traits: Any) -> None:
        self.guesses = _from_nothing()
        super().__init__(recording=asdict(recording), **traits)
        self.sentence = f"{KEYS}. " + (recording.missing or f"L shows the output {recording.of}.")

    def _repr_mimebundle_(self, **kwargs: Any) -> Any:
        bundle = super()._repr_mimebundle_(**kwargs)
        data = dict((bundle[0] if isinstance(bundle, tuple) else bundle) or {})
        return {**data, "text/plain": f"Lecture: {self.sentence}"}, {}


def _from_nothing() -> TemporaryDirectory[str]:
    """Let this kernel keep its guesses in a folder of the lecture's own, and cover every answer.

    The measured values go with it; the learner's own guesses stay where they are, untouched.
    """
    folder = TemporaryDirectory(prefix="rooflab-lecture-", ignore_cleanup_errors=True)
    measured = [record for record in store().records() if record.what == "outcome"]
    own = Store(Path(folder.name))
    for record in measured:
        own.add(record.id, record.what, record.value)
    os.environ[GUESSES] = folder.name
    for widget in list(canvas.living().values()):
        if isinstance(widget, (GuessAxis, SortCards)):
            widget.forget()
    return folder


def lecture(notebook: str | Path | None = None) -> Lecture:
    """Show the open notebook one step at a time, in type for the last row; deep cells are hidden.

    Every guess and every sorting is covered, whatever was guessed before, and those that are made
    from now on in this kernel are the lecture's own: none of them reaches your own guesses. Call it
    again for a second group. A restarted kernel has your own guesses again. Without ``notebook``,
    it is the notebook of this kernel; where recorded outputs are missing, the lecture goes on
    without the key L and says why. It works in JupyterLab and Notebook 7 only; elsewhere use the
    slides.

    >>> rl.lecture("02_bytes.ipynb").sentence.split(", ")[:4]
    ['→ next', '← back', '23 Enter goes to step 23', 'G lists headings']
    """
    if notebook is None:
        return Lecture(read(notebook_path()))
    if not isinstance(notebook, str | Path):
        raise TypeError(f"notebook={notebook!r} must be a path, such as '00_free_lunch.ipynb'")
    if Path(notebook).suffix != ".ipynb":
        raise ValueError(f"notebook={str(notebook)!r} must be a notebook, a file *.ipynb")
    return Lecture(read(Path(notebook)))
