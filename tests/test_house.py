"""The house: no module that is one neighbour's overflow, no circles, no prefix for a package."""

from __future__ import annotations

import ast
from collections import Counter
from pathlib import Path

import grimp
import pytest

import rooflab

ROOT = Path(rooflab.__file__).parent

#: Modules that one neighbour alone imports, each with the reason why it is not part of that one.
ONE_IMPORTER = {
    "rooflab.labs.cuda.api": "CuPy's names, apart from what stands behind them",
    "rooflab.labs.cuda.arrays": "the array, apart from CuPy's functions on it",
    "rooflab.exercises.ending": "at the boundary to another process: fork, clock, stop button",
    "rooflab.exercises.on_gpu": "needs an optional dependency",
    "rooflab.labs.cache.ledger": "a result, which the facade rl.cache names",
    "rooflab.labs.cache.nests": "the product that the facade rl.cache names",
    "rooflab.labs.golf.array": "what a learner's function is given; run.py is what runs it",
    "rooflab.grade.answer_cells": "who answers what; merge.py is long enough",
    "rooflab.grade.kernel_client": "at the boundary of the sandbox",
    "rooflab.grade.inside.kernel": "what runs learners' code, behind the sandbox's last step",
    "rooflab.grade.sandbox_copy": "at the boundary of trust: what the sandbox gets",
    "rooflab.labs.search.pictures.replay": "what a picture says, whose limit is 400 lines",
    "rooflab.labs.search.pictures.stages": "an e-graph as lists of words, without a picture",
    "rooflab.labs.search.schedules.moves": "what may be done to a schedule; a learner adds to it",
    "rooflab.labs.search.schedules.prediction": "bytes and seconds without a clock",
    "rooflab.labs.memory.energies.roofline": "figures alone, which the facade rl.memory names",
    "rooflab.measure.verify": "whether results are right, apart from the clock",
    "rooflab.labs.loops.code.llvm": "written in LLVM's language, not in Python",
    "rooflab.labs.loops.pictures.sheet": "the picture, whose limit is 400 lines",
    "rooflab.labs.fusion.attention": "rl.fusion.attend, whose blocks its picture shows, too",
    "rooflab.labs.fusion.table": "rl.fusion.blind_table, which its picture reads, too",
    "rooflab.labs.fusion.kernels": "written for numba's compiler, not for Python",
    "rooflab.labs.cuda.loader": "rl.cuda.load; rl.cuda.here asks what it could load",
    "rooflab.labs.sparse.kernels": "written for numba's compiler, not for Python",
    "rooflab.labs.sparse.levers": "rl.sparse.levers, which its picture shows, too",
    "rooflab.labs.sparse.products": "rl.sparse.gemv, which the gain times, too",
    "rooflab.labs.precision.integers": "rl.precision.sliced_product, which a picture shows",
    "rooflab.labs.precision.speedup": "rl.precision.expected, which a picture reads",
    "rooflab.course.lesson13.cuda_text": "exercises in another language; the lesson has ten",
    "rooflab.show.layouts": "where all of the morph stands, before anything is drawn",
    "rooflab.show.rooflines.picture": "a picture, which live.py makes a widget",
    "rooflab.show.rooflines.key": "what stands beside the axes; picture.py is long enough",
    "rooflab.show.rooflines.controls": "menus, sliders and lines of words: nothing that is drawn",
    "rooflab.labs.golf.picture": "a picture, which the facade rl.show names",
    "rooflab.labs.llm.film.picture": "a picture, which live.py makes a widget",
    "rooflab.labs.llm.film.bars": "half of a picture, whose limit is 400 lines",
}
#: Imports that close a circle today. It is made inside a function.
CIRCLES = {("rooflab.measure.backend", "rooflab.measure.gpu"): "a GPU's description"}
#: Files that import a module of rooflab's by a name which they compute, each with the reason.
BY_NAME = {
    "lazy.py": "public names, on first use",
    "exercises/discovery.py": "finds the lessons, for all engines",
    "exercises/judge.py": "a judge of kinds/ for each kind of exercise",
    "exercises/observe/collect.py": "a runner beside it for each kind of exercise",
    "exercises/observe/lock.py": "the home of a public name that is to be locked",
    "grade/inside/fork_server.py": "what a submission needs is loaded before it is there",
    "measure/backend.py": "a part of the optional cupy, by that module's own name",
}


@pytest.fixture(scope="module")
def graph() -> grimp.ImportGraph:
    return grimp.build_graph("rooflab", cache_dir=None, exclude_type_checking_imports=True)


def test_no_module_is_one_neighbours_overflow(graph: grimp.ImportGraph) -> None:
    found = set()
    for module in graph.modules:
        importers = graph.find_modules_that_directly_import(module)
        if len(importers) == 1 and not graph.find_children(module):
            (one,) = importers
            if one.rpartition(".")[0] == module.rpartition(".")[0]:
                found.add(module)
    assert found == set(ONE_IMPORTER)


def test_imports_run_in_no_circle(graph: grimp.ImportGraph) -> None:
    for importer, imported in CIRCLES:
        graph.remove_import(importer=importer, imported=imported)
    circles = [
        (importer, module)
        for module in graph.modules
        for importer in graph.find_modules_that_directly_import(module)
        if graph.chain_exists(importer=module, imported=importer)
    ]
    assert circles == []


def test_no_import_by_name_hides_an_arrow() -> None:
    """A text that names an optional dependency hides none."""
    found = set()
    for path in ROOT.rglob("*.py"):
        for call in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(call, ast.Call) and "import_module" in ast.unparse(call.func):
                name = call.args[0].value if isinstance(call.args[0], ast.Constant) else "rooflab"
                if name.partition(".")[0] in ("", "rooflab"):
                    found.add(path.relative_to(ROOT).as_posix())
    assert found == set(BY_NAME)


def test_three_files_of_one_prefix_are_a_package() -> None:
    for folder in {path.parent for path in ROOT.rglob("*.py")}:
        prefixes = Counter(path.stem.split("_")[0] for path in folder.glob("[a-z]*_*.py"))
        assert {name: n for name, n in prefixes.items() if n > 2} == {}, folder


def test_no_room_is_a_heap() -> None:
    rooms = Counter(path.parent for path in ROOT.rglob("*.py"))
    assert {room.name: n for room, n in rooms.items() if n > 28} == {}
