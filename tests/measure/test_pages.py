"""Fresh pages: counted while a call is timed, priced once, and a step of what rl.explain says."""

from __future__ import annotations

import json
import math
import sys

import numpy as np
import pytest

import rooflab as rl
from rooflab.measure import pages, this_machine, timing
from rooflab.measure.backend import host_id
from rooflab.measure.measurement import Measurement
from tests.support.machine import ROOFS

KNOWN = pages.Pages(31 << 20, 1e-10)
PRICED = pages.measured_pages
OP = rl.axpy(10**7)  # 6 ms at the 20 GB/s of the test machine


@pytest.fixture(autouse=True)
def known(tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("ROOFLAB_CACHE", str(tmp_path))
    monkeypatch.setattr(this_machine, "measured_roofs", lambda *_: {**ROOFS, "routines": {}})
    monkeypatch.setattr(pages, "measured_pages", lambda progress: KNOWN)


def taken(machine: str | None = None, **environment: float) -> Measurement:
    """12 ms on this computer."""
    return Measurement(OP, machine or host_id(), "cpu", "cold", 1, (12e-3,), (), environment)


def steps(measured: Measurement, *machine: object) -> dict[str, float]:
    e = rl.explain(measured, *machine)
    assert math.prod(f.factor for f in e.factors) == pytest.approx(e.seconds / e.bound)
    return {f.name: f.factor for f in e.factors}


def test_the_systems_faults_show_what_is_new():
    """Thirty pages that nobody has touched, at least, in an array of 64 MiB."""
    before = timing.page_counts()
    array = np.empty(64 << 20, np.uint8)
    assert timing.page_counts()[0] - before[0] < 20, "an array that is not written has no pages"
    array[::4096] = 1
    assert timing.pages_a_call(before, 2)["page_faults"] >= 16, "pages of 2 MiB or smaller"


def test_huge_pages_of_other_programs_are_not_more_than_the_faults(monkeypatch):
    monkeypatch.setattr(timing, "page_counts", lambda: (30, 100))
    monkeypatch.setattr(sys, "platform", "linux")
    huge = timing.pages_a_call((10, 0), 1)["new_bytes"] / 20
    assert huge >= timing.mmap.PAGESIZE == timing.pages_a_call((10, 100), 1)["new_bytes"] / 20
    monkeypatch.setattr(sys, "platform", "darwin")
    assert timing.pages_a_call((10, 0), 4) == {"page_faults": 5.0}


@pytest.mark.skipif(sys.platform != "linux", reason="counts the faults of a process")
def test_what_allocates_has_new_pages_and_the_library_none(quick):
    op = rl.axpy(6 << 20, "fp64")  # a sum of 48 MiB: more than glibc keeps
    short = {"backend": "cpu", "threads": 1, "samples": 3, "cache": "warm"}
    new, library = (rl.measure(op, run, **short) for run in (lambda x, y: 2 * x + y, None))
    assert new.environment["new_bytes"] > op.operands[0].nbytes / 2
    assert library.environment["new_bytes"] < 1 << 20
    assert "new pages" in steps(new) and "new pages" not in steps(library)


def test_a_call_with_new_pages_waits_for_them():
    """30 MB at 0.1 ns a byte are 3 ms, beside the 6 ms that its bytes take."""
    one = taken(page_faults=600.0, new_bytes=3e7)
    again = Measurement.from_dict(json.loads(json.dumps(one.to_dict())))
    for measured, machine in ((one, ()), (again, ()), (one, (rl.this_machine("cpu", 1),))):
        assert steps(measured, *machine)["new pages"] == pytest.approx(1.5)
        assert steps(measured, *machine)["unexplained"] == pytest.approx(12 / 9)
    (note,) = (f.note for f in rl.explain(one).factors if f.name == "new pages")
    assert note == "600 page faults a call: 30.0 MB of new pages, 3.00 ms"
    assert "new pages ×1.5: 9.00 ms" in rl.show.waterfall(one).words


def test_nothing_is_said_of_pages_that_nobody_counted_here(monkeypatch):
    monkeypatch.setattr(pages, "measured_pages", lambda progress: pytest.fail("measured"))
    many = {"page_faults": 600.0, "new_bytes": 3e7}
    for measured, *machine in (
        (taken(),), (taken(page_faults=3.0, new_bytes=12288.0),), (taken(page_faults=600.0),),
        (taken(**many), "raspberry-pi-5"), (taken("elsewhere", **many), rl.this_machine("cpu", 1)),
    ):  # fmt: skip
        assert "new pages" not in steps(measured, *machine)


def test_a_pages_price_is_measured_once_and_kept(tmp_path, monkeypatch):
    assert pages.pages(progress=False) == KNOWN
    (file,) = tmp_path.glob("pages-*.json")
    for key, value in (("schema", 99), ("fresh", None), ("recycled", 0)):
        file.write_text(json.dumps({**json.loads(file.read_text("utf-8")), key: value}), "utf-8")
        with pytest.warns(UserWarning, match="damaged"):
            assert pages.pages(progress=False) == KNOWN
    monkeypatch.setattr(pages, "measured_pages", lambda progress: pytest.fail("again"))
    assert pages.pages(progress=False) == KNOWN
    for name, value in {"PAIRS": 3, "LARGEST": 1 << 21, "MOST": 1 << 21}.items():
        monkeypatch.setattr(pages, name, value)
    monkeypatch.setattr(pages, "last_level_bytes", lambda: 1 << 20)
    assert pages._problem({**vars(PRICED()), "schema": pages.SCHEMA}) == ""
