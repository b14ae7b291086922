"""``rl.lecture()``: the open notebook as a presentation, one step at a time."""

from __future__ import annotations

import os
from dataclasses import asdict
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import anywidget
import traitlets

from rooflab.exercises.guess_store import GUESSES, Store, store
from rooflab.lecture.backstage import BACKSTAGE
from rooflab.lecture.open_file import Recording, notebook_path, read
from rooflab.show import overlay
from rooflab.show.guess_axis import GuessAxis
from rooflab.show.sort_cards import SortCards

KEYS = (
    "→ next, ← back, 23 Enter goes to step 23, G lists headings, R uncovers, L recorded ↔ live, "
    "Esc leaves, ? tells all keys"
)


def _source(*names: str) -> str:
    return "\n".join(Path(__file__).with_name(name).read_text("utf-8") for name in names)


class Lecture(anywidget.AnyWidget):
    """A button that puts the notebook on a stage. Make one with ``rl.lecture()``."""

    _esm = _source("cut.js", "replay.js", "jump.js", "stage.js", "present.js")
    _css = _source("stage.css", "pictures.css")
    recording = traitlets.Dict().tag(sync=True)
    #: How a cell begins that stays off the stage, as a regular expression.
    backstage = traitlets.Unicode(BACKSTAGE.pattern).tag(sync=True)
    #: The step on show, counted from 0; where a lecture goes on when it is opened again.
    step = traitlets.Int(0).tag(sync=True)
    #: Set by the browser: a page that is loaded again must not jump onto the stage by itself.
    opened = traitlets.Bool(False).tag(sync=True)

    def __init__(self, recording: Recording, **traits: Any) -> None:
        self.guesses = _from_nothing()
        super().__init__(recording=asdict(recording), **traits)
        self.sentence = f"{KEYS}. " + (recording.missing or f"L shows the output {recording.of}.")

    def _repr_mimebundle_(self, **kwargs: Any) -> Any:
        bundle = super()._repr_mimebundle_(**kwargs)
        data = dict((bundle[0] if isinstance(bundle, tuple) else bundle) or {})
        return {**data, "text/plain": f"Lecture: {self.sentence}"}, {}


def _from_nothing() -> TemporaryDirectory:
    """Let this kernel keep its guesses in a folder of the lecture's own, and cover every answer.

    The measured values go with it; the learner's own guesses stay where they are, untouched.
    """
    folder = TemporaryDirectory(prefix="rooflab-lecture-", ignore_cleanup_errors=True)
    measured = [record for record in store().records() if record.what == "outcome"]
    own = Store(Path(folder.name))
    for record in measured:
        own.add(record.id, record.what, record.value)
    os.environ[GUESSES] = folder.name
    for widget in list(overlay.living().values()):
        if isinstance(widget, (GuessAxis, SortCards)):
            widget.cover()
    return folder


def lecture(notebook: str | Path | None = None) -> Lecture:
    """Show the open notebook one step at a time, in type for the last row; deep cells are hidden.

    Every guess and every sorting is covered, whatever was guessed before, and those that are made
    from now on in this kernel are the lecture's own: none of them reaches your own guesses. Call it
    again for a second group. A restarted kernel has your own guesses again.

    ``notebook``: the file with the recorded outputs; by default the notebook of this kernel. A file
    that is missing or holds no outputs is no error: the lecture goes on without the key L and says
    why. In JupyterLab and Notebook 7 only; elsewhere use the slides.

    Raises TypeError or ValueError when ``notebook`` is given and is not the name of a notebook.
    """
    if notebook is None:
        return Lecture(read(notebook_path()))
    if not isinstance(notebook, str | Path):
        raise TypeError(f"notebook={notebook!r} must be a path, such as '00_free_lunch.ipynb'")
    if Path(notebook).suffix != ".ipynb":
        raise ValueError(f"notebook={str(notebook)!r} must be a notebook, a file *.ipynb")
    return Lecture(read(Path(notebook)))
