"""The sets of a cache that a column of a matrix falls into: a line of memory for each row."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from rooflab.count.si import plain
from rooflab.show.scene import By, Dim, Scene
from rooflab.show.scene.player import Player

SETS, WAYS, LINE = 64, 8, 64  # of a first cache of 32 KiB; bytes of a line
SIZES, WORD = (248, 256, 264), 4  # rows and columns of a matrix; bytes of a number
STOPS = (*range(8, 249, 8), max(SIZES))  # rows read, as far as there are any
WIDE, NARROW, EDGE = 720, 400, 8
TOP, PLACE, LOST = 82, 12, 1.5  # pixels: where the sets begin, a place, a line thrown out
FOOT, LOW = TOP + WAYS * PLACE, TOP + WAYS * PLACE + 112  # where they end; the counts


class Column(NamedTuple):
    """Lines of a column so far, those that sets hold and lost, and misses of the next column."""

    size: int
    lines: list[int]
    held: list[int]
    lost: list[int]
    misses: int


def column(size: int, rows: int) -> Column:
    """Read a column, then the next one, in the same lines; a set keeps those touched last.

    Where more come than a set has room for, each is gone before it is read again.
    """
    lines = [row * size * WORD // LINE for row in range(rows)]
    came = [sum(line % SETS == n for line in lines) for n in range(SETS)]
    held, misses = [min(n, WAYS) for n in came], sum(n for n in came if n > WAYS)
    return Column(size, lines, held, [a - b for a, b in zip(came, held)], misses)


def sets() -> Player:
    """Show which sets of a cache a column of a matrix falls into, for good sizes and a bad one.

    Returns
    -------
    Player
        A widget; its ``sentence`` says what the picture shows.

    Examples
    --------
    >>> print(rl.cache.sets().sentence[:77])
    N = 256: a row is 1024 bytes = 16 lines, so the column uses only 4 of 64 sets
    """
    return Player(*(sets_scene(wide) for wide in (WIDE, NARROW)), stem="sets")


def sets_scene(wide: int) -> Scene:
    """The picture, ``wide`` pixels wide."""
    columns = [[column(n, min(n, rows)) for rows in STOPS] for n in SIZES]
    names, stops = [f"N = {n}" for n in SIZES], [f"{rows} rows" for rows in STOPS[:-1]]
    scene = Scene(wide, LOW + (12 if wide == WIDE else 64), [
        Dim("matrix", names, SIZES, start=SIZES.index(256), glide=300),
        Dim("rows", [*stops, "all rows"], start=len(stops), glide=150, even=True),
    ])  # fmt: skip

    def by(value: Callable[..., Any], *more: int) -> By:
        return scene.each("matrix rows", lambda m, r: value(columns[m][r], *more))

    scene.choice("matrix", "the matrix", names)
    scene.play("rows")
    long, pitch, middle = wide - 2 * EDGE, (wide - 2 * EDGE) // SETS, (TOP + FOOT) / 2
    scene.text(EDGE, 18, f"one matrix column in {SETS} sets of {WAYS} ways", bold=True)
    scene.text(EDGE, 40, by(_words, 0), size=14, name="last")
    scene.rect(EDGE, TOP, long, FOOT - TOP, "grid", radius=0, name="places")
    for n in range(SETS):
        _set(scene, n, EDGE + n * pitch, pitch, by)
    # The gaps between places: lines as thick as all of them together, in dashes of a pixel.
    scene.line([(EDGE, middle), (wide - EDGE, middle)], "paper", FOOT - TOP, dash=(1, pitch - 1))
    scene.line([(wide / 2, TOP), (wide / 2, FOOT)], "paper", long, dash=(1, PLACE - 1))
    scene.dot(by(lambda one: EDGE + pitch * (one.lines[-1] % SETS + 0.5)), TOP - 8, "down", 6)
    for n, ink in enumerate(("carrying", "warn", "ink")):
        x, y = (n * long / 3, 0) if wide == WIDE else (0, 26 * n)
        scene.text(EDGE + x, LOW + y, by(_words, n + 1), ink, bold=True, name="count")
    scene.slider("rows", "rows read")
    scene.says = by(_sentence)
    return scene


def _set(scene: Scene, n: int, x: float, pitch: float, by: Callable[..., By]) -> None:
    """One set: what it holds stands on its foot, and what it has thrown out lies below."""
    high, lost = by(lambda one: one.held[n] * PLACE), by(lambda one: one.lost[n] * LOST)
    y = by(lambda one: FOOT - one.held[n] * PLACE)
    scene.rect(x, y, pitch, high, "carrying", radius=0, name="held")
    if n % 16 == 0:
        scene.text(x, TOP - 20, f"set {n}" if n == 0 else str(n), "soft", size=14, name="set")
    if lost.values.any():
        words = by(lambda one: f"{one.lost[n]} out" if one.lost[n] else "")
        scene.rect(x + 1, FOOT + 2, pitch - 1, lost, "warn", radius=0, name="lost")
        scene.text(x + pitch + 4, FOOT + 22, words, "warn", size=14)


def _words(one: Column, n: int) -> str:
    line, lost = one.lines[-1], sum(one.lost)
    last = f"row {len(one.lines) - 1} is in line {line}: set {line} mod {SETS} = {line % SETS}"
    counts = f"in the cache: {sum(one.held)} lines", f"thrown out: {lost} lines"
    return (last, *counts, f"next column: {one.misses} misses")[n]


def _sentence(one: Column) -> str:
    row, rows, lost, used = one.size * WORD, len(one.lines), sum(one.lost), SETS - one.held.count(0)
    start = f"N = {one.size}: a row is {row} bytes = {plain(row / LINE)} lines"
    walk = "the column uses" if rows == one.size else f"{rows} rows use"
    part = f"all {SETS}" if used == SETS else f"{'only ' if lost else ''}{used} of {SETS}"
    stay = f"all {rows} lines stay"
    if lost:
        stay = f"{rows - lost} of {rows} lines stay, {lost} were thrown out"
    ends = f"misses {one.misses} times" if one.misses else "never misses"
    return f"{start}, so {walk} {part} sets: {stay}. The next column, in the same lines, {ends}."
