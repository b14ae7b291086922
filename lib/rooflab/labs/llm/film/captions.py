"""What a film says in every state: its sentence, the numbers on its sheet, and their words."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np

from rooflab.count.si import plain, si, times
from rooflab.labs.llm.film.grid import ALL, COMPUTE, KV, NARROW, OTHER, WEIGHTS, TimedRun
from rooflab.labs.llm.film.tables import FilmTables
from rooflab.show import theme
from rooflab.show.scene import By, Fill, Words

STEP = (
    "A batch of {batch} at context {context}: one step moves {moved} and takes about "
    "{total}, so {rate} in all.{fits}{crossed}{beyond}{measured}"
)
FITS = " It needs {need} of {machine}'s {has}."
FULL = " It does not fit: it needs {need}, {machine} has {has}."
BEYOND = " The model was trained on contexts up to {limit}."
NONE = "{machine}: {reason}, so there is no roof and no time."
#: The numbers beside the roofline.
FACTS = {
    "each sequence": "{each}",
    "bytes moved": "{moved}",
    "reading one prompt": "{prompt}",
    "memory": "{need}{of}",
}
#: Under the rate: what it is the rate of, or why there is none.
SIZES = "batch {batch}, context {context}"
MISFIT = "does not fit: {need} of {has}"
#: The parts of a bar, first at its foot, and what they say in the key.
PARTS = {WEIGHTS: "carrying weights", COMPUTE: "computing", OTHER: "other", KV: "carrying KV cache"}
CROSSING = "attention = all the rest at {context}"
MEASURED = "measured {rate}"
ESTIMATED = "estimated {rate}"  # where something measured stands beside it
HEADING = "Where the step's time goes"

size = partial(si, unit="B")  # bytes in three digits: 13.5 GB
seconds = partial(si, unit="s")


def rate(per_second: float) -> str:
    """Write tokens a second in three digits: ``57.9 tokens/s``."""
    digits = si(per_second) if 1 <= per_second < 999.5 else plain(per_second, 3)
    return f"{digits} tokens/s"


def short(context: float) -> str:
    """Write a context in three digits: ``25 700``."""
    return theme.count(int(float(f"{context:.3g}")))


def crossing(context: float, last: str) -> str:
    """Say where attention, which reads the KV cache, takes as long as all the rest."""
    if math.isinf(context):
        return f" Up to a context of {last} attention takes less time than all the rest."
    if context == 0:
        return " Attention takes longer than all the rest, at every context here."
    return f" From a context of {short(context)} on, attention takes longer than all the rest."


def measured(run: TimedRun) -> str:
    """Say what a real decode loop took, beside the estimate of the same step."""
    return (
        f" Measured at context {theme.count(run.context)}: {seconds(run.seconds)} a step, "
        f"{rate(run.per_second)}, {times(run.seconds / run.estimate)} the estimate of "
        f"{seconds(run.estimate)}."
    )


def written(values: np.ndarray, write: Callable[[float], str]) -> np.ndarray:
    """Write each of ``values`` as a text; "" for what is not a number."""
    texts = ["" if math.isnan(value) else write(value) for value in np.ravel(values).tolist()]
    return np.array(texts, object).reshape(np.shape(values))


@dataclass(frozen=True)
class Captions:
    """The words of a film, each as one text a state."""

    tables: FilmTables

    @cached_property
    def numbers(self) -> dict[str, By]:
        """What stands in the holes of words: every number of the film, written."""
        t, grid, places = self.tables, self.tables.grid, "weights kv batch context"
        batches = np.array(grid.batches)[:, None]
        return {
            "machine": By("machine", [offer.name for offer in t.offers]),
            "batch": By("batch", [theme.count(n) for n in grid.batches]),
            "context": By("context", [theme.count(n) for n in grid.contexts]),
            "total": By(ALL, written(t.total, seconds)),
            "rate": By(ALL, written(batches / t.total, rate)),
            "each": By(ALL, written(1 / t.total, rate)),
            "prompt": By("machine weights kv context", written(t.seconds["prefill"], seconds)),
            "moved": By(places, written(grid.moved, size)),
            "need": By(places, written(grid.needs, size)),
            "has": By("machine", written(t.memory, size)),
            "of": By("machine", written(t.memory, lambda nbytes: f" of {size(nbytes)}")),
        }

    def fill(self, template: str | By, **more: Words) -> Fill:
        """Fill a template with those of the :attr:`numbers` that it asks for, and with ``more``."""
        asked = template if isinstance(template, str) else "".join(np.ravel(template.values))
        holes = {name: one for name, one in self.numbers.items() if f"{{{name}}}" in asked}
        return Fill(template, **holes, **more)

    @cached_property
    def sentence(self) -> Words:
        """What the film says."""
        t, contexts = self.tables, self.tables.grid.contexts
        limit = t.grid.model.context or contexts[-1]
        beyond = [BEYOND.format(limit=theme.count(limit)) if n > limit else "" for n in contexts]
        crossed = written(t.crossing, partial(crossing, last=theme.count(contexts[-1])))
        return self.fill(
            By("machine weights", np.where(t.usable, STEP, NONE).astype(object)),
            reason=By("machine weights", np.array(t.no, object)),
            fits=self.fill(By("fit", ["", FULL, FITS])),
            crossed=By("machine weights kv batch", crossed),
            beyond=By("context", beyond),
            measured=self.ran(measured, ""),
        )

    def ran(self, write: Callable[[TimedRun], str], between: str) -> By:
        """Write what was measured with these weights and this batch; "" where nothing was."""
        m, w, _, i, _ = self.tables.shape
        texts = np.full((m, w, i), "", object)
        for run in self.tables.timed:
            before = texts[run.place]
            texts[run.place] = before + between * bool(before) + write(run)
        return By(NARROW, texts)
