"""The request film as one PNG: what a saved notebook keeps of it."""

from __future__ import annotations

import numpy as np
from matplotlib import rc_context
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.patches import Rectangle

from rooflab.predict.workload_time import MIX
from rooflab.show import film_words as says
from rooflab.show import theme
from rooflab.show.axes import DPI, Frame, dress
from rooflab.show.drawing import Picture, draw_ceilings
from rooflab.show.film_grid import (
    COLOURS,
    COMPUTE,
    KINDS,
    PART_WORDS,
    PREFILL,
    WEIGHTS,
    Kind,
)  # fmt: skip
from rooflab.show.film_now import Now
from rooflab.show.film_pack import fitting
from rooflab.show.labels import Crowd, Spot, around
from rooflab.show.polylines import ceilings
from rooflab.show.roof_labels import label_machine

WEIGHTED = [kind for kind in KINDS if kind.part == WEIGHTS]
BARS, ABOVE, SIDE = 250, 26, 330  # pixels of the parts below, above and beside the roofline


def draw(now: Now, frame: Frame) -> Picture:
    """The film as a figure: roofline, bars over context below it, the numbers beside both."""
    wide, high = frame.width + SIDE, frame.height + ABOVE + BARS
    figure = Picture((wide / DPI, high / DPI), dpi=DPI)
    FigureCanvasAgg(figure)
    with rc_context(theme.RC):
        _roofline(figure, now, frame)
        _bars(figure, now, frame.width / wide, BARS / high)
        _beside(figure, now, (frame.width + 18) / wide)
        kinds = f"weights {now.decode.formats.weights}, KV cache {now.decode.formats.kv}"
        title = f"{now.grid.model.name}, {kinds} · {now.offer.name} · {now.machine.provenance}"
        figure.text(8 / wide, 1 - 6 / high, title, va="top", weight="bold")
    figure.words = now.sentence
    return figure


def _roofline(figure: Picture, now: Now, frame: Frame) -> None:
    roofs = ceilings(now.machine, now.roof.dtype, "cold", MIX)
    w, h = frame.width + SIDE, frame.height + ABOVE + BARS
    left, foot = frame.left, frame.bottom + BARS
    size = (frame.width - left - frame.right, frame.height - frame.bottom - frame.top)
    ax = figure.add_axes((left / w, foot / h, size[0] / w, size[1] / h))
    dress(ax, (10**frame.x_lo, 10**frame.x_hi), (10**frame.y_lo, 10**frame.y_hi))
    crowd = Crowd(ax)
    draw_ceilings(crowd, roofs, {"dram"})
    dots = [(kind, x) for kind, _, x in now.kinds()] + [(PREFILL, now.prefill.intensity)]
    for kind, x in sorted(dots, key=lambda dot: -dot[0].scale):
        colour = COLOURS[kind.part]
        ax.plot(x, now.roof.attainable(x), kind.marker, ms=10 * kind.scale, mfc=theme.PAPER,
                mec=colour, mew=2.2, zorder=5)  # fmt: skip
        crowd.add_disc(*crowd.pixel(x, now.roof.attainable(x)), 10)
    for kind in KINDS:
        for x, rate in (one.dots[kind.name] for one in now.timed if kind.name in one.dots):
            ax.plot([x, x], [now.roof.attainable(x), rate], ":", color=COLOURS[kind.part], lw=1.6)
            ax.plot(x, rate, kind.marker, ms=9, color=COLOURS[kind.part], zorder=5)
            crowd.add_line([crowd.pixel(x, rate), crowd.pixel(x, now.roof.attainable(x))])
            crowd.add_disc(*crowd.pixel(x, rate), 9)
    label_machine(crowd, [roofs], {"dram"})
    for names, part, x in _named(dots):
        own = crowd.pixel(x, now.roof.attainable(x))
        crowd.write(
            names, around(*own, 13), [own], color=theme.ink(COLOURS[part]), weight="bold", zorder=6
        )


def _named(dots: list[tuple[Kind, float]]) -> list[tuple[str, str, float]]:
    """(name, part, FLOP/byte) of the dots; those of one part that lie together share a name."""
    found: list[tuple[list[str], str, float]] = []
    for kind, x in sorted(dots, key=lambda dot: -dot[0].scale):
        near = next((one for one in found if one[1] == kind.part and 0.9 < x / one[2] < 1.1), None)
        if near:
            near[0].append(kind.label)
        else:
            found.append(([kind.label], kind.part, x))
    return [
        ("weight products" if len(names) == len(WEIGHTED) else ", ".join(names), part, x)
        for names, part, x in found
    ]


def _bars(figure: Picture, now: Now, width: float, height: float) -> None:
    ax = figure.add_axes((0.075 * width + 0.01, 0.24 * height, 0.89 * width, 0.5 * height))
    contexts, places = now.grid.contexts, range(len(now.grid.contexts))
    stacks = [now.parts(j) for j in places]
    steady = sum(seconds for kind, seconds, _ in now.kinds() if not kind.wide)
    scale = fitting(tallest(stacks, now, steady))
    top = scale["seconds"]
    ax.set(ylim=(0, top), xlim=(-0.6, len(contexts) - 0.4))
    low = np.zeros(len(contexts))
    for part, colour in COLOURS.items():
        tall = np.array([stack[part] for stack in stacks])
        ax.bar(places, tall, 0.74, low, color=colour, label=PART_WORDS[part])
        low += tall
    crowd = Crowd(ax)
    _tears(crowd, low, top)
    edge = {"fc": "none", "ec": theme.INK, "lw": 2}
    ax.bar([now.j], [min(low[now.j], top)], 0.94, **edge)
    if now.crossing:
        _crossing(crowd, now, top)
    _values(crowd, now, min(low[now.j], top), top)
    ax.set_xticks(places[::4])
    ax.set_xticklabels([theme.count(c) for c in contexts[::4]])
    ax.set_yticks([share * top for share, _ in scale["ticks"]], [t for _, t in scale["ticks"]])
    ax.grid(True, axis="y", color=theme.GRID)
    ax.set_axisbelow(True)
    ax.set_xlabel("context, tokens")
    ax.legend(loc="lower left", bbox_to_anchor=(-0.03, 1.1), ncols=4, frameon=False,
              handlelength=0.8, handleheight=0.8, columnspacing=1.2, handletextpad=0.4)  # fmt: skip


def _tears(crowd: Crowd, heights: np.ndarray, top: float) -> None:
    """Tear the bars that are higher than the axis, and keep labels off all of them."""
    for place, height in enumerate(heights):
        crowd.add_line([crowd.pixel(place, 0), crowd.pixel(place, min(height, top))], 10)
        if height > 1.005 * top:
            xs = place + 0.5 * np.linspace(-1, 1, 5)
            ys = top * (0.93 + 0.04 * np.array([-1, 1, -1, 1, -1]))
            crowd.ax.plot(xs, ys, color=theme.PAPER, lw=2.5)


def _crossing(crowd: Crowd, now: Now, top: float) -> None:
    """Mark the context at which attention takes as long as all the rest."""
    ax, contexts = crowd.ax, now.grid.contexts
    x = np.interp(np.log(now.crossing), np.log(contexts), range(len(contexts)))
    ax.axvline(x, color=theme.INK, ls="--", lw=1.2)
    crowd.add_line([crowd.pixel(x, 0), crowd.pixel(x, top)])
    said = ax.annotate(says.CROSSING.format(context=says.short(now.crossing)), (x, top), (-3, 3),
                       textcoords="offset points", size=theme.SMALL,
                       ha="right" if x > len(contexts) / 2 else "left")  # fmt: skip
    crowd.add_box(tuple(said.get_window_extent().extents))


def _values(crowd: Crowd, now: Now, height: float, top: float) -> None:
    """Write the time of the bar now, ``height`` seconds high, and what was measured."""
    ax, contexts = crowd.ax, now.grid.contexts
    timed = [(np.interp(np.log(one.context), np.log(contexts), range(len(contexts))),
              min(one.seconds, top), says.seconds(one.seconds)) for one in now.timed]  # fmt: skip
    for x, y, _ in timed:
        ax.plot(x, y, "D", ms=9, mfc=theme.INK, mec=theme.PAPER, clip_on=False)
        crowd.add_disc(*crowd.pixel(x, y), 7)
    x, y = crowd.pixel(now.j, height)
    spots = [Spot(x + dx, y + up, ha, "bottom")
             for up in (5, 22, 39, 56)
             for dx, ha in ((0, "center"), (-14, "left"), (14, "right"))]  # fmt: skip
    crowd.write(now.values["total"], spots, weight="bold", zorder=6)
    for x, y, value in timed:
        crowd.write(says.MEASURED.format(value=value), around(*crowd.pixel(x, y), 12), zorder=6)


def tallest(stacks: list[dict[str, float]], now: Now, steady: float) -> float:
    """Seconds that the bars' axis holds: this bar, the crossing, what was measured."""
    here, last = (sum(stacks[j].values()) for j in (now.j, -1))
    return max(1.12 * here, min(2.4 * steady, 1.12 * last), *(1.1 * t.seconds for t in now.timed))


def _beside(figure: Picture, now: Now, left: float) -> None:
    values, line = now.values, 0.045
    figure.text(left, 0.93, values["rate"], size=20, weight="bold", va="top")
    for one in now.timed:
        figure.text(left, 0.874, one.rate, va="top", weight="bold")
    memory = says.SAY["needs" if now.fits is None else "held" if now.fits else "misfit"]
    shown = values | {"need": memory.format(**values)}
    y = 0.825 if now.timed else 0.855
    for key, label in says.FACTS:
        warn = key == "need" and now.fits is False
        figure.text(left, y, label, va="top")
        figure.text(0.985, y, shown[key].replace(": ", ":\n"), va="top", ha="right",
                    weight="bold", color=theme.WARN if warn else theme.INK)  # fmt: skip
        y -= line
    y -= 1.2 * line
    figure.text(left, y, says.HEADING, va="top", weight="bold")
    total = sum(seconds for _, seconds, _ in now.kinds())
    for kind, seconds, x in now.kinds():
        y -= 2.0 * line
        part = COMPUTE if x >= now.roof.ridge else kind.part
        figure.text(left, y + line, kind.label, va="top")
        figure.text(0.985, y + line, says.seconds(seconds), va="top", ha="right", weight="bold")
        figure.text(0.985, y + 0.003, says.LIMITS[part], va="center", ha="right", size=theme.SMALL)
        for share, colour in ((1, "#EFEFEF"), (max(seconds / total, 0.008), COLOURS[part])):
            box = ((left, y - 0.005), 0.44 * (0.985 - left) * share, 0.016)
            figure.patches.append(Rectangle(*box, transform=figure.transFigure, color=colour))
