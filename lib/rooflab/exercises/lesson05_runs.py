"""Published runs of language models, with what their tables say and what the models' shapes are.

Sources: the README of gpt-fast (batch 1, a prompt of 5 tokens, 200 new ones; A100 at 330 W), and
TensorRT-LLM's docs/source/performance.md of v0.6.1 (L40S: v0.5; Input and Output Length there).
``context`` is the mean over a run, its prompt and half of what it wrote.
"""

from __future__ import annotations

from dataclasses import dataclass

from rooflab.predict import models as catalogue


def _read(name: str) -> int:
    """Parameters that a token reads: all but the table of embeddings (vocabulary × width)."""
    m = catalogue.model(name)
    return m.parameters - m.vocab * m.hidden


def _shape(name: str) -> tuple[int, int, int, int]:
    """Layers, heads, KV heads, width of a head."""
    m = catalogue.model(name)
    return m.layers, m.heads, m.kv_heads, m.head_dim


LLAMA_2_7B, LLAMA_2_70B, LLAMA_3_8B = map(_read, ("llama-2-7b", "llama-2-70b", "llama-3-8b"))
SHAPES = {
    name: _shape(name)
    for name in (
        "llama-2-7b", "llama-2-13b", "llama-2-70b", "llama-3-8b", "gpt2", "gemma-2b", "qwen2.5-7b",
    )
}  # fmt: skip
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


def kv_bytes(layers: int, heads: int, kv_heads: int, head_dim: int, itemsize: int) -> int:
    """Bytes that a token adds to the KV cache: a key and a value of every KV head and layer."""
    return 2 * layers * kv_heads * head_dim * itemsize


def _gpt_fast(machine: str, model: str, read: int, itemsize: float, tokens_per_s: float) -> Run:
    kv = kv_bytes(*SHAPES[model], 2)
    return Run("gpt-fast", machine, model, read, itemsize, kv, 1, 105, "bf16", tokens_per_s)


def _tensorrt(
    machine: str, itemsize: int, batch: int, prompt: int, new: int, tokens_per_s: float
) -> Run:
    """Llama 7B; where the weights have one byte (fp8), the KV cache has one too."""
    model, context = "llama-2-7b", prompt + new // 2
    kv, compute = kv_bytes(*SHAPES[model], itemsize), "fp8" if itemsize == 1 else "fp16"
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
