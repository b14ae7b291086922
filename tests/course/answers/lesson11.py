"""Answers to lesson 11, written as a learner writes them (see test_answers.py)."""

from tests.exercises.dresses import put

RIGHT = {
    "11-round": [
        """def answer(x, mantissa, smallest, largest):
    if x == 0:
        return 0.0
    e = math.floor(math.log2(abs(x)))
    step = 2.0**(e - mantissa)
    if abs(x) < smallest:
        step = smallest / 2**mantissa
    low = math.floor(x/step)
    up = x/step - low
    n = low if up < 0.5 or (up == 0.5 and low % 2 == 0) else low + 1
    if n*step > largest:
        return math.inf
    if n*step < -largest:
        return -math.inf
    return n*step""",
        """def answer(x, m, smallest, largest):
    step = max(2.0**(np.frexp(x)[1] - 1), smallest) * 2.0**-m
    y = np.rint(x / step) * step
    return np.where(np.abs(y) > largest, np.sign(x) * np.inf, y).item()""",
    ],
    "11-pieces": [
        """def answer(n, chunk, mantissa):
    total = 0
    while n > 0:
        total += min(chunk, n, 2 << mantissa)
        n -= chunk
    return total""",
    ],
    "11-chance": [
        """def answer(values, step, chances):
    s = 0.0
    for v, c in zip(values, chances):
        s += v
        below = s // step * step
        s = below + step if c < (s - below)/step else below
    return s""",
        # what is rounded before is a multiple, so each value can be rounded alone
        "lambda v, s, c: s * sum(math.floor(x/s) + (p < x/s - math.floor(x/s)) "
        "for x, p in zip(v, c))",
    ],
    "11-claim-bound": [
        """def answer(m, n, k, bandwidth, wide, narrow):
    def time(f):
        return 2*m*n*k/f[1], (m*k + k*n + m*n)*f[0]/bandwidth
    return [max(time(wide))/max(time(narrow)), time(narrow)[1] > time(narrow)[0]]""",
        """def answer(m, n, k, b, wide, narrow):
    ai = lambda f: 2*m*n*k/(f[0]*(m*k + k*n + m*n))
    rate = lambda f: min(f[1], ai(f)*b)
    return rate(narrow)/rate(wide), bool(ai(narrow) < narrow[1]/b)""",
    ],
    "11-blocks": [
        """def answer(block):
    most = max(abs(x) for x in block)
    if most == 0:
        return block
    scale = 2.0**(math.floor(math.log2(most)) - 2)
    out = []
    for x in block:
        y = min(abs(x)/scale, 6)
        step = 0.5 if y < 2 else 1 if y < 4 else 2
        out.append(math.copysign(round(y/step)*step*scale, x))
    return out""",
    ],
    "11-expected": [
        """def answer(m, n, k, bits, times, passes):
    B, P, L = 7.36e12, 1.755e15, 2e-6
    w = bits/8
    bf16 = max(4*m*k/B, L) + max(2*m*k*n/P, 2*(m*k + k*n + m*n)/B, L)
    quant = max((2*passes + w)*m*k/B, L) + max(2*m*k*n/P/times, (w*(m*k + k*n) + 2*m*n)/B, L)
    return bf16/quant""",
    ],
    "11-slices": [
        """def answer(a, b, bits, count):
    base = 2**bits
    def digits(x):
        out = []
        for _ in range(count):
            out.insert(0, x % base)
            x //= base
        return out
    total = 0
    for x, y in zip(map(digits, a), map(digits, b)):
        for i in range(count):
            for j in range(count - i):
                total += x[i]*y[j]*base**(2*count - 2 - i - j)
    return total""",
    ],
}  # fmt: skip

WRONG = {}

TOLD = {}

BOUND = (
    "lambda m, n, k, b, w, v: (max(2*m*n*k/w[1], (m*k + k*n + m*n)*w[0]/b)"
    "/max(2*m*n*k/v[1], (m*k + k*n + m*n)*v[0]/b), TEST)"
)
PASSED_ONCE = [
    ("11-claim-bound", put(BOUND, TEST="2*m*n*k/v[1] < (m*k + k*n)*v[0]/b")),
    ("11-claim-bound", put(BOUND, TEST="m < v[1]/b")),
    ("11-pieces", "lambda n, c, m: n//c*min(c, 2**(m+1)) + n % c"),
    ("11-slices", "lambda a, b, bits, count: sum(x*y for x, y in zip(a, b)) >> bits << bits"),
    ("11-blocks", """def answer(block):
    most = max(map(abs, block)) or 1
    scale = 2.0**(round(math.log2(most)) - 2)
    grid = [0, 0.5, 1, 1.5, 2, 3, 4, 6]
    near = lambda x: min(grid, key=lambda g: abs(g - x))
    return [math.copysign(near(abs(x)/scale)*scale, x) for x in block]"""),
    ("11-round", """def answer(x, m, smallest, largest):
    step = 2.0**(math.floor(math.log2(max(abs(x), smallest))) - m)
    y = round(x/step)*step
    return y if abs(x) <= largest + step/2 else math.copysign(math.inf, x)"""),
]  # fmt: skip
