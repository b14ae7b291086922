"""What a film says in every state: its sentence, and the numbers beside the roofline."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np

from rooflab.labs.llm.film import words
from rooflab.labs.llm.film.grid import ALL, NARROW
from rooflab.labs.llm.film.tables import FilmTables, written
from rooflab.show import theme
from rooflab.show.scene import By, Fill, Words


@dataclass(frozen=True)
class Captions:
    """The words of a film, each as one text a state."""

    tables: FilmTables

    @cached_property
    def total(self) -> By:
        """Time of the step."""
        return By(ALL, written(self.tables.total, words.seconds))

    @cached_property
    def rate(self) -> By:
        """Tokens a second of all sequences."""
        batches = np.array(self.tables.grid.batches)[:, None]
        return By(ALL, written(batches / self.tables.total, words.rate))

    @property
    def headline(self) -> Fill:
        """The rate; that it is estimated where something measured stands beside it."""
        beside = self.ran("rate", " ")
        template = np.where(beside.values == "", "{rate}", words.ESTIMATED).astype(object)
        return Fill(By(NARROW, template), rate=self.rate)

    @cached_property
    def moved(self) -> By:
        """Bytes of the step."""
        return By("weights kv batch context", written(self.tables.moved, words.size))

    @cached_property
    def need(self) -> By:
        """Bytes of memory that it needs."""
        return By("weights kv batch context", written(self.tables.grid.needs, words.size))

    @cached_property
    def has(self) -> By:
        """Bytes of memory that the machine has."""
        return By("machine", written(self.tables.memory, words.size))

    @cached_property
    def batch(self) -> By:
        """How many sequences share the step."""
        return By("batch", [theme.count(n) for n in self.tables.grid.batches])

    @cached_property
    def context(self) -> By:
        """How many tokens a sequence has so far."""
        return By("context", [theme.count(n) for n in self.tables.grid.contexts])

    @property
    def sizes(self) -> Fill:
        """Batch and context, or that they do not fit."""
        template = By("fit", [words.SIZES, words.MISFIT, words.SIZES])
        holes = {"batch": self.batch, "context": self.context, "need": self.need, "has": self.has}
        return Fill(template, **holes)

    @cached_property
    def machine(self) -> By:
        """Name of the machine."""
        return By("machine", [offer.name for offer in self.tables.offers])

    @cached_property
    def sentence(self) -> Words:
        """What the film says."""
        machine = self.machine
        template = np.where(self.tables.usable, words.STEP, words.NONE).astype(object)
        return Fill(
            By("machine weights", template), batch=self.batch, context=self.context,
            moved=self.moved, total=self.total, rate=self.rate, fits=self._fits, machine=machine,
            crossed=self._crossed, beyond=self._beyond, measured=self.ran("sentence", ""),
            reason=By("machine weights", np.array(self.tables.no, object)),
        )  # fmt: skip

    @property
    def _fits(self) -> Fill:
        template = By("fit", ["", words.FULL, words.FITS])
        return Fill(template, need=self.need, machine=self.machine, has=self.has)

    @property
    def _crossed(self) -> By:
        write = partial(words.crossing, last=self.tables.grid.contexts[-1])
        return By("machine weights kv batch", written(self.tables.crossing, write))

    @property
    def _beyond(self) -> By:
        limit = self.tables.grid.model.context
        said = words.BEYOND.format(limit=theme.count(limit)) if limit else ""
        return By("context", [said if c > (limit or c) else "" for c in self.tables.grid.contexts])

    def ran(self, what: str, between: str) -> By:
        """A text of what was measured with these weights and this batch; "" where nothing was."""
        m, w, _, i, _ = self.tables.shape
        found = np.full((m, w, i), "", object)
        for place, runs in enumerate(self.tables.timed):
            for one in (one for one in runs if one.i >= 0):
                said = found[place, one.w, one.i]
                text = getattr(one, what)
                found[place, one.w, one.i] = said + between + text if said else text
        return By(NARROW, found)
