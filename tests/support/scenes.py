"""Marks of a scene by their names, for tests."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

from rooflab.show.scene import Dim, Mark, Scene, drawn


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


def some_states(scene: Scene, most: int = 5) -> Iterator[dict[str, Any]]:
    """States of a scene: up to ``most`` stops along each dimension, ends and start among them."""
    along = []
    for dim in scene.given:
        every = values(dim)
        wanted = {0, len(every) - 1, dim.start}
        wanted |= {n * (len(every) - 1) // max(1, most - 1) for n in range(most)}
        along.append([(dim.name, every[n]) for n in sorted(wanted)])
    for state in itertools.product(*along):
        yield dict(state)
