"""A product in fp64 out of int8: its error, slice by slice."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from rooflab.count.si import several
from rooflab.labs.precision.integers import sliced_product
from rooflab.labs.precision.product import error
from rooflab.show.chart import Chart, Line, Panel
from rooflab.show.scene import By, Dim, Scene
from rooflab.show.scene.player import Player

COUNTS = range(1, 11)
WIDE, NARROW, HIGH = 720, 400, 380


def errors_by_slices(a: np.ndarray, b: np.ndarray) -> tuple[list[float], float]:
    """Return the relative errors with 1 to 10 slices, and that of fp64's own product.

    The exact product is computed with the longest floats of this computer.
    """
    exact = a.astype(np.longdouble) @ b.astype(np.longdouble)
    off = partial(error, exact=exact)
    return [off(sliced_product(a, b, count)) for count in COUNTS], off(a @ b)


def slices_needed(a: np.ndarray, b: np.ndarray) -> int:
    """Return the least number of slices with which ``a @ b`` is as exact as in fp64.

    As exact: with an error of no more than twice that of NumPy's product.

    Parameters
    ----------
    a, b : ndarray of shape (m, k) and (k, n)
        The factors, in fp64.

    Returns
    -------
    int
        From 1 to 10; 10 too if more would be needed.

    Examples
    --------
    >>> import numpy as np
    >>> a, b = np.random.default_rng(0).standard_normal((2, 32, 32))
    >>> 7 <= rl.precision.slices_needed(a, b) <= 9
    True
    """
    errors, native = errors_by_slices(a, b)
    return next((n for n, off in zip(COUNTS, errors) if off <= 2 * native), COUNTS[-1])


def sliced(a: np.ndarray, b: np.ndarray, after: Any = None) -> Player:
    """Show the error of ``a @ b`` from int8 products, with more and more slices of each factor.

    Parameters
    ----------
    a, b : ndarray of shape (m, k) and (k, n)
        The factors, in fp64.
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
    panel = Panel("error", "{:.0e}".format, lines)
    chart = Chart(scene, [panel], (1, 10), "slices", "{:g}".format, ticks=x, log=False)
    chart.draw()
    chart.slider("count", "slices", x, [(0, np.array(errors))], [f"{off:.1e}" for off in errors])
    scene.says = By("count", [
        f"With {several(n, 'slice')}, {several(n * (n + 1) // 2, 'product')} of int8, the result "
        f"is off by {off:.1e} of itself; fp64's own product by {native:.1e}."
        for n, off in zip(COUNTS, errors)
    ])  # fmt: skip
    return scene
