"""Answers to lesson 07, written as a learner writes them (see test_dress.py)."""

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
    "07-two-levels": [
        """def answer(n, inner, outer, itemsize, bandwidths, peak):
    def moved(side):
        return (n//side)**2 * (2*side*n + side*side) * itemsize
    cache, memory = bandwidths
    times = {'cache': moved(inner)/cache, 'memory': moved(outer)/memory, 'work': 2*n**3/peak}
    return [moved(inner), moved(outer), max(times.values())]""",
        """def answer(n, inner, outer, itemsize, bandwidths, peak):
    near, far = (Fraction(2*n**3, t)*itemsize + n*n*itemsize for t in (inner, outer))
    return near, far, sorted([near/bandwidths[0], far/bandwidths[1], 2*n**3/peak])[-1]""",
    ],
}  # fmt: skip

WRONG = {
    "07-claim-forty": {
        "the tile of 10": "('A, B, C read and written', 'tiles of 10', 'the tile')",
        "C stays in a register": "('A, B', 'each matrix once', 'the tile')",
    },
}  # fmt: skip

TOLD = {}
