"""rl.conclude finds its sentences by name, and a warning stays with its number."""

from __future__ import annotations

import importlib
import inspect
import random
import re
from dataclasses import fields, is_dataclass, replace

import numpy as np
import pytest

import rooflab as rl
from rooflab.exercises import sentences
from rooflab.exercises.sentences import Conclusion, cautions, conclusions, conclusions_of
from rooflab.exercises.table import value_of
from tests.course.machines import MACHINES
from tests.course.trials import told, trials_of
from tests.support.rows import each_row

HERE, DRAWS = MACHINES["hybrid laptop"], 60
SAID = sorted({name[:2] for name in conclusions()})  # lessons 13 to 16 measure nothing here


def test_every_name_is_that_of_its_lesson():
    for name, function in conclusions().items():
        assert re.fullmatch(r"\d\d-[a-z0-9-]+", name)
        assert function.__module__ == f"rooflab.course.lesson{name[:2]}.sentences", name
        assert function.__doc__, f"{name}: say which values it takes"


@pytest.mark.parametrize("lesson", SAID)
def test_every_row_is_reached_every_hole_filled_and_one_row_is_meant(lesson, monkeypatch):
    """On the five machines. A row whose condition is None stands for all that no other takes."""
    there = vars(importlib.import_module(f"rooflab.course.lesson{lesson}.sentences"))
    tables = {id(one): (name, one) for name, one in there.items() if is_table(one)}
    unreached = {(name, case, text) for name, one in tables.values() for case, _, text in one}
    faults, row = set(), sentences.row

    def watched(rows, figures):
        name = tables[id(rows)][0]
        if sum(bool(when and value_of(when, figures)) for _, when, _ in rows) > 1:
            faults.add(f"{name}: two rows hold for {figures}")
        unreached.discard((name, *row(rows, figures)))
        return row(rows, figures)

    monkeypatch.setattr(sentences, "row", watched)
    assert trials_of(lesson).keys() == conclusions_of(lesson).keys()
    for name, machine, said in told(lesson, DRAWS):
        if not said.case or re.search(
            r"[{}]|[^|\s]  [^|\s]|\bnan\b|\bNone\b|[^.|*:?\s]\s*$", said.text
        ):
            faults.add(f"{name} on {machine}, {said.case}: {said}")
    assert not faults and not unreached


@pytest.mark.parametrize("lesson", SAID)
def test_what_the_clock_warned_of_stands_below_the_sentence(lesson):
    for name, trial in trials_of(lesson).items():
        rng = random.Random(name)
        drawn = [trial(here, rng) for here in MACHINES.values() for _ in range(9)]
        if drawn != (warned := [noisy(given) for given in drawn]):
            texts = [rl.conclude(name, *given).text for given in warned]
            assert any(re.search(r"\n\n\*Warning: .*noisy\.\*$", text) for text in texts), name


def noisy(value):
    """The same, each measurement of it with a warning."""
    if isinstance(value, (tuple, list)):
        return type(value)(map(noisy, value))
    if isinstance(value, dict):
        return {key: noisy(one) for key, one in value.items()}
    there = {field.name for field in fields(value)} if is_dataclass(value) else set()
    return replace(value, warnings=("noisy",)) if "warnings" in there else value


def is_table(value: object) -> bool:
    return (
        isinstance(value, tuple)
        and bool(value)
        and all(
            isinstance(row, tuple) and len(row) == 3 and (row[1] is None or callable(row[1]))
            for row in value
        )
    )


def test_an_unknown_name_comes_with_suggestions():
    with pytest.raises(ValueError, match="did you mean '01-ratio'"):
        rl.conclude("01-ration")


@each_row(
    ((), "missing a required argument: 'axpy'"),
    ((1, 2, 3), "axpy=1 is no Measurement"),
    ((HERE.clock(rl.axpy(9)), HERE.clock(rl.gemm(9, 9, 9)), "h200-sxm"),
     "here='h200-sxm' is no Machine"),
    ((1, 2, 3, 4), "too many positional arguments"),
)  # fmt: skip
def test_values_that_a_conclusion_does_not_take_are_told_beside_those_that_it_takes(given, words):
    with pytest.raises(TypeError, match=re.escape(words)) as told:
        rl.conclude("01-ratio", *given)
    assert str(told.value).startswith("conclude('01-ratio'): ")
    takes = "it takes axpy: Measurement, gemm: Measurement, here: Machine"
    assert str(told.value).endswith(takes)


@each_row(
    ("04-second-token", ([HERE.clock(rl.axpy(9))],)), ("04-second-token", ({1: 0.1, 2: 0.2},)),
    ("04-sides", ((rl.gemv(9, 9), HERE.machine), (rl.gemv(9, 9), HERE.machine))),
    ("04-sides", (rl.gemv(9, 9), rl.Roofline(HERE.machine, "fp32"))),
    ("03-bounds", ([1, 2], HERE.machine)), ("03-bounds", (HERE.clock(rl.axpy(9)), HERE.machine)),
    ("02-holes", ([("hole 1", 1.5)],)), ("02-holes", ([("hole 1", "1.5", 0.03)],)),
)  # fmt: skip
def test_what_lies_in_a_container_is_looked_at_too(name, given):
    with pytest.raises(TypeError, match=rf"conclude\('{name}'\): .* is no .*; it takes "):
        rl.conclude(name, *given)


def test_numbers_of_numpy_and_rows_as_lists_are_welcome():
    rows = [["hole 1", np.float64(1.5), np.float32(0.03)], ("hole 1", 1, 0.02)]
    assert rl.conclude("02-holes", rows).case == "in order"


@each_row(["01-ratio"], None, 1)
def test_a_name_that_is_none_is_unknown(name):
    with pytest.raises(ValueError, match="is unknown"):
        rl.conclude(name)


@each_row(*[name for name, told in conclusions().items() if inspect.signature(told).parameters])
def test_nobodys_object_fits_anywhere(name):
    """So every annotation of every conclusion is one that can be checked."""
    given = {argument: object() for argument in inspect.signature(conclusions()[name]).parameters}
    with pytest.raises(TypeError, match="is no .*; it takes"):
        rl.conclude(name, **given)


def test_it_is_shown_as_markdown_and_printed_as_text():
    said = Conclusion("case", "**so**")
    assert said._repr_markdown_() == str(said) == repr(said) == "**so**"


def test_warnings_are_told_once_each_and_name_their_operation():
    one = HERE.clock(rl.axpy(1000), warnings=("noisy", "on battery"))
    said = cautions(one, one, HERE.clock(rl.gemv(10, 10)), HERE.curve(warnings=("noisy",)))
    assert said.count("*Warning:") == 3 and said.startswith("\n\n")
    assert "axpy 1000 fp32: on battery." in said and "*Warning: noisy.*" in said
    assert cautions(HERE.clock(rl.axpy(1000))) == cautions() == ""


def test_a_warning_names_the_readers_own_code():
    """NumPy's line and BLAS's AXPY are the same operation, and each may have been disturbed."""
    blas = HERE.clock(rl.axpy(1000), warnings=("noisy",))
    own = replace(blas, environment={"kernel": "run: expression"}, warnings=("bimodal",))
    said = cautions(blas, own)
    assert "axpy 1000 fp32: noisy." in said and "axpy 1000 fp32 by expression: bimodal." in said


def test_a_warning_of_several_is_told_once_with_all_their_names():
    walk = [HERE.clock(rl.gemv(9, 9, batch=b), warnings=("noisy",)) for b in (1, 2)]
    assert cautions(*walk) == "\n\n*Warning: gemv 9×9 fp32, gemv 9×9 ×2 fp32: noisy.*"


def test_warnings_that_differ_in_their_share_are_one():
    told = "noisy: the middle half of the samples spreads over {} % of the median"
    seen = [HERE.clock(rl.axpy(9), warnings=(told.format(share),)) for share in (17, 34, 13)]
    assert cautions(*seen) == f"\n\n*Warning: axpy 9 fp32: {told.format('13 to 34')}.*"
    assert cautions(seen[0]) == f"\n\n*Warning: axpy 9 fp32: {told.format(17)}.*"
