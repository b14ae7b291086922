"""Exercises of lesson 09, search: a tile in registers, how a beam walks, what its log may say.

The figures of the claim are those that a public talk prints for a laptop's GPU.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Mapping, Sequence
from itertools import count, pairwise
from operator import mul
from string import ascii_letters
from typing import Any

from rooflab.course.schedules import TILES
from rooflab.exercises.exercise import ITEMSIZES, Case, at_least, cases_of
from rooflab.exercises.table import drawn, slip, table
from rooflab.labs.search.pictures.tree import CHILDREN, SECONDS, Children, Seconds

# ---- 09-register-tile ----------------------------------------------------------------------------
Tile = tuple[int, int]


def _register_tile(
    registers: int, lanes: int, latency: int, units: int, *,
    room: Callable[[int, int], int] = lambda rows, vectors: rows * vectors + vectors + 1,
    score: Callable[[int, int], float] = lambda rows, vectors: (rows + vectors) / (rows * vectors),
    sums: Callable[[int, int], int] = mul,
    tie: int = -1,
) -> Tile | None:
    """The tile, or None if there is none.

    ``room``: registers that it takes, the sums, a row of B and one number of A. ``score``: its
    loads for a multiply-add. ``tie``: -1 takes more rows of two alike, 1 fewer.
    """
    tiles = ((r, v) for r in range(1, registers + 1) for v in range(1, registers // r + 1))
    fit = [one for one in tiles if mul(*one) >= sums(latency, units) and room(*one) <= registers]
    best = min(fit, key=lambda one: (score(*one), tie * one[0]), default=None)
    return best and (best[0], best[1] * lanes)


def _chosen_tiles(**slip: Any) -> list[Callable[..., object]]:
    """The tile with a slip: of two alike that with more rows or fewer; None or zeros for none."""

    def way(tie: int, none: Tile | None) -> Callable[..., object]:
        return lambda registers, lanes, latency, units: (
            _register_tile(registers, lanes, latency, units, tie=tie, **slip) or none)

    return [way(tie, none) for none in (None, (0, 0)) for tie in (-1, 1)]


def _square(registers: int, lanes: int) -> Tile:
    """The largest tile with as many rows as vectors."""
    side = max(n for n in range(1, registers) if n * n + n + 1 <= registers)
    return side, side * lanes


REGISTERS = table(
    "09-register-tile", "A tile in registers", 3,
    "A processor has vector registers of `lanes` numbers. It begins `units` multiply-adds of "
    "vectors in every cycle, and each takes `latency` cycles. A tile of rows × vectors registers, "
    "each a vector of sums, stays there. For each step of k, its vectors of a row of B are loaded, "
    "then one number of A after another into all lanes of one more register. Every vector of sums "
    "gets one multiply-add. Choose the tile that fits, has enough vectors of sums to keep the "
    "processor busy, and needs the fewest loads for each multiply-add. Return (1) its rows, (2) "
    "its columns, in numbers.",
    "register_tile(registers, lanes, latency, units)", lines=7,
    cases=drawn(4, registers=lambda _of: _of[0], lanes=[8, 4, 16], latency=lambda _of: _of[1],
                units=lambda _of: _of[2], _of=lambda rng: rng.choice([  # each has one best tile
                    (16, 4, 2), (16, 5, 2), (16, 6, 1), (16, 13, 1), (32, 4, 2), (32, 6, 2),
                    (32, 13, 2), (32, 14, 2)])),
    domain={"registers": at_least(3), "lanes": at_least(1), "latency": at_least(1),
            "units": at_least(1)},
    example=(12, 8, 5, 1),
    fixed=cases_of(
        "registers lanes latency units",
        (3, 1, 1, 1),  # room for one sum
        (16, 4, 7, 2),  # a long wait makes it tall
        (60, 2, 19, 3),  # 57 sums are needed
        (32, 8, 14, 1), (16, 4, 13, 1), (56, 16, 8, 4),
    ),
    insight="With 16 registers of 8 lanes this is 4 × 24, or 12 vectors of sums. The kernel of "
            "BLIS for such processors is 6 × 16: as many, and one load more.",
    answer={
        "_tile": lambda registers, lanes, latency, units:
            _register_tile(registers, lanes, latency, units),
        "rows": lambda _tile: _tile[0],
        "columns": lambda _tile: _tile[1],
    },
    slips=(
        slip("room for the sums alone", "what is multiplied stands in registers as well.",
             whole=[*_chosen_tiles(room=mul), *_chosen_tiles(room=lambda r, v: r * v + 1)]),
        slip("a square", "it need not have as many rows as vectors: does it have enough sums, and "
             "is there room for one more?",
             whole=[*_chosen_tiles(score=lambda r, v: 1000 * abs(r - v) - r * v), _square]),
        slip("numbers counted, not loads", "one load brings a whole vector of B.",
             whole=lambda registers, lanes, latency, units: _register_tile(
                 registers, lanes, latency, units,
                 score=lambda r, v: (r + v * lanes) / (r * v * lanes))),
        slip("no register for A", "the number of A needs a register, too.",
             whole=_chosen_tiles(room=lambda r, v: r * v + v)),
        slip("a register for every number of A", "the numbers of A come one after another, into "
             "the same register.", whole=_chosen_tiles(room=lambda r, v: r * v + v + r)),
        slip("too few sums", "how many multiply-adds are begun before the first one ends? Each of "
             "them needs a sum of its own.", whole=_chosen_tiles(sums=lambda latency, units: 1)),
        slip("one unit", "in every cycle, each unit begins one.",
             whole=[*_chosen_tiles(sums=lambda latency, units: latency + 1),
                    *_chosen_tiles(sums=lambda latency, units: latency)]),
        slip("most sums", "the largest tile need not have the fewest loads: count those of B, and "
             "those of A.", whole=_chosen_tiles(score=lambda r, v: -r * v)),
        slip("vectors for columns", "a vector has `lanes` columns.", lanes=1),
        slip("one sum more than needed", "as many sums as there are multiply-adds under way are "
             "enough.", whole=_chosen_tiles(sums=lambda latency, units: latency * units + 1)),
    ),
    errors=(
        ("ValueError|None", "no tile is left",
         "for this processor no tile meets all of your conditions. Which of them is too strict?"),
    ),
)


# ---- 09-beam, 09-width ---------------------------------------------------------------------------
WORDS = ["tile", "swap", "pack", "unroll", "vector", "split", "copy", "share", "skew", "fuse"]


def _graph(rng: random.Random, **more: object) -> Case:
    """Schedules in layers, some of them reached in two ways; their times are all different."""
    rows = [["as written"]]
    for layer in range(1, 5):
        rows.append([f"{word} {layer}" for word in rng.sample(WORDS, rng.randrange(3, 6))])
    children: dict[str, list[str]] = {name: [] for row in rows for name in row}
    for row, below in pairwise(rows):
        for name in below:
            for above in dict.fromkeys(rng.choices(row, k=2)):
                children[above].append(name)
    names = rng.sample([*children], len(children))
    times = [time / 1000 for time in rng.sample(range(12, 99), len(names))]
    return {"children": {name: children[name] for name in names},
            "seconds": dict(zip(names, times)) | {"as written": 0.1}, "start": "as written", **more}


def _walk(
    children: Children, seconds: Seconds, start: str, width: int,
    _parents: bool, _once: bool, _slowest: bool, _patient: bool,
) -> tuple[list[str], list[str], int]:
    """A beam: what was kept at the end, what was timed, in order, and how often children came.

    ``_parents`` may be kept again, and a new schedule stands in the list ``_once``.
    """
    kept, timed, seen = [start], [start], 1
    fresh = kept
    while True:
        seen += sum(len(children[name]) for name in fresh)
        new = [one for name in kept for one in children[name] if one not in timed]
        new = [*dict.fromkeys(new)] if _once else new
        if not new:
            return kept, timed, seen
        timed += new
        if not _patient and min(map(seconds.get, new)) > seconds[kept[0]]:
            return kept, timed, seen
        before, pool = kept, [*kept, *new] if _parents else new
        kept = sorted(pool, key=seconds.get, reverse=_slowest)[:width]
        fresh = [name for name in kept if name not in before]


def _untracked(
    *, parents: bool = True, unique: bool = False, kept_too: bool = False, fresh: bool = False
) -> Callable[..., tuple[str, int]]:
    """A beam that times again what it has timed before, ``kept_too`` what it keeps.

    It ends when it keeps the same as before, or finds nothing ``fresh``.
    """

    def found(children: Children, seconds: Seconds, start: str, width: int) -> tuple[str, int]:
        kept, timed, seen = [start], 1, {start}
        while True:
            old = kept if parents and not kept_too else ()
            new = [one for name in kept for one in children[name] if one not in old]
            timed += len({*new} if unique else new)
            before, known, pool = kept, len(seen), {*new, *(kept if parents else ())}
            seen |= pool
            kept = sorted(pool, key=seconds.get)[:width]
            if not new or (len(seen) == known if fresh else kept == before):
                return min(seen, key=seconds.get), timed

    return found


def _layout(text: str, *, start: str = "w", **more: object) -> Case:
    """A graph from a text with the seconds and the children of each schedule: "w9ab a5 b7"."""
    parts = re.findall(r"(\S)([\d.]+)(\S*)", text)
    seconds = {name: float(time) for name, time, _ in parts}
    children = {name: [*below] for name, _, below in parts}
    return {"children": children, "seconds": seconds, "start": start, **more}


def _row(steps: int, **more: object) -> Case:
    """Schedules in a row, each slower than the one before but for the last, the fastest."""
    pairs = enumerate(pairwise(ascii_letters[: steps + 1]), 2)
    text = "".join(f"{name}{at}{below} " for at, (name, below) in pairs)
    return _layout(f"{text}{ascii_letters[steps]}0.5", start="a", **more)


BEAM = table(
    "09-beam", "The line that makes it a beam", 4,
    "`children[name]` is a list of the schedules that can be made of a schedule in one step, empty "
    "at an end, and `seconds[name]` a number: how long it takes. Start with `start`, and time it. "
    "In a round, time all children of the kept schedules that have not been timed yet. Of the kept "
    "and the new ones, keep the `width` fastest. Stop when there is nothing new to time. Return "
    "(1) the fastest schedule that you found, (2) how many schedules were timed.",
    "beam(children, seconds, start, width)", lines=6,
    cases=lambda rng: [_graph(rng, width=width) for width in (2, 3, 1, 4)],
    domain={"width": at_least(1)},
    fixed=(
        _layout("w40lf f26cae m20 c9mpel d16 a15l i38d e29pm g11d l10peg p27gi", width=2),
        _layout("w40nhm o5 c13ode e23 m12o h37c d36 l31co n30l", width=1),
        _layout("l21e a11 w22enl e7a n13a", width=3),
        _layout("w1a a2b b3c c4d d0.5", width=5),  # three rounds without a gain
        _layout("w10ab a8c u0.1 b7ce c3 e5f f1", width=2),  # two ways to c, none to the fastest
        _layout("w5", width=3),
        _row(40, width=50),
    ),
    example=(CHILDREN, SECONDS, "s", 2),
    insight="Halide's auto-scheduler of 2019, Tiramisu and tinygrad walk in this way. What differs "
            "is the moves, the score, and what is measured.",
    answer={
        "_parents": True, "_once": True, "_slowest": False, "_patient": True,
        "_walk": _walk,
        "schedule": lambda _walk, seconds: min(_walk[0], key=seconds.get),
        "timed": lambda _walk: len(_walk[1]),
    },
    slips=(
        slip("greedy", "the `width` fastest go on, not the fastest alone.", width=1),
        slip("parents are forgotten",
             "a schedule that was kept can be faster than all of its children; it stays among "
             "those to choose from.",
             _parents=False, whole=_untracked(parents=False),
             ways=[{"_parents": False,
                    "schedule": lambda _walk, seconds: min(_walk[1], key=seconds.get)}]),
        slip("timed twice",
             "two ways may lead to the same schedule, even in different rounds; it is timed once.",
             timed=lambda _walk: _walk[2], _once=False,
             whole=[_untracked(), _untracked(unique=True), _untracked(kept_too=True),
                    _untracked(kept_too=True, fresh=True)]),
        slip("the slowest are kept", "a small time is good: which end of the sorted ones is kept?",
             _slowest=True,
             ways=[{"_slowest": True,
                    "schedule": lambda _walk, seconds: min(_walk[1], key=seconds.get)}]),
        slip("one round without a gain ends it",
             "it goes on while there is something new to time, even after a round that brought "
             "nothing faster.", _patient=False),
        slip("everything is timed", "children of a schedule that was not kept are never timed.",
             width=lambda children: len(children),
             whole=lambda seconds: (min(seconds, key=seconds.get), len(seconds))),
        slip("the start is not counted", "the start is timed, too.",
             timed=lambda _walk: len(_walk[1]) - 1),
        slip("one is kept too many", "`width` schedules go on in all, those that were kept before "
             "among them.", width=lambda width: width + 1),
        slip("one round", "the schedules that are kept have children, too.",
             children=lambda children, start:
                 {name: below if name == start else [] for name, below in children.items()}),
    ),
)


def _halving(_finds: Sequence[bool]) -> int:
    """The least width, looked for as if every wider search found it, too."""
    low, high = 1, len(_finds)
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if _finds[middle - 1] else (middle + 1, high)
    return low


WIDTH = table(
    "09-width", "How wide?", 3,
    "The data are those of the exercise before, and so is the search. Return the least width with "
    "which it finds the fastest of all schedules in `seconds`. All of them can be reached from "
    "`start`.",
    "least_width(children, seconds, start)", lines=4,
    cases=lambda rng: [_graph(rng) for _ in range(4)],
    fixed=(
        _layout("h29 c18 f7led d12 p34fe o20ck a2c e28ol k36h l30n n8ak w40p"),
        _layout("i3eo e39o j32o c30j o22g g14 w40iec"),
        _layout("w40abf a27cg b36eh c30df d8 e18 f32 g34 h12"),  # width 2 finds it, 3 does not
        _layout("w9acef a3bi b6d c11 d5hgj e4 f10g g2j h8 i7 j1"),  # width 4 times fewer
        _layout("w5"),  # the start is the fastest
        _row(24),
    ),
    example=(CHILDREN, SECONDS, "s"),
    insight="A wider beam measures more, and still may lose what a narrower one finds. Something "
            "fast can push out the schedule that would have led to the best one.",
    answer={
        "_ends": lambda children, seconds, start: [  # of width 1, 2, …
            BEAM.reference(children, seconds, start, width)
            for width in range(1, len(children) + 1)],
        "_finds": lambda seconds, _ends: [
            name == min(seconds, key=seconds.get) for name, _ in _ends],
        "width": lambda _finds: _finds.index(True) + 1,
    },
    slips=(
        slip("every wider one, too",
             "a wider search may miss what a narrower one finds: try the widths one after another.",
             width=[lambda _finds: len(_finds) - [*reversed(_finds), False].index(False) + 1,
                    _halving]),
        slip("the last that misses", "with this width the search still misses the fastest one.",
             width=lambda _finds: _finds.index(True)),
        slip("one more than needed", "a narrower search finds it.",
             width=lambda _finds: _finds.index(True) + 2),
        slip("greedy is never enough", "sometimes width 1 finds it.",
             width=[lambda _finds: max(2, _finds.index(True) + 1),
                    lambda _finds: [*_finds, True].index(True, 1) + 1]),
        slip("wide enough for everything",
             "that is where nothing is left out; the best one is found before.",
             width=lambda children, _ends: [timed for _, timed in _ends].index(len(children)) + 1),
        slip("until two widths agree", "two widths can end at the same schedule, and it need not "
             "be the fastest of all in `seconds`.",
             width=lambda _ends: next(
                 w for w, (one, other) in enumerate(pairwise([*_ends, _ends[-1]]), 1)
                 if one[0] == other[0])),
        slip("powers of two", "try every width; the least one may lie between.",
             width=lambda _finds: next(
                 1 << n for n in count() if _finds[min(1 << n, len(_finds)) - 1])),
        slip("greedy is enough", "with width 1 the search ends somewhere else.", width=1),
    ),
    errors=(
        ("IndexError", "a width of 0",
         "with width 0 nothing is kept. Begin at 1 and go up: a wider search may miss what a "
         "narrower one finds."),
    ),
)


# ---- 09-extract ----------------------------------------------------------------------------------
Node = Sequence[Any]  # its cost, and the classes of its arguments
Classes = dict[str, Sequence[Node]]
NEVER = 10**9  # cost of a class of which no term is known yet


def _saturated(rng: random.Random) -> Case:
    """Classes with nodes whose arguments lie behind them, and some that lead in a circle."""
    names = rng.sample("pqrstuvw", rng.randrange(6, 9))
    classes: dict[str, list[list[Any]]] = {names[-1]: [[rng.randrange(1, 40), []]]}
    for at, name in enumerate(names[:-1], 1):
        classes[name] = [[rng.randrange(1, 40), rng.choices(names[at:], k=rng.choice((1, 1, 2)))]
                         for _ in range(rng.randrange(2, 4))]
        classes[name] += [[rng.randrange(60, 300), []]] * (rng.random() < 0.3)
    for name in rng.sample(names[1:], 2):  # circles, cheap ones
        users = [one for one in names if any(name in args for _, args in classes[one])]
        classes[name].append([rng.randrange(1, 5), [rng.choice([name, *users])]])
    return {"classes": {name: classes[name] for name in rng.sample(names, len(names))},
            "root": names[0]}


def _cheapest(classes: Classes, _join: Callable[[list[int]], int] = sum, _rounds: int = 0,
              _anew: bool = False) -> dict[str, int]:
    """The least cost of every class, by ``_rounds`` over all of them, 0 for as many as it takes.

    ``_anew``: a round uses the costs of the round before alone.
    """
    cost = dict.fromkeys(classes, NEVER)
    order = list(classes.items()) if _rounds else [*reversed(classes.items())]
    for _ in range(_rounds or len(classes)):
        before = dict(cost)
        known = before if _anew else cost
        for name, nodes in order:
            options = [int(own) + _join([known[x] for x in args] or [0]) for own, args in nodes]
            cost[name] = min([known[name], *options])
        if cost == before:
            break
    return cost


def _chosen(key: Callable[[Node], int]) -> Callable[[Classes, str], int]:
    """The cost of the term that takes the least node by ``key`` in each class, off circles."""

    def found(classes: Classes, root: str) -> int:
        def cost(name: str, above: frozenset[str]) -> int:
            for own, args in sorted(classes[name], key=key):
                below = above | {name}
                if not any(arg in below for arg in args):
                    whole: int = own + sum(cost(arg, below) for arg in args)
                    if whole < NEVER:
                        return whole
            return NEVER

        return cost(root, frozenset())

    return found


def _shared(classes: Classes, root: str, _costs: Mapping[str, int]) -> int:
    """The cost of the cheapest tree, with a class that it holds twice paid once."""
    used, total = [root], 0
    for name in used:
        own, args = min(classes[name], key=lambda node: node[0] + sum(_costs[x] for x in node[1]))
        total += own
        used += [arg for arg in dict.fromkeys(args) if arg not in used]
    return total


def _united(classes: Classes, root: str) -> int:
    """The cost of the cheapest plan in which each class is paid once, as far as it is found."""
    plans: dict[str, dict[str, int]] = {}  # for each class: what is paid, class by class
    for _ in range(9):
        for name, nodes in reversed(classes.items()):
            for own, args in nodes:
                if all(arg in plans and name not in plans[arg] for arg in args):
                    plan = {name: int(own)}
                    for arg in args:
                        plan = {**plans[arg], **plan}
                    if name not in plans or sum(plan.values()) < sum(plans[name].values()):
                        plans[name] = plan
    return sum(plans[root].values())


def _remembered(classes: Classes, root: str) -> int:
    """A walk that keeps what it found for a class, even where a circle was closed to it."""
    known: dict[str, int] = {}

    def cost(name: str, above: frozenset[str]) -> int:
        if name in above:
            return NEVER
        if name not in known:
            below = above | {name}
            options = [int(own) + sum(cost(x, below) for x in args) for own, args in classes[name]]
            known[name] = min(options)
        return known[name]

    return cost(root, frozenset())


def _until_still(classes: Classes, root: str) -> int:
    """Rounds until the cost of the root does not change."""
    costs = (_cheapest(classes, _rounds=rounds)[root] for rounds in count(1))
    return next(one for one, after in pairwise(costs) if one == after < NEVER)


EXTRACT = table(
    "09-extract", "The cheapest expression", 3,
    "`classes` is a saturated e-graph. It says for each class which nodes are in it: lists of a "
    "node's own cost and the classes of its arguments. An expression of a class is one of its "
    "nodes with an expression of each argument, and costs all of that together. A class that is "
    "needed twice is paid twice. Some nodes lead back to their own class. Return the cost of the "
    "cheapest expression of the class `root`.",
    "cheapest(classes, root)", lines=7, cases=lambda rng: [_saturated(rng) for _ in range(4)],
    fixed=cases_of(
        "classes root",
        ({"x": [[0, []]], "y": [[5, ["x"]], [2, ["y"]], [9, []]],
          "r": [[4, ["y", "y", "y"]], [1, ["r"]], [20, ["x"]], [25, ["x", "x"]]]}, "r"),
        ({"k": [[8 * 10**8, []], [3 * 10**8, []]]}, "k"),
        ({"x": [[30, []]], "y": [[4, []]], "r": [[1, ["x", "y"]]]}, "r"),
        ({"e": [[35, []], [6, []]], "b": [[2, ["a"]], [12, ["e"]]], "a": [[170, []], [2, ["b"]]],
          "p": [[47, ["b", "b", "e"]], [7, ["b", "a"]], [3, ["b"] * 5]]}, "p"),  # b, a in a circle
        ({"w": [[11, []], [26, []], [154, []]], "r": [[2, ["p"]], [25, ["s"]], [2, ["s", "w"]],
          [4, ["r"]]], "t": [[26, ["w"]], [36, ["w", "w"]], [1, ["s"]]], "p": [[15, ["s", "s"]],
          [19, ["s"]]], "q": [[7, ["r", "r"]], [28, ["w"]], [29, ["s"]], [86, []]],
          "s": [[19, ["t"]], [33, ["w", "t"]]]}, "q"),
        ({**{f"c{n}": [[900, []], [n % 3, [f"c{n + 1}"]]] for n in range(120)}, "c120": [[40, []]]},
         "c0"),
    ),
    example=({"x": [[3, ["y"]], [9, []]], "y": [[4, []], [6, []]]}, "x"),
    insight="If a class that is needed twice were paid once, the choice would be NP-hard. Many "
            "tools pay it twice, as here, and some ask a solver.",
    answer={
        "_join": lambda: sum, "_rounds": 0, "_anew": False,
        "_costs": _cheapest,
        "answer": lambda root, _costs: _costs[root],
    },
    slips=(
        slip("the first node", "any node of a class may be taken, not just the first.",
             answer=_chosen(lambda node: 0)),
        slip("the cheapest node", "a node that is cheap in itself can have expensive arguments.",
             answer=_chosen(lambda node: node[0])),
        slip("shared expressions once", "a class that is needed twice is paid twice here.",
             answer=[_shared, _united], classes=lambda classes: {
                 name: [[own, [*dict.fromkeys(args)]] for own, args in nodes]
                 for name, nodes in classes.items()}),
        slip("arguments for nothing", "the arguments of a node have to be computed, too.",
             answer=lambda classes, root: min(own for own, _ in classes[root])),
        slip("the most expensive argument", "all arguments of a node are paid, not only the most "
             "expensive one.", _join=lambda: max),
        slip("one pass",
             "a class may become cheaper after those that use it were looked at; go on until "
             "nothing changes.",
             _rounds=[1, 2, 3, 4], answer=_until_still,
             ways=[{"classes": lambda classes: dict(reversed(classes.items())), "_rounds": 1},
                   *({"_anew": True, "_rounds": n} for n in (2, 3, 4))]),
        slip("remembered too early", "what you find for a class while others are closed holds "
             "only on this way. Do not keep it for other ways.", answer=_remembered),
    ),
    errors=(
        ("RecursionError", "in a circle",
         "some nodes lead back to their own class: begin with the classes that have a node without "
         "arguments, or remember what you are about to compute."),
    ),
)


# ---- 09-impossible -------------------------------------------------------------------------------
def _either_way(**changes: Any) -> list[dict[str, Any]]:
    """A slip of one who looks at memory's time in every row, and of one who does not."""
    return [changes, {**changes, "_behind": 0}]


def _none(log: Sequence[object]) -> list[bool]:
    return [False] * len(log)


IMPOSSIBLE = table(
    "09-impossible", "Rows that cannot be true", 3,
    "A search for a product of two n×n matrices left this log. Each row has the measured seconds, "
    "a level, and the bytes that a simulator counted from and to that level. The two factors begin "
    "in memory. The result is only written, and ends there. On its way, everything passes every "
    "level. The work overlaps with all that is carried. `bandwidths` are those of the levels. "
    "Return a list that has True for every row that cannot "
    "be true, and False for every other.",
    "impossible(n, itemsize, peak, bandwidths, log)", lines=6,
    cases=drawn(3, n=range(400, 900), itemsize=[4, 8, 2], peak=(50e9, 200e9),
                bandwidths=lambda _seconds, _least, _often:
                    {level: _least / _seconds * often for level, often in _often.items()},
                log=lambda rng, _seconds, _least, _often: [
                    [_seconds * rng.uniform(0.6, 2), level,
                     int(_least * rng.uniform(0.7, 1.5 * often))]
                    for level, often in [*_often.items()] * 6],
                _seconds=lambda n, peak: 2 * n**3 / peak,
                _least=lambda n, itemsize: 3 * n * n * itemsize,
                _often={"memory": 4, "L2": 20}),  # times the least bytes in the work's seconds
    domain={"n": at_least(1), "itemsize": ITEMSIZES},
    fixed=cases_of(
        "n itemsize peak bandwidths log",
        (64, 4, 2.0**36, {"memory": 2.0**35, "L2": 2.0**36, "L1": 2.0**38}, [  # at every bound
            [2**-17, "memory", 49_152], [2**-18, "memory", 49_152], [2**-19, "memory", 49_152],
            [2**-17, "L2", 49_151], [2**-17, "L1", 2**21], [2**-17, "memory", 2**18],
            [2**-17, "L2", 2**19 + 64], [2**-16, "memory", 40_000], [2**-16, "L1", 30_000],
            [2**-16, "L1", 60_000], [1e-3, "memory", 60_000],
        ]),
        (50, 8, 1e12, {"L3": 1e10, "memory": 1e9, "L2": 5e10}, [  # memory takes longest
            [5e-5, "L3", 70_000], [7e-5, "L3", 70_000], [7e-5, "memory", 90_000],
            [7e-5, "L2", 60_000], [7e-5, "L2", 50_000],
        ]),
        (9000, 1, 1e11, {"L2": 1e11, "memory": 2e10}, [
            [15.0, "memory", 243_000_000], [14.0, "L2", 10**9],
        ]),
        (333, 2, 1e11, {"memory": 3e9, "L2": 9e9}, [
            [9e-4, "L2", 7 * 10**6], [7e-4, "L2", 7 * 10**6], [9e-4, "memory", 3 * 10**6],
        ]),
        (1, 2, 1e9, {"memory": 1e9, "L2": 4e9}, [
            [1e-6, "memory", 6], [1e-6, "L2", 5], [1e-9, "L2", 6],
        ]),
    ),
    example=(100, 4, 2e9, {"memory": 1e8, "L2": 1e9}, [[0.002, "memory", 150_000],
             [0.002, "L2", 100_000], [0.0005, "L2", 200_000]]),
    insight="A clock that was read too early, a result that was never checked, a simulator fed "
            "with half of the loops. Each of them makes a false winner.",
    answer={
        "_work": lambda n, peak: 2 * n**3 / peak,
        "_least": lambda n, itemsize: 3 * n * n * itemsize,
        "_behind": lambda _least, bandwidths: _least / bandwidths["memory"],
        "_carrying": lambda log, bandwidths: [moved / bandwidths[level] for _, level, moved in log],
        "_few": lambda log, _least: [moved < _least for *_, moved in log],
        "impossible": lambda log, _work, _behind, _carrying, _few: [
            few or seconds < max(_work, carrying, _behind)
            for (seconds, *_), carrying, few in zip(log, _carrying, _few)],
    },
    slips=(
        slip("the peak alone", "look at the bytes as well: can there be so few, and can they come "
             "so fast?", ways=_either_way(_few=_none, _carrying=_none)),
        slip("no look at the peak", "how long does the arithmetic take at the peak?",
             ways=_either_way(_work=0)),
        slip("no look at the least bytes",
             "each matrix has to cross every level at least once.", ways=_either_way(_few=_none)),
        slip("the least bytes at memory alone",
             "what comes from memory passes the other levels as well.",
             ways=_either_way(_few=lambda log, _least: [
                 level == "memory" and moved < _least for _, level, moved in log])),
        slip("no look at the bandwidth", "how long does a level need for so many bytes?",
             ways=_either_way(_carrying=_none)),
        slip("no look at memory", "the factors come from memory and the result goes there, in a "
             "row of another level as well: how long does that take at least?", _behind=0),
        slip("memory's bandwidth for all", "each level has a bandwidth of its own.",
             ways=_either_way(_carrying=lambda log, bandwidths: [
                 moved / bandwidths["memory"] for *_, moved in log])),
        slip("times added",
             "the work and what is carried overlap, so neither alone may take longer.",
             ways=_either_way(_carrying=lambda log, bandwidths, _work: [
                 _work + moved / bandwidths[level] for _, level, moved in log])),
        slip("a multiply-add as one FLOP", "a multiply-add is two FLOPs.",
             ways=_either_way(peak=lambda peak: 2 * peak)),
        slip("the result left out", "the result has to be written.",
             ways=_either_way(_least=lambda n, itemsize: 2 * n * n * itemsize)),
    ),
)


# ---- 09-claim-beam -------------------------------------------------------------------------------
PEAK = 14 * 128 * 2 * 1.4e9  # FLOP/s: cores, lanes, multiply-add, clock
LARGE = 18 * 128 * 2 * 1.4e9  # of the larger part, with 18 cores
RATE, CUBE = 150e9, 1024**3
RATIO, LEAST = RATE / PEAK, 2 * CUBE / PEAK
OF_BYTES = 12 * 1024**2 / RATE  # seconds of the three matrices


def _either_word(*figures: tuple[float, float]) -> list[tuple[float, float, str]]:
    """These ratios and seconds, with the right word and with the other one."""
    return [(*each, word) for each in figures for word in ("impossible", "possible")]


def _each_alone(ratio: float, least: float) -> list[tuple[float, float]]:
    """A slip in both figures, and in either alone."""
    return [(ratio, least), (ratio, LEAST), (RATIO, least)]


CLAIM = table(
    "09-claim-beam", "Claim court: the beam on a laptop", 3,
    "A GPU with 14 cores of 128 lanes; each lane begins a multiply-add in every cycle, at 1.4e9 "
    "cycles a second. Its memory brings 150e9 byte/s. What are the byte/FLOP of this "
    "machine, the least seconds for the 2 · 1024³ FLOPs of a product in fp32, and can a search "
    "have found 0.3 ms?",
    '(…, …, "…")', kind="value", tolerance=0.005, lines=2,
    insight="The printed figure is that of a chip with 18 cores and the same memory. No "
            "search beats the roof, so a time below it is a mistake in the clock or in the count.",
    answer={"byte/FLOP": RATIO, "least seconds": LEAST,
            "0.3 ms": "impossible"},
    slips=(
        slip("the larger chip",
             "the 0.023 of the slide belong to a chip with more cores; multiply the given figures.",
             whole=_either_word(
                 *_each_alone(RATE / LARGE, 2 * CUBE / LARGE), (0.023, LEAST), (0.0234, LEAST),
                 (0.023, 2 * CUBE / LARGE), (0.0234, 2 * CUBE / LARGE))),
        slip("a multiply-add as one FLOP in the peak", "each lane does a multiply-add in a cycle, "
             "and that is two FLOPs.", whole=_either_word(*_each_alone(2 * RATIO, 2 * LEAST))),
        slip("a multiply-add as one FLOP in the product", "a product has two FLOPs for each "
             "multiply-add.", whole=_either_word((RATIO, LEAST / 2))),
        slip("the time of the bytes", "the bytes are there sooner than the arithmetic is done; "
             "the longer of the two counts.", whole=_either_word((RATIO, OF_BYTES))),
        slip("times added", "arithmetic and traffic can overlap; the least time is the longer of "
             "the two.", whole=_either_word((RATIO, LEAST + OF_BYTES))),
        slip("the ridge", "that is FLOP/byte, the ridge; byte/FLOP is asked for.",
             whole=_either_word((1 / RATIO, LEAST))),
        slip("faster than the roof", "compare 0.3 ms with the least time that you computed.",
             whole=(RATIO, LEAST, "possible")),
        slip("every lane product stored", "the products are added up in registers; only the three "
             "matrices cross.", whole=_either_word((RATIO, 8 * CUBE / RATE))),
    ),
)

EXERCISES = (REGISTERS, BEAM, WIDTH, TILES, EXTRACT, IMPOSSIBLE, CLAIM)
RETIRED = {"09-count": "how many schedules there are is counted in the text"}
