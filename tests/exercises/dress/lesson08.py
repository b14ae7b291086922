"""Answers to lesson 08 in unusual dress: one line a case (see test_dress.py)."""

RIGHT = [
    ("08-innermost",
     "def answer(operands, itemsize, line):\n"
     "    cost = {}\n"
     "    for loop in ''.join(operands):\n"
     "        cost[loop] = 0\n"
     "        for one in operands:\n"
     "            if one.endswith(loop):\n"
     "                cost[loop] += itemsize / line\n"
     "            elif loop in one:\n"
     "                cost[loop] += 1\n"
     "    best = sorted(cost, key=cost.get)[0]\n"
     "    return best, cost[best]"),
    ("08-innermost",
     "lambda o, s, b: min((sum((s/b if t[-1] == x else 1) * (x in t) for t in o), x) for x in "
     "set(''.join(o)))[::-1]"),
    ("08-innermost",
     "def answer(operands, itemsize, line):\n"
     "    whole = lambda x: Fraction(sum(x in t[:-1] for t in operands))\n"
     "    part = lambda x: Fraction(itemsize, line) * sum(t[-1] == x for t in operands)\n"
     "    loops = list(dict.fromkeys(''.join(operands)))\n"
     "    lines = [whole(x) + part(x) for x in loops]\n"
     "    return {'loop': loops[lines.index(min(lines))], 'lines': float(min(lines))}"),
    ("08-innermost",
     "def answer(operands, itemsize, line):\n"
     "    loops = np.array(sorted(set(''.join(operands))))\n"
     "    cost = np.array([[0 if x not in t else itemsize/line if t[-1] == x else 1 for t in "
     "operands] for x in loops]).sum(1)\n"
     "    return str(loops[cost.argmin()]), cost.min()"),
    ("08-innermost",
     "def answer(operands, itemsize, line):\n"
     "    cost = {}\n"
     "    for text in operands:\n"
     "        for n, x in enumerate(reversed(text)):\n"
     "            cost[x] = cost.get(x, 0) + (1 if n else Fraction(itemsize, line))\n"
     "    return sorted(cost.items(), key=lambda pair: pair[1])[0]"),
    ("08-innermost",
     "def answer(operands, itemsize, line):\n"
     "    def cost(x, rest):\n"
     "        if not rest:\n"
     "            return 0\n"
     "        head, *tail = rest\n"
     "        return (x in head) * (itemsize / line if head[-1] == x else 1) + cost(x, tail)\n"
     "    loops = np.unique(list(''.join(operands)))\n"
     "    return min(((x, cost(x, operands)) for x in loops), key=lambda pair: pair[1])"),
    ("08-legal",
     "def answer(distances, order):\n"
     "    def bad(x, rest):\n"
     "        return bool(rest) and (x[rest[0]] < 0 or x[rest[0]] == 0 and bad(x, rest[1:]))\n"
     "    return [np.array(x) for x in distances if bad(x, order)]"),
    ("08-pair",
     "def answer(rows, columns, back, ahead, tile):\n"
     "    I, J = np.mgrid[:rows, :columns]\n"
     "    P, Q = I - back, J + ahead\n"
     "    late = (P >= 0) & (Q < columns) & (P // tile == I // tile) & (Q // tile > J // tile)\n"
     "    i, j = np.argwhere(late)[0]\n"
     "    return (i, j), (i - back, j + ahead)"),
    ("08-pair",
     "def answer(rows, columns, back, ahead, tile):\n"
     "    done, late = set(), []\n"
     "    for I in range(0, rows, tile):\n"
     "        for J in range(0, columns, tile):\n"
     "            for i in range(I, min(I + tile, rows)):\n"
     "                for j in range(J, min(J + tile, columns)):\n"
     "                    w = i - back, j + ahead\n"
     "                    if w[0] >= 0 and w[1] < columns and w not in done:\n"
     "                        late.append(np.array([(i, j), w], float))\n"
     "                    done.add((i, j))\n"
     "    return late[0]"),
    ("08-skew",
     "def answer(ds, f=0):\n"
     "    return np.int64(f) if all(e + f * d >= 0 for d, e in ds) else answer(ds, f + 1)"),
    ("08-skew", "lambda ds: float(max([0] + [-(e // d) for d, e in ds if d > 0]))"),
    ("08-claim-same", "np.array(['the loops interchanged', 'legal', 'illegal', '10 numbers'])"),
    ("08-claim-same", "('The loops interchanged', 'Legal', 'illegal ', '10 numbers')"),
    ("08-legal", "lambda d, o: [x for x in d if tuple(x[i] for i in o) < (0,) * len(o)]"),
    ("08-legal",
     "def answer(distances, order):\n"
     "    bad = []\n"
     "    for one in distances:\n"
     "        for loop in order:\n"
     "            if one[loop] > 0:\n"
     "                break\n"
     "            if one[loop] < 0:\n"
     "                bad.append(one)\n"
     "                break\n"
     "    return bad"),
    ("08-legal",
     "lambda d, o: list(filter(lambda x: next(x[i] for i in o if x[i]) < 0, d))"),
    ("08-legal",
     "def answer(distances, order):\n"
     "    moved = np.array(distances)[:, order]\n"
     "    first = moved[np.arange(len(moved)), (moved != 0).argmax(axis=1)]\n"
     "    return [x for x, sign in zip(distances, first) if sign < 0]"),
    ("08-legal",
     "lambda d, o: tuple(tuple(x) for x in d if sum(x[i] * 1e3**-n for n, i in enumerate(o)) < "
     "0)"),
    ("08-pair",
     "def answer(rows, columns, back, ahead, tile):\n"
     "    time = lambda i, j: (i // tile, j // tile, i % tile, j % tile)\n"
     "    for i in range(rows):\n"
     "        for j in range(columns):\n"
     "            p, q = i - back, j + ahead\n"
     "            if 0 <= p < rows and 0 <= q < columns and time(p, q) > time(i, j):\n"
     "                return (i, j), (p, q)"),
    ("08-pair",
     "def answer(rows, columns, back, ahead, tile):\n"
     "    order = sorted(((i, j) for i in range(rows) for j in range(columns)), key=lambda s: "
     "(s[0] // tile, s[1] // tile))\n"
     "    when = {s: n for n, s in enumerate(order)}\n"
     "    late = [(s, (s[0] - back, s[1] + ahead)) for s in when if (s[0] - back, s[1] + ahead) "
     "in when and when[s[0] - back, s[1] + ahead] > when[s]]\n"
     "    return min(late)"),
    ("08-pair",
     "lambda r, c, b, a, t: ((b, max(0, t - a)), (0, max(0, t - a) + a))"),
    ("08-pair",
     "def answer(rows, columns, back, ahead, tile):\n"
     "    i, j = back, 0\n"
     "    while (j + ahead) // tile == j // tile:\n"
     "        j += 1\n"
     "    return [[i, j], [i - back, j + ahead]]"),
    ("08-skew",
     "lambda distances: max([0] + [math.ceil(-e / d) for d, e in distances if d])"),
    ("08-skew",
     "def answer(distances):\n"
     "    f = 0\n"
     "    for d, e in distances:\n"
     "        while e + f * d < 0:\n"
     "            f += 1\n"
     "    return f"),
    ("08-skew",
     "lambda ds: next(f for f in range(10**6) if min(e + f * d for d, e in ds) >= 0)"),
    ("08-skew",
     "def answer(distances):\n"
     "    d, e = np.array(distances).T\n"
     "    return max(0, int(np.ceil(-e[d > 0] / d[d > 0]).max()))"),
    ("08-skew", "lambda ds: max(0, *(-(e // d) for d, e in ds if d), 0)"),
    ("08-claim-same", "('the loops interchanged', 'legal', 'illegal', '10 numbers')"),
    ("08-claim-same", "['the loops interchanged', 'legal', 'illegal', '10 numbers']"),
    ("08-inside",
     "def answer(rates, lanes, hertz):\n"
     "    one = 2 * lanes * hertz\n"
     "    latency, units = round(one / rates[0]), round(rates[-1] / one)\n"
     "    return latency, units, latency * units"),
    ("08-inside",
     "lambda r, n, h: (round(2*n*h/r[0]), round(np.median(r[-3:])/(2*n*h)), "
     "round(2*n*h/r[0])*round(np.median(r[-3:])/(2*n*h)))"),
    ("08-inside",
     "def answer(rates, lanes, hertz):\n"
     "    slope = max(1, round(2 * lanes * hertz / np.asarray(rates)[0]))\n"
     "    units = int(max(rates) / (2 * lanes * hertz) + 0.5)\n"
     "    return {'latency': slope, 'units': units, 'sums': slope * units}"),
    ("08-vectorise", "lambda n: n.interchange('j', 'k').strip_mine('j', 8).vectorize('ji')"),
    ("08-vectorise", "lambda n: n.split('j', 8).reorder('i', 'k', 'jo', 'ji').vectorize('ji')"),
    ("08-vectorise", "lambda n: n.tile({'j': 16}).reorder('i', 'k', 'jo', 'ji').vectorize('ji')"),
    ("08-vectorise", "lambda n: n.vectorize('j').split('j', 8).reorder('i', 'k', 'jo', 'ji')"),
    ("08-vectorise", "lambda n: n.split('j', 16).reorder('i', 'jo', 'k', 'ji').vectorize('ji')"),
    ("08-vectorise", "lambda n: n.split('j', 8).reorder('jo', 'k', 'i', 'ji').vectorize('ji')"),
    (
        "08-vectorise",
        "lambda n: n.interchange('j', 'k').split('j', np.int64(8)).vectorize('ji').unroll('k')",
    ),
    (
        "08-vectorise",
        "lambda n: n.tile({'i': 4, 'j': 16, 'k': 8}).reorder('io', 'ko', 'jo', 'ii', 'ki', 'ji')"
        ".vectorize('ji')",
    ),
    (
        "08-vectorise",
        "def answer(nest):\n"
        "    nest = nest.split('j', 8)\n"
        "    nest = nest.split('i', 4).reorder('jo', 'io', 'k', 'ii', 'ji')\n"
        "    nest = nest.unroll('ii').vectorize('ji').pack('B')\n"
        "    assert nest.check(), nest.check()\n"
        "    return nest",
    ),
    (
        "08-vectorise",
        "lambda n: n.tile({'k': 32, 'j': 16}).reorder('ko', 'i', 'ki', 'jo', 'ji').vectorize('ji')",
    ),
    (
        "08-vectorise",
        "lambda n: n.split('j', 8).reorder('i', 'k', 'jo', 'ji').coalesce('i', 'k', 'row')"
        ".vectorize('ji')",
    ),
    (
        "08-vectorise",
        "lambda n: n.reorder('i', 'k', 'j').split('j', 8).vectorize('ji').parallel('i')",
    ),
    (
        "08-vectorise",
        "lambda n: n.reverse('k').reorder('i', 'k', 'j').split('j', 8).vectorize('ji')",
    ),
    ("08-stencil-tiles", "lambda n: n.skew('x', 't', 2).tile({'t': 16, 'x': 48})"),
    ("08-stencil-tiles", "lambda n: n.skew('x', 't', 2).tile({'t': 4, 'x': 16})"),
    ("08-stencil-tiles", "lambda n: n.skew('x', by='t', factor=2).tile({'t': 150, 'x': 16})"),
    (
        "08-stencil-tiles",
        "lambda n: n.skew('x', 't', 2).tile({'t': 8, 'x': 64}).interchange('to', 'xo')"
        ".interchange('ti', 'xi')",
    ),
    ("08-stencil-tiles", "lambda n: n.skew('x', 't', 3).tile({'x': 64, 't': 20})"),
    (
        "08-stencil-tiles",
        "lambda n: n.skew('x', 't').skew('x', 't').split('x', 60).reorder('xo', 't', 'xi')",
    ),
    (
        "08-stencil-tiles",
        "lambda n: n.skew('x', 't', 2).split('t', 12).split('x', 40).interchange('ti', 'xo')",
    ),
    (
        "08-stencil-tiles",
        "def answer(nest):\n"
        "    nest = nest.skew('x', 't', 2)\n"
        "    nest = nest.strip_mine('x', 50).strip_mine('t', 10)\n"
        "    nest = nest.reorder('to', 'xo', 'ti', 'xi').coalesce('to', 'xo', 'tile')\n"
        "    return nest.unroll('xi')",
    ),
    (
        "08-stencil-tiles",
        "lambda n: n.skew('x', 't', 2).tile({'t': 8, 'x': 64}).reverse('to').reverse('to')",
    ),
]  # fmt: skip

WRONG = [
    ("08-innermost",
     "def answer(operands, itemsize, line):\n"
     "    def cost(x):\n"
     "        return sum((x in t) * (itemsize / line if t[-1] == x else 1) for t in operands)\n"
     "    best = min(sorted(set(''.join(operands))), key=cost)\n"
     "    return best, math.ceil(cost(best))",
     "whole lines"),
    ("08-innermost",
     "def answer(operands, itemsize, line):\n"
     "    operands = operands[:-1]\n"
     "    def cost(x):\n"
     "        return sum((x in t) * (itemsize / line if t[-1] == x else 1) for t in operands)\n"
     "    best = min(sorted(set(''.join(operands))), key=cost)\n"
     "    return best, cost(best)",
     "the written array left out"),
    ("08-innermost",
     "def answer(operands, itemsize, line):\n"
     "    operands = [*operands, operands[-1]]\n"
     "    def cost(x):\n"
     "        return sum((x in t) * (itemsize / line if t[-1] == x else 1) for t in operands)\n"
     "    best = min(sorted(set(''.join(operands))), key=cost)\n"
     "    return best, cost(best)",
     "the written array twice"),
    ("08-innermost",
     "def answer(operands, itemsize, line):\n"
     "    line = 64\n"
     "    def cost(x):\n"
     "        return sum((x in t) * (itemsize / line if t[-1] == x else 1) for t in operands)\n"
     "    best = min(sorted(set(''.join(operands))), key=cost)\n"
     "    return best, cost(best)",
     "sizes that never change"),
    ("08-innermost",
     "def answer(operands, itemsize, line):\n"
     "    def cost(x):\n"
     "        return sum((x in t) * (line / itemsize if t[-1] == x else 1) for t in operands)\n"
     "    best = min(sorted(set(''.join(operands))), key=cost)\n"
     "    return best, cost(best)",
     "the line's share upside down"),
    ("08-innermost",
     "lambda o, s, b: (o[-1][-1], sum((s/b if t[-1] == o[-1][-1] else 1) * (o[-1][-1] in t) for t "
     "in o))", "the last index of the last array"),
    ("08-legal",
     "lambda d, o: [x for x in d if x[o[0]] < 0 or x[o[0]] == 0 and x[o[1]] < 0]",
     "the two outermost alone"),
    ("08-legal", "lambda d, o: [x for x in d if [x[i] for i in o] < x]", "smaller than before"),
    ("08-legal", "lambda d, o: [[x[i] for i in o] < [0] * len(o) for x in d]",
     "yes or no for each"),
    ("08-legal", "lambda d, o: sorted(x for x in d if [x[i] for i in o] < [0] * len(o))",
     "another order of the list"),
    ("08-pair", "lambda r, c, b, a, t: ((b, t - 1), (0, t - 1 + a))",
     "the last column of the tile"),
    ("08-pair", "lambda r, c, b, a, t: ((0, max(0, t - a)), (-b, max(t, a)))",
     "a row that reads nothing"),
    ("08-pair", "lambda r, c, b, a, t: ((b, max(0, t - a)), (2 * b, max(0, t - a) - a))",
     "another neighbour"),
    ("08-pair", "lambda r, c, b, a, t: ((b, max(0, t - a)), (b, -a))",
     "the distance for the second"),
    ("08-pair", "lambda r, c, b, a, t: ((t, max(0, t - a)), (t - b, max(t, a)))",
     "the second row of tiles"),
    ("08-pair", "lambda r, c, b, a, t: ((b + 1, max(0, t - a) + 1), (1, max(t, a) + 1))",
     "counted from 1"),
    ("08-skew", "lambda ds: max(0, max(-e / d for d, e in ds if d))", "not rounded"),
    ("08-skew", "lambda ds: max(0, round(max(-e / d for d, e in ds if d)))", "rounded down"),
    ("08-skew", "lambda ds: next(f for f in range(999) if all(e + f * d > 0 for d, e in ds))",
     "strictly positive"),
    ("08-skew", "lambda ds: next(f for f in range(1, 999) if all(e + f * d >= 0 for d, e in ds))",
     "at least one"),
    ("08-skew", "lambda ds: -max(0, *(-(e // d) for d, e in ds if d))", "the wrong sign"),
    ("08-inside",
     "lambda r, n, h: (round(2*n*h/r[0]), round(max(r)/2/n/h), n * round(max(r)/r[0]))",
     "lanes for sums"),
    ("08-inside",
     "lambda r, n, h: (round(2*n*h/r[0]), round(max(r)/2/n/h), round(2*n*h/r[0]) + "
     "round(max(r)/2/n/h))", "a sum for a product"),
    ("08-inside",
     "lambda r, n, h: (round(2*n*h/r[0]), round(max(r)/r[0]), round(max(r)/r[0]))",
     "the gain for the units"),
    ("08-inside", "lambda r, n, h: (int(2*n*h/r[0]), int(max(r)/2/n/h), int(2*n*h/r[0]) * "
     "int(max(r)/2/n/h))", "rounded down"),
    ("08-inside", "lambda r, n, h: (2*n*h/r[0], max(r)/2/n/h, max(r)/r[0])", "not whole"),
    ("08-vectorise", "lambda n: n.split('j', 8).reorder('i', 'jo', 'k', 'ji').vectorize('ji')",
     "half of each line"),
    ("08-vectorise", "lambda n: n.split('j', 8).reorder('jo', 'i', 'k', 'ji').vectorize('ji')",
     "half of each line"),
    ("08-vectorise", "lambda n: n.reorder('i', 'k', 'j').split('j', 12).vectorize('ji')",
     "a register and a half"),
    ("08-vectorise", "lambda n: n.split('j', 8).reorder('i', 'k', 'ji', 'jo').vectorize('ji')",
     "vectorised where it stands"),
    ("08-stencil-tiles", "lambda n: n.skew('x', 't', 2).interchange('t', 'x')",
     "interchanged without tiles"),
    ("08-stencil-tiles", "lambda n: n.skew('t', 'x', 2).tile({'t': 4, 'x': 32})",
     "the sweeps slanted"),
    ("08-stencil-tiles", "lambda n: n.skew('x', 't', 2).tile({'t': 2, 'x': 64})",
     "few sweeps in a tile"),
    ("08-stencil-tiles", "lambda n: n.skew('x', 't', 2).tile({'t': 16, 'x': 250})",
     "tiles that do not fit"),
    ("08-innermost",
     "def answer(operands, itemsize, line):\n"
     "    cost = {x: sum(0 if x not in t else itemsize/line if t[0] == x else 1 for t in operands) "
     "for x in sorted(set(''.join(operands)))}\n"
     "    best = min(cost, key=cost.get)\n"
     "    return best, cost[best]",
     "the first index has the neighbours"),
    ("08-innermost",
     "def answer(operands, itemsize, line):\n"
     "    cost = {x: sum(x in t for t in operands) for x in sorted(set(''.join(operands)))}\n"
     "    best = min(cost, key=cost.get)\n"
     "    return best, cost[best]",
     "numbers for lines"),
    ("08-innermost",
     "def answer(operands, itemsize, line):\n"
     "    cost = {x: sum(0 if x not in t or t[-1] == x else 1 for t in operands) "
     "for x in sorted(set(''.join(operands)))}\n"
     "    best = min(cost, key=cost.get)\n"
     "    return best, cost[best]",
     "neighbours are free"),
    ("08-innermost",
     "def answer(operands, itemsize, line):\n"
     "    cost = {x: sum(0 if x not in t else itemsize/line if t[-1] == x else 1 for t in "
     "operands) for x in sorted(set(''.join(operands)))}\n"
     "    best = max(cost, key=cost.get)\n"
     "    return best, cost[best]",
     "the dearest loop"),
    ("08-innermost",
     "def answer(operands, itemsize, line):\n"
     "    cost = {x: sum(0 if x not in t else itemsize/line if t[-1] == x else 1 for t in "
     "operands) for x in sorted(set(''.join(operands)))}\n"
     "    best = min(cost, key=cost.get)\n"
     "    return best, cost[best] * line",
     "bytes"),
    ("08-legal", "lambda d, o: [x for x in d if min(x[i] for i in o) < 0]", "any negative number"),
    ("08-legal", "lambda d, o: [x for x in d if x[o[0]] < 0]", "the outermost alone"),
    ("08-legal", "lambda d, o: [x for x in d if x[o[0]] <= 0]", "the outermost must be positive"),
    ("08-legal", "lambda d, o: [x for x in d if sum(x) <= 0]", "the sum"),
    ("08-legal",
     "lambda d, o: [[x[i] for i in o] for x in d if [x[i] for i in o] < [0]*len(o)]",
     "distances in the new order"),
    ("08-legal",
     "lambda d, o: [x for x in d if [x[i] for i in o] > [0]*len(o)]", "what is kept"),
    ("08-legal",
     "lambda d, o: [x for x in d if [x[o.index(i)] for i in range(len(o))] < [0]*len(o)]",
     "order read backwards"),
    ("08-legal",
     "lambda d, o: [n for n, x in enumerate(d) if [x[i] for i in o] < [0]*len(o)]",
     "numbers of the distances"),
    ("08-pair", "lambda r, c, b, a, t: ((0, max(t, a)), (b, max(0, t - a)))", "the two swapped"),
    ("08-pair", "lambda r, c, b, a, t: ((b, 0), (0, a))", "the first reader of all"),
    ("08-pair", "lambda r, c, b, a, t: ((0, a), (b, 0))", "the first reader of all"),
    ("08-pair",
     "def answer(rows, columns, back, ahead, tile):\n"
     "    for i in range(back, rows):\n"
     "        for j in range(columns - ahead):\n"
     "            if (i//tile, j//tile) < ((i - back)//tile, (j + ahead)//tile):\n"
     "                last = (i, j), (i - back, j + ahead)\n"
     "    return last",
     "the last one"),
    ("08-pair",
     "lambda r, c, b, a, t: ((b, max(0, t - a) + 1), (0, max(0, t - a) + 1 + a))",
     "one column too far"),
    ("08-skew", "lambda ds: max(0, *(-e for d, e in ds))", "how far it goes back"),
    ("08-skew", "lambda ds: max(0, *(-e // d for d, e in ds if d))", "rounded down"),
    ("08-skew", "lambda ds: 1 + max(0, *(-(e // d) for d, e in ds if d))", "one too many"),
    ("08-skew", "lambda ds: max(-(e // d) for d, e in ds if d)", "less than none"),
    ("08-skew", "lambda ds: sum(max(0, -(e // d)) for d, e in ds if d)",
     "a sum over the distances"),
    ("08-claim-same", "('the same order', 'legal', 'legal', '1 number')", "the talk is right"),
    ("08-claim-same", "('the same order', 'legal', 'illegal', '10 numbers')", "the same order"),
    ("08-claim-same", "('the loops interchanged', 'legal', 'legal', '10 numbers')",
     "nothing breaks"),
    ("08-claim-same", "('the loops interchanged', 'legal', 'illegal', '1 number')", "neighbours"),
    ("08-claim-same", "('the loops interchanged', 'illegal', 'illegal', '10 numbers')",
     "an addition depends"),
    ("08-inside",
     "lambda r, n, h: (round(n*h/r[0]), round(max(r)/n/h), round(n*h/r[0])*round(max(r)/n/h))",
     "a multiply-add as one FLOP"),
    ("08-inside",
     "lambda r, n, h: (round(2*n*h/r[0]), round(max(r)/2/n/h), round(2*n*h/r[0]))",
     "the latency is enough"),
    ("08-inside",
     "lambda r, n, h: (round(2*n*h/r[0]), round(max(r)/2/n/h), len(r))", "all that were tried"),
    ("08-inside",
     "lambda r, n, h: (round(2*n*h/r[0]), 1, round(2*n*h/r[0]))", "one unit"),
    ("08-inside",
     "lambda r, n, h: (round(2*n*h/r[0]), round(max(r)/2/n/h), r.index(max(r)) + 1)",
     "the highest of the rates"),
    ("08-vectorise", "lambda n: n.reorder('i', 'k', 'j').vectorize('k')", "the sum as a vector"),
    ("08-vectorise", "lambda n: n.vectorize('i')", "the rows as lanes"),
    ("08-vectorise", "lambda n: n", "no vector"),
    (
        "08-vectorise",
        "lambda n: n.reorder('k', 'i', 'j').split('j', 8).vectorize('ji')",
        "the sum travels",
    ),
    (
        "08-vectorise",
        "lambda n: n.reorder('i', 'k', 'j').split('j', 2).vectorize('ji')",
        "too few lanes",
    ),
    ("08-stencil-tiles", "lambda n: n.tile({'t': 4, 'x': 16})", "tiles at once"),
    ("08-stencil-tiles", "lambda n: n.skew('x', 't').tile({'t': 4, 'x': 16})", "too little slant"),
    (
        "08-stencil-tiles",
        "lambda n: n.skew('x', 't', -2).interchange('t', 'x')",
        "slanted the wrong way",
    ),
    ("08-stencil-tiles", "lambda n: n.skew('x', 't', 4)", "slanted, and in the old order"),
    (
        "08-stencil-tiles",
        "lambda n: n.tile({'x': 16, 't': 4}).skew('xi', 'ti', 2)",
        "tiles before the slant",
    ),
    ("08-innermost",
     "def answer(operands, itemsize, line):\n"
     "    loops = []\n"
     "    for text in operands:\n"
     "        for x in text:\n"
     "            if x not in loops:\n"
     "                loops.append(x)\n"
     "    lines = {x: 0 for x in loops}\n"
     "    for x in loops:\n"
     "        for text in operands:\n"
     "            if text[-1] == x:\n"
     "                lines[x] += itemsize / line\n"
     "            elif x in text:\n"
     "                lines[x] += 1\n"
     "    worst = max(lines, key=lines.get)\n"
     "    return worst, lines[worst]", "the dearest loop"),
    ("08-innermost",
     "def answer(operands, itemsize, line):\n"
     "    found = None\n"
     "    for x in reversed(sorted(set(''.join(operands)))):\n"
     "        lines = 0\n"
     "        for text in operands:\n"
     "            if text.endswith(x):\n"
     "                lines += itemsize / line\n"
     "            elif x in text:\n"
     "                lines += 1\n"
     "        if found is None or lines > found[1]:\n"
     "            found = x, lines\n"
     "    return found", "the dearest loop"),
    ("08-innermost",
     "def answer(operands, itemsize, line):\n"
     "    loops = list(dict.fromkeys(''.join(operands)))[::-1]\n"
     "    def lines(x):\n"
     "        return sum(itemsize/line if t[-1] == x else 1 for t in operands if x in t)\n"
     "    return max(loops, key=lines), max(map(lines, loops))", "the dearest loop"),
    ("08-innermost",
     "def answer(operands, itemsize, line):\n"
     "    lines = {}\n"
     "    for text in operands:\n"
     "        for x in text:\n"
     "            lines[x] = lines.get(x, 0) + (line / itemsize if x == text[-1] else 1)\n"
     "    best = min(lines, key=lines.get)\n"
     "    return best, lines[best]", "the line's share upside down"),
    ("08-innermost",
     "def answer(operands, itemsize, line):\n"
     "    lines = {}\n"
     "    for text in operands:\n"
     "        for x in text:\n"
     "            lines[x] = lines.get(x, 0) + (1 / itemsize if x == text[-1] else 1)\n"
     "    best = min(lines, key=lines.get)\n"
     "    return best, lines[best]", "one over the number's bytes"),
    ("08-skew", "lambda d: max(-e for a, e in d)", "how far it goes back"),
    ("08-skew", "lambda d: max(abs(e) for a, e in d)", "how far it goes back"),
    ("08-skew", "lambda d: min((math.ceil(-e/a) for a, e in d if e < 0), default=0)",
     "the smallest of them"),
    ("08-inside",
     "def answer(r, n, h):\n"
     "    latency = round(n*h / r[0])\n"
     "    units = round(max(r) / (n*h))\n"
     "    return latency, units, round(max(r)/r[0])", "a multiply-add as one FLOP"),
    ("08-inside",
     "def answer(r, n, h):\n"
     "    latency = round(2*h / r[0])\n"
     "    units = round(max(r) / (2*h))\n"
     "    return latency, units, round(max(r)/r[0])", "lanes forgotten"),
]  # fmt: skip

TOLD = [
    ("08-innermost", "lambda o, s, b: ('loop 1', 0.1)", "one of these words is wanted"),
    ("08-legal", "lambda d, o: (x for x in d)", "a generator, which has not run yet"),
    ("08-skew", "lambda ds: max(-(e // d) for d, e in ds)", "ZeroDivisionError"),
    ("08-claim-same", "('the loops interchanged', 'legal', 'illegal', 10)", "a text is wanted"),
    ("08-vectorise", "lambda n: n.reorder('ikj')", "loop='ikj' is unknown"),
    (
        "08-vectorise",
        "lambda n: n.split('j', 8).reorder('i', 'k', 'j').vectorize('ji')",
        "loop='j' is unknown; did you mean 'jo' or 'ji'?",
    ),
    ("08-innermost", "lambda o, s, b: 'j'", "2"),
    ("08-innermost", "lambda o, s: ('j', 0.1)", "argument"),
    ("08-legal", "lambda d, o: len(d)", "list"),
    ("08-legal", "lambda d, o: None", "not answered"),
    ("08-pair", "lambda r, c, b, a, t: b", "2"),
    ("08-skew", "lambda ds: 'two'", "number"),
    ("08-claim-same", "('interchanged', 'legal', 'illegal', '10 numbers')",
     "the loops interchanged"),
    ("08-claim-same", "('the loops interchanged', 'legal', 'illegal')", "4"),
    ("08-inside", "lambda r, n, h: round(2*n*h/r[0])", "3"),
    ("08-vectorise", "lambda n: n.code()", "a text came back; return the nest itself"),
    ("08-vectorise", "lambda n: n.check()", "the verdict of check() came back"),
    ("08-vectorise", "lambda n: n.tile", "call it"),
    ("08-vectorise", "lambda n: [n]", "a list came back"),
    ("08-vectorise", "lambda n: n and None", "it returned None"),
    ("08-vectorise", "lambda n: n.split('q', 8)", "loop='q' is unknown"),
    ("08-vectorise", "lambda n: n.split('j', 0)", "factor=0 must be a positive integer"),
    (
        "08-vectorise",
        "lambda n: n.reorder('i', 'k', 'j').split('j', 8).vectorize('ji').split('i', 500)",
        "factor=500 is more than loop 'i' runs",
    ),
    ("08-vectorise", "lambda: 1", "TypeError"),
    (
        "08-vectorise",
        "lambda n: n.split('j', 8).vectorize('ji').vectorize('jo').reorder('i', 'k', 'jo', 'ji')",
        "vectorize one of them",
    ),
    ("08-stencil-tiles", "lambda n: n.trace()", "a tuple came back"),
]  # fmt: skip
