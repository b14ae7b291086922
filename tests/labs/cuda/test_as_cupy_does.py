"""What CuPy 14 refuses, the stand-in refuses; what both compute is the same number.

The errors are those of CuPy 14.2's source: ``_core/_kernel.pyx``, ``cublas.py``,
``_manipulation/basic.py``.
"""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from tests.support.rows import each_row


def of(cp, *values, dtype=float):
    """Values that are not all equal, so that they are computed one by one."""
    return cp.asarray(np.array(values, dtype))


# Element-wise functions, copies and what they may go into.


@each_row([1, 2, 3], ((1,),), "1", None, np.ones(3), np.array(1.5))
def test_only_arrays_of_the_gpu_and_numbers_are_operands(wrong, cp):
    x = cp.ones(3)
    for use in (
        lambda: x + wrong, lambda: wrong * x, lambda: cp.subtract(wrong, x),
        lambda: x.__itruediv__(wrong), lambda: x.__setitem__(slice(None), wrong),
    ):  # fmt: skip
        with pytest.raises(TypeError, match="Unsupported type"):
            use()
    assert x.get().tolist() == [1, 1, 1]


@each_row("equal", "varied")
def test_a_result_of_another_shape_does_not_go_into_an_array(given, cp):
    x = cp.ones(3) if given == "equal" else cp.arange(3.0)
    before = x.get().tolist()
    large, wide = cp.full(5, 2.0), cp.ones((2, 3))
    for use, told in (
        (lambda: cp.add(x, x, out=large), r"out has shape \(5,\); \(3,\) is wanted"),
        (lambda: cp.add(x, 1, out=cp.ones((1, 3))), r"out has shape \(1, 3\)"),
        (lambda: x.__iadd__(wide), r"out has shape \(3,\); \(2, 3\) is wanted"),
        (lambda: cp.copyto(x, large), r"from shape \(5,\) into shape \(3,\)"),
        (lambda: x.__setitem__(..., large), r"from shape \(5,\) into shape \(3,\)"),
        (lambda: x.__setitem__(slice(0, 2), wide), r"from shape \(2, 3\) into shape \(2,\)"),
    ):
        with pytest.raises(ValueError, match=told):
            use()
    assert x.get().tolist() == before and large.get().tolist() == [2] * 5
    assert {e["kernel"] for e in cp.gpu.log if e["what"] == "launch"} <= {"fill"}


@each_row(((3,),), ((1,),), ((),), ((1, 3),), ((1, 1, 3),), ((2, 3),))
def test_what_spreads_is_copied_as_numpy_copies_it(shape, cp):
    values = np.arange(float(np.prod(shape, dtype=int))).reshape(shape) + 5
    ours, theirs = cp.zeros((2, 3)), np.zeros((2, 3))
    ours[...], theirs[...] = cp.asarray(values), values
    assert ours.get().tolist() == theirs.tolist()


@each_row("int8", "int64", "uint8")
def test_floating_point_goes_into_no_whole_numbers_by_itself(dtype, cp):
    x, half = cp.arange(3, dtype=dtype), cp.full(3, 1.5)
    for use in (
        lambda: x.__iadd__(1.5), lambda: x.__itruediv__(2), lambda: x.__imul__(half),
        lambda: cp.add(half, half, out=x), lambda: cp.copyto(x, half), lambda: cp.copyto(x, 1.5),
        lambda: cp.copyto(x, np.float64(1)), lambda: cp.copyto(x, np.array([1.5])),
    ):  # fmt: skip
        with pytest.raises(TypeError, match="Cannot cast .* according to the rule 'same_kind'"):
            use()
    assert x.get().tolist() == [0, 1, 2]
    x[...] = half  # an assignment does, as in NumPy
    assert x.get().tolist() == [1, 1, 1]
    x += 2
    assert x.get().tolist() == [3, 3, 3] and x.dtype == dtype


def test_narrower_floating_point_is_of_the_same_kind(cp):
    x = cp.ones(3, dtype=cp.float32)
    x += cp.full(3, 0.5)
    cp.copyto(x[:1], cp.full(1, 4.0))
    assert x.get().tolist() == [4, 1.5, 1.5] and x.dtype == np.float32


@each_row(
    lambda x: x == 1, lambda x: x != x, lambda x: x < 1, lambda x: x <= 1, lambda x: x > 0,
    lambda x: x <= 0, lambda x: -x, lambda x: +x, lambda x: abs(x), lambda x: ~x,
    lambda x: x**2, lambda x: 2**x, lambda x: x // 2, lambda x: 7 % x, lambda x: divmod(x, 2),
    lambda x: x << 1, lambda x: 1 >> x, lambda x: x & x, lambda x: 1 | x, lambda x: x ^ x,
)  # fmt: skip
def test_other_operators_are_refused_in_the_usual_words(use, cp):
    with pytest.raises(NotImplementedError, match=r"the stand-in .*; real CuPy may have it; the"):
        use(cp.arange(3))


def test_in_place_too_and_no_array_is_a_key(cp):
    x = cp.ones(3)
    with pytest.raises(NotImplementedError, match=r"no \*\* of arrays; real CuPy may have it"):
        x **= 2
    with pytest.raises(TypeError, match="unhashable"):
        hash(x)


def test_a_number_on_the_gpu_is_written_as_a_number(cp):
    assert f"{cp.full(4, 0.75).sum():.2f}" == "3.00" and f"{cp.ones(2)}".startswith("<array 2")
    with pytest.raises(ValueError, match="format code"):
        f"{cp.ones(2):.2f}"


def test_random_numbers_have_the_type_that_was_asked_for(cp):
    assert cp.random.rand(3, dtype=cp.float32).dtype == np.float32
    assert cp.random.rand(2, 3).dtype == np.float64 and cp.random.rand().shape == ()
    with pytest.raises(TypeError, match=r"rand\(\) got unexpected keyword arguments seed"):
        cp.random.rand(3, seed=1)


@each_row(np.array([1, 2]), np.array(1), True, None, [0], ((0,),), np.array([True, False, True]))
def test_other_indices_are_refused_in_the_usual_words(index, cp):
    x = cp.arange(3.0)
    for use in (lambda: x[index], lambda: x.__setitem__(index, 1)):
        with pytest.raises(NotImplementedError, match="first axis only; real CuPy may have more"):
            use()
    with pytest.raises(NotImplementedError, match="first axis only"):
        x[cp.arange(2)]


def test_an_array_without_elements_launches_nothing(cp):
    nothing = cp.ones(0)
    for made in (nothing + 1, nothing * nothing, nothing.copy(), cp.zeros((0, 3)) / 2):
        assert made.size == 0 and made.get().size == 0
    nothing.fill(2)
    assert not [e for e in cp.gpu.log if e["what"] == "launch"]
    assert float(nothing.sum()) == 0 == float(cp.dot(nothing, nothing))
    assert (cp.ones((2, 0)) @ cp.ones((0, 3))).get().tolist() == [[0] * 3] * 2
    with pytest.raises(ValueError, match="zero-size array"):
        nothing.max()


# Sums and products wrap as the GPU's whole numbers do.


@each_row("uint8", "int8", "int16")
@each_row(1, 127, 128, 255, 256, 300, 100_000)
def test_sums_in_a_narrow_type_wrap(n, dtype, cp):
    equal, varied = np.ones(n, dtype), np.arange(n).astype(dtype)
    for values, ours in ((equal, cp.ones(n, dtype=dtype)), (varied, cp.asarray(varied))):
        found = ours.sum(dtype=dtype)
        assert found.dtype == dtype and found.item() == values.sum(dtype=dtype)
        assert ours.sum().item() == values.sum() and ours.sum().dtype == values.sum().dtype


@each_row("uint8", "int8", "int32")
@each_row(127, 128, 255, 256, 1000)
def test_products_in_a_narrow_type_wrap(k, dtype, cp):
    a, b = np.full((2, k), 3, dtype), np.full((k, 2), 5, dtype)
    equal = cp.full((2, k), 3, dtype=dtype) @ cp.full((k, 2), 5, dtype=dtype)
    np.testing.assert_array_equal(equal.get(), a @ b)
    assert equal.dtype == dtype


def test_halves_are_summed_and_multiplied_in_a_wider_type(cp):
    """More of them than a half can count."""
    x = cp.full(100_000, 0.5, dtype=cp.float16)
    assert x.sum().item() == np.float16(50_000)
    assert cp.dot(x, x).item() == np.float16(25_000)


# cuBLAS.


@each_row("N", "T", "H", 0, 1, 2)
def test_cublas_turns_a_matrix_as_it_is_told(trans, cp):
    a, right = of(cp, [1, 2], [3, 4]), np.array([[1.0, 2], [3, 4]])
    left = right if trans in ("N", 0) else right.T
    y = cp.zeros(2)
    cp.cublas.gemv(trans, 1.0, a, of(cp, 5, 6), 0.0, y)
    assert y.get().tolist() == (left @ [5, 6]).tolist()
    assert cp.cublas.gemm(trans, "N", a, a).get().tolist() == (left @ right).tolist()
    assert cp.cublas.gemm("N", trans, a, a).get().tolist() == (right @ left).tolist()


@each_row("X", "n", "t", "", None, 3)
def test_cublas_knows_no_other_way(trans, cp):
    a, x = cp.ones((2, 2)), cp.ones(2)
    for use in (
        lambda: cp.cublas.gemv(trans, 1, a, x, 0, x), lambda: cp.cublas.gemm(trans, "N", a, a),
        lambda: cp.cublas.gemm("N", trans, a, a),
    ):  # fmt: skip
        with pytest.raises(TypeError, match=r"invalid trans \(actual: "):
            use()


@each_row("int32", "float16", "uint8", "int64", "bool")
def test_cublas_has_routines_for_fp32_and_fp64_only(dtype, cp):
    x, a, blas = cp.ones(3, dtype=dtype), cp.ones((3, 3), dtype=dtype), cp.cublas
    for use in (
        lambda: blas.axpy(1, x, x), lambda: blas.scal(2, x), lambda: blas.dot(x, x),
        lambda: blas.gemv("N", 1, a, x, 0, x), lambda: blas.gemm("N", "N", a, a),
        lambda: blas.gemm("N", "N", cp.ones((3, 3)), cp.ones((3, 3)), out=a),
    ):  # fmt: skip
        with pytest.raises(TypeError, match=f"invalid dtype {dtype}"):
            use()
    assert (a @ a).dtype == dtype  # the operator finds another way


def test_cublas_takes_vectors_where_it_wants_vectors(cp):
    a, x = cp.ones((2, 2)), cp.ones(2)
    with pytest.raises(ValueError, match="a matrix and two vectors"):
        cp.cublas.gemv("N", 1, a, a, 0, a)
    with pytest.raises(ValueError, match="two matrices are wanted"):
        cp.cublas.gemm("N", "N", a, x)
    with pytest.raises(NotImplementedError, match="the stand-in scales by numbers only; real CuPy"):
        cp.cublas.axpy(cp.ones(()), x, x)
    with pytest.raises(NotImplementedError, match="the stand-in scales by numbers only; real CuPy"):
        cp.cublas.gemv("N", 1, a, x, cp.ones(()), cp.ones(2))


# Kernels of one's own.


def test_a_kernel_spreads_its_inputs_and_not_its_output(cp):
    kernel = cp.ElementwiseKernel("T x, T z", "T y", "y = x + z", "k")
    row, table = cp.arange(3.0), cp.ones((2, 3))
    assert kernel(row, table).get().tolist() == [[1, 2, 3]] * 2
    assert kernel(2.0, row).get().tolist() == [2, 3, 4]
    for args, told in (
        ((row, cp.arange(4.0)), "shape mismatch"),
        ((row, row, cp.empty(1)), r"out has shape \(1,\); \(3,\) is wanted"),
        ((table, table, row), r"out has shape \(3,\); \(2, 3\) is wanted"),
        ((1.0, 2.0), "Loop size is undecided"),
    ):
        with pytest.raises(ValueError, match=told):
            kernel(*args)


@each_row(0, 1, 4)
def test_a_kernel_counts_its_arguments(number, cp):
    kernel = cp.ElementwiseKernel("T x, T z", "T y", "y = x + z", "mine")
    told = rf"for 'mine'. It must be either 2 or 3 \(with outputs\), but given {number}\."
    with pytest.raises(TypeError, match=told):
        kernel(*[cp.ones(3)] * number)


def test_a_kernel_takes_no_arrays_of_the_host(cp):
    kernel, x = cp.ElementwiseKernel("T x", "T y", "y = x", "k"), cp.ones(3)
    for args in ((np.ones(3),), ([1.0],), (x, np.ones(3)), (x, 1.0)):
        with pytest.raises(TypeError, match="Unsupported type"):
            kernel(*args)


def test_the_types_of_a_kernel_are_those_of_its_parameters(cp):
    widen = cp.ElementwiseKernel("float32 x", "float64 y", "y = x * 2", "widen")
    x = cp.ones(3, dtype=cp.float32)
    assert widen(x).dtype == np.float64
    for use, told in (
        (lambda: widen(cp.ones(3)), "Type is mismatched. x float64 float32"),
        (lambda: widen(x, x), "Type is mismatched. y float32 float64"),
        (lambda: cp.ElementwiseKernel("T x", "T y", "y = x", "k")(x, cp.ones(3)), "mismatched. x"),
        (lambda: cp.ElementwiseKernel("T x", "U y", "y = x", "k")(x), "no array says what U"),
        (lambda: cp.ElementwiseKernel("foo x", "T y", "y = x", "k"), "foo"),
    ):
        with pytest.raises(TypeError, match=told):
            use()


def test_parameters_that_the_stand_in_does_not_know_are_refused(cp):
    for wrong in ("raw T x", "x", "const T x"):
        with pytest.raises(NotImplementedError, match=f"not '{wrong}'; real CuPy may have more"):
            cp.ElementwiseKernel(wrong, "T y", "y = 1", "k")
    with pytest.raises(ValueError, match="Can not use 'i' as a parameter name"):
        cp.ElementwiseKernel("T i", "T y", "y = i", "k")


INTS, FLOATS = (7, -7, 1, -1), (7.0, -7.0, 1.0, -0.5)


@each_row(  # as a C compiler computes them
    ("y = 1 / 2 * x", "float64", [0, 0, 0, 0]),
    ("y = 1.0 / 2 * x", "float64", [3.5, -3.5, 0.5, -0.25]),
    ("y = x / 2", "float32", [3.5, -3.5, 0.5, -0.25]),
    ("y = 2.0f * x + 1e0f", "float32", [15, -13, 3, 0]),
    ("y = x * .5f - 1.f", "float32", [2.5, -4.5, -0.5, -1.25]),
    ("y = x / 2 * 2", "int32", [6, -6, 0, 0]), ("y = x / -2", "int64", [-3, 3, 0, 0]),
    ("y = x / 2.0 * 2", "int32", [7, -7, 1, -1]), ("y = x * 0.5", "int32", [3, -3, 0, 0]),
    ("y /= 2", "int8", [3, -3, 0, 0]), ("y = x * 100 / 100", "int8", [7, -7, 1, -1]),
    ("y = -x", "uint8", [249, 7, 255, 1]),
    ("y = 0 - x / 2", "uint32", [-3, -(2**31 - 4), 0, -(2**31 - 1)]),
)  # fmt: skip
def test_a_kernel_computes_as_c_does(text, dtype, right, cp):
    values = np.array(INTS if dtype[0] in "iu" else FLOATS).astype(dtype)
    kernel = cp.ElementwiseKernel("T x", "T y", text, "k")
    y = cp.asarray(values)
    kernel(cp.asarray(values), y)
    assert y.get().tolist() == np.array(right).astype(dtype).tolist()
    for value, wanted in zip(values, np.array(right).astype(dtype), strict=True):  # all equal
        y = cp.full(3, value, dtype=dtype)
        kernel(cp.full(3, value, dtype=dtype), y)
        assert y.get().tolist() == [wanted] * 3


def test_c_computes_in_the_type_of_its_operands(cp):
    """float16 in float, float in float, and with a double in double."""
    tenth = cp.full(2, 0.1, dtype=cp.float32)
    for text, right in (
        ("y = x * 0.1f", np.float32(0.1) * np.float32(0.1)),
        ("y = x * 0.1", np.float64(np.float32(0.1)) * 0.1),
    ):
        made = cp.ElementwiseKernel("float32 x", "float64 y", text, "k")(tenth)
        assert made[0].item() == float(right)
    wide = cp.full(2, 60_000, dtype=cp.float16)
    assert cp.ElementwiseKernel("T x", "T y", "y = x * 2 / 4", "k")(wide)[0].item() == 30_000
    ints = cp.arange(3, dtype=cp.int32)
    assert cp.ElementwiseKernel("int32 x", "float32 y", "y = x / 2 + 0.5f", "k")(
        ints
    ).get().tolist() == [0.5, 0.5, 1.5]


@each_row(
    "y = 2f * x", "y = 2j * x", "y = x * True", "y = x // 2",
    "y = sqrt(x)", "y = float(x, 2)", "y = 1.0fx"
)  # fmt: skip
def test_what_is_no_arithmetic_of_c_is_refused(text, cp):
    with pytest.raises(NotImplementedError, match="the stand-in"):
        cp.ElementwiseKernel("T x", "T y", text, "k")


def test_a_cast_is_c_plus_plus_and_no_flop(cp):
    kernel = cp.ElementwiseKernel("T x", "T y", "y = int(x) / 2 + float(1)", "k")
    assert kernel(of(cp, 3.9, -3.9)).get().tolist() == [2, 0]
    assert cp.gpu.log[-2]["flops"] == 2 * 2
    with pytest.raises(ValueError, match="uses float, not a parameter"):
        cp.ElementwiseKernel("T x", "T y", "y = x * float", "k")


@each_row("float32", "int32")
def test_dividing_by_zero_warns_of_nothing(dtype, cp):
    kernel = cp.ElementwiseKernel("T x, T z", "T y", "y = x / z", "k")
    x, z = cp.arange(3, dtype=dtype), cp.zeros(3, dtype=dtype)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = kernel(x, z)
        cp.cublas.scal(1e300, cp.full(3, 1e300))
        z -= 1
    if dtype == "float32":
        assert np.isnan(found[0].item()) and found[2].item() == np.inf
