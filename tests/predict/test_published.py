"""Published runs: facts of the tables, what is drawn of them, and what is refused."""

from __future__ import annotations

import pytest

import rooflab as rl
from rooflab.predict.published import kinds
from rooflab.show import captions
from tests.support.rows import each_row

EVERY = rl.published()
L2_BEATEN = {"nvidia-l40s": 1.06}  # working set of its largest run above the roof ÷ L2, at most


def test_runs_above_the_roof_fit_the_l2_cache():
    """What the whole tables show: H100 up to 43 MB of 52, L40S up to 106 of 101, B200 89 of 132."""
    for gpu in kinds():
        cache = rl.machine(gpu).capacities["l2"]
        above = [run.op.working_set for run in rl.published(gpu) if run.above]
        assert max(above, default=0) <= L2_BEATEN.get(gpu, 1) * cache, gpu
    assert not any(run.above for run in rl.published("a100-sxm-80"))


def test_nothing_beats_the_peak_and_nothing_takes_less_than_a_launch():
    for run in EVERY:
        kind = run.op.compute_dtype
        assert run.flop_per_s <= rl.machine(run.machine).peak(kind)
        assert run.seconds > 1e-6 and min(run.op.dims.values()) > 0


def test_chosen_runs_are_above_the_roof_and_drawn_ones_are_as_they_come():
    assert all(run.above for run in EVERY if run.chosen)
    drawn = [run for run in rl.published("h100-sxm", "bf16") if not run.chosen]
    assert sum(run.above for run in drawn) / len(drawn) < 0.02  # 49 of 35,742 in the table
    l40s = [run for run in rl.published("l40s", "bf16") if not run.chosen]
    assert 0.08 < sum(run.above for run in l40s) / len(l40s) < 0.2  # 14 % there


def test_a_gpu_has_at_most_400_runs_each_once_with_its_source():
    for gpu in kinds():
        runs = rl.published(gpu)
        assert len({(run.op, run.op.compute_dtype) for run in runs}) == len(runs) <= 400
    assert len(EVERY) == sum(len(rl.published(gpu)) for gpu in kinds())
    assert all("095f58a" in run.source and "Apache-2.0" in run.source for run in EVERY)
    assert all("vLLM" in run.conditions for run in EVERY)


def test_factors_in_fp8_give_results_in_bf16():
    (op, *_) = (run.op for run in rl.published("h100-sxm", "fp8"))
    m, n, k = op.dims.values()
    assert op.bytes == m * k + k * n + 2 * m * n


def test_a_gpu_is_known_by_any_name_of_the_catalogue():
    for name in ("l40s", "NVIDIA L40S", rl.machine("l40s")):
        assert {run.machine for run in rl.published(name, "bfloat16")} == {"nvidia-l40s"}


@each_row(
    (("mi300x",), "gpu='amd-mi300x' is unknown; .*Known: nvidia-h100-sxm, .*a100-sxm-80"),
    (("no such",), "gpu='no such' is unknown"), (("a100",), "could mean"),
    (("h100-sxm", "fp32"), "dtype='fp32' is unknown.*Known: bf16, fp8"),
    (("a100-sxm-80", "fp8"), "dtype='fp8' is unknown.*Known: bf16$"),
)  # fmt: skip
def test_what_is_not_there_is_refused_with_what_is(asked, words):
    with pytest.raises(ValueError, match=words):
        rl.published(*asked)


def test_words_sum_up_each_machine_and_format():
    lines = captions.published([*rl.published("h200-sxm"), *rl.published("a100-sxm-80")])
    assert [line.partition(" on ")[0] for line in lines] == [
        "223 published runs", "130 published runs", "220 published runs",
    ]  # fmt: skip
    assert "3 above its memory roof, with working sets up to 37.8 MB." in lines[0]
    assert lines[1].endswith("in fp8_e4m3: none above its memory roof.")
