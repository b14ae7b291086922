"""The names in the live roofline, placed in a browser by live_names.js, without a kernel."""

from __future__ import annotations

import pytest

import rooflab as rl
from rooflab.show import canvas
from rooflab.show.canvas import Frame
from rooflab.show.ceiling_lines import lines

pytestmark = pytest.mark.browser

FRAME = {"x0": 60, "x1": 700, "y0": 440, "y1": 30}
# Places names as the picture does and returns the box of each, as the rule reckons it.
PLACE = """([points, lines, fixed, frame]) => {
    const node = () => { const kept = {};
        return { kept, textContent: "", setAttribute(k, v) { kept[k] = v; } }; };
    const placed = points.map(p => ({ top: p.y, low: p.y, room: 0, marks: [p.y], ...p,
        d: { label: node(), note: node(), noted: "" } }));
    arrange(placed, frame, lines, fixed);
    return placed.map(({ d, label }) => boxOf(
        [d.label.kept.x, d.label.kept.y, d.label.kept["text-anchor"]], NAME * label.length));
}"""


def names(chromium, points: list, drawn: list = (), fixed: list = ()) -> list[dict]:
    page = chromium.new_page()
    script = canvas.source("live_names.js")
    try:
        return page.evaluate(
            f"given => {{ {script}; return ({PLACE})(given); }}", [points, drawn, fixed, FRAME]
        )
    finally:
        page.close()


def meet(a: dict, b: dict) -> bool:
    return a["x0"] < b["x1"] and b["x0"] < a["x1"] and a["y0"] < b["y1"] and b["y0"] < a["y1"]


def test_names_of_a_crowd_keep_off_each_other_and_all_markers(chromium) -> None:
    points = [{"x": 120 + 30 * n, "y": 200 + 12 * n, "label": name}
              for n, name in enumerate(("AXPY", "GEMV", "GEMM"))]  # fmt: skip
    boxes = names(chromium, points)
    assert not any(meet(a, b) for n, a in enumerate(boxes) for b in boxes[n + 1 :])
    for p in points:
        marker = {"x0": p["x"] - 8, "x1": p["x"] + 8, "y0": p["y"] - 8, "y1": p["y"] + 8}
        assert not any(meet(marker, box) for box in boxes)


@pytest.mark.parametrize(
    "line",
    [[346, 30, 346, 440, 1], [60, 221, 700, 221, 1], [320, 240, 440, 200, 1]],
    ids=["ridge", "flat roof", "thin slope"],
)
def test_a_name_crosses_no_thin_line_while_there_is_another_place(chromium, line: list) -> None:
    (box,) = names(chromium, [{"x": 330, "y": 200, "label": "GEMM"}], [line])
    x0, y0, x1, y1, _ = line
    steps = [step / 400 for step in range(401)]
    on = [(x0 + t * (x1 - x0), y0 + t * (y1 - y0)) for t in steps]
    assert not any(box["x0"] < x < box["x1"] and box["y0"] < y < box["y1"] for x, y in on)


def test_a_name_keeps_off_words_that_stand_still_and_stays_inside(chromium) -> None:
    still = {"x0": 60, "x1": 300, "y0": 210, "y1": 250}
    (box,) = names(chromium, [{"x": 130, "y": 200, "label": "AXPY ×64"}], [], [still])
    assert not meet(box, still)
    (corner,) = names(chromium, [{"x": 690, "y": 432, "label": "GEMM"}])
    assert corner["x1"] <= FRAME["x1"] and corner["y1"] <= FRAME["y0"]


def test_a_name_stands_nearest_to_its_own_marker(chromium) -> None:
    first, second = {"x": 200, "y": 200, "label": "AXPY"}, {"x": 236, "y": 212, "label": "GEMV"}
    boxes = names(chromium, [first, second])
    for own, other, box in ((first, second, boxes[0]), (second, first, boxes[1])):
        middle = ((box["x0"] + box["x1"]) / 2, (box["y0"] + box["y1"]) / 2)
        far, near = (abs(middle[0] - p["x"]) + abs(middle[1] - p["y"]) for p in (other, own))
        assert near < far


# What stands still in the live roofline, drawn for roofs of which only the memory's is in use.
ROOFS = """([script, lines, frame]) => {
    const build = new Function(`${script}; return { background, draw };`);
    const { background, draw } = build();
    const says = "A machine of a very long name, 64 threads · measured on 2026-11-22";
    const pick = { levels: () => ["dram"], sides: () => ["warm"], machine: () => ({ says }),
        names: () => [], shows: () => false };
    document.body.style.font = "16px monospace";
    const svg = draw("svg", {}, document.body), back = background(svg, { frame, ops: [] }, pick);
    back.roofs(lines);
    const all = [...svg.querySelectorAll("text")];
    return [all.map(text => [text.textContent, text.classList.contains("rl-on")]),
        back.fixed().length, svg.querySelector(".rl-source").getBoundingClientRect().width];
}"""


@pytest.mark.parametrize("cache", ["cold", "warm"])
def test_every_roof_is_named_once(chromium, here: rl.Machine, cache: str) -> None:
    frame = Frame(9, 13)
    roofs = lines(here, "fp32", cache, frame)
    script = canvas.source("reading.js", "live_roofs.js")
    page = chromium.new_page()
    texts, fixed, source = page.evaluate(ROOFS, [script, roofs, frame.as_data()])
    page.close()
    for roof in roofs:
        assert [text for text, _ in texts].count(roof["slope"]) == 1
    bold = {text for text, on in texts if on and "GB/s" in text}
    assert bold == ({"memory 20.0 GB/s"} if cache == "warm" else set())
    assert fixed > 2, "names keep off these words"
    assert 300 < source < frame.width - frame.left - frame.right - 150, "clear of the axis's name"
