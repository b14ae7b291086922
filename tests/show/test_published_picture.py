"""Published runs in pictures: a cloud in the roofline, and one with a slider of its own."""

from __future__ import annotations

import re

import rooflab as rl
from rooflab.show import theme
from rooflab.show.published_picture import SIZES
from rooflab.show.scene import drawn

PICTURE = rl.show.published("l40s")
RUNS = rl.published("h100-sxm", "bf16")


def numbers(sentence: str) -> list[float]:
    return [float(word) for word in re.findall(r"\b\d+(?:\.\d+)?\b", sentence)]


def test_a_roofline_draws_all_runs_in_two_lines_without_labels() -> None:
    figure = rl.show.roofline("h100-sxm", RUNS)
    clouds = [line for line in figure.axes[0].lines if line.get_marker() == "x"]
    many = {line.get_color(): len(line.get_xdata()) for line in clouds}
    assert many == {theme.colour("soft"): 219, theme.colour("warn"): 45}
    assert all(run.op.label not in {t.get_text() for t in figure.axes[0].texts} for run in RUNS)
    assert "264 published runs" in figure.words and "left out" not in figure.words


def test_a_roofline_has_runs_beside_other_points_and_one_alone() -> None:
    words = rl.show.roofline("h100-sxm", [rl.gemm(64, 64, 64, "bf16"), *RUNS[:3]]).words
    assert "GEMM 64×64×64 in bf16" in words and "3 published runs" in words
    assert "1 published run on" in rl.show.roofline("h100-sxm", RUNS[0]).words


def test_the_slider_leaves_the_runs_that_fit() -> None:
    for table in ("nvidia-l40s bf16", "nvidia-l40s fp8", "nvidia-a100-sxm-80 bf16"):
        runs = rl.published(*table.split())
        for stop in PICTURE.scene.dim("fits").stops[::6]:
            state = {"table": table, "fits": stop}
            crosses = sum(mark.name == "run" for mark, _ in drawn(PICTURE.scene, **state))
            said = PICTURE.scene.sentence(**state).partition(": ")[2]
            assert numbers(said)[:2] == [crosses, len(runs)], said


def test_a_learner_reads_the_size_of_the_cache_off_the_sentence() -> None:
    """The first stop beyond which no run is above the roof lies within a step of √2 of the L2."""
    stops = PICTURE.scene.dim("fits").stops
    for gpu in ("nvidia-h100-sxm", "nvidia-l40s"):
        said = [PICTURE.scene.sentence(table=f"{gpu} bf16", fits=stop) for stop in stops]
        first = next(n for n, words in enumerate(said) if "The L2 cache has" in words)
        share = SIZES[first] / rl.machine(gpu).capacities["l2"]
        assert 2**-0.5 <= share <= 2**0.5
