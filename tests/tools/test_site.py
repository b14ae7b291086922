"""Static pages: complete, offline, and alive without a kernel."""

from __future__ import annotations

from copy import deepcopy
from pathlib import Path

import nbformat
import pytest

from tools.build_notebooks import tidy
from tools.execute import run_notebook
from tools.outputs import settle
from tools.site import alternative_text, build_page, build_site, lesson_title

WIDGETS = '''
png = (
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk"
    "+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)
import anywidget, ipywidgets as W, traitlets as T

class Dot(anywidget.AnyWidget):
    _esm = """export default { render({ model, el }) {
        const slider = document.createElement("input"), out = document.createElement("output");
        Object.assign(slider, { type: "range", max: 10, value: model.get("i"), ariaLabel: "N" });
        slider.addEventListener("input", () => model.set("i", +slider.value));
        el.append(slider, out);
        const move = () => { out.textContent = "y=" + model.get("ys")[model.get("i")]; };
        model.on("change:i", move); move(); } }"""
    ys = T.List().tag(sync=True)
    i = T.Int(0).tag(sync=True)

class Shown(W.VBox):
    def _repr_mimebundle_(self, **kw):
        return {**super()._repr_mimebundle_(**kw), "image/png": png, "text/plain": "the still"}

Shown([Dot(ys=[n * n for n in range(11)])])
'''
PICTURE = """
from IPython.display import display
display({"image/png": png, "text/plain": "<Figure>"}, raw=True,
        metadata={"image/png": {"alt": 'a "flat" roof'}})
"""


def make_notebook() -> nbformat.NotebookNode:
    text = "# Lesson 00 · A page\n\nIntensity $I = \\frac{W}{Q}$ and\n\n$$t = \\max(a, b)$$"
    code = nbformat.v4.new_code_cell
    return nbformat.v4.new_notebook(
        cells=[nbformat.v4.new_markdown_cell(text), code(WIDGETS.strip()), code(PICTURE.strip())]
    )


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("Seiten für alle")
    return build_page(run_notebook(make_notebook(), "page", folder), folder, "00_page")


def test_the_page_names_no_other_host(page: Path) -> None:
    text = page.read_text("utf-8")
    loaded = [part.split('"')[0] for part in text.split(' src="')[1:]]
    assert [url for url in loaded if not url.startswith("static/")] == []
    assert "https://" not in text.replace("https://www.w3.org", "").split("<main>")[0]


def test_formulas_are_mathml_and_pictures_have_words(page: Path) -> None:
    text = page.read_text("utf-8")
    assert text.count("<math") == 2 and "<mfrac>" in text and "$I" not in text
    assert 'alt="a &quot;flat&quot; roof"' in text or "alt='a \"flat\" roof'" in text


@pytest.mark.browser
def test_a_slider_moves_an_anywidget_without_kernel_or_network(page: Path, chromium) -> None:
    tab = chromium.new_page()
    requests: list[str] = []
    errors: list[str] = []
    tab.on("request", lambda request: requests.append(request.url))
    tab.on("pageerror", lambda error: errors.append(str(error)))
    tab.goto(page.as_uri())
    tab.wait_for_selector("output")
    assert tab.text_content("output") == "y=0"
    assert not tab.is_visible("img[alt='the still']"), "the widget takes the picture's place"
    tab.focus("input[type=range]")
    for _ in range(3):
        tab.keyboard.press("ArrowRight")
    assert tab.text_content("output") == "y=9"
    tab.close()
    assert errors == []
    assert [url for url in requests if not url.startswith(("file:", "blob:", "data:"))] == []


@pytest.mark.browser
def test_without_javascript_the_picture_is_there(page: Path, chromium) -> None:
    tab = chromium.new_context(java_script_enabled=False).new_page()
    tab.goto(page.as_uri())
    assert tab.is_visible("img[alt='the still']")
    tab.context.close()


def test_contents_list_all_lessons_and_neighbours_link(tmp_path: Path, monkeypatch) -> None:
    paths, code = [], nbformat.v4.new_code_cell("print(open('mine.py', 'w').write('a = 1'))")
    for number, title in enumerate(("First", "Second & last")):
        cells = [nbformat.v4.new_markdown_cell(f"# {title}"), code]
        paths.append(tmp_path / f"0{number}_lesson.ipynb")
        nbformat.write(nbformat.v4.new_notebook(cells=cells), paths[-1])
    out = tmp_path / "site"
    out.mkdir()
    pages = build_site(out, paths)
    assert [p.name for p in pages] == ["00_lesson.html", "01_lesson.html", "index.html"]
    assert not (tmp_path / "mine.py").exists(), "what a lesson writes stays out of the notebooks"
    assert "Next: Second &amp; last" in pages[0].read_text("utf-8")
    assert "Back: First" in pages[1].read_text("utf-8")
    assert pages[2].read_text("utf-8").count('class="card"') == 2

    # One lesson alone: the other keeps its place in the contents and as a neighbour.
    notebook = nbformat.read(paths[0], as_version=4)
    notebook.cells[1].outputs = [nbformat.v4.new_output("stream", text="5\n")]
    monkeypatch.setattr("tools.execute.run_notebook", lambda *_: notebook)
    again = build_site(out, paths[:1])
    assert again[-1].read_text("utf-8").count('class="card"') == 2
    assert "Second &amp; last</a>" in again[-1].read_text("utf-8")
    assert "Next: Second &amp; last" in again[0].read_text("utf-8")


def test_progress_bars_and_the_guesses_of_nobody_are_left_out(tmp_path: Path) -> None:
    cells = [
        "from tqdm.notebook import tqdm\nbar = tqdm(total=100, desc='measuring this machine')",
        "import sys\nfrom tqdm import tqdm as plain\n"
        "print('kept: the samples spread by 12 %', file=sys.stderr)\n"
        "bar = plain(total=100, desc='calibrating', bar_format='{desc} {bar} {n:.0f} %')\n"
        "bar.update(40)",
        "class rl:\n    def my_guesses(): return 'No guesses yet.'\nrl.my_guesses()",
    ]
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(c) for c in cells])
    ran = run_notebook(notebook, "bars", tmp_path)
    assert "measuring" in str(ran.cells[0].outputs) and "calibrating" in str(ran.cells[1].outputs)
    committed = deepcopy(ran)
    tidy(committed)
    assert committed.cells[0].outputs == [], "nor is a bar's 0 % committed"
    settle(ran)
    assert ran.cells[0].outputs == []
    shown = "".join(output.text for output in ran.cells[1].outputs)
    assert "kept: the samples spread by 12 %" in shown and "calibrating" not in shown
    assert "No guesses" not in str(ran.cells[2].outputs) and "run the notebook" in str(ran.cells[2])


def test_a_link_to_the_next_lesson_leads_to_its_page() -> None:
    text = "Next: [Lesson 01](01_three_operations.ipynb); [other](https://x.org/02_a.ipynb)"
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_markdown_cell(text)])
    settle(notebook)
    assert notebook.cells[0].source == (
        "Next: [Lesson 01](01_three_operations.html); [other](https://x.org/02_a.ipynb)"
    )


def test_a_notebook_that_never_ran_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="'page' has no output"):
        build_page(make_notebook(), tmp_path, "page")


@pytest.mark.parametrize(
    ("metadata", "plain", "text"),
    [
        ({"image/png": {"alt": "a roof"}}, "<Figure>", "a roof"),
        ({}, "Roofline:\n  3 points", "Roofline: 3 points"),
        ({}, "<Figure size 640x480>", "Figure; the text around it says what it shows."),
    ],
)
def test_alternative_text(metadata: dict, plain: str, text: str) -> None:
    output = nbformat.from_dict({"metadata": metadata, "data": {"text/plain": plain}})
    assert alternative_text(output) == text


def test_title_is_the_first_heading() -> None:
    assert lesson_title(make_notebook()) == "Lesson 00 · A page"
    assert lesson_title(nbformat.v4.new_notebook()) == "Lesson"
