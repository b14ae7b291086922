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
    "np.float32": f"np.float32(timed(cp, {_CALL}))",
    "a list of one": f"[timed(cp, {_CALL})]",
    "deviceSynchronize": f"marked(cp, {_CALL}, lambda *_: cp.cuda.runtime.deviceSynchronize())",
    "Stream.null.synchronize": f"marked(cp, {_CALL}, lambda *_: cp.cuda.Stream.null.synchronize())",
    "Device().synchronize": f"marked(cp, {_CALL}, lambda *_: cp.cuda.Device().synchronize())",
    "current stream": f"marked(cp, {_CALL}, lambda *_: cp.cuda.get_current_stream().synchronize())",
    "streamSynchronize(0)": f"marked(cp, {_CALL}, lambda *_: cp.cuda.runtime.streamSynchronize(0))",
    "eventSynchronize":
        f"marked(cp, {_CALL}, lambda b, e: cp.cuda.runtime.eventSynchronize(e.ptr))",
    "blocking events": (f"marked(cp, {_CALL}, lambda b, e: e.synchronize(), "
                       "lambda: cp.cuda.Event(block=True, disable_timing=False))"),
    "stream.Event": f"marked(cp, {_CALL}, lambda b, e: e.synchronize(), cp.cuda.stream.Event)",
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
    "streamSynchronize(ptr)": """
    stream = cp.cuda.stream.Stream(non_blocking=True)
    with stream:
        cp.cublas.axpy(a, x, y)
        start, stop = stream.record(), cp.cuda.Event()
        for _ in range(10):
            cp.cublas.axpy(a, x, y)
        stream.record(stop)
    cp.cuda.runtime.streamSynchronize(stream.ptr)
    return cp.cuda.get_elapsed_time(start, stop) / 1e4""",
    "stream.use()": f"""
    cp.cuda.Stream().use()
    seconds = timed(cp, {_CALL})
    cp.cuda.Stream.null.use()
    return seconds""",
    "with a device": f"""
    with cp.cuda.Device(0):
        seconds = timed(cp, {_CALL})
    return seconds""",
    "stream.get_elapsed_time": """
    cp.cublas.axpy(a, x, y)
    start, stop = cp.cuda.Event(), cp.cuda.Event()
    start.record(cp.cuda.Stream.null)
    for _ in range(10):
        cp.cublas.axpy(a, x, y)
    stop.record(cp.cuda.Stream.null)
    stop.synchronize()
    return cp.cuda.stream.get_elapsed_time(start_event=start, end_event=stop) / 1e4""",
    "eventElapsedTime": """
    cp.cublas.axpy(a, x, y)
    start, stop = cp.cuda.Event(), cp.cuda.Event()
    start.record()
    for _ in range(10):
        cp.cublas.axpy(a, x, y)
    stop.record()
    stop.synchronize()
    return cp.cuda.runtime.eventElapsedTime(start.ptr, stop.ptr) / 1e4""",
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
    "much warm-up, many queues": """
    for _ in range(100):
        cp.cublas.axpy(a, x, y)
    cp.cuda.Device().synchronize()
    times = []
    for _ in range(20):
        start, stop = cp.cuda.Event(), cp.cuda.Event()
        start.record()
        for _ in range(20):
            cp.cublas.axpy(a, x, y)
        stop.record()
        stop.synchronize()
        times.append(cp.cuda.get_elapsed_time(start, stop) / 20)
    return np.median(times) * 1e-3""",
    "one launch a pair, the least": """
    cp.cublas.axpy(a, x, y)
    times = []
    for _ in range(20):
        start, stop = cp.cuda.Event(), cp.cuda.Event()
        start.record()
        cp.cublas.axpy(a, x, y)
        stop.record()
        stop.synchronize()
        times.append(cp.cuda.get_elapsed_time(start, stop) / 1e3)
    return min(times)""",
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
    "import cupy.cublas": """
    import cupy.cublas
    return timed(cp, lambda: cupy.cublas.axpy(a, x, y))""",
    "from cupy import cublas": """
    from cupy import cublas
    return timed(cp, lambda: cublas.axpy(a, x, y))""",
    "import cupy": """
    import cupy as xp
    from cupy.cuda import Event
    xp.cublas.axpy(a, x, y)
    start, stop = Event(), Event()
    start.record()
    for _ in range(10):
        xp.cublas.axpy(a, x, y)
    stop.record()
    stop.synchronize()
    return xp.cuda.get_elapsed_time(start, stop) / 1e4""",
}  # fmt: skip

_RIGHT_GEMV = {
    "big.sum()": _flushed(_ONES, "big.sum()"),
    "big.sum(out=)": """
    big, total = cp.ones(l2(cp), dtype=cp.float32), cp.zeros((), dtype=cp.float32)
    seconds = behind(cp, lambda: big.sum(out=total), lambda: cp.matmul(A, x, out=y))
    return of_bytes(A, x, y, seconds, bandwidth)""",
    "cp.sum(big)": _flushed(_ONES, "cp.sum(big)"),
    "np.sum(big)": _flushed(_ONES, "np.sum(big)"),
    "big.max()": _flushed(_ONES, "big.max()"),
    "cp.min(big)": _flushed(_ONES, "cp.min(big)"),
    "bytes": _flushed("cp.zeros(4 * l2(cp), dtype=cp.uint8)", "big.max()"),
    "fp64": _flushed("cp.ones(l2(cp) // 2)", "big.sum()"),
    "twice L2": _flushed("cp.ones(l2(cp) // 2, dtype=cp.float32)", "big.sum()"),
    "eight times L2": _flushed("cp.ones(2 * l2(cp), dtype=cp.float32)", "big.sum()"),
    "random numbers": _flushed("cp.random.random(l2(cp) // 2)", "big.sum()"),
    "random numbers in fp32":
        _flushed("cp.random.rand(l2(cp)).astype(cp.float32)", "big.sum()"),
    "random numbers of a generator":
        _flushed("cp.random.default_rng(1).random(l2(cp), dtype=cp.float32)", "big.max()"),
    "a product": _flushed(_ONES, "cp.dot(big, big)"),
    "a large matrix times a vector":
        _flushed("cp.ones((l2(cp) // x.size, x.size), dtype=cp.float32)", "cp.matmul(big, x)"),
    "written, then read": _flushed(_ONES, "(big.fill(0), big.sum())"),
    "l2CacheSize of the properties": _flushed(
        'cp.ones(cp.cuda.runtime.getDeviceProperties(0)["l2CacheSize"], dtype=cp.float32)',
        "big.sum()"),
    "deviceGetAttribute": """
    cuda = cp.cuda.runtime
    size = cuda.deviceGetAttribute(cuda.cudaDevAttrL2CacheSize, 0)
    big = cp.ones(size, dtype=cp.float32)
    seconds = behind(cp, lambda: big.sum(), lambda: cp.matmul(A, x, out=y))
    return of_bytes(A, x, y, seconds, bandwidth)""",
    "the least": """
    big = cp.ones(l2(cp), dtype=cp.float32)
    seconds = behind(cp, lambda: big.sum(), lambda: cp.matmul(A, x, out=y), 5, min)
    return of_bytes(A, x, y, seconds, bandwidth)""",
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
    "on a stream of its own": """
    big = cp.ones(l2(cp), dtype=cp.float32)
    with cp.cuda.Stream(non_blocking=True) as stream:
        seconds = behind(cp, lambda: big.sum(), lambda: cp.matmul(A, x, out=y))
    return of_bytes(A, x, y, seconds, bandwidth)""",
    "A.dot(x, out=y)": _cold("A.dot(x, out=y)"),
    "A.dot(x, y)": _cold("A.dot(x, y)"),
    "A @ x": _cold("A @ x"),
    "cp.dot": _cold("cp.dot(A, x, y)"),
    "cublas.gemv": _cold('cp.cublas.gemv("N", 1.0, A, x, 0.0, y)'),
    "np.matmul": _cold("np.matmul(A, x, out=y)"),
    "np.dot": _cold("np.dot(A, x, out=y)"),
    "all three from a dictionary": """
    big = cp.ones(l2(cp), dtype=cp.float32)
    seconds = behind(cp, lambda: big.sum(), lambda: cp.matmul(A, x, out=y))
    rate = 4 * (A.size + x.size + y.size) / seconds
    return tuple({"seconds": seconds, "rate": rate, "share": rate / bandwidth}.values())""",
}  # fmt: skip

_RIGHT_GEMM = {
    "cp.matmul(out=)": _product("cp.matmul(A, B, out=C)"),
    "cp.dot": _product("cp.dot(A, B, out=C)"),
    "A.dot": _product("A.dot(B, C)"),
    "A @ B": _product("A @ B"),
    "cublas.gemm": _product('cp.cublas.gemm("N", "N", A, B, out=C)'),
    "cublas.gemm, all told": _product('cp.cublas.gemm("N", "N", A, B, C, 1.0, 0.0)'),
    "np.matmul(out=)": _product("np.matmul(A, B, out=C)"),
    "np.matmul": _product("np.matmul(A, B)"),
    "np.dot": _product("np.dot(A, B)"),
    "a pair each, the least": (
        "of_flops(A, behind(cp, lambda: None, lambda: cp.matmul(A, B, out=C), 5, min), peak)"
    ),
    "cold": """
    big = cp.ones(l2(cp), dtype=cp.float32)
    return of_flops(A, behind(cp, lambda: big.sum(), lambda: cp.matmul(A, B, out=C), 5), peak)""",
    "the same events again": """
    start, stop, times = cp.cuda.Event(), cp.cuda.Event(), []
    for _ in range(5):
        start.record()
        cp.matmul(A, B, out=C)
        stop.record()
        stop.synchronize()
        times.append(cp.cuda.get_elapsed_time(start, stop) / 1e3)
    return of_flops(A, statistics.median(times), peak)""",
    "the first of several thrown away": """
    events = [(cp.cuda.Event(), cp.cuda.Event()) for _ in range(4)]
    for start, stop in events:
        start.record()
        cp.matmul(A, B, out=C)
        stop.record()
    stop.synchronize()
    ms = statistics.mean(cp.cuda.get_elapsed_time(*pair) for pair in events[1:])
    return of_flops(A, ms / 1000, peak)""",
    "import cupy": """
    import cupy
    return of_flops(A, timed(cupy, lambda: cupy.matmul(A, B, out=C), 3), peak)""",
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

_HAS_NOT = "real CuPy may have it; the stand-in has"
_REFUSED = {  # right on real CuPy, or nearly: the body, and the sentence that says why not here
    ("01-cuda-axpy", "cupyx.profiler.benchmark"): ("""
    from cupyx.profiler import benchmark
    return benchmark(lambda: cp.cublas.axpy(a, x, y), n_repeat=20).gpu_times.mean()""",
        "it raised NotImplementedError: cupyx.profiler.benchmark synchronises after each repeat "
        "and leaves L2 warm; write it with events"),
    ("01-cuda-gemv", "import cupyx.profiler"): ("""
    import cupyx.profiler
    return cupyx.profiler.benchmark(cp.matmul, (A, x), {"out": y})""",
        "benchmark synchronises after each repeat and leaves L2 warm; write it with events"),
    ("01-cuda-axpy", "cp.fuse"): ("cp.fuse()(lambda x, y: a * x + y)(x, y)",
        f"has no cp.fuse; {_HAS_NOT}"),
    ("01-cuda-axpy", "a graph"): ("cp.cuda.Stream().begin_capture()",
        f"has no Stream().begin_capture; {_HAS_NOT}"),
    ("01-cuda-axpy", "RawKernel"): ("cp.RawKernel('', 'axpy')", f"has no cp.RawKernel; {_HAS_NOT}"),
    ("01-cuda-axpy", "runtime.memGetInfo"): ("cp.cuda.runtime.memGetInfo()",
        f"has no cp.cuda.runtime.memGetInfo; {_HAS_NOT}"),
    ("01-cuda-axpy", "stream.ExternalStream"): ("cp.cuda.stream.ExternalStream(0)",
        f"has no cp.cuda.stream.ExternalStream; {_HAS_NOT}"),
    ("01-cuda-gemv", "big.mean()"): (_flushed(_ONES, "big.mean()"), f"no array.mean; {_HAS_NOT}"),
    ("01-cuda-gemm", "cp.einsum"): (_product('cp.einsum("ij,jk->ik", A, B)'),
        f"has no cp.einsum; {_HAS_NOT}"),
    ("01-cuda-gemm", "cp.tensordot"): (_product("cp.tensordot(A, B, 1)"),
        f"has no cp.tensordot; {_HAS_NOT}"),
    ("01-cuda-gemm", "out without its name"): (_product("cp.matmul(A, B, C)"),
        "got multiple values for argument 'out'; write out=C"),
}  # fmt: skip
_HEADS = {"01-cuda-axpy": _AXPY, "01-cuda-gemv": _GEMV, "01-cuda-gemm": _GEMM}
REFUSED = {key: (_cell(_HEADS[key[0]], body), why) for key, (body, why) in _REFUSED.items()}


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
_TIMES = "cp.matmul(A, B, out=C)"
_THREE = "of_flops(A, {}, peak)"
_BUFFER = "cp.empty(4 * l2(cp), dtype=cp.uint8)"

_WRONG = {  # (exercise, what somebody did) → (body, the mistake's name)
    ("01-cuda-axpy", "read at once"): (_late(_ONE, "pass", 10), "no synchronise"),
    ("01-cuda-axpy", "waited for the start"):
        (_late(_ONE, "start.synchronize()", 10), "no synchronise"),
    ("01-cuda-axpy", "waited for another stream"):
        (_late(_ONE, "cp.cuda.Stream(non_blocking=True).synchronize()"), "no synchronise"),
    ("01-cuda-axpy", "perf_counter"): ("""
    began = time.perf_counter()
    cp.cublas.axpy(a, x, y)
    return time.perf_counter() - began""", "host timer"),
    ("01-cuda-axpy", "perf_counter with a wait"): ("""
    cp.cublas.axpy(a, x, y)
    cp.cuda.Device().synchronize()
    began = time.perf_counter()
    for _ in range(10):
        cp.cublas.axpy(a, x, y)
    cp.cuda.Device().synchronize()
    return (time.perf_counter() - began) / 10""", "host timer"),
    ("01-cuda-axpy", "milliseconds"): (_late(_ONE, n=10, result="ms / 10"), "milliseconds"),
    ("01-cuda-axpy", "milliseconds of one"): (_late(_ONE, result="ms"), "milliseconds"),
    ("01-cuda-axpy", "the queue's time"): (_late(_ONE, n=10), "whole queue"),
    ("01-cuda-axpy", "the queue's time, of 100"): (_late(_ONE, n=100), "whole queue"),
    ("01-cuda-axpy", "y += a * x"): ("""
    def step():
        z = y
        z += a * x
    return timed(cp, step)""", "two kernels"),
    ("01-cuda-axpy", "y[...] = a * x + y"):
        ("timed(cp, lambda: y.__setitem__(..., a * x + y))", "two kernels"),
    ("01-cuda-axpy", "into a temporary"): ("""
    t = cp.empty_like(x)
    return timed(cp, lambda: (cp.multiply(x, a, out=t), cp.add(t, y, out=y)))""", "two kernels"),
    ("01-cuda-axpy", "a cold start"): ("""
    start, stop = cp.cuda.Event(), cp.cuda.Event()
    start.record()
    cp.cublas.axpy(a, x, y)
    stop.record()
    stop.synchronize()
    return cp.cuda.get_elapsed_time(start, stop) / 1e3""", "no warm-up"),
    ("01-cuda-axpy", "a cold start in a queue"): ("""
    start, stop = cp.cuda.Event(), cp.cuda.Event()
    start.record()
    for _ in range(10):
        cp.cublas.axpy(a, x, y)
    stop.record()
    stop.synchronize()
    return cp.cuda.get_elapsed_time(start, stop) / 1e4""", "no warm-up"),
    ("01-cuda-gemv", "big.fill(0)"): (_flushed(_BUFFER, "big.fill(0)"), "written flush"),
    ("01-cuda-gemv", "big[...] = 0"):
        (_flushed(_BUFFER, "big.__setitem__(..., 0)"), "written flush"),
    ("01-cuda-gemv", "big += 1"): (_flushed(_ONES, "cp.add(big, 1, out=big)"), "written flush"),
    ("01-cuda-gemv", "a new buffer"):
        (_flushed("None", "cp.zeros(l2(cp), dtype=cp.float32)"), "written flush"),
    ("01-cuda-gemv", "memset"):
        (_flushed(_BUFFER, "big.data.memset_async(0, big.nbytes)"), "written flush"),
    ("01-cuda-gemv", "a copy"): (_flushed(_ONES, "big.copy()"), "written flush"),
    ("01-cuda-gemv", "copyto"): (_flushed(
        "cp.empty_like(cp.ones(l2(cp), dtype=cp.float32)), cp.ones(l2(cp), dtype=cp.float32)",
        "cp.copyto(*big)"), "written flush"),
    ("01-cuda-gemv", "no flush"):
        ("of_bytes(A, x, y, timed(cp, lambda: cp.matmul(A, x, out=y)), bandwidth)", "warm L2"),
    ("01-cuda-gemv", "one flush for all"): ("""
    cp.matmul(A, x, out=y)
    cp.ones(l2(cp), dtype=cp.float32).sum()
    return of_bytes(A, x, y, behind(cp, lambda: None, lambda: A @ x), bandwidth)""", "warm L2"),
    ("01-cuda-gemv", "too small a flush"):
        (_flushed("cp.ones(l2(cp) // 16, dtype=cp.float32)", "big.sum()"), "warm L2"),
    ("01-cuda-gemv", "the matrix itself as the flush"): (_flushed("A", "big.sum()"), "warm L2"),
    ("01-cuda-gemv", "waited for the flush"):
        (_flushed(_ONES, "(big.sum(), cp.cuda.Device().synchronize())"), "idle GPU"),
    ("01-cuda-gemv", "looked at the sum"): (_flushed(_ONES, "float(big.sum())"), "idle GPU"),
    ("01-cuda-gemv", "the flush within"): ("""
    big = cp.ones(l2(cp), dtype=cp.float32)
    seconds = timed(cp, lambda: (big.sum(), cp.matmul(A, x, out=y)))
    return of_bytes(A, x, y, seconds, bandwidth)""", "flush inside"),
    ("01-cuda-gemv", "read at once"): ("""
    big = cp.ones(l2(cp), dtype=cp.float32)
    cp.matmul(A, x, out=y)
    start, stop = cp.cuda.Event(), cp.cuda.Event()
    big.sum()
    start.record()
    cp.matmul(A, x, out=y)
    stop.record()
    ms = cp.cuda.get_elapsed_time(start, stop)
    return of_bytes(A, x, y, ms / 1e3, bandwidth)""", "no synchronise"),
    ("01-cuda-gemv", "milliseconds"): ("""
    big = cp.ones(l2(cp), dtype=cp.float32)
    ms = behind(cp, lambda: big.sum(), lambda: cp.matmul(A, x, out=y)) * 1e3
    return of_bytes(A, x, y, ms, bandwidth)""", "milliseconds"),
    ("01-cuda-gemv", "elements"): ("""
    big = cp.ones(l2(cp), dtype=cp.float32)
    s = behind(cp, lambda: big.sum(), lambda: cp.matmul(A, x, out=y))
    return s, (A.size + x.size + y.size) / s, A.nbytes / s / bandwidth""", "elements for bytes"),
    ("01-cuda-gemv", "roof by rate"): ("""
    big = cp.ones(l2(cp), dtype=cp.float32)
    s = behind(cp, lambda: big.sum(), lambda: cp.matmul(A, x, out=y))
    rate = (A.nbytes + x.nbytes + y.nbytes) / s
    return s, rate, bandwidth / rate""", "share upside down"),
    ("01-cuda-gemv", "GB/s"): ("""
    big = cp.ones(l2(cp), dtype=cp.float32)
    s = behind(cp, lambda: big.sum(), lambda: cp.matmul(A, x, out=y))
    rate = (A.nbytes + x.nbytes + y.nbytes) / s
    return s, rate / 1e9, rate / bandwidth""", "GB/s"),
    ("01-cuda-gemv", "per cent"): ("""
    big = cp.ones(l2(cp), dtype=cp.float32)
    s = behind(cp, lambda: big.sum(), lambda: cp.matmul(A, x, out=y))
    rate = (A.nbytes + x.nbytes + y.nbytes) / s
    return s, rate, 100 * rate / bandwidth""", "share in per cent"),
    ("01-cuda-gemm", "GFLOP/s"):
        (_late(_TIMES, result=
               "ms / 1e3, 2e-6 * A.shape[0]**3 / ms, 2e3 * A.shape[0]**3 / ms / peak"),
         "GFLOP/s"),
    ("01-cuda-gemm", "per cent"):
        (_late(_TIMES, result=
               "ms / 1e3, 2e3 * A.shape[0]**3 / ms, 2e5 * A.shape[0]**3 / ms / peak"),
         "share in per cent"),
    ("01-cuda-axpy", "y += a * x, once"): ("""
    y += a * x
    start, stop = cp.cuda.Event(), cp.cuda.Event()
    start.record()
    y += a * x
    stop.record()
    stop.synchronize()
    return cp.cuda.get_elapsed_time(start, stop) / 1e3""", "two kernels"),
    ("01-cuda-gemm", "read at once"):
        (_late(_TIMES, "pass", result=_THREE.format("ms / 1e3")), "no synchronise"),
    ("01-cuda-gemm", "perf_counter"): ("""
    began = time.perf_counter()
    cp.matmul(A, B, out=C)
    cp.cuda.Device().synchronize()
    return of_flops(A, time.perf_counter() - began, peak)""", "host timer"),
    ("01-cuda-gemm", "milliseconds"):
        (_late(_TIMES, n=2, result=_THREE.format("ms / 2")), "milliseconds"),
    ("01-cuda-gemm", "the queue's time"):
        (_late(_TIMES, n=3, result=_THREE.format("ms / 1e3")), "whole queue"),
    ("01-cuda-gemm", "a cold start"): ("""
    start, stop = cp.cuda.Event(), cp.cuda.Event()
    start.record()
    cp.matmul(A, B, out=C)
    stop.record()
    stop.synchronize()
    return of_flops(A, cp.cuda.get_elapsed_time(start, stop) / 1e3, peak)""", "no warm-up"),
    ("01-cuda-gemm", "n cubed"):
        (_late(_TIMES, result=
               "ms / 1e3, A.shape[0]**3 * 1e3 / ms, A.shape[0]**3 * 1e3 / ms / peak"),
         "multiply-adds"),
    ("01-cuda-gemm", "n squared"):
        (_late(_TIMES, result=
               "ms / 1e3, 2 * len(A)**2 * 1e3 / ms, 2 * len(A)**2 * 1e3 / ms / peak"),
         "n² for n³"),
    ("01-cuda-gemm", "bytes"):
        (_late(_TIMES, result="ms / 1e3, 3e3 * A.nbytes / ms, 3e3 * A.nbytes / ms / peak"),
         "bytes for FLOPs"),
    ("01-cuda-gemm", "roof by rate"):
        (_late(_TIMES, result=
               "ms / 1e3, 2e3 * A.shape[0]**3 / ms, peak / (2e3 * A.shape[0]**3 / ms)"),
         "share upside down"),
    ("01-cuda-gemv", "two bytes each"): ("""
    big = cp.ones(l2(cp), dtype=cp.float32)
    s = behind(cp, lambda: big.sum(), lambda: cp.matmul(A, x, out=y))
    rate = 2 * (A.size + x.size + y.size) / s
    return s, rate, rate / bandwidth""", "2-byte elements"),
    ("01-cuda-axpy", "divided by ten, one launch"): (_late(_ONE, result="ms / 1e4"),
        "divided too often"),
    ("01-cuda-axpy", "divided by ten twice"):
        (_late(_ONE, n=10, result="ms / 10 / 1e4"), "divided too often"),
    ("01-cuda-axpy", "microseconds"): (_late(_ONE, n=10, result="ms * 1e3 / 10"), "a power of ten"),
    ("01-cuda-axpy", "both events after the queue"): ("""
    cp.cublas.axpy(a, x, y)
    start, stop = cp.cuda.Event(), cp.cuda.Event()
    for _ in range(10):
        cp.cublas.axpy(a, x, y)
    start.record()
    stop.record()
    stop.synchronize()
    return cp.cuda.get_elapsed_time(start, stop) / 1e4""", "events beside the work"),
    ("01-cuda-axpy", "the sum of three"): (f"sum(timed(cp, {_CALL}) for _ in range(3))",
        "samples added up"),
    ("01-cuda-axpy", "the stop event first"):
        (_late(_ONE, n=10, result="cp.cuda.get_elapsed_time(stop, start) / 1e4"),
         "events exchanged"),
    ("01-cuda-gemv", "divided by ten, one launch"): ("""
    big = cp.ones(l2(cp), dtype=cp.float32)
    s = behind(cp, lambda: big.sum(), lambda: cp.matmul(A, x, out=y)) / 10
    return of_bytes(A, x, y, s, bandwidth)""", "divided too often"),
    ("01-cuda-gemv", "TB/s"): ("""
    big = cp.ones(l2(cp), dtype=cp.float32)
    s = behind(cp, lambda: big.sum(), lambda: cp.matmul(A, x, out=y))
    s, rate, share = of_bytes(A, x, y, s, bandwidth)
    return s, rate / 1e12, share""", "a power of ten"),
    ("01-cuda-gemv", "three matrices"): ("""
    big = cp.ones(l2(cp), dtype=cp.float32)
    s = behind(cp, lambda: big.sum(), lambda: cp.matmul(A, x, out=y))
    return s, 3 * A.nbytes / s, 3 * A.nbytes / s / bandwidth""", "vectors like a matrix"),
    ("01-cuda-gemv", "the sum of the samples"): ("""
    big = cp.ones(l2(cp), dtype=cp.float32)
    s = behind(cp, lambda: big.sum(), lambda: cp.matmul(A, x, out=y), 5, sum)
    return of_bytes(A, x, y, s, bandwidth)""", "samples added up"),
    ("01-cuda-gemv", "both events before the launch"): ("""
    big = cp.ones(l2(cp), dtype=cp.float32)
    cp.matmul(A, x, out=y)
    start, stop = cp.cuda.Event(), cp.cuda.Event()
    big.sum()
    start.record()
    stop.record()
    cp.matmul(A, x, out=y)
    stop.synchronize()
    s = cp.cuda.get_elapsed_time(start, stop) / 1e3
    return of_bytes(A, x, y, s, bandwidth)""", "events beside the work"),
    ("01-cuda-gemv", "the share first"): ("""
    big = cp.ones(l2(cp), dtype=cp.float32)
    s = behind(cp, lambda: big.sum(), lambda: cp.matmul(A, x, out=y))
    return of_bytes(A, x, y, s, bandwidth)[::-1]""", "another order"),
    ("01-cuda-gemv", "the stop event first"): ("""
    big = cp.ones(l2(cp), dtype=cp.float32)
    cp.matmul(A, x, out=y)
    start, stop = cp.cuda.Event(), cp.cuda.Event()
    big.sum()
    start.record()
    cp.matmul(A, x, out=y)
    stop.record()
    stop.synchronize()
    return of_bytes(A, x, y, cp.cuda.get_elapsed_time(stop, start) / 1e3, bandwidth)""",
        "events exchanged"),
    ("01-cuda-gemm", "divided by ten, one launch"):
        (_late(_TIMES, result=_THREE.format("ms / 1e4")), "divided too often"),
    ("01-cuda-gemm", "the sum of three"): (
        "of_flops(A, behind(cp, lambda: 0, lambda: cp.matmul(A, B, out=C), 3, sum), peak)",
        "samples added up"),
    ("01-cuda-gemm", "both events after the product"): ("""
    cp.matmul(A, B, out=C)
    start, stop = cp.cuda.Event(), cp.cuda.Event()
    start.record()
    stop.record()
    stop.synchronize()
    return of_flops(A, cp.cuda.get_elapsed_time(start, stop) / 1e3, peak)""",
        "events beside the work"),
    ("01-cuda-gemm", "TFLOP/s"):
        (_late(_TIMES, result=
               "ms / 1e3, 2e-9 * A.shape[0]**3 / ms, 2e3 * A.shape[0]**3 / ms / peak"),
         "a power of ten"),
    ("01-cuda-gemm", "the rate first"):
        (_late(_TIMES, result=
               "2e3 * A.shape[0]**3 / ms, ms / 1e3, 2e3 * A.shape[0]**3 / ms / peak"),
         "another order"),
    ("01-cuda-gemm", "the stop event first"):
        (_late(_TIMES, result=_THREE.format("cp.cuda.get_elapsed_time(stop, start) / 1e3")),
         "events exchanged"),
    ("01-cuda-gemv", "perf_counter"): ("""
    began = time.perf_counter()
    cp.matmul(A, x, out=y)
    return of_bytes(A, x, y, time.perf_counter() - began, bandwidth)""", "host timer"),
    ("01-cuda-gemv", "a cold start"): ("""
    start, stop = cp.cuda.Event(), cp.cuda.Event()
    start.record()
    cp.matmul(A, x, out=y)
    stop.record()
    stop.synchronize()
    return of_bytes(A, x, y, cp.cuda.get_elapsed_time(start, stop) / 1e3, bandwidth)""",
        "no warm-up"),
}  # fmt: skip
WRONG = {key: (_cell(_HEADS[key[0]], body), name) for key, (body, name) in _WRONG.items()}
