"""04-predict: one layer from another, fair by rule, frozen, each case with its own allowance."""

from __future__ import annotations

import json
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import rooflab as rl
from rooflab.course.lesson04 import exercises as lesson04
from rooflab.course.lesson04.exercises import (
    FROZEN,
    KINDS,
    PREDICT,
    entries_of,
    model,
    peak_of,
    recorded,
    ways,
)
from rooflab.course.timed_cases import MARGIN, WITHIN, timed_cases_text
from rooflab.exercises.check import check
from rooflab.exercises.judge import judge
from rooflab.exercises.observe.collect import collect
from tools import freeze

SEEDS = range(60)
ENTRIES = list(recorded().values())
FORMULAS = {m.name: m.wrong for m in PREDICT.misconceptions}
KEPT = rl.decode_recording("epyc-2core-vm")
edges = st.integers(16, 20_000)
figures = st.floats(1e-12, 1e-8)


def verdict(answer, seed):
    cases = PREDICT.draw(seed)
    return judge(PREDICT, cases, collect(PREDICT.kind, cases, answer))


def by_the_roof_of_a_copy(tokens, inputs, outputs, first, again, copy, peak):
    """Other algebra: both ways as start and slope over the tokens."""
    slopes = np.array([[first - again, again], [copy, 2 / peak]])
    return (slopes @ [1, tokens] * inputs * outputs).min()


def by_the_crossing(tokens, inputs, outputs, first, again, copy, peak):
    """The switch is computed first; fractions throughout."""
    first, again, copy = (Fraction(x) for x in (first, again, copy))
    arithmetic = Fraction(2) / Fraction(peak)
    saved = again - arithmetic
    late = saved > 0 and tokens > (copy - first + again) / saved
    return (
        inputs * outputs * (copy + tokens * arithmetic if late else first - again + tokens * again)
    )


@pytest.mark.parametrize("answer", [model, by_the_roof_of_a_copy, by_the_crossing])
def test_the_lessons_model_passes_on_every_draw_however_it_is_written(answer):
    for seed in SEEDS:
        seen = verdict(answer, seed)
        assert seen.passed, seen


def test_every_case_allows_its_own_spread_and_the_margin_that_lesson_03_states():
    assert MARGIN == 0.25 and len(ENTRIES) >= 100
    assert len({e.allowed for e in ENTRIES}) > 20
    for entry in ENTRIES:
        assert 0 <= entry.spread < 0.25, f"{entry}: too noisy to be asked"
        assert PREDICT.allowed(entry.case) == entry.allowed == entry.spread + MARGIN
        assert entry.close(model) and entry.off(model) <= WITHIN * entry.allowed


def test_a_layer_is_never_told_by_one_of_its_own_shape():
    shapes = {e.asked: (e.case["inputs"], e.case["outputs"]) for e in ENTRIES}
    assert len(set(shapes.values())) == len(shapes) == 5
    assert all(e.asked != e.known for e in ENTRIES)
    assert {e.known for e in ENTRIES} == set(shapes)


def test_a_draw_has_one_token_a_few_and_many_and_several_known_layers():
    found = {tuple(e.case.values()): e for e in ENTRIES}
    layers = Counter()
    for seed in SEEDS:
        drawn = [found[tuple(case.values())] for case in PREDICT.draw(seed)]
        kinds = Counter(e.kind for e in drawn)
        assert set(kinds) == set(KINDS) and all(kinds[k] >= n for k, n in KINDS.items())
        assert 7 <= len(drawn) <= 12 and len({id(e) for e in drawn}) == len(drawn)
        layers.update(e.asked for e in drawn)
        assert len({e.known for e in drawn}) > 1, "figures differ: a table of numbers is no answer"
    assert set(layers) == {"q", "k", "gate", "down", "head"}


@pytest.mark.parametrize("name", FORMULAS)
def test_each_wrong_formula_is_beyond_what_is_allowed_on_every_draw(name):
    for seed in SEEDS:
        seen = verdict(FORMULAS[name], seed)
        assert not seen.passed and seen.misconception == name, seed


@pytest.mark.parametrize("factor", [0.9, 1.0, 1.1])
def test_a_better_model_passes_as_well(factor):
    for seed in range(20):
        assert verdict(lambda *inputs: factor * PREDICT.reference(*inputs), seed).passed


@pytest.mark.parametrize("factor", [0.5, 1.5])
def test_beside_the_clock_by_half_fails(factor):
    assert not verdict(lambda *inputs: factor * PREDICT.reference(*inputs), 0).passed


def test_a_failed_prediction_does_not_tell_the_measured_time():
    seen = check("04-predict", FORMULAS["always all at once"])
    assert not any(f"{e.seconds:.6g}" in repr(seen) for e in ENTRIES)
    assert seen.misconception == "always all at once" and "copy" in seen.hint


@given(tokens=st.integers(1, 500), n=edges, k=edges, first=figures, again=figures, copy=figures)
def test_the_quicker_way_is_never_beaten_by_more_tokens_or_a_wider_layer(
    tokens, n, k, first, again, copy
):
    def of(tokens, inputs, outputs):
        return model(tokens, inputs, outputs, first, again, copy, 1e11)

    assert of(tokens, k, n) <= of(tokens + 1, k, n)
    assert of(tokens, k, 2 * n) == pytest.approx(2 * of(tokens, k, n))
    assert of(tokens, k, n) == pytest.approx(of(tokens, n, k))
    vectors, product = ways(1, k, n, first, again, copy, 1e11)
    assert vectors == pytest.approx(k * n * first) and product > k * n * copy


def test_what_is_asked_of_the_same_recording_is_what_was_frozen():
    kept, entries = entries_of(KEPT.name)
    frozen = json.loads(FROZEN.read_text(encoding="utf-8"))
    assert frozen["recording"] == KEPT.name and len(frozen["asked"]) == len(ENTRIES)
    found = {(e.asked, e.known, e.case["tokens"]) for e in entries}
    if KEPT.recorded_on == frozen["recorded_on"]:
        assert timed_cases_text(kept, entries) == FROZEN.read_text(encoding="utf-8")
    assert len(found) >= 60, "of 160; a recording in which fewer are fair is too noisy"


def test_freezing_writes_the_file_or_says_why_not(tmp_path, monkeypatch, capsys):
    target = tmp_path / "frozen.json"
    monkeypatch.setattr(lesson04, "FROZEN", target)
    assert freeze.main(["04-predict", KEPT.name]) == 0 and target.exists()
    written = target.read_text(encoding="utf-8")
    monkeypatch.setattr(lesson04, "FEWEST", 10_000)
    assert freeze.main(["04-predict", KEPT.name]) == 1
    said = capsys.readouterr().out
    assert "record again" in said and target.read_text(encoding="utf-8") == written


def test_another_schema_is_refused(tmp_path, monkeypatch):
    other = tmp_path / "other.json"
    other.write_text('{"schema": 99, "asked": []}', encoding="utf-8")
    monkeypatch.setattr(lesson04, "FROZEN", other)
    with pytest.raises(ValueError, match="schema 99"):
        recorded.__wrapped__()


def test_the_table_of_the_lesson_shows_what_is_said_of_it():
    """The columns cross between 8 tokens and 16; from 8 to 64 a GEMM grows less than threefold."""
    both = {}
    for run in KEPT.runs:
        tried = run.trials["up"]
        both[run.batch] = [min(tried[way], tried[f"{way} on Wᵀ"]) for way in ("gemv ×B", "gemm")]
    assert [batch for batch, (gemv, gemm) in both.items() if gemm < gemv] == [16, 32, 64]
    assert 1 < both[64][1] / both[8][1] < 3 and both[64][0] / both[8][0] > 5
    arithmetic = 2 * 768 * 2048 / peak_of(KEPT.name)
    assert arithmetic < 0.1 * both[1][1], "with one token a GEMM is nearly all copy"
    for batch in (16, 32, 64):
        assert both[batch][1] == pytest.approx(both[1][1] + (batch - 1) * arithmetic, rel=0.1)


def test_a_grader_locks_the_recordings_in_which_the_answers_stand():
    assert {"decode_recording", "recording"} <= set(PREDICT.derives)
