"""How lessons 04 and 05 are written: length, one word for a thing, words before their use."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tools.lesson import read_lesson

SOURCE = Path(__file__).parents[2] / "notebooks" / "source"
NAMES = ("04_gemm_shapes", "05_decode")
MOST_WORDS = 2500  # of the core


def prose(name: str, tag: str | None = None) -> str:
    """The text of the learner's copy, of core or deep cells only with a ``tag``."""
    cells = read_lesson(SOURCE / f"{name}.py").learner.cells
    return "\n".join(
        cell.source for cell in cells
        if cell.cell_type == "markdown" and tag in (None, *cell.metadata.tags)
    )  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
def test_the_core_can_be_read_in_a_lesson(name):
    text = re.sub(r"<[^>]+>", " ", prose(name, "core"))
    words = [word for word in text.split() if re.search(r"[^\W_]", word)]
    assert len(words) <= MOST_WORDS


@pytest.mark.parametrize("name", NAMES)
def test_a_sentence_stands_outside_of_brackets(name):
    """A bracket that begins with a capital and ends with a full stop holds a whole sentence."""
    found = re.findall(r"\([A-Z][^()]{12,}[.?]\)", " ".join(prose(name).split()))
    assert not found


@pytest.mark.parametrize("name", NAMES)
def test_no_question_has_two_as(name):
    text = re.sub(r"\s+", " ", prose(name))
    asked = re.findall(r"[^.?!:*]*\?", text)
    assert asked
    assert not [one for one in asked if len(re.findall(r"\bas\b", one)) > 1]


@pytest.mark.parametrize("name", NAMES)
def test_what_is_written_is_a_sequence_and_nothing_else(name):
    text = prose(name)
    assert "**sequence**" in text
    for other in (r"\bconversation", r"\busers?\b", r"\bseveral texts\b", r"\btexts of the batch"):
        assert not re.search(other, text), other


@pytest.mark.parametrize(
    ("name", "word", "explained"),
    [
        ("04_gemm_shapes", "**sequence**", r"`batch` sequences"),
        ("04_gemm_shapes", "`bf16`: 2-byte", r"`bf16`, |bf16 ridge"),
        ("04_gemm_shapes", "**matrix units**", r"matrix units of a GPU"),
        ("04_gemm_shapes", "**knee**", r"The knee of|your `knee`"),
        ("05_decode", "**step**", r"a step takes|How .* a step"),
        ("05_decode", "in *heads*", r"KV heads|Heads that share"),
        ("05_decode", "**KV cache**", r"KV cache belongs|the caches"),
        ("05_decode", "*MLP* the three", r"MLP [^t]"),
        ("05_decode", "*output matrix*", r"the output matrix"),
        ("05_decode", "*up projection*", r"the up projection"),
        ("05_decode", "*Weight only* (W8A16", r"W4A16\b(?!\))"),
    ],
)
def test_a_word_is_explained_before_it_is_used(name, word, explained):
    """The place that explains ``word`` comes before every place that uses it."""
    text = re.sub(r"\s+", " ", prose(name))
    body = text[text.index("## ") :]  # the list of aims may name what is to come
    assert word in body
    used = re.search(explained, body)
    assert used is None or body.index(word) <= used.start(), used.group()
