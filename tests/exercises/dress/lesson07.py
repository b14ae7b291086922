"""Answers to lesson 07 in unusual dress: one line a case (see test_dress.py)."""

RIGHT = [
    ("07-lru",
     "def answer(lines, capacity):\n"
     "    held, missed = [], 0\n"
     "    for line in lines:\n"
     "        if line in held:\n"
     "            held.remove(line)\n"
     "        else:\n"
     "            missed += 1\n"
     "            held = held[-(capacity - 1):] if len(held) == capacity else held\n"
     "        held.append(line)\n"
     "    return missed"),
    ("07-lru",
     "def answer(lines, capacity):\n"
     "    last, missed = {}, 0\n"
     "    for now, line in enumerate(lines):\n"
     "        if line not in last:\n"
     "            missed += 1\n"
     "            if len(last) == capacity:\n"
     "                del last[min(last, key=last.get)]\n"
     "        last[line] = now\n"
     "    return missed"),
    ("07-lru",
     "def answer(lines, capacity):\n"
     "    return sum(line not in lines[:i] or len(set(lines[max(j for j in range(i) if lines[j] == "
     "line) + 1 : i])) >= capacity for i, line in enumerate(lines))"),
    ("07-lru",
     "def answer(lines, capacity):\n"
     "    from collections import OrderedDict\n"
     "    cache, missed = OrderedDict(), 0\n"
     "    for x in lines:\n"
     "        missed += x not in cache\n"
     "        cache.pop(x, None)\n"
     "        cache[x] = True\n"
     "        while len(cache) > capacity:\n"
     "            cache.popitem(False)\n"
     "    return missed"),
    ("07-tiles", "lambda m, n, k, p, q, s: (m*n*k/q + m*n*k/p + m*n) * s"),
    ("07-tiles", "lambda m, n, k, p, q, s: (m//p) * (n//q) * (p*k + k*q + p*q) * s"),
    ("07-tiles",
     "def answer(m, n, k, tm, tn, itemsize):\n"
     "    total = 0\n"
     "    for i in range(0, m, tm):\n"
     "        for j in range(0, n, tn):\n"
     "            total += tm * k + k * tn + tm * tn\n"
     "    return total * itemsize"),
    ("07-tiles", "lambda m, n, k, p, q, s: np.int64(s) * (m*k*(n//q) + k*n*(m//p) + m*n)"),
    ("07-claim-thousand", "lambda n, t: (t, (2*n + 1) / (2*n/t + 1))"),
    ("07-claim-thousand", "lambda n, t: [Fraction(t), Fraction(2*n**3 + n*n) / (2*n**3/t + n*n)]"),
    ("07-claim-thousand",
     "lambda n, t: {'factor of A and B': float(t), 'factor of all': t*(2*n + 1)/(2*n + t)}"),
    ("07-fits",
     "lambda n, c, s, f: max(t for t in range(1, n + 1) if n % t == 0 and f*t*t*s <= c)"),
    ("07-fits",
     "def answer(n, cache, itemsize, tiles):\n"
     "    t = n\n"
     "    while n % t or tiles * t * t * itemsize > cache:\n"
     "        t -= 1\n"
     "    return t"),
    ("07-fits",
     "lambda n, c, s, f: [t for t in range(1, n + 1) if n % t == 0 and t <= math.sqrt(c/s/f)][-1]"),
    ("07-claim-forty",
     "('A, B, C read and written', 'each matrix once, C twice', 'the cache')"),
    ("07-claim-forty",
     "['A, B, C read and written', 'each matrix once, C twice', 'the cache']"),
    ("07-column",
     "def answer(rows, row_bytes, line, sets, ways):\n"
     "    held = {}\n"
     "    for i in range(rows):\n"
     "        where = i * row_bytes // line % sets\n"
     "        held[where] = min(ways, held.get(where, 0) + 1)\n"
     "    return len(held), sum(held.values())"),
    ("07-column",
     "def answer(rows, row_bytes, line, sets, ways):\n"
     "    where = np.arange(rows) * row_bytes // line % sets\n"
     "    count = np.bincount(where, minlength=sets)\n"
     "    return int((count > 0).sum()), int(np.minimum(count, ways).sum())"),
    ("07-column",
     "def answer(rows, row_bytes, line, sets, ways):\n"
     "    where = np.arange(rows) * row_bytes // line % sets\n"
     "    where, count = np.unique(where, return_counts=True)\n"
     "    return len(where), count.clip(max=ways).sum()"),
    ("07-two-levels",
     "def answer(n, inner, outer, itemsize, bandwidths, peak):\n"
     "    moved = [(2*n**3/t + n*n) * itemsize for t in (inner, outer)]\n"
     "    return *moved, max(2*n**3/peak, *(b/w for b, w in zip(moved, bandwidths)))"),
    ("07-two-levels",
     "def answer(n, inner, outer, itemsize, bandwidths, peak):\n"
     "    near, far = (n*n*(2*n//t + 1)*itemsize for t in (inner, outer))\n"
     "    return {'bytes of the cache': near, 'bytes of memory': far, 'seconds': "
     "max(near/bandwidths[0], far/bandwidths[1], 2*n**3/peak)}"),
]  # fmt: skip

WRONG = [
    ("07-lru",
     "def answer(lines, capacity):\n"
     "    held, missed = [], 0\n"
     "    for line in lines:\n"
     "        if line not in held:\n"
     "            missed += 1\n"
     "            held.append(line)\n"
     "            held = held[-capacity:]\n"
     "    return missed", "first in, first out"),
    ("07-lru",
     "def answer(lines, capacity):\n"
     "    held, found = [], 0\n"
     "    for line in lines:\n"
     "        if line in held:\n"
     "            found += 1\n"
     "            held.remove(line)\n"
     "        held = (held + [line])[-capacity:]\n"
     "    return found", "hits"),
    ("07-lru", "lambda lines, capacity: len(set(lines))", "nothing leaves"),
    ("07-lru",
     "def answer(lines, capacity):\n"
     "    held, missed = [], 0\n"
     "    for line in lines:\n"
     "        if line in held:\n"
     "            held.remove(line)\n"
     "        else:\n"
     "            missed += 1\n"
     "        held = (held + [line])[-capacity - 1:]\n"
     "    return missed", "one line more"),
    ("07-lru",
     "def answer(lines, capacity):\n"
     "    held, missed = [], 0\n"
     "    for line in lines:\n"
     "        if line in held:\n"
     "            held.remove(line)\n"
     "        else:\n"
     "            missed += 1\n"
     "        held = (held + [line])[-capacity + 1:]\n"
     "    return missed", "one line less"),
    ("07-lru",
     "def answer(lines, capacity):\n"
     "    held, missed = [], 0\n"
     "    for line in lines:\n"
     "        if line not in held:\n"
     "            missed += 1\n"
     "            if len(held) == capacity:\n"
     "                held.pop()\n"
     "            held.append(line)\n"
     "    return missed", "the newest leaves"),
    ("07-tiles", "lambda m, n, k, p, q, s: (m*k + k*n + m*n) * s", "each matrix once"),
    ("07-tiles", "lambda m, n, k, p, q, s: (m*k*(m//p) + k*n*(n//q) + m*n) * s", "sides swapped"),
    ("07-tiles", "lambda m, n, k, p, q, s: m*k*(n//q) + k*n*(m//p) + m*n", "numbers, not bytes"),
    ("07-tiles", "lambda m, n, k, p, q, s: (m*k*(n//q) + k*n*(m//p) + 2*m*n) * s",
     "result read, too"),
    ("07-tiles", "lambda m, n, k, p, q, s: (m*k*(n//q) + k*n*(m//p)) * s", "result left out"),
    ("07-tiles", "lambda m, n, k, p, q, s: (p*k + k*q + p*q) * s", "one tile"),
    ("07-claim-thousand", "lambda n, t: (t*t, t*t)", "the area"),
    ("07-claim-thousand", "lambda n, t: (t, t)", "results forgotten"),
    ("07-claim-thousand", "lambda n, t: (1/t, (2*n/t + 1) / (2*n + 1))", "upside down"),
    ("07-claim-thousand", "lambda n, t: (t/2, (2*n + 1) / (4*n/t + 1))", "half the side"),
    ("07-claim-thousand", "lambda n, t: (t*t, (2*n + 1) / (2*n/t/t + 1))", "the area"),
    ("07-fits", "lambda n, c, s, f: int(math.sqrt(c/s/f))", "need not divide"),
    ("07-fits",
     "lambda n, c, s, f: max(t for t in range(1, n + 1) if n % t == 0 and 3*t*t*s <= c)",
     "three tiles"),
    ("07-fits",
     "lambda n, c, s, f: max(t for t in range(1, n + 1) if n % t == 0 and t*t*s <= c)",
     "one tile"),
    ("07-fits",
     "lambda n, c, s, f: max(t for t in range(1, n + 1) if n % t == 0 and f*t*t <= c)",
     "numbers for bytes"),
    ("07-fits",
     "lambda n, c, s, f: min(t for t in range(1, n + 1) if n % t == 0 and f*t*t*s > c)",
     "the smallest too large"),
    ("07-claim-forty", "('A, B, C read and written', 'tiles of 25', 'the cache')",
     "the tile of 25"),
    ("07-claim-forty", "('A, B', 'each matrix once, C twice', 'the cache')",
     "C stays in a register"),
    ("07-claim-forty",
     "('A, B, C read and written', 'each matrix once, C twice', 'the tile')", "the tile did it"),
    ("07-claim-forty", "('A, B, C read', 'each matrix once, C twice', 'the cache')",
     "C is only read"),
    ("07-claim-forty", "('A, B, C read and written', 'each matrix once', 'the cache')", "C once"),
    ("07-claim-forty", "('A, B, C read and written', 'tiles of 10', 'the tile')",
     "the tile of 10"),
    ("07-column", "lambda r, b, n, s, w: (min(r, s), min(r, s*w))", "any line anywhere"),
    ("07-column",
     "lambda r, b, n, s, w: (len({i*b//n % s for i in range(r)}), "
     "w * len({i*b//n % s for i in range(r)}))", "all of its sets are full"),
    ("07-column",
     "lambda r, b, n, s, w: (len({i*b//n % s for i in range(r)}), r)", "every line is held"),
    ("07-column",
     "lambda r, b, n, s, w: (len({i*b//n % s for i in range(r)}),) * 2", "one line a set"),
    ("07-two-levels",
     "lambda n, i, o, s, w, p: ((2*n**3/i + n*n)*s, (2*n**3/o + n*n)*s, "
     "(2*n**3/i + n*n)*s/w[0] + (2*n**3/o + n*n)*s/w[1] + 2*n**3/p)", "times added"),
    ("07-two-levels",
     "lambda n, i, o, s, w, p: ((2*n**3/i + n*n)*s, (2*n**3/o + n*n)*s, "
     "max((2*n**3/i + n*n)*s/w[0], (2*n**3/o + n*n)*s/w[1]))", "no arithmetic"),
    ("07-two-levels",
     "lambda n, i, o, s, w, p: ((2*n**3/o + n*n)*s, (2*n**3/i + n*n)*s, "
     "max((2*n**3/o + n*n)*s/w[0], (2*n**3/i + n*n)*s/w[1], 2*n**3/p))", "sides swapped"),
    ("07-two-levels",
     "lambda n, i, o, s, w, p: ((2*n**3/i + n*n)*s, (2*n**3/o + n*n)*s, "
     "max((2*n**3/o + n*n)*s/w[1], 2*n**3/p))", "memory alone"),
    ("07-two-levels",
     "lambda n, i, o, s, w, p: (2*n**3/i*s, 2*n**3/o*s, "
     "max(2*n**3/i*s/w[0], 2*n**3/o*s/w[1], 2*n**3/p))", "results left out"),
]  # fmt: skip

TOLD = [
    ("07-claim-forty", "('A and B', 'each matrix once, C twice', 'the cache')",
     "one of these words is wanted"),
    ("07-lru", "lambda lines, capacity: lines", "which of them together?"),
    ("07-column", "lambda r, b, n, s, w: s", "2 values are wanted"),
]  # fmt: skip
