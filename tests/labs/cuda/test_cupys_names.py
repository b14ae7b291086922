"""Every public name of the stand-in is CuPy's, and takes what CuPy's takes, in the same order.

A program that ran here must run on a GPU. So what the stand-in accepts, CuPy accepts, with the same
meaning. The other way round it need not be: CuPy has more, and the stand-in says so.
"""

from __future__ import annotations

import importlib
import inspect
import sys
from operator import attrgetter
from pathlib import Path

import numpy as np
import pytest

from rooflab.labs.cuda import StandIn, imported_as_cupy
from rooflab.labs.cuda.arrays import METHODS
from rooflab.labs.cuda.modules import Cupyx, Namespace, cupys_names
from tests.labs.cuda.conftest import DEVICE
from tests.support.rows import each_row

# Signatures as cupy-cuda13x 14.2.0 has them, read from the wheel with inspect.signature, or from
# the first line of the docstring where a function is compiled; without annotations.
SIGNATURES = {
    name: taken.removesuffix(")")
    for line in Path(__file__).with_name("cupy_signatures.txt").read_text("utf-8").splitlines()
    for name, _, taken in (line.partition("("),)
}
OURS = {
    "assign", "blas", "constant", "gpu", "largest", "multiplied", "new", "one", "product",
    "ptr", "reduced", "run", "span", "store", "values", "wait", "writable",
}  # fmt: skip
"""Public names of the stand-in that are for itself."""


def taken(text: str) -> inspect.Signature:
    """The signature that ``text`` writes down."""
    names: dict[str, object] = {}
    exec(f"def taking({text}): ...", {"float": float}, names)
    return inspect.signature(names["taking"])


def narrower(ours: inspect.Signature, theirs: inspect.Signature) -> list[str]:
    """What ``ours`` takes and ``theirs`` does not, or not at this place, or by another default."""
    other = list(theirs.parameters)
    named = {p.name for p in ours.parameters.values() if p.kind is p.KEYWORD_ONLY}
    faults = []
    for place, mine in enumerate(ours.parameters.values()):
        match = theirs.parameters.get(mine.name)
        if mine.kind is mine.VAR_KEYWORD or (mine.kind is mine.KEYWORD_ONLY and "kwarg" in other):
            continue  # options that change nothing here, or are not listed
        if match is None or (other.index(mine.name) != place and mine.name not in named):
            faults.append(f"{mine} is not CuPy's at place {place}")
        elif mine.default not in (match.default, mine.empty):
            faults.append(f"{mine} has another default in CuPy: {match}")
    return faults


def things(cp) -> dict[str, object]:
    """Everything of which a learner can ask for a name, as a learner writes it."""
    return {
        "cp": cp, "cp.cuda": cp.cuda, "cp.cuda.Stream": cp.cuda.Stream,
        "cp.cuda.runtime": cp.cuda.runtime, "cp.cublas": cp.cublas, "cp.random": cp.random,
        "array": cp.ones(2), "array.data": cp.ones(2).data, "Event()": cp.cuda.Event(),
        "Stream()": cp.cuda.Stream(), "Device()": cp.cuda.Device(), "cupyx": Cupyx(),
        "cupyx.profiler": Cupyx().profiler,
        "ElementwiseKernel()": cp.ElementwiseKernel("T x", "T y", "y = x"),
    }  # fmt: skip


def public(thing: Namespace) -> set[str]:
    """Names that a learner may use: not the stand-in's own."""
    return {name for name in dir(thing) if not name.startswith("_")} - OURS


def test_functions_and_methods_take_what_cupys_take(cp):
    owners = {"ndarray": cp.ones(2), "Event": cp.cuda.Event(), "Stream": cp.cuda.Stream(),
              "Device": cp.cuda.Device()}  # fmt: skip
    faults = []
    for path, text in SIGNATURES.items():
        head, _, name = path.partition(".")
        thing = getattr(owners[head], name) if head in owners else attrgetter(path)(cp)
        if head == "ndarray" and name in METHODS:
            continue  # it hands on what it gets, to the function of that name
        call = thing.__call__ if path == "cuda.Stream" else thing
        faults += [f"{path}: {fault}" for fault in narrower(inspect.signature(call), taken(text))]
    assert not faults


def test_every_function_of_the_stand_in_is_compared_above(cp):
    """A new one needs its line, with what CuPy takes."""
    plain = {"ElementwiseKernel", "matmul", "arange", "ndarray", "cublas", "cuda", "random"}
    assert public(cp) - plain == {path for path in SIGNATURES if "." not in path}
    for part, others in (
        ("cublas", set()), ("random", set()), ("cuda", {"runtime"}),
        ("cuda.runtime", {"CUDARuntimeError", "cudaDevAttrL2CacheSize"}),
    ):  # fmt: skip
        told = {p.rpartition(".")[2] for p in SIGNATURES if p.rpartition(".")[0] == part}
        assert public(attrgetter(part)(cp)) - others == told, part


def test_cupy_has_every_name_of_the_stand_in(cp):
    for called, thing in things(cp).items():
        if listed := cupys_names(thing._listed):
            assert public(thing) - {"cublas"} <= listed, called
    assert "cublas" not in cupys_names("cupy")  # a module that `import cupy` does not load
    assert not cupys_names("nothing")


def test_numpys_types_constants_and_ufuncs_are_there_as_far_as_cupys_are(cp):
    for name in ("float16", "float32", "float64", "int8", "int64", "uint8", "inf", "nan", "pi"):
        assert getattr(cp, name) is getattr(np, name)
    x = cp.asarray([1.0, 4.0])
    assert cp.sqrt(x).get().tolist() == np.sqrt(x).get().tolist() == [1, 2]
    assert cp.maximum(x, 2, x) is x and x.get().tolist() == [2, 4]
    for name in ("longdouble", "float128", "spacing", "test"):  # NumPy's only
        with pytest.raises(AttributeError, match=f"cp.{name} is not part of CuPy, which has "):
            getattr(cp, name)


@each_row(*things(StandIn(DEVICE)))
def test_what_is_missing_is_named_as_a_learner_writes_it(called, cp):
    thing = things(cp)[called]
    with pytest.raises(AttributeError, match="^_repr_mimebundle_$"):
        thing._repr_mimebundle_  # noqa: B018, a library asks for it: a plain no
    with pytest.raises(AttributeError) as error:
        thing.nowhere_to_be_found  # noqa: B018
    whose = "CuPy" if cupys_names(thing._listed) else "this stand-in for CuPy"
    assert str(error.value).startswith(f"{called}.nowhere_to_be_found is not part of {whose}")


@each_row(
    (lambda cp: cp.fft, r"^cp\.fft is part of CuPy, but not of this stand-in: on a GPU it works$"),
    (lambda cp: np.linspace(cp.ones(()), 1), r"cp\.linspace is part of CuPy, but not of this"),
    (lambda cp: cp.ones(3).mean, r"array\.mean is part of CuPy, but not of this stand-in"),
    (lambda cp: cp.cuda.Device().mem_info, r"Device\(\)\.mem_info is part of CuPy"),
    (lambda cp: cp.cuda.Event().query, r"Event\(\)\.query is not part of CuPy"),
    (lambda cp: cp.zeroes, r"cp\.zeroes is not part of CuPy, which has zeros"),
    (lambda cp: cp.cublas.gemmm, r"cp\.cublas\.gemmm is not part of this .*, which has gemm"),
    (lambda cp: cp.cuda.Event().synchronise, "not part of CuPy, which has synchronize"),
)
def test_names_of_cupy_that_are_not_here_and_slips_of_the_pen_are_told_apart(use, told, cp):
    with pytest.raises(AttributeError, match=told):
        use(cp)


def test_a_figure_that_is_not_here_is_told_and_a_device_is_the_only_one(cp):
    """As in CuPy: Device(1) is only a number until something is asked of it."""
    cuda, other = cp.cuda.runtime, cp.cuda.Device(1)
    for figure in (
        lambda: cp.cuda.Device().attributes["WarpSize"], lambda: cuda.deviceGetAttribute(16, 0)
    ):  # fmt: skip
        with pytest.raises(KeyError, match="is not a figure of this stand-in"):
            figure()
    with cp.cuda.Device(0) as device:
        assert device.id == 0 and device.attributes["L2CacheSize"] == DEVICE.l2_bytes
    assert cuda.deviceGetAttribute(cuda.cudaDevAttrL2CacheSize, 0) == DEVICE.l2_bytes
    for use in (other.use, other.__enter__, other.synchronize, lambda: other.attributes):
        with pytest.raises(cuda.CUDARuntimeError, match="cudaErrorInvalidDevice: invalid device"):
            use()


def test_importing_finds_every_module_that_is_said_to_be_there(cp):
    parts = "cupy", "cupy.cublas", "cupy.random", "cupy.cuda.runtime", "cupyx", "cupyx.profiler"
    before = {name: sys.modules.get(name) for name in parts}
    with imported_as_cupy(cp):
        for name in parts:
            assert importlib.import_module(name).__name__ == name
        assert importlib.import_module("cupy").ndarray is cp.ndarray
        with pytest.raises(ImportError):
            importlib.import_module("cupy.fft")
    assert {name: sys.modules.get(name) for name in parts} == before
