"""What the course may weigh: lines a room in ``tests/budget.toml``, which may only fall.

    python tools/budget.py            how many lines each room has, beside its entry
    python tools/budget.py --lower    lower the entries of rooms that have become lighter

Counted are code, styles, templates and scripts; data is not. A room is a folder of ``lib/rooflab``
or ``tests``, each lab one of its own; its loose files are the room of the folder itself. An entry
may rise when others fall as much in the same commit, so the sum stays; a new lesson brings its own.
"""

from __future__ import annotations

import ast
import sys
import tomllib
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parent.parent
BUDGET = REPOSITORY / "tests" / "budget.toml"
COUNTED = {".py", ".js", ".css", ".j2", ".html", ".cu", ".pyi"}
PLACES = {  # heading in the budget → folders whose lines it holds
    "lines": ("lib/rooflab", "tools", "assets/site"),
    "test-lines": ("tests",),
}
SPLIT = ("lib/rooflab", "lib/rooflab/labs", "tests", "tests/labs")  # their folders are rooms
SLACK, LEAST = 0.03, 60  # a room may be this much lighter than its entry: the larger of the two
#: Names that say an act where they should name a thing (STYLE 10); assigned in lib, they only fall.
ACTS = ("found", "said", "told")
HEAD = "# What each room may weigh; read by tests/test_budget.py, lowered by `course.py fmt`.\n"


def room(file: Path) -> str:
    """Return the room that ``file``, relative to the repository, belongs to."""
    parts = file.parent.as_posix()
    inner = [place for place in SPLIT if parts == place or parts.startswith(f"{place}/")]
    if not inner:
        return next(
            place
            for places in PLACES.values()
            for place in places
            if f"{parts}/".startswith(f"{place}/")
        )
    deepest = max(inner, key=len)
    rest = parts[len(deepest) + 1 :].split("/")[0]
    return f"{deepest}/{rest}" if rest else deepest


def counted(place: str) -> Iterable[Path]:
    """Yield every file below ``place`` whose lines count, relative to the repository."""
    for path in sorted((REPOSITORY / place).rglob("*")):
        if path.suffix in COUNTED and path.is_file() and "__pycache__" not in path.parts:
            yield path.relative_to(REPOSITORY)


def lines(places: Iterable[str]) -> dict[str, int]:
    """Return how many lines each room of ``places`` has."""
    rooms: Counter[str] = Counter()
    for place in places:
        for file in counted(place):
            rooms[room(file)] += (REPOSITORY / file).read_bytes().count(b"\n")
    return dict(sorted(rooms.items()))


def acts() -> dict[str, int]:
    """Return how often lib assigns to each name of ``ACTS``."""
    names: Counter[str] = Counter()
    for file in counted("lib/rooflab"):
        if file.suffix == ".py":
            tree = ast.parse((REPOSITORY / file).read_bytes())
            nodes = (node for node in ast.walk(tree) if isinstance(node, ast.Name))
            names.update(n.id for n in nodes if n.id in ACTS and isinstance(n.ctx, ast.Store))
    return {name: names[name] for name in ACTS}


def weighed() -> dict[str, dict[str, int]]:
    """Return what is counted, under the headings of the budget; cases are the full run's."""
    return {heading: lines(places) for heading, places in PLACES.items()} | {"names": acts()}


def faults(budget: dict[str, dict[str, int]], actual: dict[str, dict[str, int]]) -> list[str]:
    """Return what is above the budget, far below it, or without an entry."""
    wrong = []
    for heading, rooms in actual.items():
        entries = budget[heading]
        for name in sorted({*rooms, *entries} - {"sum"}):
            has, entry = rooms.get(name, 0), entries.get(name)
            if entry is None:
                wrong.append(f"{name} has {has} lines and no entry under [{heading}]")
            elif has > entry:
                wrong.append(f"{name}: {has}, {has - entry} above its entry: what goes out?")
            elif entry - has > max(SLACK * entry, LEAST):
                wrong.append(f"{name}: {has}, well below {entry}: run python course.py fmt")
        total = sum(entry for name, entry in entries.items() if name != "sum")
        if heading in PLACES and total > entries["sum"]:
            wrong.append(f"[{heading}]: entries add up to {total}, above the sum {entries['sum']}")
    return wrong


def lowered(
    budget: dict[str, dict[str, int]], actual: dict[str, dict[str, int]]
) -> dict[str, dict[str, int]]:
    """Return the budget with each entry, and the sums, at most what is there."""
    lower = {heading: dict(entries) for heading, entries in budget.items()}
    for heading, rooms in actual.items():
        entries = {n: min(e, rooms.get(n, 0)) for n, e in lower[heading].items() if n != "sum"}
        lower[heading] = {name: entry for name, entry in entries.items() if entry}
        if heading in PLACES:
            total = min(sum(entries.values()), lower[heading].get("sum", budget[heading]["sum"]))
            lower[heading] = {"sum": total} | lower[heading]
    return lower


def written(budget: dict[str, dict[str, int]]) -> str:
    """Return the budget as TOML."""
    blocks = []
    for heading, entries in budget.items():
        rows = (
            f'"{name}" = {n}' if "/" in name else f"{name} = {n}" for name, n in entries.items()
        )
        blocks.append("\n".join([f"[{heading}]", *rows]))
    return HEAD + "\n" + "\n\n".join(blocks) + "\n"


def main(arguments: list[str]) -> int:
    """Print the table, or lower the entries; return how many faults there are."""
    budget, actual = tomllib.loads(BUDGET.read_text("utf-8")), weighed()
    if "--lower" in arguments:
        BUDGET.write_text(written(lowered(budget, actual)), "utf-8")
        return 0
    for heading, rooms in actual.items():
        print(f"[{heading}] {sum(rooms.values())}")
        for name, has in rooms.items():
            print(f"  {name:<28} {has:>7} {budget[heading].get(name, 0):>7}")
    wrong = faults(budget, actual)
    print("\n".join(wrong))
    return len(wrong)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
