"""Answers to lesson 10, written as a learner writes them (see test_answers.py)."""

from tests.exercises.dresses import put

RIGHT = {
    "10-moves": [
        """def answer(steps):
    made = {name for name, _ in steps}
    from collections import Counter
    read = Counter()
    alone = len(steps)
    for name, inputs in steps:
        alone += len(Counter(inputs))
        read.update(inputs)
    return [alone, len([one for one in read if one not in made]) + 1]""",
        "lambda steps: (sum(1 + len({*i}) for _, i in steps), "
        "1 + len({x for _, i in steps for x in i} - {n for n, _ in steps}))",
    ],
    "10-claim-norm": [
        """def answer(rows, columns, itemsize, cache):
    x = rows * columns * itemsize
    square, norm, divide = 2*x, x + rows*itemsize, 2*x + rows*itemsize
    again = 0 if cache >= columns*itemsize else x
    return square + norm + divide, 2*x + again""",
    ],
    "10-share": [
        "lambda c, w: c * (w - 1) / (w * (c - 1))",
        "lambda chain, whole: np.linalg.solve([[1, 1], [1 / chain, 1]], [1, 1 / whole])[0]",
    ],
    "10-stream": [
        """def answer(blocks):
    top, bottom, result = -float('inf'), 0, 0
    for scores, values in blocks:
        for score, value in zip(scores, values):
            if score > top:
                bottom *= math.exp(top - score)
                result *= math.exp(top - score)
                top = score
            bottom += math.exp(score - top)
            result += value * math.exp(score - top)
    return result / bottom""",
        """def answer(blocks):
    m, l, acc = -np.inf, 0.0, 0.0
    for s, v in blocks:
        new = np.maximum(m, np.max(s))
        p = np.exp(np.array(s) - new)
        l, acc, m = l*np.exp(m - new) + p.sum(), acc*np.exp(m - new) + p @ np.array(v), new
    return acc / l""",
    ],
    "10-attention": [
        """def answer(s, d, itemsize, masked):
    work = 2 * (2 * s * d * s)
    io = 4 * s * d * itemsize
    return work / (io + s*s*itemsize*(4 + 2*masked)), work / io""",
    ],
    "10-recompute": [
        """def answer(layers, s, b, h, a, memory):
    for n in range(layers + 1):
        if n*2*s*b*h + (layers - n)*(34*s*b*h + 5*a*b*s*s) <= memory:
            return n
    return -1""",
    ],
    "10-segments": [
        """def answer(layers, inner):
    best = None
    for c in range(layers, 0, -1):
        if layers % c == 0 and (best is None or layers//c + inner*c <= best[0]):
            best = layers//c + inner*c, c
    return best[1]""",
    ],
}  # fmt: skip

WRONG = {
    "10-stream": {
        "all weights are 0": """def answer(blocks):
    top, total, mean = 0.0, 0.0, 0.0
    for scores, values in blocks:
        for s, v in zip(scores, values):
            new = max(top, s)
            total = total*math.exp(top - new) + math.exp(s - new)
            mean = mean*math.exp(top - new) + math.exp(s - new)*v
            top = new
    return mean / total""",
    },
}  # fmt: skip

TOLD = {}

LAYERS = (
    "lambda L, s, b, h, a, m: next((n for n in range(L + 1) "
    "if n*KEPT + (L - n)*(34*s*b*h + 5*a*b*s*s) TEST m), -1)"
)
PASSED_ONCE = [
    ("10-recompute", put(LAYERS, KEPT="2*s*b*h", TEST="<")),
    ("10-recompute", put(LAYERS, KEPT="s*b*h", TEST="<=")),
    ("10-recompute", put(LAYERS, KEPT="34*s*b*h", TEST="<=")),
    ("10-attention", "lambda s, d, i, m: (d / ((3 if m else 2) * i), s / i)"),
    ("10-claim-norm", "lambda r, c, i, k: ((5*r*c + 2*r)*i, (3 - (r*c*i <= k))*r*c*i)"),
    ("10-claim-norm", "lambda r, c, i, k: ((5*r*c + 2*r)*i, (2 + (c*i > k - i))*r*c*i)"),
    ("10-moves", "lambda steps: (sum(1 + len({*i}) for _, i in steps), "
                 "1 + len({x for _, i in steps for x in i if x in 'xw'}))"),
    ("10-segments", "lambda n, i: min((c for c in range(1, n + 1) if n % c == 0), "
                    "key=lambda c: abs(c - math.sqrt(n / i)))"),
    ("10-share", "lambda c, w: (w - 1) / (c - 1) * c / w if w < 2 else (w - 1) / (c - 1)"),
]  # fmt: skip
