"""Tables of ncu: both of their forms, and what is none."""

from __future__ import annotations

import csv
import io
from importlib.resources import files

import pytest

import rooflab as rl
from rooflab.labs.cuda.ncu import METRICS

TEXT = files("rooflab.labs.cuda").joinpath("ncu_example.csv").read_text("utf-8")


def wide(text: str) -> str:
    """The same table with a column for each metric, as --page raw prints it."""
    rows = list(csv.DictReader(io.StringIO(text.partition("\n")[2])))
    names = ["ID", "Kernel Name", "Block Size", "Grid Size", *METRICS.values()]
    units = {row["Metric Name"]: row["Metric Unit"] for row in rows}
    launches: dict[str, dict[str, str]] = {}
    for row in rows:
        launch = launches.setdefault(row["ID"], {name: row[name] for name in names[:4]})
        launch[row["Metric Name"]] = row["Metric Value"]
    out = io.StringIO()
    writer = csv.DictWriter(out, names, quoting=csv.QUOTE_ALL)
    writer.writeheader()
    writer.writerows([units, *launches.values()])
    return out.getvalue()


def test_a_product_of_4096_has_its_flops_and_its_tiles_bytes(tmp_path):
    """2 N³ FLOPs; tiles of 128 read 2 N³ · 4 / 128 bytes and write 4 N²."""
    launches = rl.cuda.ncu(TEXT)
    assert [one.kernel for one in launches] == ["sgemm_coalesced", "sgemm_shared", "sgemm_float4"]
    last, n = launches[-1], 4096
    assert last.flops == 2 * n**3 and last.grid == "(32, 32, 1)"
    assert last.l2 == pytest.approx(8 * n**3 / 128 + 4 * n * n, rel=1e-3)
    assert last.seconds == pytest.approx(2 * n**3 / 18.2373e12, rel=1e-3)
    (tmp_path / "ncu.csv").write_text(wide(TEXT), "utf-8")
    assert rl.cuda.ncu(tmp_path / "ncu.csv") == launches


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [('"ID",', '"Id",', "no line that begins"), ("msecond", "fortnight", "'fortnight'"),
     ("gpu__time_duration.sum", "gpu__other.sum", "no gpu__time_duration.sum of sgemm_coalesced")],
)  # fmt: skip
def test_what_is_no_table_of_ncu_says_so(old, new, words):
    assert old in TEXT
    with pytest.raises(ValueError, match=words):
        rl.cuda.ncu(TEXT.replace(old, new))
