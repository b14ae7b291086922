"""A machine's figures: which peak a dtype means, levels and mixes, missing figures, plain data."""

from __future__ import annotations

import json
import pickle

import pytest

import rooflab as rl
from tests.support.rows import each_row

ROOFS = {
    "schema": 1, "backend": "cpu", "threads": 2, "measured_on": "2026-11-21T10:00:00Z",
    "seconds": 6.1,
    "peak": {"fp32": {"value": 1.2e11, "samples": [1.1e11, 1.2e11]}, "fp64": {"value": 6e10}},
    "bandwidth": {
        "l1": {"read": {"value": 4e11}, "axpy": {"value": 3e11}, "copy": {"value": 2e11}},
        "l2": {"read": {"value": 1e11}, "axpy": {"value": 9e10}, "copy": {"value": 8e10}},
        "dram": {"read": {"value": 2e10}, "axpy": {"value": 1.8e10},
                 "copy": {"value": 1.5e10, "note": "the store also reads"}},
    },
    "capacity": {"l1": 32768, "l2": 1048576, "dram": 25_000_000_000},
}  # fmt: skip


@pytest.fixture
def mine():
    return rl.Machine.from_roofs(ROOFS, id="mine", name="My machine")


@each_row(
    ("h100-sxm", "fp64", 33.5, 66.9, 66.9),
    ("h100-sxm", "fp16", 133.8, 989.4, 989.4),
    ("mi210", "fp32", 22.6, 45.3, 45.3),
    ("gaudi2", "bf16", 11.0, 432.0, 432.0),
)
def test_the_unit_picks_the_figure(machine, dtype, vector, tensor, best):
    m = rl.machine(machine)
    found = m.peak(dtype, "vector"), m.peak(dtype, unit="tensor"), m.peak(dtype)
    assert found == pytest.approx((vector * 1e12, tensor * 1e12, best * 1e12))


def test_a_peak_that_accumulates_in_half_precision_is_never_meant():
    card = rl.machine("rtx-4090")
    assert card.peaks["fp16_acc16"] == 330.3e12
    assert card.peak("fp16") == card.peak("fp16", "tensor") == 165.2e12
    assert card.peak("fp8") == 330.3e12


@each_row(
    ("fp8_e4m3", "fp8"), ("fp8_e5m2", "fp8"), ("fp8", "fp8"), ("mxfp4", "fp4"), ("nvfp4", "fp4"),
    ("fp4", "fp4"), ("fp6", "fp6"), ("float16", "fp16"), ("int8", "int8")
)  # fmt: skip
def test_formats_of_a_family_share_a_peak(dtype, figure):
    b200 = rl.machine("b200")
    assert b200.peak(dtype) == b200.peaks[figure]


def test_grouped_weights_have_the_peak_of_their_format():
    grouped = rl.dtype("int8", group=64)
    assert rl.machine("b200").peak(grouped) == rl.machine("b200").peaks["int8"]


@each_row(
    ("a100-sxm-80", ("fp8",), "nvidia-a100-sxm-80 has no fp8_e4m3 peak; it has fp64 .vector.,"),
    ("v100-sxm2", ("bf16",), "nvidia-v100-sxm2 has no bf16 peak; .*fp16 .tensor."),
    ("h100-sxm", ("bf16", "vector"), "no bf16 vector peak; .*fp16_vector .vector."),
    ("h100-sxm", ("fp32", "tensor"), "has no fp32 tensor peak"),
    ("b200", ("int4",), "nvidia-b200 has no int4 peak; it has .*fp4 .tensor."),
    ("apple-m4", ("tf32",), "apple-m4 has no tf32 peak; it has fp32 .vector.$"),
    ("h100-sxm", ("fp17",), "dtype='fp17' is unknown; did you mean"),
    ("h100-sxm", ("fp32", "simd"), "unit='simd' is unknown; .*Known: vector, tensor"),
)
def test_a_missing_peak_says_what_is_there(machine, arguments, message):
    with pytest.raises(ValueError, match=message):
        rl.machine(machine).peak(*arguments)


def test_peaks_need_a_dtype():
    with pytest.raises(TypeError, match="dtype=None"):
        rl.machine("h100-sxm").peak(None)


@each_row("read", "axpy", "copy")
def test_a_catalogue_machine_has_one_bandwidth_for_all_mixes(mix):
    assert rl.machine("h100-sxm").bandwidth(mix=mix) == 3.35e12
    assert rl.machine("mi250x-gcd").bandwidth("L2", mix) == 6.96e12


@each_row(
    (("l2",), "nvidia-h100-sxm has no l2 bandwidth; levels with one: dram"),
    (("l1", "copy"), "nvidia-h100-sxm has no l1 bandwidth"),
    (("hbm",), "level='hbm' is unknown; .*Known: l1, l2, l3, dram"),
    (("l4",), "level='l4' is unknown; did you mean"),
    ((None,), "level=None is unknown"),
    (("dram", "triad"), "mix='triad' is unknown; .*read, axpy, copy"),
    (("dram", None), "mix=None is unknown"),
)
def test_a_missing_bandwidth_says_what_is_there(arguments, message):
    with pytest.raises(ValueError, match=message):
        rl.machine("h100-sxm").bandwidth(*arguments)


def test_measured_roofs_become_a_machine(mine):
    assert mine.origin == "measured" and mine.provenance == "measured on 2026-11-21"
    assert (mine.kind, mine.backend, mine.threads) == ("cpu", "cpu", 2)
    assert mine.levels == ("l1", "l2", "dram")
    assert mine.peak("fp32") == mine.peak("fp32", "vector") == 1.2e11
    assert mine.bandwidth("l2", "axpy") == 9e10
    assert mine.bandwidth(mix="copy").note == "the store also reads"
    assert mine.measured["bandwidth_bytes_per_s"] == 2e10
    assert mine.measured["fp64"] == 6e10
    assert "measured on 2026-11-21" in repr(mine) and "mine" in repr(mine)


def test_a_measured_machine_without_a_mix_does_not_guess():
    roofs = {**ROOFS, "bandwidth": {"dram": {"read": {"value": 2e10}}}}
    m = rl.Machine.from_roofs(roofs, id="mine", name="My machine")
    with pytest.raises(ValueError, match="mine has no copy bandwidth of dram; it has read"):
        m.bandwidth(mix="copy")


@each_row(
    (1, "l1"), (32768, "l1"), (32769, "l2"), (1048576, "l2"), (1048577, "dram"), (1e12, "dram")
)
def test_home_is_the_nearest_level_that_holds_the_operands(nbytes, level, mine):
    assert mine.home(nbytes) == level


@each_row(rl.machine("h100-sxm"), rl.machine("mi250x-gcd"), "mine")
def test_plain_data_and_back(m, mine):
    m = mine if m == "mine" else m
    again = rl.Machine.from_dict(json.loads(json.dumps(m.to_dict())))
    assert again == m and hash(again) == hash(m)
    assert again.bandwidth().source == m.bandwidth().source
    assert pickle.loads(pickle.dumps(m)) == m
    assert len({m, again}) == 1


def test_a_figure_is_a_float_that_knows_its_source():
    figure = rl.machine("h100-sxm").peak("fp64")
    assert figure + 0.1e12 == pytest.approx(67.0e12)
    assert figure.source == ("glenn_h100", "hpctech") and figure.note == "datasheet prints 67"
    for again in (pickle.loads(pickle.dumps(figure)), rl.Figure.from_dict(figure.to_dict())):
        assert (again, again.source, again.unit) == (figure, figure.source, "tensor")


def test_a_machine_of_plain_numbers():
    """What a table states, one peak and one bandwidth, is enough; figures keep what they know."""
    m = rl.Machine("own", "Own", "gpu", peaks={"bf16": 1e14}, bandwidths={"dram": 10**12})
    assert (m.peak("bf16"), m.peak("bf16", "vector"), m.peak("bf16", "tensor")) == (1e14,) * 3
    assert m.bandwidth() == m.bandwidth("dram", "axpy") == m.bandwidth(mix="best") == 1e12
    assert rl.Roofline(m, "bf16").ridge == 100
    op = rl.gemm(64, 4096, 4096, "bf16")
    assert float(rl.predict(op, m)) == rl.Roofline(m, "bf16").time(op)
    assert pickle.loads(pickle.dumps(m)) == m == rl.Machine.from_dict(m.to_dict())
    with pytest.raises(ValueError, match="own has no fp32 peak; it has bf16$"):
        m.peak("fp32")
    mixed = rl.Machine("own", "Own", "cpu", bandwidths={"dram": {"read": 1, "copy": 2.5}})
    assert mixed.bandwidth(mix="best") == 2.5


def test_plain_numbers_go_by_the_names_that_people_use():
    """bfloat16 is bf16, HBM is DRAM, and a lone number is DRAM's; name and kind can be left out."""
    m = rl.Machine("own", peaks={"bfloat16": 1e14, "e4m3": 2e14}, bandwidths=1e12, capacities=80e9)
    assert (m.name, m.kind, m.capacities["dram"]) == ("own", "gpu", 80e9)
    assert (m.peak("bf16"), m.peak("fp8"), m.bandwidth()) == (1e14, 2e14, 1e12)
    hbm = rl.Machine("own", bandwidths={"HBM": 1e12, "l2": 5e12}, capacities={"hbm": 80e9})
    assert (hbm.levels, hbm.capacities["dram"]) == (("l2", "dram"), 80e9)
    kept = rl.Machine("own", peaks={"fp16_acc16": 1e14, "bf16_tensor": 1e14})
    assert set(kept.peaks) == {"fp16_acc16", "bf16_tensor"}


@each_row(
    ({"peaks": 1e14}, TypeError, r"peaks=1.*must be a mapping, such as \{'bf16': 1e14\}"),
    ({"bandwidths": "fast"}, TypeError, "bandwidths='fast' must be a mapping"),
    ({"capacities": {"dram": "80GB"}}, TypeError, "must be a positive number of bytes"),
    ({"capacities": -1}, ValueError, r"capacities\['dram'\]=-1 must be a positive number"),
    ({"peaks": {"bf16": 0}}, ValueError, r"peaks\['bf16'\]=0 must be a positive rate"),
    ({"peaks": {"bf16": "1e14"}}, TypeError, r"peaks\['bf16'\]='1e14' must be"),
    ({"peaks": {"bf16": True}}, TypeError, r"peaks\['bf16'\]=True must be"),
    ({"bandwidths": {"dram": -1}}, ValueError, r"dram\['read'\]=-1 must be a positive rate"),
    ({"bandwidths": {"l2": {"read": float("nan")}}}, ValueError, r"l2\['read'\]=nan must be"),
)
def test_a_figure_is_a_positive_rate(figures, error, said):
    with pytest.raises(error, match=said):
        rl.Machine("own", "Own", "gpu", **figures)


@each_row([], None, [["x", 0]], [[8, 0], [8, 1]], [[9, 0], [8, 1]], [[8, -1]], [[0, 0]], [[8]])
def test_where_a_cache_spills_must_make_sense(pairs):
    with pytest.raises(ValueError, match="spills: 'l2' must have pairs"):
        rl.Machine("mine", peaks={"fp32": 1e9}, bandwidths=1e9, spills={"l2": pairs})
