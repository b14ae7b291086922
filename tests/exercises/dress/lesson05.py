"""Answers to lesson 05 in unusual dress: one line a case (see test_dress.py)."""

GAUGES = """def answer(blocks, head, kv, context, peak, bandwidth):
    amount = 2 * (blocks + head) + kv * context
    one = max(amount / peak, amount / bandwidth)
    flops = 2 * (blocks * context + head) + kv * context * (context + 1) // 2
    two = max(flops / peak, 2 * (blocks + head) / bandwidth)
    return """
IN_TURNS = GAUGES.replace("max(", "(lambda x, y: x + y)(")
STEP = "lambda n, s, k, b, c, p, w: b / ({})"
FILL = """def answer(n, kv, context, promised, memory, p, w):
    weights, cache, compute = 2 * n / w, kv * context / w, 2 * n / p
    room = (memory - 2 * n) / (kv * context)
    most = min((1 / promised - weights) / cache, 1 / promised / (compute + cache))
    a, b = max(0, math.floor(room)), max(0, math.floor(most))
    binds = "memory" if a < b else "promise"
    return """
GAIN = "lambda n, bits, group, z, kv, m, c: (2 * n + kv * m * c) / ({})"
ENOUGH = "lambda n, k, c, p, w: (lambda left: {})(2 * n * w / p - k * c)"
SPEED = """def answer(n, kv, batch, context, p, w):
    def rate(b):
        return b / (max(2 * n * b / p, 2 * n / w) + b * context * kv / w)
    return """
CACHED = "lambda t, d, z: {}"

RIGHT = [
    ("05-switch", "lambda batches, v, g: next(b for b, t in zip(batches, g) if t < b * v)"),
    ("05-switch",
     "lambda batches, v, g: min(np.array(batches)[np.array(g) < v * np.array(batches)])"),
    ("05-switch", "lambda batches, v, g: float([b for b, t in zip(batches, g) if t / b < v][0])"),
    ("05-gauges", GAUGES + "1 / one, amount / one, 1 / two, flops / two"),
    ("05-gauges", GAUGES + "np.float32([1 / one, amount / one, 1 / two, flops / two])"),
    ("05-gauges", GAUGES + "((1 / one, amount / one), (1 / two, flops / two))"),
    ("05-gauges", GAUGES +
     "{'tokens/s with a cache': 1 / one, 'FLOP/s with a cache': amount / one, 'tokens/s without': "
     "1 / two, 'FLOP/s without': flops / two}"),
    ("05-decode", STEP.format("max(2 * n * b / p, n * s / w) + b * c * k / w")),
    ("05-decode", STEP.format("np.maximum(2 * n * b / p, n * s / w) + b * c * k / w")),
    ("05-decode", STEP.format("max(2 * n * b / p, (n * s + b * c * k) / w)")),
    ("05-decode",
     "lambda n, s, k, b, c, p, w: np.float32(b / (max(2 * n * b / p, n * s / w) + b * c * k / w))"),
    ("05-decode",
     "def answer(n, itemsize, kv, batch, context, *, peak, bandwidth): "
     "return batch / (max(2 * n * batch / peak, n * itemsize / bandwidth) + batch * context * kv / "
     "bandwidth)"),
    ("05-claim-batch", SPEED + "rate(batch) / rate(1)"),
    ("05-claim-batch", SPEED + "np.float32(rate(batch) / rate(1))"),
    ("05-fill", FILL + "a, b, binds"),
    ("05-fill", FILL + "[float(a), np.int64(b), binds.title()]"),
    ("05-fill", FILL + "{'memory': a, 'promise': b, 'word': binds}"),
    ("05-claim-always", ENOUGH.format("2 * n / left if left > 0 else 0")),
    ("05-claim-always", ENOUGH.format("max(0, 2 * n / left)")),
    ("05-claim-always", ENOUGH.format("np.float32(max(0.0, 2 * n / left))")),
    ("05-attention", "lambda h, g, s, b, c: 4 * b * c * h / (2 * b * c * g * s)"),
    ("05-attention", "lambda h, g, s, *rest: Fraction(2 * h, g * s)"),
    ("05-fewer-bits", GAIN.format("n * (bits / 8 + z / group) + kv * m * c")),
    ("05-fewer-bits", GAIN.format("n * bits / 8 + math.ceil(n / group) * z + kv * m * c")),
    ("05-experts", "lambda e, k, b: e * (1 - (1 - k / e) ** b)"),
    ("05-experts", "lambda e, k, b: np.float32(e * (1 - (1 - k / e) ** b))"),
    ("05-experts", "lambda e, k, b: float(e - e * Fraction(e - k, e) ** b)"),
    ("05-claim-flash", CACHED.format("(z * (4 * t * d + 4 * t * t), z * 4 * t * d)")),
    ("05-claim-flash", CACHED.format("np.array([4 * t * (d + t), 4 * t * d]) * z")),
    ("05-claim-flash", CACHED.format("{'streamed': 4 * t * d * z, 'scores': 4 * t * (t + d) * z}")),
    ("05-switch",
     "def answer(batches, v, g):\n"
     "    for b, t in zip(batches, g):\n"
     "        if t < b*v: return b"),
    ("05-switch", "lambda b,v,g: b[int(np.argmax(np.array(g) < v*np.array(b)))]"),
    ("05-gauges", GAUGES + 'list(map(float, (1/one, amount/one, 1/two, flops/two)))'),
    ("05-gauges", GAUGES +
     '1/one, amount*(1/one), 1/two, min(peak, flops/(2*(blocks+head))*bandwidth)'),
    ("05-gauges", GAUGES + "{'with': (1/one, amount/one), 'without': (1/two, flops/two)}"),
    ("05-switch",
     "lambda batches, v, g: {'batch': next(b for b, t in zip(batches, g) if t < b * v)}"),
    ("05-decode",
     "def answer(n,s,k,b,c,p,w):\n"
     "    linear = max(2*n*b/p, n*s/w)\n"
     "    attention = b*c*k/w\n"
     "    return b/(linear+attention)"),
    ("05-decode", "lambda n,s,k,b,c,p,w: 1/(max(2*n/p, n*s/w/b) + c*k/w)"),
    ("05-claim-batch",
     "def answer(n,kv,B,c,p,w):\n"
     "    t = lambda b: max(2*n*b/p, 2*n/w) + b*c*kv/w\n"
     "    return B*t(1)/t(B)"),
    ("05-claim-batch", SPEED + 'Fraction(rate(batch))/Fraction(rate(1))'),
    ("05-fill", FILL + 'int(a), int(b), binds.upper()'),
    ("05-fill", FILL + "{'batch by memory': a, 'batch by promise': b, 'binds': binds}"),
    ("05-claim-always",
     "def answer(n,k,c,p,w):\n"
     "    gain = 2*n/p - k*c/w\n"
     "    return 0 if gain <= 0 else 2*n/w/gain"),
    ("05-claim-always",
     "lambda n, k, c, p, w: (lambda left: 0.0 if left < 0 else np.divide(2*n, "
     "left))(2 * n * w / p - k * c)"),
    ("05-attention", "lambda h,g,s,b,c: (h/g)*2/s"),
    ("05-attention", "lambda h,g,s,b,c: 4*h*c*64/(2*g*c*64*s)"),
    ("05-fewer-bits",
     "def answer(n,bits,group,z,kv,m,c):\n"
     "    cache = kv*m*c\n"
     "    return (2*n+cache)/(n*(bits+8*z/group)/8+cache)"),
    ("05-fewer-bits",
     "lambda n, bits, group, z, kv, m, c: (2 * n + kv * m * c) / (n * bits / 8 + n // group * z + "
     "kv * m * c)"),
    ("05-experts", "lambda e,k,b: e - e*((e-k)/e)**b"),
    ("05-experts", "lambda e,k,b: sum(1-(1-k/e)**b for _ in range(e))"),
    ("05-claim-flash", "lambda t, d, z: [(4*t*d+4*t**2)*z, 4*t*d*z]"),
    ("05-claim-flash",
     "lambda t, d, z: {'bytes with scores in memory': z*(4*t*d+4*t*t), 'streamed bytes': z*4*t*d}"),
]  # fmt: skip

WRONG = [
    ("05-switch", "lambda batches, v, g: next(i for i, t in enumerate(g) if t < batches[i] * v)",
     "the place, not the batch"),
    ("05-switch",
     "lambda batches, v, g: next((b for b, t in zip(batches, g) if t < v), batches[-1])",
     "the largest batch"),
    ("05-switch", "lambda batches, v, g: batches[0]", "always a GEMM"),
    ("05-switch", "lambda batches, v, g: max(b for b, t in zip(batches, g) if t >= b * v)",
     "the last of the others"),
    ("05-switch", "lambda batches, v, g: [b for b, t in zip(batches, g) if t < b * v]",
     "several for one"),
    ("05-gauges", GAUGES + "1 / two, flops / two, 1 / one, amount / one", "without comes first"),
    ("05-gauges", GAUGES + "amount / one, 1 / one, flops / two, 1 / two", "another order"),
    ("05-gauges", GAUGES + "1 / one, peak, 1 / two, flops / two", "full speed"),
    ("05-gauges", GAUGES + "one, amount / one, two, flops / two", "seconds a token"),
    ("05-gauges", GAUGES.replace(" * (context + 1) // 2", " * context") +
     "1 / one, amount / one, 1 / two, flops / two", "the whole square"),
    ("05-gauges", GAUGES.replace("max(flops / peak, 2 * (blocks + head) / bandwidth)",
                                 "flops / peak") + "1 / one, amount / one, 1 / two, flops / two",
     "always computing"),
    ("05-gauges", IN_TURNS + "1 / one, amount / one, 1 / two, flops / two", "sum for max"),
    ("05-gauges", GAUGES.replace("max(flops", "(lambda x, y: x + y)(flops") +
     "1 / one, amount / one, 1 / two, flops / two", "sum for max"),
    ("05-gauges", GAUGES + "1 / one, amount / one, context / two, flops / two",
     "every position a token"),
    ("05-gauges", GAUGES + "context / one, amount / one, context / two, flops / two",
     "every position a token"),
    ("05-gauges", GAUGES + "1 / one, 1 / two, amount / one, flops / two", "another order"),
    ("05-decode", STEP.format("2 * n * b / p + n * s / w + b * c * k / w"), "no overlap"),
    ("05-decode", STEP.format("max(2 * n * b / p, n * s / w)"), "no cache"),
    ("05-decode", STEP.format("max(2 * n * b / p, n * s / w) + c * k / w"), "one cache for all"),
    ("05-decode", STEP.format("max(2 * n * b / p, n * s / w) + b * c * k * s / w"),
     "kv times itemsize"),
    ("05-decode", STEP.format("max(2 * n * b / p, (n * s + b * c * k * s) / w)"),
     "kv times itemsize"),
    ("05-decode", STEP.format("max(n * b / p, n * s / w) + b * c * k / w"), "multiply-adds"),
    ("05-decode", STEP.format("max(2 * n / p, n * s / w) + b * c * k / w"), "always memory"),
    ("05-decode", "lambda n, s, k, b, c, p, w: 1 / (max(2 * n * b / p, n * s / w) + b * c * k / w)",
     "tokens of one sequence"),
    ("05-decode", "lambda n, s, k, b, c, p, w: max(2 * n * b / p, n * s / w) + b * c * k / w",
     "seconds of a step"),
    ("05-claim-batch", SPEED + "batch", "the claim"),
    ("05-claim-batch", SPEED + "min(batch, p / w)", "until the ridge"),
    ("05-claim-batch", SPEED + "rate(1) / rate(batch)", "upside down"),
    ("05-claim-batch", SPEED + "rate(batch) / rate(1) / batch", "for one sequence"),
    ("05-claim-batch", SPEED + "rate(batch)", "tokens a second"),
    ("05-claim-batch", SPEED.replace("b * context", "context") + "rate(batch) / rate(1)",
     "one cache for all"),
    ("05-fill", FILL + "b, a, binds", "another order"),
    ("05-fill", FILL + "a, b, 'memory' if a > b else 'promise'", "the other one binds"),
    ("05-fill", FILL + "a + 1, b + 1, binds", "one more"),
    ("05-fill", FILL + "math.floor(room), math.floor(most), binds", "a batch below zero"),
    ("05-fill", FILL.replace("(memory - 2 * n)", "memory") + "a, b, binds",
     "weights forgotten in the memory"),
    ("05-fill", FILL + "room, most, binds", "not rounded down"),
    ("05-fill", FILL.replace("(memory - 2 * n)", "(0.9 * memory - 2 * n)") + "a, b, binds",
     "a tenth set aside twice"),
    ("05-fill", FILL + "a, min(a, b), binds", "the promise capped by the memory"),
    ("05-fill", FILL + "a, min(a, b), 'memory' if a < min(a, b) else 'promise'",
     "the promise capped by the memory"),
    ("05-claim-always", ENOUGH.format("2 * n / left"), "a batch below zero"),
    ("05-claim-always", ENOUGH.format("2 * n / left if left > 0 else math.inf"), "without end"),
    ("05-claim-always", ENOUGH.format("2 * n / abs(left)"), "the sign lost"),
    ("05-claim-always", ENOUGH.format("2 * n / left").replace("- k * c", "+ k * c"),
     "plus for minus"),
    ("05-claim-always", "lambda n, k, c, p, w: p / w", "the ridge"),
    ("05-claim-always", "lambda n, k, c, p, w: 0", "the claim"),
    ("05-claim-always", ENOUGH.format("math.ceil(2 * n / left) if left > 0 else 0"), "rounded"),
    ("05-attention", "lambda h, g, s, b, c: 2 / s", "one head for one"),
    ("05-attention", "lambda h, g, s, b, c: 2 * b * h / (g * s)", "batch helps"),
    ("05-attention", "lambda h, g, s, b, c: h / (g * s)", "half the FLOPs"),
    ("05-attention", "lambda h, g, s, b, c: g * s / (2 * h)", "upside down"),
    ("05-attention", "lambda h, g, s, b, c: 2 * h / g", "per number"),
    ("05-attention", "lambda h, g, s, b, c: 2 * g / (h * s)", "the group upside down"),
    ("05-fewer-bits", "lambda n, bits, *rest: 16 / bits", "bits alone"),
    ("05-fewer-bits", GAIN.format("n * bits / 8 + kv * m * c"), "no scales"),
    ("05-fewer-bits", GAIN.format("n * (bits / 8 + z / group) + kv * m * c * bits / 16"),
     "the cache shrinks too"),
    ("05-fewer-bits", GAIN.format("n * (bits + 8 * z / group) / 8 + kv * c"),
     "one cache afterwards"),
    ("05-fewer-bits", GAIN.format("n * (bits + z / group) / 8 + kv * m * c"), "scales in bits"),
    ("05-fewer-bits", GAIN.format("n * (bits / 8 + z) + kv * m * c"), "a scale for every weight"),
    ("05-experts", "lambda e, k, b: k * b", "never the same"),
    ("05-experts", "lambda e, k, b: min(e, k * b)", "never the same"),
    ("05-experts", "lambda e, k, b: e * (1 - k / e) ** b", "those that are spared"),
    ("05-experts", "lambda e, k, b: 1 - (1 - k / e) ** b", "a share"),
    ("05-experts", "lambda e, k, b: round(e * (1 - (1 - k / e) ** b), 2)", "rounded"),
    ("05-claim-flash", CACHED.format("(z * 4 * t * d, z * (4 * t * d + 4 * t * t))"),
     "another order"),
    ("05-claim-flash", CACHED.format("(4 * t * d + 4 * t * t, 4 * t * d)"), "numbers, not bytes"),
    ("05-claim-flash", CACHED.format("(z * (4 * t * d + 2 * t * t), z * 4 * t * d)"),
     "scores twice"),
    ("05-claim-flash", CACHED.format("(z * (4 * t * d + 4 * t * t), z * 3 * t * d)"), "no result"),
    ("05-claim-flash", CACHED.format("(z * (4 * t * d + 4 * t * d), z * 4 * t * d)"),
     "scores as wide as a head"),
    ("05-gauges", GAUGES + '1/one, amount/one/1e12, 1/two, flops/two/1e12', "another unit"),
    ("05-gauges",
     "def answer(blocks, head, kv, context, peak, bandwidth):\n"
     "    amount = 2 * (blocks + head)\n"
     "    one = max(amount / peak, amount / bandwidth)\n"
     "    flops = 2 * (blocks * context + head) + kv * context * (context + 1) // 2\n"
     "    two = max(flops / peak, 2 * (blocks + head) / bandwidth)\n"
     "    return 1/one, amount/one, 1/two, flops/two", "the cache is free"),
    ("05-gauges", GAUGES + '1/two, amount/one, 1/one, flops/two', "another order"),
    ("05-decode", "lambda n, s, k, b, c, p, w: b / (max(2*n*b/p, n*s/w) + b*k/w)",
     "the newest token only"),
    ("05-decode", "lambda n, s, k, b, c, p, w: b / (max(n*b/p, n*s/w) + b*c*k/w)", "multiply-adds"),
    ("05-decode", "lambda n,s,k,b,c,p,w: 1/(max(2*n*b/p, n*s/w) + b*c*k/w)",
     "tokens of one sequence"),
    ("05-decode", "lambda n, s, k, b, c, p, w: b / (min(2*n*b/p, n*s/w) + b*c*k/w)", "min for max"),
    ("05-decode", "lambda n, s, k, b, c, p, w: b / (max(2*n/p, n*s/w) + b*c*k/w)", "always memory"),
    ("05-decode", "lambda n,s,k,b,c,p,w: b*w/(n*s)", "no cache"),
    ("05-claim-batch", SPEED + 'rate(batch) - rate(1)', "a difference"),
    ("05-claim-batch",
     "def answer(n, kv, batch, context, p, w):\n"
     "    def rate(b):\n"
     "        return b / (max(2 * n * b / p, n / w) + b * context * kv / w)\n"
     "    return rate(batch)/rate(1)", "one byte a weight"),
    ("05-claim-batch",
     "def answer(n, kv, batch, context, p, w):\n"
     "    def rate(b):\n"
     "        return b / (max(2 * n * b / p, 2 * n / w))\n"
     "    return rate(batch)/rate(1)", "until the ridge"),
    ("05-claim-batch",
     "def answer(n, kv, batch, context, p, w):\n"
     "    def rate(b):\n"
     "        return b / (max(2 * n * b / p, 2 * n / w) + b * kv / w)\n"
     "    return rate(batch)/rate(1)", "the newest token only"),
    ("05-fill",
     'def answer(n, kv, context, promised, memory, p, w):\n'
     '    weights, cache, compute = 2 * n / w, kv * context / w, 2 * n / p\n'
     '    room = (memory - 2 * n) / (kv * context)\n'
     '    most = min((1 / promised - weights) / cache, 1 / promised / (compute + cache))\n'
     '    a, b = max(0, math.ceil(room)), max(0, math.ceil(most))\n'
     '    binds = "memory" if a < b else "promise"\n'
     '    return a, b, binds', "one more"),
    ("05-fill", FILL + 'min(a,b), min(a,b), binds', "the promise capped by the memory"),
    ("05-fill",
     'def answer(n, kv, context, promised, memory, p, w):\n'
     '    weights, cache, compute = 2 * n / w, kv / w, 2 * n / p\n'
     '    room = (memory - 2 * n) / kv\n'
     '    most = min((1 / promised - weights) / cache, 1 / promised / (compute + cache))\n'
     '    a, b = max(0, math.floor(room)), max(0, math.floor(most))\n'
     '    binds = "memory" if a < b else "promise"\n'
     '    return a, b, binds', "the newest token only"),
    ("05-claim-always",
     "lambda n, k, c, p, w: (lambda left: n / left if left > 0 else 0)(2 * n * w / p - k * c)",
     "one byte a weight"),
    ("05-claim-always",
     "lambda n, k, c, p, w: (lambda left: 2 * n / left if left > 0 else 0)(2 * n * w / p - k)",
     "the newest token only"),
    ("05-claim-always",
     "lambda n, k, c, p, w: (lambda left: left / (2 * n) if left > 0 else 0)(2 * n * w / p - k * "
     "c)", "upside down"),
    ("05-attention", "lambda h,g,s,b,c: 2*h/s", "all heads"),
    ("05-attention", "lambda h,g,s,b,c: 4*h/(g*s)", "K alone is read"),
    ("05-attention", "lambda h,g,s,b,c: 2*h*s/g", "itemsize"),
    ("05-attention", "lambda h,g,s,b,c: 2*h*c/(g*s)", "context helps"),
    ("05-fewer-bits",
     "lambda n, bits, group, z, kv, m, c: (2 * n + kv * m * c) / (n * bits / 8 + n / group + kv * "
     "m * c)", "one byte a scale"),
    ("05-fewer-bits", "lambda n,bits,group,z,kv,m,c: 2 / (bits / 8 + z / group)", "no cache"),
    ("05-fewer-bits",
     "lambda n, bits, group, z, kv, m, c: (n + kv * m * c) / (n * (bits / 8 + z / group) + kv * m "
     "* c)", "one byte a weight before"),
    ("05-experts", "lambda e,k,b: e*(1-(1-1/e)**(b*k))", "with repetition"),
    ("05-experts", "lambda e,k,b: e*(1-(k/e)**b)", "used for spared"),
    ("05-experts", "lambda e,k,b: e*k/e*b", "never the same"),
    ("05-claim-flash", "lambda t, d, z: (z*4*t*t, z*4*t*d)", "only the scores"),
    ("05-claim-flash", "lambda t, d, z: (z*(3*t*d+4*t*t), z*3*t*d)", "no result"),
    ("05-claim-flash", "lambda t, d, z: (z*(4*t*d+4*t*t), z*(4*t*d+t*t))",
     "scores stored once after all"),
    ("05-claim-flash", "lambda t, d, z: (z*(4*t*d+4*t*t)*8, z*4*t*d*8)", "a constant factor"),
    ("05-switch", "lambda batches, v, g: max(b for b, t in zip(batches, g) if t < b * v)",
     "the largest batch"),
    ("05-switch", "lambda batches, v, g: min(zip(batches, g), key=lambda p: p[1] / p[0])[0]",
     "the fastest per vector"),
    ("05-switch", "lambda batches, v, g: min(b for b, t in zip(batches, g) if t < v)", "one GEMV"),
    ("05-switch", "lambda batches, v, g: min((b for b, t in zip(batches, g) if t < v), default=0)",
     "one GEMV"),
    ("05-switch", "lambda batches, v, g: next(b for b, t in zip(batches, g) if t < v)", "one GEMV"),
    ("05-switch", "lambda batches, v, g: [b for b, t in zip(batches, g) if t < v][0]", "one GEMV"),
    ("05-switch", "lambda batches, v, g: min(b for b, t in zip(batches, g) if t <= b * v)",
     "a tie wins"),
    ("05-switch",
     "lambda batches, v, g: min(b for b in batches if b > max(c for c, t in zip(batches, "
     "g) if t >= c * v))", "for good"),
    ("05-switch", "lambda batches, v, g: max(b for b, t in zip(batches, g) if t >= b * v) + 1",
     "for good"),
    ("05-gauges", GAUGES.replace("(context + 1) // 2", "context / 2") +
     "1 / one, amount / one, 1 / two, flops / two", "a sum a little off"),
    ("05-gauges", GAUGES.replace("context * (context + 1) // 2", "sum(range(context))") +
     "1 / one, amount / one, 1 / two, flops / two", "a sum a little off"),
    ("05-gauges", GAUGES.replace("context * (context + 1) // 2",
                                 "(context - 1) * (context - 2) / 2") +
     "1 / one, amount / one, 1 / two, flops / two", "a sum a little off"),
    ("05-gauges", GAUGES.replace("kv * context\n", "kv * (context - 1)\n") +
     "1 / one, amount / one, 1 / two, flops / two", "the newest token left out"),
    ("05-gauges", GAUGES.replace(" * (context + 1) // 2", "") +
     "1 / one, amount / one, 1 / two, flops / two", "each token looks at itself"),
    ("05-gauges", GAUGES.replace("kv *", "2 * kv *") +
     "1 / one, amount / one, 1 / two, flops / two", "kv counted twice"),
    ("05-gauges", GAUGES.replace("2 * (blocks + head) / b", "amount / b") +
     "1 / one, amount / one, 1 / two, flops / two", "the cache fetched without one"),
    ("05-gauges",
     GAUGES.replace("2 * (blocks + head) / b", "flops / b").replace("flops / peak, flops",
        "flops / peak, (2 * (blocks * context + head) + kv * context * (context + 1) // 2)") +
     "1 / one, amount / one, 1 / two, flops / two", "weights for each position"),
    ("05-gauges", GAUGES.replace(" + kv * context * (context + 1) // 2", "") +
     "1 / one, amount / one, 1 / two, flops / two", "attention computes nothing"),
    ("05-gauges", GAUGES.replace("context + head)", "context)") +
     "1 / one, amount / one, 1 / two, flops / two", "the output matrix left out"),
    ("05-gauges", GAUGES + "1 / one, amount, 1 / two, flops", "FLOPs, not FLOP/s"),
    ("05-decode", STEP.format("max(2 * n * b / p, 2 * n / w) + b * c * k / w"), "2 bytes always"),
    ("05-decode", STEP.format("max(2 * n * b / p, n * s / w) + 2 * b * c * k / w"),
     "kv counted twice"),
    ("05-decode", STEP.format("max(2 * n / p, n * s / w) + c * k / w"), "a batch of steps"),
    ("05-decode",
     "lambda n,s,k,b,c,p,w: (lambda w: b / (max(2*n*b/p, n*s/w) + b*c*k/w))(w / 1e9 * 2**30)",
     "GiB"),
    ("05-decode", "lambda n,s,k,b,c,p,w: p / (2 * n)", "always computing"),
    ("05-claim-batch",
     SPEED.replace(") + b * context * kv / w", ", b * context * kv / w)") + "rate(batch) / rate(1)",
     "the longest of three"),
    ("05-claim-batch",
     SPEED.replace("max(2 * n * b / p, 2 * n / w)", "2 * n * b / p + 2 * n / w")
     + "rate(batch) / rate(1)",
     "no overlap"),
    ("05-claim-batch", SPEED.replace("context * kv", "2 * context * kv") + "rate(batch) / rate(1)",
     "kv counted twice"),
    ("05-claim-batch", SPEED.replace("max(2 * n", "max(n") + "rate(batch) / rate(1)",
     "multiply-adds"),
    ("05-claim-batch", SPEED + "batch / rate(batch) * rate(1)", "the longer step"),
    ("05-claim-batch", SPEED + "rate(batch) / rate(1) - 1", "a difference"),
    ("05-fill", FILL.replace("floor(room)", "ceil(room)") + "a, b, binds", "one more"),
    ("05-fill", FILL.replace("floor(most)", "ceil(most)") + "a, b, binds", "one more"),
    ("05-fill", FILL + "a, b + 1, binds", "one more"),
    ("05-fill", FILL + "a, max(1, b), binds", "at least one"),
    ("05-fill", FILL + "room, max(0, most), binds", "not rounded down"),
    ("05-fill", FILL.replace("floor(", "floor(.5 + ") + "a, b, binds", "not rounded down"),
    ("05-fill", FILL.replace("min(", "max(") + "a, b, binds", "the larger of two limits"),
    ("05-fill", FILL.replace("min((1 / promised - weights) / cache, 1 / promised / (compute + "
                             "cache))", "1 / promised / (compute + cache)") + "a, b, binds",
     "weights take no time"),
    ("05-fill", FILL.replace("cache, compute = 2 * n / w, kv *",
                             "cache, compute = 2 * n / w, 2 * kv *").replace("/ (kv * c",
        "/ (2 * kv * c") + "a, b, binds", "kv counted twice"),
    ("05-fill", FILL.replace("/ (kv * context)", "/ kv") + "a, b, binds", "the newest token only"),
    ("05-fill", FILL.replace("2 * n / p", "n / p") + "a, b, binds", "multiply-adds"),
    ("05-fill", FILL.replace("    binds",
                             "    b = int(a / (max(2 * n * a / p, weights) + a * cache) // "
                             "promised)\n"
                             "    binds") + "a, b, binds", "the promise as a total"),
    ("05-fill", FILL.replace("    binds",
                             "    b = int(1 / (max(compute, weights) + cache) / promised)\n"
                             "    binds") + "a, b, binds", "the speed of one shared out"),
    ("05-attention", "lambda h,g,s,b,c: 2*h // (g*s)", "whole numbers"),
    ("05-attention", "lambda h,g,s,b,c: int(2*h/g/s)", "whole numbers"),
    ("05-attention", "lambda h,g,s,b,c: math.ceil(2*h/g/s)", "whole numbers"),
    ("05-attention", "lambda h,g,s,b,c: 2*h/(2*g*s)", "half the FLOPs"),
    ("05-attention", "lambda h,g,s,b,c: h/g", "2 bytes always"),
    ("05-fewer-bits", "lambda n,bits,g,z,k,m,c: (2*n*m + k*m*c)/(n*m*(bits/8 + z/g) + k*m*c)",
     "as many caches as weights"),
    ("05-fewer-bits", "lambda n,bits,g,z,k,m,c: (2*n + k*c)/(n*(bits/8 + z/g) + k*c)",
     "as many caches as weights"),
    ("05-fewer-bits", GAIN.format("n * (bits / 8 + 2 * z / group) + kv * m * c"),
     "scales counted twice"),
    ("05-fewer-bits", GAIN.format("n * (bits / 8 + z / group)"), "no cache afterwards"),
    ("05-fewer-bits", GAIN.format("n * (bits / 8 + z / group) + kv * m * c").replace("(2 * n +",
        "(n * (2 + z / group) +"), "scales before as well"),
    ("05-fewer-bits", GAIN.format("n * (bits / 8 + z / group) + kv * m * c") + " - 1",
     "how much faster"),
    ("05-fewer-bits", GAIN.format("n * (bits / 8 + z / group) + kv * m * c").replace("m * c", "m"),
     "one token of context"),
    ("05-fewer-bits", GAIN.format("n * (bits / 8 + z / group) + kv * m * c").replace("kv * m",
        "2 * kv * m"), "kv counted twice"),
    ("05-claim-flash", CACHED.format("(z * (4 * t * d + 2 * t * (t + 1)), z * 4 * t * d)"),
     "half of the scores"),
    ("05-claim-flash", CACHED.format("(z * (4 * t * d + 4 * t * t), z * (4 * t * d + 2 * t * t))"),
     "scores stored once after all"),
    ("05-claim-flash", CACHED.format("(z * (3 * t * d + 4 * t * t), z * (3 * t * d + t * t))"),
     "scores for a result"),
    ("05-claim-flash", CACHED.format("(4 * t * d + 4 * t * t * z, z * 4 * t * d)"),
     "itemsize on one term"),
    ("05-claim-flash", CACHED.format("(z * (4 * t * d + 4 * t * t * d), z * 4 * t * d)"),
     "a score for each place of a row"),
    ("05-claim-flash", CACHED.format("(z * (4 * t * d + 3 * t * t), z * 4 * t * d)"),
     "scores twice"),
]  # fmt: skip

TOLD = [
    ("05-fill", FILL + "a, b, 'bandwidth'", "one of these words is wanted: memory, promise"),
    ("05-fill", FILL + "a, b, binds + '-bound'", "one of these words is wanted: memory, promise"),
    ("05-fill", FILL + "a, b", "3 values are wanted"),
    ("05-gauges", GAUGES + "1 / one", "4 values are wanted"),
    ("05-experts", "lambda e, k, b: [e * (1 - (1 - k / e) ** b)]", "one number is wanted"),
    ("05-claim-always", "lambda n, k, c, p, w: 'never'", "one number is wanted"),
]
