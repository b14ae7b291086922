"""The trail of a search as a picture: what stands where is what was predicted and measured."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

import rooflab as rl
from rooflab.labs.search.pictures.replay import CLEARLY, Replay, ordinal
from rooflab.show.scene.player import Player
from tests.labs.search.support.machines import PLAIN
from tests.labs.search.support.searches import searched
from tests.support.machine import measurement
from tests.support.scenes import named, some_states, texts


@pytest.fixture(scope="module")
def picture() -> Player:
    return rl.search.trail(searched(), PLAIN)


def places(picture: Player, name: str, **state: object) -> np.ndarray:
    marks = named(picture.scene, name)
    return np.array([picture.scene.value(mark, "at", **state)[:2] for mark in marks])


# What stands where.


def test_heights_are_measured_rates_on_an_axis_that_begins_at_zero(picture: Player) -> None:
    one = Replay(searched())
    ys = places(picture, "step")[:, 1]
    rates = np.array([one.rates[place] for place in one.steps])
    slope, zero = np.polyfit(rates, ys, 1)
    np.testing.assert_allclose(ys, zero + slope * rates, atol=1e-6)
    dots = len(named(picture.scene, "step")) + len(named(picture.scene, "candidate"))
    assert slope < 0 and dots == len(one.tried)


def test_a_step_is_clearly_faster_than_the_one_before_it() -> None:
    one = Replay(searched())
    best = 0.0
    for place, rate in enumerate(one.rates):
        assert (place in one.steps) == (rate > CLEARLY * best)
        best = rate if place in one.steps else best
    assert [one.gain(n) > CLEARLY for n in range(len(one.steps))] == [False] + [True] * (
        len(one.steps) - 1)  # fmt: skip


def test_the_stairs_rise_at_every_step_and_never_fall(picture: Player) -> None:
    (line,) = named(picture.scene, "stairs")
    corners = np.reshape(picture.scene.value(line, "points"), (-1, 2))
    assert (np.diff(corners[:, 0]) >= 0).all() and (np.diff(corners[:, 1]) <= 0).all()
    assert len(np.unique(corners[:, 1])) == len(Replay(searched()).steps)


def test_a_peer_is_a_line_at_its_rate() -> None:
    found = searched(1)
    timed = measurement(rl.gemm(32, 32, 32), "here", 65536 / 5e10)
    for peer in (5e10, timed):
        shown = rl.search.trail(found, PLAIN, peer={"OpenBLAS": peer})
        names = texts(shown, "level name")
        assert names[0] == "OpenBLAS 50.0 GFLOP/s" and names[1].startswith("peak ")
        y = shown.scene.value(named(shown.scene, "level")[0], "points")[1]
        rates, ys = Replay(found).rates, places(shown, "step")[:, 1]
        share = (5e10 - rates[0]) / (rates[Replay(found).steps[-1]] - rates[0])
        assert y == pytest.approx(ys[0] + share * (ys[-1] - ys[0]))


# Its words.


def test_a_step_has_the_name_of_the_move_that_made_it() -> None:
    found = searched()
    start = found.start.interchange("j", "k")
    lanes = start.split("j", 16).vectorize("ji")
    rows = lanes.split("i", 2).reorder("io", "k", "jo", "ii", "ji").unroll("ii")
    tile = rows.split("io", 4).reorder("ioo", "ioi", "k", "jo")
    nests = start, lanes, rows, tile, tile.pack("B"), tile.reverse("k")
    like = found.measured[1]
    tried = [dataclasses.replace(like, log=nest.log) for nest in nests]
    one = Replay(dataclasses.replace(found, candidates=(found.naive, *tried)))
    assert [one.move(place) for place in range(7)] == [
        "as written", "swap j and k", "16 lanes of j", "unroll i by 2", "tile of 4 in i", "pack B",
        "reverse k",
    ]  # fmt: skip


def test_every_state_has_its_sentence(picture: Player) -> None:
    steps = len(Replay(searched()).steps) - 1
    for state in some_states(picture.scene):
        said = picture.scene.sentence(**state)
        assert said.startswith(f"Step {state['step']} of {steps}: " if state["step"] else "As writ")
        assert said.endswith(".") and "nan" not in said
        assert ("by its prediction" in said) == (state["view"] == "prediction")


def test_a_predicted_winner_that_loses_is_said(picture: Player) -> None:
    found = searched()
    ranked = sorted(found.measured, key=lambda one: one.predicted)
    place = ranked.index(found.winner)
    said = picture.scene.sentence(view="prediction")
    assert place and f"was the {ordinal(place + 1)} by its prediction" in said
    loss = ranked[0].seconds / found.winner.seconds
    assert said.endswith(f"slower by a factor of {loss:.3g}.")
    won = [dataclasses.replace(one, predicted=1e-9) if one is found.winner else one
           for one in found.candidates]  # fmt: skip
    best = Replay(dataclasses.replace(found, candidates=tuple(won)))
    assert best.hope == "The fastest was predicted to be the fastest."
    bare = [dataclasses.replace(one, predicted=None) for one in found.candidates]
    kept = dataclasses.replace(found, candidates=tuple(bare))
    assert Replay(kept).hope == "The fastest had no prediction."
    assert np.isnan(places(rl.search.trail(kept, PLAIN), "step", view="prediction")[0, 0])


def test_whole_runs_decide_at_the_end() -> None:
    found = searched()
    first, second = sorted(found.measured, key=lambda one: one.measured)[:2]
    finals = {first.log: 3e-6, second.log: 2e-6}
    changed = tuple(dataclasses.replace(one, final=finals.get(one.log)) for one in found.candidates)
    kept = dataclasses.replace(found, candidates=changed)
    assert kept.winner.log == second.log
    place = found.measured.index(second)
    rate = rl.si(kept.flops / 2e-6, "FLOP/s")
    shown = rl.search.trail(kept, PLAIN)
    assert shown.sentence.endswith(f"compared: schedule {place + 1} wins with {rate}.")
    one, ys = Replay(kept), places(shown, "step")[:, 1]
    slope, zero = np.polyfit([one.rates[place] for place in one.steps], ys, 1)
    ((_, y),) = places(shown, "whole runs")  # on the axis of the steps
    assert y == pytest.approx(zero + slope * kept.flops / 2e-6)


def test_the_loops_are_those_of_the_step_and_what_its_move_changed_is_in_colour(
    picture: Player,
) -> None:
    rows, one = named(picture.scene, "loops"), Replay(searched())
    assert [picture.scene.value(row, "text", step=0) for row in rows[:4]] == [
        "for i in range(32):", " for j in range(32):", "  for k in range(32):",
        "   C[i,j] += A[i,k]*B[k,j]",
    ]  # fmt: skip
    for number in range(len(one.steps)):
        new = {line for line, fresh in one.loops(number) if fresh}
        inks = {picture.scene.value(row, "text", step=number):
                picture.scene.value(row, "fill", step=number) for row in rows}  # fmt: skip
        assert {line for line, ink in inks.items() if ink == "key"} == new
        assert bool(new) == bool(number)


# Machines, and what cannot be drawn.


def test_without_a_known_machine_there_is_no_peak() -> None:
    shown = rl.search.trail(searched())
    assert "level" not in {mark.name for mark in shown.scene.marks}
    assert shown.still().startswith(b"\x89PNG")


def test_threads_that_differ_from_those_of_the_roofs_are_said() -> None:
    found = dataclasses.replace(searched(1), threads=2)
    told = rl.search.trail(found, PLAIN).scene.notes[-1][1]
    assert told.endswith("They are for 1 thread; the search could use 2.")


def test_a_search_of_one_candidate_is_a_point() -> None:
    found = searched()
    shown = rl.search.trail(dataclasses.replace(found, candidates=(found.naive,)), PLAIN)
    assert shown.sentence.startswith("As written, the loops reach ")
    assert shown.still().startswith(b"\x89PNG")


def test_refused_with_a_reason() -> None:
    found, bare = searched(), rl.Machine("bare", kind="cpu", peaks={"fp64": 1e9}, bandwidths=1e9)
    for wrong, error, said in (
        (lambda: rl.search.trail(dataclasses.replace(found, timed=False)), ValueError,
         "another measure than"),
        (lambda: rl.search.trail(found, bare), ValueError, "no fp32 peak"),
        (lambda: rl.search.trail(found, PLAIN, peer={"mine": 0}), ValueError, "peer=0 must be a"),
        (lambda: rl.search.trail(7), TypeError, "found=7 is no search"),
        (lambda: rl.search.trail(found, PLAIN, peer=5e10), TypeError, "must be a mapping"),
    ):  # fmt: skip
        with pytest.raises(error, match=said):
            wrong()
