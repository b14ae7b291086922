"""Tables as arguments: a DataFrame, a mapping of columns, or rows of plain numbers.

Nothing of pandas is imported: what has ``columns`` and gives one by its name is read.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any

from rooflab.count.validation import amount

Row = dict[str, Any]


@dataclass(frozen=True)
class Column:
    """A column that is looked for: by its ``name`` or by ``others``, whatever the case.

    ``unit``: what its numbers are in; "" for a column of words. A column that is not ``needed``
    may be left out.
    """

    name: str
    unit: str = ""
    others: tuple[str, ...] = ()
    needed: bool = True

    def find(self, names: Iterable[Any]) -> Any:
        """The one of ``names`` that this column has in a table; None without it."""
        known = {_plain(name) for name in (self.name, *self.others)}
        return next((name for name in names if _plain(name) in known), None)


def _plain(name: object) -> str:
    return "".join(str(name).lower().split()).replace("_", "")


def is_table(given: object) -> bool:
    """Whether ``given`` is a mapping of columns, or a DataFrame of any library."""
    return isinstance(given, Mapping) or (
        hasattr(given, "columns") and hasattr(given, "__getitem__")
    )


def rows_of(argument: str, given: Any, columns: Sequence[Column]) -> list[Row]:
    """Return the table ``given`` as rows: a dict of the ``columns`` it has, each checked.

    Raises ValueError or TypeError naming ``argument``, the column or the row, and what is wanted.
    """
    names = list(given.keys() if isinstance(given, Mapping) else given.columns)
    found = {column: column.find(names) for column in columns}
    missing = [column for column, name in found.items() if name is None and column.needed]
    if missing:
        wanted = " and ".join(f"{c.name!r} ({c.unit})" if c.unit else repr(c.name) for c in missing)
        raise ValueError(f"{argument}: no column {wanted} among {_few(names)}; rename one to that")
    held = {
        column: _values(argument, name, given[name])
        for column, name in found.items()
        if name is not None
    }
    lengths = {len(values) for values in held.values()}
    if len(lengths) != 1:
        counts = ", ".join(f"{column.name} {len(values)}" for column, values in held.items())
        raise ValueError(f"{argument}: columns of different lengths: {counts}")
    many = lengths.pop()
    if not many:
        raise ValueError(f"{argument}: the table has no rows")
    return [
        {one.name: checked(argument, row, one, values[row]) for one, values in held.items()}
        for row in range(many)
    ]


def is_number(value: object) -> bool:
    """Whether ``value`` is a number, of Python or NumPy, and no yes or no."""
    return isinstance(value, Real) and type(value).__name__ not in ("bool", "bool_")


def checked(argument: str, row: int, column: Column, value: Any) -> Any:
    """Return ``value`` as a word or as a number above 0; raise naming ``argument`` and ``row``."""
    if not column.unit:
        return "" if value is None or value != value else str(value)  # nan is no name
    right = f"a number of {column.unit}, above 0"
    return amount(f"{argument}: row {row}, {column.name}", value, right)


def _values(argument: str, name: object, values: Any) -> list[Any]:
    if isinstance(values, str) or not isinstance(values, Iterable):
        raise TypeError(
            f"{argument}: column {name!r} is {values!r}; give a list of values, one a row"
        )
    return list(values)


def _few(names: Sequence[Any]) -> str:
    shown = ", ".join(map(repr, names[:8]))
    return f"{shown}, … ({len(names)} in all)" if len(names) > 8 else shown or "none"
