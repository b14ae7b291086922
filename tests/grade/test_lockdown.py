"""Functions that an exercise asks to derive."""

import pytest

import rooflab as rl
from rooflab.count import blas
from rooflab.exercises.observe.lock import lock_functions
from rooflab.exercises.registry import exercises


def test_a_locked_function_or_class_raises_under_every_name_and_comes_back():
    kept = rl.gemm
    unlock = lock_functions(["gemm", "Roofline"])
    try:
        for reach in (rl.gemm, kept, blas.gemm):
            with pytest.raises(NotImplementedError, match=r"derive this yourself: rooflab\.gemm"):
                reach(2, 3, 4)
        with pytest.raises(NotImplementedError, match="derive this yourself"):
            rl.Roofline(None)
        assert rl.gemv(2, 3).flops == 12
    finally:
        unlock()
    assert kept(2, 3, 4).flops == 48
    with pytest.raises((TypeError, ValueError, AttributeError)):
        rl.Roofline(None)


def test_whatever_an_exercise_derives_can_be_locked():
    for exercise in exercises().values():
        lock_functions(exercise.derives)()


def test_an_unknown_name_is_said_and_nothing_stays_locked():
    with pytest.raises(ValueError, match="'gemn'"):
        lock_functions(["axpy", "gemn"])
    assert rl.axpy(4).flops == 8
