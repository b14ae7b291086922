"""Schedules: give the learner's function a loop nest, and write down what it did to the nest.

A case says the nest in plain data: "extents" and "text", and "order" and "shapes" where they are
not the usual ones. The other entries are for the judge. An observation holds the log of
transformations, each as its name and its arguments. No loop runs here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from rooflab.exercises.observe.observation import Case, Observation, observe
from rooflab.labs.loops.legality.verdict import Verdict
from rooflab.labs.loops.nest import Nest

if TYPE_CHECKING:
    from rooflab.exercises.observe.plaindata import Plain

WANTED = "return the nest itself, as its transformations give it"


def nest_of(case: Case, extents: Mapping[str, Any] | None = None) -> Nest:
    """Return the nest of a case as it is written, or one of other ``extents``."""
    entry: Mapping[str, Any] = case
    order, shapes = entry.get("order", "body"), entry.get("shapes") if extents is None else None
    used = entry["extents"] if extents is None else extents
    return Nest(used, entry["text"], order=order, shapes=shapes)


def run(case: Case, answer: Callable[..., object]) -> Observation:
    """Return the log of the nest that ``answer`` makes of the case's nest."""
    nest, made = nest_of(case), []
    seen = observe(lambda: made.append(answer(nest)) or True)  # type: ignore[func-returns-value]
    if "value" not in seen:
        return seen
    if made[0] is None or made[0] is ...:
        return {"missing": True}
    came = observe(lambda: _log(nest, made[0]))
    if str(came.get("error", "")).startswith("TypeError: "):  # of _log
        return {"unreadable": str(came["error"]).removeprefix("TypeError: ")}
    return came


def _log(nest: Nest, made: object) -> list[Plain]:
    """The log of ``made``. Raises TypeError that says what else it is."""
    if not isinstance(made, Nest):
        raise TypeError(_stranger(made))
    for name in ("statements", "extents", "order", "shapes"):
        if getattr(made, name) != getattr(nest, name):
            raise TypeError(
                f"a nest of another problem came back: it differs in {name}. Transform the nest "
                "that your function is given"
            )
    return [[name, list(arguments)] for name, arguments in made.log]


def _stranger(made: object) -> str:
    """Say what came back where a nest is wanted."""
    if isinstance(made, Verdict):
        return f"the verdict of check() came back; {WANTED}"
    if isinstance(made, str):
        return f"a text came back; {WANTED}"
    if isinstance(made, Mapping):
        return f"a dictionary came back, as run() gives it; {WANTED}"
    if isinstance(made, (list, tuple)):
        return f"a {type(made).__name__} came back; {WANTED}, and only one"
    if callable(made):
        return f"something that can be called came back; call it: tile(…), not tile. Then {WANTED}"
    kind = str(type.__dict__["__name__"].__get__(type(made)))
    return f"something else came back, of type {kind}; {WANTED}"
