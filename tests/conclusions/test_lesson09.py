"""The sentences of lesson 09: searches and measurements of simulated machines."""

from __future__ import annotations

from dataclasses import replace

import rooflab as rl
from rooflab.conclusions import conclude
from rooflab.measure.measurement import Measurement
from tests.conclusions.machines import MACHINES, Simulated, Trial, faults
from tests.support.rows import each_row

EVERYWHERE = tuple(MACHINES)
N = 384
PRODUCT = rl.gemm(N, N, N, accumulate=True)


def run(on: Simulated, share: float, blas: str = "", warnings: tuple[str, ...] = ()) -> Measurement:
    """The product at this share of the vector peak, by kernels of a processor if one is named."""
    seconds = PRODUCT.flops / float(on.machine.peak("fp32", "vector")) / share
    found = on.clock(PRODUCT, cache="warm", warnings=warnings)
    told = {"blas": [{"architecture": blas}]} if blas else {}
    return replace(found, samples=(seconds,) * 3, environment=told)


SLOW = (2.9, 2.9), (2.8, 2.8)  # candidates that change nothing but how many there are


def searched(
    *pairs: tuple[float, float | None], rejected: int = 2,
    ended: str = "no better schedule was found",
) -> rl.search.Search:  # fmt: skip
    """A search with candidates of these seconds: predicted and measured, the start first."""
    candidates = [
        rl.search.Candidate((("split", ("i", 2 + at)),), 1, one, two) if at
        else rl.search.Candidate((), 0, one, two)
        for at, (one, two) in enumerate(pairs)
    ]  # fmt: skip
    candidates += [
        rl.search.Candidate(
            (("split", ("j", 2 + at)),), 1, 9.0, why="predicted slower than 48 others"
        )
        for at in range(rejected)
    ]
    sides = dict.fromkeys("ijk", (0, N))
    return rl.search.Search(
        "C[i,j] += A[i,k]*B[k,j]", sides, dict.fromkeys("CAB", (N, N)), "body", 1, 4, 2 * N**3,
        tuple(candidates), ended,
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
        lambda on: (searched((3.0, 3.0), (1.0, 2.0), (1.5, 1.2), *SLOW),),
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


def test_every_machine_gets_its_sentence():
    assert faults("09", TABLE) == []


@each_row(
    ("4 MB of L3", 0.9, 0.45, "far ahead", "Don't praise it too soon"),
    ("4 MB of L3", 0.9, 0.75, "ahead", "by a factor of 1.20"),
    ("4 MB of L3", 0.9, 0.75, "ahead", "has to do for all sizes."),
    ("M-series Mac", 0.5, 0.9, "behind", "Another minute"),
    ("4 MB of L3", 0.5, 0.9, "behind", "Another minute"),
    ("M-series Mac", 0.9, 8.0, "behind a matrix unit", "no order of loops in vectors"),
    ("4 MB of L3", 0.0105, 0.9, "no gain", "`seconds=60`"),
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
    near = conclude("09-search", reached(on, 0.01, 0.9), run(on, 0.75, "Haswell"), on.machine)
    assert near.text.endswith("for all sizes, and took its kernels for “Haswell”.")


def test_more_than_the_peak_is_not_left_without_a_word():
    on = MACHINES["300 MB of L3"]
    found = conclude("09-search", reached(on, 0.01, 1.06), run(on, 0.9), on.machine)
    assert "106 %" in found.text and "More than the peak cannot be" in found.text


def test_a_favourite_that_wins_is_no_loss():
    found = conclude("09-predicted", searched((3.0, 3.0), (1.0, 1.1), (1.5, 1.2), *SLOW))
    assert found.case == "the favourite wins" and "2 schedules were sorted out" in found.text
    lost = conclude("09-predicted", searched((3.0, 3.0), (1.0, 2.0), (1.5, 1.2), *SLOW))
    assert "1 schedule had a better prediction" in lost.text and "factor of 1.67" in lost.text


def test_a_favourite_that_loses_by_noise_alone_does_not_lose():
    near = searched((3.0, 3.0), (1.0, 1.23), (1.5, 1.2), *SLOW)
    found = conclude("09-predicted", near)
    assert found.case == "the favourite wins"
    assert "the clock only confirms the choice. By" in found.text


def test_a_right_choice_by_a_wrong_time_is_told():
    slow = searched((9.0, 9.0), (0.4, 1.2), (0.5, 1.3), *SLOW)
    found = conclude("09-predicted", slow)
    assert found.case == "the favourite wins"
    assert "though the time itself was predicted wrongly by a factor of 3.0." in found.text


def test_schedules_that_no_prediction_judged_are_not_counted_as_sorted_out():
    """One that does not fit the registers was never predicted."""
    found = searched((3.0, 3.0), (1.0, 2.0), (1.5, 1.2), *SLOW, rejected=0)
    misfit = rl.search.Candidate((("split", ("j", 64)),), 1, why="48 vectors of sums do not fit")
    text = conclude("09-predicted", replace(found, candidates=(*found.candidates, misfit))).text
    assert "sorted out" not in text and "factor of 1.67" in text


@each_row(1, 4)
def test_a_search_that_hardly_began_says_nothing_about_predictions(measured):
    found = conclude("09-predicted", searched(*[(3.0, 3.0)] * measured, rejected=0))
    assert found.case == "too few" and "try `seconds=60`" in found.text
    assert f"Only {measured} schedule{'s' * (measured > 1)} could" in found.text


def test_a_search_without_time_for_a_second_schedule_has_no_best():
    on = MACHINES["4 MB of L3"]
    seconds = PRODUCT.flops / float(on.machine.peak("fp32", "vector")) / 0.01
    found = conclude("09-search", searched((seconds, seconds)), run(on, 0.9), on.machine)
    assert found.case == "no gain" and "Of 1 schedule measured, none is faster." in found.text


@each_row(
    ((0.1, 0.2, 0.4, 0.8), "many are no trouble"),
    ((0.8, 0.8, 0.8, 0.2), "few are no trouble"),
    ((0.1, 0.2, 0.8, 0.75), "many are no trouble"),
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
    assert found.case == "greedy is stuck" and "Width 2 tries more" in found.text
    assert "finds nothing better" not in found.text


def test_a_detour_is_told_only_where_the_winner_took_one():
    """The winner's parent is the best of its round, or not; a wide beam also tries more."""

    def lead(parent: float) -> rl.search.Search:
        first, other = ("split", ("i", 8)), ("split", ("j", 8))
        return replace(searched((9.0, 9.0)), candidates=(
            rl.search.Candidate((), 0, 9.0, 9.0), rl.search.Candidate((other,), 1, 7.0, 7.0),
            rl.search.Candidate((first,), 1, parent, parent),
            rl.search.Candidate((first, other), 2, 5.0, 5.0),
        ))  # fmt: skip

    greedy = tried(w1=7.0)
    detour = conclude("09-widths", {**greedy, 2: lead(8.0)})
    assert "Width 2 goes on from a schedule that was not the best so far" in detour.text
    assert (
        "Width 2 tries more in each round" in conclude("09-widths", {**greedy, 2: lead(6.0)}).text
    )


def test_widths_that_were_cut_off_are_not_compared():
    found = tried(w1=64.0, w2=50.0, w4=50.0)
    told = conclude("09-widths", {**found, 4: replace(found[4], ended="the time was up")})
    assert told.case == "cut off" and "With width 4 the time ended" in told.text
    assert "stuck" not in told.text
    both = {width: replace(one, ended="the time was up") for width, one in found.items()}
    assert "With widths 1, 2 and 4 the time ended" in conclude("09-widths", both).text


def test_a_matrix_unit_s_peak_in_the_table_is_named():
    on = MACHINES["M-series Mac"]
    found = conclude("09-rows", tiles(on, 0.1, 0.5, 0.8, 0.3), on.machine).text
    assert found.endswith("that of a matrix unit, which none of these loops uses.")


def test_where_a_vector_costs_as_its_flops_the_gain_is_theirs():
    on = MACHINES["4 MB of L3"]
    product, vector = pair(on)
    seconds = product.median_s * vector.op.flops / product.op.flops
    found = conclude("09-rewrite", product, replace(vector, samples=(seconds,) * 3))
    assert found.case == "as the FLOPs" and "512.5 times fewer" in found.text
