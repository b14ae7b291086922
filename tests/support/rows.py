"""A table of rows that one test goes through: one case, and every row that fails is named."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable

import pytest


def each_row(*rows: object) -> Callable[[Callable], Callable]:
    """Give the test one row after the other, and name the rows on which it failed.

    A tuple holds the test's first arguments; anything else is its first. The rest are fixtures,
    which all rows share, but for ``monkeypatch``: what a row patches ends with it.
    """
    values = [row if isinstance(row, tuple) else (row,) for row in rows]
    if len({len(row) for row in values}) != 1:
        raise ValueError("rows: give one at least, and all of one length")

    def over_rows(test: Callable) -> Callable:
        signature = inspect.signature(test)
        names = list(signature.parameters)[: len(values[0])]

        @functools.wraps(test)
        def looped(**fixtures: object) -> None:
            faults = []
            for number, row in enumerate(values):
                try:
                    with pytest.MonkeyPatch.context() as patch:
                        given = dict(zip(names, row, strict=True)) | fixtures
                        test(**given | ({"monkeypatch": patch} if "monkeypatch" in given else {}))
                except (Exception, BaseExceptionGroup, pytest.fail.Exception) as fault:
                    fault.add_note(f"row {number}: {', '.join(map(_shown, row))}")
                    faults.append(fault)
            if len(faults) == 1:
                raise faults[0]
            if faults:
                raise BaseExceptionGroup(f"{len(faults)} of {len(values)} rows", faults)

        fixtures = list(signature.parameters.values())[len(names) :]
        looped.__signature__ = signature.replace(parameters=fixtures)
        return looped

    return over_rows


def _shown(value: object) -> str:
    """A function by its name and line, whatever else as Python writes it, cut to one line."""
    code = getattr(value, "__code__", None)
    return f"{code.co_name} of line {code.co_firstlineno}" if code else repr(value)[:200]
