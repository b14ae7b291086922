"""Answers to lesson 16, written as a learner writes them (see test_answers.py)."""

from tests.exercises.dresses import put

READING = """import re
def answer(lines):
    places = {line: n for n, line in enumerate(lines) if line.startswith(".L")}
    first, last = WHOLE
    for n, line in enumerate(lines):
        back = re.search(r"@!?P\\\\d BRA `\\\\((.*)\\\\)", line)
        if back and places[back[1]] < n:
            first, last = places[back[1]], n
    fma = lds = size = 0
    for line in lines[RANGE]:
        m = re.match(r"(?:@\\\\S+ )?([A-Z0-9]+)(\\\\S*)", line)
        if m and m[1] == "FFMA":
            fma += 1
        if m and m[1] == "LDS":
            lds += 1
            size += {".64": 8, ".128": 16}.get(m[2], 4)
    return fma/lds, size""".replace("\\\\", "\\")
GROUPS = """def answer(bm, bn, other, fetcher):
    for g in range(1, 20):
        rows, rest = divmod(bm, g)
        if REST:
            continue
        need = rows*bn/128 + other
        given = math.ceil(need/8)*8*128*g + 128*fetcher
        if need <= MOST and given <= 65536:
            return {"registers": given, "warpgroups": g}
    return 0, 0"""
PREFETCHES = """def answer(n, ahead, size):
    start = 4*(np.arange(n) + ahead)
    wrong = np.count_nonzero(start % ALIGN)
    late = np.count_nonzero(start + REACH > 4*n)
    touched = set()
    for at in start:
        touched |= set(range(at, at + size))
    return wrong, late, n*size/len(touched)"""
RIGHT = {
    "16-listing": [put(READING, WHOLE="0, 0", RANGE="first:last")],
    "16-accumulators": [put(GROUPS, REST="rest or rows % 64", MOST="255")],
    "16-claim-prefetch": [put(PREFETCHES, ALIGN="16", REACH="size")],
    "16-table": [
        """def answer(before, after):
    (s0, i0, t0), (s1, i1, t1) = before, after
    return (t0 - t1)/t0, i1*t1/i0/t0, (t1 - s1*t1)/(t0 - s0*t0)"""
    ],
}

WRONG = {
    "16-listing": {"the whole listing": put(READING, WHOLE="0, 0", RANGE=":")},
    "16-accumulators": {
        "parts of a strip": put(GROUPS, REST="bm//64 < g", MOST="255"),
        "registers without an end": put(GROUPS, REST="rest or rows % 64", MOST="1e9"),
    },
    "16-claim-prefetch": {
        "only where it begins": put(PREFETCHES, ALIGN="16", REACH="4"),
        "lines of 128 bytes": put(PREFETCHES, ALIGN="128", REACH="size"),
    },
    "16-table": {
        "speed-up for saving": "lambda b, a: (b[2]/a[2] - 1, a[1]*a[2]/b[1]/b[2], "
                               "(1 - a[0])*a[2]/(1 - b[0])/b[2])",
    },
}  # fmt: skip

TOLD = {}

PASSED_ONCE = [
    ("16-accumulators", put(GROUPS, REST="rest or rows % 64", MOST="248")),
    ("16-accumulators", put(GROUPS, REST="rest or rows % 64", MOST="256")),
    ("16-claim-prefetch", put(PREFETCHES, ALIGN="16", REACH="size + 1")),
]
