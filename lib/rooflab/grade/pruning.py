"""What of an answer cell is left out so that a line the answer has no need of costs no points.

In an exercise that asks to derive what the library has, whatever could get round the lock makes
its answer count for nothing. A test below the answer, such as ``unittest.main(…)``, or an import
that nothing uses, cannot help it either: it is left out, and the answer counts.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterable, Mapping, Sequence

from rooflab.grade import forbidden
from rooflab.grade.early import in_place
from rooflab.grade.intake import CodeCell
from rooflab.grade.kept import modules_of, parsed
from rooflab.grade.needed import Needs, given
from rooflab.grade.packages import missing_elsewhere
from rooflab.grade.suspects import borrowing, flaw

Place = tuple[int, int, int]  # number of a cell, line, column


def needed_places(cells: Iterable[CodeCell], names: Iterable[str]) -> frozenset[Place]:
    """Return where the statements stand that give ``names``, the answers, and what they need."""
    trees = [(cell.number, tree) for cell in cells if (tree := parsed(cell.source))]
    wanted = {id(node) for node in Needs([n for _, tree in trees for n in tree.body]).of(names)}
    return frozenset(
        _place(number, node) for number, tree in trees for node in tree.body if id(node) in wanted
    )


def foreign(
    cells: Iterable[CodeCell], names: Mapping[str, str], answered: Collection[str]
) -> list[str]:
    """Return a remark on each answer that needs a module which the course does not install.

    ``names``: exercise → name of its answer; ``answered``: the exercises that have one.
    """
    nodes = [n for cell in cells if (tree := parsed(cell.source)) for n in tree.body]
    if not any(modules_of(part) for node in nodes for part in ast.walk(node)):
        return []
    needs = Needs(nodes)
    found = []
    for id in answered:
        parts = (part for node in needs.of([names[id]]) for part in ast.walk(node))
        if why := missing_elsewhere(frozenset().union(*map(modules_of, parts))):
            found.append(f"{id}: {why}")
    return found


def pruned(cell: CodeCell, needed: Collection[Place]) -> str:
    """Return the source of an answer cell without what gets round the lock and no answer needs."""
    tree = parsed(cell.source)
    if tree is None or forbidden.COMMAND.search(cell.source):
        return cell.source
    stays = _without_flaws(cell, tree.body, needed)
    if len(stays) == len(tree.body):
        return cell.source
    return in_place(cell.source, stays)


def _without_flaws(
    cell: CodeCell, nodes: Sequence[ast.stmt], needed: Collection[Place]
) -> list[ast.stmt]:
    """``nodes`` that may run; a star import gives names that nobody can tell, so it stays."""

    def stays(node: ast.stmt) -> bool:
        wanted = _place(cell.number, node) in needed or "*" in given(node)
        return wanted or flaw([node], borrowing) is None

    return [node for node in nodes if stays(node)]


def _place(number: int, node: ast.stmt) -> Place:
    return number, node.lineno, node.col_offset
