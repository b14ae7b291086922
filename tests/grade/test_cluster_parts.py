"""The parts of grading on a cluster, without one: refusals, ends, and a worker's own place."""

from __future__ import annotations

import os
import threading
from importlib.metadata import PackageNotFoundError
from importlib.metadata import version as version_of
from types import SimpleNamespace

import pytest

import rooflab as package
from rooflab.grade import cluster as clusters
from rooflab.grade import launch, pipeline
from rooflab.grade.inside.limits import Limits
from rooflab.grade.locked_notebook import LOST, Outcome
from rooflab.grade.pipeline import code_digest
from tests.grade.support import in_process
from tests.grade.support.small import honest, locked

distributed = pytest.importorskip("distributed")
LIMITS = Limits()


class Asked:
    """A client whose workers say what they are told to say."""

    def __init__(self, version=package.__version__, **about):
        mine = {"version": version, "code": code_digest(), "missing": None}
        self.answers = {version_of: version, clusters.about: mine | about}

    def wait_for_workers(self, count, timeout):
        if not self.answers:
            raise TimeoutError

    def run(self, function, *_, on_error):
        return {"tcp://a:1": self.answers[function]}


def test_a_worker_that_cannot_grade_is_named_and_a_scheduler_without_workers():
    none = f"has no rooflab; install.* {package.__version__}"
    alone = Asked()
    alone.answers = {}
    for client, told in (
        (alone, "no worker joined .* `dask worker tcp://a:0`"),
        (Asked(PackageNotFoundError("rooflab")), none),
        (Asked("0.0.9"), "has rooflab 0.0.9; install rooflab"),
        (Asked(missing="grading needs bubblewrap"), "worker tcp://a:1: grading needs bubblewrap"),
    ):
        with pytest.raises(RuntimeError, match=told):
            clusters._check_workers(client, "tcp://a:0", unsafe=False)
    clusters._check_workers(Asked(missing="no bubblewrap"), "tcp://a:0", unsafe=True)


class Future:
    """A future that never comes, or ends as it is told to."""

    def __init__(self, ends=None):
        self.ends = ends

    def exception(self, timeout):
        if self.ends is None or isinstance(self.ends, TimeoutError):
            raise TimeoutError
        if isinstance(self.ends, distributed.CancelledError):
            raise self.ends
        return self.ends


def cluster(future, status="running", workers=1, **more):
    client = SimpleNamespace(
        submit=lambda *_, **__: future, status=status, nthreads=lambda: {"w": 1} if workers else {}
    )
    return clusters.Cluster(client, distributed, "tcp://a:0", False, (), **more)


def test_a_cluster_that_is_gone_ends_the_run():
    for gone, told in (
        (cluster(Future(distributed.CancelledError("x"))), "no longer knows"),
        (cluster(Future(), status="connecting", _looked=0.0), "does not answer any more"),
        (cluster(Future(), workers=0, _looked=0.0, _seen=-1e9), "has had no worker for"),
        (cluster(Future(launch.NoSandbox("needs bubblewrap"))), "cannot grade: needs bubblewrap"),
    ):
        with pytest.raises(pipeline.NoRunner, match=told):
            gone.run(locked(honest(0)), LIMITS)


def test_who_kills_every_worker_is_lost():
    killed = distributed.KilledWorker("task", SimpleNamespace(address="tcp://a:1"), 3)
    assert cluster(Future(killed)).run(locked(honest(0)), LIMITS).stopped == LOST


class FakeRunner:
    """In place of a NotebookRunner: counts what is open, and answers when it is let."""

    opened = []

    def __init__(self, **_):
        self.go = threading.Event()
        self.go.set()
        self.opened.append(self)

    def run(self, locked, limits):
        return in_process.run(locked)

    def ask(self, job, seconds):
        self.go.wait()
        return job

    def close(self):
        self.opened.remove(self)


@pytest.fixture
def place(monkeypatch):
    monkeypatch.setattr(FakeRunner, "opened", [])
    monkeypatch.setattr(clusters, "NotebookRunner", FakeRunner)
    made = clusters.Place(False, ())
    yield made
    made.rest()  # else its timer would go off in another test


def test_a_place_opens_for_a_job_and_closes_when_nobody_needs_it(place):
    place.rest()
    assert not FakeRunner.opened
    assert place.ask(b"job", 1) == place.ask(b"job", 1) == b"job"
    assert len(FakeRunner.opened) == 1
    place.rest()
    assert not FakeRunner.opened
    assert place.ask(b"more", 1) == b"more" and len(FakeRunner.opened) == 1


def test_a_place_in_use_stays_open(place):
    place.ask(b"job", 1)
    (runner,) = FakeRunner.opened
    runner.go.clear()
    busy = threading.Thread(target=place.ask, args=(b"job", 1))
    busy.start()
    while not place._busy:
        os.sched_yield()
    place.rest()
    assert FakeRunner.opened == [runner]
    runner.go.set()
    busy.join()


def test_a_place_that_is_idle_closes_itself(place, monkeypatch):
    monkeypatch.setattr(clusters, "IDLE", 0.0)
    place.ask(b"job", 1)
    place._timer.join()
    assert not FakeRunner.opened


def test_a_place_where_right_answers_fail_grades_nobody(place, monkeypatch):
    broken = Outcome({}, {}, {}, "it is broken")
    monkeypatch.setattr(FakeRunner, "run", lambda *_: broken)
    with pytest.raises(RuntimeError, match="known right answer"):
        place.ask(b"job", 1)
    assert not FakeRunner.opened, "a runner of no use is closed"


def test_a_job_and_its_answer_are_bytes():
    told = launch.packed(locked(honest(0)), LIMITS)
    assert isinstance(told, bytes) and b"not to be told" not in told, "the nonce stays here"
    assert launch.read_outcome(b"", ["01-e0"]).stopped == LOST
