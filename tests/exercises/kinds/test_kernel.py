"""Kernels as answers: what is believed is their text, and what the emulator says of it."""

from __future__ import annotations

import pytest

from rooflab.course.kernels import kernel, kernel_exercise, launch_case
from rooflab.exercises.judge import judge
from rooflab.exercises.observe.collect import collect
from rooflab.exercises.observe.kernel import text_of
from tests.support.cells import run_cell

REVERSE = """\
def reverse(A, B, n):
    i = cuda.grid(1)
    if i < n:
        B[i] = A[n - 1 - i]
"""
EXERCISE = kernel_exercise(
    "90-reverse", "Turn round", 2, "", "reverse(A, B, n)", REVERSE,
    [("no guard", "the grid is larger.", ("if i < n:", "if i >= 0:")),
     ("one off", "the last place is n - 1.", ("n - 1 - i", "n - 2 - i")),
     ("in place", "B is to be written.", ("B[i] = A[n - 1 - i]", "A[i] = A[i]"))],
    cases=lambda rng: [launch_case((3,), (32,), {"A": [70], "B": [70], "n": 70}, "B",
                                counts=("sectors", "requests"))],
)  # fmt: skip


def verdict_on(answer):
    cases = EXERCISE.draw(0)
    return judge(EXERCISE, cases, collect(EXERCISE.kind, cases, answer))


def cell(text: str, name: str = "reverse"):
    names: dict[str, object] = {}
    run_cell(text, names)
    return names[name]


def test_any_style_of_a_right_kernel_passes():
    texts = (
        "def reverse(A, B, n):\n    for i in range(cuda.grid(1), n, cuda.gridsize(1)):\n"
        "        B[n - 1 - i] = A[i]\n",
        "LAST = 1\n\ndef place(i, n):\n    return n - LAST - i\n\n\n" + REVERSE.replace(
            "n - 1 - i", "place(i, n)"),
        REVERSE.replace("i = cuda.grid(1)",
                        "i = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x"),
    )  # fmt: skip
    for text in texts:
        verdict = verdict_on(cell(text))
        assert verdict.passed and "20 sectors" in verdict.reason, (text, verdict)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (("i < n", "i <= n"), "out of bounds: line 4"),
        (("        B[i] = A[n - 1 - i]", "        B[i] = A[n - 1 - i]\n        B[i] = A[i]"),
         "B[0] is not right, nor are 69 others"),
        (("n - 1 - i]", "n - 1 - i] + 0 * A[i]"), "right, but it takes 29 sectors"),
        (("B[i] = A", "B[0] = A"), "race"),
        (("    if", "    open('x')\n    if"), "open"),
        (("    if", "    while True:\n        i = i\n    if"), "line"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said(change, words):
    assert change[0] in REVERSE
    verdict = verdict_on(cell(REVERSE.replace(*change)))
    assert not verdict.passed and words in verdict.reason, verdict


def test_what_is_no_kernel_is_refused_and_a_forged_observation_too():
    assert "function of one thread" in verdict_on(print).reason
    assert "not known" in verdict_on(eval("lambda A, B, n: None")).reason
    cases = EXERCISE.draw(0)
    for value in (3, ["x"], "", "x = 1", "def f(: pass", "__import__('os')"):
        assert not judge(EXERCISE, cases, [{"value": value}]).passed, value


def test_a_text_brings_the_numbers_and_functions_that_it_uses():
    """By the names that the kernel calls them; what has another thing's name stays outside."""
    text = "import numpy as np\n\nT = np.int32(4)\nFAR = -float('inf')\nx = {1: 2}\n\n\n"
    text += "def twice(x):\n    return T * x\n\n\ndouble, f32 = twice, np.float32\n\n\n"
    text += "def run(A):\n    A[cuda.threadIdx.x] = max(FAR, double(f32(T)))\n"
    parts = text_of(cell(text, "run"))
    assert " ".join(parts.split()) == (
        "FAR = float('-inf') T = 4 def double(x): return T * x f32 = float32 def run(A): "
        "A[cuda.threadIdx.x] = max(FAR, double(f32(T)))"
    )
    number = text.splitlines().index("def run(A):")
    assert parts.splitlines().index("def run(A):") == number
    assert text_of(kernel(REVERSE)) == REVERSE


def test_a_kernel_for_each_grid_is_refused():
    cases = [*EXERCISE.draw(0), *EXERCISE.draw(0)]
    seen = [{"value": REVERSE}, {"value": REVERSE + "\n"}]
    assert "one is wanted for all" in judge(EXERCISE, cases, seen).reason
    assert "is not judged" in judge(EXERCISE, cases, [{"value": "x" * 30_000}] * 2).reason
