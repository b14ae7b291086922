"""``cp.cuda`` of the stand-in, with events, streams and the device, and its ``cp.cublas``."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from rooflab.labs.cuda.arrays import can_hold, few, ndarray, of_the_gpu, repeated
from rooflab.labs.cuda.device import CUDARuntimeError, SimulatedGpu, Stream
from rooflab.labs.cuda.modules import Namespace

if TYPE_CHECKING:
    from rooflab.labs.cuda.standin import StandIn

_Handle = TypeVar("_Handle")
_L2_CACHE_SIZE = 38  # cudaDevAttrL2CacheSize of the CUDA Runtime API


class Cuda(Namespace):
    """``cp.cuda``."""

    _called = "cp.cuda"
    _inside = frozenset(("current",))

    def __init__(self, gpu: SimulatedGpu) -> None:
        self._gpu = gpu
        self._events: list[Event] = []
        self._stack = [StreamHandle(self, gpu.null)]
        self.Event = lambda block=False, disable_timing=False, interprocess=False: Event(
            self, disable_timing
        )
        self.Stream = StreamFactory(self)
        self.stream = Streams(self)
        self.Device = lambda device=None: DeviceHandle(gpu, device)
        self.runtime = Runtime(self)

    @property
    def current(self) -> StreamHandle:
        return self._stack[-1]

    def get_current_stream(self, device_id: int = -1) -> StreamHandle:
        return self.current

    def get_elapsed_time(self, start_event: Event, end_event: Event) -> float:
        """Milliseconds between two recorded and finished events."""
        for name, event in (("start_event", start_event), ("end_event", end_event)):
            if _given(name, event, Event).stamp is None or event.disabled:
                raise CUDARuntimeError("cudaErrorInvalidResourceHandle: invalid resource handle")
        return self._gpu.elapsed(start_event.number, end_event.number)

    def is_available(self) -> bool:
        return True


class Streams(Namespace):
    """``cp.cuda.stream``: the module in which CuPy keeps what ``cp.cuda`` hands on."""

    _called = "cp.cuda.stream"

    def __init__(self, cuda: Cuda) -> None:
        self.Event, self.Stream = cuda.Event, cuda.Stream
        self.get_current_stream = cuda.get_current_stream
        self.get_elapsed_time = cuda.get_elapsed_time


class Event(Namespace):
    """``cp.cuda.Event``. ``ptr`` is its handle for ``cp.cuda.runtime``."""

    _called = "Event()"
    _inside = frozenset(("number", "disabled", "stamp"))

    def __init__(self, cuda: Cuda, disabled: bool) -> None:
        cuda._events.append(self)
        self._cuda, self.number, self.disabled = cuda, len(cuda._events), disabled
        self.ptr = self.number

    @property
    def stamp(self) -> float | None:
        """Device time at which it is reached; None before it was recorded."""
        return self._cuda._gpu.stamp(self.number)

    def record(self, stream: StreamHandle | None = None) -> None:
        on = self._cuda.current if stream is None else _given("stream", stream, StreamHandle)
        self._cuda._gpu.record(self.number, on.stream)

    def synchronize(self) -> None:
        self._cuda._gpu.wait_event(self.number)

    @property
    def done(self) -> bool:
        """Whether the device has come past; asking takes the host a little time."""
        self._cuda._gpu.look()
        return self.stamp is None or self.stamp <= self._cuda._gpu.now


class StreamHandle(Namespace):
    """``cp.cuda.Stream``: also a context that makes it the current stream."""

    _called = "Stream()"
    _inside = frozenset(("stream",))

    def __init__(self, cuda: Cuda, stream: Stream) -> None:
        self._cuda, self.stream = cuda, stream
        self.ptr = stream.number

    def __enter__(self) -> StreamHandle:
        self._cuda._stack.append(self)
        return self

    def __exit__(self, *exc: object) -> None:
        self._cuda._stack.pop()

    def use(self) -> StreamHandle:
        self._cuda._stack[-1] = self
        return self

    def record(self, event: Event | None = None) -> Event:
        event = self._cuda.Event() if event is None else _given("event", event, Event)
        event.record(self)
        return event

    def synchronize(self) -> None:
        self._cuda._gpu.wait_stream(self.stream)

    def wait_event(self, event: Event) -> None:
        """Wait with what comes next until ``event`` is over; never recorded, it is over."""
        self._cuda._gpu.hold(self.stream, _given("event", event, Event).number)

    @property
    def done(self) -> bool:
        """Whether synchronize() would return at once; asking takes the host a little time."""
        self._cuda._gpu.look()
        return self._cuda._gpu.over(self.stream)


class StreamFactory(Namespace):
    """Makes streams when called; ``.null`` is the default one."""

    _called = "cp.cuda.Stream"

    def __init__(self, cuda: Cuda) -> None:
        self._cuda, self.null = cuda, cuda.current

    def __call__(
        self,
        null: bool = False,
        non_blocking: bool = False,
        ptds: bool = False,
        priority: int | None = None,
    ) -> StreamHandle:
        if null:
            return self.null
        return StreamHandle(self._cuda, self._cuda._gpu.new_stream(not non_blocking))


class Figures(dict):
    """A simulated device's figures; a name that is not among them raises a KeyError that says
    so."""

    def __missing__(self, name: object) -> object:
        has = ", ".join(map(str, self))
        raise KeyError(f"{name}: not on the stand-in for CuPy; real CuPy may have it; it has {has}")


class DeviceHandle(Namespace):
    """``cp.cuda.Device``."""

    _called = "Device()"

    def __init__(self, gpu: SimulatedGpu, device: int | None = None) -> None:
        self._gpu = gpu
        self.id = 0 if device is None else int(device)

    @property
    def compute_capability(self) -> str:
        _only_device(self.id)
        return "90"

    @property
    def attributes(self) -> Figures:
        _only_device(self.id)
        return Figures(L2CacheSize=self._gpu.device.l2_bytes)

    def __enter__(self) -> DeviceHandle:
        return self.use()

    def __exit__(self, *exc: object) -> None:
        return None

    def use(self) -> DeviceHandle:
        _only_device(self.id)
        return self

    def synchronize(self) -> None:
        _only_device(self.id)
        self._gpu.wait_all()


class Runtime(Namespace):
    """``cp.cuda.runtime``: CUDA's own functions, which take handles (``ptr``), not objects."""

    _called = "cp.cuda.runtime"
    CUDARuntimeError = CUDARuntimeError
    cudaDevAttrL2CacheSize = _L2_CACHE_SIZE

    def __init__(self, cuda: Cuda) -> None:
        self._cuda, self._gpu = cuda, cuda._gpu

    def deviceSynchronize(self) -> None:
        self._gpu.wait_all()

    def getDeviceCount(self) -> int:
        return 1

    def getDevice(self) -> int:
        return 0

    def getDeviceProperties(self, device: int) -> dict[str, object]:
        _only_device(device)
        figures = self._gpu.device
        return Figures(name=figures.name.encode(), l2CacheSize=figures.l2_bytes)

    def deviceGetAttribute(self, attrib: int, device: int) -> int:
        _only_device(device)
        if attrib != _L2_CACHE_SIZE:
            raise NotImplementedError(
                f"attrib={attrib!r}: the stand-in knows cudaDevAttrL2CacheSize; real CuPy knows "
                "more"
            )
        return self._gpu.device.l2_bytes

    def streamSynchronize(self, stream: int) -> None:
        self._gpu.wait_stream(self._stream(stream))

    def eventCreate(self) -> int:
        return self._cuda.Event().ptr

    def eventRecord(self, event: int, stream: int) -> None:
        self._event(event).record(StreamHandle(self._cuda, self._stream(stream)))

    def eventSynchronize(self, event: int) -> None:
        self._event(event).synchronize()

    def eventElapsedTime(self, start: int, end: int) -> float:
        """Milliseconds between two events, given by their handles."""
        return self._cuda.get_elapsed_time(self._event(start), self._event(end))

    def _event(self, handle: int) -> Event:
        events = self._cuda._events
        if not isinstance(handle, int) or not 1 <= handle <= len(events):
            raise CUDARuntimeError("cudaErrorInvalidResourceHandle: invalid resource handle")
        return events[handle - 1]

    def _stream(self, handle: int) -> Stream:
        found = self._gpu.stream(handle) if isinstance(handle, int) else None
        if found is None:
            raise CUDARuntimeError("cudaErrorInvalidResourceHandle: invalid resource handle")
        return found


def _only_device(number: int) -> None:
    """Raise CUDA's error unless ``number`` is that of the one GPU that is simulated."""
    if number != 0:
        raise CUDARuntimeError("cudaErrorInvalidDevice: invalid device ordinal")


def _given(name: str, value: object, kind: type[_Handle]) -> _Handle:
    """Return ``value``; TypeError unless it is this stand-in's own, as for CuPy's handles."""
    if type(value) is not kind:
        what = "cp.cuda.Event()" if kind is Event else "cp.cuda.Stream()"
        raise TypeError(f"{name} must be made by {what}, not a {type(value).__name__}")
    return value


# ``cp.cublas`` of the stand-in, and the one product that all of it and ``cp.matmul`` run on.


Transposed = str | int
_TURNS = {"N": False, "T": True, "H": True, 0: False, 1: True, 2: True}  # H and 2: and conjugated


class Cublas(Namespace):
    """``cp.cublas``: axpy, scal, dot, gemv, gemm with CuPy's argument order.

    Of real CuPy this is a module that ``import cupy`` does not load.
    """

    _called = "cp.cublas"
    _inside = frozenset(("product",))

    def __init__(self, cp: StandIn) -> None:
        self._cp, self._blas = cp, partial(cp.run, library="cublas")

    def axpy(self, a: float, x: ndarray, y: ndarray) -> None:
        """y += a·x."""
        _for_blas(x, y)
        if x.ndim != 1 or x.shape != y.shape or x.dtype != y.dtype:
            raise TypeError(
                f"x {x.shape} {x.dtype} and y {y.shape} {y.dtype} must be alike vectors"
            )
        constant = x.constant and y.constant
        self._blas(
            "axpy", y, [x, y], lambda: few(y, constant) + _number(a, y) * few(x, constant),
            constant, flops=2 * x.size,
        )  # fmt: skip

    def scal(self, a: float, x: ndarray) -> None:
        """x *= a."""
        _for_blas(x)
        one = x.constant
        self._blas("scal", x, [x], lambda: few(x, one) * _number(a, x), one, flops=x.size)

    def dot(self, x: ndarray, y: ndarray, out: ndarray | None = None) -> ndarray:
        """xᵀy."""
        _for_blas(x, y)
        return self.product(x, y, out)

    def gemv(
        self, transa: Transposed, alpha: float, a: ndarray, x: ndarray, beta: float, y: ndarray
    ) -> None:
        """y = alpha·op(a)·x + beta·y."""
        _for_blas(a, x, y)
        if (a.ndim, x.ndim, y.ndim) != (2, 1, 1):
            raise ValueError(f"a {a.shape}, x {x.shape}, y {y.shape}: a matrix and two vectors")
        self.product(_turned(a, transa), x, y, alpha, beta)

    def gemm(
        self,
        transa: Transposed,
        transb: Transposed,
        a: ndarray,
        b: ndarray,
        out: ndarray | None = None,
        alpha: float = 1.0,
        beta: float = 0.0,
    ) -> ndarray:
        """out = alpha·op(a)·op(b) + beta·out."""
        _for_blas(a, b, *([] if out is None else [out]))
        if (a.ndim, b.ndim) != (2, 2):
            raise ValueError(f"a {a.shape}, b {b.shape}: two matrices are wanted")
        return self.product(_turned(a, transa), _turned(b, transb), out, alpha, beta)

    def product(
        self,
        a: ndarray,
        b: ndarray,
        out: ndarray | None = None,
        alpha: float = 1.0,
        beta: float = 0.0,
    ) -> ndarray:
        """alpha·a@b + beta·out by one library kernel; a new array without ``out``."""
        of_the_gpu(a, b)
        if a.dtype != b.dtype or a.ndim > 2 or b.ndim > 2:
            raise NotImplementedError("the stand-in multiplies vectors and matrices of one dtype")
        if not a.ndim or not b.ndim or a.shape[-1] != b.shape[0]:
            raise ValueError(f"shapes {a.shape} and {b.shape} do not fit a product")
        shape = a.shape[:-1] + b.shape[1:]
        if out is None:
            out, beta = self._cp.empty(shape, a.dtype), 0.0
        can_hold(out, shape, a.dtype)
        scale, kept = _number(alpha, out), _number(beta, out)
        k, constant = a.shape[-1], a.constant and b.constant and (beta == 0 or out.constant)
        inputs = [a, b] if beta == 0 else [a, b, out]

        def compute() -> np.ndarray:
            many = _product_of_equals(a, b, k) if constant else a.values() @ b.values()
            old = 0 if beta == 0 else kept * few(out, constant)
            return np.asarray(scale * many + old, dtype=out.dtype).reshape(
                -1 if constant else shape
            )

        name = {2: "gemm", 1: "gemv", 0: "dot"}[len(shape)]
        self._blas(name, out, inputs, compute, constant, flops=2 * out.size * k)
        return out


def _for_blas(*arrays: ndarray) -> None:
    """Raise CuPy's TypeError unless cuBLAS has a routine for the type of these arrays."""
    of_the_gpu(*arrays)
    for array in arrays:
        if array.dtype.char not in "fd":
            raise TypeError(f"invalid dtype {array.dtype}: cp.cublas takes float32 and float64")


def _number(value: float, like: ndarray) -> np.generic:
    """``value``, which scales an array, in that array's type."""
    if isinstance(value, ndarray):
        raise NotImplementedError("the stand-in scales by numbers only; real CuPy may have more")
    return like.dtype.type(value)


def _turned(a: ndarray, trans: Transposed) -> ndarray:
    if trans not in _TURNS:
        raise TypeError(f"invalid trans (actual: {trans}); 'N', 'T' or 'H' is wanted")
    return a.T if _TURNS[trans] else a


def _product_of_equals(a: ndarray, b: ndarray, k: int) -> np.ndarray:
    """One element of a @ b where all elements of each are equal, and k of them meet."""
    if k == 0:
        return np.zeros(1, a.dtype)
    wide = float if a.dtype.kind == "f" else a.dtype
    return repeated(few(a, True).astype(wide) * few(b, True).astype(wide), k)
