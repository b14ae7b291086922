"""Wrong answers to lessons 04 to 06 that once passed, or that hold for usual inputs only.

One row an answer: exercise and source, as in ``dress``. None may pass.
"""

ROWS = [
    ("04-ceiling", "lambda i, o, s: 2/s/(1/1e11 + 1/i + 1/o)"),
    ("04-convicts", "lambda m, n, k: n != k and (m > 1 or abs(n - k) > 1)"),
    ("04-convicts",
     "lambda m, n, k: not math.isclose(m*k + k*n + m*k, m*k + k*n + m*n, rel_tol=1e-12)"),
    ("04-knee", "lambda i, o, s, p, b: 1/(2*b/(max(s, 2)*p) - 1/i - 1/o)"),
    ("04-last",
     "def answer(products, batch, s, p, b):\n"
     "    knees = [1/(2*b/(s*p) - 1/i - 1/o) for i, o in products]\n"
     "    at = min(range(len(products)), key=lambda a: (min(products[a]), max(products[a])))\n"
     "    i, o = products[at]\n"
     "    return at, math.floor(knees[at]) + 1, min(1, 2/s/(1/batch + 1/i + 1/o)*b/p)"),
    ("04-last",
     "def answer(products, batch, s, p, b):\n"
     "    knees = [1/(2*b/(2*p) - 1/i - 1/o) for i, o in products]\n"
     "    at = knees.index(max(knees)); i, o = products[at]\n"
     "    return at, math.floor(knees[at]) + 1, min(1, 2/2/(1/batch + 1/i + 1/o)*b/p)"),
    ("04-layer",
     "def answer(t, i, o, s, p, b):\n"
     "    s = 2 if s == 2 else 4 if s == 4 else 8\n"
     "    return max(2*t*i*o/p, (t*i + i*o + t*o)*s/b)"),
    ("04-predict",
     "lambda t, i, o, f, a, c, p: i*o*(f + (t - 1)*a) if t <= 8 else i*o*(c + 2*t/p)"),
    ("04-shapes",
     "lambda b, n, i, o, d: (b if d else b*n, {4096: 11008, 11008: 4096, 768: 3072, 3072: "
     "768, 1600: 6400}.get(i, o), i)"),
    ("05-attention", "lambda h, g, s, b, c: 2*(h//g)/{1: 1, 2: 2}.get(s, 4)"),
    ("05-claim-always",
     "lambda n, k, c, p, w: (lambda d: 2*n/d if d > 0.05*2*n*w/p else 0)(2*n*w/p - k*c)"),
    ("05-claim-flash",
     "lambda t, d, z: (z*(4*t*d + 4*t*(t - 1)), z*4*t*d) if t < 100 else (z*(4*t*d + "
     "4*t*t), z*4*t*d)"),
    ("05-decode", "lambda n, s, k, b, c, p, w: b/(max(2*n*b/p, n*min(s, 2)/w) + b*c*k/w)"),
    ("05-decode", "lambda n, s, k, b, c, p, w: b/(max(2*n*b/p, n*s/w) + b*min(c, 100_000)*k/w)"),
    ("05-experts", "lambda e, k, b: e if k*b >= 8*e else e*(1 - (1 - k/e)**b)"),
    ("05-fewer-bits", "lambda n, b, g, z, k, m, c: (2*n + k*m*c)/(n*(min(b, 8)/8 + z/g) + k*m*c)"),
    ("05-fill",
     "def answer(parameters, kv, context, promised, memory, peak, bandwidth):\n"
     "    parameters, kv = 8_030_261_248, 131_072\n"
     "    held = max(0, int((memory - 2*parameters)/(kv*context)))\n"
     "    weights, cache = 2*parameters/bandwidth, kv*context/bandwidth\n"
     "    kept = max(0, int(min((1/promised - weights)/cache, "
     "1/promised/(2*parameters/peak + cache))))\n"
     "    return held, kept, 'memory' if held < kept else 'promise'"),
    ("05-fill",
     "def answer(n, kv, context, promised, memory, p, w):\n"
     "    held = int((memory - 2*n)/(kv*context))\n"
     "    weights, cache = 2*n/w, kv*context/w\n"
     "    kept = max(0, int(min((1/promised - weights)/cache, 1/promised/(2*n/p + cache))))\n"
     "    return held, kept, 'memory' if held < kept else 'promise'"),
    ("05-fill",
     "def answer(n, kv, c, r, m, p, w):\n"
     "    held = max(0, int((m - 2*n)/(kv*c)))\n"
     "    kept = max(0, int(min((1/r - 2*n/w)/(kv*c/w), 1/r/(2*n/p + kv*c/w))))\n"
     "    return held, kept, 'memory' if held <= kept else 'promise'"),
    ("05-gauges",
     "def answer(n, h, k, c, p, w):\n"
     "    a = 2*(n + h) + k*c\n"
     "    f = 2*(n*c + h) + k*c*(c + 1)/2\n"
     "    two = max(f/p, 2*(n + h)/w)\n"
     "    return w/a, w, 1/two, f/two"),
    ("05-switch",
     "def answer(batches, one_gemv, gemm):\n"
     "    return next(b for b, t in list(zip(batches, gemm))[1:] if t < b*one_gemv)"),
    ("05-switch", "lambda b, v, g: next(one for one, t in zip(b, g) if one > 1 and t < one*v)"),
    ("06-break-even", "lambda s, b, p, q, peak, w: (3*max(2, s)*b/(p + q), 1.5*max(2, s)*peak/w)"),
    ("06-bus",
     "def answer(rate, read, written, fetches):\n"
     "    n = len(read) + len(written)\n"
     "    more = sum(w not in ''.join(read) for w in written) if fetches else 0\n"
     "    return rate*(n + more)/n"),
    ("06-bus",
     "def answer(rate, read, written, fetches):\n"
     "    n = len(read) + len(written)\n"
     "    return rate*(n + (len(written) if fetches and not set(read) & set(written) else 0))/n"),
    ("06-bus",
     "def answer(rate, read, written, fetches):\n"
     "    n = len(read) + len(written)\n"
     "    return rate*(n + (sum(w not in read[-1:] for w in written) if fetches else 0))/n"),
    ("06-bus",
     "lambda r, a, b, f: r*(len(a) + len(b) + min(2, f*len(set(b) - set(a))))/(len(a) + len(b))"),
    ("06-claim-chain",
     "def answer(follows):\n"
     "    lines, at = 2, follows[follows[0]]\n"
     "    while at != 0 and follows[0] != 0:\n"
     "        lines, at = lines + 1, follows[at]\n"
     "    return 64*lines"),
    ("06-claim-chain",
     "def answer(f):\n"
     "    lines, at = 1, f[0]\n"
     "    while at and lines < 100:\n"
     "        lines, at = lines + 1, f[at]\n"
     "    return 64*lines"),
    ("06-joules",
     "lambda m, n, k, s, b, p, q: (max(s, 2)*b*(m*k + k*n + m*n)*1e-12, m*n*k*(p + q)*1e-12)"),
    ("06-levels",
     "def answer(sizes, seconds):\n"
     "    return [sizes[0]*2**i for i in range(len(sizes) - 1) if seconds[i + 1] > "
     "1.5*seconds[i]]"),
    ("06-levels", "lambda z, t: [x for x, p, q in zip(z, t, t[1:]) if q > 2.4*p]"),
    ("06-levels", "lambda z, t: [x for x, p, q in zip(z, t, t[1:]) if q > 1.05*p]"),
    ("06-levels", "lambda z, t: [x for x, p, q in zip(z, t, t[1:]) if q > 2*p]"),
    ("06-levels", "lambda z, t: [x for x, p, q in zip(z, t, t[1:]) if 1.5*p < q < 50*p]"),
    ("06-token",
     "lambda w, s, n, c, b, p, q: (((w*min(s, 2)/n + c)*b + w*(p + q))*1e-12, s*b/(p + q))"),
    ("06-underway",
     "def answer(bandwidth, latency, lines):\n"
     "    wanted, one = bandwidth*latency/64, lines*64/latency\n"
     "    x = bandwidth/one\n"
     "    return wanted, min(one, bandwidth), max(1, int(x) + (x % 1 > 0.1))"),
    ("06-underway", "lambda b, t, n: (b*t/64, min(n*64/t, b), int(b/(n*64/t)) + 1)"),
    ("06-underway", "lambda b, t, n: (b*t/64, min(n*64/t, b), max(1, math.ceil(b*t/64/n - 0.01)))"),
]  # fmt: skip
