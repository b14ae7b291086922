"""Products that others timed and published, each as a run of a counted GEMM (published.yaml)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from rooflab.count.blas import gemm
from rooflab.count.dtypes import DTypeLike, as_dtype
from rooflab.count.operation import Operation
from rooflab.count.validation import unknown
from rooflab.predict.catalogue import VagueName, tables
from rooflab.predict.catalogue import machine as _machine
from rooflab.predict.machine import Machine

FORMATS = {"bf16": "bf16", "fp8": "fp8_e4m3"}  # of the factors; results are bf16


@dataclass(frozen=True)
class PublishedRun:
    """A product that others timed on a machine of the catalogue.

    ``seconds`` of ``op`` on ``machine``, an id, with its ``conditions`` and ``source``.
    ``chosen``: drawn among those that beat the memory roof; the others are drawn among all.

    >>> run = rl.published("h100-sxm", "bf16")[0]
    >>> run.op.label, run.machine, run.chosen
    ('gemm 1×1536×256 bf16', 'nvidia-h100-sxm', False)
    """

    op: Operation
    machine: str
    seconds: float
    chosen: bool
    conditions: str
    source: str

    @property
    def flop_per_s(self) -> float:
        """Its rate in FLOP/s."""
        return self.op.flops / self.seconds

    @property
    def above(self) -> bool:
        """Whether its bytes cannot have come from memory, at the bandwidth of its machine."""
        return self.seconds * _machine(self.machine).bandwidth() < self.op.bytes


def kinds() -> dict[str, list[str]]:
    """Return the machines with published runs, and the number formats of each."""
    there: dict[str, list[str]] = {}
    for table in tables("predict", "published")["tables"]:
        there.setdefault(table["machine"], []).append(table["dtype"])
    return there


def published(
    gpu: Machine | str | None = None, dtype: DTypeLike | None = None
) -> tuple[PublishedRun, ...]:
    """Return products that others timed on GPUs and published: a small part of a public table.

    Parameters
    ----------
    gpu : Machine or str, optional
        The GPU, or a name that ``rl.machine`` takes; None: all that are there.
    dtype : str, DType or a dtype of NumPy or PyTorch, optional
        Format of the factors, bf16 or fp8; None: all that are there.

    Returns
    -------
    tuple of PublishedRun
        Operation, machine, seconds and conditions of each; those drawn among all rows come first.

    Examples
    --------
    >>> runs = rl.published("h100-sxm", "bf16")
    >>> len(runs), sum(run.above for run in runs)
    (264, 45)
    >>> max(run.op.working_set for run in runs if run.above) / 1e6  # MB; its L2 has 52.4
    43.319296
    """
    there = kinds()
    machines = list(there) if gpu is None else [_known(gpu, there)]
    wanted = None if dtype is None else as_dtype("dtype", dtype).family
    pairs = [(one, kind) for one in machines for kind in there[one] if wanted in (None, kind)]
    if not pairs:
        raise unknown("dtype", dtype, dict.fromkeys(k for one in machines for k in there[one]))
    return tuple(run for pair in pairs for run in _runs(*pair))


def _known(gpu: Machine | str, there: Mapping[str, object]) -> str:
    try:
        name = _machine(gpu).id
    except VagueName:
        raise
    except ValueError:
        name = str(gpu)
    if name not in there:
        raise unknown("gpu", name, there)
    return name


@cache
def _runs(machine: str, kind: str) -> tuple[PublishedRun, ...]:
    document = tables("predict", "published")
    known = document["conditions"]
    (table,) = (t for t in document["tables"] if (t["machine"], t["dtype"]) == (machine, kind))
    conditions = f"{table['engine']}, {known[kind]}; {known['all']}"
    source = f"{document['source']}, {document['licence']}"
    runs = []
    for chosen in (False, True):
        for row in table.get("chosen" if chosen else "drawn", "").splitlines():
            m, n, k, microseconds = row.split()
            op = gemm(int(m), int(n), int(k), FORMATS[kind], c="bf16")
            seconds = float(microseconds) / 1e6
            runs.append(PublishedRun(op, machine, seconds, chosen, conditions, source))
    return tuple(runs)
