"""Exercises of lessons 08 and 09 whose answer is a schedule: lanes, slanted tiles, two caches."""

from __future__ import annotations

from collections.abc import Sequence

from rooflab.exercises.exercise import Case, Exercise, Misconception, Observation
from rooflab.exercises.kinds.schedule import legal, scheduled
from rooflab.exercises.table import drawn
from rooflab.labs.loops.language import tree as trees
from rooflab.labs.loops.nest import Nest

PRODUCT = "C[i,j] += A[i,k]*B[k,j]"
A_NEST = 'a nest, such as nest.split("i", 4)'


def steps(seen: Observation, *names: str) -> list[tuple[int, list]]:
    """The transformations of these names, each as its place in the log and its arguments."""
    return [(at, step[1]) for at, step in enumerate(seen["value"]) if step[0] in names]


def parts(nest: Nest, dim: str) -> list[int]:
    """Turns of the loops that a loop of the nest as written was cut into, outermost first."""
    leaf, around, _ = next(trees.leaves(nest.tree))
    names = set(leaf.index[dim].names())
    return [loop.extent for loop in around if loop.name in names and loop.extent > 1]


# ---- 08-vectorise --------------------------------------------------------------------------------
# B has more rows than L1 has lines, so that a walk down a column misses. C does not fit into L1,
# and its rows are whole lines: no order is saved by chance.
_products = drawn(
    2, extents=lambda rng: {"i": rng.randrange(24, 32), "j": rng.randrange(64, 112, 16),
                            "k": rng.randrange(72, 96, 8)},
    text=PRODUCT, itemsize=4, small={"i": 5, "j": 16, "k": 7}, lanes=8,
    caches=[[{"name": "L1", "capacity": 4096}]],
)


def _vectorised(nest: Nest) -> Nest:
    return nest.reorder("i", "k", "j").split("j", 8).vectorize("ji")


def _half_lines(nest: Nest) -> Nest:
    return nest.split("j", 8).reorder("i", "jo", "k", "ji").vectorize("ji")


def _row_by_row(nest: Nest) -> Nest:
    return nest.split("i", 4).reorder("k", "io", "j", "ii").vectorize("ii")


VECTORISE = Exercise(
    "08-vectorise", "Eight lanes", 4,
    "The nest `C[i,j] += A[i,k]*B[k,j]` on fp32 runs on a core whose vectors have 8 lanes. Return "
    "a legal schedule whose innermost loop becomes vector instructions of 8 lanes, or of 16, 24 or "
    "32, which are cut into eights. L1 has 4 KiB in lines of 64 bytes. Below it the schedule may "
    "move at most 1.5 times as many bytes as ours.",
    "vectorised(nest)", _vectorised, cases=_products, kind="schedule", par=1.5, lines=1,
    form=A_NEST,
    insight="Lanes want neighbours. The loop whose turns are neighbours in memory is the one that "
            "also uses a whole cache line, so one order serves both.",
    misconceptions=(
        Misconception("the sum as a vector",
                      lambda nest: nest.split("k", 8).vectorize("ki"),
                      "the turns of this loop all add to the same element of C; which loop's turns "
                      "write different elements?",
                      shows=lambda case, seen: "k" in _in_lanes(case, seen),
                      variants=(lambda nest: nest.vectorize("k"),
                                lambda nest: nest.split("k", 8).reorder("i", "j", "ko", "ki")
                                .vectorize("ki"))),
        Misconception("the rows as lanes",
                      lambda nest: nest.split("i", 4).reorder("io", "j", "k", "ii").vectorize("ii"),
                      "two rows of C are far apart in memory. The lanes of a vector are loaded as "
                      "neighbours.",
                      shows=lambda case, seen: _in_lanes(case, seen) == ["i"],
                      variants=(_row_by_row,
                                lambda nest: nest.reorder("j", "k", "i").vectorize("i"))),
        Misconception("the chunks as lanes",
                      lambda nest: nest.reorder("i", "k", "j").split("j", 8).vectorize("jo"),
                      "of the two loops that a split makes, which one runs over neighbours?",
                      shows=lambda case, seen: _marked(case, seen).endswith("o"),
                      variants=(lambda nest: nest.split("j", 8).vectorize("jo"),)),
        Misconception("no vector", lambda nest: nest.interchange("j", "k"),
                      "the order makes vectors possible. Nothing says yet that there shall be any.",
                      variants=(lambda nest: nest, lambda nest: nest.tile({"i": 4, "k": 8}),
                                lambda nest: nest.reorder("i", "k", "j").split("j", 8))),
        Misconception("vectorised where it stands",
                      lambda nest: nest.split("j", 8).vectorize("ji"),
                      "another loop still runs inside the vector loop. Is there an order in which "
                      "nothing does?",
                      variants=(lambda nest: nest.vectorize("j"),
                                lambda nest: nest.split("j", 8).reorder("i", "k", "ji", "jo")
                                .vectorize("ji"))),
        Misconception("a whole row as one vector",
                      lambda nest: nest.reorder("i", "k", "j").vectorize("j"),
                      "a vector register has 8 lanes; a row is longer than that.",
                      shows=lambda case, seen: _lanes(case, seen) > 32),
        Misconception("too few lanes",
                      lambda nest: nest.reorder("i", "k", "j").split("j", 4).vectorize("ji"),
                      "how many lanes has a vector of this core?",
                      shows=lambda case, seen: 0 < _lanes(case, seen) < 8),
        Misconception("a register and a half",
                      lambda nest: nest.reorder("i", "k", "j").split("j", 12).vectorize("ji"),
                      "what is more than 8 and no multiple of it leaves lanes empty.",
                      shows=lambda case, seen: 8 < _lanes(case, seen) <= 32
                      and _lanes(case, seen) % 8 > 0),
        Misconception("half of each line", _half_lines,
                      "eight fp32 numbers are half a cache line. When is the other half used: "
                      "while the line is still there?",
                      variants=(lambda nest: nest.split("j", 8).reorder("jo", "i", "k", "ji")
                                .vectorize("ji"),)),
        Misconception("the sum travels",
                      lambda nest: nest.split("j", 8).reorder("k", "i", "jo", "ji")
                      .vectorize("ji"),
                      "with k outermost the whole of C comes and goes in each of its turns.",
                      variants=(lambda nest: nest.split("j", 8).reorder("k", "jo", "i", "ji")
                                .vectorize("ji"),)),
    ),
)


def _marked(case: Case, seen: Observation) -> str:
    """The name of the vector loop, "" for none."""
    loops = trees.loops(scheduled(case, seen).tree)
    return next((loop.name for loop, _ in loops if loop.kind == "vectorize"), "")


def _in_lanes(case: Case, seen: Observation) -> list[str]:
    """The loops of the nest as written that run in the vector loop's lanes."""
    leaf, _, _ = next(trees.leaves(scheduled(case, seen).tree))
    name = _marked(case, seen)
    return [dim for dim, value in leaf.index.items() if name in value.names()]


def _lanes(case: Case, seen: Observation) -> int:
    loops = trees.loops(scheduled(case, seen).tree)
    return next((loop.extent for loop, _ in loops if loop.kind == "vectorize"), 0)


# ---- 08-stencil-tiles ----------------------------------------------------------------------------
# The row of cells does not fit into L1, so that each sweep fetches it again.
_stencils = drawn(
    2, extents=lambda rng: {"t": rng.randrange(150, 190), "x": [1, rng.randrange(450, 600)]},
    itemsize=4, text=lambda _weight: f"A[x] = A[x-1]*{_weight} + A[x]*0.5 + A[x+2]*{_weight}",
    small={"t": 12, "x": [1, 60]}, caches=[[{"name": "L1", "capacity": 1024}]],
    _weight=[0.25, 0.0625],
)


def _skewed_tiles(nest: Nest) -> Nest:
    return nest.skew("x", "t", 2).tile({"t": 8, "x": 64})


def _slant(case: Case, seen: Observation) -> int:
    """How much further right a sweep runs than the one before, 0 if x is not skewed by t."""
    return sum(args[2] for _, args in steps(seen, "skew") if args[:2] == ["x", "t"])


def _cuts_first(case: Case, seen: Observation) -> bool:
    cut, slanted = steps(seen, "split"), steps(seen, "skew")
    return bool(cut and slanted) and cut[0][0] < slanted[0][0] and not legal(case, seen)


def _inner(nest: Nest, dim: str) -> int:
    """Turns of the innermost part of a loop that was cut, 0 for one that was not."""
    cut = parts(nest, dim)
    return cut[-1] if len(cut) > 1 else 0


def _as_written(case: Case, seen: Observation) -> bool:
    """Whether the iterations run in the order in which they were written, on slanted axes or not.

    That is so if no loop was moved, or if only loops of one axis were.
    """
    nest = scheduled(case, seen)
    _, around, _ = next(trees.leaves(nest.tree))
    first = [loop.name[0] for loop in around if loop.extent > 1]
    return legal(case, seen) and first == sorted(first)


def _too_wide(case: Case, seen: Observation) -> bool:
    """Whether what one tile touches is more than L1 holds."""
    nest, room = scheduled(case, seen), case["caches"][0]["capacity"]
    return legal(case, seen) and 4 * parts(nest, "x")[-1] > room // 2


STENCIL = Exercise(
    "08-stencil-tiles", "Tiles on a slant", 4,
    "Each sweep `t` updates a row of fp32 cells in place, from its left and right neighbours. The "
    "row does not fit into L1, which has 1 KiB in lines of 64 bytes, so every sweep fetches it "
    "again. Return a legal schedule with tiles that do several sweeps while their cells are in L1. "
    "Below L1 it may move at most twice as many bytes as ours.",
    "slanted(nest)", _skewed_tiles, cases=_stencils, kind="schedule", par=2.0, lines=1,
    form=A_NEST,
    insight="A dependence that points back forbids tiles, until the axes are bent so that it "
            "points forward. Stencil codes and wavefront kernels do that.",
    misconceptions=(
        Misconception("tiles at once", lambda nest: nest.tile({"t": 8, "x": 64}),
                      "look at the two iterations: a tile would need cells that the next tile has "
                      "not updated yet. Which way do these dependences point?",
                      shows=lambda case, seen: bool(steps(seen, "split"))
                      and not steps(seen, "skew") and not legal(case, seen),
                      variants=(lambda nest: nest.split("x", 64).reorder("xo", "t", "xi"),
                                lambda nest: nest.tile({"x": 32, "t": 4}))),
        Misconception("interchanged", lambda nest: nest.interchange("t", "x"),
                      "a cell would do all its sweeps before its right neighbours have done one.",
                      shows=lambda case, seen: not steps(seen, "skew", "split")
                      and not legal(case, seen),
                      variants=(lambda nest: nest.reorder("x", "t"),)),
        Misconception("tiles before the slant",
                      lambda nest: nest.tile({"t": 8, "x": 64}).skew("xi", "ti", 2),
                      "a slant inside the tiles leaves the tiles themselves as they were. What "
                      "must come first?",
                      shows=_cuts_first,
                      variants=(lambda nest: nest.tile({"t": 8, "x": 64}).skew("xo", "to", 2),)),
        Misconception("slanted the wrong way",
                      lambda nest: nest.skew("x", "t", -2).tile({"t": 8, "x": 64}),
                      "this slant makes the dependences point back even further.",
                      shows=lambda case, seen: _slant(case, seen) < 0 and not legal(case, seen),
                      variants=(lambda nest: nest.skew("x", "t", -1).interchange("t", "x"),)),
        Misconception("too little slant",
                      lambda nest: nest.skew("x", "t", 1).tile({"t": 8, "x": 64}),
                      "how far to the right does a cell read? A dependence still points back.",
                      shows=lambda case, seen: _slant(case, seen) == 1 and not legal(case, seen),
                      variants=(lambda nest: nest.skew("x", "t").tile({"x": 32, "t": 16}),
                                lambda nest: nest.skew("x", "t").interchange("t", "x"))),
        Misconception("the sweeps slanted",
                      lambda nest: nest.skew("t", "x", 2).tile({"t": 8, "x": 64}),
                      "you let t count more for every x. Which of the two loops has distances that "
                      "point back?",
                      shows=lambda case, seen: any(a[:2] == ["t", "x"] for _, a in
                                                   steps(seen, "skew")) and not legal(case, seen),
                      variants=(lambda nest: nest.skew("t", "x").tile({"t": 8, "x": 64}),)),
        Misconception("interchanged without tiles",
                      lambda nest: nest.skew("x", "t", 2).interchange("t", "x"),
                      "that is legal now. But each turn of x goes through all sweeps, and two "
                      "cells further with each: more cells than L1 holds. Cut a loop.",
                      shows=lambda case, seen: bool(steps(seen, "skew"))
                      and not steps(seen, "split") and legal(case, seen)
                      and not _as_written(case, seen)),
        Misconception("few sweeps in a tile",
                      lambda nest: nest.skew("x", "t", 2).tile({"t": 2, "x": 64}),
                      "each tile does two or three sweeps on what was fetched. More sweeps need "
                      "hardly more room.",
                      shows=lambda case, seen: legal(case, seen)
                      and _inner(scheduled(case, seen), "t") in (2, 3),
                      variants=(lambda nest: nest.skew("x", "t", 2).tile({"t": 3, "x": 32}),)),
        Misconception("one sweep in a tile",
                      lambda nest: nest.skew("x", "t", 2).tile({"t": 1, "x": 64}),
                      "each tile does one sweep, so its cells leave before the next.",
                      shows=lambda case, seen: ["t", 1] in [a for _, a in steps(seen, "split")]
                      and legal(case, seen)),
        Misconception("slanted, and in the old order", lambda nest: nest.skew("x", "t", 2),
                      "a slant alone only renames the iterations: they run in the same order as "
                      "before. So does a cut whose outer loop stays where it is.",
                      shows=_as_written,
                      variants=(lambda nest: nest, lambda nest: nest.split("x", 64),
                                lambda nest: nest.skew("x", "t", 2).split("x", 64).split("t", 8),
                                lambda nest: nest.skew("x", "t", 2).tile({"x": 64}))),
        Misconception("tiles that do not fit",
                      lambda nest: nest.skew("x", "t", 2).tile({"t": 8, "x": 400}),
                      "how many bytes does a tile touch, and how many does L1 hold?",
                      shows=_too_wide,
                      variants=(lambda nest: nest.skew("x", "t", 2).tile({"t": 16, "x": 300}),)),
    ),
)


# ---- 09-tiles ------------------------------------------------------------------------------------
# In fp64. A cube that L1 keeps is too small for L2 alone.
_two_caches = drawn(
    2, extents=lambda rng, _some: dict(zip("ijk", rng.choice(_some))),
    text=PRODUCT, itemsize=8, small={"i": 13, "j": 12, "k": 14},
    caches=[[{"name": "L1", "capacity": 640, "line": 32},
             {"name": "L2", "capacity": 16384, "line": 32}]],
    _some=[[(64, 60, 72), (52, 64, 72)], [(56, 60, 64), (60, 56, 72)]],
)


def _two_levels(nest: Nest) -> Nest:
    return nest.tile({"i": 24, "j": 24, "k": 24}).tile({"ii": 4, "ji": 4, "ki": 4})


def _tile(nest: Nest, level: int) -> list[int]:
    """Sides of a tile of i, j and k: how far one turn of the loop around it goes.

    ``level`` loops of each stand around the tile; where there are fewer, the tile is one element.
    """
    return [_side(nest, dim, level) for dim in "ijk"]


def _side(nest: Nest, dim: str, level: int) -> int:
    leaf, around, _ = next(trees.leaves(nest.tree))
    place = leaf.index[dim]
    names = set(place.names())
    steps = [place.factor(loop.name) for loop in around if loop.name in names and loop.extent > 1]
    return steps[level - 1] if level <= len(steps) else 1


def _bytes(sides: Sequence[int]) -> int:
    """Of the tiles of C, A and B together, in fp64."""
    i, j, k = sides
    return 8 * (i * j + i * k + k * j)


def _levels(case: Case, seen: Observation) -> set[int]:
    """In how many loops each of i, j and k was cut."""
    nest = scheduled(case, seen)
    return {len(parts(nest, dim)) for dim in "ijk"}


def _one_level(case: Case, seen: Observation, level: int) -> bool:
    """Whether there are tiles of one size, fit for L1 (0) or too large for it (1)."""
    nest = scheduled(case, seen)
    fits = _bytes(_tile(nest, 1)) <= case["caches"][0]["capacity"]
    return _levels(case, seen) == {2} and fits is (level == 0)


def _too_large(case: Case, seen: Observation, level: int) -> bool:
    nest, room = scheduled(case, seen), case["caches"][1 - level]["capacity"]
    return max(_levels(case, seen)) == 3 and _bytes(_tile(nest, 1 + level)) > room


def _long_strips(case: Case, seen: Observation) -> bool:
    """Whether k is cut less often than i and j, so that the strips in a tile do not fit."""
    nest = scheduled(case, seen)
    times = {dim: len(parts(nest, dim)) for dim in "ijk"}
    return times["k"] < min(times["i"], times["j"])


def _parts_of_lines(case: Case, seen: Observation) -> bool:
    """Whether rows of the tiles end within a line: those of B and C along j, of A along k."""
    nest, line = scheduled(case, seen), case["caches"][0]["line"] // case["itemsize"]
    sides = [_tile(nest, level)[1:] for level in (1, 2)]
    return _levels(case, seen) == {3} and any(side % line for pair in sides for side in pair)


def _moved_in(case: Case, seen: Observation) -> bool:
    """Whether a loop over tiles runs inside the loops over elements of all three axes."""
    _, around, _ = next(trees.leaves(scheduled(case, seen).tree))
    return len({loop.name[0] for loop in around[:3]}) == 3 and around[-1].name.endswith("o")


TILES = Exercise(
    "09-tiles", "Tiles for two caches", 4,
    "The nest `C[i,j] += A[i,k]*B[k,j]` on fp64 runs on a core with an L1 of 640 bytes and an L2 "
    "of 16 KiB, both in lines of 32 bytes. Return a legal schedule that moves few bytes below "
    "both. At each cache it may be at most 1.45 times what ours moves. Copies of operands count.",
    "two_caches(nest)", _two_levels, cases=_two_caches, kind="schedule", par=1.45, lines=2,
    form=A_NEST,
    insight="A tile for each cache: libraries such as BLIS nest five loops around their kernel for "
            "this reason.",
    misconceptions=(
        Misconception("cut, not moved",
                      lambda nest: nest.split("i", 24).split("j", 24).split("k", 24)
                      .split("ii", 4).split("ji", 4).split("ki", 4),
                      "a cut alone leaves the order as it was. Which loops must go outside?",
                      variants=(lambda nest: nest, lambda nest: nest.split("k", 4))),
        Misconception("elements outside, tiles inside",
                      lambda nest: nest.tile({"i": 24, "j": 24, "k": 24})
                      .reorder("ii", "ji", "ki", "io", "jo", "ko"),
                      "the loops over tiles run inside those over elements, so that a tile is left "
                      "after one of its elements.",
                      shows=_moved_in,
                      variants=(lambda nest: nest.tile({"i": 4, "j": 4, "k": 4})
                                .reorder("ii", "ji", "ki", "io", "jo", "ko"),)),
        Misconception("tiles for L1 only", lambda nest: nest.tile({"i": 4, "j": 4, "k": 4}),
                      "these tiles stay in the first cache. What is kept in the second one between "
                      "them?",
                      shows=lambda case, seen: _one_level(case, seen, 0)),
        Misconception("tiles for L2 only", lambda nest: nest.tile({"i": 24, "j": 24, "k": 24}),
                      "these tiles stay in the second cache. Inside one of them, what does the "
                      "first cache keep?",
                      shows=lambda case, seen: _one_level(case, seen, 1)
                      and not _moved_in(case, seen),
                      variants=(lambda nest: nest.tile({"i": 16, "j": 16, "k": 16}),
                                lambda nest: nest.tile({"k": 16, "i": 24, "j": 24}))),
        Misconception("k in one piece",
                      lambda nest: nest.tile({"i": 24, "j": 24}).tile({"ii": 4, "ji": 4}),
                      "a tile of C needs a strip of A and of B that is as long as k. Does it fit?",
                      shows=_long_strips,
                      variants=(lambda nest: nest.tile({"i": 4, "j": 4}),
                                lambda nest: nest.tile({"i": 24, "j": 24, "k": 24})
                                .tile({"ii": 4, "ji": 4}))),
        Misconception("inner tiles too large",
                      lambda nest: nest.tile({"i": 24, "j": 24, "k": 24})
                      .tile({"ii": 12, "ji": 12, "ki": 12}),
                      "three inner tiles of this size, one of each matrix, do not fit into L1.",
                      shows=lambda case, seen: _too_large(case, seen, 1)),
        Misconception("outer tiles too large",
                      lambda nest: nest.tile({"i": 48, "j": 48, "k": 48})
                      .tile({"ii": 4, "ji": 4, "ki": 4}),
                      "three outer tiles of this size, one of each matrix, do not fit into L2.",
                      shows=lambda case, seen: _too_large(case, seen, 0)),
        Misconception("parts of lines",
                      lambda nest: nest.tile({"i": 15, "j": 15, "k": 15})
                      .tile({"ii": 5, "ji": 5, "ki": 5}),
                      "a line holds four numbers of a row. Where a row of a tile ends within a "
                      "line, the rest of it travels for nothing.",
                      shows=_parts_of_lines),
    ),
)
