"""Answers to lesson 07, written as a learner writes them (see test_answers.py)."""

from tests.exercises.dresses import put

RIGHT = {
    "07-lru": [
        """def answer(lines, capacity):
    from functools import lru_cache
    fetch = lru_cache(maxsize=capacity)(lambda line: None)
    for line in lines:
        fetch(line)
    return fetch.cache_info().misses""",
    ],
    "07-tiles": [
        "lambda m, n, k, p, q, s: np.dot([m*k, k*n, m*n], [n//q, m//p, 1]) * s",
        "lambda m, n, k, tm, tn, itemsize: math.prod((m, n, itemsize)) * (1 + k*(tm + tn)/(tm*tn))",
    ],
    "07-claim-thousand": [
        """def answer(n, t):
    Saving = namedtuple('Saving', 'ab all')
    return Saving(t, (2*n**3 + n**2) / (2*n**3 / t + n**2))""",
        """def answer(n, t):
    ratio = lambda c: (2*n**3 + c) / (2*n*n*n//t + c)
    return list(map(ratio, (0, n*n)))""",
    ],
    "07-fits": [
        """def answer(n, c, s, f):
    return max(filter(lambda t: not n % t, range(1, math.isqrt(int(c/(s*f))) + 1)))""",
        """def answer(n, cache, itemsize, tiles):
    for t in reversed(range(n + 1)):
        if math.gcd(n, t) == t and t**2 * tiles * itemsize <= cache:
            return t""",
    ],
    "07-column": [
        """def answer(rows, row_bytes, line, sets, ways):
    where = np.unique(np.arange(rows) * row_bytes // line) % sets
    where, count = np.unique(where, return_counts=True)
    return len(where), count.clip(max=ways).sum()""",
    ],
}  # fmt: skip

WRONG = {
    "07-claim-forty": {
        "the tile of 10": "('A, B, C read and written', 'tiles of 10', 'the tile')",
        "C stays in a register": "('A, B', 'each matrix once', 'the tile')",
    },
}  # fmt: skip

TOLD = {}

FITS = "lambda n, c, s, f: max([t for t in range(1, n + 1) if n % t == 0 and TEST], default=1)"
COLUMN = (
    "def answer(rows, row_bytes, line, sets, ways):\n"
    "    from collections import Counter\n"
    "    held = Counter(x % sets for x in LINES)\n"
    "    return len(held), sum(min(ways, v) for v in held.values())"
)
PASSED_ONCE = [
    ("07-column", put(COLUMN, LINES="{r*row_bytes//64 for r in range(rows)}")),
    ("07-column", put(COLUMN, LINES="{r*(row_bytes//line) for r in range(rows)}")),
    ("07-column", put(COLUMN, LINES="[r*row_bytes//line for r in range(rows)]")),
    ("07-column", put(COLUMN, LINES="{(r + 1)*row_bytes//line for r in range(rows)}")),
    ("07-column", put(COLUMN, LINES="{round(r*row_bytes/line) for r in range(rows)}")),
    ("07-column", put(COLUMN.replace("% sets", "& (sets - 1)"),
                      LINES="{r*row_bytes//line for r in range(rows)}")),
    ("07-column", put(COLUMN, LINES="{r*-(-row_bytes//line) for r in range(rows)}")),
    ("07-column", put(COLUMN, LINES="{r*row_bytes//line for r in range(min(rows, 1000))}")),
    ("07-column", put(COLUMN, LINES="{r*max(row_bytes, line)//line for r in range(rows)}")),
    ("07-column", put(COLUMN, LINES="{r*row_bytes//line for r in range(rows)}").replace(
        "sum(min(ways, v) for v in held.values())", "min(sum(held.values()), ways*len(held))")),
    ("07-fits", put(FITS, TEST="f*t*t*max(2, s) <= c")),
    ("07-fits", put(FITS, TEST="f*t*t*s < c")),
    ("07-fits", put(FITS, TEST="int(f*t*t)*s <= c")),
    ("07-fits", put(FITS, TEST="round(f)*t*t*s <= c")),
    ("07-fits", put(FITS, TEST="math.ceil(f)*t*t*s <= c")),
    ("07-fits", put(FITS, TEST="t < n and f*t*t*s <= c")),
    ("07-fits", put(FITS, TEST="f*t*t*min(s, 4) <= c")),
    ("07-fits", "lambda n, c, s, f: max(t for t in (1, 2, 3, 4, 5, 6, 8, 9, 10, 12, 15, 16, 20, "
                "24, 30, 36, 40, 48, 60, 72, 90) if n % t == 0 and f*t*t*s <= c)"),
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
]  # fmt: skip
