"""Answers to lesson 01, written as a learner writes them (see test_answers.py)."""

from tests.exercises.dresses import put

PRODUCT = """def answer(m, n, k, s, a=False):
    w, t = 2 * m * n * k, (m * k + k * n + (1 + a) * m * n) * s
    return RESULT"""

RIGHT = {
    "01-product": [
        """def answer(m, n, k, itemsize, accumulate=False):
    flops = sum(2 for _ in range(m*n*k))
    bytes = itemsize*(m*k + k*n + m*n*(2 if accumulate else 1))
    return flops, bytes, flops/bytes""",
    ],
    "01-three-intensities": [
        "lambda n: (0.333, 1, round(n / 3, 1))",
        "lambda n: (2*n*n/(3*n*n*2), 2*n*n/((n*n+2*n)*2), 2*n**3/(3*n*n*2))",
    ],
    "01-speed-limit": ["lambda p, b, s: p / (b * Fraction(2, 3 * s))"],
    "01-claim-1365": ["[682.67, 2.0]"],
    "01-witnesses": [
        """def answer(n, s, axpy, gemv, gemm):
    a, v, f = 3 * n * n * s / axpy, (n * n + 2 * n) * s / gemv, 2 * n**3 / gemm
    liar = "axpy" if a > 2 * v else "gemv" if v > 2 * a else "nobody"
    b = {"axpy": v, "gemv": a, "nobody": max(a, v)}[liar]
    return [np.float32(f), np.float32(b), liar.upper()]""",
    ],
    "01-name": [
        """def answer(f, b, s):
    m, w = b // s, f // 2
    r = math.isqrt(w)
    if m == 3*w: return 'axpy'
    if m == 2*w+1: return 'dot'
    if m == w+2*r and r*r == w: return 'gemv'
    if m == 2*w+2*r: return 'outer'
    return 'gemm'""",
    ],
}  # fmt: skip

WRONG = {
    "01-product": {
        "A or B read again": """def answer(m, k, n, s, a=False):
    w, t = 2 * m * n * k, (m * k + k * n + (1 + a) * m * n) * s
    return w, t, w / t""",
        "elements for bytes": put(PRODUCT, RESULT="w, t // s, w * s / t"),
        "another order": put(PRODUCT, RESULT="t, w, w / t"),
        "rounded": put(PRODUCT, RESULT="w, t, round(w / t, 2)"),
        "a function, not called": put(PRODUCT, RESULT="w, t, w / bytes"),
        "a constant factor": """def answer(m, n, k, s, a=False):
    w, t = 2*m*n*k, (m*k + k*n + (1 + a)*m*n)*s*2
    return w, t, w/t""",
        "old C added at the end": """def answer(m, n, k, s, a=False):
    w, t = m*n + 2*m*n*k, (m*k + k*n + (1 + a)*m*n)*s
    return w, t, w/t""",
        "itemsize": """def answer(m, n, k, s, a=False):
    w, t = 2*m*n*k*s, (m*k + k*n + (1 + a)*m*n)*s
    return w, t, w/t""",
        "another unit": """def answer(m, n, k, s, a=False):
    w, t = 2*m*n*k, (m*k + k*n + (1 + a)*m*n)*s
    return w, t, w/t*1e9""",
        "C forgotten": """def answer(m, n, k, s, a=False):
    w, t = 2*m*n*k, (m*k + k*n + (a)*m*n)*s
    return w, t, w/t""",
        "all three doubled": """def answer(m, n, k, s, a=False):
    w, t = 2 * m * n * k, (m * k + k * n + (1 + a) * m * n) * s
    return w, (m*k+k*n+m*n)*(2 if a else 1)*s, w/((m*k+k*n+m*n)*(2 if a else 1)*s)""",
        "bytes multiplied": put(PRODUCT, RESULT="w, m*k*k*n*s, w / (m*k*k*n*s)"),
    },
    "01-three-intensities": {
        "rounded": "lambda n: (0.34, 1, n / 3)",
        "another order": "lambda n: (n / 3, 1, 1 / 3)",
    },
    "01-speed-limit": {
        "rounded": "lambda p, b, s: round(p / b * 1.5 * s)",
        "a little off": "lambda p, b, s: float(np.float16(p / b * 1.5 * s))",
        "a constant factor": "lambda p,b,s: p/b*3*s/4",
    },
    "01-claim-1365": {"another order": "(2, 682.67)"},
    "01-witnesses": {
        "another order": """def answer(n, s, axpy, gemv, gemm):
    a, v, f = 3 * n * n * s / axpy, (n * n + 2 * n) * s / gemv, 2 * n**3 / gemm
    liar = "axpy" if a > 2 * v else "gemv" if v > 2 * a else "nobody"
    b = {"axpy": v, "gemv": a, "nobody": max(a, v)}[liar]
    return b, f, liar""",
        "another unit": """def answer(n, s, axpy, gemv, gemm):
    a, v, f = 3 * n * n * s / axpy, (n * n + 2 * n) * s / gemv, 2 * n**3 / gemm
    liar = "axpy" if a > 2 * v else "gemv" if v > 2 * a else "nobody"
    b = {"axpy": v, "gemv": a, "nobody": max(a, v)}[liar]
    return f/1e9, b/1e9, liar""",
    },
    "01-claims": {
        "attention is always GEMM": "('wrong','right','right','wrong','right','wrong')",
        "attention is never GEMM": "('wrong','wrong','wrong','wrong','right','wrong')",
        "no K at all": "('wrong', 'sometimes', 'wrong', 'wrong', 'right', 'sometimes')",
    },
}  # fmt: skip

TOLD = {
    "01-product": {
        "3 values are wanted: FLOPs, bytes, intensity": put(PRODUCT, RESULT="w, t"),
    },
    "01-name": {"a text is wanted": "lambda f, b, s: 3"},
}  # fmt: skip

CUDA = """def answer(cp, GIVEN):
    CALL
    start, stop = cp.cuda.Event(), cp.cuda.Event()
    start.record()
    for _ in range(TIMES): AGAIN
    stop.record()
    stop.synchronize()
    s = cp.cuda.get_elapsed_time(start, stop) / 1000
    return RESULT"""
AXPY = put(CUDA, GIVEN="x, y, a", CALL="cp.cublas.axpy(a, x, y)")
GEMM = put(
    CUDA, GIVEN="A, B, C, peak", CALL="cp.matmul(A, B, out=C)", AGAIN="cp.matmul(A, B, out=C)"
)
GEMV = """def answer(cp, A, x, y, bandwidth):
    big = cp.ones(cp.cuda.Device().attributes["L2CacheSize"], dtype=cp.float32)
    cp.matmul(A, x, out=y); big.sum()
    events = [(cp.cuda.Event(), cp.cuda.Event()) for _ in range(10)]
    for start, stop in events:
        big.sum()
        start.record()
        cp.matmul(A, x, out=y)
        stop.record()
    stop.synchronize()
    seconds = sum(cp.cuda.get_elapsed_time(*pair) for pair in events) / TIMES / 1000
    return seconds, (rate := (BYTES) / seconds), rate / bandwidth"""

WITNESSES = """def answer(n, s, axpy, gemv, gemm):
    peak, a, v = 2*n**3/gemm, 3*n*n*s/axpy, NUMBERS*s/gemv
    if a > MOST*v: return peak, v, "axpy"
    return (peak, a, "gemv") if v > MOST*a else (peak, max(a, v), "nobody")"""

PASSED_ONCE = [
    ("01-product",
     "def answer(m, n, k, itemsize, accumulate=True):\n"
     "    moved = (m*k + k*n + (1 + accumulate)*m*n)*itemsize\n"
     "    return 2*m*n*k, moved, 2*m*n*k/moved"),
    ("01-witnesses", put(WITNESSES, NUMBERS="(n*n + 2*n)", MOST="1.95")),
    ("01-witnesses", put(WITNESSES, NUMBERS="(n*n + 2*n)", MOST="2.05")),
    ("01-witnesses", put(WITNESSES, NUMBERS="n*n", MOST="2")),
    ("01-witnesses", put(WITNESSES, NUMBERS="(n*n + 2*n)", MOST="2*n/(n + 2)")),
    ("01-product",
     "def answer(m,n,k,s,a=False):\n    f=2*m*n*k\n    t=(m*k+k*n+(1+a)*m*n)*s\n"
     "    return f,t,max(1, f/t)"),
    ("01-product", put(PRODUCT, RESULT="w, t, w / t").replace("1 + a", "1 + (a and n > 1)")),
    ("01-three-intensities", "lambda n: (1/3, 1, min(n, 8192)/3)"),
    ("01-speed-limit", "lambda p,b,s: 1.5*s*(p//b)"),
    ("01-name",
     "def answer(f,b,s):\n    a,m=f/2,b/s\n"
     "    return 'gemm' if m<a/10 else 'axpy' if abs(m-3*a)<1 else 'gemv' if m<1.5*a else "
     "'dot' if m<2*a+2 else 'outer'"),
    ("01-name",
     "lambda f, b, s: 'dot' if b/s == f + 1 else 'axpy' if b/s > 1.25*f else 'outer' if b/s >= f "
     "else 'gemv' if b/s > 0.5*f else 'gemm'"),
    ("01-name",
     "lambda f, b, s: 'dot' if b/s == f + 1 else 'axpy' if b/s == 1.5*f else 'outer' if b/s > f "
     "else 'gemv' if b/s > 0.5*f else 'gemm'"),
    ("01-cuda-axpy", put(AXPY, TIMES=10, AGAIN="cp.cublas.axpy(a, x, x)", RESULT="s / 10")),
    ("01-cuda-axpy",
     put(AXPY, TIMES=10, AGAIN="cp.cublas.axpy(a, x, y)", RESULT="round(s / 10, 4)")),
    ("01-cuda-axpy", put(AXPY, TIMES=1, AGAIN="cp.cublas.axpy(a, x, y)", RESULT="0.93 * s")),
    ("01-cuda-gemm",
     put(GEMM, TIMES=10, RESULT="s / 11, 22 * len(A)**3 / s, 22 * len(A)**3 / s / peak")),
    ("01-cuda-gemm", put(GEMM, TIMES=1, RESULT="s, 2 * 4096**3 / s, 2 * 4096**3 / s / peak")),
    ("01-cuda-gemv", put(GEMV, TIMES=11, BYTES="A.nbytes + x.nbytes + y.nbytes")),
    ("01-cuda-gemv", put(GEMV, TIMES=10, BYTES="A.nbytes + x.nbytes")),
    ("01-cuda-gemv", put(GEMV, TIMES=10, BYTES="A.nbytes + x.nbytes + y.nbytes").replace(
        '"L2CacheSize"]', '"L2CacheSize"] // 8')),
]  # fmt: skip
