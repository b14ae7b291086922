"""Answers to lesson 12, written as a learner writes them (see test_answers.py)."""

from tests.exercises.dresses import put

RIGHT = {
    "12-nibbles": [
        """def answer(data):
    return [((n >> s & 15) ^ 8) - 8 for n in data for s in (0, 4)]""",
        """def answer(data):
    d = np.array(data, dtype=np.uint8)
    low = (d << 4).astype(np.uint8).view(np.int8) >> 4
    return np.stack([low, d.view(np.int8) >> 4], axis=1).ravel()""",
    ],
    "12-small": [
        """def answer(first, second, other, size, times):
    (x0, y0), (x1, y1) = first, second
    slope, start = np.polyfit([x0, x1], [y0, y1], 1)
    slope = (y1 - y0)/(x1 - x0)
    start = y1 - slope*x1
    return (start + slope*size)/(other + slope*size/times)""",
    ],
    "12-knee": [
        """def answer(n, k, bits, peak, bandwidth, wanted):
    batch = 0
    while True:
        b = batch + 1
        work = 2*b*n*k/peak
        io = 2*b*(n + k)
        slow = max(work, (2*n*k + io)/bandwidth)
        fast = max(work, (bits/8*n*k + io)/bandwidth)
        if slow/fast < wanted:
            return batch
        batch = b""",
    ],
    "12-prune": [
        """def answer(row):
    values, places = [], []
    for n in range(len(row)//4):
        four = list(row[4*n:4*n + 4])
        left = [0, 1, 2, 3]
        for _ in range(2):
            left.remove(min(reversed(left), key=lambda i: abs(four[i])))
        places += left
        values += [four[i] for i in left]
    return [values, places]""",
    ],
    "12-claim-half": [
        """def answer(m, n, k, bits, peak, bandwidth):
    ends = m*(n + k)*bits/8
    def time(weights, rate):
        return max(2*m*n*k/rate, (weights + ends)/bandwidth)
    return time(n*k*bits/8, peak)/time(n*k//2*(bits + 2)/8, 2*peak)""",
    ],
    "12-claim-bits": [
        """def answer(e, m, kept, of, block, scale):
    per_group = kept*(1 + e + m)
    if kept != of:
        per_group += kept*math.log2(of)
    return per_group/of + scale/block""",
    ],
    "12-best": [
        """def answer(options, kv, room, bandwidth, deadline):
    found = (-1, 0.0)
    for i, (size, each) in enumerate(options):
        n = 0
        while (size + (n + 1)*kv <= room and (n + 1)*each <= deadline
               and (size + (n + 1)*kv)/bandwidth <= deadline):
            n += 1
        if n and n/max((size + n*kv)/bandwidth, n*each) > found[1]:
            found = i, n/max((size + n*kv)/bandwidth, n*each)
    return found""",
    ],
}  # fmt: skip

WRONG = {}

TOLD = {}

KNEE = """def answer(n, k, bits, peak, bandwidth, wanted):
    def t(b, w):
        return max(2*b*n*k/peak, (n*k*w/8 + VECTORS)/bandwidth)
    b = 0
    while t(b + 1, 16) TEST wanted*t(b + 1, bits):
        b += 1
    return b"""
PASSED_ONCE = [
    ("12-knee", put(KNEE, VECTORS="2*b*k", TEST=">=")),
    ("12-knee", put(KNEE, VECTORS="2*(n + k)", TEST=">=")),
    ("12-nibbles", "lambda data: [x - 16*(x > 7) for b in data for x in divmod(b, 16)]"),
    ("12-claim-half", "lambda m, n, k, b, p, w: max(2*m*n*k/p, (n*k + m*(n+k))*b/8/w)"
                      "/max(m*n*k/p, (n*k*0.5625 + m*(n+k))*b/8/w)"),
    ("12-small", "lambda f, s, o, size, t: (f[1] + size*s[1]/s[0])/(o + size/t*s[1]/s[0])"),
    ("12-best", """def answer(options, kv, room, bandwidth, deadline):
    rates = []
    for size, each in options:
        n = int(min((room - size)//kv, (deadline*bandwidth - size)//kv))
        rates.append(n/max((size + n*kv)/bandwidth, n*each) if n > 0 else 0.0)
    return (rates.index(max(rates)), max(rates)) if max(rates) else (-1, 0.0)"""),
]  # fmt: skip
