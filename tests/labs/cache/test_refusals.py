"""What cannot be simulated is refused, with the argument, its value and what would be right."""

from __future__ import annotations

import numpy as np
import pytest

import rooflab as rl
from rooflab.labs.cache import (
    AccessStream,
    Cache,
    Guard,
    Hierarchy,
    Reference,
    gemm_bounds,
    gemm_stream,
    simulate,
    smallest_cache,
    tile_ledger,
    turn_cost,
)

L1 = Cache("L1", 4096)
X = Reference("x", 0, (4,), 1)
STREAM = AccessStream((10,), (X,))
REFUSED = {
    "no ways": (lambda: Cache("L1", 4096, ways=0), "ways=0 must be a positive integer"),
    "no capacity": (lambda: Cache("L1", 0), "capacity=0 must be a positive"),
    "an odd line": (lambda: Cache("L1", 4800, line=48), "line=48 must be a power of two"),
    "half a line": (lambda: Cache("L1", 1000), "capacity=1000 must be a multiple of 64"),
    "half a set": (lambda: Cache("L1", 4096, ways=3), "capacity=4096 must be a multiple of 192"),
    "no name": (lambda: Cache("", 4096), "name='' must be a name"),
    "two lines": (lambda: Hierarchy(L1, Cache("L2", 8192, line=128)), "line: the caches have"),
    "two of a name": (lambda: Hierarchy(L1, L1), "name: the caches are called"),
    "no cache": (lambda: Hierarchy(), "give at least one Cache"),
    "a number as a cache": (lambda: Hierarchy(4096), "caches\\[0\\]=4096 must be a Cache"),
    "a number as a hierarchy": (lambda: simulate(STREAM, 4096), "hierarchy=4096 must be"),
    "a machine without caches": (
        lambda: Hierarchy.like(rl.Machine("m", peaks={"fp32": 1e9})), "tells no size of l1"),
    "a name as a machine": (lambda: Hierarchy.like("a100"), "machine='a100' must be a Machine"),
    "a negative address": (lambda: simulate([64, -1], L1), "stream\\[1\\]=-1 must be an address"),
    "a broken address": (lambda: simulate([0.5], L1), "vector of byte addresses"),
    "addresses far apart": (lambda: simulate([0, 1 << 50], L1), "make it smaller or move"),
    "writes of another length": (lambda: simulate([0, 4], L1, writes=[True]), "must be 2 bools"),
    "writes of a stream": (lambda: simulate(STREAM, L1, writes=[True]), "writes: an AccessStream"),
    "flush": (lambda: simulate(STREAM, L1, flush=1), "flush=1 must be True or False"),
    "a stream below 0": (
        lambda: AccessStream((10,), (Reference("x", 0, (-4,), 1),)), "offset of 36 or more"),
    "no loop": (lambda: AccessStream((), (X,)), "give at least one loop"),
    "a loop of 0": (lambda: AccessStream((0,), (X,)), "extents\\[0\\]=0 must be"),
    "no reference": (lambda: AccessStream((10,), ()), "give at least one Reference"),
    "a stride too many": (lambda: AccessStream((10, 10), (X,)), "references\\[0\\].strides"),
    "a guard too short": (
        lambda: AccessStream((10,), (X,), (Guard((1, 2), 3),)), "guards\\[0\\].coefficients"),
    "a negative guard": (lambda: Guard((-1,), 3), "coefficients\\[0\\]=-1 must be"),
    "a guard nothing passes": (lambda: Guard((1,), 0), "limit=0 must be a positive"),
    "a negative offset": (lambda: Reference("x", -4, (4,), 1), "offset=-4 must be"),
    "no bytes": (lambda: Reference("x", 0, (4,), 1, bytes=0), "bytes=0 must be"),
    "too deep": (lambda: Reference("x", 0, (4,), 2), "depth=2 must be at most 1"),
    "during": (lambda: Reference("x", 0, (4,), 1, when="during"), "when='during' is unknown"),
    "a tile of 0": (lambda: gemm_stream(9, 9, 9, tile=0), "tile\\[?0?\\]?=0 must be"),
    "a large tile": (lambda: gemm_stream(9, 9, 9, tile=(3, 10, 3)), "10 is larger than loop j"),
    "two sides": (lambda: gemm_stream(9, 9, 9, tile=(3, 3)), "must be one number, or 3"),
    "an order": (lambda: gemm_stream(9, 9, 9, order="iij"), "order='iij' must have the letters"),
    "a tile order": (lambda: gemm_stream(9, 9, 9, tile_order="ij"), "tile_order='ij'"),
    "where C is": (lambda: gemm_stream(9, 9, 9, c="cache"), "c='cache' is unknown"),
    "a tile of C cut off": (
        lambda: gemm_stream(9, 9, 9, tile=2, c="tile"), "2 does not divide m=9"),
    "half bytes": (lambda: gemm_stream(9, 9, 9, "fp4"), "a loop moves whole bytes"),
    "two bases": (lambda: gemm_stream(9, 9, 9, bases=(0, 9)), "must be 3 addresses"),
    "a depth": (lambda: tile_ledger(STREAM, 2), "depth=2 must be at most 1"),
    "a formula of text": (lambda: tile_ledger("x", 1), "stream='x' must be an AccessStream"),
    "a cache for text": (lambda: smallest_cache("x", 1), "stream='x' must be an AccessStream"),
    "a cost of text": (
        lambda: turn_cost(["a", 1], [1, 2], [1, 2]), "turns='a' must be a positive number"),
    "lines of no use": (
        lambda: smallest_cache(gemm_stream(9, 9, 9, tile=3), 0, 64), "take shorter lines"),
    "a bound of no cache": (lambda: gemm_bounds(9, 9, 9, 0), "capacity=0 must be"),
    "a level": (lambda: simulate(STREAM, L1).bytes("L2"), "level='L2' is unknown"),
    "an operand": (lambda: simulate(STREAM, L1).bytes("L1", "y"), "operand='y' is unknown"),
    "odd names": (
        lambda: simulate(STREAM, Hierarchy(L1, Cache("last", 8192))).of(rl.axpy(9)),
        "the name of a cache='last' is unknown"),
}  # fmt: skip


def test_refused_with_a_reason() -> None:
    for wrong, reason in REFUSED.values():
        with pytest.raises((TypeError, ValueError), match=reason):
            wrong()


def test_no_accesses_are_no_misses():
    assert simulate(np.array([], np.int64), L1).traffic().misses == 0


def test_each_guard_of_a_group_is_kept_once_however_the_guards_are_ordered():
    """Of a chain of guards, each ties one loop more; a guard on another loop is not among them."""
    chain = [Guard((1, 1, 0, 0, 0), 5), Guard((0, 1, 1, 0, 0), 5), Guard((0, 0, 1, 1, 0), 5)]
    alone = Guard((0, 0, 0, 0, 1), 3)
    for guards in ([*chain, alone], [alone, *chain[::-1]], [chain[2], chain[0], alone, chain[1]]):
        x = Reference("x", 0, (64, 16, 8, 4, 1), 5)
        stream = AccessStream((4,) * 5, (x,), tuple(guards))
        (tied, own), (single, other) = stream.groups(range(5))
        assert (tied, single, other) == ([0, 1, 2, 3], [4], [alone])
        assert len(own) == 3 and set(own) == set(chain)
