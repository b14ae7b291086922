"""The map of compilers: every statement has a source, every quotation is short."""

from __future__ import annotations

import ast
import re
from html.parser import HTMLParser

import pytest

import rooflab as rl
from rooflab.labs.search.compiler_map import COLUMNS, GROUPED, KINDS, document

NAMES = [
    "Halide",
    "TVM",
    "TileLang",
    "Tiramisu",
    "AKG",
    "Triton",
    "tinygrad",
    "XLA",
    "Exo",
    "loopy",
]
ROWS = document()["compilers"]


def test_these_are_on_the_map() -> None:
    assert [one.name for one in rl.search.compilers().rows] == NAMES


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["name"])
def test_every_statement_has_its_source(row) -> None:
    assert row.keys() <= {"name", "fact", *COLUMNS}
    for column in COLUMNS.keys() & row.keys():
        assert row[column]["source"] and row[column]["says"]
        kinds = row[column].get("kind", [])
        kinds = [kinds] if isinstance(kinds, str) else kinds
        assert bool(kinds) == (column in GROUPED) and set(kinds) <= KINDS.keys() - {""}
    named = {key for column in COLUMNS.keys() & row.keys() for key in row[column]["source"]}
    assert named | {row["fact"]["source"]} <= document()["sources"].keys()


def test_every_source_is_used_and_says_which_version_was_read() -> None:
    used = {key for row in ROWS for column in COLUMNS.keys() & row.keys()
            for key in row[column]["source"]}  # fmt: skip
    used |= {row["fact"]["source"] for row in ROWS}
    assert used == document()["sources"].keys()
    for source in document()["sources"].values():
        read = r"[\w-]+/[\w-]+ [0-9a-f]{7}|arXiv \d{4}\.\d{5}|doi 10\.|discussion \d+|\w+ \d{4}\.\d"
        assert re.search(read, source["at"]), source


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["name"])
def test_a_fact_is_a_short_quotation_or_runs(row) -> None:
    fact = row["fact"]
    if "quote" in fact:
        assert 5 <= len(fact["quote"].split()) <= 25
    else:
        assert fact["says"] and ast.parse(fact["code"]).body


def test_who_checks_what_a_step_does() -> None:
    groups = rl.search.compilers(by="legality").groups
    found = {title: [one.name for one in rows] for title, rows in groups.items()}
    assert found[KINDS["test"]] == ["TVM", "Tiramisu", "Exo"]
    assert found[KINDS["user"]] == ["loopy"]
    assert found[KINDS["proof"]] == ["Halide"]  # of a reduction; other loops have no order
    assert found[KINDS["construction"]] == ["Halide", "tinygrad"]
    assert found[KINDS[""]] == ["AKG", "Triton", "XLA"]  # their sources do not say
    assert [one for rows in found.values() for one in rows].count("XLA") == 1


def test_a_compiler_in_two_ways_stands_in_two_groups() -> None:
    groups = rl.search.compilers("TVM", "Exo", by="score").groups
    assert [[one.name for one in rows] for rows in groups.values()] == [["TVM"], ["TVM"], ["Exo"]]


class Cells(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.rows: list[int] = []
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        if tag == "br":
            return
        self.open.append(tag)
        if tag == "tr":
            self.rows.append(0)
        if tag in ("th", "td"):
            self.rows[-1] += int(dict(attributes).get("colspan") or 1)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


@pytest.mark.parametrize("by", ["", *GROUPED])
def test_the_table_is_whole(by: str) -> None:
    shown = rl.search.compilers(by=by)
    cells = Cells()
    cells.feed(shown._repr_html_())
    assert cells.open == []
    assert set(cells.rows) == {2 + len(COLUMNS)}
    assert not by or shown._repr_html_().index(COLUMNS[by]) == min(
        shown._repr_html_().index(words) for words in COLUMNS.values()
    )
    repeated = sum(map(len, shown.groups.values()))
    assert len(cells.rows) == 1 + repeated + (len(shown.groups) if by else 0)


def test_what_stands_in_a_cell_is_text() -> None:
    table = rl.search.compilers("loopy")._repr_html_()
    assert "0 &lt;= i &lt; 8" in table and "<= i" not in table


def test_the_plain_form_has_everything() -> None:
    said = repr(rl.search.compilers(by="legality"))
    assert all(f"\n{name}\n" in f"\n{said}" for name in NAMES)
    assert "what makes it legal: each step is tested" in said
    assert max(map(len, said.splitlines())) <= 96


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: rl.search.compilers(by="colour"), "by='colour'"),
        (lambda: rl.search.compilers("Haldie"), "did you mean 'Halide'"),
        (lambda: rl.search.compilers()["gcc"], "compiler='gcc'"),
    ],
)
def test_unknown_names_are_refused(call, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        call()
