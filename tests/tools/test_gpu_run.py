"""`course.py gpu`: what it keeps and finds again, how it ends; whole, on a strict fake CuPy."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from argparse import Namespace
from pathlib import Path

import pytest

from tools import gpu_run
from tools.gpu_run import Findings, Run, Stage
from tools.gpu_stages import STAGES

REPOSITORY = Path(__file__).resolve().parents[2]
FAKE = REPOSITORY / "tests" / "strict_cupy"


def course(out: Path, *options: str) -> subprocess.CompletedProcess[str]:
    """Run the command where the strict fake is the machine's GPU."""
    path = os.pathsep.join((str(FAKE), str(REPOSITORY / "lib"), str(REPOSITORY)))
    clean = {
        k: v for k, v in os.environ.items() if not k.startswith(("PYTEST_", "ROOFLAB_BACKEND"))
    }
    clean |= {"PYTHONPATH": path, "ROOFLAB_CACHE": str(out.parent / "cache"), "ROOFLAB_QUICK": "1"}
    clean["OPENBLAS_NUM_THREADS"] = "1"  # the fake's products: a second thread mostly waits, busily
    command = [sys.executable, "-m", "tools.gpu_run", "--out", str(out), "--quick", *options]
    return subprocess.run(command, cwd=REPOSITORY, env=clean, capture_output=True, text=True)


def lines(out: Path) -> dict[str, object]:
    entries = [json.loads(line) for line in (out / "results.jsonl").read_text("utf-8").splitlines()]
    return {entry["key"]: entry["value"] for entry in entries}


# The stages, whole


@pytest.mark.slow
@pytest.mark.notebook
def test_every_stage_is_green_on_the_strict_fake(tmp_path: Path) -> None:
    """All but the peers (not installed here), our kernels (machine code of a real GPU), and the
    lessons (nbval runs them on the fake)."""
    apart = ("versus", "kernels", "lessons")
    wanted = ",".join(stage.name for stage in STAGES if stage.name not in apart)
    done = course(tmp_path / "out", "--only", wanted, "--quick")
    assert done.returncode == 0, done.stdout + (tmp_path / "out" / "log.txt").read_text("utf-8")
    found = lines(tmp_path / "out")
    assert found["facts/gpu"]["name"] == "NVIDIA Fake H100"
    assert not found["tests/gpu"]["failed"] and "passed" in found["tests/gpu"]["last line"][0]
    assert "roofs/run 1" in found
    assert sum(key.startswith("exercises/") and key.endswith(", right") for key in found) == 3
    assert found["record/recording"]["measurements"] > 5
    assert sum(key.startswith("decode/") for key in found) == 4
    files = [path for path in (tmp_path / "out").rglob("*") if path.is_file()]
    assert len(files) <= 6 and all(len(p.relative_to(tmp_path / "out").parts) <= 3 for p in files)


def test_what_is_done_is_not_done_again(tmp_path: Path) -> None:
    assert course(tmp_path / "first", "--only", "facts").returncode == 0
    before = (tmp_path / "first" / "results.jsonl").read_text("utf-8")
    resumed = course(tmp_path / "second", "--only", "facts", "--resume", str(tmp_path / "first"))
    assert resumed.returncode == 0 and "done before" in resumed.stdout
    again = course(tmp_path / "first", "--only", "facts", "--resume", str(tmp_path / "first"))
    assert again.returncode == 0 and "done before" in again.stdout
    assert (tmp_path / "second" / "results.jsonl").read_text("utf-8") == before


def test_without_a_gpu_it_says_why(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ROOFLAB_BACKEND", "cpu")
    monkeypatch.setattr(gpu_run, "_WHICH_GPU", "raise RuntimeError('no CUDA device is visible')")
    assert gpu_run.main(["--out", str(tmp_path)]) == 1
    assert not (tmp_path / "results.jsonl").exists()


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["--only", "fatcs"], "'fatcs' is no stage; there are facts, tests"),
        (["--minutes", "0"], "--minutes 0.0 must be more than 0"),
        (["--resume", "nowhere"], "is no folder"),
    ],
)
def test_wrong_options_are_named(tmp_path: Path, capsys, options: list[str], told: str) -> None:
    with pytest.raises(SystemExit):
        gpu_run.main(["--out", str(tmp_path), *options])
    assert told in capsys.readouterr().err


# Findings


def test_an_error_is_written_down_and_tried_again(tmp_path: Path) -> None:
    findings, tries = Findings(tmp_path, "code on card"), []

    def work() -> int:
        tries.append(1)
        if len(tries) == 1:
            raise RuntimeError("an illegal memory access was encountered")
        return 7

    findings.once("a", work)
    assert "illegal memory access" in findings.found["a"]["error"] and findings.errors() == ["a"]
    for _ in range(2):
        Findings(tmp_path, "code on card").once("a", work)
    assert lines(tmp_path)["a"] == 7 and len(tries) == 2
    assert Findings(tmp_path, "code on card").errors() == []


def test_a_line_torn_by_a_kill_costs_one_finding(tmp_path: Path) -> None:
    findings = Findings(tmp_path, "r")
    findings.add("a", 1)
    findings.add("b", 2)
    path = tmp_path / "results.jsonl"
    path.write_text(path.read_text("utf-8")[:-9], "utf-8")
    again = Findings(tmp_path, "r")
    assert again.found == {"a": 1}
    again.add("c", 3)  # on a line of its own
    assert Findings(tmp_path, "r").found == {"a": 1, "c": 3}


def test_a_stage_asked_for_again_finds_everything_again(tmp_path: Path, monkeypatch) -> None:
    findings = Findings(tmp_path, "r")
    for key in ("one/a", "done/one", "other/a"):
        findings.add(key, 1)
    child("pass", monkeypatch)
    stage = Stage("one", lambda run: None, 0.1, 30)
    rows = gpu_run.run_all([stage], options(tmp_path, again=["one"]), "r")
    assert rows[0][1] == "done" and "one/a" not in Findings(tmp_path, "r").found
    assert Findings(tmp_path, "r").found["other/a"] == 1
    assert "one/a" in (tmp_path / "results.jsonl").read_text("utf-8")  # nothing is lost


def test_another_card_or_other_code_begins_afresh_and_loses_nothing(tmp_path: Path) -> None:
    Findings(tmp_path, "code on one card").add("a", 1)
    other = Findings(tmp_path, "code on another card")
    assert other.found == {}
    other.add("a", 2)
    assert Findings(tmp_path, "code on one card").found == {"a": 1}


def test_what_is_no_json_is_kept_as_text(tmp_path: Path) -> None:
    findings = Findings(tmp_path, "r")
    findings.add("a", {"path": tmp_path})
    assert findings.found["a"] == {"path": str(tmp_path)} == Findings(tmp_path, "r").found["a"]


# How stages end


def options(out: Path, **more: object) -> Namespace:
    return Namespace(**{"out": out, "minutes": 1.0, "again": [], "quick": True, **more})


def child(code: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every stage is this Python code."""
    popen = subprocess.Popen
    monkeypatch.setattr(
        gpu_run.subprocess, "Popen", lambda _, **how: popen([sys.executable, "-c", code], **how)
    )


def ended(tmp_path: Path, most: float = 30, minutes: float = 1.0) -> str:
    stage = Stage("one", lambda run: None, 0.1, most)
    ((_, state, _),) = gpu_run.run_all([stage], options(tmp_path, minutes=minutes), "r")
    return state


def test_a_stage_that_ends_well_is_done_once(tmp_path: Path, monkeypatch) -> None:
    child("pass", monkeypatch)
    assert ended(tmp_path) == "done" and "done/one" in lines(tmp_path)
    assert ended(tmp_path) == "done before"


def test_a_crashed_stage_is_no_finding_and_the_log_says_why(tmp_path: Path, monkeypatch) -> None:
    child("import os, sys; print('a poisoned context', flush=True); os.abort()", monkeypatch)
    assert ended(tmp_path).startswith("failed (-6)")
    assert "a poisoned context" in (tmp_path / "log.txt").read_text("utf-8")
    assert "done/one" not in Findings(tmp_path, "r").found


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="looks into /proc")
def test_a_stage_is_cut_off_at_its_limit_with_its_children(tmp_path: Path, monkeypatch) -> None:
    pid = tmp_path / "pid"
    grandchild = f"import os, time; open({str(pid)!r}, 'w').write(str(os.getpid())); time.sleep(60)"
    code = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {grandchild!r}])"
    child(code, monkeypatch)
    assert ended(tmp_path, most=2.0).startswith("cut off")
    number, gone = int(pid.read_text()), time.monotonic() + 10
    while Path(f"/proc/{number}").exists() and time.monotonic() < gone:
        os.sched_yield()
    stat = Path(f"/proc/{number}/stat")
    assert not stat.exists() or stat.read_text().split()[2] == "Z"


def test_a_stage_that_stops_itself_is_not_done(tmp_path: Path, monkeypatch) -> None:
    child(f"raise SystemExit({gpu_run.UNFINISHED})", monkeypatch)
    assert ended(tmp_path).startswith("not finished")
    assert "done/one" not in Findings(tmp_path, "r").found


def test_no_stage_begins_that_has_no_time(tmp_path: Path, monkeypatch) -> None:
    child("raise SystemExit(1)", monkeypatch)
    assert ended(tmp_path, minutes=0.01).startswith("no time: 0 s left")


def test_stages_say_what_they_need_and_stay_inside_a_call_of_ten_minutes() -> None:
    assert len({stage.name for stage in STAGES}) == len(STAGES)
    assert all(0 < stage.least <= stage.most <= 600 for stage in STAGES)
    first = [stage for stage in STAGES if stage.name not in ("record", "kernels", "lessons")]
    assert sum(stage.most for stage in first) <= 600  # one full call; the others follow


def test_a_stage_finds_through_its_run(tmp_path: Path) -> None:
    run = Run(Findings(tmp_path, "r"), tmp_path, 5.0)
    run.once("a", lambda: 1)
    run.once("a", lambda: 2)
    assert run.findings.found == {"a": 1}
