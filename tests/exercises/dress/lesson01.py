"""Answers to lesson 01, written as a learner writes them (see test_dress.py)."""

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
