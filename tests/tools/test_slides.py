"""Slides: the core of a lesson in one file that asks nothing of a network."""

from __future__ import annotations

import ast
import builtins
import json
import re
from copy import deepcopy
from pathlib import Path

import nbformat
import pytest
from nbformat import NotebookNode

from tests.tools.test_site import PICTURE, WIDGETS
from tools.lesson import read_lesson
from tools.site import NOTEBOOKS
from tools.slides import build_deck, core, main, run_core

NEEDS_HOST = re.compile(r"""(?:src|href)=["'](?!data:|blob:|#)([^"']+)""")
LONG = "\n\n".join(f"Paragraph {n}. " + "One thing that is said at length. " * 9 for n in range(9))
VOTE = """### Vote

Which?

- **A** one
- **B** two

<details><summary>What each answer would mean</summary>

**A** is *a name*.

</details>

After the vote."""
SAID = """words = "| a | b |\\n|---|---|\\n| 1 | 2 |\\n\\nWords on the table."
conclude = lambda: type("Said", (), {"_repr_markdown_": lambda self: words})()
conclude()"""


def cell(kind: str, source: str, *tags: str, id: str) -> NotebookNode:
    make = {"text": nbformat.v4.new_markdown_cell, "code": nbformat.v4.new_code_cell}[kind]
    return make(source, metadata={"tags": list(tags)}, id=id)


def learner() -> NotebookNode:
    cells = [
        cell("text", "# 00 · Slides\n\n*Run the cells.*\n\nA first word.", "core", id="title"),
        cell("code", "import math", "core", id="import"),
        cell("text", "## At length\n\n" + LONG, "core", id="long"),
        cell("code", WIDGETS.strip(), "core", id="widget"),
        cell("code", PICTURE.strip(), "deep", id="deep"),
        cell("text", VOTE, "core", id="vote"),
        cell("code", "answer = ...  # your code; ours has 1 line", "core", "answer", id="answer"),
        cell("code", "class rl: check = print\nrl.check(1)", "core", id="other"),
        cell("code", "rl.check('00-answer')", "core", id="check"),
        cell("text", "## Asked\n\nHow many?", "core", id="asked"),
        cell("code", "print('forty', 'two')", "core", "pause", id="paused"),
        cell("code", SAID, "core", id="said"),
        cell("code", "for n in range(60): print(n, 'line ' * 30)", "core", id="printed"),
    ]
    return nbformat.v4.new_notebook(cells=cells)


@pytest.fixture(scope="module")
def notebooks(tmp_path_factory: pytest.TempPathFactory) -> tuple[NotebookNode, NotebookNode]:
    """The learner's notebook, and the core of the solution executed."""
    asked, solved = learner(), learner()
    solved.cells[6].source = "answer = 6 * 7 < 50"
    lesson = tmp_path_factory.mktemp("run") / "00_slides.ipynb"
    (lesson.parent / "solutions").mkdir()
    nbformat.write(solved, lesson.parent / "solutions" / lesson.name)
    return asked, run_core(lesson)


@pytest.fixture(scope="module")
def page(notebooks, tmp_path_factory: pytest.TempPathFactory) -> Path:
    asked, solved = notebooks
    path = tmp_path_factory.mktemp("Folien für alle") / "00_slides.html"
    path.write_text(build_deck(solved, asked, solved), "utf-8")
    return path


def test_deep_cells_and_checks_stay_behind_the_stage(notebooks) -> None:
    wanted = ["title", "import", "long", "widget", "vote", "answer", "other"]
    wanted += ["asked", "paused", "said", "printed"]
    assert [cell.id for cell in core(learner(), learner()).cells] == wanted
    wanted.insert(wanted.index("asked"), "check")
    assert [cell.id for cell in notebooks[1].cells] == wanted


class Names(ast.NodeVisitor):
    """The names that code gives a value, ``mine.decode`` among them, and those that it reads."""

    def __init__(self, code: str) -> None:
        self.given: set[str] = set()
        self.read: set[str] = set()
        self.visit(ast.parse(code))

    def visit_Name(self, node: ast.Name) -> None:
        (self.read if isinstance(node.ctx, ast.Load) else self.given).add(node.id)

    def visit_alias(self, node: ast.alias) -> None:
        self.given.add((node.asname or node.name).partition(".")[0])

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        self.given.add(node.name)
        self.given.update(one.arg for one in ast.walk(node.args) if isinstance(one, ast.arg))
        self.generic_visit(node)

    def visit_Lambda(self, node: ast.Lambda) -> None:
        self.given.update(one.arg for one in ast.walk(node.args) if isinstance(one, ast.arg))
        self.generic_visit(node)

    def visit_Attribute(self, node: ast.Attribute) -> None:
        if ast.unparse(node.value) == "rl.mine" and node.attr != "save":
            self.read.add(f"mine.{node.attr}")
        self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> None:
        if ast.unparse(node.func) == "rl.mine.save":
            self.given.update(f"mine.{ast.unparse(one)}" for one in node.args)
        self.generic_visit(node)


def missing(cells: list[NotebookNode]) -> list[str]:
    """The names that a lesson's core reads where no cell of the core has given them a value."""
    known, lost = {*dir(builtins), "get_ipython", "cuda", "float32"}, []  # words of the emulator
    for one in cells:
        if one.cell_type == "code" and "deep" not in one.metadata.tags:
            names = Names(one.source)
            known |= names.given
            lost += sorted(names.read - known)
    return lost


SOURCES = sorted((NOTEBOOKS / "source").glob("[0-9]*.py"))


@pytest.mark.parametrize("source", SOURCES, ids=lambda path: path.stem)
def test_the_core_of_a_lesson_needs_none_of_its_deeper_cells(source: Path) -> None:
    assert missing(read_lesson(source).solution.cells) == []


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("import math", "math.pi"),
        ("def f(x): ...", "f(1)"),
        (
            "import rooflab as rl\ndef f(): ...\nrl.mine.save(f)",
            "import rooflab as rl\nrl.mine.f()",
        ),
    ],
)
def test_what_only_a_deeper_cell_gives_is_missed(before: str, after: str) -> None:
    assert missing([cell("code", before, "core", id="a"), cell("code", after, id="b")]) == []
    (_,) = missing([cell("code", before, "deep", id="a"), cell("code", after, id="b")])


def test_an_exercise_shows_its_stub_and_covers_its_solution(notebooks) -> None:
    asked, solved = notebooks
    answer = next(cell for cell in core(solved, asked).cells if cell.id == "answer")
    assert answer.source == "answer = ...  # your code; ours has 1 line"
    (covered,) = answer.outputs
    assert covered.data["text/html"].startswith("<details><summary>Solution</summary>")
    assert "6 * 7 &lt; 50" in covered.data["text/html"], "code is text, not markup"
    (given,) = (cell for cell in solved.cells if cell.id == "answer")
    assert given.source == "answer = 6 * 7 < 50", "the notebook itself is untouched"


def test_the_page_is_one_file_that_asks_for_no_other(page: Path) -> None:
    text = page.read_text("utf-8")
    body = text[text.index("<body") : text.index('id="lec-recorded"')]
    assert NEEDS_HOST.findall(body) == []
    assert not re.search(r"<(script|link)[^>]+(src|href)=", text)


def test_recorded_outputs_stand_in_the_page(page: Path, notebooks) -> None:
    text = page.read_text("utf-8")
    data = re.search(r'id="lec-recorded"[^>]*>(.*?)</script>', text, re.S)
    recorded = json.loads(data[1])
    assert set(recorded["cells"]) == {"widget", "other", "paused", "said", "printed"}
    assert recorded["of"] == "saved in this notebook; machine and day are unknown"
    assert recorded["none"] == ""


def test_a_lesson_without_recordings_says_so(notebooks) -> None:
    asked, solved = notebooks
    assert "nothing is recorded" in build_deck(solved, asked, asked)


def test_a_script_cannot_be_ended_by_what_it_holds(notebooks) -> None:
    asked, solved = deepcopy(notebooks)
    solved.cells[-1].outputs[0].text = "</script><script>alert(1)</script>"
    page = build_deck(solved, asked, solved)
    assert "</script><script>alert(1)" not in page


def test_what_cannot_be_slides_is_refused(notebooks) -> None:
    asked, solved = deepcopy(notebooks)
    with pytest.raises(ValueError, match="run it before"):
        build_deck(asked, asked, asked)
    for one in solved.cells:
        one.metadata["tags"] = ["deep"]
    with pytest.raises(ValueError, match="'core'"):
        build_deck(solved, asked, solved)


def test_an_unknown_lesson_is_named(tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match=r"no such notebook: 99_nothing\.ipynb"):
        main(["99_nothing", "--out", str(tmp_path / "no")])
    assert not (tmp_path / "no").exists()
