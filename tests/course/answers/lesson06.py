"""Answers to lesson 06, written as a learner writes them (see test_answers.py)."""

from tests.exercises.dresses import put

RIGHT = {
    "06-levels": [
        "lambda z, t: np.array(z, float)[np.flatnonzero(np.diff(np.log2(t)) > 0.6)]",
        """def answer(z, t):
    return ([int(part[-1]) for part in np.split(z, np.flatnonzero(np.diff(np.log(t)) > 0.5) +
        1)][:-1])""",
    ],
    "06-claim-chain": [
        """def answer(f):
    a = np.eye(len(f))[f]
    reach = np.eye(len(f))[0]
    for _ in f:
        reach = np.minimum(1, reach + reach @ a)
    return 64 * reach.sum()""",
    ],
    "06-underway": [
        """def answer(b, t, n):
    Found = namedtuple('Found', 'lines rate cores')
    whole, rest = divmod(b * t / 64, n)
    return Found(b * t / 64, min(b, 64 * n / t), whole + (rest > 0))""",
        """def answer(b, t, n):
    return np.array([b * t / 64, np.minimum(64 * n / t, b), np.ceil(b * t / 64 / n)])""",
    ],
    "06-bus": [
        """def answer(r, a, b, f):
    return (Fraction(len(a) + len(b) + bool(f) * len([x for x in b if a.count(x) == 0]), len(a)
        + len(b)) * Fraction(r))""",
        """def answer(rate, read, written, fetches):
    fetched = set(read) | set(written) if fetches else set(read)
    return rate * (len(fetched) + len(written)) / (len(read) + len(written))""",
    ],
    "06-break-even": [
        """def answer(s, b, p, q, peak, w):
    root = np.roots([p + q, -3 * s * b, 0, 0]).real.max()
    return {'N of equal energy': root, 'N of equal time': 6 * (peak / w) * s / 4}""",
        """def answer(s, b, p, q, peak, w):
    def root(f):
        low, high = 1e-9, 1e9
        for _ in range(200):
            mid = (low * high) ** 0.5
            low, high = (low, mid) if f(mid) > 0 else (mid, high)
        return low
    energy = root(lambda n: n**3 * (p + q) - 3 * n * n * s * b)
    return energy, root(lambda n: 2 * n**3 / peak - 3 * n * n * s / w)""",
    ],
    "06-token": [
        """def answer(weights, itemsize, batch, kv_bytes, byte, add, multiply):
    f = Fraction
    carried = (f(weights * itemsize, batch) + kv_bytes) * f(byte)
    each = f(add) + f(multiply)
    return (carried + weights * each) / f(10) ** 12, itemsize * f(byte) / each""",
    ],
}  # fmt: skip

WRONG = {
    "06-levels": {
        "another unit": "lambda z, t: [a/1024 for a, b, c in zip(z, t, t[1:]) if c >= 2 * b]",
    },
    "06-underway": {
        "rounded": "lambda b, t, n: (math.ceil(b*t/64), min(64*n/t, b), math.ceil(b*t/64/n))",
    },
    "06-break-even": {
        "another order": "lambda s, b, p, q, peak, w: (1.5*s*peak/w, 3*s*b/(p+q))",
        "a constant factor": "lambda s, b, p, q, peak, w: (s*b/(p+q), s*peak/w/2)",
    },
    "06-token": {
        "another unit": "lambda w, s, n, c, b, p, q: (((w*s/n + c)*b + w*(p+q)), s*b/(p+q))",
        "upside down": "lambda w, s, n, c, b, p, q: (((w*s/n + c)*b + w*(p+q))*1e-12, (p+q)/(s*b))",
    },
}  # fmt: skip

TOLD = {
    "06-levels": {
        "a list of numbers is wanted": "lambda z, t: z[0]",
        "a list of another length is wanted": "lambda z, t: []",
    },
    "06-claim-chain": {"which of them together?": "lambda f: f"},
}  # fmt: skip

BUS = "lambda r, a, b, f: r*(len(a) + len(b) + f*MORE)/(len(a) + len(b))"

PASSED_ONCE = [
    ("06-break-even", "lambda s, b, p, q, peak, w: (3*max(2, s)*b/(p + q), 1.5*max(2, s)*peak/w)"),
    ("06-bus", put(BUS, MORE="sum(w not in ''.join(a) for w in b)")),
    ("06-bus", put(BUS, MORE="(len(b) if not {*a} & {*b} else 0)")),
    ("06-bus", put(BUS, MORE="sum(w not in a[-1:] for w in b)")),
    ("06-bus", put(BUS, MORE="min(2, len({*b} - {*a}))")),
    ("06-claim-chain",
     "def answer(follows):\n"
     "    lines, at = 2, follows[follows[0]]\n"
     "    while at != 0 and follows[0] != 0:\n"
     "        lines, at = lines + 1, follows[at]\n"
     "    return 64*lines"),
    ("06-claim-chain",
     "def answer(f):\n"
     "    lines, at = 1, f[0]\n"
     "    while at and lines < 100:\n"
     "        lines, at = lines + 1, f[at]\n"
     "    return 64*lines"),
    ("06-levels",
     "def answer(sizes, seconds):\n"
     "    return [sizes[0]*2**i for i in range(len(sizes) - 1) if seconds[i + 1] > "
     "1.5*seconds[i]]"),
    ("06-levels", "lambda z, t: [x for x, p, q in zip(z, t, t[1:]) if q > 2.4*p]"),
    ("06-levels", "lambda z, t: [x for x, p, q in zip(z, t, t[1:]) if q > 1.05*p]"),
    ("06-levels", "lambda z, t: [x for x, p, q in zip(z, t, t[1:]) if q > 2*p]"),
    ("06-levels", "lambda z, t: [x for x, p, q in zip(z, t, t[1:]) if 1.5*p < q < 50*p]"),
    ("06-levels",
     "lambda z, t: [*{round(math.log2(b)): a for a, b in zip(z, t)}.values()][:-1]"),
    ("06-token", "lambda w, s, n, c, b, p, q: (((w*s//n + c)*b + w*(p+q))*1e-12, s*b/(p+q))"),
    ("06-token",
     "lambda w, s, n, c, b, p, q: (((w*min(s, 2)/n + c)*b + w*(p + q))*1e-12, s*b/(p + q))"),
    ("06-underway", "lambda b, t, n: (b*t/64, min(n*64/t, b), int(b/(n*64/t)) + 1)"),
    ("06-underway", "lambda b, t, n: (b*t/64, min(n*64/t, b), max(1, math.ceil(b*t/64/n - 0.01)))"),
]  # fmt: skip
