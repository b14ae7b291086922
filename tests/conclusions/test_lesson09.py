"""The sentences of lesson 09: searches and measurements of simulated machines."""

from __future__ import annotations

from dataclasses import replace

import pytest

import rooflab as rl
from rooflab.conclusions import conclude
from rooflab.conclusions.lesson09 import CONCLUSIONS
from rooflab.measure.measurement import Measurement
from tests.conclusions.machines import MACHINES, Simulated, Trial, trials, untried

EVERYWHERE = tuple(MACHINES)
N = 384
PRODUCT = rl.gemm(N, N, N, accumulate=True)


def run(on: Simulated, share: float, blas: str = "", warnings: tuple[str, ...] = ()) -> Measurement:
    """The product at this share of the vector peak, by kernels of a processor if one is named."""
    seconds = PRODUCT.flops / float(on.machine.peak("fp32", "vector")) / share
    found = on.clock(PRODUCT, cache="warm", warnings=warnings)
    told = {"blas": [{"architecture": blas}]} if blas else {}
    return replace(found, samples=(seconds,) * 3, environment=told)


def searched(*pairs: tuple[float, float | None], rejected: int = 2) -> rl.search.Search:
    """A search with candidates of these seconds: predicted and measured, the start first."""
    candidates = [
        rl.search.Candidate((("split", ("i", 2 + at)),), 1, one, two) if at
        else rl.search.Candidate((), 0, one, two)
        for at, (one, two) in enumerate(pairs)
    ]  # fmt: skip
    candidates += [
        rl.search.Candidate((("split", ("j", 2 + at)),), 1, 9.0, why="predicted slower")
        for at in range(rejected)
    ]
    sides = dict.fromkeys("ijk", (0, N))
    return rl.search.Search(
        "C[i,j] += A[i,k]*B[k,j]", sides, dict.fromkeys("CAB", (N, N)), "body", 1, 4, 2 * N**3,
        tuple(candidates), "the time was up",
    )  # fmt: skip


def reached(on: Simulated, start: float, best: float) -> rl.search.Search:
    """A search from one share of the vector peak to another."""
    least = PRODUCT.flops / float(on.machine.peak("fp32", "vector"))
    return searched((least / start, least / start), (least / best, least / best))


def tiles(on: Simulated, *shares: float) -> dict[int, Measurement]:
    return {rows: run(on, share) for rows, share in zip((1, 4, 8, 64), shares, strict=True)}


def tried(**bytes_of: float) -> dict[int, rl.search.Search]:
    """Searches of several widths that found so many bytes, the wider ones with more tries."""
    return {
        int(width[1:]): searched((1e6, 1e6), *[(least, least)] * int(width[1:]))
        for width, least in bytes_of.items()
    }


def pair(on: Simulated) -> tuple[Measurement, Measurement]:
    big, long = rl.gemm(1024, 1024, 1024), rl.gemv(1024, 1024)
    return on.clock(big, cache="warm"), on.clock(long, cache="warm")


TABLE: dict[str, Trial] = {
    "09-search": (
        lambda on: (reached(on, 0.01, 0.9), run(on, 0.9), on.machine),
        dict.fromkeys(EVERYWHERE, "level"),
    ),
    "09-predicted": (
        lambda on: (searched((3.0, 3.0), (1.0, 2.0), (1.5, 1.2)),),
        dict.fromkeys(EVERYWHERE, "the favourite loses"),
    ),
    "09-rows": (
        lambda on: (tiles(on, 0.1, 0.5, 0.8, 0.3), on.machine),
        dict.fromkeys(EVERYWHERE, "between"),
    ),
    "09-widths": (
        lambda on: (tried(w1=64.0, w2=55.0, w4=55.0),),
        dict.fromkeys(EVERYWHERE, "greedy is stuck"),
    ),
    "09-rewrite": (lambda on: pair(on), dict.fromkeys(EVERYWHERE, "less than the FLOPs")),
}


@pytest.mark.parametrize(("name", "on", "given", "case"), trials(TABLE))
def test_each_machine_gets_its_sentence(name, on, given, case):
    found = conclude(name, *given(on))
    assert found.case == case, found
    assert found.text.endswith(".") and "  " not in found.text


def test_every_conclusion_is_tried_on_every_machine():
    assert not untried("09", TABLE) and set(TABLE) == set(CONCLUSIONS)


@pytest.mark.parametrize(
    ("machine", "best", "library", "case", "words"),
    [
        ("4 MB of L3", 0.9, 0.45, "far ahead", "Don't praise it too soon"),
        ("4 MB of L3", 0.9, 0.75, "ahead", "by a factor of 1.20"),
        ("4 MB of L3", 0.5, 0.9, "behind", "Another minute"),
        ("M-series Mac", 0.9, 8.0, "behind a matrix unit", "no order of loops in vectors"),
        ("4 MB of L3", 0.0105, 0.9, "no gain", "`seconds=60`"),
    ],
)
def test_who_is_ahead_is_said_with_its_reason(machine, best, library, case, words):
    on = MACHINES[machine]
    found = conclude("09-search", reached(on, 0.01, best), run(on, library), on.machine)
    assert found.case == case and words in found.text, found


def test_the_library_s_kernels_are_named_and_its_warnings_told():
    on = MACHINES["hybrid laptop"]
    library = run(on, 0.45, "Haswell", ("busy",))
    found = conclude("09-search", reached(on, 0.01, 0.9), library, on.machine)
    assert "here those for “Haswell”" in found.text and "busy" in found.text
    assert "90 times as fast, at 90 % of" in found.text


def test_more_than_the_peak_is_not_left_without_a_word():
    on = MACHINES["300 MB of L3"]
    found = conclude("09-search", reached(on, 0.01, 1.06), run(on, 0.9), on.machine)
    assert "106 %" in found.text and "More than the peak cannot be" in found.text


def test_a_favourite_that_wins_is_no_loss():
    found = conclude("09-predicted", searched((3.0, 3.0), (1.0, 1.1), (1.5, 1.2)))
    assert found.case == "the favourite wins" and "2 schedules" in found.text
    lost = conclude("09-predicted", searched((3.0, 3.0), (1.0, 2.0), (1.5, 1.2)))
    assert "1 schedule had a better prediction" in lost.text and "factor of 1.67" in lost.text


@pytest.mark.parametrize(
    ("shares", "case"),
    [
        ((0.1, 0.2, 0.4, 0.8), "many are no trouble"),
        ((0.8, 0.8, 0.8, 0.2), "few are no trouble"),
        ((0.1, 0.2, 0.8, 0.75), "many are no trouble"),
    ],
)
def test_what_the_rows_do_is_what_is_said(shares, case):
    on = MACHINES["4 MB of L3"]
    assert conclude("09-rows", tiles(on, *shares), on.machine).case == case


def test_a_greedy_search_that_is_enough_is_not_called_stuck():
    found = conclude("09-widths", tried(w1=55.0, w2=55.0, w4=55.0))
    assert found.case == "greedy is enough" and "| 4 | 5 | 55.0 B |" in found.text
    late = conclude("09-widths", tried(w1=64.0, w2=60.0, w4=50.0))
    assert "1.28 times the bytes" in late.text and "finds nothing better" not in late.text


def test_a_wide_search_that_loses_again_is_told_by_its_row_alone():
    found = conclude("09-widths", tried(w1=64.0, w2=50.0, w4=60.0))
    assert found.case == "greedy is stuck" and "Width 2 goes on" in found.text
    assert "finds nothing better" not in found.text


def test_where_a_vector_costs_as_its_flops_the_gain_is_theirs():
    on = MACHINES["4 MB of L3"]
    product, vector = pair(on)
    seconds = product.median_s * vector.op.flops / product.op.flops
    found = conclude("09-rewrite", product, replace(vector, samples=(seconds,) * 3))
    assert found.case == "as the FLOPs" and "512.5 times fewer" in found.text
