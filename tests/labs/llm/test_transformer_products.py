"""Every form of a linear layer is the same product, in place, on the memory it is given."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rooflab.labs.llm import transformer as room
from rooflab.labs.llm.transformer import FORMS, bind, by_columns, relaid, viewed
from rooflab.measure.backend import select
from tests.support.rows import each_row

CPU = select("cpu")
SIZES = st.integers(1, 9)
NUMPY = {"fp32": np.float32, "fp64": np.float64}


def layer(rows, outputs, inputs, kind):
    rng = np.random.default_rng([rows, outputs, inputs])
    make = [rng.normal(size=shape).astype(kind) for shape in ((rows, inputs), (outputs, inputs))]
    return (*make, np.full((rows, outputs), np.nan, kind))


@settings(deadline=None)
@given(SIZES, SIZES, SIZES, st.sampled_from([*FORMS]), st.sampled_from([*NUMPY]))
def test_every_form_is_x_times_w_transposed(rows, outputs, inputs, form, kind):
    x, weight, y = layer(rows, outputs, inputs, NUMPY[kind])
    stored = relaid(weight.copy(), by_columns(FORMS[form], CPU), np)
    bind(FORMS[form], stored, x, y, CPU)()
    np.testing.assert_allclose(y, x @ weight.T, atol=1e-5 if kind == "fp32" else 1e-12)


@each_row(*FORMS)
def test_a_bound_call_reads_what_is_there_when_it_runs(form):
    x, weight, y = layer(3, 5, 4, np.float32)
    stored = relaid(weight.copy(), by_columns(FORMS[form], CPU), np)
    call = bind(FORMS[form], stored, x, y, CPU)
    for factor in (1, 2, -3):  # the loop fills the same buffers at every step
        x[...] = factor
        call()
        np.testing.assert_allclose(y, factor * weight.sum(1)[None].repeat(3, 0), rtol=1e-5)


@each_row(*FORMS)
def test_no_form_copies_its_weights(form, monkeypatch):
    """scipy copies arrays of the wrong order silently; the copy would be what is timed."""
    x, weight, y = layer(2, 300, 200, np.float32)
    stored = relaid(weight.copy(), by_columns(FORMS[form], CPU), np)
    call = bind(FORMS[form], stored, x, y, CPU)
    calls = getattr(call, "__closure__", None)
    parts = calls[0].cell_contents if calls else [call]
    for part in parts:
        matrix = part.args[1]
        assert matrix.flags.f_contiguous and np.may_share_memory(matrix, stored)


def test_gemv_is_one_call_a_token_and_gemm_one_for_all():
    x, weight, y = layer(4, 6, 5, np.float32)
    gemv = bind(FORMS["gemv ×B"], relaid(weight.copy(), True, np), x, y, CPU)
    gemm = bind(FORMS["gemm"], relaid(weight.copy(), True, np), x, y, CPU)
    assert len(gemv.__closure__[0].cell_contents) == 4
    assert gemm.args[4].shape == (6, 4)


def test_a_view_shares_its_memory_whatever_its_order():
    flat = np.arange(12.0)
    for columns in (True, False):
        found = viewed(flat, (3, 4), columns)
        assert found.shape == (3, 4) and np.shares_memory(found, flat)
        assert found.flags.f_contiguous == columns


def test_halves_are_rounded_on_the_way_in_and_summed_wide(fake):
    gpu = select("gpu")
    x, weight, _ = layer(3, 5, 4, np.float32)
    half, there = gpu.xp.asarray(weight.astype(np.float16)), gpu.xp.asarray(x)
    for form in FORMS.values():
        y = gpu.xp.zeros((3, len(weight)), dtype=np.float32)
        bind(form, half, there, y, gpu)()
        assert y.dtype == np.float32
        np.testing.assert_allclose(gpu.to_numpy(y), x @ weight.T, atol=5e-3)


def test_dtypes_are_those_of_the_backends(fake):
    assert room.array_dtype("fp64", CPU) == np.float64
    assert room.array_dtype("bf16", select("gpu")).name == "bfloat16"
    with pytest.raises(ValueError, match="dtype='int8': the loop runs in fp32, fp64, fp16, bf16"):
        room.array_dtype("int8", select("gpu"))
