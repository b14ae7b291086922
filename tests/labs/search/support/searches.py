"""Searches that take no clock: what a schedule takes is drawn from its name."""

from __future__ import annotations

import zlib
from dataclasses import replace
from functools import cache
from unittest import mock

from rooflab.labs.loops.nest import Nest
from rooflab.labs.search.schedules import beam
from rooflab.labs.search.schedules.beam import identity, search
from rooflab.labs.search.schedules.result import Search
from tests.labs.search.support.machines import PLAIN, WIDE


def made_up(nest: Nest) -> float:
    """Seconds that depend on the schedule alone: the more transformations, the fewer, roughly."""
    return 4e-6 / (1 + len(nest.log)) * (1 + zlib.crc32(identity(nest).encode()) % 100 / 100)


@cache
def searched(width: int = 2, n: int = 32) -> Search:
    """A search of a product of n×n matrices on a machine of round numbers, with AVX-512."""
    with mock.patch.object(beam, "host", return_value=WIDE):
        found = search(n, width=width, machine=PLAIN, measure=made_up, seconds=60, progress=False)
    return replace(found, timed=True)  # what it made up is seconds
