"""Wrong answers to lessons 07 to 09, one row each (see test_wrong_answers.py)."""

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
COUNT = (
    "def answer(extents):\n"
    "    from itertools import product\n"
    "    total = 0\n"
    "    for chosen in product((0, 1), repeat=len(extents)):\n"
    "        ways = math.factorial(len(extents) + sum(chosen))//2**sum(chosen)\n"
    "        for e, split in zip(extents, chosen):\n"
    "            if split: ways *= SIZES\n"
    "        total += ways\n"
    "    return total"
)
WIDTH = (
    "def answer(children, seconds, start):\n"
    "    def search(width):\n"
    "        kept, timed = [start], {start}\n"
    "        while new := {c for name in kept for c in children[name]} - timed:\n"
    "            timed |= new\n"
    "            kept = sorted({*kept, *new}, key=seconds.get)[:width]\n"
    "        return kept[0]\n"
    "    goal = GOAL\n"
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
FITS = "lambda n, c, s, f: max([t for t in range(1, n + 1) if n % t == 0 and TEST], default=1)"
COLUMN = (
    "def answer(rows, row_bytes, line, sets, ways):\n"
    "    from collections import Counter\n"
    "    held = Counter(x % sets for x in LINES)\n"
    "    return len(held), sum(min(ways, v) for v in held.values())"
)
INNERMOST = (
    "def answer(operands, itemsize, line):\n"
    "    cost = lambda x: sum(0 if x not in o else itemsize/line if o[-1] == x else 1 for o in O)\n"
    "    best = min(sorted(set(''.join(operands))), key=KEY)\n"
    "    return best, cost(best)"
)


def put(source: str, **parts: object) -> str:
    for name, part in parts.items():
        source = source.replace(name, str(part))
    return source


ROWS = [
    # an argument that is the same in all cases, or only a few of its values
    ("07-column", put(COLUMN, LINES="{r*row_bytes//64 for r in range(rows)}")),
    ("07-column", put(COLUMN, LINES="{r*(row_bytes//line) for r in range(rows)}")),
    ("07-column", put(COLUMN, LINES="[r*row_bytes//line for r in range(rows)]")),
    ("07-column", put(COLUMN, LINES="{r*-(-row_bytes//line) for r in range(rows)}")),
    ("07-column", put(COLUMN, LINES="{r*row_bytes//line for r in range(min(rows, 1000))}")),
    ("07-column", put(COLUMN, LINES="{r*max(row_bytes, line)//line for r in range(rows)}")),
    ("07-fits", put(FITS, TEST="f*t*t*max(2, s) <= c")),
    ("07-fits", put(FITS, TEST="f*t*t*s < c")),
    ("07-fits", put(FITS, TEST="round(f)*t*t*s <= c")),
    ("07-fits", put(FITS, TEST="math.ceil(f)*t*t*s <= c")),
    ("07-fits", put(FITS, TEST="t < n and f*t*t*s <= c")),
    ("07-fits", put(FITS, TEST="f*t*t*min(s, 4) <= c")),
    ("07-fits", "lambda n, c, s, f: max(t for t in (1, 2, 3, 4, 5, 6, 8, 9, 10, 12, 15, 16, 20, "
                "24, 30, 36, 40, 48, 60, 72, 90) if n % t == 0 and f*t*t*s <= c)"),
    ("07-two-levels",
     "def answer(n, inner, outer, itemsize, bandwidths, peak):\n"
     "    near, far = ((2*n**3//side + n*n)*4 for side in (inner, outer))\n"
     "    return near, far, max(near/bandwidths[0], far/bandwidths[1], 2*n**3/peak)"),
    ("07-two-levels",
     "def answer(n, inner, outer, itemsize, bandwidths, peak):\n"
     "    near = (2*n**3//inner + n*n)*itemsize\n"
     "    far = (2*n**3//outer + n*n)*itemsize if outer < n else 4*n*n*itemsize\n"
     "    return near, far, max(near/bandwidths[0], far/bandwidths[1], 2*n**3/peak)"),
    ("07-tiles", "lambda m, n, k, p, q, s: (m*k*(n//q) + k*n*(m//p) + m*n) * max(s, 2)"),
    ("07-tiles", "lambda m, n, k, p, q, s: (m*k*(n//q) + k*n*(m//p) + m*n) * min(s, 4)"),
    ("07-tiles", "lambda m, n, k, p, q, s: (m*k*max(2, n//q) + k*n*max(2, m//p) + m*n) * s"),
    ("07-claim-thousand", "lambda n, t: (t, (2*n + 1) / (2*max(n//t, 2) + 1))"),
    ("07-claim-thousand", "lambda n, t: (t, t*(1 - t/(2*n)))"),
    ("07-lru",
     "def answer(lines, capacity):\n"
     "    last, missed = {}, 0\n"
     "    for now, line in enumerate(lines):\n"
     "        seen = set(lines[max(0, now - 24):now])\n"
     "        others = set(lines[last[line] + 1:now]) if line in last else range(99)\n"
     "        missed += line not in seen or len(others) >= capacity\n"
     "        last[line] = now\n"
     "    return missed"),
    ("07-lru",
     "def answer(lines, capacity):\n"
     "    held, missed = [], 0\n"
     "    for line in lines:\n"
     "        if line in held:\n"
     "            held.remove(line)\n"
     "        else:\n"
     "            missed += 1\n"
     "            held = held[-(capacity - 1):] if len(held) == capacity else held\n"
     "        held.append(line)\n"
     "    return missed"),
    ("08-innermost", put(INNERMOST, KEY="cost", O="set(operands)")),
    ("08-innermost", put(INNERMOST, O="operands",
                         KEY="lambda l: sum(l in o and o[-1] != l for o in operands)")),
    ("08-innermost", put(INNERMOST, O="operands", KEY="lambda l: (sum(l in o and o[-1] != l "
                         "for o in operands), -sum(o[-1] == l for o in operands))")),
    ("08-innermost", put(INNERMOST, O="operands",
                         KEY="lambda l: (l not in {o[-1] for o in operands}, cost(l))")),
    ("08-innermost", put(INNERMOST, KEY="cost", O="operands[:4]")),
    ("08-innermost", put(INNERMOST, KEY="cost", O="operands").replace(
        "itemsize/line", "max(2, itemsize)/max(line, 64)")),
    ("08-legal",
     "lambda d, o: [x for x in d if sum(x[i] * 10.0**-n for n, i in enumerate(o)) < 0]"),
    ("08-legal", "lambda d, o: [x for x in d if [x[i] for i in o[:3]] < [0, 0, 0][:len(o)]]"),
    ("08-legal", "lambda d, o: [list(x) for x in dict.fromkeys(map(tuple, d))"
                 " if [x[i] for i in o] < [0]*len(o)]"),
    ("08-legal", "lambda d, o: [x for x in d if [x[i] for i in o] < [0]*len(o)] or d[:1]"),
    ("08-pair", "lambda r, c, b, a, t: ((b, t - a), (0, t))"),
    ("08-pair", "lambda r, c, b, a, t: ((b, max(0, t - a)), (0, t))"),
    ("08-pair", "lambda r, c, b, a, t: ((b, abs(t - a)), (0, abs(t - a) + a))"),
    ("08-pair", "lambda r, c, b, a, t: ((b, max(0, t - a) if t < 99 else 0),"
                " (0, max(0, t - a) + a if t < 99 else a))"),
    ("08-skew", "lambda distances: next((f for f in range(10)"
                " if all(e + f*d >= 0 for d, e in distances)), 10)"),
    ("08-skew",
     "lambda ds: next((f for f in range(500) if all(e + f*d >= 0 for d, e in ds)), 500)"),
    ("08-skew", "lambda ds: max([0] + [-int(e / d) for d, e in ds if d])"),
    ("08-skew", "lambda ds: max([0] + [round(-e / d + 0.4) for d, e in ds if d])"),
    ("08-skew", "lambda ds: max([0] + [math.ceil(-e / min(d, 8)) for d, e in ds if d])"),
    ("08-inside", "lambda r, n, h: (round(2*n*h/r[0]), round(max(r)/2/n/h),"
                  " next(i for i, x in enumerate(r, 1) if x >= 0.97*max(r)))"),
    ("08-inside", "lambda r, n, h: (round(2*n*h/r[0]), round(max(r)/2/n/h),"
                  " next(i for i, x in enumerate(r, 1) if x >= 0.95*max(r)))"),
    ("08-inside", "lambda r, n, h: (round(2*n*h/r[0]), round(max(r)/2/n/h), round(max(r)/r[0]))"),
    ("08-inside", "lambda r, n, h: (round(2*n*h/r[0]), round(max(r)/2/n/h), len(r) - 4)"),
    ("08-inside", "lambda r, n, h: (round(2*n*h/r[0]), min(2, round(max(r)/2/n/h)),"
                  " round(2*n*h/r[0]) * round(max(r)/2/n/h))"),
    ("09-beam", put(BEAM, ROUNDS=10, IDLE=99)),
    ("09-beam", put(BEAM, ROUNDS=20, IDLE=99)),
    ("09-beam", put(BEAM, ROUNDS=999, IDLE=2)),
    ("09-beam", put(BEAM, ROUNDS=999, IDLE=9)),
    ("09-beam", put(BEAM, ROUNDS=999, IDLE=99).replace("[:width]", "[:min(width, 8)]")),
    ("09-beam", put(BEAM, ROUNDS=999, IDLE=99).replace("return kept[0]",
                                                       "return min(seconds, key=seconds.get)")),
    ("09-width", put(WIDTH, GOAL="min(seconds, key=seconds.get)", WIDTHS="range(1, 10)")),
    ("09-width", put(WIDTH, GOAL="min(seconds, key=seconds.get)", WIDTHS="range(1, 21)")),
    ("09-width", put(WIDTH, GOAL="min(seconds, key=seconds.get)",
                     WIDTHS="(1, 2, 3, 4, 6, 8, 12, 16, 24)")),
    ("09-count", put(COUNT, SIZES="sum(e % t == 0 for t in range(2, min(e, 32)))")),
    ("09-count", put(COUNT, SIZES="sum(e % t == 0 for t in range(2, min(e, 1000)))")),
    ("09-count", put(COUNT, SIZES="2*sum(e % t == 0 for t in range(2, math.isqrt(e) + 1))")),
    ("09-count", put(COUNT, SIZES="sum(e % t == 0 for t in range(2, e//2))")),
    ("09-count", put(COUNT, SIZES="max(1, sum(e % t == 0 for t in range(2, e)))")),
    ("09-count", put(COUNT, SIZES="sum(e % t == 0 for t in range(2, e))").replace(
        "    total = 0\n", "    total, extents = 0, [*dict.fromkeys(extents)]\n")),
    ("09-register-tile", put(TILE, MOST=17, SUMS="latency*units", LANES="lanes")),
    ("09-register-tile", put(TILE, MOST=33, SUMS="latency*units", LANES="lanes")),
    ("09-register-tile", put(TILE, MOST=61, SUMS="latency*min(units, 2)", LANES="lanes")),
    ("09-register-tile", put(TILE, MOST=61, SUMS="latency*units", LANES="max(lanes, 4)")),
    ("09-register-tile", put(TILE, MOST=61, SUMS="latency*units - 1", LANES="lanes")),
    ("09-extract", put(SWEEPS, ROUNDS=10)),
    ("09-extract", put(SWEEPS, ROUNDS=100)),
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
