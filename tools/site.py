"""Lessons as static pages that open from disk, without a kernel and without a network.

    python tools/site.py [--out site] [LESSON …]

A page is the executed learner's notebook. What it loads lies beside it in ``static/``: JupyterLab's
styles (from nbconvert), pictures, and the widgets as `tools.packs` keeps them, which
``assets/site/runtime.js`` draws and ``assets/site/share.js`` saves. A browser asks for a picture
when it comes near. Formulas become MathML while the page is built, so no script draws them.
"""

from __future__ import annotations

import argparse
import html
import re
import shutil
import sys
import tempfile
from collections.abc import Sequence
from copy import deepcopy
from importlib import metadata
from pathlib import Path

import nbformat
from jinja2 import FileSystemBytecodeCache, pass_context
from latex2mathml.converter import convert as to_mathml
from nbconvert.exporters import HTMLExporter
from nbconvert.filters.markdown_mistune import IPythonRenderer, MarkdownWithMath
from nbformat import NotebookNode

REPOSITORY = Path(__file__).resolve().parent.parent
if str(REPOSITORY) not in sys.path:  # so that `python tools/site.py` works as well as an import
    sys.path.insert(0, str(REPOSITORY))

from tools.front import SEARCH, contents, playground, write_front  # noqa: E402, after the path is set
from tools.outputs import for_readers, settle  # noqa: E402
from tools.packs import Folder, Shelf, image, shelve, sweep  # noqa: E402

ASSETS = REPOSITORY / "assets"
NOTEBOOKS = REPOSITORY / "notebooks"


class _Renderer(IPythonRenderer):
    """Markdown with formulas as MathML, which browsers draw themselves."""

    def inline_math(self, body: str) -> str:
        return to_mathml(body)

    def block_math(self, body: str) -> str:
        return to_mathml(body, display="block")


class Page(HTMLExporter):
    """nbconvert's HTML with one of our templates, MathML and alternative texts."""

    exclude_input_prompt = True
    exclude_output_prompt = True

    def __init__(self, template: str, shelf: Shelf) -> None:
        where = [str(ASSETS)]  # for the template, and for one that it extends
        super().__init__(
            extra_template_basedirs=where, extra_template_paths=where, template_name=template
        )
        # Translating the templates takes longer than filling them, so that is kept.
        self.environment.bytecode_cache = FileSystemBytecodeCache()
        self.register_filter(
            "picture", lambda one: image(one.data["image/png"], alternative_text(one), shelf)
        )

    @pass_context
    def markdown2html(self, context: object, source: str) -> str:
        """Replace the exporter's own filter, which leaves formulas to a script."""
        return MarkdownWithMath(renderer=_Renderer(escape=False)).render(source)


def alternative_text(output: NotebookNode) -> str:
    """What a picture shows, in words: the figure's own alt text, else its text/plain twin."""
    given = output.get("metadata", {}).get("image/png", {}).get("alt")
    twin = output.get("data", {}).get("text/plain", "")
    text = given or ("" if twin.startswith("<") else twin)
    return " ".join(text.split()) or "Figure; the text around it says what it shows."


def lesson_title(notebook: NotebookNode) -> str:
    """The first heading of the notebook, or "Lesson"."""
    for cell in notebook.cells:
        found = (
            re.search(r"^#+\s+(.+)$", cell.source, re.M) if cell.cell_type == "markdown" else None
        )
        if found:
            return found.group(1).strip()
    return "Lesson"


def build_page(
    notebook: NotebookNode,
    out: Path,
    name: str,
    *,
    previous: tuple[str, str] | None = None,
    following: tuple[str, str] | None = None,
    solution: NotebookNode | None = None,
) -> Path:
    """Write ``OUT/NAME.html`` and what it loads into ``OUT/static``; return the page's path.

    `notebook` is executed; widgets move if it holds their state (``notebook.metadata.widgets``, as
    `tools.execute.run_notebook` leaves it). `previous` and `following` are (name, title) of the
    neighbouring lessons; `solution` has the answers that stand folded below exercises. Raises
    ValueError for a notebook that was never run.
    """
    if not any(cell.get("outputs") for cell in notebook.cells):
        raise ValueError(f"notebook {name!r} has no output; run it before making its page")
    notebook = deepcopy(notebook)
    settle(notebook)
    for_readers(notebook, solution)
    static = out / "static"
    write_static(static)
    shelve(notebook, Folder(static))
    title = lesson_title(notebook)
    notebook.metadata["title"] = f"{title} · rooflab"
    resources = {
        "rooflab_header": _bar(previous, following),
        "rooflab_footer": _bar(previous, following, foot=True),
        "rooflab_lesson": name,
    }
    body, _ = Page("site", Folder(static)).from_notebook_node(notebook, resources=resources)
    page = out / f"{name}.html"
    page.write_text(body.replace("<!-- sections -->", contents(body), 1), encoding="utf-8")
    return page


def write_static(folder: Path) -> None:
    """Copy every script and style that pages share into `folder`."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in ("runtime.js", "share.js", "page.js"):
        shutil.copyfile(ASSETS / "site" / name, folder / name)
    (folder / "jupyter.css").write_text(_jupyter_styles(), encoding="utf-8")
    (folder / "site.css").write_text(_own_styles() + _dark_styles(), encoding="utf-8")


def _jupyter_styles() -> str:
    return "\n".join(_of_lab(css) for css in ("index.css", "theme-light.css"))


def _of_lab(css: str) -> str:
    """A style of JupyterLab, as the installed nbconvert brings it."""
    for file in metadata.files("nbconvert") or ():
        if file.as_posix().endswith(f"templates/lab/static/{css}"):
            return Path(file.locate()).resolve().read_text(encoding="utf-8")
    raise FileNotFoundError(f"nbconvert brings no {css}; install it again with pip")


def _own_styles() -> str:
    return (ASSETS / "site/site.css").read_text("utf-8")


def styles() -> str:
    """The texts of all styles that pages share, for a page that holds them and is never dark."""
    return _jupyter_styles() + _own_styles()


def _dark_styles() -> str:
    """What changes for readers whose system is dark: Lab's colours that differ, then our own."""
    light, dark = (_variables(_of_lab(f"theme-{name}.css")) for name in ("light", "dark"))
    changed = "".join(f"{name}:{dark[name]};" for name in dark if dark[name] != light.get(name))
    own = (ASSETS / "site/dark.css").read_text("utf-8")
    return f"@media screen and (prefers-color-scheme: dark) {{\n:root {{{changed}}}\n{own}}}\n"


def _variables(css: str) -> dict[str, str]:
    """The variables that a theme sets, without line breaks."""
    text = re.sub(r"/\*.*?\*/", "", css, flags=re.S)
    found = re.findall(r"(--[\w-]+)\s*:([^;]+);", text)
    return {name: " ".join(value.split()) for name, value in found}


def _bar(
    previous: tuple[str, str] | None, following: tuple[str, str] | None, foot: bool = False
) -> str:
    """The line above (or below) a lesson: home, neighbours, and what this page cannot do."""
    parts = ['<a class="course" href="index.html">rooflab</a>']
    for word, neighbour in (("Back", previous), ("Next", following)):
        if neighbour:
            parts.append(f'<a href="{neighbour[0]}.html">{word}: {html.escape(neighbour[1])}</a>')
    if not foot:
        parts.append(
            '<span class="note">On your own machine: <code>python course.py lab</code></span>'
            f"{SEARCH}"
        )
    kind = "page-bar foot" if foot else "page-bar"
    name = "Lessons, below" if foot else "Lessons"
    return f'<nav class="{kind}" aria-label="{name}">{"".join(parts)}</nav>'


def build_site(out: Path, lessons: Sequence[Path]) -> list[Path]:
    """Run each learner's notebook afresh, keep its widget state, and write page and contents.

    Pages that stand in `out` already keep their place in the contents and as neighbours.
    """
    from tools.execute import run_notebook

    given = {path.stem: lesson_title(nbformat.read(path, as_version=4)) for path in lessons}
    titles = sorted({**_standing(out), **given}.items())
    names = [name for name, _ in titles]
    pages = []
    with tempfile.TemporaryDirectory(prefix="rooflab-site-") as folder:  # lessons write mine.py
        for i, path in enumerate(lessons):
            print(f"page {i + 1}/{len(lessons)}: {path.stem}", flush=True)
            notebook = run_notebook(nbformat.read(path, as_version=4), path.stem, Path(folder))
            at = names.index(path.stem)
            neighbours = {
                "previous": titles[at - 1] if at else None,
                "following": titles[at + 1] if at + 1 < len(titles) else None,
            }
            answers = path.parent / "solutions" / path.name
            solution = nbformat.read(answers, as_version=4) if answers.exists() else None
            page = build_page(notebook, out, path.stem, solution=solution, **neighbours)
            pages.append(page)
        if len(titles) == len(lessons):  # a whole site
            every = run_notebook(playground(), "machines", Path(folder))
            build_page(every, out, "machines")
    front = write_front(out, titles)
    sweep(out, out / "static")
    return [*pages, front]


def _standing(out: Path) -> dict[str, str]:
    """Names and titles of the lessons whose pages stand in `out`."""
    found = {}
    for page in out.glob("[0-9][0-9]_*.html"):
        title = re.search(r"<title>(.*?)(?: · rooflab)?</title>", page.read_text("utf-8"), re.S)
        found[page.stem] = html.unescape(title[1]).strip() if title else page.stem
    return found


def notebooks_named(names: Sequence[str]) -> list[Path]:
    """Return the notebooks of ``names``, or numbers such as 06; exit where there is none."""
    paths = [_notebook(name) for name in names]
    paths = paths or sorted(NOTEBOOKS.glob("[0-9][0-9]_*.ipynb"))
    missing = [path.name for path in paths if not path.exists()]
    if missing or not paths:
        sys.exit(f"no such notebook: {', '.join(missing) or NOTEBOOKS}")
    return paths


def _notebook(name: str) -> Path:
    numbered = sorted(NOTEBOOKS.glob(f"{name}_*.ipynb")) if re.fullmatch(r"\d\d", name) else []
    return numbered[0] if numbered else NOTEBOOKS / f"{name.removesuffix('.ipynb')}.ipynb"


def asked(arguments: Sequence[str] | None, out: Path, **about: str) -> tuple[list[Path], Path]:
    """Return the notebooks that a command line names, and the folder to write to; it is made."""
    parser = argparse.ArgumentParser(**about)
    parser.add_argument("lessons", nargs="*", help="numbers such as 06, or names; default: all")
    parser.add_argument("--out", type=Path, default=out)
    chosen = parser.parse_args(arguments)
    paths = notebooks_named(chosen.lessons)
    chosen.out.mkdir(parents=True, exist_ok=True)
    return paths, chosen.out


def main(arguments: Sequence[str] | None = None) -> int:
    """Command line: build the pages of all lessons, or of those named."""
    about = "Build the lessons as static pages."
    paths, out = asked(arguments, REPOSITORY / "site", description=about)
    for page in build_site(out, paths):
        print(page)
    return 0


if __name__ == "__main__":
    sys.exit(main())
