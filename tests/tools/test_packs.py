"""Widgets as files: each script once, nothing that a browser would refuse from disk."""

from __future__ import annotations

import json
import re
from base64 import b64encode
from io import BytesIO
from pathlib import Path

import nbformat
import pytest
from nbformat import NotebookNode
from PIL import Image

from tools.outputs import WIDGET_STATE, WIDGET_VIEW
from tools.packs import Folder, Inside, asked_for, classic, image, shelve, sweep

ESM = "const one = 1;\nexport default { render() { return one; } };"


def png(colour: str = "red") -> str:
    file = BytesIO()
    Image.new("RGB", (40, 30), colour).save(file, "PNG")
    return b64encode(file.getvalue()).decode()


def widget(kind: str, **state: object) -> dict:
    return {"model_name": kind, "state": state}


def notebook(models: dict[str, dict], *tops: str) -> NotebookNode:
    """A notebook whose cells show these widgets, each with a still."""
    cells = []
    for top in tops:
        data = {WIDGET_VIEW: {"model_id": top}, "image/png": png(), "text/plain": "the still"}
        shown = nbformat.v4.new_output("display_data", data)
        cells.append(nbformat.v4.new_code_cell("show", outputs=[shown]))
    made = nbformat.v4.new_notebook(cells=cells)
    made.metadata["widgets"] = nbformat.from_dict({WIDGET_STATE: {"state": models}})
    return made


def pack(shelf: Inside, slot: str) -> dict:
    """What the pack of a slot holds."""
    text = shelf.texts[re.search(r'data-pack="([^"]+)"', slot)[1]]
    return json.loads(re.search(r"return \((.*)\);\n", text)[1])


def slots(made: NotebookNode) -> list[str]:
    return [cell.outputs[0].data["text/html"] for cell in made.cells]


def test_the_same_script_is_kept_once() -> None:
    models = {name: widget("AnyModel", _esm=ESM, _css="a {}", at=1) for name in ("a", "b")}
    shelf, made = Inside(), notebook(models, "a", "b")
    shelve(made, shelf)
    assert len(shelf.all("css")) == 1 and len(shelf.all("js")) == 3, "one script and two packs"
    kept = pack(shelf, slots(made)[0])["a"]
    assert kept["kind"] == "AnyModel" and kept["state"]["at"] == 1
    assert kept["state"]["script"] in shelf.texts and "_esm" not in kept["state"]
    assert "widgets" not in made.metadata, "a page holds its widgets once"


def test_a_pack_holds_children_and_layout() -> None:
    models = {
        "box": widget("VBoxModel", children=["IPY_MODEL_s"], layout="IPY_MODEL_l", _view_name="V"),
        "s": widget("AnyModel", _esm=ESM),
        "l": widget("LayoutModel", width="98%", height=None),
        "far": widget("AnyModel", _esm=ESM),
    }
    shelf, made = Inside(), notebook(models, "box", "far")
    shelve(made, shelf)
    first, second = (pack(shelf, slot) for slot in slots(made))
    assert set(first) == {"box", "s", "l"} and set(second) == {"far"}
    assert first["l"]["state"] == {"width": "98%"} and "_view_name" not in first["box"]["state"]
    assert 'id="picture-1"' in slots(made)[0] and 'data-holds="box s"' in slots(made)[0]


def test_a_widget_that_does_not_move_there_leaves_its_picture(
    capsys: pytest.CaptureFixture[str],
) -> None:
    models = {
        "box": widget("VBoxModel", children=["IPY_MODEL_s"]),
        "s": widget("IntSliderModel", style="IPY_MODEL_style"),
        "style": widget("SliderStyleModel"),
    }
    made = notebook(models, "box")
    shelve(made, Inside())
    assert "does not move IntSliderModel\n" in capsys.readouterr().err
    assert set(made.cells[0].outputs[0].data) == {"image/png", "text/plain"}


@pytest.mark.parametrize(
    "esm",
    [
        "render()",
        "import a from 'b';\nexport default a",
        "export const a = 1;\nexport default a",
        "export { a as default }",
    ],
)
def test_a_script_that_needs_modules_is_refused(esm: str) -> None:
    with pytest.raises(ValueError, match="no other import or export"):
        classic(esm)


def test_pictures_become_smaller_files_with_the_same_pixels(tmp_path: Path) -> None:
    tag = image(png("navy"), 'a "flat" roof', Folder(tmp_path))
    (file,) = tmp_path.iterdir()
    assert f'src="{tmp_path.name}/{file.name}"' in tag and 'width="40" height="30"' in tag
    assert 'loading="lazy"' in tag and "&quot;flat&quot;" in tag
    with Image.open(file) as kept:
        assert kept.format == "WEBP" and kept.convert("RGB").getpixel((20, 15)) == (0, 0, 128)


def test_pictures_inside_a_widget_leave_its_pack(tmp_path: Path) -> None:
    """Words with a picture among them, which a guess uncovers, and a trait of bytes."""
    words = f'<img src="data:image/png;base64,{png("green")}">'
    one = widget("AnyModel", _esm=ESM, page=words, drawn=None)
    one["buffers"] = [{"path": ["drawn"], "data": png(), "encoding": "base64"}]
    made = notebook({"a": one}, "a")
    shelve(made, Folder(tmp_path))
    texts = "".join(file.read_text("utf-8") for file in tmp_path.glob("*.js"))
    assert "image/png" not in texts and png() not in texts
    assert re.search(rf"{tmp_path.name}/[0-9a-f]{{16}}\.webp", texts)


def test_files_that_no_page_asks_for_are_deleted(tmp_path: Path) -> None:
    static = tmp_path / "static"
    static.mkdir()
    for at, name in ((1, "old"), (2, "new")):
        made = notebook({name: widget("AnyModel", _esm=ESM, _css="a {}", at=at)}, name)
        shelve(made, Folder(static))
        (tmp_path / "page.html").write_text(slots(made)[0], "utf-8")
    (static / "site.css").write_text("", "utf-8")
    assert len(list(static.iterdir())) == 5
    sweep(tmp_path, static)
    asked = asked_for((tmp_path / "page.html").read_text("utf-8"), static)
    assert {file.name for file in static.iterdir()} == {*asked, "site.css"} and len(asked) == 3
