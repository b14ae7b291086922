"""Lessons as slides: one file a lesson that opens from disk, without a kernel and a network.

    python -m tools.slides [--out site/slides] [LESSON …]

The core cells of a lesson, run afresh on this computer with its widgets kept alive, become steps
on a stage of 1280 × 720. The page cuts them itself, by measuring (``lib/rooflab/lecture``).
Keys: → next, ← back, R uncovers, L swaps for the outputs of the committed notebook, a number and
Enter goes to that step, G lists the headings, ? tells them.
"""

from __future__ import annotations

import html
import json
import re
import sys
import tempfile
from collections.abc import Sequence
from copy import deepcopy
from pathlib import Path

import nbformat
from nbformat import NotebookNode

REPOSITORY = Path(__file__).resolve().parent.parent
if str(REPOSITORY) not in sys.path:  # so that running this file works as well as importing it
    sys.path.insert(0, str(REPOSITORY))

from rooflab.lecture.present import BACKSTAGE, origin, recorded  # noqa: E402
from tools.outputs import settle  # noqa: E402
from tools.packs import Inside, shelve  # noqa: E402
from tools.site import ASSETS, Page, asked, lesson_title, styles  # noqa: E402

STAGE = REPOSITORY / "lib" / "rooflab" / "lecture"
SCRIPTS, STYLES = ("cut.js", "replay.js", "jump.js", "stage.js"), ("stage.css", "pictures.css")
RUNTIME = ASSETS / "site" / "runtime.js"
SOLUTION = "<details><summary>Solution</summary><pre>{}</pre></details>"


def core(solved: NotebookNode, learner: NotebookNode) -> NotebookNode:
    """The cells of a lesson that a lecture shows: `solved` (executed), answers covered.

    An answer cell shows the line that the learner sees; its solution waits under it.
    """
    deck = deepcopy(solved)
    asked = {cell.id: cell.source for cell in learner.cells}
    deck.cells = [cell for cell in deck.cells if _on_stage(cell)]
    for cell in deck.cells:
        if "answer" in cell.metadata.get("tags", []) and cell.id in asked:
            covered = SOLUTION.format(html.escape(cell.source))
            cell.outputs = [nbformat.v4.new_output("display_data", {"text/html": covered})]
            cell.source = asked[cell.id]
    return deck


def deep(cell: NotebookNode) -> bool:
    """Whether a cell belongs to what a lecture leaves out."""
    return "deep" in cell.metadata.get("tags", [])


def _on_stage(cell: NotebookNode) -> bool:
    if deep(cell):
        return False
    return cell.cell_type != "code" or not BACKSTAGE.match(cell.source)


def build_deck(solved: NotebookNode, learner: NotebookNode, recording: NotebookNode) -> str:
    """The page. `solved`: executed with widget state; `recording`: the committed outputs.

    Raises ValueError for a lesson that was never run or has no core cell.
    """
    if not any(cell.get("outputs") for cell in solved.cells):
        raise ValueError("the notebook has no output; run it before making its slides")
    deck = core(solved, learner)
    if not deck.cells:
        raise ValueError("the notebook has no cell with the tag 'core'")
    settle(deck)
    shelf = Inside()
    shelve(deck, shelf)
    deck.metadata["title"] = f"{lesson_title(deck)} · slides"
    saved = recorded(cell for cell in recording.cells if _on_stage(cell))
    data = {
        "of": origin(recording),
        "cells": saved,
        "none": "" if saved else "The committed notebook holds no output: nothing is recorded.",
    }
    parts = {
        "scripts": [_closed(text) for text in (RUNTIME.read_text("utf-8"), *shelf.all("js"))],
        "styles": "\n".join(
            (styles(), *shelf.all("css"), *((STAGE / name).read_text("utf-8") for name in STYLES))
        ),
        "stage": "\n".join(
            path.read_text("utf-8")
            for path in (*(STAGE / name for name in SCRIPTS), ASSETS / "slides" / "deck.js")
        ),
        "recorded": _closed(json.dumps(data)),
    }
    body, _ = Page("slides", shelf).from_notebook_node(deck, resources={"slides": parts})
    return body


def _closed(text: str) -> str:
    """A script's text, in which nothing ends the script early."""
    return re.sub(r"<(?=/script|!--)", r"\\u003c", text, flags=re.IGNORECASE)


def run_core(lesson: Path) -> NotebookNode:
    """Run what a lesson's slides show in a fresh kernel; the solution with its widgets' state.

    *Deeper* cells are left out: nothing in a lesson's core needs them.
    """
    from tools.execute import run_notebook

    staged = nbformat.read(lesson.parent / "solutions" / lesson.name, as_version=4)
    staged.cells = [cell for cell in staged.cells if not deep(cell)]
    with tempfile.TemporaryDirectory(prefix="rooflab-slides-") as folder:
        return run_notebook(staged, lesson.stem, Path(folder))


def build(lesson: Path, out: Path, solved: NotebookNode | None = None) -> Path:
    """Write the slides of a lesson as ``OUT/NAME.html``; its path.

    ``solved``: what `run_core` returned, if it was run already.
    """
    saved = nbformat.read(lesson.parent / "solutions" / lesson.name, as_version=4)
    learner = nbformat.read(lesson, as_version=4)
    page = out / f"{lesson.stem}.html"
    page.write_text(build_deck(solved or run_core(lesson), learner, saved), "utf-8")
    return page


def main(arguments: Sequence[str] | None = None) -> int:
    """Command line: make the slides of all lessons, or of those named."""
    about = "Lessons as slides that need no network."
    folder = REPOSITORY / "site" / "slides"
    paths, out = asked(arguments, folder, prog="python -m tools.slides", description=about)
    for number, path in enumerate(paths, 1):
        print(f"slides {number}/{len(paths)}: {path.stem}", flush=True)
        print(build(path, out))
    return 0


if __name__ == "__main__":
    sys.exit(main())
