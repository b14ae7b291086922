"""Answers to lesson 03, written as a learner writes them (see test_answers.py)."""

RIGHT = {
    "03-time": [
        "lambda f, n, p, b: np.maximum(f / p, n / b)",
        "lambda f,n,p,b: f/min(p, f/n*b) if f else n/b",
    ],
    "03-thumb-rules": ["lambda p,b: tuple(map(bool, (p/b >= 4, p/b <= 8)))"],
    "03-counterexample": [
        """def answer(flops, bytes, peak, bandwidth):
    from itertools import permutations
    t = lambda i: max(flops[i]/peak, bytes[i]/bandwidth)
    x = lambda i: flops[i]/bytes[i]
    return [p for p in permutations(range(4), 2) if x(p[0]) > x(p[1]) and t(p[0]) > t(p[1])][0]""",
    ],
    "03-log": [
        "'In order,Warm cache,other-type,GiB,in order,multiply-adds,sparse peak,cannot "
        "tell'.split(',')",
    ],
    "03-ridge-grew": [
        """def answer(peaks, bandwidths, m):
    r = np.array(peaks) / np.array(bandwidths)
    at = m * 4096 / (2 * m + 4096)
    return (np.diff(r) < 0).tolist(), [int(x) for x in (at < r[1:]) != (at < r[:-1])]""",
    ],
    "03-number-type": [
        """def answer(b, p, s, q, r):
    one, two = 1.5 * s * p / b, 1.5 * r * q / b
    return [next(n for n in range(1, 10**5) if n >= edge) for edge in (one, two)]""",
        """def answer(b, p, s, q, r):
    one, two = 1.5 * s * p / b, 1.5 * r * q / b
    return np.ceil(np.array([one, two]))""",
    ],
    "03-worth-the-call": [
        "lambda c,p,b,s: math.ceil(min(math.exp(math.log(c*p/2)/3), math.sqrt(c/(3*s/b))))",
        """def answer(c, p, b, s):
    return math.ceil(min(round(np.cbrt(c * p / 2), 9), round(math.sqrt(c * b / 3 / s), 9)))""",
    ],
    "03-predict": [
        """def answer(flops, bytes, peak, bandwidth, capacity, call):
    place = next(i for i, room in enumerate(capacity) if bytes <= room)
    computing, carrying = flops / peak, bytes / bandwidth[place]
    return round(call + max(computing, carrying), 9)""",
    ],
    "03-sparse-peak": ["lambda i, c, b: np.clip(2 * i * b / c, 1, 2)"],
}  # fmt: skip

WRONG = {
    "03-time": {
        "FLOPs ÷ attainable": "lambda f, n, p, b: f / min(p, f / n * b)",
        "another unit": "lambda f, n, p, b: 1e3 * max(f / p, n / b)",
        "rounded": "lambda f, n, p, b: round(max(f / p, n / b), 6)",
        "a constant factor": "lambda f,n,p,b: max(f/p, n/b)*2",
    },
    "03-thumb-rules": {"a law of nature": "lambda p, b: (True, True)"},
    "03-worth-the-call": {
        "not rounded": "lambda c, p, b, s: min((c*p/2)**(1/3), (c*b/3/s)**0.5)",
        "rounded down": "lambda c, p, b, s: int(min((c*p/2)**(1/3), (c*b/3/s)**0.5) + 1e-9)",
    },
    "03-catalogue": {
        "two dies in an H100": "2 * ['two dies'] + 2 * ['right', 'other part']",
        "twice as much means sparse": "'sparse sparse other_part other_part right other_part'"
        ".split()",
    },
    "03-counterexample": {
        "no pair found": """def answer(f, n, p, b):
    return (next((i, j) for i in range(4) for j in range(4) if f[i] / n[i] > f[j] / n[j] and
        min(p, f[i] / n[i] * b) < min(p, f[j] / n[j] * b)))""",
    },
    "03-ridge-grew": {
        "another order": """def answer(peaks, bandwidths, m):
    r = np.array(peaks) / np.array(bandwidths)
    at = m * 4096 / (2 * m + 4096)
    return (at < r[1:]) != (at < r[:-1]), np.diff(r) < 0""",
    },
    "03-number-type": {
        "another order": """def answer(b, p, s, q, r):
    one, two = 1.5 * s * p / b, 1.5 * r * q / b
    return two, one""",
        "rounded": """def answer(b, p, s, q, r):
    one, two = 1.5 * s * p / b, 1.5 * r * q / b
    return (int(one), int(two))""",
    },
}  # fmt: skip

TOLD = {
    "03-thumb-rules": {"True or False is wanted": "lambda p, b: ('yes', 'no')"},
    "03-worth-the-call": {
        "True where a number belongs": "lambda c, p, b, s: (c * p / 2) ** (1 / 3) > 3",
    },
}  # fmt: skip

PASSED_ONCE = [
    ("03-ridge-grew",
     "def answer(peaks, bandwidths, m):\n"
     "    ridges = [round(p/b) for p, b in zip(peaks, bandwidths)]\n"
     "    at = m*4096/(2*m + 4096)\n    steps = list(zip(ridges, ridges[1:]))\n"
     "    return [b < a for a, b in steps], [(at < a) != (at < b) for a, b in steps]"),
    ("03-thumb-rules", "lambda peak, bandwidth: (peak // bandwidth >= 4, peak // bandwidth <= 8)"),
    ("03-worth-the-call",
     "lambda c,p,b,s: next(n for n in range(1,10000) if max(2*n**3/p, 3*n*n*s/b) >= c)"),
    ("03-time", "lambda f,n,p,b: f/p if f/n > 1.1*p/b else n/b"),
    ("03-time", "lambda f,n,p,b: f/p if f/n > round(p/b, 2) else n/b"),
    ("03-time", "lambda f,n,p,b: max(f/p, n/b, 1e-6)"),
    ("03-thumb-rules", "lambda p,b: (round(p/b, 2)>=4, round(p/b, 2)<=8)"),
    ("03-counterexample",
     "def answer(f,n,p,b):\n"
     "    x=[u/v for u,v in zip(f,n)]; t=[max(u/p,v/b) for u,v in zip(f,n)]\n"
     "    return next((i,j) for i in range(4) for j in range(4) if x[i]>x[j] and t[i]>=t[j])"),
    ("03-counterexample",
     "def answer(f,n,p,b):\n"
     "    x=[round(u/v,1) for u,v in zip(f,n)]; t=[max(u/p,v/b) for u,v in zip(f,n)]\n"
     "    return next((i,j) for i in range(4) for j in range(4) if x[i]>x[j] and t[i]>t[j])"),
    ("03-ridge-grew",
     "def answer(P,B,m):\n    r=[p/b for p,b in zip(P,B)]; at=m*4096/(2*m+4096)\n"
     "    return [b<a-.1 for a,b in zip(r,r[1:])],[(at<a)!=(at<b) for a,b in zip(r,r[1:])]"),
    ("03-number-type", "lambda b,p,s,q,r: (math.floor(1.5*s*p/b)+1, math.floor(1.5*r*q/b)+1)"),
    ("03-worth-the-call",
     "lambda c,p,b,s: next(n for n in range(2,10**5) if max(2*n**3/p, 3*n*n*s/b) >= c)"),
    ("03-time", "lambda f,n,p,b: f/p if round(f/n, 1) >= p/b else n/b"),
    ("03-ridge-grew",
     "def answer(P,B,m):\n    r=[p/b for p,b in zip(P,B)]; at=m*4096//(2*m+4096)\n"
     "    return [b<a for a,b in zip(r,r[1:])],[(at<a)!=(at<b) for a,b in zip(r,r[1:])]"),
    ("03-sparse-peak", "lambda i,c,b: 1 if i<.51*c/b else 2 if i>c/b else 2*i*b/c"),
]  # fmt: skip
