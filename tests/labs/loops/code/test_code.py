"""Generated code: what it says, and that every legal schedule computes what the text says."""

from __future__ import annotations

import itertools
import random
from typing import Any

import numpy as np
import pytest

import rooflab as rl
from rooflab.labs.loops.code.execution import Kernel, Team, room
from rooflab.labs.loops.code.packing import packed_access, stored_shape
from rooflab.labs.loops.code.program import Load, Store, When, each_op, lanes, program
from rooflab.labs.loops.language import tree as trees
from rooflab.labs.loops.nest import Nest
from tests.labs.loops.support.random_nests import scheduled
from tests.support.rows import each_row

Arrays = dict[str, np.ndarray[Any, Any]]


def gemm(m: int, n: int, k: int) -> Nest:
    return Nest({"i": m, "j": n, "k": k}, "C[i,j] += A[i,k]*B[k,j]")


def register_tile(nest: Nest, rows: int = 8, columns: int = 16) -> Nest:
    split = nest.split("i", rows).split("j", columns).reorder("io", "jo", "k", "ii", "ji")
    return split.unroll("ii").vectorize("ji")


def tiled(nest: Nest, rows: int = 4, columns: int = 16) -> Nest:
    return register_tile(nest, rows, columns).interchange("io", "jo")


def numbers(nest: Nest, seed: int = 0, dtype: str = "float64") -> Arrays:
    dice = np.random.default_rng(seed)
    return {name: dice.random(sizes).astype(dtype) for name, sizes in nest.shapes.items()}


# What must come out, by NumPy.


def test_a_product_is_numpys() -> None:
    nest = register_tile(gemm(30, 40, 20)).pack("B").parallel("io")
    data = numbers(nest, dtype="float32")
    wanted = data["C"] + data["A"] @ data["B"]  # of what is given: it does not change
    for backend, threads in (("llvm", 1), ("llvm", 2), ("python", 1)):
        found = nest.run(backend, threads, **data)["C"]
        np.testing.assert_allclose(found, wanted, rtol=1e-5)


def test_functions_are_numpys() -> None:
    text = "B[i] = sqrt(A[i]) + exp(-A[i])/2; C[i] = sin(B[i]); D[0] = max(D[0], A[i])"
    nest = Nest({"i": 50}, text)
    a = np.linspace(0.1, 2, 50)
    for backend in ("python", "llvm"):
        found = nest.run(backend, A=a)
        np.testing.assert_allclose(found["B"], np.sqrt(a) + np.exp(-a) / 2)
        np.testing.assert_allclose(found["C"], np.sin(np.sqrt(a) + np.exp(-a) / 2))
        assert found["D"].tolist() == [2.0]


# A legal schedule gives the reference's result: exactly, unless sums were reordered.


def test_legal_random_schedules_give_the_references_result() -> None:
    exact = summed = 0
    for seed in range(200):
        nest = scheduled(seed)
        strict = nest.check(reassociate=False).ok
        if not strict and not nest.check():
            continue
        data = numbers(nest, seed)
        wanted = nest.reference(**data)
        for backend in ("python", *(["llvm"] if seed % 3 == 0 else [])):
            same(nest.run(backend, **data), wanted, 1e-12 * (backend == "llvm" or not strict), nest)
        exact, summed = exact + strict, summed + (not strict)
    assert exact > 100
    assert summed > 2


def same(found: Arrays, wanted: Arrays, room: float, nest: Nest) -> None:
    assert found.keys() == wanted.keys()
    for name, values in wanted.items():
        np.testing.assert_allclose(found[name], values, rtol=room, err_msg=repr(nest))


def vectorized(first: int) -> Nest:
    """The first random legal nest from this seed on with a vector loop in its code."""
    for seed in range(first, first + 2000):
        nest = scheduled(seed, 8)
        if any(name == "vectorize" for name, _ in nest.log) and nest.check():
            try:
                if lanes(program(nest)) > 1:
                    return nest
            except ValueError:
                continue
    raise AssertionError("no such nest")


def test_random_lanes_give_the_references_result() -> None:
    for seed in (0, 4000):
        nest = vectorized(seed)
        data = numbers(nest)
        same(nest.run(**data), nest.reference(**data), 1e-12, nest)


def overlapping(seed: int) -> Nest:
    """A random schedule of a sum whose marked loops may meet in one element of the target."""
    dice = random.Random(seed)
    text = dice.choice(
        ("C[i+j] += A[i]*B[j]", "C[i] += A[i,j]", "C[2*i+j] *= A[i,j]", "C[i-j+8] += A[i,j]",
         "C[i+j] = max(C[i+j], A[i]*B[j])", "C[i,i+j] += A[j]", "C[j] += A[i,j]")
    )  # fmt: skip
    nest = Nest({"i": dice.randint(4, 6), "j": dice.choice((4, 6, 8))}, text)
    if dice.random() < 0.5:
        nest = nest.interchange("i", "j")
    if dice.random() < 0.4:
        nest = nest.coalesce(*nest.loops, "t")
    if dice.random() < 0.6:
        nest = nest.split(nest.loops[-1], dice.choice((2, 4)))
    marks = iter(dice.sample(("unroll", "unroll", "vectorize"), 3))
    for name in reversed(nest.loops[-dice.randint(1, len(nest.loops)) :]):
        nest = getattr(nest, next(marks))(name)
    return nest


def test_registers_of_a_tile_that_meet_in_an_element_give_the_references_result() -> None:
    tried = 0
    for seed in range(75):
        nest = overlapping(seed)
        if not nest.check():
            continue
        data, tried = numbers(nest, seed), tried + 1
        for backend in ("llvm", "python"):
            same(nest.run(backend, **data), nest.reference(**data), 1e-12, nest)
    assert tried > 37


def test_the_greatest_is_found_in_lanes() -> None:
    for function in ("max", "min"):
        text = f"C[i] = {function}(C[i], A[i]); D[i] = {function}(A[i], 0.5) + C[i]"
        nest = Nest({"i": 64}, text).split("i", 8).vectorize("ii")
        assert lanes(program(nest)) == 8
        data = numbers(nest)
        same(nest.run(**data), nest.reference(**data), 1e-12, nest)


def test_arrays_may_have_any_name() -> None:
    found = Nest({"x": 4}, "v1[x] = test2[x]*2 + ä[x]").run(test2=np.arange(4.0), ä=np.ones(4))
    assert found["v1"].tolist() == [1, 3, 5, 7]


def test_an_illegal_schedule_gives_another_result() -> None:
    nest = Nest({"i": (1, 9), "j": 8}, "A[i,j] = A[i-1,j+1]*0.5")
    data = numbers(nest)
    wrong = nest.interchange("i", "j").run("python", **data)["A"]
    assert not np.array_equal(wrong, nest.reference(**data)["A"])


@each_row(1, 3, 8)
def test_tiles_that_do_not_fill_run_as_plain_loops(rows: int) -> None:
    nest = register_tile(gemm(8, 20, 5), rows)
    assert any(isinstance(op, When) and op.otherwise for op in each_op(program(nest)))
    data = numbers(nest)
    wanted = data["C"] + data["A"] @ data["B"]
    np.testing.assert_allclose(nest.run(**data)["C"], wanted, rtol=1e-13)


def test_a_vector_that_is_not_contiguous_is_unrolled() -> None:
    nest = Nest({"i": 4, "j": 4}, "B[i,j] = A[j,i]*2").vectorize("j")
    loads = [op.lanes for op in each_op(program(nest)) if isinstance(op, Load)]
    assert loads == [1] * 4
    data = numbers(nest)
    np.testing.assert_array_equal(nest.run(**data)["B"], data["A"].T * 2)


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
    "one lane, then two": Nest({"j": 1, "i": 2}, "C[j] = B[j]; A[i] = D[i]", order="nests")
    .vectorize("j").vectorize("i"),
    "greatest": Nest({"i": 20, "j": 30}, "C[i] = max(C[i], A[i,j])").interchange("i", "j"),
    "convolution": Nest({"x": 33, "c": 3, "p": 3}, "C[x] += A[x+p,c]*B[p,c]")
    .split("x", 16).reorder("xo", "c", "p", "xi").vectorize("xi"),
}  # fmt: skip


@each_row(*SCHEDULES)
def test_every_schedule_gives_the_reference(name: str) -> None:
    nest = SCHEDULES[name]
    data = numbers(nest, dtype="float32")
    for threads in (1, 2) if Kernel(nest).parallel else (1,):
        same(nest.run(threads=threads, **data), nest.reference(**data), 1e-5, nest)


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
    for array, values in numbers(nest, 3, "float32").items():
        data[array][...] = values
    with Team(2) as team:
        bound = Kernel(nest).bind(data, team)
        bound.pack()
    ((leaf, around, _),) = trees.leaves(nest.tree)
    for array, (copy, _) in zip(nest.packed, bound.copies):
        (access,) = (one for one in nest.statements[0].reads if one.array == array)
        for point in itertools.product(*(range(*nest.extents[dim]) for dim in "ijk")):
            at = dict(zip("ijk", point))
            place = packed_access(access, leaf, around)
            turn = {loop.name: leaf.time[loop.name].at(at) for loop in around}
            assert copy[place.cell(turn)] == data[array][access.cell(at)]


# What the code says.


def test_python_is_the_text_in_loops() -> None:
    assert gemm(4, 5, 6).code() == (
        "def nest(A, B, C):\n"
        "    for i in range(4):\n"
        "        for j in range(5):\n"
        "            for k in range(6):\n"
        "                C[i, j] += A[i, k]*B[k, j]\n"
    )


def test_code_can_be_pasted_and_run() -> None:
    space: dict[str, Any] = {}
    exec(Nest({"i": 3}, "B[i] = sqrt(A[i]) + max(A[i], 2)").code(), space)
    b = np.zeros(3)
    space["nest"](np.array([1.0, 4.0, 9.0]), b)
    assert b.tolist() == [3.0, 6.0, 12.0]


def test_a_register_tile_is_loaded_once_and_stored_once() -> None:
    ((jo,),) = (io.body for io in program(register_tile(gemm(64, 64, 64), 2)))
    *before, k, one, other = jo.body
    assert [(op.register, op.access.array) for op in before] == [("acc_0", "C"), ("acc_1", "C")]
    assert [(op.register, op.access) for op in (one, other)] == [
        (op.register, op.access) for op in before]  # fmt: skip
    assert not any(isinstance(op, Store) for op in k.body)
    assert [op.access.array for op in k.body if isinstance(op, Load)].count("B") == 1  # shared


def test_parentheses_stand_where_they_must() -> None:
    nest = Nest({"i": 3}, "B[i] = (A[i] + 1)*(2 - (A[i] - 3))/(A[i]*A[i]) - -A[i]")
    assert "(A[i] + 1)*(2 - (A[i] - 3))/(A[i]*A[i]) - (-A[i])" in nest.code()
    data = numbers(nest)
    a = data["A"]
    wanted = (a + 1) * (2 - (a - 3)) / (a * a) + a
    np.testing.assert_allclose(nest.run("python", **data)["B"], wanted)


def test_a_packed_array_lies_in_the_order_of_the_loops() -> None:
    nest = register_tile(gemm(16, 32, 4)).pack("B")
    assert "B_packed[jo, k, ji]" in nest.code()
    assert stored_shape(nest, "B") == (2, 4, 16)


# What is refused.


def test_wrong_arrays_are_refused() -> None:
    nest = gemm(4, 4, 4)
    with pytest.raises(ValueError, match=r"A has shape \(3, 4\); the nest needs \(4, 4\)"):
        nest.run("python", A=np.zeros((3, 4)))
    with pytest.raises(ValueError, match="array='Q' is unknown"):
        nest.run("python", Q=np.zeros((4, 4)))
    with pytest.raises(ValueError, match="arrays are of int64"):
        nest.run("python", A=np.zeros((4, 4), int))
    with pytest.raises(ValueError, match="backend='numba' is unknown"):
        nest.run("numba")


def test_schedules_that_cannot_be_run_are_refused() -> None:
    with pytest.raises(ValueError, match="1,048,576 iterations are too many to interpret"):
        gemm(128, 128, 64).run("python")
    with pytest.raises(ValueError, match="threads=2: the outermost loop is not parallel"):
        gemm(4, 4, 4).run(threads=2)
    with pytest.raises(ValueError, match="threads=4: backend='python' has one"):
        gemm(4, 4, 4).parallel("i").run("python", threads=4)
    with pytest.raises(ValueError, match="loops i make 4,096 copies"):
        Nest({"i": 4096}, "B[i] = A[i]").unroll("i").run()
    with pytest.raises(ValueError, match="vectorize one of them"):
        gemm(4, 4, 4).reorder("k", "i", "j").vectorize("i").vectorize("j").run()


def test_a_schedule_is_timed_as_the_product_that_it_is() -> None:
    """Operands lie by columns, and the nest reads them by rows: C + B·A of the transposed ones."""
    nest = rl.loops.Nest({"i": 24, "j": 24, "k": 24}, "C[i,j] += A[i,k]*B[k,j]")
    op = rl.gemm(24, 24, 24, accumulate=True)
    for one in (nest, nest.tile({"i": 8, "j": 8, "k": 8}).pack("B")):
        found = one.measure(op, samples=3, seconds=0.001)
        assert (found.cache, found.threads, found.op) == ("warm", 1, op)
    wrong = rl.loops.Nest({"i": 24, "j": 24, "k": 24}, "C[i,j] += A[i,k]*B[j,k]")
    with pytest.raises(ValueError, match="wrongly"):
        wrong.measure(op, samples=3, seconds=0.001)


@each_row(
    (rl.gemm(24, 24, 24), "add a product of square matrices"),
    (rl.gemm(24, 24, 12, accumulate=True), "add a product of square matrices"),
    (rl.gemm(8, 8, 8, accumulate=True), r"needs a nest on A, B and C of \(8, 8\)"),
    (rl.gemm(24, 24, 24, "fp16", accumulate=True), "must be in one format, fp32 or fp64"),
    (5, "op=5"),
)
def test_another_operation_is_not_timed(op: rl.Operation, said: str) -> None:
    nest = rl.loops.Nest({"i": 24, "j": 24, "k": 24}, "C[i,j] += A[i,k]*B[k,j]")
    with pytest.raises((TypeError, ValueError), match=said):
        nest.measure(op)
