"""The request film: what it draws, times and says is what the model's workloads say."""

from __future__ import annotations

import itertools
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rooflab as rl
from rooflab.labs.llm.film import captions as words
from rooflab.labs.llm.film.grid import BATCHES, CONTEXTS, KINDS, PREFILL
from rooflab.labs.llm.film.live import Film, film
from rooflab.show.labels import width
from rooflab.show.scene import drawn
from tests.support.film_example import HERE, SHARE, SMALL, run
from tests.support.scenes import named, some_states

H100 = "nvidia-h100-sxm"
PLACES = st.tuples(
    st.integers(0, 2),
    st.integers(0, 1),
    st.integers(0, len(BATCHES) - 1),
    st.integers(0, len(CONTEXTS) - 1),
)


@pytest.fixture(scope="module")
def llama() -> Film:
    return film("llama-2-7b", (H100, "nvidia-rtx-4090"), machine=H100)


def state_at(w: int, kv: int, i: int, j: int, machine: str = H100) -> dict:
    return {"machine": machine, "weights": ("bf16", "int8", "int4")[w],
            "kv": ("bf16", "int8")[kv], "batch": BATCHES[i], "context": CONTEXTS[j]}  # fmt: skip


def text(shown: Film, name: str, **state: object) -> str:
    (mark,) = named(shown.scene, name)
    return shown.scene.value(mark, "text", **(shown.state | state))


def ink(shown: Film, name: str, **state: object) -> str:
    (mark,) = named(shown.scene, name)
    return shown.scene.value(mark, "fill", **(shown.state | state))


@settings(max_examples=12, deadline=None)
@given(PLACES)
def test_every_number_is_the_workloads(llama: Film, place: tuple) -> None:
    state = state_at(*place)
    step = rl.model("llama-2-7b").decode(
        state["batch"], state["context"], state["weights"], state["kv"], "bf16"
    )
    seconds = step.seconds(H100)
    assert text(llama, "total", **state) == rl.si(seconds, "s")
    assert text(llama, "rate", **state) == words.rate(step.tokens_per_s(H100))
    assert text(llama, "fact each sequence", **state) == words.rate(1 / seconds)
    assert text(llama, "fact bytes moved", **state) == rl.si(step.bytes, "B")
    assert text(llama, "fact memory", **state).startswith(rl.si(step.memory_bytes, "B"))
    for name, usual in (("rate", "ink"), ("sizes", "soft"), ("fact memory", "ink")):
        wrong = "soft" if name == "rate" else "warn"
        assert ink(llama, name, **state) == (usual if step.fits(H100) else wrong)
    assert ("does not fit: " in text(llama, "sizes", **state)) is not step.fits(H100)
    said = llama.scene.sentence(**state)
    assert rl.si(seconds, "s") in said and ("It does not fit" in said) is not step.fits(H100)


def test_the_crossing_is_where_attention_takes_as_long_as_all_the_rest(llama: Film) -> None:
    said = text(llama, "crossing-says")
    context = int(re.sub(r"\D", "", said))

    def share(tokens: int) -> float:
        parts = {
            p.name: p.seconds for p in rl.model("llama-2-7b").decode(1, tokens).time(H100).parts
        }
        return parts["attention"] / sum(parts.values())

    assert share(context) == pytest.approx(0.5, abs=0.005)
    assert share(CONTEXTS[-1]) > 0.5 > share(CONTEXTS[0])
    assert f"From a context of {said.split(' at ')[1]} on" in llama.sentence


def test_it_says_what_does_not_fit_and_what_was_never_trained() -> None:
    big = film("llama-2-70b", H100, context=6144)
    assert re.search("It does not fit: it needs 1[34][0-9] GB", big.sentence)
    assert "trained on contexts up to 4096" in big.sentence
    small = film("llama-2-7b", H100)
    assert "does not fit" not in small.sentence and "trained" not in small.sentence


def test_an_estimate_beside_a_measurement_says_so_and_is_as_large() -> None:
    shown = film(SMALL, HERE, decode_run=run(1, 20), context=16)
    assert shown.context == 16, "a slider's stop"
    for scene in shown.sheets:
        (rate,), (ran,) = named(scene, "rate"), named(scene, "ran-rate")
        assert rate.look["size"] == ran.look["size"]
        assert scene.value(rate, "text", **shown.state).startswith("estimated ")
        assert scene.value(ran, "text", **shown.state).startswith("measured ")
        elsewhere = shown.state | {"batch": 2}
        assert "estimated" not in scene.value(rate, "text", **elsewhere)


def test_a_name_stands_at_its_dot_on_every_sheet() -> None:
    shown = film("mixtral-8x7b", (H100, "nvidia-l4"))
    labels = {kind.label: kind.name for kind in (*KINDS, PREFILL)} | {"weights": "mlp"}
    for scene, state in itertools.product(shown.sheets, some_states(shown.scene, 6, limit=40)):
        marks = [(mark.name, held) for mark, held in drawn(scene, **state)]
        dots = {name: held["at"] for name, held in marks if name.startswith("op-")}
        for _, held in (one for one in marks if one[0].startswith("name-") and one[1]["text"]):
            (x, y), text = held["at"], held["text"]
            left = x - width(text) * (held["anchor"] == "end")
            for own in (dots[f"op-{labels[name]}"] for name in text.split(", ")):
                assert left - 25 < own[0] < left + width(text) + 25, (text, state)
                assert y - 45 < own[1] < y + 45, (text, state)


def test_a_computer_without_bf16_gets_fp32_and_is_shown_in_it() -> None:
    shown = film(SMALL, HERE)
    assert (shown.weights, shown.kv) == ("fp32", "fp32")
    (_, origin, _), *_ = shown.scene.notes
    said = shown.scene.settled(origin, shown.scene.places())
    assert "measured on 2026-11-21" in said or "recording of 2026-11-21" in said
    menu = next(one for one in shown.scene.controls if one["dim"] == "weights")
    places = shown.scene.places()
    labels = [shown.scene.settled(one, places) for one in menu["labels"]]
    assert [bool(shown.scene.settled(one, places)) for one in menu["enabled"]].count(True) == 1
    assert "fp32" in labels and "bf16 (no bf16 figure)" in labels


def test_a_machine_without_a_figure_says_so_and_hides_its_numbers() -> None:
    shown = film(SMALL, (HERE, H100), machine=H100, weights=("bf16", "int8"))
    here = shown.tables.offers[1].id
    state = shown.state | {"machine": here, "weights": "bf16"}
    assert "no bf16 figure, so there is no roof" in shown.scene.sentence(**state)
    seen = {mark.name for mark, held in drawn(shown.scene, **state) if held.get("text")}
    assert not {"rate", "total", "fact each sequence", "time-mlp"} & seen
    menu = next(one for one in shown.scene.controls if one["dim"] == "machine")
    assert menu["enabled"] == [any(not reason for reason in row) for row in shown.tables.no], (
        "greyed where no format has a roof"
    )


def test_what_was_measured_hangs_below_its_roof_and_is_said() -> None:
    runs = [run(1), run(8), run(5)]
    shown = film(SMALL, HERE, decode_run=runs, batch=8, context=256)
    assert [one.place for one in shown.tables.timed] == [(0, 0, 0), (0, 0, 6), (0, 0, 4)]
    one, (bandwidth, peak) = shown.tables.timed[1], shown.tables.roofs[:, 0, 0]
    expected = SMALL.decode(8, 256, "fp32", "fp32").seconds(HERE)
    assert 1 / SHARE * 0.9 < one.seconds / expected < 1 / SHARE * 1.4
    for x, rate in one.dots.values():
        assert rate == pytest.approx(SHARE * min(peak, x * bandwidth), rel=0.02)
    assert "Measured at context 257" in shown.sentence and rl.si(one.seconds, "s") in shown.sentence
    assert text(shown, "ran-rate") == f"measured {words.rate(one.per_second)}"
    assert text(shown, "ran-rate", batch=2) == "" != text(shown, "ran-rate", batch=5)
    clear = [mark for mark, _ in drawn(shown.scene, **shown.state) if mark.name == "ran-mlp"]
    assert len(clear) == 1 and named(shown.scene, "ran-mlp").index(clear[0]) == 1
    assert len(film(SMALL, HERE, decode_run=runs[0]).tables.timed) == 1


def test_bad_input_is_named() -> None:
    for arguments, said in [
        ({"after": 3}, "after=3 is no guess axis; pass what rl.ask returned"),
        ({"weights": ()}, "weights=() is empty"),
        ({"batch": 0}, "batch=0"),
        ({"context": -1}, "context=-1"),
        ({"decode_run": 3}, "decode_run=3 is no DecodeRun"),
        ({"decode_run": run(1)}, "give machine=rl.this_machine()"),
        ({"decode_run": run(1), "model": "gpt2"}, "it ran small, and the film is of gpt2"),
        ({"kv": "fp33"}, "kv='fp33' is unknown"),
        ({"model": "llama-2-7"}, "llama-2-7b"),
        ({"model": 7}, "model=7"),
    ]:
        with pytest.raises((TypeError, ValueError), match=re.escape(said)):
            film(**{"model": SMALL, "machines": H100, **arguments})


def test_the_picture_is_the_same_every_time_and_says_its_words(llama: Film) -> None:
    bundle, told = llama._repr_mimebundle_()
    assert bundle["text/plain"] == llama.sentence == told["image/png"]["alt"]
    assert llama.still() == llama.still() and llama.still().startswith(b"\x89PNG")
