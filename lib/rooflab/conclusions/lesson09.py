"""Sentences of lesson 09, chosen from what a search found on the reader's own machine."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from rooflab.conclusions import Conclusion, cautions, fold, matrix_unit, speed_table
from rooflab.count.si import grouped, percent, several, si
from rooflab.labs.search.schedules.result import ENDS, Candidate, Search
from rooflab.measure.measurement import Measurement
from rooflab.predict.machine import Machine

LEVEL = 1.1  # times: two rates that are nearer than this are called alike
CLEARLY = 1.15  # times: a gain that is smaller is none, with the noise of a laptop
NOISE = 1.05  # times: two schedules of one search that are nearer than this are called alike
FEW = 5  # schedules: fewer say nothing about predictions
FAR_OFF = 2.0  # times: a time that was predicted this wrongly is worth a word
WIDER = 1.3  # times the library: more than a better order of the work explains


def search(found: Search, library: Measurement, core: Machine) -> Conclusion:
    """What a search found, beside the loops as written and the library on the same core."""
    gain = found.naive.seconds / found.winner.seconds
    share = found.flops_per_s / core.peak("fp32", "vector")
    ratio = found.flops_per_s / library.flop_per_s
    said = [f"As written, the loops reach {si(found.rate(found.naive), 'FLOP/s')}."]
    if found.winner is found.naive:
        said.append(f"Of {several(len(found.measured), 'schedule')} measured, none is faster.")
    else:
        said.append(
            f"The best of {grouped(len(found.measured))} schedules that were measured reaches "
            f"{si(found.flops_per_s, 'FLOP/s')}: it is {fold(gain)} as fast, at {percent(share)} "
            "of the peak of this core's vector units."
        )
    if share > 1.02:
        said.append(
            "More than the peak cannot be. The peak was measured in another moment, and the clock "
            "of a core does not always run at the same speed."
        )
    said.append(f"The library reaches {si(library.flop_per_s, 'FLOP/s')} on one core.")
    case, more = _of_library(ratio, library, core)
    if gain < CLEARLY:
        case = "no gain"
        said.append(
            "The search has hardly gained anything. Perhaps it had too little time on this "
            "machine: try `seconds=60`."
        )
    else:
        said.append(more)
    return Conclusion(case, " ".join(said) + cautions(library))


def _of_library(ratio: float, library: Measurement, core: Machine) -> tuple[str, str]:
    """Who is ahead, and why that may be."""
    kernels = _kernels(library)
    named = f", here those for {kernels}" if kernels else ""
    took = f", and took its kernels for {kernels}" if kernels else ""
    if ratio > WIDER:
        return "far ahead", (
            f"So the search is {fold(ratio)} as fast. Don't praise it too soon: a library chooses "
            f"its kernels by the name of the processor{named}. Where it does not know the "
            "processor, it may take kernels for narrower vectors, and then the search wins by the "
            "vectors, not by the schedule."
        )
    if ratio > LEVEL:
        return "ahead", (
            f"The search is ahead by a factor of {ratio:.2f}. It looked for this one size on this "
            f"one machine. The library has to do for all sizes{took}."
        )
    if ratio > 1 / LEVEL:
        return "level", (
            "The two are about level. What people have written by hand over years, a search found "
            "in seconds, for this one size."
        )
    if core.has_peak("fp32", "tensor") and library.flop_per_s > core.peak("fp32", "vector"):
        return "behind a matrix unit", (
            f"It is {fold(1 / ratio)} as fast as the search. This processor has a matrix unit that "
            "the library can use, and no order of loops in vectors gets there."
        )
    return "behind", (
        f"It is {fold(1 / ratio)} as fast as the search. Another minute may bring more: so might "
        "moves that this search does not know."
    )


def _kernels(library: Measurement) -> str:
    """The processors whose kernels the library says that it has taken; "" if it says nothing."""
    named = {
        str(one["architecture"])
        for one in library.environment.get("blas", ())
        if one.get("architecture")
    }
    return f"“{', '.join(sorted(named))}”" if named else ""


def predicted(found: Search) -> Conclusion:
    """The schedule that was predicted to be the fastest, beside the one that is."""
    ranked = sorted(
        (one for one in found.measured if one.predicted is not None),
        key=lambda one: one.predicted or 0.0,
    )
    if len(ranked) < FEW:
        return Conclusion(
            "too few",
            f"Only {several(len(ranked), 'schedule')} could be measured in the time. That is too "
            "few to say how good the predictions are: try `seconds=60`.",
        )
    favourite, winner = ranked[0], found.winner
    loss = favourite.seconds / winner.seconds
    said = (
        f"Of {grouped(len(ranked))} schedules that were measured, the one with the best prediction "
        f"takes {si(favourite.seconds, 's')}, and was predicted to take "
        f"{si(favourite.predicted or 0.0, 's')}."
    )
    dropped = _dropped(found)
    if loss < NOISE:
        return Conclusion(
            "the favourite wins",
            f"{said} Nothing is clearly faster than that. This time the clock only confirms the "
            f"choice{_far_off(favourite)}.{dropped}",
        )
    behind = sum((one.predicted or 0.0) < (winner.predicted or 0.0) for one in ranked)
    before = (
        f"{several(behind, 'schedule')} had a better prediction"
        if behind
        else "no other one had a better prediction"
    )
    return Conclusion(
        "the favourite loses",
        f"{said} The fastest one takes {si(winner.seconds, 's')}, and {before}. So the prediction "
        f"is not good enough to decide: that would have cost a factor of {loss:.2f}.{dropped}",
    )


def _far_off(one: Candidate) -> str:
    """By how much the time of a schedule was predicted wrongly, if that is worth a word."""
    guess = one.predicted or one.seconds
    off = max(one.seconds / guess, guess / one.seconds)
    said = f", though the time itself was predicted wrongly by a factor of {off:.1f}"
    return said if off > FAR_OFF else ""


def _dropped(found: Search) -> str:
    """How many schedules only the prediction judged, as a sentence; "" if there are none."""
    count = sum(one.why.startswith("predicted slower") for one in found.rejected)
    if not count:
        return ""
    was = "was" if count == 1 else "were"
    return (
        f" By their prediction alone, {several(count, 'schedule')} {was} sorted out. Whether a "
        "faster one was among them, nobody knows."
    )


def rows(timed: Mapping[int, Measurement], core: Machine) -> Conclusion:
    """Register tiles of few and of many rows, by rate."""
    few, many = min(timed), max(timed)
    best = min(timed, key=lambda count: timed[count].median_s)
    shown = {several(count, "row"): one for count, one in timed.items()}
    table = "\n".join([*speed_table("at a time", shown, core), ""])
    doubts = cautions(*timed.values())
    doubts = matrix_unit(timed[best], core) + doubts
    from_few, from_many = (timed[one].median_s / timed[best].median_s for one in (few, many))
    if best == many or from_many < CLEARLY:
        return Conclusion(
            "many are no trouble",
            f"{table}\nOn this machine {many} rows do no harm. Perhaps the compiler has cut the "
            f"tile down again.{doubts}",
        )
    if from_few < CLEARLY:
        return Conclusion(
            "few are no trouble",
            f"{table}\nOn this machine, more rows than one hardly help. {many} rows take "
            f"{fold(from_many)} as long as {several(best, 'row')}.{doubts}",
        )
    return Conclusion(
        "between",
        f"{table}\nThe best is in between. One row takes {fold(from_few)} as long as "
        f"{several(best, 'row')}, and {many} rows take {fold(from_many)} as long.{doubts}",
    )


def widths(found: Mapping[int, Search]) -> Conclusion:
    """Bytes that searches of several widths found, and what they tried for it."""
    table = ["| width | schedules tried | bytes |", "|---|---|---|"]
    for width, one in found.items():
        moved = one.winner.measured or 0.0
        table.append(f"| {width} | {grouped(len(one.measured))} | {si(moved, 'B')} |")
    least = {width: one.winner.measured or 0.0 for width, one in found.items()}
    greedy, wide = min(least), max(least)
    best = min(least.values())
    first = next(width for width in sorted(least) if least[width] == best)
    early = [str(width) for width, one in found.items() if one.ended != ENDS[0]]
    if early:
        case = "cut off"
        before = ", ".join(early[:-1])
        which = f"widths {before} and {early[-1]}" if before else f"width {early[-1]}"
        said = (
            f"With {which} the time ended before the search did. Give it more "
            "`seconds` to compare the widths."
        )
    elif least[greedy] == best:
        case = "greedy is enough"
        said = (
            "Here the greedy search finds as good a schedule as the wide ones, and tries fewer. "
            f"Width {wide} was work for nothing."
        )
    else:
        case = "greedy is stuck"
        said = f"The greedy search gets stuck at {fold(least[greedy] / best)} the bytes. "
        said += _way_out(found, first)
        if first != wide and least[wide] == best:
            more = len(found[wide].measured) / len(found[first].measured)
            said += f" Width {wide} finds nothing better, and tries {fold(more)} as many."
    return Conclusion(case, "\n".join([*table, "", said]))


def _way_out(found: Mapping[int, Search], first: int) -> str:
    """How the first width that finds the best comes to it."""
    one = found[first]
    for step in one.measured:
        leads = step.log == one.winner.log[: len(step.log)] and step is not one.winner
        if leads and any(
            (other.measured or 0.0) < (step.measured or 0.0)
            for other in one.measured
            if other.round <= step.round
        ):
            return f"Width {first} goes on from a schedule that was not the best so far."
    return f"Width {first} tries more in each round, and one of those leads on."


def rewrite(product: Measurement, vector: Measurement) -> Conclusion:
    """(AB)v beside A(Bv): FLOPs and seconds."""
    before, after = product.median_s + vector.median_s, 2 * vector.median_s
    fewer = (product.op.flops + vector.op.flops) / (2 * vector.op.flops)
    gain = before / after
    matrix = max(one.nbytes for one in vector.op.operands)
    said = (
        f"Added up, (AB)v takes {si(before, 's')} and A(Bv) takes {si(after, 's')}: it is "
        f"{fold(gain)} as fast, with {fewer:.1f} times fewer FLOPs. The GEMV was timed with its "
        f"matrix of {si(matrix, 'B')} read again and again. A(Bv) reads two of them, so where the "
        "cache does not hold both, it takes longer than that."
    )
    doubts = cautions(product, vector)
    if gain < 0.8 * fewer:
        return Conclusion(
            "less than the FLOPs",
            f"{said} The FLOPs that are left are those of GEMVs, which wait for bytes. So it gains "
            f"less than they promise, and no loop was touched.{doubts}",
        )
    return Conclusion(
        "as the FLOPs", f"{said} No order of the product's loops could bring that.{doubts}"
    )


CONCLUSIONS: Mapping[str, Callable[..., Conclusion]] = {
    "09-search": search,
    "09-predicted": predicted,
    "09-rows": rows,
    "09-widths": widths,
    "09-rewrite": rewrite,
}
