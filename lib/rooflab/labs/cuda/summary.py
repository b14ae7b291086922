"""Registers, shared memory and hot loops of kernels, compiled here or when they were recorded."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from rooflab.labs.cuda.compiler import compile
from rooflab.labs.cuda.cubin import sass
from rooflab.labs.cuda.kernels import spec_of
from rooflab.predict.catalogue import tables

ARCH = "sm_90a"  # of the recorded rows
WORDS = ("LDG", "LDG.128", "LDS", "LDS.128", "FFMA", "HMMA", "HGMMA")  # of a hot loop, in the table


@dataclass(frozen=True)
class Row:
    """One kernel: registers a thread, shared bytes a block, bytes spilled, its hot loop."""

    registers: int
    shared: int
    spilled: int
    loop: Mapping[str, int]


@dataclass(frozen=True, repr=False)
class Summary:
    """What a compiler made of kernels, by name; printed as a table."""

    rows: Mapping[str, Row]
    recorded: bool

    def __repr__(self) -> str:
        words = [word for word in WORDS if any(word in row.loop for row in self.rows.values())]
        head = "".join(f"{word:>9}" for word in ("registers", "shared", "spilled"))
        lines = [f"{ARCH:22}{head}   hot loop:{''.join(f'{word:>9}' for word in words)}"]
        for name, row in self.rows.items():
            counts = "".join(f"{row.loop.get(word, 0):9}" for word in words)
            lines.append(f"{name:22}{row.registers:9}{row.shared:9}{row.spilled:9}{'':12}{counts}")
        if self.recorded:
            lines.append("(recorded: NVIDIA's compiler is not installed here)")
        return "\n".join(lines)


def summary(*names: str) -> Summary:
    """Compile kernels of the catalogue for an H100, and return what became of them.

    Where NVIDIA's compiler is not installed, the figures are those of a recorded run.

    Parameters
    ----------
    *names : str
        Kernels of the catalogue, such as "sgemm_float4".

    Returns
    -------
    Summary
        Registers a thread, bytes a block and a thread, and instructions of the hot loop.

    Examples
    --------
    >>> rl.cuda.summary("sgemm_shared").rows["sgemm_shared"].shared
    8192
    """
    specs = [spec_of(name) for name in names]
    try:
        return Summary({spec.name: _compiled(spec.name) for spec in specs}, False)
    except ModuleNotFoundError:
        rows = tables("labs.cuda", "summary")
        return Summary({spec.name: Row(**rows[spec.name]) for spec in specs}, True)


def _compiled(name: str) -> Row:
    """The row of one kernel, compiled now, as it was recorded in summary.yaml."""
    compiled = compile(name, ARCH)
    resources = compiled.only
    loop = {word: count for word, count in sass(compiled).loop.items() if word in WORDS}
    return Row(resources.registers, resources.shared_bytes, resources.spill_stores, loop)
