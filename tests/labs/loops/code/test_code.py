"""Generated code: what it says, and that every legal schedule computes what the text says."""

from __future__ import annotations

import ctypes
import random
import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rooflab as rl
from rooflab.labs.loops.nest import Nest
from tests.labs.loops.support.random_nests import scheduled
from tests.support.rows import each_row

Arrays = dict[str, np.ndarray[Any, Any]]


def gemm(m: int, n: int, k: int) -> Nest:
    return Nest({"i": m, "j": n, "k": k}, "C[i,j] += A[i,k]*B[k,j]")


def register_tile(nest: Nest, rows: int = 8, columns: int = 16) -> Nest:
    split = nest.split("i", rows).split("j", columns).reorder("io", "jo", "k", "ii", "ji")
    return split.unroll("ii").vectorize("ji")


def numbers(nest: Nest, seed: int = 0, dtype: str = "float64") -> Arrays:
    dice = np.random.default_rng(seed)
    return {name: dice.random(sizes).astype(dtype) for name, sizes in nest.shapes.items()}


# What must come out, by NumPy.


def test_a_product_is_numpys() -> None:
    nest = register_tile(gemm(30, 40, 20)).pack("B").parallel("io")
    data = numbers(nest, dtype="float32")
    wanted = data["C"] + data["A"] @ data["B"]
    for backend, threads in (("numba", 1), ("numba", 2), ("llvm", 1), ("llvm", 2)):
        found = nest.run(backend, threads, **data)["C"]
        np.testing.assert_allclose(found, wanted, rtol=1e-5)
    np.testing.assert_allclose(nest.run("python", **data)["C"], wanted, rtol=1e-5)


def test_functions_are_numpys() -> None:
    text = "B[i] = sqrt(A[i]) + exp(-A[i])/2; C[i] = sin(B[i]); D[0] = max(D[0], A[i])"
    nest = Nest({"i": 50}, text)
    a = np.linspace(0.1, 2, 50)
    for backend in ("python", "numba", "llvm"):
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
        wanted, found = nest.reference(**data), nest.run("python", **data)
        for name, values in wanted.items():
            if strict:
                np.testing.assert_array_equal(found[name], values, err_msg=repr(nest))
            else:
                np.testing.assert_allclose(found[name], values, err_msg=repr(nest))
        exact, summed = exact + strict, summed + (not strict)
    assert exact > 100
    assert summed > 2


def vectorized(first: int) -> Nest:
    """The first random legal nest from this seed on with a vector loop in its code."""
    for seed in range(first, first + 2000):
        nest = scheduled(seed, 8)
        if any(name == "vectorize" for name, _ in nest.log) and nest.check():
            try:
                if "vload" in nest.code("numba"):
                    return nest
            except ValueError:
                continue
    raise AssertionError("no such nest")


@each_row(0, 4000)
def test_numba_gives_the_references_result(seed: int) -> None:
    nest = vectorized(seed)
    data = numbers(nest, seed)
    wanted = nest.reference(**data)
    for backend in ("numba", "llvm"):
        found = nest.run(backend, **data)
        for name, values in wanted.items():
            np.testing.assert_allclose(found[name], values, rtol=1e-12, err_msg=repr(nest))


def test_llvm_gives_the_references_result_on_random_schedules() -> None:
    tried = 0
    for seed in range(60):
        nest = scheduled(seed)
        if nest.check(reassociate=False):
            data = numbers(nest, seed)
            wanted, found = nest.reference(**data), nest.run("llvm", **data)
            for name, values in wanted.items():
                np.testing.assert_allclose(found[name], values, rtol=1e-14, err_msg=repr(nest))
            tried += 1
    assert tried > 20


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
        wanted = nest.reference(**data)["C"]
        for backend in ("llvm", "python", *(["numba"] if seed % 25 == 0 else [])):
            found = nest.run(backend, **data)["C"]
            said = f"{backend}, seed {seed}: {nest!r}"
            np.testing.assert_allclose(found, wanted, rtol=1e-12, err_msg=said)
    assert tried > 37


def test_the_greatest_is_found_in_lanes() -> None:
    for function in ("max", "min"):
        text = f"C[i] = {function}(C[i], A[i]); D[i] = {function}(A[i], 0.5) + C[i]"
        nest = Nest({"i": 64}, text).split("i", 8).vectorize("ii")
        assert f"v{function}(" in nest.code("numba") and f"v{function}(" in nest.code("c")
        data = numbers(nest)
        wanted = nest.reference(**data)
        for backend in ("llvm", "numba"):
            for name, values in nest.run(backend, **data).items():
                np.testing.assert_allclose(values, wanted[name], rtol=1e-12)


def test_one_lane_in_a_statement_and_two_in_the_next() -> None:
    nest = Nest({"j": 1, "i": 2}, "C[j] = B[j]; A[i] = D[i]", order="nests")
    lanes, data = nest.vectorize("j").vectorize("i"), numbers(nest)
    for name, values in lanes.run("llvm", **data).items():
        np.testing.assert_array_equal(values, nest.reference(**data)[name])


def test_an_illegal_schedule_gives_another_result() -> None:
    nest = Nest({"i": (1, 9), "j": 8}, "A[i,j] = A[i-1,j+1]*0.5")
    data = numbers(nest)
    wrong = nest.interchange("i", "j").run("python", **data)["A"]
    assert not np.array_equal(wrong, nest.reference(**data)["A"])


@each_row(1, 3, 8)
def test_tiles_that_do_not_fill_run_as_plain_loops(rows: int) -> None:
    nest = register_tile(gemm(8, 20, 5), rows)
    assert "else:" in nest.code("numba")
    data = numbers(nest)
    wanted = data["C"] + data["A"] @ data["B"]
    np.testing.assert_allclose(nest.run("llvm", **data)["C"], wanted, rtol=1e-13)


def test_a_vector_that_is_not_contiguous_is_unrolled() -> None:
    nest = Nest({"i": 4, "j": 4}, "B[i,j] = A[j,i]*2").vectorize("j")
    text = nest.code("numba")
    assert "vload" not in text
    assert text.count("A[") == 4
    data = numbers(nest)
    np.testing.assert_array_equal(nest.run(**data)["B"], data["A"].T * 2)


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
    lines = register_tile(gemm(64, 64, 64), 2).code("numba").splitlines()
    said = [line.strip().split("(")[0] for line in lines]
    inner = next(at for at, line in enumerate(lines) if "for k" in line)
    assert said[inner - 2 : inner] == ["acc_0 = vload", "acc_1 = vload"]
    assert said[inner + 1 :].count("acc_0 = vfma") == 1
    assert [line for line in said if "vstore" in line] == ["vstore"] * 2
    assert sum("vload(B" in line for line in lines) == 1  # shared by both rows


def test_parentheses_stand_where_they_must() -> None:
    nest = Nest({"i": 3}, "B[i] = (A[i] + 1)*(2 - (A[i] - 3))/(A[i]*A[i]) - -A[i]")
    assert "(A[i] + 1)*(2 - (A[i] - 3))/(A[i]*A[i]) - (-A[i])" in nest.code()
    data = numbers(nest)
    a = data["A"]
    wanted = (a + 1) * (2 - (a - 3)) / (a * a) + a
    np.testing.assert_allclose(nest.run("python", **data)["B"], wanted)


def test_a_packed_array_lies_in_the_order_of_the_loops() -> None:
    nest = register_tile(gemm(16, 32, 4)).pack("B")
    assert "vload(B_packed, (jo, k, 0))" in nest.code("numba")
    assert "float B_packed[2][4][16]" in nest.code("c")


@pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler")
@pytest.mark.parametrize("tiled", [False, True])
def test_c_compiles_and_computes(tiled: bool, tmp_path: Path) -> None:
    nest = gemm(10, 12, 7).coalesce("i", "j").split("ij", 9) if not tiled else None
    nest = nest or register_tile(gemm(10, 20, 7), 4)
    data = numbers(nest, dtype="float32")
    wanted = data["C"] + data["A"] @ data["B"]
    run_c(nest, data, tmp_path)
    np.testing.assert_allclose(data["C"], wanted, rtol=1e-5)


def run_c(nest: Nest, data: Arrays, folder: Path) -> None:
    """Compile the C code of a nest and run it on these arrays."""
    source, library = folder / "nest.c", folder / "nest.so"
    source.write_text(nest.code("c"))
    command = ["cc", "-O1", "-w", "-shared", "-fPIC", str(source), "-o", str(library), "-lm"]
    subprocess.run(command, check=True)
    ctypes.CDLL(str(library)).nest(*(ctypes.c_void_p(a.ctypes.data) for a in data.values()))


@pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler")
def test_c_finds_the_greatest_in_lanes(tmp_path: Path) -> None:
    nest = Nest({"i": 64}, "C[i] = max(C[i], A[i])").split("i", 8).vectorize("ii")
    data = numbers(nest, dtype="float32")
    wanted = np.maximum(data["C"], data["A"])
    run_c(nest, data, tmp_path)
    np.testing.assert_array_equal(data["C"], wanted)


# What is refused.


def test_wrong_arrays_are_refused() -> None:
    nest = gemm(4, 4, 4)
    with pytest.raises(ValueError, match=r"A has shape \(3, 4\); the nest needs \(4, 4\)"):
        nest.run("python", A=np.zeros((3, 4)))
    with pytest.raises(ValueError, match="array='Q' is unknown"):
        nest.run("python", Q=np.zeros((4, 4)))
    with pytest.raises(ValueError, match="arrays are of int64"):
        nest.run("python", A=np.zeros((4, 4), int))
    with pytest.raises(ValueError, match="backend='fortran'"):
        nest.run("fortran")


def test_arrays_that_are_given_are_not_changed() -> None:
    c = np.zeros((4, 4))
    gemm(4, 4, 4).run("python", C=c, A=np.ones((4, 4)), B=np.ones((4, 4)))
    assert not c.any()


def test_schedules_that_cannot_be_run_are_refused() -> None:
    with pytest.raises(ValueError, match="1,048,576 iterations are too many to interpret"):
        gemm(128, 128, 64).run("python")
    with pytest.raises(ValueError, match="threads=2: the outermost loop is not parallel"):
        gemm(4, 4, 4).run(threads=2)
    with pytest.raises(ValueError, match="threads=4: backend='python' has one"):
        gemm(4, 4, 4).parallel("i").run("python", threads=4)
    with pytest.raises(ValueError, match="loops i make 4,096 copies"):
        Nest({"i": 4096}, "B[i] = A[i]").unroll("i").code("numba")
    with pytest.raises(ValueError, match="vectorize one of them"):
        gemm(4, 4, 4).reorder("k", "i", "j").vectorize("i").vectorize("j").code("numba")


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
