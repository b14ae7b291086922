"""Answers to lesson 06 in unusual dress: one line a case (see test_dress.py)."""

RIGHT = [
    ("06-levels", "lambda z, t: [a for a, b, c in zip(z, t, t[1:]) if c / b > 1.6]"),
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
        "lambda b, t, n: {'lines in flight': b * t / 64, 'byte/s of one core': min(64 * n / t, b), "
        "'cores': np.ceil(b * t / 64 / n)}",
    ),
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
    (
        "06-levels",
        "lambda z, t: [a for a, b, c in zip(z, t, t[1:]) if Fraction(c) / Fraction(b) > 1.5]",
    ),
    (
        "06-levels",
        "lambda z, t: [int(part[-1]) for part in np.split(z, np.flatnonzero(np.diff(np.log(t)) "
        "> 0.5) + 1)][:-1]",
    ),
    (
        "06-levels",
        "def answer(z, t):\n"
        "    if len(z) < 2:\n"
        "        return []\n"
        "    return [z[0]] * (2 * t[1] > 3 * t[0]) + answer(z[1:], t[1:])",
    ),
    (
        "06-levels",
        "def answer(z, t):\n"
        "    found = {}\n"
        "    for size, hop in zip(z, t):\n"
        "        key = next((one for one in found if 0.8 < hop / one < 1.25), hop)\n"
        "        found[key] = size\n"
        "    return list(found.values())[:-1]",
    ),
    (
        "06-levels",
        "def answer(z, t):\n"
        "    found = []\n"
        "    for i in range(len(z) - 1, 0, -1):\n"
        "        if t[i] / t[i - 1] >= 1.5:\n"
        "            found.insert(0, float(z[i - 1]))\n"
        "    return found",
    ),
    (
        "06-levels",
        "def answer(z, t):\n"
        "    out, group = [], [t[0]]\n"
        "    for i in range(1, len(t)):\n"
        "        if t[i] > 1.8 * statistics.median(group):\n"
        "            out.append(z[i - 1])\n"
        "            group = []\n"
        "        group.append(t[i])\n"
        "    return np.array(out, dtype=np.int64)",
    ),
    ("06-claim-chain", "def answer(f, at=0):\n    return 64 + (answer(f, f[at]) if f[at] else 0)"),
    (
        "06-claim-chain",
        "def answer(f):\n"
        "    back = {there: here for here, there in enumerate(f)}\n"
        "    n, at = 1, back[0]\n"
        "    while at:\n"
        "        n, at = n + 1, back[at]\n"
        "    return n * 64",
    ),
    (
        "06-claim-chain",
        "def answer(f):\n"
        "    def walk():\n"
        "        at = 0\n"
        "        while True:\n"
        "            yield at\n"
        "            at = f[at]\n"
        "            if not at:\n"
        "                return\n"
        "    return sum(64 for _ in walk())",
    ),
    (
        "06-claim-chain",
        "def answer(f):\n"
        "    seen = [0]\n"
        "    while f[seen[-1]] not in seen:\n"
        "        seen.append(f[seen[-1]])\n"
        "    return np.float64(64 * len(seen))",
    ),
    (
        "06-claim-chain",
        "def answer(f):\n"
        "    a = np.eye(len(f))[f]\n"
        "    reach = np.eye(len(f))[0]\n"
        "    for _ in f:\n"
        "        reach = np.minimum(1, reach + reach @ a)\n"
        "    return 64 * reach.sum()",
    ),
    (
        "06-claim-chain",
        "def answer(f):\n"
        "    lines = at = 0\n"
        "    for _ in range(len(f)):\n"
        "        at, lines = f[at], lines + 1\n"
        "        if at == 0:\n"
        "            break\n"
        "    return Fraction(64 * lines)",
    ),
    (
        "06-underway",
        "def answer(b, t, n):\n"
        "    each = Fraction(64 * n) / Fraction(t)\n"
        "    return Fraction(b) * Fraction(t) / 64, min(each, Fraction(b)), "
        "math.ceil(Fraction(b) / each)",
    ),
    (
        "06-underway",
        "def answer(b, t, n):\n"
        "    cores = 1\n"
        "    while cores * 64 * n / t < b:\n"
        "        cores += 1\n"
        "    return b / (64 / t), min(b, 64 * n / t), cores",
    ),
    (
        "06-underway",
        "def answer(b, t, n):\n"
        "    Found = namedtuple('Found', 'lines rate cores')\n"
        "    whole, rest = divmod(b * t / 64, n)\n"
        "    return Found(b * t / 64, min(b, 64 * n / t), whole + (rest > 0))",
    ),
    (
        "06-underway",
        "lambda b, t, n: np.array([b * t / 64, np.minimum(64 * n / t, b), np.ceil(b * t / 64 / "
        "n)])",
    ),
    (
        "06-bus",
        "def answer(rate, read, written, fetches):\n"
        "    seen = set(read)\n"
        "    travel = [1 for _ in read]\n"
        "    for name in written:\n"
        "        travel += [1, 1] if fetches and name not in seen else [1]\n"
        "    return rate / (len(read) + len(written)) * sum(travel)",
    ),
    (
        "06-bus",
        "def answer(rate, read, written, fetches):\n"
        "    fetched = set(read) | set(written) if fetches else set(read)\n"
        "    return rate * (len(fetched) + len(written)) / (len(read) + len(written))",
    ),
    (
        "06-bus",
        "lambda r, a, b, f: Fraction(len(a) + len(b) + bool(f) * len([x for x in b if "
        "a.count(x) == 0]), len(a) + len(b)) * Fraction(r)",
    ),
    (
        "06-bus",
        "def answer(rate, read, written, fetches):\n"
        "    both = len(read) + len(written)\n"
        "    if not fetches:\n"
        "        return rate\n"
        "    return rate + rate * len(set(written).difference(read)) / both",
    ),
    (
        "06-joules",
        "def answer(m, n, k, itemsize, byte, add, multiply):\n"
        "    numbers = sum(math.prod(shape) for shape in [(m, k), (k, n), (m, n)])\n"
        "    return Fraction(numbers * itemsize) * Fraction(byte) / 10**12, Fraction(m * n * "
        "k) * (Fraction(add) + Fraction(multiply)) / 10**12",
    ),
    (
        "06-joules",
        "def answer(m, n, k, itemsize, byte, add, multiply):\n"
        "    op = __import__('rooflab').gemm(m, n, k, {1: 'int8', 2: 'fp16', 4: 'fp32', 8: "
        "'fp64'}[itemsize])\n"
        "    return op.bytes * byte * 1e-12, op.flops / 2 * (add + multiply) * 1e-12",
    ),
    (
        "06-joules",
        "lambda *, m, n, k, itemsize, byte, add, multiply: (1e-12 * byte * itemsize * (m * (k "
        "+ n) + k * n), 1e-12 * (m * n * k * add + m * n * k * multiply))",
    ),
    (
        "06-break-even",
        "lambda s, b, p, q, peak, w: (Fraction(3 * s) * Fraction(b) / (Fraction(p) + "
        "Fraction(q)), Fraction(3 * s, 2) * Fraction(peak) / Fraction(w))",
    ),
    (
        "06-break-even",
        "def answer(s, b, p, q, peak, w):\n"
        "    def root(f):\n"
        "        low, high = 1e-9, 1e9\n"
        "        for _ in range(200):\n"
        "            mid = (low * high) ** 0.5\n"
        "            low, high = (low, mid) if f(mid) > 0 else (mid, high)\n"
        "        return low\n"
        "    return root(lambda n: n**3 * (p + q) - 3 * n * n * s * b), root(lambda n: 2 * "
        "n**3 / peak - 3 * n * n * s / w)",
    ),
    (
        "06-break-even",
        "lambda s, b, p, q, peak, w: {'N of equal energy': np.roots([p + q, -3 * s * b, 0, "
        "0]).real.max(), 'N of equal time': 6 * (peak / w) * s / 4}",
    ),
    (
        "06-token",
        "def answer(weights, itemsize, batch, kv_bytes, byte, add, multiply):\n"
        "    step = weights * itemsize * byte\n"
        "    for _ in range(batch):\n"
        "        step += kv_bytes * byte + weights * (add + multiply)\n"
        "    return step / batch * 1e-12, (itemsize * byte) / (add + multiply)",
    ),
    (
        "06-token",
        "def answer(weights, itemsize, batch, kv_bytes, byte, add, multiply):\n"
        "    f = Fraction\n"
        "    carried = (f(weights * itemsize, batch) + kv_bytes) * f(byte)\n"
        "    each = f(add) + f(multiply)\n"
        "    return (carried + weights * each) / f(10) ** 12, itemsize * f(byte) / each",
    ),
]

WRONG = [
    ("06-levels", "lambda z, t: [a for a, b, c in zip(z, t, t[1:]) if c > 2 * b]",
     "more than twice"),
    ("06-levels", "lambda z, t: [a for a, b, c in zip(z, t, t[1:]) if c / b >= 2]",
     "more than twice"),
    ("06-underway", "lambda b, t, n: [b * t / 64, min(64 * n / t, b), int(b * t / (64 * n)) + 1]",
     "one core too many"),
    ("06-levels", "lambda z, t: [b for a, b, c, d in zip(z, z[1:], t, t[1:]) if d > 2 * c]",
     "first size beyond"),
    ("06-levels", "lambda z, t: [a for a, b, c in zip(z, t, t[1:]) if c > 2 * b] + [z[-1]]",
     "memory too"),
    ("06-levels", "lambda z, t: [a for a, b, c in zip(z, t, t[1:]) if c > b]",
     "every rise is a step"),
    ("06-levels", "lambda z, t: [a for a, b, c in zip(z, t, t[1:]) if c > 1.03 * b]",
     "every rise is a step"),
    ("06-levels",
     "lambda z, t: [a for a, b, c in zip(z, t, t[1:]) if c - b > (t[-1] - t[0]) / 20]",
     "nanoseconds, not factors"),
    ("06-levels", "lambda z, t: [a for a, b, c in zip(z, t, t[1:]) if c - b > t[0]]",
     "nanoseconds, not factors"),
    ("06-joules",
     "lambda m, n, k, s, b, p, q: ((m*k + k*n + m*n) * s * b / 1e12, "
     "m * n * (k * q + (k - 1) * p) / 1e12)",
     "one addition less"),
    ("06-levels", "lambda z, t: [i for i in range(len(z) - 1) if t[i + 1] > 2 * t[i]]",
     "places, not sizes"),
    ("06-levels", "lambda z, t: [a/1024 for a, b, c in zip(z, t, t[1:]) if c > 1.5 * b]",
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
     "bytes in flight"),
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
    ("06-levels",
     "lambda z, t: [(a * b) ** 0.5 for a, b, c, d in zip(z, z[1:], t, t[1:]) if d > 2 * c]",
     "between two sizes"),
    ("06-levels",
     "lambda z, t: [(a + b) / 2 for a, b, c, d in zip(z, z[1:], t, t[1:]) if d > 2 * c]",
     "between two sizes"),
    ("06-levels",
     "lambda z, t: [b for b, c in zip(z, t) if c > 2 * t[0]]",
     "all beyond the first"),
    ("06-levels",
     "lambda z, t: [b for a, b, c in zip(z, t, t[1:]) if c > 2 * b]",
     "seconds, not sizes"),
    ("06-levels",
     "lambda z, t: [a for a, b, c in zip(z, t, t[1:]) if c - b > 5e-9]",
     "nanoseconds, not factors"),
    ("06-levels",
     "lambda z, t: [a for a, b, c in zip(z, t, t[1:]) if c - b > 1e-8]",
     "nanoseconds, not factors"),
    ("06-levels",
     "lambda z, t: [a for a, b, c in zip(z, t, t[1:]) if c > 1.001 * b]",
     "every rise is a step"),
    ("06-levels",
     "lambda z, t: [a for a, b, c in zip(z, t, t[1:]) if c > 2 * b][-1:]",
     "the last cache only"),
    ("06-claim-chain",
     "def answer(f):\n"
     "    n, at = 0, 0\n"
     "    while f[at] != 0:\n"
     "        n, at = n + 1, f[at]\n"
     "    return 64 * n",
     "line 0 left out"),
    ("06-claim-chain",
     "def answer(f):\n"
     "    seen, at = [0], 0\n"
     "    while True:\n"
     "        at = f[at]\n"
     "        seen.append(at)\n"
     "        if at == 0:\n"
     "            return 64 * len(seen)",
     "line 0 twice"),
    ("06-claim-chain",
     "def answer(f):\n"
     "    n, at = 1, f[0]\n"
     "    while at:\n"
     "        n, at = n + 1, f[at]\n"
     "    return 8 * n",
     "8 bytes a line"),
    ("06-claim-chain", "lambda f: 64 * (len(f) + 1) / 2", "half of it"),
    ("06-claim-chain", "lambda f: 64 * sum(i != x for i, x in enumerate(f))", "lines that stay"),
    ("06-underway",
     "lambda b, t, n: (math.ceil(b*t/64), min(64*n/t, b), math.ceil(b*t/64/n))",
     "rounded"),
    ("06-underway",
     "lambda b, t, n: (b*t/64, min(64/t, b), math.ceil(b*t/64))",
     "one line at a time"),
    ("06-underway",
     "lambda b, t, n: (n, min(64*n/t, b), math.ceil(b*t/64/n))",
     "what this core has in flight"),
    ("06-underway",
     "lambda b, t, n: (b/t/64, min(64*n/t, b), math.ceil(b*t/64/n))",
     "divided by the latency"),
    ("06-underway",
     "lambda b, t, n: (b*t/64, min(64*n/t, b), int(b*t/64/n + 0.5))",
     "cores rounded"),
    ("06-bus", "lambda r, a, b, f: 1.5 * r if f else r", "a copy's factor"),
    ("06-bus",
     "lambda r, a, b, f: r * (len(a) + len(b)) / (len(a) + len(b) + f * len(set(b) - "
     "set(a)))",
     "upside down"),
    ("06-bus",
     "lambda r, a, b, f: r * (len(a) + len(b) + f * len(set(b) - set(a)))",
     "not divided by the count"),
    ("06-bus", "lambda r, a, b, f: 2 * r", "both directions are double"),
    ("06-bus",
     "lambda r, a, b, f: r * (len(a) + len(b) + f * len(set(a) | set(b))) / (len(a) + "
     "len(b))",
     "all fetched once more"),
    ("06-joules",
     "lambda m, n, k, s, b, p, q: (s*b*(m*k + k*n + 2*m*n)*1e-12, m*n*k*(p + q)*1e-12)",
     "result carried twice"),
    ("06-joules",
     "lambda m, n, k, s, b, p, q: (8*s*b*(m*k + k*n + m*n)*1e-12, m*n*k*(p + q)*1e-12)",
     "a constant factor"),
    ("06-joules",
     "lambda m, n, k, s, b, p, q: (s*b*(m*k + k*n + m*n)*1e-9, m*n*k*(p + q)*1e-9)",
     "another unit"),
    ("06-joules",
     "lambda m, n, k, s, b, p, q: (m*n*k*(p + q)*1e-12, s*b*(m*k + k*n + m*n)*1e-12)",
     "computed first"),
    ("06-joules",
     "lambda m, n, k, s, b, p, q: (s*b*(m*k + k*n + m*n)*1e-12, m*n*k*q*1e-12)",
     "an addition is free"),
    ("06-break-even", "lambda s, b, p, q, peak, w: (1.5*s*peak/w, 3*s*b/(p+q))", "another order"),
    ("06-break-even", "lambda s, b, p, q, peak, w: (2*b/(p+q), peak/w)", "an intensity, not N"),
    ("06-break-even", "lambda s, b, p, q, peak, w: (b/(p+q), peak/w)", "an intensity, not N"),
    ("06-break-even", "lambda s, b, p, q, peak, w: (s*b/(p+q), s*peak/w/2)", "a constant factor"),
    ("06-break-even", "lambda s, b, p, q, peak, w: (3*b/(p+q), 1.5*peak/w)", "numbers for bytes"),
    ("06-break-even",
     "lambda s, b, p, q, peak, w: (3*s*b/q, 1.5*s*peak/w)",
     "only the multiplication"),
    ("06-token",
     "lambda w, s, n, c, b, p, q: (((w*s/n + c)*b + w*(p+q)), s*b/(p+q))",
     "another unit"),
    ("06-token",
     "lambda w, s, n, c, b, p, q: (((w*s/n)*b + w*(p+q))*1e-12, s*b/(p+q))",
     "no past"),
    ("06-token",
     "lambda w, s, n, c, b, p, q: (((w*s/n + c)*b)*1e-12, s*b/(p+q))",
     "carrying only"),
    ("06-token",
     "lambda w, s, n, c, b, p, q: (((w*s/n + c)*b + w*(p+q)/n)*1e-12, s*b/(p+q))",
     "arithmetic shared"),
    ("06-token",
     "lambda w, s, n, c, b, p, q: (((w*s/n + c)*b + w*(p+q))*1e-12, (w*s + c)*b/(w*(p+q)))",
     "kv in the batch"),
    ("06-token",
     "lambda w, s, n, c, b, p, q: (((w*s/n + c)*b + w*(p+q))*1e-12, (p+q)/(s*b))",
     "upside down"),
]  # fmt: skip

TOLD = [
    ("06-underway", "lambda b, t, n: (b*t/64, min(64*n/t, b))", "3 values are wanted"),
    ("06-levels", "lambda z, t: z[0]", "a list of numbers is wanted"),
    ("06-levels", "lambda z, t: (a for a, b, c in zip(z, t, t[1:]) if c > 2 * b)", "list(…)"),
    ("06-levels", "lambda z, t: {a for a, b, c in zip(z, t, t[1:]) if c > 2 * b}", "set"),
    ("06-levels", "lambda z, t: []", "a list of another length is wanted"),
    ("06-levels", "lambda z, t: [z[0]] * 9", "a list of another length is wanted"),
    ("06-claim-chain", "lambda f: f", "which of them together?"),
    ("06-bus", "lambda r, a, b, f: b - a", "read=('x',)"),
]
