"""``rooflab explain``: where a measured time went."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from rooflab.cli.operations import BATCH, CACHE, DTYPE, K, M, N, operation
from rooflab.cli.terminal import complain, say

if TYPE_CHECKING:
    from rooflab.predict.explain import Explanation


def explain(
    op: Annotated[str, typer.Argument(help="axpy, dot, scale, ger, gemv or gemm.")],
    machine: Annotated[
        str, typer.Option("--machine", help="A name from `rooflab machines`, or this.")
    ],
    time: Annotated[str, typer.Option("--time", help="Measured time: 31us, 1.2ms, 3s, 31e-6.")],
    m: M = None,
    n: N = None,
    k: K = None,
    dtype: DTYPE = "fp32",
    batch: BATCH = 1,
    cache: CACHE = "cold",
) -> None:
    """Explain a time that was measured: bound, share of the roof, and where the rest went."""
    from rooflab.cli.choice import machine as chosen
    from rooflab.cli.times import doubt, seconds
    from rooflab.predict.explain import explain as explained

    what = operation(op, m, n, k, dtype, batch)
    took = seconds(time)
    found = explained(what, machine=chosen(machine), seconds=took, cache=cache.strip().lower())
    if asked := doubt(time, found.bound):
        complain(f"{asked}.")
    show(found)


def show(explanation: Explanation, *, notes: bool = True, key: bool = True) -> None:
    """Print the sentence, then the waterfall: a bar a step, from the bound to the measured time.

    Bars point right where a step makes the call longer and left where it makes it shorter;
    ``notes``: a line below each says why; ``key``: the last line says what the letters mean.
    """
    from rooflab.cli.bars import waterfall
    from rooflab.show.waterfall_steps import of_explanation

    if notes:
        say(str(explanation.op))
    say(explanation.sentence)
    waterfall(of_explanation(explanation), notes=notes, key=key)
