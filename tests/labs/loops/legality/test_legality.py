"""Which schedules are legal: published verdicts first, then isl, then the definition."""

from __future__ import annotations

import random

import numpy as np
import pytest

from rooflab.labs.loops.legality.enumeration import listed
from rooflab.labs.loops.legality.points import time_of, touched, unordered
from rooflab.labs.loops.legality.separation import Inseparable, _separated, check
from rooflab.labs.loops.legality.verdict import Verdict
from rooflab.labs.loops.nest import Nest
from tests.labs.loops.support.random_nests import scheduled
from tests.support.rows import each_row

SEEDS = range(150)
TEN = {"i": 10, "j": 10}
CUBE = {"i": 8, "j": 8, "k": 8}


def add() -> Nest:
    return Nest(TEN, "C[i,j] = A[i,j] + B[i,j]")


def diagonal() -> Nest:
    """A[i][j] = f(A[i-1][j+1]): distance (1, -1)."""
    return Nest({"i": (1, 10), "j": (0, 9)}, "A[i,j] = A[i-1,j+1]*0.5")


def product() -> Nest:
    return Nest(CUBE, "C[i,j] += A[i,k]*B[k,j]")


def pair(read: str) -> Nest:
    text = f"B[i] = A[i]*2; C[i] = {read}*3"
    return Nest({"i": (1, 10)}, text, order="nests")


def defined(nest: Nest, reassociate: bool = True) -> bool:
    """Legality by its definition: no dependent pair of iterations runs in the wrong order."""
    return all(one.ok for one in nest.arrows(reassociate))


def S(*iteration: int) -> tuple[str, tuple[int, ...]]:
    return "S", iteration


# The table of a published scheduling tutorial, recomputed by enumeration.


def test_element_wise_work_has_no_dependences() -> None:
    assert add().arrows() == []
    for schedule in (
        add().interchange("i", "j"), add().reverse("i"), add().tile({"i": 3, "j": 4}),
        add().skew("j", "i").interchange("i", "j"), add().parallel("i").vectorize("j"),
        add().coalesce("i", "j").reverse("ij"),
    ):  # fmt: skip
        assert schedule.check(reassociate=False)


def test_interchange_of_a_diagonal_recurrence() -> None:
    verdict = diagonal().interchange("i", "j").check()
    assert not verdict
    assert (verdict.first, verdict.second) == (S(1, 1), S(2, 0))
    assert verdict.cell == ("A", (1, 1))
    assert verdict.kind == "flow"
    assert verdict.why == (
        "S(1,1) writes A[1,1] and S(2,0) reads it, so S(1,1) must run first. "
        "In the new order S(2,0) runs first."
    )


def test_tiles_of_a_diagonal_recurrence() -> None:
    tiled = Nest(TEN, "A[i+1,j] = A[i,j+1]*0.5").tile({"i": 2, "j": 2})
    assert not tiled.check()
    assert (S(2, 2), S(3, 1)) in {(a.first, a.second) for a in tiled.arrows() if not a.ok}


def test_reversal_of_a_diagonal_recurrence() -> None:
    verdict = diagonal().reverse("i").check()
    assert (verdict.first, verdict.second) == (S(1, 1), S(2, 0))


def test_skewing_makes_interchange_and_tiles_legal() -> None:
    skewed = diagonal().skew("j", by="i")
    assert skewed.check()
    assert skewed.interchange("i", "j").check()
    assert skewed.tile({"i": 2, "j": 2}).check()


@each_row("ijk", "ikj", "jik", "jki", "kij", "kji")
def test_all_six_orders_of_a_product_are_legal(order: str) -> None:
    assert product().reorder(*order).check(reassociate=False)


def test_a_tiled_product_is_legal() -> None:
    tiled = product().tile({"i": 2, "j": 2, "k": 2})
    assert tiled.check(reassociate=False)


def test_a_reduction_backwards_rounds_differently() -> None:
    backwards = product().reverse("k")
    verdict = backwards.check(reassociate=False)
    assert (verdict.first, verdict.second) == (S(0, 0, 0), S(0, 0, 1))
    assert backwards.check()


def test_another_order_of_a_sum_is_told_from_the_order_as_written() -> None:
    for schedule in (product().reverse("k"), product().split("k", 4).reorder("ki", "ko")):
        for verdict in (schedule.check(), listed(schedule, True)):
            assert verdict and verdict.reordered
            assert repr(verdict).startswith("legal if a sum, product, maximum or minimum")
    kept = product().tile({"i": 2, "j": 2, "k": 2})
    assert repr(kept.check()) == "legal: every dependence is kept, for these extents"
    assert not listed(kept, True).reordered


def test_a_sum_too_long_to_be_listed_is_legal_if_its_order_is_free() -> None:
    long = Nest({"i": 2000, "j": 3000}, "C[i+j] += A[i]*B[j]")
    assert long.reverse("j").check().reordered and not long.check().reordered
    short = Nest({"i": 20, "j": 30}, "C[i+j] += A[i]*B[j]")
    assert not short.reverse("j").check().reordered  # a cell meets each i once
    assert short.reverse("i").check().reordered


def test_fusion_of_producer_and_consumer() -> None:
    assert pair("B[i]").fuse("S", "T").check()
    assert pair("B[i-1]").fuse("S", "T").check()
    verdict = pair("B[i+1]").fuse("S", "T").check()
    assert (verdict.first, verdict.second) == (("S", (2,)), ("T", (1,)))
    assert pair("B[i+1]").fuse("S", "T").shift("i", 1, "T").check()


# Others from the same text, and textbook facts.


def test_the_printed_form_of_coalescing_is_an_interchange() -> None:
    # S(t % 10, t // 10) visits (0,0), (1,0), (2,0): j is outermost.
    right = diagonal().coalesce("i", "j")
    wrong = diagonal().interchange("i", "j").coalesce("j", "i")
    assert right.check()
    verdict = wrong.check()
    assert (verdict.first, verdict.second) == (S(1, 1), S(2, 0))
    assert "t//" not in right.code()
    assert "i = ij//9 + 1" in right.code()


def test_a_reduction_in_parallel_needs_private_sums() -> None:
    for schedule in (product().parallel("k"), product().split("k", 3).vectorize("ki")):
        for reassociate in (True, False):
            verdict = schedule.check(reassociate)
            assert not verdict
            assert verdict.loop in ("k", "ki")
            assert "private copy" in verdict.why
    assert product().parallel("i").vectorize("j").check(reassociate=False)


def test_what_only_looks_like_a_reduction_keeps_its_order() -> None:
    # x + x*a[0] and then + x*x*a[1] is another number the other way round.
    nest = Nest({"i": 4}, "C[0] += C[0]*C[0]*A[i]")
    assert not nest.reverse("i").check()
    assert Nest({"i": 4}, "C[0] += A[i]*A[i]").reverse("i").check()
    assert not Nest({"i": (1, 5)}, "C[i] += C[i-1]*A[i]").reverse("i").check()


def test_a_carried_dependence_is_no_vector() -> None:
    recurrence = Nest({"i": 64}, "X[i+1] = X[i]*0.5").split("i", 16)
    verdict = recurrence.vectorize("ii").check()
    assert (verdict.first, verdict.second, verdict.loop) == (S(0), S(1), "ii")
    assert recurrence.unroll("ii").check()


def test_a_pair_convicts_lanes_even_if_all_of_them_read_first() -> None:
    # In a vector all lanes read, then all write: a read before a write is kept there.
    for decide in (Nest.check, lambda nest: listed(nest, True)):
        verdict = decide(product().split("k", 4).vectorize("ki"))
        assert verdict.kind == "flow" and "count on" not in verdict.why
    both = Nest({"i": (2, 40)}, "A[i] = A[i+1] + A[i-2]").vectorize("i").check()
    assert (both.kind, both.first, both.second) == ("flow", S(2), S(4))


@each_row(
    ("A[i] = A[i+1]*2", "Where all lanes read before one of them writes, this pair is kept"),
    ("B[i] = A[i]; C[i] = B[i-1]", "Where S runs in all lanes before T does, this pair"),
    ("C[i] = B[i-1]; B[i] = A[i]", ""),
)
def test_what_a_vector_might_keep_is_refused_with_true_words(text: str, words: str) -> None:
    nest = Nest({"i": (1, 40)}, text)
    assert not nest.vectorize("i").check()
    assert words in nest.vectorize("i").check().why
    assert ("the check does not count on that" in nest.vectorize("i").check().why) == bool(words)
    assert "count on" not in nest.parallel("i").check().why


def test_distance_four_lets_four_lanes_run() -> None:
    nest = Nest({"i": 64}, "X[i+4] = X[i]*0.5")
    assert nest.split("i", 4).vectorize("ii").check()
    assert not nest.split("i", 8).vectorize("ii").check()


def test_distribution_of_a_loop() -> None:
    forward = Nest({"i": (1, 9)}, "B[i] = A[i]*2; C[i] = B[i-1]*3")
    backward = Nest({"i": (1, 9)}, "B[i] = C[i-1]*2; C[i] = B[i]*3")
    assert forward.distribute("i").check()
    assert not backward.distribute("i").check()


def test_a_product_of_a_thousand_is_decided_without_listing() -> None:
    n = 1024
    big = Nest({"i": n, "j": n, "k": n}, "C[i,j] += A[i,k]*B[k,j]")
    made = (
        big.split("j", 256).split("ji", 32).split("i", 128).split("ii", 8).split("k", 256)
        .reorder("io", "jo", "ko", "jio", "iio", "ki", "iii", "jii")
    )  # fmt: skip
    marked = made.unroll("iii").vectorize("jii").parallel("io")
    assert marked.check()
    assert marked.check(reassociate=False)
    verdict = made.reorder("ko", "io").parallel("ko").check()
    assert (verdict.first, verdict.second) == (S(0, 0, 0), S(0, 0, 256))
    assert not made.reverse("ki").check(reassociate=False)


def test_a_large_skewed_and_tiled_recurrence_is_decided_at_once() -> None:
    nest = Nest({"i": (1, 5001), "j": 5000}, "A[i,j] = A[i-1,j+1]*0.5")
    tiled = nest.skew("j", "i").tile({"i": 32, "j": 32})
    assert tiled.check()
    assert tiled.reorder("io", "jo", "ji", "ii").check()
    with pytest.raises(ValueError, match="25,000,000 iterations"):
        tiled.reverse("io").check()


def test_schedules_that_split_sums_of_loops() -> None:
    found = []
    for seed in range(100):
        dice = random.Random(seed)
        steps = [(a, b) for a in (-1, 0, 1) for b in (-2, -1, 0, 1, 2) if (a, b) < (0, 0)]
        reads = dice.sample(steps, dice.randint(1, 2))
        text = "A[i,j] = " + " + ".join(f"A[i+{a},j+{b}]*0.25" for a, b in reads)
        nest = Nest({"i": (2, 9), "j": (2, 10)}, text)
        nest = nest.skew("j", "i", dice.choice((1, 2))) if seed % 3 else nest.coalesce("i", "j")
        nest = nest.split(nest.loops[-1], dice.randint(2, 4))
        nest = nest.reorder(*dice.sample(nest.loops, len(nest.loops)))
        if seed % 2:
            nest = getattr(nest, dice.choice(("parallel", "vectorize")))(dice.choice(nest.loops))
        found.append(nest.check().ok)
        assert found[-1] == listed(nest, True).ok == defined(nest), nest
    assert 10 < sum(found) < 90


def test_a_nest_too_large_to_decide_says_what_helps() -> None:
    large = Nest({"i": 4000, "j": 4000}, "A[i+j] = A[i+j]*0.5 + B[i,j]")
    with pytest.raises(ValueError, match="16,000,000 iterations.*smaller extents"):
        large.check()


# Against isl, and against the definition.


@pytest.fixture(scope="module")
def random_schedules() -> list[Nest]:
    return [scheduled(seed) for seed in SEEDS]


def test_isl_agrees_on_random_schedules(random_schedules: list[Nest]) -> None:
    pytest.importorskip("islpy")
    from tests.labs.loops.support.isl import polyhedral

    verdicts = [
        (nest.check(mode).ok, polyhedral(nest, mode)[0])
        for nest in random_schedules
        for mode in (True, False)
    ]
    assert [ours for ours, _ in verdicts] == [theirs for _, theirs in verdicts]
    for nest in random_schedules[:30]:
        assert nest.check().reordered == polyhedral(nest, True)[1]
    legal = sum(ours for ours, _ in verdicts)
    assert 0.3 < legal / len(verdicts) < 0.8  # neither answer is the usual one


def test_the_definition_agrees_on_random_schedules(random_schedules: list[Nest]) -> None:
    for nest in random_schedules:
        for mode in (True, False):
            ours, theirs = nest.check(mode), listed(nest, mode)
            assert ours.reordered == theirs.reordered, nest
            assert ours.ok == theirs.ok == defined(nest, mode), nest


def test_isl_agrees_on_the_large_product() -> None:
    pytest.importorskip("islpy")
    from tests.labs.loops.support.isl import polyhedral

    big = Nest(dict.fromkeys("ijk", 1024), "C[i,j] += A[i,k]*B[k,j]")
    tiled = big.tile({"i": 100, "j": 100, "k": 100})
    for schedule in (tiled, tiled.reverse("ki"), tiled.parallel("io"), tiled.vectorize("ki")):
        for mode in (True, False):
            assert schedule.check(mode).ok == polyhedral(schedule, mode)[0]


def replayed(nest: Nest, verdict: Verdict) -> None:
    """A counterexample is one: the same cell, one writes, and the new order has it wrong."""
    assert verdict.first is not None and verdict.second is not None and verdict.cell is not None
    statements = {one.name: one for one in nest.statements}
    ends = []
    for name, iteration in (verdict.first, verdict.second):
        values = dict(zip(nest.dims(name), iteration))
        writes = {
            wrote for access, wrote, _ in touched(statements[name])
            if (access.array, access.cell(values)) == verdict.cell
        }  # fmt: skip
        ends.append((writes, *(time_of(tree, name, values) for tree in (nest.original, nest.tree))))
    (one, old, new), (other, old_too, new_too) = ends
    assert one and other and True in one | other
    assert old < old_too
    if verdict.loop:
        apart = unordered(nest, verdict.first[0], new, verdict.second[0], new_too)
        assert apart == verdict.loop
    else:
        assert new_too <= new


def test_every_counterexample_can_be_replayed(random_schedules: list[Nest]) -> None:
    shown = 0
    for nest in random_schedules:
        for mode in (True, False):
            for verdict in (check(nest, mode), listed(nest, mode)):
                if not verdict:
                    replayed(nest, verdict)
                    shown += 1
    assert shown > 75


def test_the_first_broken_iteration_is_shown(random_schedules: list[Nest]) -> None:
    compared = 0
    for nest in random_schedules:
        try:
            ours = _separated(nest, False)
        except Inseparable:
            continue
        late = [one for one in nest.arrows(False) if not one.ok]
        if len(nest.statements) == 1 and late and not any(one.loop for one in late):
            assert ours.first == min(one.first for one in late)
            compared += 1
    assert compared > 10


#: Reductions as users write them, and what only looks like one.
SPELLINGS = {
    "s[0] = A[i] + s[0]": True, "m[0] = max(A[i], m[0])": True, "s[0] = s[0] - A[i]": True,
    "s[0] = s[0] + A[i] + B[i]": True, "s[0] = A[i]*B[i] - (B[i] - s[0])": True,
    "s[0] -= A[i]": True, "p[0] = 2*p[0]*A[i]": True, "s[0] = A[i] - s[0]": False,
    "s[0] += s[0]*A[i]": False, "s[0] = s[0] + s[0] + A[i]": False, "s[0] = s[0]/A[i]": False,
    "m[0] = max(m[0], A[i]) + 1": False,
}  # fmt: skip


def test_a_reduction_is_one_in_each_spelling() -> None:
    found = {text: Nest({"i": 8}, text).reverse("i").check().ok for text in SPELLINGS}
    assert found == SPELLINGS
    for text in ("C[i,j] = A[i,k]*B[k,j] + C[i,j]", "C[i,j] = C[i,j] - A[i,k]*B[k,j]"):
        nest = Nest({"i": 8, "j": 8, "k": 8}, text)
        for one in (nest.reverse("k"), nest.split("k", 4).interchange("ko", "ki")):
            assert one.check(), text


def test_each_spelling_of_a_reduction_computes_what_is_written() -> None:
    for text, ok in SPELLINGS.items():
        arrays = {name: np.arange(1.0, 9) for name in "AB"}
        cell = {name: np.array([3.0]) for name in "smp"}
        expected = {name: array.copy() for name, array in cell.items()}
        for i in range(8):
            exec(text, {"max": max}, {**arrays, **expected, "i": i})
        nest = Nest({"i": 8}, text)
        for one in (nest, *([nest.reverse("i")] if ok else [])):
            given = {name: (arrays | cell)[name].copy() for name in nest.shapes}
            made = one.run("python", **given)[text[0]]
            np.testing.assert_allclose(made, expected[text[0]], rtol=1e-12, err_msg=text)


def test_arrows_keep_what_a_reduction_may_not_break() -> None:
    nest = Nest({"i": 4}, "C[0] += A[i]")
    assert nest.reverse("i").arrows() == []
    strict = nest.reverse("i").arrows(reassociate=False)
    assert {(one.first, one.second) for one in strict if not one.ok} == {
        (S(a), S(b)) for a in range(4) for b in range(a + 1, 4)
    }
    assert all(arrow.ok for arrow in nest.arrows(reassociate=False))


def test_too_many_instances_are_not_listed() -> None:
    nest = Nest({"i": 2, "j": 3}, "B[i,j] = A[i,j]")
    with pytest.raises(ValueError, match="6 iterations; limit=5"):
        nest.instances(5)
