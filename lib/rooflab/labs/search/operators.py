"""The operators of the course, each as a statement over named loops.

Sizes are those of the functions of the same names in ``rl``, whose ledgers they agree with.
"""

from __future__ import annotations

from rooflab.count.dtypes import DTypeLike
from rooflab.count.validation import size
from rooflab.labs.search.statement import Operator, operator

__all__ = ["attention_scores", "attention_values", "conv2d", "gemm", "gemv", "max_pool"]


def gemm(m: int, n: int, k: int, dtype: DTypeLike = "fp32") -> Operator:
    """C ← AB: the product of matrices, as ``rl.gemm``.

    Parameters
    ----------
    m : int
        Rows of A and C.
    n : int
        Columns of B and C.
    k : int
        Columns of A and rows of B: the loop that is summed over.
    dtype : str, DType or a dtype of NumPy or PyTorch, default "fp32"
        Format of all tensors.

    Returns
    -------
    Operator
        Loops m, n and k over C, A and B.

    Examples
    --------
    >>> rl.search.operators.gemm(1024, 1024, 1024).innermost  # along the rows of C and B
    'n'
    """
    extents = {"m": m, "n": n, "k": k}
    return operator("C[m, n] += A[m, k] * B[k, n]", extents, dtype, name="gemm")


def gemv(m: int, n: int, dtype: DTypeLike = "fp32") -> Operator:
    """y ← Ax: a matrix times a vector, as ``rl.gemv``.

    Parameters
    ----------
    m : int
        Rows of A, and elements of y.
    n : int
        Columns of A, and elements of x: the loop that is summed over.
    dtype : str, DType or a dtype of NumPy or PyTorch, default "fp32"
        Format of all tensors.

    Returns
    -------
    Operator
        Loops m and n over y, A and x.

    Examples
    --------
    >>> one = rl.search.operators.gemv(64, 64)
    >>> one.points / one.footprints["A"]  # every number of A is used once
    1.0
    """
    return operator("y[m] += A[m, n] * x[n]", {"m": m, "n": n}, dtype, name="gemv")


def conv2d(
    batch: int, height: int, width: int, c_in: int, c_out: int, kernel: int,
    dtype: DTypeLike = "fp32", *, stride: int = 1,
) -> Operator:  # fmt: skip
    """2-D convolution with channels first and no padding, as ``rl.conv2d``.

    Parameters
    ----------
    batch : int
        Number of images.
    height : int
        Height of an image in pixels.
    width : int
        Width of an image in pixels.
    c_in : int
        Channels of the input.
    c_out : int
        Channels of the output.
    kernel : int
        Height and width of the window in pixels.
    dtype : str, DType or a dtype of NumPy or PyTorch, default "fp32"
        Format of all tensors.
    stride : int, default 1
        Pixels from one window to the next.

    Returns
    -------
    Operator
        Loops n, co, ho, wo, ci, kh and kw over the output O, the input I and the weights W.

    Examples
    --------
    >>> one = rl.search.operators.conv2d(1, 58, 58, 64, 64, 3)
    >>> one.footprints["I"], 64 * 58 * 58  # windows overlap; each pixel is counted once
    (215296, 215296)
    """
    rows, columns = (_windows(n, kernel, stride) for n in (height, width))
    extents = {"n": batch, "co": c_out, "ho": rows, "wo": columns,
               "ci": c_in, "kh": kernel, "kw": kernel}  # fmt: skip
    return operator(
        f"O[n, co, ho, wo] += I[n, ci, {_pixels(stride)}] * W[co, ci, kh, kw]",
        extents, dtype, name="conv2d", shapes={"I": (batch, c_in, height, width)},
    )  # fmt: skip


def max_pool(
    batch: int, height: int, width: int, channels: int, kernel: int, dtype: DTypeLike = "fp32",
    *, stride: int | None = None,
) -> Operator:  # fmt: skip
    """Max pooling with channels first and no padding, as ``rl.pool2d``.

    Parameters
    ----------
    batch : int
        Number of images.
    height : int
        Height of an image in pixels.
    width : int
        Width of an image in pixels.
    channels : int
        Channels of the input, and of the output.
    kernel : int
        Height and width of the window in pixels.
    dtype : str, DType or a dtype of NumPy or PyTorch, default "fp32"
        Format of all tensors.
    stride : int, default ``kernel``
        Pixels from one window to the next.

    Returns
    -------
    Operator
        Loops n, c, ho, wo, kh and kw over the output O and the input I.

    Examples
    --------
    >>> rl.search.operators.max_pool(1, 56, 56, 64, 2).flops  # 3 comparisons a window of 4
    150528
    """
    step = kernel if stride is None else stride
    rows, columns = (_windows(n, kernel, step) for n in (height, width))
    extents = {"n": batch, "c": channels, "ho": rows, "wo": columns, "kh": kernel, "kw": kernel}
    return operator(
        f"O[n, c, ho, wo] = max(O[n, c, ho, wo], I[n, c, {_pixels(step)}])",
        extents, dtype, name="max-pool", shapes={"I": (batch, channels, height, width)},
    )  # fmt: skip


def attention_scores(
    queries: int, context: int, head_dim: int, dtype: DTypeLike = "fp16"
) -> Operator:
    """S ← QKᵀ of one head: the first product of attention with its scores in memory.

    Parameters
    ----------
    queries : int
        Positions that ask.
    context : int
        Positions that are seen.
    head_dim : int
        Length of a query and of a key: the loop that is summed over.
    dtype : str, DType or a dtype of NumPy or PyTorch, default "fp16"
        Format of all tensors.

    Returns
    -------
    Operator
        Loops q, c and d over S, Q and K.

    Examples
    --------
    >>> rl.search.operators.attention_scores(1024, 1024, 64).role("d")
    'reduction'
    """
    extents = {"q": queries, "c": context, "d": head_dim}
    return operator("S[q, c] += Q[q, d] * K[c, d]", extents, dtype, name="scores")


def attention_values(
    queries: int, context: int, head_dim: int, dtype: DTypeLike = "fp16"
) -> Operator:
    """O ← PV of one head: the second product of attention, of the scores after the softmax.

    Parameters
    ----------
    queries : int
        Positions that ask.
    context : int
        Positions that are seen: the loop that is summed over.
    head_dim : int
        Length of a value.
    dtype : str, DType or a dtype of NumPy or PyTorch, default "fp16"
        Format of all tensors.

    Returns
    -------
    Operator
        Loops q, d and c over O, P and V.

    Examples
    --------
    >>> rl.search.operators.attention_values(1024, 1024, 64).role("c")
    'reduction'
    """
    extents = {"q": queries, "d": head_dim, "c": context}
    return operator("O[q, d] += P[q, c] * V[c, d]", extents, dtype, name="values")


def _pixels(stride: int) -> str:
    """The indices of a pixel, as one would write them."""
    step = f"{stride}*" if stride > 1 else ""
    return f"{step}ho + kh, {step}wo + kw"


def _windows(length: int, kernel: int, stride: int) -> int:
    """Positions of a window along an axis."""
    length, kernel, stride = size("length", length), size("kernel", kernel), size("stride", stride)
    if kernel > length:
        raise ValueError(f"kernel={kernel} does not fit an image of {length} pixels")
    return (length - kernel) // stride + 1
