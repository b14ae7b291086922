"""The slides that docs/teaching.md names, row by row of its script and of its table of answers."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

GUIDE = Path(__file__).resolve().parents[2] / "docs" / "teaching.md"
SCRIPT = re.compile(r"^\| [\d½]+ \| (\d\d): ((?:[\d–,* ]|Enter)+) \| ([^|]+) \|", re.M)
ANSWERS = re.compile(r"^\| (\d\d), [^|]+\|[^|]+\| (.+) \(([\d–]+)\)", re.M)
# What the guide says where a slide has no heading, and what then stands on the slide.
WITHOUT_HEADING = {
    "The curve; drag the slider": "Below waits the whole curve|What just happened",
    "The H200's free lunch": "The datasheet of an H200",
    "Three operations, their intensities": "GEMM does 4096 times the arithmetic",
    "R uncovers the roofline": "The picture that you uncovered is called a roofline",
    "*the ratio at the roofs*": '"01-roofs"',
    "The trips, step by step": "What happened",
    "The two programs with `out=`": "def with_out",
    "drag the chunk": "The picture has two sliders now",
    "the curve": "And all sizes in one curve",
    "the 8 × 8 product": "An 8×8 matrix times an 8×8 matrix",
}


@dataclass(frozen=True)
class Named:
    """``words`` of the guide, and the numbers of the slides that it names for them."""

    lesson: str
    words: str
    slides: frozenset[int]


def named() -> list[Named]:
    """Return what the guide names."""
    text = GUIDE.read_text("utf-8")
    rows = [(lesson, words, slides) for lesson, slides, words in SCRIPT.findall(text)]
    return [Named(lesson, words, _numbers(slides)) for lesson, words, slides in
            (*rows, *ANSWERS.findall(text))]  # fmt: skip


def _numbers(slides: str) -> frozenset[int]:
    """Every slide of a text such as "**11** Enter–12, 14"."""
    ranges = re.findall(r"(\d+)(?:–(\d+))?", re.sub(r"\*\*| Enter", "", slides))
    return frozenset(n for first, last in ranges for n in range(int(first), int(last or first) + 1))


def astray(one: Named, headings: dict[str, int], texts: list[str]) -> list[str]:
    """Return what stands on none of the slides that the guide names for it, or on no slide.

    ``headings``: heading of a deck → its slide; ``texts``: what stands on each slide.
    """
    said = [each.strip("*") for each in re.findall(r"\*[^*]+\*", one.words.replace("**", "*"))]
    begin = {each: n for each in said for heading, n in headings.items()
             if heading.lower().removeprefix("claim court: ").startswith(each.lower())}  # fmt: skip
    found = [each for each, slide in begin.items() if slide not in one.slides]
    shown = [texts[n - 1] for n in one.slides if n <= len(texts)]
    known = [words for words in WITHOUT_HEADING if words in one.words]
    found += [
        words for words in known
        if not any(re.search(WITHOUT_HEADING[words], text) for text in shown)
    ]  # fmt: skip
    return found if begin or known else [f"nothing is known of: {one.words}"]
