"""What is left of the widgets' state in a notebook that is saved."""

from __future__ import annotations

import copy

import ipywidgets
import nbformat
import pytest
from jupyter_server.services.contents.largefilemanager import AsyncLargeFileManager
from nbclient import NotebookClient

from rooflab.jupyter_save import STATE, VIEW, drop_unseen

RUN = """import ipywidgets as w
a, b = w.IntSlider(), w.IntText()
link = w.jslink((a, "value"), (b, "value"))
gone = [w.IntSlider(), w.HBox([w.IntSlider()])]
lost = w.jslink((gone[0], "value"), (b, "value"))
box = w.VBox([a, b])
out = w.Output()
out.append_display_data(w.IntProgress())
box"""


@pytest.fixture(scope="module")
def ran() -> nbformat.NotebookNode:
    """A notebook with a box of two linked widgets, an output widget, and widgets nobody sees."""
    cells = [nbformat.v4.new_code_cell(one) for one in (RUN, "out", "print('no widget')")]
    notebook = nbformat.v4.new_notebook(cells=cells)
    return NotebookClient(notebook, store_widget_state=True).execute()


def saved(notebook: dict) -> dict:
    model = {"type": "notebook", "content": copy.deepcopy(dict(notebook)), "path": "a.ipynb"}
    drop_unseen(model=model, path="a.ipynb", contents_manager=None)
    return model["content"]


def names(notebook: dict) -> list[str]:
    state = notebook["metadata"]["widgets"][STATE]["state"]
    kinds = ("Slider", "Text", "Box", "Link", "Output", "Progress")
    return sorted(
        one["model_name"].removesuffix("Model")
        for one in state.values()
        if one["model_name"].removesuffix("Model").endswith(kinds)
    )


def test_what_is_shown_stays_with_its_parts_and_links_and_nothing_else(ran) -> None:
    assert names(ran).count("IntSlider") == 3 and names(ran).count("Link") == 2
    kept = saved(ran)
    assert names(kept) == ["IntProgress", "IntSlider", "IntText", "Link", "Output", "VBox"]
    assert kept["cells"] == ran["cells"], "the cells are nobody's business"
    nbformat.validate(nbformat.from_dict(kept))


def test_what_holds_no_state_is_left_as_it_is() -> None:
    plain = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell("1")])
    assert saved(plain) == plain
    for model in ({"type": "file", "content": "text"}, {"type": "notebook", "content": None}):
        before = dict(model)
        drop_unseen(model=model)
        assert model == before


def test_an_output_of_a_widget_without_state_does_no_harm() -> None:
    cell = nbformat.v4.new_code_cell("x")
    cell.outputs = [nbformat.v4.new_output("display_data", {VIEW: {"model_id": "nobody"}})]
    state = {"a": {"model_name": "IntSliderModel", "state": {}}}
    notebook = nbformat.v4.new_notebook(
        cells=[cell], metadata={"widgets": {STATE: {"state": state}}}
    )
    assert saved(notebook)["metadata"]["widgets"][STATE]["state"] == {}


def test_jupyter_takes_the_hook_by_its_name() -> None:
    manager = AsyncLargeFileManager(pre_save_hook="rooflab.jupyter_save.drop_unseen")
    assert manager.pre_save_hook is drop_unseen
    assert ipywidgets.__version__.startswith("8"), "whose state is read here"
