"""The operations of decode and prefill: published shapes, exact ledgers, experts."""

from __future__ import annotations

import pytest

import rooflab as rl
from tests.support.rows import each_row

LLAMA = rl.model("llama-2-7b")


def step(w, name):
    return next(s for s in w.steps if s.name == name)


def products(w):
    return [s for s in w.steps if "weights" in s.roles and s.op.unit == "tensor"]


@each_row((1, 9.018e7, 9.021e7, 1.000), (256, 2.309e10, 9.791e7, 235.8))
def test_up_projection_of_a_decode_step(batch, flops, nbytes, intensity):
    op = step(LLAMA.decode(batch, 512, weights="fp16"), "up").op
    assert op.dims == {"m": batch, "n": 11008, "k": 4096}
    assert op.flops == pytest.approx(flops, rel=5e-4)
    assert op.bytes == pytest.approx(nbytes, rel=5e-4)
    assert op.intensity == pytest.approx(intensity, rel=5e-4)


def test_gpt2_at_full_context_has_the_published_flops():
    """2·123,532,032 in the matrices, head included, plus 4·1024·768·12 in attention."""
    w = rl.model("gpt2").decode(1, 1024)
    biases = 12 * (4 * 768 + 3072 + 768)
    counted = sum(s.count * s.op.flops for s in products(w)) - biases
    attention = step(w, "attention").whole.flops
    assert counted == 2 * 123_532_032
    assert counted + attention == 284_812_800


@each_row(*rl.models())
@each_row("streamed", "materialised")
def test_operations_add_up_to_the_step(attention, name):
    m = rl.model(name)
    for w in (
        m.decode(3, 70, attention=attention),
        m.prefill(2, 50, attention=attention),
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


@each_row("decode", "prefill")
@each_row((0, 1), (1, 0), (-1, 4))
def test_sizes_must_be_positive(batch, tokens, phase):
    with pytest.raises(ValueError, match="must be a positive integer"):
        getattr(LLAMA, phase)(batch, tokens)


@each_row(
    ({"weights": "int5"}, "weights='int5' is unknown; did you mean 'int8'"),
    ({"kv": "bf15"}, "kv='bf15' is unknown"),
    ({"activations": "fp99"}, "activations='fp99' is unknown"),
    ({"quant": "w8a9"}, "quant='w8a9' is unknown; did you mean 'w8a8'"),
    ({"quant": "w8a8", "weights": "int8"}, "give one or the other"),
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
    assert rows(m.prefill(1, 100)) == rows(m.prefill(64, 100)) == 100
    assert rows(m.prefill(2, 5000)) == 1024  # there are no more


def test_activations_outside_products_have_16_bits():
    w = LLAMA.prefill(1, 2048, quant="fp8")
    steps = {s.name: s for s in w.steps}
    kinds = {name: [str(o.dtype) for o in s.op.operands] for name, s in steps.items()}
    assert kinds["down"] == ["fp8_e4m3", "fp8_e4m3", "bf16"]
    assert {*kinds["residual"], *kinds["norm"][:1]} == {"bf16"}
    assert steps["down"].reduced == 2 * 2048 * LLAMA.hidden
