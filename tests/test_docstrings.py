"""Public names: parameters, what comes back, and an example that runs, in numpydoc's sections."""

from __future__ import annotations

import doctest
import inspect
from functools import reduce

import numpydoc.validate
import pytest

import rooflab
from rooflab.labs.llm import decode_prediction
from rooflab.labs.loops.nest import TRANSFORMATIONS
from rooflab.measure import this_machine
from tests.labs.llm.support.habits import habits
from tests.support.machine import ROOFS

#: Of numpydoc's checks: no docstring; parameters that are missing, unknown or in another order;
#: no Returns section; no Examples section.
WANTED = {"GL08", "PR01", "PR02", "PR03", "RT01", "EX01"}
RESULTS = {"PR01", "PR02"}  # a class whose objects come from a function needs no parameters
NAMES = sorted(
    [
        *(name for name in rooflab._HOME if name != "mine"),
        *(f"show.{name}" for name in rooflab.show.__all__),
        *(f"live.{name}" for name in rooflab.live.__all__),
        *(f"memory.{name}" for name in rooflab.memory.__all__),
        *(f"search.{name}" for name in rooflab.search.__all__ if name != "operators"),
        *(f"search.operators.{name}" for name in rooflab.search.operators.__all__),
        *(f"loops.Nest{name}" for name in ("", ".check", ".measure", ".run", ".stream")),
        "loops.space",
        *(f"cache.{name}" for name in rooflab.cache.__all__),
        *(f"Model.{name}" for name in ("decode", "prefill", "train_step")),
        *(f"Workload.{name}" for name in ("bound", "seconds", "explain")),
    ]
)
#: Methods with a short docstring: an example, and no list of parameters.
SHORT = sorted(
    f"loops.Nest.{name}"
    for name in (*TRANSFORMATIONS, "replay", "brute", "instances", "arrows", "code", "reference")
)
CONSTRUCTED = {
    "DType", "Machine", "Model", "Operand", "Operation", "Roofline", "cache.AccessStream",
    "cache.Cache", "cache.Guard", "cache.Hierarchy", "cache.Reference", "loops.Nest",
    "memory.Energy", "memory.EnergyRoofline", "memory.EnergyTable", "show.Point",
}  # fmt: skip


@pytest.fixture(autouse=True)
def measured_at_once(tmp_path, monkeypatch) -> None:
    """Roofs and routines that need no measuring: the first example would take seconds otherwise."""

    def roofs(_: object, threads: int | None, __: object) -> dict[str, object]:
        return {**ROOFS, "threads": threads, "routines": {}}

    monkeypatch.setenv("ROOFLAB_CACHE", str(tmp_path))
    monkeypatch.setattr(this_machine, "measured_roofs", roofs)
    monkeypatch.setattr(decode_prediction, "_measured", lambda *_: habits())
    monkeypatch.chdir(tmp_path)  # for examples that write a file


def found(name: str) -> object:
    return reduce(getattr, name.split("."), rooflab)


@pytest.mark.parametrize("name", NAMES)
def test_docstring_has_its_sections(name: str) -> None:
    # By its home: rooflab.lecture is a package too, and numpydoc would find that.
    home = f"{found(name).__module__}.{found(name).__qualname__}"
    returned = inspect.isclass(found(name)) and name not in CONSTRUCTED
    wanted = WANTED - (RESULTS if returned else set())
    errors = numpydoc.validate.validate(home)["errors"]
    assert {code: said for code, said in errors if code in wanted} == {}


@pytest.mark.parametrize("name", [*NAMES, *SHORT])
def test_examples_run(name: str, tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("ROOFLAB_HOME", str(tmp_path))
    monkeypatch.setenv("ROOFLAB_GUESSES", str(tmp_path / "guesses"))  # lecture sets another one
    finder, flags = doctest.DocTestFinder(recurse=False), doctest.ELLIPSIS
    runner = doctest.DocTestRunner(optionflags=flags)
    tests = finder.find(found(name), name, module=False, globs={"rl": rooflab})
    assert sum(len(test.examples) for test in tests) > 0
    said: list[str] = []
    for test in tests:
        runner.run(test, out=said.append)
    assert not runner.failures, "".join(said)
