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
     "            held = held[1:] if len(held) == capacity else held\n"
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
     "    held, last = {}, -1\n"
     "    for i in range(rows):\n"
     "        number = i * row_bytes // line\n"
     "        if number > last:\n"
     "            held[number % sets] = min(ways, held.get(number % sets, 0) + 1)\n"
     "        last = number\n"
     "    return len(held), sum(held.values())"),
    ("07-column",
     "def answer(rows, row_bytes, line, sets, ways):\n"
     "    where = np.unique(np.arange(rows) * row_bytes // line) % sets\n"
     "    count = np.bincount(where, minlength=sets)\n"
     "    return int((count > 0).sum()), int(np.minimum(count, ways).sum())"),
    ("07-column",
     "def answer(rows, row_bytes, line, sets, ways):\n"
     "    where = np.unique(np.arange(rows) * row_bytes // line) % sets\n"
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
    ("07-lru",
     "def answer(lines, capacity):\n"
     "    from collections import deque\n"
     "    held, missed = deque(), 0\n"
     "    for line in lines:\n"
     "        try:\n"
     "            held.remove(line)\n"
     "        except ValueError:\n"
     "            missed += 1\n"
     "        held.append(line)\n"
     "        if len(held) > capacity:\n"
     "            held.popleft()\n"
     "    return missed"),
    ("07-lru",
     "def answer(lines, capacity):\n"
     "    def step(rest, held):\n"
     "        if not rest:\n"
     "            return 0\n"
     "        line, *rest = rest\n"
     "        kept = [x for x in held if x != line]\n"
     "        return (line not in held) + step(rest, ([line] + kept)[:capacity])\n"
     "    return step(lines, [])"),
    ("07-lru",
     "def answer(lines, capacity):\n"
     "    from functools import lru_cache\n"
     "    fetch = lru_cache(maxsize=capacity)(lambda line: None)\n"
     "    for line in lines:\n"
     "        fetch(line)\n"
     "    return fetch.cache_info().misses"),
    ("07-lru",
     "def answer(lines, capacity):\n"
     "    age = np.full(max(lines) + 1, -1)\n"
     "    missed = 0\n"
     "    for now, line in enumerate(np.asarray(lines)):\n"
     "        if age[line] < 0:\n"
     "            missed += 1\n"
     "            if (age >= 0).sum() == capacity:\n"
     "                age[np.where(age >= 0, age, len(lines)).argmin()] = -1\n"
     "        age[line] = now\n"
     "    return np.int64(missed)"),
    ("07-lru",
     "def answer(lines, capacity):\n"
     "    def outcomes():\n"
     "        held = {}\n"
     "        for line in lines:\n"
     "            yield held.pop(line, True)\n"
     "            held[line] = False\n"
     "            if len(held) > capacity:\n"
     "                del held[next(iter(held))]\n"
     "    return sum(outcomes())"),
    ("07-lru",
     "class answer:\n"
     "    def __new__(cls, lines, capacity):\n"
     "        held, missed = [None] * capacity, 0\n"
     "        for line in lines:\n"
     "            if line in held:\n"
     "                held.pop(held.index(line))\n"
     "            else:\n"
     "                held.pop(0)\n"
     "                missed += 1\n"
     "            held += [line]\n"
     "        return missed"),
    ("07-tiles",
     "lambda m, n, k, p, q, s: Fraction(m*n*s) * (Fraction(k, p) + Fraction(k, q) + 1)"),
    ("07-tiles",
     "lambda m, n, k, p, q, s: sum((p*k + k*q + p*q)*s for _ in range(m//p) for _ in "
     "range(n//q))"),
    ("07-tiles",
     "lambda m, n, k, tm, tn, itemsize: math.prod((m, n, itemsize)) * (1 + k*(tm + "
     "tn)/(tm*tn))"),
    ("07-tiles",
     "def answer(m, n, k, tm, tn, itemsize):\n"
     "    moved = {'A': m*k, 'B': k*n, 'C': m*n}\n"
     "    again = {'A': math.ceil(n/tn), 'B': math.ceil(m/tm), 'C': 1}\n"
     "    return sum(moved[x]*again[x] for x in moved) * itemsize"),
    ("07-tiles",
     "lambda m, n, k, p, q, s: np.dot([m*k, k*n, m*n], [n//q, m//p, 1]) * s"),
    ("07-tiles",
     "lambda m, n, k, tm, tn, itemsize: -(-m//tm) * -(-n//tn) * (tm*k + tn*k + tm*tn) "
     "* itemsize"),
    ("07-claim-thousand",
     "def answer(n, t):\n"
     "    Saving = namedtuple('Saving', 'ab all')\n"
     "    return Saving(t, (2*n**3 + n**2) / (2*n**3 / t + n**2))"),
    ("07-claim-thousand",
     "lambda n, t: np.array([t, (2*n + 1) / (2*n/t + 1)])"),
    ("07-claim-thousand",
     "lambda n, t: (Fraction(t), Fraction(2*n + 1, 1) / (Fraction(2*n, t) + 1))"),
    ("07-claim-thousand",
     "def answer(n, t):\n"
     "    ratio = lambda c: (2*n**3 + c) / (2*n*n*n//t + c)\n"
     "    return list(map(ratio, (0, n*n)))"),
    ("07-fits",
     "def answer(n, cache, itemsize, tiles):\n"
     "    t = np.arange(1, n + 1)\n"
     "    return t[(n % t == 0) & (tiles*t**2*itemsize <= cache)].max()"),
    ("07-fits",
     "def answer(n, cache, itemsize, tiles, parts=1):\n"
     "    t = n / parts\n"
     "    good = n % parts == 0 and tiles*t*t*itemsize <= cache\n"
     "    return t if good else answer(n, cache, itemsize, tiles, parts + 1)"),
    ("07-fits",
     "def answer(n, cache, itemsize, tiles):\n"
     "    for t in reversed(range(n + 1)):\n"
     "        if math.gcd(n, t) == t and t**2 * tiles * itemsize <= cache:\n"
     "            return t"),
    ("07-fits",
     "lambda n, c, s, f: max(filter(lambda t: not n % t, range(1, "
     "math.isqrt(int(c/(s*f))) + 1)))"),
    ("07-claim-forty",
     "np.array(['A, B, C read and written', 'each matrix once, C twice', 'the cache'])"),
    ("07-claim-forty",
     "'A, B, C read and written', 'each matrix once, C twice', 'The cache'"),
    ("07-claim-forty",
     "{'before': 'A, B, C read and written', 'after': 'each matrix once, C twice', "
     "'cause': 'the cache'}"),
    ("07-claim-forty",
     "namedtuple('V', 'before after cause')('A, B, C read and written', 'each matrix "
     "once, C twice', 'the cache')"),
    ("07-column",
     "def answer(rows, row_bytes, line, sets, ways):\n"
     "    from collections import Counter\n"
     "    fall = Counter(x % sets for x in {i*row_bytes // line for i in range(rows)})\n"
     "    return len(fall), sum((Counter(dict.fromkeys(fall, ways)) & fall).values())"),
    ("07-column",
     "def answer(rows, row_bytes, line, sets, ways):\n"
     "    places = [[] for _ in range(sets)]\n"
     "    for number in {a // line for a in range(0, rows*row_bytes, row_bytes)}:\n"
     "        places[number % sets].append(number)\n"
     "    return [sum(map(bool, places)), sum(len(p[:ways]) for p in places)]"),
    ("07-column",
     "def answer(rows, row_bytes, line, sets, ways):\n"
     "    from itertools import groupby\n"
     "    order = sorted(x % sets for x in {r*row_bytes // line for r in range(rows)})\n"
     "    sizes = [len(list(group)) for _, group in groupby(order)]\n"
     "    return len(sizes), sum(min(size, ways) for size in sizes)"),
    ("07-two-levels",
     "def answer(n, inner, outer, itemsize, bandwidths, peak):\n"
     "    sides = np.array([inner, outer])\n"
     "    moved = (2*n**3/sides + n**2) * itemsize\n"
     "    return *moved, max((moved/np.array(bandwidths)).max(), 2*n**3/peak)"),
    ("07-two-levels",
     "def answer(n, inner, outer, itemsize, bandwidths, peak):\n"
     "    def moved(side):\n"
     "        return (n//side)**2 * (2*side*n + side*side) * itemsize\n"
     "    cache, memory = bandwidths\n"
     "    times = {'cache': moved(inner)/cache, 'memory': moved(outer)/memory, "
     "'work': 2*n**3/peak}\n"
     "    return [moved(inner), moved(outer), max(times.values())]"),
    ("07-two-levels",
     "def answer(n, inner, outer, itemsize, bandwidths, peak):\n"
     "    near, far = (Fraction(2*n**3, t)*itemsize + n*n*itemsize for t in (inner, "
     "outer))\n"
     "    return near, far, sorted([near/bandwidths[0], far/bandwidths[1], "
     "2*n**3/peak])[-1]"),
    ("07-claim-forty", "('A,B,C read and written', 'each matrix once,C twice ', 'the cache')"),
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
     "def answer(rows, row_bytes, line, sets, ways):\n"
     "    held = {}\n"
     "    for i in range(rows):\n"
     "        where = i * row_bytes // line % sets\n"
     "        held[where] = min(ways, held.get(where, 0) + 1)\n"
     "    return len(held), sum(held.values())", "a line for every row"),
    ("07-column",
     "def answer(rows, row_bytes, line, sets, ways):\n"
     "    step = row_bytes // line\n"
     "    period = sets // math.gcd(step, sets)\n"
     "    used = min(rows, period)\n"
     "    full, rest = divmod(rows, period)\n"
     "    return used, rest*min(ways, full + 1) + (period - rest)*min(ways, full)",
     "rows of whole lines"),
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
    ("07-lru",
     "def answer(lines, capacity):\n"
     "    from collections import deque\n"
     "    held, missed = deque(maxlen=capacity), 0\n"
     "    for line in lines:\n"
     "        if line not in held:\n"
     "            held.append(line)\n"
     "            missed += 1\n"
     "    return missed", "first in, first out"),
    ("07-lru",
     "lambda lines, capacity: sum(x not in lines[:i] for i, x in enumerate(lines))",
     "nothing leaves"),
    ("07-lru",
     "def answer(lines, capacity):\n"
     "    return sum(x not in lines[max(0, i - capacity):i] for i, x in "
     "enumerate(lines))", "the last touches"),
    ("07-lru",
     "def answer(lines, capacity):\n"
     "    held, missed = [], 0\n"
     "    for line in lines:\n"
     "        if line not in held:\n"
     "            missed += 1\n"
     "            if len(held) == capacity:\n"
     "                held = []\n"
     "            held.append(line)\n"
     "    return missed", "everything leaves"),
    ("07-lru",
     "def answer(lines, capacity):\n"
     "    held, missed = [], 0\n"
     "    for line in lines:\n"
     "        if line in held:\n"
     "            held.remove(line)\n"
     "        elif len(held) == capacity:\n"
     "            held.pop(0)\n"
     "            missed += 1\n"
     "        held.append(line)\n"
     "    return missed", "only what throws a line out"),
    ("07-lru",
     "def answer(lines, capacity):\n"
     "    held, missed = [], 0\n"
     "    for line in lines:\n"
     "        if line in held:\n"
     "            held.remove(line)\n"
     "        else:\n"
     "            missed += 1\n"
     "        if len(held) > capacity:\n"
     "            held.pop(0)\n"
     "        held.append(line)\n"
     "    return missed", "one line more"),
    ("07-lru",
     "def answer(lines, capacity):\n"
     "    held, missed = [], 0\n"
     "    for line in lines:\n"
     "        missed += line not in held[-1:]\n"
     "        held.append(line)\n"
     "    return missed", "only the last line is kept"),
    ("07-tiles",
     "lambda m, n, k, p, q, s: (2*m*n*k + m*n) * s", "no tile"),
    ("07-tiles",
     "lambda m, n, k, p, q, s: (2*m*n*k/(p*q) + m*n) * s", "divided by the area"),
    ("07-tiles",
     "lambda m, n, k, p, q, s: m*n/p/q * (p*k + k*q) * s", "result left out"),
    ("07-tiles",
     "lambda m, n, k, p, q, s: (m*k*(n//q) + k*n + m*n) * s", "one matrix again"),
    ("07-tiles",
     "lambda m, n, k, p, q, s: (m*k + k*n*(m//p) + m*n) * s", "one matrix again"),
    ("07-tiles",
     "lambda m, n, k, p, q, s: (m//p) * (n//q) * (p*k + k*q) * s + p*q*s", "one tile written"),
    ("07-tiles",
     "lambda m, n, k, p, q, s: (m*k*q + k*n*p + m*n) * s", "times the side"),
    ("07-claim-thousand",
     "lambda n, t: (2*t, (2*n + 1) / (n/t + 1))", "both added"),
    ("07-claim-thousand",
     "lambda n, t: (t, (2*n + 2) / (2*n/t + 2))", "results twice"),
    ("07-claim-thousand",
     "lambda n, t: (t, (2*n + 1) / (2*n/t + 1/t))", "results forgotten"),
    ("07-claim-thousand",
     "lambda n, t: (n/t, (2*n + 1) / (2*t + 1))", "how often it is fetched"),
    ("07-claim-thousand",
     "lambda n, t: (t*t, t*(2*n + 1) / (2*n + t))", "the area"),
    ("07-fits",
     "lambda n, c, s, f: max(t for t in range(1, n + 1) if n % t == 0 and f*t*s <= c)", "no root"),
    ("07-column",
     "lambda r, b, n, s, w: (len({i*b % s for i in range(r)}), sum(min(w, sum(j*b % s "
     "== x for j in range(r))) for x in {i*b % s for i in range(r)}))", "addresses for lines"),
    ("07-column",
     "lambda r, b, n, s, w: (s, s*w)", "the whole cache"),
    ("07-column",
     "lambda r, b, n, s, w: (s // math.gcd(s, b//n), w * (s // math.gcd(s, b//n)))",
     "all of its sets are full"),
    ("07-column",
     "lambda r, b, n, s, w: (len({i*b//n % w for i in range(r)}), sum(min(s, "
     "sum(j*b//n % w == x for j in range(r))) for x in {i*b//n % w for i in "
     "range(r)}))", "ways for sets"),
    ("07-column",
     "lambda r, b, n, s, w: (len({i*b//n % s for i in range(r)}), min(r, s*w))",
     "every line is held"),
    ("07-claim-forty",
     "('A, B, C read and written', 'each matrix once, C twice', 'the number type')",
     "the number type did it"),
    ("07-claim-forty",
     "('A, B', 'each matrix once', 'the tile')", "C stays in a register"),
    ("07-two-levels",
     "lambda n, i, o, s, w, p: ((n//i)**2*(2*i*n)*s, (n//o)**2*(2*o*n)*s, "
     "max((n//i)**2*(2*i*n)*s/w[0], (n//o)**2*(2*o*n)*s/w[1], 2*n**3/p))", "results left out"),
    ("07-two-levels",
     "lambda n, i, o, s, w, p: ((2*n**3/i + n*n)*s, (2*n**3/o + n*n)*s, min((2*n**3/i "
     "+ n*n)*s/w[0], (2*n**3/o + n*n)*s/w[1], 2*n**3/p))", "the shortest time"),
    ("07-two-levels",
     "lambda n, i, o, s, w, p: ((2*n**3/i + n*n)*s, (2*n**3/o + n*n)*s, max((2*n**3/i "
     "+ n*n)*s/w[0], (2*n**3/o + n*n)*s/w[1], n**3/p))", "a multiply-add as one FLOP"),
    ("07-two-levels",
     "lambda n, i, o, s, w, p: ((2*n**3/i + n*n)*s, (2*n**3/o + n*n)*s, max((2*n**3/i "
     "+ n*n)*s/w[1], (2*n**3/o + n*n)*s/w[0], 2*n**3/p))", "bandwidths swapped"),
    ("07-two-levels",
     "lambda n, i, o, s, w, p: ((2*n**3/i + 2*n*n)*s, (2*n**3/o + 2*n*n)*s, "
     "max((2*n**3/i + 2*n*n)*s/w[0], (2*n**3/o + 2*n*n)*s/w[1], 2*n**3/p))", "results read, too"),
]  # fmt: skip

TOLD = [
    ("07-claim-forty", "('A and B', 'each matrix once, C twice', 'the cache')",
     "one of these words is wanted: 'A, B', 'A, B, C read', "),
    ("07-lru", "lambda lines, capacity: lines", "which of them together?"),
    ("07-column", "lambda r, b, n, s, w: s", "2 values are wanted"),
]  # fmt: skip
