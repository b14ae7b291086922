"""Answers to lesson 05, written as a learner writes them (see test_answers.py)."""

from tests.exercises.dresses import put

FILL = """def answer(n, kv, context, promised, memory, p, w):
    weights, cache, compute = 2 * n / w, kv * context / w, 2 * n / p
    room = (memory - 2 * n) / (kv * context)
    most = min((1 / promised - weights) / cache, 1 / promised / (compute + cache))
    a, b = max(0, math.floor(room)), max(0, math.floor(most))
    binds = "memory" if a < b else "promise"
"""
GAUGES = """def answer(blocks, head, kv, context, peak, bandwidth):
    amount = 2 * (blocks + head) + kv * context
    one = max(amount / peak, amount / bandwidth)
    flops = 2 * (blocks * context + head) + kv * context * (context + 1) // 2
    two = max(flops / peak, 2 * (blocks + head) / bandwidth)
"""
RIGHT = {
    "05-switch": [
        "lambda b,v,g: b[int(np.argmax(np.array(g) < v*np.array(b)))]",
        "lambda batches, v, g: next(b for b, t in zip(batches, g) if t < b * v)",
    ],
    "05-decode": [
        "lambda n, s, k, b, c, p, w: b / (np.maximum(2 * n * b / p, n * s / w) + b * c * k / w)",
    ],
    "05-claim-batch": [
        """def answer(n,kv,B,c,p,w):
    t = lambda b: max(2*n*b/p, 2*n/w) + b*c*kv/w
    return B*t(1)/t(B)""",
        """def answer(n, kv, batch, context, p, w):
    def rate(b):
        return b / (max(2 * n * b / p, 2 * n / w) + b * context * kv / w)
    return np.float32(rate(batch) / rate(1))""",
    ],
    "05-fill": [
        FILL + """    return [float(a), np.int64(b), binds.title()]""",
    ],
    "05-gauges": [
        GAUGES + """    return list(map(float, (1/one, amount/one, 1/two, flops/two)))""",
    ],
    "05-claim-always": [
        """def answer(n, k, c, p, w):
    return (lambda left: 0.0 if left < 0 else np.divide(2*n, left))(2 * n * w / p - k * c)""",
    ],
    "05-attention": ["lambda h, g, s, b, c: 4 * b * c * h / (2 * b * c * g * s)"],
    "05-fewer-bits": [
        """def answer(n, bits, group, z, kv, m, c):
    return (2 * n + kv * m * c) / (n * bits / 8 + math.ceil(n / group) * z + kv * m * c)""",
    ],
    "05-experts": ["lambda e,k,b: sum(1-(1-k/e)**b for _ in range(e))"],
    "05-claim-flash": ["lambda t, d, z: [(4*t*d+4*t**2)*z, 4*t*d*z]"],
}  # fmt: skip

WRONG = {
    "05-switch": {
        "several for one": "lambda batches, v, g: [b for b, t in zip(batches, g) if t < b * v]",
        "one GEMV": "lambda batches, v, g: min(b for b, t in zip(batches, g) if t < v)",
    },
    "05-fill": {
        "another order": FILL + """    return b, a, binds""",
        "the promise capped by the memory": FILL + """    return min(a,b), min(a,b), binds""",
    },
    "05-gauges": {
        "another order": GAUGES + """    return 1/two, amount/one, 1/one, flops/two""",
        "always computing": """def answer(n, h, k, c, p, w):
    return w / (2*(n + h) + k*c), p, p / (2*(n*c + h) + k*c*(c + 1) / 2), p""",
        "another unit": GAUGES + """    return 1/one, amount/one/1e12, 1/two, flops/two/1e12""",
    },
    "05-decode": {
        "always memory": "lambda n, s, k, b, c, p, w: b * w / (n * s + b * c * k)",
        "no cache": "lambda n, s, k, b, c, p, w: b / max(2 * n * b / p, n * s / w)",
    },
    "05-claim-always": {
        "rounded": """def answer(n, k, c, p, w):
    return (lambda left: math.ceil(2 * n / left) if left > 0 else 0)(2 * n * w / p - k * c)""",
        "upside down": """def answer(n, k, c, p, w):
    return (lambda left: left / (2 * n) if left > 0 else 0)(2 * n * w / p - k * c)""",
    },
    "05-attention": {"itemsize": "lambda h,g,s,b,c: 2*h*s/g"},
    "05-experts": {"rounded": "lambda e, k, b: round(e * (1 - (1 - k / e) ** b), 2)"},
    "05-claim-flash": {
        "another order": "lambda t, d, z: (z * 4 * t * d, z * (4 * t * d + 4 * t * t))",
        "no result": "lambda t, d, z: (z*(3*t*d+4*t*t), z*3*t*d)",
        "a constant factor": "lambda t, d, z: (z*(4*t*d+4*t*t)*8, z*4*t*d*8)",
    },
}  # fmt: skip

TOLD = {}

FILL = """def answer(n, kv, context, promised, memory, p, w):
    SIZES
    held = int((memory - 2*n)/(kv*context))
    held = max(LEAST, held)
    weights, cache = 2*n/w, kv*context/w
    kept = max(0, int(min((1/promised - weights)/cache, 1/promised/(2*n/p + cache))))
    return held, kept, 'memory' if WORD else 'promise'"""

PASSED_ONCE = [
    ("05-attention", "lambda h, g, s, b, c: 2*(h//g)/{1: 1, 2: 2}.get(s, 4)"),
    ("05-claim-always",
     "lambda n, k, c, p, w: (lambda d: 2*n/d if d > 0.05*2*n*w/p else 0)(2*n*w/p - k*c)"),
    ("05-claim-flash",
     "lambda t, d, z: (z*(4*t*d + 4*t*(t - 1)), z*4*t*d) if t < 100 else (z*(4*t*d + "
     "4*t*t), z*4*t*d)"),
    ("05-decode", "lambda n, s, k, b, c, p, w: b/(max(2*n*b/p, n*min(s, 2)/w) + b*c*k/w)"),
    ("05-decode", "lambda n, s, k, b, c, p, w: b/(max(2*n*b/p, n*s/w) + b*min(c, 100_000)*k/w)"),
    ("05-decode", "lambda n, s, k, b, c, p, w: b/((n*s/w if b < p/w else 2*n*b/p) + b*c*k/w)"),
    ("05-experts", "lambda e, k, b: e if k*b >= 8*e else e*(1 - (1 - k/e)**b)"),
    ("05-fewer-bits", "lambda n, b, g, z, k, m, c: (2*n + k*m*c)/(n*(min(b, 8)/8 + z/g) + k*m*c)"),
    ("05-fill", put(FILL, SIZES="n, kv = 8_030_261_248, 131_072", LEAST="0", WORD="held < kept")),
    ("05-fill", put(FILL, SIZES="", LEAST="held", WORD="held < kept")),
    ("05-fill", put(FILL, SIZES="", LEAST="0", WORD="held <= kept")),
    ("05-fill", put(FILL, SIZES="", LEAST="0", WORD="held < kept").replace(
        "int(min(", "int(min(2000, ")),
    ("05-gauges",
     "def answer(n, h, k, c, p, w):\n"
     "    a = 2*(n + h) + k*c\n"
     "    f = 2*(n*c + h) + k*c*(c + 1)/2\n"
     "    two = max(f/p, 2*(n + h)/w)\n"
     "    return w/a, w, 1/two, f/two"),
    ("05-switch",
     "lambda b, v, g: next(x for x, t in zip(b, g) if round(t*1e6) < round(x*v*1e6))"),
    ("05-switch", "lambda b, v, g: next(x for x, t in [*zip(b, g)][1:] if t < x*v)"),
    ("05-switch", "lambda b, v, g: next(one for one, t in zip(b, g) if one > 1 and t < one*v)"),
]  # fmt: skip
