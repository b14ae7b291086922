"""What a picture means is written once, in Python: the scripts repeat no number and no sentence.

A number that stands in a script of the pictures and in Python's part of them is either the same
rule in two languages, which drifts, or it means something else in each. The lists below say which.
"""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

import pytest

import rooflab
from rooflab.show.scene import packing

LIB = Path(rooflab.__file__).parent
SITE = LIB.parents[1] / "assets" / "site"
SCRIPTS = [*sorted((LIB / "show").rglob("*.js")), SITE / "runtime.js", SITE / "share.js"]
PYTHON = [
    *sorted((LIB / "show").rglob("*.py")),
    *sorted((LIB / "labs/llm/film").glob("*.py")),
    *(LIB / "labs/golf" / name for name in ("picture.py", "story.py", "curves.py", "live.py")),
]

#: Numbers that say nothing by themselves.
PLAIN = {0, 0.5, 1, 2, 3, 4, 5, 10, 100, 1000}
#: The same rule on both sides, with where Python has it.
SHARED = {32768: -packing.MISSING}
#: The same number by chance: what it is in the script.
CHANCE = {
    0.01: "player.js: step of a slider without stops",
    1e-6: "player.js: room for rounding, between two places of a table",
    0.3: "player.js: seconds in which a dot springs back",
    1.8: "player.js: how far it springs, in a curve of CSS",
    1.05: "player.js: how near the last stop counts as there",
    12: "share.js: pixels around a saved picture",
    13: "player.js: radius of what a finger can press, 26 px across",
    16: "said.js: lines that an image takes on a slide",
    20: "player.js: steps of Page Up and Page Down",
    24: "player.js: a slider's thumb, and how far a dot gives, in pixels",
    30: "overlay.js: calls of a page in a second",
    36: "player.js: digits and letters of a random name",
    50: "player.js: steps that a slow slider has between two stops",
    60: "player.js: pixels of a hand for which a dot gives most of its way",
    72: "said.js: letters of a line on a slide",
    150: "player.js: milliseconds of rest before a kernel is told",
    400: "overlay.js: milliseconds before a question is asked again",
}

_NUMBER = re.compile(
    r"(?<![\w.#])(?<![a-z]-)(?:0x[0-9a-f]+|\d+\.?\d*(?:e-?\d+)?|\.\d+)", re.IGNORECASE
)
_TEXT = re.compile(r"'((?:[^'\\\n]|\\.)*)'|`((?:[^`\\]|\\.)*)`")
_WORDS = re.compile(r"[a-z]{2,} [a-z]{2,}", re.IGNORECASE)


def code(script: Path) -> str:
    return re.sub(r"(?m)(^|\s)//.*", "", script.read_text("utf-8"))


def numbers_of_scripts() -> dict[float, set[str]]:
    found: dict[float, set[str]] = {}
    for script in SCRIPTS:
        for text in _NUMBER.findall(code(script)):
            number = int(text, 16) if text[:2].lower() == "0x" else float(text)
            found.setdefault(number, set()).add(script.name)
    return found


@cache
def constants() -> list[object]:
    """Those of Python's part, without its docstrings."""
    found: list[object] = []
    for module in PYTHON:
        nodes = [*ast.walk(ast.parse(module.read_text("utf-8")))]
        loose = {id(node.value) for node in nodes if isinstance(node, ast.Expr)}
        constants = (node for node in nodes if isinstance(node, ast.Constant))
        found += [node.value for node in constants if id(node) not in loose]
    return found


def sentences_of_scripts() -> set[str]:
    texts = [text for script in SCRIPTS for pair in _TEXT.findall(code(script)) for text in pair]
    parts = {part.strip() for text in texts for part in re.split(r"\$\{[^}]*\}", text)}
    return {part for part in parts if _WORDS.search(part)}


def test_numbers_that_stand_in_both_languages_are_listed() -> None:
    scripts = numbers_of_scripts()
    python = {abs(v) for v in constants() if isinstance(v, (int, float)) and v is not True}
    both = {number: scripts[number] for number in scripts.keys() & python - PLAIN}
    unlisted = {number: names for number, names in both.items() if number not in SHARED | CHANCE}
    assert not unlisted, "a rule in two languages? let Python say it, or list what the number is"
    assert set(SHARED | CHANCE) <= set(both), "listed, and no longer in both"


@pytest.mark.parametrize(("number", "python"), SHARED.items())
def test_what_has_to_be_the_same_is(number: int, python: int) -> None:
    assert number == python and number in numbers_of_scripts()


def test_no_sentence_stands_in_both_languages() -> None:
    said = sentences_of_scripts()
    assert len(said) > 5, "the scripts say a few things of their own"
    python = [text for text in constants() if isinstance(text, str)]
    assert not {part for part in said if any(part in text for text in python)}


def test_no_colour_stands_in_a_script() -> None:
    found = {script.name: re.findall(r"#[0-9a-f]{3,8}\b", code(script)) for script in SCRIPTS}
    assert {name: all for name, all in found.items() if all} == {"share.js": ["#fff"]}, (
        "colours are theme.py's; a saved picture lies on white where a page has no paper"
    )
