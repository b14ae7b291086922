"""The map of compilers: who chooses a schedule, what checks it, what scores it (compilers.yaml)."""

from __future__ import annotations

import html
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from types import MappingProxyType
from typing import Any

from rooflab.count.validation import unknown

COLUMNS = {
    "chooses": "who chooses the schedule",
    "legality": "what makes it legal",
    "score": "what scores it",
    "emits": "what comes out",
}
KINDS = {  # what compilers are grouped by, in the order in which the groups stand
    "user": "the user",
    "compiler": "the compiler",
    "search": "a search",
    "test": "each step is tested",
    "proof": "what can be proved is allowed",
    "construction": "moves that keep the result",
    "result": "results are compared",
    "measured": "runs are timed",
    "model": "a model predicts",
    "nothing": "nothing",
    "": "not stated in our sources",
}
GROUPED = ("chooses", "legality", "score")


@dataclass(frozen=True)
class Statement:
    """What a source says of a compiler: our words, kinds to group by, and titles of sources."""

    says: str
    kinds: tuple[str, ...]
    sources: tuple[str, ...]


@dataclass(frozen=True)
class Fact:
    """One fact to hold on to: a quotation, or code to run and what it does, with its source."""

    source: str
    quote: str = ""
    says: str = ""
    code: str = ""


@dataclass(frozen=True)
class Compiler:
    """A compiler: a statement for each column that some source states, and a fact."""

    name: str
    columns: Mapping[str, Statement]
    fact: Fact

    def says(self, column: str) -> str:
        """What stands in ``column``; a dash where no source of ours says."""
        found = self.columns.get(column)
        return found.says if found else "–"

    def kinds(self, column: str) -> tuple[str, ...]:
        """Groups that it belongs to by ``column``."""
        found = self.columns.get(column)
        return found.kinds if found else ("",)


@dataclass(frozen=True)
class CompilerMap:
    """A table of compilers, in groups if it was asked for. Made by :func:`compilers`.

    Attributes
    ----------
    rows : tuple of Compiler
        The compilers.
    by : str
        Column that they are grouped by; none if empty.

    See Also
    --------
    compilers : Makes one.

    Examples
    --------
    >>> [one.name for one in rl.search.compilers(by="legality").groups["each step is tested"]]
    ['TVM', 'Tiramisu', 'Exo']
    """

    rows: tuple[Compiler, ...]
    by: str = ""
    groups: Mapping[str, tuple[Compiler, ...]] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "groups", MappingProxyType(dict(self._groups())))

    def _groups(self) -> Iterator[tuple[str, tuple[Compiler, ...]]]:
        if not self.by:
            yield "", self.rows
            return
        for kind, title in KINDS.items():
            found = tuple(one for one in self.rows if kind in one.kinds(self.by))
            if found:
                yield title, found

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, name: str) -> Compiler:
        found = {one.name: one for one in self.rows}
        if name not in found:
            raise unknown("compiler", name, found)
        return found[name]

    def __repr__(self) -> str:
        lines = []
        for title, rows in self.groups.items():
            lines += [f"{COLUMNS[self.by]}: {title}", ""] if title else []
            for one in rows:
                lines += [*_lines(one), ""]
        return "\n".join(lines).rstrip()

    def _repr_html_(self) -> str:
        shown = sorted(COLUMNS, key=lambda column: column != self.by)  # what it is grouped by first
        heads = "".join(f'<th style="{_CELL}">{COLUMNS[column]}</th>' for column in shown)
        body = []
        for title, rows in self.groups.items():
            if title:
                words = f"{COLUMNS[self.by]}: {title}"
                body.append(f'<tr><th style="{_CELL}" colspan="{len(shown) + 2}">{words}</th></tr>')
            body += [_row(one, shown) for one in rows]
        return (
            '<table style="margin:.4em 0;color:inherit;font:inherit;border-collapse:collapse">'
            f'<tr><th style="{_CELL}">compiler</th>{heads}<th style="{_CELL}">in its own words</th>'
            f"</tr>{''.join(body)}</table>"
        )


def _lines(one: Compiler) -> list[str]:
    told = [f"{words}: {one.says(column)}" for column, words in COLUMNS.items()]
    fact = one.fact
    told.append(f'"{fact.quote}" ({fact.source})' if fact.quote else f"{fact.says} ({fact.source})")
    filled = [
        textwrap.fill(line, 96, initial_indent="  ", subsequent_indent="    ") for line in told
    ]
    return [one.name, *filled]


_CODE = "font:.85em monospace;white-space:pre-wrap;margin:.3em 0;padding:0"
_CELL = "text-align:left;vertical-align:top;padding:.3em .6em;white-space:normal"


def _row(one: Compiler, columns: Sequence[str]) -> str:
    """A row of the table; the sources of a cell stand in its tooltip."""
    cells = []
    for column in columns:
        found = one.columns.get(column)
        title = html.escape("; ".join(found.sources), quote=True) if found else ""
        said = html.escape(one.says(column))
        cells.append(f'<td style="{_CELL}" title="{title}">{said}</td>')
    fact = one.fact
    told = f"“{html.escape(fact.quote)}”" if fact.quote else html.escape(fact.says)
    code = f'<pre style="{_CODE}">{html.escape(fact.code)}</pre>' if fact.code else ""
    source = html.escape(fact.source)
    return (
        f'<tr><th style="{_CELL}" scope="row">{html.escape(one.name)}</th>{"".join(cells)}'
        f'<td style="{_CELL}">{told}{code}<br><small>{source}</small></td></tr>'
    )


@cache
def document() -> Mapping[str, Any]:
    """Return compilers.yaml as it is: the sources, and a row a compiler."""
    import yaml

    text = files("rooflab.labs.search").joinpath("compilers.yaml").read_text(encoding="utf-8")
    read: Mapping[str, Any] = yaml.safe_load(text)
    return read


@cache
def _all() -> tuple[Compiler, ...]:
    titles = {key: f"{one['title']} ({one['at']})" for key, one in document()["sources"].items()}
    return tuple(_compiler(row, titles) for row in document()["compilers"])


def _compiler(row: Mapping[str, Any], titles: Mapping[str, str]) -> Compiler:
    columns = {}
    for column in COLUMNS.keys() & row.keys():
        told, kind = row[column], row[column].get("kind", ())
        kinds = (kind,) if isinstance(kind, str) else tuple(kind)
        sources = tuple(titles[key] for key in told["source"])
        columns[column] = Statement(told["says"], kinds, sources)
    fact = Fact(**{**row["fact"], "source": titles[row["fact"]["source"]]})
    return Compiler(row["name"], MappingProxyType(columns), fact)


def compilers(*names: str, by: str = "") -> CompilerMap:
    """The map of compilers that turn loops or graphs of tensors into code.

    Parameters
    ----------
    *names : str
        Compilers to be shown; all by default.
    by : {"", "chooses", "legality", "score"}, default ""
        Column to group by. A compiler that does it in two ways stands in two groups.

    Returns
    -------
    CompilerMap
        A table: for each who chooses the schedule, what makes it legal, what scores it, what comes
        out, and a fact in its own words or as code to run. Each statement names its source.

    Raises
    ------
    ValueError
        If a name or the column is unknown.

    Examples
    --------
    >>> print(rl.search.compilers()["Exo"].fact.quote)
    The language implementation guarantees the correctness of these primitive rewrites ...
    """
    if by and by not in GROUPED:
        raise unknown("by", by, GROUPED)
    every = CompilerMap(_all())
    chosen = tuple(every[name] for name in names) if names else every.rows
    return CompilerMap(chosen, by)
