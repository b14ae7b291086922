"""What the decode loop, its runs and its predictions refuse, and how they say so."""

from __future__ import annotations

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


@pytest.fixture(scope="module")
def plain() -> dict:
    return decode_loop(SMALL, 3, 5, 4, **CPU).to_dict()


@each_row(
    ({"dtype": ["fp32"]}, TypeError, r"dtype=\['fp32'\] is a list"),
    ({"dtype": "fp33"}, ValueError, "dtype='fp33' is unknown"),
    ({"forms": ["gemm"]}, ValueError, r"forms=\['gemm'\] is unknown"),
    ({"batch": True}, TypeError, "batch=True is a bool"),
    ({"steps": 2.0}, TypeError, "steps=2.0 is a float"), ({"threads": 0}, ValueError, "threads=0"),
    ({"weights": {}}, TypeError, "weights=dict must be what loop_weights"),
    ({"batch": 0}, ValueError, "batch=0"), ({"context": -1}, ValueError, "context=-1"),
    ({"steps": 0}, ValueError, "steps=0"), ({"dtype": "bf16"}, ValueError, "dtype='bf16'"),
    ({"forms": "gem"}, ValueError, "did you mean 'gemm'"),
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


def test_every_entry_of_a_run_is_needed(plain):
    for name in plain:
        with pytest.raises(ValueError, match=f"^data: .*{name}"):
            DecodeRun.from_dict({key: value for key, value in plain.items() if key != name})


def test_the_forms_are_told_by_how_many_products_they_serve(plain):
    names = [p.name for p in SMALL.products]
    forms = dict(zip(names, ["gemv ×B", "gemm", "gemm", *["gemm on Wᵀ"] * 4, "gemv ×B"]))
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
    ({"efficiency": {"schema": 2, "rows": []}}, ValueError, "efficiency: it is damaged or of"),
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


def test_a_loop_model_has_a_name():
    for wrong, said in ((["small"], r"which=\['small'\] is unknown"), ("smal", "'small'")):
        with pytest.raises(ValueError, match=said):
            rl.loop_model(wrong)
