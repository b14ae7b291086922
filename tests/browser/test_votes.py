"""A vote on the stage: a click opens one answer, R all of them."""

from __future__ import annotations

from copy import deepcopy
from pathlib import Path

import nbformat
import pytest
from playwright.sync_api import expect

from tests.browser.tab import Tab, stand
from tools.lesson import read_lesson
from tools.slides import build_deck

pytestmark = pytest.mark.browser
LESSON = Path(__file__).resolve().parents[2] / "notebooks" / "source" / "00_free_lunch.py"


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The first vote of lesson 00, and a cell with an output, without which there is no deck."""
    cells = read_lesson(LESSON).learner.cells
    vote = next(cell for cell in cells if cell.source.startswith("### Vote"))
    printed = nbformat.v4.new_output("stream", name="stdout", text="1")
    code = nbformat.v4.new_code_cell("1", metadata={"tags": ["core"]}, outputs=[printed])
    notebook = nbformat.v4.new_notebook(cells=[vote, code])
    path = tmp_path_factory.mktemp("votes") / "votes.html"
    path.write_text(build_deck(notebook, deepcopy(notebook), notebook), "utf-8")
    return path.as_uri()


def test_a_click_opens_one_answer_and_r_all_of_them(tab: Tab, address: str) -> None:
    with tab.silent(address, (1280, 720), motion="reduce") as deck:
        deck.wait_for_selector(".lec-bar")
        stand(deck, ".jp-Cell")
        answers, opened = deck.locator(".lec-on summary"), deck.locator(".lec-on details[open]")
        assert [text[0] for text in answers.all_inner_texts()] == list("ABCD")
        assert not deck.get_by_text("Right.").is_visible(), "no answer is told beforehand"
        answers.nth(2).click()
        assert opened.count() == 1 and "take turns" in opened.inner_text()
        deck.keyboard.press("r")
        expect(opened).to_have_count(4)
        assert deck.get_by_text("Right.").is_visible()
        deck.keyboard.press("r")
        expect(opened).to_have_count(0)
