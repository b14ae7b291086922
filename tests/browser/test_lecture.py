"""``rl.lecture()`` in JupyterLab and Notebook 7: the notebook's own cells on a stage."""

from __future__ import annotations

import io
import re
from base64 import b64encode
from collections.abc import Callable, Iterator
from copy import deepcopy
from pathlib import Path

import nbformat
import numpy as np
import pytest
from matplotlib.colors import to_rgb
from matplotlib.image import imread, imsave
from playwright.sync_api import expect

from rooflab.lecture import present
from rooflab.lecture.present import Lecture
from tests.browser.front import Front, ask_kernel, wait_for_kernel
from tests.browser.server import Server
from tests.browser.tab import stand
from tests.browser.test_guess import QUESTION
from tests.browser.test_slides import STANDING, go_to, on_stage, place
from tests.browser.test_sort import CELL as CARDS

pytestmark = pytest.mark.browser

SLIDER = """import ipywidgets
runs = globals().get("runs", 0) + 1
print(f"run {runs}")
slider = ipywidgets.IntSlider(value=3, max=10, description="N")
slider"""
WAITING = ".rl-guess .rl-grip[tabindex]"
READY = "document.querySelectorAll('.lec-bar output').length === 1"


def cells(recorded: bool = True) -> list[nbformat.NotebookNode]:
    text, code = nbformat.v4.new_markdown_cell, nbformat.v4.new_code_cell
    core, deep = {"tags": ["core"]}, {"tags": ["deep"]}
    saved = nbformat.v4.new_output("stream", name="stdout", text="run 0, recorded\n")
    long = "\n\n".join(f"Paragraph {n}. " + "Said at length. " * 20 for n in range(8))
    return [
        text("# A lesson\n\nWith a first word.", metadata=core),
        text(long, metadata=core),
        code(SLIDER, metadata=core, outputs=[saved] if recorded else []),
        text("Too deep for a lecture.", metadata=deep),
        code("print('also too deep')", metadata=deep),
        code(QUESTION, metadata=core),
        text(
            "### Vote\n\n- **A** one\n\n<details><summary>?</summary>named</details>", metadata=core
        ),
        code("import rooflab as rl\nrl.lecture()"),
    ]


@pytest.fixture
def open_lecture(open_notebook: Callable[..., object]) -> Iterator[Callable[..., object]]:
    """``open_notebook``, on the stage; the stage is left, for it holds all keys of the page."""
    opened = []

    def lecture(front: str, name: str, *cells: object) -> object:
        page = open_notebook(front, name, *cells)
        opened.append(page)
        page.wait_for_function(READY)
        return page

    yield lecture
    for page in opened:
        page.evaluate(
            "() => document.querySelector('.lec-bar [title=\"leave the lecture\"]')?.click()"
        )


def cut_again(page, run: str) -> None:
    """Wait for the slider's cell to have run, and the steps to be cut again 300 ms after that."""
    page.wait_for_selector(f"text={run}", state="attached")
    page.wait_for_selector(f".jp-OutputArea:has-text('{run}') .noUi-handle", state="attached")
    page.evaluate("() => new Promise(after => setTimeout(after, 300))")  # timers keep their order


def from_the_first_step_to_the_last_key(lecture) -> None:
    assert place(lecture)[0] == 1 and on_stage(lecture, "With a first word.")
    seen = ""
    for _ in range(place(lecture)[1]):
        step = lecture.evaluate(STANDING)
        assert step["shown"] and step["low"] <= 680 and step["right"] <= 1262, step
        assert step["type"] >= 24
        seen += " ".join(lecture.locator(".lec-cut.lec-on").all_inner_texts())
        lecture.keyboard.press("PageDown")
    assert "too deep" not in seen.lower() and "rl.lecture" not in seen
    assert all(f"Paragraph {n}." in seen for n in range(8))
    lecture.keyboard.press("Escape")
    assert lecture.locator(".lec-root, .lec-bar, .lec-cut").count() == 0
    assert lecture.locator(".jp-Cell").count() == 8, "no cell is gone"
    lecture.get_by_role("button", name="Lecture: go on at step").click()
    assert place(lecture)[0] == place(lecture)[1], "it goes on where it was left"


def keys_do_what_they_do_in_the_slides_and_nothing_to_the_notebook(lecture) -> None:
    go_to(lecture, "run 1")
    here = place(lecture)[0]
    lecture.keyboard.press("l")
    assert on_stage(lecture, "run 0, recorded") and not on_stage(lecture, "run 1")
    lecture.keyboard.press("l")
    assert on_stage(lecture, "run 1") and not on_stage(lecture, "recorded")
    lecture.locator(".noUi-handle").first.focus()
    lecture.keyboard.press("ArrowRight")
    lecture.wait_for_function("document.querySelector('.noUi-handle').ariaValueNow === '4.0'")
    assert place(lecture)[0] == here
    wait_for_kernel(lecture, "slider.value", "4")
    lecture.keyboard.press("PageDown")
    for key in "ddxab":
        lecture.keyboard.press(key)
    assert lecture.locator(".jp-Cell").count() == 8
    go_to(lecture, "this is my guess")
    lecture.keyboard.press("r")
    assert on_stage(lecture, "It is 4.3 ms")
    go_to(lecture, "Vote")
    lecture.keyboard.press("r")
    assert on_stage(lecture, "named")


def a_cell_runs_and_is_edited_on_the_stage(lecture) -> None:
    go_to(lecture, "runs = globals()")
    lecture.keyboard.press("PageUp")
    lecture.keyboard.press("PageDown")
    lecture.keyboard.press("Control+Enter")
    cut_again(lecture, "run 2")
    go_to(lecture, "runs = globals()")
    here = place(lecture)[0]
    lecture.keyboard.press("Enter")
    lecture.wait_for_function("document.activeElement.matches('.cm-content')")
    lecture.keyboard.type("l = 1  # ? ")
    code = lecture.locator(".lec-on .cm-content").first
    expect(code).to_contain_text("l = 1  # ?")
    assert place(lecture)[0] == here
    lecture.keyboard.press("Escape")
    lecture.keyboard.press("ArrowLeft")
    assert place(lecture)[0] == here - 1, "the first Escape leaves the editor, not the lecture"


@pytest.mark.parametrize("front", ["lab", "notebook"])
def test_a_lecture_is_gone_through_has_its_keys_and_runs_its_cells(open_lecture, front) -> None:
    """Opened once, because that takes longer than to look."""
    lecture = open_lecture(front, f"lecture-{front}.ipynb", *cells())
    for one in (".noUi-handle", WAITING):
        lecture.wait_for_selector(one, state="attached")
    from_the_first_step_to_the_last_key(lecture)
    keys_do_what_they_do_in_the_slides_and_nothing_to_the_notebook(lecture)
    a_cell_runs_and_is_edited_on_the_stage(lecture)


def test_without_recordings_the_lecture_goes_on(open_lecture, jupyter: Server) -> None:
    jupyter.stop_kernels()  # a new kernel: Jupyter itself names the file to it
    page = open_lecture("lab", "unrecorded.ipynb", *cells(recorded=False))
    page.keyboard.press("l")
    said = page.locator(".lec-told").text_content()
    assert said == "'unrecorded.ipynb' holds no outputs: nothing is recorded."
    page.keyboard.press("ArrowRight")
    assert place(page)[0] == 2


AT_HOME = """import os, tempfile
os.environ["ROOFLAB_HOME"] = tempfile.mkdtemp()
import rooflab as rl
from rooflab.exercises import guesses
from rooflab.measure.free_lunch import FreeLunch
k = (1, 2, 3, 5, 9, 17, 33, 65, 129, 257)
curve = FreeLunch(k, tuple(max(4e-3, 2e-4 * v) for v in k), (0.0,) * 10, 1 << 24, 4, 1)
rl.guess("00-nine", 55)
nine = rl.ask("00-nine", 4.0)
nine"""
BARS = "() => document.querySelectorAll('.lec-bar').length"


def recorded_twice() -> list[nbformat.NotebookNode]:
    """A covered recording with what is under it, in two halves: red over blue under a grey one."""

    def png(*colours: str) -> str:
        rows = np.repeat([to_rgb(colour) for colour in colours], 40, axis=0)
        file = io.BytesIO()
        imsave(file, np.repeat(rows[:, None], 120, axis=1), format="png")
        return b64encode(file.getvalue()).decode()

    under = {"png": png("red", "blue"), "alt": "uncovered"}
    shown = nbformat.v4.new_output(
        "display_data",
        {"image/png": png("grey"), "text/plain": "covered"},
        metadata={"rooflab": {"under": under, "cut": 0.5}},
    )
    core, code = {"tags": ["core"]}, nbformat.v4.new_code_cell
    said = {"png": png("green"), "alt": "a roofline", "says": "It was 7.0 ms there."}
    guessed = deepcopy(shown)
    guessed.metadata.rooflab = {"under": said}
    return [
        code(AT_HOME, metadata=core, outputs=[guessed]),
        code("rl.live.free_lunch(curve, after=nine)", metadata=core, outputs=[shown]),
        code('rl.show.say("9: 4.0 ms", after=nine)', metadata=core),
        code("rl.lecture()"),
    ]


@pytest.mark.parametrize("front", ["lab", pytest.param("notebook", marks=pytest.mark.slow)])
def test_a_guess_of_home_is_covered_and_nothing_lies_open_the_morning_after(
    open_lecture: Callable[..., object], fronts: dict[str, Front], front: str
) -> None:
    """The lecturer's own guesses stay as they are, and the stage waits for a run."""
    page = open_lecture(front, f"covered-{front}.ipynb", *recorded_twice())
    page.wait_for_selector(WAITING, state="attached")
    page.wait_for_selector(".rl-lunch .cover:not([hidden])", state="attached")
    wait_for_kernel(page, "nine.covered", "True")
    go_to(page, "Covered until you have placed your guess above.")
    page.keyboard.press("l")
    assert page.locator(".lec-told").text_content().startswith("Covered: R uncovers it")
    page.keyboard.press("r")
    page.wait_for_selector(".rl-guess.done", state="attached")
    page.keyboard.press("l")
    page.locator(".lec-on .lec-half").first.wait_for()
    for first in (True, False, True):  # Z goes from one half to the other
        halves = page.locator(".lec-on .lec-under .lec-half")
        assert [half.is_visible() for half in halves.all()] == [first, not first]
        page.keyboard.press("z")
    go_to(page, "guess again")
    page.keyboard.press("l")
    page.get_by_alt_text("a roofline").wait_for()
    assert on_stage(page, "It was 7.0 ms there.")
    go_to(page, "9: 4.0 ms")
    page.keyboard.press("l")
    assert "never recorded" in page.locator(".lec-told").text_content()
    wait_for_kernel(page, "guesses.get('00-nine').shown", "True")
    own = "del os.environ['ROOFLAB_GUESSES']"  # what a restart of the kernel does
    assert ask_kernel(page, "guesses.get('00-nine').shown", own) == "False"
    assert ask_kernel(page, "guesses.get('00-nine').value") == "55.0"
    assert page.locator(".rl-guess.done, .rl-lunch .cover[hidden]").count() == 2
    page.keyboard.press("Escape")
    page = fronts[front].come_back(f"covered-{front}.ipynb")
    page.wait_for_selector(".rl-guess:not(.done)", state="attached")
    page.wait_for_selector(".rl-lunch .cover:not([hidden])", state="attached")
    page.get_by_role("button", name="Lecture: go on at step").click()
    assert "Run All Cells first" in page.locator(".lec-door").inner_text()
    assert page.evaluate(BARS) == 0


SENTENCE = "What was measured is said in one long sentence, which goes on. " * 6
TABLE = "".join(f"{n:<40}{n * n:<60}{n**3:<40}\n" for n in range(3))


def of_every_kind() -> list[nbformat.NotebookNode]:
    """Private cells, cards, words that waited, recordings of words and of columns, two lectures."""
    core, text = {"tags": ["core"]}, nbformat.v4.new_markdown_cell

    def code(source: str, recorded: str = "") -> nbformat.NotebookNode:
        outputs = [nbformat.v4.new_output("stream", name="stdout", text=recorded)] * bool(recorded)
        return nbformat.v4.new_code_cell(source, metadata=core, outputs=outputs)

    return [
        text("Put each card where it belongs.", metadata=core),
        code(CARDS.replace("rl.sort", "cards = rl.sort")),
        code("cards"),
        code("rl.show.say('These words waited.', after=cards)"),
        code("rl.my_guesses()"),
        code('rl.check("00-ridge")'),
        code("print('said')  # alone", SENTENCE),
        code("print('columns')", TABLE),
        text("Which number?", metadata=core),
        nbformat.v4.new_code_cell("print('forty', 'two')", metadata={"tags": ["core", "pause"]}),
        code("for n in range(2):\n" + "    n = n + 0  # more\n" * 12 + "cards", "as it was\n"),
        code("rl.lecture()"),
        code("rl.lecture()"),
    ]


# Whether the bar cuts a message of two lines, and one of four: else the first would prove nothing.
CUT = """() => [4, 9].map(n => 'It says this at 1280 pixels. '.repeat(n)).map(words => {
    const bar = document.querySelector('.lec-told');
    bar.textContent = words;
    return bar.scrollHeight > bar.clientHeight + 1 || bar.scrollWidth > bar.clientWidth + 1; })"""


def told(page) -> str:
    return page.locator(".lec-told").text_content()


def test_what_is_on_the_stage_and_what_its_keys_say(open_lecture) -> None:
    staged = open_lecture("lab", "every-kind.ipynb", *of_every_kind())
    staged.locator(".lec-door").nth(1).wait_for(state="attached")
    staged.locator(".rl-sort svg[tabindex]").nth(1).wait_for(state="attached")
    assert staged.evaluate(BARS) == 1, "two cells, one stage"
    seen = ""
    for _ in range(place(staged)[1]):
        seen += " ".join(staged.locator(".lec-cut.lec-on").all_inner_texts())
        staged.keyboard.press("PageDown")
    assert not re.search(r"my_guesses|rl\.check|not answered|rl\.lecture|Lecture:", seen)

    go_to(staged, "Put each card where it belongs.")
    assert not on_stage(staged, "card 1 of 10")
    go_to(staged, "card 1 of 10")
    assert staged.locator(".lec-bar code").inner_text() == "cards"
    staged.keyboard.press("l")
    assert told(staged) and not staged.locator(".lec-bar code").is_visible()
    assert staged.evaluate(CUT) == [False, True], "two lines are shown whole, four are not"
    staged.keyboard.press("r")

    go_to(staged, "These words waited.")
    staged.keyboard.press("l")
    assert told(staged) == "These words are never recorded: they come from this computer."

    go_to(staged, "Which number?")
    assert on_stage(staged, "print(") and not on_stage(staged, "forty two")
    staged.keyboard.press("PageDown")
    assert on_stage(staged, "forty two")

    go_to(staged, "n = n + 0")
    staged.keyboard.press("l")
    assert told(staged) == "The output is on the next step."
    assert staged.locator(".lec-swapped").count() == 0
    a_recorded_sentence_is_broken_and_recorded_columns_are_not(staged)


def a_recorded_sentence_is_broken_and_recorded_columns_are_not(staged) -> None:
    for words, recorded in {"# alone": "one long sentence", "print('columns')": "2  "}.items():
        go_to(staged, words)
        staged.keyboard.press("l")
        box = staged.locator(".lec-on .lec-recorded pre", has_text=recorded)
        box.wait_for()
        staged.evaluate(STANDING)
        lines, letters = box.evaluate(LETTERS)
        prose = words == "# alone"
        assert (lines > 3) == prose, f"{recorded}: {lines} lines"
        assert letters > 20 or not prose, f"{recorded}: {letters} pixels"


# How many lines a text has, and how large its letters are, in stage pixels.
LETTERS = """node => {
    const { fontSize, lineHeight } = getComputedStyle(node),
        k = node.getBoundingClientRect().height / node.offsetHeight;
    const stage = Math.min(innerWidth / 1280, innerHeight / 720);
    return [Math.round(node.offsetHeight / parseFloat(lineHeight)),
        parseFloat(fontSize) * k / stage]; }"""

# The lecture's own script in a front end that puts an output into its page late.
LATE = """async ([source, traits]) => {
    const page = new Blob([source], { type: 'text/javascript' });
    const { default: { render } } = await import(URL.createObjectURL(page));
    const one = { id: 'text', getMetadata: () => ['core'] }, both = [one, { id: 'door' }];
    const cells = Object.assign(both, { get: n => both[n] });
    const model = { get: name => traits[name],
        set: (name, value) => { traits[name] = value; }, save_changes() {},
        widget_manager: { context: { model: { cells } } } };
    document.body.innerHTML = `<div class="jp-Notebook"><div class="jp-Cell jp-MarkdownCell">
        <div class="jp-RenderedMarkdown"><p>One.</p></div></div>
        <div class="jp-Cell jp-CodeCell"></div></div>`;
    const el = document.createElement('div');
    render({ model, el });
    await new Promise(later => setTimeout(later, 500));
    const early = el.innerText || el.textContent;
    document.querySelector('.jp-CodeCell').append(el);
    return early; }"""


def test_a_door_that_comes_late_into_its_page_opens_all_the_same(page) -> None:
    traits = {"recording": {"cells": {}, "of": "", "tags": {}, "missing": "None."}, "step": 0}
    early = page.evaluate(LATE, [Lecture._esm, {**traits, "opened": False, "backstage": "rl"}])
    assert "needs JupyterLab" not in early
    page.wait_for_selector(".lec-bar output")
    assert "needs JupyterLab" not in page.locator(".lec-door").inner_text()


# A picture of the course on a dark stage, without Lab around it.
DARK = """() => {
    document.body.classList.add('lec-root');
    document.body.style.setProperty('--jp-layout-color0', '#111');
    document.querySelector('.jp-Cell').classList.add('lec-on'); }"""


def contrast(png: bytes) -> float:
    """WCAG's contrast of the lightest and the darkest pixel."""
    rgb = imread(io.BytesIO(png))[..., :3]
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    luminance = linear @ (0.2126, 0.7152, 0.0722)
    return float((luminance.max() + 0.05) / (luminance.min() + 0.05))


def test_the_live_roofline_alone_can_be_read_on_a_dark_stage(show_picture) -> None:
    page = show_picture("roofline")
    for name in ("stage.css", "pictures.css"):
        page.add_style_tag(path=Path(present.__file__).with_name(name))
    page.evaluate(DARK)
    page.locator(".rl-live-roofline.rl-dark").first.wait_for(state="attached")
    stand(page)
    for what in (".rl-live-roofline .tick", ".rl-live-roofline .say", ".rl-live-roofline .row"):
        part = page.locator(what).locator("visible=true").first
        assert contrast(part.screenshot()) > 7, what
    assert "dark" in page.evaluate(PAPER)


# Whether the page behind the picture is dark: else the test above would prove nothing.
PAPER = """() =>
    getComputedStyle(document.body).backgroundColor === 'rgb(17, 17, 17)' ? 'dark' : 'light'"""
