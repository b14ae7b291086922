"""Building and checking, on a small lesson in a folder of its own."""

from __future__ import annotations

import shutil
from pathlib import Path

import nbformat
import pytest

from rooflab.lecture.present import recorded
from tools.build_notebooks import STILL, WIDGET_VIEW, main, tidy

GOOD = Path(__file__).parent / "lessons" / "00_good.py"


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A notebooks folder with one lesson, built once."""
    folder = tmp_path_factory.mktemp("Kurs ü") / "notebooks"
    (folder / "source").mkdir(parents=True)
    shutil.copy(GOOD, folder / "source")
    assert main(["--notebooks", str(folder)]) == 0
    return folder


@pytest.fixture
def notebooks(built: Path, tmp_path: Path) -> Path:
    """A copy of it to be spoilt."""
    return Path(shutil.copytree(built, tmp_path / "notebooks"))


def check(folder: Path) -> int:
    return main(["--check", "--notebooks", str(folder)])


def spoil(path: Path, change) -> None:
    notebook = nbformat.read(path, 4)
    change(notebook)
    nbformat.write(notebook, path)


def test_what_was_built_passes_the_check(notebooks: Path) -> None:
    assert check(notebooks) == 0


def test_checking_changes_nothing(notebooks: Path) -> None:
    before = {path: path.read_bytes() for path in notebooks.rglob("*.*")}
    check(notebooks)
    assert {path: path.read_bytes() for path in notebooks.rglob("*.*")} == before


def test_building_twice_gives_the_same_bytes(notebooks: Path) -> None:
    before = (notebooks / "00_good.ipynb").read_bytes()
    assert main(["00_good", "--notebooks", str(notebooks)]) == 0
    assert (notebooks / "00_good.ipynb").read_bytes() == before


def test_run_all_on_the_learners_copy_raises_nothing(notebooks: Path) -> None:
    notebook = nbformat.read(notebooks / "00_good.ipynb", 4)
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert [cell.execution_count for cell in code] == list(range(1, len(code) + 1))
    assert not [o for cell in code for o in cell.outputs if o.output_type == "error"]


def test_metadata_is_canonical(notebooks: Path) -> None:
    metadata = nbformat.read(notebooks / "00_good.ipynb", 4).metadata
    assert set(metadata) == {"kernelspec", "language_info", "rooflab"}
    assert "version" not in metadata.language_info


FAULTS = {
    "edited_text": (lambda n: n.cells[1].update(source="import cmath"), "cell 1: text differs"),
    "lost_tag": (lambda n: n.cells[2].metadata.update(tags=[]), "cell 2: metadata differs"),
    "other_id": (lambda n: n.cells[3].update(id="abc"), "cell 3: id differs"),
    "lost_cell": (lambda n: n.cells.pop(), "9 saved, 10 in the source"),
    "never_run": (lambda n: n.cells[1].update(execution_count=None), "cell 1: was never run"),
    "stripped": (lambda n: n.cells[2].update(outputs=[]), "cell 2: tagged nbval-check-output but"),
    "widget_state": (lambda n: n.metadata.update(widgets={}), "notebook metadata"),
    "timing": (lambda n: n.cells[1].metadata.update(execution={}), "cell 1: metadata differs"),
    "address": (
        lambda n: n.cells[2].outputs[0].update(text="<A at 0x7f0011223344>"),
        "cell 2: prints a memory address",
    ),
    "path": (
        lambda n: n.cells[2].outputs[0].update(text=str(Path(__file__).parent)),
        "cell 2: prints a path",
    ),
    "error": (
        lambda n: n.cells[2].outputs.append(
            nbformat.v4.new_output("error", ename="NameError", evalue="ridge", traceback=[])
        ),
        "cell 2: ends in NameError: ridge",
    ),
}


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("copy", ["00_good.ipynb", "solutions/00_good.ipynb"])
def test_fault_is_named_with_file_and_cell(notebooks, capsys, fault, copy) -> None:
    change, message = FAULTS[fault]
    spoil(notebooks / copy, change)
    assert check(notebooks) == 1
    said = capsys.readouterr().out
    assert message in said and copy in said


def test_edited_source_is_noticed(notebooks: Path, capsys) -> None:
    source = notebooks / "source" / "00_good.py"
    source.write_text(source.read_text("utf-8").replace("return 2 * n", "return n + n"), "utf-8")
    assert check(notebooks) == 1
    # The stub hides the change from the learner's text; the solution shows it.
    assert "solutions/00_good.ipynb, cell 6: text differs" in capsys.readouterr().out


def test_missing_and_orphaned_notebooks_are_named(notebooks: Path, capsys) -> None:
    (notebooks / "00_good.ipynb").rename(notebooks / "07_old.ipynb")
    assert check(notebooks) == 1
    said = capsys.readouterr().out
    assert "00_good.ipynb: missing" in said and "07_old.ipynb: no source/07_old.py" in said


def test_a_failing_cell_stops_the_build_and_writes_nothing(tmp_path: Path, capsys) -> None:
    (tmp_path / "notebooks/source").mkdir(parents=True)
    text = GOOD.read_text("utf-8").replace("print(2 * 3)", "print(2 / 0)")
    (tmp_path / "notebooks/source/00_bad.py").write_text(text, "utf-8")
    assert main(["--notebooks", str(tmp_path / "notebooks")]) == 1
    said = capsys.readouterr().out
    assert "00_bad.ipynb, cell 2: the cell fails" in said and "ZeroDivisionError" in said
    assert not list((tmp_path / "notebooks").glob("*.ipynb"))


def test_unknown_lesson_lists_the_known(notebooks: Path, capsys) -> None:
    assert main(["05_decode", "--notebooks", str(notebooks)]) == 1
    assert "there are: 00_good" in capsys.readouterr().out


def test_a_widget_leaves_its_picture_and_words() -> None:
    shown = {WIDGET_VIEW: {"model_id": "1"}, "image/png": "abc", "text/plain": "Roofline: …"}
    only_view = {WIDGET_VIEW: {"model_id": "2"}}
    cell = nbformat.v4.new_code_cell("x")
    cell.outputs = [nbformat.v4.new_output("display_data", data=d) for d in (shown, only_view)]
    notebook = nbformat.v4.new_notebook(cells=[cell], metadata={"widgets": {}})
    tidy(notebook)
    picture, note = cell.outputs
    assert dict(picture.data) == {"image/png": "abc", "text/plain": "Roofline: …"}
    assert dict(note.data) == {"text/markdown": STILL, "text/plain": STILL.strip("*")}
    assert recorded([cell | {"id": "a"}])["a"] == [{"png": "abc", "alt": "Roofline: …"}]
    assert "widgets" not in notebook.metadata


def test_what_never_moves_and_what_waits_get_no_note() -> None:
    cell = nbformat.v4.new_code_cell("x")
    figure = {"image/png": "abc", "text/plain": "Roofline: …"}
    waits = {WIDGET_VIEW: {"model_id": "1"}, "text/plain": "Covered."}
    cell.outputs = [nbformat.v4.new_output("display_data", data=d) for d in (figure, waits)]
    tidy(nbformat.v4.new_notebook(cells=[cell]))
    assert [dict(o.data) for o in cell.outputs] == [figure, {"text/plain": "Covered."}]


def test_a_lesson_that_differs_everywhere_stays_readable(notebooks: Path, capsys) -> None:
    source = notebooks / "source" / "00_good.py"
    source.write_text("# %%\n0\n\n" + source.read_text("utf-8"), "utf-8")
    assert check(notebooks) == 1
    said = capsys.readouterr().out
    assert "more differences" in said and said.count("00_good.ipynb, cell") == 2 * 4
