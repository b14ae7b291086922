"""Public names: an example that runs; those of lessons and the contract say what they take."""

from __future__ import annotations

import doctest
import inspect
import re
from functools import reduce
from inspect import ismodule
from pathlib import Path

import numpydoc.validate
import pytest

import rooflab
from rooflab.labs.llm import decode_prediction
from rooflab.labs.loops.nest import TRANSFORMATIONS
from rooflab.measure import this_machine
from tests.labs.fusion.support import calibrate_at_once
from tests.labs.llm.support.habits import habits
from tests.labs.sparse.conftest import COSTS, GAIN
from tests.support.machine import ROOFS

#: Of numpydoc's checks: no docstring; parameters that are missing, unknown or in another order;
#: no Returns section; no Examples section.
SECTIONS = {"GL08", "PR01", "PR02", "PR03", "RT01", "EX01"}
RESULTS = {"PR01", "PR02"}  # a class whose objects come from a function needs no parameters
STAND_IN = {"Device", "SimulatedGpu", "StandIn", "imported_as_cupy"}  # no lesson calls them
NAMES = sorted(
    [
        *(n for n in rooflab._HOME if n != "mine" and not ismodule(getattr(rooflab, n))),
        *(f"show.{name}" for name in rooflab.show.__all__),
        *(f"live.{name}" for name in rooflab.live.__all__),
        *(f"memory.{name}" for name in rooflab.memory.__all__),
        *(f"fusion.{name}" for name in rooflab.fusion.__all__ if name != "Step"),
        *(f"precision.{name}" for name in rooflab.precision.__all__),
        *(f"sparse.{name}" for name in rooflab.sparse.__all__),
        *(f"cuda.{name}" for name in rooflab.cuda.__all__ if name not in STAND_IN),
        *(f"search.{name}" for name in rooflab.search.__all__ if name != "operators"),
        *(f"search.operators.{name}" for name in rooflab.search.operators.__all__),
        *(f"loops.Nest{name}" for name in ("", ".check", ".measure", ".run", ".stream")),
        "loops.pipeline",
        "loops.space",
        *(f"cache.{name}" for name in rooflab.cache.__all__),
        *(f"Model.{name}" for name in ("decode", "prefill")),
        *(f"Workload.{name}" for name in ("bound", "seconds", "explain")),
    ]
)
#: Methods with a short docstring: an example, and no list of parameters.
SHORT = sorted(
    f"loops.Nest.{name}"
    for name in (*TRANSFORMATIONS, "replay", "instances", "arrows", "code", "reference")
)
CONSTRUCTED = {
    "DType", "Machine", "Model", "Operand", "Operation", "Roofline", "cache.AccessStream",
    "cache.Cache", "cache.Guard", "cache.Hierarchy", "cache.Reference", "loops.Nest",
    "memory.Energy", "memory.EnergyRoofline", "memory.EnergyTable", "show.Point",
}  # fmt: skip
#: Names of the contract with other tools that no lesson calls; they have all sections too.
CONTRACT = {
    "DType", "Explanation", "Golf", "HierarchicalRoofline", "Machine", "Measurement", "Operand",
    "Prediction", "attention", "chain", "conv2d", "dot", "ger", "guess", "record", "recordings",
    "scale",
}  # fmt: skip

SMALL = {  # what examples need: schedules of a round, walks, places of sliders
    "labs.search.schedules.beam.EACH": 4, "labs.search.schedules.beam.BETTER": 0.7,
    "labs.memory.walks.LEAD_S": 0.01, "show.rooflines.live.EDGES": (8, 64, 512),
    "labs.llm.linear_layer.TOKENS": (8, 64), "labs.llm.linear_layer.WIDTHS": (4096, 11008),
}  # fmt: skip


@pytest.fixture(autouse=True)
def measured_at_once(tmp_path, monkeypatch) -> None:
    """Roofs and routines that need no measuring, and small tables: examples take seconds else."""

    def roofs(_: object, threads: int | None, __: object) -> dict[str, object]:
        return {**ROOFS, "threads": threads, "routines": {}}

    monkeypatch.setenv("ROOFLAB_CACHE", str(tmp_path))
    monkeypatch.setattr(this_machine, "measured_roofs", roofs)
    monkeypatch.setattr(decode_prediction, "_measured", lambda *_: habits())
    calibrate_at_once(monkeypatch)
    monkeypatch.setattr(GAIN, "measured_weights", lambda progress: COSTS)
    for name, value in SMALL.items():
        monkeypatch.setattr(f"rooflab.{name}", value)


def found(name: str) -> object:
    return reduce(getattr, name.split("."), rooflab)


def in_lessons(repository: Path) -> set[str]:
    """The public names that the lessons' code and text call, methods by their own name."""
    sources = (repository / "notebooks" / "source").glob("[0-9]*.py")
    text = "\n".join(source.read_text("utf-8") for source in sources)
    names = set()
    for name in NAMES:
        owner, _, last = name.rpartition(".")
        called = rf"\brl\.{re.escape(name)}\b"
        if owner[owner.rfind(".") + 1 :][:1].isupper():  # a method
            called = rf"\.{last}\("
        elif owner == "search.operators":
            called = rf"\bops\.{last}\("
        if re.search(called, text):
            names.add(name)
    return names


def test_names_of_lessons_and_of_the_contract_have_their_sections(repository: Path) -> None:
    names = in_lessons(repository)
    assert len(names) > 60, "the lessons are not read"
    faults = {}
    for name in sorted(names | CONTRACT):
        # By its home: rooflab.lecture is a package too, and numpydoc would find that.
        home = f"{found(name).__module__}.{found(name).__qualname__}"
        returned = inspect.isclass(found(name)) and name not in CONSTRUCTED
        wanted = SECTIONS - (RESULTS if returned else set())
        errors = numpydoc.validate.validate(home)["errors"]
        if missing := {code: said for code, said in errors if code in wanted}:
            faults[name] = missing
    assert faults == {}


def test_an_error_is_listed_where_it_is_more_than_an_argument_that_does_not_fit() -> None:
    """That a wrong argument is refused and named holds for all of them, and is said nowhere."""
    faults = {}
    for name in sorted({*NAMES, *SHORT}):
        _, _, raised = inspect.getdoc(found(name)).partition("Raises\n------\n")
        plain = re.findall(r"TypeError|argument|of a wrong type|positive|unknown",
                           re.split(r"\n\n\w+\n---", raised)[0])  # fmt: skip
        if plain:
            faults[name] = plain
    assert faults == {}


def test_examples_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    faults = {}
    for number, name in enumerate([*NAMES, *SHORT]):
        folder = tmp_path / str(number)
        folder.mkdir()
        finder = doctest.DocTestFinder(recurse=False)
        runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
        tests = finder.find(found(name), name, module=False, globs={"rl": rooflab})
        said: list[str] = []
        with monkeypatch.context() as patch:
            patch.chdir(folder)  # for examples that write a file
            patch.setenv("ROOFLAB_HOME", str(folder))
            patch.setenv("ROOFLAB_GUESSES", str(folder / "guesses"))  # lecture sets another one
            for test in tests:
                runner.run(test, out=said.append)
        if runner.failures or not sum(len(test.examples) for test in tests):
            faults[name] = "".join(said) or "no example"
    assert faults == {}
