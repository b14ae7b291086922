"""The oracle: every thread a generator that stops at barriers and shuffles; sectors by sets."""

from __future__ import annotations

import ast
import math
from collections import Counter, defaultdict
from collections.abc import Iterator
from itertools import product
from types import SimpleNamespace
from typing import Any

import numpy as np

YIELDS = ("syncthreads", "syncwarp", "shfl_sync", "shfl_up_sync", "shfl_down_sync", "shfl_xor_sync")


class _Generators(ast.NodeTransformer):
    """Barriers and shuffles yield their name and arguments; loops count their iterations."""

    def __init__(self, own: set[str]) -> None:
        self.own, self.loops = own, 0

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        if isinstance(node.func, ast.Name) and node.func.id in self.own:
            return ast.YieldFrom(node)
        if isinstance(node.func, ast.Attribute) and node.func.attr in YIELDS:
            name = ast.Constant(node.func.attr)
            return ast.Yield(ast.Tuple([name, *node.args], ast.Load()))
        return node

    def visit_For(self, node: Any) -> list[ast.AST]:
        self.loops += 1
        key = self.loops
        self.generic_visit(node)
        node.body.insert(0, ast.parse(f"loops[{key}] += 1").body[0])
        return [node, ast.parse(f"loops[{key}] = 0").body[0]]

    visit_While = visit_For

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        self.generic_visit(node)
        node.body.append(ast.parse("if False: yield").body[0])
        return node


class Watched:
    """An array that notes who accesses which address, at which point of all loops."""

    def __init__(self, array: np.ndarray, log: Any, thread: Any, loops: Counter[int]) -> None:
        self.array, self.log, self.thread, self.loops = array, log, thread, loops
        self.seen: Counter[Any] = Counter()
        self.shape = array.shape

    def _note(self, what: str, index: Any) -> None:
        at = int(np.ravel_multi_index(np.atleast_1d(index), self.shape))
        when = what, tuple(sorted((+self.loops).items()))
        self.seen[when] += 1
        warp = (*self.thread, when, self.seen[when])
        self.log[what, warp].add(at * self.array.itemsize // 32)

    def __getitem__(self, index: Any) -> Any:
        self._note("loads", index)
        return self.array[index]

    def __setitem__(self, index: Any, value: Any) -> None:
        self._note("stores", index)
        self.array[index] = value


def _load4(array: Watched, i: int) -> list[Any]:
    array._note("loads", i)
    return list(array.array[i : i + 4])


def _store4(array: Watched, i: int, values: Any) -> None:
    array._note("stores", i)
    array.array[i : i + 4] = values


def _add(array: Watched, index: Any, value: Any) -> None:
    array.array[index] += value


def _cuda(place: Any, sizes: Any, shared: dict[int, np.ndarray]) -> SimpleNamespace:
    """``cuda`` as one thread sees it."""
    (block, thread), (grid, threads) = place, sizes
    axes = [SimpleNamespace(**dict(zip("xyz", each))) for each in (thread, block, threads, grid)]
    at = [b * n + t for b, n, t in zip(block, threads, thread)]
    arrays = iter(range(99))
    number = thread[0] + threads[0] * (thread[1] + threads[1] * thread[2])
    return SimpleNamespace(
        **dict(zip(("threadIdx", "blockIdx", "blockDim", "gridDim"), axes)),
        laneid=number % 32, warp=number // 32, load4=_load4, store4=_store4,
        grid=lambda n: at[0] if n == 1 else at[:n], gridsize=lambda n: grid[0] * threads[0],
        shared=SimpleNamespace(array=lambda *a: shared.setdefault(next(arrays), np.zeros(*a))),
        local=SimpleNamespace(array=np.zeros), atomic=SimpleNamespace(add=_add),
        fma=lambda a, b, c: np.float32(np.float64(a) * b + c),
    )  # fmt: skip


def execute(text: str, grid: Any, block: Any, *args: Any) -> dict[str, int]:
    """Run a kernel thread by thread; return sectors of loads and of stores."""
    tree = ast.parse(text)
    functions = [node.name for node in tree.body if isinstance(node, ast.FunctionDef)]
    tree = ast.fix_missing_locations(_Generators({*functions}).visit(tree))
    code = compile(tree, "oracle", "exec")
    grid, block = ((*size, 1, 1)[:3] for size in (grid, block))
    log: defaultdict[Any, set[int]] = defaultdict(set)
    for place in product(*map(range, grid)):
        shared: dict[int, np.ndarray] = {}
        threads = {}
        for thread in (each[::-1] for each in product(*map(range, block[::-1]))):
            cuda, loops = _cuda((place, thread), (grid, block), shared), Counter()
            names = {"cuda": cuda, "math": math, "float32": np.float32, "loops": loops}
            exec(code, names)
            given = [Watched(a, log, (i, place, cuda.warp), loops) if isinstance(a, np.ndarray)
                     else a for i, a in enumerate(args)]  # fmt: skip
            threads[cuda.warp, cuda.laneid] = names[functions[-1]](*given)
        _advance(threads)
    return {what: sum(len(s) for (w, _), s in log.items() if w == what)
            for what in ("loads", "stores")}  # fmt: skip


def _advance(threads: dict[Any, Iterator[Any]]) -> None:
    """Let all threads run to their next barrier or shuffle, until all have ended."""
    answers: dict[Any, Any] = dict.fromkeys(threads)
    while answers:
        asked = {}
        for key, answer in answers.items():
            try:
                asked[key] = threads[key].send(answer)
            except StopIteration:
                continue
        answers = {key: _answer(key, ask, asked) for key, ask in asked.items()}


def _answer(key: Any, ask: Any, asked: dict[Any, Any]) -> Any:
    name, *args = ask
    if "shfl" not in name:
        return None
    (warp, lane), by = key, args[2]
    source = {"shfl_sync": by, "shfl_up_sync": lane - by, "shfl_down_sync": lane + by,
              "shfl_xor_sync": lane ^ by}[name]  # fmt: skip
    return asked[warp, source if 0 <= source < 32 else lane][2]
