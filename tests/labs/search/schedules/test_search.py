"""Search: the clock decides, nothing illegal is kept, an interrupted one keeps its best."""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterator
from functools import cache

import numpy as np
import pytest

import rooflab as rl
from rooflab.labs.loops.nest import Nest
from rooflab.labs.search.schedules import beam
from rooflab.labs.search.schedules.beam import identity, search
from rooflab.labs.search.schedules.result import ENDS, Search
from tests.labs.search.support.machines import PLAIN
from tests.support.rows import each_row

STENCIL = Nest({"i": (1, 17), "j": 16}, "A[i,j] = A[i-1,j+1]*0.5")


class Ticks:
    """A clock that moves by a second whenever it is read."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        self.now += 1.0
        return self.now


def made_up(nest: Nest) -> float:
    """Seconds that depend on the schedule and on nothing else."""
    return 1.0 + zlib.crc32(identity(nest).encode()) % 1000 / 1000


def quick(nest: Nest | int = 32, **options: object) -> Search:
    """A search without a clock of this machine, unless ``options`` say so."""
    usual = {"machine": PLAIN, "measure": made_up, "clock": Ticks(), "seconds": 400.0, "width": 2}
    return search(nest, progress=False, **{**usual, **options})


usual = cache(quick)  # a search that several tests read

# What a search must find.


def test_a_search_finds_what_computes_the_product_faster() -> None:
    found = search(64, seconds=1.5, width=4, machine=PLAIN, progress=False)
    assert found.flops_per_s > 2 * found.rate(found.naive)
    a, b = np.random.default_rng(0).random((2, 64, 64), np.float32)
    np.testing.assert_allclose(found.best.run(A=a, B=b)["C"], a @ b, rtol=1e-4)
    assert found.naive.log == () and found.winner in found.candidates
    assert found.intensity(found.naive) == 2 * 64**3 / (4 * 4 * 64**2)


def test_any_nest_can_be_searched() -> None:
    for nest in (
        Nest({"i": 40, "k": 30}, "C[i] += A[i,k]*B[k]"),
        Nest({"x": 20, "y": 36, "p": 3, "q": 3}, "C[x,y] += A[x+p,y+q]*B[p,q]"),
        Nest({"i": 30}, "B[i] = 2*A[i]; C[i] = B[i] + 1", order="nests"),
        STENCIL,
    ):
        found = search(nest, seconds=0.2, width=1, machine=PLAIN, progress=False)
        data = {name: np.ones(shape, np.float32) for name, shape in nest.shapes.items()}
        wanted = nest.reference(**data)
        for name, values in found.best.run(**data).items():
            np.testing.assert_allclose(values, wanted[name], rtol=1e-4)


def test_whatever_the_moves_make_gives_numpys_product() -> None:
    sizes = {"i": 18, "j": 36, "k": 20}  # nothing divides but 2 and 3
    start = Nest(sizes, "C[i,j] += A[i,k]*B[k,j]").interchange("j", "k")
    nests = made = [start]
    for _ in range(4):
        made = [one for nest in made[-9:] for move in rl.search.space(2) for one in move(nest)][::3]
        nests = [*nests, *made]
    dice = np.random.default_rng(0)
    data = {name: dice.random(shape, np.float32) for name, shape in start.shapes.items()}
    wanted = data["C"] + data["A"] @ data["B"]
    legal = [nest for nest in nests if nest.check()][::5]
    assert len(legal) > 10
    for nest in legal:
        np.testing.assert_allclose(nest.run(**data)["C"], wanted, rtol=1e-4)


# Who decides.


def test_the_measured_time_decides() -> None:
    found = usual()
    assert found.winner.measured == min(one.measured for one in found.measured)
    assert made_up(found.best) == found.winner.measured
    rounds = {one.round for one in found.measured}
    assert rounds == set(range(max(rounds) + 1)) and max(rounds) >= 2
    assert found.ended == ENDS[0]


def test_a_predicted_winner_that_loses_is_in_the_trail() -> None:
    found = usual()
    favourite = min(found.measured, key=lambda one: one.predicted)
    assert favourite is not found.winner and favourite.measured > found.winner.measured
    times = [one.measured for one in found.records()]
    assert times == sorted(times, reverse=True) and found.records()[-1] == found.winner


def test_prediction_prunes_and_says_so() -> None:
    found = usual(64, width=4)
    pruned = [one for one in found.rejected if one.why.startswith("predicted slower")]
    assert pruned
    for one in pruned:
        measured = [other for other in found.measured if other.round == one.round]
        assert len(measured) == 12
        assert one.predicted >= max(other.predicted for other in measured)


def test_a_score_of_ones_own_ranks() -> None:
    found = quick(score=lambda nest: -len(nest.log), machine=None)
    assert found.naive.predicted == 0 and found.machine == "" and not found.naive.bytes
    first = [one for one in found.measured if one.round == 1]
    assert [one.predicted for one in first] == sorted(one.predicted for one in first)


def test_the_seed_orders_what_is_predicted_alike() -> None:
    def flat(nest: Nest) -> float:
        return 1.0

    runs = [[c.log for c in quick(score=flat, seed=seed).candidates] for seed in (0, 0, 1)]
    assert runs[0] == runs[1] != runs[2]


# What is never kept.


def test_what_computes_something_else_is_refused_even_if_it_is_the_fastest(monkeypatch) -> None:
    right = beam._Rules.results

    def results(self: beam._Rules, nest: Nest) -> dict[str, np.ndarray]:
        found = right(self, nest)
        if any(name == "vectorize" for name, _ in nest.log):
            found["C"][3, 4] += 0.01
        return found

    monkeypatch.setattr(beam._Rules, "results", results)
    found = search(48, seconds=1.0, width=4, machine=PLAIN, progress=False)
    assert "vectorize" not in found.winner.text
    refused = [one for one in found.rejected if "computes something else" in one.why]
    assert refused and all("C[3, 4] is" in one.why for one in refused)
    assert found.best.check()


def test_a_start_that_computes_something_else_is_refused(monkeypatch) -> None:
    monkeypatch.setattr(beam, "difference", lambda *_: "it computes something else")
    start = Nest({"i": 32}, "B[i] = 2*A[i]").split("i", 8).vectorize("ii")
    with pytest.raises(ValueError, match="nest: it computes something else"):
        search(start, seconds=0.3, width=1, machine=PLAIN, progress=False)


def test_rounding_is_no_difference_and_a_lost_term_is_one() -> None:
    a, b = np.random.default_rng(0).random((2, 256, 256), np.float32)
    right, order = np.zeros((256, 256), np.float32), a[:, ::-1] @ b[::-1]
    for k in range(256):
        right += a[:, k : k + 1] * b[k]
    assert beam.difference({"C": order}, {"C": right}, 256**3) == ""
    order[2, 3] -= a[2, 7] * b[7, 3]
    assert beam.difference({"C": order}, {"C": right}, 256**3).startswith("it computes")
    nothing = np.full(3, np.nan, np.float32)
    assert beam.difference({"C": nothing}, {"C": nothing}, 3) == ""


def reversed_loops(nest: Nest) -> Iterator[Nest]:
    """A move of a learner: a loop runs backwards."""
    for loop in nest.loops[:1]:
        if not any(name == "reverse" for name, _ in nest.log):
            yield nest.reverse(loop)


def test_nothing_illegal_is_measured() -> None:
    found = quick(STENCIL, space=(*rl.search.space(2), reversed_loops), threads=2)
    for one in found.measured:
        assert all(arrow.ok for arrow in found.start.replay(one.log).arrows())
    refused = [one for one in found.rejected if "must run first" in one.why]
    steps = {one.log[-1][0] for one in refused}
    assert {"interchange", "parallel", "reverse"} <= steps
    for one in refused:
        assert not all(arrow.ok for arrow in found.start.replay(one.log).arrows())


def test_a_learners_move_is_made() -> None:
    found = quick(Nest({"i": 8, "k": 8}, "C[i] += A[i,k]*B[k]"), space=(reversed_loops,))
    assert [one.text for one in found.candidates] == ["as written", ".reverse('i')"]


def test_what_cannot_be_compiled_is_rejected_with_the_reason() -> None:
    def two_vectors(nest: Nest) -> Iterator[Nest]:
        yield nest.reorder("k", "i", "j").vectorize("j").vectorize("i")

    found = quick(8, space=(two_vectors,))
    assert "vectorize one of them" in found.rejected[0].why


# Time and interruption.


def test_a_slice_stands_for_the_whole_and_packing_counts() -> None:
    # A clock that moves with the turns that were run: a turn takes 1 ms, packing takes 5.
    class Counted:
        now, longest, copies = 0.0, 400, ["B"]

        def pack(self) -> None:
            self.now += 5e-3

        def run(self, most: int) -> None:
            self.now += 1e-3 * most

    counted = Counted()
    seconds = beam.sliced(counted, 1.0, lambda: counted.now)
    assert seconds == pytest.approx(0.005 + 0.400)
    assert beam.SLICE_S < counted.now < 0.1, "slices are shorter than the whole"
    before = counted.now
    beam.sliced(counted, 1e-3, lambda: counted.now)
    assert counted.now - before < 0.03, "one that is far slower than the best is timed once"


def test_the_time_ends_a_search_within_a_schedule() -> None:
    found = quick(seconds=20.0)
    assert found.ended == ENDS[1] and 1 < len(found.measured) < 20


def test_an_interrupted_search_keeps_its_best() -> None:
    calls = []

    def pressed(nest: Nest) -> float:
        calls.append(nest)
        if len(calls) == 6:
            raise KeyboardInterrupt
        return made_up(nest)

    found = quick(measure=pressed)
    assert found.ended == ENDS[2] and len(found.measured) == 5
    assert found.winner.measured == min(made_up(nest) for nest in calls[:5])


def test_control_c_before_anything_is_known_is_not_swallowed() -> None:
    def pressed(nest: Nest) -> float:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        quick(measure=pressed)


# What comes out.


def test_a_search_survives_json() -> None:
    found = usual(16, width=1)
    again = Search.from_dict(json.loads(json.dumps(found.to_dict())))
    assert again == found and again.best.log == found.best.log
    with pytest.raises(ValueError, match="schema=9"):
        Search.from_dict({**found.to_dict(), "schema": 9})
    old = {name: value for name, value in found.to_dict().items() if name != "timed"}
    assert Search.from_dict(old).timed
    with pytest.raises(ValueError, match="a search needs text, extents, .* are missing"):
        Search.from_dict({"schema": 1})


def test_what_no_clock_decided_has_no_rate() -> None:
    found = usual(16, width=1)
    assert not found.timed and "FLOP/s" not in repr(found)
    assert f"a measure of {found.winner.measured:.4g} with" in repr(found)
    with pytest.raises(ValueError, match="decided by a measure of its own, which is no time"):
        found.rate(found.winner)
    with pytest.raises(ValueError, match="timed=False"):
        _ = found.flops_per_s


def test_what_is_said_of_a_search() -> None:
    found = usual(16, width=1)
    assert repr(found).startswith("C[i,j] += A[i,k]*B[k,j]: ")
    assert "with 1 thread," in repr(found) and found.ended in repr(found)
    assert found.short(found.naive) == "i j k"
    start = found.start.split("i", 4).split("j", 8).reorder("io", "jo", "k", "ii", "ji")
    tile = start.unroll("ii").vectorize("ji").pack("B").parallel("io")
    other = quick(tile, width=1)
    assert other.short(other.naive) == "io parallel jo k [ii 4, ji 8]; B packed"
    with pytest.raises(ValueError, match="was not measured"):
        found.rate(next(iter(usual(64, width=4).rejected)))
    with pytest.raises(ValueError, match="level='l9'"):
        found.intensity(found.naive, "l9")


def test_progress_is_told() -> None:
    told: list[float] = []
    search(16, seconds=20.0, measure=made_up, machine=PLAIN, clock=Ticks(), progress=told.append)
    assert told == sorted(told) and 0 < told[-1] <= 1


# What is refused.


@each_row(
    ({"seconds": 0}, ValueError, "seconds=0 must be a positive number of sec"),
    ({"seconds": "long"}, TypeError, "seconds='long' must be a pos"),
    ({"width": 0}, ValueError, "width=0 must be a positive integer"),
    ({"nest": "gemm"}, TypeError, "nest='gemm' must be a Nest, or N"),
    ({"nest": STENCIL.interchange("i", "j")}, ValueError, "not legal. S"),
    ({"threads": 5000, "measure": None}, ValueError, "threads=5000: this process may use"),
    ({"space": ()}, TypeError, "space=.* must be moves"),
    ({"space": ("tile",)}, TypeError, "functions of a nest"),
    ({"space": (lambda nest: ["x"],)}, TypeError, "yields 'x', no Nest"),
)
def test_what_makes_no_sense_is_refused(options: dict, error: type, said: str) -> None:
    with pytest.raises(error, match=said):
        quick(**options)
