"""What a notebook file says was recorded, and where."""

from __future__ import annotations

import json
import subprocess
from base64 import b64encode
from datetime import date
from pathlib import Path

import pytest

import rooflab as rl
from rooflab.lecture.present import digest, notebook_path, origin, read, recorded, stamp
from rooflab.show.guess_axis import guess
from tests.support.rows import each_row


def code(id: str, *outputs: dict, tags: tuple[str, ...] = ("core",)) -> dict:
    return {"cell_type": "code", "id": id, "source": "", "metadata": {"tags": list(tags)},
            "outputs": list(outputs)}  # fmt: skip


def printed(text: str | list[str]) -> dict:
    return {"output_type": "stream", "name": "stdout", "text": text}


def shown(**data: object) -> dict:
    names = {"png": "image/png", "html": "text/html", "plain": "text/plain"}
    return {"output_type": "execute_result", "data": {names[k]: v for k, v in data.items()}}


CELLS = [code("a", printed("3 ms\n")), code("b", shown(png="aGk=", plain="a flat roof")), code("c")]


def notebook(cells: list[dict] = CELLS, **rooflab: object) -> dict:
    return {"cells": cells, "metadata": {"rooflab": rooflab}, "nbformat": 4, "nbformat_minor": 5}


def written(folder: Path, content: dict | bytes, name: str = "00_lesson.ipynb") -> Path:
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else json.dumps(content).encode())
    return path


def test_a_picture_goes_before_a_table_and_a_table_before_text() -> None:
    every = shown(png="aGk=", html="<b>1</b>", plain="one")
    assert recorded([code("x", every)]) == {"x": [{"png": "aGk=", "alt": "one"}]}
    assert recorded([code("x", shown(html="<b>1</b>", plain="one"))])["x"] == [{"html": "<b>1</b>"}]
    assert recorded([code("x", shown(plain=["on", "e"]))])["x"] == [{"text": "one"}]


def test_what_a_cover_covers_is_recorded_with_it() -> None:
    covered = {
        **shown(png="aGk=", plain="covered"),
        "metadata": {"rooflab": {"under": {"png": "eWVz", "alt": "4 ms"}}},
    }
    (kept,) = recorded([code("x", covered)])["x"]
    assert kept == {"png": "aGk=", "alt": "covered", "under": {"png": "eWVz", "alt": "4 ms"}}


def test_where_two_pictures_meet_is_recorded_and_what_says_nothing_is_left_out() -> None:
    def with_own(output: dict, **own: object) -> dict:
        return output | {"metadata": {"rooflab": own}}

    two = with_own(shown(png="aGk=", plain="two"), cut=0.6)
    assert recorded([code("x", two)])["x"] == [{"png": "aGk=", "alt": "two", "cut": 0.6}]
    waits = with_own(shown(plain="Covered until you have placed your guess above."), waits=True)
    note = with_own(shown(plain="A still picture."), still=True)
    assert recorded([code("x", waits), code("y", note)]) == {}


def test_lines_printed_after_each_other_are_one_text_without_colours() -> None:
    cell = code("x", printed(["a\n", "b\n"]), printed("\x1b[31mc\x1b[0m\n"))
    assert recorded([cell]) == {"x": [{"text": "a\nb\nc\n"}]}


def test_cells_without_output_and_errors_are_no_recording() -> None:
    failed = {"output_type": "error", "ename": "E", "evalue": "", "traceback": []}
    assert recorded([code("c"), code("d", failed), {"cell_type": "markdown", "id": "t"}]) == {}


def test_a_stamp_counts_for_its_own_outputs_only() -> None:
    made = stamp(CELLS, "AMD EPYC", date(2026, 11, 21))
    assert origin(notebook(recorded=made)) == "recorded on AMD EPYC, 21 November 2026"
    rerun = [code("a", printed("4 ms\n")), *CELLS[1:]]
    assert "unknown" in origin(notebook(rerun, recorded=made)), "saved over: no longer that run"
    assert "unknown" in origin(notebook())


def test_the_form_of_the_file_does_not_change_the_digest() -> None:
    assert digest([code("a", printed(["3 ms\n"]))]) == digest([code("a", printed("3 ms\n"))])


def test_a_notebook_gives_its_tags_and_recordings(tmp_path: Path) -> None:
    found = read(written(tmp_path, notebook()))
    assert set(found.cells) == {"a", "b"} and found.tags["c"] == ["core"]
    assert found.missing == ""


@each_row(
    (notebook([code("a")]), "holds no outputs"),
    (b"", "is no notebook"),
    (b"\xff\xfe", "is no notebook"),
    (b"[1]", "is no notebook"),
    (b'{"cells": [{"cell_type": "code"}]}', "is no notebook"),
)
def test_a_file_without_recordings_says_why(content: bytes, says: str, tmp_path: Path) -> None:
    found = read(written(tmp_path, content))
    assert says in found.missing and found.cells == {}


def test_no_file_says_why(tmp_path: Path) -> None:
    assert "cannot be read" in read(tmp_path / "none.ipynb").missing
    assert "does not say which" in read(None).missing


def test_the_committed_outputs_go_before_what_a_lecturer_saved(tmp_path: Path) -> None:
    def git(*arguments: str) -> None:
        subprocess.run(["git", "-C", str(tmp_path), *arguments], check=True, capture_output=True)

    made = stamp(CELLS, "AMD EPYC", date(2026, 11, 21))
    path = written(tmp_path, notebook(recorded=made))
    git("init", "-q")
    git("add", path.name)
    who = ("-c", "user.name=a", "-c", "user.email=a@b.c", "-c", "commit.gpgsign=false")
    git(*who, "commit", "-qm", "lesson")
    written(tmp_path, notebook([code("a", printed("99 ms\n"))], recorded=made))
    found = read(path)
    assert found.cells["a"] == [{"text": "3 ms\n"}]
    assert found.of == "recorded on AMD EPYC, 21 November 2026"


def test_the_kernel_is_told_its_notebook(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JPY_SESSION_NAME", "/home/x/00_lesson.ipynb")
    assert notebook_path() == Path("/home/x/00_lesson.ipynb")
    monkeypatch.setenv("JPY_SESSION_NAME", "console-1")
    assert notebook_path() is None


def test_a_lecture_without_recordings_goes_on_and_says_so(tmp_path: Path) -> None:
    lecture = rl.lecture(tmp_path / "none.ipynb")
    assert "cannot be read" in lecture.recording["missing"]
    data, _ = lecture._repr_mimebundle_()
    assert data["text/plain"].startswith("Lecture: → next") and "cannot be read" in lecture.sentence


@each_row((3, TypeError), ("lesson.py", ValueError))
def test_what_is_no_notebook_is_refused(given: object, error: type[Exception]) -> None:
    with pytest.raises(error, match="notebook="):
        rl.lecture(given)


def test_what_a_guess_uncovers_is_recorded_with_its_picture() -> None:
    picture = b"\x89PNG a roofline"
    asked = {"result": 39.0, "unit": "×", "low": 1.0, "high": 1e4}
    with_one = guess("a", "By what factor?", picture=picture, sentence="A roofline.", **asked)
    data, told = with_one._repr_mimebundle_()
    (kept,) = recorded([code("x", {"data": data, "metadata": told})])["x"]
    assert kept["under"]["png"] == b64encode(picture).decode()
    assert kept["under"]["alt"] == "A roofline."
    assert kept["under"]["says"] == "It is 39 times (shown without a guess)."
    without = guess("b", "By what factor?", **asked)._repr_mimebundle_()[1]["rooflab"]["under"]
    assert "says" not in without and without["alt"] == "It is 39 times (shown without a guess)."
