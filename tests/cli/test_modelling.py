"""``rooflab model``: the list, a step, a step explained, and wrong words."""

from __future__ import annotations

from typer.testing import CliRunner

import rooflab as rl
from rooflab.cli import app
from rooflab.count.si import plain
from tests.support.rows import each_row


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


@each_row("decode", "prefill")
def test_a_step_is_explained_on_a_machine(phase):
    told = run("llama-2-7b", "--phase", phase, "--machine", "a100-sxm-80", "--measured", "104.9")
    assert told.exit_code == 0
    assert "limited by" in " ".join(told.output.split())
    assert "unexplained" in told.output


def test_a_published_tables_assumptions_are_options():
    told = run(
        "llama-3-70b", "--weights", "int8", "--kv", "int8", "--activations", "bf16",
        "--machine", "h100-sxm", "--devices", "8", "--batch", "16", "--context", "8192",
        "--link", "450e9", "--bound", "max-of-sum",
    )  # fmt: skip
    assert told.exit_code == 0
    w = rl.model("llama-3-70b").decode(16, 8192, "int8", "int8", "bf16")
    how = {"link": 450e9, "bound": "max-of-sum"}
    assert w.explain("h100-sxm", devices=8, **how).sentence in " ".join(told.output.split())
    assert "link" in told.output


def test_it_says_about_and_at_most_and_what_was_assumed():
    words = ("llama-3.1-8b", "--machine", "h100-sxm", "--batch", "64", "--context", "2000")
    told = run(*words, "--weights", "fp8", "--overhead", "2us", "--efficiency", "memory=0.8")
    assert told.exit_code == 0
    said = " ".join(told.output.split())
    w = rl.model("llama-3.1-8b").decode(64, 2000, "fp8").on("h100-sxm")
    how = {"overhead": 2e-6, "efficiency": {"memory": 0.8}}
    assert f"about {plain(w.tokens_per_s('h100-sxm', **how), 3)} tokens/s" in said
    assert f"at most {plain(64 / w.bound('h100-sxm'), 3)}" in said
    assert "fp8_e4m3 activations assumed: nvidia-h100-sxm has an fp8 peak" in said
    assert f"It fits: {rl.si(w.memory_bytes, 'B')} of the {rl.si(80 * 2**30, 'B')} on" in said
    assert "calls" in said


def test_quant_names_both_formats():
    named = run("llama-3-8b", "--quant", "w8a8", "--machine", "a100-sxm-80")
    apart = run(
        "llama-3-8b", "--weights", "int8", "--activations", "int8", "--machine", "a100-sxm-80"
    )
    assert named.exit_code == 0
    assert named.output == apart.output


def test_memory_is_always_told():
    def said(name, machine, *more):
        return " ".join(run(name, "--machine", machine, *more).output.split())

    assert "It fits: 13.7 GB of the 25.8 GB on NVIDIA GeForce RTX 4090." in said(
        "llama-2-7b", "rtx-4090"
    )
    assert "It does not fit: 141 GB of the 25.8 GB" in said("llama-3-70b", "rtx-4090")
    assert "of the 85.9 GB on each of 2 × NVIDIA" in said(
        "llama-3-70b", "h100-sxm", "--devices", "2"
    )
    assert "Whether it fits is not known: 13.7 GB on AMD EPYC" in said("llama-2-7b", "epyc-9654")
    counted = rl.si(rl.model("llama-2-7b").decode(1, 512).memory_bytes, "B")
    assert f"To hold: {counted}" in run("llama-2-7b").output


@each_row("DECODE", " Prefill ")
def test_the_case_of_a_phase_does_not_matter(phase):
    assert run("llama-2-7b", "--phase", phase).output == (
        run("llama-2-7b", "--phase", phase.strip().lower()).output
    )
