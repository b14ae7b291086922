"""``cp.ndarray`` of the stand-in: real values where they are small or constant, real addresses.

A freshly filled array is one number with a shape, so a gigabyte costs nothing here and the
simulated GPU can be given the sizes of a real one. Everything computed from constants stays
exact. A large array of random numbers repeats some of them.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, NoReturn

import numpy as np
from numpy.typing import DTypeLike

from rooflab.labs.cuda.device import SimulatedGpu, Span
from rooflab.labs.cuda.modules import Namespace

if TYPE_CHECKING:
    from rooflab.labs.cuda.standin import StandIn

LARGEST_REAL = 64 * 2**20  # bytes; beyond this only constant arrays are kept


class DeviceBuffer:
    """Device memory of ``size`` elements: pieces of one number each, or real values.

    With ``tile`` the values are those of it, over and over.
    """

    def __init__(
        self, gpu: SimulatedGpu, size: int, constant: np.generic, tile: np.ndarray | None = None
    ) -> None:
        self.number = gpu.new_buffer()
        self.size, self.dtype = size, constant.dtype
        self._pieces: list[tuple[int, int, np.generic]] = [(0, size, constant)]
        self._values: np.ndarray | None = None
        self._tile = tile

    def constant(self, start: int, size: int) -> bool:
        """Whether ``size`` elements from ``start`` on are known to be one number."""
        if self._values is not None or self._tile is not None:
            return size == 1
        return size <= 1 or any(a <= start and start + size <= b for a, b, _ in self._pieces)

    def read(self, start: int, size: int) -> np.ndarray:
        """Return ``size`` elements; a read-only view of one number where they are constant."""
        if self._values is not None:
            return self._values[start : start + size]
        if self._tile is not None:
            self._afford(size)
            return self._tile[np.arange(start, start + size) % self._tile.size]
        inside = self._inside(start, size)
        if len(inside) == 1:
            return np.broadcast_to(np.full(1, inside[0][1], self.dtype), (size,))
        self._afford(size)
        return np.concatenate([np.full(0, 0, self.dtype), *(np.full(n, v) for n, v in inside)])

    def _inside(self, start: int, size: int) -> list[tuple[int, np.generic]]:
        """The pieces of ``size`` elements from ``start`` on: how many of which number."""
        return [
            (min(b, start + size) - max(a, start), value)
            for a, b, value in self._pieces
            if a < start + size and start < b
        ]

    @property
    def tile(self) -> np.ndarray | None:
        """The numbers that this memory repeats, None if it is no repetition."""
        return self._tile

    def repeat(self, tile: np.ndarray) -> None:
        """Fill all of it with the numbers of ``tile``, over and over."""
        self._tile, self._values = tile.astype(self.dtype), None

    def reduced(self, name: str, start: int, size: int, dtype: np.dtype) -> np.generic:
        """Return the "sum", "max" or "min" of ``size`` elements from ``start`` on.

        A sum is added up in ``dtype``; a highest or lowest one stays as it is.
        """
        if self._values is None and self._tile is None:
            parts = [(np.full(1, value), times) for times, value in self._inside(start, size)]
        elif self._tile is not None and (start, size) == (0, self.size):
            times, rest = divmod(size, self._tile.size)
            parts = [(self._tile, times), (self._tile[:rest], 1)]
        else:
            parts = [(self.read(start, size), 1)]
        parts = [(values, times) for values, times in parts if values.size and times]
        if name == "sum":
            sums = [repeated(np.sum(v, dtype=dtype, keepdims=True), n) for v, n in parts]
            return np.sum(sums, dtype=dtype)
        reduce = getattr(np, name)
        return reduce([reduce(values) for values, _ in parts])

    def write(self, start: int, values: np.ndarray, constant: bool) -> None:
        """Store ``values`` from ``start`` on; constant ones stay one number."""
        end = start + values.size
        if values.size == 0:
            return
        varied = self._values is not None or self._tile is not None
        if constant and (not varied or values.size == self.size):
            kept = [] if varied else self._pieces
            before = [(a, min(b, start), v) for a, b, v in kept if a < start]
            after = [(max(a, end), b, v) for a, b, v in kept if b > end]
            self._pieces = [*before, (start, end, values.flat[0]), *after]
            self._values = self._tile = None
            return
        if self._values is None:
            self._afford(self.size)
            self._values, self._tile = np.array(self.read(0, self.size)), None
        self._values[start:end] = values

    def _afford(self, size: int) -> None:
        if size * self.dtype.itemsize > LARGEST_REAL:
            raise MemoryError(
                "the stand-in keeps different values in arrays of at most "
                f"{LARGEST_REAL >> 20} MiB; larger ones hold one number"
            )


def repeated(one: np.ndarray, times: int) -> np.ndarray:
    """Return the sum of ``times`` times ``one``: a whole number wraps, as on a GPU."""
    if one.dtype.kind == "f":
        return (one.astype(float) * times).astype(one.dtype)
    return one * np.asarray(times).astype(one.dtype)


class MemoryPointer(Namespace):
    """``array.data``: the array's memory, which can be set byte by byte."""

    _called = "array.data"

    def __init__(self, array: ndarray) -> None:
        self._array = array

    def memset(self, value: int, size: int) -> None:
        """Set the first ``size`` bytes to ``value``, of which the lowest 8 bits count."""
        self.memset_async(value, size)

    def memset_async(self, value: int, size: int, stream: object = None) -> None:
        """Set the first ``size`` bytes to ``value``, on ``stream`` or the current one."""
        array, cp = self._array, self._array._cp
        count, rest = divmod(size, array.itemsize)
        if rest or count > array.size:
            raise ValueError(f"size={size}: {array.nbytes} bytes, or whole elements of them")
        one = np.full(array.itemsize, value & 255, np.uint8).view(array.dtype)
        target = ndarray(cp, array._buffer, array._start, (count,))
        with stream or cp.cuda.get_current_stream():
            cp.run("memset", target, [], lambda: one, True)


class ndarray(Namespace):
    """A contiguous array on the simulated GPU, or the transpose of one."""

    _called = "array"
    _inside = frozenset(("span", "constant", "values", "reduced", "repeats", "store"))

    def __init__(
        self,
        cp: StandIn,
        buffer: DeviceBuffer,
        start: int,
        shape: Sequence[int],
        flipped: bool = False,
    ) -> None:
        self._cp, self._buffer, self._start, self._flipped = cp, buffer, start, flipped
        self.shape = tuple(shape)

    dtype = property(lambda self: self._buffer.dtype)
    ndim = property(lambda self: len(self.shape))
    size = property(lambda self: int(np.prod(self.shape, dtype=np.int64)))
    itemsize = property(lambda self: self.dtype.itemsize)
    nbytes = property(lambda self: self.size * self.itemsize)

    @property
    def T(self) -> ndarray:
        if self.ndim < 2:
            return self
        return ndarray(self._cp, self._buffer, self._start, self.shape[::-1], not self._flipped)

    @property
    def span(self) -> Span:
        """The bytes that a kernel touches when it passes over the array."""
        return Span(self._buffer.number, self._start * self.itemsize, self.nbytes)

    @property
    def constant(self) -> bool:
        return self._buffer.constant(self._start, self.size)

    def values(self) -> np.ndarray:
        """Return the values as the device sees them, without waiting for it."""
        shape = self.shape[::-1] if self._flipped else self.shape
        found = self._buffer.read(self._start, self.size).reshape(shape)
        return found.T if self._flipped else found

    def repeats(self, source: ndarray) -> bool:
        """Take over the numbers that a large random ``source`` repeats; False if it is none."""
        tile, size = source._buffer.tile, self._buffer.size
        if tile is None or {source._buffer.size, source.size, self.size} != {size}:
            return False
        self._buffer.repeat(tile)
        return True

    def reduced(self, name: str, dtype: np.dtype) -> np.generic:
        """Return the "sum" (added up in ``dtype``), "max" or "min" of all values, as the device
        sees them."""
        return self._buffer.reduced(name, self._start, self.size, dtype)

    def store(self, values: np.ndarray, constant: bool) -> None:
        """Put the result of a kernel here."""
        if self.size == 0:
            return
        if constant:
            flat = np.broadcast_to(values.flat[0], (self.size,))
        else:
            spread = np.broadcast_to(values, self.shape)
            flat = np.ascontiguousarray(spread.T if self._flipped else spread).reshape(-1)
        self._buffer.write(self._start, flat.astype(self.dtype, copy=False), constant)

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("len() of unsized object")
        return self.shape[0]

    def __getitem__(self, index: object) -> ndarray:
        if index is Ellipsis or (isinstance(index, slice) and index == slice(None)):
            return self
        if self._flipped or not self.shape or isinstance(index, _OTHER_INDICES):
            raise NotImplementedError(
                "the stand-in takes a[i] and a[i:j] along the first axis only; real CuPy may have "
                "more"
            )
        inner = self.size // max(1, self.shape[0])
        if isinstance(index, slice):
            begin, end, step = index.indices(self.shape[0])
            if step != 1:
                raise NotImplementedError("the stand-in takes slices of step 1 only")
            shape = (max(0, end - begin), *self.shape[1:])
            return ndarray(self._cp, self._buffer, self._start + begin * inner, shape)
        place = range(self.shape[0])[operator.index(index)]
        return ndarray(self._cp, self._buffer, self._start + place * inner, self.shape[1:])

    def __setitem__(self, index: object, value: object) -> None:
        target = self[index]
        if value is not target:
            self._cp.assign(target, value)

    def __iter__(self) -> Iterator[ndarray]:
        return (self[i] for i in range(len(self)))

    def reshape(self, *shape: int | Sequence[int]) -> ndarray:
        """Return the same memory with another shape."""
        wanted = shape[0] if len(shape) == 1 and isinstance(shape[0], (tuple, list)) else shape
        if self._flipped:
            raise NotImplementedError("the stand-in does not reshape a transpose")
        new = np.broadcast_to(0, self.shape).reshape(wanted).shape
        return ndarray(self._cp, self._buffer, self._start, new)

    def ravel(self) -> ndarray:
        return self.reshape(-1)

    def fill(self, value: object) -> None:
        self._cp.run("fill", self, [], lambda: np.full(1, value, self.dtype), True)

    def copy(self) -> ndarray:
        return self._cp.array(self)

    __copy__ = copy

    def __deepcopy__(self, memo: object) -> ndarray:
        return self.copy()

    def astype(self, dtype: object, order: str = "K", *, copy: bool = True) -> ndarray:
        if not copy and self.dtype == np.dtype(dtype):
            return self
        return self._cp.array(self, dtype=dtype)

    def sum(
        self, axis: None = None, dtype: object = None, out: ndarray | None = None,
        keepdims: bool = False,
    ) -> ndarray:  # fmt: skip
        return self._cp.sum(self, axis, dtype, out, keepdims)

    def max(self, axis: None = None, out: ndarray | None = None, keepdims: bool = False) -> ndarray:
        return self._cp.max(self, axis, out, keepdims)

    def min(self, axis: None = None, out: ndarray | None = None, keepdims: bool = False) -> ndarray:
        return self._cp.min(self, axis, out, keepdims)

    @property
    def data(self) -> MemoryPointer:
        return MemoryPointer(self)

    def dot(self, b: ndarray, out: ndarray | None = None) -> ndarray:
        return self._cp.dot(self, b, out=out)

    def get(self) -> np.ndarray:
        """Bring the values to the host: waits for the device, like CuPy."""
        if not self.constant or self.nbytes <= LARGEST_REAL:
            self._cp.wait_for_copy()
            return np.array(self.values())
        raise MemoryError(f"{self.nbytes} bytes: the stand-in copies at most {LARGEST_REAL} back")

    def item(self) -> object:
        if self.size != 1:
            raise ValueError("can only convert an array of size 1 to a Python scalar")
        return self.get().item()

    # NumPy's own functions on these arrays are the GPU's, as with CuPy.

    def __array_ufunc__(
        self,
        ufunc: np.ufunc,
        method: str,
        *inputs: object,
        out: tuple[object, ...] | None = None,
        **kwargs: object,
    ) -> object:
        if method != "__call__" or getattr(np, ufunc.__name__, None) is not ufunc:
            return NotImplemented
        where = {} if out is None else {"out": out[0]}
        return getattr(self._cp, ufunc.__name__)(*inputs, **where, **kwargs)

    def __array_function__(
        self,
        func: Callable[..., object],
        types: object,
        args: Sequence[object],
        kwargs: dict[str, object],
    ) -> object:
        if getattr(np, func.__name__, None) is not func:
            return NotImplemented
        return getattr(self._cp, func.__name__)(*args, **kwargs)

    def __array__(self, *args: object, **kwargs: object) -> NoReturn:
        raise TypeError(
            "Implicit conversion to a NumPy array is not allowed. "
            "Please use `.get()` to construct a NumPy array explicitly."
        )

    __float__ = lambda self: float(self.item())  # noqa: E731
    __int__ = lambda self: int(self.item())  # noqa: E731
    __bool__ = lambda self: bool(self.item())  # noqa: E731

    def __format__(self, format_spec: str) -> str:
        """A number's form for an array of shape (), which is fetched from the GPU for it."""
        return format(self.item() if format_spec and not self.shape else str(self), format_spec)

    def __repr__(self) -> str:
        shape = "×".join(map(str, self.shape)) or "0-d"
        return f"<array {shape} {self.dtype} on the stand-in>"

    def __matmul__(self, other: ndarray) -> ndarray:
        return self._cp.matmul(self, other)

    def __imatmul__(self, other: object) -> NoReturn:
        raise TypeError("use cp.matmul(a, b, out=c)")


_OTHER_INDICES = (tuple, list, ndarray, np.ndarray, bool, np.bool_, type(None))


def of_the_gpu(*operands: object) -> None:
    """Raise CuPy's TypeError unless all operands are arrays of the stand-in."""
    for operand in operands:
        if not isinstance(operand, ndarray):
            raise TypeError(f"Unsupported type {type(operand)}; an array on the GPU is wanted")


def of_the_gpu_or_numbers(*operands: object) -> None:
    """Raise CuPy's TypeError unless each operand is an array of the stand-in, or a number."""
    of_the_gpu(*(x for x in operands if not isinstance(x, _NUMBERS)))


_NUMBERS = (bool, int, float, complex, np.number, np.bool_)


def can_hold(out: object, shape: tuple[int, ...], dtype: DTypeLike) -> None:
    """Raise CuPy's errors unless a result of this shape and type may go into ``out``."""
    if not isinstance(out, ndarray):
        raise TypeError(f"out={type(out).__name__} must be an array on the GPU")
    if out.shape != shape:
        raise ValueError(f"out has shape {out.shape}; {shape} is wanted")
    if not np.can_cast(dtype, out.dtype, "same_kind"):
        raise TypeError(
            f"Cannot cast output operand from {np.dtype(dtype)!r} to {out.dtype!r} according to "
            "the rule 'same_kind'"
        )


Operator = Callable[[ndarray, "ndarray | float"], ndarray]


def _binary(name: str) -> Operator:
    return lambda self, other: getattr(self._cp, name)(self, other)


def _reflected(name: str) -> Operator:
    return lambda self, other: getattr(self._cp, name)(other, self)


def _in_place(name: str) -> Operator:
    return lambda self, other: getattr(self._cp, name)(self, other, out=self)


def _give_operators(**ufuncs: str) -> None:
    """Let ``ndarray`` compute x + y, 2 + y and x += y, each by the ufunc that CuPy uses."""
    for sign, name in ufuncs.items():
        setattr(ndarray, f"__{sign}__", _binary(name))
        setattr(ndarray, f"__r{sign}__", _reflected(name))
        setattr(ndarray, f"__i{sign}__", _in_place(name))


def _missing(sign: str) -> Callable[..., NoReturn]:
    def refuse(*_: object) -> NoReturn:
        raise NotImplementedError(
            f"the stand-in for CuPy has no {sign} of arrays; real CuPy may have it; the stand-in "
            "has +, -, *, / and @"
        )

    return refuse


def _refuse_operators(places: Sequence[str], **signs: str) -> None:
    """Let ``ndarray`` say of each of these operators that the stand-in lacks it.

    Python would call two arrays unequal where ``==`` is missing, and not ask again.
    """
    for name, sign in signs.items():
        for place in places:
            setattr(ndarray, f"__{place}{name}__", _missing(sign))


_give_operators(add="add", sub="subtract", mul="multiply", truediv="divide")
_refuse_operators(
    [""], eq="==", ne="!=", lt="<", le="<=", gt=">", ge=">=", neg="-x", pos="+x", abs="abs()",
    invert="~",
)  # fmt: skip
_refuse_operators(
    ["", "r", "i"], pow="**", floordiv="//", mod="%", divmod="divmod()", lshift="<<", rshift=">>",
    xor="^", **{"and": "&", "or": "|"},
)  # fmt: skip
ndarray.__hash__ = None  # CuPy's arrays are no keys either


def few(array: ndarray, constant: bool) -> np.ndarray:
    """The values, or just one of them when all are equal."""
    return array.values().reshape(-1)[:1] if constant else array.values()
