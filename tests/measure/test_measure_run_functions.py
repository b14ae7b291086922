"""Every element-wise function that may be measured has a reference, and it is the textbook's."""

from __future__ import annotations

import math

import numpy as np
import pytest

import rooflab.count as rl
from rooflab.count.elementwise import ARITY
from rooflab.measure.measure import measure
from tests.support.rows import each_row

pytestmark = pytest.mark.usefixtures("quick")
N = 300


def sigmoid(x: float) -> float:
    return 1 / (1 + math.exp(-x))


def by_erf(x: float) -> float:
    """GELU as it was published: x times the normal distribution up to x."""
    return x * (1 + math.erf(x / math.sqrt(2))) / 2


def by_tanh(x: float) -> float:
    """Its usual approximation."""
    return 0.5 * x * (1 + math.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))


TEXTBOOK = {
    "relu": lambda x: max(x, 0.0), "neg": lambda x: -x, "abs": abs, "exp": math.exp,
    "log": math.log, "sqrt": math.sqrt, "sin": math.sin, "cos": math.cos, "tanh": math.tanh,
    "sigmoid": sigmoid, "gelu": by_erf, "silu": lambda x: x * sigmoid(x),
    "square": lambda x: x * x, "reciprocal": lambda x: 1 / x,
    "add": lambda x, y: x + y, "sub": lambda x, y: x - y, "mul": lambda x, y: x * y,
    "div": lambda x, y: x / y, "max": max, "min": min,
}  # fmt: skip


def over_all(function, *arrays):
    return np.array([function(*map(float, one)) for one in zip(*arrays)], arrays[0].dtype)


def operation(name: str) -> rl.Operation:
    return rl.elementwise(name, N, inputs=("a", "b")[: ARITY[name]])


def timed(name: str, function) -> object:
    """Measure ``function``, a Python function of numbers, as the element-wise ``name``."""

    def run(*operands):
        *given, result = operands
        result[...] = over_all(function, *given)

    return measure(operation(name), run, threads=1, samples=3, cache="warm")


def test_the_textbook_has_them_all() -> None:
    assert set(TEXTBOOK) == set(ARITY)


@each_row(*ARITY)
def test_the_textbooks_function_is_right_and_checked(name: str) -> None:
    assert not any("not checked" in text for text in timed(name, TEXTBOOK[name]).warnings)


@each_row(*ARITY)
def test_a_hundredth_more_is_wrong(name: str) -> None:
    with pytest.raises(ValueError, match=r"y\[\d+\] is .*, expected "):
        timed(name, lambda *given: TEXTBOOK[name](*given) * 1.01 + 0.01)


def test_both_forms_of_gelu_are_right() -> None:
    assert timed("gelu", by_tanh) and timed("gelu", by_erf)
    with pytest.raises(ValueError, match="expected "):
        timed("gelu", lambda x: x * sigmoid(1.702 * x))  # the third form is off by up to 0.02


@each_row("left", (("left",),), {"left": N})
def test_one_input_may_be_named_in_any_way(inputs) -> None:
    op = rl.elementwise("relu", N, inputs=inputs)
    assert [operand.name for operand in op.operands] == ["left", "y"]
    assert op == rl.elementwise("relu", N, inputs=("left",))
