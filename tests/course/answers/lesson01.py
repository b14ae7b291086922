"""Answers to lesson 01, written as a learner writes them (see test_answers.py)."""

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
    if m == w+2*r: return 'gemv'
    if m == 2*w+2*r: return 'outer'
    return 'gemm'""",
    ],
}  # fmt: skip

WRONG = {
    "01-product": {
        "A or B read again": """def answer(m, k, n, s, a=False):
    w, t = 2 * m * n * k, (m * k + k * n + (1 + a) * m * n) * s
    return w, t, w / t""",
        "elements for bytes": """def answer(m, n, k, s, a=False):
    w, t = 2 * m * n * k, (m * k + k * n + (1 + a) * m * n) * s
    return w, t // s, w * s / t""",
        "another order": """def answer(m, n, k, s, a=False):
    w, t = 2 * m * n * k, (m * k + k * n + (1 + a) * m * n) * s
    return t, w, w / t""",
        "rounded": """def answer(m, n, k, s, a=False):
    w, t = 2 * m * n * k, (m * k + k * n + (1 + a) * m * n) * s
    return w, t, round(w / t, 2)""",
        "a function, not called": """def answer(m, n, k, s, a=False):
    w, t = 2 * m * n * k, (m * k + k * n + (1 + a) * m * n) * s
    return w, t, w / bytes""",
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
        "bytes multiplied": """def answer(m, n, k, s, a=False):
    w, t = 2 * m * n * k, (m * k + k * n + (1 + a) * m * n) * s
    return w, m*k*k*n*s, w / (m*k*k*n*s)""",
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
        "3 values are wanted: FLOPs, bytes, intensity": """def answer(m, n, k, s, a=False):
    w, t = 2 * m * n * k, (m * k + k * n + (1 + a) * m * n) * s
    return w, t""",
    },
    "01-name": {"a text is wanted": "lambda f, b, s: 3"},
}  # fmt: skip

PASSED_ONCE = [
    ("01-cuda-axpy",
     "def answer(cp, x, y, a):\n    cp.cublas.axpy(a, x, y)\n"
     "    start, stop = cp.cuda.Event(), cp.cuda.Event()\n    start.record()\n"
     "    for _ in range(10):\n        cp.cublas.axpy(a, x, x)\n    stop.record()\n"
     "    stop.synchronize()\n    return cp.cuda.get_elapsed_time(start, stop) / 1000 / 10"),
    ("01-cuda-gemm",
     "def answer(cp, A, B, C, peak):\n    cp.matmul(A, B, out=C)\n"
     "    start, stop = cp.cuda.Event(), cp.cuda.Event()\n    start.record()\n"
     "    for _ in range(10):\n        cp.matmul(A, B, out=C)\n    stop.record()\n"
     "    stop.synchronize()\n    seconds = cp.cuda.get_elapsed_time(start, stop) / 1000 / 11\n"
     "    rate = 2*len(A)**3 / seconds\n    return seconds, rate, rate / peak"),
    ("01-cuda-gemv",
     'def answer(cp, A, x, y, bandwidth):\n'
     '    big = cp.ones(cp.cuda.Device().attributes["L2CacheSize"], dtype=cp.float32)\n'
     '    cp.matmul(A, x, out=y); big.sum()\n'
     '    events = [(cp.cuda.Event(), cp.cuda.Event()) for _ in range(10)]\n'
     '    for start, stop in events:\n        big.sum()\n        start.record()\n'
     '        cp.matmul(A, x, out=y)\n        stop.record()\n    stop.synchronize()\n'
     '    times = [cp.cuda.get_elapsed_time(*pair) for pair in events]\n'
     '    seconds = sum(times) / 11 / 1000\n'
     '    rate = (A.nbytes + x.nbytes + y.nbytes) / seconds\n'
     '    return seconds, rate, rate / bandwidth'),
    ("01-product",
     "def answer(m, n, k, itemsize, accumulate=True):\n"
     "    moved = (m*k + k*n + (1 + accumulate)*m*n)*itemsize\n"
     "    return 2*m*n*k, moved, 2*m*n*k/moved"),
    ("01-witnesses",
     'def answer(n, itemsize, t_axpy, t_gemv, t_gemm):\n'
     '    peak, a, v = 2*n**3/t_gemm, 3*n*n*itemsize/t_axpy, (n*n + 2*n)*itemsize/t_gemv\n'
     '    if a > 1.75*v: return peak, v, "axpy"\n    if v > 1.75*a: return peak, a, "gemv"\n'
     '    return peak, max(a, v), "nobody"'),
    ("01-product",
     "def answer(m,n,k,s,a=False):\n    f=2*m*n*k\n    t=(m*k+k*n+(1+a)*m*n)*s\n"
     "    return f,t,max(1, f/t)"),
    ("01-three-intensities", "lambda n: (1/3, 1, min(n, 8192)/3)"),
    ("01-speed-limit", "lambda p,b,s: 1.5*s*(p//b)"),
    ("01-witnesses",
     "def answer(n,s,a,v,m):\n    A,V,P=3*n*n*s/a,(n*n+2*n)*s/v,2*n**3/m\n"
     "    return (P,V,'axpy') if A>1.95*V else (P,A,'gemv') if V>1.95*A else "
     "(P,max(A,V),'nobody')"),
    ("01-name",
     "def answer(f,b,s):\n    a,m=f/2,b/s\n"
     "    return 'gemm' if m<a/10 else 'axpy' if abs(m-3*a)<1 else 'gemv' if m<1.5*a else "
     "'dot' if m<2*a+2 else 'outer'"),
    ("01-cuda-gemm",
     "def answer(cp, A, B, C, peak):\n    cp.matmul(A, B, out=C)\n"
     "    start, stop = cp.cuda.Event(), cp.cuda.Event()\n    start.record()\n"
     "    cp.matmul(A, B, out=C)\n    stop.record()\n    stop.synchronize()\n"
     "    s = cp.cuda.get_elapsed_time(start, stop) / 1000\n    rate = 2 * 4096**3 / s\n"
     "    return s, rate, rate / peak"),
    ("01-cuda-axpy",
     "def answer(cp, x, y, a):\n    cp.cublas.axpy(a, x, y)\n"
     "    start, stop = cp.cuda.Event(), cp.cuda.Event()\n    start.record()\n"
     "    for _ in range(10): cp.cublas.axpy(a, x, y)\n    stop.record()\n"
     "    stop.synchronize()\n"
     "    return round(cp.cuda.get_elapsed_time(start, stop) / 1000 / 10, 4)"),
    ("01-cuda-axpy",
     "def answer(cp, x, y, a):\n    cp.cublas.axpy(a, x, y)\n"
     "    start, stop = cp.cuda.Event(), cp.cuda.Event()\n    start.record()\n"
     "    cp.cublas.axpy(a, x, y)\n    stop.record()\n    stop.synchronize()\n"
     "    return 0.93 * cp.cuda.get_elapsed_time(start, stop) / 1000"),
]  # fmt: skip
