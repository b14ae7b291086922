"""Marlin's ideal curve, 2:4 on an H100, Sparse-Marlin; and what was published beside them."""

from __future__ import annotations

from statistics import median

import pytest

import rooflab as rl

ideal, levers, published = rl.sparse.ideal, rl.sparse.levers, rl.sparse.published()
A10 = rl.Machine("a10", peaks={"fp16": 125e12}, bandwidths=600e9)


def test_marlins_ideal_curve():
    """Groups of 128 with fp16 scales: 2 / (1/2 + 2/128) = 3.879, less what X and Y take."""
    curve = {1: 3.878, 8: 3.873, 16: 3.867, 32: 3.855, 64: 3.269, 128: 1.642, 1024: 1.0}
    for batch, gain in curve.items():
        assert ideal(A10, 18432, 73728, batch) == pytest.approx(gain, abs=1e-3), batch
    table = published["marlin"]
    assert table["machine"] == {"fp16": A10.peak("fp16"), "bandwidth": A10.bandwidth()}
    for batch, gain in table["speedup"]["ideal"].items():
        assert ideal(A10, 18432, 73728, batch) == pytest.approx(gain, abs=0.01), "as printed"
    for name, gains in table["speedup"].items():
        for batch, gain in gains.items():
            assert gain <= 1.01 * ideal(A10, 18432, 73728, batch), (name, batch)


def test_two_of_four_on_an_h100_gain_least_where_dense_products_become_compute_bound():
    curve = {m: ideal("h100-sxm", 4096, 4096, m, 16, scale_bits=0, sparse=True)
             for m in range(1, 600)}  # fmt: skip
    for m, gain in {1: 1.78, 128: 1.70, 296: 1.62, 345: 1.60}.items():
        assert round(curve[m], 2) == gain
        assert curve[m] == levers(m, 4096, 4096, "h100-sxm")["2:4"]
    assert min(curve, key=curve.__getitem__) == 345 and curve[466] < 2 == curve[467] == curve[599]


def test_the_levers_of_one_row_are_ratios_of_bytes():
    gains = levers(1, 1 << 15, 1 << 15, "h100-sxm")
    shares = {"int8 weights": 1 / 2 + 1 / 128, "int4 weights": 1 / 4 + 1 / 128, "2:4": 9 / 16,
              "2:4, int4 weights": 1 / 8 + 1 / 16 + 1 / 128, "int8": 1 / 2,
              "2:4, int8": 5 / 16}  # fmt: skip
    assert gains == pytest.approx({name: 1 / share for name, share in shares.items()}, rel=1e-3)
    assert gains["2:4, int4 weights"] == pytest.approx(5.12, abs=0.01), "5.33 forgets the scales"
    assert gains["2:4, int8"] / gains["int8"] == pytest.approx(1.6, abs=1e-3)
    assert [*levers(1, 64, 64, A10)] == [*gains][:4], "the A10's peak of int8 is not given"


def test_levers_of_many_rows_are_ratios_of_peaks():
    gains = levers(10**5, 4096, 11008, "a100-sxm-80")
    assert list(gains.values()) == [1, 1, 2, 2, 2, 4]
    assert ideal("h100-sxm", 4096, 4096, 1, 16, scale_bits=0) == 1


def test_published_tables_have_their_sources_and_the_a100s_shapes_are_like_the_whole():
    """At one row, 4 bits gain what the bytes promise for the largest weights alone."""
    for name, table in published.items():
        if name != "sources":
            assert table["source"] in published["sources"] and table["conditions"], name
    gains = [round(dense / packed, 2) for _, packed, dense in published["rtx3060"]["rows"]]
    assert gains == [1.94, 1.97, 1.85, 1.84, 1.71]
    table = published["a100"]
    rows, medians = table["rows"], {row[0]: row[1:] for row in table["medians"]["rows"]}
    assert len(rows) == 60 and len({(n, k) for _, n, k, *_ in rows}) == 20
    for m in (1, 16, 64):
        gains = [bf16 / int4 for batch, *_, bf16, _, int4 in rows if batch == m]
        assert median(gains) == pytest.approx(medians[m][0], rel=0.25)
        assert max(gains) <= medians[m][2] + 0.01
    assert medians[1][:3] == [1.0, 3.11, 4.02] and medians[64][:2] == [0.71, 1.67]


def test_bad_input_is_named():
    for kind, message, call in (
        (ValueError, "batch|m=0", lambda: ideal(A10, 64, 64, 0)),
        (ValueError, "activation_bits=4", lambda: ideal(A10, 64, 64, 1, activation_bits=4)),
        (TypeError, "sparse=2", lambda: ideal(A10, 64, 64, 1, sparse=2)),
    ):
        with pytest.raises(kind, match=message):
            call()
