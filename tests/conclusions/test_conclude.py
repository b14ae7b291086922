"""rl.conclude finds its sentences by name, and a warning stays with its number."""

from __future__ import annotations

import re

import pytest

import rooflab as rl
from rooflab.conclusions import Conclusion, cautions, conclusions
from tests.conclusions.machines import MACHINES

HERE = MACHINES["hybrid laptop"]


def test_every_name_is_that_of_its_lesson():
    for name, function in conclusions().items():
        assert re.fullmatch(r"\d\d-[a-z0-9-]+", name)
        assert function.__module__ == f"rooflab.conclusions.lesson{name[:2]}", name
        assert function.__doc__, f"{name}: say which values it takes"


def test_an_unknown_name_comes_with_suggestions():
    with pytest.raises(ValueError, match="did you mean '01-ratio'"):
        rl.conclude("01-ration")


def test_it_is_shown_as_markdown_and_printed_as_text():
    said = Conclusion("case", "**so**")
    assert said._repr_markdown_() == str(said) == repr(said) == "**so**"


def test_warnings_are_told_once_each_and_name_their_operation():
    one = HERE.clock(rl.axpy(1000), warnings=("noisy", "on battery"))
    said = cautions(one, one, HERE.clock(rl.gemv(10, 10)), HERE.curve(warnings=("noisy",)))
    assert said.count("*Warning:") == 3 and said.startswith("\n\n")
    assert "axpy 1000 fp32: on battery." in said and "*Warning: noisy.*" in said
    assert cautions(HERE.clock(rl.axpy(1000))) == cautions() == ""
