"""Attention: published traffic and FLOPs, what sharing heads does, and the laws of a ledger."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

import rooflab as rl
from rooflab.count.attention import materialised, pairs
from tests.support.rows import each_row

sizes = st.integers(1, 40)


@each_row((1024, 64, 8_912_896, 524_288), (4096, 64, 136_314_880, 2_097_152))
def test_flash_attention_traffic_of_one_head_in_fp16(length, width, unfused, streamed):
    """s(4Sd + 4S²) unfused against s·4Sd: 17 times and 65 times as much."""
    plain = rl.attention(1, length, length, 1, head_dim=width, dtype="fp16", streamed=False)
    fused = rl.attention(1, length, length, 1, head_dim=width, dtype="fp16", causal=False)
    assert (plain.bytes, fused.bytes) == (unfused, streamed)
    assert plain.flops == fused.flops == 4 * length * length * width


def test_intensities_of_attention_over_1024_positions():
    fused = rl.attention(1, 1024, 1024, 1, head_dim=64, dtype="fp16", causal=False)
    plain = rl.attention(1, 1024, 1024, 1, head_dim=64, dtype="fp16", streamed=False)
    assert fused.intensity == pytest.approx(512)
    assert plain.intensity == pytest.approx(30.1, abs=0.05)


@each_row(1, 8, 64)
@each_row(1, 4, 8, 32)
def test_decode_attention_has_the_intensity_of_its_group(group, batch):
    """One for multi-head attention at every batch and context; g heads a KV head raise it to g."""
    op = rl.attention(batch, 1, 100_000, 32, 32 // group, append=True)
    assert op.intensity == pytest.approx(group, rel=1e-3)


def test_eight_bit_cache_doubles_the_intensity_of_decode_attention():
    sixteen, eight = (rl.attention(1, 1, 100_000, 32, 8, kv=kv) for kv in ("bf16", "int8"))
    assert eight.intensity / sixteen.intensity == pytest.approx(2, rel=1e-3)
    assert eight.compute_dtype == "bf16"


@given(sizes, sizes, st.integers(1, 4), st.integers(1, 4), st.integers(1, 16))
def test_three_operations_make_up_the_materialised_one(batch, length, group, kv_heads, width):
    whole = rl.attention(
        batch, length, length + 3, group * kv_heads, kv_heads, width, streamed=False, append=True
    )
    parts = materialised(batch, length, length + 3, group * kv_heads, kv_heads, width, append=True)
    assert sum(op.bytes for op in parts) == whole.bytes
    assert parts[0].flops + parts[2].flops == whole.flops
    assert [op.name for op in parts] == ["scores", "softmax", "values"]


@given(sizes, sizes, st.integers(1, 50))
def test_pairs_are_those_of_a_mask_drawn_out(queries, older, window):
    context = queries + older
    mask = [
        [j <= older + i and j > older + i - window for j in range(context)] for i in range(queries)
    ]
    assert pairs(queries, context, causal=True, window=window) == sum(map(sum, mask))
    everything = sum(older + i + 1 for i in range(queries))
    assert pairs(queries, context, causal=True) == everything
    assert pairs(queries, context, causal=False) == queries * context


@given(sizes, sizes, sizes, st.sampled_from(["bf16", "int8", "int4"]))
def test_appending_moves_exactly_the_cache(batch, queries, older, kv):
    op = rl.attention(batch, queries, queries + older, 4, 2, 16, kv=kv, append=True)
    cached = sum(o.bytes for o in op.operands if o.name in ("k", "v", "k cache", "v cache"))
    bits = {"bf16": 16, "int8": 8, "int4": 4}[kv]
    assert cached == 2 * batch * 2 * (queries + older) * 16 * bits // 8


@given(sizes, sizes, st.integers(1, 60))
def test_a_window_bounds_flops_and_traffic(queries, older, window):
    context = queries + older
    whole = rl.attention(2, queries, context, 4, append=True)
    local = rl.attention(2, queries, context, 4, append=True, window=window)
    assert local.flops <= whole.flops
    assert local.bytes <= whole.bytes
    wide = rl.attention(2, queries, context, 4, append=True, window=context)
    assert (wide.flops, wide.bytes) == (whole.flops, whole.bytes)


def test_a_prefill_is_half_as_many_pairs_as_a_square():
    masked = rl.attention(1, 4096, 4096, 32)
    full = rl.attention(1, 4096, 4096, 32, causal=False)
    assert masked.flops / full.flops == pytest.approx(0.5, rel=1e-3)
    assert masked.bytes == full.bytes


def test_latent_attention_reads_one_vector_a_position():
    op = rl.attention(1, 1, 1001, 128, 1, 576, append=True, value_dim=512, latent=True)
    assert {o.name for o in op.operands} == {"q", "k", "new k", "k cache", "out"}
    assert op.operands[1].bytes == 1000 * 576 * 2
    assert op.flops == 2 * 128 * 1001 * (576 + 512)
    assert op.intensity > 150  # all heads share it: no longer the memory's affair


def test_cross_attention_sees_another_sequence():
    """4096 pixels look at 77 words, as in a diffusion model; counted by hand."""
    op = rl.attention(2, 4096, 77, 8, head_dim=40, dtype="fp16", causal=False)
    assert (op.flops, op.bytes) == (807_403_520, 10_682_880)


@each_row(
    ({"kv_heads": 3}, "kv_heads=3 must divide heads=8; 2 would"),
    ({"kv_heads": 16}, "kv_heads=16 must be at most heads=8"),
    ({"queries": 9, "context": 8}, "context=8 must be at least queries=9"),
    ({"batch": 0}, "batch=0 must be a positive integer"),
    ({"window": 0}, "window=0 must be a positive integer"),
    ({"dtype": "bf17"}, "did you mean 'bf16'"),
    ({"kv": "int9"}, "kv='int9' is unknown"),
)
def test_bad_input_is_told(wrong, said):
    right = {"batch": 1, "queries": 1, "context": 8, "heads": 8}
    with pytest.raises(ValueError, match=said):
        rl.attention(**{**right, **wrong})


def test_flags_must_be_flags():
    with pytest.raises(TypeError, match="append=1 must be True or False"):
        rl.attention(1, 1, 8, 8, append=1)
    with pytest.raises(TypeError, match="streamed='no' must be True or False"):
        rl.attention(1, 1, 8, 8, causal=False, streamed="no")


@given(sizes, st.integers(0, 60), st.integers(1, 50), st.booleans())
def test_stored_scores_are_those_of_the_keys_that_are_read(queries, older, window, append):
    how = {"window": window, "append": append}
    ops = materialised(2, queries, queries + older, 8, 4, 16, **how)
    keys = [o for o in ops[0].operands if o.name in ("k", "new k")]
    read = sum(o.shape[2] for o in keys)
    assert ops[0].operands[-1].shape == (2, 8, queries, read)
    assert ops[0].flops == ops[2].flops == 2 * 2 * 8 * queries * read * 16
    whole = rl.attention(2, queries, queries + older, 8, 4, 16, streamed=False, **how)
    assert (whole.flops, whole.bytes) == (2 * ops[0].flops, sum(op.bytes for op in ops))


def test_one_query_with_a_window_does_what_one_with_so_short_a_past_does():
    far = materialised(3, 1, 8192, 32, 8, 128, append=True, window=4096)
    near = materialised(3, 1, 4096, 32, 8, 128, append=True)
    assert [(op.flops, op.bytes) for op in far] == [(op.flops, op.bytes) for op in near]
    streamed = rl.attention(3, 1, 8192, 32, 8, 128, append=True, window=4096)
    assert streamed.flops == far[0].flops + far[2].flops
