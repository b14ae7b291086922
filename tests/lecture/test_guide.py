"""The guide's slide numbers, as far as no browser is needed: tests/browser/test_lessons.py has the
decks."""

from __future__ import annotations

import re

import nbformat

from tests.lecture.guide import GUIDE, Named, astray, named
from tests.support.rows import each_row
from tools.site import NOTEBOOKS

HEADINGS = {"The roof": 2, "Vote 1": 3, "Claim court: below 4": 5}
TEXTS = ["Title", "The roof", "Vote", "The datasheet of an H200", "Claim court"]


def test_every_row_of_the_script_is_read():
    rows = re.findall(r"^\| [\d½]+ \| \d\d: \**\d", GUIDE.read_text("utf-8"), re.M)
    found = named()
    assert len(found) == len(rows) + 1 >= 24, "and one of the table of answers"
    assert {one.lesson for one in found} == {"00", "01", "02", "03"}
    assert all(one.slides for one in found)


@each_row(
    ("*The roof*: press *work per second*", {2}, []), ("*The roof*: press", {3}, ["The roof"]),
    ("**vote 1**", {3}, []), ("**Vote 1** (fp32)", {4, 5}, ["Vote 1"]),
    ("the claim *below 4*", {5}, []), ("The H200's free lunch", {4}, []),
    ("The H200's free lunch", {5, 9}, ["The H200's free lunch"]),
    ("A coffee", {1}, ["nothing is known of: A coffee"]),
)  # fmt: skip
def test_a_number_that_has_drifted_is_found(words, slides, wrong):
    assert astray(Named("00", words, frozenset(slides)), HEADINGS, TEXTS) == wrong


def test_headings_that_the_script_quotes_are_headings_of_its_lessons():
    for one in named():
        (file,) = NOTEBOOKS.glob(f"{one.lesson}_*.ipynb")
        cells = nbformat.read(file, as_version=4).cells
        texts = "\n".join(cell.source for cell in cells if cell.cell_type == "markdown")
        headings = dict.fromkeys(re.findall(r"^#+ (.*)$", texts, re.M), 0) | {"Vote 1": 0}
        found = astray(one, headings, [])
        assert not [each for each in found if each.startswith("nothing is known")], one.words
