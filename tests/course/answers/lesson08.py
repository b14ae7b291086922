"""Answers to lesson 08, written as a learner writes them (see test_answers.py)."""

from tests.exercises.dresses import put

RIGHT = {
    "08-innermost": [
        """def answer(operands, itemsize, line):
    whole = lambda x: Fraction(sum(x in t[:-1] for t in operands))
    part = lambda x: Fraction(itemsize, line) * sum(t[-1] == x for t in operands)
    loops = list(dict.fromkeys(''.join(operands)))
    lines = [whole(x) + part(x) for x in loops]
    return {'loop': loops[lines.index(min(lines))], 'lines': float(min(lines))}""",
    ],
    "08-legal": [
        "lambda d, o: list(filter(lambda x: next(x[i] for i in o if x[i]) < 0, d))",
        """def answer(distances, order):
    def bad(x, rest):
        return bool(rest) and (x[rest[0]] < 0 or x[rest[0]] == 0 and bad(x, rest[1:]))
    return [np.array(x) for x in distances if bad(x, order)]""",
    ],
    "08-pair": [
        """def answer(rows, columns, back, ahead, tile):
    places = [(i, j) for i in range(rows) for j in range(columns)]
    order = sorted(places, key=lambda s: (s[0] // tile, s[1] // tile))
    when = {s: n for n, s in enumerate(order)}
    pairs = [(s, (s[0] - back, s[1] + ahead)) for s in when]
    late = [(s, p) for s, p in pairs if when.get(p, -1) > when[s]]
    return min(late)""",
    ],
    "08-skew": [
        """def answer(ds, f=0):
    return np.int64(f) if all(e + f * d >= 0 for d, e in ds) else answer(ds, f + 1)""",
        "lambda ds: next(f for f in range(10**6) if min(e + f * d for d, e in ds) >= 0)",
    ],
    "08-vectorise": [
        "lambda n: n.reorder('i', 'k', 'j').split('j', 8).vectorize('ji').parallel('i')",
        """def answer(nest):
    nest = nest.split('j', 8)
    nest = nest.split('i', 4).reorder('jo', 'io', 'k', 'ii', 'ji')
    nest = nest.unroll('ii').vectorize('ji').pack('B')
    assert nest.check(), nest.check()
    return nest""",
        "lambda n: n.interchange('j', 'k').strip_mine('j', 8).vectorize('ji')",
    ],
    "08-inside": [
        """def answer(r, n, h):
    return (round(2*n*h/r[0]), round(np.median(r[-3:])/(2*n*h)),
        round(2*n*h/r[0])*round(np.median(r[-3:])/(2*n*h)))""",
    ],
    "08-stencil-tiles": [
        "lambda n: n.skew('x', by='t', factor=2).tile({'t': 150, 'x': 16})",
        """def answer(nest):
    nest = nest.skew('x', 't', 2)
    nest = nest.strip_mine('x', 50).strip_mine('t', 10)
    nest = nest.reorder('to', 'xo', 'ti', 'xi').coalesce('to', 'xo', 'tile')
    return nest.unroll('xi')""",
        "lambda n: n.skew('x', 't', 2).split('t', 12).split('x', 40).interchange('ti', 'xo')",
    ],
}  # fmt: skip

WRONG = {
    "08-vectorise": {
        "the sum as a vector": "lambda n: n.reorder('i', 'k', 'j').vectorize('k')",
        "the rows as lanes": "lambda n: n.vectorize('i')",
        "the sum travels": "lambda n: n.reorder('k', 'i', 'j').split('j', 8).vectorize('ji')",
        "too few lanes": "lambda n: n.reorder('i', 'k', 'j').split('j', 2).vectorize('ji')",
    },
    "08-stencil-tiles": {
        "the sweeps slanted": "lambda n: n.skew('t', 'x', 2).tile({'t': 4, 'x': 32})",
        "tiles that do not fit": "lambda n: n.skew('x', 't', 2).tile({'t': 16, 'x': 250})",
        "tiles at once": "lambda n: n.tile({'t': 4, 'x': 16})",
        "too little slant": "lambda n: n.skew('x', 't').tile({'t': 4, 'x': 16})",
        "slanted the wrong way": "lambda n: n.skew('x', 't', -2).interchange('t', 'x')",
        "slanted, and in the old order": "lambda n: n.skew('x', 't', 4)",
        "tiles before the slant": "lambda n: n.tile({'x': 16, 't': 4}).skew('xi', 'ti', 2)",
    },
}  # fmt: skip

TOLD = {
    "08-skew": {"raised ZeroDivisionError": "lambda ds: max(-(e // d) for d, e in ds)"},
    "08-vectorise": {
        "loop='ikj' is unknown": "lambda n: n.reorder('ikj')",
        "a text came back; return the nest itself": "lambda n: n.code()",
        "call it": "lambda n: n.tile",
        "it returned None": "lambda n: n and None",
        "factor=0 must be a positive integer": "lambda n: n.split('j', 0)",
        "factor=500 is more than loop 'i' runs": """def answer(n):
    return n.reorder('i', 'k', 'j').split('j', 8).vectorize('ji').split('i', 500)""",
        "vectorize one of them": """def answer(n):
    return n.split('j', 8).vectorize('ji').vectorize('jo').reorder('i', 'k', 'jo', 'ji')""",
    },
}  # fmt: skip

INNERMOST = (
    "def answer(operands, itemsize, line):\n"
    "    cost = lambda x: sum(0 if x not in o else itemsize/line if o[-1] == x else 1 for o in O)\n"
    "    best = min(sorted(set(''.join(operands))), key=KEY)\n"
    "    return best, cost(best)"
)
PASSED_ONCE = [
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
     "lambda d, o: [x for x in d if sum(x[i] * 1000.0**-n for n, i in enumerate(o)) < 0]"),
    ("08-legal", "lambda d, o: [x for x in d if [x[i] for i in o[:3]] < [0, 0, 0][:len(o)]]"),
    ("08-legal", "lambda d, o: [list(x) for x in dict.fromkeys(map(tuple, d))"
                 " if [x[i] for i in o] < [0]*len(o)]"),
    ("08-legal", "lambda d, o: [x for x in d if [x[i] for i in o] < [0]*len(o)] or d[:1]"),
    ("08-pair", "lambda r, c, b, a, t: ((b, t - a), (0, t))"),
    ("08-pair", "lambda r, c, b, a, t: ((b, max(0, t - a)), (0, t))"),
    ("08-pair", "lambda r, c, b, a, t: ((b, abs(t - a)), (0, abs(t - a) + a))"),
    ("08-pair", "lambda r, c, b, a, t: ((b, max(0, t - a) if t < 99 else 0),"
                " (0, max(0, t - a) + a if t < 99 else a))"),
    ("08-skew",
     "lambda ds: next((f for f in range(500) if all(e + f*d >= 0 for d, e in ds)), 500)"),
    ("08-skew", "lambda ds: max([0] + [-int(e / d) for d, e in ds if d])"),
    ("08-skew", "lambda ds: max([0] + [math.ceil(round(-e/d, 6)) for d, e in ds if d])"),
    ("08-skew", "lambda ds: max([0] + [int(-e / d + 0.99) for d, e in ds if d])"),
    ("08-skew", "lambda ds: max([0] + [round(-e / d + 0.4) for d, e in ds if d])"),
    ("08-skew", "lambda ds: max([0] + [math.ceil(-e / min(d, 8)) for d, e in ds if d])"),
    ("08-inside", "lambda r, n, h: (round(2*n*h/r[0]), round(max(r)/2/n/h),"
                  " next(i for i, x in enumerate(r, 1) if x >= 0.97*max(r)))"),
    ("08-inside", "lambda r, n, h: (round(2*n*h/r[0]), round(max(r)/2/n/h), round(max(r)/r[0]))"),
    ("08-inside", "lambda r, n, h: (round(2*n*h/r[0]), round(max(r)/2/n/h), len(r) - 4)"),
    ("08-inside", "lambda r, n, h: (round(2*n*h/r[0]), min(2, round(max(r)/2/n/h)),"
                  " round(2*n*h/r[0]) * round(max(r)/2/n/h))"),
]  # fmt: skip
