"""Kernels: every schedule computes what the nest says, whole, in slices and on two threads."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from rooflab.labs.loops.code.execution import Team
from rooflab.labs.loops.code.packing import packed
from rooflab.labs.loops.nest import Nest
from rooflab.labs.search.schedules.kernel import SLICE_S, Bound, Kernel, room
from rooflab.labs.search.schedules.moves import space
from tests.support.rows import each_row


def gemm(m: int, n: int, k: int) -> Nest:
    return Nest({"i": m, "j": n, "k": k}, "C[i,j] += A[i,k]*B[k,j]")


def tiled(nest: Nest, rows: int = 4, lanes: int = 16) -> Nest:
    made = nest.split("i", rows).split("j", lanes).reorder("jo", "io", "k", "ii", "ji")
    return made.unroll("ii").vectorize("ji")


def numbers(nest: Nest, seed: int = 0) -> dict[str, np.ndarray]:
    dice = np.random.default_rng(seed)
    return {name: dice.random(shape, np.float32) for name, shape in nest.shapes.items()}


BIG = gemm(32, 48, 24)
SCHEDULES = {
    "as written": BIG,
    "register tile": tiled(BIG),
    "wider than the processor": tiled(BIG, 2, 24).pack("A"),
    "sum unrolled": tiled(BIG).split("k", 4).reorder("ki", "ii", "ji").unroll("ki"),
    "tiles of caches": tiled(BIG).split("k", 8).reorder("ko", "jo", "io", "ki"),
    "packed": tiled(BIG).split("k", 8).reorder("ko", "jo", "io", "ki").pack("B").pack("A"),
    "parallel": tiled(BIG).pack("B").parallel("jo"),
    "splits that do not divide": tiled(gemm(30, 41, 23)).split("k", 4).pack("B").parallel("jo"),
    "lanes without sums": BIG.reorder("i", "k", "j").split("j", 16).vectorize("ji"),
    "no loop holds all": Nest({"i": 8}, "C[0] += A[i]*B[i]").split("i", 4).unroll("ii"),
    "two nests": Nest({"i": 40}, "B[i] = 2*A[i]; C[i] = B[i] + 1", order="nests"),
    "greatest": Nest({"i": 20, "j": 30}, "C[i] = max(C[i], A[i,j])").interchange("i", "j"),
    "convolution": Nest({"x": 33, "c": 3, "p": 3}, "C[x] += A[x+p,c]*B[p,c]")
    .split("x", 16).reorder("xo", "c", "p", "xi").vectorize("xi"),
}  # fmt: skip


@each_row(*SCHEDULES)
def test_every_schedule_gives_the_reference(name: str) -> None:
    nest = SCHEDULES[name]
    data = numbers(nest)
    wanted = nest.reference(**data)
    kernel = Kernel(nest)
    for threads in (1, 2) if kernel.parallel else (1,):
        for array, found in kernel.run(threads, **data).items():
            np.testing.assert_allclose(found, wanted[array], rtol=1e-5)


def test_whatever_the_moves_make_gives_numpys_product() -> None:
    start = gemm(18, 36, 20).interchange("j", "k")  # nothing divides but 2 and 3
    nests = made = [start]
    for _ in range(4):
        made = [one for nest in made[-9:] for move in space(2) for one in move(nest)][::3]
        nests = [*nests, *made]
    data = numbers(start)
    wanted = data["C"] + data["A"] @ data["B"]
    legal = [nest for nest in nests if nest.check()][::5]
    assert len(legal) > 10
    for nest in legal:
        np.testing.assert_allclose(Kernel(nest).run(**data)["C"], wanted, rtol=1e-4)


def test_slices_of_the_outermost_loop_add_up() -> None:
    nest = tiled(gemm(16, 64, 8))
    data = {name: room(shape) for name, shape in nest.shapes.items()}
    data["A"][...], data["B"][...] = 1, 1
    with Team(1) as team:
        bound = Kernel(nest).bind(data, team)
        assert bound.longest == 4
        bound.run(3)
    assert (data["C"][:, :48] == 8).all() and not data["C"][:, 48:].any()


def test_threads_take_every_turn_once() -> None:
    nest = Nest({"i": 7, "j": 3}, "C[i] += A[i,j]").parallel("i")
    with Team(3) as team:
        bound = Kernel(nest).bind({n: room(s) for n, s in nest.shapes.items()}, team)
        taken = list(itertools.chain(*(range(*span) for span in bound.spans)))
        assert taken == list(range(7)) and bound.longest == 3


@each_row("packed", "parallel", "splits that do not divide")
def test_packed_copies_are_those_of_the_loops(name: str) -> None:
    nest = SCHEDULES[name]
    data = {array: room(shape) for array, shape in nest.shapes.items()}
    for array, values in numbers(nest, 3).items():
        data[array][...] = values
    with Team(2) as team:
        bound = Kernel(nest).bind(data, team)
        bound.pack()
        for copy in bound.copies:
            wanted = packed(nest, copy.name, data[copy.name])
            np.testing.assert_array_equal(copy.room, wanted)


def test_a_slice_stands_for_the_whole_and_packing_counts() -> None:
    # A clock that moves with the turns that were run: a turn takes 1 ms, packing takes 5.
    now = [0.0]

    class Counted(Bound):
        def pack(self) -> None:
            now[0] += 5e-3

        def run(self, most: int) -> None:
            now[0] += 1e-3 * most

    nest = tiled(gemm(16, 16 * 400, 8)).pack("B")
    with Team(1) as team:
        bound = Kernel(nest).bind({n: room(s) for n, s in nest.shapes.items()}, team)
        counted = Counted(bound.kernel, bound.arrays, bound.copies, team)
        before = now[0]
        assert counted.seconds(1.0, lambda: now[0]) == pytest.approx(0.005 + 0.400)
        assert SLICE_S < now[0] - before < 0.1, "slices are shorter than the whole"
        before = now[0]
        counted.seconds(1e-3, lambda: now[0])
        assert now[0] - before < 0.03, "one that is far slower than the best is timed once"


@each_row(
    (lambda: Kernel(tiled(BIG).parallel("io")), "loop 'io' is parallel"),
    (lambda: Kernel(BIG.vectorize("j").vectorize("k")), "vectorize one of them"),
    (lambda: Kernel(BIG).run(threads=2), "threads=2: the outermost loop is not parallel"),
    (lambda: Kernel(BIG).run(threads=0), "threads=0"),
    (lambda: Kernel(BIG).run(Z=np.zeros(3)), "array='Z' is unknown"),
    (lambda: Kernel(BIG).run(A=np.zeros(3)), r"A has shape \(3,\); the nest needs \(32, 24\)"),
)
def test_what_cannot_be_run_is_refused(make: object, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        make()
