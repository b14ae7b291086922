"""What of an answer cell is run before the cell itself, in case the cell does not reach it.

Above ``def peak(…)`` a learner may explore: plot a curve, print what was measured. In the grade
nothing is measured, so such a line fails, and what stands below it would never be defined. The
same goes for an import of what is not installed there.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterable

from rooflab.grade.kept import absent, parsed, still, text_of
from rooflab.grade.needed import given, needed


def early(source: str, names: Collection[str]) -> str:
    """Return the statements that give ``names``, of answers, and what they need; "" if nothing
    stands between them that could fail."""
    tree = parsed(source)
    if tree is None:
        return ""
    wanted = {id(node) for node in needed(names, tree.body)}
    stays = [(still(node) or id(node) in wanted) and not absent(node) for node in tree.body]
    giving = [n for n, node in enumerate(tree.body) if stays[n] and given(node) & {*names}]
    if not giving or all(stays[: giving[-1]]):
        return ""
    return in_place(source, [node for node, one in zip(tree.body, stays, strict=True) if one])


def in_place(source: str, nodes: Iterable[ast.stmt]) -> str:
    """Return statements of a cell, each on the lines where it stands: messages name lines."""
    lines = [""] * (source.count("\n") + 1)
    for node in nodes:
        first = min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", []))]) - 1
        text = text_of(source, [node]).split("\n")
        text[0] = f"{lines[first]}; {text[0]}" if lines[first] else text[0]
        lines[first : first + len(text)] = text
    return "\n".join(lines)
