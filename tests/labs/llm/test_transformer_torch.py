"""The transformer against PyTorch's own layers, where PyTorch is installed."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest

from tests.labs.llm.support.plain_transformer import PLAIN, SMALL, arrays
from tests.labs.llm.test_transformer import passed

torch = pytest.importorskip("torch")
F = torch.nn.functional
TOKENS = np.random.default_rng(3).integers(0, 30, (2, 9))


def tensors(model):
    return {name: torch.tensor(array) for name, array in arrays(model).items()}


def test_layer_norm_model_equals_torchs_encoder_layers():
    w = tensors(PLAIN)
    hidden, tokens = PLAIN.hidden, torch.tensor(TOKENS)
    x = w["embed"][tokens] + w["positions"][: tokens.shape[1]]
    for layer in range(PLAIN.layers):
        block = torch.nn.TransformerEncoderLayer(
            hidden, PLAIN.heads, PLAIN.intermediate, 0.0, partial(F.gelu, approximate="tanh"),
            batch_first=True, norm_first=True, dtype=torch.float64,
        )  # fmt: skip
        one = {name: array[layer] for name, array in w.items() if array.shape[0] == PLAIN.layers}
        state = {
            "self_attn.in_proj_weight": torch.cat([one[name] for name in "qkv"]),
            "self_attn.in_proj_bias": torch.cat([one[f"{name} bias"] for name in "qkv"]),
            "self_attn.out_proj.weight": one["o"], "self_attn.out_proj.bias": one["o bias"],
            "linear1.weight": one["up"], "linear1.bias": one["up bias"],
            "linear2.weight": one["down"], "linear2.bias": one["down bias"],
            "norm1.weight": one["norm 1"], "norm1.bias": one["norm 1 bias"],
            "norm2.weight": one["norm 2"], "norm2.bias": one["norm 2 bias"],
        }  # fmt: skip
        block.load_state_dict(state)
        mask = torch.nn.Transformer.generate_square_subsequent_mask(x.shape[1], dtype=x.dtype)
        x = block(x, src_mask=mask, is_causal=True)
    expected = F.layer_norm(x, (hidden,), w["norm"], w["norm bias"]) @ w["embed"].T
    expected = expected[:, -1].detach().numpy()
    for cut in (1, 9):
        found = passed(PLAIN, arrays(PLAIN), TOKENS, cut)
        np.testing.assert_allclose(found, expected, atol=1e-10)


def test_grouped_rotary_model_equals_torchs_functions():
    w, tokens = tensors(SMALL), torch.tensor(TOKENS)
    each, places = SMALL.head_dim, torch.arange(tokens.shape[1], dtype=torch.float64)
    angles = places[:, None] / 10_000.0 ** (torch.arange(0, each, 2, dtype=torch.float64) / each)
    cos, sin = angles.cos().repeat(1, 2), angles.sin().repeat(1, 2)

    def turned(x):
        first, second = x.chunk(2, -1)
        return x * cos + torch.cat([-second, first], -1) * sin

    def split(x):
        return x.unflatten(-1, (-1, each)).transpose(1, 2)

    x = w["embed"][tokens]
    for i in range(SMALL.layers):
        h = F.rms_norm(x, (SMALL.hidden,), w["norm 1"][i], 1e-5)
        q, k, v = (split(F.linear(h, w[name][i])) for name in "qkv")
        a = F.scaled_dot_product_attention(turned(q), turned(k), v, is_causal=True, enable_gqa=True)
        x = x + F.linear(a.transpose(1, 2).flatten(2), w["o"][i])
        h = F.rms_norm(x, (SMALL.hidden,), w["norm 2"][i], 1e-5)
        x = x + F.linear(F.silu(F.linear(h, w["gate"][i])) * F.linear(h, w["up"][i]), w["down"][i])
    expected = F.linear(F.rms_norm(x, (SMALL.hidden,), w["norm"], 1e-5), w["head"])
    for cut in (1, 9):
        found = passed(SMALL, arrays(SMALL), TOKENS, cut)
        np.testing.assert_allclose(found, expected[:, -1].numpy(), atol=1e-10)
