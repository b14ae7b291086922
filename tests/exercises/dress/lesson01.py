"""Answers to lesson 01 in unusual dress: one line a case (see test_dress.py)."""

COUNTS = "w, t = 2 * m * n * k, (m * k + k * n + (1 + a) * m * n) * s; return "
PRODUCT = "def answer(m, n, k, s, a=False): " + COUNTS
LIAR = """def answer(n, s, axpy, gemv, gemm):
    a, v, f = 3 * n * n * s / axpy, (n * n + 2 * n) * s / gemv, 2 * n**3 / gemm
    liar = "axpy" if a > 2 * v else "gemv" if v > 2 * a else "nobody"
    b = {"axpy": v, "gemv": a, "nobody": max(a, v)}[liar]
    return """
BY_FLOPS = LIAR.replace("v > 2 * a", "axpy > 2 * gemv").replace("a > 2 * v", "gemv > 2 * axpy")
BY_RATE = LIAR.replace("3 * n * n * s / axpy", "2 * n * n / axpy").replace(
    "(n * n + 2 * n) * s / gemv", "2 * n * n / gemv"
)
BY_INTENSITY = (
    "lambda f, b, s: (lambda x: 'axpy' if x < 0.8 else '{}' if x < 1.5 else 'gemv' if x < 2.5 else "
    "'gemm')(f / b * s)"
)
NAMED = """def answer(f, b, s):
    adds, moved = f / 2, b / s
    each = {"axpy": 3 * adds, "dot": 2 * adds + 1, "gemv": adds + 2 * adds**0.5,
            "outer": 2 * adds + 2 * adds**0.5, "gemm": 3 * adds ** (2 / 3)}
    return min(each, key=lambda name: abs(each[name] / moved - 1))"""
GEMM = """def answer(cp, A, B, C, peak):
    cp.matmul(A, B, out=C)
    start, stop = cp.cuda.Event(), cp.cuda.Event()
    start.record()
    cp.matmul(A, B, out=C)
    stop.record()
    stop.synchronize()
    s = cp.cuda.get_elapsed_time(start, stop) / 1000
    rate = 2 * len(A) ** 3 / s
    return """
GEMV = """def answer(cp, A, x, y, bandwidth):
    cp.matmul(A, x, out=y)
    big = cp.ones(cp.cuda.Device().attributes["L2CacheSize"], dtype=cp.float32)
    start, stop = cp.cuda.Event(), cp.cuda.Event()
    big.sum()
    start.record()
    cp.matmul(A, x, out=y)
    stop.record()
    stop.synchronize()
    s = cp.cuda.get_elapsed_time(start, stop) / 1000
    rate = 4 * (A.size + x.size + y.size) / s
    return """
AXPY = """def answer(cp, x, y, a):
    cp.cublas.axpy(a, x, y)
    start, stop = cp.cuda.Event(), cp.cuda.Event()
    start.record()
    cp.cublas.axpy(a, x, y)
    stop.record()
    stop.synchronize()
    """
RIGHT = [
    ("01-product", PRODUCT + "w, t, w / t"),
    ("01-product", PRODUCT + "[w, t, w / t]"),
    ("01-product", PRODUCT + "np.array([w, t, w / t])"),
    ("01-product", PRODUCT + "{'FLOPs': w, 'bytes': t, 'intensity': w / t}"),
    ("01-product", PRODUCT + "{'intensity': w / t, 'flops': w, 'bytes': t}"),
    ("01-product", PRODUCT + "namedtuple('Counts', 'flops bytes intensity')(w, t, w / t)"),
    ("01-product", PRODUCT + "w, t, Fraction(w, t)"),
    ("01-product", PRODUCT + "np.float32(w), np.float32(t), np.float32(w / t)"),
    ("01-product", PRODUCT + "np.int64(w), np.int64(t), np.float64(w) / t"),
    ("01-product", PRODUCT + "np.array(w), np.array(t), np.array(w / t)"),
    ("01-product", "def answer(m, n, k, itemsize, *, accumulate): s, a = itemsize, accumulate; "
     + COUNTS
     + "w, t, w / t"),
    ("01-product", "def answer(m, n, k, itemsize, accumulate=False): s, a = itemsize, accumulate; "
     + COUNTS + "w, t, w / t"),
    ("01-product",
     "class Counter:\n"
     "    def __call__(self, m, n, k, s, a): " + COUNTS +
     "w, t, w / t\n"
     "answer = Counter()"),
    ("01-product", "def counts(two, m, n, k, s, a): " + COUNTS +
     "w, t, w / t\n"
     "answer = partial(counts, 2)"),
    ("01-three-intensities", "lambda n: (1 / 3, 1, n / 3)"),
    ("01-three-intensities", "lambda n: [Fraction(1, 3), Fraction(1, 1), Fraction(n, 3)]"),
    ("01-three-intensities", "lambda n: {'axpy': 1 / 3, 'gemv': 1, 'gemm': n / 3}"),
    ("01-three-intensities",
     "lambda n: {'GEMM intensity': n / 3, 'AXPY intensity': 1 / 3, 'GEMV intensity': 1.0}"),
    ("01-three-intensities", "lambda n: np.array([1 / 3, 1, n / 3], dtype=np.float32)"),
    ("01-three-intensities", "lambda n: (0.333, 1, round(n / 3, 1))"),
    ("01-speed-limit", "lambda p, b, s: np.float32(p / b * 1.5 * s)"),
    ("01-speed-limit", "lambda p, b, s: p / (b * Fraction(2, 3 * s))"),
    ("01-speed-limit",
     "def answer(peak, bandwidth, *, itemsize=4): return peak / (2 / (3 * itemsize) * bandwidth)"),
    ("01-claim-1365", "(4096 / 6, 2)"),
    ("01-claim-1365", "[682.67, 2.0]"),
    ("01-claim-1365", "{'intensity': 682.67, 'element size': 2}"),
    ("01-claim-1365", "np.array([682.7, 2])"),
    ("01-claim-1365", "(np.float32(682.6667), np.int8(2))"),
    ("01-witnesses", LIAR + "f, b, liar"),
    ("01-witnesses", LIAR + "[np.float32(f), np.float32(b), liar.upper()]"),
    ("01-witnesses", LIAR + "{'peak': f, 'bandwidth': b, 'liar': liar}"),
    ("01-witnesses", LIAR + "{'liar': liar, 'bandwidth': b, 'peak': f}"),
    ("01-witnesses", LIAR + "np.array([f, b, liar], dtype=object)"),
    ("01-name", NAMED),
    ("01-name",
     "def answer(f, b, s): adds, m = f / 2, b / s; return 'gemm' if m < adds else 'axpy' if abs(m "
     "- 3 * adds) < 1 else 'gemv' if m < 1.9 * adds else ' Dot ' if m - 2 * adds < 1.5 else "
     "'OUTER'"),
    ("01-name",
     "def answer(f, b, s): adds, m = f / 2, b / s; return {'name': "
     "'gemm' if m < adds else 'axpy' if abs(m - 3 * adds) < 1 else 'gemv' if m < 1.9 * adds else ' "
     "Dot ' if m - 2 * adds < 1.5 else 'OUTER'}"),
    ("01-claims", "['wrong', 'sometimes', 'sometimes', 'Wrong', 'RIGHT ', 'wrong']"),
    ("01-claims",
     "dict(zip('ABCDEF', ('wrong', 'sometimes', 'sometimes', 'wrong', 'right', 'wrong')))"),
    ("01-product",
     "def answer(m, n, k, itemsize, accumulate=False):\n"
     "    flops = sum(2 for _ in range(m*n*k))\n"
     "    bytes = itemsize*(m*k + k*n + m*n*(2 if accumulate else 1))\n"
     "    return flops, bytes, flops/bytes"),
    ("01-three-intensities", "lambda n: (2*n*n/(3*n*n*2), 2*n*n/((n*n+2*n)*2), 2*n**3/(3*n*n*2))"),
    ("01-three-intensities", "lambda n: (round(1/3, 3), 1.0, round(n / 3))"),
    ("01-three-intensities", "lambda n: (0.33, 1, n / 3)"),
    ("01-three-intensities", "lambda n: (1/3, 2*n*n/((n*n+n)*2), n/3)"),
    ("01-three-intensities", "lambda n: (1/3, (2*n-1)*n/((n*n+2*n)*2), n*n*(2*n-1)/(3*n*n*2))"),
    ("01-speed-limit", "lambda p,b,s: p / ((2/(3*s)) * b)"),
    ("01-speed-limit", "lambda p,b,s: p / b * 3*s/2"),
    ("01-claim-1365", "(2*4096**3/(3*4096**2*4), 2)"),
    ("01-claim-1365", "dict(intensity=682.7, element_size=2)"),
    ("01-witnesses", LIAR + 'tuple(np.array([f, b])) + (liar,)'),
    ("01-witnesses",
     'def answer(n, s, axpy, gemv, gemm):\n'
     '    a, v, f = 3 * n * n * s / axpy, (n * n + 2 * n) * s / gemv, 2 * n**3 / gemm\n'
     '    liar = "axpy" if a > 2.1 * v else "gemv" if v > 2.1 * a else "nobody"\n'
     '    b = {"axpy": v, "gemv": a, "nobody": max(a, v)}[liar]\n'
     '    return f, b, liar'),
    ("01-name",
     "def answer(f, b, s):\n"
     "    m, w = b // s, f // 2\n"
     "    r = math.isqrt(w)\n"
     "    if m == 3*w: return 'axpy'\n"
     "    if m == 2*w+1: return 'dot'\n"
     "    if m == w+2*r: return 'gemv'\n"
     "    if m == 2*w+2*r: return 'outer'\n"
     "    return 'gemm'"),
    ("01-claims", "'wrong sometimes sometimes wrong right wrong'.split()"),
    ("01-claims",
     "{'a': 'wrong', 'b': 'sometimes', 'c': 'sometimes', 'd': 'wrong', 'e': 'right', 'f': "
     "'wrong'}"),
    ("01-claim-1365", "{'intensity': 4096 / 6, 'itemsize': 2}"),
    ("01-claim-1365", "{'intensity': 4096 / 6, 'bytes': 2}"),
    ("01-claim-1365", "{'bytes': 2, 'intensity': 4096 / 6}"),
    ("01-product", PRODUCT + "{'work': w, 'bytes': t, 'FLOPs per byte': w / t}"),
    ("01-cuda-axpy", AXPY + "return cp.cuda.get_elapsed_time(start, stop) / 1000"),
    ("01-cuda-gemv", GEMV + "s, rate, rate / bandwidth"),
    ("01-cuda-gemm", GEMM + "s, rate, rate / peak"),
    ("01-cuda-gemm", GEMM.replace("cp.matmul(A, B, out=C)", "C = A @ B") + "s, rate, rate / peak"),
]  # fmt: skip

WRONG = [
    ("01-product", PRODUCT + "w // 2, t, w / t", "multiply-adds"),
    ("01-product", PRODUCT + "(m * k) * (k * n), t, w / t", "the sizes multiplied"),
    ("01-product", PRODUCT + "2 * n**3, t, w / t", "square in mind"),
    ("01-product", PRODUCT + "2 * m**3, t, w / t", "square in mind"),
    ("01-product", PRODUCT + "2 * k**3, t, w / t", "square in mind"),
    ("01-product", PRODUCT + "2 * (m * k + k * n), t, w / t", "elements, not work"),
    ("01-product", PRODUCT + "m * k + k * n + m * n, t, w / t", "elements, not work"),
    ("01-product", PRODUCT + "w, m * n * k * s, w / t", "the box's volume"),
    ("01-product", PRODUCT + "w, (m + n + k) * s, w / t", "the box's edges"),
    ("01-product", PRODUCT + "w, (m * k + k * n + (2 - a) * m * n) * s, w / t",
     "the two cases swapped"),
    ("01-product", PRODUCT + "w, 8 * s * (m * k + k * n + (1 + a) * m * n), w / t",
     "bits for bytes"),
    ("01-product", PRODUCT + "w, s * (m * k + k * n + m * n + a * k * n), w / t",
     "A or B read again"),
    ("01-product", PRODUCT.replace("m, n, k, s, a=False", "m, k, n, s, a=False") + "w, t, w / t",
     "A or B read again"),
    ("01-product", PRODUCT + "w, s * (m * k + k * n + m * n), w / t", "β forgotten"),
    ("01-product", PRODUCT + "w, s * (m * k + k * n + 2 * m * n), w / t", "C always read"),
    ("01-product", PRODUCT + "w, s * (m * k + k * n), w / t", "C forgotten"),
    ("01-product", PRODUCT + "w, s * (2 * m * k + k * n + a * m * n), w / t", "M·K twice"),
    ("01-product", PRODUCT + "w, 2 * m * n * k * s, w / t", "no reuse"),
    ("01-product", PRODUCT + "w, 3 * m * n * k * s, w / t", "no reuse"),
    ("01-product", PRODUCT + "w, 4 * m * n * k * s, w / t", "no reuse"),
    ("01-product", PRODUCT + "w, (3 + a) * m * n * k * s, w / t", "no reuse"),
    ("01-product", PRODUCT + "w, (2 * m * n * k + (1 + a) * m * n) * s, w / t", "no reuse"),
    ("01-product", PRODUCT + "w, m * n * (2 * k + 1) * s, w / t", "no reuse"),
    ("01-product", PRODUCT + "w, 4 * t // s, w / t", "4 bytes always"),
    ("01-product", PRODUCT + "w, t // s, w * s / t", "elements for bytes"),
    ("01-product", PRODUCT + "w, t, t / w", "upside down"),
    ("01-product", PRODUCT + "t, w, w / t", "another order"),
    ("01-product", PRODUCT + "w, t, w / t / s", "divided by itemsize again"),
    ("01-product", PRODUCT + "w, t, round(w / t, 2)", "rounded"),
    ("01-product", PRODUCT + "w, t, product / t", "a function, not called"),
    ("01-three-intensities", "lambda n: (1 / 2, 1, n / 3)", "y not read"),
    ("01-three-intensities", "lambda n: (0.34, 1, n / 3)", "rounded"),
    ("01-three-intensities", "lambda n: (1 / 3, 1, n / 2)", "C forgotten"),
    ("01-three-intensities", "lambda n: (1 / 3, 1, n / 6)", "4-byte elements"),
    ("01-three-intensities", "lambda n: (1 / 6, 1 / 2, n / 6)", "4-byte elements"),
    ("01-three-intensities", "lambda n: (1 / 4, 1, n / 3)", "four trips"),
    ("01-three-intensities", "lambda n: (2 / 3, 2, 2 * n / 3)", "FLOPs per number"),
    ("01-three-intensities", "lambda n: (3, 1, 3 / n)", "upside down"),
    ("01-three-intensities", "lambda n: (1, 1, n / 3)", "AXPY has about 1"),
    ("01-three-intensities", "lambda n: (1 / 3, 2, n / 3)", "GEMV has about 2"),
    ("01-three-intensities", "lambda n: (1 / 3, 1, n)", "GEMM has N"),
    ("01-three-intensities", "lambda n: (1 / 6, 1, n / 3)", "vector add"),
    ("01-three-intensities", "lambda n: (1 / 12, 1 / 4, n / 12)", "8-byte elements"),
    ("01-three-intensities", "lambda n: (n / 3, 1, 1 / 3)", "another order"),
    ("01-three-intensities", "lambda n: (1 / 3, 1, n / 4)", "C read too"),
    ("01-speed-limit", "lambda p, b, s: p / (b * s)", "divided by the element size"),
    ("01-speed-limit", "lambda p, b, s: p / (b * 2 / (2 * s))", "y not read"),
    ("01-speed-limit", "lambda p, b, s: p / b * (1 / 6)", "times for divided by"),
    ("01-speed-limit", "lambda p, b, s: b / p", "upside down"),
    ("01-speed-limit", "lambda p, b, s: 4096", "the ratio of the intensities"),
    ("01-speed-limit", "lambda p, b, s: p / b", "the ridge alone"),
    ("01-speed-limit", "lambda p, b, s: p / b * 6", "4 bytes always"),
    ("01-speed-limit", "lambda p, b, s: p / b * 3 * s", "vector add"),
    ("01-speed-limit", "lambda p, b, s: p / b * 1.5", "elements for bytes"),
    ("01-speed-limit", "lambda p, b, s: p / b * 2 / (3 * s)", "times for divided by"),
    ("01-speed-limit", "lambda p, b, s: round(p / b * 1.5 * s)", "rounded"),
    ("01-speed-limit", "lambda p, b, s: float(np.float16(p / b * 1.5 * s))", "a little off"),
    ("01-claim-1365", "(4096 / 3, 2)", "the claim"),
    ("01-claim-1365", "(4096 / 12, 2)", "fp64 for fp32"),
    ("01-claim-1365", "(4096 / 2, 2)", "one matrix of three"),
    ("01-claim-1365", "(2, 4096 / 6)", "another order"),
    ("01-claim-1365", "(4096 / 4, 2)", "C forgotten"),
    ("01-claim-1365", "(4096 / 6, 4)", "fp32 after all"),
    ("01-claim-1365", "(1 / (4096 / 6), 2)", "upside down"),
    ("01-witnesses", LIAR + "b, f, liar", "another order"),
    ("01-witnesses", LIAR + "liar, f, b", "another order"),
    ("01-witnesses", LIAR + "f / 2, b, liar", "multiply-adds"),
    ("01-witnesses", LIAR + "f / 1e9, b / 1e9, liar", "another unit"),
    ("01-witnesses", LIAR + "f, max(a, v), 'nobody'", "everybody believed"),
    ("01-witnesses", LIAR + "f, min(a, v), liar", "the slower one always"),
    ("01-witnesses", LIAR + "f, (a + v) / 2, 'nobody'", "the mean of both"),
    ("01-witnesses", LIAR + "f, b, 'nobody'", "everybody believed"),
    ("01-witnesses", LIAR + "f, a, 'nobody'", "everybody believed"),
    ("01-witnesses", LIAR + "f, v, 'nobody'", "everybody believed"),
    ("01-witnesses", LIAR + "f, min(a, v), 'nobody'", "everybody believed"),
    ("01-witnesses", LIAR + "(f, v, 'axpy') if a > v else (f, a, 'gemv')",
     "the faster one always lies"),
    ("01-witnesses", BY_FLOPS + "f, {'axpy': v, 'gemv': a, 'nobody': max(a, v)}[liar], liar",
     "FLOP/s compared"),
    ("01-witnesses", BY_FLOPS + "f, {'axpy': v, 'gemv': a, 'nobody': v}[liar], liar",
     "FLOP/s compared"),
    ("01-witnesses", BY_FLOPS + "f, min(a, v), liar", "FLOP/s compared"),
    ("01-name", "lambda f, b, s: 'gemm' if b / s < 0.4 * f else 'gemv'", "matrix or vector"),
    ("01-name", NAMED.replace("3 * adds,", "2 * adds,"), "y not read"),
    ("01-name", NAMED.replace("3 * adds,", "2 * adds + 0.5,"), "y not read"),
    ("01-name", NAMED.replace("b / s", "b / 4"), "4 bytes always"),
    ("01-name", NAMED.replace("b / s", "b"), "elements for bytes"),
    ("01-name", BY_INTENSITY.format("dot"), "dot and outer share an intensity"),
    ("01-name", BY_INTENSITY.format("outer"), "dot and outer share an intensity"),
    ("01-name", NAMED.replace("2 * adds + 2 * adds**0.5", "adds + 2 * adds**0.5 + 1"),
     "dot and outer share an intensity"),
    ("01-claims", "('right',) * 6", "the page believed"),
    ("01-claims", "('wrong',) * 6", "nothing believed"),
    ("01-claims", "('wrong', 'sometimes', 'sometimes', 'right', 'right', 'wrong')",
     "vector add for AXPY"),
    ("01-claims", "('wrong', 'sometimes', 'sometimes', 'sometimes', 'right', 'wrong')",
     "D depends on the shape"),
    ("01-claims", "('wrong', 'sometimes', 'sometimes', 'wrong', 'right', 'sometimes')",
     "F depends on the shape"),
    ("01-product",
     "def answer(m, n, k, s, a=False):\n"
     "    w, t = 2*m*n*k, (m*k + k*n + (1 + a)*m*n)*s*2\n"
     "    return w, t, w/t", "a constant factor"),
    ("01-product",
     "def answer(m, n, k, s, a=False):\n"
     "    w, t = m*n + 2*m*n*k, (m*k + k*n + (1 + a)*m*n)*s\n"
     "    return w, t, w/t", "old C added at the end"),
    ("01-product",
     "def answer(m, n, k, s, a=False):\n"
     "    w, t = 2*m*n*k*s, (m*k + k*n + (1 + a)*m*n)*s\n"
     "    return w, t, w/t", "itemsize"),
    ("01-product",
     "def answer(m, n, k, s, a=False):\n"
     "    w, t = 2*m*n*k, (m*k + k*n + (1 + a)*m*n)*s\n"
     "    return w, t, w/t*1e9", "another unit"),
    ("01-product",
     "def answer(m, n, k, s, a=False):\n"
     "    w, t = 2*m*n*k, (m*k + k*n + (a)*m*n)*s\n"
     "    return w, t, w/t", "C forgotten"),
    ("01-three-intensities", "lambda n: (2/3, 1, n/3)", "FLOPs per number"),
    ("01-three-intensities", "lambda n: (1/3, 0.5, n/3)", "4-byte elements"),
    ("01-speed-limit", "lambda p,b,s: p/(b*2/3*s)", "no parentheses"),
    ("01-speed-limit", "lambda p,b,s: p/b*3*s/4", "a constant factor"),
    ("01-claim-1365", "(682.67, 1)", "1 byte"),
    ("01-claim-1365", "(1365.33/4, 2)", "fp64 for fp32"),
    ("01-claim-1365", "(682.67, 16)", "bits for bytes"),
    ("01-claim-1365", "(2, 682.67)", "another order"),
    ("01-witnesses", LIAR + 'f, max(a, v), liar', "the right liar, its own byte/s"),
    ("01-witnesses", LIAR + 'f, (a+v)/2, liar', "the mean of both"),
    ("01-witnesses", LIAR + 'f/1e9, b/1e9, liar', "another unit"),
    ("01-witnesses",
     'def answer(n, s, axpy, gemv, gemm):\n'
     '    a, v, f = 3 * n * n * 4 / axpy, (n * n + 2 * n) * 4 / gemv, 2 * n**3 / gemm\n'
     '    liar = "axpy" if a > 2 * v else "gemv" if v > 2 * a else "nobody"\n'
     '    b = {"axpy": v, "gemv": a, "nobody": max(a, v)}[liar]\n'
     '    return f, b, liar', "4 bytes always"),
    ("01-witnesses", LIAR + '2*n**2/gemm, b, liar', "n² for n³"),
    ("01-claims", "('wrong','right','right','wrong','right','wrong')", "attention is always GEMM"),
    ("01-claims", "('wrong','sometimes','sometimes','wrong','sometimes','wrong')",
     "only for large N"),
    ("01-claims", "('wrong','wrong','wrong','wrong','right','wrong')", "attention is never GEMM"),
    ("01-product", PRODUCT + "w / 1e9, t, w / t", "another unit"),
    ("01-product", PRODUCT + "t, w, w / t", "another order"),
    ("01-product", PRODUCT.replace("m, n, k, s, a=False", "n, k, m, s, a=False") + "w, t, w / t",
     "A or B read again"),
    ("01-product", PRODUCT + "w, t, w / bytes", "a function, not called"),
    ("01-product", PRODUCT + "w, t, round(w / t, 1)", "rounded"),
    ("01-three-intensities", "lambda n: (1 / 3, 1, 2 * n / 3)", "FLOPs per number"),
    ("01-three-intensities", "lambda n: (6, 2, 6 / n)", "upside down"),
    ("01-witnesses", BY_RATE + "f, b, liar", "FLOP/s for byte/s"),
    ("01-witnesses", LIAR +
     "f, {'axpy': 2 * n * n / gemv, 'gemv': 2 * n * n / axpy}.get(liar, 2 * n * n / max(axpy, "
     "gemv)), liar", "FLOP/s for byte/s"),
    ("01-product", PRODUCT + "w, (m*k+k*n+a*m*n)*s, w/t", "C forgotten"),
    ("01-product", PRODUCT + "w, (m*k+k*n+2*a*m*n)*s, w/t", "C only where it is added to"),
    ("01-product", PRODUCT + "w, (m*k+k*n+m*n)*(2 if a else 1)*s, w/t", "all three doubled"),
    ("01-product", PRODUCT +
     "w, (m*k+k*n+m*n)*(2 if a else 1)*s, w/((m*k+k*n+m*n)*(2 if a else 1)*s)",
     "all three doubled"),
    ("01-product", PRODUCT + "w, t, w // t", "// for /"),
    ("01-three-intensities", "lambda n: (n**2/3, 1, n/3)", "another power of N"),
    ("01-three-intensities", "lambda n: (1/3, 1, n**2/3)", "another power of N"),
    ("01-three-intensities", "lambda n: (n/3, 1, n/3)", "another power of N"),
    ("01-three-intensities", "lambda n: (n/3, n, n/3)", "another power of N"),
    ("01-three-intensities", "lambda n: (1/3, 1, 4096/3)", "4096 for every N"),
    ("01-claim-1365", "(682.67, 0.5)", "half a byte"),
    ("01-claim-1365", "(682.67, 8)", "the wrong way"),
    ("01-witnesses", LIAR + "f, {'axpy': a, 'gemv': v, 'nobody': max(a,v)}[liar], liar",
     "the right liar, its own byte/s"),
    ("01-witnesses", LIAR + "f, b, {'axpy':'gemv','gemv':'axpy','nobody':'nobody'}[liar]",
     "the wrong name for the liar"),
    ("01-witnesses", LIAR +
     "f, {'axpy': a, 'gemv': v, 'nobody': max(a,v)}[liar], "
     "{'axpy':'gemv','gemv':'axpy','nobody':'nobody'}[liar]", "the slower one accused"),
    ("01-witnesses", LIAR + "f, {'axpy': v, 'gemv': a, 'nobody': (a+v)/2}[liar], liar",
     "the mean where nobody lies"),
    ("01-witnesses",
     "def answer(n, s, axpy, gemv, gemm):\n"
     "    a, v, f = 3 * n * n * s / axpy, (n * n + 2 * n) * s / gemv, 2 * n**3 / gemm\n"
     "    liar = 'axpy' if gemv > 2*axpy else 'gemv' if axpy > 2*gemv else 'nobody'\n"
     "    return f, {'axpy': v, 'gemv': a, 'nobody': max(a,v)}[liar], liar", "FLOP/s compared"),
    ("01-witnesses",
     "def answer(n, s, axpy, gemv, gemm):\n"
     "    a, v, f = 3 * n * n * s / axpy, (n * n + 2 * n) * s / gemv, 2 * n**3 / gemm\n"
     "    liar = 'axpy' if axpy < gemv else 'gemv'\n"
     "    return f, {'axpy': v, 'gemv': a, 'nobody': max(a,v)}[liar], liar", "times for rates"),
    ("01-name", "lambda f,b,s: 'axpy' if f/b<0.3 else 'gemv' if f/b<1 else 'gemm'",
     "a border for FLOP/byte"),
    ("01-name",
     "lambda f,b,s: 'axpy' if f/b<0.2 else 'dot' if f/b<0.26 else 'outer' if f/b<0.3 else 'gemv' "
     "if f/b<1 else 'gemm'", "a border for FLOP/byte"),
    ("01-name",
     "lambda f,b,s: (lambda x: 'axpy' if x<0.7 else 'dot' if x<1.1 else 'gemv' if x<2.1 else "
     "'gemm')(f/b*s)", "dot and outer share an intensity"),
    ("01-name", "lambda f,b,s: 'axpy' if f/b<1 else 'gemm'", "a border for FLOP/byte"),
    ("01-name",
     "def answer(f, b, s):\n"
     "    adds, moved = f / 2, b / s\n"
     "    each = {\"axpy\": 3 * adds, \"dot\": 2 * adds, \"gemv\": adds + 2 * adds**0.5,\n"
     "            \"outer\": 2 * adds + 2 * adds**0.5, \"gemm\": 3 * adds ** (2 / 3)}\n"
     "    return next((n for n in each if abs(each[n]-moved)<0.5), 'gemm')",
     "the result of dot forgotten"),
    ("01-name",
     "def answer(f,b,s):\n"
     "    m, w = b // s, f // 2\n"
     "    r = math.isqrt(w)\n"
     "    if m == 3*w: return 'axpy'\n"
     "    if m == 2*w: return 'dot'\n"
     "    if m == w+2*r: return 'gemv'\n"
     "    if m == 2*w+2*r: return 'outer'\n"
     "    return 'gemm'", "the result of dot forgotten"),
    ("01-name",
     "def answer(f,b,s):\n"
     "    m, w = b // s, f // 2\n"
     "    r = math.isqrt(w)\n"
     "    if m == 3*w: return 'axpy'\n"
     "    if m == 2*w+1: return 'dot'\n"
     "    if m == w+r: return 'gemv'\n"
     "    if m == 2*w+2*r: return 'outer'\n"
     "    return 'gemm'", "one vector of GEMV"),
    ("01-claims", "('wrong', 'sometimes', 'wrong', 'wrong', 'right', 'sometimes')", "no K at all"),
    ("01-product", PRODUCT + "w, m*k*k*n*s, w / (m*k*k*n*s)", "bytes multiplied"),
    ("01-product", PRODUCT + "w, (m*k*k*n + m*n)*s, w / t", "bytes multiplied"),
    ("01-product", PRODUCT + "w, (m*k + k*n + (3 if a else 1)*m*n)*s, w / t", "C three times"),
    ("01-product", PRODUCT + "w, (m*k + k*n + 3*m*n)*s, w / t", "C three times"),
    ("01-three-intensities", "lambda n: (1/3, 1, n//3)", "// for /"),
    ("01-three-intensities", "lambda n: (0.333, 1.0, int(n/3))", "// for /"),
    ("01-three-intensities", "lambda n: (2*n*n//(6*n*n), 2*n*n//(2*(n*n+2*n)), 2*n**3//(6*n*n))",
     "// for /"),
    ("01-three-intensities", "lambda n: (1/3, 1/3, n/3)", "GEMV like AXPY"),
    ("01-three-intensities", "lambda n: (1/3, n/2, n/3)", "another power of N"),
    ("01-cuda-gemm", GEMM + "rate / peak, rate, s", "another order"),
    ("01-cuda-gemm", GEMM + "rate, s, rate / peak", "another order"),
    ("01-cuda-gemm", GEMM + "s, rate / peak, rate", "another order"),
    ("01-cuda-gemv", GEMV + "rate, rate / bandwidth, s", "another order"),
    ("01-cuda-gemm", GEMM + "s, rate / 1e12, rate / peak", "a power of ten"),
    ("01-cuda-gemm", GEMM + "s, rate / 1e12, rate / 1e12 / peak", "a power of ten"),
    ("01-cuda-gemm", GEMM + "s, rate / 1e9, rate / peak", "GFLOP/s"),
    ("01-cuda-gemv", GEMV + "s, rate / 1e12, rate / bandwidth", "a power of ten"),
    ("01-cuda-gemm", GEMM + "s, 10 * rate, rate / peak", "a power of ten"),
    ("01-name", "lambda f, b, s: 'axpy'", "one name for all"),
    ("01-name", "lambda f, b, s: 'gemm'", "one name for all"),
    ("01-cuda-gemm", GEMM + "s, rate, rate / peak / 10", "a power of ten"),
    ("01-speed-limit", "lambda p, b, s: p", "one speed alone"),
    ("01-speed-limit", "lambda p, b, s: b * 2 / (3 * s)", "one speed alone"),
    ("01-cuda-gemm", GEMM.replace("/ 1000", "/ 1e6") + "s, rate, rate / peak", "a power of ten"),
    ("01-cuda-gemm", GEMM.replace("/ 1000", "/ 1e4") + "s, rate, rate / peak", "divided too often"),
    ("01-cuda-gemm", GEMM.replace("start, stop)", "stop, start)") + "s, rate, rate / peak",
     "events exchanged"),
    ("01-cuda-gemv", GEMV.replace("start, stop)", "stop, start)") + "s, rate, rate / bandwidth",
     "events exchanged"),
    ("01-cuda-axpy", AXPY + "return cp.cuda.get_elapsed_time(start, stop) / 1e4",
     "divided too often"),
    ("01-cuda-axpy", AXPY + "return cp.cuda.get_elapsed_time(start, stop) / 1e6", "a power of ten"),
    ("01-cuda-axpy", AXPY + "return cp.cuda.get_elapsed_time(stop, start) / 1e3",
     "events exchanged"),
]  # fmt: skip

TOLD = [
    ("01-product", PRODUCT + "(v for v in (w, t, w / t))", "a generator, which has not run yet"),
    ("01-product", PRODUCT + "map(float, (w, t, w / t))", "a map, which has not run yet"),
    ("01-product", PRODUCT + "{'work': w, 'traffic': t}", "FLOPs, bytes, intensity"),
    ("01-product", PRODUCT + "w, t", "3 values are wanted: FLOPs, bytes, intensity"),
    ("01-product", "lambda m, n, k: (1, 1, 1)", "product(m, n, k, itemsize, accumulate=False)"),
    ("01-speed-limit", "lambda p, b, s: [p / b * 1.5 * s]", "one number is wanted"),
    ("01-claim-1365", "lambda: (4096 / 6, 2)", "the function itself"),
    ("01-claim-1365", "683", "2 values are wanted: intensity, element size"),
    ("01-name", "lambda f, b, s: 'saxpy'", "axpy, dot, gemm, gemv, outer"),
    ("01-name", "lambda f, b, s: 3", "a text is wanted"),
    ("01-witnesses", LIAR + "f, b, {'axpy': 'AXPY timed a cache'}.get(liar, liar)",
     "axpy, gemv, nobody"),
    ("01-claims", "('false', 'sometimes', 'sometimes', 'false', 'true', 'false')",
     "right, sometimes, wrong"),
    ("01-cuda-gemm", GEMM + "rate / peak",
     "3 numbers are wanted: seconds, FLOP/s, share of the roof"),
    ("01-cuda-gemv", GEMV + "rate / bandwidth",
     "3 numbers are wanted: seconds, byte/s, share of the roof"),
    ("01-cuda-gemm", GEMM + "print(s)", ": it returned None for every case"),
    ("01-cuda-axpy", AXPY + "return cp.cuda.get_elapsed_time(stop, start)",
     "between two events is negative"),
]  # fmt: skip
