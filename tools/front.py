"""The first page of a site: the first lesson's guess with its picture, and all lessons."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from string import Template

from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

ADDRESS = ""  # where the pages are public; as long as it is empty, nothing links there
ASSETS = Path(__file__).resolve().parent.parent / "assets"
#: The first lesson of each part, and the part's name.
PARTS = {
    "00": "The roofline", "04": "A language model", "06": "Inside one core", "10": "Fewer bytes",
}  # fmt: skip
PLAYGROUND = (
    "# All machines under one roofline\n\n**Which machine does your operation need?**\n\nChoose a "
    "machine and a number type, and slide N and the batch. *share* below the picture copies an "
    "address that opens it as it is. The figures are from datasheets: promises, not measurements.",
    "import rooflab as rl\n\nrl.live.roofline(rl.machines())",
)
SEARCH = (
    '<search class="find"><input type="search" placeholder="Search" '
    'aria-label="Search all lessons"><div role="status"></div></search>'
)
SLOT = re.compile(r'<div [^>]*\bid="picture-\d+"[^>]*>')
HEADING = re.compile(r'<h2 id="([^"]+)">(.*?)<a class="anchor-link".*?</h2>')


def write_front(out: Path, titles: Sequence[tuple[str, str]]) -> Path:
    """Write ``OUT/index.html`` for the lessons of ``titles`` (name, title), and return its path.

    All that it says of a lesson stands on that lesson's page. Without the page of lesson 00 there
    is nothing to guess.
    """
    pages = {name: (out / f"{name}.html").read_text("utf-8") for name, _ in titles}
    first = titles[0][0]
    slots = SLOT.findall(pages[first]) if first.startswith("00_") else []
    guess, answer = [*(f"{slot}</div>" for slot in slots[:2]), "", ""][:2]
    more = machines = ""
    if (out / "machines.html").exists():
        machines = '<a href="machines.html">Machines</a>'
        more = (
            '<p class="lead"><a href="machines.html">All machines of the catalogue under one '
            "roofline</a>: slide N and the batch, and send the address of what you see.</p>"
        )
    parts = {
        "first": first, "guess": guess, "answer": answer, "more": more, "machines": machines,
        "many": len(titles), "search": SEARCH, "at": ADDRESS and f", {ADDRESS}",
        "lessons": _cards(titles, pages),
    }  # fmt: skip
    template = Template((ASSETS / "site/contents.html").read_text("utf-8"))
    page = out / "index.html"
    page.write_text(template.substitute(parts), "utf-8")
    _write_sections(out, pages)
    return page


def playground() -> NotebookNode:
    """Return the notebook of the page with all machines of the catalogue, not executed."""
    text, code = PLAYGROUND
    return new_notebook(cells=[new_markdown_cell(text), new_code_cell(code)])


def contents(body: str) -> str:
    """Return the list of a page's sections, for its margin; "" where there are none."""
    links = [f'<li><a href="#{at}">{title}</a></li>' for at, title in HEADING.findall(body)]
    if not links:
        return ""
    return (
        '<nav class="toc" aria-label="Sections"><details open><summary>On this page</summary>'
        f"<ol>{''.join(links)}</ol></details></nav>"
    )


def _cards(titles: Sequence[tuple[str, str]], pages: Mapping[str, str]) -> str:
    cards, part = [], "Lessons"
    for name, title in titles:
        part = PARTS.get(name[:2], part)
        cards.append(_card(name, title, pages[name], part))
    return "\n".join(['<h2>Lessons</h2>\n<ul class="cards">', *cards, "</ul>"])


def _card(name: str, title: str, page: str, part: str) -> str:
    """A lesson: its part, a silhouette of its picture, its question, minutes, and what it needs."""
    patterns = {
        "question": r"<p><strong>(.+?)</strong></p>",
        "minutes": r"<summary>(\d+ minutes, \d+ with the exercises)",
        "needs": r"<p>(You need .*?)\.\s",
    }
    facts = {key: re.search(one, page, re.S) for key, one in patterns.items()}
    lines = [f'<p class="{key}">{one[1]}</p>' for key, one in facts.items() if one]
    drawing = ASSETS / f"figures/lessons/{name[:2]}.svg"
    shape = drawing.read_text("utf-8") if drawing.exists() else ""
    link = f'<a href="{name}.html">{html.escape(title)}</a>'
    above = f'<p class="part">{part}</p>{shape}'
    return f'<li class="card" data-card="{name}">{above}<h3>{link}</h3>{"".join(lines)}</li>'


def _write_sections(out: Path, pages: Mapping[str, str]) -> None:
    """Write what the search reads: page, anchor, heading and text of every section."""
    rows = []
    for name, page in pages.items():
        marks = [*HEADING.finditer(page)]
        for mark, end in zip(marks, [*(one.start() for one in marks[1:]), len(page)]):
            section = page[mark.end() : end]
            text = re.sub(r"<(summary|noscript|svg).*?</\1>|<[^>]+>", " ", section, flags=re.S)
            heading = html.unescape(re.sub(r"<[^>]+>", "", mark[2]))
            rows.append([name, mark[1], heading, " ".join(html.unescape(text).split())])
    text = json.dumps(rows, ensure_ascii=False, separators=(",", ":"))
    given = f'rooflabPage.give("sections.js", () => ({text}));\n'
    (out / "static/sections.js").write_text(given, "utf-8")
