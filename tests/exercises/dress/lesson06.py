"""Answers to lesson 06 in unusual dress: one line a case (see test_dress.py)."""

RIGHT = [
    ("06-levels", "lambda z, t: [a for a, b, c in zip(z, t, t[1:]) if c / b > 2]"),
    ("06-levels", "lambda z, t: tuple(a for a, b, c in zip(z, t, t[1:]) if c > 1.5 * b)"),
    ("06-levels", "lambda z, t: np.array(z)[:-1][np.diff(np.log(t)) > 0.4]"),
    ("06-levels", "lambda z, t: np.array(z, float)[np.flatnonzero(np.diff(np.log2(t)) > 0.6)]"),
    (
        "06-levels",
        "def answer(sizes, seconds):\n"
        "    found, level = [], seconds[0]\n"
        "    for before, size, hop in zip(sizes, sizes[1:], seconds[1:]):\n"
        "        if hop > 1.7 * level:\n"
        "            found.append(before)\n"
        "            level = hop\n"
        "    return found",
    ),
    (
        "06-claim-chain",
        "def answer(follows):\n"
        "    n, at = 1, follows[0]\n"
        "    while at:\n"
        "        n, at = n + 1, follows[at]\n"
        "    return 64 * n",
    ),
    (
        "06-claim-chain",
        "def answer(follows):\n"
        "    seen, at = set(), 0\n"
        "    while at not in seen:\n"
        "        seen.add(at)\n"
        "        at = follows[at]\n"
        "    return len(seen) * 64",
    ),
    (
        "06-claim-chain",
        "def answer(follows):\n"
        "    f = np.array(follows)\n"
        "    mask = np.zeros(len(f), bool)\n"
        "    i = 0\n"
        "    while not mask[i]:\n"
        "        mask[i] = True\n"
        "        i = f[i]\n"
        "    return mask.sum() * 64",
    ),
    ("06-underway", "lambda b, t, n: (b * t / 64, min(64 * n / t, b), math.ceil(b * t / 64 / n))"),
    ("06-underway", "lambda b, t, n: (b * t / 64, min(64 * n / t, b), -int(-(b * t / 64) // n))"),
    (
        "06-underway",
        "lambda b, t, n: {'lines underway': b * t / 64, 'byte/s of one core': min(64 * n / t, b), "
        "'cores': np.ceil(b * t / 64 / n)}",
    ),
    ("06-underway", "lambda b, t, n: [b * t / 64, min(64 * n / t, b), int(b * t / (64 * n)) + 1]"),
    (
        "06-bus",
        "lambda r, a, b, f: r * (len(a) + len(b) + f * len(set(b) - set(a))) / (len(a) + len(b))",
    ),
    (
        "06-bus",
        "def answer(rate, read, written, fetches):\n"
        "    counted = len(read) + len(written)\n"
        "    extra = sum(w not in read for w in written) if fetches else 0\n"
        "    return rate * (1 + extra / counted)",
    ),
    (
        "06-joules",
        "lambda m, n, k, s, b, p, q: (s * b * (m*k + k*n + m*n) / 1e12, m*n*k * (p + q) / 1e12)",
    ),
    (
        "06-joules",
        "lambda m, n, k, s, b, p, q: {'carried': s * b * (m*k + k*n + m*n) * 1e-12, "
        "'computed': m*n*k * (p + q) * 1e-12}",
    ),
    (
        "06-joules",
        "lambda m, n, k, s, b, p, q: np.array([s*b*(m*k + k*n + m*n), m*n*k*p + m*n*k*q]) * 1e-12",
    ),
    ("06-break-even", "lambda s, b, p, q, peak, w: (3*s*b/(p+q), 3*s*peak/w/2)"),
    ("06-break-even", "lambda s, b, p, q, peak, w: [1 / ((p+q)/(3*s*b)), peak/w / (1/(1.5*s))]"),
    ("06-token", "lambda w, s, n, c, b, p, q: (((w*s + n*c)*b/n + w*(p+q)) * 1e-12, s*b/(p+q))"),
    (
        "06-token",
        "def answer(weights, itemsize, batch, kv_bytes, byte, add, multiply):\n"
        "    step = (weights * itemsize + batch * kv_bytes) * byte\n"
        "    step += batch * weights * (add + multiply)\n"
        "    return step / batch / 1e12, itemsize * byte / (add + multiply)",
    ),
]

WRONG = [
    ("06-levels", "lambda z, t: [b for a, b, c, d in zip(z, z[1:], t, t[1:]) if d > 2 * c]",
     "first size beyond"),
    ("06-levels", "lambda z, t: [a for a, b, c in zip(z, t, t[1:]) if c > 2 * b] + [z[-1]]",
     "memory too"),
    ("06-levels", "lambda z, t: [a for a, b, c in zip(z, t, t[1:]) if c > b]",
     "every rise is a step"),
    ("06-levels", "lambda z, t: [i for i in range(len(z) - 1) if t[i + 1] > 2 * t[i]]",
     "places, not sizes"),
    ("06-levels", "lambda z, t: [a/1024 for a, b, c in zip(z, t, t[1:]) if c > 2 * b]",
     "another unit"),
    ("06-levels", "lambda z, t: [a for a, b, c in zip(z, t, t[1:]) if c > 2 * b][::-1]",
     "farthest first"),
    ("06-claim-chain", "lambda f: 64 * len(f)", "all lines"),
    ("06-claim-chain", "lambda f: 64 * len(set(f))", "all lines"),
    ("06-claim-chain",
     "def answer(f):\n"
     "    n, at = 0, f[0]\n"
     "    while at:\n"
     "        n, at = n + 1, f[at]\n"
     "    return 64 * n", "line 0 left out"),
    ("06-claim-chain",
     "def answer(f):\n"
     "    n, at = 1, f[0]\n"
     "    while at:\n"
     "        n, at = n + 1, f[at]\n"
     "    return n", "lines, not bytes"),
    ("06-underway", "lambda b, t, n: (b*t/64, 64*n/t, math.ceil(b*t/64/n))",
     "more than the memory has"),
    ("06-underway", "lambda b, t, n: (b*t/64, min(64*n/t, b), max(1, int(b*t/64/n)))",
     "cores rounded down"),
    ("06-underway", "lambda b, t, n: (b*t/64, min(64*n/t, b), b*t/64/n)", "half a core"),
    ("06-underway", "lambda b, t, n: (b*t, min(64*n/t, b), math.ceil(b*t/64/n))",
     "bytes underway"),
    ("06-bus", "lambda r, a, b, f: r", "as reported"),
    ("06-bus", "lambda r, a, b, f: r * (len(a) + 2*len(b)) / (len(a) + len(b)) if f else r",
     "every write fetched"),
    ("06-bus",
     "lambda r, a, b, f: r * (len(a) + len(b) + len(set(b) - set(a))) / (len(a) + len(b))",
     "always fetched"),
    ("06-bus", "lambda r, a, b, f: r * len(set(a) | set(b)) / (len(a) + len(b))",
     "each array once"),
    ("06-joules", "lambda m, n, k, s, b, p, q: (s*b*(m*k + k*n + m*n), m*n*k*(p + q))",
     "picojoules"),
    ("06-joules",
     "lambda m, n, k, s, b, p, q: (s*b*(m*k + k*n + m*n)*1e-12, 2*m*n*k*(p + q)*1e-12)",
     "two multiply-adds"),
    ("06-joules",
     "lambda m, n, k, s, b, p, q: (b*(m*k + k*n + m*n)*1e-12, m*n*k*(p + q)*1e-12)",
     "numbers for bytes"),
    ("06-joules",
     "lambda m, n, k, s, b, p, q: (s*b*(m*k + k*n)*1e-12, m*n*k*(p + q)*1e-12)",
     "result not carried"),
    ("06-break-even", "lambda s, b, p, q, peak, w: (2*s*b/(p+q), s*peak/w)", "result not carried"),
    ("06-break-even", "lambda s, b, p, q, peak, w: (3*s*b/(p+q), 3*s*peak/w)",
     "a multiply-add is one FLOP"),
    ("06-break-even", "lambda s, b, p, q, peak, w: (3*s*b/(2*p+2*q), 1.5*s*peak/w)",
     "2 FLOPs, two multiply-adds"),
    ("06-token", "lambda w, s, n, c, b, p, q: ((w*s*b + n*c*b + n*w*(p+q))*1e-12, s*b/(p+q))",
     "of the whole batch"),
    ("06-token", "lambda w, s, n, c, b, p, q: (((w*s + c)*b + w*(p+q))*1e-12, s*b/(p+q))",
     "weights for each sequence"),
    ("06-token", "lambda w, s, n, c, b, p, q: (((w*s + c)*b/n + w*(p+q))*1e-12, s*b/(p+q))",
     "the cache shared"),
    ("06-token",
     "lambda w, s, n, c, b, p, q: (((w*s/n + c)*b + 2*w*(p+q))*1e-12, s*b/(p+q)/2)",
     "2 FLOPs, two multiply-adds"),
]  # fmt: skip

TOLD = [
    ("06-underway", "lambda b, t, n: (b*t/64, min(64*n/t, b))", "3 values are wanted"),
    ("06-levels", "lambda z, t: z[0]", "a list of numbers is wanted"),
    ("06-levels", "lambda z, t: []", "a list of another length is wanted"),
    ("06-levels", "lambda z, t: [z[0]] * 9", "a list of another length is wanted"),
    ("06-claim-chain", "lambda f: f", "which of them together?"),
    ("06-bus", "lambda r, a, b, f: b - a", "read=('x',)"),
]
