"""What a call, an element and a fresh page cost on this machine: calibrated once, then stored.

Fresh pages are those of :mod:`rooflab.measure.pages`.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass
from functools import partial
from importlib.resources import files
from typing import Any

import numpy as np

from rooflab.count.validation import flag
from rooflab.labs.fusion.chains import DTYPES, Chain, Step, chains
from rooflab.measure import store
from rooflab.measure.backend import host_id
from rooflab.measure.pages import pages
from rooflab.measure.progress import Progress, progress_bar
from rooflab.measure.settings import fewer
from rooflab.measure.threads import thread_limit
from rooflab.measure.timing import MEASUREMENT_LOCK, Call, quickest, time_warm

SCHEMA = 1
TINY, CACHED = (2, 2), (8, 2048)  # rows and columns: a call alone; operands in the L2 cache
SAMPLES, TURNS = fewer(12), fewer(3)
QUICK: Mapping[str, Any] = {
    "samples": SAMPLES, "seconds": 2e-3, "sample_s": 2e-4, "settle_s": 1e-3,
}  # fmt: skip


@dataclass(frozen=True)
class Costs:
    """What :func:`costs` measured, in seconds.

    ``calls`` and ``elements`` are keyed by format and function ("fp32 sin", "fp64 row sum"), or by
    format and chain for its fused loop ("fp32 softmax"): a call, and an element that is in a cache.
    New arrays up to ``recycled`` bytes have pages that were used before; each byte of a larger one
    costs ``fresh`` on top of writing it.

    >>> rl.fusion.Costs({}, {}, recycled=31 << 20, fresh=2e-10).faults(10**9)
    0.2
    """

    calls: Mapping[str, float]
    elements: Mapping[str, float]
    recycled: int
    fresh: float

    def faults(self, nbytes: int) -> float:
        """Return the seconds that the page faults of a new array of ``nbytes`` take."""
        return nbytes * self.fresh if nbytes > self.recycled else 0.0


def costs(*, refresh: bool = False, progress: Progress = True) -> Costs:
    """Return what calls, elements and fresh pages cost here; only the first call takes seconds.

    They are measured with one thread and stored in the user's cache directory, beside the roofs.

    Parameters
    ----------
    refresh : bool, optional
        True measures again what is stored.
    progress : bool or callable, optional
        True (default) draws a progress bar, False nothing. A function is called with the share
        done, 0 to 1.

    Returns
    -------
    Costs
        Of NumPy's functions, of the fused loops, and of fresh pages.

    Examples
    --------
    >>> here = rl.fusion.costs(progress=False)
    >>> here.calls["fp32 sin"] > 0, here.faults(1000)
    (True, 0.0)
    """
    lab = files("rooflab.labs.fusion")  # other programs have other costs
    code = b"".join(lab.joinpath(name).read_bytes() for name in ("kernels.py", "chains.yaml"))
    name = f"fusion-{host_id()}-{hashlib.sha256(code).hexdigest()[:6]}"
    with MEASUREMENT_LOCK:
        document = None if flag("refresh", refresh) else store.load(name, _problem)
        if document is None:
            document = {**measured_costs(progress), "schema": SCHEMA}
            store.save(name, document)
        fresh = asdict(pages(refresh=refresh, progress=progress))
    return Costs(document["calls"], document["elements"], **fresh)


def _problem(document: Any) -> str:
    """What is wrong with stored costs, as the end of a sentence."""
    keys = {key for key, _ in _calls()}
    try:
        sound = document["schema"] == SCHEMA and all(
            keys <= document[table].keys() and min(document[table].values()) >= 0
            for table in ("calls", "elements")
        )
    except (AttributeError, KeyError, TypeError):
        sound = False
    return "" if sound else "another version of rooflab wrote it, or it is damaged"


def measured_costs(progress: Progress = False) -> dict[str, dict[str, float]]:
    """Measure calls and elements, round after round: a busy moment spoils one of them."""
    calls: dict[str, float] = {}
    elements: dict[str, float] = {}
    turns = [task for _ in range(TURNS) for task in _calls()]
    with progress_bar(progress, "measuring calls") as tell, thread_limit(1):
        for number, (key, make) in enumerate(turns, 1):
            (one, few), (other, many) = map(make, (TINY, CACHED))
            tiny, cached = (quickest(time_warm(call, **QUICK).samples) for call in (one, other))
            each = max(0.0, cached - tiny) / (many - few)
            calls[key] = min(tiny, calls.get(key, tiny))
            elements[key] = min(each, elements.get(key, each))
            tell(number / len(turns))
    return {"calls": calls, "elements": elements}


def _calls() -> Iterator[tuple[str, Callable[[tuple[int, int]], tuple[Call, int]]]]:
    """Each function in the first step with it, and each fused loop: key → (call, elements)."""
    for kind in DTYPES:
        seen = set[str]()
        for chain in chains().values():
            yield f"{kind} {chain.name}", partial(_loop, chain, kind)
            for step in chain.steps:
                first = chain.kinds.get(chain.reads(step)[0])
                if step.function not in seen and first != "column":
                    seen.add(step.function)
                    yield f"{kind} {step.function}", partial(_step, chain, step, kind)


def _loop(chain: Chain, kind: str, shape: tuple[int, int]) -> tuple[Call, int]:
    return chain.bind("fused", chain.example(*shape, kind)), math.prod(shape)


def _step(chain: Chain, step: Step, kind: str, shape: tuple[int, int]) -> tuple[Call, int]:
    random = np.random.default_rng(10)  # what sin takes depends on its argument
    arrays = {
        name: random.uniform(chain.low, chain.high, chain.shape(name, *shape)).astype(DTYPES[kind])
        for name in (*chain.reads(step), step.target)
    }
    names: dict[str, Any] = {"np": np}
    exec(f"def f({', '.join(arrays)}): {step.statement[:-1]}, out={step.target})", names)
    return partial(names["f"], *arrays.values()), chain.flops(step, *shape)
