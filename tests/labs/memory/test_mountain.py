"""The mountain: real on a few small working sets, replayed from JSON, refused where it must be."""

from __future__ import annotations

import json
import pickle
import sys

import numpy as np
import pytest

import rooflab as rl
from rooflab.labs.memory.mountain import Mountain, usual_sizes
from rooflab.measure.caches import cache_sizes
from tests.labs.memory.support.synthetic import KIB, MIB, SIZES, mountain, zen
from tests.support.rows import each_row

TOLD = {"l1": 48 * KIB, "l2": MIB, "l3": 480 * MIB}
FAR = 8 * MIB
MODULE = sys.modules[Mountain.__module__]  # under its name the lab has the function


@pytest.fixture(scope="module")
def here() -> Mountain:
    shares: list[float] = []
    found = rl.memory.mountain(
        sizes=[8 * KIB, 16 * KIB, 256 * KIB, FAR // 2, FAR], progress=shares.append
    )
    assert shares == sorted(shares) and 0 < shares[-1] <= 1
    return found


@pytest.fixture(scope="module")
def made() -> Mountain:
    return mountain(zen(64 * MIB, noise=0.02), TOLD, name="A core", huge_pages=1.0,
                    machine="here", measured_on="2026-11-23T10:00:00Z")  # fmt: skip


def test_far_is_slower_than_near(here):
    """Physics only: nothing is asked of how fast this machine is today."""
    assert here.latency[0] < here.latency[-1] / 2
    assert 0.1e-9 < here.latency[0] < 20e-9
    assert (here.read > 64 / here.latency).all()  # a stream has more in flight than a lone chase


def test_every_size_has_its_samples(here):
    assert here.sizes == (8 * KIB, 16 * KIB, 256 * KIB, FAR // 2, FAR)
    for rows in here.samples.values():
        assert len(rows) == len(here.sizes) and all(len(row) >= 3 for row in rows)
    for key in ("read", "copy"):
        for value, row in zip(getattr(here, key), here.samples[key]):
            assert np.median(row) <= value <= max(row)
    for value, row in zip(here.latency, here.samples["latency"]):
        assert min(row) <= value <= np.median(row)
    assert any("more than an octave apart" in text for text in here.warnings)


def test_it_says_where_it_was_measured(here):
    assert here.threads == 1 and here.line in (32, 64, 128, 256)
    assert here.environment["host"] == here.machine and here.measured_on.endswith("Z")
    assert set(here.told) == set(cache_sizes())
    assert here.huge_pages is None or 0 <= here.huge_pages <= 1


def test_it_is_kept_and_replayed(here, made):
    for one in (here, made):
        again = Mountain.from_dict(json.loads(json.dumps(one.to_dict())))
        assert again == one and hash(again) == hash(one) and repr(again) == repr(one)
        assert pickle.loads(pickle.dumps(one)) == one


def test_in_words(made):
    said = repr(made)
    assert "A core, 1 thread: 66 working sets, 4.10 kB to 319 MB" in said
    assert len(said.splitlines()) == 6 and max(map(len, said.splitlines())) < 80
    assert "503 MB" in said  # what the system tells, beside what was found
    assert [level.kind for level in made.levels] == ["agrees", "agrees", "smaller", "memory"]


def test_the_nearest_size(made):
    assert made.sizes[made.at(MIB)] == MIB
    assert (made.at(1), made.at(2**50)) == (0, len(SIZES) - 1)
    with pytest.raises(ValueError, match="nbytes=0"):
        made.at(0)


def test_sizes_reach_from_the_first_cache_far_beyond_the_last():
    sizes = usual_sizes(32 * MIB, 256 * MIB)
    assert sizes[0] == 4 * KIB and abs(sizes[-1] / (256 * MIB) - 1) < 0.1
    steps = [b / a for a, b in zip(sizes, sizes[1:])]
    assert max(steps) < 1.3 and min(steps) > 1.1
    assert 50 < len(sizes) < 80
    short = usual_sizes(300 * MIB, 64 * MIB)  # memory is short: it ends within the cache
    assert short[-1] <= 64 * MIB * 1.01


@each_row(
    ([4096], ValueError, "at least two"), ([8192, 4096], ValueError, "larger than the one before"),
    ([512, 4096], ValueError, r"sizes\[0\]=512"), ([4096.5, 8192], TypeError, r"sizes\[0\]=4096.5"),
    (4096, TypeError, "several working sets"), ("4096", TypeError, "several working sets"),
    ([4096, 2**50], ValueError, "too many for the free memory"),
)  # fmt: skip
def test_sizes_that_cannot_be(sizes, error, said):
    with pytest.raises(error, match=said):
        rl.memory.mountain(sizes=sizes, progress=False)


def test_a_working_set_that_fits_into_the_free_memory_is_measured(monkeypatch):
    """Whatever the caches are: how far the usual sizes go says nothing about given ones."""
    asked = []

    class Asked(Exception):
        pass

    def measured(sizes, *_):
        asked.append(sizes)
        raise Asked

    monkeypatch.setattr(MODULE, "available_bytes", lambda _: 64 << 30)
    monkeypatch.setattr(MODULE, "_measured", measured)
    with pytest.raises(Asked):
        rl.memory.mountain(sizes=[4096, 5 << 29], progress=False)
    assert asked == [(4096, 5 << 29)]
    with pytest.raises(ValueError, match=f"too many for the free memory; end at {8 << 30}"):
        rl.memory.mountain(sizes=[4096, (8 << 30) + 64], progress=False)


@each_row((0, ValueError), (10**6, ValueError), ("1", TypeError))
def test_threads_that_cannot_be(threads, error):
    with pytest.raises(error, match="threads="):
        rl.memory.mountain(threads, sizes=[4096, 8192], progress=False)


@each_row(
    ({"schema": 2}, "schema=2"),
    ({"sizes": [4096]}, "at least two"),
    ({"samples": {}}, "samples: 'read' holds 0 rows"),
    ({"samples": None, "read": [[-1.0]]}, "positive and finite"),
)
def test_data_that_cannot_be(change, said, made):
    data = made.to_dict()
    if "read" in change:
        change = {"samples": {**data["samples"], "read": [[-1.0]] * len(SIZES)}}
    with pytest.raises(ValueError, match=said):
        Mountain.from_dict({**data, **change})


def test_data_of_another_kind(made):
    data = made.to_dict()
    del data["told"]
    with pytest.raises(ValueError, match="told"):
        Mountain.from_dict(data)
    with pytest.raises(TypeError, match="must be a dict"):
        Mountain.from_dict([])


def test_noise_and_small_pages_are_warned_of(monkeypatch, made):
    noisy = {key: tuple((row[0], 2 * row[0], 3 * row[0]) for row in rows)
             for key, rows in made.samples.items()}  # fmt: skip
    shaky = Mountain(1, made.sizes, noisy, {}, huge_pages=0.2)
    monkeypatch.setattr(MODULE, "power", lambda: "battery")
    said = " ".join(MODULE._doubts(shaky))
    assert "noisy" in said and "look up where the data lie" in said and "battery" in said


def test_importing_the_lab_is_light_and_names_stay_functions():
    assert callable(rl.memory.mountain) and set(rl.memory.__all__) <= set(dir(rl.memory))
    with pytest.raises(AttributeError, match="hill"):
        rl.memory.hill  # noqa: B018
