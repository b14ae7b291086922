"""Exercises of lesson 02, bytes are the currency: what a program moves, and what a byte is.

The wrong answers are slips of public teaching pages: BLAS's bytes for NumPy's expression, element
sizes taken for granted, and one B/F for two things, what a program asks and what a machine gives.
"""

from __future__ import annotations

import random

from rooflab.count import axpy
from rooflab.exercises.drawing import DTYPES
from rooflab.exercises.exercise import Case, Exercise, Misconception
from rooflab.predict.catalogue import machine

MACHINES = ("h200-sxm", "rtx-4090", "mi300x", "m3-pro")
LEAST_RIDGE = "a100-sxm-80"  # about 10 FLOP/byte in fp32
EXPRESSION = 5  # trips of a*x + y: read x, write tmp, read tmp, read y, write the result

_ELEMENTS = "you counted elements; each has itemsize bytes."


def _vectors(rng: random.Random) -> list[Case]:
    return [{"n": rng.randrange(10**6, 10**8), "itemsize": size} for size in (8, 4, 2, 1)]


def _both(n: int, itemsize: int) -> tuple[int, int]:
    return EXPRESSION * n * itemsize, axpy(n, DTYPES[itemsize]).bytes


NUMPY_BYTES = Exercise(
    "02-numpy-bytes", "Bytes of a NumPy expression", 2,
    "How many bytes does NumPy move for a*x + y on vectors far larger than the cache, and how many "
    "does BLAS's AXPY?",
    "bytes_moved(n, itemsize)", _both, cases=_vectors, returns=("NumPy bytes", "AXPY bytes"),
    lines=2, derives=("axpy", "golf"),
    insight="Five trips against three, in every number type. Does your own clock show the same "
            "ratio?",
    misconceptions=(
        Misconception("that is BLAS", lambda n, s: (3 * n * s, 3 * n * s),
                      "that is BLAS; NumPy finishes and stores a*x first."),
        Misconception("tmp not read back", lambda n, s: (4 * n * s, 3 * n * s),
                      "the temporary is written by the first call and read by the second."),
        Misconception("three trips each", lambda n, s: (6 * n * s, 3 * n * s),
                      "two calls, but the first one has only one array to read: a is a number."),
        Misconception("two arrays in, one out", lambda n, s: (5 * n * s, 2 * n * s),
                      "AXPY reads x, reads y and writes y: y travels both ways."),
        Misconception("NumPy's for both", lambda n, s: (5 * n * s, 5 * n * s),
                      "BLAS multiplies and adds in one go; it stores no temporary."),
        Misconception("elements", lambda n, s: (5 * n, 3 * n), _ELEMENTS),
        Misconception("of one number", lambda n, s: (5 * s, 3 * s),
                      "that is what travels for one number; each vector has n of them.",
                      variants=(lambda n, s: (5, 3),)),
        Misconception("8 bytes always", lambda n, s: (40 * n, 24 * n),
                      "fp64 is only NumPy's default; itemsize says how many bytes yours have."),
        Misconception("write-allocate", lambda n, s: (7 * n * s, 3 * n * s),
                      "so the hardware may do it; count the trips that the program orders."),
    ),
)  # fmt: skip


def _balances(rng: random.Random) -> list[Case]:
    """Catalogue machines, each with a program.

    Two programs ask for fewer bytes per FLOP than their machine has, three for more. Of these one
    asks for less than 1, one for more than 1, and the last for more than its machine's ridge, which
    counts something else: FLOPs per byte.
    """
    drawn: list[Case] = []
    for place, name in enumerate([*rng.sample(MACHINES, 4), LEAST_RIDGE]):
        hidden = machine(name)
        peak, bandwidth = float(hidden.peak("fp32")), float(hidden.bandwidth())
        few, offered = 1 / rng.uniform(3, 20), bandwidth / peak
        asked = (few * offered, rng.uniform(3, 8) * offered, few * offered, rng.uniform(2, 6),
                 rng.uniform(12, 24))[place]  # fmt: skip
        flops = rng.randrange(10**6, 10**9)
        nbytes = round(flops * asked)
        drawn.append({"flops": flops, "nbytes": nbytes, "peak": peak, "bandwidth": bandwidth})
    return drawn


def _balance(flops: int, nbytes: int, peak: float, bandwidth: float) -> tuple[float, float, str]:
    program, offered = nbytes / flops, bandwidth / peak
    return program, offered, "memory" if program > offered else "compute"


def _other(limit: str) -> str:
    return "compute" if limit == "memory" else "memory"


BALANCE = Exercise(
    "02-balance", "B/F, the other way round", 2,
    "Some texts use bytes per FLOP (B/F). Return the program's B/F, the machine's B/F, and what "
    'limits the program: "memory" or "compute".',
    "balance(flops, nbytes, peak, bandwidth)", _balance, cases=_balances,
    returns=("program's B/F", "machine's B/F", "limit"), lines=2, derives=("Roofline",),
    insight="Your machine has a B/F too, its bandwidth divided by its peak. A program that asks "
            "for more waits for memory.",
    misconceptions=(
        Misconception("FLOP/byte", lambda f, b, p, w: (f / b, p / w, _balance(f, b, p, w)[2]),
                      "that is intensity and ridge; B/F is their reciprocal."),
        Misconception("compared the wrong way",
                      lambda f, b, p, w: (b / f, w / p, _other(_balance(f, b, p, w)[2])),
                      "a program that asks for more bytes per FLOP than the machine has waits for "
                      "memory."),
        Misconception("one B/F", lambda f, b, p, w: (b / f, b / f, _balance(f, b, p, w)[2]),
                      "the machine's B/F has nothing to do with the program: it is made of "
                      "bandwidth and peak."),
        Misconception("the ridge for the machine",
                      lambda f, b, p, w: (b / f, p / w, _balance(f, b, p, w)[2]),
                      "peak over bandwidth is the ridge, in FLOP/byte; the machine's B/F is the "
                      "other way round."),
        Misconception("program and machine swapped",
                      lambda f, b, p, w: (w / p, b / f, _balance(f, b, p, w)[2]),
                      "the program comes first, then the machine."),
        Misconception("another word",
                      lambda f, b, p, w: (b / f, w / p, _balance(f, b, p, w)[2] + "-bound"),
                      'the numbers are right; the limit is one of "memory" and "compute".'),
        Misconception("memory is bandwidth",
                      lambda f, b, p, w: (b / f, w / p, _balance(f, b, p, w)[2]
                                          .replace("memory", "bandwidth")),
                      'the numbers are right; the limit is one of "memory" and "compute".'),
        Misconception("always memory", lambda f, b, p, w: (b / f, w / p, "memory"),
                      "compare the two B/F: some of these programs ask for less than is offered."),
        Misconception("always compute", lambda f, b, p, w: (b / f, w / p, "compute"),
                      "compare the two B/F: some of these programs ask for more than is offered."),
        Misconception("compared with the ridge",
                      lambda f, b, p, w: (b / f, w / p, "memory" if b / f > p / w else "compute"),
                      "the program's B/F and the ridge have different units; compare it with the "
                      "machine's B/F."),
        Misconception("B/F above 1",
                      lambda f, b, p, w: (b / f, w / p, "memory" if b > f else "compute"),
                      "the border is not at 1 byte per FLOP; it is the machine's own B/F."),
        Misconception("seconds", lambda f, b, p, w: (b / w, f / p, _balance(f, b, p, w)[2]),
                      "those are the times for carrying and computing; they carry no ratio yet."),
        Misconception("multiply-adds", lambda f, b, p, w: (2 * b / f, w / p,
                                                           _balance(f, b, p, w)[2]),
                      "flops counts FLOPs already; a multiply-add is two of them."),
    ),
)  # fmt: skip

EXERCISES = (NUMPY_BYTES, BALANCE)
