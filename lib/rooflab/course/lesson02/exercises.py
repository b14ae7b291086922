"""Exercises of lesson 02, bytes are the currency: what a program moves, and what a byte is.

The wrong answers are slips of public teaching pages: BLAS's bytes for NumPy's expression, element
sizes taken for granted, and one B/F for two things, what a program asks and what a machine gives.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from math import ceil, inf

import numpy as np

from rooflab.course.drawing import peak_and_bandwidth
from rooflab.exercises.exercise import (
    ITEMSIZES,
    Case,
    Exercise,
    Misconception,
    Observation,
    at_least,
    cases_of,
)
from rooflab.exercises.kinds.golf import agree, one_number
from rooflab.exercises.observe.golf import arrays, digest
from rooflab.exercises.table import drawn, slip, table
from rooflab.labs.golf import CACHE
from rooflab.labs.golf import solutions as ways

NUMPY_BYTES = table(
    "02-numpy-bytes", "Bytes of a NumPy expression", 2,
    "How many bytes does NumPy move for a*x + y on vectors far larger than the cache, and how many "
    "does BLAS's AXPY?",
    "bytes_moved(n, itemsize)", lines=2, derives=("axpy", "golf"),
    cases=drawn(4, n=range(10**6, 10**8), itemsize=[8, 4, 2, 1]),
    domain={"itemsize": ITEMSIZES}, example=(1e9, 8), form="(NumPy bytes, AXPY bytes)",
    fixed=cases_of("n itemsize", (1_000_003, 1), (10**9, 2), (2**31 + 7, 4), (123_456_789, 8),
                   (10**10 + 1, 2)),
    insight="Five trips against three, in every number type. Does your own clock show the same "
            "ratio?",
    answer={
        "_trip": lambda n, itemsize: n * itemsize,
        "NumPy bytes": lambda _trip: 5 * _trip,  # read x, write tmp, read tmp, read y, write
        "AXPY bytes": lambda _trip: 3 * _trip,
    },
    slips=(
        slip("that is BLAS", "that is BLAS; NumPy finishes and stores a*x first.",
             NumPy_bytes=lambda _trip: 3 * _trip),
        slip("tmp not read back", "the temporary is written by the first call and read by the "
             "second.", NumPy_bytes=lambda _trip: 4 * _trip),
        slip("three trips each", "two calls, but the first one has only one array to read: a is a "
             "number.", NumPy_bytes=lambda _trip: 6 * _trip),
        slip("two arrays in, one out", "AXPY reads x, reads y and writes y: y travels both ways.",
             AXPY_bytes=lambda _trip: 2 * _trip),
        slip("NumPy's for both", "BLAS multiplies and adds in one go; it stores no temporary.",
             AXPY_bytes=lambda _trip: 5 * _trip),
        slip("elements for bytes", itemsize=1),
        slip("of one number", "that is what travels for one number; each vector has n of them.",
             n=1, _trip=1),
        slip("8 bytes always",
             "fp64 is only NumPy's default; itemsize says how many bytes yours have.", itemsize=8),
        slip("write-allocate",
             "so the hardware may do it; count the trips that the program orders.",
             NumPy_bytes=lambda _trip: 7 * _trip),
    ),
)

BALANCE = table(
    "02-balance", "B/F, the other way round", 2,
    "Some texts use bytes per FLOP (B/F). Return the program's B/F, the machine's B/F, and what "
    'limits the program: "memory" or "compute".',
    "balance(flops, nbytes, peak, bandwidth)", lines=2, derives=("Roofline",),
    cases=drawn(5, flops=range(10**6, 10**9), nbytes=lambda rng, flops, peak, bandwidth, _times:
                    round(flops * bandwidth / peak * _times * rng.uniform(1, 2)),
                peak=lambda _machine: peak_and_bandwidth(_machine, "fp32")[0],
                bandwidth=lambda _machine: peak_and_bandwidth(_machine, "fp32")[1],
                _machine=["h200-sxm", "rtx-4090", "m3-pro", "mi300x", "a100-sxm-80"],
                _times=[0.1, 3, 0.2, 60, 120]),  # what the machine has; the last beyond its ridge
    domain={"flops": at_least(1), "nbytes": at_least(1)}, example=(1_000, 200, 2e12, 1e12),
    fixed=cases_of(
        "flops nbytes peak bandwidth",
        (1_000_003, 990_000, 1e12, 1e12), (1_000_003, 1_010_000, 1e12, 1e12),  # around 1
        (7, 13, 3e11, 6e11), (10**9, 749_990, 4e15, 3e12), (10**9, 750_010, 4e15, 3e12),
        (1, 1, 7e10, 7e11), (10**12, 1, 1.3e13, 4.1e11),
    ),
    insight="Your machine has a B/F too, its bandwidth divided by its peak. A program that asks "
            "for more waits for memory.",
    answer={
        "_asked": lambda flops, nbytes: nbytes / flops,
        "_offered": lambda peak, bandwidth: bandwidth / peak,
        "program's B/F": lambda _asked: _asked,
        "machine's B/F": lambda _offered: _offered,
        "limit": lambda _asked, _offered: "memory" if _asked > _offered else "compute",
    },
    slips=(
        slip("FLOP/byte", "that is intensity and ridge; B/F is their reciprocal.",
             ways=[{"program's_B/F": lambda flops, nbytes: flops / nbytes,
                    "machine's_B/F": lambda peak, bandwidth: peak / bandwidth}]),
        slip("compared the wrong way",
             "a program that asks for more bytes per FLOP than the machine has waits for memory.",
             limit=lambda _asked, _offered: "compute" if _asked > _offered else "memory"),
        slip("one B/F",
             "the machine's B/F has nothing to do with the program: it is made of bandwidth and "
             "peak.", ways=[{"machine's_B/F": lambda _asked: _asked}]),
        slip("the ridge for the machine",
             "peak over bandwidth is the ridge, in FLOP/byte; the machine's B/F is the other way "
             "round.", ways=[{"machine's_B/F": lambda peak, bandwidth: peak / bandwidth}]),
        slip("program and machine swapped", "the program comes first, then the machine.",
             ways=[{"program's_B/F": lambda _offered: _offered,
                    "machine's_B/F": lambda _asked: _asked}]),
        slip("another word",
             'the limit is one of "memory" and "compute".',
             limit=[lambda _asked, _offered:
                        "memory-bound" if _asked > _offered else "compute-bound",
                    lambda _asked, _offered: "bandwidth" if _asked > _offered else "compute"]),
        slip("always memory",
             "compare the two B/F: some of these programs ask for less than is offered.",
             limit="memory"),
        slip("always compute",
             "compare the two B/F: some of these programs ask for more than is offered.",
             limit="compute"),
        slip("compared with the ridge",
             "the program's B/F and the ridge have different units; compare it with the machine's "
             "B/F.",
             limit=lambda _asked, _offered: "memory" if _asked > 1 / _offered else "compute"),
    ),
)


def smallest(nbytes: int, caches: Mapping[str, int]) -> str:
    """The first of ``caches`` (nearest first) that holds ``nbytes``, or "dram"."""
    return next((level for level, size in caches.items() if nbytes <= size), "dram")


CPU, GPU = {"l1": 49_152, "l2": 1_310_720, "l3": 31_457_280}, {"l2": 72 << 20}  # bytes they hold

WARM = table(
    "02-claim-warm", "Which memory was timed?", 2,
    "An AXPY on n numbers, called over and over, took `seconds` a call. Return its byte/s, its "
    "share of the memory's bandwidth, and the level that it really timed.",
    "witness(n, itemsize, seconds, bandwidth, caches)", lines=3, tolerance=1e-6,
    derives=("axpy", "explain"),
    cases=drawn(5, n=lambda rng, itemsize, _held: int(_held * rng.uniform(0.8, 1.2)) // itemsize,
                itemsize=[8, 4, 8, 4, 2],
                seconds=lambda rng, n, itemsize, bandwidth, _times:
                    round(3 * n * itemsize / (bandwidth * _times * rng.uniform(0.9, 1.1)), 12),
                bandwidth=[2e10, 2e10, 2e10, 1.008e12, 1.008e12],
                caches=[CPU, CPU, CPU, GPU, GPU],
                _held=[12 << 10, 150 << 10, 10 << 20, 25 << 20, 100 << 20],  # bytes of a vector
                _times=[7.5, 4, 0.8, 2.9, 0.9]),  # what the memory could give
    domain={"n": at_least(1), "itemsize": ITEMSIZES},
    example=(5000, 4, 1e-5, 5e9, {"l1": 32_768, "l2": 1_048_576}),
    fixed=cases_of(
        "n itemsize seconds bandwidth caches",
        (24_576, 1, 1e-6, 2e10, CPU), (24_577, 1, 2e-6, 2e10, CPU),  # exactly L1, and more
        (10_001, 2, 1e-6, 2e10, CPU),
        (335_000, 2, 3e-6, 2e10, CPU),  # more than L2, less than L1 and L2
        (600_000, 8, 3e-4, 2e10, CPU), (1, 8, 2e-9, 1e9, {"l1": 16}),
        (7_864_321, 2, 2.3e-3, 2e10, CPU),
        (500_000, 4, 2.2e-4, 3.3e12, {"l2": 4_000_000}),  # a slow loop, and all the same in L2
        (16_000, 4, 5e-8, 3.3e12, {"tex": 131_072, "l2": 4_000_000}),
    ),
    errors=(
        ("KeyError", "a cache that is not there", "not every machine has the same caches; go "
         "through those in caches, the nearest first."),
    ),
    insight="A loop of your own over data that fits a cache is such a test too: its byte/s are "
            "the cache's, whatever the label says.",
    answer={
        "_rate": lambda n, itemsize, seconds: 3 * n * itemsize / seconds,
        "_held": lambda n, itemsize: 2 * n * itemsize,
        "byte/s": lambda _rate: _rate,
        "share": lambda _rate, bandwidth: _rate / bandwidth,
        "level": lambda _held, caches: smallest(_held, caches),
    },
    slips=(
        slip("the claim", "a memory cannot give more than its bandwidth; ask where the data was.",
             level="dram"),
        slip("slow, so it was the memory",
             "a loop can be slow for other reasons, also on data in a cache; ask where both "
             "vectors fit.",
             level=lambda _rate, bandwidth, _held, caches:
                 "dram" if _rate <= bandwidth else smallest(_held, caches)),
        slip("always the nearest",
             "the nearest cache is the smallest; the vectors have to fit into it.",
             level=[lambda caches: next(iter(caches)), "l1"]),
        slip("the largest that fits",
             "several caches hold both vectors, and the nearest of them is where they settle. If "
             "you go through the caches in order, stop at the first.",
             caches=lambda caches: dict(reversed(caches.items()))),
        slip("one vector", "x and y both have to stay there from one call to the next.",
             _held=lambda n, itemsize: n * itemsize),
        slip("trips, not arrays",
             "y travels twice but lies in the cache once: trips count for the rate, arrays for "
             "the fit.", _held=lambda n, itemsize: 3 * n * itemsize),
        slip("y not read", "AXPY reads x, reads y and writes y: count every trip.",
             _rate=lambda n, itemsize, seconds: 2 * n * itemsize / seconds),
        slip("NumPy's trips", "AXPY stores no temporary; that would be NumPy's a*x + y.",
             _rate=lambda n, itemsize, seconds: 5 * n * itemsize / seconds),
        slip("elements for bytes",
             "you counted numbers; each has itemsize bytes, on its way and in a cache.",
             itemsize=1, _held=lambda n: 2 * n, ways=[{"itemsize": 1, "_held": lambda n: n}]),
        slip("share cut off at 1",
             "leave a share above 1 as it is: it says that the memory was not timed.",
             share=lambda _rate, bandwidth: min(_rate / bandwidth, 1.0)),
    ),
)


BIAS = table(
    "02-claim-bias", "“A bias add is AXPY”", 2,
    "One row of n numbers is added to every row of an m×n matrix, into a new matrix. Return the "
    "FLOPs, the fewest bytes, and the FLOP/byte that it comes to with very many rows.",
    "bias_add(m, n, itemsize)", lines=3, derives=("elementwise", "axpy"),
    cases=drawn(4, m=range(3, 300), n=range(40, 5000), itemsize=[4, 2, 8, 4]),
    domain={"m": at_least(1), "n": at_least(1), "itemsize": ITEMSIZES}, example=(10, 100, 4),
    fixed=cases_of("m n itemsize", (1, 1, 1), (1, 4097, 2), (4097, 1, 8), (5, 5, 4),
                   (40_961, 12_288, 1)),
    insight="Compare it with the ridge of your machine: does a bias add ever meet the flat roof "
            "there?",
    answer={
        "FLOPs": lambda m, n: m * n,
        "bytes": lambda m, n, itemsize: (2 * m + 1) * n * itemsize,
        "intensity": lambda itemsize: 1 / (2 * itemsize),
    },
    slips=(
        slip("the claim",
             "that is AXPY on m·n numbers: it multiplies as well, and its second array is as "
             "large as the first.",
             ways=[{"FLOPs": lambda m, n: 2 * m * n,
                    "bytes": lambda m, n, itemsize: 3 * m * n * itemsize,
                    "intensity": lambda itemsize: 2 / (3 * itemsize)}]),
        slip("a vector add",
             "that adds two arrays of m·n numbers; here one of them is a single row, which stays "
             "near while the matrix goes by.",
             bytes=lambda m, n, itemsize: 3 * m * n * itemsize,
             intensity=lambda itemsize: 1 / (3 * itemsize),
             ways=[{"bytes": lambda m, n, itemsize: 3 * m * n * itemsize,
                    "intensity": lambda itemsize: 1 / (3 * itemsize)}]),
        slip("a column", "one row of n numbers is added; how many has a column?",
             bytes=lambda m, n, itemsize: (2 * n + 1) * m * itemsize),
        slip("the row forgotten", "the row is short, but it travels too: once.",
             bytes=lambda m, n, itemsize: 2 * m * n * itemsize),
        slip("multiply-adds", "nothing is multiplied; adding one number is one FLOP.",
             ways=[{"FLOPs": lambda m, n: 2 * m * n, "intensity": lambda itemsize: 1 / itemsize}]),
        slip("of this matrix",
             "that is the intensity with m rows; which value does it approach?",
             intensity=lambda m, itemsize: m / ((2 * m + 1) * itemsize)),
        slip("no limit",
             "FLOPs and bytes both grow with the rows; their quotient comes to a number that is "
             "neither 0 nor infinite.", intensity=[0, inf]),
        slip("elements for bytes", itemsize=1),
        slip("4 bytes always", "1/8 is right for 4-byte numbers only; use itemsize.",
             itemsize=4, intensity=1 / 8),
        slip("bytes per FLOP",
             "that is bytes for each FLOP; FLOP/byte is the other way round.",
             intensity=[lambda itemsize: 2 * itemsize,
                        lambda m, itemsize: (2 * m + 1) * itemsize / m]),
    ),
)


def _windows(h: int, w: int, k: int, stride: int) -> int:
    """Return how many windows a channel has."""
    return ((h - k) // stride + 1) * ((w - k) // stride + 1)


def _instead(*wrong: Callable[..., int]) -> list[dict[str, Callable[..., int]]]:
    """Return each ``wrong`` number of windows as a slip in FLOPs and bytes, and in either."""
    return [dict.fromkeys(parts, windows) for windows in wrong
            for parts in (("_windows", "_results"), ("_windows",), ("_results",))]


POOLING = table(
    "02-pooling", "Max-pooling", 2,
    "The largest number of every k×k window that slides over an fp32 image of h×w×c in steps of "
    "`stride`: how many comparisons (1 FLOP each), how many bytes at least?",
    "pooling(h, w, c, k, stride)", lines=2, derives=("pool2d",),
    cases=drawn(4, h=lambda rng, k, stride: stride * rng.randrange(19, 39) + k,  # without a rest
                w=lambda rng, k, stride: stride * rng.randrange(39, 59) + k,
                c=[64, 3, 16], k=[2, 3, 2, 3], stride=[1, 1, 2, 2]),
    domain=dict.fromkeys(("h", "w", "c", "k", "stride"), at_least(1)), example=(5, 4, 3, 2, 1),
    fixed=cases_of(
        "h w c k stride",
        (7, 5, 2, 1, 1), (4, 4, 1, 4, 1), (12, 9, 5, 3, 3),  # of one, all of it, side by side
        (23, 11, 7, 5, 3), (227, 223, 3, 11, 4), (13, 300, 1, 4, 1), (9, 9, 1000, 2, 1),
        (1, 1, 2, 1, 1),
    ),
    insight="With a small window there are few comparisons for each byte. Compare their "
            "quotient with the ridge of your machine.",
    answer={
        "_windows": _windows, "_results": _windows,  # once for the FLOPs, once for the bytes
        "FLOPs": lambda c, k, _windows: (k * k - 1) * _windows * c,
        "bytes": lambda h, w, c, _results: 4 * c * (h * w + _results),
    },
    slips=(
        slip("K² comparisons", "the largest of 2 numbers takes 1 comparison, of 3 it takes 2.",
             FLOPs=lambda c, k, _windows: k * k * _windows * c),
        slip("one edge of the window",
             "a window is k numbers wide and k high; how many does it hold?",
             FLOPs=[lambda c, k, _windows: (k - 1) * _windows * c,
                    lambda c, _windows: _windows * c]),
        slip("one window fewer",
             "windows begin at 0 and so on, as long as they end inside; where the first one begins "
             "counts too.",
             ways=_instead(lambda h, w, k, stride: (h - k) // stride * ((w - k) // stride),
                           lambda h, w, k, stride:
                               (h - k + 1) // stride * ((w - k + 1) // stride))),
        slip("image forgotten", "the image is read before anything can be compared.",
             bytes=lambda c, _results: 4 * c * _results),
        slip("no reuse",
             "windows overlap, but a number that many of them use need travel only once.",
             bytes=lambda c, k, _results: 4 * c * (k * k + 1) * _results),
        slip("stride ignored", "with a stride there are fewer windows, and fewer results.",
             ways=_instead(lambda h, w, k: (h - k + 1) * (w - k + 1))),
        slip("the whole image in windows",
             "the last window must end inside the image: it begins k before the border.",
             ways=_instead(lambda h, w, stride: h // stride * (w // stride))),
        slip("channels forgotten",
             "every channel is an image of its own, with windows of its own.",
             c=1, FLOPs=lambda k, _windows: (k * k - 1) * _windows,
             bytes=[lambda h, w, _results: 4 * (h * w + _results),
                    lambda h, w, c, _results: 4 * (h * w + c * _results),
                    lambda h, w, c, _results: 4 * (c * h * w + _results)]),
        slip("result forgotten", "every window writes one number.", _results=0),
        slip("elements for bytes", "you counted elements; an fp32 number has 4 bytes.",
             bytes=lambda h, w, c, _results: c * (h * w + _results)),
    ),
)


LINES = table(
    "02-lines", "Bytes travel in lines", 2,
    "`count` numbers of `itemsize` bytes are read, every stride-th of an array; the first is at "
    "byte `address`. Memory comes in lines of `line` bytes. How many bytes travel?",
    "travelling(address, count, stride, itemsize, line)", lines=2,
    cases=lambda rng: [  # the address is in the middle of a line
        {"address": rng.randrange(8, 400_000, 16), "count": rng.randrange(50, 400),
         "stride": stride, "itemsize": itemsize, "line": line}
        for stride, itemsize, line in ((1, 8, 64), (3, 4, 64), (7, 8, 128), (40, 4, 64))],
    domain={"address": at_least(0), "count": at_least(1), "stride": at_least(1),
            "itemsize": ITEMSIZES},
    example=(16, 10, 3, 8, 64),
    fixed=cases_of(
        "address count stride itemsize line",
        (8, 1, 1, 8, 64), (0, 1, 7, 1, 32),  # one number
        (56, 2, 1, 8, 64),  # a line's last and the next one's first
        (60, 33, 17, 4, 64), (4, 5, 8, 4, 32), (1001, 100, 3, 1, 96), (126, 65, 1, 2, 128),
        (40, 4097, 2, 8, 256), (3, 50, 41, 1, 64),
    ),
    insight="Where one number of each line is used, it costs as much as the whole line. Choose "
            "the order of your own loops by that.",
    answer={
        "_lines": lambda address, count, stride, itemsize, line:
            len({(address + i * stride * itemsize) // line for i in range(count)}),
        "answer": lambda _lines, line: _lines * line,
    },
    slips=(
        slip("what is used", "you counted the bytes that are used; whole lines travel.",
             answer=lambda count, itemsize: count * itemsize),
        slip("aligned",
             "the first number need not stand at the beginning of a line: use address.",
             address=0),
        slip("a line each", "neighbours in the same line come with one trip.",
             answer=lambda count, line: count * line),
        slip("stride ignored", "with a stride the numbers lie further apart.", stride=1,
             _lines=[lambda count, itemsize, line: ceil(count * itemsize / line),
                     lambda count, itemsize, line: count * itemsize // line + 1]),
        slip("everything in between",
             "count only the lines that hold a wanted number. A prefetcher may bring more; the "
             "count does not. And where does the first line begin?",
             _lines=[lambda count, stride, itemsize, line:
                         ceil(((count - 1) * stride + 1) * itemsize / line),
                     lambda count, stride, itemsize, line: ceil(count * stride * itemsize / line),
                     lambda count, stride, itemsize, line: count * stride * itemsize // line + 1]),
        slip("from the first line to the last",
             "with a large stride there are lines in between that hold no wanted number; count "
             "the others.",
             _lines=lambda address, count, stride, itemsize, line:
                 (address + (count - 1) * stride * itemsize) // line - address // line + 1),
        slip("stride in bytes",
             "stride counts numbers; the next one lies stride * itemsize bytes on.", itemsize=1),
        slip("64 bytes always",
             "not every machine has lines of 64 bytes; `line` says how many they have.", line=64,
             answer=lambda _lines: _lines * 64),
        slip("lines, not bytes", "that is the number of lines; each has `line` bytes.",
             answer=[lambda _lines: _lines, lambda _lines, itemsize: _lines * itemsize]),
    ),
)


# Mistakes in byte golf. Each function takes a case and an observation (see observe/golf.py) and
# says whether the observation shows that mistake. Traffic is in units of the largest input, which
# the observation calls size. Trips that the cache spared are left out, but for the types.
Shows = Callable[[Case, Observation], bool]
Entry = dict  # one line of the trace: name, way, where, bytes, moved, times, largest, width, again
FULL = 0.5  # of the largest input, in numbers: from there on an array is no piece of one
AGAIN = 1.2  # of the largest input: what was carried so often was carried again
USUAL = (*(2**power for power in range(5, 19)), 100, 1000, 10_000, 100_000)  # numbers of a piece
LARGE = CACHE // 4  # bytes of a piece: with a smaller one, two more have room beside it


def trips(seen: Observation, *names: str, way: str = "", where: str = "memory") -> list[Entry]:
    """Entries of the trace about the arrays called ``names``, "input" for any of the inputs."""
    return [
        entry
        for entry in seen.get("trips", [])
        if (entry["name"] if entry["name"] in ("tmp", "result") else "input") in names
        and way in ("", entry["way"])
        and where in ("", entry["where"])
    ]


def full(case: Case, seen: Observation, entry: Entry) -> bool:
    """Whether whole arrays travelled, not pieces; counted in numbers, for masks are narrow."""
    own = np.dtype(case["dtype"]).itemsize
    return entry["largest"] / entry["width"] >= FULL * seen["size"] / own


def wider(case: Case, seen: Observation) -> bool:
    """Something was stored in a wider type than the inputs have."""
    own = np.dtype(case["dtype"]).itemsize
    return any(entry["width"] > own for entry in trips(seen, "tmp", "result", where=""))


def tail_forgotten(case: Case, seen: Observation) -> bool:
    """Pieces of an input were read, but not all of it."""
    read = [e for e in trips(seen, "input", way="read") if not full(case, seen, e)]
    return any(FULL < entry["moved"] / seen["size"] < 1 for entry in read)


def mask(case: Case, seen: Observation) -> bool:
    """A full array of True and False was stored."""
    own = np.dtype(case["dtype"]).itemsize
    written = trips(seen, "tmp", way="write")
    return own > 1 and any(e["width"] == 1 and full(case, seen, e) for e in written)


def works_in_place(case: Case, seen: Observation) -> bool:
    """A whole input was written over."""
    return any(full(case, seen, entry) for entry in trips(seen, "input", way="write"))


def out_again(case: Case, seen: Observation) -> bool:
    """A whole array of one's own was read and written by the same call."""
    written = trips(seen, "tmp", "result", way="write")
    return any(entry["again"] and full(case, seen, entry) for entry in written)


def input_as_scratch(case: Case, seen: Observation) -> bool:
    """Two inputs were written over, piece by piece, and one result is wanted."""
    written = [
        entry
        for entry in trips(seen, "input", way="write")
        if entry["moved"] > FULL * seen["size"] and not full(case, seen, entry)
    ]
    return len(written) > 1


def copied_first(case: Case, seen: Observation) -> bool:
    """The result began as a copy of an input, and its pieces were read back."""
    read = trips(seen, "result", way="read")
    written = trips(seen, "result", way="write")
    pieces = bool(read) and not any(full(case, seen, entry) for entry in read)
    return pieces and any(full(case, seen, entry) for entry in written)


def filled_first(case: Case, seen: Observation) -> bool:
    """The result was filled once, and then with what was worked out; nobody read the first."""
    numbers = seen["size"] / np.dtype(case["dtype"]).itemsize
    written = trips(seen, "result", way="write")
    twice = sum(entry["moved"] / entry["width"] for entry in written) > AGAIN * numbers
    return (
        twice
        and any(full(case, seen, entry) for entry in written)
        and not out_again(case, seen)
        and not trips(seen, "result", way="read", where="")
    )


def numbers(wrong: Callable[..., object]) -> Shows:
    """The numbers that came out are those of ``wrong``, whatever moved for them."""

    def shows(case: Case, seen: Observation) -> bool:
        mine = seen.get("value")
        if not isinstance(mine, dict):
            return False
        other = digest(wrong(*arrays(case)), case["seed"])
        alike = mine.get("shape") == other["shape"]
        alike = alike or (other["shape"] == [] and one_number(mine.get("shape")))
        return alike and agree(other["sums"], mine.get("sums"), case)

    return shows


def numbers_of_pieces(wrong: Callable[..., object]) -> Shows:
    """The same, where ``wrong`` does as many rows at a time as were read at a time."""

    def shows(case: Case, seen: Observation) -> bool:
        (x,) = arrays(case)
        rows = max((entry["largest"] for entry in _read(seen)), default=0) // x[0].nbytes
        if rows < 2 or not isinstance(seen.get("value"), dict):
            return False
        return numbers(
            lambda x: np.concatenate([wrong(x[i : i + rows]) for i in range(0, len(x), rows)])
        )(case, seen)

    return shows


def calling(numbers_alike: Shows, *calls: str, instead: bool = True) -> Shows:
    """The same numbers, and one of the NumPy functions ``calls`` was called (or none of them)."""

    def shows(case: Case, seen: Observation) -> bool:
        made = seen.get("calls")
        found = isinstance(made, list) and any(name in made for name in calls)
        return found is instead and numbers_alike(case, seen)

    return shows


def single(case: Case, seen: Observation) -> bool:
    """The sum of squares of float64 numbers was cut to single precision."""
    cut = numbers(lambda x: np.float32(np.dot(x, x)))
    return case["dtype"] == "float64" and cut(case, seen)


def last_piece(case: Case, seen: Observation) -> bool:
    """The sum of squares is that of the last piece, of one of the usual lengths."""
    mine, (x,) = seen.get("value"), arrays(case)
    if not isinstance(mine, dict) or mine.get("shape") != []:
        return False
    starts = {(len(x) - 1) // length * length for length in USUAL} - {0}
    sums = [digest(np.dot(x[start:], x[start:]), case["seed"])["sums"] for start in starts]
    return any(agree(each, mine.get("sums"), case) for each in sums)


def pieces_overlap(case: Case, seen: Observation) -> bool:
    """Every number of an input came in, and some of them were read in two pieces."""
    for name in {entry["name"] for entry in _read(seen)}:
        entries = [entry for entry in _read(seen) if entry["name"] == name]
        came = sum(entry["moved"] for entry in entries)
        whole_times = sum(entry["bytes"] for entry in entries) % seen["size"] == 0
        if came == seen["size"] and not whole_times and not _any_full(case, seen, entries):
            return True
    return False


def does_one_piece(case: Case, seen: Observation) -> bool:
    """Of every input came in no more than one piece."""
    read = _read(seen)
    moved: dict[str, int] = {}
    for entry in read:
        moved[entry["name"]] = moved.get(entry["name"], 0) + entry["moved"]
    most = {name: max(e["largest"] for e in read if e["name"] == name) for name in moved}
    return (
        any(moved.values())
        and not _any_full(case, seen, read)
        and all(came <= most[name] for name, came in moved.items())
    )


def joins_pieces(case: Case, seen: Observation) -> bool:
    """The pieces of the result were kept to the end, and copied into one array there."""
    parts = [e for e in trips(seen, "tmp", way="write") if not full(case, seen, e)]
    kept = any(entry["moved"] > FULL * seen["size"] for entry in parts)
    return kept and any(full(case, seen, e) for e in trips(seen, "result", way="write"))


def large_piece(case: Case, seen: Observation) -> bool:
    """The work was cut into pieces, and what a piece needs again had left the cache before.

    Or a loop stands there, and its one piece is as long as the array.
    """
    again = list(_again(seen))
    if any(entry["largest"] > LARGE and not full(case, seen, entry) for entry in again):
        return True
    whole = [entry for entry in _read(seen) if entry["bytes"] >= FULL * seen["size"]]
    written = [*again, *trips(seen, "input", way="write")]
    return (
        seen.get("loops") is True
        and bool(whole)
        and all(full(case, seen, entry) for entry in whole)
        and _any_full(case, seen, written)
    )


def passes(case: Case, seen: Observation) -> bool:
    """An input was carried in more than once, by calls on all of it or in two loops."""
    read = trips(seen, "input", way="read")
    for name in {entry["name"] for entry in read}:
        mine = [entry for entry in read if entry["name"] == name]
        small = all(entry["largest"] <= LARGE for entry in mine)
        many = sum(entry["moved"] for entry in mine) > AGAIN * seen["size"]
        if many and (small or _any_full(case, seen, mine)):
            return True
    return False


def calls_outside_loop(case: Case, seen: Observation) -> bool:
    """A loop went through the pieces, and one call more over a whole array."""
    everything = trips(seen, "input", "result", "tmp", where="")
    pieces = [e for e in everything if not full(case, seen, e)]
    read = trips(seen, "input", "result", "tmp", way="read")
    return _any_full(case, seen, read) and any(e["bytes"] > FULL * seen["size"] for e in pieces)


def two_loops(case: Case, seen: Observation) -> bool:
    """Small pieces of an array left the cache, and came back to be worked on once more."""
    made = [*trips(seen, "result", way="read"), *trips(seen, "tmp", way="write")]
    read = trips(seen, "input", way="read")
    small = [e for e in (*made, *read) if e["largest"] <= LARGE and not full(case, seen, e)]
    return any(
        entry["moved"] > (AGAIN if entry in read else FULL) * seen["size"] for entry in small
    )


def whole_temporary(case: Case, seen: Observation) -> bool:
    """A whole array was stored and read back."""
    return any(full(case, seen, entry) for entry in trips(seen, "tmp", way="write"))


def _read(seen: Observation) -> list[Entry]:
    """What was read of the inputs, from memory and from the cache."""
    return trips(seen, "input", way="read", where="")


def _any_full(case: Case, seen: Observation, entries: list[Entry]) -> bool:
    return any(full(case, seen, entry) for entry in entries)


def _again(seen: Observation) -> Iterator[Entry]:
    """What crossed the bus though it, or the same bytes, had been near before."""
    yield from trips(seen, "tmp", way="write")
    yield from trips(seen, "result", way="read")
    for entry in trips(seen, "input", "result"):
        if entry["moved"] > AGAIN * seen["size"]:
            yield entry


# The holes of byte golf: every mistake is a whole wrong function (labs/golf/solutions.py),
# recognised from its trace.
PAR = 1.05  # room for a row of lengths or a vector of biases beside the large arrays
GOLF_DTYPES = ("float32", "float64")
TOO_LARGE = 16  # times the piece that the cache keeps in every type

Way = Callable[..., object]  # what a learner writes


def _cases(hole: str, rng: random.Random) -> list[Case]:
    """Sizes that no power of two divides; float32 first, so that a wider type shows at once."""
    drawn = [
        {"hole": hole, "n": 512 * (2 * rng.randrange(600, 800) + 1), "dtype": dtype,
         "seed": rng.randrange(10**6)}
        for dtype in GOLF_DTYPES
    ]
    # Nobody may find the seed, and with it the numbers, by trying all of them.
    return [{**case, "seed": case["seed"] + (rng.getrandbits(40) << 20)} for case in drawn]


def _indivisible(hole: str, dtype: str, n: int = 786_441, **factors: float) -> tuple[Case, ...]:
    """Numbers of which every usual piece leaves a few, or a prime number of rows; other factors."""
    return ({"hole": hole, "n": n, "dtype": dtype, "seed": 5, **factors},)


PRIME_ROWS = 512 * 1301

TRAFFIC = (  # a way of ``_traffic``, its name, its hint and what shows it; the most telling first
    ("copied", "a copy to begin with",
     "a copy of everything is a trip there and one back, before any work is done; begin with "
     "np.empty_like, which moves nothing, and fill it piece by piece.", copied_first),
    ("filled", "filled for nothing",
     "the result is filled once for nothing, with zeros say, and then again with what you worked "
     "out. np.zeros_like, np.full_like and np.apply_along_axis fill what they make; np.empty_like "
     "and np.zeros do not: the system clears memory when it is first written to.", filled_first),
    ("joined", "pieces joined at the end",
     "all pieces of the result are kept to the end, more than the cache holds, and copied once "
     "more there; begin with np.empty_like, which moves nothing, and fill it piece by piece.",
     joins_pieces),
    ("overlapping", "overlapping pieces",
     "the pieces overlap: some numbers are in two of them, and are worked on twice. The step of "
     "the loop must be as long as a piece.", pieces_overlap),
    ("one_piece", "only one piece",
     "only one piece was worked on. All work on a piece is indented under `for`; `return` comes "
     "after the loop, not in it.", does_one_piece),
    ("tail", "tail forgotten",
     "the last numbers do not fill a whole chunk, and they are left out.", tail_forgotten),
    ("widened", "wider type",
     "a number of a wider type (np.float64) or astype made everything wider.", wider),
    ("outside", "a call outside the loop",
     "the loop goes through pieces, but one call before or after it goes over a whole array once "
     "more; do that in the loop too, piece by piece.", calls_outside_loop),
    ("large", "piece larger than the cache",
     "you cut the work into pieces, but a piece is too large: before it is needed again, what was "
     "touched since has pushed it out of the cache of 512 KiB. Count all arrays of a piece, in "
     "the widest type.", large_piece),
    ("in_place", "in place moves fewer bytes",
     "writing over an input needs no new array, but each call still carries a whole array to the "
     "processor and back.", works_in_place),
    ("out", "out= saves traffic",
     "out= saves the allocation, not the trips: the whole array is still written and read back.",
     out_again),
    ("loops", "two loops over the pieces",
     "the second loop carries in every piece once more, long after it has left the cache; do all "
     "work on a piece in one loop.", two_loops),
    ("plain", "the plain expression",
     "NumPy finishes each call before the next begins, so whole arrays are stored and read back; "
     "do all calls on one piece before the next piece.", whole_temporary),
    ("scratch", "an input as scratch",
     "two inputs are written over, and one result is wanted: the other one is carried back to "
     "memory for nothing. Let the first call make a small array instead.", input_as_scratch),
)


def _numbers(name: str, wrong: Way, hint: str) -> Misconception:
    """A mistake in the numbers, which comes before any mistake in the bytes."""
    return Misconception(name, wrong, hint, numbers(wrong))


def _of_pieces(name: str, wrong: Way, hint: str, in_pieces: Way) -> Misconception:
    """The same, made on the whole array or on each piece of it."""
    return Misconception(name, wrong, hint, numbers_of_pieces(wrong), (in_pieces,))


def _renamed(unchanged: Way) -> Misconception:
    return _numbers(
        "a new array under an old name", unchanged,
        "`part = part + …` gives the name to a new array, and what you return stays as it was; "
        "write into the piece itself, with `part += …` or `part[:] = …`.",
    )


def _traffic(
    right: Way, *, one_large: Way, chunk: int = ways.CHUNK, plain_hint: str = "", **wrong: Way
) -> tuple[Misconception, ...]:
    """The mistakes of ``TRAFFIC`` that a hole has; ``chunk`` is one that the cache keeps."""
    wrong |= {"tail": partial(right, tail=False), "large": partial(right, chunk=TOO_LARGE * chunk)}
    others, hints = {"large": (one_large,)}, {"plain": plain_hint}
    return tuple(
        Misconception(name, wrong[way], hints.get(way) or hint, shows, others.get(way, ()))
        for way, name, hint, shows in TRAFFIC
        if way in wrong
    )


AXPY = Exercise(
    "02-golf-axpy", "Byte golf: AXPY", 2,
    "Return a*x + y with as few bytes over the memory bus as you can.",
    "golf_axpy(a, x, y)", ways.axpy, kind="golf", par=PAR, form="an array like x", lines=3,
    cases=partial(_cases, "axpy"), fixed=_indivisible("axpy", "float64", a=-1.7),
    insight="A piece that the cache holds is carried in once, whatever you do with it there. "
            "That holds for your machine's caches as well.",
    misconceptions=(
        _numbers("a on y", lambda a, x, y: x + a * y,
                 "a is a factor of x, and y is added as it is."),
        _renamed(lambda a, x, y: y),
        _numbers("y forgotten", lambda a, x, y: a * x,
                 "y is not added: `y[…] = …` writes over it, and `y[…] += …` adds to it."),
        *_traffic(
        ways.axpy, plain=lambda a, x, y: a * x + y, in_place=ways.axpy_in_place,
        out=ways.axpy_through_a_temporary,
        widened=lambda a, x, y: np.float64(a) * x + y, scratch=ways.axpy_scratch,
        outside=ways.axpy_outside, loops=ways.axpy_in_two_loops,
        **ways.mistakes(ways.axpy_expression),
    )),
)

_ONE_NUMBER = _traffic(
    ways.squares, plain=lambda x: np.sum(x * x), in_place=ways.squares_in_place,
    out=ways.squares_out, widened=lambda x: np.sum(x.astype(np.float64) ** 2),
    plain_hint="one call stores all the squares, the next reads them back; look for one call that "
               "multiplies and adds up at once. It stores no squares.",
    overlapping=ways.squares_overlapping, one_piece=ways.squares_of_one_piece,
    one_large=ways.squares_in_one_large_piece,
)
_SEVERAL = Misconception(
    "several passes in one call", ways.squares_in_passes,
    "some functions of NumPy go over the numbers several times, and np.var even stores all "
    "differences from the mean; look for one that multiplies and adds up at once.",
    passes,
)

SQUARES = Exercise(
    "02-golf-squares", "Byte golf: sum of squares", 1,
    "Return the sum of the squares of x, one number.",
    "squares(x)", ways.squares, kind="golf", par=PAR, form="a number", lines=1,
    cases=partial(_cases, "sum-of-squares"),
    fixed=_indivisible("sum-of-squares", "float64"),
    insight="A call that multiplies and adds up at once needs no array in between: every number "
            "comes in once, and one goes out.",
    misconceptions=(
        _numbers("the root taken", lambda x: np.sqrt(np.dot(x, x)),
                 "that is the length of x; its square is wanted, the sum of the squares itself."),
        _numbers("the square of the sum", lambda x: np.sum(x) ** 2,
                 "square first and add afterwards."),
        Misconception("single precision", lambda x: np.float32(np.dot(x, x)),
                      "the sum of float64 numbers came back as a float32, which keeps 7 digits; "
                      "return it as it comes out.", single),
        Misconception("the last piece alone", ways.squares_of_last_piece,
                      "`total = …` forgets the pieces before; `total += …` adds each one.",
                      last_piece),
        _numbers("not added up", np.square,
                 "the squares came back, one for each number; their sum is wanted, one number."),
        *_ONE_NUMBER[:-2], _SEVERAL, *_ONE_NUMBER[-2:]),
)

NORM = Exercise(
    "02-golf-row-norm", "Byte golf: row L2 norm", 3,
    "Divide every row of the matrix x by its length, the root of the sum of its squares. You may "
    "write over x.",
    "row_norm(x)", ways.row_norm, kind="golf", par=PAR, form="an array like x", lines=5,
    cases=partial(_cases, "row-l2-norm"),
    fixed=_indivisible("row-l2-norm", "float32", PRIME_ROWS),
    insight="Every row is needed twice and carried in once: the second time it is in the cache. "
            "Language models do this in every layer.",
    errors=(("ValueError: operands could not be broadcast", "lengths in a row",
             "the lengths came as one row of numbers, and each belongs to a row of x: "
             "lengths[:, None] makes a column of them, and so does keepdims=True."),),
    misconceptions=(
        _numbers("the root of the mean", lambda x: x / (ways.lengths(x) / np.sqrt(x.shape[1])),
                 "that is RMSNorm, which divides by the root of the mean; a length is the root of "
                 "the sum."),
        _numbers("no root", lambda x: x / ways.lengths(x) ** 2,
                 "a length is the root of the sum of the squares."),
        _renamed(lambda x: x),
        _of_pieces("columns for rows", lambda x: x / np.sqrt((x * x).sum(axis=0)),
                   "axis=0 adds down the columns; a row is added up along axis=1.",
                   ways.norm_of_columns_of_blocks),
        _of_pieces("one length for all", lambda x: x / np.linalg.norm(x),
                   "each row has a length of its own, the root of the sum of its own squares; "
                   "np.linalg.norm(rows) is one number for all of them.", ways.norm_of_blocks),
        _numbers("whole numbers", lambda x: x // ways.lengths(x),
                 "`//` drops what comes after the point; `/` divides."),
        *_traffic(
            ways.row_norm, plain=lambda x: x / np.sqrt((x * x).sum(axis=1, keepdims=True)),
            chunk=ways.ROWS, widened=lambda x: x / ways.lengths(x.astype(np.float64)),
            filled=ways.norm_filled,
            **ways.mistakes(ways.row_l2_norm_einsum, without=("filled", "overlapping")),
        ),
        Misconception("two passes over the whole array", lambda x: x / ways.lengths(x),
                      "all of x is carried in more than once, for every call or every loop over "
                      "it. Finish a piece while the cache has it.", passes),
    ),
)

_SUM = numbers(lambda x, b: x + b)
_RELUS = ("maximum", "fmax", "clip", "where", "max")  # NumPy functions that make a ReLU

RELU = Exercise(
    "02-golf-bias-relu", "Byte golf: bias and ReLU", 2,
    "Add the vector b to every row of the matrix x, and set what is negative to zero. You may "
    "write over x.",
    "bias_relu(x, b)", ways.bias_relu, kind="golf", par=PAR, form="an array like x", lines=4,
    cases=partial(_cases, "bias-relu"),
    fixed=_indivisible("bias-relu", "float32", PRIME_ROWS),
    insight="Both together now move what a plain copy moves. Libraries for neural networks do "
            "the same, and call it fusion.",
    errors=(("ValueError: operands could not be broadcast", "b in another shape",
             "b is as long as a row of x, so x + b adds it to every row: neither cut b nor turn "
             "it."),
            ("ValueError: The truth value", "max for np.maximum",
             "Python's max compares arrays as a whole; np.maximum compares number by number.")),
    misconceptions=(
        _renamed(lambda x, b: x),
        Misconception("the negative stays", ways.relu_lost,
                      "np.maximum(p, 0) makes a new array and leaves p alone: give it out=p, or "
                      "keep what it returns.", calling(_SUM, *_RELUS)),
        Misconception("no ReLU", lambda x, b: x + b,
                      "b is added, and what is negative must still become zero: np.maximum does "
                      "that.", calling(_SUM, *_RELUS, instead=False)),
        _numbers("the sign dropped", lambda x, b: np.abs(x + b),
                 "np.abs turns what is negative into its positive; it must become zero."),
        _numbers("b forgotten", lambda x, b: np.maximum(x, 0),
                 "b is added to every row before what is negative becomes zero."),
        _numbers("ReLU before the bias", lambda x, b: np.maximum(x, 0) + b,
                 "add b first; it is the sum that must not be negative."),
        Misconception(
            "a mask", ways.relu_mask,
            "True and False take a byte each, for every number, and that array travels as well; "
            "np.maximum needs none.", mask),
        *_traffic(
            ways.bias_relu, plain=lambda x, b: np.maximum(x + b, 0), in_place=ways.relu_in_place,
            out=ways.relu_out, chunk=ways.ROWS,
            widened=lambda x, b: np.maximum(x + b.astype(np.float64), 0),
            outside=ways.relu_outside, loops=ways.relu_in_two_loops,
            **ways.mistakes(ways.bias_relu_expression),
        ),
    ),
)

SCALE = Exercise(
    "02-golf-scale-add-scale", "Byte golf: scale, add, scale", 2,
    "Return b*(a*x + y) with as few bytes over the memory bus as you can.",
    "scale_add_scale(a, b, x, y)", ways.scale_add_scale, kind="golf", par=PAR, lines=4,
    form="an array like x",
    cases=partial(_cases, "scale-add-scale"),
    fixed=_indivisible("scale-add-scale", "float64", a=-1.7, b=0.3),
    insight="A chain of such operations costs what goes in and what comes out, however long it "
            "is, as long as it is done piece by piece.",
    misconceptions=(
        _renamed(lambda a, b, x, y: y),
        _numbers("brackets forgotten", lambda a, b, x, y: b * a * x + y,
                 "b is a factor of the whole sum, of y too."),
        _numbers("y forgotten", lambda a, b, x, y: b * (a * x),
                 "y is not added: it belongs to the sum that b multiplies."),
        *_traffic(
        ways.scale_add_scale, plain=lambda a, b, x, y: b * (a * x + y),
        in_place=ways.scale_in_place, out=ways.scale_out,
        widened=lambda a, b, x, y: np.float64(b) * (a * x + y),
        scratch=ways.scale_scratch, outside=ways.scale_outside, loops=ways.scale_in_two_loops,
        **ways.mistakes(ways.scale_add_scale_expression),
    )),
)


EXERCISES = (NUMPY_BYTES, WARM, AXPY, SQUARES, NORM, BIAS, RELU, SCALE, LINES, POOLING, BALANCE)
