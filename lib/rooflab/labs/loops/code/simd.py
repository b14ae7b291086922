"""What numba lacks for explicit SIMD: a vector type, its loads and stores, and its arithmetic.

Four intrinsics would do for a product of matrices: ``vload``, ``vstore``, ``vsplat``, ``vfma``.
``vadd``, ``vsub``, ``vmul``, ``vdiv``, ``vmax`` and ``vmin`` let others run in lanes too.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Any, cast

_ARITHMETIC = {"vadd": "fadd", "vsub": "fsub", "vmul": "fmul", "vdiv": "fdiv"}
_CALLS = {"vfma": ("fma", 3), "vmax": ("maxnum", 2), "vmin": ("minnum", 2)}  # LLVM's, operands


@dataclass(frozen=True)
class _Vector:
    """A vector of ``lanes`` numbers, as numba knows it (``kind``) and as LLVM does (``llvm``)."""

    lanes: int
    dtype: str
    kind: Any
    llvm: Any

    @property
    def size(self) -> int:
        """Bytes of a number."""
        return 4 if self.dtype == "float32" else 8

    def place(self, context: Any, builder: Any, signature: Any, values: Any) -> Any:
        """Where an array's element and those after it lie, as a pointer to a vector."""
        from numba.core import cgutils as untyped

        cgutils, array = cast(Any, untyped), signature.args[0]
        held = cgutils.create_struct_proxy(array)(context, builder, value=values[0])
        index = cgutils.unpack_tuple(builder, values[1])
        place = cgutils.get_item_pointer(context, builder, array, held, index)
        return builder.bitcast(place, self.llvm.as_pointer())


@functools.cache
def intrinsics(lanes: int, dtype: str) -> dict[str, Any]:
    """The functions by name, for vectors of ``lanes`` of ``dtype``: float32 or float64."""
    vector = _vector(lanes, dtype)
    names = {name: _arithmetic(vector, instruction) for name, instruction in _ARITHMETIC.items()}
    names |= {"vload": _load(vector), "vstore": _store(vector), "vsplat": _splat(vector)}
    return names | {name: _call(vector, *called) for name, called in _CALLS.items()}


def _vector(lanes: int, dtype: str) -> _Vector:
    import llvmlite.ir as ir
    from numba import types
    from numba.extending import models, register_model

    real = ir.FloatType() if dtype == "float32" else ir.DoubleType()
    llvm = ir.VectorType(real, lanes)

    class Vector(types.Type):
        def __init__(self) -> None:
            super().__init__(name=f"{dtype}x{lanes}")

    @register_model(Vector)
    class Model(models.PrimitiveModel):
        def __init__(self, manager: Any, kind: Any) -> None:
            super().__init__(manager, kind, llvm)  # type: ignore[no-untyped-call]  # by numba

    return _Vector(lanes, dtype, cast(Any, Vector)(), llvm)


def _load(vector: _Vector) -> Any:
    from numba.extending import intrinsic

    @intrinsic
    def vload(typing: Any, array: Any, index: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
            loaded = builder.load(vector.place(context, builder, signature, values))
            loaded.align = vector.size
            return loaded

        return vector.kind(array, index), generate

    return vload


def _store(vector: _Vector) -> Any:
    from numba import types
    from numba.extending import intrinsic

    @intrinsic
    def vstore(typing: Any, array: Any, index: Any, value: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
            place = vector.place(context, builder, signature, values)
            builder.store(values[2], place).align = vector.size
            return context.get_dummy_value()

        return types.void(array, index, value), generate

    return vstore


def _splat(vector: _Vector) -> Any:
    import llvmlite.ir as ir
    from numba import types
    from numba.extending import intrinsic

    @intrinsic
    def vsplat(typing: Any, value: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
            number, nothing = ir.IntType(32), ir.Constant(vector.llvm, ir.Undefined)
            first = builder.insert_element(nothing, values[0], number(0))
            zeros = ir.Constant(ir.VectorType(number, vector.lanes), [0] * vector.lanes)
            return builder.shuffle_vector(first, nothing, zeros)

        return vector.kind(getattr(types, vector.dtype)), generate

    return vsplat


def _call(vector: _Vector, called: str, operands: int) -> Any:
    """The intrinsic that calls one of LLVM's on two or three vectors."""
    import llvmlite.ir as ir
    from numba.extending import intrinsic

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        name = f"llvm.{called}.v{vector.lanes}f{8 * vector.size}"
        function = builder.module.globals.get(name)
        if function is None:
            kind = ir.FunctionType(vector.llvm, [vector.llvm] * operands)
            function = ir.Function(builder.module, kind, name)
        return builder.call(function, values)

    # numba counts the arguments of what it types, so that it takes one function for each number.
    def on_two(typing: Any, one: Any, other: Any) -> Any:
        return vector.kind(vector.kind, vector.kind), generate

    def on_three(typing: Any, one: Any, other: Any, added: Any) -> Any:
        return vector.kind(vector.kind, vector.kind, vector.kind), generate

    return intrinsic(on_two if operands == 2 else on_three)


def _arithmetic(vector: _Vector, instruction: str) -> Any:
    """The intrinsic of one instruction on two vectors."""
    from numba.extending import intrinsic

    @intrinsic
    def function(typing: Any, one: Any, other: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
            return getattr(builder, instruction)(*values)

        return vector.kind(vector.kind, vector.kind), generate

    return function
