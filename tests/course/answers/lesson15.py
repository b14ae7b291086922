"""Answers to lesson 15, written as a learner writes them (see test_answers.py)."""

from tests.exercises.dresses import put

COURT = """def answer(a, b, bm, bn):
    def saving(a, b):
        return Fraction(a*b*(bm + bn), a*bm + b*bn)
    p = 1
    while max(saving(d, p//d) for d in range(1, p + 1) if p % d == 0) TEST CLAIM:
        p += 1
    return [float(saving(a, b)), p]"""
SHAPE = """def answer(down, across, tile, groups, most, computing, fetching):
    best = None
    for size in range(1, most + 1):
        slots = sum(g//size for g in groups)
        for a in range(1, size + 1):
            b = size//a
            if a*b != size or down % a or across % b or slots == 0:
                continue
            alone = size*(tile[0] + tile[1])
            share = (a*tile[0] + b*tile[1])/alone
            rounds = ROUNDS
            seconds = rounds*max(computing, fetching*share)
            if best is None or seconds < best[2]*(1 - 1e-12):
                best = (a, b, seconds)
    return best"""
RIGHT = {
    "15-mask": [
        """def answer(rank, a, b):
    A = B = 0
    for r in range(a*b):
        if r//b == rank//b:
            A |= 1 << r
        if r % b == rank % b:
            B |= 1 << r
    return A, B""",
        """def answer(rank, a, b):
    ranks = np.arange(a*b).reshape(a, b)
    return (2**ranks[rank//b]).sum(), (2**ranks[:, rank % b]).sum()""",
    ],
    "15-cluster": [
        """def answer(m, n, k, tile, cluster, itemsize):
    A = B = 0
    for top in range(0, m, tile[0]*cluster[0]):
        for left in range(0, n, tile[1]*cluster[1]):
            A += min(tile[0]*cluster[0], m - top)
            B += min(tile[1]*cluster[1], n - left)
    return {"bytes of A": A*k*itemsize, "bytes of B": B*k*itemsize}"""
    ],
    "15-claim-four": [put(COURT, TEST="<", CLAIM="a*b")],
    "15-shape": [put(SHAPE, ROUNDS="math.ceil((down//a)*(across//b)/slots)")],
}

WRONG = {
    "15-claim-four": {
        "more than claimed": put(COURT, TEST="<=", CLAIM="a*b"),
        "as many times as blocks": "lambda a, b, bm, bn: (a*b, a*b)",
    },
    "15-shape": {
        "all SMs in one group": put(SHAPE, ROUNDS="-(-down*across//size//(sum(groups)//size))"),
        "parts of a round": put(SHAPE, ROUNDS="(down//a)*(across//b)/slots"),
    },
    "15-mask": {"to all blocks": "lambda rank, a, b: (2**(a*b) - 1, 2**(a*b) - 1)"},
}  # fmt: skip

TOLD = {}

PASSED_ONCE = [
    ("15-claim-four", put(COURT, TEST="<", CLAIM="min(a*b, 4)")),
    ("15-cluster", "lambda m, n, k, t, c, s: (m*k*s*math.ceil(math.ceil(n/t[1])/c[0]),"
                   " n*k*s*math.ceil(math.ceil(m/t[0])/c[1]))"),
    ("15-mask", "lambda rank, a, b: (2**b - 1 << rank, sum(1 << rank + b*i for i in range(a)))"),
]  # fmt: skip
