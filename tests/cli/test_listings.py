"""What the lists of the terminal say, against the files that they are made of."""

from __future__ import annotations

import functools
import math
import re
from pathlib import Path

import pytest
import yaml
from typer.testing import CliRunner

import rooflab
import rooflab as rl
from rooflab.cli import app
from rooflab.measure import recording as shelf
from tests.support.rows import each_row

LIB = Path(rooflab.__file__).parent
MACHINES = yaml.safe_load((LIB / "predict" / "machines.yaml").read_text("utf-8"))["machines"]
MODELS = yaml.safe_load((LIB / "labs" / "llm" / "models.yaml").read_text("utf-8"))["models"]
PREFIX = {"p": -12, "n": -9, "µ": -6, "m": -3, "": 0, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15,
          "E": 18}  # fmt: skip


@pytest.fixture(autouse=True)
def no_recordings(monkeypatch, tmp_path):
    monkeypatch.setenv(shelf.ENV, str(tmp_path))


def lines(*words: str) -> list[str]:
    """What a command prints, in lines so long that nothing wraps."""
    result = CliRunner().invoke(app, list(words), env={"COLUMNS": "400"})
    assert result.exit_code == 0, result.output
    return result.stdout.splitlines()


@functools.lru_cache
def listed(*words: str) -> dict[str, list[str]]:
    """The rows of a table by their first cell."""
    cells = [re.split(r"\s{2,}", line.strip()) for line in lines(*words)]
    return {row[0]: row[1:] for row in cells if len(row) > 2}


def amount(text: str) -> float:
    """ "66.9 TFLOP/s" as a number; "989 T" and "12" too."""
    number, prefix, _ = re.fullmatch(r"([\d.]+) ?([pnµmkMGTPE]?)(\D*)", text).groups()
    return float(number) * 10.0 ** PREFIX[prefix]


def near(text: str, value: float) -> bool:
    return math.isclose(amount(text), value, rel_tol=5.1e-3)


@each_row(*MACHINES)
def test_a_row_of_the_machines_is_that_of_the_file(row):
    """Memory, fp32 in vectors or matrices, the higher of fp16 and bf16, and the highest ridge."""
    kind, memory, single, narrow, ridge, origin = listed("machines")[row["id"]]
    bandwidth = row["bandwidth_bytes_per_s"]["value"]
    peaks = row["peak_flops"]
    in_16_bits, in_32_bits = (
        [peaks[name]["value"] for name in names if name in peaks]
        for names in (("fp16", "bf16"), ("fp32", "fp32_tensor"))
    )
    assert (kind, origin) == (row["kind"], "datasheet")
    assert memory.endswith("B/s") and near(memory, bandwidth)
    assert near(single, max(in_32_bits)) if in_32_bits else single == "-"
    assert near(narrow, max(in_16_bits)) if in_16_bits else narrow == "-"
    best = max(in_32_bits + in_16_bits, default=None)
    assert near(ridge, best / bandwidth) if best else ridge == "-"


@each_row(*MODELS)
def test_a_row_of_the_models_is_that_of_the_file(row):
    total, active, layers, hidden, heads, cache, context = listed("model")[row["name"]]
    assert near(total, row["parameters"])
    assert amount(active) <= amount(total)
    assert (int(layers), int(hidden), int(context)) == (
        row["layers"],
        row["hidden"],
        row["context"],
    )
    assert heads == f"{row['heads']}/{row.get('kv_heads', row['heads'])}"
    if not {"latent", "kv_lora_rank", "head_dim"} & set(row):
        width = row["hidden"] // row["heads"]  # of a head; K and V in two bytes a number
        pair = 2 * row.get("kv_heads", row["heads"]) * width * 2
        assert near(cache.removesuffix("B"), row["layers"] * pair)


def test_both_lists_are_whole_and_in_the_files_order():
    assert [name for name in listed("machines") if name in {r["id"] for r in MACHINES}] == [
        row["id"] for row in MACHINES
    ]
    assert [name for name in listed("model") if name != "model"] == [row["name"] for row in MODELS]


@each_row("decode", "prefill")
@each_row("gpt2", "llama-3-8b", "mixtral-8x7b", "deepseek-v3")
def test_the_rows_of_a_step_add_up_to_its_first_line(name, phase):
    shown = lines("model", name, "--phase", phase, "--batch", "4", "--context", "256")
    flops, nbytes, intensity = re.search(
        r"tokens?, ([\d.]+ \w)FLOP, ([\d.]+ \w)B, ([\d.]+) FLOP/B", shown[0]
    ).groups()
    cells = [re.split(r"\s{2,}", line.strip()) for line in shown]
    rows = [row for row in cells if len(row) >= 5 and row[0] != "operation"]
    assert len(rows) >= 5
    done, moved = (sum(amount(row[column].rstrip("FLOPB")) for row in rows) for column in (2, 3))
    assert near(flops, done) and near(nbytes, moved)
    assert float(intensity) == pytest.approx(amount(flops) / amount(nbytes), rel=0.01)
    for row in rows:
        ratio = amount(row[2].rstrip("FLOP")) / amount(row[3].rstrip("B"))
        assert ratio == pytest.approx(float(row[4]), rel=0.011), row


@each_row(
    ("axpy", 1, "h100-sxm", 0.0625), ("axpy", 10**8, "epyc-9654", 3e-3),
    ("gemv", 4096, "a100-sxm-80", 50e-6), ("gemm", 64, "rtx-4090", 5e-6),
    ("gemm", 5000, "h100-sxm", 5e-3), ("gemm", 5000, "epyc-9654", 60e-3),
)  # fmt: skip
def test_an_explanation_begins_at_the_roofline_of_the_file(name, n, machine, seconds):
    """The bound by hand: FLOP over the peak, bytes over the bandwidth, the longer of the two."""
    (row,) = [r for r in MACHINES if r["id"].endswith(machine)]
    flops = {"axpy": 2 * n, "gemv": 2 * n * n, "gemm": 2 * n**3}[name]
    elements = {"axpy": 3 * n, "gemv": n * n + 2 * n, "gemm": 3 * n * n}[name]
    computing = flops / row["peak_flops"]["fp32"]["value"]
    carrying = 4 * elements / row["bandwidth_bytes_per_s"]["value"]
    shown = lines("explain", name, "--n", str(n), "--machine", machine, "--time", f"{seconds}")
    (start,) = [line for line in shown if line.startswith("roofline bound")]
    (end,) = [line for line in shown if re.match("measured +[0-9]", line)]
    assert near(re.search(r"([\d.]+ [pnµm]?)s", start)[1], max(computing, carrying))
    assert near(re.search(r"([\d.]+ [pnµm]?)s", end)[1], seconds)
    whole = re.search(r"×([\d.,]+(?:e-?\d+)?)", end)[1].replace(",", "")
    assert float(whole) == pytest.approx(seconds / max(computing, carrying), rel=0.06)
    limit = "memory" if carrying > computing else "compute"
    assert f"limited by {limit}" in " ".join(shown)


@each_row(["machines"], ["recordings"])
def test_a_damaged_recording_is_a_line_on_stderr_and_the_rest_is_listed(command, tmp_path):
    (tmp_path / "a-cut.json").write_text('{"schema": 1', encoding="utf-8")
    (tmp_path / "b-other.json").write_text('{"schema": 99}', encoding="utf-8")
    result = CliRunner().invoke(app, command)
    assert result.exit_code == 0
    for name in ("a-cut", "b-other"):
        assert sum(name in line for line in result.stderr.splitlines()) == 1
        assert name not in result.stdout


def test_where_nothing_was_recorded_it_says_how_and_where_it_looked(monkeypatch, tmp_path):
    monkeypatch.setattr(shelf, "folders", lambda: [tmp_path / "none"])
    said = "\n".join(lines("recordings"))
    assert "There is no recording yet; `rooflab record NAME` makes one." in said
    assert f"Looked in: {tmp_path / 'none'}" in said


def test_one_machine_by_any_of_its_names_prints_the_same():
    names = ("nvidia-h100-sxm", "h100-sxm", "H100-SXM", "NVIDIA H100 80GB HBM3")
    shown = {tuple(lines("machines", name)) for name in names}
    assert len(shown) == 1
    assert rl.machine(names[0]).name in shown.pop()[0]
