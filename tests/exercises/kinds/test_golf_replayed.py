"""Golf's judge believes the NumPy calls that came back only as far as they compute the right thing.

The calls are run again on other arrays. So the judge has to follow every way in which an honest
function may handle its numbers, and to refuse what was computed where golf did not see it.
"""

from __future__ import annotations

import json
import math

import numpy as np
import pytest

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


def in_floats(x):
    total = 0.0
    for piece in chunks(x):
        total += float(np.dot(piece, piece))
    return total


def by_math(x):
    return math.pow(math.sqrt(math.fsum(np.dot(piece, piece) for piece in chunks(x))), 2)


def by_imported_math(x):
    from math import hypot

    return hypot(*(np.sqrt(piece @ piece) for piece in chunks(x))) ** 2


def by_item(x):
    return sum(np.dot(piece, piece).item() for piece in chunks(x))


def in_double(x):
    total = np.float64(0)
    for piece in chunks(x):
        total = np.float64(total + np.dot(piece, piece))
    return total


def in_a_list(x):
    return np.sum([np.dot(piece, piece) for piece in chunks(x)])


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


def as_a_number_type(x):
    total = np.float64(0)
    for piece in chunks(x):
        total = total + np.float64(np.dot(piece, piece))
    return float(total)


def guarded(x):
    total = sum(np.dot(piece, piece) for piece in chunks(x))
    return total if total > 0 and np.isfinite(total) else 0.0


def along_an_axis(x):
    whole = len(x) // 4096 * 4096
    rows = np.apply_along_axis(lambda row: np.dot(row, row), 1, x[:whole].reshape(-1, 4096))
    return np.sum(rows) + np.dot(x[whole:], x[whole:])


def with_numbers_as_texts(x):
    total = np.dot(x, x)
    assert f"{total:.3f}" and not math.isnan(total) and round(total) > 0 and int(total) > 0
    return total


@pytest.mark.parametrize(
    "answer",
    [
        in_floats, by_math, by_imported_math, by_item, in_double, in_a_list, in_an_array,
        as_a_number_type, guarded, along_an_axis, with_numbers_as_texts,
    ],
)  # fmt: skip
def test_numbers_are_followed(answer):
    verdict = check(SQUARES.id, answer)
    assert verdict.passed, verdict


def test_a_choice_of_python_is_followed_where_it_is_named():
    cases = SQUARES.draw("chosen")
    for case, seen in zip(cases, collect("golf", cases, scaled_by_the_largest), strict=True):
        other, again = kind.once_more(case, seen)
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


@pytest.mark.parametrize("answer", [by_branches, behind_the_array, beside_it, from_the_buffer])
def test_what_golf_did_not_see_is_wrong_on_other_arrays(answer):
    cases = SQUARES.draw("unseen")
    verdict = judge(SQUARES, cases, collect("golf", cases, answer))
    assert not verdict.passed
    assert "once more on other arrays" in verdict.reason or "par" in verdict.reason, verdict


def test_the_door_by_which_a_number_left_is_named():
    verdict = check(SQUARES.id, by_branches)
    assert "(Python compared it)" in verdict.reason or "par" in verdict.reason


def test_an_array_outside_of_the_function_is_room_for_numbers():
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


@pytest.mark.parametrize(
    "change",
    [
        set_answer(679424.0), set_answer({"at": 99}), set_answer({"nothing": 1}), set_answer({}),
        set_answer({"array": ["O", [1], [None]]}), set_answer({"dtype": "O"}), set_calls(),
        set_calls(["load", ["/etc/passwd"], {}, 2]), set_calls(["os.system", ["id"], {}, 2]),
        set_calls(["linalg.os.system", ["id"], {}, 2]), set_calls(["math.__loader__", [], {}, 2]),
        set_calls(["add.__self__", [], {}, 2]), set_calls(["operator.attrgetter", ["x"], {}, 2]),
        set_calls([".tofile", [{"at": 1}, "file"], {}, None]), set_calls([".array", [{"at": 1}]]),
        set_calls(["ctypeslib.load_library", ["x", "y"], {}, 2]), set_calls(3), set_calls(["gone"]),
        set_calls(["builtins.eval", ["1"], {}, 2]), set_calls(["dot", [{"at": 1}], {}, {"at": 2}]),
        set_calls([".__class__", [{"at": 1}], {}, 2]), set_calls(["sum", [{"at": 1}], 3, 2]),
        lambda program: program.update(inputs=[]), lambda program: program.update(inputs=3),
        lambda program: program.update(inputs=[["x", 7, 1]]),
        lambda program: program.update(inputs=[["not a name", 0, 1]]),
        lambda program: program.update(inputs=[["x", {"zeros": [[1, 2], 3]}, 1]]),
        lambda program: program.clear(), lambda program: program.update(left=3),
    ],
)  # fmt: skip
def test_a_forged_program_fails_and_breaks_nothing(change):
    assert not programs(change=change).passed


@pytest.mark.parametrize("text", [None, 3, "", "?", "AAAA", packed([1])[:-8], packed(None)])
def test_what_is_no_program_fails(text):
    cases = SQUARES.draw(0)
    seen = [{**one, "program": text} for one in collect("golf", cases, lambda x: np.dot(x, x))]
    assert not judge(SQUARES, cases, seen).passed
    without = [{key: one[key] for key in one if key != "program"} for one in seen]
    assert not judge(SQUARES, cases, without).passed


def test_a_long_program_is_short_as_text():
    cases = exercise("02-golf-axpy").draw(0)

    def axpy(a, x, y):
        for i in range(0, len(x), 1024):
            y[i : i + 1024] += a * x[i : i + 1024]
        return y

    (seen, *_) = collect("golf", cases, axpy)
    assert "program" in seen and len(seen["program"]) < 150_000 < len(json.dumps(
        unpacked(seen["program"])))  # fmt: skip
