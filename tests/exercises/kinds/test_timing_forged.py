"""A product that is timed must be the library's own, whatever else has its work and traffic."""

from __future__ import annotations

from rooflab.exercises.judge import judge
from rooflab.exercises.observe.collect import collect
from rooflab.exercises.registry import exercise


def timed(launch):
    def answer(cp, a, b, c, peak):
        n = a.shape[0]
        again = launch(cp, a, b, c)
        again()
        start, stop = cp.cuda.Event(), cp.cuda.Event()
        start.record()
        again()
        again()
        stop.record()
        stop.synchronize()
        seconds = cp.cuda.get_elapsed_time(start, stop) / 2e3
        rate = 2 * n**3 / seconds
        return seconds, rate, rate / peak

    return answer


def matmul(cp, a, b, c):
    return lambda: cp.matmul(a, b, out=c)


def elementwise(cp, a, b, c):
    """As many FLOPs and bytes as the product, in a kernel that computes something else."""
    terms = "(a*b)"
    for _ in range(12):
        terms = f"({terms}+{terms})"
    kernel = cp.ElementwiseKernel("T a, T b", "T c", f"c = {terms} + a", "gemm")
    return lambda: kernel(a, b, c)


def verdict(launch):
    asked = exercise("01-cuda-gemm")
    cases = asked.draw("forged")
    return judge(asked, cases, collect(asked.kind, cases, timed(launch)))


def test_only_a_product_counts_as_one():
    assert verdict(matmul).passed
    forged = verdict(elementwise)
    assert not forged.passed
    assert "enclose one gemm" in forged.reason
