"""Deeper exercises of lesson 02: the bytes of pooling, and lines, in which bytes travel."""

from __future__ import annotations

import random
from math import ceil

from rooflab.count import pool2d
from rooflab.exercises.exercise import Case, Exercise, Misconception


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
        Misconception("one window fewer",
                      lambda h, w, c, k, s: _of_windows(h, w, c, k, (h - k) // s * ((w - k) // s)),
                      "windows begin at 0 and so on, as long as they end inside; where the first "
                      "one begins counts too."),
        Misconception("image forgotten",
                      lambda h, w, c, k, s: (_pool(h, w, c, k, s)[0],
                                             4 * _windows(h, w, c, k, s)),
                      "the image is read before anything can be compared."),
        Misconception("no reuse", _pool_without_reuse,
                      "windows overlap, but a number that many of them use need travel only once."),
        Misconception("stride ignored",
                      lambda h, w, c, k, s: ((k * k - 1) * _windows(h, w, c, k, 1),
                                             4 * (h * w * c + _windows(h, w, c, k, 1))),
                      "with a stride there are fewer windows, and fewer results."),
        Misconception("the whole image in windows",
                      lambda h, w, c, k, s: ((k * k - 1) * (h // s) * (w // s) * c,
                                             4 * (h * w * c + (h // s) * (w // s) * c)),
                      "the last window must end inside the image: it begins k before the border."),
        Misconception("channels forgotten",
                      lambda h, w, c, k, s: _pool(h, w, 1, k, s),
                      "every channel is an image of its own, with windows of its own.",
                      variants=(_one_channel_read, _one_channel_written,
                                lambda h, w, c, k, s: (_pool(h, w, 1, k, s)[0],
                                                       _pool(h, w, c, k, s)[1]))),
        Misconception("result forgotten",
                      lambda h, w, c, k, s: (_pool(h, w, c, k, s)[0], 4 * h * w * c),
                      "every window writes one number."),
        Misconception("result as large as the image",
                      lambda h, w, c, k, s: ((k * k - 1) * h * w * c, 8 * h * w * c),
                      "a window has to lie inside the image, so there are fewer of them."),
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
                      variants=(lambda a, n, d, s, line: ceil(n * d * s / line) * line,)),
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
