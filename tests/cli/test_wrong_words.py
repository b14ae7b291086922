"""Wrong words at every command: one line on stderr, exit code 2, and nothing is done or shown."""

from __future__ import annotations

import pytest
from typer.testing import CliRunner

from rooflab.cli import app
from rooflab.measure import recording as shelf
from tests.support.rows import each_row

ON = ["llama-2-7b", "--machine", "h100-sxm"]
N = ["--n", "8"]
EXPLAIN = ["explain", "axpy", "--n", "8", "--machine", "h100-sxm"]
RELEASE = ["release", "--out", "pack"]
GRADE = ["grade", "hw.ipynb", "--out", "out"]
WRONG = [
    # A machine, a model, an operation
    (["machines", ""], "machine='' is unknown"),
    (["machines", "h100", "h200"], "unexpected extra argument"),
    (["model", ""], "model='' is unknown"),
    (["explain", "", *EXPLAIN[2:], "--time", "1ms"], "op='' is unknown"),
    (["explain", "conv2d", *EXPLAIN[2:], "--time", "1ms"], "op='conv2d' is unknown; Known: axpy"),
    # What says nothing without a machine
    *[
        (["model", "llama-2-7b", f"--{option}", value], f"{option}={said} says nothing without a")
        for option, value, said in (
            ("devices", "2", "2"), ("bound", "max-of-sum", "'max-of-sum'"),
            ("roofs", "measured", "'measured'"), ("traffic", "kv", "'kv'"),
            ("link", "1e9", "1000000000.0"), ("measured", "50", "50.0"),
            ("link-latency", "2us", "'2us'"), ("efficiency", "compute=1", "'compute=1'"),
            ("traffic", "", "''"),
        )
    ],
    # Numbers out of range, and words that are no numbers
    *[(["model", *ON, "--link", v], f"link={v}") for v in ("nan", "inf", "-1.0", "0.0")],
    *[(["model", *ON, "--measured", v], f"tokens_per_s={v} must") for v in ("nan", "inf", "0.0")],
    (["model", *ON, "--devices", "0"], "devices=0 must be a positive integer"),
    (["model", *ON, "--context", "0"], "context=0 must be a positive integer"),
    (["model", *ON, "--efficiency", ""], "--efficiency='' must name shares"),
    (["model", *ON, "--efficiency", "compute"], "must name shares, as in compute=0.75"),
    (["model", *ON, "--efficiency", "compute=nan"], "efficiency['compute']=nan must be a share"),
    (["model", *ON, "--efficiency", "compute=0"], "efficiency['compute']=0.0 must be a share"),
    (["model", *ON, "--efficiency", "memory=1,memory=0.5"], "names memory twice"),
    (["model", *ON, "--traffic", ""], "traffic='' is unknown; Known: weights, kv"),
    (["model", *ON, "--roofs", "sheet"], "roofs='sheet' is unknown"),
    (["model", *ON, "--overhead", "2 weeks"], "--overhead='2 weeks' is not a time"),
    (["model", *ON, "--link-latency", "-1us"], "--link-latency='-1us' must be zero or more"),
    ([*EXPLAIN, "--time", "1e-400"], "must be more than zero"),
    ([*EXPLAIN, "--time", "1ms", "--batch", "0"], "--batch=0 must be a positive integer"),
    ([*EXPLAIN, "--time", "1ms", "--m", "8"], "axpy has no m, only --n"),
    (["explain", "gemm", "--n", "9" * 200, *EXPLAIN[4:], "--time", "1s"], "is beyond any time"),
    # Decoding and recording
    (["decode", "--batch", ""], "--batch=: give one or more batch sizes"),
    (["decode", "--batch", "1,,2"], "--batch=1,,2: give one or more"),
    (["decode", "--backend", "tpu"], "backend='tpu' is unknown"),
    (["decode", "--record", "My Run", "--batch", "1"], "name='My Run' must be lower-case letters"),
    (["record", ""], "name='' must be lower-case letters"),
    (["record", "../up"], "name='../up' must be lower-case letters"),
    (["record", "a", "--threads", "1,,2"], "--threads='1,,2' must be counts, as in 1,4"),
    (["record", "a", "--dtypes", "fp32,"], "dtype='' is unknown"),
    (["record", "a", "--stop-after", "nan"], "stop_after=nan must be a positive number"),
    (["record", "a", "--minutes", "inf"], "minutes=inf must be a positive number"),
    # Checking and grading
    (["check", "none.ipynb"], "none.ipynb: there is no such file"),
    (["check", "."], "a folder, not a notebook"),
    (["check", "hw.ipynb", "--timeout", "nan"], "--timeout=nan must be 1 second or more"),
    (["check"], "Missing argument"),
    (["grade", "none", "--out", "out"], "PATHS='none' names no file"),
    (["grade", "hw.ipynb"], "Missing option '--out'"),
    *[([*GRADE, "--jobs", v], f"--jobs={v} must be from 1 to 1024") for v in ("0", "1000000")],
    *[([*GRADE, "--timeout", v], f"--timeout={v} must be from 1 to")
      for v in ("0.0", "nan", "1e+300")],
    ([*GRADE, "--seed", "x"], "Invalid value for '--seed'"),
    ([*GRADE, "--scheduler", " "], "--scheduler=' ' must be an address, such as tcp://host:8786"),
    ([*GRADE, "--points", "none.json"], "'none.json' cannot be read (No such file or directory)"),
    ([*GRADE, "--points", "hw.ipynb"], "is no course.json"),
    ([*GRADE[:3], "hw.ipynb/out"], "--out='hw.ipynb/out' cannot be a folder to write to"),
    # A release
    ([*RELEASE, "--format", "zip"], "--format='zip' must be pack or nbgrader"),
    ([*RELEASE, "--title", " "], "--title=' ' must be one line of text"),
    ([*RELEASE, "--title", "a\nb"], "must be one line of text"),
    ([*RELEASE, "--lessons", "99"], "lessons='99' is unknown; did you mean '09'? Known: 00"),
    ([*RELEASE, "--lessons", ""], "'' is no lesson, as in 01"),
    ([*RELEASE, "--due", "tomorrow"], "'tomorrow' is no lesson, as in 01, no points"),
    ([*RELEASE, "--due", "2026-02-30"], "--due='2026-02-30' must be a date that exists"),
    ([*RELEASE, "--lessons", "01", "--due", "02=2026-12-01"], "lesson 02 is not in this release"),
    ([*RELEASE, "--lessons", "01", "--points", "00-peak=1"], "lesson 00 is not in this release"),
    ([*RELEASE, "--points", "01-produkt=1"], "exercise='01-produkt' is unknown; did you mean"),
    ([*RELEASE, "--points", "01-product=-1"], "-1 must be a whole number from 0 to 1000"),
    ([*RELEASE, "--points", "01-product=1001"], "1001 must be a whole number from 0 to 1000"),
    (["release", "--out", "hw.ipynb"], "--out='hw.ipynb' is there already"),
    # Measuring
    *[
        (["measure", *words], said)
        for words, said in (
            (["gem", *N], "op='gem' is unknown; did you mean"),
            (["gemm", "--n", "0"], "--n=0 must be a positive integer"),
            (["gemm", *N, "--m", "-4"], "--m=-4 must be a positive"),
            (["gemm", "--n", "1.5"], "Invalid value for '--n'"),
            (["gemm"], "gemm needs --m, --n, --k; give at least --n"),
            (["gemv", "--m", "8"], "gemv needs --m, --n"),
            (["axpy", *N, "--k", "2"], "axpy has no k, only --n"),
            (N, "--n=8 needs an operation"),
            (["--batch", "8"], "--batch=8 needs an operation"),
            (["gemm", *N, "--batch", "0"], "--batch=0 must be"),
            (["axpy", *N, "--batch", "2"], "--batch=2: only gemv"),
            (["gemm", *N, "--dtype", "fp33"], "dtype='fp33' is unknown"),
            (["gemm", *N, "--dtype", "bf16"], "fp32 and fp64 only"),
            (["--dtype", "bf16"], "fp32 and fp64 only"),
            (["gemm", *N, "--cache", "hot"], "--cache='hot' is unknown"),
            (["gemm", *N, "--threads", "0"], "threads=0 must be"),
            (["gemm", *N, "--threads", "9999"], "this process may use"),
            (["gemm", "--n", "9000000"], "choose smaller sizes"),
            (["--picture", "a.bmp"], "--picture='a.bmp' must end in .png"),
            (["--picture", "here.png"], "--picture='here.png' cannot be"),
            (["--picture", "a.png", "--no-picture"], "give one of them"),
            (["--picture", "no/a.png"], "there is no folder 'no'"),
            (["gemm", "--size", "3"], "No such option: --size"),
        )
    ],
    # Explaining
    (["explain", "gemm", *N, "--time", "1ms"], "Missing option '--machine'"),
    (EXPLAIN, "Missing option '--time'"),
    ([*EXPLAIN, "--time", "soon"], "--time='soon' is not a time"),
    (["explain", "gemm", *N, "--machine", "h100", "--time", "1ms"],
     "machine='h100' is vague; it could mean nvidia-h100-sxm, nvidia-h100-pcie"),
    (["machines", "nvidia-h300-sxm"], "did you mean 'nvidia-h200-sxm'"),
    ([*EXPLAIN, "--dtype", "fp6", "--time", "1ms"], "no fp6 peak"),
    ([*EXPLAIN, "--cache", "x", "--time", "1ms"], "cache='x' is"),
    # A model's step
    (["model", "--batch", "4"], "--batch=4 needs a model, as in `rooflab model llama-2-7b`"),
    (["model", "--batch", "1"], "--batch=1 needs a model"),  # even the usual one
    (["model", "--link-latency", "3us"], "--link-latency=3us needs a model"),
    *[
        (["model", "llama-2-7b", *words], said)
        for words, said in (
            (["--phase", "dekode"], "did you mean 'decode'"),
            (["--batch", "0"], "batch=0 must be a positive integer"),
            (["--kv", "q9"], "kv='q9' is unknown"),
            (["--quant", "w8a9"], "quant='w8a9' is unknown; did you mean 'w8a8'"),
            (["--quant", "w8a8", "--weights", "fp8"], "give one or the other"),
            (["--overhead", "2us"], "overhead='2us' says nothing without a machine"),
        )
    ],
    (["model", "lama-2-7b"], "did you mean 'llama-2-7b'"),
    (["model", *ON, "--traffic", "weight"], "mean 'weights'"),
    (["model", *ON, "--bound", "max"], "bound='max' is unknown"),
    (["model", *ON, "--overhead", "-2us"], "--overhead='-2us' must"),
    (["model", *ON, "--efficiency", "0.8"], "as in compute=0.75"),
    (["model", *ON, "--efficiency", "cpu=1"], "Known: compute, mem"),
    (["model", *ON, "--efficiency", "memory=2"], "at most 1"),
    # Recording, decoding, walking through memory, searching
    (["record"], "Missing argument 'NAME'"),
    (["record", "a1", "--dtypes", "fp32,fp99"], "dtype='fp99' is unknown"),
    (["record", "a1", "--folder", "a file/x"], "cannot be written to"),
    (["decode", "smal"], "smal"),
    (["decode", "llama-2-70b", "--batch", "1"], "weights 276 GB"),
    (["decode", "--context", "0"], "context=0"),
    (["mountain", "--json", "no/such/folder/x.json"], "there is no folder"),
    (["mountain", "--replay", "nothing.json"], "cannot be read"),
    (["mountain", "--replay", "bad.json"], "holds no JSON"),
    (["mountain", "--replay", "old.json"], "schema=0"),
    (["mountain", "--replay", "old.json", "--threads", "2"], "give it alone"),
    (["mountain", "--threads", "many"], "--threads"),
    (["search"], "operation"),
    (["search", "gem"], "did you mean 'gemm'"),
    (["search", "gemm", "--seconds", "0"], "seconds=0.0 leaves no time"),
    (["search", "gemm", "--width", "0"], "width=0"),
    (["search", "gemm", "--n", "0"], "nest=0"),
    (["search", "gemm", "--json", "no/such/x.json"], "there is no folder"),
    (["--version"], "No such option: --version"),
    (["mesure"], "No such command 'mesure'. Did you mean 'measure'"),
]  # fmt: skip
DESK = {"hw.ipynb": "no notebook", "a file": "", "bad.json": "{", "old.json": '{"schema": 0}'}


@pytest.fixture(autouse=True)
def desk(monkeypatch, tmp_path):
    """A folder that holds a few files that are no good, and no recordings anywhere."""
    monkeypatch.setenv(shelf.ENV, str(tmp_path / "recordings"))
    monkeypatch.setenv("ROOFLAB_BACKEND", "cpu")
    monkeypatch.chdir(tmp_path)
    for name, text in DESK.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    (tmp_path / "here.png").mkdir()
    return tmp_path


@each_row(*WRONG)
def test_one_line_and_exit_code_2(words, said, desk):
    result = CliRunner().invoke(app, words)
    assert result.exit_code == 2, result.output
    assert result.stdout == ""
    (line,) = result.stderr.splitlines()
    assert line.startswith("rooflab: ") and said.lower() in line.lower()
    assert len(line) < 600
    assert {path.name for path in desk.iterdir()} == {*DESK, "here.png"}, "nothing written"


@each_row("1e300", "1e-300", "1e30", "1e9s")
def test_the_strangest_times_are_explained_all_the_same(seconds):
    result = CliRunner().invoke(app, [*EXPLAIN, "--time", seconds])
    assert result.exit_code == 0 and "limited by memory" in " ".join(result.stdout.split())
    assert "nan" not in result.stdout


@each_row(
    ["machines", " H100-SXM "], ["model", " LLAMA-2-7B "], [*EXPLAIN, "--time", " 1 MS ".lower()],
    ["explain", "AXPY", *EXPLAIN[2:], "--time", "1ms", "--cache", "WARM", "--dtype", "Float32"]
)  # fmt: skip
def test_capitals_and_blanks_around_a_name_do_no_harm(words):
    assert CliRunner().invoke(app, words).exit_code == 0
