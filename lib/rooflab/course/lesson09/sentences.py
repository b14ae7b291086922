"""Sentences of lesson 09, chosen from what a search found on the reader's own machine."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from rooflab.count.si import several
from rooflab.exercises.sentences import (
    ABOVE_THE_PEAK,
    Conclusion,
    Rows,
    choose,
    matrix_unit,
    speed_table,
)
from rooflab.labs.search.schedules.result import ENDS, Search
from rooflab.measure.measurement import Measurement
from rooflab.predict.machine import Machine

LEVEL = 1.1  # times: two rates that are nearer than this are called alike
CLEARLY = 1.15  # times: a gain that is smaller is none, with the noise of a laptop
NOISE = 1.05  # times: two schedules of one search that are nearer than this are called alike
FEW = 5  # schedules: fewer say nothing about predictions
FAR_OFF = 2.0  # times: a time that was predicted this wrongly is worth a word
WIDER = 1.3  # times the library: more than a better order of the work explains
NEARLY = 0.8  # of the factor in FLOPs: a gain below it is less than they promise

AS_WRITTEN = "As written, the loops reach {start:FLOP/s}."
BEST: Rows = (
    ("", lambda winner, naive: winner is naive,
     "Of {count:of schedule} measured, none is faster."),
    ("", lambda winner, naive: winner is not naive,
     "The best of {count:of schedule} that were measured reaches {rate:FLOP/s}: it is "
     "{gain:times} as fast, at {share:percent} of the peak of this core's vector units."),
)
LIBRARY = "The library reaches {library:FLOP/s} on one core."
BESIDE_THE_LIBRARY: Rows = (
    ("no gain", lambda gain, cut: gain < CLEARLY and cut,
     "The search has hardly gained anything. Perhaps it had too little time on this machine: try "
     "`seconds=60`."),
    ("no gain at its end", lambda gain, cut: gain < CLEARLY and not cut,
     "The search has hardly gained anything, and it had run to its end: more time would "
     "not help, but other moves or a wider beam might."),
    ("far ahead", lambda gain, ratio: gain >= CLEARLY and ratio > WIDER,
     "So the search is {ratio:times} as fast. Don't praise it too soon: a library chooses its "
     "kernels by the name of the processor{kernels}. If it does not know the processor, it may "
     "use kernels for narrower vectors. Then the search wins by its vectors, not its schedule."),
    ("ahead", lambda gain, ratio: gain >= CLEARLY and LEVEL < ratio <= WIDER,
     "The search is ahead by a factor of {ratio:.2f}. It looked for this one size on this one "
     "machine. The library has to serve all sizes{kernels}."),
    ("level", lambda gain, ratio: gain >= CLEARLY and 1 / LEVEL < ratio <= LEVEL,
     "The two are about level. What people have written by hand over years, a search found in "
     "seconds, for this one size."),
    ("behind a matrix unit", lambda gain, ratio, unit: (
        gain >= CLEARLY and ratio <= 1 / LEVEL and unit),
     "It is {behind:times} as fast as the search. This processor has a matrix unit that the "
     "library can use, and no order of loops in vectors gets there."),
    ("behind", lambda gain, ratio, unit, cut: (
        gain >= CLEARLY and ratio <= 1 / LEVEL and not unit and cut),
     "It is {behind:times} as fast as the search. Another minute may find more, and so may moves "
     "that this search does not know."),
    ("behind at its end", lambda gain, ratio, unit, cut: (
        gain >= CLEARLY and ratio <= 1 / LEVEL and not unit and not cut),
     "It is {behind:times} as fast as the search, which had ended: more time brings no more, but "
     "moves that it does not know, or a wider beam, might."),
)
KERNELS: Rows = (
    ("", lambda names, ratio: names and ratio > WIDER, ", here those for “{names}”"),
    ("", lambda names, ratio: names and ratio <= WIDER, ", and took its kernels for “{names}”"),
)


def search(found: Search, library: Measurement, core: Machine) -> Conclusion:
    """What a search found, beside the loops as written and the library on the same core."""
    peak, rate, by_library = core.peak("fp32", "vector"), found.flops_per_s, library.flop_per_s
    ratio = rate / by_library
    return choose(
        AS_WRITTEN, BEST, ABOVE_THE_PEAK, LIBRARY, BESIDE_THE_LIBRARY, of=(library,),
        start=found.rate(found.naive), naive=found.naive, winner=found.winner, rate=rate,
        gain=found.naive.seconds / found.winner.seconds, count=len(found.measured),
        share=rate / peak, library=by_library, ratio=ratio, behind=1 / ratio,
        unit=core.has_peak("fp32", "tensor") and by_library > peak, cut=found.ended == ENDS[1],
        kernels=choose(KERNELS, names=_kernels(library), ratio=ratio).text,
    )


def _kernels(library: Measurement) -> str:
    """The processors whose kernels the library says that it has taken; "" if it says nothing."""
    told = (one.get("architecture") for one in library.environment.get("blas", ()))
    return ", ".join(sorted({str(name) for name in told if name}))


TOO_FEW: Rows = (
    ("too few", lambda count: count < FEW,
     "Only {count:of schedule} could be measured in the time. That is too few to say how good the "
     "predictions are: try `seconds=60`."),
)
FAVOURITE = (
    "Of {count:of schedule} that were measured, the one with the best prediction takes "
    "{favourite:s}, and was predicted to take {guess:s}."
)
COST = (
    "So the prediction is not good enough to decide: that would have cost a factor of {loss:.2f}."
)
FASTEST: Rows = (
    ("the favourite wins", lambda loss, off: loss < NOISE and off <= FAR_OFF,
     "Nothing is clearly faster than that. This time the clock only confirms the choice."),
    ("the favourite wins", lambda loss, off: loss < NOISE and off > FAR_OFF,
     "Nothing is clearly faster than that. This time the clock only confirms the choice, though "
     "the time itself was predicted wrongly by a factor of {off:.1f}."),
    ("the favourite loses", lambda loss, behind: loss >= NOISE and behind > 0,
     "The fastest one takes {fastest:s}, and {behind:of schedule} had a better prediction. "
     + COST),
    ("the favourite loses", lambda loss, behind: loss >= NOISE and behind == 0,
     "The fastest one takes {fastest:s}, and no other one had a better prediction. " + COST),
)
DROPPED: Rows = (
    ("", lambda rejects: rejects > 0,
     "By their prediction alone, {rejects:of schedule} {was} weeded out. Whether a faster one was "
     "among them, nobody knows."),
)


def predicted(found: Search) -> Conclusion:
    """The schedule that was predicted to be the fastest, beside the one that is."""
    judged = [(one, one.predicted) for one in found.measured if one.predicted is not None]
    few = choose(TOO_FEW, count=len(judged))
    if few.case:
        return few
    (favourite, guess), winner = min(judged, key=lambda pair: pair[1]), found.winner
    ratio = favourite.seconds / (guess or favourite.seconds)
    rejects = sum(one.why.startswith("predicted slower") for one in found.rejected)
    return choose(
        FAVOURITE, FASTEST, DROPPED, count=len(judged), favourite=favourite.seconds, guess=guess,
        fastest=winner.seconds, loss=favourite.seconds / winner.seconds, off=max(ratio, 1 / ratio),
        behind=sum(one < (winner.predicted or 0.0) for _, one in judged), rejects=rejects,
        was="was" if rejects == 1 else "were",
    )


TILES: Rows = (
    ("many are no trouble", lambda from_many: from_many < CLEARLY,
     "On this machine {many} rows do no harm. Perhaps the compiler has cut the tile down again."),
    ("few are no trouble", lambda from_many, from_few: from_few < CLEARLY <= from_many,
     "On this machine, more rows than one hardly help. {many} rows take {from_many:times} as long "
     "as {best:of row}."),
    ("between", lambda from_many, from_few: from_many >= CLEARLY and from_few >= CLEARLY,
     "The best is in between. One row takes {from_few:times} as long as {best:of row}, and {many} "
     "rows take {from_many:times} as long."),
)


BY_HAND: Rows = (
    ("beats the search", lambda lead: lead > CLEARLY,
     "That beats the search: its winner reached {rate:FLOP/s}, {best:of row} {lead:times} as much. "
     "Small steps did not lead it there."),
    ("as the search", lambda lead: 1 / CLEARLY <= lead <= CLEARLY,
     "The winner of the search reached {rate:FLOP/s}, about as much as {best:of row}."),
    ("behind the search", lambda lead: lead < 1 / CLEARLY,
     "The winner of the search reached {rate:FLOP/s}, {behind:times} as much as {best:of row}."),
)


def rows(timed: Mapping[int, Measurement], core: Machine, found: Search) -> Conclusion:
    """Register tiles of few and of many rows, by rate, and what a search ``found``."""
    few, many = min(timed), max(timed)
    best = min(timed, key=lambda count: timed[count].median_s)
    shown = {several(count, "row"): one for count, one in timed.items()}
    from_few, from_many = (timed[one].median_s / timed[best].median_s for one in (few, many))
    lead = timed[best].flop_per_s / found.flops_per_s
    return choose(
        "{table}\n\n", TILES, "{unit}", BY_HAND, of=timed.values(), many=many, best=best,
        from_few=from_few, from_many=from_many, rate=found.flops_per_s, lead=lead, behind=1 / lead,
        table="\n".join(speed_table("at a time", shown, core)),
        unit=matrix_unit(timed[best], core),
    )


ADDED_UP = (
    "Added up, (AB)v takes {before:s} and A(Bv) takes {after:s}: it is {gain:times} as fast, with "
    "{fewer:.1f} times fewer FLOPs. The GEMV was timed with its matrix of {matrix:B} read again "
    "and again. A(Bv) reads two of them, so where the cache does not hold both, it takes longer "
    "than that."
)
REWRITE: Rows = (
    ("less than the FLOPs", lambda gain, fewer: gain < NEARLY * fewer,
     "What is left is GEMVs, which wait for bytes. So the gain is smaller than the FLOPs "
     "promise, yet no loop was touched."),
    ("as the FLOPs", lambda gain, fewer: gain >= NEARLY * fewer,
     "No order of the product's loops could achieve that."),
)


def rewrite(product: Measurement, vector: Measurement) -> Conclusion:
    """(AB)v beside A(Bv): FLOPs and seconds."""
    before, after = product.median_s + vector.median_s, 2 * vector.median_s
    fewer = (product.op.flops + vector.op.flops) / (2 * vector.op.flops)
    return choose(
        ADDED_UP, REWRITE, of=(product, vector), before=before, after=after, gain=before / after,
        fewer=fewer, matrix=max(one.nbytes for one in vector.op.operands),
    )


CONCLUSIONS: Mapping[str, Callable[..., Conclusion]] = {
    "09-search": search, "09-predicted": predicted, "09-rows": rows,
    "09-rewrite": rewrite,
}
