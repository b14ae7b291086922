"""Answers to lesson 09 in unusual dress: one line a case (see test_dress.py)."""

SIZES = "d = lambda n: sum(n % t == 0 for t in range(2, n))"
BEAM = (
    "    def search(width):\n"
    "        kept, timed = [start], {start}\n"
    "        while True:\n"
    "            new = {x for one in kept for x in children[one]} - timed\n"
    "            if not new:\n"
    "                return kept[0]\n"
    "            timed |= new\n"
    "            kept = sorted([*kept, *new], key=seconds.get)[:width]\n"
)
FITTING = (
    "    tiles = [(r, v) for r in range(1, 99) for v in range(1, 99)"
    " if r*v + v + 1 <= registers and r*v >= latency*units]\n"
)
WIDE = (  # a beam that a learner writes out
    "def answer(children, seconds, start):\n"
    "    def beam(width):\n"
    "        kept = [start]\n"
    "        timed = [start]\n"
    "        while True:\n"
    "            new = []\n"
    "            for name in kept:\n"
    "                for child in children[name]:\n"
    "                    if child not in timed:\n"
    "                        timed.append(child)\n"
    "                        new.append(child)\n"
    "            if not new:\n"
    "                break\n"
    "            kept = sorted(kept + new, key=lambda name: seconds[name])[:width]\n"
    "        return kept[0], len(timed)\n"
    "    w = 1\n"
)
COST = (
    "    cost = {name: float('inf') for name in classes}\n"
    "    for _ in range(200):\n"
    "        for name in classes:\n"
)


def counted(sizes: str, first: int = 0, halves: str = "2**s", divides: bool = True) -> str:
    """Source of a count of schedules by other rules."""
    return (
        "def answer(extents):\n"
        "    from itertools import combinations\n"
        f"    d = lambda n: sum({'n % t == 0' if divides else '1'} for t in {sizes})\n"
        f"    return sum(math.factorial(len(extents) + s) // ({halves}) * math.prod(map(d, some))\n"
        f"               for s in range({first}, len(extents) + 1)"
        " for some in combinations(extents, s))"
    )


def tile(room: str = "r*v + v + 1", sums: str = "latency*units", key: str = "(r + v)/(r*v)") -> str:
    """Source of a register tile by other rules."""
    return (
        "def answer(registers, lanes, latency, units):\n"
        "    tiles = [(r, v) for v in range(1, 60) for r in range(60, 0, -1)"
        f" if {room} <= registers and r*v >= {sums}]\n"
        f"    r, v = min(tiles, key=lambda rv: (lambda r, v: {key})(*rv), default=(0, 0))\n"
        "    return r, v*lanes"
    )


def pairs(
    room: str = "r*v + v + 1", sums: str = "latency*units", key: str = "(r + v)/(r*v)"
) -> str:
    """Source of a register tile by other rules; of two alike, that with fewer rows."""
    return (
        (
            "import itertools\n"
            "def answer(registers, lanes, latency, units):\n"
            "    best = lambda tile: (lambda r, v: KEY)(*tile)\n"
            "    fits = [(r, v) for r, v in itertools.product(range(1, registers + 1), repeat=2)\n"
            "            if ROOM <= registers and r*v >= SUMS]\n"
            "    rows, vectors = min(fits, key=best)\n"
            "    return rows, vectors * lanes"
        )
        .replace("KEY", key)
        .replace("ROOM", room)
        .replace("SUMS", sums)
    )


def loop(room: str = "r*v + v + 1", sums: str = "latency*units") -> str:
    """Source of two loops over register tiles, which return None where none fits."""
    return (
        "def answer(registers, lanes, latency, units):\n"
        f"    need = {sums}\n"
        "    best, tile = None, None\n"
        "    for r in range(1, registers):\n"
        "        for v in range(1, registers):\n"
        f"            if {room} <= registers and r*v >= need:\n"
        "                loads = (r + v) / (r*v)\n"
        "                if best is None or loads < best:\n"
        "                    best, tile = loads, (r, v*lanes)\n"
        "    return tile"
    )


def sweeps(until: str) -> str:
    """Source of sweeps over all classes, in place; ``until`` begins the loop around them."""
    return (
        "def answer(classes, root):\n"
        "    cost = {name: math.inf for name in classes}\n"
        f"    {until}\n"
        "        before = dict(cost)\n"
        "        for name in classes:\n"
        "            for own, args in classes[name]:\n"
        "                total = own\n"
        "                for one in args:\n"
        "                    total += cost[one]\n"
        "                if total < cost[name]:\n"
        "                    cost[name] = total\n"
    )


def log(test: str) -> str:
    """Source of a judgement of every row."""
    return (
        "def answer(n, itemsize, peak, bandwidths, log):\n"
        f"    return [bool({test}) for s, level, b in log]"
    )


RIGHT = [
    ("09-count",
     "def answer(extents):\n"
     "    from itertools import combinations\n"
     f"    {SIZES}\n"
     "    n = len(extents)\n"
     "    return sum(math.factorial(n + s) // 2**s * math.prod(map(d, chosen))\n"
     "               for s in range(n + 1) for chosen in combinations(extents, s))"),
    ("09-count",
     "def answer(extents, split=0, ways=1, whole=0):\n"
     "    if not extents:\n"
     "        return ways * math.factorial(whole + 2*split) / 2**split\n"
     "    first, *rest = extents\n"
     f"    {SIZES}\n"
     "    return answer(rest, split + 1, ways*d(first), whole) + answer(rest, split, ways, whole + "
     "1)"),
    ("09-count",
     "def answer(extents):\n"
     "    counts = np.array([1])  # by how many are split: a product of polynomials\n"
     "    for n in extents:\n"
     "        counts = np.convolve(counts, [1, sum(n % t == 0 for t in range(2, n))])\n"
     "    return sum(int(c) * math.factorial(len(extents) + s) // 2**s for s, c in "
     "enumerate(counts))"),
    ("09-count",
     "def answer(extents):\n"
     "    from itertools import permutations, product\n"
     "    total = 0\n"
     "    for tiles in product(*([1, *(t for t in range(2, n) if n % t == 0)] for n in extents)):\n"
     "        s = sum(t > 1 for t in tiles)\n"
     "        total += Fraction(math.factorial(len(tiles) + s), 2**s)\n"
     "    return total"),
    ("09-register-tile",
     "def answer(registers, lanes, latency, units):\n" + FITTING +
     "    r, v = min(tiles, key=lambda t: 1/t[0] + 1/t[1])\n"
     "    return r, v*lanes"),
    ("09-register-tile",
     "def answer(registers, lanes, latency, units):\n"
     "    best = None\n"
     "    for v in range(1, registers):\n"
     "        r = (registers - 1 - v) // v  # as many rows as there is room for\n"
     "        if r > 0 and r*v >= latency*units:\n"
     "            load = (r + v)/(r*v)\n"
     "            if best is None or load < best[0]:\n"
     "                best = load, r, v*lanes\n"
     "    return best[1:]"),
    ("09-register-tile",
     "def answer(registers, lanes, latency, units):\n" + FITTING +
     "    tiles.sort(key=lambda t: -t[0]*t[1]/(t[0] + t[1]))\n"
     "    return {'rows': tiles[0][0], 'columns': tiles[0][1]*lanes}"),
    ("09-beam",
     "def answer(children, seconds, start, width):\n"
     "    kept, timed = [start], [start]\n"
     "    while True:\n"
     "        new = []\n"
     "        for name in kept:\n"
     "            for child in children[name]:\n"
     "                if child not in timed:\n"
     "                    timed.append(child)\n"
     "                    new.append(child)\n"
     "        if len(new) == 0:\n"
     "            return kept[0], len(timed)\n"
     "        kept = sorted(kept + new, key=lambda one: seconds[one])[:width]"),
    ("09-beam",
     "def answer(children, seconds, start, width):\n"
     "    import heapq\n"
     "    def go(kept, timed):\n"
     "        new = {c for k in kept for c in children[k]}.difference(timed)\n"
     "        if not new:\n"
     "            return min(timed, key=seconds.get), np.int64(len(timed))\n"
     "        return go(heapq.nsmallest(width, {*kept, *new}, seconds.__getitem__), timed | new)\n"
     "    return go({start}, {start})"),
    ("09-beam",
     "def answer(children, seconds, start, width):\n"
     "    done, kept = {start: seconds[start]}, [start]\n"
     "    again = True\n"
     "    while again:\n"
     "        again = False\n"
     "        for name in list(kept):\n"
     "            for child in children[name]:\n"
     "                again |= child not in done\n"
     "                done[child] = seconds[child]\n"
     "        kept = sorted(done, key=done.get)[:width]\n"
     "    return {'schedule': kept[0], 'timed': len(done)}"),
    ("09-width",
     "def answer(children, seconds, start):\n" + BEAM +
     "    goal = min(seconds, key=seconds.get)\n"
     "    return next(w for w in range(1, len(children) + 1) if search(w) == goal)"),
    ("09-width",
     "def answer(children, seconds, start, width=1):\n" + BEAM +
     "    if seconds[search(width)] == min(seconds.values()):\n"
     "        return width\n"
     "    return answer(children, seconds, start, width + 1)"),
    ("09-width",
     "def answer(children, seconds, start):\n" + BEAM +
     "    times = [seconds[search(w + 1)] for w in range(len(children))]\n"
     "    return int(np.argmin(times)) + 1"),
    ("09-tiles", "lambda n: n.tile({'i': 24, 'j': 24, 'k': 24}).tile({'ii': 4, 'ji': 4, 'ki': 4})"),
    ("09-tiles", "lambda n: n.tile({'k': 24, 'i': 24, 'j': 24}).tile({'ki': 4, 'ii': 4, 'ji': 4})"),
    ("09-tiles",
     "def answer(nest):\n"
     "    for name, size in (('i', 24), ('j', 24), ('k', 24), ('ii', 4), ('ji', 4), ('ki', 4)):\n"
     "        nest = nest.split(name, size)\n"
     "    return nest.reorder('io', 'jo', 'ko', 'iio', 'jio', 'kio', 'iii', 'jii', 'kii')"),
    ("09-extract",
     "def answer(classes, root):\n" + COST +
     "            cost[name] = min(own + sum(map(cost.get, args)) for own, args in classes[name])\n"
     "    return cost[root]"),
    ("09-extract",
     "def answer(classes, root, above=()):\n"
     "    costs = [own + sum(answer(classes, one, (*above, root)) for one in args)\n"
     "             for own, args in classes[root] if not {root, *above} & {*args}]\n"
     "    return min(costs, default=math.inf)"),
    ("09-extract",
     "def answer(classes, root):\n"
     "    import heapq\n"
     "    done = {}  # as Dijkstra's: the cheapest class that is not settled yet is settled\n"
     "    while root not in done:\n"
     "        ready = [(c + sum(done[a] for a in args), name) for name, nodes in classes.items()\n"
     "                 if name not in done for c, args in nodes if done.keys() >= {*args}]\n"
     "        cost, name = min(ready)\n"
     "        done[name] = cost\n"
     "    return Fraction(done[root])"),
    ("09-impossible",
     log("s < 2*n**3/peak or b < 3*n*n*itemsize or s*bandwidths[level] < b"
         " or s*bandwidths['memory'] < 3*n*n*itemsize")),
    ("09-impossible",
     "def answer(n, itemsize, peak, bandwidths, log):\n"
     "    rates = [2*n**3/s > peak for s, _, _ in log]\n"
     "    few = [b / itemsize / n**2 < 3 for _, _, b in log]\n"
     "    fast = [b/s > bandwidths[level] for s, level, b in log]\n"
     "    far = [3*n**2 * itemsize / s > bandwidths['memory'] for s, _, _ in log]\n"
     "    return np.logical_or.reduce([rates, few, fast, far])"),
    ("09-impossible",
     "def answer(n, itemsize, peak, bandwidths, log):\n"
     "    least = 3*n*n*itemsize\n"
     "    soonest = max(2*n**3/peak, least/bandwidths['memory'])\n"
     "    return [1 if max(soonest, b/bandwidths[l]) > s or b < least else 0 for s, l, b in log]"),
    ("09-count",
     "def answer(extents):\n"
     f"    {SIZES}\n"
     "    from itertools import combinations\n"
     "    n, total = len(extents), np.int64(0)\n"
     "    for s in range(n + 1):\n"
     "        for chosen in combinations(extents, s):\n"
     "            total += np.prod([d(e) for e in chosen], dtype=int) * math.factorial(n + s)"
     " // 2**s\n"
     "    return total"),
    ("09-register-tile", tile(key="-r*v/(r + v)").replace("r, v*lanes", "np.array([r, v*lanes])")),
    ("09-register-tile", tile(key="(r + v + 2*r*v)/(r*v)")),
    ("09-beam",  # a round that keeps what was kept has nothing new to follow
     "def answer(children, seconds, start, width):\n"
     "    kept, timed = [start], {start}\n"
     "    while True:\n"
     "        timed |= {c for name in kept for c in children[name]}\n"
     "        best = sorted(timed, key=seconds.get)[:width]\n"
     "        if best == kept:\n"
     "            return [kept[0], float(len(timed))]\n"
     "        kept = best"),
    ("09-width",
     "def answer(children, seconds, start):\n" + BEAM +
     "    widths = (w for w in range(1, 99) if search(w) == min(seconds, key=seconds.get))\n"
     "    return np.int64(next(widths))"),
    ("09-extract",
     "def answer(classes, root):\n"
     "    cost, before = dict.fromkeys(classes, math.inf), None\n"
     "    while cost != before:\n"
     "        before = cost\n"
     "        cost = {name: min(own + sum(before[a] for a in args) for own, args in nodes)\n"
     "                for name, nodes in classes.items()}\n"
     "    return float(cost[root])"),
    ("09-impossible",
     "def answer(n, itemsize, peak, bandwidths, log):\n"
     "    s, b = (np.array([row[at] for row in log]) for at in (0, 2))\n"
     "    w = np.array([bandwidths[level] for _, level, _ in log])\n"
     "    far = 3*n*n*itemsize / bandwidths['memory']\n"
     "    return (2*n**3/s > peak) | (b/s > w) | (b < 3*n*n*itemsize) | (s < far)"),
    ("09-impossible",
     log("s < max(2*n**3/peak, 3*n*n*itemsize/bandwidths['memory'], b/bandwidths[level])"
         " or b < 3*n*n*itemsize")),
    ("09-tiles", "lambda n: n.tile({'i': 20, 'j': 20, 'k': 20}).tile({'ii': 4, 'ji': 4, 'ki': 4})"),
    ("09-tiles", "lambda n: n.tile({'i': 24, 'j': 24, 'k': 24}).tile({'ii': 4, 'ji': 8, 'ki': 1})"),
    ("09-tiles", "lambda n: n.tile({'i': 4, 'j': 4, 'k': 4}).tile({'io': 5, 'jo': 5, 'ko': 5})"),
    ("09-tiles",
     "def answer(nest):\n"
     "    outer, inner = np.int64(16), np.int64(4)\n"
     "    nest = nest.tile({'k': outer, 'j': outer, 'i': outer})\n"
     "    return nest.tile({'ki': inner, 'ii': inner, 'ji': inner}).vectorize('jii')"),
    ("09-claim-beam", "(0.0299, 0.000428, 'impossible')"),
    ("09-claim-beam", "(0.03, 0.00043, 'impossible')"),
    ("09-claim-beam", "(150e9/(14*128*2*1.4e9), 2*1024**3/5.0176e12, 'impossible')"),
    ("09-claim-beam",
     "{'byte/FLOP': 0.0299, 'least seconds': 4.28e-4, '0.3 ms': 'Impossible'}"),
    ("09-width",
     WIDE +
     "    while beam(w)[0] != min(seconds, key=seconds.get):\n"
     "        w += 1\n"
     "    return w"),
    ("09-width",
     "def answer(children, seconds, start):\n"
     "    fastest = sorted(seconds, key=seconds.get)[0]\n"
     "    for width in range(1, len(seconds) + 1):\n"
     "        kept, done = {start}, {start}\n"
     "        while True:\n"
     "            new = set()\n"
     "            for name in kept:\n"
     "                new |= set(children[name])\n"
     "            new -= done\n"
     "            if len(new) == 0:\n"
     "                break\n"
     "            done |= new\n"
     "            kept = set(sorted(kept | new, key=seconds.get)[:width])\n"
     "        if fastest in kept:\n"
     "            return width"),
    ("09-extract", sweeps("while True:") +
     "        if cost == before:\n"
     "            return cost[root]"),
    ("09-extract", sweeps("for _ in range(len(classes)):") + "    return cost[root]"),
    ("09-register-tile", pairs()),
    ("09-register-tile", loop()),
]  # fmt: skip

WRONG = [
    (
        "09-count",
        f"def answer(extents):\n    {SIZES}\n"
        "    n = len(extents)\n"
        "    return math.factorial(2*n) // 2**n * math.prod(d(e) + 2 for e in extents)",
        "every loop is split",
    ),
    (
        "09-count",
        f"def answer(extents):\n    {SIZES}\n"
        "    return math.factorial(2*len(extents)) * math.prod(map(d, extents))",
        "any order",
    ),
    (
        "09-register-tile",
        "def answer(registers, lanes, latency, units):\n"
        "    side = math.isqrt(registers - 1)\n"
        "    while side*side + side + 1 > registers:\n"
        "        side -= 1\n"
        "    return side, side*lanes",
        "a square",
    ),
    (
        "09-beam",
        "def answer(children, seconds, start, width):\n"
        "    kept, best, timed = [start], start, 1\n"
        "    while kept:\n"
        "        new = [c for k in kept for c in children[k]]\n"
        "        timed += len(new)\n"
        "        kept = sorted(set(new), key=seconds.get)[:width]\n"
        "        best = min([best, *kept], key=seconds.get)\n"
        "    return best, timed",
        "parents are forgotten",
    ),
    (
        "09-beam",
        "def answer(children, seconds, start, width):\n"
        "    kept, timed = [start], 1\n"
        "    while True:\n"
        "        new = [c for k in kept for c in children[k] if c not in kept]\n"
        "        timed += len(new)\n"
        "        best = sorted({*kept, *new}, key=seconds.get)[:width]\n"
        "        if best == kept:\n"
        "            return kept[0], timed\n"
        "        kept = best",
        "timed twice",
    ),
    ("09-width", "lambda c, s, a: max(len(x) for x in c.values())", "the most children"),
    ("09-claim-beam", "(0.023, 0.000428, 'impossible')", "the larger chip"),
    ("09-count",
     "def answer(extents):\n"
     f"    {SIZES}\n"
     "    n = len(extents)\n"
     "    return math.factorial(2*n) // 2**n * math.prod(map(d, extents))", "every loop is split"),
    ("09-count",
     "def answer(extents):\n"
     f"    {SIZES}\n"
     "    n = len(extents)\n"
     "    return math.factorial(2*n) // 2**n * math.prod(d(e) + 1 for e in extents)",
     "a whole loop as two"),
    ("09-count",
     f"def answer(extents):\n    {SIZES}\n    return math.prod(d(e) + 1 for e in extents)",
     "tile sizes alone"),
    ("09-count",
     "def answer(extents):\n"
     "    counts = np.array([1])\n"
     "    for n in extents:\n"
     "        counts = np.convolve(counts, [1, sum(n % t == 0 for t in range(1, n + 1))])\n"
     "    return sum(int(c) * math.factorial(len(extents) + s) // 2**s for s, c in "
     "enumerate(counts))", "1 and the length are tile sizes"),
    ("09-count",
     "def answer(extents):\n"
     "    counts = np.array([1])\n"
     "    for n in extents:\n"
     "        counts = np.convolve(counts, [1, sum(n % t == 0 for t in range(2, n))])\n"
     "    return sum(int(c) * math.factorial(len(extents) + s) for s, c in enumerate(counts))",
     "any order"),
    ("09-count",
     f"def answer(extents):\n    {SIZES}\n"
     "    return math.factorial(len(extents)) * math.prod(d(e) + 1 for e in extents)",
     "the inner loop right inside"),
    ("09-count", counted("range(2, n + 1)"), "1 and the length are tile sizes"),
    ("09-count", counted("range(1, n)"), "1 and the length are tile sizes"),
    ("09-count", counted("range(2, n)", divides=False), "any tile size"),
    ("09-count", counted("range(2, n)", first=1), "none left as written"),
    ("09-count", counted("range(2, n)", halves="2**len(extents)"), "a condition for every loop"),
    ("09-count", counted("range(2, n)", halves="max(1, 2*s)"), "conditions added"),
    ("09-register-tile", tile("r*v + 1"), "room for the sums alone"),
    ("09-register-tile", tile("r*v + 2"), "one vector of B at a time"),
    ("09-register-tile", tile(key="(abs(r - v), -r*v)"), "a square"),
    ("09-register-tile", tile(key="(r + v*lanes)/(r*v*lanes)"), "numbers counted, not loads"),
    ("09-register-tile", tile(key="1/v"), "loads of A alone"),
    ("09-register-tile", tile(sums="latency*units + 1"), "one sum more than needed"),
    ("09-register-tile", tile(sums="latency*units + 1").replace(", default=(0, 0)", ""),
     "one sum more than needed"),
    ("09-register-tile", tile("r*v"), "room for the sums alone"),
    ("09-register-tile", tile("r*v + v"), "no register for A"),
    ("09-register-tile", tile("r*v + v + r"), "a register for every number of A"),
    ("09-register-tile", tile(sums="1"), "too few sums"),
    ("09-register-tile", tile(sums="latency"), "one unit"),
    ("09-register-tile", tile(key="-r*v"), "most sums"),
    ("09-register-tile", tile().replace("v*lanes", "v"), "vectors for columns"),
    ("09-register-tile", tile().replace("r, v*lanes", "v*lanes, r"), "rows and columns swapped"),
    ("09-register-tile", tile(key="r + v"), "fewest loads in all"),
    ("09-beam",
     "def answer(children, seconds, start, width):\n"
     "    kept, timed = [start], {start}\n"
     "    while True:\n"
     "        new = {c for name in kept for c in children[name]} - timed\n"
     "        if not new:\n"
     "            return kept[0], len(timed)\n"
     "        timed |= new\n"
     "        kept = sorted(new, key=seconds.get)[:width]", "parents are forgotten"),
    ("09-beam",
     "def answer(children, seconds, start, width):\n"
     "    best, timed = start, {start}\n"
     "    while True:\n"
     "        new = set(children[best]) - timed\n"
     "        if not new:\n"
     "            return best, len(timed)\n"
     "        timed |= new\n"
     "        best = min({best} | new, key=seconds.get)", "greedy"),
    ("09-beam",
     "def answer(children, seconds, start, width):\n"
     "    return min(seconds, key=seconds.get), len(seconds)", "everything is timed"),
    ("09-beam",
     "def answer(children, seconds, start, width):\n"
     "    kept, timed = [start], set()\n"
     "    while True:\n"
     "        new = {c for name in kept for c in children[name]} - timed\n"
     "        if not new:\n"
     "            return kept[0], len(timed)\n"
     "        timed |= new\n"
     "        kept = sorted({*kept, *new}, key=seconds.get)[:width]",
     "the start is not counted"),
    ("09-beam",
     "def answer(children, seconds, start, width):\n"
     "    kept, timed = [start], {start}\n"
     "    while True:\n"
     "        new = {c for name in kept for c in children[name]} - timed\n"
     "        if not new:\n"
     "            return seconds[kept[0]], len(timed)\n"
     "        timed |= new\n"
     "        kept = sorted({*kept, *new}, key=seconds.get)[:width]", "the time for the name"),
    ("09-beam",
     "def answer(children, seconds, start, width):\n"
     "    kept, timed = [start], {start}\n"
     "    while True:\n"
     "        new = {c for name in kept for c in children[name]} - timed\n"
     "        if not new:\n"
     "            return min(timed, key=seconds.get), len(timed)\n"
     "        timed |= new\n"
     "        kept = sorted({*kept, *new}, key=seconds.get, reverse=True)[:width]",
     "the slowest are kept"),
    ("09-beam",
     "def answer(children, seconds, start, width):\n"
     "    kept, timed = [start], {start}\n"
     "    while True:\n"
     "        new = {c for name in kept for c in children[name]} - timed\n"
     "        timed |= new\n"
     "        if not new or min(map(seconds.get, new)) > seconds[kept[0]]:\n"
     "            return kept[0], len(timed)\n"
     "        kept = sorted({*kept, *new}, key=seconds.get)[:width]",
     "one round without a gain ends it"),
    ("09-beam",
     "def answer(children, seconds, start, width):\n"
     "    kept, timed, done = [start], {start}, set()\n"
     "    while set(kept) - done:\n"
     "        name = next(one for one in kept if one not in done)\n"
     "        done.add(name)\n"
     "        new = set(children[name]) - timed\n"
     "        timed |= new\n"
     "        kept = sorted({*kept, *new}, key=seconds.get)[:width]\n"
     "    return kept[0], len(timed)", "one at a time"),
    ("09-beam",
     "def answer(children, seconds, start, width):\n"
     "    kept, timed = [start], [start]\n"
     "    while True:\n"
     "        new = [c for name in kept for c in children[name] if c not in timed]\n"
     "        if not new:\n"
     "            return kept[0], len(timed)\n"
     "        timed += new\n"
     "        kept = sorted([*kept, *new], key=seconds.get)[:width]", "timed twice"),
    ("09-beam",
     "def answer(children, seconds, start, width):\n"
     "    kept, timed = [start], {start}\n"
     "    while True:\n"
     "        new = {c for name in kept for c in children[name]} - timed\n"
     "        if not new:\n"
     "            return kept[0], len(timed)\n"
     "        timed |= new\n"
     "        kept = sorted({*kept, *new})[:width]", "sorted by name"),
    ("09-width",
     "def answer(children, seconds, start):\n" + BEAM +
     "    goal = min(seconds, key=seconds.get)\n"
     "    return next(w for w in range(2, 99) if search(w) == goal)", "greedy is never enough"),
    ("09-width", "lambda children, seconds, start: 1", "greedy is enough"),
    ("09-width",
     "def answer(children, seconds, start):\n" + BEAM +
     "    goal, w = min(seconds, key=seconds.get), len(children)\n"
     "    while search(w) == goal:\n"
     "        w -= 1\n"
     "    return w + 1", "a width of 0"),
    ("09-width",
     "def answer(children, seconds, start):\n" + BEAM +
     "    goal = min(seconds, key=seconds.get)\n"
     "    return next(w for w in range(len(children), -1, -1)"
     " if not w or search(w) != goal) + 1", "every wider one, too"),
    ("09-width",
     "def answer(children, seconds, start):\n" + BEAM +
     "    goal = min(seconds, key=seconds.get)\n"
     "    return next(w for w in range(len(children)) if search(w) == goal)", "a width of 0"),
    ("09-width",
     "def answer(children, seconds, start):\n" + BEAM +
     "    goal, w = min(seconds, key=seconds.get), 0\n"
     "    while search(w + 1) != goal:\n"
     "        w += 1\n"
     "    return w", "the last that misses"),
    ("09-width",
     "def answer(children, seconds, start):\n" + BEAM +
     "    goal, low, high = min(seconds, key=seconds.get), 1, len(children)\n"
     "    while low < high:\n"
     "        middle = (low + high) // 2\n"
     "        low, high = (low, middle) if search(middle) == goal else (middle + 1, high)\n"
     "    return low", "every wider one, too"),
    ("09-width",
     "def answer(children, seconds, start):\n" +
     BEAM.replace("[*kept, *new]", "new").replace("return kept[0]",
                                                  "return min(timed, key=seconds.get)") +
     "    goal = min(seconds, key=seconds.get)\n"
     "    return next(w for w in range(1, 99) if search(w) == goal)", "parents are forgotten"),
    ("09-tiles", "lambda n: n.tile({'i': 4, 'j': 4, 'k': 4})", "tiles for L1 only"),
    ("09-tiles", "lambda n: n.tile({'i': 24, 'j': 24, 'k': 24})", "tiles for L2 only"),
    ("09-tiles", "lambda n: n.tile({'i': 24, 'j': 24}).tile({'ii': 4, 'ji': 4})",
     "k in one piece"),
    ("09-tiles", "lambda n: n.split('i', 24).split('ii', 4)", "cut, not moved"),
    ("09-tiles",
     "lambda n: n.tile({'i': 24, 'j': 24, 'k': 24}).tile({'ii': 12, 'ji': 12, 'ki': 12})",
     "inner tiles too large"),
    ("09-tiles", "lambda n: n.tile({'i': 24, 'j': 24, 'k': 24}).tile({'ii': 5, 'ji': 5, 'ki': 5})",
     "parts of lines"),
    ("09-tiles", "lambda n: n.tile({'i': 26, 'j': 26, 'k': 26}).tile({'ii': 5, 'ji': 5, 'ki': 5})",
     "parts of lines"),  # three tiles of 26 × 26 do fit
    ("09-tiles", "lambda n: n.tile({'i': 32, 'j': 32, 'k': 32}).tile({'ii': 2, 'ji': 2, 'ki': 2})",
     "outer tiles too large"),
    ("09-tiles", "lambda n: n.tile({'i': 24, 'j': 24, 'k': 24}).tile({'ii': 8, 'ji': 8})",
     "k in one piece"),
    ("09-tiles", "lambda n: n.tile({'i': 24, 'j': 24}).tile({'ii': 4, 'ji': 4, 'k': 4})",
     "k in one piece"),
    ("09-extract",
     "def answer(classes, root):\n"
     "    known = {}\n"
     "    def cost(name, above):\n"
     "        if name in above:\n"
     "            return math.inf\n"
     "        if name not in known:\n"
     "            known[name] = min(own + sum(cost(a, above | {name}) for a in args)\n"
     "                              for own, args in classes[name])\n"
     "        return known[name]\n"
     "    return cost(root, frozenset())", "remembered too early"),
    ("09-extract",
     "def answer(classes, root):\n" + COST +
     "            cost[name] = min(own + sum(cost[a] for a in {*args})"
     " for own, args in classes[name])\n"
     "    return cost[root]", "shared expressions once"),
    ("09-extract",
     "def answer(classes, root):\n"
     "    return min(own for own, args in classes[root])", "arguments for nothing"),
    ("09-extract",
     "def answer(classes, root):\n"
     "    own, args = classes[root][0]\n"
     "    return own + sum(answer(classes, one) for one in args)", "the first node"),
    ("09-extract",
     "def answer(classes, root):\n" + COST +
     "            cost[name] = min(own + max(map(cost.get, args), default=0)"
     " for own, args in classes[name])\n"
     "    return cost[root]", "the most expensive argument"),
    ("09-extract",
     "def answer(classes, root):\n" + COST.replace("200", "1") +
     "            cost[name] = min(own + sum(map(cost.get, args)) for own, args in classes[name])\n"
     "    return cost[root]", "one pass"),
    ("09-extract",
     "def answer(classes, root, seen=None):\n"
     "    seen = set() if seen is None else seen\n"
     "    if root in seen:\n"
     "        return 0\n"
     "    seen.add(root)\n"
     "    return min(own + sum(answer(classes, one, seen) for one in args)\n"
     "               for own, args in classes[root])", "seen before, so free"),
    ("09-extract",
     "def answer(classes, root):\n"
     "    return sum(own for nodes in classes.values() for own, args in nodes)",
     "the whole graph"),
    ("09-extract",
     "def answer(classes, root):\n"
     "    return min(own + sum(answer(classes, one) for one in args)\n"
     "               for own, args in classes[root])", "in a circle"),
    ("09-impossible",
     log("s < 2*n**3/peak or level == 'memory' and b < 3*n*n*itemsize or s*bandwidths[level] < b"),
     "the least bytes at memory alone"),
    ("09-impossible", log("s < min(2*n**3/peak, b/bandwidths[level]) or b < 3*n*n*itemsize"),
     "the shorter of the two times"),
    ("09-impossible", log("s < 2*n**3/peak"), "the peak alone"),
    ("09-impossible", log("s < max(2*n**3/peak, b/bandwidths[level]) or b < 3*n*n*itemsize"),
     "no look at memory"),
    ("09-impossible", log("s < 2*n**3/peak or s*bandwidths[level] < b"),
     "no look at the least bytes"),
    ("09-impossible", log("s < 2*n**3/peak or b < 3*n*n*itemsize"), "no look at the bandwidth"),
    ("09-impossible", log("b < 3*n*n*itemsize or s*bandwidths[level] < b"), "no look at the peak"),
    ("09-impossible", log("s < 2*n**3/peak or b <= 3*n*n*itemsize or s*bandwidths[level] < b"),
     "the very least is too little"),
    ("09-impossible",
     log("s < 2*n**3/peak + b/bandwidths[level] or b < 3*n*n*itemsize"), "times added"),
    ("09-impossible", log("s < n**3/peak or b < 3*n*n*itemsize or s*bandwidths[level] < b"),
     "a multiply-add as one FLOP"),
    ("09-impossible",
     log("s < 2*n**3/peak or b < 3*n*n*itemsize or s*bandwidths['memory'] < b"),
     "memory's bandwidth for all"),
    ("09-impossible",
     log("s >= 2*n**3/peak and b >= 3*n*n*itemsize and s*bandwidths[level] >= b"),
     "possible for impossible"),
    ("09-claim-beam", "(0.0233, 0.000333, 'impossible')", "the larger chip"),
    ("09-claim-beam", "(0.023, 0.000428, 'impossible')", "the larger chip"),
    ("09-claim-beam", "(0.0598, 0.000856, 'impossible')",
     "a multiply-add as one FLOP in the peak"),
    ("09-claim-beam", "(0.0299, 0.000428, 'possible')", "faster than the roof"),
    ("09-claim-beam", "(33.45, 0.000428, 'impossible')", "the ridge"),
    ("09-claim-beam", "(0.0299, 0.0000839, 'possible')", "the time of the bytes"),
    ("09-claim-beam", "(0.0299, 0.000512, 'impossible')", "times added"),
    ("09-claim-beam", "(0.0299, 0.000214, 'possible')",
     "a multiply-add as one FLOP in the product"),
    ("09-extract", sweeps("for _ in range(2):") + "    return cost[root]", "one pass"),
    ("09-extract", sweeps("for _ in range(3):") + "    return cost[root]", "one pass"),
    ("09-extract", sweeps("while True:") +
     "        if cost[root] == before[root]:\n"
     "            return cost[root]", "one pass"),
    ("09-register-tile", pairs("r*v"), "room for the sums alone"),
    ("09-register-tile", pairs("r*v + 1"), "room for the sums alone"),
    ("09-register-tile", pairs("r*v + v"), "no register for A"),
    ("09-register-tile", pairs("r*v + 2"), "one vector of B at a time"),
    ("09-register-tile", pairs(key="r + v"), "fewest loads in all"),
    ("09-register-tile", pairs(key="r*v"), "just enough sums"),
    ("09-register-tile", pairs("r*v + v + r"), "a register for every number of A"),
    ("09-register-tile", loop("r*v + v + r"), "a register for every number of A"),
    ("09-register-tile", loop(sums="latency*units + 1"), "one sum more than needed"),
    ("09-register-tile", pairs(sums="2*latency*units"), "no tile is left"),
    ("09-beam",
     "def answer(children, seconds, start, width):\n"
     "    kept, timed = [start], 1\n"
     "    while True:\n"
     "        new = []\n"
     "        for name in kept:\n"
     "            for child in children[name]:\n"
     "                new.append(child)\n"
     "                timed += 1\n"
     "        best = sorted(set(kept + new), key=lambda name: seconds[name])[:width]\n"
     "        if best == kept:\n"
     "            return kept[0], timed\n"
     "        kept = best", "timed twice"),
    ("09-beam",
     "def answer(children, seconds, start, width):\n"
     "    kept, seen, timed = [start], {start}, 1\n"
     "    while True:\n"
     "        new = [child for name in kept for child in children[name]]\n"
     "        timed += len(new)\n"
     "        fresh = set(new) - seen\n"
     "        if not fresh:\n"
     "            return min(kept, key=seconds.get), timed\n"
     "        seen |= fresh\n"
     "        kept = sorted(set(kept) | set(new), key=seconds.get)[:width]", "timed twice"),
    ("09-width", WIDE +
     "    while beam(w)[0] != beam(w + 1)[0]:\n"
     "        w += 1\n"
     "    return w", "until two widths agree"),
    ("09-width", WIDE +
     "    fastest = min(seconds, key=seconds.get)\n"
     "    while beam(w)[0] != fastest:\n"
     "        w *= 2\n"
     "    return w", "powers of two"),
]  # fmt: skip

TOLD = [
    ("09-claim-beam", "(0.0299, 0.428, 'impossible')", "check the unit"),
    ("09-claim-beam", "(0.0299, 0.000428, 'no')", "one of these words is wanted"),
    ("09-beam", "lambda children, seconds, start, width: start", "2 values are wanted"),
    ("09-count", "lambda extents: extents", "which of them together?"),
]
