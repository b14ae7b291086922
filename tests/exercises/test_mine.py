"""mine.py: the learner's functions, kept in a file that nothing of ours damages."""

from __future__ import annotations

import itertools
import linecache

import pytest

from rooflab.exercises.mine import Mine, definition, missing_names, replace


@pytest.fixture
def mine(tmp_path, monkeypatch):
    folder = tmp_path / "über uns"
    folder.mkdir()
    monkeypatch.chdir(folder)
    monkeypatch.delenv("ROOFLAB_MINE", raising=False)
    return Mine()


def cell(text, name):
    """Run a notebook cell like IPython does: its source is in linecache."""
    file = f"<cell {next(NUMBERS)}>"
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    names: dict[str, object] = {}
    exec(compile(text, file, "exec"), names)
    return names[name]


NUMBERS = itertools.count()
PRODUCT = """def product(m, n, k, itemsize, accumulate=False):
    moved = (m * k + k * n + (1 + accumulate) * m * n) * itemsize
    return 2 * m * n * k, moved, 2 * m * n * k / moved
"""


def test_without_a_file_the_reference_stands_in_and_says_so_once(mine, capsys):
    assert mine.product(2, 3, 5, 4)[0] == 60 and mine.product(1, 1, 1, 4)[0] == 2
    said = "mine.py has no product yet: rooflab's own product stands in.\n"
    assert capsys.readouterr().out == said
    assert mine.product(2, 3, 5, 4)[1] == 4 * 31 and mine.product(2, 3, 5, 4, True)[1] == 4 * 37
    assert mine.product(6, 6, 6, 4)[2] == pytest.approx(1)
    assert not mine.path.exists()


def test_a_saved_function_is_used_from_then_on(mine, capsys):
    assert repr(mine.save(cell(PRODUCT, "product"))) == "product: saved to mine.py (6 of 60 lines)."
    note = mine.save(cell(PRODUCT.replace("2 *", "7 *"), "product"))
    assert repr(note).endswith('It is not right yet: rl.check("01-product", product) says why.')
    assert mine.product(1, 1, 1, 4)[0] == 7 and capsys.readouterr().out == ""
    assert Mine().product(1, 1, 1, 4)[0] == 7, "another kernel reads it too"


def test_saving_again_replaces_and_is_idempotent(mine):
    mine.save(cell(PRODUCT, "product"))
    mine.path.write_text(
        mine.path.read_text() + "\n\ndef other():  # stays\n    return 1\n\n\nSIZE = 3\n"
    )
    mine.save(cell(PRODUCT, "product"))
    once = mine.path.read_text()
    mine.save(cell(PRODUCT, "product"))
    assert mine.path.read_text() == once and once.count("def product") == 1
    mine.save(cell(PRODUCT.replace("2 *", "5 *"), "product"))
    text = mine.path.read_text()
    assert "5 * m" in text and "2 * m" not in text and "# stays" in text and "SIZE = 3" in text
    assert text.index("def product") < text.index("def other"), "it keeps its place"


def test_a_function_that_is_not_written_yet_is_not_saved(mine):
    for body in (
        "    ...  # your code; ours has 1 line",
        "    total = ...\n    return total",
        "    return ...",
    ):
        note = mine.save(cell(f"def product(m, n, k):\n{body}\n", "product"))
        assert "not answered yet" in repr(note)
    assert not mine.path.exists() and mine.product(1, 1, 1, 4)[0] == 2


def test_functions_in_mine_may_call_those_still_missing(mine):
    text = (
        "def attainable(n, peak, bandwidth):\n"
        "    return min(peak, product(n, n, n, 4)[2] * bandwidth)\n"
    )
    note = mine.save(cell(text, "attainable"))
    assert "lacks" not in repr(note)
    assert mine.attainable(6, 9.0, 4.0) == pytest.approx(4)


def test_a_name_that_only_the_notebook_has_is_told(mine):
    text = "import numpy as np\nfrom math import prod\ntwo = 2\ndef area(m): return m\n"
    text += "def product(m, n, k):\n    return two * area(np.prod([m, n])) * prod([k]) * later\n"
    note = repr(mine.save(cell(text, "product")))
    assert "It uses area, later, np, prod, two, which mine.py lacks: " in note
    assert "save it too: `rl.mine.save(area)`" in note
    assert "write `import numpy as np` inside the function" in note
    assert "write `from math import prod` inside the function" in note
    assert "write what `two` is inside the function" in note and "`later`" in note


def test_several_functions_at_once(mine):
    area = cell("def area(m):\n    return m * m\n", "area")
    assert len(mine.save(cell(PRODUCT, "product"), area).lines) == 2 and mine.area(3) == 9


def test_an_error_in_the_file_is_told_with_its_line_and_the_file_is_left_alone(mine, capsys):
    broken = "def product(m, n, k):\n    return 2 *\n"
    mine.path.write_text(broken)
    assert mine.product(1, 1, 1, 4)[0] == 2
    assert (
        "mine.py line 2: invalid syntax: rooflab's own product stands in."
        in capsys.readouterr().out
    )
    assert "not saved, mine.py line 2: invalid syntax; mend that line first" in repr(
        mine.save(cell(PRODUCT, "product"))
    )
    assert mine.path.read_text() == broken and "line 2" in repr(mine)


def test_what_fails_at_import_is_told_not_raised(mine, capsys):
    for text, words in (
        ("x = 1\nimport nothing_of_that_name\n", "line 2: ModuleNotFoundError"),
        ("\n\nx = 1 / 0\n", "line 3: ZeroDivisionError"),
        (b"\xff\xfe", "not UTF-8"),
    ):
        mine.path.write_bytes(text if isinstance(text, bytes) else text.encode())
        assert mine.product(1, 1, 1, 4)[0] == 2
        assert words in capsys.readouterr().out
        mine.save(cell(PRODUCT, "product"))


def test_an_error_inside_a_function_is_the_learners_to_see(mine):
    mine.path.write_text("def product(m, n, k, s):\n    return 1 / 0\n")
    with pytest.raises(ZeroDivisionError):
        mine.product(1, 1, 1, 4)


def test_a_function_nobody_knows_comes_with_suggestions(mine):
    with pytest.raises(AttributeError, match="did you mean 'product'"):
        mine.produkt()
    assert {"product", "layer", "save"} <= set(dir(mine))


def test_what_is_no_function_is_refused(mine):
    for thing in (3, "def f(): pass", (1, 2)):
        with pytest.raises(TypeError, match="def"):
            mine.save(thing)
        with pytest.raises(TypeError, match="save"):
            mine.save()


IN_CLOSURE = "def make(two):\n    product = lambda m, n, k: two * m * n * k\n    return product\n"


def test_what_can_be_called_and_not_saved_is_told(mine):
    for thing in (len, [lambda m: m][0], type("C", (), {}), cell(IN_CLOSURE, "make")(2)):
        note = repr(mine.save(thing))
        assert note.startswith("not saved: ") and "def" in note and not mine.path.exists()


ONE_LINE = "product = lambda m, n, k, s, a=False: (2 * m * n * k, 1, 1)\n"
SEVERAL = "X = 1\nproduct = lambda m, n, k, s, *, a=False: (\n    2 * m * n * k,\n    1, 1)\n"


def test_a_lambda_with_a_name_is_saved_as_a_function(mine):
    for text in (ONE_LINE, SEVERAL):
        assert "product: saved to mine.py" in repr(mine.save(cell(text, "product")))
        assert mine.product(2, 3, 5, 4) == (60, 1, 1) and "def product(m" in mine.path.read_text()
        assert "not answered yet" in repr(mine.save(cell("product = lambda m: ...\n", "product")))


def test_a_function_without_source_is_refused(mine):
    names: dict[str, object] = {}
    exec("def product(m):\n    return m\n", names)
    assert "cell of its own" in repr(mine.save(names["product"]))


def test_a_folder_that_cannot_be_written_is_a_note(mine, monkeypatch, tmp_path):
    monkeypatch.setenv("ROOFLAB_MINE", str(tmp_path / "not there" / "mine.py"))
    assert "not saved, mine.py cannot be used" in repr(mine.save(cell(PRODUCT, "product")))


def test_the_table_says_whose_functions_are_used(mine):
    assert repr(mine).splitlines() == [
        "no mine.py yet", "  product: rooflab stands in", "  ridge: rooflab stands in",
        "  attainable: rooflab stands in", "  time: rooflab stands in",
        "  layer: rooflab stands in", "  decode: rooflab stands in",
    ]  # fmt: skip
    mine.save(cell(PRODUCT, "product"))
    assert repr(mine).splitlines()[:2] == ["mine.py: 6 of 60 lines", "  product: yours"]


def test_replacing_keeps_everything_around_a_decorated_double_definition():
    new = definition(cell(PRODUCT, "product"))
    text = (
        "# top\n"
        "@staticmethod\n"
        "def product(a):\n"
        "    return a\n"
        "X = 1\n"
        "def product(b):\n"
        "    pass\n"
        "# end\n"
    )
    assert replace(text, new) == "# top\n" + PRODUCT + "X = 1\n# end\n"
    assert replace("", new) == PRODUCT


def test_missing_names_looks_into_inner_functions():
    text = "import math\nK = 2\ndef f(x):\n    return [g(y) * K + math.pi + h for y in range(x)]\n"
    assert missing_names(text, "f") == ["g", "h"]


def test_what_a_lesson_writes_down_beside_its_function_stands_in_too(mine):
    assert mine.ridge(1e12, 1e11) == 10 and mine.attainable(2, 1e12, 1e11) == 2e11
