"""CUDA C++ as an answer: a text, judged in the emulator, and by NVRTC where it is installed."""

from __future__ import annotations

import pytest

from rooflab.course.kernels import cuda_exercise, launch_case
from rooflab.course.lesson13.cuda_text import DOT, WIDE
from rooflab.exercises.judge import judge
from rooflab.exercises.kinds import kernel
from rooflab.exercises.observe.collect import collect
from rooflab.labs.cuda.compiler import CompilationError, nvidia_file

SCALE = """\
extern "C" __global__ void scale(const float* A, float* B, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) B[i] = 2 * A[i];
}
"""
EXERCISE = cuda_exercise(
    "90-scale", "Twice", 2, "", "scale(A, B, n)", SCALE,
    [("no guard", "the grid is larger.", ("if (i < n) ", "")),
     ("not scaled", "twice A.", ("2 * A[i]", "A[i]")),
     ("far apart", "neighbours side by side.",
      ("int i = blockIdx.x * blockDim.x", "int i = 0 * blockDim.x"),
      ("if (i < n) B[i] = 2 * A[i];",
       "i = i * 8 % n + i * 8 / n;\n    if (i < n) B[i] = 2 * A[i];"))],
    cases=lambda rng: [launch_case((3,), (32,), {"A": [72], "B": [72], "n": 72}, "B")],
)  # fmt: skip


def verdict_on(answer, asked=EXERCISE):
    cases = asked.draw(0)
    return judge(asked, cases, collect(asked.kind, cases, answer))


def test_right_texts_pass_and_each_slip_has_its_name():
    for asked in (EXERCISE, WIDE, DOT):
        assert verdict_on(str(asked.reference()), asked).passed, asked.id
        for slip in asked.misconceptions:
            for wrong in (slip.wrong, *slip.variants):
                verdict = verdict_on(wrong(), asked)
                assert not verdict.passed
                assert verdict.misconception == slip.name, (verdict, wrong())
    strided = SCALE.replace("if (i < n) B[i]", "for (; i < n; i += gridDim.x * blockDim.x) B[i]")
    assert verdict_on(strided).passed


def test_what_is_wrong_is_told_in_words_of_cuda():
    for text, words in (
        (SCALE.replace("if (i < n) ", ""), "out of bounds: line 3 (B[i] = 2 * A[i];)"),
        (SCALE.replace("int n)", "int n) }"), "line 1"), (SCALE.replace("A[i]", "a[i]"), "a is no"),
        (SCALE.replace("2 * A[i]", "..."), "not answered"),
        ("def scale(A, B, n):\n    pass", "CUDA C++ is wanted"),
        (SCALE.replace("int n", "int n, int m"), "4 arguments"), (3, "a function is wanted"),
    ):  # fmt: skip
        verdict = verdict_on(text)
        assert not verdict.passed and words in verdict.reason, verdict


def test_the_compiler_has_a_word_too(monkeypatch):
    def refuse(text):
        raise CompilationError("kernel.cu(2): error")

    with monkeypatch.context() as context:
        context.setattr(kernel, "compile", refuse)
        assert verdict_on(SCALE + "// 1").reason.endswith("kernel.cu(2): error")
        assert verdict_on("#include <cuda.h>\n" + SCALE).passed  # no file is read
    if nvidia_file("lib/libnvrtc.so.*") is None:
        pytest.skip("nvidia-cuda-nvrtc is not installed")
    c = verdict_on(SCALE.replace("float* A", "float* restrict A"))  # C, and no C++
    assert "does not compile" in c.reason and "kernel.cu(1): error" in c.reason
