"""Pages for readers: sections, folded cells, answers; and the page in front of them."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output
from playwright.sync_api import expect

import rooflab as rl
from tests.browser.test_axe import violations
from tests.browser.test_guess import click_axis, confirm
from tests.browser.test_lunch import CELLS
from tools.front import PARTS, playground, write_front
from tools.site import build_page

FIRST = """# 00 · Lunch

*Run the cells from the top, each with Shift+Enter. Until you do, the results below come from
another computer.*

**How much is free?**

<details><summary>30 minutes, 40 with the exercises: what you learn, and what you need</summary>

- **Count** once.

You need a little Python, nothing else. A lecture shows some of it in 25.

</details>"""
CHECK = 'rl.check("00-peak", peak)'


def lesson(run_cells) -> NotebookNode:
    """Lesson 00 in short: a guess, a picture that waits for it, a count, an exercise."""
    ran = run_cells(*CELLS[:2])
    shown = new_output("stream", text="4.0\n")
    told = new_output("display_data", {"text/plain": "not answered yet"})
    later = [
        new_markdown_cell(
            "<details><summary>Why? Open when you have guessed</summary>\n\nSo.\n\n</details>"
        ),
        new_markdown_cell("## The *second* part\n\nPress *work per second*, & see the ridge."),
        new_code_cell("import numpy as np"),
        new_code_cell("count = 2 * 2\nprint(count)", outputs=[shown]),
        new_code_cell("def peak():\n    ...", metadata={"rooflab": {"exercise": "00-peak"}}),
        new_code_cell(CHECK, outputs=[told]),
    ]
    ran.cells = [new_markdown_cell(FIRST), new_markdown_cell("## First"), *ran.cells, *later]
    return ran


def solved() -> NotebookNode:
    answer = new_code_cell("def peak():\n    return 1 < 2")
    answer.metadata["rooflab"] = {"exercise": "00-peak"}
    return new_notebook(cells=[answer])


@pytest.fixture(scope="module")
def site(run_cells, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("a site é")
    build_page(lesson(run_cells), out, "00_lunch", solution=solved())
    plain = new_notebook(cells=[new_markdown_cell("# 04 · More"), new_code_cell("1")])
    plain.cells[1].outputs = [new_output("stream", text="1\n")]
    build_page(plain, out, "04_more")
    return write_front(out, [("00_lunch", "00 · Lunch"), ("04_more", "04 · More")])


def test_a_page_is_for_somebody_who_cannot_run_it(site: Path) -> None:
    page = (site.parent / "00_lunch.html").read_text("utf-8")
    assert "Run the cells from the top" not in page
    folded = re.findall(r'<details class="rl-code">.*?</details>', page, re.S)
    assert len(folded) == 3, "the count and the exercise stay open"
    assert "numpy" in folded[1] and "check" in folded[2]
    assert "not answered yet" not in page and "return 1 &lt; 2" in page
    assert '<li><a href="#First">First</a></li>' in page


def test_a_card_says_what_its_page_says(site: Path) -> None:
    first, second = site.read_text("utf-8").split('class="card"')[1:]
    for words in ("00 · Lunch", "How much is free?", "30 minutes, 40 with the exercises",
                  "You need a little Python, nothing else", "<svg"):  # fmt: skip
        assert words in first
    assert "04 · More" in second and "minutes" not in second.split("</ul>")[0]
    parts = re.findall(r'<p class="part">(.*?)</p>', site.read_text("utf-8"))
    assert parts == [PARTS["00"], PARTS["04"]]


def test_the_search_reads_every_section(site: Path) -> None:
    text = (site.parent / "static/sections.js").read_text("utf-8")
    rows = json.loads(text[text.index("(", text.index("=>")) + 1 : text.rindex("))")])
    assert [row[:3] for row in rows] == [
        ["00_lunch", "First", "First"], ["00_lunch", "The-second-part", "The second part"],
    ]  # fmt: skip
    assert rows[1][3].startswith("Press work per second , & see the ridge.")


def test_the_playground_has_every_machine() -> None:
    picture = eval(playground().cells[1].source.splitlines()[-1], {"rl": rl})
    menu = next(one for one in picture.scene.controls if one["kind"] == "menu")
    assert len(menu["labels"]) == len(rl.machines())


@pytest.mark.browser
def test_a_guess_on_the_front_page_lands_on_nine_and_ticks_its_lesson(site: Path, tab) -> None:
    with tab.silent(site.as_uri(), (1366, 680), motion="reduce") as page:
        axis = page.locator(".rl-guess svg").first
        axis.wait_for()
        assert axis.bounding_box()["y"] < 500, "above the fold"
        expect(page.locator(".hero .cover svg")).to_be_visible()
        assert page.locator(".card.placed").count() == 0
        click_axis(page, 0.5)
        confirm(page)
        expect(page.locator(".rl-lunch .stage svg").first).to_be_visible()
        expect(page.locator(".hero .cover svg")).to_be_hidden()
        expect(page.locator(".rl-lunch .say").first).to_contain_text("9 multiply-adds: ")
        expect(page.locator(".card.placed h3")).to_have_text("00 · Lunch")
        page.get_by_role("searchbox").fill("ridge")
        expect(page.locator(".find a")).to_have_text("00 · The second part")


@pytest.mark.browser
def test_a_page_shows_where_its_reader_is_and_words_light_up_a_picture(site: Path, tab) -> None:
    address = (site.parent / "00_lunch.html").as_uri()
    with tab.silent(address, (1366, 680), motion="reduce") as page:
        page.locator(".rl-lunch > .cover").get_by_role("button", name="go to the guess").click()
        assert page.evaluate("document.activeElement.closest('.rl-guess') !== null")
        click_axis(page, 0.5)
        confirm(page)
        expect(page.locator(".toc .placed")).to_have_text("First")
        expect(page.locator(".rl-lunch .say").first).to_have_attribute("aria-hidden", "true")
        assert page.get_by_text("So.").is_visible(), "what explains it opens with the guess"
        word, button = page.locator(".rl-word"), page.get_by_role("button", name="work per second")
        expect(word).to_have_text("work per second")
        word.hover()
        expect(button).to_have_class(re.compile(r"\blit\b"))
        page.locator("#The-second-part").evaluate("node => node.scrollIntoView()")
        expect(page.locator(".toc [aria-current]")).to_have_text("The second part")


@pytest.mark.browser
@pytest.mark.parametrize("colours", ["light", "dark"])
def test_axe_finds_nothing_on_the_front_page_and_it_fits_a_telephone(site, tab, colours) -> None:
    with tab.silent(site.as_uri(), (390, 844), motion="reduce", colours=colours) as page:
        page.locator(".rl-guess svg").first.wait_for()
        assert violations(page) == []
        assert page.evaluate("document.documentElement.scrollWidth") == 390
