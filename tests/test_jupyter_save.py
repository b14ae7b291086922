"""What is left of the widgets' state in a notebook that is saved."""

from __future__ import annotations

import copy
import json

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


def test_of_a_widget_that_has_ended_the_still_picture_is_left_or_nothing() -> None:
    view = {VIEW: {"model_id": "ended"}, "text/plain": "measuring, 0 %"}
    still = {**view, "image/png": "AAAA"}
    cell, plain = nbformat.v4.new_code_cell("x"), nbformat.v4.new_output("stream", text="x")
    cell.outputs = [nbformat.v4.new_output("display_data", data) for data in (view, still)]
    cell.outputs.append(plain)
    for state in ({}, {"a": {"model_name": "IntSliderModel", "state": {}}}):
        notebook = nbformat.v4.new_notebook(
            cells=[copy.deepcopy(cell)], metadata={"widgets": {STATE: {"state": state}}}
        )
        kept = saved(notebook)
        assert kept["metadata"]["widgets"][STATE]["state"] == {}
        picture, text = kept["cells"][0]["outputs"]
        assert picture["data"].keys() == {"image/png", "text/plain"} and text == plain
    notebook["metadata"] = {}
    assert saved(notebook) == notebook, "without any state every output stays"


def test_what_was_not_run_since_it_was_opened_keeps_the_state_of_the_file(ran, tmp_path) -> None:
    before = saved(ran)
    nbformat.write(nbformat.from_dict(before), tmp_path / "a.ipynb")
    states = before["metadata"]["widgets"][STATE]["state"]
    again = copy.deepcopy(before)
    now = again["metadata"]["widgets"][STATE]["state"]
    now.clear()
    alive = next(id for id, one in states.items() if one["model_name"] == "IntTextModel")
    now[alive] = {**states[alive], "model_module_version": "of today"}
    manager = AsyncLargeFileManager(root_dir=str(tmp_path))
    drop_unseen({"type": "notebook", "content": again}, path="/a.ipynb", contents_manager=manager)
    assert now.keys() == states.keys() and again["cells"] == before["cells"]
    assert now.pop(alive)["model_module_version"] == "of today"
    assert all(now[id] == states[id] for id in now)


def test_a_bar_of_tqdm_that_was_closed_leaves_no_output() -> None:
    bar = "from tqdm.notebook import tqdm\nfor _ in tqdm(range(2), leave=False): pass"
    living = "import ipywidgets, json\nprint(json.dumps(ipywidgets.Widget.get_manager_state()))"
    sources = (bar, bar.replace("False", "True"), living)
    cells = [nbformat.v4.new_code_cell(source) for source in sources]
    ran = NotebookClient(nbformat.v4.new_notebook(cells=cells)).execute()
    ran.metadata.widgets = {STATE: json.loads(ran.cells[2].outputs[0].text)}
    assert [len(cell.outputs) for cell in ran.cells] == [1, 1, 1]
    assert [len(cell["outputs"]) for cell in saved(ran)["cells"]] == [0, 1, 1]


def test_jupyter_takes_the_hook_by_its_name() -> None:
    manager = AsyncLargeFileManager(pre_save_hook="rooflab.jupyter_save.drop_unseen")
    assert manager.pre_save_hook is drop_unseen
    assert ipywidgets.__version__.startswith("8"), "whose state is read here"


@pytest.mark.parametrize(
    ("covered", "tags"), [(False, []), (True, []), (False, ["nbval-check-output"])]
)
def test_a_learner_who_has_guessed_finds_the_picture_in_the_saved_file(covered, tags) -> None:
    output = nbformat.v4.new_output(
        "display_data",
        {VIEW: {"model_id": "a"}, "image/png": "cover", "text/plain": "Covered."},
        metadata={"rooflab": {"under": {"png": "curve", "alt": "A curve."}},
                  "image/png": {"alt": "Covered."}},
    )  # fmt: skip
    cell = nbformat.v4.new_code_cell("lunch", outputs=[output], metadata={"tags": tags})
    notebook = nbformat.v4.new_notebook(cells=[cell])
    state = {"model_name": "AnyModel", "state": {"covered": covered}}
    notebook.metadata["widgets"] = {STATE: {"state": {"a": state}}}
    (kept,) = saved(notebook)["cells"][0]["outputs"]
    uncovered = not covered and not tags
    assert kept["data"]["image/png"] == ("curve" if uncovered else "cover")
    assert kept["data"]["text/plain"] == ("A curve." if uncovered else "Covered.")
    assert kept["metadata"]["image/png"]["alt"] == kept["data"]["text/plain"]
