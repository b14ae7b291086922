"""Kinds of cores, as the systems tell them, and what is said of a measurement on one."""

from __future__ import annotations

import os
import sys

import pytest

from rooflab.measure import threads
from rooflab.measure.threads import CoreKind, core_kinds, hybrid_note
from tests.support.rows import each_row

BOTH = (
    CoreKind("performance", 4, frozenset(range(4))),
    CoreKind("efficiency", 8, frozenset(range(4, 12))),
)


def write(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"{text}\n")


@pytest.fixture
def linux(monkeypatch):
    monkeypatch.setattr(sys, "platform", "linux")


def test_processors_of_hyperthreaded_cores_are_not_called_cores(tmp_path, linux):
    """Intel's i9-12900K: 8 P-cores with two processors each, 8 E-cores with one."""
    write(tmp_path / "cpu_core/cpus", "0-15")
    write(tmp_path / "cpu_atom/cpus", "16-23")
    said = hybrid_note(core_kinds(tmp_path), 1, (3, 3))
    assert "24 processors, 16 on performance cores and 8 on efficiency cores" in said
    assert "16 performance" not in said


@pytest.mark.parametrize("name", ["cpu_capacity", "cpufreq/base_frequency"])
def test_figures_a_processor(tmp_path, linux, name):
    for number in range(12):
        figure = 1024 if number < 4 else 446
        write(tmp_path / f"system/cpu/cpu{number}/{name}", figure)
    assert core_kinds(tmp_path) == BOTH


def test_three_kinds_are_named_by_their_figures(tmp_path, linux):
    for number, figure in enumerate([1024, 1024, 760, 250]):
        write(tmp_path / f"system/cpu/cpu{number}/cpu_capacity", figure)
    assert [(kind.name, kind.count) for kind in core_kinds(tmp_path)] == [
        ("1024-rated", 2), ("760-rated", 1), ("250-rated", 1),
    ]  # fmt: skip


@pytest.mark.parametrize("figures", [[1024] * 4, [3000, 3000, 2950, 2900], []])
def test_like_cores_are_no_kinds(tmp_path, linux, figures):
    for number, figure in enumerate(figures):
        write(tmp_path / f"system/cpu/cpu{number}/cpufreq/base_frequency", figure)
    write(tmp_path / "cpu_core/cpus", "0-7")  # one counter alone is no kind
    assert core_kinds(tmp_path) == ()
    assert hybrid_note((), 1, (0, 0)) is None


def test_apples_levels(monkeypatch):
    told = {
        "hw.nperflevels": "2", "hw.perflevel0.logicalcpu": "8", "hw.perflevel1.logicalcpu": "4",
        "hw.perflevel0.name": "Performance", "hw.perflevel1.name": "Efficiency",
    }  # fmt: skip
    monkeypatch.setattr(sys, "platform", "darwin")
    monkeypatch.setattr(threads, "printed", lambda *command: told.get(command[-1], ""))
    assert core_kinds() == (CoreKind("performance", 8), CoreKind("efficiency", 4))
    told["hw.nperflevels"] = "1"
    assert core_kinds() == ()


HAS = "the system counts 12 processors, 4 on performance cores and 8 on efficiency cores; "


@each_row(
    (1, (2, 3), "the thread was on a performance core before and after"),
    (1, (7, 7), "the thread was on a efficiency core before and after"),
    (1, (2, 7), "the thread was moved between them, so the roofs are of neither kind alone"),
    (1, (None, None), "the system does not tell which kind was measured"),
    (3, (2, 2), "the system chose which of them the 3 threads ran on"),
    (12, (2, 2), "all of them worked together"),
)
def test_what_is_said(threads, seen, told):
    assert hybrid_note(BOTH, threads, seen) == HAS + told.replace("a efficiency", "an efficiency")


def test_where_this_thread_is():
    number = threads.processor_now()
    if sys.platform == "linux":
        assert number in os.sched_getaffinity(0)
    else:
        assert number is None


def test_a_third_kind_of_core_counts_and_an_unlisted_processor_is_unknown(tmp_path):
    write(tmp_path / "cpu_core/cpus", "0-5")
    write(tmp_path / "cpu_atom/cpus", "6-13")
    write(tmp_path / "cpu_lowpower/cpus", "14-15")
    kinds = core_kinds(tmp_path)
    assert [(kind.name, kind.count) for kind in kinds] == [
        ("performance", 6), ("efficiency", 8), ("low-power", 2),
    ]  # fmt: skip
    assert "on a low-power core" in hybrid_note(kinds, 1, (14, 15))
    assert "the system chose" in hybrid_note(kinds, 14, (0, 0))
    assert "does not tell which kind" in hybrid_note(kinds[:2], 1, (14, 2))
