"""What people write to time a GPU: every right way is accepted, every wrong one gets its name."""

from __future__ import annotations

import importlib
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest

from rooflab.exercises import on_gpu
from rooflab.exercises.judge import judge
from rooflab.exercises.observe.collect import collect
from rooflab.exercises.observe.timing import run
from rooflab.exercises.registry import exercise
from rooflab.exercises.verdict import Verdict
from rooflab.labs.cuda import Device, StandIn, imported_as_cupy
from rooflab.measure import backend
from rooflab.measure.backend import probe_gpu
from tests.exercises.support.quick_verdict import quick_verdict
from tests.exercises.support.timing_ways import PRELUDE, REFUSED, REMARKED, RIGHT, WRONG

IDS = ("01-cuda-axpy", "01-cuda-gemv", "01-cuda-gemm")


def answer(cell):
    names = {}
    exec(compile(PRELUDE + cell, "cell", "exec"), names)
    return names["answer"]


def verdict(id, cell, number=slice(None)):
    """The verdict on what is in a cell, on all cases of an exercise or those of that number."""
    found = exercise(id)
    return quick_verdict(found, found.draw("ways")[number], answer(cell))


def of(table, id):
    """The ways of an exercise, each with the answer's cell and what is said of it."""
    return [(way, table[id, way]) for where, way in table if where == id]


@pytest.mark.parametrize("id", IDS)
def test_a_right_way_is_accepted(id):
    """Each on one case, and by turns on all of them."""
    ways = enumerate(of(RIGHT, id))
    verdicts = [(way, verdict(id, cell, slice(n % 3, n % 3 + 1))) for n, (way, cell) in ways]
    assert not [(way, found) for way, found in verdicts if not found.passed]


@pytest.mark.parametrize("id", IDS)
def test_what_the_stand_in_has_not_is_refused_in_words(id):
    verdicts = [(way, why, verdict(id, cell)) for way, (cell, why) in of(REFUSED, id)]
    assert not [one for one in verdicts if one[2].passed or one[1] not in one[2].reason]


@pytest.mark.parametrize("id", IDS)
def test_a_wrong_way_gets_the_name_of_its_mistake(id):
    verdicts = [(way, name, verdict(id, cell)) for way, (cell, name) in of(WRONG, id)]
    assert not [one for one in verdicts if one[2].passed or one[1] != one[2].misconception]


def test_a_time_between_exchanged_events_is_told_to_be_negative():
    asked = exercise(IDS[0])
    (wrong,) = (one.wrong for one in asked.misconceptions if one.name == "events exchanged")
    assert "two events is negative" in quick_verdict(asked, asked.draw("ways"), wrong).reason


@pytest.mark.parametrize("id", IDS)
def test_another_way_than_asked_is_named_and_costs_nothing(id):
    for way, (cell, words) in of(REMARKED, id):
        found = verdict(id, cell)
        assert found.passed and words in found.reason, (way, found)
    asked = exercise(id)
    assert "; but" not in quick_verdict(asked, asked.draw("ways"), asked.reference).reason


@pytest.mark.parametrize(("tolerance", "off", "why"), [
    (0.1, 1.01, ""), (0.1, 1.05, "do not follow"), (0.1, 0.91, "do not follow"),
    (0.1, 1.2, "more than 10 % away"), (0.5, 1.2, "do not follow"),
    (0.01, 1.05, "more than 1 % away"),
])  # fmt: skip
def test_seconds_are_those_of_the_learners_own_events(tolerance, off, why):
    asked = replace(exercise("01-cuda-axpy"), tolerance=tolerance)
    cases = asked.draw("off")
    found = judge(asked, cases, collect(asked.kind, cases, lambda *a: off * asked.reference(*a)))
    assert found.passed is (not why) and why in found.reason, found


# The same on a CuPy that is no simulation: arrays on NumPy, refusing what CuPy's refuse.


def in_place_of_a_gpu(monkeypatch, device, cupy):
    chosen = SimpleNamespace(name="gpu", device=device, xp=cupy)
    monkeypatch.setattr(backend, "select", lambda name: chosen)
    monkeypatch.setattr(on_gpu, "LOAD_S", 0)


def confirm(id, function):
    """The verdict of a run on the GPU, of an answer that passed without one."""
    found = exercise(id)
    return on_gpu.confirm(found, function, Verdict(id, True, found.points, found.points, ""))


@pytest.fixture
def strict(monkeypatch):
    """The strict fake where a GPU would be, small arrays, and no comparison of host times."""
    aside = {n: sys.modules.pop(n) for n in [*sys.modules] if n.partition(".")[0] == "cupy"}
    monkeypatch.syspath_prepend(str(Path(__file__).parents[2] / "strict_cupy"))
    fake = importlib.import_module("cupy")
    in_place_of_a_gpu(monkeypatch, "strict fake", fake)
    monkeypatch.setattr(on_gpu, "_agree", lambda ours, mine, _: ours > 0 and mine > 0)
    small = {"axpy": {"n": 4096}, "gemv": {"m": 16, "n": 4096}, "gemm": {"n": 32}}
    monkeypatch.setattr(on_gpu, "sizes", lambda op, l2_bytes: small[op])
    yield fake
    for name in [n for n in sys.modules if n.partition(".")[0] == "cupy"]:
        del sys.modules[name]
    sys.modules.update(aside)


@pytest.mark.parametrize("id", IDS)
def test_right_ways_run_on_the_strict_fake_too(strict, id):
    faults = []
    for way, cell in of(RIGHT, id):
        told = confirm(id, answer(cell))
        agrees = told.passed and "agrees with the course's own" in told.note
        faults += [] if agrees else [(way, told)]
    assert not faults, faults


def test_cublas_is_there_before_the_learner_says_it(strict):
    """Of CuPy it is a module of its own, which `import cupy` does not load."""
    assert not hasattr(strict, "cublas")
    assert confirm("01-cuda-axpy", exercise("01-cuda-axpy").reference).passed


def test_both_refuse_an_array_of_the_host(strict):
    host = "def answer(cp, x, y, a):\n    return timed(cp, lambda: cp.add(np.ones(x.size), y))\n"
    why = "Unsupported type <class 'numpy.ndarray'>"
    assert why in verdict("01-cuda-axpy", host).reason
    assert why in confirm("01-cuda-axpy", answer(host)).reason


# And on simulated GPUs in place of a real one, where the comparison by turns can be exact.

LAPTOP = Device("laptop", 3e11, 1.2e12, 4 << 20, {"float32": 8e12, "float64": 2.5e11})
SERVER = Device("server", 4e12, 9e12, 50 << 20, {"float32": 6e13, "float64": 3e13})
SECONDS_OFF = ("written flush", "warm L2", "idle GPU", "flush inside", "two kernels", "whole queue")


def confirmed(monkeypatch, device, id, function):
    """The verdict of confirm() where ``device`` is the GPU of this machine."""
    cp = StandIn(device)
    in_place_of_a_gpu(monkeypatch, device.name, cp)
    with imported_as_cupy(cp):
        return confirm(id, function)


@pytest.mark.parametrize("device", [LAPTOP, SERVER], ids=lambda device: device.name)
@pytest.mark.parametrize("id", IDS)
def test_right_ways_agree_with_the_reference_on_small_and_large_gpus(monkeypatch, id, device):
    for way, cell in of(RIGHT, id)[::3]:
        told = confirmed(monkeypatch, device, id, answer(cell))
        assert told.passed and "agrees with the course's own" in told.note, (way, told)


@pytest.mark.parametrize(
    ("ours", "mine", "told"),
    [
        (4e-6, 4.3e-6, "function within 10 %."),
        (1e-6, 1.3e-6, "within one step of the GPU's clock,"),
    ],
)
def test_it_says_which_of_the_two_agreements_held(monkeypatch, ours, mine, told):
    monkeypatch.setattr(on_gpu, "_alternating", lambda *_: (ours, mine))
    found = confirmed(monkeypatch, SERVER, IDS[0], print)
    assert found.passed and told in found.note, found.note


@pytest.mark.parametrize("device", [LAPTOP, SERVER], ids=lambda device: device.name)
def test_a_wrong_way_does_not_agree_with_the_reference(monkeypatch, device):
    mistakes = [(id, each) for id in IDS for each in exercise(id).misconceptions]
    for id, mistake in mistakes:
        if mistake.name in SECONDS_OFF:
            told = confirmed(monkeypatch, device, id, mistake.wrong)
            assert not told.passed and "differ by more than 10 %" in told.reason, (mistake, told)


# While an answer runs, `import cupy` finds the stand-in; afterwards all is as it was.


IMPORTING = {
    "finds it": """
def answer(cp, x, y, a):
    import importlib
    import cupy.cublas
    from cupyx import profiler
    assert cupy.cublas.axpy == cp.cublas.axpy and cupy.ndarray is cp.ndarray
    assert importlib.import_module("cupy.cuda").Event is cp.cuda.Event
    assert callable(profiler.benchmark)
    return timed(cupy, lambda: cupy.cublas.axpy(a, x, y))
""",
    "leaves": """
def answer(cp, x, y, a):
    import sys
    del sys.modules["cupy.cublas"]
    sys.exit("gone")
""",
    "is stopped": """
def answer(cp, x, y, a):
    raise KeyboardInterrupt
""",
}


@pytest.fixture
def nothing_imported(monkeypatch):
    for module in [m for m in sys.modules if m.partition(".")[0] in ("cupy", "cupyx")]:
        monkeypatch.delitem(sys.modules, module)
    return monkeypatch


@pytest.mark.parametrize("name", IMPORTING)
@pytest.mark.parametrize("installed", [False, True])
def test_the_modules_are_put_back(nothing_imported, installed, name):
    there = {m: ModuleType(m) for m in ("cupy", "cupy.linalg", "cupyx") if installed}
    for module in there:
        nothing_imported.setitem(sys.modules, module, there[module])
    seen = run(exercise("01-cuda-axpy").draw(0)[0], answer(IMPORTING[name]))
    assert {m: sys.modules[m] for m in sys.modules if m.startswith("cupy")} == there
    assert ("value" in seen) == (name == "finds it"), seen


@pytest.mark.parametrize("installed", [False, True])
def test_another_thread_does_not_take_the_stand_in_for_a_gpu(nothing_imported, installed):
    real = ModuleType("cupy")
    real.cuda = SimpleNamespace()
    if installed:
        nothing_imported.setitem(sys.modules, "cupy", real)

    def found():
        return getattr(importlib.import_module("cupy"), "cuda", None)

    cp = StandIn(SERVER)
    with imported_as_cupy(cp), ThreadPoolExecutor(1) as elsewhere:
        assert found() is cp.cuda
        assert elsewhere.submit(found).result() is (real.cuda if installed else None)


def test_another_thread_hears_that_cupy_is_not_installed(nothing_imported):
    nothing_imported.setattr(backend, "_PATIENCE_S", 0.1)  # it waits for the stand-in to go
    with imported_as_cupy(StandIn(SERVER)), ThreadPoolExecutor(1) as elsewhere:
        assert elsewhere.submit(probe_gpu).result() == (None, "CuPy is not installed")
