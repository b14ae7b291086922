"""Golf refuses by name what it cannot count, stops what never ends, leaves inputs as they are."""

from __future__ import annotations

import copy
import math
import pickle
import signal
import sys
import threading

import numpy as np
import pytest
from numpy import asarray, empty

import rooflab as rl
from rooflab.labs.golf import GolfError, Limits, Untraceable, golf
from tests.support.rows import each_row

X = np.arange(10_000.0)
KEPT = np.arange(10_000.0) + 1
random = np.random.default_rng(0)


def spin(x):
    while True:
        pass


def spin_bare(x):
    while True:
        try:
            while True:
                pass
        except Exception:
            pass


def call_for_ever(x):
    while True:
        x = x + 1


@each_row(
    (lambda x: np.sort(x), "np.sort"), (lambda x: x.sort(), "method sort"),
    (lambda x: np.fft.fft(x), "np.fft.fft"), (lambda x: np.linalg.svd(x[:, None]), "np.linalg.svd"),
    (lambda x: np.mean(x, where=x > 0), "np.mean with where="),
    (lambda x: np.linalg.norm(x, 3), "ord=3"),
    (lambda x: np.linalg.vector_norm(x[:, None], axis=(0, 1)), "several axes"),
    (lambda x: np.einsum("i,i", x, x, optimize=True), "optimize"),
    (lambda x: np.frompyfunc(lambda v: v, 1, 1)(x), "np.frompyfunc"),
    (lambda x: x.tolist(), "tolist"),
    (lambda x: x.ctypes, "ctypes"), (lambda x: x.astype(object), "object"),
    (lambda x: np.multiply([x, x], 2, out=np.empty((2, x.size))), "np.stack"),
    (lambda x: np.maximum.reduce([x, x]), "takes the numbers out"),
    (lambda x: pickle.dumps(x), "pickling"),
    (lambda x: x + random.random(len(x)), "not seen being made"),
    (lambda x: x * np.linspace(0, 1, len(x)), "not seen being made"),
    (lambda x: np.asarray(random.random(len(x))) + x, "not seen being made"),
    (lambda x: random.random(len(x)), "result"),
    (lambda x: golf(lambda y: y + 1, x), "inside a function"),
)  # fmt: skip
def test_refused_by_name(function, named):
    with pytest.raises(GolfError, match=named):
        golf(function, X)


def test_a_function_of_numpy_that_calls_another_is_refused_by_its_own_name():
    with pytest.raises(GolfError, match="vectorize"):
        golf(lambda x: np.vectorize(lambda v: v)(x), X)


def test_scipys_ufuncs_count_and_its_other_functions_are_refused():
    linalg, special = pytest.importorskip("scipy.linalg"), pytest.importorskip("scipy.special")
    assert golf(lambda x: special.expit(x), X).per_element == 16
    with pytest.raises(Untraceable, match="scipy"):
        golf(lambda x: linalg.norm(x), X)


def test_compiled_functions_are_refused():
    numba = pytest.importorskip("numba")
    double = numba.njit(lambda x: x * 2)
    with pytest.raises(GolfError, match="compiled by numba"):
        golf(double, X)
    with pytest.raises(GolfError, match="cannot see into numba"):
        golf(lambda x: double(x), X)


@each_row(
    ([[1.0, 2.0]], TypeError, "x=.*must be a NumPy array"), (["text"], TypeError, "x='text'"),
    ([None], TypeError, "x=None"), ([np.array(["a"])], GolfError, "dtype <U1"),
    ([np.array([None])], GolfError, "dtype object"),
    ([np.array(["2026-01-01"], "M8[D]")], GolfError, "datetime64"),
    ([np.zeros(3, [("a", "f8")])], GolfError, "x has dtype"),
    ([np.ma.masked_array(X)], TypeError, "MaskedArray"), ([X, X], TypeError, "given 2 inputs"),
    ([2.0], TypeError, "at least one NumPy array"),
)  # fmt: skip
def test_bad_inputs(arrays, error, named):
    with pytest.raises(error, match=named):
        golf(lambda x: x, *arrays)


@each_row(
    ({"minimum": 0}, ValueError), ({"minimum": -8}, ValueError), ({"minimum": 1.5}, TypeError),
    ({"minimum": "24"}, TypeError), ({"cache": -1}, ValueError), ({"cache": True}, TypeError)
)  # fmt: skip
def test_bad_options(options, error):
    with pytest.raises(error, match=next(iter(options))):
        golf(lambda x: x, X, **options)
    with pytest.raises(TypeError, match="f=3"):
        golf(3, X)


def test_a_function_that_raises_says_where():
    def f(x):
        y = x + 1
        return y / [][0]

    with pytest.raises(
        GolfError, match=r"f raised IndexError.*step 2, line 3 `return y / "
    ) as seen:
        golf(f, X)
    assert seen.value.step == 1 and isinstance(seen.value.__cause__, IndexError)
    with pytest.raises(GolfError, match=r"use the NumPy function \(np.sqrt"):
        golf(lambda x: math.sqrt(x), X)
    with pytest.raises(GolfError, match="SystemExit"):
        golf(lambda x: sys.exit(3), X)
    with pytest.raises(GolfError, match="generator"):
        golf(lambda x: (v for v in x), X)
    with pytest.raises(GolfError, match="shapes"):
        golf(lambda x: x + x[1:], X)


@pytest.mark.filterwarnings("error")  # nobody awaited it
@each_row("return x + 1", "yield x + 1")
def test_an_async_function_is_told_to_be_none(ending):
    scope: dict = {}
    exec(f"async def f(x): {ending}", scope)
    with pytest.raises(GolfError, match="f has not run yet: write `def`, not `async def`"):
        golf(scope["f"], X)


def test_options_of_any_name_stay_empty():
    def f(x, *more, scale=2.0, **options):
        assert (more, options) == ((), {})
        return scale * x

    assert golf(f, X).per_element == 16


@each_row(spin, spin_bare)
def test_it_is_stopped_in_another_thread_too(function):
    found: list[BaseException] = []

    def play():
        try:
            golf(function, X, limits=Limits(seconds=0.05))
        except BaseException as error:
            found.append(error)

    thread = threading.Thread(target=play)
    thread.start()
    thread.join(20)
    assert not thread.is_alive()
    assert isinstance(found[0], GolfError) and "stopped after" in str(found[0])


def test_too_many_steps_are_stopped():
    with pytest.raises(GolfError, match="stopped after 50 steps"):
        golf(call_for_ever, X, limits=Limits(steps=50))


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="needs an interval timer")
def test_somebody_elses_alarm_goes_on():
    rang: list[int] = []
    usual = signal.signal(signal.SIGALRM, lambda *_: rang.append(1))
    try:
        signal.setitimer(signal.ITIMER_REAL, 60)
        golf(lambda x: x + 1, X)
        assert 50 < signal.getitimer(signal.ITIMER_REAL)[0] <= 60
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, usual)
    assert not rang


def test_inputs_and_names_are_put_back():
    x = X.copy()

    def f(x):
        x *= 2
        buffer = empty(len(x))
        np.multiply(KEPT, x, out=buffer)
        return asarray(buffer)

    done = golf(f, x)
    np.testing.assert_array_equal(x, X)
    assert type(KEPT) is np.ndarray and x.flags.writeable
    assert empty is np.empty and asarray is np.asarray and np.__name__ == "numpy"
    assert [t.name for t in done.steps[1].operands] == ["KEPT", "x", "result"]
    np.testing.assert_array_equal(done.result, 2 * X * KEPT)
    assert done.changed == ("x",)
    with pytest.raises(GolfError):
        golf(spin, x, limits=Limits(seconds=0.05))
    assert type(KEPT) is np.ndarray


def test_a_read_only_input_stays_read_only():
    x = X.copy()
    x.flags.writeable = False
    with pytest.raises(GolfError, match="read-only"):
        golf(lambda x: np.add(x, 1, out=x), x)


def test_views_scalars_none_tuples_and_dicts_come_back_plain():
    x = X.copy()
    view = golf(lambda x: x[::2], x).result
    assert type(view) is np.ndarray and not np.shares_memory(view, x)
    assert golf(lambda x: None, x).result is None
    assert isinstance(golf(lambda x: x.sum(), x).result, float)
    pair = golf(lambda x: (x + 1, {"a": 1}, [x * 2]), x).result
    assert type(pair[0]) is type(pair[2][0]) is np.ndarray
    assert type(golf(lambda x: {"twice": 2 * x}, x).result["twice"]) is np.ndarray
    assert golf(lambda x: copy.deepcopy(x), x).per_element == 16


def test_isinstance_holds_inside_and_the_ledger_speaks():
    def checked(x):
        if not isinstance(x, np.ndarray):
            raise TypeError("no array")
        return 0.5 * x + x

    done = rl.golf(checked, X, cache=4096)
    head, about, *rows = repr(done).splitlines()
    assert head == "40 B an element against 16: score 2.5"
    assert "2 steps" in about and len(rows) == 2
    small = rl.golf(checked, X)
    assert "give larger ones" in repr(small)
    assert "give larger ones" not in repr(done)
    assert "views only" in repr(rl.golf(lambda x: x.T, X))
