"""Convolution and pooling: windows that slide over an image."""

from __future__ import annotations

from dataclasses import dataclass

from rooflab.count.dtypes import DTypeLike
from rooflab.count.dtypes import dtype as _dtype
from rooflab.count.operation import Operand, Operation
from rooflab.count.validation import size, unknown


def conv2d(
    batch: int,
    height: int,
    width: int,
    c_in: int,
    c_out: int,
    kernel: int | tuple[int, int],
    dtype: DTypeLike = "fp32",
    *,
    stride: int | tuple[int, int] = 1,
    padding: int | tuple[int, int] = 0,
    dilation: int | tuple[int, int] = 1,
    groups: int = 1,
) -> Operation:
    """2-D convolution of ``batch`` images ``height``×``width``×``c_in`` into ``c_out`` channels.

    2 · batch · out_height · out_width · c_out · (c_in/groups) · kernel area FLOP. The input is
    read once, overlapping windows (the halo) counted once, padding zeros never, pixels that a
    stride jumps over never; weights are read once, the output is written once.

    Parameters
    ----------
    batch : int
        Number of images.
    height : int
        Height of an image in pixels, without padding.
    width : int
        Width of an image in pixels, without padding.
    c_in : int
        Channels of the input.
    c_out : int
        Channels of the output.
    kernel : int or (int, int)
        Height and width of the window in pixels; one number is both, here and below.
    dtype : str, DType or a dtype of NumPy or PyTorch, default "fp32"
        Format of input, weights and output; its width in bits decides the bytes.
    stride : int or (int, int), default 1
        Pixels from one window to the next.
    padding : int or (int, int), default 0
        Zeros on each side of the image, in pixels.
    dilation : int or (int, int), default 1
        Pixels from one number that a window takes to the next.
    groups : int, default 1
        Parts that the channels are cut into; a part of the output sees its part of the input.

    Returns
    -------
    Operation
        The ledger of the input x, shape (batch, height, width, c_in), of the weights w,
        (kernel height, kernel width, c_in/groups, c_out), and of the output y,
        (batch, out_height, out_width, c_out). Its unit is "tensor".

    Examples
    --------
    >>> op = rl.conv2d(1, 56, 56, 64, 128, 3, "fp16", padding=1)
    >>> op.flops, op.bytes
    (462422016, 1351680)
    >>> op.operands[2].shape
    (1, 56, 56, 128)
    """
    batch, c_in, c_out = size("batch", batch), size("c_in", c_in), size("c_out", c_out)
    groups, kind = size("groups", groups), _dtype(dtype)
    if c_in % groups or c_out % groups:
        raise ValueError(f"groups={groups} must divide c_in={c_in} and c_out={c_out}")
    rows, cols = _windows(
        height, width, kernel=kernel, stride=stride, padding=padding, dilation=dilation
    )
    area = rows.kernel * cols.kernel
    operands = (
        Operand("x", (batch, rows.length, cols.length, c_in), kind,
                touched=batch * rows.touched * cols.touched * c_in),
        Operand("w", (rows.kernel, cols.kernel, c_in // groups, c_out), kind, axis=-2),
        Operand("y", (batch, rows.out, cols.out, c_out), kind, reads=0, writes=1),
    )  # fmt: skip
    flops = 2 * batch * rows.out * cols.out * c_out * (c_in // groups) * area
    dims = {"n": batch, "h": rows.length, "w": cols.length, "c": c_in, "k": c_out,
            "r": rows.kernel, "s": cols.kernel}  # fmt: skip
    return Operation("conv2d", dims, operands, flops, kind, unit="tensor")


def pool2d(
    batch: int,
    height: int,
    width: int,
    channels: int,
    kernel: int | tuple[int, int],
    dtype: DTypeLike = "fp32",
    *,
    stride: int | tuple[int, int] | None = None,
    padding: int | tuple[int, int] = 0,
    kind: str = "max",
    convention: str = "strict",
) -> Operation:
    """Pooling over ``kernel`` windows (``stride`` defaults to the kernel).

    A max over K² numbers takes K²−1 comparisons a window (``convention="nvidia"`` counts K², as
    NVIDIA's deep-learning performance guide does); a mean takes K²−1 additions and one division.
    The input is read once, without padding and without the pixels that a stride jumps over; the
    output is written once.

    Parameters
    ----------
    batch : int
        Number of images.
    height : int
        Height of an image in pixels, without padding.
    width : int
        Width of an image in pixels, without padding.
    channels : int
        Channels of the input, and of the output.
    kernel : int or (int, int)
        Height and width of the window in pixels; one number is both, here and below.
    dtype : str, DType or a dtype of NumPy or PyTorch, default "fp32"
        Format of input and output; its width in bits decides the bytes.
    stride : int or (int, int), default ``kernel``
        Pixels from one window to the next.
    padding : int or (int, int), default 0
        Pixels added on each side of the image.
    kind : {"max", "mean"}, default "max"
        What is taken of a window.
    convention : {"strict", "nvidia"}, default "strict"
        What a max over K² numbers counts as: K²−1 FLOP, or K².

    Returns
    -------
    Operation
        The ledger of the input x, shape (batch, height, width, channels), and of the output y,
        (batch, out_height, out_width, channels). Its unit is "vector".

    Examples
    --------
    >>> op = rl.pool2d(1, 112, 112, 64, 2)  # 3 comparisons for each of 56 · 56 · 64 windows
    >>> op.flops, op.bytes
    (602112, 4014080)
    """
    batch, channels, form = size("batch", batch), size("channels", channels), _dtype(dtype)
    if kind not in ("max", "mean"):
        raise unknown("kind", kind, ("max", "mean"))
    if convention not in ("strict", "nvidia"):
        raise unknown("convention", convention, ("strict", "nvidia"))
    stride = kernel if stride is None else stride
    rows, cols = _windows(height, width, kernel=kernel, stride=stride, padding=padding, dilation=1)
    windows = batch * rows.out * cols.out * channels
    area = rows.kernel * cols.kernel
    per_window = area - 1 if kind == "max" and convention == "strict" else area
    operands = (
        Operand("x", (batch, rows.length, cols.length, channels), form,
                touched=batch * rows.touched * cols.touched * channels),
        Operand("y", (batch, rows.out, cols.out, channels), form, reads=0, writes=1),
    )  # fmt: skip
    dims = {"n": batch, "h": rows.length, "w": cols.length, "c": channels,
            "r": rows.kernel, "s": cols.kernel}  # fmt: skip
    return Operation(f"{kind}-pool2d", dims, operands, windows * per_window, form)


@dataclass(frozen=True)
class _Window:
    """A window sliding along one axis: ``out`` positions, ``touched`` distinct real elements."""

    length: int
    kernel: int
    out: int
    touched: int


def _windows(height: int, width: int, **shape: object) -> tuple[_Window, _Window]:
    """Windows along height and width; each of ``shape`` is one integer, or two."""
    height, width = size("height", height), size("width", width)
    along_height, along_width = {}, {}
    for name, value in shape.items():
        pair = value if isinstance(value, (tuple, list)) else (value, value)
        if len(pair) != 2:
            raise ValueError(f"{name}={value!r} must be one integer or two (height, width)")
        least = 0 if name == "padding" else 1
        along_height[name], along_width[name] = (size(name, part, least) for part in pair)
    return _window("height", height, **along_height), _window("width", width, **along_width)


def _window(
    axis: str, length: int, kernel: int, stride: int, padding: int, dilation: int
) -> _Window:
    span = dilation * (kernel - 1) + 1
    if span > length + 2 * padding:
        raise ValueError(
            f"kernel: a window of {span} does not fit {axis}={length} with padding={padding}"
        )
    out = (length + 2 * padding - span) // stride + 1
    if dilation == 1:
        # Padding included, elements below x that some window covers; x counts from the left edge.
        def covered(x: int) -> int:
            if stride < kernel:
                return min(x, (out - 1) * stride + kernel)
            windows, rest = divmod(x, stride)
            return min(windows * kernel + min(rest, kernel), out * kernel)

        touched = covered(padding + length) - covered(padding)
    else:
        touched = _touched_by_taps(length, out, kernel, stride, padding, dilation)
    return _Window(length, kernel, out, touched)


def _touched_by_taps(
    length: int, out: int, kernel: int, stride: int, padding: int, dilation: int
) -> int:
    """Distinct elements that a dilated window touches, tap by tap."""
    # Elements stride apart share a residue; each residue class that a tap starts in is one run.
    runs: dict[int, list[tuple[int, int]]] = {}
    for tap in range(kernel):
        first = tap * dilation - padding
        skipped = max(0, -(first // stride))  # positions that fall in the left padding
        lowest = first + skipped * stride
        highest = min(first + (out - 1) * stride, length - 1)
        if lowest <= highest:
            steps = (lowest // stride, (highest - lowest) // stride + lowest // stride)
            runs.setdefault(lowest % stride, []).append(steps)
    return sum(_union(spans) for spans in runs.values())


def _union(spans: list[tuple[int, int]]) -> int:
    total, reached = 0, -1
    for low, high in sorted(spans):
        total += max(0, high - max(low, reached + 1) + 1)
        reached = max(reached, high)
    return total
