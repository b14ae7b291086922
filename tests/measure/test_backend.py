"""Which backend is chosen, and what the learner is told when a GPU cannot be used."""

from __future__ import annotations

import importlib
import importlib.util
import sys

import numpy as np
import pytest

from rooflab.measure import backend as seam
from rooflab.measure.backend import select
from tests.support.fake_cupy import FakeCupy
from tests.support.rows import each_row


@pytest.fixture
def no_choice(monkeypatch):
    monkeypatch.delenv("ROOFLAB_BACKEND", raising=False)
    for name in ("cupy", "cupy.cublas"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    return monkeypatch


@pytest.fixture
def with_cupy(no_choice):
    def install(fault: str = "") -> FakeCupy:
        fake = FakeCupy(fault)
        for name, module in fake.modules().items():
            no_choice.setitem(sys.modules, name, module)
        return fake

    return install


def test_cpu_when_cupy_is_not_installed(no_choice):
    find = importlib.util.find_spec
    no_choice.setattr(
        importlib.util, "find_spec", lambda name: None if name == "cupy" else find(name)
    )
    chosen = select("auto")
    assert chosen.name == "cpu" and chosen.xp is np and not chosen.is_gpu
    assert chosen.reason == "CPU, because CuPy is not installed"
    assert chosen.device
    no_choice.setenv("ROOFLAB_BACKEND", "gpu")
    with pytest.raises(RuntimeError, match="ROOFLAB_BACKEND=gpu asks for a GPU, but CuPy is not"):
        select()
    assert select("cpu").name == "cpu"


def test_an_import_that_fails_is_a_reason(no_choice):
    def broken(name, *args):
        raise ImportError("numpy.core.multiarray failed to import")

    no_choice.setattr(importlib.util, "find_spec", lambda name: object())
    no_choice.setattr(importlib, "import_module", broken)
    assert "`import cupy` fails (ImportError: numpy.core" in select(None).reason


@each_row(
    ("driver", "no usable NVIDIA driver (CUDARuntimeError: cudaErrorInsufficientDriver"),
    ("devices", "no CUDA device is visible"),
    ("toolkit", '"cupy-cuda13x[ctk]"'),
    ("toolkit", "libnvrtc.so.13"),
    ("wrong", "self-test gave [[6.0, 8.0], [18.0, 28.0]]"),
)
def test_a_gpu_that_cannot_compute_is_not_chosen(fault, told, with_cupy):
    with_cupy(fault)
    assert select().name == "cpu" and told in select().reason
    with pytest.raises(RuntimeError) as raised:
        select("gpu")
    assert told in str(raised.value) and "backend='gpu' asks for a GPU, but" in str(raised.value)


def test_a_gpu_that_computes_is_chosen(with_cupy):
    fake = with_cupy()
    chosen = select("auto")
    assert chosen.is_gpu and chosen.xp is fake and chosen.device == "Stand-in GPU"
    assert select("cpu").name == "cpu"


def test_a_gpu_is_tried_once_in_a_process_and_once_a_device(with_cupy, monkeypatch):
    """CuPy reads CUPY_TF32 at the first fp32 product, so the self-test may not make one."""
    fake, tried, number = with_cupy(), [], 0
    arange, device = fake.arange, fake.cuda.Device
    monkeypatch.setattr(
        fake, "arange", lambda n, dtype: tried.append(dtype) or arange(n, dtype=dtype)
    )

    def numbered():
        made = device()
        made.id = number
        return made

    monkeypatch.setattr(fake.cuda, "Device", numbered)
    for _ in range(3):
        assert select("auto").is_gpu
    assert tried == [np.float64]
    number = 1
    assert select("auto").is_gpu
    assert len(tried) == 2


def test_environment_decides_auto_but_not_an_explicit_choice(with_cupy, monkeypatch):
    with_cupy()
    monkeypatch.setenv("ROOFLAB_BACKEND", "CPU")
    assert select("auto").name == select(None).name == "cpu"
    assert select("gpu").name == "gpu"
    assert "ROOFLAB_BACKEND=CPU" in select().reason


@each_row("cuda", "gpuu", "1")
def test_a_bad_environment_names_the_variable(value, no_choice):
    no_choice.setenv("ROOFLAB_BACKEND", value)
    with pytest.raises(ValueError, match=f"ROOFLAB_BACKEND='{value}'.*auto, cpu, gpu"):
        select()


@each_row(("tpu", ValueError), (1, TypeError))
def test_a_bad_argument_names_itself(value, error, no_choice):
    with pytest.raises(error, match=f"backend={value!r}"):
        select(value)


def test_results_come_back_to_the_host(with_cupy):
    fake = with_cupy()
    chosen = select("gpu")
    assert chosen.to_numpy(np.arange(3)).tolist() == [0, 1, 2]
    chosen.synchronize()
    assert fake.log[-2:] == ["asnumpy", "stream.synchronize"]
    assert seam.select("cpu").synchronize() is None
