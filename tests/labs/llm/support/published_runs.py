"""Published runs of language models, each as its source prints it.

One sequence at a time: the READMEs of gpt-fast (A100 at 330 W, 5 tokens of prompt and 200 new ones)
and of its mixtral-moe, of ExLlamaV2 v0.1.0, ggml-org/llama.cpp pull request 4766 (llama-bench),
mlc-ai/llm-perf-bench pull request 1, brand-o/normiebench issue 3, CambrianTech/continuum pull
request 1627, TinyChat's figure for Llama-2-7B in AWQ, and the table of sh1ng/llm-perf-bench.
Served: NVIDIA/TensorRT-LLM, docs/source/performance/perf-overview.md of v1.0 (00f3768), "Total
Output Throughput": of each format and model the column that comes nearest to the bound.
"""

from __future__ import annotations

from dataclasses import dataclass

import rooflab as rl
from rooflab.count.dtypes import DType

G32 = rl.dtype("int4", group=32, scale="bf16", zero="bf16")  # gpt-fast's 4-bit (G=32)
SYMMETRIC = rl.dtype("int4", group=32)  # MLC's q4f16_1
GPTQ = rl.dtype("int4", group=128, scale="fp16", zero="int4")  # and AWQ
EXL2 = {
    2.5: rl.dtype("int2", group=32), 3.0: rl.dtype("int3"), 4.0: rl.dtype("int4"),
    5.0: DType("exl2_5", 5, "int", family="int8"),
}  # fmt: skip


@dataclass(frozen=True)
class Stream:
    """One sequence: ``weights`` on ``devices`` of ``machine`` gave ``tokens_per_s``; ``context``
    is the shortest that the run had on average."""

    source: str
    model: object
    weights: object
    machine: str
    tokens_per_s: float
    devices: int = 1
    context: int = 64

    @property
    def name(self) -> str:
        model = self.model if isinstance(self.model, str) else self.model.name
        return f"{self.source} {model} {self.weights} {self.devices}x{self.machine}"

    def step(self) -> rl.Workload:
        """The decode step that the run repeats."""
        model = rl.model(self.model) if isinstance(self.model, str) else self.model
        return model.decode(1, self.context, weights=self.weights)


def _gpt_fast(model: str, weights: object, *rates: float, devices: tuple[int, ...] = (1,)):
    return tuple(
        Stream("gpt-fast", model, weights, "a100-sxm-80", rate, many)
        for rate, many in zip(rates, devices, strict=True)
    )


STREAMS = (
    *_gpt_fast("llama-2-7b", "bf16", 104.9, 168.84, 254.02, 328.43, devices=(1, 2, 4, 8)),
    *_gpt_fast("llama-2-7b", "int8", 155.58),
    *_gpt_fast("llama-2-7b", G32, 196.80),
    *_gpt_fast("llama-2-70b", "bf16", 21.32, 38.01, 62.50, devices=(2, 4, 8)),
    *_gpt_fast("llama-2-70b", "int8", 19.13, 80.44, devices=(1, 8)),
    *_gpt_fast("llama-2-70b", G32, 25.25, 90.77, devices=(1, 8)),
    *_gpt_fast("llama-3-8b", "bf16", 93.89),
    *_gpt_fast("llama-3-8b", "int8", 137.64),
    *_gpt_fast("mixtral-8x7b", "bf16", 78.75, 118.23, 203.69, devices=(2, 4, 8)),
    *_gpt_fast("mixtral-8x7b", "int8", 56.04, 99.91, 149.53, 218.48, devices=(1, 2, 4, 8)),
    Stream("gpt-fast later", "mixtral-8x7b", "int8", "a100-sxm-80", 97.92),
    Stream("gpt-fast", "llama-2-7b", "bf16", "mi250x-gcd", 76.33),
    Stream("gpt-fast", "llama-2-7b", "int8", "mi250x-gcd", 101.86),
    Stream("llama.cpp", "llama-2-7b", "fp16", "rtx-4090", 61.03),
    Stream("llama.cpp", "llama-2-7b", "q8_0", "rtx-4090", 98.13),
    Stream("llama.cpp", "llama-3.1-8b", "q4_k", "apple-m4", 20.87),
    Stream("llama.cpp", "qwen3-8b", "q4_k", "rtx-5090", 221.7),
    Stream("mlc", "llama-2-7b", SYMMETRIC, "rtx-4090", 191.0),
    Stream("mlc", "llama-2-13b", SYMMETRIC, "rtx-4090", 108.8),
    Stream("exllamav2", "llama-2-7b", GPTQ, "rtx-4090", 198),
    Stream("exllamav2", "llama-2-13b", GPTQ, "rtx-4090", 111),
    Stream("exllamav2", "llama-2-7b", EXL2[3.0], "rtx-4090", 245),
    Stream("exllamav2", "llama-2-7b", EXL2[4.0], "rtx-4090", 207),
    Stream("exllamav2", "llama-2-7b", EXL2[5.0], "rtx-4090", 170),
    Stream("exllamav2", "llama-2-70b", EXL2[2.5], "rtx-4090", 37),
    Stream("llm-perf-bench MLC", "llama-2-7b", SYMMETRIC, "rtx-4090", 204.8),
    Stream("llm-perf-bench MLC", "llama-2-13b", SYMMETRIC, "rtx-4090", 113.5),
    Stream("llm-perf-bench MLC", "llama-2-70b", SYMMETRIC, "rtx-4090", 34.5, 2),
    Stream("llm-perf-bench MLC", "llama-2-70b", SYMMETRIC, "a10g", 47.7, 8),
    Stream("tinychat", "llama-2-7b", GPTQ, "jetson-agx-orin", 39.1),
)

# llama-bench pp 512 of the same pull request: tokens a second of a prompt of 512.
PROMPTS = (("fp16", 11048.22), ("q8_0", 7664.00), ("q4_0", 7979.85))

# Input and output lengths of a request; columns: machine, devices that share a layer, weights.
LENGTHS = ("128/128", "128/2048", "128/4096", "500/2000", "1000/1000", "1000/2000", "2048/128",
           "2048/2048", "5000/500", "20000/2000")  # fmt: skip
SERVED = {
    ("llama-3.3-70b", "gb200", 1, "nvfp4"): (
        12189, 11309, 7849, 9028, 7326, 6513, 1450, 5646, 1602, 755),
    ("qwen3-30b-a3b", "gb200", 1, "nvfp4"): (
        24107, 31311, 26337, 20604, 17481, 17177, 6595, 14719, 5908, 3203),
    ("llama-3.1-405b", "h200-sxm", 8, "fp8"): (
        3814, 5348, 4741, 4724, 3330, 3722, 456, 2948, 650, 505),
    ("llama-3.1-8b", "h100-sxm", 1, "fp8"): (
        28312, 22714, 14325, 17660, 15220, 13899, 3450, 9305, 3459, 1351),
}  # fmt: skip
