"""Exercises of lesson 08, legal loops: which order, which counterexample, which repair.

The wrong answers are slips of public teaching material: two loops coalesced into one that runs
them interchanged, tiles that nobody asked whether they are legal.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import compress, product
from math import ceil, floor
from operator import lt, not_

from rooflab.course.schedules import STENCIL, VECTORISE
from rooflab.exercises.exercise import ITEMSIZES, any_length, at_least, cases_of
from rooflab.exercises.table import drawn, slip, table

# ---- 08-innermost --------------------------------------------------------------------------------
INNERMOST = table(
    "08-innermost", "The loop for the inside", 3,
    "`operands` is a list of texts such as [\"ik\", \"kj\", \"ij\"], the loops in each array's "
    "brackets; the last index runs through neighbours. Per turn of an innermost loop an array "
    "costs no line if the loop is not among its indices, itemsize/line if it is the last one, and "
    "else a whole line. Return (1) the loop whose turn fetches the fewest lines, (2) how many.",
    "innermost(operands, itemsize, line)", lines=5,
    cases=drawn(5, operands=lambda _names, _shape: _shape.translate(_names).split(),
                itemsize=[4, 2, 8], line=[64, 128],
                _names=lambda rng: str.maketrans("chijknw", "".join(rng.sample("fgmpqrtuvxyz", 7))),
                _shape=["ik kj ij", "ki kj ji", "ik jk ij",  # products
                        "nchw c nhw", "nhwc c nhw"]),  # sums over channels in two layouts
    domain={"itemsize": ITEMSIZES}, example=(["ik", "kj", "ij"], 4, 64),
    fixed=cases_of(
        "operands itemsize line",
        (["ai", "bi", "cj"], 4, 64),  # two loops of neighbours
        (["xy", "xy", "xy"], 8, 128),  # arrays with the same brackets
        (["pk", "qk", "pqk", "qpk", "iqk"], 8, 32),  # a whole line is less than five shares
        (["vuw", "wv"], 1, 32),
        (["tz", "tsz", "st", "tsr", "rt"], 2, 256),
    ),
    insight="The innermost loop decides what a line that is fetched is good for. Change how an "
            "array is stored, and another loop is the best one.",
    answer={
        "_of": lambda itemsize, line: lambda text, loop:  # an array's lines in a turn of the loop
            (loop in text) * (itemsize / line if text[-1] == loop else 1.0),
        "_costs": lambda operands, _of: {
            loop: sum(_of(text, loop) for text in operands)
            for loop in sorted({*"".join(operands)})},
        "_best": lambda _costs: min(_costs, key=_costs.__getitem__),
        "loop": lambda _best: _best,
        "lines": lambda _costs, _best: _costs[_best],
    },
    slips=(
        slip("the first index has the neighbours",
             "the arrays are stored so that the last index runs through neighbours.",
             operands=lambda operands: [text[::-1] for text in operands]),
        slip("an array without the loop costs a line",
             "if the loop is not among its indices, the array stays where it is.",
             _of=lambda itemsize, line: lambda text, loop:
                 itemsize / line if text[-1] == loop else 1.0),
        slip("neighbours are free", "neighbours share a line, so each turn takes its share of one.",
             itemsize=0),
        slip("numbers for lines", "a line that is fetched holds several neighbours.",
             _of=lambda: lambda text, loop: float(loop in text)),
        slip("the dearest loop", "the loop is asked that fetches the fewest lines.",
             _best=[lambda _costs: max(_costs, key=_costs.get),
                    lambda operands, _costs: max("".join(operands), key=_costs.get),
                    lambda _costs: max(reversed(_costs), key=_costs.get),
                    lambda operands, _costs:
                        max(reversed(dict.fromkeys("".join(operands))), key=_costs.get)]),
        slip("bytes", "lines are asked, not bytes.",
             lines=lambda _costs, _best, line: _costs[_best] * line),
        slip("the last index of the last array",
             "every loop is a candidate: what does each of them cost in all arrays?",
             _best=lambda operands: operands[-1][-1], loop=lambda operands: operands[-1][-1]),
        slip("the written array left out", "the line of an array that is written is fetched, too.",
             operands=lambda operands: operands[:-1]),
        slip("whole lines", "a share of a line need not be a whole number: over many turns it "
             "adds up.", lines=lambda _costs, _best: ceil(_costs[_best])),
        slip("sizes that never change", "`itemsize` and `line` differ from case to case: are both "
             "in your answer?", itemsize=4, line=64, ways=[{"itemsize": 4, "line": 64}]),
    ),
)


# ---- 08-legal ------------------------------------------------------------------------------------
def _forward(loops: int) -> list[list[int]]:
    """Distances that are legal in the original order."""
    return [[*one] for one in product((-1, 0, 1, 2), repeat=loops) if one > (0,) * loops]


LEGAL = table(
    "08-legal", "What an order breaks", 3,
    "`distances` is a list of distances, each a list with a number for each loop, the outermost "
    "first. `order[0]` is the number of the loop that is outermost in the new order, from 0 on. "
    "Return the list of the distances that the new order breaks, unchanged and in the order in "
    "which they came.",
    "broken(distances, order)", lines=1,
    cases=drawn(4, distances=lambda rng, order: rng.sample(_forward(len(order)), 9),
                order=[[1, 0], [2, 0, 1], [1, 2, 0], [3, 1, 0, 2]]),
    domain={"order": any_length(2)}, example=([[1, -1], [0, 2], [3, 1]], [1, 0]),
    fixed=cases_of(
        "distances order",
        ([[1, 2], [0, 3], [3, -40_000]], [0, 1]),  # nothing breaks
        ([[1, -12], [0, 5], [1, -12], [200, -1], [2, 0]], [1, 0]),  # one of them twice
        ([[0, 0, 0, 1, -1], [0, 0, 2, 0, 0], [0, 1, 0, 0, -3], [0, 1, -25, 0, 0], [1, -1, 0, 0, 0],
          [1, 0, 0, 4, 2]], [4, 3, 2, 1, 0]),
        ([[2, -1, 0, 7], [0, 15, -150, 1], [0, 0, 3, -1], [1, 0, -2, 0], [1, -1, 0, -1]],
         [2, 3, 1, 0]),
    ),
    insight="One line decides for all iterations at once, because a dependence looks the same "
            "everywhere. Compilers test it in this way where the subscripts allow it.",
    answer={
        "_moved": lambda distances, order: [[one[loop] for loop in order] for one in distances],
        "_broken": lambda _moved: [one < [0] * len(one) for one in _moved],
        "broken": lambda distances, _broken: [*compress(distances, _broken)],
    },
    slips=(
        slip("any negative number", "a number further in may be negative, if one further out is "
             "positive.", _broken=lambda _moved: [min(one) < 0 for one in _moved]),
        slip("the outermost alone", "where the outermost number is 0, the next one decides.",
             _broken=lambda _moved: [one[0] < 0 for one in _moved]),
        slip("the two outermost alone", "where the first two numbers are 0, the third decides, "
             "and so on.", _broken=lambda _moved: [one[:2] < [0, 0] for one in _moved]),
        slip("the outermost must be positive", "a distance may begin with zeros.",
             _broken=lambda _moved: [one[0] <= 0 for one in _moved]),
        slip("the sum",
             "loops do not add up: the outer one decides before the inner one is asked.",
             _broken=lambda _moved: [sum(one) <= 0 for one in _moved]),
        slip("the innermost", "the outermost loop comes first in a distance, and decides first.",
             _broken=lambda _moved: [one[::-1] < [0] * len(one) for one in _moved]),
        slip("order read backwards",
             "order[0] is the loop that is outermost now, not the new place of loop 0.",
             order=lambda order: [order.index(loop) for loop in range(len(order))]),
        slip("smaller than before",
             "do not compare with the original order: does it begin with a positive number, after "
             "any zeros?", _broken=lambda _moved, distances: [*map(lt, _moved, distances)]),
        slip("what is kept", "the distances that are broken are asked, not those that are kept.",
             broken=lambda distances, _broken: [*compress(distances, map(not_, _broken))]),
        slip("distances in the new order", "return them as they were given.",
             broken=lambda _moved, _broken: [*compress(_moved, _broken)]),
    ),
)


# ---- 08-pair -------------------------------------------------------------------------------------
def _shifted(down: int, across: int) -> Callable[..., object]:
    """The right pair, so many rows and columns off."""
    return lambda _early: tuple((i + down, j + across) for i, j in _early[0])


PAIR = table(
    "08-pair", "Convict a tile", 3,
    "A nest runs i from 0 to rows − 1 and, inside it, j from 0 to columns − 1. Iteration (i, j) "
    "reads what iteration (i − back, j + ahead) wrote, if there is one; both are 1 or more, and "
    "back is smaller than tile. Now it runs in tiles of tile × tile, row by row of tiles, and "
    "within a tile as before. Return the first iteration in the original order that reads too "
    "early, and the one that it should have waited for.",
    "pair(rows, columns, back, ahead, tile)", lines=6,
    cases=drawn(4, rows=range(16, 30), columns=range(24, 40), back=[1, 2, 3, 1],
                ahead=[1, 3, 2, 6], tile=range(4, 9)),
    domain={"rows": at_least(2), "back": at_least(1), "ahead": at_least(1), "tile": at_least(2)},
    example=(6, 8, 2, 1, 4),
    fixed=cases_of(
        "rows columns back ahead tile",
        (2, 9, 1, 8, 2),  # further ahead than a tile is wide
        (5, 7, 2, 3, 3),  # as far
        (9, 10, 8, 1, 9),  # the only pair
        (40, 17, 6, 5, 12),
        (5, 450, 3, 130, 64),
        (7, 140, 5, 2, 128),
    ),
    insight="A single pair is enough to prove that an order is wrong. To prove that one is legal "
            "takes all pairs, or an argument about distances.",
    answer={
        "_readers": lambda rows, columns, back, ahead: [
            ((i, j), (i - back, j + ahead))
            for i in range(back, rows) for j in range(columns - ahead)],
        "_early": lambda _readers, tile: [
            ((i, j), (k, m)) for (i, j), (k, m) in _readers
            if i // tile == k // tile and j // tile < m // tile],
        "_pair": lambda _early: _early[0],
        "reads too early": lambda _pair: _pair[0],
        "should have run": lambda _pair: _pair[1],
    },
    slips=(
        slip("the first reader of all",
             "these two lie in one tile, and within a tile the order is as before; that pair would "
             "be broken by an interchange.",
             _pair=[lambda _readers: _readers[0], lambda back, ahead: ((0, ahead), (back, 0))]),
        slip("the last one", "the first such iteration in the original order is asked.",
             _pair=lambda _early: _early[-1]),
        slip("one column too far", "there is an earlier one; a tile begins at a multiple of its "
             "side.", _pair=_shifted(0, 1)),
        slip("one column too near", "the iteration that it waits for is in the same tile still; "
             "count from 0.", _pair=_shifted(0, -1)),
        slip("counted from 1", "i and j start at 0.", _pair=_shifted(1, 1)),
        slip("another neighbour",
             "the second one was to run first: it lies `back` rows further up and `ahead` columns "
             "to the right.",
             should_have_run=[
                 lambda _pair, back, ahead: (_pair[0][0] + back, _pair[0][1] - ahead),
                 lambda _pair, back, ahead: (_pair[0][0] - back, _pair[0][1] - ahead),
                 lambda _pair, back, ahead: (_pair[0][0] + back, _pair[0][1] + ahead),
                 lambda _pair, back, ahead: (_pair[0][0] - ahead, _pair[0][1] + back)]),
        slip("the distance for the second",
             "two iterations are asked; a distance is the difference of two.",
             should_have_run=[lambda back, ahead: (back, -ahead), lambda back, ahead: (back, ahead),
                              lambda back, ahead: (-back, ahead)]),
        slip("the last column of the tile",
             "it does read too early. Is there no column before it that does?",
             _pair=lambda back, ahead, tile: ((back, tile - 1), (0, tile - 1 + ahead))),
    ),
)


# ---- 08-skew -------------------------------------------------------------------------------------
SKEW = table(
    "08-skew", "How much it has to lean", 3,
    "Each dependence of a nest of two loops has a distance (d, e). A skew by f makes it "
    "(d, e + f·d). Any tile is legal if no number of any distance is negative. `distances` is a "
    "list of pairs, legal in the original order. Return the least whole f, 0 or more, with which "
    "none is negative.",
    "least_skew(distances)", lines=4,
    cases=drawn(4, _steep=[3, 4, 5, 7], distances=lambda rng, _steep: [
        *([d, -rng.randrange(_steep * d)] for d in rng.choices(range(1, 9), k=6)), [0, _steep]]),
    domain={"distances": any_length(1)}, example=([[1, -3], [2, -4]],),
    fixed=cases_of(
        "distances",
        ([[1, -720], [2, -7]],),
        ([[7, -150], [12, -240], [1, -3]],),
        ([[5, -9], [4, -20], [0, 1]],),  # one becomes 0
        ([[1, 1], [2, 5], [0, 1]],),  # none is needed
        ([[30, -31], [1, -1], [0, 900]],),
        ([[40_000_000, -3]],),
    ),
    insight="A skew alone changes nothing in what runs when. It makes room for tiles, and the "
            "tiles then keep a part of the data near for several steps.",
    answer={
        "_each": lambda distances: [-(e // d) for d, e in distances if d > 0],  # rounded up
        "skew": lambda _each: max([0, *_each]),
    },
    slips=(
        slip("how far it goes back",
             "a skew by f adds f·d, not f: a distance of more rows gains more.",
             skew=[lambda distances: max(0, *(-e for _, e in distances)),
                   lambda distances: max(-e for _, e in distances),
                   lambda distances: max(abs(e) for _, e in distances)]),
        slip("rounded down", "with that one, a number is still negative; f is whole, so round up.",
             _each=[lambda distances: [-e // d for d, e in distances if d > 0],
                    lambda distances: [int(-e / d) for d, e in distances if d > 0],
                    lambda distances: [round(-e / d) for d, e in distances if d > 0]]),
        slip("not rounded", "f is a whole number. Which way does it have to be rounded?",
             _each=lambda distances: [-e / d for d, e in distances if d > 0]),
        slip("strictly positive", "zero is not negative: a number may become 0.",
             _each=lambda distances: [-e // d + 1 for d, e in distances if d > 0]),
        slip("the most negative one", "how much a distance needs depends on both of its numbers, "
             "so the most negative one need not decide.",
             distances=lambda distances: [min(distances, key=lambda one: (one[0] == 0, one[1]))]),
        slip("at least one", "where no number is negative, the least f is 0.",
             skew=lambda _each: max(1, *_each)),
        slip("the wrong sign", "f · d is added, and the numbers have to grow.",
             skew=lambda _each: -max(0, *_each)),
        slip("the smallest of them", "the distance that needs most decides.",
             skew=[lambda _each: max(0, min(_each)),
                   lambda distances: min((-(e // d) for d, e in distances if e < 0), default=0)]),
        slip("a sum over the distances", "one skew serves all distances at once.",
             skew=lambda _each: sum(max(0, one) for one in _each)),
    ),
)


# ---- 08-claim-same -------------------------------------------------------------------------------
SAME = table(
    "08-claim-same", "Claim court: one loop for two", 3,
    "A talk puts one loop over t, with S(t % 10, t // 10), in place of two loops of 10 around "
    "S(i, j), and says that it is the same and that neighbours in t touch neighbours in memory. "
    "What does it do, is it legal for C[i, j] = A[i, j] + B[i, j] and for "
    "A[i, j] = A[i-1, j+1] * 0.5, and how far apart in memory are t and t + 1?",
    '("…", "…", "…", "…")', kind="value",
    insight="To keep the order, i has to be t // 10 and j has to be t % 10. Then t and t + 1 are "
            "neighbours in memory, and the talk's purpose is served.",
    answer={
        "way": "the loops interchanged", "addition": "legal",
        "stencil": "illegal", "apart": "10 numbers",
    },
    slips=(
        slip("the same order",
             "what are i and j for t = 0, 1, 2? Compare with the two loops.", way="the same order"),
        slip("backwards", "t % 10 and t // 10 both rise; which of them turns faster?",
             way="the inner loop backwards"),
        slip("an addition depends", "no iteration of the addition reads what another one writes.",
             addition="illegal"),
        slip("nothing breaks", "the stencil has the distance (1, −1); put it into the order of t.",
             stencil="legal"),
        slip("it is the same, so it is legal", "what are i and j for t = 0, 1, 2? Compare with "
             "the two loops.", ways=[{"way": "the same order", "stencil": "legal"}]),
        slip("neighbours", "from t to t + 1, which index of C changes, and how long is a row?",
             apart="1 number"),
        slip("the talk is right", "what are i and j for t = 0, 1, 2? Compare with the two loops.",
             ways=[{"way": "the same order", "stencil": "legal", "apart": "1 number"}]),
        slip("a row and one more", "from t to t + 1 only one of the two indices changes, most of "
             "the time.", apart="11 numbers"),
    ),
)


# ---- 08-inside -----------------------------------------------------------------------------------
def _rates(
    latency: int, units: int, lanes: int, hertz: float, first: float, *others: float
) -> list[float]:
    """FLOP/s with 1, 2, 3 … vectors of sums; ``first``, ``others``: how fast the clock ran."""
    clocks = (first, *others * 99)
    return [min(sums / latency, units) * 2 * lanes * hertz * clock
            for sums, clock in zip(range(1, latency * units + 4), clocks)]


INSIDE = table(
    "08-inside", "Look inside", 4,
    "A core has some vector units; each begins a multiply-add on a vector in each cycle, and the "
    "result comes `latency` cycles later. `rates` are FLOP/s, measured with 1, 2, 3 … vectors of "
    "sums under way, each right to 2 %. A vector has `lanes` numbers, the core runs at `hertz` "
    "cycles per second. Return whole numbers: (1) the latency in cycles, (2) the number of units, "
    "(3) how many vectors of sums keep all of them busy.",
    "inside(rates, lanes, hertz)", lines=4,
    cases=drawn(4, rates=lambda lanes, hertz, _latency, _units, _clocks:
                    _rates(_latency, _units, lanes, hertz, *_clocks),
                lanes=[8, 4, 16], hertz=lambda rng: rng.randrange(20, 52) * 1e8,
                _latency=range(3, 8), _units=range(1, 5),
                _clocks=lambda rng: [rng.uniform(0.985, 1.015) for _ in range(9)]),
    fixed=cases_of(
        "rates lanes hertz",
        # the gain is 66, and 63 sums are near the top
        (_rates(16, 4, 8, 3e9, 0.985, 1.0, 1.015), 8, 3e9),
        (_rates(5, 4, 1, 4.2e9, 1.015, 0.985, 0.982), 1, 4.2e9),  # the gain is 19
        (_rates(1, 1, 64, 1e9, 1.0, 0.99, 1.01), 64, 1e9),
        (_rates(13, 1, 2, 8e8, 1.01, 0.99, 1.0), 2, 8e8),
        (_rates(3, 8, 16, 5.1e9, 0.99, 1.005, 1.01), 16, 5.1e9),
    ),
    domain={"lanes": at_least(1)},
    example=([8e9, 16e9, 24e9, 32e9, 40e9, 48e9, 56e9, 64e9, 64e9], 16, 1e9),
    insight="Latency times rate is what must be under way: it is the law of lesson 06 again, for "
            "sums in place of lines. It says how large a tile in the registers has to be.",
    answer={
        "_whole": lambda: round,
        "_vector": lambda lanes, hertz: 2 * lanes * hertz,  # FLOP/s of one unit
        "_gain": lambda rates: max(rates) / rates[0],
        "latency": lambda rates, _vector, _whole: _whole(_vector / rates[0]),
        "units": lambda rates, _vector, _whole: _whole(max(rates) / _vector),
        "sums": lambda latency, units: latency * units,
    },
    slips=(
        slip("a multiply-add as one FLOP", "a multiply-add is two FLOPs.",
             _vector=lambda lanes, hertz: lanes * hertz),
        slip("lanes forgotten", "a vector holds `lanes` numbers.", lanes=1),
        slip("the latency is enough", "that many keep one unit busy.",
             sums=lambda latency: latency),
        slip("the highest of the rates", "at the top the rates differ by the clock's 2 % alone; "
             "which one is highest is chance.", sums=lambda rates: rates.index(max(rates)) + 1),
        slip("lanes for sums", "vectors of sums are asked, not the numbers in them.",
             sums=[lambda latency, units, lanes: latency * units * lanes,
                   lambda lanes, _gain: lanes * round(_gain)]),
        slip("a sum for a product",
             "each unit begins one in every cycle, and each is under way for `latency` cycles: how "
             "many is that together?", sums=lambda latency, units: latency + units),
        slip("rounded down", "a rate is right to 2 % only: 3.99 cycles are 4. Take the nearest "
             "whole number.", _whole=lambda: floor),
        slip("rounded up", "a rate is right to 2 % only: 4.01 cycles are 4. Take the nearest whole "
             "number.", _whole=lambda: ceil),
        slip("the gain for the sums",
             "both rates are right to 2 % only, so their ratio may be 7.98 or 8.02. Multiply the "
             "latency by the units.",
             sums=[lambda _gain: floor(_gain), lambda _gain: ceil(_gain),
                   lambda _gain: round(_gain)]),
        slip("all that were tried", "the list goes on after the top is reached.",
             sums=lambda rates: len(rates)),
    ),
)

EXERCISES = (INNERMOST, LEGAL, PAIR, SKEW, SAME, VECTORISE, INSIDE, STENCIL)
