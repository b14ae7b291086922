"""Published runs of language models, with what their tables say and what the models' shapes are.

Sources: the README of gpt-fast (batch 1, a prompt of 5 tokens, 200 new ones; A100 at 330 W), and
TensorRT-LLM's docs/source/performance.md of v0.6.1 (L40S: v0.5; Input and Output Length there).
``context`` is the mean over a run, its prompt and half of what it wrote.
"""

from __future__ import annotations

from dataclasses import dataclass

# Parameters that a token reads: all but the table of embeddings (vocabulary × width).
LLAMA_2_7B = 6_738_415_616 - 32_000 * 4096
LLAMA_2_70B = 68_976_648_192 - 32_000 * 8192
LLAMA_3_8B = 8_030_261_248 - 128_256 * 4096
# Layers, heads, KV heads, width of a head.
SHAPES = {
    "llama-2-7b": (32, 32, 32, 128),
    "llama-2-13b": (40, 40, 40, 128),
    "llama-2-70b": (80, 64, 8, 128),
    "llama-3-8b": (32, 32, 8, 128),
    "gpt2": (12, 12, 12, 64),
    "gemma-2b": (18, 8, 1, 256),
    "qwen2.5-7b": (28, 28, 4, 128),
}
INT4_GROUP_32 = 4 / 8 + 4 / 32  # 4 bits, and a 2-byte scale and zero for 32 weights


@dataclass(frozen=True)
class Run:
    """One published row. ``kv``: bytes a token in the cache; ``compute``: type of the products."""

    source: str
    machine: str
    model: str
    parameters: int
    itemsize: float
    kv: int
    batch: int
    context: int
    compute: str
    tokens_per_s: float


def _kv(model: str, itemsize: int) -> int:
    layers, _, kv_heads, head_dim = SHAPES[model]
    return 2 * layers * kv_heads * head_dim * itemsize


def _gpt_fast(machine: str, model: str, read: int, itemsize: float, tokens_per_s: float) -> Run:
    kv = _kv(model, 2)
    return Run("gpt-fast", machine, model, read, itemsize, kv, 1, 105, "bf16", tokens_per_s)


def _tensorrt(
    machine: str, itemsize: int, batch: int, prompt: int, new: int, tokens_per_s: float
) -> Run:
    """Llama 7B; where the weights have one byte (fp8), the KV cache has one too."""
    kv, compute = _kv("llama-2-7b", itemsize), "fp8" if itemsize == 1 else "fp16"
    model, context = "llama-2-7b", prompt + new // 2
    return Run(
        "TensorRT-LLM", machine, model, LLAMA_2_7B, itemsize, kv, batch, context, compute,
        tokens_per_s,
    )  # fmt: skip


RUNS = (
    _gpt_fast("a100-sxm-80", "llama-2-7b", LLAMA_2_7B, 2, 104.9),
    _gpt_fast("a100-sxm-80", "llama-2-7b", LLAMA_2_7B, 1, 155.58),
    _gpt_fast("a100-sxm-80", "llama-2-7b", LLAMA_2_7B, INT4_GROUP_32, 196.80),
    _gpt_fast("a100-sxm-80", "llama-2-70b", LLAMA_2_70B, 1, 19.13),
    _gpt_fast("a100-sxm-80", "llama-2-70b", LLAMA_2_70B, INT4_GROUP_32, 25.25),
    _gpt_fast("a100-sxm-80", "llama-3-8b", LLAMA_3_8B, 2, 93.89),
    _gpt_fast("a100-sxm-80", "llama-3-8b", LLAMA_3_8B, 1, 137.64),
    _gpt_fast("mi250x-gcd", "llama-2-7b", LLAMA_2_7B, 2, 76.33),
    _gpt_fast("mi250x-gcd", "llama-2-7b", LLAMA_2_7B, 1, 101.86),
    _tensorrt("a100-sxm-80", 2, 60, 128, 2048, 1928),
    _tensorrt("a100-sxm-80", 2, 384, 128, 128, 5586),
    _tensorrt("l40s", 1, 64, 128, 2048, 1622),
    _tensorrt("h100-sxm", 1, 112, 128, 2048, 6818),
    _tensorrt("h100-sxm", 1, 48, 2048, 2048, 2740),
    _tensorrt("h100-sxm", 1, 768, 128, 128, 19694),
)
