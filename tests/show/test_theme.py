"""One look for all pictures, and words that can be read."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rooflab.show import theme

CHANNEL = st.integers(0, 255)


@given(CHANNEL, CHANNEL, CHANNEL)
def test_words_stand_out_in_whatever_colour(red: int, green: int, blue: int) -> None:
    colour = f"#{red:02X}{green:02X}{blue:02X}"
    ink = theme.ink(colour)
    assert theme.contrast(ink) >= theme.CONTRAST
    if theme.contrast(colour) > theme.CONTRAST + 0.1:
        assert ink == colour, "what is dark enough stays"


def test_contrast_is_wcags() -> None:
    for one, other, contrast in [
        ("#000000", "#FFFFFF", 21.0), ("#FFFFFF", "#FFFFFF", 1.0), ("#767676", "#FFFFFF", 4.54),
        ("#777777", "#FFFFFF", 4.48), ("#D55E00", "#FFFFFF", 3.87),
    ]:  # fmt: skip
        assert theme.contrast(one, other) == pytest.approx(contrast, abs=0.01)
        assert theme.contrast(other, one) == theme.contrast(one, other)


def test_an_operation_keeps_its_hue() -> None:
    looks = {name: theme.style(name) for name in ("axpy", "gemv", "gemm", "dot")}
    assert looks["axpy"].ink == looks["axpy"].colour and looks["gemm"].ink == "#000000"
    orange, paler = looks["gemv"].ink, looks["gemv"].colour
    assert orange != paler and orange[5:] == "00" and int(orange[1:3], 16) > int(orange[3:5], 16)
    assert len({look.ink for look in looks.values()}) == 4
