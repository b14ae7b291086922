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
WAYS = """def answer(t, i, o, first, again, copy, peak):
    w = i * o
    one, all_ = w * (first + (t - 1) * again), w * copy + 2 * t * w / peak
    return """

RIGHT = [
    ("04-shapes", "lambda b, n, i, o, d: (b if d else b * n, o, i)"),
    ("04-shapes", "lambda b, n, i, o, d: np.array([b * (1 if d else n), o, i])"),
    ("04-shapes", "lambda b, n, i, o, d: {'K': i, 'M': b if d else b * n, 'N': o}"),
    ("04-shapes", "def answer(batch, length, inputs, outputs, decode=False): return [batch * length ** (not decode), outputs, inputs]"),
    ("04-intensities", BOTH + "one, two"),
    ("04-intensities", BOTH + "{'prefill': one, 'decode': two}"),
    ("04-intensities", BOTH + "np.array([one, two], dtype=np.float32)"),
    ("04-intensities", FROM.format("2 / s / (1 / m + 1 / n + 1 / k)")),
    ("04-intensities", FROM.format("Fraction(2, s) / (Fraction(1, m) + Fraction(1, n) + Fraction(1, k))")),
    ("04-layer", SECONDS.format("max", "(t * i + i * o + t * o) * s")),
    ("04-layer", SECONDS.format("np.maximum", "(t * i + i * o + t * o) * s")),
    ("04-layer", "lambda t, i, o, s, p, b: np.float32(max(2 * t * i * o / p, (t * i + i * o + t * o) * s / b))"),
    ("04-knee", KNEE.format("- 1 / i - 1 / o")),
    ("04-knee", "lambda i, o, s, p, b: np.float32(1 / (2 * b / (s * p) - 1 / i - 1 / o))"),
    ("04-knee", "lambda i, o, s, p, b: (r := p / b) and r * s * i * o / (2 * i * o - r * s * (i + o))"),
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
]  # fmt: skip

WRONG = [
    ("04-shapes", "lambda b, n, i, o, d: (b if d else b * n, i, o)", "N and K exchanged"),
    ("04-shapes", "lambda b, n, i, o, d: (b * n, o, i)", "every position again"),
    ("04-shapes", "lambda b, n, i, o, d: (1 if d else n, o, i)", "one sequence"),
    ("04-shapes", "lambda b, n, i, o, d: (o, b if d else b * n, i)", "lying on its side"),
    ("04-shapes", "lambda b, n, i, o, d: (i, o, b if d else b * n)", "another order"),
    ("04-shapes", "lambda b, n, i, o, d: (b * n if d else b, o, i)", "reading and writing exchanged"),
    ("04-intensities", BOTH + "two, one", "exchanged"),
    ("04-intensities", BOTH + "1 / one, 1 / two", "upside down"),
    ("04-intensities", BOTH + "one * s, two * s", "per number"),
    ("04-intensities", FROM.format("2 * m / s"), "only the weights travel"),
    ("04-intensities", FROM.format("2 * m * n * k / ((m * k + k * n) * s)"), "the result forgotten"),
    ("04-intensities", FROM.format("2 * m * n * k / ((k * n + m * n) * s)"), "the input forgotten"),
    ("04-intensities", FROM.format("2 * m * n * k / (m * k + k * n + m * n) * s"), "no parentheses"),
    ("04-intensities", FROM.format("m * n * k / ((m * k + k * n + m * n) * s)"), "multiply-adds"),
    ("04-layer", SECONDS.format("sum", "(t * i + i * o + t * o) * s").replace("sum(", "(lambda *x: sum(x))("), "sum for max"),
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
    ("04-knee", KNEE.format("- 1 / o"), "results forgotten"),
    ("04-knee", "lambda i, o, s, p, b: 2 * b / (s * p) - 1 / i - 1 / o", "upside down"),
    ("04-knee", "lambda i, o, s, p, b: 1 / (2 * b / p - 1 / i - 1 / o)", "elements for bytes"),
    ("04-knee", "lambda i, o, s, p, b: math.ceil(1 / (2 * b / (s * p) - 1 / i - 1 / o))", "rounded"),
    ("04-predict", WAYS + "max(one, all_)", "the slower way"),
    ("04-predict", WAYS + "min(one, all_) / t", "time per token"),
    ("04-predict", WAYS + "one", "all at once never wins"),
    ("04-predict", WAYS + "min(one, t * w * copy + 2 * t * w / peak)", "all at once never wins"),
    ("04-predict", WAYS + "all_", "always all at once"),
    ("04-predict", WAYS + "min(w * first * t, all_)", "every vector from memory"),
    ("04-last", LAST + "at + 1, math.ceil(knees[at]), share", "counted from 1"),
    ("04-last", LAST + "at, int(knees[at]), share", "rounded down"),
    ("04-last", LAST + "at, knees[at], share", "not rounded"),
    ("04-last", LAST + "at, round(knees[at]), share", "not rounded"),
    ("04-last", LAST + "at, knees[at], 100 * share", "per cent"),
    ("04-last", LAST + "at, math.ceil(knees[at]), x * b / p", "above the roof"),
    ("04-last", LAST + "at, math.ceil(s * p / b / 2), share", "batch = ridge"),
    ("04-last", LAST + "at, math.ceil(knees[at]), 100 * share", "per cent"),
    ("04-last", LAST.replace("argmax", "argmin") + "at, math.ceil(knees[at]), share", "the largest"),
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
]  # fmt: skip

TOLD = [
    ("04-shapes", "lambda b, n, i, o, d: (b * n, o)", "3 values are wanted: M, N, K"),
    ("04-convicts", "lambda m, n, k: 'no'", "True or False is wanted"),
    ("04-swapped", "(2, 3, 4, 5, 6, 7)", "True or False is wanted"),
    ("04-gradients", "lambda m, n, k: ((m, k), (n, k))", "6 values are wanted"),
    ("04-last", LAST + "products[at], math.ceil(knees[at]), share", "one number is wanted"),
]  # fmt: skip
