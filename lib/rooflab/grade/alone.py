"""What of a learner's notebook is run around the answers, and what byte golf and timing run
alone."""

from __future__ import annotations

import ast
from collections.abc import Collection, Mapping, Sequence

from rooflab.exercises.registry import exercise
from rooflab.grade.gate import TRACED, innocent
from rooflab.grade.intake import CodeCell
from rooflab.grade.kept import absent, parsed, text_of
from rooflab.grade.needed import given, needed, read

MOST_CODE = 300_000  # characters that are looked into: three times the longest honest notebook


def relied_on(cells: Sequence[CodeCell], order: Collection[str]) -> frozenset[tuple[int, int]]:
    """Return cell number and line of the statements around the answers that these need."""
    trees = _trees(cells)
    names = {name for cell, tree in trees if cell.exercise in order for name in read(tree)}
    around = [
        (cell, node) for cell, tree in trees if cell.exercise not in order for node in tree.body
    ]
    wanted = {id(node) for node in needed(names, [node for _, node in around])}
    return frozenset(
        (cell.number, node.lineno)
        for cell, node in around
        if id(node) in wanted and not absent(node)
    )


def alone_in(
    cells: Sequence[CodeCell],
    names: Mapping[str, str],
    checked: Mapping[str, int],
    owned: Mapping[int, Collection[str]],
) -> dict[str, str]:
    """Return, for each exercise of ``names`` (id → name of the answer) that can be run alone, the
    statements that it needs, as text, from whatever cells.

    ``checked``: number of the cell behind which each is checked; what gives a name another value
    below it is left out. ``owned``: number of a cell → the exercises that it answers. What could
    forge a trace, or tries to, is left out too: it stays in its place, and the gate says so.
    """
    trees = _trees(cells)
    found = {}
    for asked, name in names.items():
        above = [n for c, t in trees for n in t.body if c.number <= checked[asked]]
        named = frozenset().union(*map(given, above))
        below = [n for c, t in trees for n in t.body if c.number > checked[asked]]
        nodes = above + [n for n in below if not given(n) & named]
        wanted = {id(node) for node in needed([name], nodes)}
        parts = [text_of(c.source, [n for n in t.body if id(n) in wanted]) for c, t in trees]
        text = "\n".join(part for part in parts if part)
        own = [
            node
            for cell, tree in trees
            if asked in owned.get(cell.number, ())
            for node in tree.body
        ]
        traced = exercise(asked).kind in TRACED
        into = traced and any(map(_into_rooflab, own))
        if own and text and innocent(text, asked) and not into:
            found[asked] = text
    return found


def _trees(cells: Sequence[CodeCell]) -> list[tuple[CodeCell, ast.Module]]:
    if sum(len(cell.source) for cell in cells) > MOST_CODE:
        return []
    return [(cell, tree) for cell in cells if (tree := parsed(cell.source)) is not None]


def _into_rooflab(statement: ast.stmt) -> bool:
    """Whether it imports a part of rooflab: with that one could forge, and answers nothing."""
    return any(
        (isinstance(node, ast.Import) and any(n.name.startswith("rooflab.") for n in node.names))
        or (isinstance(node, ast.ImportFrom) and (node.module or "").startswith("rooflab."))
        for node in ast.walk(statement)
    )
