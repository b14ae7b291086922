"""A product in fp64 out of int8: its error, slice by slice."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from rooflab.count.si import several
from rooflab.labs.precision.formats import floats, raised
from rooflab.labs.precision.integers import sliced_product
from rooflab.labs.precision.product import error
from rooflab.show.chart import Chart, Line, Panel
from rooflab.show.scene import By, Dim, Scene
from rooflab.show.scene.player import Player

COUNTS = range(1, 11)
WHOLE, LEAST = 2.0**80, 1e-17  # numbers times this are whole; an error of 0, to be drawn
WIDE, NARROW, HIGH = 720, 400, 380


def errors_by_slices(a: ArrayLike, b: ArrayLike) -> tuple[list[float], float]:
    """Return the relative errors with 1 to 10 slices, and that of fp64's own product.

    The exact product is one of whole numbers, without a limit of their size.
    """
    left, right = (floats(name, one).astype(float) for name, one in (("a", a), ("b", b)))
    whole = [np.vectorize(lambda x: int(x * WHOLE), otypes=[object])(one) for one in (left, right)]
    exact = np.vectorize(lambda total: total / int(WHOLE) ** 2, otypes=[float])(whole[0] @ whole[1])
    results = (*(sliced_product(left, right, count) for count in COUNTS), left @ right)
    *errors, native = (max(error(result, exact), LEAST) for result in results)
    return errors, native


def slices_needed(a: ArrayLike, b: ArrayLike) -> int:
    """Return the least number of slices with which ``a @ b`` is as exact as in fp64.

    As exact: with an error of no more than four times that of NumPy's product; a slice less has
    about a hundred times the error.

    Parameters
    ----------
    a, b : array_like
        The factors, m×k and k×n, in fp64.

    Returns
    -------
    int
        From 1 to 10; 10 too if more would be needed.

    Examples
    --------
    >>> import numpy as np
    >>> a, b = np.random.default_rng(0).standard_normal((2, 32, 32))
    >>> rl.precision.slices_needed(a, b)
    8
    """
    errors, native = errors_by_slices(a, b)
    return next((n for n, off in zip(COUNTS, errors) if off <= 4 * native), COUNTS[-1])


def sliced(a: ArrayLike, b: ArrayLike, after: Any = None) -> Player:
    """Show the error of ``a @ b`` from int8 products, with more and more slices of each factor.

    Parameters
    ----------
    a, b : array_like
        The factors, m×k and k×n, in fp64.
    after : GuessAxis or iterable of them, optional
        What has to be guessed before the picture opens.

    Returns
    -------
    Player
        A widget; its ``sentence`` says what the picture shows.

    Examples
    --------
    >>> import numpy as np
    >>> a, b = np.random.default_rng(0).standard_normal((2, 32, 32))
    >>> print(rl.precision.sliced(a, b).sentence[:45])
    With 3 slices, 6 products of int8, the result
    """
    errors, native = errors_by_slices(a, b)
    scenes = (_scene(errors, native, wide) for wide in (WIDE, NARROW))
    return Player(*scenes, stem="slices", after=after)


def _tens(value: float) -> str:
    """A small number with its power of ten: "4 × 10⁻¹⁶"."""
    digits, power = f"{value:.0e}".split("e")
    return f"{digits} × 10{raised(int(power))}"


def _scene(errors: list[float], native: float, wide: float) -> Scene:
    """The picture, ``wide`` pixels wide."""
    scene = Scene(
        wide, HIGH, [Dim("count", [several(n, "slice") for n in COUNTS], COUNTS, start=2)]
    )
    x = [float(n) for n in COUNTS]
    lines = [
        Line("by slices", "computing", x, errors),
        Line("in fp64", "soft", x, [native] * len(x), dash=(6, 5)),
    ]
    panel = Panel("error", lambda v: _tens(v).removeprefix("1 × "), lines)
    chart = Chart(scene, [panel], (1, 10), "slices", "{:g}".format, ticks=x, log=False)
    chart.draw()
    chart.slider("count", "slices", x, [(0, np.array(errors))], [*map(_tens, errors)])
    scene.says = By("count", [
        f"With {several(n, 'slice')}, {several(n * (n + 1) // 2, 'product')} of int8, the result "
        f"is off by {_tens(off)} of itself; fp64's own product by {_tens(native)}."
        for n, off in zip(COUNTS, errors)
    ])  # fmt: skip
    return scene
