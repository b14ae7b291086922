"""What a static page leaves out of a notebook's outputs."""

from __future__ import annotations

import ast
import html
import re

import nbformat
from nbformat import NotebookNode

WIDGET_STATE = "application/vnd.jupyter.widget-state+json"
WIDGET_VIEW = "application/vnd.jupyter.widget-view+json"
# A line of a progress bar: tqdm's own ("5%|█"), or a bar with a percentage at its end.
PROGRESS = re.compile(r"%\|.*$|[\u2588-\u258f\s]{2,}\d+ %\s*$")
CURSOR = re.compile(r"\x1b\[\d*[A-K]")  # tqdm moves the cursor about
LESSON = re.compile(r"\]\((\d\d_[a-z0-9_]+)\.ipynb\)")  # a link to a lesson beside this one
RUN = re.compile(
    r"^\*Run the cells from the top.*?\*\n\n|run the cell with\s+Ctrl\+Enter,\s+", re.M | re.S
)
CHECK = re.compile(r'rl\.check\("([^"]+)"')
CHECKS = "<p class='own'>In the notebook this cell checks your answer, and names the mistake.</p>"
ANSWER = "<details class='rl-answer'><summary>One answer</summary><pre>{}</pre></details>"
OWN = "<p class='own'>Your own {} stand here when you run the notebook.</p>"


def settle(notebook: NotebookNode) -> None:
    """Leave out what means nothing on a page: progress bars, and guesses and points of nobody.

    A link to another lesson leads to its page.
    """
    drop_bars(notebook)
    for cell in notebook.cells:
        if cell.cell_type != "code":
            cell.source = LESSON.sub(r"](\1.html)", cell.source)
            continue
        own = re.search(r"rl\.(my_guesses\(\)|progress\()", cell.source)
        if own:
            told = OWN.format("points" if own[1] == "progress(" else "guesses")
            cell.outputs = [nbformat.v4.new_output("display_data", {"text/html": told})]
        for output in cell.outputs:
            if output.output_type == "stream" and output.name == "stderr":
                lines = re.split(r"[\r\n]+", CURSOR.sub("", output.text))
                output.text = "\n".join(line for line in lines if not PROGRESS.search(line))
        cell.outputs = [o for o in cell.outputs if o.output_type != "stream" or o.text.strip()]


def for_readers(notebook: NotebookNode, solution: NotebookNode | None) -> None:
    """Make a lesson one for somebody who cannot run it.

    What only shows something is folded to a line, and so is the check of an exercise, with the
    answer of ``solution`` below it.
    """
    answers = {
        one.metadata.rooflab["exercise"]: one.source
        for one in (solution.cells if solution else [])
        if "exercise" in one.metadata.get("rooflab", {})
    }
    for cell in notebook.cells:
        if cell.cell_type != "code":
            cell.source = RUN.sub("", cell.source)
            continue
        checked = CHECK.match(cell.source)
        if checked:
            answer = answers.get(checked[1], "")
            folded = ANSWER.format(html.escape(answer)) if answer else ""
            data = {"text/html": CHECKS + folded}
            cell.outputs = [nbformat.v4.new_output("display_data", data)]
        if checked or _only_shows(cell):
            cell.metadata["folded"] = cell.source.split("\n")[0]


def _only_shows(cell: NotebookNode) -> bool:
    """Whether a cell imports, or shows a widget or a sentence, and counts nothing on the way."""
    body = ast.parse(cell.source).body
    if all(isinstance(one, ast.Import | ast.ImportFrom) for one in body):
        return True
    kinds = {kind for one in cell.outputs for kind in one.get("data", {})}
    shows = kinds & {WIDGET_VIEW, "text/markdown", "image/png"}
    return bool(shows) and len(body) < 4 and not any(isinstance(one, ast.For) for one in body)


def drop_bars(notebook: NotebookNode) -> None:
    """Leave out progress bars, whose text says for ever that nothing is done yet ("0 %")."""
    models = notebook.metadata.get("widgets", {}).get(WIDGET_STATE, {}).get("state", {})
    bars = {id for id, model in models.items() if _is_bar(model, models)}
    for cell in notebook.cells:
        if "outputs" in cell:
            views = (one.get("data", {}).get(WIDGET_VIEW, {}) for one in cell.outputs)
            shown = zip(cell.outputs, views, strict=True)
            cell.outputs = [one for one, view in shown if view.get("model_id") not in bars]


def _is_bar(model: dict, models: dict) -> bool:
    """Whether a widget is tqdm's: a row with a progress bar in it, or such a bar itself."""
    inside = [id.removeprefix("IPY_MODEL_") for id in model["state"].get("children", ())]
    names = {model["model_name"], *(models.get(id, {}).get("model_name") for id in inside)}
    return "FloatProgressModel" in names
