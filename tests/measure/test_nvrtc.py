"""The CUDA of rooflab, compiled for every generation and read in machine code; no GPU is needed.

NVRTC and nvdisasm come from NVIDIA's wheels (extra "test", Linux on x86-64). Skipped without them.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence
from pathlib import Path

import pytest

import rooflab
from rooflab.labs.cuda.compiler import Resources, compile, nvidia_file
from rooflab.labs.cuda.cubin import machine_code
from rooflab.measure.cuda_sources import BATCH, SOURCES, THREADS, CudaSource
from tests.support.rows import each_row

STREAMING = {
    "read_roof": BATCH, "copy_roof": BATCH, "update_roof": BATCH, "axpy_roof": 2 * BATCH,
    "half_scale": BATCH, "half_axpy": 2 * BATCH, "half_dot": 2 * BATCH, "half_ger": 6,
}  # fmt: skip
"""Kernel -> loads of 16 bytes that a thread must have under way."""
FASTEST = {
    75: (672e9, 72), 80: (2.04e12, 108), 86: (1.01e12, 84), 89: (1.01e12, 128), 90: (4.8e12, 132),
    100: (8e12, 148), 120: (1.79e12, 170),
}  # fmt: skip
"""Bandwidth and multiprocessors of the fastest card: TITAN RTX, A100, 3090 Ti, 4090, H200, B200,
5090."""
LATENCY = 0.7e-6  # seconds until loaded memory answers; their product must be under way
REGISTERS = 65536  # of a multiprocessor, on every architecture here


def elsewhere() -> dict[str, CudaSource]:
    """CUDA in other modules, by its module: any text with a kernel in it, compiled as it is."""
    home = Path(rooflab.__file__).parent
    listed = "".join(source.code for source in SOURCES.values())
    found = {}
    texts = {path: path.read_text(encoding="utf-8") for path in sorted(home.rglob("*.py"))}
    for path in (path for path, text in texts.items() if "__global__" in text):
        for node in ast.walk(ast.parse(texts[path])):
            text = node.value if isinstance(node, ast.Constant) else None
            if isinstance(text, str) and 'extern "C" __global__' in text and text not in listed:
                names = re.findall(r"__global__ void (?:__launch_bounds__\(.*?\) )?(\w+)\(", text)
                found[f"{path.stem}:{node.lineno}"] = CudaSource(text, tuple(names))
    return found


BUILDS = [
    (source, options, arch)
    for source in (SOURCES | elsewhere()).values()
    for options in source.variants
    for arch in FASTEST
]


needs_compiler = pytest.mark.skipif(
    nvidia_file("lib/libnvrtc.so.*") is None or nvidia_file("bin/nvdisasm") is None,
    reason="nvidia-cuda-nvrtc or nvidia-cuda-nvdisasm is not installed",
)


def loads_in_flight(lines: Sequence[str]) -> int:
    """The most unconditional 16-byte loads under way at once in any block of the code.

    A load is under way from its issue until an instruction reads one of its four registers.
    """
    waiting: dict[int, int] = {}  # register -> the first of its load's four
    most = 0
    for line in lines:
        load = re.match(r"(@!?U?P\d+\s+)?LDG\.E\.128[.\w]* R(\d+), (.*)", line)
        if line.startswith(".L"):
            waiting.clear()
        for number in re.findall(r"\bR(\d+)\b", load[3] if load else line):
            done = waiting.get(int(number))
            if done is not None:
                waiting = {r: first for r, first in waiting.items() if first != done}
        if load:
            first = int(load[2])
            waiting |= {first + i: first for i in range(4)}
            if not load[1]:
                most = max(most, len(set(waiting.values())))
    return most


def test_sources_list_their_kernels():
    for source in SOURCES.values():
        for name in source.kernels:
            assert re.search(rf"(__global__ void|KERNEL) {name}\(", source.code)


@needs_compiler
@each_row(*BUILDS)
def test_machine_code(source: CudaSource, options, arch, request):
    """No local memory: a spill or an indexed array would show as a stack frame."""
    if arch not in (75, 90, 120) and not request.config.option.all:
        return  # the oldest, a middle and the newest generation, each time
    compiled = compile(source.code, f"sm_{arch}", options)
    assert set(compiled.kernels) == set(source.kernels)
    for name, used in compiled.kernels.items():
        bytes_of_stack = used.stack_bytes + used.spill_loads
        assert bytes_of_stack == 0, f"{name} keeps {bytes_of_stack} bytes a thread in local memory"
        assert used.registers <= 128
    for name, lines in machine_code(compiled.cubin).items():
        assert not [line for line in lines if re.search(r"\b(LDL|STL)\b", line)]
        if source not in SOURCES.values():
            continue
        if name == "fma_roof":
            check_multiply_adds(lines, "FFMA" if "float" in options[0] else "DFMA")
        else:
            check_stream(name, lines, compiled.kernels[name], arch)


def check_multiply_adds(lines: Sequence[str], instruction: str) -> None:
    """The loop is multiply-adds and next to nothing else: none was removed, none was split."""
    begin, end = _loop(lines)
    loop = [line for line in lines[begin:end] if not line.startswith(".L")]
    count = sum(bool(re.search(rf"\b{instruction}\b", line)) for line in loop)
    assert count == 8 * 32
    assert len(loop) <= 1.03 * count


def _loop(lines: Sequence[str]) -> tuple[int, int]:
    """The longest stretch without a label or a branch, up to the branch that closes it."""
    cuts = [
        i for i, line in enumerate(lines) if line.startswith(".L") or re.search(r"\bBRA\b", line)
    ]
    return max(zip(cuts, cuts[1:], strict=False), key=lambda cut: cut[1] - cut[0])


def check_stream(name: str, lines: Sequence[str], used: Resources, arch: int) -> None:
    """16 bytes a load, enough of them under way, and enough threads beside each other."""
    flight = loads_in_flight(lines)
    assert flight >= STREAMING[name], f"{name}: {flight} loads of 16 bytes under way"
    stores = sum(bool(re.search(r"\bSTG\.E\.128\b", line)) for line in lines)
    assert stores >= (0 if name == "half_dot" else 1)
    threads = REGISTERS // (THREADS * -(-used.registers // 8) * 8) * THREADS
    rate, multiprocessors = FASTEST[arch]
    assert min(threads, 1024) * flight * 16 >= rate * LATENCY / multiprocessors


def test_the_reader_of_machine_code_sees_a_late_load():
    """Two loads, a use of the first, a third load: two under way at most."""
    code = ["LDG.E.128 R4, [R2.64]", "LDG.E.128 R8, [R2.64+0x10]", "FADD R0, R0, R5"]
    assert loads_in_flight([*code, "LDG.E.128 R12, [R2.64+0x20]"]) == 2
    assert loads_in_flight([*code[:2], "LDG.E.128 R12, [R2.64+0x20]", code[2]]) == 3
    assert loads_in_flight([code[0], ".L", code[1]]) == 1
    assert loads_in_flight(["LDG.E R4, [R2.64]", "@P0 LDG.E.128 R8, [R2.64]"]) == 0
