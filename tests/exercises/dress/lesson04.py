"""Answers to lesson 04 in unusual dress: one line a case (see test_dress.py)."""

BOTH = """def answer(b, n, i, o, s):
    one, two = [2 * m * i * o / ((m * i + i * o + m * o) * s) for m in (b * n, b)]
    return """
FROM = "lambda b, n, i, o, s: [(lambda m, k, n, s: {})(m, i, o, s) for m in (b * n, b)]"
SECONDS = "lambda t, i, o, s, p, b: {}(2 * t * i * o / p, {} / b)"
KNEE = "lambda i, o, s, p, b: 1 / (2 * b / (s * p) {})"
LAST = """def answer(products, batch, s, p, b):
    knees = [1 / (2 * b / s / p - 1 / i - 1 / o) for i, o in products]
    at = int(np.argmax(knees))
    i, o = products[at]
    x = 2 * batch * i * o / ((batch * i + i * o + batch * o) * s)
    share = min(1, x * b / p)
    return """
CHOSEN = """def answer(products, batch, s, p, b):
    at = {0}(range(len(products)), key=lambda k: (lambda i, o: {1})(*products[k]))
    i, o = products[at]
    knee = 1 / (2 * b / s / p - 1 / i - 1 / o)
    return at, math.ceil(knee), min(1, 2 / s / (1 / batch + 1 / i + 1 / o) * b / p)"""
CLOSE = "lambda m, n, k: (lambda a, b: not {})(m * k + k * n + m * k, m * k + k * n + m * n)"
WAYS = """def answer(t, i, o, first, again, copy, peak):
    w = i * o
    one, all_ = w * (first + (t - 1) * again), w * copy + 2 * t * w / peak
    return """

RIGHT = [
    ("04-shapes", "lambda b, n, i, o, d: (b if d else b * n, o, i)"),
    ("04-shapes", "lambda b, n, i, o, d: np.array([b * (1 if d else n), o, i])"),
    ("04-shapes", "lambda b, n, i, o, d: {'K': i, 'M': b if d else b * n, 'N': o}"),
    ("04-shapes",
     "def answer(batch, length, inputs, outputs, decode=False): "
     "return [batch * length ** (not decode), outputs, inputs]"),
    ("04-intensities", BOTH + "one, two"),
    ("04-intensities", BOTH + "{'prefill': one, 'decode': two}"),
    ("04-intensities", BOTH + "np.array([one, two], dtype=np.float32)"),
    ("04-intensities", FROM.format("2 / s / (1 / m + 1 / n + 1 / k)")),
    ("04-intensities", FROM.format("Fraction(2, s) / (Fraction(1, m) + Fraction(1, n) + "
                                   "Fraction(1, k))")),
    ("04-layer", SECONDS.format("max", "(t * i + i * o + t * o) * s")),
    ("04-layer", SECONDS.format("np.maximum", "(t * i + i * o + t * o) * s")),
    ("04-layer",
     "lambda t, i, o, s, p, b: np.float32(max(2 * t * i * o / p, "
     "(t * i + i * o + t * o) * s / b))"),
    ("04-knee", KNEE.format("- 1 / i - 1 / o")),
    ("04-knee", "lambda i, o, s, p, b: np.float32(1 / (2 * b / (s * p) - 1 / i - 1 / o))"),
    ("04-knee",
     "lambda i, o, s, p, b: (r := p / b) and r * s * i * o / (2 * i * o - r * s * (i + o))"),
    ("04-predict", WAYS + "min(one, all_)"),
    ("04-predict", WAYS + "np.minimum(one, all_)"),
    ("04-last", LAST + "at, math.ceil(knees[at]), share"),
    ("04-last", LAST + "{'place': at, 'batch': math.ceil(knees[at]), 'share': share}"),
    ("04-last", LAST + "np.int64(at), np.ceil(knees[at]), np.float32(share)"),
    ("04-convicts", "lambda m, n, k: n != k"),
    ("04-convicts", "lambda m, n, k: bool(m * k - m * n)"),
    ("04-convicts", "lambda m, n, k: int(n != k)"),
    ("04-convicts", "lambda m, n, k: np.not_equal(n, k)"),
    ("04-swapped", "(False, False, False, False, True, True)"),
    ("04-swapped", "[0, 0, 0, 0, 1, 1]"),
    ("04-swapped", "np.array([0, 0, 0, 0, 1, 1], dtype=bool)"),
    ("04-ceiling", "lambda i, o, s: 2 / s / (1 / i + 1 / o)"),
    ("04-ceiling", "lambda i, o, s: statistics.harmonic_mean([i, o]) / s"),
    ("04-gradients", "lambda m, n, k: (m, k, n, n, k, m)"),
    ("04-gradients", "lambda m, n, k: ((m, k, n), (n, k, m))"),
    ("04-gradients", "lambda m, n, k: np.array([[m, k, n], [n, k, m]])"),
    ("04-shapes", "lambda b,n,i,o,d: [b*[n,1][d], o, i]"),
    ("04-shapes", "lambda b,n,i,o,d: dict(M=b if d else b*n, N=o, K=i)"),
    ("04-intensities",
     "def answer(batch, length, inputs, outputs, itemsize):\n"
     "    def one(m): return 2*m*inputs*outputs/((m*(inputs+outputs)+inputs*outputs)*itemsize)\n"
     "    return one(batch*length), one(batch)"),
    ("04-layer", "lambda t,i,o,s,p,b: max(2*t*i*o/p, s*(t*(i+o)+i*o)/b)"),
    ("04-layer", "lambda t,i,o,s,p,b: 2*t*i*o/min(p, 2*t*i*o/(s*(t*(i+o)+i*o))*b)"),
    ("04-knee",
     "def answer(i,o,s,p,b):\n"
     "    lo, hi = 0.0, 1e9\n"
     "    for _ in range(200):\n"
     "        m = (lo+hi)/2\n"
     "        x = 2*m*i*o/(s*(m*i+i*o+m*o))\n"
     "        lo, hi = (m, hi) if x < p/b else (lo, m)\n"
     "    return hi"),
    ("04-knee", "lambda i,o,s,p,b: i*o*s*p/(2*i*o*b - s*p*(i+o))"),
    ("04-predict", WAYS + 'sorted([one, all_])[0]'),
    ("04-predict", WAYS + 'one if one < all_ else all_'),
    ("04-last", LAST + 'at, int(knees[at]) + 1, share'),
    ("04-last", LAST + '[at, -(-knees[at] // 1), share]'),
    ("04-convicts", "lambda m,n,k: m*k + k*n + m*k != m*k + k*n + m*n"),
    ("04-convicts", "lambda m,n,k: abs(n-k) > 0"),
    ("04-swapped", "list(map(bool, [0,0,0,0,1,1]))"),
    ("04-swapped",
     "dict(flops=False, bytes=False, intensity=False, weights=False, shape=True, terms=True)"),
    ("04-ceiling", "lambda i,o,s: 2*i*o/((i+o)*s)"),
    ("04-ceiling", "lambda i,o,s: 1/(s/2*(1/i+1/o))"),
    ("04-gradients", "lambda m,n,k: [m,k,n]+[n,k,m]"),
    ("04-gradients", "lambda m,n,k: [(m,k,n),(n,k,m)]"),
    ("04-gradients", "lambda m,n,k: {'dX': (m,k,n), 'dW': (n,k,m)}"),
    ("04-gradients", "lambda m,n,k: dict(dX=dict(M=m, N=k, K=n), dW=dict(M=n, N=k, K=m))"),
    ("04-convicts", "lambda m,n,k: 2*m*n*k/(m*k + k*n + m*k) != 2*m*n*k/(m*k + k*n + m*n)"),
]  # fmt: skip

WRONG = [
    ("04-shapes", "lambda b, n, i, o, d: (b if d else b * n, i, o)", "N and K exchanged"),
    ("04-shapes", "lambda b, n, i, o, d: (b * n, o, i)", "every position again"),
    ("04-shapes", "lambda b, n, i, o, d: (1 if d else n, o, i)", "one sequence"),
    ("04-shapes", "lambda b, n, i, o, d: (o, b if d else b * n, i)", "lying on its side"),
    ("04-shapes", "lambda b, n, i, o, d: (i, o, b if d else b * n)", "another order"),
    ("04-shapes", "lambda b, n, i, o, d: (b * n if d else b, o, i)",
     "reading and writing exchanged"),
    ("04-intensities", BOTH + "two, one", "exchanged"),
    ("04-intensities", BOTH + "1 / one, 1 / two", "upside down"),
    ("04-intensities", BOTH + "one * s, two * s", "per number"),
    ("04-intensities", FROM.format("2 * m / s"), "only the weights travel"),
    ("04-intensities", FROM.format("2 * m * n * k / ((m * k + k * n) * s)"),
     "the result forgotten"),
    ("04-intensities", FROM.format("2 * m * n * k / ((k * n + m * n) * s)"), "the input forgotten"),
    ("04-intensities", FROM.format("2 * m * n * k / (m * k + k * n + m * n) * s"),
     "no parentheses"),
    ("04-intensities", FROM.format("m * n * k / ((m * k + k * n + m * n) * s)"), "multiply-adds"),
    ("04-layer", SECONDS.format("sum", "(t * i + i * o + t * o) * s").replace("sum(",
        "(lambda *x: sum(x))("), "sum for max"),
    ("04-layer", SECONDS.format("max", "(t * i + i * o + t * o)"), "elements for bytes"),
    ("04-layer", SECONDS.format("max", "(t * i + i * o + t * o) * 2"), "2 bytes always"),
    ("04-layer", SECONDS.format("max", "(t * i + i * o) * s"), "the result forgotten"),
    ("04-layer", SECONDS.format("max", "(i * o + t * o) * s"), "the input forgotten"),
    ("04-layer", SECONDS.format("max", "i * o * s"), "only the weights travel"),
    ("04-layer", SECONDS.format("max", "t * i * o * s"), "weights for each token"),
    ("04-layer", SECONDS.format("min", "(t * i + i * o + t * o) * s"), "min for max"),
    ("04-knee", KNEE.format(""), "large-layer shortcut"),
    ("04-knee", "lambda i, o, s, p, b: p / b", "the ridge itself"),
    ("04-knee", "lambda i, o, s, p, b: s * p / b", "large-layer shortcut"),
    ("04-knee", "lambda i, o, s, p, b: p / b / 2", "large-layer shortcut"),
    ("04-knee", KNEE.format("+ 1 / i + 1 / o"), "the wrong sign"),
    ("04-knee", KNEE.format("- 1 / o"), "results or 1/inputs forgotten"),
    ("04-knee", "lambda i, o, s, p, b: 2 * b / (s * p) - 1 / i - 1 / o", "upside down"),
    ("04-knee", "lambda i, o, s, p, b: 1 / (2 * b / p - 1 / i - 1 / o)", "elements for bytes"),
    ("04-knee", "lambda i, o, s, p, b: math.ceil(1 / (2 * b / (s * p) - 1 / i - 1 / o))",
     "rounded"),
    ("04-predict", WAYS + "max(one, all_)", "the slower way"),
    ("04-predict", WAYS + "min(one, all_) / t", "time per token"),
    ("04-predict", WAYS + "one", "all at once never wins"),
    ("04-predict", WAYS + "min(one, t * w * copy + 2 * t * w / peak)", "all at once never wins"),
    ("04-predict", WAYS + "all_", "always all at once"),
    ("04-predict", WAYS + "min(w * first * t, all_)", "every vector from memory"),
    ("04-last", LAST + "at + 1, math.ceil(knees[at]), share", "counted from 1"),
    ("04-last", LAST + "at, int(knees[at]), share", "rounded down"),
    ("04-last", LAST + "at, knees[at], share", "not rounded"),
    ("04-last", LAST + "at, round(knees[at]), share", "the nearest whole batch"),
    ("04-last", LAST + "at, knees[at], 100 * share", "not rounded"),
    ("04-last", LAST + "at, math.ceil(knees[at]), x * b / p", "above the roof"),
    ("04-last", LAST + "at, math.ceil(s * p / b / 2), share", "batch = ridge"),
    ("04-last", LAST + "at, math.ceil(knees[at]), 100 * share", "per cent"),
    ("04-last", LAST.replace("argmax", "argmin") + "at, math.ceil(knees[at]), share",
     "the first, not the last"),
    ("04-convicts", "lambda m, n, k: n == k", "the opposite"),
    ("04-convicts", "lambda m, n, k: not m == n == k", "all but the cube"),
    ("04-convicts", "lambda m, n, k: m != n", "M against N"),
    ("04-convicts", "lambda m, n, k: m != k", "M against K"),
    ("04-convicts", "lambda m, n, k: n > k", "only when it is too small"),
    ("04-convicts", "lambda m, n, k: True", "every test"),
    ("04-swapped", "(True, True, True, True, False, False)", "the opposite"),
    ("04-swapped", "(True,) * 6", "everything notices"),
    ("04-swapped", "(False, True, True, False, True, True)", "the bytes notice"),
    ("04-swapped", "(False, False, False, False, True, False)", "sums of the same length"),
    ("04-swapped", "(False, False, False, False, False, True)", "the same result"),
    ("04-ceiling", "lambda i, o, s: (1 / i + 1 / o) * s / 2", "upside down"),
    ("04-ceiling", "lambda i, o, s: 2 * i / s", "one edge alone"),
    ("04-ceiling", "lambda i, o, s: 2 * min(i, o) / s", "the shorter edge rules alone"),
    ("04-ceiling", "lambda i, o, s: i * o / (i + o) / s", "multiply-adds"),
    ("04-ceiling", "lambda i, o, s: 2 * i * o / (i + o)", "per number"),
    ("04-ceiling", "lambda i, o, s: math.inf", "without end"),
    ("04-gradients", "lambda m, n, k: (m, n, k) * 2", "as forward"),
    ("04-gradients", "lambda m, n, k: (n, k, m, m, k, n)", "dW first"),
    ("04-gradients", "lambda m, n, k: (m, n, k, n, k, m)", "dX as forward"),
    ("04-gradients", "lambda m, n, k: (m, n, k, n, m, k)", "order M, K, N"),
    ("04-gradients", "lambda m, n, k: (m, k, n, k, n, m)", "dW lying on its side"),
    ("04-gradients", "lambda m, n, k: (m, k, n, m, n, k)", "dW as forward"),
    ("04-shapes", "lambda b,n,i,o,d: (b+n if not d else b, o, i)", "added, not multiplied"),
    ("04-shapes", "lambda b,n,i,o,d: (b if d else n, o, i)", "one sequence reads"),
    ("04-shapes", "lambda b,n,i,o,d: (n if d else b*n, o, i)", "the length in decode"),
    ("04-shapes", "lambda b,n,i,o,d: (b if d else b*n, i, i)", "one edge twice"),
    ("04-shapes", "lambda b,n,i,o,d: (b if d else b*n, o, o)", "one edge twice"),
    ("04-intensities",
     "lambda b, n, i, o, s: [(lambda m, k, n, s: 2*m*n*k/((m*k+k*n+2*m*n)*s))(m, i, o, "
     "s) for m in (b * n, b)]", "the result read too"),
    ("04-intensities",
     "lambda b, n, i, o, s: [(lambda m, k, n, s: 2*m*n*k/((m+n+k)*s))(m, i, o, s) for m in (b * n, "
     "b)]", "edges for faces"),
    ("04-intensities", BOTH + 'one, one', "every position in decode"),
    ("04-layer", "lambda t, i, o, s, p, b: max(2 * t * i * o / p, (i*o)*s / b)",
     "only the weights travel"),
    ("04-layer", "lambda t,i,o,s,p,b: 2*t*i*o/p", "only computing"),
    ("04-layer", "lambda t,i,o,s,p,b: max(2*i*o/p, (i+i*o+o)*s/b)", "one token's time"),
    ("04-layer", "lambda t,i,o,s,p,b: t*max(2*i*o/p, (i+i*o+o)*s/b)",
     "weights again for every token"),
    ("04-layer", "lambda t,i,o,s,p,b: max(2*t*i*o/b, (t*i+i*o+t*o)*s/p)",
     "peak and bandwidth exchanged"),
    ("04-knee", "lambda i, o, s, p, b: 1 / (2 * b / (s * p) - 1 / i)",
     "inputs or 1/outputs forgotten"),
    ("04-knee", "lambda i,o,s,p,b: p/b*s", "large-layer shortcut"),
    ("04-predict",
     "def answer(t, i, o, first, again, copy, peak):\n"
     "    w = i * o\n"
     "    one, all_ = w * (first + (t - 1) * again), w * copy + t * w / peak\n"
     "    return min(one, all_)", "multiply-adds"),
    ("04-predict",
     "def answer(t, i, o, first, again, copy, peak):\n"
     "    w = i * o\n"
     "    one, all_ = w * (first + t * again), w * copy + 2 * t * w / peak\n"
     "    return min(one, all_)", "one vector too many"),
    ("04-last", LAST + 'at, math.ceil(min(knees)), share', "the first, not the last"),
    ("04-convicts", "lambda m,n,k: False", "no test"),
    ("04-convicts", "lambda m,n,k: m*k + k*n + m*k > m*k + k*n + m*n", "only when it is too large"),
    ("04-convicts", "lambda m,n,k: len({m,n,k}) == 3", "all edges different"),
    ("04-swapped", "(False,)*6", "nothing notices"),
    ("04-swapped", "(False, True, False, False, True, True)", "the bytes notice"),
    ("04-swapped", "(False, False, True, False, True, True)", "the ratio notices"),
    ("04-swapped", "(False, False, False, True, True, True)", "more weights"),
    ("04-ceiling", "lambda i,o,s: (i+o)/s", "the sum of the edges"),
    ("04-ceiling", "lambda i,o,s: 2*max(i,o)/s", "the longer edge"),
    ("04-ceiling", "lambda i,o,s: 2*i*o/(i+o)*s", "itemsize"),
    ("04-gradients", "lambda m,n,k: (m,k,n,n,m,k)", "another order"),
    ("04-gradients", "lambda m,n,k: (m,k,n,k,n,m)", "dW lying on its side"),
    ("04-gradients", "lambda m,n,k: (k,m,n,n,k,m)", "dX lying on its side"),
    ("04-intensities", FROM.format("2 * m * n * k / ((m * k + m * n) * s)"),
     "the weights forgotten"),
    ("04-shapes", "lambda b,n,i,o,d: (b*(n + 1) if d else b*n, o, i)", "the prompt once more"),
    ("04-layer", "lambda t,i,o,s,p,b: 2*t*i*o/p if t > p/b else (t*i+i*o+t*o)*s/b",
     "the ridge for the knee"),
    ("04-layer", SECONDS.format("max", "(s * t * i + i * o + t * o)"), "itemsize on one face"),
    ("04-layer", SECONDS.format("max", "(t * i + i * o + t * o * s)"), "itemsize on one face"),
    ("04-layer", SECONDS.format("max", "(t * i + i * o + t * i) * s"), "M·K twice"),
    ("04-layer", SECONDS.format("max", "(t * i + i * o + t * o) * s") + " / t", "per token"),
    ("04-layer", "lambda t,i,o,s,p,b: min(p, 2/s/(1/t + 1/i + 1/o)*b)", "speed, not time"),
    ("04-knee", KNEE.format("- 1 / min(i, o)"), "the shorter edge alone"),
    ("04-knee", "lambda i,o,s,p,b: 1/(2*s*b/p - 1/i - 1/o)", "itemsize multiplied"),
    ("04-knee", "lambda i,o,s,p,b: 1/(2*p/(s*b) - 1/i - 1/o)", "the ridge upside down"),
    ("04-last", CHOSEN.format("min", "i * o"), "the smallest"),
    ("04-last", CHOSEN.format("min", "o"), "the smallest"),
    ("04-last", CHOSEN.format("min", "i + o"), "the smallest"),
    ("04-last", CHOSEN.format("min", "min(i, o)"), "the narrowest edge"),
    ("04-last", CHOSEN.format("max", "max(i, o) / min(i, o)"), "the most lopsided"),
    ("04-last", CHOSEN.format("max", "i * o"), "the largest"),
    ("04-last", LAST + "at, math.ceil(knees[at]), p * share", "FLOP/s"),
    ("04-last", LAST +
     "at, math.ceil(knees[at]), np.mean([min(1, 2 / s / (1 / batch + 1 / i + 1 / o) * b / p) for "
     "i, o in products])", "the mean of all"),
    ("04-convicts", CLOSE.format("math.isclose(a, b)"), "nearly the same"),
    ("04-convicts", CLOSE.format("math.isclose(a, b, rel_tol=1e-2)"), "nearly the same"),
    ("04-convicts", CLOSE.format("math.isclose(a, b, rel_tol=1e-3)"), "nearly the same"),
    ("04-convicts", CLOSE.format("bool(np.isclose(a, b))"), "nearly the same"),
    ("04-convicts", CLOSE.format("round(a / b, 2) == 1"), "nearly the same"),
    ("04-predict", WAYS + "min(t * w * again, all_)", "every vector again"),
    ("04-predict", WAYS + "min(one, w * copy + 2 * w / peak)", "the arithmetic of one token"),
    ("04-ceiling", "lambda i,o,s: 2/s/(1/1e6 + 1/i + 1/o)", "many for endless"),
    ("04-ceiling", "lambda i,o,s: 2/s*(1/i + 1/o)", "not turned over"),
    ("04-ceiling", "lambda i,o,s: 2*1e9*i*o/((1e9*i + i*o + 1e9*o)*s)", "many for endless"),
]  # fmt: skip

TOLD = [
    ("04-shapes", "lambda b, n, i, o, d: (b * n, o)", "3 values are wanted: M, N, K"),
    ("04-convicts", "lambda m, n, k: 'no'", "True or False is wanted"),
    ("04-swapped", "(2, 3, 4, 5, 6, 7)", "True or False is wanted"),
    ("04-gradients", "lambda m, n, k: ((m, k), (n, k))", "6 values are wanted"),
    ("04-last", LAST + "products[at], math.ceil(knees[at]), share", "one number is wanted"),
]
