"""``rooflab grade --scheduler``: a real scheduler and two workers, one killed in between."""

from __future__ import annotations

import os
import signal
import sys
from contextlib import contextmanager, nullcontext

import pytest
from typer.testing import CliRunner

from rooflab.cli import app, grading
from rooflab.grade import cluster as clusters
from rooflab.grade import launch, pipeline
from rooflab.grade.inside.limits import Limits
from rooflab.grade.locked_notebook import LOST
from tests.grade.support import in_process
from tests.grade.support.notebooks import changed, put, solution

distributed = pytest.importorskip("distributed")
needs_sandbox = pytest.mark.skipif(launch.missing() is not None, reason="no bubblewrap")

LIMITS = Limits()
WRONG = {"00-bandwidth": "def bandwidth(seconds, n, itemsize):\n    return n"}
KILLS_ITS_WORKER = """
import os
number = os.getpid()
while number > 1:
    if b"multiprocessing" in open(f"/proc/{number}/cmdline", "rb").read():
        os.kill(number, 9)
        break
    number = int(open(f"/proc/{number}/stat").read().rpartition(")")[2].split()[1])
"""


@pytest.fixture(scope="module")
def local():
    """A scheduler here and two worker processes that come back when they are killed."""
    dask = pytest.importorskip("dask")
    with dask.config.set({"distributed.worker.multiprocessing-method": "forkserver"}):
        context = distributed.utils.get_mp_context()
        context.set_forkserver_preload(["distributed", clusters.__name__])  # in no time
        with distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address="127.0.0.1:0", silence_logs=60
        ) as started:
            yield started


def grade(files, out, open_runner, **more):
    out.mkdir(exist_ok=True)
    return pipeline.grade(files, out, 7, open_runner, limits=LIMITS, jobs=4, **more)


@contextmanager
def on(local, **more):
    with clusters.cluster(local.scheduler_address, **more) as cluster:
        yield cluster.run


def busy_worker(local):
    """The process of a worker that has something to do."""
    return next(worker.pid for worker in local.scheduler.workers.values() if worker.processing)


def test_a_worker_with_other_code_is_refused_in_one_line(local, tmp_path, monkeypatch):
    monkeypatch.setattr(clusters, "code_digest", lambda: "another")
    said = rooflab(tmp_path, "--scheduler", local.scheduler_address)
    assert "worker tcp://" in said and "other files in its rooflab" in said
    assert "2 of 2 workers" in said


@needs_sandbox
def test_a_worker_killed_in_the_middle_changes_nothing(local, runner, tmp_path, monkeypatch):
    files = [put(tmp_path / f"{n}.ipynb", changed(WRONG if n % 2 else {}, "00")) for n in range(4)]
    files[3].write_text("{", encoding="utf-8")
    alone = grade(files, tmp_path / "alone", lambda: nullcontext(runner.run))
    assert [row.points for row in alone] == [8, 7, 8, 0]

    out, sent, seen = tmp_path / "out", [], []
    grade(files[:1], out, lambda: nullcontext(runner.run))  # the class was begun on one machine
    original = clusters.Cluster.run
    monkeypatch.setattr(
        clusters.Cluster, "run", lambda *told: (sent.append(told), original(*told))[1]
    )

    def progress(row):
        seen.append(row.file)
        if len(seen) == 3:  # the kept one, the torn one, and the first that was run here
            os.kill(busy_worker(local), signal.SIGKILL)

    assert grade(files, out, lambda: on(local), progress=progress) == alone
    assert sorted(seen) == sorted(map(str, files)), "each was done once"
    assert len(sent) == 1 + 2, "the known right answer, and what was not finished"
    assert grade(files, out, None) == alone, "all of it was kept"


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="the sandbox needs Linux")
def test_who_kills_every_worker_has_zero_and_the_class_goes_on(local, tmp_path, monkeypatch):
    monkeypatch.setattr(local.scheduler, "allowed_failures", 0)
    files = [
        put(tmp_path / "killer.ipynb", changed({"00-bandwidth": KILLS_ITS_WORKER}, "00")),
        put(tmp_path / "honest.ipynb", solution("00")),
    ]
    rows = grade(files, tmp_path / "out", lambda: on(local, unsafe=True))
    assert rows[0].points == 0 < rows[0].max
    assert rows[0].error == f"{LOST}, a second time with nothing beside it"
    assert all(LOST in verdict.reason for verdict in rows[0].verdicts.values())
    assert (rows[1].points, rows[1].error) == (8, None)


def rooflab(tmp_path, *more):
    """What the command says about one notebook; it must be one line."""
    path = put(tmp_path / "a.ipynb", solution("00"))
    words = ["grade", str(path), "--out", str(tmp_path / "out"), *more]
    result = CliRunner().invoke(app, words)
    assert result.exit_code == 2, result.output
    assert len(result.output.strip().splitlines()) == 1
    assert not (tmp_path / "out" / "results.json").exists()
    return result.output


def test_without_distributed_it_says_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    assert "pip install distributed" in rooflab(tmp_path, "--scheduler", "tcp://127.0.0.1:8786")


def test_a_scheduler_that_does_not_answer(tmp_path, monkeypatch):
    monkeypatch.setattr(clusters, "CONNECT", 0.2)
    for address in ("tcp://127.0.0.1:1", "nothing://x", "a b:c"):
        said = rooflab(tmp_path, "--scheduler", address)
        assert "no scheduler answers" in said and "dask scheduler" in said
    assert "--scheduler=' ' must be an address" in rooflab(tmp_path, "--scheduler", " ")


def test_a_cluster_that_is_gone_keeps_what_is_finished(tmp_path, monkeypatch):
    for number in range(3):
        put(tmp_path / f"{number}.ipynb", solution("00"))
    left = [2]  # the known right answer, and one more

    def run(locked, limits):
        left[0] -= 1
        if left[0] < 0:
            raise pipeline.NoRunner("the scheduler does not answer any more")
        return in_process.run(locked)

    monkeypatch.setattr(grading, "open_runner", lambda *_: nullcontext(run))
    words = ["grade", str(tmp_path), "--out", str(tmp_path / "out"), "--seed", "7", "--jobs", "1"]
    result = CliRunner().invoke(app, [*words, "--scheduler", "tcp://a:0"])
    assert result.exit_code == 2 and "what is finished is kept" in result.output
    left[0] = 3
    assert CliRunner().invoke(app, [*words, "--scheduler", "tcp://a:0"]).exit_code == 0
