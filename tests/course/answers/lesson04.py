"""Answers to lesson 04, written as a learner writes them (see test_answers.py)."""

from tests.exercises.dresses import put

RIGHT = {
    "04-shapes": ["lambda b,n,i,o,d: dict(M=b if d else b*n, N=o, K=i)"],
    "04-intensities": [
        """def answer(batch, length, inputs, outputs, itemsize):
    def one(m): return 2*m*inputs*outputs/((m*(inputs+outputs)+inputs*outputs)*itemsize)
    return one(batch*length), one(batch)""",
        """def answer(b, n, i, o, s):
    return ([(lambda m, k, n, s: Fraction(2, s) / (Fraction(1, m) + Fraction(1, n) +
        Fraction(1, k)))(m, i, o, s) for m in (b * n, b)])""",
    ],
    "04-layer": [
        "lambda t, i, o, s, p, b: np.maximum(2 * t * i * o / p, (t * i + i * o + t * o) * s / b)",
    ],
    "04-predict": [
        """def answer(t, i, o, first, again, copy, peak):
    w = i * o
    one, all_ = w * (first + (t - 1) * again), w * copy + 2 * t * w / peak
    return np.minimum(one, all_)""",
    ],
    "04-knee": [
        "lambda i, o, s, p, b: (r := p / b) and r * s * i * o / (2 * i * o - r * s * (i + o))",
        """def answer(i,o,s,p,b):
    lo, hi = 0.0, 1e9
    for _ in range(200):
        m = (lo+hi)/2
        x = 2*m*i*o/(s*(m*i+i*o+m*o))
        lo, hi = (m, hi) if x < p/b else (lo, m)
    return hi""",
    ],
    "04-last": [
        """def answer(products, batch, s, p, b):
    knees = [1 / (2 * b / s / p - 1 / i - 1 / o) for i, o in products]
    at = int(np.argmax(knees))
    i, o = products[at]
    x = 2 * batch * i * o / ((batch * i + i * o + batch * o) * s)
    share = min(1, x * b / p)
    return np.int64(at), np.ceil(knees[at]), np.float32(share)""",
    ],
    "04-convicts": [
        "lambda m, n, k: np.not_equal(n, k)",
        "lambda m, n, k: bool(m * k - m * n)",
    ],
    "04-swapped": [
        "dict(flops=False, bytes=False, intensity=False, weights=False, shape=True, terms=True)",
    ],
    "04-ceiling": ["lambda i, o, s: statistics.harmonic_mean([i, o]) / s"],
    "04-gradients": ["lambda m,n,k: dict(dX=dict(M=m, N=k, K=n), dW=dict(M=n, N=k, K=m))"],
    "04-published": [
        "lambda m, n, k: np.float32(3 + max(m*n*k/.75/494.7e6, (m*k + k*n + m*n)/.8/1.675e6))",
        """def answer(m, n, k):
    flops, moved = 2*m*n*k, 2*(m*k + k*n + m*n)
    return ((flops/8e8)**3 + (moved/2.9e6)**3)**(1/3) + 3.2""",
    ],
}  # fmt: skip

WRONG = {
    "04-shapes": {
        "another order": "lambda b, n, i, o, d: (i, o, b if d else b * n)",
        "N and K exchanged": "lambda b, n, i, o, d: (b if d else b * n, i, o)",
        "every position again": "lambda b, n, i, o, d: (b * n, o, i)",
    },
    "04-convicts": {"all but the cube": "lambda m, n, k: m != n or n != k"},
    "04-swapped": {"nothing notices": "(False,) * 6"},
    "04-knee": {
        "large-layer shortcut": "lambda i, o, s, p, b: p / b * s / 2",
        "rounded": "lambda i, o, s, p, b: math.ceil(1 / (2 * b / (s * p) - 1 / i - 1 / o))",
    },
    "04-last": {
        "not rounded": """def answer(products, batch, s, p, b):
    knees = [1 / (2 * b / s / p - 1 / i - 1 / o) for i, o in products]
    at = int(np.argmax(knees))
    i, o = products[at]
    x = 2 * batch * i * o / ((batch * i + i * o + batch * o) * s)
    share = min(1, x * b / p)
    return at, knees[at], 100 * share""",
    },
    "04-ceiling": {"itemsize": "lambda i,o,s: 2*i*o/(i+o)*s"},
    "04-gradients": {"another order": "lambda m,n,k: (m,k,n,n,m,k)"},
    "04-published": {
        "the bare bound": "lambda m,n,k: 1e6*max(2*m*n*k/8.2e14, 2*(m*k + k*n + m*n)/2.6e12)",
        "sum for max": "lambda m,n,k: 3.1 + 2*m*n*k/7.2e8 + 2*(m*k + k*n + m*n)/2.7e6",
        "1 byte a number": "lambda m,n,k: 3.2 + max(2*m*n*k/7.5e8, (m*k + k*n + m*n)/2.7e6)",
        "multiply-adds": "lambda m,n,k: 3 + max(m*n*k/7.5e8, 2*(m*k + k*n + m*n)/2.7e6)",
        "another unit": "lambda m,n,k: 3e-6 + max(2*m*n*k/7.5e14, 2*(m*k + k*n + m*n)/2.7e12)",
    },
}  # fmt: skip

TOLD = {
    "04-published": {
        "far too short": "lambda m, n, k: 1",
        "`microseconds(32, 32, 32)` gave inf": "lambda m, n, k: math.inf",
        "raised ZeroDivisionError": "lambda m, n, k: m / 0",
        "one number above 0": "lambda m, n, k: (3, m * n * k / 1e9)",
    }
}

LAST = """def answer(edges, batch, s, p, b):
    knees = [1/(2*b/(SIZE*p) - 1/i - 1/o) for i, o in edges]
    i, o = edges[at := PLACE]
    return at, math.floor(knees[at]) + 1, min(1, 2/SIZE/(1/batch + 1/i + 1/o)*b/p)"""

PASSED_ONCE = [
    ("04-ceiling", "lambda i, o, s: 2/s/(1/1e11 + 1/i + 1/o)"),
    ("04-convicts", "lambda m, n, k: n != k and (m > 1 or abs(n - k) > 1)"),
    ("04-convicts",
     "lambda m, n, k: not math.isclose(m*k + k*n + m*k, m*k + k*n + m*n, rel_tol=1e-12)"),
    ("04-knee", "lambda i, o, s, p, b: 1/(2*b/(max(s, 2)*p) - 1/i - 1/o)"),
    ("04-knee", "lambda i, o, s, p, b: min(1e5, 1/(2*b/(s*p) - 1/i - 1/o))"),
    ("04-last", put(LAST, SIZE="s", PLACE="edges.index(min(edges, key=sorted))")),
    ("04-last", put(LAST, SIZE="2", PLACE="knees.index(max(knees))")),
    ("04-layer",
     "def answer(t, i, o, s, p, b):\n"
     "    s = 2 if s == 2 else 4 if s == 4 else 8\n"
     "    return max(2*t*i*o/p, (t*i + i*o + t*o)*s/b)"),
    ("04-layer", "lambda t, i, o, s, p, b: max(2*t*i*o/p*(t > 1), (t*i + i*o + t*o)*s/b)"),
    ("04-predict",
     "lambda t, i, o, f, a, c, p: i*o*(f + (t - 1)*a) if t <= 8 else i*o*(c + 2*t/p)"),
    ("04-predict", "lambda t, i, o, f, a, c, p: 768*o*min(f + (t - 1)*a, c + 2*t/p)"),
    ("04-shapes",
     "lambda b, n, i, o, d: (b if d else b*n, {4096: 11008, 11008: 4096, 768: 3072, 3072: "
     "768, 1600: 6400}.get(i, o), i)"),
]  # fmt: skip
