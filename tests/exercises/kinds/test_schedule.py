"""Schedules as answers: legality, result, needs and bytes; any style of a right one passes."""

from __future__ import annotations

import json
import time

import pytest

from rooflab.course.schedules import STENCIL, TILES, VECTORISE
from rooflab.exercises import check as checking
from rooflab.exercises.exercise import Exercise, Misconception
from rooflab.exercises.judge import judge
from rooflab.exercises.kinds.schedule import examined, legal, moved_bytes, scheduled
from rooflab.exercises.observe.collect import collect
from rooflab.exercises.observe.schedule import nest_of, run
from rooflab.exercises.registry import exercises
from rooflab.labs.cache.hierarchy import Cache
from rooflab.labs.cache.simulator import simulate
from rooflab.labs.loops.legality.points import count
from rooflab.labs.loops.nest import TRANSFORMATIONS, Nest
from tests.labs.loops.support import random_nests

EXERCISES = (VECTORISE, STENCIL, TILES)
SAMPLES = {one.id: one for one in EXERCISES}
ALL = [*EXERCISES, *(one for one in exercises().values() if one.kind == "schedule")]
SEEDS = [0, "another"]


def verdict_on(found: Exercise, answer, seed=0):
    cases = found.draw(seed)
    return judge(found, cases, collect(found.kind, cases, answer))


# Every mistake is rejected and named in test_registry.


def test_the_right_answer_passes_and_is_told_its_bytes():
    for found in EXERCISES:
        for seed in SEEDS:
            verdict = verdict_on(found, found.reference, seed)
            assert verdict.passed and verdict.points == 4, verdict
            assert "below L1 it moves" in verdict.reason and "as written" in verdict.reason


def test_hints_name_no_transformation():
    for found in EXERCISES:
        for mistake in found.misconceptions:
            assert not any(f"{name}(" in mistake.hint for name in TRANSFORMATIONS)


def test_cases_are_small_enough_to_be_listed():
    for found in ALL:
        for seed in SEEDS:
            assert all(count(nest_of(case)) <= 300_000 for case in found.draw(seed))


# What is judged, against the definition.


def product(n: int, **more):
    case = {"extents": {"i": n, "j": n, "k": n}, "text": "C[i,j] += A[i,k]*B[k,j]"}
    return {**case, "caches": [{"name": "L1", "capacity": 512}], **more}


def asked(case, reference=lambda nest: nest, par=1.0) -> Exercise:
    """An exercise of one case."""
    three = tuple(Misconception(name, lambda nest: nest, "") for name in "abc")
    return Exercise("90-nest", "", 1, "", "schedule(nest)", reference, three,
                    cases=lambda rng: [case], kind="schedule", par=par)  # fmt: skip


@pytest.mark.parametrize("start", range(6))
def test_a_schedule_is_legal_if_every_pair_of_iterations_says_so(start):
    for seed in range(start, 120, 6):
        nest = random_nests.scheduled(seed)
        plain = nest.untouched()
        extents = {name: [*ends] for name, ends in plain.extents.items()}
        text = "; ".join(one.text for one in plain.statements)
        case = {"extents": extents, "text": text, "order": plain.order, "bytes": {},
                "caches": [{"name": "L1", "capacity": 256}]}  # fmt: skip
        seen = {"value": [[name, list(arguments)] for name, arguments in nest.log]}
        found = examined(asked(case), case, seen)
        if all(one.ok for one in nest.arrows()):
            assert not found.said or "no code can be made" in found.said, (seed, found)
        else:
            assert found.said.startswith("not legal: ") and found.mark[0] == "legal", seed


def test_the_bytes_are_those_that_a_learner_simulates():
    for schedule in (
        lambda nest: nest,
        lambda nest: nest.tile({"i": 4, "k": 3}),
        lambda nest: nest.reorder("i", "k", "j").split("j", 4).vectorize("ji"),
        lambda nest: nest.tile({"i": 2, "j": 4}).unroll("ii").vectorize("ji"),
    ):
        nest = schedule(nest_of(product(12)))
        ledger = simulate(nest.stream(), Cache("L1", 512))
        log = run(product(12), schedule)["value"]
        assert moved_bytes(product(12), log) == {"L1": ledger.bytes("L1")}


def test_one_word_a_line_and_one_line_a_cache_make_every_access_but_the_last_one_move():
    """A copy through a cache of one line: each word is fetched, each result fetched and written."""
    case = {"extents": {"i": 100}, "text": "B[i] = A[i]*1",
            "caches": [{"name": "L1", "capacity": 4, "line": 4}]}  # fmt: skip
    assert moved_bytes(case, []) == {"L1": 100 * 3 * 4}


def test_whoever_packs_pays_for_the_copy():
    case = product(8, caches=[{"name": "L1", "capacity": 1 << 16}])
    copied = 2 * 8 * 8 * 4
    assert moved_bytes(case, [["pack", ["B"]]])["L1"] == moved_bytes(case, [])["L1"] + copied


def test_the_limit_is_par_times_the_goal_of_the_case_or_what_the_reference_moves():
    moved = moved_bytes(product(12), [])["L1"]
    for goal, par, right in ((moved, 1.0, True), (moved - 1, 1.0, False), (moved // 2, 2.1, True)):
        found = asked(product(12, bytes={"L1": goal}), par=par)
        assert verdict_on(found, lambda nest: nest).passed is right
    tiled = asked(product(12), lambda nest: nest.tile({"i": 4, "j": 4, "k": 4}))
    assert not verdict_on(tiled, lambda nest: nest).passed


def test_two_statements_may_be_fused_where_that_is_legal():
    def pair(shift):
        return {"extents": {"i": [1, 401]}, "text": f"B[i] = A[i]*2; D[i] = B[{shift}] + 1",
                "order": "nests", "caches": [{"name": "L1", "capacity": 512}]}  # fmt: skip

    found = asked(pair("i-1"), lambda nest: nest.fuse("S", "T"), par=1.05)
    assert verdict_on(found, lambda nest: nest.fuse("T", "S")).passed
    assert "the nest as written moves" in verdict_on(found, lambda nest: nest).reason
    forward = asked(pair("i+1"), lambda nest: nest)
    said = verdict_on(forward, lambda nest: nest.fuse("S", "T")).reason
    assert "S(2) writes B[2] and T(1) reads it, so S(2) must run first" in said
    late = verdict_on(forward, lambda nest: nest.fuse("S", "T").shift("i", 1, "T"))
    assert late.passed, late


def test_lanes_that_a_case_asks_for_are_looked_for():
    for wanted, schedule, words in (
        (4, lambda n: n, "as given; each step returns a new one"),
        (4, lambda n: n.reverse("i"), "no loop is vectorised"),
        (8, lambda n: n.reorder("i", "k", "j").split("j", 4).vectorize("ji"), "4 lanes"),
        (4, lambda n: n.split("i", 4).reorder("j", "k", "io", "ii").vectorize("ii"),
         "A[i, k] does not go to neighbours"),
        (4, lambda n: n.vectorize("j"), "runs another loop, k"),
        (4, lambda n: n.split("j", 4).vectorize("ji").split("k", 4).reorder(
            "i", "ko", "jo", "ki", "ji").unroll("ki"), ""),
    ):  # fmt: skip
        verdict = verdict_on(asked(product(16, lanes=wanted, bytes={})), schedule)
        assert words in verdict.reason, verdict
        assert verdict.passed is (words == "")


def test_code_that_computes_something_else_is_noticed(monkeypatch):
    """Legality is decided on the schedule, not on its code: so the code is run as well."""
    case = product(8, bytes={}, small={"i": 3, "j": 4, "k": 5})
    usual = Nest.run

    def errs(nest, *more, **arrays):
        return {name: value + 1e-6 for name, value in usual(nest, *more, **arrays).items()}

    assert verdict_on(asked(case), lambda nest: nest.reverse("i")).passed
    monkeypatch.setattr(Nest, "run", errs)
    verdict = verdict_on(asked(case), lambda nest: nest.reverse("j"))
    assert "its code gives another result" in verdict.reason


def test_a_verdict_holds_the_schedule_as_it_is_written():
    found = asked(product(12, bytes={"L1": 0}))
    assert verdict_on(found, lambda nest: nest).yours == "as written"
    tiled = verdict_on(found, lambda nest: nest.split("i", 4).reorder("j", "io"))
    assert tiled.yours == ".split('i', 4).reorder('j', 'io')"


def test_what_a_mistake_may_ask_of_an_observation():
    case = SAMPLES["08-stencil-tiles"].draw(0)[0]
    good, bad = (
        {"value": [step]} for step in (["skew", ["x", "t", 2]], ["interchange", ["t", "x"]])
    )
    assert legal(case, good) and not legal(case, bad)
    assert scheduled(case, bad).loops == ("x", "t")
    for ask in (legal, scheduled):
        with pytest.raises(ValueError, match="no list of transformations"):
            ask(case, {"error": "ValueError"})


def test_a_tile_longer_than_the_small_extents_is_tried_on_larger_ones():
    case = product(40, small={"i": 3, "j": 5, "k": 4}, bytes={})
    assert verdict_on(asked(case), lambda nest: nest.tile({"i": 40, "j": 9, "k": 16})).passed


def test_mistakes_that_raise_are_named_from_errors():
    found = asked(product(8))
    found = Exercise(
        **{**vars(found), "errors": (("ValueError: factor", "too long", "how long?"),)}
    )
    verdict = verdict_on(found, lambda nest: nest.tile({"i": 9}))
    assert (verdict.misconception, verdict.hint) == ("too long", "how long?")


# What comes back is not believed.

HOSTILE = {
    "no list": {"split": ["i", 8]},
    "no pairs": ["split", "i", 8],
    "unknown": [["eval", ["i"]]],
    "a bool": [["split", ["i", True]]],
    "a float": [["split", ["i", 8.0]]],
    "no names": [["reorder", []]],
    "code for a name": [["coalesce", ["i", "j", "__import__('os')"]]],
    "another alphabet": [["coalesce", ["i", "j", "ｆor"]]],
    "a keyword": [["coalesce", ["i", "j", "for"]]],
    "a long name": [["coalesce", ["i", "j", "x" * 100_000]]],
    "many steps": [["reverse", ["i"]]] * 100_000,
    "many names": [["reorder", ["i"] * 100_000]],
    "a huge number": [["split", ["i", 10**4000]]],
    "a huge slant": [["skew", ["i", "j", 10**9]]],
    "slant upon slant": [["skew", ["j", "i", 10**6]], ["skew", ["i", "j", 10**6]]] * 20,
    "many loops": [["split", ["i" + "o" * n, 1]] for n in range(60)],
    "cut and joined": [["split", ["i", 7]], ["interchange", ["io", "ii"]],
                       ["coalesce", ["io", "ii", "i"]]] * 21,
    "a step with too much": [["reverse", ["i", "j"]]],
    "none for a name": [["reverse", [None]]],
    "unknown loop": [["reverse", ["q"]]],
    "unrolled": [["unroll", ["i"]], ["unroll", ["j"]], ["unroll", ["k"]]],
}  # fmt: skip


def test_a_hostile_log_fails_its_case_and_nothing_else():
    for log in HOSTILE.values():
        case = SAMPLES["08-vectorise"].draw(0)[0]
        found = asked({**case, "bytes": {}})
        begin = time.process_time()
        verdict = judge(found, [case], [{"value": log}])
        assert not verdict.passed and verdict.points == 0
        assert len(verdict.reason) < 1000
        assert time.process_time() - begin < 5


HEAVY = {  # as much as the limits let through
    "vector, parallel and skewed": [
        ["skew", ["j", "i", 1]], ["skew", ["k", "j", 1]], ["split", ["i", 3]], ["split", ["j", 5]],
        ["split", ["k", 7]], ["parallel", ["io"]], ["vectorize", ["ki"]], ["vectorize", ["ji"]],
    ],
    "all loops marked": [
        *(["split", [name, 5]] for name in ("i", "j", "k", "ii", "ji", "ki")),
        *(["parallel", [name]] for name in ("io", "jo", "ko", "iio", "jio", "kio")),
    ],
    "thin": [["split", ["i" + "i" * n, 2 if n else 7]] for n in range(2)],
    "reversed": [["reverse", ["i"]]] * 64,
    "as many copies as code may have": [
        ["split", ["i", 12]], ["split", ["j", 8]], ["split", ["k", 8]],
        ["reorder", ["io", "jo", "ko", "ii", "ji", "ki"]],
        ["unroll", ["ii"]], ["unroll", ["ji"]], ["unroll", ["ki"]],
    ],
}  # fmt: skip


def test_the_heaviest_logs_within_the_limits_are_judged_in_time():
    for log in HEAVY.values():
        case = SAMPLES["08-vectorise"].draw(0)[0]
        found = asked({**case, "bytes": {}})
        begin = time.process_time()
        judge(found, [case], [{"value": log}])
        assert time.process_time() - begin < 5


def test_an_observation_that_nobody_has_written_fails():
    for seen in (
        {}, {"value": None}, {"missing": True, "value": []}, {"error": 3}, {"unreadable": ["x"]},
        7, None, "log",
    ):  # fmt: skip
        case = product(8)
        assert not judge(asked(case), [case], [seen]).passed


# In a notebook.


def test_check_judges_a_schedule_in_a_notebook(monkeypatch):
    monkeypatch.setattr(checking, "exercise", SAMPLES.__getitem__)
    right = checking.check("09-tiles", SAMPLES["09-tiles"].reference)
    assert right.passed and "below L2" in right._repr_html_()
    wrong = checking.check("08-stencil-tiles", lambda nest: nest.tile({"t": 8, "x": 64}))
    html = wrong._repr_html_()
    assert "tiles at once" in html and "must run first" in html
    assert json.loads(json.dumps(wrong.to_dict()))["case"]["text"].startswith("A[x] = ")
    checking.forget()
