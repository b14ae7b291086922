"""The static roofline: what is drawn, what is said, what is refused."""

from __future__ import annotations

import subprocess
import sys

import pytest
from matplotlib.colors import to_hex

import rooflab as rl
from rooflab.show import theme
from tests.support.text_overlap import overlapping

INK = theme.INK.lower()
OPS = [rl.axpy(2**24), rl.gemv(4096, 4096), rl.gemm(4096, 4096, 4096)]


def markers(figure) -> list[tuple[str, str, bool]]:
    """Marker, edge colour and whether it is filled, of every point drawn."""
    found = []
    for line in figure.axes[0].lines:
        if line.get_marker() not in ("None", None, ""):
            face, edge = to_hex(line.get_markerfacecolor()), to_hex(line.get_markeredgecolor())
            filled = face == INK
            found.append((line.get_marker(), face if filled else edge, filled))
    return found


def texts(figure) -> list[str]:
    return [text.get_text() for text in figure.axes[0].texts]


def test_bounds_are_hollow_and_tell_operations_apart() -> None:
    assert markers(rl.show.roofline("h200-sxm", OPS)) == [
        ("o", INK, False), ("s", INK, False), ("D", INK, False),
    ]  # fmt: skip


def test_ceilings_and_ridge_are_labelled_on_the_line() -> None:
    said = texts(rl.show.roofline("h200-sxm", OPS))
    assert {"memory 4.80 TB/s", "fp32 66.9 TFLOP/s", "ridge 13.9"} <= set(said)


def test_measured_is_filled_and_a_guess_says_how_far_off() -> None:
    measured = rl.show.Point(OPS[2], 2e13, "measured")
    guess = rl.show.Point(OPS[2], 5e12, "guess")
    figure = rl.show.roofline("a100-sxm-80", [measured, guess], dtype="bf16")
    assert ("D", INK, True) in markers(figure)
    assert "your guess, off by ×4" in texts(figure)
    assert "Measured 20.0 TFLOP/s" in figure.words


def test_equal_figures_are_labelled_once() -> None:
    said = texts(rl.show.roofline("a100-sxm-80", dtype=["fp64", "fp32", "bf16"]))
    assert sum("memory" in text for text in said) == 1
    assert "fp64, fp32 19.5 TFLOP/s" in said and "bf16 312 TFLOP/s" in said


def test_a_key_names_every_level_once_and_in_bold_where_a_point_has_its_roof(
    here: rl.Machine,
) -> None:
    said = rl.show.roofline(here, [rl.gemv(64, 64)], cache="warm").axes[0].texts
    rows = [(text.get_text().split()[0], text.get_weight()) for text in said]
    levels = [row for row in rows if row[0] in ("L1", "L2", "L3", "memory")]
    assert levels == [("L1", "bold"), ("L2", "normal"), ("L3", "normal"), ("memory", "normal")]


def test_two_machines_have_each_a_key_with_a_name(here: rl.Machine) -> None:
    figure = rl.show.roofline([here, "mi250x-gcd"], cache="warm")
    heads = [text for text in texts(figure) if "from the top" in text]
    assert len(heads) == 2 and heads[0] != heads[1]
    assert overlapping(figure) == []


def test_a_notebook_gets_picture_and_words_without_pyplot() -> None:
    code = (
        "import sys, rooflab as rl\n"
        "data, about = rl.show.roofline('h100-sxm', rl.axpy(100))._repr_mimebundle_()\n"
        "assert data['image/png'] and about['image/png']['alt'] == data['text/plain']\n"
        "assert 'matplotlib.pyplot' not in sys.modules, 'pyplot was imported'\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_bad_input() -> None:
    for arguments, error, message in [
        (([],), ValueError, "machines=.* is empty"),
        (("apple-m1", OPS[0], {"dtype": "fp64"}), ValueError, "Apple M1.*no fp64 figure"),
        (("h100-sxm", OPS, {"dtype": []}), ValueError, r"dtype=\[\] is empty; .* such as 'fp32'"),
        (("h100-sxm", OPS, {"cache": "hot"}), ValueError, "cache='hot' is unknown"),
    ]:
        keywords = arguments[-1] if isinstance(arguments[-1], dict) else {}
        rest = arguments[:-1] if keywords else arguments
        with pytest.raises(error, match=message):
            rl.show.roofline(*rest, **keywords)


def places(figure) -> list[float]:
    """FLOP per byte of every marker."""
    return [line.get_xdata()[0] for line in figure.axes[0].lines if len(line.get_xdata()) == 1]


def test_measured_traffic_is_drawn_where_it_was_measured() -> None:
    """What a profiler counted, four times the minimum, stands at a quarter of the intensity."""
    op = rl.gemm(4096, 4096, 4096, "fp16")
    read = op.with_traffic({"dram": 4 * op.bytes})
    slow = rl.show.Point(read, 1e14, "measured")
    for given in (read, slow):
        figure = rl.show.roofline("h100-sxm", given)
        assert places(figure)[0] == pytest.approx(op.intensity / 4)
        assert "403 MB moved is 341.3 FLOP/byte" in figure.words
        assert any("403 MB moved" in text for text in texts(figure))
    both = rl.show.roofline("h100-sxm", [op, read])
    assert sorted(set(places(both))) == pytest.approx([op.intensity / 4, op.intensity])
    assert "101 MB is 1365 FLOP/byte" in both.words.replace("1,365", "1365")


def test_traffic_of_another_level_moves_nothing_at_the_memory_roof() -> None:
    op = rl.gemm(4096, 4096, 4096, "fp16")
    inside = op.with_traffic({"l2": 40 * op.bytes})
    assert places(rl.show.roofline("h100-sxm", inside)) == places(rl.show.roofline("h100-sxm", op))
    low = rl.axpy(2**24).with_traffic({"dram": 40 * 2**24})
    figure = rl.show.roofline("h100-sxm", low)
    rate = low.flops / low.bytes_at("dram") * rl.machine("h100-sxm").bandwidth()
    assert figure.axes[0].lines[-1].get_ydata()[0] == pytest.approx(rate)
    assert f"by this roof {rl.si(rate, 'FLOP/s')}" in figure.words
