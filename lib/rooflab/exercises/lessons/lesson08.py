"""Exercises of lesson 08, legal loops: which order, which counterexample, which repair.

The wrong answers are slips of public teaching material: two loops coalesced into one that runs
them interchanged, tiles that nobody asked whether they are legal.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import chain, count, cycle, product
from math import ceil, floor

from rooflab.exercises.exercise import Case, Exercise, Misconception, cases_of
from rooflab.exercises.lessons.schedules import STENCIL, VECTORISE

Distance = Sequence[int]
Pair = tuple[tuple[int, int], tuple[int, int]]


# ---- 08-innermost --------------------------------------------------------------------------------
SHAPES = (  # operands of products, of sums over channels in two layouts, of a product of three
    ("ik", "kj", "ij"), ("ki", "kj", "ij"), ("ik", "jk", "ij"), ("ki", "kj", "ji"),
    ("nchw", "c", "nhw"), ("nhwc", "c", "nhw"), ("ab", "bc", "acd", "cad"),
    ("a", "ab", "abc", "bca"),  # the best loop goes a whole line in one of them
)  # fmt: skip


def _layouts(rng: random.Random) -> list[Case]:
    """Products, and sums over channels, with their loops under other names."""
    drawn: list[Case] = []
    for shape in SHAPES:
        letters = sorted(set("".join(shape)))
        names = dict(zip(letters, rng.sample("fgimpqrtuvxyz", len(letters))))
        operands = ["".join(names[one] for one in text) for text in shape]
        drawn.append({"operands": operands, "itemsize": rng.choice((2, 4, 8)),
                      "line": rng.choice((64, 128))})  # fmt: skip
    return drawn


def _met(operands: Sequence[str]) -> list[str]:
    """The loops in the order in which they are met."""
    return list(dict.fromkeys("".join(operands)))


def _backwards(operands: Sequence[str]) -> list[str]:
    return sorted(_met(operands), reverse=True)


def _last_met(operands: Sequence[str]) -> list[str]:
    return _met(operands)[::-1]


ORDERS = (_met, _backwards, _last_met)  # others than the alphabet's, in which ties are decided


def _fewest(
    cost: Callable[[str, str, float], float], largest: bool = False,
    order: Callable[[Sequence[str]], list[str]] = lambda operands: sorted(_met(operands)),
) -> Callable[..., tuple[str, float]]:  # fmt: skip
    """The loop whose turn costs least, or most, if an array of ``text`` costs ``cost`` each.

    Of several alike it is the first one in ``order``.
    """

    def found(operands: Sequence[str], itemsize: int, line: int) -> tuple[str, float]:
        share = itemsize / line
        totals = {
            loop: sum(cost(text, loop, share) for text in operands) for loop in order(operands)
        }
        best = (max if largest else min)(totals, key=totals.__getitem__)
        return best, totals[best]

    return found


def _lines(text: str, loop: str, share: float) -> float:
    if loop not in text:
        return 0.0
    return share if text[-1] == loop else 1.0


def _last_of_output(operands: Sequence[str], itemsize: int, line: int) -> tuple[str, float]:
    """The last index of the array that is written, and what it costs."""
    loop = operands[-1][-1]
    return loop, sum(_lines(text, loop, itemsize / line) for text in operands)


def _dearer(text: str, loop: str, share: float) -> float:
    """The lines, with the share upside down."""
    return 1 / share if text[-1] == loop else float(loop in text)


_right = _fewest(_lines)
INNERMOST_CASES = cases_of(
    "operands itemsize line",
    (["ai", "bi", "cj"], 4, 64),  # two loops of neighbours
    (["xy", "xy", "xy"], 8, 128),  # arrays with the same brackets
    (["pk", "qk", "pqk", "qpk", "iqk"], 8, 32),  # a whole line is less than five shares
    (["vuw", "wv"], 1, 32),
    (["tz", "tsz", "st", "tsr", "rt"], 2, 256),
)  # fmt: skip
INNERMOST = Exercise(
    "08-innermost", "The loop for the inside", 3,
    "`operands` is a list of texts such as [\"ik\", \"kj\", \"ij\"], the loops in each array's "
    "brackets; the last index runs through neighbours. Per turn of an innermost loop an array "
    "costs no line if the loop is not among its indices, itemsize/line if it is the last one, and "
    "else a whole line. Return (1) the loop whose turn fetches the fewest lines, (2) how many.",
    "innermost(operands, itemsize, line)", _right, cases=_layouts,
    fixed=INNERMOST_CASES, lines=5,
    returns=("loop", "lines"),
    insight="The innermost loop decides what a line that is fetched is good for. Change how an "
            "array is stored, and another loop is the best one.",
    misconceptions=(
        Misconception("the first index has the neighbours",
                      _fewest(lambda t, x, s: 0.0 if x not in t else s if t[0] == x else 1.0),
                      "the arrays are stored so that the last index runs through neighbours."),
        Misconception("an array without the loop costs a line",
                      _fewest(lambda t, x, s: s if t[-1] == x else 1.0),
                      "if the loop is not among its indices, the array stays where it is."),
        Misconception("neighbours are free",
                      _fewest(lambda t, x, s: float(x in t and t[-1] != x)),
                      "neighbours share a line, so each turn takes its share of one."),
        Misconception("numbers for lines",
                      _fewest(lambda t, x, s: float(x in t)),
                      "a line that is fetched holds several neighbours."),
        Misconception("the dearest loop", _fewest(_lines, largest=True),
                      "the loop is asked that fetches the fewest lines.",
                      variants=tuple(_fewest(_lines, True, order=one) for one in ORDERS)),
        Misconception("the line's share upside down",
                      lambda o, s, b: (_right(o, s, b)[0], sum(
                          _lines(text, _right(o, s, b)[0], b / s) for text in o)),
                      "a line holds line / itemsize numbers; how much of a line is one of them?",
                      variants=(_fewest(_dearer),
                                *(_fewest(_dearer, order=one) for one in ORDERS))),
        Misconception("one over the number's bytes",
                      lambda o, s, b: _fewest(lambda t, x, _: 1 / s if t[-1] == x else
                                              float(x in t))(o, s, b),
                      "a line has `line` bytes, and one number takes `itemsize` of them.",
                      variants=(lambda o, s, b: (_right(o, s, b)[0], sum(
                          _lines(text, _right(o, s, b)[0], 1 / s) for text in o)),)),
        Misconception("bytes",
                      lambda o, s, b: (_right(o, s, b)[0], _right(o, s, b)[1] * b),
                      "lines are asked, not bytes."),
        Misconception("the last index of the last array",
                      _last_of_output,
                      "every loop is a candidate: what does each of them cost in all arrays?",
                      variants=(lambda o, s, b: (o[-1][-1], _right(o, s, b)[1]),)),
        Misconception("the written array left out",
                      lambda o, s, b: _right(o[:-1], s, b),
                      "the line of an array that is written is fetched, too."),
        Misconception("the written array twice",
                      lambda o, s, b: _right([*o, o[-1]], s, b),
                      "a line is fetched once, whether it is read, written or both."),
        Misconception("whole lines",
                      lambda o, s, b: (_right(o, s, b)[0], ceil(_right(o, s, b)[1])),
                      "a share of a line need not be a whole number: over many turns it adds up."),
        Misconception("sizes that never change",
                      lambda o, s, b: _right(o, 4, b),
                      "`itemsize` and `line` differ from case to case: are both in your answer?",
                      variants=(lambda o, s, b: _right(o, s, 64),
                                lambda o, s, b: _right(o, 4, 64))),
        Misconception("the mean of the arrays",
                      lambda o, s, b: (_right(o, s, b)[0], _right(o, s, b)[1] / len(o)),
                      "the lines of all arrays together are asked."),
    ),
)  # fmt: skip


# ---- 08-legal ------------------------------------------------------------------------------------
def _nests(rng: random.Random) -> list[Case]:
    """Distances, legal as they are, and an order."""
    orders = ([1, 0], [2, 0, 1], [1, 2, 0], [0, 2, 1], [2, 1, 0], [3, 1, 0, 2], [3, 2, 1, 0])
    drawn: list[Case] = []
    for order in orders:
        every = [[*one] for one in product((-1, 0, 1, 2), repeat=len(order)) if any(one)]
        legal = [one for one in every if one > [0] * len(order)]
        drawn.append({"distances": rng.sample(legal, min(9, len(legal))), "order": order})
    return drawn


def _moved(one: Distance, order: Sequence[int]) -> list[int]:
    return [one[loop] for loop in order]


def _breaking(test: Callable[[list[int]], bool]) -> Callable[..., list[Distance]]:
    """Distances that fail ``test`` in the new order."""
    return lambda distances, order: [one for one in distances if not test(_moved(one, order))]


def _inverse(order: Sequence[int]) -> list[int]:
    return [order.index(loop) for loop in range(len(order))]


_broken = _breaking(lambda moved: moved > [0] * len(moved))
LEGAL_CASES = cases_of(
    "distances order",
    ([[1, 2], [0, 3], [3, -40]], [0, 1]),  # nothing breaks
    ([[1, -12], [0, 5], [1, -12], [3, 40], [2, 0]], [1, 0]),  # one of them twice
    ([[0, 0, 0, 1, -1], [0, 0, 2, 0, 0], [0, 1, 0, 0, -3], [0, 1, -25, 0, 0], [1, -1, 0, 0, 0],
      [1, 0, 0, 4, 2]], [4, 3, 2, 1, 0]),
    ([[2, -1, 0, 7], [0, 15, -150, 1], [0, 0, 3, -1], [1, 0, -2, 0], [1, -1, 0, -1]], [2, 3, 1, 0]),
)  # fmt: skip

LEGAL = Exercise(
    "08-legal", "What an order breaks", 3,
    "`distances` is a list of distances, each a list with a number for each loop, the outermost "
    "first. `order[0]` is the number of the loop that is outermost in the new order, from 0 on. "
    "Return the list of the distances that the new order breaks, unchanged and in the order in "
    "which they came.",
    "broken(distances, order)", _broken, cases=_nests, fixed=LEGAL_CASES, lines=1,
    insight="One line decides for all iterations at once, because a dependence looks the same "
            "everywhere. Compilers test it in this way where the subscripts allow it.",
    misconceptions=(
        Misconception("any negative number",
                      _breaking(lambda moved: min(moved) >= 0),
                      "a number further in may be negative, if one further out is positive."),
        Misconception("the outermost alone",
                      _breaking(lambda moved: moved[0] >= 0),
                      "where the outermost number is 0, the next one decides."),
        Misconception("the two outermost alone",
                      _breaking(lambda moved: moved[:2] >= [0, 0]),
                      "where the first two numbers are 0, the third decides, and so on."),
        Misconception("the outermost must be positive",
                      _breaking(lambda moved: moved[0] > 0),
                      "a distance may begin with zeros."),
        Misconception("the sum",
                      _breaking(lambda moved: sum(moved) > 0),
                      "loops do not add up: the outer one decides before the inner one is asked."),
        Misconception("the innermost",
                      _breaking(lambda moved: moved[::-1] > [0] * len(moved)),
                      "the outermost loop comes first in a distance, and decides first."),
        Misconception("order read backwards",
                      lambda d, o: _broken(d, _inverse(o)),
                      "order[0] is the loop that is outermost now, not the new place of loop 0."),
        Misconception("the original order",
                      lambda d, o: _broken(d, sorted(o)),
                      "in the original order all of them are kept; put them into the new one."),
        Misconception("smaller than before",
                      lambda d, o: [one for one in d if _moved(one, o) < [*one]],
                      "do not compare with the original order: does it begin with a positive "
                      "number, after any zeros?"),
        Misconception("what is kept",
                      lambda d, o: [one for one in d if one not in _broken(d, o)],
                      "the distances that are broken are asked, not those that are kept."),
        Misconception("distances in the new order",
                      lambda d, o: [_moved(one, o) for one in _broken(d, o)],
                      "return them as they were given."),
        Misconception("whatever changes",
                      lambda d, o: [one for one in d if _moved(one, o) != [*one]],
                      "a distance may change and still begin with a positive number."),
        Misconception("numbers of the distances",
                      lambda d, o: [i for i, one in enumerate(d) if one in _broken(d, o)],
                      "the distances themselves are asked, not their places in the list."),
        Misconception("yes or no for each",
                      lambda d, o: [one in _broken(d, o) for one in d],
                      "the distances that are broken are asked, as a list.",
                      variants=(lambda d, o: len(_broken(d, o)),)),
        Misconception("another order of the list",
                      lambda d, o: sorted(_broken(d, o)),
                      "they are wanted in the order in which they came.",
                      variants=(lambda d, o: _broken(d, o)[::-1],)),
    ),
)  # fmt: skip


# ---- 08-pair -------------------------------------------------------------------------------------
def _grids(rng: random.Random) -> list[Case]:
    """Grids in tiles that break a dependence, with edges that do not divide."""
    drawn: list[Case] = []
    for back, ahead, tile in ((1, 1, 4), (2, 3, 5), (3, 2, 8), (1, 6, 4)):
        drawn.append({
            "rows": rng.randrange(2 * tile, 4 * tile), "columns": rng.randrange(3 * tile, 5 * tile),
            "back": back, "ahead": ahead, "tile": tile + rng.randrange(2),
        })  # fmt: skip
    return drawn


def _readers(rows: int, columns: int, back: int, ahead: int) -> Iterator[Pair]:
    """Iterations that read what another one wrote, and that one, in the original order."""
    for i, j in product(range(rows), range(columns)):
        if i - back >= 0 and 0 <= j + ahead < columns:
            yield (i, j), (i - back, j + ahead)


def _tile_of(tile: int) -> Callable[[tuple[int, int]], tuple[int, ...]]:
    return lambda at: (at[0] // tile, at[1] // tile, *at)


def _early(rows: int, columns: int, back: int, ahead: int, tile: int) -> Iterator[Pair]:
    when = _tile_of(tile)
    pairs = _readers(rows, columns, back, ahead)
    return ((one, other) for one, other in pairs if when(one) < when(other))


def _pair(rows: int, columns: int, back: int, ahead: int, tile: int) -> Pair:
    return next(_early(rows, columns, back, ahead, tile))


def _shifted(down: int, across: int) -> Callable[..., Pair]:
    def found(rows: int, columns: int, back: int, ahead: int, tile: int) -> Pair:
        (i, j), (k, m) = _pair(rows, columns, back, ahead, tile)
        return (i + down, j + across), (k + down, m + across)

    return found


def _partner(at: tuple[int, int], down: int, across: int) -> Pair:
    return at, (at[0] + down, at[1] + across)


PAIR_CASES = cases_of(
    "rows columns back ahead tile",
    (2, 9, 1, 8, 2),  # further ahead than a tile is wide
    (5, 7, 2, 3, 3),  # as far
    (9, 10, 8, 1, 9),  # the only pair
    (40, 17, 6, 5, 12),
    (5, 450, 3, 130, 64),
    (7, 140, 5, 2, 128),
)

PAIR = Exercise(
    "08-pair", "Convict a tile", 3,
    "A nest runs i from 0 to rows − 1 and, inside it, j from 0 to columns − 1. Iteration (i, j) "
    "reads what iteration (i − back, j + ahead) wrote, if there is one; both are 1 or more, and "
    "back is smaller than tile. Now it runs in tiles of tile × tile, row by row of tiles, and "
    "within a tile as before. Return the first iteration in the original order that reads too "
    "early, and the one that it should have waited for.",
    "pair(rows, columns, back, ahead, tile)", _pair, cases=_grids,
    fixed=PAIR_CASES, lines=6,
    returns=("reads too early", "should have run"),
    insight="A single pair is enough to prove that an order is wrong. To prove that one is legal "
            "takes all pairs, or an argument about distances.",
    misconceptions=(
        Misconception("the two swapped", lambda r, c, b, a, t: _pair(r, c, b, a, t)[::-1],
                      "the iteration that reads comes first, then the one that it waits for."),
        Misconception("the first reader of all",
                      lambda r, c, b, a, t: next(_readers(r, c, b, a)),
                      "these two lie in one tile, and within a tile the order is as before; that "
                      "pair would be broken by an interchange.",
                      variants=(lambda r, c, b, a, t: ((0, a), (b, 0)),)),
        Misconception("the last one", lambda r, c, b, a, t: [*_early(r, c, b, a, t)][-1],
                      "the first such iteration in the original order is asked."),
        Misconception("one column too far", _shifted(0, 1),
                      "there is an earlier one; a tile begins at a multiple of its side."),
        Misconception("one column too near", _shifted(0, -1),
                      "the iteration that it waits for is in the same tile still; count from 0."),
        Misconception("rows counted from 1", _shifted(1, 0),
                      "i starts at 0, so the first row that reads anything is row `back`."),
        Misconception("counted from 1", _shifted(1, 1), "i and j start at 0."),
        Misconception("another neighbour",
                      lambda r, c, b, a, t: _partner(_pair(r, c, b, a, t)[0], b, -a),
                      "the second one was to run first: it lies `back` rows further up and `ahead` "
                      "columns to the right.",
                      variants=(
                          lambda r, c, b, a, t: _partner(_pair(r, c, b, a, t)[0], -b, -a),
                          lambda r, c, b, a, t: _partner(_pair(r, c, b, a, t)[0], b, a),
                          lambda r, c, b, a, t: _partner(_pair(r, c, b, a, t)[0], -a, b))),
        Misconception("the distance for the second",
                      lambda r, c, b, a, t: (_pair(r, c, b, a, t)[0], (b, -a)),
                      "two iterations are asked; a distance is the difference of two.",
                      variants=(lambda r, c, b, a, t: (_pair(r, c, b, a, t)[0], (b, a)),
                                lambda r, c, b, a, t: (_pair(r, c, b, a, t)[0], (-b, a)))),
        Misconception("the last column of the tile",
                      lambda r, c, b, a, t: _partner((b, t - 1), -b, a),
                      "it does read too early. Is there no column before it that does?"),
        Misconception("a row that reads nothing",
                      lambda r, c, b, a, t: _partner((0, max(0, t - a)), -b, a),
                      "row −back is not in the nest, so row 0 waits for nobody.",
                      variants=(lambda r, c, b, a, t: _partner((0, t - 1), -b, a),)),
        Misconception("the second row of tiles",
                      lambda r, c, b, a, t: _partner((t, max(0, t - a)), -b, a),
                      "what lies in another row of tiles, further up, has run. Look inside a row "
                      "of tiles."),
    ),
)  # fmt: skip


# ---- 08-skew -------------------------------------------------------------------------------------
def _leanings(rng: random.Random) -> list[Case]:
    """Distances of nests of two loops; one needs no skew at all."""
    drawn: list[Case] = [{"distances": [[1, rng.randrange(9)], [2, 5], [0, 1]]}]
    for steep in (3, 4, 5, 7):
        turns = [rng.randrange(1, 9) for _ in range(6)]
        drawn.append({"distances": [[d, -rng.randrange(steep * d)] for d in turns] + [[0, steep]]})
    return drawn


def _upward(e: int, d: int) -> int:
    return -(e // d)  # rounded up: the least f with e + f * d >= 0


def _least(distances: Sequence[Distance]) -> int:
    return max(0, *(_upward(e, d) for d, e in distances if d > 0))


def _furthest_back(distances: Sequence[Distance]) -> tuple[int, int]:
    """e and d of the distance with the most negative e."""
    return min((e, d) for d, e in distances if d > 0)


SKEW_CASES = cases_of(
    "distances",
    ([[1, -720], [2, -7]],),
    ([[7, -150], [12, -240], [1, -3]],),
    ([[5, -9], [4, -20], [0, 1]],),  # one becomes 0
    ([[1, 1], [2, 5], [0, 1]],),
    ([[30, -31], [1, -1], [0, 900]],),
    ([[40, -3]],),
)

SKEW = Exercise(
    "08-skew", "How much it has to lean", 3,
    "Each dependence of a nest of two loops has a distance (d, e). A skew by f makes it "
    "(d, e + f·d). Any tile is legal if no number of any distance is negative. `distances` is a "
    "list of pairs, legal in the original order. Return the least whole f, 0 or more, with which "
    "none is negative.",
    "least_skew(distances)", _least, cases=_leanings, fixed=SKEW_CASES, lines=4,
    insight="A skew alone changes nothing in what runs when. It makes room for tiles, and the "
            "tiles then keep a part of the data near for several steps.",
    misconceptions=(
        Misconception("how far it goes back",
                      lambda d: max(0, *(-e for _, e in d)),
                      "a skew by f adds f·d, not f: a distance of more rows gains more.",
                      variants=(lambda d: max(-e for _, e in d),
                                lambda d: max(abs(e) for _, e in d))),
        Misconception("rounded down",
                      lambda d: max(0, *(-e // a for a, e in d if a > 0)),
                      "with that one, a number is still negative; f is whole, so round up.",
                      variants=(
                          lambda d: max(0, *(int(-e / a) for a, e in d if a > 0)),
                          lambda d: max(0, *(round(-e / a) for a, e in d if a > 0)))),
        Misconception("not rounded", lambda d: max(0, *(-e / a for a, e in d if a > 0)),
                      "f is a whole number. Which way does it have to be rounded?"),
        Misconception("strictly positive",
                      lambda d: max(0, *(floor(-e / a) + 1 for a, e in d if a > 0)),
                      "zero is not negative: a number may become 0."),
        Misconception("the most negative one",
                      lambda d: max(0, _upward(*_furthest_back(d))),
                      "how much a distance needs depends on both of its numbers, so the most "
                      "negative one need not decide."),
        Misconception("at least one", lambda d: max(1, _least(d)),
                      "where no number is negative, the least f is 0."),
        Misconception("the wrong sign", lambda d: -_least(d),
                      "f · d is added, and the numbers have to grow."),
        Misconception("one too many", lambda d: _least(d) + 1,
                      "zero is not negative: a smaller one is enough."),
        Misconception("the first distance",
                      lambda d: max(0, *(_upward(e, a) for a, e in d[:1] if a > 0), 0),
                      "every distance must be without a negative number, not the first alone."),
        Misconception("the smallest of them",
                      lambda d: max(0, min(_upward(e, a) for a, e in d if a > 0)),
                      "the distance that needs most decides.",
                      variants=(lambda d: min((_upward(e, a) for a, e in d if e < 0), default=0),)),
        Misconception("a sum over the distances",
                      lambda d: sum(max(0, _upward(e, a)) for a, e in d if a > 0),
                      "one skew serves all distances at once."),
        Misconception("the other way",
                      lambda d: max(0, *(_upward(-e, a) for a, e in d if a > 0)),
                      "the negative numbers have to go; a positive one does no harm."),
        Misconception("less than none", lambda d: max(_upward(e, a) for a, e in d if a > 0),
                      "where no number is negative, the least f is 0."),
    ),
)  # fmt: skip


# ---- 08-claim-same -------------------------------------------------------------------------------
WAYS = ("the same order", "the loops interchanged", "the inner loop backwards")
FATES = ("legal", "illegal")
APART = ("1 number", "10 numbers", "11 numbers")
_TRUE = (WAYS[1], FATES[0], FATES[1], APART[1])


def _said(way: str = _TRUE[0], add: str = _TRUE[1], halve: str = _TRUE[2], apart: str = _TRUE[3]):
    return lambda: (way, add, halve, apart)


SAME = Exercise(
    "08-claim-same", "Claim court: one loop for two", 3,
    "A talk puts one loop over t, with S(t % 10, t // 10), in place of two loops of 10 around "
    "S(i, j), and says that it is the same and that neighbours in t touch neighbours in memory. "
    "What does it do, is it legal for C[i, j] = A[i, j] + B[i, j] and for "
    "A[i, j] = A[i-1, j+1] * 0.5, and how far apart in memory are t and t + 1?",
    '("…", "…", "…", "…")', lambda: _TRUE, kind="value",
    returns=("way", "addition", "stencil", "apart"),
    insight="To keep the order, i has to be t // 10 and j has to be t % 10. Then t and t + 1 are "
            "neighbours in memory, and the talk's purpose is served.",
    misconceptions=(
        Misconception("the same order", _said(way=WAYS[0]),
                      "what are i and j for t = 0, 1, 2? Compare with the two loops."),
        Misconception("backwards", _said(way=WAYS[2]),
                      "t % 10 and t // 10 both rise; which of them turns faster?"),
        Misconception("an addition depends", _said(add=FATES[1]),
                      "no iteration of the addition reads what another one writes."),
        Misconception("nothing breaks", _said(halve=FATES[0]),
                      "the stencil has the distance (1, −1); put it into the order of t."),
        Misconception("it is the same, so it is legal", _said(way=WAYS[0], halve=FATES[0]),
                      "what are i and j for t = 0, 1, 2? Compare with the two loops."),
        Misconception("neighbours", _said(apart=APART[0]),
                      "from t to t + 1, which index of C changes, and how long is a row?"),
        Misconception("the talk is right", _said(WAYS[0], FATES[0], FATES[0], APART[0]),
                      "what are i and j for t = 0, 1, 2? Compare with the two loops."),
        Misconception("a row and one more", _said(apart=APART[2]),
                      "from t to t + 1 only one of the two indices changes, most of the time."),
    ),
)  # fmt: skip


# ---- 08-inside -----------------------------------------------------------------------------------
def _core(latency: int, units: int, lanes: int, hertz: float, clock: Iterator[float]) -> Case:
    """A core of this kind; ``clock``: how fast it ran in each measurement, about 1."""
    rates = [
        min(sums / latency, units) * 2 * lanes * hertz * next(clock)
        for sums in range(1, latency * units + 4)
    ]
    return {"rates": rates, "lanes": lanes, "hertz": hertz}


def _cores(rng: random.Random) -> list[Case]:
    """Cores of several kinds, timed with more and more sums under way.

    Two of the clocks are a little slow, two a little fast, so that no way but rounding helps.
    """
    kinds = (4, 2, 8, 0.99), (5, 1, 4, 1.01), (3, 4, 4, 0.99), (6, 2, 16, 1.01)
    return [
        _core(latency, units, lanes, rng.randrange(20, 52) * 1e8,
              (clock * rng.uniform(0.995, 1.005) for _ in count()))
        for latency, units, lanes, clock in kinds
    ]  # fmt: skip


def _clock(first: float, *others: float) -> Iterator[float]:
    return chain([first], cycle(others))


CORES = (
    _core(16, 4, 8, 3e9, _clock(0.985, 1.0, 1.015)),  # the gain is 66, and 63 sums are near the top
    _core(5, 4, 1, 4.2e9, _clock(1.015, 0.985, 0.982)),  # the gain is 19
    _core(1, 1, 64, 1e9, _clock(1.0, 0.99, 1.01)),
    _core(13, 1, 2, 8e8, _clock(1.01, 0.99, 1.0)),
    _core(3, 8, 16, 5.1e9, _clock(0.99, 1.005, 1.01)),
)


def _inside(
    rates: Sequence[float], lanes: int, hertz: float,
    work: int | None = None, cut: Callable[[float], int] = round,
) -> tuple[int, int, int]:  # fmt: skip
    """``work``: FLOPs of a vector's multiply-add, by default 2 for each lane; ``cut``: to whole."""
    vector = (work or 2 * lanes) * hertz
    latency, units = cut(vector / rates[0]), cut(max(rates) / vector)
    return latency, units, latency * units


def _by_gain(
    cut: Callable[[float], int], rates: Sequence[float], lanes: int, hertz: float
) -> tuple[int, int, int]:
    """The sums as the gain from one of them to the top, cut to a whole number."""
    return (*_inside(rates, lanes, hertz)[:2], cut(max(rates) / rates[0]))


def _first_top(rates: Sequence[float]) -> int:
    return rates.index(max(rates)) + 1


def _of_work(work: Callable[[int], int]) -> tuple[Callable[..., tuple[int, int, int]], ...]:
    """Another count of a vector's FLOPs; then the same with sums that are right, or the gain."""

    def wrong(r: Sequence[float], n: int, h: float) -> tuple[int, int, int]:
        return _inside(r, n, h, work(n))

    return (
        wrong,
        lambda r, n, h: (*wrong(r, n, h)[:2], _inside(r, n, h)[2]),
        lambda r, n, h: (*wrong(r, n, h)[:2], round(max(r) / r[0])),
    )


_ONE_FLOP, _NO_LANES = _of_work(lambda lanes: lanes), _of_work(lambda lanes: 2)
INSIDE = Exercise(
    "08-inside", "Look inside", 4,
    "A core has some vector units; each begins a multiply-add on a vector in each cycle, and the "
    "result comes `latency` cycles later. `rates` are FLOP/s, measured with 1, 2, 3 … vectors of "
    "sums under way, each right to 2 %. A vector has `lanes` numbers, the core runs at `hertz` "
    "cycles per second. Return whole numbers: (1) the latency in cycles, (2) the number of units, "
    "(3) how many vectors of sums keep all of them busy.",
    "inside(rates, lanes, hertz)", _inside, cases=_cores, fixed=CORES, lines=4,
    returns=("latency", "units", "sums"),
    insight="Latency times rate is what must be under way: it is the law of lesson 06 again, for "
            "sums in place of lines. It says how large a tile in the registers has to be.",
    misconceptions=(
        Misconception("a multiply-add as one FLOP", _ONE_FLOP[0],
                      "a multiply-add is two FLOPs.", variants=_ONE_FLOP[1:]),
        Misconception("lanes forgotten", _NO_LANES[0],
                      "a vector holds `lanes` numbers.", variants=_NO_LANES[1:]),
        Misconception("the latency is enough",
                      lambda r, n, h: (*_inside(r, n, h)[:2], _inside(r, n, h)[0]),
                      "that many keep one unit busy."),
        Misconception("the highest of the rates",
                      lambda r, n, h: (*_inside(r, n, h)[:2], _first_top(r)),
                      "at the top the rates differ by the clock's 2 % alone; which one is highest "
                      "is chance."),
        Misconception("lanes for sums",
                      lambda r, n, h: (*_inside(r, n, h)[:2], _inside(r, n, h)[2] * n),
                      "vectors of sums are asked, not the numbers in them.",
                      variants=(lambda r, n, h: (*_inside(r, n, h)[:2],
                                                 n * round(max(r) / r[0])),)),
        Misconception("a sum for a product",
                      lambda r, n, h: (*_inside(r, n, h)[:2], sum(_inside(r, n, h)[:2])),
                      "each unit begins one in every cycle, and each is under way for `latency` "
                      "cycles: how many is that together?"),
        Misconception("the gain for the units",
                      lambda r, n, h: (_inside(r, n, h)[0], *_inside(r, n, h)[2:] * 2),
                      "the top is that many times the first rate. How many multiply-adds begin in "
                      "a cycle, at the top?",
                      variants=(lambda r, n, h: (_inside(r, n, h)[0], *[round(max(r) / r[0])] * 2),
                                lambda r, n, h: (_inside(r, n, h)[0], round(max(r) / r[0]),
                                                 _inside(r, n, h)[2]))),
        Misconception("rounded down", partial(_inside, cut=floor),
                      "a rate is right to 2 % only: 3.99 cycles are 4. Take the nearest whole "
                      "number."),
        Misconception("rounded up", partial(_inside, cut=ceil),
                      "a rate is right to 2 % only: 4.01 cycles are 4. Take the nearest whole "
                      "number."),
        Misconception("the gain for the sums", partial(_by_gain, floor),
                      "both rates are right to 2 % only, so their ratio may be 7.98 or 8.02. "
                      "Multiply the latency by the units.",
                      variants=(partial(_by_gain, ceil), partial(_by_gain, round))),
        Misconception("not whole",
                      lambda r, n, h: (2 * n * h / r[0], max(r) / (2 * n * h), max(r) / r[0]),
                      "cycles, units and vectors are whole numbers here."),
        Misconception("all that were tried",
                      lambda r, n, h: (*_inside(r, n, h)[:2], len(r)),
                      "the list goes on after the top is reached."),
        Misconception("one unit", lambda r, n, h: (_inside(r, n, h)[0], 1, _inside(r, n, h)[0]),
                      "how many multiply-adds does the core begin in a cycle, at the top?"),
        Misconception("latency of the whole core",
                      lambda r, n, h: (_inside(r, n, h)[2], *_inside(r, n, h)[1:]),
                      "a sum that is alone uses one unit: its rate tells the latency."),
        Misconception("sums and units swapped",
                      lambda r, n, h: (_inside(r, n, h)[0], *_inside(r, n, h)[:0:-1]),
                      "the second number is how many units the core has."),
        Misconception("cycles at the top",
                      lambda r, n, h: (round(_inside(r, n, h)[0] / _inside(r, n, h)[1]),
                                       *_inside(r, n, h)[1:]),
                      "the latency follows from the rate of one sum alone."),
    ),
)  # fmt: skip

EXERCISES = (INNERMOST, LEGAL, PAIR, SKEW, SAME, VECTORISE, INSIDE, STENCIL)
