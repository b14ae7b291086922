"""The operations of decode, prefill and training: published shapes, exact ledgers, experts."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rooflab as rl
from rooflab.labs.llm.steps import distinct
from tests.support.rows import each_row

LLAMA = rl.model("llama-2-7b")


def step(w, name):
    return next(s for s in w.steps if s.name == name)


def products(w):
    return [s for s in w.steps if "weights" in s.roles and s.op.unit == "tensor"]


@each_row(
    (1, 9.018e7, 9.021e7, 1.000), (8, 7.214e8, 9.042e7, 7.979), (64, 5.771e9, 9.211e7, 62.66),
    (256, 2.309e10, 9.791e7, 235.8), (269, 2.426e10, 9.830e7, 246.8),
)  # fmt: skip
def test_up_projection_of_a_decode_step(batch, flops, nbytes, intensity):
    op = step(LLAMA.decode(batch, 512, weights="fp16"), "up").op
    assert op.dims == {"m": batch, "n": 11008, "k": 4096}
    assert op.flops == pytest.approx(flops, rel=5e-4)
    assert op.bytes == pytest.approx(nbytes, rel=5e-4)
    assert op.intensity == pytest.approx(intensity, rel=5e-4)


@each_row((1, 1215), (8, 2525))
def test_up_projection_of_a_prefill(batch, intensity):
    op = step(LLAMA.prefill(batch, 2048, weights="fp16"), "up").op
    assert op.dims["m"] == batch * 2048
    assert op.intensity == pytest.approx(intensity, rel=1e-3)
    assert op.bytes == rl.gemm(batch * 2048, 11008, 4096, "fp16").bytes


def test_gpt2_at_full_context_has_the_published_flops():
    """2·123,532,032 in the matrices, head included, plus 4·1024·768·12 in attention."""
    w = rl.model("gpt2").decode(1, 1024)
    biases = 12 * (4 * 768 + 3072 + 768)
    counted = sum(s.count * s.op.flops for s in products(w)) - biases
    attention = step(w, "attention").whole.flops
    assert counted == 2 * 123_532_032
    assert counted + attention == 284_812_800


def test_every_weight_is_read_once_a_step_but_the_table():
    w = LLAMA.decode(1, 512)
    table = 2 * 32_000 * 4096
    assert w.traffic["weights"] == LLAMA.weight_bytes() - table + 2 * 4096
    tied = rl.model("gemma-7b")  # its table is the head, which is read in full
    read = tied.decode(1, 512).traffic["weights"]
    assert read == tied.weight_bytes() + 2 * 3072


@each_row(*rl.models())
@each_row("streamed", "materialised")
def test_operations_add_up_to_the_step(attention, name):
    m = rl.model(name)
    for w in (
        m.decode(3, 70, attention=attention),
        m.prefill(2, 50, attention=attention),
        m.train_step(2, 50, attention=attention),
        m.decode(3, 70, "nvfp4", "nvfp4", attention=attention),  # 4 bytes more a tensor
        m.prefill(2, 50, "q4_k", "mxfp8", attention=attention),
    ):
        assert sum(op.flops for op in w.operations) == w.flops
        assert sum(op.bytes for op in w.operations) == w.bytes
        assert len({op.name for op in w.operations}) == len(w.operations)
        assert sum(op.batch for op in w.operations) == w.launches


def test_materialised_scores_are_traffic_of_their_own():
    streamed, stored = LLAMA.prefill(1, 2048), LLAMA.prefill(1, 2048, attention="materialised")
    extra = stored.bytes - streamed.bytes
    assert extra == 32 * 4 * 32 * 2048**2 * 2  # written, read, rewritten, read
    assert {"scores", "softmax", "values"} <= {s.name for s in stored.steps}
    assert "attention" not in {s.name for s in stored.steps}


@each_row(
    ("bf16", "bf16", "bf16"), ("fp16", "fp16", "fp16"), ("fp32", "fp32", "fp32"),
    ("int8", "bf16", "bf16"), ("int4", "bf16", "bf16"), ("fp8", "bf16", "bf16"),
    ("fp64", "bf16", "fp64"), ("mxfp4", "bf16", "bf16"),
)  # fmt: skip
def test_activations_follow_the_weights_where_they_are_wide_floats(weights, activations, computed):
    w = LLAMA.decode(1, 5, weights=weights)
    assert w.formats.activations == activations
    assert step(w, "up").op.compute_dtype == computed


def test_stated_activations_are_used():
    w = LLAMA.decode(1, 5, weights="int8", activations="int8")
    assert step(w, "up").op.compute_dtype == "int8"
    assert step(w, "norm").op.compute_dtype == "fp32"


@given(st.integers(1, 200))
@settings(max_examples=30)
def test_experts_touched_grow_with_the_batch_and_never_pass_all(tokens):
    now, next_ = distinct(8, 2, tokens), distinct(8, 2, tokens + 1)
    assert min(2 * tokens, 8) >= now - 1e-9
    assert now <= next_ <= 8


def test_a_mixture_reads_the_experts_that_it_touches():
    m = rl.model("mixtral-8x7b")
    one, many = m.decode(1, 9), m.decode(512, 9)
    table = 32_000 * 4096
    read = 2 * (m.active_parameters - table + 4096)
    assert one.traffic["weights"] == read
    assert many.traffic["weights"] == pytest.approx(2 * (m.parameters - table), rel=1e-3)
    up = step(many, "up").op
    assert up.flops == 512 * 2 * 2 * 4096 * 14336  # two experts a token, however many are read


def test_layers_of_two_kinds_are_listed_apart():
    w = rl.model("gemma-2-9b").decode(1, 8192)
    whole, local = step(w, "attention"), step(w, "local attention")
    assert (whole.count, local.count) == (21, 21)
    assert whole.op.flops == 2 * local.op.flops
    dense = rl.model("deepseek-v3").decode(1, 10)
    assert (step(dense, "dense up").count, step(dense, "up").count) == (3, 58)


def test_absorbed_latent_attention_multiplies_as_often_as_the_matrix_it_replaces():
    w = rl.model("deepseek-v3").decode(4, 10)
    both = step(w, "absorb k").op.flops + step(w, "absorb v").op.flops
    assert both == 4 * 2 * 512 * 128 * (128 + 128)
    assert "kv_b" not in {s.name for s in w.steps}
    assert "kv_b" in {s.name for s in rl.model("deepseek-v3").prefill(1, 10).steps}


def test_training_is_six_flop_a_parameter_and_token():
    w = LLAMA.train_step(2, 512)
    matrices = sum(p.parameters for p in LLAMA.products)
    weighed = sum(s.count * s.op.flops for s in products(w))
    dw = sum(s.count * s.op.flops for s in w.steps if s.name.endswith(" dW"))
    dx = sum(s.count * s.op.flops for s in w.steps if s.name.endswith(" dX"))
    assert dw == dx == 2 * matrices * 1024
    assert weighed == 3 * dw
    assert w.traffic["kv"] == 0


def test_backward_of_attention():
    fused = LLAMA.train_step(1, 256)
    assert step(fused, "attention back").op.flops == 2.5 * step(fused, "attention").op.flops
    plain = LLAMA.train_step(1, 256, attention="materialised")
    for name in ("scores", "values"):
        assert step(plain, f"{name} back").op.flops == 2 * step(plain, name).op.flops


def test_gradients_of_weights_are_written_once():
    w = LLAMA.train_step(1, 64)
    written = sum(
        s.count * o.bytes
        for s in w.steps
        for o, role in zip(s.op.operands, s.roles, strict=True)
        if o.writes and role == "weights"
    )
    table = LLAMA.weight_bytes() - 2 * (LLAMA.vocab - 64) * LLAMA.hidden
    assert written == table  # of the embedding table only the rows of its 64 tokens


@each_row("decode", "prefill", "train_step")
@each_row((0, 1), (1, 0), (-1, 4))
def test_sizes_must_be_positive(batch, tokens, phase):
    with pytest.raises(ValueError, match="must be a positive integer"):
        getattr(LLAMA, phase)(batch, tokens)


@each_row(
    ({"weights": "int5"}, "weights='int5' is unknown; did you mean 'int8'"),
    ({"kv": "bf15"}, "kv='bf15' is unknown"),
    ({"activations": "fp99"}, "activations='fp99' is unknown"),
    ({"attention": "flash"}, "attention='flash' is unknown; Known: streamed, materialised"),
)
def test_unknown_choices_are_told(wrong, said):
    with pytest.raises(ValueError, match=said):
        LLAMA.decode(1, 1, **wrong)


def test_all_sequences_read_the_same_rows_of_learned_positions():
    m = rl.model("gpt2")

    def rows(w):
        return next(o for o in step(w, "embed").op.operands if o.name == "positions").elements / 768

    assert rows(m.decode(1, 100)) == rows(m.decode(64, 100)) == 1
    assert rows(m.prefill(1, 100)) == rows(m.train_step(64, 100)) == 100
    assert rows(m.prefill(2, 5000)) == 1024  # there are no more
