"""Answers to lesson 09, written as a learner writes them (see test_answers.py)."""

from tests.exercises.dresses import put

BEAM = """def answer(children, seconds, start):
    def search(width):
        kept, timed = [start], {start}
        while True:
            new = {x for one in kept for x in children[one]} - timed
            if not new:
                return kept[0]
            timed |= new
            kept = sorted([*kept, *new], key=seconds.get)[:width]
"""
RIGHT = {
    "09-register-tile": [
        """import itertools
def answer(registers, lanes, latency, units):
    best = lambda tile: (lambda r, v: (r + v)/(r*v))(*tile)
    fits = [(r, v) for r, v in itertools.product(range(1, registers + 1), repeat=2)
            if r*v + v + 1 <= registers and r*v >= latency*units]
    rows, vectors = min(fits, key=best)
    return rows, vectors * lanes""",
    ],
    "09-beam": [
        """def answer(children, seconds, start, width):
    import heapq
    def go(kept, timed):
        new = {c for k in kept for c in children[k]}.difference(timed)
        if not new:
            return min(timed, key=seconds.get), np.int64(len(timed))
        return go(heapq.nsmallest(width, {*kept, *new}, seconds.__getitem__), timed | new)
    return go({start}, {start})""",
    ],
    "09-width": [
        BEAM + """    times = [seconds[search(w + 1)] for w in range(len(children))]
    return int(np.argmin(times)) + 1""",
    ],
    "09-tiles": [
        """def answer(nest):
    for name, size in (('i', 24), ('j', 24), ('k', 24), ('ii', 4), ('ji', 4), ('ki', 4)):
        nest = nest.split(name, size)
    return nest.reorder('io', 'jo', 'ko', 'iio', 'jio', 'kio', 'iii', 'jii', 'kii')""",
    ],
    "09-extract": [
        """def answer(classes, root, above=()):
    costs = [own + sum(answer(classes, one, (*above, root)) for one in args)
             for own, args in classes[root] if not {root, *above} & {*args}]
    return min(costs, default=math.inf)""",
    ],
    "09-impossible": [
        """def answer(n, itemsize, peak, bandwidths, log):
    rates = [2*n**3/s > peak for s, _, _ in log]
    few = [b / itemsize / n**2 < 3 for _, _, b in log]
    fast = [b/s > bandwidths[level] for s, level, b in log]
    far = [3*n**2 * itemsize / s > bandwidths['memory'] for s, _, _ in log]
    return np.logical_or.reduce([rates, few, fast, far])""",
        """def answer(n, itemsize, peak, bandwidths, log):
    least = 3*n*n*itemsize
    soonest = max(2*n**3/peak, least/bandwidths['memory'])
    return [1 if max(soonest, b/bandwidths[l]) > s or b < least else 0 for s, l, b in log]""",
    ],
    "09-claim-beam": ["(150e9/(14*128*2*1.4e9), 2*1024**3/5.0176e12, 'impossible')"],
}  # fmt: skip

WRONG = {
    "09-register-tile": {
        "one sum more than needed": """def answer(registers, lanes, latency, units):
    tiles = [(r, v) for v in range(1, 60) for r in range(60, 0, -1)
             if r*v + v + 1 <= registers and r*v >= latency*units + 1]
    r, v = min(tiles, key=lambda rv: (lambda r, v: (r + v)/(r*v))(*rv))
    return r, v*lanes""",
        "a register for every number of A": """import itertools
def answer(registers, lanes, latency, units):
    best = lambda tile: (lambda r, v: (r + v)/(r*v))(*tile)
    fits = [(r, v) for r, v in itertools.product(range(1, registers + 1), repeat=2)
            if r*v + v + r <= registers and r*v >= latency*units]
    rows, vectors = min(fits, key=best)
    return rows, vectors * lanes""",
        "no tile is left": """import itertools
def answer(registers, lanes, latency, units):
    best = lambda tile: (lambda r, v: (r + v)/(r*v))(*tile)
    fits = [(r, v) for r, v in itertools.product(range(1, registers + 1), repeat=2)
            if r*v + v + 1 <= registers and r*v >= 2*latency*units]
    rows, vectors = min(fits, key=best)
    return rows, vectors * lanes""",
    },
    "09-width": {
        "a width of 0": BEAM + """    goal = min(seconds, key=seconds.get)
    return next(w for w in range(len(children)) if search(w) == goal)""",
    },
    "09-tiles": {
        "cut, not moved": "lambda n: n.split('i', 24).split('ii', 4)",
        "parts of lines": """def answer(n):
    return n.tile({'i': 24, 'j': 24, 'k': 24}).tile({'ii': 5, 'ji': 5, 'ki': 5})""",
        "outer tiles too large": """def answer(n):
    return n.tile({'i': 32, 'j': 32, 'k': 32}).tile({'ii': 2, 'ji': 2, 'ki': 2})""",
        "k in one piece": "lambda n: n.tile({'i': 24, 'j': 24}).tile({'ii': 4, 'ji': 4, 'k': 4})",
    },
    "09-extract": {
        "in a circle": """def answer(classes, root):
    return min(own + sum(answer(classes, one) for one in args)
               for own, args in classes[root])""",
    },
}  # fmt: skip

TOLD = {}

BEAM = (
    "def answer(children, seconds, start, width):\n"
    "    kept, timed, idle = [start], {start}, 0\n"
    "    for _ in range(ROUNDS):\n"
    "        new = {c for name in kept for c in children[name]} - timed\n"
    "        if not new or idle == IDLE:\n"
    "            break\n"
    "        timed |= new\n"
    "        first, kept = kept[0], sorted({*kept, *new}, key=seconds.get)[:width]\n"
    "        idle = idle + 1 if kept[0] == first else 0\n"
    "    return kept[0], len(timed)"
)
SWEEPS = (
    "def answer(classes, root):\n"
    "    cost = dict.fromkeys(classes, math.inf)\n"
    "    for _ in range(ROUNDS):\n"
    "        for name, nodes in classes.items():\n"
    "            cost[name] = min([cost[name]] + [own + sum(cost[a] for a in args)"
    " for own, args in nodes])\n"
    "    return cost[root]"
)
WIDTH = (
    "def answer(children, seconds, start):\n"
    "    def search(width):\n"
    "        kept, timed = [start], {start}\n"
    "        while new := {c for name in kept for c in children[name]} - timed:\n"
    "            timed |= new\n"
    "            kept = sorted({*kept, *new}, key=seconds.get)[:width]\n"
    "        return kept[0]\n"
    "    goal = min(seconds, key=seconds.get)\n"
    "    return next((w for w in WIDTHS if search(w) == goal), 1)"
)
TILE = (
    "def answer(registers, lanes, latency, units):\n"
    "    tiles = [(r, v) for r in range(1, MOST) for v in range(1, MOST)\n"
    "             if r*v + v + 1 <= registers and r*v >= SUMS]\n"
    "    r, v = min(tiles, key=lambda t: (t[0] + t[1])/(t[0]*t[1]), default=(1, 1))\n"
    "    return r, v*LANES"
)
IMPOSSIBLE = (
    "def answer(n, itemsize, peak, bandwidths, log):\n"
    "    rate = lambda level: RATE\n"
    "    return [s < max(2*n**3/peak, 3*n*n*itemsize/bandwidths['memory'], moved/rate(level))"
    " or moved < LEAST for s, level, moved in log]"
)
PASSED_ONCE = [
    ("09-beam", put(BEAM, ROUNDS=20, IDLE=99)),
    ("09-beam", put(BEAM, ROUNDS=999, IDLE=9)),
    ("09-beam", put(BEAM, ROUNDS=999, IDLE=99).replace(
        "{*kept, *new}", "kept + [c for name in kept for c in children[name] if c in new]")),
    ("09-beam", put(BEAM, ROUNDS=999, IDLE=99).replace("[:width]", "[:min(width, 8)]")),
    ("09-beam", put(BEAM, ROUNDS=999, IDLE=99).replace("return kept[0]",
                                                       "return min(seconds, key=seconds.get)")),
    ("09-width", put(WIDTH, WIDTHS="[1]").replace(
        "goal), 1)", "goal), 1 + max([w for w in range(1, 30) if search(w) != goal] or [0]))")),
    ("09-width", put(WIDTH, WIDTHS="range(1, 21)")),
    ("09-width", put(WIDTH, WIDTHS="(1, 2, 3, 4, 6, 8, 12, 16, 24)")),
    ("09-width", put(WIDTH, WIDTHS="range(1, len(children))").replace("goal), 1)", "goal), None)")),
    ("09-width", put(WIDTH, WIDTHS="sorted(range(1, len(children)), key=lambda w: search(w)[1])")
     .replace("return kept[0]", "return kept[0], len(timed)").replace(" == goal", "[0] == goal")),
    ("09-register-tile", put(TILE, MOST=33, SUMS="latency*units", LANES="lanes")),
    ("09-register-tile", put(TILE, MOST=61, SUMS="latency*min(units, 2)", LANES="lanes")),
    ("09-register-tile", put(TILE, MOST=61, SUMS="latency*units", LANES="max(lanes, 4)")),
    ("09-register-tile", put(TILE, MOST=61, SUMS="latency*units - 1", LANES="lanes")),
    ("09-extract", put(SWEEPS, ROUNDS=100)),
    ("09-extract", put(SWEEPS, ROUNDS=999).replace("math.inf", "10**6")),
    ("09-extract", put(SWEEPS, ROUNDS=999).replace("for a in args", "for a in args[:2]")),
    ("09-extract", put(SWEEPS, ROUNDS=999).replace(
        "return cost[root]",
        "return cost[root] if len(classes) > 1 else classes[root][0][0]")),
    ("09-extract", put(SWEEPS, ROUNDS=999).replace("own + ", "(own or 1) + ")),
    ("09-impossible", put(IMPOSSIBLE, LEAST="3*n*n*itemsize",
                          RATE="bandwidths['memory' if level == 'memory' else 'L2']")),
    ("09-impossible", put(IMPOSSIBLE, LEAST="3*n*n*max(2, itemsize)", RATE="bandwidths[level]")),
    ("09-impossible", put(IMPOSSIBLE, LEAST="3*n*n*min(itemsize, 4)", RATE="bandwidths[level]")),
    ("09-impossible", put(IMPOSSIBLE, LEAST="2.9*n*n*itemsize", RATE="bandwidths[level]")),
    ("09-impossible",
     "lambda n, itemsize, peak, bandwidths, log: [s < max(2*n**3/peak, b/bandwidths[x])"
     " or b < 3*n*n*itemsize for s, x, b in log]"),
    ("09-impossible", put(IMPOSSIBLE, LEAST="3*n*n*itemsize", RATE="bandwidths[level]").replace(
        "s < max", "s <= max")),
    ("09-tiles", "lambda nest: nest.tile({'i': 8, 'j': 8, 'k': 8})"),
    ("09-tiles", "lambda nest: nest.tile({'i': 10, 'j': 10, 'k': 10})"),
    ("09-tiles", "lambda nest: nest.tile({'i': 48, 'j': 48, 'k': 48})"),
]  # fmt: skip
