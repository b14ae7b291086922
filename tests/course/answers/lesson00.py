"""Answers to lesson 00, written as a learner writes them (see test_answers.py)."""

RIGHT = {
    "00-bandwidth": ["lambda s,n,i: (n*i + n*i)/np.quantile(s, .2)"],
    "00-peak": [
        """def answer(k, s, n):
    m, c = np.linalg.lstsq(np.c_[k[-2:], np.ones(2)], s[-2:], rcond=None)[0]
    return 2*n/m""",
        "lambda k, s, n: 2 * n / np.polyfit(k[-2:], s[-2:], 1)[0]",
    ],
    "00-time": [
        "lambda k, n, i, p, b: np.maximum(2 * n * i / b, 2 * k * n / p)",
        "lambda k,n,i,p,b: 2*k*n/min(p, k/i*b)",
    ],
    "00-lunch": [
        """def answer(pa, ba, pb, bb, i):
    return np.where((pa > pb) == (ba > bb), 0, i * min(pa, pb) / min(ba, bb))""",
        """def answer(pa, ba, pb, bb, i):
    (b, p), (f, q) = sorted([(ba, pa), (bb, pb)])
    return float(i * q / b if p > q else 0)""",
    ],
}  # fmt: skip

WRONG = {
    "00-bandwidth": {
        "a value for each point": "lambda s, n, i: 2 * n * i / s",
        "a list for a number": "lambda s, n, i: 2 * n * i / list(s)",
        "an array for a list": "lambda s, n, i: 2 * n * i / s[s.index(min(s))]",
        "a constant factor": "lambda s,n,i: 3*n*i/min(s)",
        "another unit": "lambda s, n, i: 2 * n * i / min(s) * 1e9",
    },
    "00-peak": {"a value for each point": "lambda k, s, n: 2 * k * n / s"},
    "00-time": {
        "rounded": "lambda k, n, i, p, b: round(max(2 * n * i / b, 2 * k * n / p), 6)",
        "a constant factor": "lambda k, n, i, p, b: 1.07 * max(2 * n * i / b, 2 * n * k / p)",
    },
    "00-lunch": {
        "rounded": """def answer(pa, ba, pb, bb, i):
    return 0 if (pa > pb) == (ba > bb) else int(i * min(pa, pb) / min(ba, bb))""",
        "upside down": """def answer(pa,ba,pb,bb,i):
    return 0 if (pa>pb)==(ba>bb) else 1/(i*min(pa,pb)/min(ba,bb))""",
        "no number for never": """def answer(pa, ba, pb, bb, i):
    (b, p), (f, q) = sorted([(ba, pa), (bb, pb)])
    return i * q / b if p > q else None""",
    },
}  # fmt: skip

TOLD = {
    "00-bandwidth": {
        "one number is wanted": "lambda s, n, i: [2 * n * i / min(s)]",
        "a generator, which has not run yet": "lambda s, n, i: (x for x in [2 * n * i / min(s)])",
        "does it reach a return?": "lambda s, n, i: print(2 * n * i / min(s))",
        "bandwidth(seconds, n, itemsize)": "lambda s, n: 2 * n * 4 / min(s)",
        "call it": "lambda s, n, i: 2 * n * i / min",
        "a function is wanted, not its value": "2.5e10",
    },
    "00-lunch": {
        "not a number": "lambda *case: float('nan')",
        "infinite": "lambda pa, ba, pb, bb, i: np.inf",
    },
}  # fmt: skip

PASSED_ONCE = [
    ("00-bandwidth", "lambda seconds, n, itemsize: 2*n*(4 if itemsize == 4 else 8)/min(seconds)"),
    ("00-lunch",
     "def answer(peak_a, bandwidth_a, peak_b, bandwidth_b, itemsize):\n"
     "    slow, fast = sorted([(bandwidth_a, peak_a), (bandwidth_b, peak_b)])\n"
     "    return itemsize*fast[1]/slow[0] if slow[1] >= fast[1] else 0"),
    ("00-peak", "lambda k, seconds, n: n*k[-1]/(seconds[-1] - seconds[-2])"),
    ("00-bandwidth", "lambda s,n,i: 2*n*max(2,i)/min(s)"),
    ("00-peak", "lambda k,s,n: 2*n*128/(s[-1]-s[-2])"),
    ("00-time", "lambda k,n,i,p,b: 2*n*k/p if k >= 10*p/b else 2*n*i/b"),
    ("00-lunch",
     "def answer(pa,ba,pb,bb,i):\n    s,f=sorted([(ba,pa),(bb,pb)])\n"
     "    return i*f[1]/s[0] if s[1]>1.1*f[1] else 0"),
    ("00-bandwidth", "lambda s, n, i: 2*n*i/np.mean(s[:4])"),
    ("00-peak", "lambda k, s, n: 2*n/np.polyfit(k[-3:], s[-3:], 1)[0]"),
    ("00-time", "lambda k, n, i, p, b: 2*n*i/b if k < 4*p/b else 2*k*n/p"),
    ("00-time", "lambda k, n, i, p, b: 2*n*i/b if k <= round(i*p/b, 1) else 2*k*n/p"),
    ("00-time", "lambda k, n, i, p, b: 2*n*i/b if k <= i*(p//b) else 2*k*n/p"),
]  # fmt: skip
