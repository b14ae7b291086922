"""What the golf picture tells: stops, folded loops, bytes an element, and the words for them."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rooflab.labs.golf.ledger import Step, Trip
from rooflab.labs.golf.story import MOST_STOPS, ArrayTrip, Stop, learners_names, names_of, story
from tests.support.rows import each_row

N = 1_000_000


def trip(name: str, way: str, elements: int = N, where: str = "memory") -> Trip:
    moved = 8 * elements if where == "memory" else 0
    return Trip(name, 8 * elements, way, moved, (elements,), "float64")


def run(steps: list[Step], minimum: int = 24 * N) -> SimpleNamespace:
    """What a golf run shows of itself."""
    moved = sum(step.bytes for step in steps)
    return SimpleNamespace(bytes=moved, minimum=minimum, steps=tuple(steps), elements=N)


def expression() -> SimpleNamespace:
    """0.5*x + y in NumPy: five trips, 40 bytes an element against BLAS's 24."""
    return run(
        [
            Step("multiply", (trip("x", "read"), trip("tmp1", "write")), 2),
            Step("add", (trip("tmp1", "read"), trip("y", "read"), trip("result", "write")), 2),
        ]
    )


def chunked(chunk: int) -> SimpleNamespace:
    """The same in chunks: one temporary a round, in cache where 8 bytes an element fit 32 KiB."""
    steps = []
    for at in range(0, N, chunk):
        size = min(chunk, N - at)
        where = "cache" if 8 * size <= 32 * 1024 else "memory"
        tmp = f"tmp{at // chunk + 1}"
        first = (trip("x", "read", size), trip(tmp, "write", size, where))
        second = (
            trip(tmp, "read", size, where),
            trip("y", "read", size),
            trip("result", "write", size),
        )
        steps += [Step("multiply", first, 4), Step("add", second, 5)]
    return run(steps)


def test_the_sentences_name_the_arrays_and_the_bytes() -> None:
    told = story(expression())
    assert told.sentence(0) == "2 steps ahead. Nothing has crossed the bus yet."
    assert told.sentence(1) == (
        "Step 1 of 2, multiply: x is read, tmp1 is written, 16 bytes an element."
    )
    assert told.sentence(2) == (
        "Step 2 of 2, add: tmp1 and y are read, result is written, 24 bytes an element. "
        "In all 40 bytes an element, 1.67 times the least possible 24."
    )


def test_a_chunk_loop_is_two_stops_and_its_temporary_stays_in_cache() -> None:
    told = story(chunked(4096))
    assert [(s.call, s.rounds) for s in told.stops] == [("multiply", 245), ("add", 245)]
    assert names_of(told.stops) == ["x", "tmp1", "y", "result"]
    assert [t.where for t in told.stops[0].trips] == ["memory", "cache"]
    assert (told.total, told.minimum) == (24, 24)
    assert told.sentence(1).endswith("x is read, 8 bytes an element. tmp1 stays in cache: free.")
    assert told.sentence(2).endswith("In all 24 bytes an element, the least possible.")


@given(chunk=st.integers(500, N))
def test_folding_loses_no_byte(chunk: int) -> None:
    given_run = chunked(chunk)
    told = story(given_run, fold=True)
    assert sum(stop.crossing for stop in told.stops) * N == pytest.approx(given_run.bytes)
    assert sum(stop.rounds for stop in told.stops) == len(given_run.steps)
    assert len(told.stops) == 2


def test_calls_that_only_look_alike_are_not_folded() -> None:
    steps = [Step("sin", (trip("x", "read"), trip("tmp1", "write")), 1)]
    steps += [
        Step("sin", (trip(f"tmp{n}", "read"), trip(f"tmp{n + 1}", "write")), 1) for n in (1, 2)
    ]
    steps += [Step("cos", (trip("tmp3", "read"), trip("result", "write")), 1)]
    assert [stop.rounds for stop in story(run(steps)).stops] == [1, 1, 1, 1]


def test_a_loop_with_something_before_and_behind_it() -> None:
    first = Step("add.reduce", (trip("x", "read"), trip("result", "write", 1, "cache")), 1)
    last = Step("sqrt", (trip("result", "read"), trip("result", "write")), 9)
    body = chunked(4096).steps
    told = story(run([first, *body, last]))
    assert [stop.rounds for stop in told.stops] == [1, 245, 245, 1]
    assert told.stops[-1].crossing == 16, "in place: read and written"


def test_a_long_run_without_a_loop_ends_in_one_stop_for_the_rest() -> None:
    steps = [Step(f"call{n}", (trip("x", "read"),), n) for n in range(100)]
    told = story(run(steps))
    assert len(told.stops) == MOST_STOPS and told.stops[-1].call == "61 more calls"
    assert sum(stop.crossing for stop in told.stops) == told.total == 800


def test_a_run_in_cache_says_so() -> None:
    told = story(run([Step("add", (trip("x", "read", 10, "cache"),), 1)], minimum=0))
    assert "no byte crosses the bus" in told.sentence(1)
    assert told.verdict == "Nothing crossed the bus: everything fits the cache."


def test_a_minimum_that_was_set_too_high_is_no_ratio() -> None:
    assert "set to 48" in story(run(list(expression().steps), minimum=48 * N)).verdict


@each_row(
    (42, TypeError, "golf=42 has no steps; pass what rl.golf"),
    (SimpleNamespace(golfs=()), TypeError, "give one of its .golfs"),
    (run([]), ValueError, "made no NumPy call"),
    (run([Step("array", (), 1)]), ValueError, "made no NumPy call"),
)
def test_bad_runs_are_named(bad: object, error: type, words: str) -> None:
    with pytest.raises(error, match=words):
        story(bad)


# What one round touches, and the learner's names.


def test_a_round_touches_a_piece_of_every_array() -> None:
    told = story(chunked(4096))
    assert told.together(1) == told.together(2) == dict.fromkeys(names_of(told.stops), 8 * 4096)
    whole = story(expression())
    assert whole.together(0) == dict.fromkeys(names_of(whole.stops), 8 * N), (
        "outside of a loop: all of it"
    )


def test_what_lies_before_a_loop_is_no_part_of_its_round() -> None:
    first = Step("add.reduce", (trip("x", "read"), trip("result", "write", 1, "cache")), 1)
    told = story(run([first, *chunked(4096).steps]))
    assert told.together(1) == {"x": 8 * N, "result": 8}
    assert told.together(2) == dict.fromkeys(("x", "tmp1", "y", "result"), 8 * 4096)


def of_source(*steps: tuple[str, int, str, str]) -> dict[str, str]:
    """The learner's names where lines of a program did these calls: "x y>tmp1"."""
    stops = []
    for call, line, way, code in steps:
        read, written = (part.split() for part in way.split(">"))
        trips = [ArrayTrip(name, 8, "read", "memory") for name in read]
        trips += [ArrayTrip(name, 8, "write", "memory") for name in written]
        stops.append(Stop(call, code, line, 1, tuple(trips)))
    return learners_names(stops)


@each_row(
    ([("multiply", 2, "x>tmp1", "t = 2 * x")], {"tmp1": "t"}),
    ([("multiply", 2, "x>tmp1", "np.multiply(x, 2, out=t[:9])")], {"tmp1": "t"}),
    ([("multiply", 2, "x>tmp1", "y += np.multiply(x[i:j], 2, out=t)")], {"tmp1": "t"}),
    (
        [("multiply", 2, "x>tmp1", "t = 2 * x + 1"), ("add", 2, "tmp1>tmp2", "t = 2 * x + 1")],
        {"tmp2": "t"},
    ),
    (
        [("multiply", 2, "x>tmp1", "t = 2 * x"), ("add", 3, "tmp1>tmp1", "t += 1")],
        {"tmp1": "t"},
    ),
    # Nobody's name, or not for certain:
    ([("multiply", 2, "x>tmp1", "return 2 * x + 1")], {}),
    ([("multiply", 2, "x>tmp1", "x = 2 * x")], {}),
    ([("multiply", 2, "x>tmp1", "np.add(2 * x, y, out=out)")], {}),
    (
        [("multiply", 2, "x>tmp1", "t = 2 * x"), ("subtract", 3, "x>tmp2", "t = x - 1")],
        {},
    ),
    (
        [("multiply", 2, "x>tmp1", "t = 2 * x"), ("negative", 3, "x>tmp1", "y = -x - 1"),
         ("subtract", 3, "tmp1>result", "y = -x - 1")],
        {},
    ),
)  # fmt: skip
def test_a_temporary_has_the_learners_name_where_it_is_certain(
    steps: list[tuple[str, int, str, str]], names: dict[str, str]
) -> None:
    assert of_source(*steps) == names
