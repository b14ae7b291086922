"""``rl.lecture()`` in JupyterLab and Notebook 7: the notebook's own cells on a stage."""

from __future__ import annotations

import io
from base64 import b64encode
from collections.abc import Callable, Iterator

import nbformat
import numpy as np
import pytest
from matplotlib.colors import to_rgb
from matplotlib.image import imsave
from playwright.sync_api import expect

from tests.browser.front import ask_kernel, wait_for_kernel
from tests.browser.server import Server
from tests.browser.test_guess import QUESTION
from tests.browser.test_slides import STANDING, go_to, on_stage, place

pytestmark = pytest.mark.browser

SLIDER = """import ipywidgets
runs = globals().get("runs", 0) + 1
print(f"run {runs}")
slider = ipywidgets.IntSlider(value=3, max=10, description="N")
slider"""
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
        page.wait_for_selector(".noUi-handle", state="attached")
        page.wait_for_selector(".rl-guess .axis svg[tabindex]", state="attached")
        return page

    yield lecture
    for page in opened:
        page.evaluate(
            "() => document.querySelector('.lec-bar [title=\"leave the lecture\"]')?.click()"
        )


@pytest.fixture(params=["lab", "notebook"])
def lecture(request, open_lecture: Callable[..., object]) -> object:
    return open_lecture(request.param, f"lecture-{request.param}.ipynb", *cells())


def cut_again(page, run: str) -> None:
    """Wait for the slider's cell to have run, and the steps to be cut again 300 ms after that."""
    page.wait_for_selector(f"text={run}", state="attached")
    page.wait_for_selector(f".jp-OutputArea:has-text('{run}') .noUi-handle", state="attached")
    page.evaluate("() => new Promise(after => setTimeout(after, 300))")  # timers keep their order


def test_a_lecture_from_the_first_step_to_the_last_key(lecture) -> None:
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


def test_keys_do_what_they_do_in_the_slides_and_nothing_to_the_notebook(lecture) -> None:
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


def test_a_cell_runs_and_is_edited_on_the_stage(lecture) -> None:
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


def test_without_recordings_the_lecture_goes_on(
    open_lecture: Callable[..., object], jupyter: Server
) -> None:
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
from rooflab.measure.freelunch import FreeLunch
k = (1, 2, 3, 5, 9, 17, 33, 65, 129, 257)
curve = FreeLunch(k, tuple(max(4e-3, 2e-4 * v) for v in k), (0.0,) * 10, 1 << 24, 4, 1)
rl.guess("00-nine", 55)
nine = rl.ask("00-nine", 4.0)
nine"""
WAITING = ".rl-guess .axis svg[tabindex]"


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
    return [
        code(AT_HOME, metadata=core),
        code("rl.live.free_lunch(curve, after=nine)", metadata=core, outputs=[shown]),
        code('rl.show.say("9: 4.0 ms", after=nine)', metadata=core),
        code("rl.lecture()"),
    ]


@pytest.mark.parametrize("front", ["lab", "notebook"])
def test_a_guess_of_home_is_covered_and_the_lecturers_own_stay_as_they_are(
    open_notebook: Callable[..., object], front: str
) -> None:
    page = open_notebook(front, f"covered-{front}.ipynb", *recorded_twice())
    try:
        page.wait_for_function(READY)
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
        go_to(page, "9: 4.0 ms")
        page.keyboard.press("l")
        assert "never recorded" in page.locator(".lec-told").text_content()
        wait_for_kernel(page, "guesses.get('00-nine').shown", "True")
        own = "del os.environ['ROOFLAB_GUESSES']"  # what a restart of the kernel does
        assert ask_kernel(page, "guesses.get('00-nine').shown", own) == "False"
        assert ask_kernel(page, "guesses.get('00-nine').value") == "55.0"
    finally:
        page.evaluate(
            "() => document.querySelector('.lec-bar [title=\"leave the lecture\"]')?.click()"
        )
