"""Every public name of the stand-in is CuPy's, and takes what CuPy's takes, in the same order.

A program that ran here must run on a GPU. So what the stand-in accepts, CuPy accepts, with the same
meaning. The other way round it need not be: CuPy has more.
"""

from __future__ import annotations

import importlib
import inspect
import pickle
import sys
from pathlib import Path

import numpy as np
import pytest

from rooflab.labs.cuda import StandIn, modules
from rooflab.labs.cuda.arrays import ndarray
from rooflab.labs.cuda.modules import Cupyx, Namespace
from tests.labs.cuda.conftest import DEVICE
from tests.strict_cupy.cupy import NAMES
from tests.support.rows import each_row

# Signatures as cupy-cuda13x 14.2.0 has them, read from the wheel with inspect.signature, or from
# the first line of the docstring where a function is compiled; without annotations.
SIGNATURES = {
    name: taken.removesuffix(")")
    for line in Path(__file__).with_name("cupy_signatures.txt").read_text("utf-8").splitlines()
    for name, _, taken in (line.partition("("),)
}
HANDLES = ("Event", "Stream", "Device")
OF_AN_ARRAY = {n.partition(".")[2] for n in SIGNATURES if n.startswith("ndarray.")}
OF_A_HANDLE = [tuple(n.split(".")) for n in SIGNATURES if n.startswith(HANDLES)]
CUPY = [n for n in SIGNATURES if not n.startswith(("ndarray.", *HANDLES))]
# Given by position, this argument of CuPy's stands elsewhere: by name it is the same.
BY_NAME = {"astype": {"copy"}}


def taken(text: str) -> inspect.Signature:
    """The signature that ``text`` writes down."""
    names: dict[str, object] = {}
    exec(f"def found({text}): ...", {"float": float}, names)
    return inspect.signature(names["found"])


def assert_narrower(ours: inspect.Signature, theirs: inspect.Signature, name: str) -> None:
    """Each argument of ``ours`` is one of ``theirs``, at its place, with its default."""
    other = list(theirs.parameters.values())
    named = {argument.name: argument for argument in other}
    for place, mine in enumerate(ours.parameters.values()):
        match = named.get(mine.name)
        assert match is not None, f"{name}: CuPy knows no {mine.name}"
        if mine.kind in (mine.VAR_POSITIONAL, mine.VAR_KEYWORD):
            assert match.kind is mine.kind, f"{name}: {mine.name}"
            continue
        if mine.name not in BY_NAME.get(name, ()):
            assert other.index(match) == place, f"{name}: {mine.name} stands elsewhere in CuPy"
        assert match.default == mine.default, f"{name}: default of {mine.name}"
    required = [p.name for p in other if p.default is p.empty and p.kind is p.POSITIONAL_OR_KEYWORD]
    left_out = len(required) - len(ours.parameters)
    assert left_out <= 0, f"{name} lacks one of {required}"


def found(root: object, path: str) -> object:
    for part in path.split("."):
        root = getattr(root, part)
    return root


@each_row(*CUPY)
def test_functions_take_what_cupys_take(path, cp):
    function = found(cp, path)
    call = type(function).__call__ if path == "cuda.Stream" else function
    ours = inspect.signature(call)
    if path == "cuda.Stream":
        ours = ours.replace(parameters=[*ours.parameters.values()][1:])
    assert_narrower(ours, taken(SIGNATURES[path]), path.rpartition(".")[2])


@each_row(*OF_AN_ARRAY)
def test_an_arrays_methods_take_what_cupys_take(name, cp):
    ours = inspect.signature(getattr(cp.ones(2), name))
    assert_narrower(ours, taken(SIGNATURES[f"ndarray.{name}"]), name)


@each_row(*OF_A_HANDLE)
def test_a_handles_methods_take_what_cupys_take(kind, name, cp):
    handle = getattr(cp.cuda, kind)()
    ours = inspect.signature(getattr(handle, name))
    assert_narrower(ours, taken(SIGNATURES[f"{kind}.{name}"]), name)


def test_every_function_of_the_stand_in_is_compared_above(cp):
    """A new one needs its line, with what CuPy takes."""
    plain = {"ElementwiseKernel", "matmul", "arange", "ndarray", "cublas", "cuda", "random"}
    assert public(cp) - plain == {path for path in CUPY if "." not in path}
    for part, handles in (
        ("cublas", set()),
        ("random", set()),
        ("cuda", {"runtime", "stream"}),
        ("cuda.runtime", {"CUDARuntimeError", "cudaDevAttrL2CacheSize"}),
    ):
        told = {p.rpartition(".")[2] for p in CUPY if p.rpartition(".")[0] == part}
        assert public(found(cp, part)) - handles == told, part
    methods = {n for n in public(cp.ones(2)) if callable(getattr(cp.ones(2), n))}
    assert methods == OF_AN_ARRAY


def public(thing: Namespace) -> set[str]:
    """Names that a learner may use: not the stand-in's own."""
    return {name for name in dir(thing) if not name.startswith("_")} - set(thing._inside)


@each_row(
    ("", "cupy"), ("cuda", "cupy.cuda"), ("cuda.Event()", "cupy.cuda.Event"),
    ("cuda.Stream()", "cupy.cuda.Stream"), ("cuda.Device()", "cupy.cuda.Device")
)  # fmt: skip
def test_cupy_has_every_name_of_the_stand_in(path, of, cp):
    made = path.endswith("()")
    thing = found(cp, path.removesuffix("()")) if path else cp
    own = public(thing() if made else thing) - {"ptr"}  # dir() of the class does not list it
    lazy = {"cublas"} if of == "cupy" else set()  # a module of CuPy's that `import cupy` leaves
    assert own - lazy <= NAMES[of], own - NAMES[of]


def test_an_arrays_names_are_cupys(cp):
    assert public(cp.ones(2)) <= NAMES["cupy.ndarray"]


def test_dtypes_and_constants_are_numpys_as_in_cupy(cp):
    for name in ("float16", "float32", "float64", "int8", "int64", "uint8", "inf", "nan", "pi"):
        assert name in NAMES["cupy"] and getattr(cp, name) is getattr(np, name)
    assert cp.dtype("float32") == np.float32


def test_matmul_and_arange_take_what_numpys_take_by_place(cp):
    """Their signatures are open in CuPy too: matmul is a ufunc, arange counts its arguments."""
    a = cp.ones((2, 2))
    assert cp.matmul(a, a, out=cp.empty((2, 2))).get().tolist() == [[2, 2], [2, 2]]
    with pytest.raises(TypeError, match="write out=C"):
        cp.matmul(a, a, a)
    assert cp.arange(1, 7, 2).get().tolist() == [1, 3, 5]


@each_row("reduce_dims", "preamble", "no_return", "return_tuple")
def test_options_of_a_kernel_that_only_change_its_compilation_are_taken(name, cp):
    value = "" if name == "preamble" else False
    kernel = cp.ElementwiseKernel("T x", "T y", "y = x", "k", **{name: value})
    assert kernel(cp.arange(3.0)).get().tolist() == [0, 1, 2]


def test_handles_are_numbers_as_in_cupy(cp):
    null, stream, event = cp.cuda.Stream.null, cp.cuda.Stream(), cp.cuda.Event()
    assert (null.ptr, type(stream.ptr), type(event.ptr)) == (0, int, int)
    assert stream.ptr != cp.cuda.Stream().ptr != 0
    assert event.ptr != cp.cuda.Event().ptr
    cp.cuda.runtime.eventRecord(event.ptr, stream.ptr)
    assert event.stamp is not None and cp.gpu.log[-1]["stream"] == stream.ptr


def test_a_device_is_the_first_and_only_one(cp):
    for device in (cp.cuda.Device(), cp.cuda.Device(0)):
        assert device.id == 0 and device.compute_capability == "90"
        with device as entered:
            assert entered is device is device.use()
    assert cp.cuda.runtime.getDevice() == 0


def test_another_device_can_be_named_and_not_be_used(cp):
    """As in CuPy: Device(1) is only a number until something is asked of it."""
    other, cuda = cp.cuda.Device(1), cp.cuda.runtime
    assert other.id == 1
    for use in (
        other.use, other.__enter__, other.synchronize, lambda: other.attributes,
        lambda: other.compute_capability, lambda: cuda.getDeviceProperties(1),
        lambda: cuda.deviceGetAttribute(cuda.cudaDevAttrL2CacheSize, 1),
    ):  # fmt: skip
        with pytest.raises(cuda.CUDARuntimeError, match="cudaErrorInvalidDevice: invalid device"):
            use()
    with pytest.raises(ValueError, match="invalid literal"):
        cp.cuda.Device("gpu")


# Nothing of the insides is public by another way.


def things(cp) -> dict[str, object]:
    return {
        "cp": cp, "cp.cuda": cp.cuda, "cp.cuda.stream": cp.cuda.stream,
        "cp.cuda.Stream": cp.cuda.Stream, "cp.cuda.runtime": cp.cuda.runtime,
        "cp.cublas": cp.cublas, "cp.random": cp.random, "array": cp.ones(2),
        "array.data": cp.ones(2).data, "Event()": cp.cuda.Event(), "Stream()": cp.cuda.Stream(),
        "Device()": cp.cuda.Device(), "cupyx": Cupyx(), "cupyx.profiler": Cupyx().profiler,
    }  # fmt: skip


@each_row(*things(StandIn(DEVICE)))
def test_what_is_missing_is_named_as_a_learner_writes_it(called, cp):
    thing = things(cp)[called]
    with pytest.raises(AttributeError) as error:
        thing.nowhere_to_be_found  # noqa: B018
    said = str(error.value)
    assert said.startswith(f"the stand-in for CuPy has no {called}.nowhere_to_be_found; real CuPy")
    offered = {name.strip() for name in said.rpartition("the stand-in has")[2].split(",")}
    assert offered - {"", "among others"} <= public(thing)


@each_row(*things(StandIn(DEVICE)))
def test_a_private_name_is_missing_without_a_word_about_cupy(called, cp):
    """Libraries ask for names such as _ipython_display_: the answer is a plain no."""
    with pytest.raises(AttributeError, match="^_repr_mimebundle_$"):
        things(cp)[called]._repr_mimebundle_  # noqa: B018


@each_row(*things(StandIn(DEVICE)))
def test_nothing_of_it_is_pickled(called, cp):
    if called == "cp.cuda.Stream":
        return
    with pytest.raises(TypeError, match="cannot be copied or pickled"):
        pickle.dumps(things(cp)[called])


def test_a_slip_of_the_pen_gets_the_nearest_names_first_among_them(cp):
    with pytest.raises(AttributeError, match=r"no cp\.zeroes; .* zeros"):
        cp.zeroes  # noqa: B018
    with pytest.raises(AttributeError, match=r"no cp\.cublas\.gemmm; .* gemm"):
        cp.cublas.gemmm  # noqa: B018
    with pytest.raises(AttributeError, match=r"no Event\(\)\.synchronise; .* synchronize"):
        cp.cuda.Event().synchronise  # noqa: B018


def test_importing_finds_every_module_that_is_said_to_be_there(cp):
    with modules.imported_as_cupy(cp):
        for name in modules.IMPORTED:
            module = importlib.import_module(name)
            assert module.__name__ == name
        cupy, profiler = (importlib.import_module(name) for name in ("cupy", "cupyx.profiler"))
        assert cupy.ones(3).get().tolist() == [1, 1, 1]
        assert isinstance(cupy.ones(3), ndarray) and cupy.ndarray is cp.ndarray
        with pytest.raises(AttributeError, match=r"no cp\.fft; real CuPy may have it"):
            cupy.fft  # noqa: B018
        with pytest.raises(ImportError):
            importlib.import_module("cupy.fft")
        with pytest.raises(NotImplementedError, match="synchronises after each repeat and leaves"):
            profiler.benchmark(print, n_repeat=3)


def test_the_modules_go_again_after_an_error(cp):
    before = {name: sys.modules.get(name) for name in modules.IMPORTED}
    with pytest.raises(ZeroDivisionError), modules.imported_as_cupy(cp):
        _ = 1 / 0
    assert {name: sys.modules.get(name) for name in modules.IMPORTED} == before
