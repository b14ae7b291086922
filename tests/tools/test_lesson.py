"""From one source to two notebooks."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tools.lesson import LessonError, keep_solutions, read_lesson, stub_solutions

GOOD = Path(__file__).parent / "lessons" / "00_good.py"


@pytest.fixture(scope="module")
def lesson():
    return read_lesson(GOOD)


def answer(notebook, exercise: str) -> str:
    return next(c.source for c in notebook.cells if c.id == f"answer-{exercise}")


def test_the_solution_keeps_the_code_and_loses_the_markers(lesson) -> None:
    code = answer(lesson.solution, "00-double")
    assert "return 2 * n" in code and "SOLUTION" not in code


def test_the_learner_sees_a_stub_with_its_length(lesson) -> None:
    assert answer(lesson.learner, "00-double").endswith("    ...  # your code; ours has 1 line")


def test_a_solution_that_assigns_leaves_the_name_defined(lesson) -> None:
    assert answer(lesson.learner, "00-ridge") == "ridge = ...  # your code; ours has 2 lines"


def test_no_solution_reaches_the_learner(lesson) -> None:
    text = "\n".join(cell.source for cell in lesson.learner.cells)
    assert "SOLUTION" not in text and "peak / bandwidth" not in text


def test_both_copies_share_ids_tags_and_prose(lesson) -> None:
    assert len(lesson.learner.cells) == len(lesson.solution.cells)
    for mine, theirs in zip(lesson.learner.cells, lesson.solution.cells, strict=True):
        assert (mine.id, mine.metadata) == (theirs.id, theirs.metadata)
        if "answer" not in mine.metadata.tags:
            assert mine.source == theirs.source


def test_tags_and_exercise_are_carried_over(lesson) -> None:
    cells = {cell.id: cell for cell in lesson.learner.cells}
    metadata = cells["answer-00-ridge"].metadata
    assert metadata == {"tags": ["core", "answer"], "rooflab": {"exercise": "00-ridge"}}
    deep = [c for c in lesson.learner.cells if "deep" in c.metadata.tags]
    assert [c.source for c in deep] == ["print(2 * 3)"]
    assert lesson.learner.metadata.rooflab == {"lesson": "00_good"}


def test_reading_twice_gives_the_same(lesson) -> None:
    again = read_lesson(GOOD)
    assert (again.learner, again.solution) == (lesson.learner, lesson.solution)


def test_ids_survive_a_new_cell_and_differ_for_equal_cells(tmp_path: Path, lesson) -> None:
    longer = tmp_path / "00_good.py"
    text = GOOD.read_text("utf-8").replace(
        "# %%\nimport math", "# %%\n1\n\n# %%\n1\n\n# %%\nimport math"
    )
    longer.write_text(text, "utf-8")
    old = [cell.id for cell in lesson.learner.cells]
    new = [cell.id for cell in read_lesson(longer).learner.cells]
    assert len(set(new)) == len(new) == len(old) + 2
    assert [identity for identity in new if identity in old] == old


@pytest.mark.parametrize(
    ("code", "message"),
    [
        ("# BEGIN SOLUTION\nx = 1", "without '# END SOLUTION' after"),
        ("x = 1\n# END SOLUTION", "without '# BEGIN SOLUTION' before"),
        ("# BEGIN SOLUTION\n# BEGIN SOLUTION\nx\n# END SOLUTION", "has not ended"),
        ("# BEGIN SOLUTION\n\n# END SOLUTION", "empty"),
        ("# BEGIN SOLUTION\nx = = 1\n# END SOLUTION", "with its solution: not valid Python"),
        ("if x:\n# BEGIN SOLUTION\n    x\n# END SOLUTION", "without its solution: not valid"),
    ],
)
def test_bad_markers_name_file_and_cell(code: str, message: str) -> None:
    with pytest.raises(LessonError, match=rf"00_x\.py, cell 3.*{message}"):
        stub_solutions(code, "00_x.py, cell 3")


def test_a_solution_may_hold_several_functions() -> None:
    cell = (
        "def f():\n    # BEGIN SOLUTION\n    return g()\n\n\n"
        "def g():\n    x = 1\n    return x\n    # END SOLUTION"
    )
    assert stub_solutions(cell, "here") == "def f():\n    ...  # your code; ours has 4 lines"


def test_a_marker_in_a_text_cell_is_refused(tmp_path: Path) -> None:
    source = tmp_path / "00_text.py"
    source.write_text("# %% [markdown]\n# # BEGIN SOLUTION\n", "utf-8")
    with pytest.raises(LessonError, match="cell 0: a solution marker stands in a text cell"):
        read_lesson(source)


def test_a_wrong_file_name_is_refused(tmp_path: Path) -> None:
    source = tmp_path / "free_lunch.py"
    source.touch()
    with pytest.raises(LessonError, match=r"free_lunch\.py: .* NN_slug\.py"):
        read_lesson(source)


STATEMENTS = st.sampled_from(
    ["x = 1", "y = x = 2", "print(3)", "return 4", "z += 5", "a, b = 6, 7"]
)


@given(st.lists(STATEMENTS, min_size=1, max_size=6), st.integers(0, 2))
def test_any_stub_is_valid_python_and_as_long_as_it_says(body: list[str], depth: int) -> None:
    pad = "    " * (depth + 1)
    block = [pad + line for line in ["# BEGIN SOLUTION", *body, "# END SOLUTION"]]
    head = [f"{'    ' * d}def f{d}():" for d in range(depth + 1)]
    cell = "\n".join([*head, *block])
    stub = stub_solutions(cell, "here")
    ast.parse(stub)
    ast.parse(keep_solutions(cell))
    assert f"# your code; ours has {len(body)} line" in stub
    assert stub.count("\n") == len(head)
