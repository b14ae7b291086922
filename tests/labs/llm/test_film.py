"""The request film: what it draws, times and says is what the model's workloads say."""

from __future__ import annotations

import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rooflab as rl
from rooflab.labs.llm import film_tables, film_words
from rooflab.labs.llm.film import Film, film
from rooflab.labs.llm.film_tables import BATCHES, CONTEXTS, KINDS
from rooflab.show.guess_axis import guess
from tests.support.film_example import HERE, SHARE, SMALL, run

H100, B = "nvidia-h100-sxm", len(BATCHES)


@pytest.fixture(scope="module")
def llama() -> Film:
    return film("llama-2-7b", (H100, "nvidia-rtx-4090"), machine=H100)


def spots(shown: Film) -> tuple[dict, dict]:
    data = shown.view.data
    return data, {one["id"]: one for one in data["machines"]}


def index(w: int, kv: int, i: int, j: int, kvs: int = 2) -> int:
    return ((w * kvs + kv) * B + i) * len(CONTEXTS) + j


def words(data: dict, table: bytes, at: int) -> str:
    return data["texts"][np.frombuffer(table, "<u2")[at]]


def floats(table: bytes) -> np.ndarray:
    return np.frombuffer(table, "<f4")


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 2), st.integers(0, 1), st.integers(0, B - 1), st.integers(0, 20))
def test_every_number_is_the_workloads(llama: Film, w: int, kv: int, i: int, j: int) -> None:
    data, machines = spots(llama)
    kinds = ("bf16", "int8", "int4")[w], ("bf16", "int8")[kv]
    step = rl.model("llama-2-7b").decode(BATCHES[i], CONTEXTS[j], *kinds, "bf16")
    at, packed = index(w, kv, i, j), machines[H100]
    seconds = step.seconds(H100)
    assert words(data, packed["total"], at) == rl.si(seconds, "s")
    assert words(data, packed["rate"], at) == film_words.rate(step.tokens_per_s(H100))
    assert words(data, data["moved"], at) == rl.si(step.bytes, "B")
    assert words(data, data["need"], at) == rl.si(step.memory_bytes, "B")
    assert bool(packed["fits"][at]) == step.fits(H100)
    drawn = sum(
        floats(packed["seconds"][kind.name])[at if kind.wide else w * B + i] for kind in KINDS
    )
    assert drawn == pytest.approx(seconds, rel=1e-5)


def test_the_published_rate_of_a_7b_model_on_an_rtx_4090() -> None:
    """7e9 fp16 parameters at 1.008 TB/s: 72 tokens/s; with exact weights a little more."""
    shown = film("llama-2-7b", "nvidia-rtx-4090", context=128, weights="fp16", kv="fp16")
    rate = float(shown.now.values["rate"].split()[0])
    assert 72 < rate < 78 and rate == pytest.approx(1.008e12 / (2 * 6.61e9), rel=0.02)


def test_batch_moves_the_weight_products_and_leaves_attention(llama: Film) -> None:
    x = llama.grid.intensities
    for kind in ("mlp", "qkvo", "head"):
        assert x[kind][0] == pytest.approx(1, rel=0.01)  # bf16: 2 FLOP over 2 bytes
        assert x[kind][5] / x[kind][0] == pytest.approx(8, rel=0.03)
    attention = x["attention"].reshape(3, 2, B, -1)[0, 0]
    assert np.allclose(attention[:, 10:], attention[0, 10], rtol=0.01)
    assert attention[0, -1] == pytest.approx(1, rel=0.03)


def test_dots_lie_where_the_axes_put_their_intensity(llama: Film) -> None:
    data, _ = spots(llama)
    placed = {kind["name"]: floats(kind["x"]) for kind in (*data["kinds"], data["prefill"])}
    for name, xs in placed.items():
        wanted = [llama.frame.x(value) for value in llama.grid.intensities[name]]
        assert np.allclose(xs, wanted, atol=0.01)
        assert data["frame"]["x0"] <= min(wanted) and max(wanted) <= data["frame"]["x1"]


def test_the_crossing_is_where_attention_takes_as_long_as_all_the_rest(llama: Film) -> None:
    data, machines = spots(llama)
    said = words(data, machines[H100]["crossing"], 0)
    context = int(re.sub(r"\D", "", said))

    def share(tokens: int) -> float:
        parts = {
            p.name: p.seconds for p in rl.model("llama-2-7b").decode(1, tokens).time(H100).parts
        }
        return parts["attention"] / sum(parts.values())

    assert share(context) == pytest.approx(0.5, abs=0.005)
    assert share(CONTEXTS[-1]) > 0.5 > share(CONTEXTS[0])
    assert said in llama.sentence


@given(st.floats(1e-6, 1), st.floats(0.001, 1000))
def test_a_crossing_of_straight_lines_is_exact(slope: float, ratio: float) -> None:
    times, rest = slope * np.array(CONTEXTS), slope * CONTEXTS[3] * ratio
    found = film_tables.crossing(CONTEXTS, times, rest)
    if rest <= times[0]:
        assert found == 0
    elif rest > times[-1]:
        assert found is None
    else:
        assert found * slope == pytest.approx(rest)


def test_it_says_what_does_not_fit_and_what_was_never_trained() -> None:
    big = film("llama-2-70b", H100, context=6144)
    assert re.search("It does not fit: it needs 1[34][0-9] GB", big.sentence)
    assert "trained on contexts up to 4096" in big.sentence
    small = film("llama-2-7b", H100)
    assert "does not fit" not in small.sentence and "trained" not in small.sentence


@pytest.mark.parametrize("name", ["mixtral-8x7b", "gemma-2-9b", "gpt2", "deepseek-v3"])
def test_every_model_of_the_catalogue_has_a_film(name: str) -> None:
    shown = film(name, H100)
    assert shown.sentence.startswith("A batch of 1 at context 1024")
    step, now = rl.model(name).decode(1, 1024), shown.now
    assert sum(seconds for _, seconds, _ in now.kinds()) == pytest.approx(step.seconds(H100))


def test_a_computer_without_bf16_gets_fp32_and_is_shown_in_it() -> None:
    shown = film(SMALL, HERE)
    assert (shown.view.weights, shown.view.kv) == ("fp32", "fp32")
    assert "measured on 2026-11-21" in shown.sentence or "recording of 2026-11-21" in shown.sentence
    assert shown.view.data["machines"][0]["no"]["bf16"] == "no bf16 figure"


def test_what_was_measured_hangs_below_its_roof_and_is_said() -> None:
    runs = [run(1), run(8), run(5)]
    shown = film(SMALL, HERE, decode_run=runs, batch=8, context=256)
    (one,) = shown.now.timed
    roof = shown.now.roof
    assert 1 / SHARE * 0.9 < one.seconds / shown.now.decode.seconds(HERE) < 1 / SHARE * 1.4
    for x, rate in one.dots.values():
        assert rate == pytest.approx(SHARE * roof.attainable(x), rel=0.02)
    assert "Measured at context 257" in shown.sentence and rl.si(one.seconds, "s") in shown.sentence
    placed = shown.view.data["machines"][0]["runs"]
    assert [entry["i"] for entry in placed] == [0, BATCHES.index(8), -1]
    assert len(film(SMALL, HERE, decode_run=runs[0]).view.data["machines"][0]["runs"]) == 1


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"after": 3}, "after=3 is no guess axis"),
        ({"weights": ()}, "weights=() is empty"),
        ({"batch": 0}, "batch=0"),
        ({"context": -1}, "context=-1"),
        ({"decode_run": 3}, "decode_run=3 is no DecodeRun"),
        ({"decode_run": run(1)}, "give machine=rl.this_machine()"),
        ({"decode_run": run(1), "model": "gpt2"}, "it ran small, and the film is of gpt2"),
        ({"kv": "fp33"}, "kv='fp33' is unknown"),
    ],
)
def test_bad_input_is_named(arguments: dict, said: str) -> None:
    with pytest.raises((TypeError, ValueError), match=re.escape(said)):
        film(**{"model": SMALL, "machines": H100, **arguments})


def test_an_unknown_model_and_one_that_is_none() -> None:
    with pytest.raises(ValueError, match="llama"):
        film("llama-2-7")
    with pytest.raises(TypeError, match="model=7"):
        film(7)


def test_the_picture_is_the_same_every_time_and_says_its_words(llama: Film) -> None:
    bundle, told = llama._repr_mimebundle_()
    assert bundle["text/plain"] == llama.sentence == told["image/png"]["alt"]
    assert llama.still() == llama.still() and llama.still().startswith(b"\x89PNG")


def test_covered_it_shows_nothing_and_keeps_the_picture_for_a_lecture() -> None:
    asked = guess("film", "How many?", result=240, unit="tokens/s", low=1, high=10_000)
    shown = film(SMALL, H100, after=asked)
    bundle, told = shown._repr_mimebundle_()
    assert "tokens/s" not in bundle["text/plain"] and "Covered" in bundle["text/plain"]
    assert "tokens/s" in told["rooflab"]["under"]["alt"]


def test_the_state_stays_small() -> None:
    """With the machines that are offered by default; a megabyte is the limit."""

    def weight(value: object) -> int:
        if isinstance(value, dict):
            return sum(weight(key) + weight(entry) for key, entry in value.items())
        if isinstance(value, (list, tuple)):
            return sum(weight(entry) for entry in value)
        return len(value) * 4 / 3 if isinstance(value, bytes) else len(str(value))

    assert weight(film("llama-2-7b").view.data) < 1_000_000


@pytest.mark.parametrize(
    ("value", "said"), [(38, "38.0"), (0.25, "0.25"), (243.4, "243"), (5136.0, "5,140")]
)
def test_a_rate_has_three_digits(value: float, said: str) -> None:
    assert film_words.rate(value) == f"{said} tokens/s"
