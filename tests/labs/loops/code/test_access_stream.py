"""Access streams: exactly the addresses that running the loops touches, in their order."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import pytest

from rooflab.labs.cache.stream import AccessStream, Reference
from rooflab.labs.loops.nest import Nest
from tests.labs.loops.support import random_nests
from tests.support.rows import each_row


def gemm(n: int) -> Nest:
    return Nest({"i": n, "j": n, "k": n}, "C[i,j] += A[i,k]*B[k,j]")


def played(stream: AccessStream) -> Iterator[tuple[str, int, bool]]:
    """Array, address and direction of each access, by the stream's definition."""

    def runs(index: tuple[int, ...]) -> bool:
        return all(
            sum(c * i for c, i in zip(guard.coefficients, index)) < guard.limit
            for guard in stream.guards
        )

    def made(one: Reference, index: tuple[int, ...]) -> tuple[str, int, bool]:
        return one.array, one.offset + sum(s * i for s, i in zip(one.strides, index)), one.write

    def walk(index: tuple[int, ...]) -> Iterator[tuple[str, int, bool]]:
        depth = len(index)
        if depth == len(stream.extents) and not runs(index):
            return
        here = [one for one in stream.references if one.depth == depth]
        yield from (made(one, index) for one in here if one.when == "before")
        if depth < len(stream.extents):
            for i in range(stream.extents[depth]):
                yield from walk((*index, i))
        yield from (made(one, index) for one in here if one.when == "after")

    return walk(())


def test_a_plain_product_makes_four_accesses_a_turn() -> None:
    # Load A, load B, load C, store C: 16 bytes for 2 FLOP in fp32, the ratio before any cache.
    n = 6
    stream = gemm(n).stream()
    found = list(played(stream))
    assert len(found) == 4 * n**3
    assert 4 * len(found) / (2 * n**3) == 8.0
    wanted = []
    for i, j, k in itertools.product(range(n), repeat=3):
        for name, at, write in (
            ("A", i * n + k, False), ("B", k * n + j, False),
            ("C", i * n + j, False), ("C", i * n + j, True),
        ):  # fmt: skip
            wanted.append((name, "ABC".index(name) * 4096 + 4 * at, write))
    assert found == wanted


def test_a_register_tile_leaves_vectors() -> None:
    tiled = gemm(32).split("i", 4).split("j", 16).reorder("io", "jo", "k", "ii", "ji")
    stream = tiled.unroll("ii").vectorize("ji").stream()
    assert stream.extents == (8, 2, 32)
    kept = [(r.array, r.depth, r.write, r.bytes, r.when) for r in stream.references]
    assert kept.count(("C", 2, False, 64, "before")) == kept.count(("C", 2, True, 64, "after")) == 4
    assert kept.count(("B", 3, False, 64, "before")) == 1
    assert kept.count(("A", 3, False, 4, "before")) == 4
    assert len(kept) == 13


@each_row(3, 4, 7)
def test_tiles_touch_what_the_plain_loops_touch(size: int) -> None:
    plain = gemm(7)
    tiled = plain.tile({"i": size, "j": size, "k": size})
    assert sorted(played(tiled.stream())) == sorted(played(plain.stream()))
    assert list(played(tiled.stream())) != list(played(plain.stream())) or size == 7


def test_a_tile_that_does_not_fill_is_streamed_as_scalars() -> None:
    tiled = gemm(7).split("j", 4).reorder("i", "jo", "k", "ji").vectorize("ji")
    assert {one.bytes for one in tiled.stream().references} == {4}
    assert sorted(played(tiled.stream())) == sorted(played(gemm(7).stream()))


def test_packing_and_item_size_move_addresses() -> None:
    packed = gemm(8).split("j", 4).reorder("i", "jo", "k", "ji").pack("B")
    (b,) = [one for one in packed.stream(8).references if one.array == "B"]
    assert b.strides == (0, 8 * 8 * 4, 8 * 4, 8)


def test_addresses_are_never_negative() -> None:
    nest = Nest({"i": 10}, "B[i] = A[i]")
    backwards = nest.split("i", 4).reverse("io").reorder("ii", "io")
    assert [one.strides for one in nest.reverse("i").stream().references] == [(-4,), (-4,)]
    with pytest.raises(ValueError, match="no reversed one that does not divide"):
        backwards.stream()
    assert min(at for _, at, _ in played(nest.reverse("i").stream())) == 0


def test_nests_one_after_the_other_are_streamed_if_they_are_fused() -> None:
    nest = Nest({"i": 4}, "B[i] = A[i]; C[i] = B[i]", order="nests")
    with pytest.raises(ValueError, match="fuse them"):
        nest.stream()
    fused = [one.array for one in nest.fuse("S", "T").stream().references]
    assert fused == ["A", "B", "B", "C"]


def test_what_is_not_affine_is_refused() -> None:
    with pytest.raises(ValueError, match="no affine stream"):
        gemm(4).coalesce("i", "j").stream()
    with pytest.raises(ValueError, match="knows no skewed loop"):
        gemm(4).skew("j", "i").stream()
    shifted = Nest({"i": 4}, "B[i] = A[i]; C[i] = B[i]").shift("i", 1, "T")
    with pytest.raises(ValueError, match="no single stream"):
        shifted.stream()


def listed(nest: Nest) -> list[tuple[int, bool]]:
    """A trace as pairs."""
    addresses, writes = nest.trace()
    return list(zip(addresses.tolist(), writes.tolist(), strict=True))


@each_row(*range(60))
def test_a_trace_is_what_the_sorted_iterations_touch(seed: int) -> None:
    nest = random_nests.scheduled(seed)
    nest = nest._with(packed=())  # an address in a packed copy is the stream's to say
    found = listed(nest)
    wanted = []
    for one in nest.instances():
        statement = next(s for s in nest.statements if s.name == one.statement)
        values = dict(zip(nest.dims(one.statement), one.iteration, strict=True))
        for access, write in [(a, False) for a in statement.reads] + [(statement.target, True)]:
            flat = 0
            for index, room in zip(access.cell(values), nest.shapes[access.array], strict=True):
                flat = flat * room + index
            wanted.append((list(nest.shapes).index(access.array) * 4096 + 4 * flat, write))
    assert found == wanted


@each_row(
    lambda nest: nest,
    lambda nest: nest.reorder("k", "j", "i"),
    lambda nest: nest.tile({"i": 2, "j": 3, "k": 5}),
    lambda nest: nest.tile({"j": 2, "k": 3}).pack("B"),
    lambda nest: nest.pack("A").reorder("j", "k", "i"),
)
def test_a_trace_is_the_stream_where_there_is_one_and_nothing_is_in_registers(change) -> None:
    nest = change(gemm(7))
    assert listed(nest) == [(at, write) for _, at, write in played(nest.stream())]


def test_a_nest_too_large_to_list_is_refused() -> None:
    with pytest.raises(ValueError, match="2,000,000 are listed"):
        gemm(128).trace()
