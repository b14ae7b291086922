"""What numba lacks for explicit SIMD: a vector type, its loads and stores, and its arithmetic.

Four intrinsics would do for a product of matrices: ``vload``, ``vstore``, ``vsplat``, ``vfma``.
``vadd``, ``vsub``, ``vmul`` and ``vdiv`` let any of our statements run in lanes.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, cast


@functools.cache
def intrinsics(lanes: int, dtype: str) -> dict[str, Any]:
    """The functions by name, for vectors of ``lanes`` of ``dtype``: float32 or float64."""
    import llvmlite.ir as ir
    from numba import types
    from numba.core import cgutils as untyped
    from numba.extending import intrinsic, models, register_model

    cgutils: Any = untyped
    real = ir.FloatType() if dtype == "float32" else ir.DoubleType()
    size = 4 if dtype == "float32" else 8
    vector = ir.VectorType(real, lanes)

    class Vector(types.Type):
        def __init__(self) -> None:
            super().__init__(name=f"{dtype}x{lanes}")

    @register_model(Vector)
    class Model(models.PrimitiveModel):
        def __init__(self, manager: Any, kind: Any) -> None:
            super().__init__(manager, kind, vector)  # type: ignore[no-untyped-call]  # numba is not typed

    kind = cast(Any, Vector)()

    def pointer(context: Any, builder: Any, types_: Any, values: Any) -> Any:
        """Where the lanes of an element and those after it lie."""
        array = cgutils.create_struct_proxy(types_[0])(context, builder, value=values[0])
        index = cgutils.unpack_tuple(builder, values[1])
        place = cgutils.get_item_pointer(context, builder, types_[0], array, index)
        return builder.bitcast(place, vector.as_pointer())

    @intrinsic
    def vload(typing: Any, array: Any, index: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
            loaded = builder.load(pointer(context, builder, signature.args, values))
            loaded.align = size
            return loaded

        return kind(array, index), generate

    @intrinsic
    def vstore(typing: Any, array: Any, index: Any, value: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
            place = pointer(context, builder, signature.args, values)
            builder.store(values[2], place).align = size
            return context.get_dummy_value()

        return types.void(array, index, value), generate

    @intrinsic
    def vsplat(typing: Any, value: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
            number, nothing = ir.IntType(32), ir.Constant(vector, ir.Undefined)
            first = builder.insert_element(nothing, values[0], number(0))
            zeros = ir.Constant(ir.VectorType(number, lanes), [0] * lanes)
            return builder.shuffle_vector(first, nothing, zeros)

        return kind(getattr(types, dtype)), generate

    @intrinsic
    def vfma(typing: Any, one: Any, other: Any, added: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
            name = f"llvm.fma.v{lanes}f{8 * size}"
            function = ir.FunctionType(vector, [vector] * 3)
            return builder.call(
                cgutils.get_or_insert_function(builder.module, function, name), values
            )

        return kind(kind, kind, kind), generate

    arithmetic = {
        name: _arithmetic(intrinsic, kind, operation)
        for name, operation in (
            ("vadd", "fadd"), ("vsub", "fsub"), ("vmul", "fmul"), ("vdiv", "fdiv"),
        )
    }  # fmt: skip
    return {"vload": vload, "vstore": vstore, "vsplat": vsplat, "vfma": vfma, **arithmetic}


def _arithmetic(intrinsic: Callable[..., Any], kind: Any, operation: str) -> Any:
    """The intrinsic of one instruction on two vectors."""

    @intrinsic
    def function(typing: Any, one: Any, other: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
            return getattr(builder, operation)(*values)

        return kind(kind, kind), generate

    return function
