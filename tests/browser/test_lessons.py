"""Every lesson as its slides, and opened again tomorrow in Lab and Notebook 7; run once for all.

The run is the one of nbval, with the solutions: tests/notebooks sees to what it prints.
"""

from __future__ import annotations

import gzip
import re
from collections.abc import Iterator
from copy import deepcopy
from pathlib import Path

import nbformat
import pytest
from playwright.sync_api import expect

from rooflab.jupyter_save import STATE, VIEW, drop_unseen
from tests.browser.tab import Tab, stand
from tests.browser.test_return import ICON, LOST
from tests.browser.test_slides import misfits, place
from tests.lecture.guide import astray, named
from tests.support.nbval_run import run_once
from tools.packs import asked_for
from tools.site import NOTEBOOKS, build_page
from tools.slides import build, deep

pytestmark = [pytest.mark.browser, pytest.mark.notebook]
LESSONS = sorted(NOTEBOOKS.glob("[0-9][0-9]_*.ipynb"))
OURS = ":is(.rl-pic, .rl-said)"
MOVED = ":is(input[type=range], .noUi-handle[aria-label])"
FRONTS = ("lab", "notebook")
#: In how many a lesson is opened: these have pictures, guesses, cards, films, words that wait.
OPENED = {"00": 2, "03": 1, "05": 1}
THERE = """async ([n, selector]) => {  // a cell above may still grow and push it out of the window
    const notebook = window.jupyterapp.shell.currentWidget.content;
    notebook.activeCellIndex = n;
    await notebook.scrollToItem(n, 'start');
    await new Promise(then => setTimeout(then, 100));  // what scrolling draws again has been drawn
    return document.querySelector(selector)?.checkVisibility(); }"""
DRAWN = "cell => [...document.querySelectorAll(`${cell} svg`)].map(one => one.outerHTML).join()"
CHANGED = f"([cell, before]) => ({DRAWN})(cell) !== before"


@pytest.fixture(scope="module", params=LESSONS, ids=lambda path: path.stem)
def lesson(request: pytest.FixtureRequest) -> Path:
    return request.param


@pytest.fixture(scope="module")
def whole(lesson: Path, shared: Path) -> nbformat.NotebookNode:
    """The lesson, run, with the state of its widgets."""
    return run_once(lesson.parent / "solutions" / lesson.name, shared, gpu=True).notebook()


@pytest.fixture(scope="module")
def ran(whole: nbformat.NotebookNode) -> nbformat.NotebookNode:
    """What the lesson's slides show, run, with the state of its widgets."""
    notebook = deepcopy(whole)
    notebook.cells = [cell for cell in notebook.cells if not deep(cell)]
    drop_unseen({"type": "notebook", "content": notebook})
    return notebook


@pytest.fixture(scope="module")
def deck(
    lesson: Path, ran: nbformat.NotebookNode, tab: Tab, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[object]:
    """The lesson's slides on the first one: opened once, because that takes longer than to look."""
    address = build(lesson, tmp_path_factory.mktemp("slides"), ran).as_uri()
    with tab.silent(address, (1280, 720), motion="reduce") as opened:
        opened.wait_for_selector(".lec-bar")
        stand(opened, ".jp-Cell")
        yield opened


def guessed(notebook: nbformat.NotebookNode) -> nbformat.NotebookNode:
    """The notebook as Lab saves it when every guess is made."""
    notebook = deepcopy(notebook)
    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.metadata.trusted = True  # as cells are that were run here
    widgets = notebook.metadata.widgets[STATE]["state"]
    for one in widgets.values():
        if "covered" in one["state"]:
            one["state"]["covered"] = False
    for id in ended_bars(widgets):  # nbclient remembers them, a browser forgets them
        del widgets[id]
    return notebook


def ended_bars(widgets: dict[str, dict]) -> list[str]:
    """The widgets that hold a progress bar: all bars of a lesson go when they are full."""
    bars = {
        f"IPY_MODEL_{id}"
        for id, one in widgets.items()
        if one["model_name"] == "FloatProgressModel"
    }
    return [id for id, one in widgets.items() if bars & set(one["state"].get("children", ()))]


def shown(notebook: nbformat.NotebookNode) -> list[int]:
    """The numbers of the cells that show a widget."""
    return [
        number
        for number, cell in enumerate(notebook.cells)
        if any(VIEW in output.get("data", {}) for output in cell.get("outputs", []))
    ]


def test_every_slide_fits(deck) -> None:
    assert misfits(deck, type=24) == []


# What stands on the slide that is shown, covered or not.
SHOWN = "() => [...document.querySelectorAll('.lec-on')].map(one => one.innerText).join(' ')"
HEADINGS = "all => all.map(one => [one.querySelector('b').textContent, one.lastChild.textContent])"


def test_the_guide_for_lecturers_names_the_slides_by_their_numbers(lesson: Path, deck) -> None:
    wanted = [one for one in named() if one.lesson == lesson.name[:2]]
    if not wanted:
        return  # the script of the lecture does not come to this lesson
    deck.keyboard.press("Home")
    texts = []
    for _ in range(place(deck)[1]):
        texts.append(deck.evaluate(SHOWN))
        deck.keyboard.press("PageDown")
    deck.keyboard.press("g")
    headings = deck.locator(".lec-list button").evaluate_all(HEADINGS)
    steps = {heading: int(number) for number, heading in headings}
    assert [found for one in wanted for found in astray(one, steps, texts)] == []


def states(file: Path) -> set[str]:
    """The widgets whose state a saved notebook holds."""
    return set(nbformat.read(file, as_version=4).metadata.widgets[STATE]["state"])


def look(page, number: int) -> int:
    """The widget of a cell is drawn, and moves by each of its sliders; how many those were."""
    cell = f".jp-Notebook .jp-Cell[data-windowed-list-index='{number}'] .jp-OutputArea"
    page.wait_for_function(THERE, arg=[number, f"{cell} {OURS}"], polling=500)
    expect(page.locator(LOST)).to_have_count(0, timeout=60_000)  # until Lab has read all states
    sliders = page.locator(f"{cell} {MOVED}").locator("visible=true")
    for slider in sliders.all():
        before = page.evaluate(DRAWN, cell)
        slider.focus()
        at_end = slider.evaluate(
            "one => (one.value ?? one.ariaValueNow) === (one.max ?? one.ariaValueMax)"
        )
        page.keyboard.press("PageDown" if at_end else "PageUp")  # one step may change no pixel
        page.wait_for_function(CHANGED, arg=[cell, before])
    return sliders.count()


def test_tomorrow_it_is_all_there_and_moves(lesson: Path, ran, leave, jupyter, request) -> None:
    """What Lab has opened and saved again is what Notebook 7 opens; all files are small."""
    file = jupyter.folder / f"{lesson.stem}.ipynb"
    jupyter.save(file.name, guessed(ran))
    notebook, before = nbformat.read(file, as_version=4), states(file)
    for name in FRONTS[: OPENED.get(lesson.stem[:2], int(request.config.option.all))]:
        front = leave(name)
        page = front.show(file.name)
        sliders = sum(look(page, number) for number in shown(notebook))
        assert sliders >= 2, "lesson without a picture that moves"
        assert page.evaluate(ICON) == [], "a broken chain stands in a picture"
        front.save()
        assert states(file) == before, "what is opened and saved without a run loses nothing"
    assert file.stat().st_size < 4.5e6, f"{file.stat().st_size / 1e6:.1f} MB"


FIRST_VIEW, WHOLE_PAGE = 150_000, 700_000  # bytes


def weight(files: set[Path]) -> int:
    """Bytes on the way from a server: pictures as they are, everything else by gzip."""
    sizes = {
        file: len(read if file.suffix == ".webp" else gzip.compress(read, 6))
        for file in files
        if (read := file.read_bytes())
    }
    return sum(sizes.values())


def test_its_static_page_is_light(whole: nbformat.NotebookNode, tab: Tab, tmp_path: Path) -> None:
    """What is asked for before anybody scrolls, and all that a reader may ever ask for."""
    page = build_page(whole, tmp_path, "lesson")
    folder, urls = tmp_path / "static", list[str]()
    with tab.silent(window=(1366, 680), whole=False) as opened:
        opened.on("request", lambda request: urls.append(request.url))
        opened.goto(page.as_uri())
        opened.wait_for_function(
            """() => [...document.querySelectorAll('[data-pack]')].every(one => one.dataset.drawn
                || one.getBoundingClientRect().top > innerHeight + 400)"""
        )
    asked = {Path(url.removeprefix("file://")) for url in urls if not url.startswith("blob:")}
    text = re.sub("<noscript>.*?</noscript>", "", page.read_text("utf-8"), flags=re.S)
    shared = {
        folder / name for name in ("runtime.js", "share.js", "page.js", "jupyter.css", "site.css")
    }
    every = {page, *shared, *(folder / name for name in asked_for(text, folder))}
    assert asked <= every and {page, *shared} <= asked
    assert weight(asked) <= FIRST_VIEW and weight(every) <= WHOLE_PAGE
