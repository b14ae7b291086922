"""The sentences of lesson 08: orders and rows of simulated machines, with gains put where we want
them."""

from __future__ import annotations

from dataclasses import replace

import pytest

import rooflab as rl
from rooflab.conclusions import conclude, lesson08
from rooflab.measure.measurement import Measurement
from rooflab.measure.roof_kernels import Target
from tests.conclusions.machines import MACHINES, Simulated, Trial, faults
from tests.support.rows import each_row

EVERYWHERE = tuple(MACHINES)
PRODUCT = rl.gemm(496, 496, 496, accumulate=True)
COUNTED = {"ijk": 0.01, "ikj": 0.3, "jik": 0.01, "jki": 0.001, "kij": 0.25, "kji": 0.001}


def run(on: Simulated, share: float, warnings: tuple[str, ...] = ()) -> Measurement:
    """The product at this share of the peak."""
    seconds = PRODUCT.flops / float(on.machine.peak("fp32")) / share
    found = on.clock(PRODUCT, cache="warm", warnings=warnings)
    return replace(found, samples=(seconds,) * 3)


def runs(on: Simulated, shares: dict) -> dict:
    return {name: run(on, share) for name, share in shares.items()}


TABLE: dict[str, Trial] = {
    "08-orders": (
        lambda on: (runs(on, COUNTED), on.machine), dict.fromkeys(EVERYWHERE, "as counted"),
    ),
    "08-rows": (
        lambda on: (runs(on, {1: 0.1, 2: 0.2, 4: 0.4, 8: 0.5}), on.machine),
        dict.fromkeys(EVERYWHERE, "sums help"),
    ),
}  # fmt: skip


@pytest.fixture(autouse=True)
def a_core_with_eight_lanes(monkeypatch) -> None:
    monkeypatch.setattr(lesson08, "host", lambda: Target(32, 12, True))


def test_every_machine_gets_its_sentence():
    assert faults("08", TABLE) == []


def test_the_orders_stand_by_their_time_and_the_gain_is_that_of_the_ends():
    on = MACHINES["4 MB of L3"]
    found = conclude("08-orders", runs(on, COUNTED), on.machine).text
    assert "ikj, is 300 times as fast as the slowest" in found
    rows = [line.split("|")[1].strip() for line in found.splitlines() if line.startswith("| ")]
    assert rows[:3] == ["order", "ikj", "kij"] and set(rows[-2:]) == {"jki", "kji"}


@each_row(
    (dict.fromkeys(COUNTED, 0.1), "alike", "by itself"),
    ({**COUNTED, "ijk": 0.5}, "otherwise", "from fast to slow, are k, j, j, k, i, i"),
)
def test_a_machine_that_does_otherwise_is_told_so(changed, case, words):
    on = MACHINES["300 MB of L3"]
    found = conclude("08-orders", runs(on, changed), on.machine)
    assert found.case == case and words in found.text


def test_the_best_number_of_rows_need_not_be_the_largest():
    on = MACHINES["4 MB of L3"]
    found = conclude("08-rows", runs(on, {1: 0.1, 2: 0.2, 4: 0.8, 8: 0.5}), on.machine).text
    assert "With 4 rows at a time it is 8 times as fast" in found and "80 %" in found
    assert "lanes" not in found and "| 1 row |" in found


def test_where_there_is_a_matrix_unit_loops_are_compared_with_the_vector_units():
    on = MACHINES["M-series Mac"]
    vector = float(on.machine.peak("fp32", "vector")) / float(on.machine.peak("fp32"))
    shares = {1: 0.1 * vector, 2: 0.2 * vector, 4: 0.4 * vector, 8: 0.9 * vector}
    found = conclude("08-rows", runs(on, shares), on.machine).text
    assert "90 % of what the core's vector units can do" in found and "matrix unit" in found
    assert "lanes" not in found and "core's peak" not in found
    table = conclude("08-orders", runs(on, COUNTED), on.machine).text
    assert table.endswith("that of a matrix unit, which none of these loops uses.")
    plain = MACHINES["4 MB of L3"]
    assert "matrix unit" not in conclude("08-orders", runs(plain, COUNTED), plain.machine).text


@each_row((64, "and this core has 16"), (32, ""), (16, ""))
def test_lanes_are_named_only_where_the_core_has_more_of_them(width, words, monkeypatch):
    monkeypatch.setattr(lesson08, "host", lambda: Target(width, 12, True))
    on = MACHINES["4 MB of L3"]
    found = conclude("08-rows", runs(on, {1: 0.1, 8: 0.5}), on.machine).text
    assert "loads, tiles or packing" in found
    assert ("lanes" in found) == bool(words) and words in found


def test_more_than_the_peak_is_doubted():
    on = MACHINES["hybrid laptop"]
    found = conclude("08-rows", runs(on, {1: 0.4, 8: 1.6}), on.machine).text
    assert "160 % of the core's peak. It cannot be more than all" in found
    assert "another kind" in found and "lanes" not in found


def test_where_more_sums_bring_nothing_it_is_said():
    on = MACHINES["4 MB of L3"]
    slow = {count: run(on, 0.3, ("busy",)) for count in (1, 2)}
    found = conclude("08-rows", slow, on.machine)
    assert found.case == "alike" and "bring little" in found.text and "busy" in found.text
    assert "What is left may be loads, tiles or packing." in found.text
