"""Levels found in curves of machines that are known, whatever the system tells of them."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rooflab.labs.memory.levels import AGREES, hierarchy, plateaus
from tests.labs.memory.support.synthetic import KIB, MIB, SIZES, curves, zen
from tests.support.rows import each_row

ZEN = {"l1": 48 * KIB, "l2": MIB, "l3": 32 * MIB}


def kinds(levels):
    return [(level.name, level.kind) for level in levels]


@each_row(0.0, 0.03, 0.1)
@each_row(*range(2))
def test_four_levels_are_found_where_they_are(seed, noise):
    levels, _ = hierarchy(zen(32 * MIB, noise=noise, seed=seed), ZEN)
    assert kinds(levels) == [(n, "agrees") for n in ("L1", "L2", "L3")] + [("memory", "memory")]
    for level, true in zip(levels, (1e-9, 3.5e-9, 14e-9, 130e-9)):
        assert level.latency == pytest.approx(true, rel=0.02 + 2 * noise)


@each_row(
    ((32 * KIB,), (1e-9, 80e-9), (30e9, 3e9)),
    ((128 * KIB, 12 * MIB), (1e-9, 5.5e-9, 100e-9), (300e9, 150e9, 60e9)),
    ((48 * KIB, 2 * MIB, 36 * MIB), (1e-9, 4e-9, 20e-9, 90e-9), (300e9, 120e9, 60e9, 20e9)),
)
@each_row(*range(2))
def test_as_many_levels_as_there_are(seed, caches, latency, rates):
    shape = curves(caches, latency, rates, noise=0.05, seed=seed)
    levels, _ = hierarchy(shape, {})
    assert [level.kind for level in levels] == ["untold"] * len(caches) + ["memory"]
    for level, cache in zip(levels, caches):
        assert 1 / AGREES < level.found / cache < AGREES


def test_one_level_is_one_level():
    levels, climbs = hierarchy(curves((), (90e-9,), (10e9,), noise=0.1), {})
    assert kinds(levels) == [("memory", "memory")] and not climbs


def test_what_the_system_tells_has_no_part_in_finding():
    shape = zen(32 * MIB, noise=0.05)
    found = [level.found for level in hierarchy(shape, ZEN)[0] if level.found]
    for told in ({}, {"l1": 4 * KIB}, {"l1": MIB, "l2": 2 * MIB, "l3": 900 * MIB}):
        assert [one.found for one in hierarchy(shape, told)[0] if one.found] == found


def test_a_virtual_machine_that_shows_its_hosts_cache():
    levels, _ = hierarchy(zen(64 * MIB, noise=0.02), {**ZEN, "l3": 480 * MIB})
    assert kinds(levels)[2] == ("L3", "smaller")
    assert "the system reports 503 MB, the data show about" in levels[2].sentence
    assert "only a part of it" in levels[2].sentence


def test_a_mac_tells_no_third_level():
    """Apple's system cache stands behind the L2, and no call tells of it."""
    shape = curves(
        (128 * KIB, 12 * MIB, 64 * MIB),
        (1e-9, 5.5e-9, 30e-9, 120e-9),
        (300e9, 150e9, 90e9, 60e9),
        noise=0.02,
    )
    levels, _ = hierarchy(shape, {"l1": 128 * KIB, "l2": 12 * MIB, "l3": None})
    assert kinds(levels)[1:3] == [("L2", "agrees"), ("cache", "untold")]
    assert "The system does not report it" in levels[2].sentence


def test_a_told_cache_without_a_step_is_said():
    two = curves((32 * KIB,), (1e-9, 80e-9), (30e9, 3e9))
    levels, _ = hierarchy(two, {"l1": 32 * KIB, "l2": 900 * KIB, "l3": 12 * MIB})
    assert kinds(levels)[1:] == [("L2", "unseen"), ("L3", "unseen"), ("memory", "memory")]
    assert "no step there." in levels[1].sentence


@each_row(400 * MIB, 900 * MIB)
@each_row(0.0, 0.05)
def test_a_cache_larger_than_every_working_set_is_not_called_memory(noise, last):
    """Working sets end at 320 MiB, where memory is short or somebody chose them so."""
    levels, _ = hierarchy(zen(last, noise=noise), {**ZEN, "l3": last})
    assert kinds(levels) == [("L1", "agrees"), ("L2", "agrees"), ("L3", "open")]
    assert levels[-1].found is None and levels[-1].latency == pytest.approx(14e-9, rel=0.1)
    assert "memory was not reached" in levels[-1].sentence


def test_a_cache_whose_end_has_begun_and_is_not_over_is_not_called_memory():
    """It serves fewer and fewer hops up to three times its size; working sets end before that."""
    levels, _ = hierarchy(zen(150 * MIB, soft=2.0), {**ZEN, "l3": 150 * MIB})
    assert kinds(levels)[2:] == [("L3", "open")]


def test_memory_hardly_slower_than_the_last_cache_is_not_that_cache():
    """Its 31 MB are an eighth of the largest working set: it cannot hold that."""
    for slower in (1.1, 1.2, 1.4):
        curves = zen(30 * MIB, memory=slower * 14e-9)
        levels, _ = hierarchy(curves, {**ZEN, "l3": 30 * MIB})
        assert kinds(levels)[2:] == [("L3", "unseen"), ("memory", "memory")], slower
        assert "the L3 or memory answers" in levels[-1].sentence
    levels, _ = hierarchy(zen(30 * MIB), {**ZEN, "l3": 30 * MIB})
    assert "the memory answers" in levels[-1].sentence


def test_the_nearest_of_two_caches_that_were_not_left_is_the_one():
    flat = curves((32 * KIB,), (1e-9, 4e-9), (300e9, 100e9))
    told = {"l1": 32 * KIB, "l2": 400 * MIB, "l3": 900 * MIB}
    levels, _ = hierarchy(flat, told)
    assert kinds(levels) == [("L1", "agrees"), ("L2", "open"), ("L3", "unseen")]
    assert "too small to show it" in levels[2].sentence


def test_behind_a_cache_that_is_not_told_a_larger_one_may_be_anything():
    """32 MiB found, 900 MiB told: too far apart to be one cache. What follows may be memory."""
    levels, _ = hierarchy(zen(32 * MIB), {"l1": 48 * KIB, "l2": MIB, "l3": 900 * MIB})
    assert ("cache", "untold") in kinds(levels) and kinds(levels)[-1] == ("memory", "memory")
    assert "or still a cache" in levels[-1].sentence


def test_a_cache_that_was_found_smaller_leaves_no_doubt_of_the_memory():
    levels, _ = hierarchy(zen(32 * MIB), {**ZEN, "l3": 400 * MIB})
    assert kinds(levels)[2:] == [("L3", "smaller"), ("memory", "memory")]
    assert "still a cache" not in levels[-1].sentence


def test_larger_than_told():
    levels, _ = hierarchy(zen(32 * MIB), {**ZEN, "l3": 12 * MIB})
    assert kinds(levels)[2] == ("L3", "larger") and "fit longer" in levels[2].sentence


def test_a_step_that_bandwidth_does_not_feel_is_no_cache():
    """The reach of a TLB of 1536 pages of 4 KiB is 6 MiB, amid an L3."""
    shape = curves(
        (48 * KIB, MIB, 6 * MIB, 64 * MIB),
        (1e-9, 3.5e-9, 12e-9, 26e-9, 130e-9),
        (300e9, 150e9, 70e9, 70e9, 40e9),
        noise=0.02,
    )
    levels, climbs = hierarchy(shape, {**ZEN, "l3": 64 * MIB})
    assert kinds(levels) == [(n, "agrees") for n in ("L1", "L2", "L3")] + [("memory", "memory")]
    (climb,) = climbs
    assert 4 * MIB < climb.at < 12 * MIB and "not counted as the end" in climb.sentence


INTEL = {"l1": 48 * KIB, "l2": 2 * MIB, "l3": 48 * MIB}
SERVER = (48 * KIB, 2 * MIB, 48 * MIB), (1.2e-9, 4e-9, 75e-9, 120e-9), (100e9, 50e9, 12.9e9, 12e9)


@each_row(
    ({"l1": 128 * KIB, "l2": 12 * MIB, "l3": None}, (1e-9, 5.5e-9, 105e-9), (100, 66, 60)),
    (
        {"l1": 32 * KIB, "l2": 256 * KIB, "l3": 8 * MIB},
        (1.2e-9, 3.5e-9, 12e-9, 80e-9),
        (100, 40, 16, 15),
    ),
)
@each_row(0.0, 0.02)
def test_a_cache_no_faster_than_memory_for_a_stream_is_found_by_its_hops(
    noise, told, latency, rates
):
    caches = [size for size in told.values() if size]
    shape = curves(caches, latency, [rate * 1e9 for rate in rates], noise=noise)
    levels, climbs = hierarchy(shape, told)
    assert [level.kind for level in levels] == ["agrees"] * len(caches) + ["memory"]
    assert not climbs and levels[-1].latency == pytest.approx(latency[-1], rel=0.05)


def test_three_times_the_latency_is_the_border_between_a_look_up_and_a_cache():
    for after, found in ((2.8, 1), (3.2, 2)):
        shape = curves((48 * KIB, 8 * MIB), (1e-9, 25e-9, after * 25e-9), (300e9, 20e9, 19e9))
        levels, climbs = hierarchy(shape, {})
        assert len([one for one in levels if one.found]) == found and len(climbs) == 2 - found


def test_two_small_steps_in_latency_are_no_leap():
    shape = curves(
        (48 * KIB, MIB, 16 * MIB), (1e-9, 12e-9, 28e-9, 65e-9), (300e9, 20e9, 20e9, 20e9)
    )
    levels, climbs = hierarchy(shape, {})
    assert [one.kind for one in levels] == ["untold", "memory"] and len(climbs) == 2


def test_a_small_step_where_a_told_cache_ends_is_left_open():
    """Such as between an Intel server's L3 and memory: 75 and 120 ns, for a stream the same."""
    levels, (climb,) = hierarchy(curves(*SERVER), INTEL)
    assert kinds(levels)[2:] == [("L3", "unseen"), ("memory", "memory")]
    assert "show a step in latency there, and hardly one in bandwidth" in levels[2].sentence
    assert "a step in it: memory, or a cache and what lies behind it." in levels[3].sentence
    assert "This may be the end of the L3." in climb.sentence


def test_a_small_step_far_from_every_told_cache_is_not_said_to_be_its_end():
    told = {**INTEL, "l3": 16 * MIB}
    levels, (climb,) = hierarchy(curves(*SERVER), told)
    assert "no step there" in levels[2].sentence and not climb.cache
    assert "one level with a step in it" in levels[-1].sentence


def test_a_step_in_a_told_cache_without_an_end_may_be_the_part_that_one_gets():
    levels, climbs = hierarchy(curves(*SERVER), {**INTEL, "l3": 900 * MIB})
    assert kinds(levels)[2:] == [("L3", "open")] and len(climbs) == 1
    assert "with a step in it, without an end" in levels[-1].sentence
    assert "gets little or nothing of that cache" in levels[-1].sentence


def test_a_step_before_the_last_level_leaves_no_doubt_of_it():
    shape = curves(
        (48 * KIB, 2 * MIB, 64 * MIB), (1e-9, 12e-9, 26e-9, 130e-9), (300e9, 70e9, 70e9, 40e9)
    )
    levels, climbs = hierarchy(shape, {})
    assert len(climbs) == 1 and levels[-1].sentence.endswith("the memory answers, after 130 ns.")


@each_row(16e-9, 30e-9)
def test_a_last_level_too_quick_for_memory_is_not_called_memory(hop):
    """The L3 is not told, and larger than every working set."""
    shape = curves((48 * KIB, 2 * MIB), (1.2e-9, 4e-9, hop), (100e9, 50e9, 20e9))
    levels, _ = hierarchy(shape, {"l1": 48 * KIB, "l2": 2 * MIB, "l3": None})
    assert levels[-1].doubtful and "memory answers" not in levels[-1].sentence
    assert "little for memory: it may be a cache" in levels[-1].sentence


@each_row(60e-9, 110e-9, 150e-9)
def test_what_loads_from_memory_take_is_believed(hop):
    shape = curves((48 * KIB, 2 * MIB), (1.2e-9, 4e-9, hop), (100e9, 50e9, 12e9))
    levels, _ = hierarchy(shape, {})
    assert not levels[-1].doubtful and "the memory answers, after" in levels[-1].sentence


def test_a_cache_too_slow_for_one_is_doubtful():
    shape = curves((48 * KIB, 2 * MIB), (1.2e-9, 99e-9, 160e-9), (100e9, 50e9, 12e9))
    one = hierarchy(shape, {})[0][1]
    assert one.doubtful and one.sentence.endswith(
        "A hop takes 99.0 ns there: that is long for a cache."
    )


def test_sizes_that_are_far_apart_agree_roughly():
    for told, words in ((40 * MIB, "they agree."), (25 * MIB, "they agree roughly.")):
        levels, _ = hierarchy(zen(32 * MIB), {**ZEN, "l3": told})
        assert kinds(levels)[2] == ("L3", "agrees") and levels[2].sentence.endswith(words)


@settings(max_examples=4)
@given(st.floats(1e-3, 1e3), st.integers(0, 5))
def test_the_unit_of_latency_does_not_matter(factor, seed):
    shape = zen(32 * MIB, noise=0.05, seed=seed)
    before = plateaus(SIZES, shape.latency)
    after = plateaus(SIZES, np.array(shape.latency) * factor)
    assert [(one.first, one.last) for one in after] == [(one.first, one.last) for one in before]


@given(st.lists(st.floats(1e-9, 1e-6), min_size=2, max_size=24))
def test_plateaus_never_overlap_and_always_rise(latency):
    found = plateaus(SIZES[: len(latency)], latency)
    assert found
    for near, far in zip(found, found[1:]):
        assert near.last < far.first and near.latency < far.latency
    assert all(0 <= one.first <= one.last < len(latency) for one in found)


def test_a_few_wild_samples_make_no_level():
    latency = np.array(zen(32 * MIB, noise=0.02).latency)
    true = [(one.first, one.last) for one in plateaus(SIZES, latency)]
    latency[[5, 25, 45, 60]] *= 6
    assert [(one.first, one.last) for one in plateaus(SIZES, latency)] == true


def test_a_level_that_was_not_seen_has_no_figures():
    levels, _ = hierarchy(curves((), (9e-8,), (1e9,)), {"l1": 48 * KIB})
    assert levels[0].kind == "unseen" and math.isnan(levels[0].latency)
