"""Lesson 07's exercises: published facts that their references must give, and other ways."""

from __future__ import annotations

import pytest

from rooflab.count import gemm
from rooflab.exercises.judge import judge
from rooflab.exercises.observe.collect import collect
from rooflab.exercises.registry import exercise, lesson

SEEDS = range(30)


def answer(id: str):
    return exercise(id).reference


def verdict(id: str, given, seed):
    found = exercise(id)
    cases = found.draw(seed)
    return judge(found, cases, collect(found.kind, cases, given))


def by_stack_distance(lines, capacity):
    """07-lru by Mattson: a touch misses if `capacity` other lines were touched since the last."""
    missed, last = 0, {}
    for now, line in enumerate(lines):
        others = set(lines[last[line] + 1 : now]) if line in last else range(capacity)
        missed, last[line] = missed + (len(others) >= capacity), now
    return missed


def by_mask(rows, row_bytes, line, sets, ways):
    """07-column from the bits of a mask: a row marks the line that it begins in."""
    mask = [False] * (rows * row_bytes // line + sets)
    for row in range(rows):
        mask[row * row_bytes // line] = True
    fallen = [sum(mask[place::sets]) for place in range(sets)]
    return sum(map(bool, fallen)), sum(min(ways, count) for count in fallen)


OTHER_WAYS = {
    "07-lru": by_stack_distance,
    "07-tiles": lambda m, n, k, p, q, s: m * n * s * (k / p + k / q + 1),
    "07-claim-thousand": lambda n, t: (t, t * (2 * n + 1) / (2 * n + t)),
    "07-fits": lambda n, c, s, f: next(
        n // d for d in range(1, n + 1) if n % d == 0 and (n // d) ** 2 * s * f <= c
    ),
    "07-column": by_mask,
    "07-two-levels": lambda n, i, o, s, w, p: (
        s * n * n * (2 * n / i + 1), s * n * n * (2 * n / o + 1),
        max(s * n * n * (2 * n / i + 1) / w[0], s * n * n * (2 * n / o + 1) / w[1], 2 * n**3 / p),
    ),
}  # fmt: skip


def test_other_algebra_is_accepted():
    for id in OTHER_WAYS:
        for seed in SEEDS:
            assert verdict(id, OTHER_WAYS[id], seed).passed, seed


def test_every_exercise_but_the_words_has_another_way():
    assert {e.id for e in lesson("07")} - set(OTHER_WAYS) == {"07-claim-forty"}


def test_four_hundredths_are_compulsory_traffic_and_four_is_none_kept():
    """100×100 two-byte matrices: 4 accesses for 2 FLOPs before; A, B, C in and C out after."""
    flops = gemm(100, 100, 100, "bf16").flops
    assert 4 * 2 * 100**3 / flops == 4.0
    assert gemm(100, 100, 100, "bf16", accumulate=True).bytes / flops == 0.04
    assert gemm(100, 100, 100, "bf16").bytes / flops == 0.03
    assert 2 * 2 * 100**3 / flops == 2.0 and 3 * 2 * 100**3 / flops == 3.0
    for t, carried in ((10, 0.2), (25, 0.08)):  # A and B alone
        assert 2 * 100**3 / t * 2 / flops == pytest.approx(carried)


def test_a_tile_of_1024_results_saves_a_factor_of_32():
    assert answer("07-claim-thousand")(3200, 32)[0] == 32


def test_a_tile_as_large_as_the_matrix_is_the_minimum():
    for m, n, k in ((120, 80, 50), (7, 3, 1000), (1, 1, 1)):
        assert answer("07-tiles")(m, n, k, m, n, 4) == gemm(m, n, k).bytes


def test_lru_is_not_first_in_first_out():
    """Touching 1 keeps it: 1 2 1 3 1 misses 3 times with room for two, first in first out 4."""
    assert answer("07-lru")([1, 2, 1, 3, 1], 2) == 3
    (fifo,) = (m for m in exercise("07-lru").misconceptions if m.name == "first in, first out")
    assert fifo.wrong([1, 2, 1, 3, 1], 2) == 4


def test_a_cyclic_walk_one_line_too_long_never_hits():
    assert answer("07-lru")([*range(9)] * 5, 8) == 45
    assert answer("07-lru")([*range(8)] * 5, 8) == 8


def test_a_column_of_a_power_of_two_falls_into_few_sets():
    """32 KiB, 8 ways, 64 sets: rows of 4096 bytes all begin in one set, and 8 of them stay."""
    assert answer("07-column")(100, 4096, 64, 64, 8) == (1, 8)
    assert answer("07-column")(100, 4096 + 64, 64, 64, 8) == (64, 100)
    assert answer("07-column")(8, 16, 64, 64, 8) == (2, 2)  # four rows lie in a line


def test_machines_of_the_nest_wait_for_each_of_three_things():
    for seed in SEEDS:
        limits = set()
        for case in exercise("07-two-levels").draw(seed):
            near, far, least = answer("07-two-levels")(*case.values())
            waits = {
                "cache": near / case["bandwidths"][0],
                "memory": far / case["bandwidths"][1],
                "computing": 2 * case["n"] ** 3 / case["peak"],
            }
            limits |= {name for name, seconds in waits.items() if seconds == least}
        assert limits == {"cache", "memory", "computing"}
