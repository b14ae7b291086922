"""Golf's judge believes the NumPy calls that came back only as far as they compute the right thing.

The calls are run again on other arrays. So the judge has to follow every way in which an honest
function may handle its numbers, and to refuse what was computed where golf did not see it.
"""

from __future__ import annotations

import decimal
import functools
import json
import math
import operator
import statistics
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from rooflab.exercises.check import check
from rooflab.exercises.judge import judge
from rooflab.exercises.kinds import golf as kind
from rooflab.exercises.observe.collect import collect
from rooflab.exercises.observe.golf import packed, unpacked
from rooflab.exercises.registry import exercise

SQUARES = exercise("02-golf-squares")
CHUNK = 1 << 14
scratch = np.empty(CHUNK)
large = np.zeros(1 << 17)


def chunks(x):
    return [x[i : i + CHUNK] for i in range(0, len(x), CHUNK)]


def by_imported_math(x):
    from math import hypot

    return hypot(*(np.sqrt(piece @ piece) for piece in chunks(x))) ** 2


def in_an_array(x):
    parts = np.empty(len(chunks(x)), x.dtype)
    for i, piece in enumerate(chunks(x)):
        parts[i] = np.dot(piece, piece)
    return np.sum(parts)


def scaled_by_the_largest(x):
    """The largest is Python's choice among numbers, and differs from array to array."""
    largest = max(np.max(np.abs(piece, out=scratch[: len(piece)])) for piece in chunks(x))
    parts = []
    for piece in chunks(x):
        small = np.divide(piece, largest, out=scratch[: len(piece)])
        parts.append(np.dot(small, small))
    return largest * largest * sum(parts)


def parts(x):
    return [np.dot(piece, piece) for piece in chunks(x)]


class Sum:
    """A class whose methods are the only ones that ask NumPy or math for anything."""

    def __init__(self):
        self.root = 0.0

    def add(self, piece):
        self.root = math.hypot(self.root, math.sqrt(float(np.dot(piece, piece))))

    @property
    def square(self):
        return math.pow(self.root, 2)


def in_a_class(x):
    found = Sum()
    for piece in chunks(x):
        found.add(piece)
    return found.square


@functools.lru_cache
def of_size(size):
    return np.empty(size)


def in_a_cached_function(x):
    small = of_size(len(chunks(x)))
    small[:] = parts(x)
    of_size.cache_clear()
    return small.sum()


class Total:
    def __init__(self, value):
        self.value = value

    def __lt__(self, other):
        return self.value < other.value

    def __radd__(self, other):
        return other + self.value


def scaled(x, how):
    """The list of parts, which is there once, and how many there are."""
    made = parts(x)
    return how(made) * len(made)


def with_a_dot(x, how):
    return how(np.dot(x, x))


def in_threads(x):
    with ThreadPoolExecutor(3) as pool:
        return sum(pool.map(lambda piece: piece @ piece, chunks(x)))


def by_newton(x):
    """A root whose steps end when Python finds it good enough."""
    square = float(np.dot(x, x))
    root = square
    while abs(root * root - square) > 1e-13 * square:
        root = (root + square / root) / 2
    return root * root


WAYS = {  # in which a number goes through Python and comes back
    "tolist": lambda x: sum(part.tolist() for part in parts(x)),
    "the array's own type": lambda x: x.dtype.type(sum(parts(x))),
    "statistics": lambda x: scaled(x, statistics.fmean),
    "the largest by a key": lambda x: max([np.dot(x, x), 0.0], key=abs),
    "a text": lambda x: float(str(np.dot(x, x))),
    "a ratio": lambda x: operator.truediv(*float(np.dot(x, x)).as_integer_ratio()),
    "complex": lambda x: complex(np.dot(x, x)).real,
    "long double": lambda x: float(sum(map(np.longdouble, parts(x)), np.longdouble(0))),
    "chosen by np.where": lambda x: with_a_dot(x, lambda s: np.where(s > 0, s, 0)),
    "np.isclose": lambda x: with_a_dot(x, lambda s: 0.0 if np.isclose(s, 0) else s),
    "np.cumsum of a list": lambda x: np.cumsum(parts(x))[-1],
    "in sorted objects": lambda x: sum(sorted(map(Total, parts(x)))),
}


def on_one_case(found, answer):
    """The verdict on one type of the several that a check draws, and a third of its numbers."""
    cases = [{**found.draw(0)[0], "n": 512 * 421}]
    return judge(found, cases, collect("golf", cases, answer))


def test_a_number_may_take_a_way_round(patient):
    verdicts = {name: on_one_case(SQUARES, way) for name, way in WAYS.items()}
    assert not {name: found for name, found in verdicts.items() if not found.passed}


def test_a_number_of_an_earlier_run_is_a_constant():
    kept = []

    def squares(x):
        kept.append(np.dot(x, x))
        return kept[0] + (kept[-1] - kept[0])

    cases = SQUARES.draw("kept")
    seen = collect("golf", cases, squares)
    assert [set(one) & {"error", "unreadable"} for one in seen] == [set()] * len(cases)


def by_decimals(x):
    return float(sum(decimal.Decimal(float(part)) for part in parts(x)))


def test_what_cannot_be_followed_is_told_what_would_do(patient):
    verdict = check(SQUARES.id, by_decimals)
    assert not verdict.passed
    assert "float(…) and math" in verdict.reason and "max(…)" in verdict.reason


def test_numbers_are_followed(patient):
    for answer in (
        in_a_class, in_a_cached_function, in_threads, by_newton, by_imported_math, in_an_array,
    ):  # fmt: skip
        verdict = on_one_case(SQUARES, answer)
        assert verdict.passed, verdict


def test_a_choice_of_python_is_followed_where_it_is_named():
    cases = SQUARES.draw("chosen")
    for case, seen in zip(cases, collect("golf", cases, scaled_by_the_largest), strict=True):
        other, _, again = kind.once_more(case, seen)
        right = kind.digest(SQUARES.reference(*kind.arrays(other)), other["seed"])
        assert kind.agree(right["sums"], again["value"]["sums"], other)


def by_branches(x):
    largest = x[0]
    for piece in chunks(x):
        here = np.max(piece)
        if here > largest:
            largest = here
    return np.dot(x, x) * largest / np.max(x)


def behind_the_array(x):
    plain = object.__getattribute__(x, "array")
    return np.float32(np.dot(plain, plain))


def beside_it(x):
    plain = object.__getattribute__(x, "array")
    np.sum(x)
    return np.float32(np.dot(plain, plain))


def from_the_buffer(x):
    plain = x.buffer.owner if hasattr(x.buffer, "owner") else x.array
    seen = np.dot(x, x[:1]) if len(x) == 1 else x[0]
    return seen - seen + np.float32(np.dot(plain.ravel(), plain.ravel()))


def test_what_golf_did_not_see_is_wrong_on_other_arrays():
    for answer in (by_branches, behind_the_array, beside_it, from_the_buffer):
        cases = SQUARES.draw("unseen")
        verdict = judge(SQUARES, cases, collect("golf", cases, answer))
        assert not verdict.passed
        assert "once more on other arrays" in verdict.reason or "par" in verdict.reason, verdict


def test_the_door_by_which_a_number_left_is_named():
    verdict = check(SQUARES.id, by_branches)
    assert "(Python compared it)" in verdict.reason or "par" in verdict.reason


def test_an_array_outside_of_the_function_is_room_for_numbers(patient):
    def bias_relu(x, b):
        for i in range(0, len(x), 64):
            rows = large[: x[i : i + 64].size].reshape(-1, x.shape[1])
            np.add(x[i : i + 64], b, out=rows)
            np.maximum(rows, 0, out=x[i : i + 64])
        return x

    verdict = check("02-golf-bias-relu", bias_relu)
    assert verdict.passed or "score" in verdict.reason, verdict
    assert "once more" not in verdict.reason


def programs(answer=lambda x: np.dot(x, x), change=lambda program: None):
    cases = SQUARES.draw(0)
    seen = collect("golf", cases, answer)
    found = []
    for one in seen:
        program = unpacked(one["program"])
        change(program)
        found.append({**one, "program": packed(program)})
    return judge(SQUARES, cases, found)


def test_a_program_travels_as_text():
    assert programs().passed
    assert unpacked(packed({"calls": [[1, "ü"]]})) == {"calls": [[1, "ü"]]}


def set_answer(value):
    return lambda program: program.update(answer=value)


def set_calls(*calls):
    return lambda program: program.update(calls=[*calls])


def test_a_forged_program_fails_and_breaks_nothing():
    for change in (
        set_answer(679424.0), set_answer({"at": 99}), set_answer({"nothing": 1}), set_answer({}),
        set_answer({"array": ["O", [1], [None]]}), set_answer({"dtype": "O"}), set_calls(),
        set_calls(["load", ["/etc/passwd"], {}, 2]), set_calls([".array", [{"at": 1}]]),
        set_calls(3), set_calls(["gone"]), set_calls(["dot", [{"at": 1}], {}, {"at": 2}]),
        set_calls(["sum", [{"at": 1}], 3, 2]),
        lambda program: program.update(inputs=[]), lambda program: program.update(inputs=3),
        lambda program: program.update(inputs=[["x", 7, 1]]),
        lambda program: program.update(inputs=[["not a name", 0, 1]]),
        lambda program: program.update(inputs=[["x", {"zeros": [[1, 2], 3]}, 1]]),
        lambda program: program["inputs"].append(["z", {"zeros": ["<f8", [1 << 50]]}, 7]),
        lambda program: program.clear(), lambda program: program.update(left=3),
    ):  # fmt: skip
        assert not programs(change=change).passed


def test_what_is_no_program_fails():
    for text in (None, 3, "", "?", "AAAA", packed([1])[:-8], packed(None)):
        cases = SQUARES.draw(0)
        seen = [{**one, "program": text} for one in collect("golf", cases, lambda x: np.dot(x, x))]
        assert not judge(SQUARES, cases, seen).passed
        without = [{key: one[key] for key in one if key != "program"} for one in seen]
        assert not judge(SQUARES, cases, without).passed


def test_a_long_program_is_short_as_text(patient):
    cases = exercise("02-golf-axpy").draw(0)

    def axpy(a, x, y):
        for i in range(0, len(x), 1024):
            y[i : i + 1024] += a * x[i : i + 1024]
        return y

    (seen, *_) = collect("golf", cases, axpy)
    assert "program" in seen and len(seen["program"]) < 150_000 < len(json.dumps(
        unpacked(seen["program"])))  # fmt: skip


def freed_pieces(case):
    """Calls that compute the result in pieces, let go of them, and return memory as it is found."""
    dtype, size = {"dtype": np.dtype(case["dtype"]).str}, 1 << 13
    calls, at = [], 10
    for start in range(0, case["n"], size):
        piece = {"slice": [start, start + size, None]}
        calls += [
            [".__getitem__", [{"at": 1}, piece], {}, at],
            [".__getitem__", [{"at": 2}, piece], {}, at + 1],
            ["multiply.__call__", [{"at": at}, 0.5], {}, at + 2],
            ["add.__call__", [{"at": at + 2}, {"at": at + 1}], {}, at + 3],
            *(["gone", at + k] for k in range(3)),
        ]
        at += 4
    calls += [["gone", number] for number in range(13, at, 4)]
    return [*calls, ["empty", [case["n"], dtype], {}, 3]]


def only_memory(case):
    return [["empty", [case["n"], {"dtype": np.dtype(case["dtype"]).str}], {}, 3]]


def test_memory_that_nobody_wrote_holds_no_right_result():
    for calls in (only_memory, freed_pieces):
        axpy = exercise("02-golf-axpy")
        cases = axpy.draw("memory")
        seen = collect("golf", cases, axpy.reference)
        for case, one in zip(cases, seen, strict=True):
            inputs = [["x", 1, 1], ["y", 2, 2]]
            program = {"inputs": inputs, "calls": calls(case), "answer": {"at": 3}, "left": []}
            one["program"] = packed(program)
        assert not judge(axpy, cases, seen).passed
