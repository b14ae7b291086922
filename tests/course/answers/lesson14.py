"""Answers to lesson 14, written as a learner writes them (see test_answers.py)."""

from tests.exercises.dresses import put

SEARCH = """def answer(operand, row, column):
    def cell(lane, i):
        g, t = lane//4, lane % 4
        if operand == "B":
            return 2*t + i % 2 + 8*(i//2), g
        return g + 8*(i//2 % 2), 2*t + i % 2 + 8*(i//4)
    for lane in range(32):
        for i in range(8):
            if cell(lane, i) == (row, column):
                return RESULT"""
BUDGET = """def answer(options, rate):
    best = (0.0, -1)
    for n, (m, k_unused, step, stages, threads) in enumerate(options):
        n_, area = k_unused, m*k_unused
        each = area/threads + 40
        if each > 255 or each*threads > 65536 or stages*step*(m + n_)*2 > 227*1024:
            continue
        flop_per_byte = 2*area*step/(2*(m + n_)*step)
        if BETTER:
            best = (flop_per_byte, n)
    return (best[1], rate/best[0]) if best[0] else (-1, 0)"""
EVENTS = """def answer(tiles, stages, copy, compute, at_once):
    there, done = np.zeros(tiles), np.zeros(tiles)
    for t in range(tiles):
        start = 0.0
        if t >= stages:
            start = max(start, FREE[t - stages])
        if t >= at_once:
            start = max(start, there[t - at_once])
        there[t] = start + copy
        done[t] = max(there[t], done[t - 1] if t else 0) + compute
    return done[-1]"""
LIBRARY = """def answer(m, n, sms, kernels):
    best = None
    for i, (bm, bn, s) in enumerate(kernels):
        left, t = -(-m//bm)*-(-n//bn), 0.0
        while left > 0:
            left -= sms
            t += s
        if best is None or t < best[1]*(1 - 1e-12):
            best = i, t
    return best"""
ORDER = """def answer(tiles, across, bm, bn, k):
    rows = np.unique(np.array(tiles)//across).size
    columns = np.unique(np.array(tiles) % across).size
    return 2*k*(bm*ROWS + bn*COLUMNS)"""
BUFFERED = """def answer(A, B, C, K):
    a = cuda.shared.array((16, 8), float32)
    b = cuda.shared.array((16, 8), float32)
    i, j = cuda.threadIdx.y, cuda.threadIdx.x
    r, c = 8*cuda.blockIdx.y + i, 8*cuda.blockIdx.x + j
    total = float32(0)
    a[i, j] = A[r, j]
    b[i, j] = B[i, c]
    for step in range(K//8):
        use, fill = 8*(step % 2), 8*((step + 1) % 2)
        EARLY
        if step + 1 < K//8:
            a[fill + i, j] = A[r, 8*step + 8 + j]
            b[fill + i, j] = B[8*step + 8 + i, c]
        LATE
        for n in range(8):
            total += a[use + i, n]*b[use + n, j]
    C[r, c] = total"""
SYNC = "cuda.syncthreads()"
COPY = BUFFERED[BUFFERED.index("        if step + 1") : BUFFERED.index("        LATE")]
LOADED_EARLY = put(
    BUFFERED.replace(COPY, COPY.replace("a[fill + i, j]", "p").replace("b[fill + i, j]", "q")),
    EARLY=SYNC, LATE="pass",
).replace("    C[r, c]", "        if step + 1 < K//8:\n            a[fill + i, j] = p\n"
          "            b[fill + i, j] = q\n    C[r, c]")  # fmt: skip


RIGHT = {
    "14-fragment": [put(SEARCH, RESULT="lane, i")],
    "14-budget": [put(BUDGET, BETTER="flop_per_byte > best[0]*(1 + 1e-12)")],
    "14-claim-table": [
        """def answer(shared, stages, bk, rate):
    b = 0
    while stages*(2*(b + 1)*bk)*2 <= shared:
        b += 1
    return b, rate*(2*b*bk*2)/(2*b*b*bk)"""
    ],
    "14-pipeline": [put(EVENTS, FREE="done")],
    "14-buffers": [put(BUFFERED, EARLY=SYNC, LATE="pass"), LOADED_EARLY],
    "14-waves": [LIBRARY],
    "14-order": [put(ORDER, ROWS="rows", COLUMNS="columns")],
}

WRONG = {
    "14-fragment": {"registers for numbers": put(SEARCH, RESULT="lane, i//2")},
    "14-pipeline": {"free once it is copied": put(EVENTS, FREE="there")},
    "14-buffers": {"two barriers": put(BUFFERED, EARLY=SYNC, LATE=SYNC)},
    "14-order": {"columns of tiles": put(ORDER, ROWS="columns", COLUMNS="rows")},
    "14-waves": {
        "waves in parts": "lambda m, n, sms, kernels: min(((i, -(-m//a)*-(-n//b)/sms*s) for "
                          "i, (a, b, s) in enumerate(kernels)), key=lambda one: one[1])",
    },
}  # fmt: skip

TOLD = {}

PASSED_ONCE = [
    ("14-budget", put(BUDGET, BETTER="flop_per_byte >= best[0]*(1 - 1e-12)")),
    ("14-claim-table", "lambda shared, stages, bk, rate: (32, rate/16)"),
    ("14-buffers", put(BUFFERED, EARLY="pass", LATE=SYNC)),
    ("14-pipeline", "lambda tiles, stages, copy, compute, at_once: (copy + compute + (tiles - 1)*"
                    "max(compute, copy/at_once, (copy + compute)/stages))"),
]  # fmt: skip
