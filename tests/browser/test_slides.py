"""Slides in a browser: they fit their stage, obey their keys, and move without a kernel."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.browser.tab import resize
from tests.tools.test_slides import notebooks, page  # noqa: F401, fixtures

pytestmark = pytest.mark.browser
WINDOW = (1280, 720)

# Edges of everything on show, in stage pixels, and the smallest type outside pictures.
MEASURED = """() => {
    const k = Math.min(innerWidth / 1280, innerHeight / 720);
    const stage = document.querySelector('.lec-page').getBoundingClientRect();
    const on = [...document.querySelectorAll('.lec-cut.lec-on')]
        .filter(n => n.getClientRects().length);
    const low = on.map(n => (n.getBoundingClientRect().bottom - stage.top) / k);
    const right = on.map(n => (n.getBoundingClientRect().right - stage.left) / k);
    const text = on.filter(n => !n.matches('.jp-Cell-outputWrapper'));
    const type = text.map(n => n.querySelector('pre, .cm-line') ?? n)
        .map(n => parseFloat(getComputedStyle(n).fontSize));
    return { shown: on.length, low: Math.max(...low), right: Math.max(...right),
        type: Math.min(99, ...type) };
}"""


def place(tab) -> tuple[int, int]:
    now, of = tab.locator(".lec-bar output").text_content().split(" / ")
    return int(now), int(of)


# Whether R could show more on this step: a note, a guess, cards, a picture that waits.
COVERED = """() => [
    ...document.querySelectorAll('.lec-on :is(details:not(.rl-pic *), .skip, .cover)')].some(
    node => node.getClientRects().length)"""
# What a key uncovers, or a new window, is scaled in later frames: measured once it stands.
STANDING = f"""async () => {{
    const measured = {MEASURED}, frame = () => new Promise(requestAnimationFrame);
    for (var before, now, same = 0, frames = 0; same < 2 && frames < 2000; frames += 1) {{
        await frame();
        [before, now] = [now, JSON.stringify(measured())];
        same = now === before ? same + 1 : 0;
    }}
    return JSON.parse(now);
}}"""


def walk(tab) -> Iterator[dict]:
    """Go through every step and measure it; where something is covered also uncovered."""
    for number in range(1, place(tab)[1] + 1):
        assert place(tab)[0] == number
        for key in ("", "r") if tab.evaluate(COVERED) else ("",):
            if key:
                tab.keyboard.press(key)
            yield {"step": number, "key": key, **tab.evaluate(STANDING)}
        tab.keyboard.press("PageDown")


def misfits(tab, type: float = 0) -> list[dict]:
    """The steps that reach over the stage's edge, or whose text is smaller than `type` pixels."""

    def bad(m: dict) -> bool:
        return not m["shown"] or m["type"] < type or m["low"] > 680 or m["right"] > 1262

    return [m for m in walk(tab) if bad(m)]


def settled(page) -> None:  # noqa: F811
    page.wait_for_selector(".lec-bar")
    page.wait_for_selector("output:text('y=0')", state="attached")
    page.wait_for_selector("input[type=range]", state="attached")


@pytest.fixture(scope="module")
def address(page: Path) -> str:  # noqa: F811
    return page.as_uri()


@pytest.fixture
def deck(opened) -> object:
    """The deck on its first step."""
    resize(opened, WINDOW)
    opened.keyboard.press("Home")
    return opened


@pytest.fixture
def own(deck) -> Iterator[object]:
    """The deck of a test that changes it."""
    yield deck
    deck.reload()
    settled(deck)


def on_stage(tab, text: str) -> bool:
    return any(text in words for words in tab.locator(".lec-cut.lec-on").all_inner_texts())


def go_to(tab, text: str) -> None:
    tab.keyboard.press("Home")
    for _ in range(place(tab)[1]):
        if on_stage(tab, text):
            return
        tab.keyboard.press("ArrowRight")
    raise AssertionError(f"no step shows {text!r}")


def test_everything_fits_and_can_be_read(deck) -> None:
    assert misfits(deck, type=24) == []


@pytest.mark.parametrize("size", [(1920, 1080), (1024, 768)])
def test_another_window_shows_the_same_steps(deck, size: tuple[int, int]) -> None:
    steps = place(deck)[1]
    resize(deck, size)
    assert misfits(deck) == [] and place(deck)[1] == steps


def test_nothing_is_lost_between_the_steps(deck) -> None:
    seen = set()
    for _ in range(place(deck)[1]):
        seen |= {n for n in range(9) if on_stage(deck, f"Paragraph {n}.")}
        deck.keyboard.press("ArrowRight")
    assert seen == set(range(9))


def test_a_remote_and_the_keyboard_turn_the_pages(deck) -> None:
    for key, step in {"ArrowRight": 2, " ": 3, "PageDown": 4, "PageUp": 3, "ArrowLeft": 2}.items():
        deck.keyboard.press(key)
        assert place(deck)[0] == step, key
    deck.keyboard.press("End")
    assert place(deck)[0] == place(deck)[1]
    deck.keyboard.press("ArrowRight")
    assert place(deck)[0] == place(deck)[1], "after the last step comes nothing"
    deck.get_by_role("button", name="back").click()
    assert place(deck)[0] == place(deck)[1] - 1


def test_arrows_belong_to_a_slider_that_is_used(own) -> None:
    go_to(own, "y=0")
    here = place(own)[0]
    own.locator("input[type=range]").focus()
    for _ in range(3):
        own.keyboard.press("ArrowRight")
    assert on_stage(own, "y=9") and place(own)[0] == here
    own.keyboard.press("PageDown")
    assert place(own)[0] == here + 1, "the remote still turns the page"
    own.keyboard.press("ArrowLeft")
    assert place(own)[0] == here, "and the slider has let go of the arrows"


def test_uncovering_a_vote_and_a_solution(deck) -> None:
    for word, hidden in {"Which?": "is a name", "answer = ...": "6 * 7 < 50"}.items():
        go_to(deck, word)
        assert not on_stage(deck, hidden)
        deck.keyboard.press("r")
        assert on_stage(deck, hidden)
        deck.keyboard.press("R")
        assert not on_stage(deck, hidden)


def test_nothing_after_a_question_gives_its_answer_away(deck) -> None:
    for asked, answer in {"Which?": "After the vote.", "How many?": "forty two"}.items():
        go_to(deck, asked)
        assert not on_stage(deck, answer)
        deck.keyboard.press("ArrowRight")
        assert on_stage(deck, answer)


SIDES = """() => {
    const box = tag => document.querySelector(`.lec-on .jp-OutputArea-output ${tag}`);
    const [table, words] = ['table', 'p'].map(tag => box(tag).getBoundingClientRect());
    return [table.right < words.left, Math.abs(table.top - words.top) < table.height]; }"""


def test_a_table_and_what_is_said_of_it_stand_side_by_side(deck) -> None:
    go_to(deck, "Words on the table.")
    assert deck.evaluate(SIDES) == [True, True]


def test_the_recorded_output_takes_the_live_ones_place(deck) -> None:
    go_to(deck, "y=0")
    deck.keyboard.press("l")
    image = deck.locator(".lec-on .lec-recorded img")
    image.wait_for()  # it is read from the page's own data
    assert image.get_attribute("alt") == "the still"
    assert not deck.locator("input[type=range]").is_visible()
    deck.keyboard.press("L")
    assert not image.is_visible() and deck.locator("input[type=range]").is_visible()
    go_to(deck, "Which?")
    deck.keyboard.press("l")
    assert "Nothing is recorded" in deck.locator(".lec-told").text_content()


def test_a_number_and_enter_go_to_a_step(deck) -> None:
    for number in (place(deck)[1], 2):
        deck.keyboard.type(str(number))
        deck.keyboard.press("Enter")
        assert place(deck)[0] == number
    deck.keyboard.type("4")
    deck.keyboard.press("Escape")
    deck.keyboard.press("Enter")
    assert place(deck)[0] == 2, "a number that was given up goes nowhere"


def test_the_list_of_headings_leads_to_each(deck) -> None:
    deck.keyboard.press("g")
    names = deck.locator(".lec-list button").all_inner_texts()
    assert [name.split("\n")[-1] for name in names] == [
        "00 · Slides",
        "At length",
        "Vote 1",
        "Asked",
    ]
    deck.get_by_role("button", name="Vote 1").click()
    assert on_stage(deck, "Which?") and not deck.locator(".lec-list").is_visible()
    deck.keyboard.press("g")
    deck.keyboard.type("2")
    deck.keyboard.press("Enter")
    assert place(deck)[0] == 2 and not deck.locator(".lec-list").is_visible()


def test_the_answers_of_a_vote_stay_above_what_they_mean(deck) -> None:
    go_to(deck, "Which?")
    deck.keyboard.press("r")
    deck.evaluate(STANDING)
    option, meaning = deck.get_by_text("two", exact=False).first, deck.get_by_text("is a name")
    assert option.is_visible() and option.bounding_box()["y"] < meaning.bounding_box()["y"]


# What a widget's page looks like to the stage: cards to sort, and a picture that waits for a guess.
CARDS = """() => {
    const out = document.querySelector('.lec-cut.lec-on .widget-subarea, .lec-cut.lec-on');
    out.insertAdjacentHTML('beforeend',
        `<div class="rl-sort"><svg width="9" height="9" tabindex="0"><text>?</text></svg></div>`);
    out.querySelector('.rl-sort svg').addEventListener('keydown', event => {
        event.target.firstChild.textContent += event.key; });
}"""


def test_digits_belong_to_the_cards_on_show(own) -> None:
    go_to(own, "y=0")
    here = place(own)[0]
    own.evaluate(CARDS)
    own.keyboard.type("231")
    own.keyboard.press("Enter")
    assert own.locator(".rl-sort svg").text_content() == "?231" and place(own)[0] == here
    own.keyboard.press("g")
    own.keyboard.type("1")
    own.keyboard.press("Enter")
    assert place(own)[0] == 1, "after G they are a step's number"


WAITING = """() => {
    const out = document.querySelector('.lec-cut.lec-on .widget-subarea, .lec-cut.lec-on');
    out.insertAdjacentHTML('beforeend', '<div class="cover">waits</div>');
    for (const name of ['near', 'far']) out.closest('.jp-Cell').insertAdjacentHTML('beforebegin',
        `<div class="rl-guess"><button class="skip">${name}</button></div>`);
    document.querySelectorAll('.rl-guess .skip')
        .forEach(skip => skip.addEventListener('click', () => {
        skip.parentElement.classList.add('done'); out.querySelector('.cover').hidden = true; }));
}"""


def test_a_picture_that_waits_opens_with_the_guess_above_it(own) -> None:
    go_to(own, "y=0")
    own.evaluate(WAITING)
    own.keyboard.press("l")
    assert "Covered" in own.locator(".lec-told").text_content(), "L shows no more than R would"
    own.keyboard.press("r")
    assert not own.locator(".cover").is_visible()
    assert own.locator(".rl-guess.done").all_text_contents() == ["far"], "only the nearest"
    own.keyboard.press("l")
    own.locator(".lec-recorded").wait_for()


def test_help_comes_and_goes(deck) -> None:
    deck.keyboard.press("?")
    assert deck.get_by_text("Page Down").is_visible()
    deck.keyboard.press("Escape")
    assert not deck.get_by_text("Page Down").is_visible() and place(deck)[0] == 1
    deck.keyboard.press("?")
    words = deck.locator(".lec-keys").inner_text()
    assert "Backspace" in words and "all cards of a sorting" in words
    deck.keyboard.press("PageDown")
    assert not deck.locator(".lec-keys").is_visible() and place(deck)[0] == 2


def test_the_list_begins_at_the_heading_that_is_spoken_of(deck) -> None:
    go_to(deck, "Paragraph 8.")
    deck.keyboard.press("g")
    assert "At length" in deck.evaluate("document.activeElement.textContent")
    deck.keyboard.press("ArrowDown")
    deck.keyboard.press("Enter")
    assert on_stage(deck, "Which?")


def test_what_readers_are_told_under_the_title_is_not_on_the_stage(deck) -> None:
    assert on_stage(deck, "A first word.") and not on_stage(deck, "Run the cells")
    assert "Run the cells" in deck.locator("main").text_content()
