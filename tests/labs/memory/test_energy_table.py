"""Tables of energies: published figures, what their sources say of each other, and bad input."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import pytest

import rooflab as rl
from rooflab.predict.catalogue import tables
from rooflab.predict.machine import Figure
from tests.support.rows import each_row

PJ = 1e-12
TABLES = rl.memory.energy_tables()


# What was published.


@each_row(("int8", 0.03, 0.2), ("int32", 0.1, 3.1), ("fp16", 0.4, 1.1), ("fp32", 0.9, 3.7))
def test_horowitz_arithmetic(dtype: str, add: float, mult: float) -> None:
    table = rl.memory.energy_table("horowitz-45nm")
    assert table.per_operation(dtype, "add") == pytest.approx(add * PJ)
    assert table.per_operation(dtype, "mult") == pytest.approx(mult * PJ)
    assert table.per_operation(dtype) == pytest.approx((add + mult) * PJ)


def test_horowitz_memory_is_for_64_bits() -> None:
    table = rl.memory.energy_table("horowitz-45nm")
    assert {size: cost * 8 / PJ for size, cost in table.caches.items()} == pytest.approx(
        {8 << 10: 10, 32 << 10: 20, 1 << 20: 100}
    )
    assert table.per_byte("dram") * 8 == pytest.approx(1.3e-9)
    assert "1300 to 2600 pJ" in table.levels["dram"].note
    assert table.instruction == pytest.approx(70 * PJ)


def test_dallys_ladder_agrees_with_horowitz() -> None:
    """640, 50 and 5 pJ for 32 bits are within 2 % of half of 1300, 100 and 10 for 64."""
    ladder, table = TABLES["rounded-45nm"], TABLES["horowitz-45nm"]
    word = {level: ladder.per_byte(level) * 4 / PJ for level in ("dram", "l2", "l1")}
    assert word == pytest.approx({"dram": 640, "l2": 50, "l1": 5})
    for size, level in ((1 << 20, "l2"), (8 << 10, "l1")):
        assert ladder.per_byte(level) == pytest.approx(table.caches[size])
    assert ladder.per_byte("dram") == pytest.approx(table.per_byte("dram"), rel=0.02)


def test_seven_nanometres_save_more_in_arithmetic_than_in_memory() -> None:
    """Jouppi et al. 2021: logic got cheaper than SRAM did, and SRAM than DRAM."""
    old, new = TABLES["horowitz-45nm"], TABLES["tpuv4i-7nm"]
    logic = old.per_operation("int32", "add") / new.per_operation("int32", "add")
    sram = old.caches[32 << 10] / new.caches[32 << 10]
    assert logic == pytest.approx(10 / 3)
    assert sram == pytest.approx(20 / 8.5)
    assert logic > sram > rl.memory.energy_memories()["ddr4"] / old.per_byte("dram") == 1


def test_bf16_is_cheaper_than_fp16() -> None:
    table = TABLES["tpuv4i-7nm"]
    assert table.per_operation("bf16", "mult") / PJ == pytest.approx(0.21)
    assert table.per_operation("bf16") < table.per_operation("fp16") < table.per_operation("fp32")


def test_memories_a_bit() -> None:
    """O'Connor et al. 2017: HBM2 3.92, GDDR5 14; Jouppi's range for HBM2 begins at the same."""
    bits = {name: cost / 8 / PJ for name, cost in rl.memory.energy_memories().items()}
    assert (bits["hbm2"], bits["gddr5"]) == pytest.approx((3.92, 14.0))
    assert TABLES["tpuv4i-7nm"].per_byte("dram") / 8 / PJ == pytest.approx(bits["hbm2"], rel=0.005)
    assert bits["hbm3e"] == pytest.approx(0.8 * bits["hbm2e"])
    assert bits["hbm3e"] < bits["hbm2e"] < bits["gddr6"] < bits["gddr5"] < bits["lpddr"]


# Every table.


@each_row(*TABLES.values())
def test_farther_costs_more_and_wider_costs_more(table: Any) -> None:
    costs = [table.per_byte(level) for level in ("l1", "l2", "dram")]
    assert costs == sorted(costs)
    assert [*table.caches.values()] == sorted(table.caches.values())
    for kind in ("add", "mult"):
        for narrow, wide in (("int8", "int32"), ("fp16", "fp32")):
            assert table.per_operation(narrow, kind) < table.per_operation(wide, kind)


def entries(found: Any) -> Iterator[dict[str, Any]]:
    """Every figure of energy.yaml."""
    if isinstance(found, dict):
        if "pj" in found:
            yield found
        else:
            for one in found.values():
                yield from entries(one)
    elif isinstance(found, list):
        for one in found:
            yield from entries(one)


def test_every_figure_names_a_source_that_says_where_it_was_seen() -> None:
    document = tables("labs.memory.energies", "energy")
    figures = [*entries(document["tables"]), *entries(document["memories"])]
    assert len(figures) > 40
    used = {key for one in figures for key in one["source"]}
    assert all(one["source"] for one in figures)
    known = document["sources"]
    assert used == set(known)
    assert all(row["title"] and row["publisher"] and row["seen"] for row in known.values())
    for one in figures:
        low, high = one.get("range", (one["pj"], one["pj"]))
        assert one["pj"] == low <= high
    assert isinstance(TABLES["horowitz-45nm"].per_byte("l1"), Figure)
    assert TABLES["horowitz-45nm"].levels["l1"].source == ("horowitz",)


def test_another_memory() -> None:
    table = TABLES["horowitz-45nm"].with_memory("HBM2")
    assert table.per_byte("dram") == pytest.approx(3.92 * 8 * PJ)
    assert table.per_byte("l1") == TABLES["horowitz-45nm"].per_byte("l1")
    assert TABLES["horowitz-45nm"].with_memory(1e-12).per_byte("dram") == 1e-12


def test_a_format_is_found_by_its_family() -> None:
    mine = rl.memory.EnergyTable("mine", {"dram": 1e-10}, {"fp8": {"add": 1e-13, "mult": 1e-13}})
    assert mine.per_operation("mxfp8") == mine.per_operation("fp8_e5m2") == 2e-13
    assert "fp8" in repr(mine)


def test_tables_cannot_be_changed() -> None:
    with pytest.raises(TypeError):
        TABLES["horowitz-45nm"].levels["l1"] = 1.0  # type: ignore[index]
    with pytest.raises(AttributeError):
        TABLES["horowitz-45nm"].id = "other"  # type: ignore[misc]


# Bad input.

FINE = {"fp32": {"add": 1e-12, "mult": 1e-12}}


@each_row(
    (lambda: rl.memory.energy_table("horowitz"), ValueError, "did you mean 'horowitz-45nm'"),
    (lambda: rl.memory.energy_table(45), TypeError, "table=45"),
    (lambda: TABLES["tpuv4i-7nm"].per_byte("l3"), ValueError, "only for l1, l2, dram"),
    (lambda: TABLES["tpuv4i-7nm"].per_byte("l9"), ValueError, "level='l9' is unknown"),
    (lambda: TABLES["horowitz-45nm"].per_operation("bf16"), ValueError, "int8, int32, fp16"),
    (lambda: TABLES["horowitz-45nm"].per_operation("fp32", "div"), ValueError, "kind='div'"),
    (lambda: TABLES["horowitz-45nm"].with_memory("hbm9"), ValueError, "memory='hbm9'"),
    (lambda: TABLES["horowitz-45nm"].with_memory(-1.0), ValueError, "memory=-1.0"),
    (lambda: rl.memory.EnergyTable("x", {}, FINE), TypeError, "levels={}"),
    (lambda: rl.memory.EnergyTable("x", {"l1": 1.0}, FINE), ValueError, "no dram"),
    (lambda: rl.memory.EnergyTable("x", {"dram": "1"}, FINE), TypeError, r"levels\['dram'\]"),
    (lambda: rl.memory.EnergyTable("x", {"dram": True}, FINE), TypeError, "number of joules"),
    (lambda: rl.memory.EnergyTable("x", {"dram": math.nan}, FINE), ValueError, "positive"),
    (
        lambda: rl.memory.EnergyTable("x", {"dram": 1.0}, {"fp32": {"fma": 1.0}}),
        ValueError,
        r"operations\['fp32'\]='fma' is unknown",
    ),
    (
        lambda: rl.memory.EnergyTable("x", {"dram": 1.0}, FINE, instruction=0.0),
        ValueError,
        "instruction=0.0",
    ),
    (
        lambda: rl.memory.EnergyTable("x", {"dram": 1.0}, {"fp32": {"add": 1.0}}).per_operation(
            "fp32"
        ),
        ValueError,
        "no figure for mult in fp32",
    ),
)
def test_bad_input(make: Any, error: type[Exception], said: str) -> None:
    with pytest.raises(error, match=said):
        make()
