"""Marks of a scene by their names, for tests."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from rooflab.show.scene import Dim, Mark, Scene, drawn

GOLDEN = (math.sqrt(5) - 1) / 2


def named(scene: Scene, name: str) -> list[Mark]:
    """All marks of that name, in the order drawn."""
    found = [mark for mark in scene.marks if mark.name == name]
    assert found, f"no mark is called {name!r}"
    return found


def seen(picture: Any) -> list[str]:
    """The names of all marks that a picture shows now."""
    return [mark.name for mark, _ in drawn(picture.scene, **picture.state)]


def texts(picture: Any, name: str = "") -> list[str]:
    """The words that a picture shows now, or those of the marks of one name."""
    found = drawn(picture.scene, **picture.state)
    return [h["text"] for m, h in found if h.get("text") and (not name or m.name == name)]


def values(dim: Dim) -> list[Any]:
    """What the trait of a dimension may hold."""
    return [*dim.names] if dim.names is not None else [*range(len(dim.stops))]


def some_states(scene: Scene, most: int = 5, limit: int | None = None) -> Iterator[dict[str, Any]]:
    """States of a scene: up to ``most`` stops along each dimension, ends and start among them.

    All their combinations, or ``limit`` of them, spread over all: steps of the golden ratio of
    their number come near to none twice and leave no dimension standing still.
    """
    along = []
    for dim in scene.given:
        every = values(dim)
        wanted = {0, len(every) - 1, dim.start}
        wanted |= {n * (len(every) - 1) // max(1, most - 1) for n in range(most)}
        along.append([(dim.name, every[n]) for n in sorted(wanted)])
    count = math.prod(map(len, along))
    stride = 1
    if limit is not None and limit < count:
        stride = round(count * GOLDEN)
        while math.gcd(stride, count) > 1:
            stride += 1
    for turn in range(count if limit is None else min(limit, count)):
        number = turn * stride % count
        state = {}
        for stops in reversed(along):
            number, place = divmod(number, len(stops))
            name, value = stops[place]
            state[name] = value
        yield dict(reversed(state.items()))
