"""The ledger as text: a line a call, the rounds of a loop in one, and what is left is counted."""

from __future__ import annotations

import functools

import numpy as np

from rooflab.labs.golf import golf as with_its_own_cache
from rooflab.labs.golf.ledger import MOST_ROWS, stretches
from tests.support.rows import each_row

golf = functools.partial(with_its_own_cache, cache=4096)
X = np.ones(10_000)
FIFTEEN = (np.sqrt, np.exp, np.sin, np.cos, np.tan, np.abs, np.square, np.floor, np.ceil,
           np.negative, np.arctan, np.cbrt, np.sign, np.rint, np.tanh)  # fmt: skip


def in_pieces(x):
    out = np.empty_like(x)
    for at in range(0, len(x), 100):
        piece = slice(at, at + 100)
        np.multiply(x[piece], 2, out=out[piece])
        out[piece] += 1
    return out


def one_after_the_other(x):
    for function in FIFTEEN:
        x = function(x)
    return x


def test_the_rounds_of_a_loop_are_one_line_a_call():
    rows = repr(golf(in_pieces, X)).splitlines()
    assert rows[1] == "in_pieces, 10,000 elements, 160 kB in 200 steps"
    assert [" ".join(row.split()) for row in rows[2:]] == [
        "1 multiply ×100 8 B read x 8, write result (cache)",
        "2 add ×100 8 B read result (cache), write result 8",
    ]


def test_more_lines_than_anybody_reads_are_added_up():
    rows = repr(golf(one_after_the_other, X)).splitlines()
    assert len(rows) == 2 + MOST_ROWS + 1
    assert rows[-1] == "  … and 3 more steps, 48 B an element"
    numbers = [int(row.split()[0]) for row in rows[2:-1]]
    assert numbers == list(range(1, MOST_ROWS + 1))


def test_a_few_calls_are_not_folded_though_they_repeat():
    rows = repr(golf(lambda x: x + 1 + 1 + 1, X)).splitlines()[2:]
    assert [row.split()[:2] for row in rows] == [["1", "add"], ["2", "add"], ["3", "add"]]


@each_row(
    ("", []), ("abc", [(0, 1, 1), (1, 1, 1), (2, 1, 1)]), ("aaaa", [(0, 1, 4)]),
    ("xababab", [(0, 1, 1), (1, 2, 3)]), ("abababx", [(0, 2, 3), (6, 1, 1)]),
    ("aabaab", [(0, 3, 2)]), ("ababa", [(0, 2, 2), (4, 1, 1)]),
)  # fmt: skip
def test_loops_are_found_in_a_list_of_calls(keys, cut):
    assert list(stretches(keys)) == cut


def test_a_loop_has_at_most_24_calls():
    body = [chr(65 + n) for n in range(25)]
    assert [rounds for _, _, rounds in stretches(body[:24] * 3)] == [3]
    assert {rounds for _, _, rounds in stretches(body * 3)} == {1}


@each_row(
    (lambda x: x.T, "nothing moves: views only"),
    (lambda x: np.zeros(3), "nothing moves: views only"),
)
def test_nothing_moved_is_said_in_words_and_not_as_a_score(function, said):
    done = golf(function, X)
    assert said in repr(done) and "score" not in repr(done)
