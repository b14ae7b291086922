"""Tables of ncu, and what is none."""

from __future__ import annotations

from importlib.resources import files

import pytest

import rooflab as rl

TEXT = files("rooflab.labs.cuda").joinpath("ncu_example.csv").read_text("utf-8")


def test_a_product_of_4096_has_its_flops_and_its_tiles_bytes(tmp_path):
    """2 N³ FLOPs; tiles of 128 read 2 N³ · 4 / 128 bytes and write 4 N²."""
    launches = rl.cuda.ncu(TEXT)
    assert [one.kernel for one in launches] == ["sgemm_coalesced", "sgemm_shared", "sgemm_float4"]
    last, n = launches[-1], 4096
    assert last.flops == 2 * n**3 and last.grid == "(32, 32, 1)"
    assert last.l2 == pytest.approx(8 * n**3 / 128 + 4 * n * n, rel=1e-3)
    assert last.seconds == pytest.approx(2 * n**3 / 18.2373e12, rel=1e-3)
    (tmp_path / "ncu.csv").write_text(TEXT, "utf-8")
    assert rl.cuda.ncu(tmp_path / "ncu.csv") == launches


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [('"ID",', '"Id",', "no line that begins"), ("Metric Name", "Metric", "without --page raw"),
     ("msecond", "fortnight", "'fortnight'"),
     ("gpu__time_duration.sum", "gpu__other.sum", "no gpu__time_duration.sum of sgemm_coalesced")],
)  # fmt: skip
def test_what_is_no_table_of_ncu_says_so(old, new, words):
    assert old in TEXT
    with pytest.raises(ValueError, match=words):
        rl.cuda.ncu(TEXT.replace(old, new))
