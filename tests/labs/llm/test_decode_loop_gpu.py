"""The loop on the GPU's path, on a stand-in for CuPy: the same tokens, timed by events."""

from __future__ import annotations

import pytest

from rooflab.count.si import si
from rooflab.labs.llm import decode_prediction, transformer
from rooflab.labs.llm.decode_loop import decode_loop
from rooflab.labs.llm.transformer import FORMS, loop_model
from rooflab.measure import gpu
from rooflab.measure.operands import OperandsTooLarge
from tests.labs.llm.support.plain_transformer import SMALL, WIDE, arrays, grown, held
from tests.labs.llm.test_decode_prediction import HERE, habits
from tests.support.rows import each_row

pytestmark = pytest.mark.usefixtures("quick")


@each_row(SMALL, WIDE)
@each_row(None, *FORMS)
def test_tokens_equal_those_of_a_full_recompute(form, model, fake):
    weights = arrays(model, seed=8)
    found = decode_loop(
        model, 2, 5, 4, weights=held(model, weights, backend="gpu"), dtype="fp64", forms=form
    )
    assert found.backend == "gpu" and found.threads is None
    assert found.environment["clock"] == "CUDA events"
    assert [list(row) for row in found.tokens] == grown(model, weights, 2, 5, 4)


def test_products_are_cublas_calls(fake):
    decode_loop(SMALL, 2, 4, 2, forms="gemv ×B")
    products = 7 * SMALL.layers + 1
    assert fake.log.count("gemv float32") >= 2 * 2 * products  # two steps, two sequences
    assert fake.log.count("gemm float32") >= products  # the prefill is one product each


def test_times_are_those_of_the_events(fake):
    found = decode_loop(SMALL, 2, 4, 3, forms="gemm")
    each = fake.kernel_s * SMALL.layers
    assert found.samples("up") == pytest.approx([each] * 3)
    assert found.samples("head") == pytest.approx([fake.kernel_s] * 3)


def test_halves_multiply_in_halves_and_keep_activations_wide(fake):
    wide = decode_loop(SMALL, 2, 4, 3, dtype="fp32")
    fake.log.clear()
    half = decode_loop(SMALL, 2, 4, 3, dtype="fp16", forms="gemm")
    assert {entry.split()[1] for entry in fake.log if entry.startswith("ge")} == {"float16"}
    assert half.tokens[0][0] == wide.tokens[0][0]
    product = next(step.op for step in half.ledger() if step.name == "up")
    assert product.compute_dtype.name == "fp16" and product.unit == "tensor"


def test_threads_are_the_cpus_although_there_is_a_gpu(fake, monkeypatch):
    monkeypatch.delenv("ROOFLAB_BACKEND", raising=False)  # which would win
    found = decode_loop(SMALL, 1, 4, 1, threads=1)
    assert (found.backend, found.threads) == ("cpu", 1)
    assert decode_loop(SMALL, 1, 4, 1, backend="gpu", threads=1).threads is None
    assert decode_loop(SMALL, 1, 4, 1, backend="cpu").threads == 1


@each_row(({}, ("gpu", None)), ({"threads": 1}, ("cpu", 1)))
def test_a_prediction_is_for_where_the_loop_would_run(given, where, fake, monkeypatch):
    monkeypatch.delenv("ROOFLAB_BACKEND", raising=False)
    asked = []

    def machine(backend, threads):
        asked.append((backend, threads))
        return HERE

    def efficiency(backend, threads, dtype):
        asked.append((backend, threads))
        return habits()

    monkeypatch.setattr(decode_prediction, "this_machine", machine)
    monkeypatch.setattr(decode_prediction, "loop_efficiency", efficiency)
    decode_prediction.predict_decode(SMALL, 1, 64, **given)
    assert asked == [where, where]


def test_gpu_memory_is_asked_before_allocating(fake, monkeypatch):
    fake.free = 1 << 16
    with pytest.raises(OperandsTooLarge, match=r"of GPU memory of Stand-in GPU .* free"):
        decode_loop(SMALL, 2, 4, 3)
    assert gpu.l2_bytes(fake) == 1 << 20


def test_a_gpu_that_waits_for_python_is_said(fake):
    fake.kernel_s = 1e-9  # no Python is as fast
    found = decode_loop(SMALL, 1, 4, 3, forms="gemm")
    (said,) = (text for text in found.warnings if text.startswith("launch-bound"))
    assert said.startswith("launch-bound: host ")
    assert f"GPU {si(found.step_s, 's')} a step" in said


def test_a_gpu_with_work_enough_is_not(fake):
    fake.kernel_s = 10.0  # no Python is as slow
    found = decode_loop(SMALL, 1, 4, 3, forms="gemm")
    assert not any(text.startswith("launch-bound") for text in found.warnings)


def test_a_loop_model_outgrows_the_cache_of_where_it_runs(fake, monkeypatch):
    monkeypatch.setattr(transformer, "last_level_bytes", lambda: 1 << 10)
    fake.l2 = 300 << 20
    small, outgrown = loop_model("small"), loop_model("small", backend="gpu")
    assert small.layers == transformer.SIZES["small"].layers
    assert outgrown.weight_bytes("fp32") >= 4 * fake.l2
