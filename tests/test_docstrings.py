"""Public names: parameters, what comes back, and an example that runs, in numpydoc's sections."""

from __future__ import annotations

import doctest
import inspect
from functools import reduce

import numpydoc.validate
import pytest

import rooflab

#: Of numpydoc's checks: no docstring; parameters that are missing, unknown or in another order;
#: no Returns section; no Examples section.
WANTED = {"GL08", "PR01", "PR02", "PR03", "RT01", "EX01"}
RESULTS = {"PR01", "PR02"}  # a class whose objects come from a function needs no parameters
NAMES = sorted(
    [
        *(name for name in rooflab._HOME if name != "mine"),
        *(f"show.{name}" for name in rooflab.show.__all__),
        *(f"live.{name}" for name in rooflab.live.__all__),
    ]
)
CONSTRUCTED = {"DType", "Machine", "Model", "Operand", "Operation", "Roofline", "show.Point"}


def found(name: str) -> object:
    return reduce(getattr, name.split("."), rooflab)


@pytest.mark.parametrize("name", NAMES)
def test_docstring_has_its_sections(name: str) -> None:
    errors = dict(numpydoc.validate.validate(f"rooflab.{name}")["errors"])
    result = inspect.isclass(found(name)) and name not in CONSTRUCTED
    wanted = WANTED - (RESULTS if result else set())
    assert {code: said for code, said in errors.items() if code in wanted} == {}


@pytest.mark.parametrize("name", NAMES)
def test_examples_run(name: str, tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("ROOFLAB_HOME", str(tmp_path))
    finder, flags = doctest.DocTestFinder(recurse=False), doctest.ELLIPSIS
    runner = doctest.DocTestRunner(optionflags=flags)
    tests = finder.find(found(name), name, module=False, globs={"rl": rooflab})
    assert sum(len(test.examples) for test in tests) > 0
    said: list[str] = []
    for test in tests:
        runner.run(test, out=said.append)
    assert not runner.failures, "".join(said)
