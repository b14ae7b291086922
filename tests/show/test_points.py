"""What a roofline takes: tables, pairs and names, and errors that say what would be right."""

from __future__ import annotations

import numpy as np
import pytest

import rooflab as rl
from rooflab.show import theme
from rooflab.show.rooflines.points import MARKERS, Point, given_points, markers

ROWS = [("conv", 180.0, 4e13), ("norm", 0.6, 1.6e12)]


class Series(list):
    """A column of a data frame."""


class Frame:
    """What of a pandas DataFrame is read: ``columns``, and a column by its name."""

    def __init__(self, **columns: list) -> None:
        self.held = {name.replace("_per_", "/"): Series(held) for name, held in columns.items()}
        self.op = Series()  # a frame has attributes of its columns' names

    @property
    def columns(self) -> list[str]:
        return list(self.held)

    def __getitem__(self, name: str) -> Series:
        return self.held[name]


def columns() -> dict[str, list]:
    names, intensity, rate = zip(*ROWS, strict=True)
    return {"name": list(names), "intensity": list(intensity), "rate": list(rate)}


FORMS = {
    "rows": ROWS,
    "a mapping": columns(),
    "a frame": Frame(**columns()),
    "other names": {"Kernel": ["conv", "norm"], "FLOP/byte": [180, 0.6], "FLOPs/s": [4e13, 1.6e12]},
    "arrays": {name: np.array(held) for name, held in columns().items()},
    "points": [Point(None, rate, label=name, at=x) for name, x, rate in ROWS],
}


def test_every_form_is_the_same_picture() -> None:
    for form in FORMS:
        figure = rl.show.roofline("h100-sxm", FORMS[form])
        assert [(p.text, p.intensity, p.rate) for p in given_points(FORMS[form])] == ROWS
        drawn = [line for line in figure.axes[0].lines if len(line.get_xdata()) == 1]
        places = [(line.get_xdata()[0], line.get_ydata()[0]) for line in drawn]
        assert places == [(x, rate) for _, x, rate in ROWS]
        assert {"conv", "norm"} <= {text.get_text() for text in figure.axes[0].texts}
        assert figure.words.endswith(
            "conv: 180 FLOP/byte. Measured 40.0 TFLOP/s, ×1.67 below this roof.\n"
            "norm: 0.6 FLOP/byte. Measured 1.60 TFLOP/s, ×1.26 below this roof."
        )


@pytest.mark.parametrize(
    "pairs", [[(180, 4e13), (0.6, 1.6e12)], np.array([[180, 4e13], [0.6, 1.6e12]]), (180.0, 4e13)]
)
def test_pairs_need_no_names(pairs) -> None:
    found = given_points(pairs)
    assert (found[0].intensity, found[0].rate, found[0].text) == (180, 4e13, "")
    assert "A point: 180 FLOP/byte." in rl.show.roofline("h100-sxm", pairs).words


def test_cold_and_warm_rows_are_filled_alike_and_each_says_which_it_is() -> None:
    table = {"name": ["f", "f", "g", "g"], "intensity": [1, 1, 20, 20],
             "rate": [1e11, 3e11, 2e12, 9e12],
             "cache": ["cold", "Warm", "cold", "warm"]}  # fmt: skip
    figure = rl.show.roofline("h100-sxm", table)
    faces = [line.get_markerfacecolor() for line in figure.axes[0].lines
             if len(line.get_xdata()) == 1]  # fmt: skip
    assert faces == [theme.INK] * 4, "filled is measured"
    said = [text.get_text() for text in figure.axes[0].texts]
    assert {"f, cold", "g, cold"} <= set(said) and said.count("warm") == 2


def test_names_that_begin_alike_share_a_marker_and_no_other_has_it() -> None:
    names = ["GEMM 512", "conv 1x1", "conv 3x3", "norm", "softmax"]
    found = markers([Point(None, 1e9, label=name, at=1.0) for name in names])
    assert found["gemm"] == "D" and list(found) == ["gemm", "conv", "norm", "softmax"]
    assert len(set(found.values())) == 4 and set(found.values()) <= set(MARKERS)


def test_what_is_no_point_is_named() -> None:
    for points, error, said in [
        (
            {"name": ["a"], "rate": [1e9]},
            ValueError,
            r"points: no column 'intensity' \(FLOP/B\) among 'name', 'rate'; rename one",
        ),
        (
            {"intensity": [1, 2], "rate": [1e9]},
            ValueError,
            "points: columns of different lengths: intensity 2, rate 1",
        ),
        ({"intensity": [], "rate": []}, ValueError, "points: the table has no rows"),
        ({"intensity": "1", "rate": [1e9]}, TypeError, "points: column 'intensity' is '1'"),
        (
            {"intensity": [1, "x"], "rate": [1e9, 1e9]},
            TypeError,
            "points: row 1, intensity='x' must be a number of FLOP/B, above 0",
        ),
        ({"intensity": [1], "rate": [float("nan")]}, ValueError, "row 0, rate=nan must be a num"),
        ({"intensity": [1], "rate": [1e9], "cache": ["hot"]}, ValueError, "cache='hot' is unknown"),
        ([(0.5, -1e9)], ValueError, "points: row 0, rate=-1000000000.0 must be a number of FLOP"),
        ([(0.5, True)], TypeError, "row 0, rate=True must be"),
        ([(0.5, 33.5)], ValueError, "rate=33.5 in row 0 is in FLOP/s; 33.5 GFLOP/s is 33.5e9"),
        ([(1, 2, 3, 4)], ValueError, r"has 4 values; give \(intensity, rate\)"),
        ([5.0], TypeError, "points: 5.0 is a float; give Operations"),
        (5, TypeError, "points=5 is a int; give Operations"),
        ([{"intensity": 1}], TypeError, "is a dict; give Operations"),
        (["gemm"], TypeError, "points: 'gemm' is a str"),
    ]:
        with pytest.raises(error, match=said):
            rl.show.roofline("h100-sxm", points)


def test_a_point_that_cannot_be() -> None:
    for arguments, said in [
        ({"op": rl.axpy(9), "rate": 1e9, "kind": "felt"}, "kind='felt' is unknown"),
        ({"op": rl.axpy(9), "rate": 1e9, "side": "hot"}, "side='hot' is unknown"),
        ({"op": None, "rate": 1e9}, "op=None and at=None: give one of the two"),
        ({"op": rl.axpy(9), "rate": 1e9, "at": 2.0}, "give one of the two"),
    ]:
        with pytest.raises(ValueError, match=said):
            Point(**arguments)


def test_scores_are_taken_from_a_table_too() -> None:
    rows = [("a", 2.0, 1e-3), ("b", 1.5, 2e-3)]
    table = {"hole": ["a", "b"], "score": [2.0, 1.5], "time_s": [1e-3, 2e-3]}
    assert rl.show.scores(table).words == rl.show.scores(rows).words
    with pytest.raises(ValueError, match="rows: no column 'score'"):
        rl.show.scores({"hole": ["a"], "seconds": [1e-3]})
