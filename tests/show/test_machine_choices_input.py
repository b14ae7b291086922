"""What is no machine, measurement or point is named with its argument."""

from __future__ import annotations

import pytest

import rooflab as rl
from rooflab.show.rooflines.machine_choices import offers
from tests.support.machine import measurement

WRONG = {
    "points": (
        lambda: rl.show.roofline("h100-sxm", points=3),
        "points=3 is a int; give Operations",
    ),
    "a point": (lambda: rl.show.roofline("h100-sxm", points=[3]), "points: 3 is a int"),
    "machines": (lambda: rl.show.roofline(3), "machines=3 is a int; give a machine or its name"),
    "one of them": (lambda: rl.show.roofline([3]), "machine=3 must be a machine's name"),
    "live machine": (lambda: rl.live.roofline(machine=3), "machine=3 must be a machine's name"),
    "live machines": (lambda: rl.live.roofline(3), "machines=3 is a int; give a machine"),
    "measurements": (lambda: rl.live.roofline(measurements=3), "measurements=3 is a int; give a"),
    "one measurement": (lambda: rl.live.roofline(measurements=[3]), "measurements: 3 is a int"),
    "box": (lambda: rl.live.box(machine=3), "machine=3 must be a machine's name"),
}


def test_the_argument_is_named() -> None:
    for name in WRONG:
        call, message = WRONG[name]
        with pytest.raises(TypeError, match=message):
            call()


def test_one_measurement_needs_no_list_and_a_generator_is_one(here: rl.Machine) -> None:
    timed = measurement(rl.axpy(10**6), "here", 1e-3)
    assert "Measured" in rl.show.roofline(here, timed).words
    (offer,) = offers(here, (one for one in [timed]))
    assert offer.measurements == (timed,)
