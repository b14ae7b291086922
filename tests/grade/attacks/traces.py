"""Answers that get round the trace of byte golf."""

ESCAPES = {  # squares(x): work on numbers that golf does not see any more
    "a plain array": """
def squares(x):
    t, all = np.random.random(2048).astype(x.dtype), np.tile(x.dtype.type(0), len(x))
    for i in range(0, len(x), 2048):
        k = min(2048, len(x) - i)
        np.copyto(t[:k], x[i:i+k]); all[i:i+k] = t[:k]
    return np.sum(all * all)""",
    "memory seen twice": """
def squares(x):
    t, all = np.random.random(2048).astype(x.dtype), np.tile(x.dtype.type(0), len(x))
    twice = np.asarray(memoryview(t))
    for i in range(0, len(x), 2048):
        k = min(2048, len(x) - i)
        twice[:k] = x[i:i+k]; all[i:i+k] = t[:k]
    return np.sum(all * all)""",
    "an object's array": """
class Box:
    def __array__(self, *a, **k): return held[0]
held = [None]
def squares(x):
    t, all = np.random.random(2048).astype(x.dtype), np.tile(x.dtype.type(0), len(x))
    held[0] = t
    alias = np.asarray(Box())
    for i in range(0, len(x), 2048):
        k = min(2048, len(x) - i)
        alias[:k] = x[i:i+k]; all[i:i+k] = t[:k]
    return np.sum(all * all)""",
    "out= of a sum": """
def squares(x):
    t, all = np.random.random(512).astype(x.dtype), np.tile(x.dtype.type(0), len(x))
    for i in range(0, len(x), 512):
        np.sum(x[i:i+512][:, None], axis=1, out=t); all[i:i+512] = t
    return np.sum(all * all)""",
    "what errors say": """
def squares(x):
    one, all = np.zeros(1), []
    bits = x[: len(x) // 2 * 2].view(np.int64)
    for i in range(len(bits)):
        try: one[bits[i:i+1]]
        except IndexError as e: all.append(int(str(e).split()[1]))
    np.max(x)
    all = np.array(all, np.int64).view(x.dtype)
    return np.sum(all * all)""",
}
