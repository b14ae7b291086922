"""Scenes: what stands where in which state, what is refused, and what a browser gets of it."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rooflab.show.scene import MISSING, By, Dim, Fill, Scene, Sum, drawn, pack
from tests.support.scenes import some_states


def scene(*more: Dim) -> Scene:
    return Scene(200, 100, [Dim("n", ["one", "two", "four"]), *more])


def test_a_channel_holds_one_value_a_place() -> None:
    page = scene()
    bar = page.rect(10, 40, By("n", [20, 40, 80]), 20)
    assert [page.value(bar, "box", n=n)[2] for n in range(3)] == [20, 40, 80]
    assert page.value(bar, "box").tolist() == [10, 40, 20, 20], "it starts at its first stop"


def test_parts_of_a_place_may_depend_on_different_dimensions() -> None:
    page = scene(Dim("view", ["time", "rate"], ["time", "rate"]))
    dot = page.dot(By("n", [1, 2, 3]), By("view", [10, 90]))
    assert page.value(dot, "at", n=2, view="rate").tolist() == [3, 90]


def test_dimensions_keep_their_order_however_they_are_written() -> None:
    page = scene(Dim("m", ["a", "b"]))
    table = np.arange(6).reshape(2, 3)
    dot = page.dot(By("m n", table), By("n m", table.T))
    for m, n in np.ndindex(2, 3):
        assert page.value(dot, "at", m=m, n=n).tolist() == [table[m, n]] * 2


def test_words_have_holes_that_change_on_their_own() -> None:
    page = scene()
    page.says = Fill(
        "{n} of {all} on {where}", n=By("n", ["1", "2", "4"]), all="8", where="the bus"
    )
    assert page.sentence(n=2) == "4 of 8 on the bus"


def test_between_the_stops_of_a_path_numbers_go_straight_and_words_change_half_way() -> None:
    page = Scene(200, 100, [Dim("s", ["a", "b", "c"], keys=(0, 2, 6))])
    text = page.text(By("s", [0, 20, 60]), 5, By("s", ["a", "b", "c"]))
    assert page.table(text.channels["at"])[:, 0].tolist() == [0, 10, 20, 30, 40, 50, 60]
    assert page.table(text.channels["text"]).tolist() == [*"abbbccc"]
    assert page.value(text, "at", s=1)[0] == 20, "a state names the stop, not the place"


def test_opacity_nought_and_what_is_no_number_are_not_drawn() -> None:
    page = scene()
    page.dot(By("n", [1, math.nan, 3]), 5, name="dot")
    page.rect(0, 0, 5, 5, opacity=By("n", [0, 0, 1]), name="box")
    seen = [[mark.name for mark, _ in drawn(page, n=n)] for n in range(3)]
    assert seen == [["dot"], [], ["dot", "box"]]


def test_each_asks_for_every_place() -> None:
    page = scene(Dim("m", ["a", "b"]))
    by = page.each("m n", lambda m, n: (m, 10 * n))
    assert by.values.shape == (2, 3, 2) and by.values[1, 2].tolist() == [1, 20]
    assert page.each("n", lambda n: f"<{n}>").values.tolist() == ["<0>", "<1>", "<2>"]


def test_what_does_not_fit_is_refused_with_a_reason() -> None:
    for wrong, words in [
        (lambda s: s.rect(0, 0, By("n", [1, 2]), 5), r"By\('n'\) holds \(2,\) values; \(3,\)"),
        (lambda s: s.rect(0, 0, By("m", [1, 2]), 5), "dim='m' is unknown"),
        (lambda s: s.dot(0, 0, "star"), "shape='star' is unknown"),
        (lambda s: s.slider("k", "how many"), "dim='k' is unknown"),
        (lambda s: s.slider("n", "how many", at=[1, 2]), "at has 2 places; n has 3 stops"),
        (lambda s: s.choice("n", "how many", ["a"]), "one a stop of n"),
        (lambda s: s.switch("n", "on"), "n has 3 stops; a switch turns two"),
        (lambda s: s.sentence(n=3), "n=3 is unknown"),
        (lambda s: s.sentence(k=3), "dim='k' is unknown"),
        (lambda s: s.text(0, 0, By("n", [])), "none"),
    ]:
        with pytest.raises(ValueError, match=words):
            wrong(scene())


def test_an_unknown_argument_is_named() -> None:
    with pytest.raises(TypeError, match=r"rect\(\) has no argument colour"):
        scene().rect(0, 0, 5, 5, colour="ink")


# What is packed: read back here as a browser does, without its way of reading.


def unpacked(packed: dict[str, Any], track: Any, places: dict[str, int]) -> Any:
    """What a packed channel holds at places that were kept as they are."""
    if isinstance(track, (str, list)):
        return track
    if "template" in track:
        holes = {key: unpacked(packed, hole, places) for key, hole in track["holes"].items()}
        return track["template"].format(**holes)
    if "parts" in track:
        parts = [unpacked(packed, part, places) for part in track["parts"]]
        return None if None in parts else [parts[n][0] for n in track["of"]]
    codes = np.frombuffer(packed["buffer"], "<i2")
    flat, shape = 0, track["shape"]
    keys = track.get("keys") or [None] * len(shape)
    spots = []
    for dim, known in zip(track["dims"], keys, strict=True):
        place = places[packed["dims"][dim]["name"]]
        if known is None:
            spots.append(place)
        else:  # words hold from the last key on
            spots.append(max(n for n, key in enumerate(known) if key <= place))
    last = len(shape) - ("rows" in track)
    for size, spot in zip(shape[:last], spots[:last], strict=True):
        flat = flat * size + spot
    if "rows" in track:
        flat = int(codes[track["rows"] + flat]) * shape[-1] + spots[-1]
    found = codes[track["at"] + flat * track["n"] :][: track["n"]]
    if track.get("words"):
        return packed["texts"][int(found.view("<u2")[0])]
    return [None if code == MISSING else code / track["scale"] for code in found]


@settings(deadline=None, max_examples=25)
@given(
    st.lists(
        st.lists(st.sampled_from([0.0, 1.5, 7.25, math.nan]), min_size=4, max_size=4),
        min_size=3,
        max_size=3,
    ),
    st.booleans(),
)
def test_what_is_packed_is_what_was_meant(rows: list[list[float]], words: bool) -> None:
    page = scene(Dim("m", [*"abcd"]), Dim("other", ["x", "y"]))
    mark = page.text(
        By("n m", rows), 3, By("n m", [[str(v) for v in row] for row in rows]) if words else "a"
    )
    packed = pack(page)[0]
    channels = packed["marks"][0]["channels"]
    for state in some_states(page):
        meant = page.value(mark, "at", **state)
        got = unpacked(packed, channels["at"], state)
        if math.isnan(meant[0]):
            assert got is None or got[0] is None
        else:
            assert got == pytest.approx(meant.tolist(), abs=1 / 32)
        assert unpacked(packed, channels["text"], state) == page.value(mark, "text", **state)


def test_a_dimension_that_changes_nothing_costs_nothing() -> None:
    many = Dim("many", [str(n) for n in range(1000)])
    page = scene(many)
    page.rect(0, 0, By("many n", np.tile([20.0, 40, 80], (1000, 1))), 20)
    packed = pack(page)[0]
    parts = packed["marks"][0]["channels"]["box"]["parts"]
    assert [0] in [part.get("dims") for part in parts if isinstance(part, dict)]
    assert len(packed["buffer"]) <= 2 * (1 + 3 + 1)


def test_rows_that_are_alike_are_kept_once() -> None:
    page = Scene(
        200, 100, [Dim("a", [str(n) for n in range(50)]), Dim("b", [str(n) for n in range(60)])]
    )
    table = np.tile(np.linspace(0, 90, 60), (50, 1))
    table[0] += 1
    page.dot(By("a b", table), 0)
    packed = pack(page)[0]
    assert len(packed["buffer"]) < 2 * (2 * 60 * 2 + 50) + 1
    track = packed["marks"][0]["channels"]["at"]
    for a, b in ((0, 0), (0, 59), (1, 30), (49, 59)):
        assert unpacked(packed, track, {"a": a, "b": b}) == pytest.approx(
            [table[a, b], 0], abs=1 / 32
        )


def test_of_a_path_only_the_bends_are_kept() -> None:
    page = Scene(200, 100, [Dim("s", ["a", "b"], keys=(0, 100))])
    bend = np.interp(np.arange(101), [0, 30, 100], [0, 60, 60])
    page.dot(By("s", bend), 0)
    page.text(0, 0, By("s", ["early"] * 40 + ["late"] * 61))
    packed = pack(page)[0]
    at, text = (packed["marks"][n]["channels"][name] for n, name in ((0, "at"), (1, "text")))
    (moving,) = [part for part in at["parts"] if "keys" in part]
    assert moving["keys"] == [[0, 30, 100]] and text["keys"] == [[0, 40]]


def test_the_packed_scene_is_json_and_one_buffer_and_always_the_same() -> None:
    def made() -> dict[str, Any]:
        page = scene(Dim("t", ["off", "on"], [False, True]))
        page.dot(By("n", [1, 2, 3]), 4, "diamond", ink="paper")
        page.line([(0, 0), (By("n", [1, 2, 3]), 9)], dash=(4, 2), clip=(0, 0, 9, 9))
        page.point(page.marks[0], By("n", ["a", "b", "c"]))
        page.button(By("n", ["x", "y", "z"]), {"t": 1}, shown=By("t", [1, 0]))
        page.grip("n", By("n", [0, 50, 99]), 5, area=page.marks[0], label="how many")
        page.note("from a test")
        return pack(page)[0]

    one = made()
    assert json.dumps({**one, "buffer": ""}, allow_nan=False)
    assert one == made()
    assert one["grips"][0]["area"] == 0 and one["dims"][1]["names"] == [False, True]


def test_a_hand_may_rest_between_two_stops_of_a_free_dimension() -> None:
    page = Scene(200, 100, [Dim("s", ["a", "b", "c"], keys=(0, 2, 6), free=True)])
    dot = page.dot(By("s", [0, 20, 60]), 50)
    for held, x in ((0.0, 0), (0.5, 10), (1, 20), (1.5, 40), (1.74, 50), (2.0, 60)):
        assert page.value(dot, "at", s=held)[0] == x, "the nearest place on the way"
    for wrong in (2.5, -0.1):
        with pytest.raises(ValueError, match="s="):
            page.value(dot, "at", s=wrong)
    fixed = Scene(200, 100, [Dim("s", ["a", "b"])])
    with pytest.raises(ValueError, match="s=0.5"):
        fixed.places(s=0.5)


def test_what_was_seen_once_is_told_to_the_browser_and_must_be_there() -> None:
    page = Scene(200, 100, [Dim("s", "ab"), Dim("seen", "ab", once="s")])
    assert [dim["once"] for dim in pack(page)[0]["dims"]] == ["", "s"]
    with pytest.raises(ValueError, match="dim='t' is unknown"):
        Scene(200, 100, [Dim("s", "ab"), Dim("seen", "ab", once="t")])


def test_a_dimension_may_count_what_others_hold() -> None:
    cards = [Dim(f"card{n}", ["out", "in"]) for n in range(3)]
    count = Dim("in", ["0", "1", "2", "3"], of=Sum(*(By(card.name, [0, 1]) for card in cards)))
    page = Scene(200, 100, [*cards, count])
    page.says = By("in", ["none", "one", "two", "three"])
    assert [one.name for one in page.given] == ["card0", "card1", "card2"]
    assert page.sentence(card0=1, card2=1) == "two" and page.sentence() == "none"
    assert len(pack(page)[0]["dims"][3]["of"]["sum"]) == 3
    with pytest.raises(ValueError, match=r"By\('card0'\) holds \(3,\) values; \(2,\) are needed"):
        Scene(200, 100, [*cards, Dim("in", "abc", of=Sum(By("card0", [0, 1, 2])))])


def test_a_mark_that_is_pressed_has_a_name_in_every_state_and_may_have_a_key() -> None:
    page = scene(Dim("t", ["off", "on"], [True, False]))
    box = page.rect(0, 0, 40, 40)
    open_ = By("t", [1, 0])
    page.press(box, {"n": By("n", [1, 2, 0])}, By("t", ["on", "off"]), enabled=open_, key="1",
               says=By("n", ["one", "two", "four"]))  # fmt: skip
    page.button("the same", {"n": 2}, key="Enter")
    page.classes["done"] = By("t", [0, 1])
    packed = pack(page)[0]
    (pressed,) = packed["presses"]
    assert (pressed["mark"], pressed["key"]) == (0, "1")
    assert pressed["label"]["words"] and pressed["says"]["words"] and pressed["enabled"]["dims"]
    assert packed["controls"][0]["key"] == "Enter" and list(packed["classes"]) == ["done"]
    with pytest.raises(ValueError, match="dim='m' is unknown"):
        page.press(box, {"m": 1}, "no such place")
    with pytest.raises(ValueError, match="holds"):
        page.press(box, {"n": 1}, By("t", ["one", "two", "three"]))


def test_a_grip_may_have_a_ghost_and_be_let_go_of() -> None:
    page = scene(Dim("over", ["one", "two", "four"]))
    page.grip("n", By("n", [0, 50, 99]), 5, area=(0, 0, 200, 100), label="how many", ghost="over",
              enabled=By("n", [1, 1, 0]))  # fmt: skip
    (grip,) = pack(page)[0]["grips"]
    assert grip["ghost"] == "over" and grip["enabled"]["dims"] == [0]
    with pytest.raises(ValueError, match="dim='above' is unknown"):
        page.grip("n", 0, 5, area=(0, 0, 9, 9), ghost="above")


STRETCH = st.tuples(st.integers(1, 30), st.floats(-500, 500), st.booleans())


@settings(deadline=None, max_examples=30)
@given(st.lists(STRETCH, min_size=1, max_size=6))
def test_a_path_is_read_back_at_every_place(stretches: list[tuple[int, float, bool]]) -> None:
    """Stretches of so many places that stand still at a number, or go straight to it."""
    path = [0.0]
    for many, goal, still in stretches:
        path += [goal] * many if still else np.linspace(path[-1], goal, many + 1)[1:].tolist()
    page = Scene(200, 100, [Dim("s", ["a", "b"], keys=(0, len(path) - 1))])
    page.dot(By("s", path), 0)
    packed = pack(page)[0]
    at = packed["marks"][0]["channels"]["at"]
    codes = np.frombuffer(packed["buffer"], "<i2")
    parts = at if isinstance(at, list) else at.get("parts", [at])
    moving = [part for part in parts if isinstance(part, dict) and part.get("dims")]
    if isinstance(at, list) or not moving:
        assert len(set(path)) == 1 or np.ptp(path) < 1 / 8
        return
    (x,) = moving
    keys = x["keys"][0] if x.get("keys") else range(len(path))
    held = codes[x["at"] :][: x["n"] * len(keys) : x["n"]] / x["scale"]
    assert np.interp(range(len(path)), keys, held) == pytest.approx(path, abs=2 / 16)


def test_a_menu_greys_entries_and_may_bring_others_along() -> None:
    scene = Scene(100, 50, [Dim("m", ["a", "b"]), Dim("w", ["x", "y"])])
    scene.menu("w", "format", ["x", By("m", ["y", "y (none)"])], enabled=[1, By("m", [1, 0])])
    scene.menu("m", "machine", ["a", "b"], also={"w": By("m w", [[0, 1], [0, 0]])})
    first, second = pack(scene)[0]["controls"]
    assert first["kind"] == "menu" and first["enabled"][0] == [1.0]
    assert first["labels"][1]["words"] and second["also"]["w"]["dims"] == [0, 1]
    with pytest.raises(ValueError, match="must be one a stop of w"):
        scene.menu("w", "format", ["x"])
    with pytest.raises(ValueError, match="dim='q'"):
        scene.menu("w", "format", ["x", "y"], also={"q": 0})
