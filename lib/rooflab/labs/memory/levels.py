"""Levels of a memory hierarchy: found in curves, then compared with what the system reports.

Finding looks at the curves alone. A level is a *plateau*: a range of working sets over which the
latency of a hop stays nearly the same. Between two plateaus the curve climbs, at once or over an
octave or two, as a cache serves fewer and fewer of the hops. The best division into plateaus and
climbs is computed exactly, by dynamic programming over all of them.

Not every climb is the end of a cache. Addresses are translated page by page, and the processor
remembers a few hundred translations in its TLB (translation lookaside buffer). Where these run out,
latency rises too. A stream stays on a page for many lines and hardly notices. So a step in latency
is taken for the end of a cache if bandwidth falls with it. But the stream of a single core may get
as much from memory as from its last cache. So a step is also taken for the end of a cache if a hop
takes more than three times as long: a look-up hardly costs that much.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from rooflab.count.si import si, times

STEP = 1.5  # times the latency of the plateau before: less is no level of its own
SHORTEST = 0.7  # octaves of a plateau, and at least POINTS working sets
POINTS = 3
CLIMB = 0.2, 2.5  # cost of an octave that belongs to no plateau: so much, and times the noise
PLATEAU = 0.15  # cost of each plateau
OUTLIER = 0.6  # doublings: a point further off costs no more
FALLS = 1.12  # times: bandwidth that falls by less has not felt the step
LEAPS = 3.0  # times: latency that rises by more rises for more than the look-up of a page
# Seconds of a hop. On common machines a load from DRAM takes 60 to 150 ns, one from a last cache
# 10 to 30, and on large servers up to 75. A memory is not quicker, a cache not slower than this.
MEMORY_HOP, CACHE_HOP = 40e-9, 75e-9
ROUGHLY = 1.25  # times: two sizes of one cache further apart agree roughly
SERVES = 4  # times its size: of so large a working set a cache serves hardly a hop
AGREES = 1.75  # times: how far two sizes of one cache may be apart
APART = 2.0  # doublings of size for which a found and a told level would rather stay alone


@dataclass(frozen=True)
class Plateau:
    """Working sets ``first`` to ``last`` (their numbers) and the latency there in seconds."""

    first: int
    last: int
    latency: float


def plateaus(sizes: Sequence[int], latency: Sequence[float]) -> tuple[Plateau, ...]:
    """The plateaus of ``latency`` (seconds) over ``sizes`` (bytes, increasing), nearest first.

    Deviations are counted in doublings and weighted by the octaves that a point stands for, so that
    neither the unit nor the density of points matters. Each plateau costs something, so does each
    octave between two: a few noisy points are cheaper to bear than to explain. How noisy they are
    is seen from one point to the next, the few steps among them left aside.
    """
    weight, levels = _octaves(sizes), np.log2(np.asarray(latency, float))
    climb = CLIMB[0] + CLIMB[1] * float(np.median(np.abs(np.diff(levels))))
    spans, cost, level = _candidates(sizes, levels, weight)
    upto = np.concatenate([[0.0], np.cumsum(weight)])
    first, last = spans[:, 0], spans[:, 1]
    total, before = np.empty(len(spans)), np.full(len(spans), -1)
    for n in range(len(spans)):  # in the order of their first points, so all before it are done
        total[n] = cost[n] + PLATEAU + climb * upto[first[n]]
        fits = (last[:n] < first[n]) & (level[:n] + math.log2(STEP) <= level[n])
        if fits.any():
            ways = np.where(fits, total[:n] + climb * (upto[first[n]] - upto[last[:n] + 1]), np.inf)
            best = int(np.argmin(ways))
            if ways[best] + cost[n] + PLATEAU < total[n]:
                total[n], before[n] = ways[best] + cost[n] + PLATEAU, best
    at = int(np.argmin(total + climb * (upto[-1] - upto[last + 1])))
    found = []
    while at >= 0:
        found.append(Plateau(int(first[at]), int(last[at]), float(2 ** level[at])))
        at = int(before[at])
    return tuple(found[::-1])


def _octaves(sizes: Sequence[int]) -> np.ndarray:
    """For how many octaves of working set each point stands."""
    x = np.log2(np.asarray(sizes, float))
    middles = (x[1:] + x[:-1]) / 2
    return np.diff(np.concatenate([[x[0]], middles, [x[-1]]]))


def _candidates(
    sizes: Sequence[int], levels: np.ndarray, weight: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """All plateaus that could be: their first and last points, their cost, their level."""
    spans, cost, level = [], [], []
    for first in range(len(sizes)):
        for last in range(first + POINTS - 1, len(sizes)):
            if math.log2(sizes[last] / sizes[first]) < SHORTEST:
                continue
            part = levels[first : last + 1]
            middle = float(np.median(part))
            off = np.minimum(np.abs(part - middle), OUTLIER)
            spans.append((first, last))
            cost.append(float(off @ weight[first : last + 1]))
            level.append(middle)
    if not spans:  # too few points for any plateau: all of them are one
        return np.array([[0, len(sizes) - 1]]), np.zeros(1), np.array([np.median(levels)])
    return np.array(spans), np.array(cost), np.array(level)


@dataclass(frozen=True)
class Level:
    """One level: what was ``found`` of it, and what the system ``told``, in bytes for one thread.

    ``found`` is where the curve leaves the level. ``kind`` is "agrees", "smaller", "larger" (the
    found beside the told), "untold", "unseen", "memory", or "open" for a told cache in which the
    last plateau lies. ``latency`` is seconds of a hop, ``read`` and ``copy`` byte/s in the middle
    of the level. ``first`` and ``last`` are the smallest and the largest working set on its
    plateau. ``step``: whether there is a :class:`Climb` on the last plateau, or where an unseen
    cache would end. ``beside``: a told cache that would end on the memory's plateau.
    """

    name: str
    found: float | None
    told: int | None
    kind: str
    latency: float = math.nan
    read: float = math.nan
    copy: float = math.nan
    first: int = 0
    last: int = 0
    largest: int = 0
    step: bool = False
    beside: str = ""

    @property
    def doubtful(self) -> bool:
        """Whether a hop is too quick for a memory, or too slow for a cache, to be called so."""
        if self.kind == "memory":
            return self.latency < MEMORY_HOP
        return self.found is not None and self.latency > CACHE_HOP

    @property
    def sentence(self) -> str:
        """What there is to say of it, chosen by what was found."""
        if self.kind == "memory":
            return self._memory
        long = f" A hop takes {si(self.latency, 's')} there: that is long for a cache."
        return self._cache + (long if self.doubtful else "")

    @property
    def _cache(self) -> str:
        found, told = self.found or 1, self.told or 1
        about, reports = si(found, "B", 2), f"{self.name}: the system reports {si(told, 'B')}"
        both = f"{reports}, the data show about {about}"
        if self.kind == "agrees":
            close = 1 / ROUGHLY <= found / told <= ROUGHLY
            return f"{both}: they agree{'' if close else ' roughly'}."
        if self.kind == "smaller":
            return f"{both}. This program gets only a part of it."
        if self.kind == "larger":
            return f"{both}. The data fit longer than this cache could hold them."
        if self.kind == "untold":
            return f"A cache of about {about} is in the data. The system does not report it."
        if self.kind == "open":
            shape, part = "one level without an end", "nothing"
            if self.step:
                shape, part = "one level with a step in it, without an end", "little or nothing"
            return (
                f"{reports}, and from {si(self.first, 'B', 2)} on the data show {shape}. So memory "
                f"was not reached, or this program gets {part} of that cache."
            )
        if self.step:
            return f"{reports}. The data show a step in latency there, and hardly one in bandwidth."
        largest = f" The largest working set was {si(self.largest, 'B', 2)}, too small to show it."
        why = largest if self.largest < AGREES * told else ""
        return f"{reports}, the data show no step there.{why}"

    @property
    def _memory(self) -> str:
        start, hop = f"From {si(self.first, 'B', 2)} on", si(self.latency, "s")
        if self.told is not None:
            return (
                f"{start} the memory answers, or still a cache: the largest working set is smaller "
                f"than {si(self.told, 'B')}."
            )
        if self.step:
            return (
                f"{start} the data show one level with a step in it: memory, or a cache and what "
                "lies behind it."
            )
        if self.beside:
            return (
                f"{start} the {self.beside} or memory answers, after {hop}: they differ too little "
                "here to be told apart."
            )
        if self.doubtful:
            return (
                f"{start} a hop takes {hop}. That is little for memory: it may be a cache that the "
                "system does not report."
            )
        return f"{start} the memory answers, after {hop}."


@dataclass(frozen=True)
class Climb:
    """A step in latency that bandwidth does not feel: bytes at which it is, seconds around it.

    ``cache``: the told cache that would end there, "L3" say; "" where there is none.
    """

    at: float
    before: float
    after: float
    cache: str = ""

    @property
    def sentence(self) -> str:
        """What is seen, and what it may be."""
        may = "This may be" if self.cache else "This is not counted as"
        return (
            f"At about {si(self.at, 'B', 2)} latency rises from {si(self.before, 's')} to "
            f"{si(self.after, 's')} while bandwidth hardly falls. {may} the end of "
            f"{f'the {self.cache}' if self.cache else 'a cache'}."
        )


@dataclass(frozen=True)
class Curves:
    """What levels are found in: a value for each of ``sizes``, in bytes, seconds and byte/s."""

    sizes: tuple[int, ...]
    latency: tuple[float, ...]
    read: tuple[float, ...]
    copy: tuple[float, ...]


def hierarchy(
    curves: Curves, told: Mapping[str, int | None]
) -> tuple[tuple[Level, ...], tuple[Climb, ...]]:
    """The levels in ``curves`` beside those that are ``told``, and the climbs that are no levels.

    ``told``: {"l1": bytes for one thread, …}, nearest first, None for what the system does not
    tell. It names and judges what was found, and has no part in finding it.
    """
    kept, climbs = _joined(curves, plateaus(curves.sizes, curves.latency))
    ends = [_end(curves, near, far) for near, far in itertools.pairwise(kept)]
    known = {name: size for name, size in told.items() if size}
    pairs = _paired(ends, list(known.values()))
    names, seen, levels = list(known), iter(zip(kept, ends)), []
    home = _home(curves, kept[-1], pairs, known)
    alone = [names[i] for end, i in pairs if end is None and i is not None and names[i] != home]
    climbs = [_beside(climb, {name: known[name] for name in alone}) for climb in climbs]
    for end, index in pairs:
        size = None if index is None else known[names[index]]
        name = "cache" if index is None else names[index].upper()
        if end is not None:
            plateau, _ = next(seen)
            levels.append(_level(curves, plateau, name, end, size))
        elif index is not None and names[index] == home:
            levels.append(_level(curves, kept[-1], name, None, size))
        else:
            step = any(climb.cache == name for climb in climbs)
            levels.append(Level(name, None, size, "unseen", largest=curves.sizes[-1], step=step))
    if home is None:
        unseen = [one.told for one in levels if one.kind == "unseen" and one.told]
        behind = [size for size in unseen if size > curves.sizes[-1]]
        within = [one.name for one in levels if one.kind == "unseen" and one.told
                  and curves.sizes[kept[-1].first] < one.told <= curves.sizes[-1]]  # fmt: skip
        memory = _level(curves, kept[-1], "memory", None, max(behind, default=None))
        levels.append(replace(memory, beside="".join(within[-1:])))
    stepped = any(climb.at > curves.sizes[kept[-1].first] for climb in climbs)
    last = [replace(one, step=stepped) if one.kind in ("memory", "open") else one for one in levels]
    return tuple(last), tuple(climbs)


def _beside(climb: Climb, unseen: Mapping[str, int]) -> Climb:
    """``climb`` with the name of the told cache that would end there, though it was not seen."""
    near = [name for name, size in unseen.items() if _judged(climb.at / size) == "agrees"]
    return replace(climb, cache=near[-1].upper()) if near else climb


def _home(
    curves: Curves,
    last: Plateau,
    pairs: Sequence[tuple[float | None, int | None]],
    known: Mapping[str, int],
) -> str | None:
    """The told cache that the last plateau lies in, so that its end was not seen; else None.

    It is told behind all that was found, and the plateau is not larger than it, nor the largest
    working set so large that it serves none of its hops. After a cache that is not told nobody
    knows which one the told cache is.
    """
    largest = curves.sizes[-1] / SERVES
    names, found = list(known), [i for i, (end, _) in enumerate(pairs) if end is not None]
    if found and pairs[found[-1]][1] is None:
        return None
    behind = [index for _, index in pairs[found[-1] + 1 if found else 0 :]]
    for name in (names[index] for index in behind if index is not None):
        size = known[name]
        if curves.sizes[last.first] < size > max(curves.sizes[last.last] / AGREES, largest):
            return name
    return None


def _joined(curves: Curves, found: Sequence[Plateau]) -> tuple[list[Plateau], list[Climb]]:
    """Plateaus between which bandwidth falls or latency leaps, and the climbs between others.

    Latency is compared with that of the plateau just before: two small steps are no leap.
    """
    kept, climbs = [found[0]], []
    for before, far in itertools.pairwise(found):
        near = kept[-1]
        if far.latency > LEAPS * before.latency or _falls(curves, near, far):
            kept.append(far)
            continue
        climbs.append(Climb(_end(curves, near, far), near.latency, far.latency))
        joined = curves.latency[near.first : far.last + 1]
        kept[-1] = Plateau(near.first, far.last, float(np.median(joined)))
    return kept, climbs


def _falls(curves: Curves, near: Plateau, far: Plateau) -> bool:
    """Whether reading or copying gets clearly less from ``far`` than from ``near``."""
    both = curves.read, curves.copy
    return any(_middle(rates, near) > FALLS * _middle(rates, far) for rates in both)


def _middle(values: Sequence[float], plateau: Plateau) -> float:
    return float(np.median(values[plateau.first : plateau.last + 1]))


def _end(curves: Curves, near: Plateau, far: Plateau) -> float:
    """Bytes at which latency has made half of its way, in doublings, from ``near`` to ``far``."""
    half = math.log2(near.latency * far.latency) / 2
    x = np.log2(np.array(curves.sizes[near.last : far.first + 1], float))
    y = np.log2(np.array(curves.latency[near.last : far.first + 1]))
    above = int(np.argmax(y > half)) if (y > half).any() else len(y) - 1
    if above == 0:
        return float(2 ** x[0])
    share = (half - y[above - 1]) / max(y[above] - y[above - 1], 1e-9)
    return float(2 ** (x[above - 1] + min(share, 1.0) * (x[above] - x[above - 1])))


def _paired(found: Sequence[float], told: Sequence[int]) -> list[tuple[float | None, int | None]]:
    """Found ends beside told caches, both in order: the cheapest way, alone where that is cheaper.

    A pair costs the doublings between its sizes, one that stays alone costs APART.
    """
    cost = {(0, 0): 0.0}
    way: dict[tuple[int, int], list[tuple[float | None, int | None]]] = {(0, 0): []}
    for f, t in itertools.product(range(len(found) + 1), range(len(told) + 1)):
        ways: list[tuple[float, tuple[int, int], tuple[float | None, int | None]]] = []
        if f and t:
            apart = abs(math.log2(found[f - 1] / told[t - 1]))
            ways.append((cost[f - 1, t - 1] + apart, (f - 1, t - 1), (found[f - 1], t - 1)))
        if f:
            ways.append((cost[f - 1, t] + APART, (f - 1, t), (found[f - 1], None)))
        if t:
            ways.append((cost[f, t - 1] + APART, (f, t - 1), (None, t - 1)))
        if ways:
            least, before, step = min(ways, key=lambda one: one[0])
            cost[f, t], way[f, t] = least, [*way[before], step]
    return way[len(found), len(told)]


def _level(
    curves: Curves, plateau: Plateau, name: str, end: float | None, told: int | None
) -> Level:
    kind = "memory" if name == "memory" else "open"
    if end is not None:
        kind = "untold" if told is None else _judged(end / told)
    return Level(
        name, end, told, kind, plateau.latency, _middle(curves.read, plateau),
        _middle(curves.copy, plateau), curves.sizes[plateau.first], curves.sizes[plateau.last],
        curves.sizes[-1],
    )  # fmt: skip


def _judged(ratio: float) -> str:
    if 1 / AGREES <= ratio <= AGREES:
        return "agrees"
    return "smaller" if ratio < 1 else "larger"


def table(levels: Sequence[Level]) -> list[tuple[str, ...]]:
    """A row for each level: name, found, told, latency, read, copy, and latency to the first's."""
    nearest = next((one.latency for one in levels if math.isfinite(one.latency)), math.nan)

    def cell(value: float | None, unit: str, digits: int = 3) -> str:
        return "–" if value is None or not math.isfinite(value) else si(value, unit, digits)

    return [
        (
            one.name, cell(one.found, "B", 2), cell(one.told, "B"), cell(one.latency, "s"),
            times(one.latency / nearest) if math.isfinite(one.latency) else "–",
            cell(one.read, "B/s"), cell(one.copy, "B/s"),
        )
        for one in levels
    ]  # fmt: skip
