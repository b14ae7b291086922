"""What a traced function asked of NumPy, written down as a program that can run elsewhere.

A trace says how many bytes moved. One that was kept beside a learner's code proves nothing: that
code may have changed it. The program can be proved. It holds NumPy calls and none of the learner's
code, and :mod:`rooflab.labs.golf.replay` runs it on other arrays. There the result must be right,
and there the bytes are counted.

A call is ``[name, arguments, named arguments, results]``. An argument is a number, a text or None
as it is, or a dictionary with one key:

- ``{"at": 3}``: result number 3. Arrays have such numbers, and so have the numbers made of them.
- ``{"tuple": […]}``, ``{"list": […]}``, ``{"dict": {…}}``, ``{"slice": [start, stop, step]}``;
- ``{"dtype": "<f4"}``, ``{"number": ["<f4", "0.5"]}``, ``{"array": ["<f4", shape, numbers]}``.

``["gone", 3]`` says that the function has let go of that array, so its memory is free again. Of
Python's loops and branches nothing is written down but the calls that they led to.

What comes out of a sum is a number, and is followed like an array: ``KINDS`` has a class for
each of the usual number types whose objects note what is computed with them. In the traced function
``float``, ``max``, ``min``, ``math``, ``statistics`` and NumPy's number types work on them, too. A
number that leaves by another door is a constant of the program, unless its value tells which number
it was. ``left`` names the doors.
"""

from __future__ import annotations

import math
import operator
import statistics
import threading
import weakref
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import islice
from numbers import Number
from types import MappingProxyType, ModuleType
from typing import Any, ClassVar

import numpy as np
from numpy import ndarray

Plain = Any  # None, bool, int, float, str, list[Plain] or dict[str, Plain]
LARGEST_CONSTANT = 32 * 1024  # bytes of an array that a program may hold
_PLAIN = frozenset((bool, int, str, type(None)))


class Recorder:
    """The program of one run, as it grows.

    ``running``: those whose function runs. A number that the function makes of nothing is theirs.
    """

    running: ClassVar[list[Recorder]] = []

    def __init__(self) -> None:
        self.calls: list[list[Plain]] = []
        self.inputs: list[list[Plain]] = []
        self.left: list[str] = []
        self._count = 0
        self._inside = False  # of a call that is noted already
        self._one = threading.RLock()  # thread at a time
        self._values: dict[float, tuple[int, type]] = {}  # of a number → its number, its type
        self._wrap: Callable[[Any], Any] = lambda array: array
        self._arrays: dict[int, int] = {}  # id of a traced array that lives → its number

    def __enter__(self) -> Recorder:
        self.running.append(self)
        return self

    def __exit__(self, *raised: object) -> None:
        self.running.remove(self)

    def add_input(self, array: Any, name: str, place: int | None) -> None:
        """Note an array that is argument number ``place``, or that stands outside the function."""
        self._wrap = array.trace.wrap
        source = self._constant(array.array) if place is None else place
        self.inputs.append([name, source, self._name(array)])

    def call(
        self,
        name: str,
        work: Callable[[], Any],
        args: Iterable[Any],
        kwargs: Mapping[str, Any] = MappingProxyType({}),
    ) -> Any:
        """Do ``work``, note it as ``name(*args, **kwargs)`` and return what it gave."""
        with self._one:
            if self._inside:
                return work()
            self._inside = True
            try:
                given = [self.value(value) for value in args]
                named = {key: self.value(value) for key, value in kwargs.items()}
                result = self._followed(work())
                if result is not NotImplemented:
                    self.calls.append([name, given, named, self._result(result)])
                return result
            finally:
                self._inside = False

    def _followed(self, result: Any) -> Any:
        """Return ``result``; its numbers and arrays note what is computed with them."""
        if type(result) in (tuple, list):
            return type(result)(map(self._followed, result))
        if type(result) is ndarray:
            return self._wrap(result)
        kind = KINDS.get(type(result))
        if kind is None:
            return result
        found = kind.__new__(kind, result)
        found.recorder, found.at = self, None
        return found

    def _result(self, result: Any) -> Plain:
        """The number of a result, or of each in a tuple or list."""
        if type(type(result)) is _Kind:
            result.at = self._next()
            self._remember(unfollowed(result), result.at)
            return result.at
        if type(result) in (tuple, list):
            return [self._result(item) for item in result]
        return self._name(result) if is_traced(result) else None

    def _name(self, array: Any) -> int:
        found = self._arrays.get(id(array))
        if found is None:
            found = self._arrays[id(array)] = self._next()
            weakref.finalize(array, self._let_go, id(array), found).atexit = False
        return found

    def _let_go(self, key: int, number: int) -> None:
        del self._arrays[key]
        self.calls.append(["gone", number])

    def _next(self) -> int:
        self._count += 1
        return self._count

    def _remember(self, value: Any, number: int) -> None:
        if isinstance(value, float | np.floating):
            with np.errstate(over="ignore"):
                keys = float(np.float32(value)), float(value)
            self._values |= dict.fromkeys(keys, (number, type(value)))

    def _known(self, value: Any) -> Plain:
        """A number that was converted where nobody saw it, None for what may be a constant.

        It has the digits of one that was followed. That proves nothing, and need not: on other
        arrays the program must be right.
        """
        kind, plain = type(value), float(value)
        if plain.is_integer() or kind not in KINDS:
            return None
        with np.errstate(over="ignore"):
            found = self._values.get(plain) or self._values.get(float(np.float32(plain)))
        if found is None:
            return None
        number, was = found
        if kind is not was:
            self.calls.append([kind.__name__, [{"at": number}], {}, number := self._next()])
        return {"at": number}

    def value(self, value: Any) -> Plain:
        """Return an argument as plain data."""
        kind = type(value)
        if kind is float or isinstance(value, np.floating) and type(kind) is not _Kind:
            known = self._known(value)
            if known is not None:
                return known
        if kind in _PLAIN or (kind is float and math.isfinite(value)):
            return value
        if kind is tuple or kind is list:
            return {kind.__name__: [self.value(item) for item in value]}
        if kind is slice:
            return {"slice": [self.value(part) for part in (value.start, value.stop, value.step)]}
        if type(kind) is _Kind:  # perhaps of an earlier run
            return {"at": value.at} if value.recorder is self else self.value(unfollowed(value))
        if is_traced(value):
            number = self._arrays.get(id(value))
            return {"at": number} if number else self._leave("it comes from another run of golf")
        if kind is dict:
            return {"dict": {str(key): self.value(item) for key, item in value.items()}}
        if value is Ellipsis or value is np._NoValue:
            return {"the": "..." if value is Ellipsis else "no value"}
        if kind is np.bool_:
            return bool(value)
        if kind is float or isinstance(value, np.generic):
            return {"number": [np.asarray(value).dtype.str, str(value)]}
        return self._constant(value) if kind is ndarray else self._dtype(value)

    def _constant(self, array: ndarray) -> Plain:
        if array.nbytes <= LARGEST_CONSTANT and array.dtype.kind in "biuf":
            return {"array": [array.dtype.str, list(array.shape), array.tolist()]}
        if array.any():
            self._leave(
                f"an array of {array.nbytes:,} bytes outside the function has numbers in it"
            )
        return {"zeros": [array.dtype.str, list(array.shape)]}  # room for what will be computed

    def _dtype(self, value: Any) -> Plain:
        try:
            return {"dtype": np.dtype(value).str}
        except TypeError:
            return self._leave(f"NumPy was given a {type(value).__name__}")

    def leave(self, how: str) -> None:
        """Note the door by which a number left, unless NumPy itself opened it."""
        if not self._inside:
            self._leave(how)

    def _leave(self, how: str) -> None:
        if how not in self.left:
            self.left.append(how)

    def program(self, answer: Any) -> dict[str, Plain]:
        """Return the program of a function that returned ``answer``; nothing is noted any more."""
        self._inside = True
        told = self.value(answer)  # perhaps by a further call
        return {"inputs": self.inputs, "calls": self.calls[:], "answer": told, "left": self.left}


_THE = {"...": Ellipsis, "no value": np._NoValue}


def decoded(value: Plain, values: Mapping[int, Any]) -> Any:
    """Return what an argument of a program stands for; ``values``: the results, by their numbers.

    Raises ValueError, TypeError or KeyError for what no Recorder has written.
    """
    if type(value) is not dict:
        return value
    ((kind, told),) = value.items()
    match kind:
        case "at":
            return values[told]
        case "tuple":
            return tuple(decoded(item, values) for item in told)
        case "list":
            return [decoded(item, values) for item in told]
        case "dict":
            return {key: decoded(item, values) for key, item in told.items()}
        case "slice":
            return slice(*(decoded(part, values) for part in told))
        case "the":
            return _THE[told]
        case "dtype":
            return _dtype(told)
        case "number":
            return _dtype(told[0]).type(told[1])
        case "array":
            return np.array(told[2], _dtype(told[0])).reshape(told[1])
        case "zeros":
            return np.zeros(told[1], _dtype(told[0]))
    raise ValueError(f"{kind!r:.60} is no value of a program")


def _dtype(name: str) -> np.dtype:
    found = np.dtype(name)
    if found.kind not in "biufc":
        raise ValueError(f"dtype={name!r:.60} is none of numbers")
    return found


# Numbers that note what is computed with them. Each class stands in for a type of numbers, also
# where the type itself is called: ``np.float32(total)`` is noted, and ``isinstance(total, float)``
# says what it would say of NumPy's own.


class _Kind(type):
    _base: type  # what is stood in for
    _name: str
    _item: Callable[[Any], Any]  # the value as Python's own number

    def __instancecheck__(cls, value: object) -> bool:
        return isinstance(value, cls._base)

    def __call__(cls, *given: Any) -> Any:
        base = cls._base
        if not Recorder.running:
            return base(*given)
        if not any(map(is_followed, given)):  # perhaps a text or a Decimal of such a number
            given = (base(*given),)
        return Recorder.running[-1].call(cls._name, lambda: base(*map(unfollowed, given)), given)


def is_number(value: object) -> bool:
    """Whether ``value`` notes what is computed with it."""
    return type(type(value)) is _Kind


def is_followed(value: object) -> bool:
    """Whether ``value`` is such a number, or an array of a golf run."""
    return is_number(value) or is_traced(value)


def is_traced(value: object) -> bool:
    """Whether ``value`` is an array of a golf run."""
    return hasattr(type(value), "buffer")


def unfollowed(value: Any) -> Any:
    """Return ``value`` with NumPy's own numbers, and its own types, in place of those here."""
    kind = type(value)
    if type(kind) is _Kind:
        return kind._base(kind._item(value))
    if kind is _Kind:
        return value._base
    return kind(map(unfollowed, value)) if kind is tuple or kind is list else value


def noted(
    name: str, function: Callable[..., Any], args: tuple[Any, ...], kwargs: Mapping[str, Any]
) -> Any:
    """Call a function, and note the call if a number or an array of a run is among ``args``."""

    def work() -> Any:
        named = {key: unfollowed(value) for key, value in kwargs.items()}
        return function(*map(unfollowed, args), **named)

    first = next(filter(is_followed, _flat((*args, *kwargs.values()))), None)
    if first is None:
        return work()
    own = first.recorder if is_number(first) else first.trace.recorder
    recorder = Recorder.running[-1] if Recorder.running else own  # that of an earlier run is over
    return work() if recorder is None else recorder.call(name, work, args, kwargs)


def _flat(values: Iterable[Any]) -> Iterator[Any]:
    """The values, those of lists and tuples one by one."""
    for value in values:
        yield from _flat(value) if type(value) in (list, tuple) else (value,)


def _operator(name: str, swapped: bool) -> Callable[..., Any]:
    work = getattr(operator, name)

    def method(self: Any, *other: Any) -> Any:
        if any(isinstance(value, ndarray) or not isinstance(value, Number) for value in other):
            return NotImplemented  # the other one's turn
        return noted(f"operator.{name}", work, (*other, self) if swapped else (self, *other), {})

    return method


def _door(name: str, how: str) -> Callable[..., Any]:
    """A method by which a number leaves."""

    def method(self: Any, *args: Any) -> Any:
        self.recorder.leave(how)
        return getattr(unfollowed(self), name)(*map(unfollowed, args))

    return method


def _round(self: Any, digits: int | None = None) -> Any:
    if digits is None:
        self.recorder.leave(_WHOLE)
        return round(unfollowed(self))
    return noted("builtins.round", round, (self, digits), {})


def _by_numpy(name: str) -> Callable[..., Any]:
    return lambda self, *args, **kwargs: getattr(np, name)(self, *args, **kwargs)


def _array_ufunc(self: Any, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any) -> Any:
    if any(map(is_traced, (*inputs, *kwargs.get("out", ())))):
        return NotImplemented
    return noted(f"{ufunc.__name__}.{method}", getattr(ufunc, method), inputs, kwargs)


def _array_function(self: Any, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
    if any(hasattr(kind, "buffer") for kind in types):
        return NotImplemented
    name = f"{function.__module__}.{function.__name__}".removeprefix("numpy.")
    return noted(name, function, args, kwargs)


OPERATORS = ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "neg", "abs", "pos")
_OF_TWO = 7  # the first ones
_WHOLE = "Python made a whole number or a bool of it"
_BY_NUMPY = ("clip", "max", "mean", "min", "prod", "ravel", "repeat", "reshape", "round", "squeeze",
             "std", "sum", "var")  # fmt: skip


def _methods() -> dict[str, Callable[..., Any]]:
    found: dict[str, Callable[..., Any]] = {}
    for name in OPERATORS:
        found[f"__{name}__"] = _operator(name, swapped=False)
    for name in OPERATORS[:_OF_TWO]:
        found[f"__r{name}__"] = _operator(name, swapped=True)
    for name in ("lt", "le", "gt", "ge", "eq", "ne"):
        found[f"__{name}__"] = _door(f"__{name}__", "Python compared it")
    found["__divmod__"] = lambda self, other: (self // other, self % other)
    found["__rdivmod__"] = lambda self, other: (other // self, other % self)
    found["__round__"] = _round
    for name in ("conj", "conjugate", "copy"):
        found[name] = lambda self: self
    found["real"] = property(lambda self: self)
    for name in ("bool", "int", "index"):
        found[f"__{name}__"] = _door(f"__{name}__", _WHOLE)
    found["__float__"] = _door("__float__", "Python made a float of it")
    found["__format__"] = _door("__format__", "Python made a text of it")
    return found


def _item(self: Any, *index: Any) -> Any:
    """As one of Python's own numbers."""
    if isinstance(self, np.floating):
        return noted("float", float, (self,), {})
    self.recorder.leave(_WHOLE)
    return unfollowed(self).item()


def _astype(self: Any, dtype: Any, **_: Any) -> Any:
    kind = KINDS.get(np.dtype(dtype).type)
    return unfollowed(self).astype(dtype) if kind is None else kind(self)


def _kind(base: type) -> _Kind:
    own = {
        **_methods(), "__hash__": base.__hash__, "__array_ufunc__": _array_ufunc,
        "__array_function__": _array_function, "_base": base, "_name": base.__name__,
    }  # fmt: skip
    if base is float:
        own |= {"_item": float.__float__, "dtype": np.dtype(float)}  # what NumPy makes of the class
    else:
        own |= {name: _by_numpy(name) for name in _BY_NUMPY}
        own |= {"_item": np.generic.item, "item": _item, "tolist": _item, "astype": _astype}
    return _Kind(base.__name__, (base,), own)


# Python's own float is one of them: to NumPy it has no width, so it leaves float32 what it is.
_FOLLOWED = (float, np.float16, np.float32, np.float64, np.longdouble, np.int32, np.int64)
KINDS: Mapping[type, Any] = {base: _kind(base) for base in _FOLLOWED}

# What else the traced function finds exchanged.


def _stand_in(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    def stand_in(*args: Any, **kwargs: Any) -> Any:
        if "key" in kwargs:  # of max and min: what is compared is for Python to know
            return function(*args, **kwargs)
        return noted(name, function, tuple(map(_listed, args)), kwargs)

    stand_in.__name__ = stand_in.__qualname__ = function.__name__
    return stand_in


def _listed(value: Any) -> Any:
    """A list of what ``value`` gives one after the other, such as a generator."""
    kept = not isinstance(value, Iterable) or isinstance(value, (ndarray, str, list, tuple))
    return value if kept else [*value]


def _functions(module: ModuleType) -> Mapping[str, Callable[..., Any]]:
    own = {name: one for name, one in vars(module).items() if not name.startswith("_")}
    return {
        f"{module.__name__}.{name}": one
        for name, one in own.items()
        if getattr(one, "__module__", "") == module.__name__ and not isinstance(one, type)
    }


MATH: Mapping[str, Callable[..., Any]] = {**_functions(math), **_functions(statistics)}
BUILTINS: Mapping[str, Callable[..., Any]] = {
    "builtins.max": max, "builtins.min": min, "builtins.round": round,
}  # fmt: skip


def in_builtins() -> dict[str, Any]:
    """Return names of Python's own → what stands in for them in the traced function."""
    others = {one.__name__: _stand_in(f"builtins.{one.__name__}", one) for one in (max, min)}
    return {"float": KINDS[float], **others}


def by_id() -> dict[int, Any]:
    """Return id of an original → its stand-in: ``math``, ``statistics``, NumPy's types."""
    found: dict[int, Any] = {id(base): kind for base, kind in KINDS.items()}
    for original in (math, statistics):
        module = found[id(original)] = ModuleType(original.__name__)
        module.__dict__.update(vars(original))
        for name, one in _functions(original).items():
            found[id(one)] = module.__dict__[one.__name__] = _stand_in(name, one)
    return found


def in_numpy() -> dict[str, tuple[Any, Any]]:
    """Return names of NumPy's → the original and its stand-in: types, and what takes lists."""
    types = {kind: new for kind, new in KINDS.items() if issubclass(kind, np.generic)}
    found = {kind.__name__: (kind, new) for kind, new in types.items()}
    for name, one in vars(np).items():
        if isinstance(one, np.ufunc):
            found[name] = one, _Ufunc(one)
    for name in OF_LISTS:
        found[name] = getattr(np, name), _stand_in(name, getattr(np, name))
    return {**found, "fromiter": (np.fromiter, _from_iter)}


OF_LISTS = ("allclose", "average", "concatenate", "dot", "inner", "isclose", "median", "nan_to_num",
            "percentile", "quantile", "vdot")  # fmt: skip
"""Functions of NumPy to which golf's own numbers may come in a list, where NumPy does not ask."""


def _from_iter(given: Iterable[Any], dtype: Any, count: int = -1) -> Any:
    some = list(islice(given, None if count < 0 else count))
    return noted("array", np.array, (some, dtype), {})


class _Ufunc:
    """A ufunc as the traced function sees it."""

    def __init__(self, ufunc: np.ufunc) -> None:
        self._ufunc = ufunc

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return _stand_in(f"{self._ufunc.__name__}.__call__", self._ufunc)(*args, **kwargs)

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._ufunc, name)
        if name not in ("accumulate", "outer", "reduce"):
            return found
        return _stand_in(f"{self._ufunc.__name__}.{name}", found)

    @property
    def __class__(self) -> type:
        return np.ufunc

    __repr__ = __str__ = lambda self: repr(self._ufunc)
