"""Ways to time AXPY, GEMV and GEMM on a GPU that people write, as cells: right, wrong, refused.

All stand on ``PRELUDE``. A right one is right on real CuPy too.
"""

PRELUDE = """
import statistics
import time

import numpy as np


def timed(cp, launch, n=10):
    launch()
    start, stop = cp.cuda.Event(), cp.cuda.Event()
    start.record()
    for _ in range(n):
        launch()
    stop.record()
    stop.synchronize()
    return cp.cuda.get_elapsed_time(start, stop) / 1e3 / n


def marked(cp, launch, wait, event=None):
    launch()
    event = event or cp.cuda.Event
    start, stop = event(), event()
    start.record()
    for _ in range(10):
        launch()
    stop.record()
    wait(start, stop)
    return cp.cuda.get_elapsed_time(start, stop) / 1e4


def behind(cp, flush, launch, n=9, middle=statistics.median):
    launch()
    pairs = [(cp.cuda.Event(), cp.cuda.Event()) for _ in range(n)]
    for start, stop in pairs:
        flush()
        start.record()
        launch()
        stop.record()
    pairs[-1][1].synchronize()
    return middle([cp.cuda.get_elapsed_time(start, stop) for start, stop in pairs]) / 1e3


def l2(cp):
    return cp.cuda.Device().attributes["L2CacheSize"]


def of_bytes(A, x, y, seconds, bandwidth):
    rate = (A.nbytes + x.nbytes + y.nbytes) / seconds
    return seconds, rate, rate / bandwidth


def of_flops(A, seconds, peak):
    rate = 2 * A.shape[0] ** 3 / seconds
    return seconds, rate, rate / peak
"""

_AXPY = "def answer(cp, x, y, a):\n"
_GEMV = "def answer(cp, A, x, y, bandwidth):\n"
_GEMM = "def answer(cp, A, B, C, peak):\n"


def _cell(head: str, body: str) -> str:
    """A function of that head; a body of one expression is returned."""
    lines = body.strip("\n").split("\n")
    if len(lines) == 1:
        return f"{head}    return {lines[0]}\n"
    indent = len(lines[0]) - len(lines[0].lstrip())
    return head + "".join(f"    {line[indent:]}\n" for line in lines)


def _flushed(make: str, flush: str) -> str:
    """A cold GEMV behind ``flush``, an expression with the buffer ``big`` that ``make`` makes."""
    return (
        f"big = {make}\n"
        f"seconds = behind(cp, lambda: {flush}, lambda: cp.matmul(A, x, out=y))\n"
        "return of_bytes(A, x, y, seconds, bandwidth)"
    )


def _cold(launch: str) -> str:
    """A cold GEMV by ``launch`` behind a flush that reads."""
    return (
        "big = cp.ones(l2(cp), dtype=cp.float32)\n"
        f"seconds = behind(cp, lambda: big.sum(), lambda: {launch})\n"
        "return of_bytes(A, x, y, seconds, bandwidth)"
    )


def _product(launch: str) -> str:
    return f"of_flops(A, timed(cp, lambda: {launch}, 3), peak)"


_CALL = "lambda: cp.cublas.axpy(a, x, y)"
_ONES = "cp.ones(l2(cp), dtype=cp.float32)"

_RIGHT_AXPY = {
    "a queue between two events": f"timed(cp, {_CALL})",
    "deviceSynchronize": f"marked(cp, {_CALL}, lambda *_: cp.cuda.runtime.deviceSynchronize())",
    "polling the event": f"""
    def wait(start, stop):
        while not stop.done:
            pass
    return marked(cp, {_CALL}, wait)""",
    "polling the stream": f"""
    def wait(start, stop):
        while not cp.cuda.get_current_stream().done:
            time.sleep(0)
    return marked(cp, {_CALL}, wait)""",
    "own stream, its record()": """
    stream = cp.cuda.Stream()
    with stream:
        cp.cublas.axpy(a, x, y)
        start = stream.record()
        for _ in range(10):
            cp.cublas.axpy(a, x, y)
        stop = stream.record()
    stream.synchronize()
    return cp.cuda.get_elapsed_time(start, stop) / 1e4""",
    "non-blocking stream, record(stream)": """
    stream = cp.cuda.Stream(non_blocking=True)
    start, stop = cp.cuda.Event(), cp.cuda.Event()
    with stream:
        cp.cublas.axpy(a, x, y)
        start.record(stream)
        for _ in range(10):
            cp.cublas.axpy(a, x, y)
        stop.record(stream)
    stop.synchronize()
    return cp.cuda.get_elapsed_time(start, stop) / 1e4""",
    "with a device": f"""
    with cp.cuda.Device(0):
        seconds = timed(cp, {_CALL})
    return seconds""",
    "CUDA's own events": """
    cp.cublas.axpy(a, x, y)
    cuda = cp.cuda.runtime
    start, stop = cuda.eventCreate(), cuda.eventCreate()
    cuda.eventRecord(start, 0)
    for _ in range(10):
        cp.cublas.axpy(a, x, y)
    cuda.eventRecord(stop, 0)
    cuda.eventSynchronize(stop)
    return cuda.eventElapsedTime(start, stop) / 1e4""",
    "a chain of events": """
    cp.cublas.axpy(a, x, y)
    events = [cp.cuda.Event() for _ in range(21)]
    events[0].record()
    for event in events[1:]:
        cp.cublas.axpy(a, x, y)
        event.record()
    events[-1].synchronize()
    pairs = zip(events, events[1:])
    return statistics.median(cp.cuda.get_elapsed_time(*pair) for pair in pairs) / 1e3""",
    "the median forgives a cold start": """
    start, stop, times = cp.cuda.Event(), cp.cuda.Event(), []
    for _ in range(9):
        start.record()
        cp.cublas.axpy(a, x, y)
        stop.record()
        stop.synchronize()
        times.append(cp.cuda.get_elapsed_time(start, stop) / 1e3)
    return sorted(times)[4]""",
    "behind a flush that it does not need": """
    big = cp.ones(l2(cp), dtype=cp.float32)
    return behind(cp, lambda: big.sum(), lambda: cp.cublas.axpy(a, x, y))""",
    "ElementwiseKernel": """
    kernel = cp.ElementwiseKernel("T x, T a", "T y", "y += a * x", "axpy")
    return timed(cp, lambda: kernel(x, np.float32(a), y))""",
    "import cupy": """
    import cupy as xp
    from cupy.cuda import Event
    return marked(xp, lambda: xp.cublas.axpy(a, x, y), lambda b, e: e.synchronize(), Event)""",
}  # fmt: skip

_RIGHT_GEMV = {
    "big.sum()": _flushed(_ONES, "big.sum()"),
    "bytes": _flushed("cp.zeros(4 * l2(cp), dtype=cp.uint8)", "big.max()"),
    "twice L2": _flushed("cp.ones(l2(cp) // 2, dtype=cp.float32)", "big.sum()"),
    "random numbers in fp32":
        _flushed("cp.random.rand(l2(cp)).astype(cp.float32)", "big.sum()"),
    "a product": _flushed(_ONES, "cp.dot(big, big)"),
    "a large matrix times a vector":
        _flushed("cp.ones((l2(cp) // x.size, x.size), dtype=cp.float32)", "cp.matmul(big, x)"),
    "written, then read": _flushed(_ONES, "(big.fill(0), big.sum())"),
    "deviceGetAttribute": _flushed(
        "cp.ones(cp.cuda.runtime.deviceGetAttribute(cp.cuda.runtime.cudaDevAttrL2CacheSize, 0))",
        "big.sum()"),
    "rotating copies, one pair of events": """
    copies = [A.copy() for _ in range(8)]
    cp.matmul(A, x, out=y)
    start, stop = cp.cuda.Event(), cp.cuda.Event()
    start.record()
    for turn in range(24):
        cp.matmul(copies[turn % 8], x, out=y)
    stop.record()
    stop.synchronize()
    seconds = cp.cuda.get_elapsed_time(start, stop) / 24 / 1000
    return of_bytes(A, x, y, seconds, bandwidth)""",
    "rotating copies, a pair each": """
    copies = [A.copy() for _ in range(8)]
    cp.matmul(A, x, out=y)
    pairs = [(cp.cuda.Event(), cp.cuda.Event()) for _ in range(24)]
    for turn, (start, stop) in enumerate(pairs):
        start.record()
        cp.matmul(copies[turn % 8], x, out=y)
        stop.record()
    stop.synchronize()
    times = [cp.cuda.get_elapsed_time(*pair) for pair in pairs[8:]]
    return of_bytes(A, x, y, statistics.median(times) / 1e3, bandwidth)""",
    "cublas.gemv": _cold('cp.cublas.gemv("N", 1.0, A, x, 0.0, y)'),
    "np.matmul": _cold("np.matmul(A, x, out=y)"),
}  # fmt: skip

_RIGHT_GEMM = {
    "cp.matmul(out=)": _product("cp.matmul(A, B, out=C)"),
    "cublas.gemm": _product('cp.cublas.gemm("N", "N", A, B, out=C)'),
    "np.matmul": _product("np.matmul(A, B)"),
    "a pair each, the least": (
        "of_flops(A, behind(cp, lambda: None, lambda: cp.matmul(A, B, out=C), 5, min), peak)"
    ),
    "cold": """
    big = cp.ones(l2(cp), dtype=cp.float32)
    return of_flops(A, behind(cp, lambda: big.sum(), lambda: cp.matmul(A, B, out=C), 5), peak)""",
    "the first of several thrown away": """
    events = [(cp.cuda.Event(), cp.cuda.Event()) for _ in range(4)]
    for start, stop in events:
        start.record()
        cp.matmul(A, B, out=C)
        stop.record()
    stop.synchronize()
    ms = statistics.mean(cp.cuda.get_elapsed_time(*pair) for pair in events[1:])
    return of_flops(A, ms / 1000, peak)""",
}

RIGHT = {
    (id, name): _cell(head, body)
    for id, head, ways in (
        ("01-cuda-axpy", _AXPY, _RIGHT_AXPY),
        ("01-cuda-gemv", _GEMV, _RIGHT_GEMV),
        ("01-cuda-gemm", _GEMM, _RIGHT_GEMM),
    )
    for name, body in ways.items()
}

_HAS_NOT = "is part of CuPy, but not of this stand-in: on a GPU it works"
_REFUSED = {  # right on real CuPy, or nearly: the body, and the sentence that says why not here
    ("01-cuda-axpy", "cupyx.profiler.benchmark"): ("""
    from cupyx.profiler import benchmark
    return benchmark(lambda: cp.cublas.axpy(a, x, y), n_repeat=20).gpu_times.mean()""",
        "it raised NotImplementedError: cupyx.profiler.benchmark synchronises after each repeat "
        "and leaves L2 warm; write it with events"),
    ("01-cuda-axpy", "cp.fuse"): ("cp.fuse()(lambda x, y: a * x + y)(x, y)",
        f"cp.fuse {_HAS_NOT}"),
    ("01-cuda-gemv", "big.mean()"): (_flushed(_ONES, "big.mean()"), f"array.mean {_HAS_NOT}"),
    ("01-cuda-gemm", "out without its name"): (_product("cp.matmul(A, B, C)"),
        "got multiple values for argument 'out'; write out=C"),
}  # fmt: skip
_HEADS = {"01-cuda-axpy": _AXPY, "01-cuda-gemv": _GEMV, "01-cuda-gemm": _GEMM}
REFUSED = {key: (_cell(_HEADS[key[0]], body), why) for key, (body, why) in _REFUSED.items()}
_REMARKED = {  # it passes: the body, and the words that say what was asked
    ("01-cuda-axpy", "one launch"): (f"timed(cp, {_CALL}, 1)", "asked to queue ten launches"),
    ("01-cuda-axpy", "a wait after each"): (
        "timed(cp, lambda: [cp.cublas.axpy(a, x, y), cp.cuda.Device().synchronize()])",
        "Python waited inside the queue"),
    ("01-cuda-gemv", "a small flush"): (
        _flushed("cp.ones(l2(cp) // 4, dtype=cp.float32)", "big.sum()"),
        "your flush carries less than 4 × L2"),
    ("01-cuda-gemm", "A @ B"): (
        _product("A @ B"), "your product made a new array between the two events"),
}  # fmt: skip
REMARKED = {key: (_cell(_HEADS[key[0]], body), said) for key, (body, said) in _REMARKED.items()}


def _late(launch: str, between: str = "", n: int = 1, result: str = "ms / 1e3") -> str:
    """``n`` launches a pair of events; between the last event and reading it stands ``between``."""
    return f"""
{launch}
start, stop = cp.cuda.Event(), cp.cuda.Event()
start.record()
for _ in range({n}):
    {launch}
stop.record()
{between or "stop.synchronize()"}
ms = cp.cuda.get_elapsed_time(start, stop)
return {result}"""


_ONE = "cp.cublas.axpy(a, x, y)"
_BUFFER = "cp.empty(4 * l2(cp), dtype=cp.uint8)"

_WRONG = {  # (exercise, what somebody did) → (body, the mistake's name)
    ("01-cuda-axpy", "waited for another stream"):
        (_late(_ONE, "cp.cuda.Stream(non_blocking=True).synchronize()"), "no synchronise"),
    ("01-cuda-axpy", "y += a * x"): ("""
    def step():
        z = y
        z += a * x
    return timed(cp, step)""", "two kernels"),
    ("01-cuda-axpy", "y[...] = a * x + y"):
        ("timed(cp, lambda: y.__setitem__(..., a * x + y))", "two kernels"),
    ("01-cuda-axpy", "a cold start in a queue"): ("""
    start, stop = cp.cuda.Event(), cp.cuda.Event()
    start.record()
    for _ in range(10):
        cp.cublas.axpy(a, x, y)
    stop.record()
    stop.synchronize()
    return cp.cuda.get_elapsed_time(start, stop) / 1e4""", "no warm-up"),
    ("01-cuda-gemv", "big[...] = 0"):
        (_flushed(_BUFFER, "big.__setitem__(..., 0)"), "written flush"),
    ("01-cuda-gemv", "memset"):
        (_flushed(_BUFFER, "big.data.memset_async(0, big.nbytes)"), "written flush"),
    ("01-cuda-gemv", "copyto"): (_flushed(
        "cp.empty_like(cp.ones(l2(cp), dtype=cp.float32)), cp.ones(l2(cp), dtype=cp.float32)",
        "cp.copyto(*big)"), "written flush"),
    ("01-cuda-gemv", "one flush for all"): ("""
    cp.matmul(A, x, out=y)
    cp.ones(l2(cp), dtype=cp.float32).sum()
    return of_bytes(A, x, y, behind(cp, lambda: None, lambda: A @ x), bandwidth)""", "warm L2"),
    ("01-cuda-gemv", "too small a flush"):
        (_flushed("cp.ones(l2(cp) // 16, dtype=cp.float32)", "big.sum()"), "warm L2"),
    ("01-cuda-gemv", "the matrix itself as the flush"): (_flushed("A", "big.sum()"), "warm L2"),
    ("01-cuda-gemv", "looked at the sum"): (_flushed(_ONES, "float(big.sum())"), "idle GPU"),
    ("01-cuda-axpy", "divided by ten twice"):
        (_late(_ONE, n=10, result="ms / 10 / 1e4"), "divided too often"),
    ("01-cuda-axpy", "the sum of three"): (f"sum(timed(cp, {_CALL}) for _ in range(3))",
        "samples added up"),
    ("01-cuda-gemv", "TB/s"): ("""
    big = cp.ones(l2(cp), dtype=cp.float32)
    s = behind(cp, lambda: big.sum(), lambda: cp.matmul(A, x, out=y))
    s, rate, share = of_bytes(A, x, y, s, bandwidth)
    return s, rate / 1e12, share""", "a power of ten"),
    ("01-cuda-gemm", "the rate first"):
        ("(lambda s, rate, share: (rate, s, share))(*" + _product("cp.matmul(A, B, out=C)") + ")",
         "another order"),
}  # fmt: skip
WRONG = {key: (_cell(_HEADS[key[0]], body), name) for key, (body, name) in _WRONG.items()}
