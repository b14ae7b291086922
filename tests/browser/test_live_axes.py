"""The axes of the live roofline: they fit the machine, glide to the next, and can be locked."""

from __future__ import annotations

import pytest

import rooflab as rl
from tests.browser.conftest import ready
from tests.browser.front import wait_for_kernel
from tests.browser.tab import Tab, by_hand, frames, stand

pytestmark = pytest.mark.browser
MACHINE = "select.rl-machine"
H100, A100, SMALL = "nvidia-h100-sxm", "nvidia-a100-sxm-80", "apple-m1"
# What stands at the decades that are seen, from below, and how high: a share of the picture.
TICKS = """() => [...document.querySelectorAll('.rl-axes g')]
    .filter(g => g.style.display !== 'none')
    .map(g => [g.textContent, g.getBoundingClientRect().bottom]).sort((a, b) => b[1] - a[1])
    .map(([text]) => text)"""
ROOF = """() => { const svg = document.querySelector('svg.rl-live'),
    [, height] = svg.getAttribute('viewBox').split(' ').slice(2);
    const path = document.querySelector('.rl-roof path').getAttribute('d');
    return +path.split('H')[0].split(' ').at(-1) / height; }"""
CORNERS = "() => document.querySelector('.rl-axes g:last-of-type').getAttribute('transform')"


@pytest.fixture
def live(show_picture):
    return show_picture("roofline")


def choose(page, machine: str) -> None:
    page.select_option(MACHINE, machine)
    stand(page, "svg.rl-live *")


def lock(page):
    return page.get_by_role("button", name="lock axes")


def labels(machine: str, *, like: str | None = None) -> list[str]:
    """The decades that Python gives a machine, alone or on axes that hold another as well."""
    scene = rl.live.roofline(machine="h100-sxm").scene
    found = {offer.id: scene.frame_of(offer) for offer in scene.offers}
    frame = found[machine]
    if like:
        locked = (found[like].y_lo, found[like].y_hi)
        frame = scene.frame_of(next(o for o in scene.offers if o.id == machine), locked)
    return [label for _, label in frame.ticks()["y"]]


@pytest.mark.parametrize("machine", [H100, SMALL, "nvidia-b200"])
def test_the_axes_fit_the_machine(live, machine: str) -> None:
    choose(live, machine)
    seen = live.evaluate(TICKS)
    assert seen == labels(machine) and 3 <= len(seen) <= 6
    assert 0.1 < live.evaluate(ROOF) < 0.45, "the roof stands in the upper half"


def test_what_is_said_does_not_depend_on_the_axes(live) -> None:
    from rooflab.show import captions

    op = rl.gemv(1024, 1024, "fp32")
    for locked in (False, True):
        if locked:
            choose(live, H100)
            lock(live).click()
        choose(live, SMALL)
        said = live.locator(".rl-words p").nth(1).inner_text()
        assert said.startswith(captions.bound(op, rl.Roofline(SMALL, "fp32"))), locked


def test_locked_axes_stay_and_grow_only_to_hold_another_machine(live) -> None:
    lock(live).focus()
    live.keyboard.press("Space")
    assert lock(live).get_attribute("aria-pressed") == "true"
    before = live.evaluate(TICKS)
    choose(live, A100)
    assert live.evaluate(TICKS) == labels(A100, like=H100)
    choose(live, SMALL)
    wide = live.evaluate(TICKS)
    assert wide == labels(SMALL, like=H100) and len(wide) > len(before)
    choose(live, H100)
    assert live.evaluate(TICKS) == wide, "nothing shrinks under the eye that compares"
    lock(live).click()
    stand(live, "svg.rl-live *")
    assert lock(live).get_attribute("aria-pressed") == "false"
    assert live.evaluate(TICKS) == before


@pytest.mark.parametrize("motion", ["reduce", "no-preference"])
def test_the_axes_glide_unless_the_reader_asked_for_stillness(
    tab: Tab, picture_page, motion: str
) -> None:
    with tab.silent(picture_page("roofline"), motion=motion) as page:
        ready(page)
        stand(page, "svg.rl-live *")
        by_hand(page)
        page.select_option(MACHINE, SMALL)
        places = frames(page, CORNERS, 20)
        heights = [float(place.split()[1].rstrip(")")) for place in places]
        assert len(set(heights)) > 10 if motion != "reduce" else len(set(heights)) == 1
        assert heights in (sorted(heights), sorted(heights, reverse=True)), "one way, no jump back"


def test_one_machine_has_nothing_to_compare(show_picture) -> None:
    assert lock(show_picture("box")).count() == 1
    alone = rl.live.roofline("h100-sxm").view.data["machines"]
    assert len({tuple(machine["decades"]) for machine in alone}) == 1


def test_in_lab_the_kernel_remembers_the_lock(open_notebook) -> None:
    cell = 'import rooflab as rl\nw = rl.live.roofline(["h100-sxm", "apple-m1"], dtype="fp32")\nw'
    page = open_notebook("lab", "axes.ipynb", cell)
    ready(page)
    lock(page).click()
    page.select_option(MACHINE, SMALL)
    wait_for_kernel(page, "w.view.decades == list(w.view.data['machines'][0]['decades'])", "False")
    wait_for_kernel(
        page, "[min(m['decades'][0] for m in w.view.data['machines']), "
        "max(m['decades'][1] for m in w.view.data['machines'])] == w.view.decades", "True",
    )  # fmt: skip
