"""The bits of a number that can be flipped, and all numbers of its format along their octaves."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from rooflab.labs.precision.formats import Format, formats, raised
from rooflab.show.scene import By, Dim, Scene
from rooflab.show.scene.axes import Frame, Scale
from rooflab.show.scene.player import Player

SHOWN = ("fp8_e5m2", "fp8_e4m3", "fp6_e3m2", "fp6_e2m3", "fp4_e2m1")
TITLES = ("FP8 E5M2", "FP8 E4M3", "FP6 E3M2", "FP6 E2M3", "FP4 E2M1")
STOPS, MOST = 128, 8  # of the slider: one for each code without its sign; bits of the widest format
WIDE, NARROW, SMALL, BOX, GAP, TOP = 720, 400, 14, 40, 5, 26
LOW, HIGH = 2.0**-18, 2.0**17  # the axis: all octaves of E5M2, and room for zero and infinity
INKS = {"sign": "ink", "exponent": "carrying", "mantissa": "computing", "": "paper"}


def bits() -> Player:
    """Show the bits of numbers of 4 to 8 bits, to be flipped, and where the numbers lie.

    Returns
    -------
    Player
        A widget; its ``sentence`` says what the picture shows.

    Examples
    --------
    >>> print(rl.precision.bits().sentence)
    0 0011 101: 2⁻⁴ × 1.625 is 0.10156. The next number is 0.10938.
    """
    return Player(*(bits_scene(wide) for wide in (WIDE, NARROW)), stem="bits")


def _code(form: Format, stop: int) -> int:
    """The code without a sign at a stop of the slider; a short format has fewer of them."""
    return (stop << form.bits - 1) // STOPS


def _stop(form: Format, code: int) -> int:
    """The stop in the middle of those of a code."""
    each = STOPS >> form.bits - 1
    return code * each + each // 2


def bits_scene(wide: float) -> Scene:
    """The picture, ``wide`` pixels wide."""
    forms = [formats()[name] for name in SHOWN]
    scene = Scene(wide, 206, [
        Dim("format", TITLES, TITLES, start=1, glide=500),
        Dim("sign", ("positive", "negative")),
        Dim("value", [f"{stop + 1} of {STOPS}" for stop in range(STOPS)], start=29),
    ])  # fmt: skip
    scene.choice("format", "format", [title.split()[1] for title in TITLES])
    codes = [[_code(form, stop) for stop in range(STOPS)] for form in forms]
    for place in range(MOST):
        _square(scene, forms, codes, place)
    values = [[form.value(code) for code in row] for form, row in zip(forms, codes)]
    words = [[_worth(form, code) for code in row] for form, row in zip(forms, codes)]
    right = wide - 16 if wide > NARROW else wide - 8
    at = (right, TOP + 28) if wide > NARROW else (right, TOP + 72)
    scene.text(*at, By("format value", np.array(words, object)), anchor="end", size=20, bold=True,
               name="worth")  # fmt: skip
    _line(scene, forms, values, wide)
    scene.slider("value", "number")
    scene.says = scene.each("format sign value", lambda f, sign, stop: _sentence(
        forms[f], sign, codes[f][stop]))  # fmt: skip
    return scene


def _square(
    scene: Scene, forms: Sequence[Format], codes: Sequence[Sequence[int]], place: int
) -> None:
    """The bit at this place from the left, of the widest format; shorter ones begin later."""
    x, bit = 16.0 + (BOX + GAP) * place, MOST - 1 - place  # from the right, as its worth is
    kinds, before = ([_kind(form, at) for form in forms] for at in (place, place - 1))
    texts, sets = [], []
    for form, kind, row in zip(forms, kinds, codes):
        texts.append([str(code >> bit & 1) if kind else "" for code in row])
        flips = kind in ("exponent", "mantissa")
        sets.append([_stop(form, code ^ 2**bit) if flips else stop
                     for stop, code in enumerate(row)])  # fmt: skip
    signs = [kind == "sign" for kind in kinds]
    shown = By("format", [float(kind != "") for kind in kinds])
    inks = By("format", [INKS[kind] for kind in kinds])
    box = scene.rect(x, TOP, BOX, BOX, "paper", ink=inks, width=2.5, radius=5, opacity=shown,
                     name="bit")  # fmt: skip
    table = np.array([[[*row], ["1" if sign else one for one in row]]
                      for row, sign in zip(texts, signs)], object)  # fmt: skip
    scene.text(x + BOX / 2, TOP + 27, By("format sign value", table), size=19, mono=True,
               anchor="middle", opacity=shown, name="digit")  # fmt: skip
    flipped = By("format sign", [[1, 0] if sign else [0, 1] for sign in signs])
    labels = By("format", [f"flip a bit of the {kind}" if kind else "no bit" for kind in kinds])
    scene.press(box, {"value": By("format value", np.array(sets, float)), "sign": flipped}, labels,
                enabled=shown)  # fmt: skip
    for kind in ("sign", "exponent", "mantissa"):
        begins = [float(one == kind != other) for one, other in zip(kinds, before)]
        if any(begins):
            end = 16 + (BOX + GAP) * MOST - GAP  # of all formats: there the mantissa ends
            at, anchor = (end, "end") if kind == "mantissa" else (x, "start")
            scene.text(at, TOP - 9, kind, INKS[kind], size=12, bold=True, anchor=anchor,
                       opacity=By("format", begins), name="part")  # fmt: skip


def _kind(form: Format, place: int) -> str:
    """The part of a number that its bit at a place belongs to, "" before the first one."""
    at = place - (MOST - form.bits)
    if at <= 0:
        return "" if at else "sign"
    return "exponent" if at <= form.exponent else "mantissa"


def _line(
    scene: Scene, forms: Sequence[Format], values: Sequence[Sequence[float]], wide: float
) -> None:
    """All positive numbers of the format on an axis of octaves, and the one that is shown."""
    frame = Frame(30, 118, wide - 30, 150)
    x = frame.x(LOW, HIGH)
    ticks = [2.0**e for e in (range(-12, 13, 4) if wide > NARROW else range(-8, 9, 8))]
    frame.x_ticks(scene, x, ticks, lambda v: f"{v:g}" if v >= 1 else f"1/{1 / v:g}",
                  below=22, grid=False)  # fmt: skip
    scene.line([(frame.left, frame.bottom), (frame.right, frame.bottom)], "soft", 1, name="axis")
    beyond = By(
        "format", ["∞" if form.infinities else "NaN" if form.nans else "" for form in forms]
    )
    for at, words in ((frame.left, "0"), (frame.right, beyond)):
        scene.text(at, frame.bottom + 22, words, size=SMALL, anchor="middle", name="end")
    for stop in range(STOPS):
        places = [_place(x, row[stop]) for row in values]
        scene.line([(By("format", places), frame.bottom), (By("format", places), frame.top + 8)],
                   "soft", 1, name="number")  # fmt: skip
    spot = By("format value", [[_place(x, value) for value in row] for row in values])
    scene.dot(spot, frame.top + 20, size=8, fill="key", ink="paper", name="here")
    scene.grip("value", spot, frame.top + 20, area=(0, frame.top - 20, wide, frame.bottom + 8))
    ends = By("format", [f"0, and from {form.smallest_subnormal:.3g} to {form.largest:.5g}"
                         for form in forms])  # fmt: skip
    scene.text(wide / 2, frame.bottom + 48, ends, "soft", size=SMALL, anchor="middle", name="range")


def _place(x: Scale, value: float) -> float:
    """Pixels of a number: 0 at the left end, what is infinite or none at the right."""
    return float(x(LOW if value == 0 else HIGH if not math.isfinite(value) else value))


def _worth(form: Format, code: int) -> str:
    """What the bits are worth, as a power of two and the digits."""
    value = form.value(code)
    if not math.isfinite(value):
        return "infinite" if math.isinf(value) else "not a number"
    if value == 0:
        return "0"
    exponent = max(math.frexp(value)[1] - 1, math.frexp(form.smallest_normal)[1] - 1)
    return f"2{raised(exponent)} × {value / 2.0**exponent:g} = {value:.5g}"


def _sentence(form: Format, sign: int, code: int) -> str:
    bits_ = form.bits_of(code | sign << form.bits - 1)
    value, minus = form.value(code), "−" if sign else ""
    if not math.isfinite(value):
        return f"{bits_}: {minus if math.isinf(value) else ''}{_worth(form, code)}."
    if value == 0:
        return f"{bits_}: {minus}0. The next number is {minus}{form.smallest_subnormal:.5g}."
    words = f"{bits_}: {minus}{_worth(form, code).replace(' = ', f' is {minus}')}."
    if value < form.smallest_normal:
        words = words[:-1] + ", a subnormal number."
    if value == form.largest:
        return words + " It is the largest number."
    return words + f" The next number is {minus}{value + form.spacing(value):.5g}."
