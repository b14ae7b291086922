"""The pages: everything escaped, nothing loaded, the same facts as results.json."""

from __future__ import annotations

import base64
import html.parser
import re

import pytest

from rooflab.exercises.verdict import Verdict
from rooflab.grade import intake, pipeline, report
from rooflab.grade.inside.limits import Limits
from rooflab.grade.locked_notebook import Outcome
from rooflab.grade.results import Results, Row
from tests.grade.support.notebooks import put, solution

EVIL = "<script>alert(1)</script>\"><img src=x onerror=alert(2)> & 'quoted'"


def verdict(id, passed=False, **more):
    most = 1
    return Verdict(id, passed, most * passed, most, more.pop("reason", "all right"), **more)


def row(file="ann.ipynb", **more):
    verdicts = {
        "01-claims": verdict("01-claims", True),
        "01-product": verdict(
            "01-product", reason="product(m=3) gave 4: that is not right", case={"m": 3, "n": 5},
            yours="4", misconception="elements", hint="you counted elements",
        ),
        "01-name": verdict("01-name", reason="not answered yet: ours has 1 line"),
    }  # fmt: skip
    return Row(file, lesson="01", verdicts=verdicts, **more)


class Reader(html.parser.HTMLParser):
    """Collects tags, attributes and open elements."""

    def __init__(self):
        super().__init__()
        self.tags, self.open, self.attributes = [], [], []

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        self.attributes += [(tag, *pair) for pair in attributes]
        if tag not in ("meta", "img", "link", "br"):
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def read(page):
    reader = Reader()
    reader.feed(page)
    assert reader.open == []
    return reader


def test_a_student_sees_verdict_case_result_and_hint():
    page = report.student_page("Ann", row(printed={"01-product": "I am here"}))
    for said in (
        "Three operations", "1 of 3 points", "✓ right", "✗ not right", "○ not answered",
        "m = 3, n = 5", "you counted elements", "I am here", "<bdi>Ann</bdi>", "ann.ipynb",
    ):  # fmt: skip
        assert said in page
    read(page)


def test_a_refused_file_says_why():
    page = report.student_page("x", Row("a/x.ipynb", error="the file is empty"))
    assert "The file is empty." in page and "0 points" in page and "a/x" not in page
    read(page)


@pytest.mark.parametrize("of", ["student", "class"])
def test_nothing_that_a_student_wrote_becomes_html(of):
    hostile = row(
        file=f"{EVIL}.ipynb", named=EVIL, error=EVIL, remarks=(EVIL,), printed={"01-product": EVIL}
    )
    hostile.verdicts["01-product"] = verdict(
        "01-product", reason=EVIL, case={"m": EVIL}, yours=EVIL, misconception=EVIL, hint=EVIL,
        note=EVIL,
    )  # fmt: skip
    results = Results.of(1, [hostile, hostile])
    page = report.student_page(EVIL, hostile, EVIL)
    if of == "class":
        page = report.class_page(results, EVIL)
    reader = read(page)
    assert "script" not in reader.tags
    assert [a for a in reader.attributes if a[1].startswith("on")] == []
    assert all(a[2].startswith("data:image/png") for a in reader.attributes if a[1] == "src")
    assert "&lt;script&gt;alert(1)" in page


def test_pages_load_nothing_and_can_be_read_without_sight():
    results = Results.of(1, [row(), row("b.ipynb")])
    for page in (report.class_page(results), report.student_page("Ann", row())):
        reader = read(page)
        assert "content=\"default-src 'none'" in page and '<html lang="en">' in page
        links = [a[2] for a in reader.attributes if a[1] in ("href", "src")]
        assert not any(link.startswith(("http", "//", "/")) for link in links)
        assert reader.tags.count("h1") == 1 and "main" in reader.tags
        for tag in re.findall(r"<img[^>]*>", page):
            assert re.search(r'alt="[^"]{20,}"', tag)
        assert "@media print" in page


def test_the_class_page_tells_the_class():
    rows = [row(f"{n}.ipynb") for n in range(3)] + [Row("x.ipynb", error="the file is empty")]
    page = report.class_page(Results.of(5, rows))
    for said in (
        "4 files, 1 of them",
        "3 graded: mean 1.0, median 1 of 3",
        "elements (3)",
        "seed 5",
    ):
        assert said in page
    assert page.count('<a href="students/') == 4
    assert report.class_page(Results.of(5, [rows[-1]])).count("<img") == 0


def test_the_same_answer_gives_the_same_page_wherever_its_objects_lie(tmp_path):
    read = intake.read(put(tmp_path / "ann.ipynb", solution("00")))

    def page(address):
        shown = f"<function f at {address}> <__main__.Net object at {address}>, 0x10 and 65 535"

        def runner(locked, limits):
            wrong = [{"error": f"ValueError: {shown}"}] * len(locked.cases["00-time"])
            return Outcome({"00-time": wrong}, printed={"00-time": shown}, stopped=f"by {shown}")

        return report.student_page("Ann", pipeline.one(read, 3, Limits(), runner))

    assert page("0x7f3a5c0d1e20") == page("0x7ffe00abc010")
    printed = "&lt;function f at 0x…&gt; &lt;__main__.Net object at 0x…&gt;, 0x10 and 65 535"
    assert f"<pre>{printed}</pre>" in page("0x7f3a5c0d1e20")


def test_lines_become_sentences_and_code_stays_code():
    said = report._sentence
    assert said("right; 4 bytes") == "Right; 4 bytes."
    assert said("squares on 3 numbers: no", "squares") == "squares on 3 numbers: no."
    assert said("f(x=1) gave 2") == "f(x=1) gave 2." and said(None) == ""


def test_the_name_of_the_answer_is_set_as_code():
    said = report._reason(verdict("00-time", reason="there is no time: its cell raised"))
    assert said == ("There is no ", "time", ": its cell raised.")
    found = verdict("01-product", reason="product(m=1) gave '<product(2)>'")
    assert report._reason(found) == ("", "product", "(m=1) gave '<product(2)>'.")
    page = report.student_page("Ann", Row("a.ipynb", lesson="01", verdicts={"01-product": found}))
    assert "<p><code>product</code>(m=1) gave &#39;&lt;product(2)&gt;&#39;.</p>" in page
    said = report._reason(verdict("00-time", reason="not in time"))
    assert said == ("Not in time.", "", "")


def test_several_lessons_have_a_table_of_contents():
    other = Row("b.ipynb", lesson="00", verdicts={"00-time": verdict("00-time", True)})
    page = report.class_page(Results.of(1, [row(), other]))
    wanted = re.findall(r"<nav>.*?</nav>", page)[0]
    targets = re.findall(r'href="#([^"]+)"', wanted)
    assert targets == ["lesson-00", "lesson-01", "everyone"]
    assert all(f"id='{target}'" in page for target in targets)
    assert "<nav>" not in report.class_page(Results.of(1, [row()]))


def test_a_dark_screen_gets_a_dark_page_and_paper_a_white_one():
    page = report.class_page(Results.of(1, [row()]))
    style = page[: page.index("</style>")]
    dark = style[style.index("@media screen and (prefers-color-scheme: dark)") :]
    for colour in ("--page", "--ink", "--soft", "--line", "--link", "--code", "--hint", "--note"):
        assert f"{colour}:" in dark and f"var({colour})" in style
    assert not re.findall(r"(?:color|background|border): ?#", style), "colours have names"


def test_the_hardest_comes_first():
    found = report.hard([row()])
    assert [one.id for one in found] == ["01-product", "01-name", "01-claims"]
    assert (found[0].wrong, found[1].open, found[2].right) == (1, 1, 1)
    assert found[0].mistake == "elements (1)"


def test_one_name_over_two_files_of_a_lesson_is_said():
    rows = [row("1.ipynb", named="Ann"), row("2.ipynb", named="Ann")]
    assert "Ann handed in 2 files of lesson 01" in report.class_page(Results.of(1, rows))


def test_every_file_has_a_page_of_its_own(tmp_path):
    rows = [
        row("a/hw.ipynb", named="../../x"),
        row("b/hw.ipynb", named="../../x"),
        row("CON.ipynb"),
    ]
    report.write(Results.of(1, rows), tmp_path, "no sandbox")
    pages = list((tmp_path / "students").iterdir())
    assert len(pages) == 3 and {p.name for p in tmp_path.iterdir()} == {"students", "index.html"}
    index = (tmp_path / "index.html").read_text("utf-8")
    assert all(page.name in index and "no sandbox" in page.read_text("utf-8") for page in pages)


def test_pictures_say_in_words_what_they_show():
    image = report.histogram([3, 3, 5], 23)
    assert "2 with 3, 1 with 5" in image.said
    assert base64.b64decode(image.data).startswith(b"\x89PNG")
    assert "300" in report.histogram([0, 150, 300], 300).said
    bars = report.hardest(
        [report.Hard("01-name", "Name", 1, 2, 1), report.Hard("01-x", "X", 0, 0, 0)]
    )
    assert "01-name 25 % right" in bars.said
