"""``rooflab explain``: bars say the same as the numbers beside them, with or without colour."""

from __future__ import annotations

import math
import re
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

import rooflab as rl
from rooflab.cli import app
from rooflab.cli.terminal import FACTOR, NAME, TIME, rows
from rooflab.predict.explain import explain
from rooflab.show.falls import of_explanation, window
from tests.show.test_waterfall_picture import CACHES, MACHINES, OPS, SECONDS, TIMED

BARS = NAME + TIME + FACTOR + 2
LAYER = ["explain", "gemm", "--m", "8", "--n", "11008", "--k", "4096", "--dtype", "bf16",
         "--machine", "h100-sxm", "--time", "31us"]  # fmt: skip


def drawn(row) -> tuple[int, int]:
    """First and last column of a bar, without the line of the bound."""
    found = [at for at, letter in enumerate(row.plain[BARS:]) if letter in "█▒▶◀"]
    return (found[0], found[-1]) if found else (-1, -1)


@given(OPS, MACHINES, SECONDS, CACHES, st.integers(20, 60))
def test_the_bars_are_the_factors_to_half_a_letter(op, machine, seconds, cache, columns) -> None:
    fall = of_explanation(explain(op, machine, seconds, cache=cache))
    lo, hi = window(fall.places, 0.04)
    first, *bars, last = rows(fall, columns)
    assert first.plain.startswith("roofline bound") and last.plain.startswith("measured")
    for step, row in zip(fall.steps, bars, strict=True):
        begin, end = drawn(row)
        if step.kind == "same":
            continue
        letters = abs(step.end - step.start) / (hi - lo) * (columns - 1)
        assert end - begin == pytest.approx(letters, abs=1.001)
        assert row.plain[BARS:].count("▶" if step.kind == "slower" else "◀") == 1
        assert ("▒" in row.plain) <= (not step.explained)


@given(OPS, MACHINES, SECONDS)
def test_a_bar_begins_in_the_column_where_the_last_one_ended(op, machine, seconds) -> None:
    fall = of_explanation(explain(op, machine, seconds))
    reached = None
    for step, row in zip(fall.steps, rows(fall, 42)[1:]):
        if step.kind == "same":
            continue
        begin, end = drawn(row) if step.kind == "slower" else drawn(row)[::-1]
        assert reached is None or abs(begin - reached) <= 1  # steps of ×1 may lie between
        reached = end


def run(*arguments: str, **environment: str):
    return CliRunner().invoke(app, list(arguments), env=environment)


def test_factors_multiply_up_to_the_last_line() -> None:
    lines = [re.findall(r"×([\d.,]+)", line) for line in run(*LAYER).stdout.splitlines()]
    factors = [float(found[0]) for found in lines[3:] if len(found) == 1]
    assert math.prod(factors[:-1]) == pytest.approx(factors[-1], rel=0.02)


def test_a_console_without_blocks_gets_letters_that_it_has() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "rooflab", *LAYER], capture_output=True, check=True,
        env={"PYTHONIOENCODING": "ascii", "PATH": "/usr/bin"},
    )  # fmt: skip
    text = done.stdout.decode("ascii")
    assert "#>" in text and "> longer" in text and "?" not in text


def test_a_bar_that_goes_left_and_one_that_goes_right() -> None:
    fall = of_explanation(explain(rl.gemv(4096, 4096), TIMED, 0.005))
    found = {row.plain[:NAME].strip(): row.plain[BARS:] for row in rows(fall, 40)}
    assert found["routine efficiency"].rstrip().endswith("█▶")
    assert found["unexplained"].lstrip(" │").startswith("◀▒")
    assert found["measured"].count("◆") == 1
