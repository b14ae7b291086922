"""What an answer needs besides the course's own packages: where it is graded, that may be missing."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable
from functools import cache
from importlib import metadata

NEEDS = "it needs {}, which the course does not install: where it is graded it may not be there"
_OURS = frozenset(("", "__main__", "rooflab", "numpy", "cupy", "cupyx"))  # CuPy has a stand-in


def missing_elsewhere(modules: Iterable[str]) -> str | None:
    """Say which of the top-level ``modules`` the course does not install; None if it has all."""
    strange = {*modules} - _OURS - sys.stdlib_module_names
    foreign = sorted(strange - _installed_by_course()) if strange else []
    return NEEDS.format(" and ".join(foreign)) if foreign else None


@cache
def _installed_by_course() -> frozenset[str]:
    """The modules of rooflab's distribution and of all that it requires."""
    found: set[str] = set()
    waiting = ["rooflab"]
    while waiting:
        name = _plain(waiting.pop())
        if name in found:
            continue
        found.add(name)
        try:
            required = metadata.requires(name) or []
        except metadata.PackageNotFoundError:  # for another system, say
            continue
        needs = [re.match(r"[\w.-]+", one)[0] for one in required if "extra ==" not in one]
        waiting += needs
    modules = metadata.packages_distributions().items()
    return frozenset(module for module, by in modules if not found.isdisjoint(map(_plain, by)))


def _plain(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()
