"""What the decode loop, its runs and its predictions refuse, and how they say so."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import rooflab as rl
from rooflab.labs.llm import decode_loop as decode
from rooflab.labs.llm.decode_loop import DecodeRun, decode_loop, loop_weights
from rooflab.labs.llm.decode_prediction import predict_decode
from rooflab.labs.llm.transformer import FORMS, last_cache_bytes, last_level_bytes
from rooflab.measure.backend import Backend
from rooflab.measure.operands import OperandsTooLarge
from tests.labs.llm.support.plain_transformer import SMALL
from tests.labs.llm.test_decode_prediction import HERE, habits
from tests.support.rows import each_row

pytestmark = pytest.mark.usefixtures("quick")
CPU = {"backend": "cpu", "threads": 1}
GEMM = dict.fromkeys([p.name for p in SMALL.products], "gemm")


@pytest.fixture(scope="module")
def plain() -> dict:
    return decode_loop(SMALL, 3, 5, 4, **CPU).to_dict()


@each_row(
    ({"dtype": ["fp32"]}, TypeError, r"dtype=\['fp32'\] is a list"),
    ({"dtype": "fp33"}, ValueError, "dtype='fp33' is unknown"),
    ({"forms": 5}, TypeError, "forms=5 must be a form's name"),
    ({"forms": ["gemm"]}, TypeError, r"forms=\['gemm'\] must be"),
    ({"forms": {**GEMM, "gat": "gemm"}}, ValueError, "forms='gat' is unknown.*'gate'"),
    ({"prompts": [[1, 2], [3]]}, ValueError, r"prompts is no array .*\(3, 4\) or \(1, 4\)"),
    ({"batch": True}, TypeError, "batch=True is a bool"),
    ({"steps": 2.0}, TypeError, "steps=2.0 is a float"), ({"threads": 0}, ValueError, "threads=0"),
    ({"weights": {}}, ValueError, "weights: 'down' is missing"),
    ({"forms": {**GEMM, "q": ["gemm"]}}, ValueError, r"forms=\['gemm'\] is unknown"),
    ({"seed": "one"}, TypeError, "seed='one' is a str"),
    ({"seed": -1}, ValueError, "seed=-1 must be an integer, 0 or more"),
    ({"before": 3}, TypeError, "before=3 must be a function without arguments"),
    ({"batch": 0}, ValueError, "batch=0"), ({"context": -1}, ValueError, "context=-1"),
    ({"steps": 0}, ValueError, "steps=0"), ({"dtype": "bf16"}, ValueError, "dtype='bf16'"),
    ({"forms": "gem"}, ValueError, "did you mean 'gemm'"),
    ({"forms": {"q": "gemm"}}, ValueError, "'k' is missing"),
    ({"prompts": np.zeros((2, 9), int)}, ValueError, r"\(3, 4\) or \(1, 4\)"),
    ({"prompts": np.full((1, 4), 50)}, ValueError, "0 … 49"),
    ({"prompts": np.zeros((1, 4))}, ValueError, "integers"),
)  # fmt: skip
def test_bad_input_is_named(arguments, error, said):
    with pytest.raises(error, match=said):
        decode_loop(SMALL, **{"batch": 3, "context": 4, "steps": 2, **CPU, **arguments})


@each_row("batch", "context", "steps")
def test_no_size_is_too_large_to_be_refused_before_anything_is_made(argument, monkeypatch):
    monkeypatch.setattr(decode.np.random, "default_rng", lambda *_: pytest.fail("drawn"))
    with pytest.raises(OperandsTooLarge, match="are free"):
        decode_loop(SMALL, **{"batch": 1, "context": 4, "steps": 2, **CPU, argument: 10**11})


@each_row("float64", np.float64, rl.dtype("fp64"))
def test_a_dtype_may_be_called_what_it_is_called_elsewhere(name):
    held = loop_weights(SMALL, name, "cpu")
    found = decode_loop(SMALL, 1, 4, 2, weights=held, dtype=name, **CPU)
    assert found.dtype == "fp64" and type(found.dtype) is str
    assert DecodeRun.from_dict(found.to_dict()).tokens == found.tokens


def test_positions_beyond_the_training_are_said_and_run():
    short = replace(SMALL, context=5)
    assert not any("training" in w for w in decode_loop(short, 1, 4, 1, **CPU).warnings)
    told = decode_loop(short, 1, 4, 2, **CPU).warnings
    assert "context + steps = 6 is beyond the 5 tokens of its training" in told


@each_row(
    {"batch": 0}, {"batch": "3"}, {"context": 0}, {"steps": 5}, {"sequences": 2},
    {"threads": 0}, {"dtype": "fp33"}, {"backend": "tpu"}, {"machine": 4}, {"tokens": [[1]]},
    {"prefill": {}}, {"prefill": {"q": [float("inf")]}}, {"decode": {"q": [float("nan")] * 4}},
    {"forms": 3}, {"environment": 3}, {"warnings": None}, {"decode": {}}, {"model": {}},
    {"decode": {"q": [-1.0]}}, {"tokens": 3},
)  # fmt: skip
def test_a_run_that_cannot_be_is_refused(damage, plain):
    with pytest.raises(ValueError, match=r"^data: damaged, "):
        DecodeRun.from_dict({**plain, **damage})


def test_every_entry_of_a_run_is_needed(plain):
    for name in plain:
        with pytest.raises(ValueError, match="^data: "):
            DecodeRun.from_dict({key: value for key, value in plain.items() if key != name})
    with pytest.raises(ValueError, match=r"schema=\[1\]"):
        DecodeRun.from_dict([1])


def test_the_forms_are_told_by_how_many_products_they_serve(plain):
    forms = dict(zip(GEMM, ["gemv ×B", "gemm", "gemm", *["gemm on Wᵀ"] * 4, "gemv ×B"]))
    assert set(forms.values()) < set(FORMS)
    found = DecodeRun.from_dict({**plain, "forms": forms})
    assert found.ways == ("gemm on Wᵀ", "gemv ×B", "gemm"), "of two alike, that of the first one"
    assert "products as gemm on Wᵀ, gemv ×B, gemm ·" in repr(found)


@each_row(
    ({"model": "small"}, TypeError, "model='small' is a str"),
    ({"model": rl.model("mixtral-8x7b")}, ValueError, "mixtral-8x7b has experts=8"),
    ({"batch": 0}, ValueError, "batch=0"),
    ({"context": 0}, ValueError, "context=0"),
    ({"phase": "train"}, ValueError, "phase='train' is unknown"),
    ({"machine": "h100-sxm"}, TypeError, "machine='h100-sxm' must be a Machine"),
    ({"dtype": "fp64"}, ValueError, "efficiency: it was measured in fp32, not in fp64"),
    ({"dtype": "fp33"}, ValueError, "dtype='fp33' is unknown"),
    ({"efficiency": {}}, ValueError, "efficiency: it is of another version"),
    ({"efficiency": {"schema": 2, "rows": []}}, ValueError, "efficiency: it is damaged"),
    ({"efficiency": {**habits(), "layers": 0}}, ValueError, "efficiency: it is damaged"),
)
def test_what_cannot_be_predicted_is_named(arguments, error, said):
    given = {"model": SMALL, "machine": HERE, "efficiency": habits(), **arguments}
    with pytest.raises(error, match=said):
        predict_decode(**given)


def test_the_last_cache_is_that_of_the_backend(fake):
    assert last_cache_bytes(Backend("gpu", fake, "a test")) == 1 << 20
    assert last_cache_bytes(Backend("cpu", np, "a test")) == last_level_bytes()


def test_a_phase_that_no_run_has_is_named(plain):
    found = DecodeRun.from_dict(plain)
    for ask in (found.ledger, found.measurements, lambda phase: found.samples("q", phase)):
        with pytest.raises(ValueError, match="phase='prefil' is unknown; did you mean 'prefill'"):
            ask("prefil")


def test_a_loop_model_has_a_name_and_whole_bytes():
    for wrong, said in ((["small"], r"which=\['small'\] is unknown"), ("smal", "'small'")):
        with pytest.raises(ValueError, match=said):
            rl.loop_model(wrong)
    with pytest.raises(ValueError, match="itemsize=0 must be a positive integer"):
        rl.loop_model("small", 0)
    with pytest.raises(ValueError, match="seed=-3"):
        loop_weights(SMALL, "fp32", "cpu", seed=-3)
