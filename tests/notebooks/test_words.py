"""A lesson's words: short enough, explained before they are used, one word for a thing."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from rooflab.exercises.compare import same
from rooflab.exercises.observe.plaindata import to_plain
from rooflab.exercises.registry import exercise, exercises
from tools.lesson import read_lesson

SOURCES = sorted((Path(__file__).resolve().parents[2] / "notebooks" / "source").glob("[0-9]*.py"))
MOST_CORE_WORDS = 2300
# A technical word → how it is written where it is explained, and anywhere. The explanation stands
# in bold or italics.
TERMS = {
    "bandwidth": r"bandwidths?",
    "peak": r"peak",
    "ridge": r"ridges?",
    "FLOP": r"FLOPs?\b(?!/)",
    "intensity": r"intensit(?:y|ies)",
    "GEMV": r"GEMV",
    "GEMM": r"GEMM",
    "AXPY": r"AXPY",
    "matrix unit": r"(?:matrix|tensor) units?",
    "cold": r"cold\b(?! course)",
    "warm": r"warm\b",
    "L2": r"L2\b(?![ -]norm)",
    "die": r"dies?\b",
    "KV cache": r"KV[ -]cache",
    "prefill": r"prefill",
    "decode": r"decod(?:e|ing)\b",
}


def markdown(source: Path, tag: str | None = None) -> list[str]:
    cells = read_lesson(source).learner.cells
    return [
        cell.source
        for cell in cells
        if cell.cell_type == "markdown" and tag in (None, *cell.metadata.tags)
    ]


def plain(text: str) -> str:
    """Without code, links and formulas, in which a word explains nothing."""
    return re.sub(r"```.*?```|`[^`]*`|\$[^$]*\$|\]\([^)]*\)|<[^>]*>", " ", text, flags=re.DOTALL)


def first_use(term: str) -> tuple[str, str] | None:
    """The lesson and the paragraph where a term stands for the first time."""
    for source in SOURCES:
        for cell in markdown(source):
            for paragraph in cell.split("\n\n"):
                text = plain(paragraph)
                if not text.lstrip().startswith("#") and re.search(rf"\b{TERMS[term]}", text):
                    return source.stem, paragraph
    return None


@pytest.mark.parametrize("term", TERMS)
def test_a_term_is_explained_where_it_is_first_used(term: str) -> None:
    found = first_use(term)
    if found is None:
        pytest.skip(f"no lesson says {term}")
    emphasised = re.findall(r"\*\*(.+?)\*\*|\*(.+?)\*", found[1], re.DOTALL)
    assert any(re.search(rf"\b{TERMS[term]}", "".join(words)) for words in emphasised), (
        f"{found[0]}: {term!r} is first used in “{found[1]}”, and not explained there"
    )


@pytest.mark.parametrize("source", SOURCES, ids=lambda path: path.stem)
def test_the_core_of_a_lesson_is_short(source: Path) -> None:
    words = sum(len(re.findall(r"\S*\w\S*", plain(text))) for text in markdown(source, "core"))
    assert words <= MOST_CORE_WORDS


@pytest.mark.parametrize("source", SOURCES, ids=lambda path: path.stem)
def test_no_sentence_hides_in_parentheses(source: Path) -> None:
    """A parenthesis that begins with a capital and ends with a full stop is a sentence."""
    found = [
        inside
        for text in markdown(source)
        for inside in re.findall(r"\(([^()]*)\)", plain(text))
        if re.match(r"[A-Z][a-z]*\s", inside) and inside.rstrip().endswith((".", "!", "?"))
    ]
    assert found == []


@pytest.mark.parametrize("source", SOURCES, ids=lambda path: path.stem)
def test_no_sentence_says_how_many_times_as_much_as(source: Path) -> None:
    """“How many times as high as X is Y” has to be read twice."""
    found = [
        sentence
        for text in markdown(source)
        for sentence in re.split(r"(?<=[.?!])\s", plain(text))
        if sentence.rstrip().endswith("?") and len(re.findall(r"\bas\b", sentence)) >= 2
    ]
    assert found == []


def whole(name: str) -> str:
    """All the text of a learner's copy, code spans included."""
    (source,) = (path for path in SOURCES if path.stem == name)
    return "\n".join(markdown(source))


@pytest.mark.parametrize("source", SOURCES, ids=lambda path: path.stem)
def test_as_many_lines_are_asked_for_as_the_solution_has(source: Path) -> None:
    """A cell says "ours has 3 lines"; what rl.check says of an empty answer must be the same."""
    solved = r'"exercise": "([^"]+)"\}\n(?:[^#]|#(?! BEGIN))*# BEGIN SOLUTION\n(.*?)# END SOLUTION'
    for id, code in re.findall(solved, source.read_text("utf-8"), re.DOTALL):
        assert exercise(id).lines == sum(1 for line in code.split("\n") if line.strip()), id


@pytest.mark.parametrize("name", ["04_gemm_shapes", "05_decode"])
def test_what_is_written_is_a_sequence_and_nothing_else(name):
    text = whole(name)
    assert "**sequence**" in text
    for other in (r"\bconversation", r"\busers?\b", r"\bseveral texts\b", r"\btexts of the batch"):
        assert not re.search(other, text), other


def test_what_a_core_waits_for_is_in_flight_and_nothing_else():
    assert "*in flight*" in whole("06_where_data_lives")
    assert not re.search(r"\bunder ?way\b", whole("06_where_data_lives"))


@pytest.mark.parametrize(
    ("name", "word", "explained"),
    [
        ("04_gemm_shapes", "**sequence**", r"`batch` sequences"),
        ("04_gemm_shapes", "`bf16`: 2-byte", r"`bf16`, |bf16 ridge"),
        ("04_gemm_shapes", "**matrix units**", r"matrix units of a GPU"),
        ("04_gemm_shapes", "**knee**", r"The knee of|your `knee`"),
        ("05_decode", "**step**", r"every step|a step reads"),
        ("05_decode", "in *heads*", r"KV heads|Heads that share"),
        ("05_decode", "**KV cache**", r"KV cache belongs|the caches"),
        ("05_decode", "*output matrix*", r"the output matrix"),
        ("05_decode", "are *weight only*", r"\*Weight only\*"),
        ("06_where_data_lives", "comes in *lines*", r"Every line|a line is there"),
        ("06_where_data_lives", "called *prefetching*", r"prefetchers"),
        ("06_where_data_lives", "the **latency**", r"in each latency|its latency"),
        ("06_where_data_lives", "**working set**", r"working sets? fits|working sets in bytes"),
        ("06_where_data_lives", "are *in flight*", r"lines in flight|in flight for|are in flight"),
        ("06_where_data_lives", "**Little's law**", r"what must be in flight"),
        ("06_where_data_lives", "*line-fill buffers*", r"its buffers|buffers above"),
        ("06_where_data_lives", "in *picojoules*", r"`byte` pJ"),
        ("06_where_data_lives", "This is called SIMD", r"matrix units of GPUs"),
        ("09_search", "knows five **moves**", r"which move to make|all moves"),
        ("09_search", "It **predicts** the time", r"A prediction|all predictions"),
        ("09_search", "called *spilling*", r"A tile in registers"),
        ("09_search", "a **beam search**", r"makes it a beam|a narrow one"),
        ("09_search", "the **width** of the beam", r"With width 1|keep the `width`"),
        ("09_search", "it is *greedy*", r"rules is greedy"),
        ("09_search", "is a *class*", r"which are classes"),
        ("09_search", "is a *node*", r"lists the nodes"),
        ("09_search", "is *saturated*", r"a saturated e-graph"),
    ],
)
def test_a_word_is_explained_before_it_is_used(name, word, explained):
    """The place that explains ``word`` comes before every place that uses it."""
    text = re.sub(r"\s+", " ", whole(name))
    body = text[text.index("## ") :]  # the list of aims may name what is to come
    assert word in body
    used = re.search(explained, body)
    assert used, f"nothing in the lesson is {explained!r}: what is to come after {word!r}?"
    assert body.index(word) <= used.start(), used.group()


CALL = re.compile(r"`(\w+)(\([^`]*)\)` is (`[^`]+`|-?[\d.,e+-]*\d)")


def test_the_example_of_a_statement_has_the_value_that_the_text_says() -> None:
    """`f(1, 2)` is 3: computed by the reference, to the digits that are written."""
    by_name, faults, count = {one.name: one for one in exercises().values()}, [], 0
    for source in SOURCES:
        cells = markdown(source)
        for name, arguments, written in CALL.findall(" ".join(" ".join(cells).split())):
            try:
                given = ast.literal_eval(f"{arguments},)")
            except ValueError:  # a name that a cell above defines
                continue
            value = to_plain(by_name[name].reference(*given))
            if not same(to_plain(ast.literal_eval(written.strip("`"))), value, 1e-3):
                faults.append((source.stem, name, written, value))
            count += 1
    assert not faults and count >= 34, (faults, count)
