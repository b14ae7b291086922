"""What a traced function asked of NumPy, as a program: complete, plain, and the same elsewhere."""

from __future__ import annotations

import json
import math
import operator
from itertools import product

import numpy as np
import pytest

from rooflab.labs.golf import GolfError, Limits, golf
from rooflab.labs.golf.numpy_rules import FUNCTIONS, NAMES
from rooflab.labs.golf.program import KINDS, MATH, OPERATORS, Recorder, is_number, unfollowed
from rooflab.labs.golf.replay import function_of
from tests.support.rows import each_row

X = np.random.default_rng(3).uniform(0.5, 2.0, 20_000)
Y = np.random.default_rng(4).uniform(0.5, 2.0, 20_000)


def recorded(f, *arrays):
    game = golf(f, *arrays, record=True)
    return game, json.loads(json.dumps(game.program))


def again(program, *arrays):
    function, outside = function_of(program, len(arrays))
    return golf(function, *arrays, *outside)


def names_of(program):
    return [call[0] for call in program["calls"] if call[0] != "gone"]


def test_the_calls_of_a_function_one_by_one():
    def f(x):
        half = x[:10_000]
        total = np.dot(half, half)
        return 2 * np.sqrt(total)

    game, program = recorded(f, X)
    assert program == {
        "inputs": [["x", 0, 1]],
        "calls": [
            [".__getitem__", [{"at": 1}, {"slice": [None, 10_000, None]}], {}, 2],
            ["dot", [{"at": 2}, {"at": 2}], {}, 3],
            ["sqrt.__call__", [{"at": 3}], {}, 4],
            ["operator.mul", [2, {"at": 4}], {}, 5],
            ["gone", 2],
        ],
        "answer": {"at": 5},
        "left": [],
    }
    assert again(program, X).result == game.result == 2 * np.sqrt(np.dot(X[:10_000], X[:10_000]))


def test_without_a_program_numbers_are_numpys_own():
    seen = []
    golf(lambda x: seen.append(np.sum(x)) or x, X)
    assert type(seen[0]) is np.float64
    assert golf(lambda x: x, X).program is None


SAID_IN = {  # a function of one array of numbers between 0.5 and 2
    "slices": lambda x: x[3:-3:2][::-1] * 2,
    "index": lambda x: x[np.arange(0, 100, 7)],
    "mask": lambda x: x[x > 1],
    "rows": lambda x: x.reshape(100, -1) / np.linalg.norm(x.reshape(100, -1), axis=1)[:, None],
    "in place": lambda x: np.exp(x, out=x),
    "out": lambda x: np.add(x, 1, out=np.empty_like(x), dtype=np.float64),
    "set": lambda x: (x.__setitem__(slice(5), 0), x)[1],
    "joined": lambda x: np.concatenate([x[:5], x[-5:]]),
    "pieces": lambda x: np.stack(np.split(x, 4)),
    "largest": lambda x: x[np.argmax(x)],
    "a shape from it": lambda x: np.zeros(x.shape[::-1], x.dtype) + x,
    "float": lambda x: float(np.sum(x)) / len(x),
    "max": lambda x: max(x[0], x[1], *x[2:9]) + min(x[k] for k in range(9)),
    "math": lambda x: math.hypot(x[0], x[1]) + math.fsum([x[2], x[3]]) + math.log(x[4], 2),
    "statistics": lambda x: np.mean(x) + np.var(x) + np.std(x, ddof=1),
    "einsum": lambda x: np.einsum("i,i->", x, x),
    "matmul": lambda x: x.reshape(10, -1) @ x.reshape(10, -1).T,
    "transposed": lambda x: x.reshape(10, -1).T.mT.sum(axis=0),
    "where": lambda x: np.where(x > 1, x, np.float32(1)),
    "reduced": lambda x: np.add.reduce(x.reshape(4, -1), axis=0, keepdims=True),
    "at": lambda x: (np.add.at(x, [0, 0, 1], 1.0), x)[1],
    "outer": lambda x: np.multiply.outer(x[:9], x[9:18]),
    "single": lambda x: x.astype(np.float32).sum() * np.float32(0.5),
    "viewed": lambda x: x.view(np.int64)[:4] & 255,
    "copied": lambda x: x.copy() + x.flatten(),
    "a number in an array": lambda x: np.full(3, np.sum(x)) + np.array([x[0], x[1], 2.0]),
    "integers": lambda x: x[int(np.argmin(x[:1]))] * 3 // 1 % 7 - -(x[0] ** 2),
    "a constant": lambda x: x[:3] * np.linspace(0, 1, 3),
    "infinity": lambda x: np.minimum(x, math.inf) + np.maximum.reduce(x, initial=-np.inf),
    "several": lambda x: (np.sum(x), [x[:2]]),
    "by name": lambda x: {"sum": np.sum(x), "first": x[0]},
}


def plain(value):
    if isinstance(value, dict):
        return {key: plain(one) for key, one in value.items()}
    if isinstance(value, (tuple, list)):
        return [plain(one) for one in value]
    return np.asarray(value)


@each_row(*SAID_IN)
def test_the_same_elsewhere(name):
    """The same result on the same numbers, NumPy's own on others; the same bytes on both."""
    f = SAID_IN[name]
    game, program = recorded(f, X.copy())
    here, there = again(program, X.copy()), again(program, Y.copy())
    np.testing.assert_equal(plain(here.result), plain(game.result))
    assert here.bytes == game.bytes == golf(f, X.copy()).bytes
    if name != "mask":  # how many are above 1 depends on the numbers
        np.testing.assert_allclose(*map(list_of, (there.result, f(Y.copy()))), rtol=1e-12)
        assert there.bytes == game.bytes


def list_of(result):
    values = result.values() if isinstance(result, dict) else result
    values = values if isinstance(result, (dict, tuple)) else [result]
    return np.concatenate([np.ravel(np.asarray(value, dtype=float)) for value in values])


def test_every_function_with_a_model_has_a_name():
    for name, function in FUNCTIONS.items():
        assert operator.attrgetter(name)(np) is function and NAMES[function] == name
    assert {"linalg.norm", "sum", "empty", "asarray", "take", "broadcast_to"} <= set(FUNCTIONS)
    assert not {"load", "save", "fromfile", "memmap", "frompyfunc"} & set(FUNCTIONS)


def test_mathematics_is_all_of_pythons():
    assert {"math.sqrt", "math.fsum", "math.hypot"} <= set(MATH) and len(MATH) > 40


VALUES = [2.5, -1.5, 0.0, 3.0]


@each_row(*OPERATORS)
def test_a_number_computes_like_numpys(name):
    """Same value, same type, whatever stands on the other side."""
    do = getattr(operator, name)
    recorder = Recorder()

    def followed(value):
        return recorder.call("made", lambda: value, ())

    many = 1 if name in ("neg", "abs", "pos") else 2
    sides = [kind(value) for kind in KINDS for value in VALUES[: 3 if many == 2 else 4]]
    with np.errstate(all="ignore"):
        for pair in product(sides, [2, 0.5, *sides]) if many == 2 else [(one,) for one in sides]:
            for given in ([followed(v) for v in pair], [followed(pair[0]), *pair[1:]]):
                if not any(map(is_number, given)):
                    continue
                try:
                    right = do(*pair)
                except (TypeError, ValueError, ArithmeticError) as error:
                    with pytest.raises(type(error)):
                        do(*given)
                    continue
                mine = do(*given)
                assert is_number(mine) or type(right) not in KINDS
                np.testing.assert_equal(unfollowed(mine), right)
                assert np.asarray(unfollowed(mine)).dtype == np.asarray(right).dtype


def test_number_types_are_what_they_stand_for_in_the_function():
    def f(x):
        total = np.sum(x)
        assert isinstance(total, np.float64) and isinstance(total, float)
        assert isinstance(np.float32(total), np.float32) and isinstance(float(total), float)
        assert not isinstance(total, np.float32) and x.dtype == float
        assert np.empty(2, dtype=float).dtype == np.zeros(2, np.float64).dtype == x.dtype
        assert {total: 1}[total] == 1 and f"{total:.1f}" == f"{unfollowed(total):.1f}"
        return np.float32(total).astype(np.float64) + total.item()

    game, program = recorded(f, X)
    assert again(program, Y).result == pytest.approx(f(Y))
    assert set(names_of(program)) >= {"float32", "float64", "float", "operator.add"}
    assert float is float and f.__globals__.get("float") is None, "everything is put back"


@each_row(
    (lambda x: x * (1 if np.sum(x) > 3 else 2), "compared"),
    (lambda x: x * int(np.sum(x)), "whole number"),
    (lambda x: x * bool(np.sum(x)), "bool"),
    (lambda x: x * len(f"{np.sum(x):f}"), "text"),
    (lambda x: x * sorted([x[0], x[1]])[0], "compared"),
)
def test_the_door_by_which_a_number_left_is_named(f, how):
    assert [door for door in recorded(f, X)[1]["left"] if how in door]


def test_arrays_that_are_gone_are_gone_elsewhere():
    def f(x):
        for i in range(0, len(x), 1000):
            part = x[i : i + 1000] * 2
            x[i : i + 1000] = part + 1
            del part
        return x

    game, program = recorded(f, X.copy())
    live, most = set(), 0
    for call in program["calls"]:
        if call[0] == "gone":
            live.discard(call[1])
        elif call[3]:
            live.add(call[3])
        most = max(most, len(live))
    assert most < 8
    assert again(program, Y.copy()).bytes == game.bytes


def test_a_program_without_end_is_stopped_like_a_function():
    program = recorded(lambda x: x + 1, X)[1]
    program["calls"] = program["calls"][:1] * 2000
    function, _ = function_of(program, 1)
    with pytest.raises(GolfError, match="was stopped after 500 steps"):
        golf(function, X[:10], limits=Limits(steps=500))
    with pytest.raises(GolfError, match="stopped after 0.02 s|longer than 0.02 s"):
        golf(function, X, limits=Limits(seconds=0.02))
