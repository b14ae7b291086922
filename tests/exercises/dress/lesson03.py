"""Answers to lesson 03 in unusual dress: one line a case (see test_dress.py)."""

PAIR = """def answer(flops, bytes, peak, bandwidth):
    t = [max(f / peak, n / bandwidth) for f, n in zip(flops, bytes)]
    x = [f / n for f, n in zip(flops, bytes)]
    for i in range(len(t)):
        for j in range(len(t)):
            if x[i] > x[j] and t[i] > t[j]: """
SLOWER = PAIR.replace("t[i] > t[j]", "flops[i] / t[i] < flops[j] / t[j]")
GREW = """def answer(peaks, bandwidths, m):
    r = np.array(peaks) / np.array(bandwidths)
    at = m * 4096 / (2 * m + 4096)
    return """
FLIPS = "(at < r[1:]) != (at < r[:-1])"
LEVEL = """def answer(flops, bytes, peak, bandwidth, capacity, call):
    place = next(i for i, room in enumerate(capacity) if bytes <= room)
    computing, carrying = flops / peak, bytes / bandwidth[place]
    return """
EDGES = "def answer(b, p, s, q, r): one, two = 1.5 * s * p / b, 1.5 * r * q / b; return "
LOG = (
    "['in order', 'warm cache', 'other type', 'GiB', 'in order', 'multiply-adds', 'sparse peak', "
    "'cannot tell']"
)
TABLE = "['sparse', 'two dies', 'other part', 'other part', 'right', 'other part']"


def but(table: str, row: int, word: str) -> str:
    """The right words with one changed; rows count from 1."""
    words = table.strip("[]").split(", ")
    return f"[{', '.join([*words[: row - 1], repr(word), *words[row:]])}]"


RIGHT = [
    ("03-time", "lambda f, n, p, b: np.maximum(f / p, n / b)"),
    ("03-time", "lambda f, n, p, b: np.float32(max(f / p, n / b))"),
    ("03-time", "lambda f, n, p, b: max(Fraction(f) / Fraction(p), Fraction(n) / Fraction(b))"),
    ("03-time", "lambda f, n, p, b: n / b if f < n * p / b else f / p"),
    ("03-time",
     "def answer(flops, bytes, *, peak, bandwidth): return max(flops / peak, bytes / bandwidth)"),
    ("03-thumb-rules", "lambda p, b: [p >= 4 * b, p <= 8 * b]"),
    ("03-thumb-rules", "lambda p, b: np.array([p / b >= 4, p / b <= 8])"),
    ("03-thumb-rules", "lambda p, b: (int(p / b > 4), int(p / b < 8))"),
    ("03-thumb-rules", "lambda p, b: {'first rule': p / b > 4, 'second rule': p / b < 8}"),
    ("03-thumb-rules", "lambda p, b: {'first': p / b > 4, 'second': p / b < 8}"),
    ("03-counterexample", PAIR + "return i, j"),
    ("03-counterexample", PAIR + "return [np.int64(i), np.int64(j)]"),
    ("03-counterexample", PAIR + "return {'i': i, 'j': j}"),
    ("03-counterexample", PAIR + "return np.array([i, j])"),
    ("03-log", LOG),
    ("03-log", "np.array(" + LOG + ")"),
    ("03-log", LOG.replace(" ", "_").replace(",_", ", ").upper().replace("GIB", "gib")),
    ("03-ridge-grew", GREW + "np.diff(r) < 0, " + FLIPS),
    ("03-ridge-grew", GREW + "(np.diff(r) < 0).tolist(), [int(x) for x in " + FLIPS + "]"),
    ("03-ridge-grew", GREW + "np.array([np.diff(r) < 0, " + FLIPS + "])"),
    ("03-number-type", EDGES + "math.ceil(one), math.ceil(two)"),
    ("03-number-type", EDGES + "{'before': one, 'after': two}"),
    ("03-number-type", EDGES + "np.float32([one, two])"),
    ("03-worth-the-call",
     "lambda c, p, b, s: next(n for n in range(1, 10**5) if max(2 * n**3 / p, "
     "3 * n * n * s / b) >= c)"),
    ("03-worth-the-call",
     "lambda c, p, b, s: math.ceil(min(round(np.cbrt(c * p / 2), 9), "
     "round(math.sqrt(c * b / 3 / s), 9)))"),
    ("03-worth-the-call",
     "lambda c, p, b, s: np.int64(math.ceil(min((c * p / 2) ** (1 / 3) - 1e-9, "
     "(c * b / 3 / s) ** 0.5 - 1e-9)))"),
    ("03-predict", LEVEL + "call + max(computing, carrying)"),
    ("03-predict", LEVEL + "np.float32(call + max(computing, carrying))"),
    ("03-catalogue", TABLE),
    ("03-catalogue", TABLE.replace("two dies", "Two-Dies").replace("other part", "other_part")),
    ("03-sparse-peak", "lambda i, c, b: np.clip(2 * i * b / c, 1, 2)"),
    ("03-sparse-peak", "lambda i, c, b: np.float32(min(c, i * b) / min(c / 2, i * b))"),
    ("03-time", "lambda f,n,p,b: f/min(p, f/n*b) if f else n/b"),
    ("03-time", "lambda f,n,p,b: np.max(np.array([f/p, n/b]))"),
    ("03-thumb-rules", "lambda p,b: tuple(map(bool, (p/b >= 4, p/b <= 8)))"),
    ("03-thumb-rules", "lambda p,b: (not p/b < 4, not p/b > 8)"),
    ("03-counterexample",
     "def answer(flops, bytes, peak, bandwidth):\n"
     "    f, n = np.array(flops), np.array(bytes)\n"
     "    t = np.maximum(f/peak, n/bandwidth)\n"
     "    bad = (f/n)[:,None] > (f/n)[None,:]\n"
     "    bad &= t[:,None] > t[None,:]\n"
     "    return tuple(np.argwhere(bad)[0])"),
    ("03-counterexample",
     "def answer(flops, bytes, peak, bandwidth):\n"
     "    from itertools import permutations\n"
     "    t = lambda i: max(flops[i]/peak, bytes[i]/bandwidth)\n"
     "    return [p for p in permutations(range(4), 2) if flops[p[0]]/bytes[p[0]] > "
     "flops[p[1]]/bytes[p[1]] and t(p[0]) > t(p[1])][0]"),
    ("03-log",
     "tuple(['in order', 'warm cache', 'other type', 'GiB', 'in order', 'multiply-adds', 'sparse "
     "peak', 'cannot tell'])"),
    ("03-log",
     "'In order,Warm cache,other-type,GiB,in order,multiply-adds,sparse peak,cannot "
     "tell'.split(',')"),
    ("03-ridge-grew",
     "def answer(peaks, bandwidths, m):\n"
     "    r = [p/b for p,b in zip(peaks, bandwidths)]\n"
     "    x = 2*m*4096*4096/(2*(2*m*4096+4096**2))\n"
     "    side = [x > q for q in r]\n"
     "    return [b < a for a,b in zip(r, r[1:])], [a != b for a,b in zip(side, side[1:])]"),
    ("03-ridge-grew", GREW + "{'fell': np.diff(r) < 0, 'changed': (at < r[1:]) != (at < r[:-1])}"),
    ("03-number-type", EDGES +
     '[next(n for n in range(1, 10**5) if n >= edge) for edge in (one, two)]'),
    ("03-number-type", EDGES + 'np.ceil(np.array([one, two]))'),
    ("03-worth-the-call",
     "def answer(call, peak, bandwidth, itemsize):\n"
     "    n = 1\n"
     "    while max(2*n**3/peak, 3*n*n*itemsize/bandwidth) < call: n += 1\n"
     "    return n"),
    ("03-worth-the-call",
     "lambda c,p,b,s: math.ceil(min(math.exp(math.log(c*p/2)/3), math.sqrt(c/(3*s/b))))"),
    ("03-worth-the-call",
     "def answer(call, peak, bandwidth, itemsize):\n"
     "    n = 1\n"
     "    while 2*n**3/min(peak, 2*n/(3*itemsize)*bandwidth) < call: n += 1\n"
     "    return n"),
    ("03-worth-the-call",
     "def answer(call, peak, bandwidth, itemsize):\n"
     "    n = np.arange(1, 20000, dtype=float)\n"
     "    return n[np.maximum(2*n**3/peak, 3*n*n*itemsize/bandwidth) >= call][0]"),
    ("03-predict", LEVEL + 'call + np.maximum(computing, carrying)'),
    ("03-predict", LEVEL + 'round(call + max(computing, carrying), 9)'),
    ("03-catalogue",
     "tuple(w.title() for w in ['sparse', 'two dies', 'other part', 'other part', 'right', 'other "
     "part'])"),
    ("03-catalogue",
     "dict(zip(['first row','second row','third row','fourth row','fifth row','sixth row'], "
     "['sparse', 'two dies', 'other part', 'other part', 'right', 'other part']))"),
    ("03-catalogue",
     "dict(zip(['first','second','third','fourth','fifth','sixth'], ['sparse', 'two dies', 'other "
     "part', 'other part', 'right', 'other part']))"),
    ("03-sparse-peak", "lambda i,c,b: min(c, i*b)/min(c/2, i*b)"),
    ("03-sparse-peak", "lambda i,c,b: 1 if i*b <= c/2 else 2 if i*b >= c else i*b/(c/2)"),
]  # fmt: skip

WRONG = [
    ("03-time", "lambda f, n, p, b: f / p + n / b", "sum for max"),
    ("03-time", "lambda f, n, p, b: max(f / b, n / p)", "peak and bandwidth exchanged"),
    ("03-time", "lambda f, n, p, b: (f / p + n / b) / 2", "the mean of both"),
    ("03-time", "lambda f, n, p, b: max(f / p, 4 * n / b)", "elements for bytes"),
    ("03-time", "lambda f, n, p, b: min(p, f / n * b)", "rate, not time"),
    ("03-time", "lambda f, n, p, b: f / min(p, f / n * b)", "FLOPs ÷ attainable"),
    ("03-time", "lambda f, n, p, b: 1e3 * max(f / p, n / b)", "another unit"),
    ("03-time", "lambda f, n, p, b: round(max(f / p, n / b), 6)", "rounded"),
    ("03-time", "lambda f, n, p, b: max(f / p, n / b) if f else 0", "a copy is free"),
    ("03-thumb-rules", "lambda p, b: (p / b < 4, p / b > 8)", "the other way"),
    ("03-thumb-rules", "lambda p, b: (p / b > 8, p / b < 4)", "4 and 8 exchanged"),
    ("03-thumb-rules", "lambda p, b: (p / b < 8, p / b > 4)", "exchanged"),
    ("03-thumb-rules", "lambda p, b: (b / p > 4, b / p < 8)", "upside down"),
    ("03-thumb-rules", "lambda p, b: (4 < p / b < 8,) * 2", "both or neither"),
    ("03-counterexample", PAIR + "return j, i", "exchanged"),
    ("03-counterexample", PAIR + "return i + 1, j + 1", "counted from 1"),
    ("03-counterexample", PAIR.replace(" and t[i] > t[j]", "") + "return i, j",
     "the times not compared"),
    ("03-counterexample", PAIR.replace("f / n for", "n / f for") + "return i, j",
     "intensity upside down"),
    ("03-counterexample", SLOWER + "return i, j", "no pair found"),
    ("03-counterexample",
     "lambda f, n, p, b: next((i, j) for i in range(4) for j in range(4) if f[i] / n[i] > f[j] / "
     "n[j] and min(p, f[i] / n[i] * b) < min(p, f[j] / n[j] * b))", "no pair found"),
    ("03-counterexample",
     "lambda f, n, p, b: (np.argmax(np.array(f) / n), np.argmin(np.array(f) / n))",
     "highest and lowest intensity"),
    ("03-counterexample", "lambda f, n, p, b: (f.index(max(f)), f.index(min(f)))",
     "most and least FLOPs"),
    ("03-log", but(LOG, 8, "in order"), "half the roof is no fault"),
    ("03-log", but(LOG, 3, "in order"), "faster than the peak"),
    ("03-log", but(LOG, 2, "in order"), "faster than the memory"),
    ("03-log", but(LOG, 3, "warm cache"), "above the roof means warm"),
    ("03-log", but(LOG, 4, "in order"), "7 % is noise"),
    ("03-log", but(LOG, 7, "multiply-adds"), "half a share must be half a rate"),
    ("03-log", but(LOG, 6, "sparse peak"), "half a rate must be half a share"),
    ("03-log", but(but(LOG, 6, "sparse peak"), 7, "multiply-adds"), "half a rate, half a share"),
    ("03-log", "['in order'] * 8", "the log is believed"),
    ("03-ridge-grew", GREW + "np.diff(r) > 0, " + FLIPS, "upside down"),
    ("03-ridge-grew", GREW + "np.diff(peaks) < 0, " + FLIPS, "the peak fell"),
    ("03-ridge-grew", GREW + "np.diff(r) < 0, at < r[1:]", "the verdicts themselves"),
    ("03-ridge-grew", GREW + "np.diff(r) < 0, (r[:-1] < at) & (at < r[1:])", "only to memory"),
    ("03-ridge-grew", (GREW + "np.diff(r) < 0, " + FLIPS).replace("at = m *", "at = 2 * m *"),
     "numbers, not bytes"),
    ("03-ridge-grew", GREW + FLIPS + ", np.diff(r) < 0", "another order"),
    ("03-number-type", EDGES + "two, one", "another order"),
    ("03-number-type", EDGES + "(p / b, q / b)", "the ridges"),
    ("03-number-type", EDGES + "(6 * p / b, 6 * q / b)", "4 bytes always"),
    ("03-number-type", EDGES + "(1.5 * p / b, 1.5 * q / b)", "elements for bytes"),
    ("03-number-type", EDGES + "(s * p / b, r * q / b)", "C forgotten"),
    ("03-number-type", EDGES + "(one, 1.5 * r * p / b)", "the peak stays"),
    ("03-worth-the-call",
     "lambda c, p, b, s: round(min((c * p / 2) ** (1 / 3), (c * b / 3 / s) ** 0.5))",
     "rounded down"),
    ("03-worth-the-call",
     "lambda c, p, b, s: max(1, int(min((c * p / 2) ** (1 / 3) + 1e-9, (c * b / 3 / s) ** 0.5)))",
     "rounded down"),
    ("03-worth-the-call", "lambda c, p, b, s: min((c * p / 2) ** (1 / 3), (c * b / 3 / s) ** 0.5)",
     "not rounded"),
    ("03-worth-the-call", "lambda c, p, b, s: (c * p / 2) ** (1 / 3)", "only computing"),
    ("03-worth-the-call", "lambda c, p, b, s: math.ceil((c * p / 2) ** (1 / 3))", "only computing"),
    ("03-worth-the-call",
     "lambda c, p, b, s: next(n for n in range(1, 10**5) if 2 * n**3 / p >= c)", "only computing"),
    ("03-worth-the-call", "lambda c, p, b, s: math.ceil((c * b / 3 / s) ** 0.5)", "only carrying"),
    ("03-worth-the-call",
     "lambda c, p, b, s: math.ceil(max((c * p / 2) ** (1 / 3), (c * b / 3 / s) ** 0.5))",
     "both have to be long"),
    ("03-worth-the-call",
     "lambda c, p, b, s: next(n for n in range(1, 10**5) if min(2 * n**3 / p, "
     "3 * n * n * s / b) >= c)", "both have to be long"),
    ("03-worth-the-call",
     "lambda c, p, b, s: next(n for n in range(1, 10**5) if 2 * n**3 / p + 3 * n * n * s / b >= c)",
     "no overlap"),
    ("03-worth-the-call",
     "lambda c, p, b, s: next(n for n in range(1, 10**5) if max(2 * n**3 / p, "
     "3 * n * n * s / b) > c)", "one too far"),
    ("03-predict", LEVEL + "max(computing, carrying)", "the call is free"),
    ("03-predict", LEVEL + "call + computing + carrying", "sum for max"),
    ("03-predict", LEVEL + "max(call, computing, carrying)", "the call overlaps"),
    ("03-predict", LEVEL + "call + max(computing, bytes / bandwidth[-1])",
     "everything comes from memory"),
    ("03-predict", LEVEL + "call + max(computing, bytes / bandwidth[0])",
     "everything comes from the nearest cache"),
    ("03-predict", LEVEL + "max(computing, bytes / bandwidth[-1])", "the roof alone"),
    ("03-catalogue", "['right'] * 6", "all of them right"),
    ("03-catalogue", but(TABLE, 1, "right"), "the larger figure believed"),
    ("03-catalogue", but(TABLE, 2, "right"), "two dies as one"),
    ("03-catalogue", but(TABLE, 2, "sparse"), "twice as much means sparse"),
    ("03-catalogue", but(TABLE, 3, "right"), "same die, same machine"),
    ("03-sparse-peak", "lambda i, c, b: 2", "always double"),
    ("03-sparse-peak", "lambda i, c, b: 0.5", "always double"),
    ("03-sparse-peak", "lambda i, c, b: c / min(c / 2, i * b)", "a promise without a slope"),
    ("03-sparse-peak", "lambda i, c, b: min(c / 2, i * b) / min(c, i * b)", "upside down"),
    ("03-sparse-peak", "lambda i, c, b: 1 if i < c / 2 / b else 2", "all or nothing"),
    ("03-sparse-peak", "lambda i, c, b: min(2 * c, i * b) / min(c, i * b)", "claimed is dense"),
    ("03-time", "lambda f,n,p,b: max(f*p, n*b)", "times for divided by"),
    ("03-time", "lambda f,n,p,b: max(f/p, n/b)*2", "a constant factor"),
    ("03-time", "lambda f,n,p,b: f/p if f/n > 1 else n/b", "a border at 1"),
    ("03-thumb-rules", "lambda p,b: (p/b == 4, p/b == 8)", "never"),
    ("03-thumb-rules", "lambda p,b: (p/b > 4, p/b > 8)", "the second the other way"),
    ("03-thumb-rules", "lambda p,b: (p/b < 4, p/b < 8)", "the first the other way"),
    ("03-thumb-rules", "lambda p,b: (True, True)", "a law of nature"),
    ("03-counterexample",
     "def answer(flops, bytes, peak, bandwidth):\n"
     "    t = [max(f / peak, n / bandwidth) for f, n in zip(flops, bytes)]\n"
     "    x = [f / n for f, n in zip(flops, bytes)]\n"
     "    for i in range(len(t)):\n"
     "        for j in range(len(t)):\n"
     "            if x[i] < x[j] and t[i] < t[j]: return i, j", "exchanged"),
    ("03-log",
     "['in order', 'warm cache', 'other type', 'GiB', 'in order', 'multiply-adds', 'sparse peak', "
     "'GiB']", "GiB once more"),
    ("03-log",
     "['in order', 'other type', 'other type', 'GiB', 'in order', 'multiply-adds', 'sparse peak', "
     "'cannot tell']", "another type moved the bytes"),
    ("03-ridge-grew", GREW + 'np.diff(r) < 0, np.diff(r) != 0', "any change of the ridge"),
    ("03-ridge-grew",
     "def answer(peaks, bandwidths, m):\n"
     "    r = np.array(peaks) / np.array(bandwidths)\n"
     "    at = m\n"
     "    return np.diff(r) < 0, (at < r[1:]) != (at < r[:-1])", "the rows are the intensity"),
    ("03-number-type", EDGES + 'one/1.5, two/1.5', "C forgotten"),
    ("03-number-type", EDGES + '(3*s*p/b, 3*r*q/b)', "multiply-adds"),
    ("03-number-type", EDGES + '(one, one)', "nothing changes"),
    ("03-worth-the-call", "lambda c,p,b,s: math.ceil(min((c*p)**(1/3), (c*b/3/s)**.5))",
     "multiply-adds"),
    ("03-predict", LEVEL + 'call + min(computing, carrying)', "min for max"),
    ("03-catalogue", "['sparse', 'two dies', 'other part', 'other part', 'sparse', 'other part']",
     "suspicious of everything"),
    ("03-catalogue", "['sparse', 'two dies', 'other part', 'other part', 'right', 'right']",
     "three terabytes"),
    ("03-catalogue", "['sparse', 'two dies', 'other part', 'right', 'right', 'other part']",
     "same family, same figure"),
    ("03-catalogue", "['two dies', 'two dies', 'other part', 'other part', 'right', 'other part']",
     "two dies in an H100"),
    ("03-sparse-peak", "lambda i,c,b: 1", "never"),
    ("03-sparse-peak", "lambda i,c,b: min(c, i*b)/(c/2)", "no roof"),
    ("03-sparse-peak", "lambda i,c,b: i*b/(c/2)", "no roof"),
    ("03-sparse-peak", "lambda i,c,b: 2 if i > c/b else 1", "beyond the claimed ridge"),
    ("03-time", "lambda f,n,p,b: f/p if f else n/b", "only a copy waits"),
    ("03-thumb-rules", "lambda p,b: (p/b >= 8, p/b <= 8)", "one border for both"),
    ("03-counterexample", PAIR.replace("max(f / peak, n / bandwidth)", "f / peak") + "return i, j",
     "FLOPs for time"),
    ("03-counterexample", PAIR.replace("max(f / peak, n / bandwidth)",
                                       "min(f / peak, n / bandwidth)") + "return i, j",
     "min for max"),
    ("03-counterexample",
     "def answer(flops, bytes, peak, bandwidth):\n"
     "    t = np.maximum(np.array(flops) / peak, np.array(bytes) / bandwidth)\n"
     "    return np.argmax(np.array(flops) / bytes), np.argmin(t)",
     "highest intensity and fastest"),
    ("03-counterexample", PAIR + "pair = i, j", "no pair found"),
    ("03-ridge-grew", GREW + "np.diff(r) <= 0, " + FLIPS, "no change is a fall"),
    ("03-ridge-grew", GREW.replace("2 * m + 4096", "m + 4096") + "np.diff(r) < 0, " + FLIPS,
     "rows or result forgotten"),
    ("03-counterexample",
     PAIR.replace("max(f / peak, n / bandwidth)", "f / peak + n / bandwidth") + "return i, j",
     "sum for max"),
    ("03-ridge-grew", GREW + "np.diff(r) < 0, (at < r[1:]) & (at >= r[:-1])", "only to memory"),
    ("03-ridge-grew", GREW + "np.diff(r) < 0, (at >= r[1:]) & (at < r[:-1])", "only to computing"),
    ("03-ridge-grew", GREW + "r[1:] < r[0], (at < r[1:]) != (at < r[0])",
     "compared with the first one"),
    ("03-log", but(LOG, 7, "in order"), "nothing to see in row 7"),
    ("03-log", but(LOG, 6, "in order"), "nothing to see in row 6"),
    ("03-log", but(LOG, 3, "sparse peak"), "a share of twice the peak"),
    ("03-log", but(LOG, 4, "cannot tell"), "7 % is noise"),
    ("03-catalogue", but(TABLE, 4, "two dies"), "two GPUs as one"),
    ("03-catalogue", but(TABLE, 4, "sparse"), "sparse once more"),
    ("03-catalogue", but(TABLE, 1, "other part"), "another H100"),
    ("03-sparse-peak", "lambda i,c,b: max(1, 2*i*b/c)", "no roof"),
    ("03-sparse-peak", "lambda i,c,b: min(c, i*b)/min(c/2, i*b) - 1", "how much too short"),
    ("03-number-type", EDGES + '(int(one), int(two))', "rounded"),
    ("03-number-type", EDGES + '(round(one), round(two))', "rounded"),
    ("03-number-type", EDGES + '(one + 1, two + 1)', "one further"),
    ("03-number-type", EDGES + '(math.ceil(2*one), math.ceil(2*two))', "multiply-adds"),
    ("03-worth-the-call",
     "lambda c,p,b,s: min(math.floor((c*p/2)**(1/3)) + 1, math.floor(math.sqrt(c*b/(3*s))) + 1)",
     "one too far"),
    ("03-worth-the-call", "lambda c,p,b,s: int(min(np.cbrt(c*p/2), np.sqrt(c*b/(3*s)))) + 1",
     "one too far"),
    ("03-worth-the-call", "lambda c,p,b,s: int(min((c*p/2)**(1/3), (c*b/3/s)**.5))",
     "rounded down"),
    ("03-worth-the-call",
     "lambda c,p,b,s: next(n for n in range(1, 10**5) if max(2*n**3/p, 3*n*n*s/b) >= c) - 1",
     "one too few"),
    ("03-worth-the-call", "lambda c,p,b,s: math.ceil(min((c*p/2)**(1/3), (c*b/3)**.5))",
     "elements for bytes"),
    ("03-worth-the-call", "lambda c,p,b,s: math.ceil(min((c*p/2)**(1/3), (c*b/4/s)**.5))",
     "C read too"),
]  # fmt: skip

TOLD = [
    ("03-thumb-rules", "lambda p, b: ('yes', 'no')", "True or False is wanted"),
    ("03-thumb-rules", "lambda p, b: p / b >= 4", "2 values are wanted: first rule, second rule"),
    ("03-counterexample", "def answer(f, n, p, b): x = 3", "does it reach a return?"),
    ("03-ridge-grew", GREW + "np.flatnonzero(np.diff(r) < 0), np.flatnonzero(" + FLIPS + ")",
     "values are wanted here"),
    ("03-log", but(LOG, 2, "cached"), "one of these words is wanted: "),
    ("03-log", "'warm cache'", "8 values are wanted"),
    ("03-worth-the-call", "lambda c, p, b, s: (c * p / 2) ** (1 / 3) > 3",
     "True where a number belongs"),
]  # fmt: skip
