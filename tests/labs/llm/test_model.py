"""Models as sizes: parameters against published totals, bytes, and errors that help."""

from __future__ import annotations

import pickle
from dataclasses import replace

import pytest

import rooflab as rl
from rooflab.labs.llm.catalogue import document
from rooflab.labs.llm.model import Model
from tests.support.rows import each_row

ROWS = {row["name"]: row for row in document()["models"]}
LATENT = {"kv_rank": 16, "rope": 8, "nope": 8, "value": 8}


@each_row(*ROWS)
def test_parameters_equal_the_published_total(name):
    assert rl.model(name).parameters == ROWS[name]["parameters"]


@each_row(
    ("mixtral-8x7b", 12.9), ("qwen3-30b-a3b", 3.35), ("deepseek-v3", 37.6), ("llama-2-7b", 6.74)
)
def test_active_parameters_as_published(name, billions):
    """Mixtral says 12.9 B, DeepSeek-V3 37 B (which leaves out its embedding table's 0.93 B)."""
    assert rl.model(name).active_parameters / 1e9 == pytest.approx(billions, rel=5e-3)


def test_gpt2_without_biases_is_the_smaller_published_count():
    """124,337,664 counts no biases at all; 102,144 make the usual total."""
    whole = rl.model("gpt2")
    products = replace(whole, biases=())
    norms = 25 * 768
    assert products.parameters - norms == 124_337_664
    assert whole.parameters - products.parameters + norms == 102_144


@each_row(
    ("llama-2-7b", 524_288), ("llama-2-70b", 327_680), ("llama-3-8b", 131_072),
    ("qwen2.5-7b", 57_344), ("qwen3-8b", 147_456), ("gpt2", 36_864),
    ("deepseek-v3", 70_272), ("gemma-7b", 458_752), ("gemma-2b", 18_432),
)  # fmt: skip
def test_cache_bytes_of_a_token_in_sixteen_bits(name, a_token):
    m = rl.model(name)
    assert m.kv_bytes(1, 1) == a_token
    assert m.kv_bytes(3, 100, "int8") == 3 * 100 * a_token // 2
    assert m.kv_bytes(3, 100, "int4") == 3 * 100 * a_token // 4


def test_a_window_bounds_the_cache():
    mistral = rl.model("mistral-7b")
    assert mistral.kv_bytes(1, 4096) == mistral.kv_bytes(1, 32_768)
    assert mistral.kv_bytes(1, 4095) < mistral.kv_bytes(1, 4096)
    half = rl.model("gemma-2-9b")  # every second layer has one
    assert half.kv_bytes(1, 8192) == half.kv_bytes(1, 4096) * 3 // 2


@each_row("llama-2-7b", "gpt2", "mixtral-8x7b", "deepseek-v2-lite")
def test_weight_bytes_are_parameters_times_width(name):
    m = rl.model(name)
    assert m.weight_bytes("bf16") == m.weight_bytes() == 2 * m.parameters
    assert m.weight_bytes("int8") == m.weight_bytes("fp8") == m.parameters
    assert m.weight_bytes("fp32") == 4 * m.parameters


def test_groups_of_weights_carry_scales():
    m = rl.model("llama-2-7b")
    plain, grouped = m.weight_bytes("int4"), m.weight_bytes(rl.dtype("int4", group=32))
    assert plain == m.parameters // 2
    assert grouped / plain == pytest.approx(1 + 16 / 32 / 4, rel=1e-6)


def test_defaults_are_the_plain_transformer():
    m = rl.Model(hidden=512, layers=2, heads=8)
    assert (m.kv_heads, m.head_dim, m.intermediate) == (8, 64, 2048)
    plain = rl.Model(hidden=512, layers=2, heads=8, gated=False, vocab=1000)
    assert plain.parameters == 2 * (12 * 512**2 + 2 * 512) + 512 + 2 * 1000 * 512


def test_a_model_survives_pickle_replace_and_comparison():
    m = rl.model("deepseek-v3")
    assert pickle.loads(pickle.dumps(m)) == m
    assert replace(m, layers=60).parameters < m.parameters
    assert isinstance(replace(m, layers=60), rl.Model)
    assert hash(m) == hash(replace(m))


def test_what_a_model_says_of_itself():
    said = repr(rl.model("llama-3-8b"))
    assert "8.03 G parameters" in said
    assert "32 heads of 128 on 8 KV heads" in said
    assert "8 experts" in str(rl.model("mixtral-8x7b"))
    assert "tied head" in str(rl.model("gpt2"))


@each_row(
    ({"heads": 30}, "heads=30 must divide hidden=4096"),
    ({"kv_heads": 64}, "kv_heads=64 must be at most heads=32"),
    ({"kv_heads": 7}, "kv_heads=7 must divide heads=32; 8 would"),
    ({"layers": 0}, "layers=0 must be a positive integer"),
    ({"hidden": -1}, "hidden=-1 must be a positive integer"),
    ({"norm": "batch"}, "norm='batch' is unknown"),
    ({"biases": ("qkv",)}, "biases='qkv' is unknown"),
    ({"experts": 8}, "experts_active=0 must be 1 or more"),
    ({"experts": 8, "experts_active": 9}, "experts_active=9 must be at most experts=8"),
    ({"dense_layers": 33}, "dense_layers=33 must be at most layers=32"),
    ({"windowed_layers": 3}, "window=None"),
    ({"window": 0}, "window=0 must be a positive integer"),
    ({"windowed_layers": 40, "window": 9}, "windowed_layers=40 must be at most layers=32"),
    ({"latent": LATENT, "window": 9}, "window=9: latent attention looks back over everything"),
    ({"norm": ["rms"]}, r"norm=\['rms'\] is unknown"),
)
def test_sizes_that_do_not_fit_are_told(wrong, said):
    with pytest.raises(ValueError, match=said):
        rl.Model(**{"hidden": 4096, "layers": 32, "heads": 32, **wrong})


@each_row(
    ({"heads": 8.0}, "heads=8.0 is a float"), ({"tied": "yes"}, "tied='yes' must be True or False"),
    ({"latent": {"rank": 1}}, "unexpected keyword argument 'rank'"),
    ({"latent": {"kv_rank": 1}}, "missing 3 required .* 'rope', 'nope', and 'value'"),
    ({"layers": True}, "layers=True is a bool"),
)  # fmt: skip
def test_wrong_types_are_told(wrong, said):
    with pytest.raises(TypeError, match=said):
        Model(**{"hidden": 4096, "layers": 32, "heads": 32, **wrong})


@each_row((0, 1), (1, 0), (-3, 5))
def test_a_cache_needs_positive_sizes(batch, context):
    with pytest.raises(ValueError, match="must be a positive integer"):
        rl.model("llama-2-7b").kv_bytes(batch, context)
