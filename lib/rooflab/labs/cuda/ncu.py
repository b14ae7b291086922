"""Counters of NVIDIA's profiler, ncu, read from the table that it prints with --csv."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from rooflab.count.si import plain, si

_OPS = "sm__sass_thread_inst_executed_op_{}_pred_on.sum"
METRICS: Mapping[str, str] = {
    "seconds": "gpu__time_duration.sum", "dram": "dram__bytes.sum", "l2": "lts__t_bytes.sum",
    "l1": "l1tex__t_bytes.sum", **{name: _OPS.format(name) for name in ("fadd", "fmul", "ffma")},
}  # fmt: skip
COMMAND = f"ncu --csv --metrics {','.join(METRICS.values())} python program.py"
_COLUMN = '"Metric Name"'
_UNITS = {
    "byte": 1.0, "Kbyte": 1e3, "Mbyte": 1e6, "Gbyte": 1e9, "Tbyte": 1e12, "inst": 1.0, "": 1.0,
    "nsecond": 1e-9, "usecond": 1e-6, "msecond": 1e-3, "second": 1.0,
    "ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0,
}  # fmt: skip


@dataclass(frozen=True)
class Counters:
    """What ncu counted of one launch: seconds, FLOPs in fp32, and bytes at each level.

    A level that was not asked for has 0 bytes.
    """

    kernel: str
    grid: str
    block: str
    seconds: float
    flops: float
    dram: float
    l2: float
    l1: float

    def __str__(self) -> str:
        levels = [f"{name} {si(value, 'B')}, {plain(self.flops / value, 3)} FLOP/byte"
                  for name, value in (("DRAM", self.dram), ("L2", self.l2), ("L1", self.l1))
                  if value]  # fmt: skip
        rate = si(self.flops / self.seconds, "FLOP/s")
        return f"{self.kernel}: {si(self.seconds, 's')}, {rate}; {'; '.join(levels)}"


def ncu(table: str | Path) -> tuple[Counters, ...]:
    """Read what ncu printed with ``--csv``, one entry a launch.

    The command that prints all that is read is ``rooflab.labs.cuda.ncu.COMMAND``.

    Parameters
    ----------
    table : str or Path
        The text, or the file it was written to.

    Returns
    -------
    tuple of Counters
        In the order of the launches.

    Raises
    ------
    ValueError
        For a text without ncu's table (also ``--page raw``), without the time of a launch, or in a
        unit of another kind.

    Examples
    --------
    >>> from importlib.resources import files
    >>> text = files("rooflab.labs.cuda").joinpath("ncu_example.csv").read_text("utf-8")
    >>> print(rl.cuda.ncu(text)[2])
    sgemm_float4: 7.54 ms, 18.2 TFLOP/s; DRAM 543 MB, 253 FLOP/byte; L2 4.36 GB, 31.5 FLOP/byte; ...
    """
    text = table if isinstance(table, str) else table.read_text("utf-8-sig")
    lines = text.lstrip("\ufeff").splitlines()
    heads = (n for n, line in enumerate(lines) if line.startswith('"ID",') and _COLUMN in line)
    start = next(heads, None)
    if start is None:
        raise ValueError(f'table= has no line that begins with "ID" and has {_COLUMN}, as '
                         "ncu --csv prints one without --page raw")  # fmt: skip
    launches: dict[tuple[str, str, str, str], dict[str, float]] = {}
    for row in csv.DictReader(lines[start:]):
        key = (row["ID"], row["Kernel Name"], row["Grid Size"], row["Block Size"])
        metric, value, unit = (row[f"Metric {what}"] for what in ("Name", "Value", "Unit"))
        if metric not in METRICS.values():
            continue
        if unit not in _UNITS:
            raise ValueError(f"table= gives {metric} in {unit!r}; known units: {', '.join(_UNITS)}")
        launches.setdefault(key, {})[metric] = float(value.replace(",", "")) * _UNITS[unit]
    return tuple(_counters(key, values) for key, values in launches.items())


def _counters(key: tuple[str, str, str, str], values: Mapping[str, float]) -> Counters:
    numbers = {name: values.get(metric, 0.0) for name, metric in METRICS.items()}
    if not numbers["seconds"]:
        raise ValueError(f"table= has no {METRICS['seconds']} of {key[1]}: ask ncu for it")
    flops = numbers["fadd"] + numbers["fmul"] + 2 * numbers["ffma"]
    return Counters(
        *key[1:], numbers["seconds"], flops, numbers["dram"], numbers["l2"], numbers["l1"]
    )
