"""``rooflab model``: the list, a step, a step explained, and wrong words."""

from __future__ import annotations

import pytest
from typer.testing import CliRunner

import rooflab as rl
from rooflab.cli import app


def run(*words: str):
    return CliRunner().invoke(app, ["model", *words])


def test_without_a_name_it_lists_the_catalogue():
    told = run()
    assert told.exit_code == 0
    assert all(name in told.output for name in rl.models())
    assert "6.74 G" in told.output


def test_a_step_is_counted():
    told = run("llama-2-7b", "--batch", "4", "--context", "1000", "--weights", "int8")
    assert told.exit_code == 0
    counted = rl.model("llama-2-7b").decode(4, 1000, weights="int8")
    assert repr(counted).splitlines()[0] in " ".join(told.output.split())


@pytest.mark.parametrize("phase", ["decode", "prefill", "train"])
def test_a_step_is_explained_on_a_machine(phase):
    told = run("llama-2-7b", "--phase", phase, "--machine", "a100-sxm-80", "--measured", "104.9")
    assert told.exit_code == 0
    assert "limited by" in " ".join(told.output.split())
    assert "unexplained" in told.output


def test_a_published_tables_assumptions_are_options():
    told = run(
        "llama-3-70b", "--weights", "int8", "--kv", "int8", "--activations", "bf16",
        "--machine", "h100-sxm", "--devices", "8", "--batch", "16", "--context", "8192",
        "--link", "450e9", "--traffic", "weights, kv", "--bound", "max-of-sum",
    )  # fmt: skip
    assert told.exit_code == 0
    w = rl.model("llama-3-70b").decode(16, 8192, "int8", "int8")
    how = {"link": 450e9, "traffic": {"weights", "kv"}, "bound": "max-of-sum"}
    assert w.explain("h100-sxm", devices=8, **how).sentence in " ".join(told.output.split())
    assert "link" in told.output


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["lama-2-7b"], "did you mean 'llama-2-7b'"),
        (["llama-2-7b", "--phase", "dekode"], "did you mean 'decode'"),
        (["llama-2-7b", "--batch", "0"], "batch=0 must be a positive integer"),
        (["llama-2-7b", "--machine", "a100"], "is vague"),
        (["llama-2-7b", "--kv", "q9"], "kv='q9' is unknown"),
        (["llama-2-7b", "--link", "1e9"], "link=1000000000.0 says nothing without a machine"),
        (["llama-2-7b", "--machine", "a100-sxm-80", "--measured", "-5"], "a positive rate"),
        (["llama-2-7b", "--machine", "a100-sxm-80", "--traffic", "weight"], "mean 'weights'"),
        (["llama-2-7b", "--machine", "a100-sxm-80", "--bound", "max"], "bound='max' is unknown"),
    ],
)
def test_wrong_words_are_told(words, said):
    told = run(*words)
    assert told.exit_code == 2
    assert said in " ".join(told.output.split())
    assert "FLOP" not in told.stdout  # what is wrong is said before anything is shown
