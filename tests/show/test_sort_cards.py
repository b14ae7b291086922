"""The cards as a scene: where each lies, which one is on top, what a press does, what is said."""

from __future__ import annotations

import itertools
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from rooflab.show.scene import Scene, drawn
from rooflab.show.sort_cards import INKS, ROW, Deck, Face, SortCards, cards_scene
from tests.support.scenes import named

BINS = ("memory", "compute", "overhead")
NAMES = ("AXPY 256, fp32, warm", "GEMM 8×8×8, fp32, warm", "GEMM 1024×1024×1024, fp32, cold",
         "GEMV 32×32, fp32, warm")  # fmt: skip
TRUTH = (2, 2, 1, 2)
FACES = tuple(Face(name, bin, f"measured {n + 1} ns", f"Why {n}: 5 µs.")
              for n, (name, bin) in enumerate(zip(NAMES, TRUTH, strict=True)))  # fmt: skip
DECK = Deck(FACES, "4 operations: what decides?", BINS, "Roofs of a test.", "Sort them.")
WIDE, NARROW = cards_scene(DECK, 960), cards_scene(DECK, 400)
PLACED = st.lists(st.integers(-1, 2), min_size=4, max_size=4)


def state(placed: list[int], covered: bool = True) -> dict[str, Any]:
    return {"covered": covered} | {f"card{n}": at for n, at in enumerate(placed)}


def boxes(scene: Scene, placed: list[int], covered: bool = True) -> dict[int, tuple[float, ...]]:
    """Left, top, right and bottom of the cards that are seen."""
    cards, seen = named(scene, "card"), {}
    for mark, held in drawn(scene, **state(placed, covered)):
        if mark in cards:
            x, y, w, h = held["box"]
            seen[cards.index(mark)] = (x, y, x + w, y + h)
    return seen


def bins(scene: Scene, placed: list[int], covered: bool = True) -> list[tuple[float, ...]]:
    found = [scene.value(mark, "box", **state(placed, covered)) for mark in named(scene, "bin")]
    return [(x, y, x + w, y + h) for x, y, w, h in found]


def inside(one: tuple[float, ...], other: tuple[float, ...]) -> bool:
    return one[0] >= other[0] and one[1] >= other[1] and one[2] <= other[2] and one[3] <= other[3]


@settings(deadline=None, max_examples=25)
@given(PLACED, st.sampled_from([WIDE, NARROW]))
def test_cards_lie_in_their_bins_in_the_decks_order_and_never_on_each_other(
    placed: list[int], scene: Scene
) -> None:
    seen, homes = boxes(scene, placed), bins(scene, placed)
    assert set(seen) == {n for n, at in enumerate(placed) if at >= 0}
    assert all(inside(box, homes[placed[n]]) for n, box in seen.items())
    for m, n in itertools.combinations(seen, 2):
        if placed[m] == placed[n]:
            assert seen[n][1] - seen[m][1] >= ROW
    assert all(home[3] <= scene.height for home in homes)
    if scene is NARROW:
        assert homes[0][3] <= homes[1][1] and homes[1][3] <= homes[2][1]
    seen, homes = boxes(scene, placed, False), bins(scene, placed, False)
    assert len(seen) == 4 and all(inside(box, homes[TRUTH[n]]) for n, box in seen.items())
    assert seen[0][3] < seen[1][1] and seen[1][3] < seen[3][1], "uncovered, where they belong"


@settings(deadline=None, max_examples=25)
@given(PLACED)
def test_the_first_card_that_lies_nowhere_is_on_top(placed: list[int]) -> None:
    scene, places = WIDE, WIDE.places(**state(placed))
    nowhere = [n for n, at in enumerate(placed) if at < 0]
    put = [n for n, at in enumerate(placed) if at >= 0]
    assert places["top"] == (nowhere[0] if nowhere else 4)
    assert places["back"] == (put[-1] + 1 if put else 0)
    assert places["sorted"] == len(put)
    assert places["right"] == sum(a == b for a, b in zip(placed, TRUTH, strict=True))
    on_top = scene.value(named(scene, "top")[0], "text", **state(placed))
    assert on_top == (NAMES[nowhere[0]] if nowhere else "")


def pressed(scene: Scene, sets: dict[str, Any], placed: list[int]) -> list[int]:
    """The bins after a press."""
    places, after = scene.places(**state(placed)), list(placed)
    for name, value in sets.items():
        after[int(name[4:])] = int(scene.settled(value, places)) - 1
    return after


def test_a_press_puts_the_card_on_top_another_takes_it_back() -> None:
    keys = {one["key"]: one for one in WIDE.presses if one["key"]}
    assert list(keys) == ["1", "2", "3"]
    assert pressed(WIDE, keys["2"]["sets"], [0, -1, -1, 2]) == [0, 1, -1, 2]
    own = [one for one in WIDE.presses if not one["key"]]
    assert pressed(WIDE, own[3]["sets"], [0, 1, -1, 2]) == [0, 1, -1, -1]
    back = next(one for one in WIDE.controls if one["key"] == "Backspace")
    assert pressed(WIDE, back["sets"], [0, 1, -1, 2]) == [0, 1, -1, -1]
    assert pressed(WIDE, back["sets"], [0, 1, -1, -1]) == [0, -1, -1, -1]
    places = WIDE.places(**state([0, 1, 2, 2]))
    assert not any(WIDE.settled(one["enabled"], places) for one in keys.values()), "none is left"


def said(scene: Scene, placed: list[int], covered: bool) -> list[str]:
    """The lines below the sentence."""
    places = scene.places(**state(placed, covered))
    found = [scene.settled(words, places) for kind, words, _ in scene.notes if kind != "title"]
    return [one.replace("\u00a0", " ") for one in found if one]


def test_the_truth_is_said_once_it_is_uncovered() -> None:
    why = [f"Measured {n + 1} ns. Why {n}: 5 µs." for n in range(4)]
    why[1] = f"You said memory. {why[1]}"
    placed = [2, 0, 1, -1]
    assert on_cards(placed, True) == "" and on_cards(placed) == " ".join(why)
    assert said(WIDE, placed, False) == ["Roofs of a test."]
    below = [f"{name}: {text}" for name, text in zip(NAMES, why, strict=True)]
    assert said(NARROW, placed, True) == []
    assert said(NARROW, placed, False) == [*below, "Roofs of a test."]
    assert WIDE.sentence(**state([2, 0, 1, -1], False)).startswith("2 of the 3 sorted lie")
    assert WIDE.sentence(**state([2, 0, 1, 2], False)).startswith("3 of 4 lie")
    assert WIDE.sentence(**state([-1] * 4, False)) == "Shown without a sorting."
    assert WIDE.sentence(**state([0, -1, -1, -1])).startswith(f"{NAMES[1]}: which one decides")


def on_cards(placed: list[int], covered: bool = False) -> str:
    """What stands on the cards below their names."""
    lines = [WIDE.value(mark, "text", **state(placed, covered)) for mark in named(WIDE, "why")]
    return " ".join(" ".join(lines).replace("\u00a0", " ").split())


def test_reasons_too_long_for_the_cards_stand_below_the_sheet() -> None:
    long = [Face(name, 0, "measured 1 ns", "But the clock says more. " * 12) for name in NAMES]
    scene = cards_scene(Deck(tuple(long), "", BINS, "Roofs.", ""), 960)
    assert len(said(scene, [-1] * 4, False)) == 5 and scene.height < WIDE.height + 20


def test_a_wrong_card_is_told_by_a_sign_and_words_as_well_as_by_its_colour() -> None:
    for at in range(3):
        placed = [at, -1, -1, -1]
        name = WIDE.value(named(WIDE, "card-name")[0], "text", **state(placed, False))
        frame = WIDE.value(named(WIDE, "card")[0], "ink", **state(placed, False))
        assert name[0] == ("✓" if at == TRUTH[0] else "✗") and frame == INKS[at]
        assert ("You said" in on_cards(placed)) == (at != TRUTH[0])


def test_covered_the_widget_keeps_the_uncovered_picture_aside() -> None:
    cards = SortCards(DECK, None, "four")
    data, about = cards._repr_mimebundle_()
    assert data["text/plain"].startswith("4 operations: what decides?\n   1  AXPY 256")
    assert "easured" not in data["text/plain"]
    under = about["rooflab"]["under"]
    assert under["alt"].startswith("Shown without a sorting.") and "Measured 3 ns" in under["alt"]
    assert under["png"] != data["image/png"]
    assert "rooflab" not in cards.show()._repr_mimebundle_()[1]


def test_bins_are_given_and_read_as_one_list() -> None:
    cards = SortCards(DECK, None, "four")
    cards.placed = [2, 0, 1, -1]
    assert (cards.card0, cards.card1, cards.card2, cards.card3) == (2, 0, 1, -1)
    assert cards.placed == [2, 0, 1, -1] and cards.right == 2 and cards.score == ""
    cards.forget()
    assert cards.placed == [-1] * 4 and cards.covered


def test_names_lose_what_all_of_them_have() -> None:
    assert DECK.shortest[0] == "AXPY 256, warm"
    alone = Deck(FACES[:1], "", BINS, "", "")
    assert alone.shortest == [NAMES[0]]
