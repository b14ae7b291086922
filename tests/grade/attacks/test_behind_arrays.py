"""Ways round the lock: the gate names them, and lets pass what only looks like one."""

import pytest

from rooflab.grade import gate
from rooflab.grade.locked_notebook import Outcome
from tests.grade.attacks import behind_arrays as attacks_behind
from tests.grade.attacks.test_traces import handed_in


@pytest.mark.parametrize("name", attacks_behind.ROUND)
def test_there_is_no_way_round_the_lock(name):
    one = handed_in("01", (attacks_behind.ROUND[name], "01-product"))
    seen = gate.gated(one, Outcome({"01-product": [{}]}))
    assert seen.reasons["01-product"].endswith("derive this yourself")


def test_an_error_beside_a_value_does_not_open_the_lock():
    """The observations come out of the learner's process, which may write what it likes."""
    one = handed_in("01", (next(iter(attacks_behind.ROUND.values())), "01-product"))
    lost = {"error": "NameError: name 'product' is not defined"}
    for more in ([{**lost, "value": [0]}], [lost, {"value": [0]}]):
        assert "01-product" in gate.gated(one, Outcome({"01-product": more})).reasons
    again = Outcome({"01-product": [lost]}, again={"01-product": {1: [{"value": [0]}]}})
    assert gate.gated(one, again).again == {}
    assert "01-product" in gate.gated(one, Outcome({"01-product": [lost]})).observations


def test_a_cell_that_cannot_be_read_lends_nothing():
    hidden = "import importlib, rooflab.count.blas as b\nlent = importlib.reload(b).gemm\nlent?"
    uses = "def product(m, n, k, *more):\n    return lent(m, n, k).flops"
    one = handed_in("01", (hidden, "01-name"), (uses, "01-product"))
    assert "01-product" in gate.gated(one, Outcome({"01-product": [{}]})).reasons
    free = handed_in("01", (hidden, "01-name"), ("def product(m, n, k, *more): pass", "01-product"))
    assert "01-product" in gate.gated(free, Outcome({"01-product": [{}]})).observations


@pytest.mark.parametrize(
    "source",
    [
        "%matplotlib inline\n"
        "def product(m, n, k, *more): return 2 * m * n * k\n"
        "%time product(1, 2, 3)",
        "x = %time 1\ndef product(m, n, k, *more): return 2 * m * n * k  # no system, no eval",
        "import os, sys, json\n"
        "from dataclasses import dataclass\n"
        "def product(m, n, k, *more): return m",
        "from IPython.display import display\ndef product(m, n, k, *more): return m",
        "!pip install rich\ndef product(m, n, k, *more): return m\nproduct?",
    ],
    ids=["magics", "a magic's value", "modules", "display", "a command and a question"],
)
def test_an_honest_answer_to_derive_is_not_suspected(source):
    one = handed_in("01", (source, "01-product"))
    assert "01-product" in gate.gated(one, Outcome({"01-product": [{}]})).observations
