"""Deeper exercises of lesson 02: the bytes of pooling, and lines, in which bytes travel."""

from __future__ import annotations

import random
from collections.abc import Callable
from math import ceil

from rooflab.count import pool2d
from rooflab.exercises.exercise import Case, Exercise, Misconception

Pool = Callable[[int, int, int, int, int], tuple[int, int]]


def _images(rng: random.Random) -> list[Case]:
    """The usual windows of pooling and others; each fits its image without a rest."""
    windows = [(2, 1), (3, 1), (2, 2), (3, 2)]
    drawn = []
    for kernel, stride in windows:
        rows, cols = rng.sample(range(20, 60), 2)
        h, w = (stride * (edge - 1) + kernel for edge in (rows, cols))
        drawn.append({"h": h, "w": w, "c": rng.choice((3, 16, 64)), "k": kernel, "stride": stride})
    return drawn


def _pool(h: int, w: int, c: int, k: int, stride: int) -> tuple[int, int]:
    op = pool2d(1, h, w, c, k, "fp32", stride=stride)
    return op.flops, op.bytes


def _windows(h: int, w: int, c: int, k: int, stride: int) -> int:
    return ((h - k) // stride + 1) * ((w - k) // stride + 1) * c


def _pool_without_reuse(h: int, w: int, c: int, k: int, stride: int) -> tuple[int, int]:
    windows = _windows(h, w, c, k, stride)
    return (k * k - 1) * windows, 4 * (k * k + 1) * windows


def _one_channel_read(h: int, w: int, c: int, k: int, stride: int) -> tuple[int, int]:
    flops, nbytes = _pool(h, w, c, k, stride)
    return flops, nbytes - 4 * (c - 1) * h * w


def _one_channel_written(h: int, w: int, c: int, k: int, stride: int) -> tuple[int, int]:
    flops, nbytes = _pool(h, w, c, k, stride)
    return flops, nbytes - 4 * (_windows(h, w, c, k, stride) - _windows(h, w, 1, k, stride))


def _of_windows(h: int, w: int, c: int, k: int, windows: int) -> tuple[int, int]:
    return (k * k - 1) * windows * c, 4 * c * (h * w + windows)


def _each(*ways: Pool) -> tuple[Pool, ...]:
    """The same mistakes made in the FLOPs alone, and in the bytes alone; then in both."""

    def flops(wrong: Pool) -> Pool:
        return lambda *case: (wrong(*case)[0], _pool(*case)[1])

    def nbytes(wrong: Pool) -> Pool:
        return lambda *case: (_pool(*case)[0], wrong(*case)[1])

    return tuple(way for wrong in ways for way in (flops(wrong), nbytes(wrong), wrong))


def _one_fewer(h: int, w: int, c: int, k: int, stride: int) -> tuple[int, int]:
    return _of_windows(h, w, c, k, (h - k) // stride * ((w - k) // stride))


def _rounded_down(h: int, w: int, c: int, k: int, stride: int) -> tuple[int, int]:
    return _of_windows(h, w, c, k, (h - k + 1) // stride * ((w - k + 1) // stride))


def _no_stride(h: int, w: int, c: int, k: int, stride: int) -> tuple[int, int]:
    return _of_windows(h, w, c, k, (h - k + 1) * (w - k + 1))


def _beyond_the_border(h: int, w: int, c: int, k: int, stride: int) -> tuple[int, int]:
    return _of_windows(h, w, c, k, h // stride * (w // stride))


def _one_channel(h: int, w: int, c: int, k: int, stride: int) -> tuple[int, int]:
    return _pool(h, w, 1, k, stride)


def _as_large(h: int, w: int, c: int, k: int, stride: int) -> tuple[int, int]:
    return _of_windows(h, w, c, k, h * w)


_SQUARE: tuple[Pool, ...] = (
    lambda h, w, c, k, s: _pool(h, h, c, k, s),
    lambda h, w, c, k, s: _pool(w, w, c, k, s),
    lambda h, w, c, k, s: _of_windows(h, w, c, k, _windows(h, h, 1, k, s)),
    lambda h, w, c, k, s: _of_windows(h, w, c, k, _windows(w, w, 1, k, s)),
)


POOLING = Exercise(
    "02-pooling", "Max-pooling", 2,
    "The largest number of every k×k window that slides over an fp32 image of h×w×c in steps of "
    "`stride`: how many comparisons (1 FLOP each), how many bytes at least?",
    "pooling(h, w, c, k, stride)", _pool, cases=_images, returns=("FLOPs", "bytes"), lines=2,
    derives=("pool2d",),
    insight="With a small window there are few comparisons for each byte. Compare their "
            "quotient with the ridge of your machine.",
    misconceptions=(
        Misconception("K² comparisons",
                      lambda h, w, c, k, s: (k * k * _windows(h, w, c, k, s),
                                             _pool(h, w, c, k, s)[1]),
                      "the largest of 2 numbers takes 1 comparison, of 3 it takes 2."),
        Misconception("one edge of the window",
                      lambda h, w, c, k, s: ((k - 1) * _windows(h, w, c, k, s),
                                             _pool(h, w, c, k, s)[1]),
                      "a window is k numbers wide and k high; how many does it hold?",
                      variants=(lambda h, w, c, k, s: (_windows(h, w, c, k, s),
                                                       _pool(h, w, c, k, s)[1]),)),
        Misconception("a smaller window",
                      lambda h, w, c, k, s: ((k - 1) ** 2 * _windows(h, w, c, k, s),
                                             _pool(h, w, c, k, s)[1]),
                      "of the k×k numbers only one needs no comparison, not a row and a column."),
        Misconception("one window fewer", _one_fewer,
                      "windows begin at 0 and so on, as long as they end inside; where the first "
                      "one begins counts too.",
                      variants=_each(_one_fewer, _rounded_down)),
        Misconception("a square image", _SQUARE[0],
                      "the image is h high and w wide; both count.", variants=_each(*_SQUARE)),
        Misconception("image forgotten",
                      lambda h, w, c, k, s: (_pool(h, w, c, k, s)[0],
                                             4 * _windows(h, w, c, k, s)),
                      "the image is read before anything can be compared."),
        Misconception("no reuse", _pool_without_reuse,
                      "windows overlap, but a number that many of them use need travel only once."),
        Misconception("stride ignored", _no_stride,
                      "with a stride there are fewer windows, and fewer results.",
                      variants=_each(_no_stride)),
        Misconception("the whole image in windows", _beyond_the_border,
                      "the last window must end inside the image: it begins k before the border.",
                      variants=_each(_beyond_the_border)),
        Misconception("channels forgotten", _one_channel,
                      "every channel is an image of its own, with windows of its own.",
                      variants=(*_each(_one_channel), _one_channel_read, _one_channel_written)),
        Misconception("result forgotten",
                      lambda h, w, c, k, s: (_pool(h, w, c, k, s)[0], 4 * h * w * c),
                      "every window writes one number."),
        Misconception("result as large as the image", _as_large,
                      "a window has to lie inside the image, so there are fewer of them.",
                      variants=_each(_as_large)),
        Misconception("elements",
                      lambda h, w, c, k, s: (_pool(h, w, c, k, s)[0], _pool(h, w, c, k, s)[1] // 4),
                      "you counted elements; an fp32 number has 4 bytes."),
    ),
)  # fmt: skip


def _addresses(rng: random.Random) -> list[Case]:
    """Runs and strides; the first numbers lie unaligned: in the middle of a line."""
    shapes = [(1, 4, 64), (1, 8, 64), (3, 4, 64), (7, 8, 128), (40, 4, 64)]
    return [
        {"address": 4096 * rng.randrange(100) + line - rng.choice((8, 16)),
         "count": line // size * rng.randrange(5, 20) + rng.choice((0, line // size // 2)),
         "stride": stride, "itemsize": size, "line": line}
        for stride, size, line in shapes
    ]  # fmt: skip


def lines_touched(address: int, count: int, stride: int, itemsize: int, line: int) -> int:
    """Number of cache lines that hold any of ``count`` numbers, ``stride`` numbers apart."""
    return len({(address + i * stride * itemsize) // line for i in range(count)})


def _span(count: int, stride: int, itemsize: int) -> int:
    return ((count - 1) * stride + 1) * itemsize


LINES = Exercise(
    "02-lines", "Bytes travel in lines", 2,
    "`count` numbers of `itemsize` bytes are read, every stride-th of an array; the first is at "
    "byte `address`. Memory comes in lines of `line` bytes. How many bytes travel?",
    "travelling(address, count, stride, itemsize, line)",
    lambda a, n, d, s, line: lines_touched(a, n, d, s, line) * line, cases=_addresses, lines=2,
    insight="Where one number of each line is used, it costs as much as the whole line. Choose "
            "the order of your own loops by that.",
    misconceptions=(
        Misconception("what is used", lambda a, n, d, s, line: n * s,
                      "you counted the bytes that are used; whole lines travel."),
        Misconception("aligned", lambda a, n, d, s, line: lines_touched(0, n, d, s, line) * line,
                      "the first number need not stand at the beginning of a line: use address."),
        Misconception("a line each", lambda a, n, d, s, line: n * line,
                      "neighbours in the same line come with one trip."),
        Misconception("stride ignored",
                      lambda a, n, d, s, line: lines_touched(a, n, 1, s, line) * line,
                      "with a stride the numbers lie further apart.",
                      variants=(lambda a, n, d, s, line: ceil(n * s / line) * line,
                                lambda a, n, d, s, line: (n * s // line + 1) * line)),
        Misconception("everything in between",
                      lambda a, n, d, s, line: ceil(_span(n, d, s) / line) * line,
                      "count only the lines that hold a wanted number. A prefetcher may bring "
                      "more; the count does not. And where does the first line begin?",
                      variants=(lambda a, n, d, s, line: ceil(n * d * s / line) * line,
                                lambda a, n, d, s, line: (n * d * s // line + 1) * line)),
        Misconception("stride numbers left out",
                      lambda a, n, d, s, line: lines_touched(a, n, d + 1, s, line) * line,
                      "a stride of 1 leads to the next number, so nothing is left out there."),
        Misconception("from the first line to the last",
                      lambda a, n, d, s, line: (((a + (n - 1) * d * s) // line - a // line) + 1)
                      * line,
                      "with a large stride there are lines in between that hold no wanted number; "
                      "count the others."),
        Misconception("stride in bytes",
                      lambda a, n, d, s, line: len({(a + i * d) // line for i in range(n)}) * line,
                      "stride counts numbers; the next one lies stride * itemsize bytes on."),
        Misconception("64 bytes always",
                      lambda a, n, d, s, line: lines_touched(a, n, d, s, line) * 64,
                      "not every machine has lines of 64 bytes; `line` says how many they have.",
                      variants=(lambda a, n, d, s, line: lines_touched(a, n, d, s, 64) * 64,)),
        Misconception("the stride of each number", lambda a, n, d, s, line: n * d * s,
                      "that is the length of the way from the first number to the last; whole "
                      "lines travel, and only those that hold a wanted number."),
        Misconception("lines, not bytes", lambda a, n, d, s, line: lines_touched(a, n, d, s, line),
                      "that is the number of lines; each has `line` bytes.",
                      variants=(lambda a, n, d, s, line: lines_touched(a, n, d, s, line) * s,)),
    ),
)  # fmt: skip

EXERCISES = (POOLING, LINES)
