"""The parser: texts in order are read in any number of threads."""

from __future__ import annotations

import ast
import gc
import time
import warnings
from concurrent.futures import ThreadPoolExecutor

import pytest

from rooflab.grade import notebook_code

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
