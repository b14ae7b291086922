"""The code of notebooks: read in any number of threads, in steps that grow as its length."""

from __future__ import annotations

import ast
import gc
import sys
import time
import warnings
from concurrent.futures import ThreadPoolExecutor

import pytest

from rooflab.grade import notebook_code
from rooflab.grade.notebook_code import kept, parsed, text_of

LONG = "\n".join(f"def f{n}(x):\n    return [a + {n} for a in x if a and x]" for n in range(200))


def test_threads_do_not_disturb_each_other():
    """The collector's callbacks let other threads in, as dask's do."""
    wanted = ast.dump(ast.parse(LONG))

    def let_others_in(*_: object) -> None:
        time.sleep(0)

    gc.callbacks.append(let_others_in)
    try:
        with ThreadPoolExecutor(4) as pool:
            trees = list(pool.map(notebook_code.parse, [LONG] * 40))
    finally:
        gc.callbacks.remove(let_others_in)
    assert all(ast.dump(tree) == wanted for tree in trees)


def test_a_text_that_python_would_warn_of_says_nothing():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert isinstance(notebook_code.parse('"\\d"').body[0], ast.Expr)


def test_what_is_no_python_is_still_refused():
    with pytest.raises(SyntaxError):
        notebook_code.parse("def f(:")


# What a submission costs the grader itself grows as its length, not as its square.

TWICE = 2.5  # times the steps that twice the length may take: a square takes four times


def steps(work) -> int:
    """Lines of Python that ``work()`` runs."""
    count = 0

    def one(frame, event, arg):
        nonlocal count
        count += event == "line"
        return one

    before = sys.gettrace()
    sys.settrace(one)
    try:
        work()
    finally:
        sys.settrace(before)
    return count


def test_twice_the_length_takes_twice_the_steps():
    short, long = (steps(lambda n=n: kept("x = 1;" * n)) for n in (150, 300))
    assert 0 < long <= TWICE * short


PIECES = {
    "x = 1; y = 2": ["x = 1", "y = 2"],
    "é = 'ü'; y = é": ["é = 'ü'", "y = é"],
    "x = [1,\n  2]; y = '''a\nb'''": ["x = [1,\n  2]", "y = '''a\nb'''"],
    "@a\n@b\ndef f():\n    x = 1; return x": ["@a\n@b\ndef f():\n    x = 1; return x"],
    "if a: x = 1; y = 2\nz = ';'": ["if a: x = 1; y = 2", "z = ';'"],
}


def test_statements_come_out_as_they_stand():
    for source, pieces in PIECES.items():
        assert [text_of(source, [node]) for node in parsed(source).body] == pieces
