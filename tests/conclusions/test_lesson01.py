"""Lesson 01 says the right thing on every simulated machine, and blames what the shares convict."""

from __future__ import annotations

import itertools

import rooflab as rl
from tests.conclusions.machines import MACHINES, MiB, Simulated, Trial, core, faults
from tests.support.rows import each_row

N = 4096
AXPY, GEMM = rl.axpy(N * N), rl.gemm(N, N, N)
H200 = rl.Roofline("h200-sxm", "fp32")


def both(here: Simulated, slow: float = 0.9, fast: float = 0.9):
    """AXPY and GEMM, each at a share of its roof."""
    return here.clock(AXPY, share=slow), here.clock(GEMM, share=fast), here.machine


def short(here: Simulated):
    return here.clock(AXPY), here.clock(rl.axpy(N), cache="warm"), here.machine


TABLE: dict[str, Trial] = {
    "01-ratio": (both, dict.fromkeys(MACHINES, "cut off")),
    "01-roofs": (both, dict.fromkeys(MACHINES, "alike")),
    "01-elsewhere": (
        lambda here: (AXPY, GEMM, here.machine, H200),
        {
            "hybrid laptop": "more room", "M-series Mac": "alike", "4 MB of L3": "more room",
            "300 MB of L3": "alike", "H200": "alike",
        },
    ),
    "01-small": (short, {**dict.fromkeys(MACHINES, "faster"), "H200": "alike"}),
}  # fmt: skip


def test_every_machine_gets_its_sentence():
    assert faults("01", TABLE) == []


def test_the_ratio_at_the_roofs_is_that_of_axpys_own_mix():
    """61 GFLOP/s over 22 GB/s ÷ 6: 16.6 times, where the best mix, 26 GB/s, would give 14.1."""
    said = rl.conclude("01-roofs", *both(MACHINES["hybrid laptop"])).text
    assert "At the roofs **16.6 times**, measured **16.6 times**" in said
    assert (
        "**83.6 times**"
        in rl.conclude("01-elsewhere", AXPY, GEMM, MACHINES["H200"].machine, H200).text
    )


@each_row(
    (0.9, 0.9, "alike"), (0.6, 0.9, "axpy loses"), (0.9, 0.6, "gemm loses"),
    (0.9, 1.3, "above the roof"), (1.3, 0.9, "above the roof"),
)  # fmt: skip
def test_the_operation_that_is_blamed_is_the_one_that_loses(slow, fast, case):
    said = rl.conclude("01-roofs", *both(MACHINES["4 MB of L3"], slow, fast))
    assert said.case == case and f"GEMM {100 * fast:.0f} %" in said.text


@each_row((0.9, 0.9, "cut off"), (0.9, 0.4, "gemm loses"), (0.4, 0.9, "axpy loses"))
def test_the_roof_is_not_blamed_for_what_the_operations_lose(slow, fast, case):
    here = MACHINES["hybrid laptop"]
    assert rl.conclude("01-ratio", *both(here, slow, fast)).case == case
    taken_apart = (
        "takes each of them apart" in rl.conclude("01-roofs", *both(here, slow, fast)).text
    )
    assert taken_apart == (case != "cut off")


def test_the_roof_is_given_most_of_what_is_missing_and_no_more():
    """300 MB of L3: 192 GFLOP/s ÷ 16 GB/s is a ridge of 12, so the roof cuts off 682.7 ÷ 12."""
    here = MACHINES["300 MB of L3"]
    said = rl.conclude("01-ratio", *both(here, slow=0.9, fast=0.9 / 1.24))
    assert said.case == "mostly" and "most of it, a factor of 56.9" in said.text
    said = rl.conclude("01-ratio", *both(here, slow=0.9 / 1.24, fast=0.9))
    assert said.case == "more than all" and "more, a factor of 56.9" in said.text


def test_the_ratio_at_the_roofs_is_tens_or_hundreds_in_the_whole_catalogue():
    """What lesson 01 says of fp32 on every machine of the course."""
    there = [m for m in map(rl.machine, rl.machines()) if m.has_peak("fp32")]
    ratios = [rl.Roofline(m, "fp32").ridge / AXPY.intensity for m in there]
    assert min(ratios) > 10 and max(ratios) < 1000


def test_results_left_in_a_huge_cache_are_named_and_no_busy_moment():
    """67 MB of results stay in a cache of 300 MB; one of 4 MB cannot hold them."""
    assert rl.conclude("01-roofs", *both(MACHINES["300 MB of L3"], slow=1.3)).case == "unwritten"
    assert rl.conclude("01-roofs", *both(MACHINES["4 MB of L3"], slow=1.3)).case == "above the roof"


HUGE = {"l1": (48 * 1024, 420e9), "l2": (2 * MiB, 150e9), "l3": (480_000_000, 28e9)}


@each_row((1.62, 0.96), (1.3, 0.95))
def test_a_sum_above_its_roof_is_named_before_the_product_is_blamed(slow, fast):
    """AXPY at 162 % in 480 MB of L3, GEMM at 96 %: GEMM is near its roof, AXPY is odd."""
    there = core("huge", peaks={"fp32": 192e9}, dram=(14e9, 16e9, 15e9, 18e9), caches=HUGE)
    here = Simulated("huge", there)
    for name in ("01-ratio", "01-roofs"):
        said = rl.conclude(name, *both(here, slow, fast))
        assert said.case == "unwritten" and f"{slow:g} times as fast as memory" in said.text
        assert "480 MB" in said.text and "stays" not in said.text and "below" not in said.text
    for name in ("01-ratio", "01-roofs"):
        said = rl.conclude(name, *both(MACHINES["4 MB of L3"], slow, fast))
        assert said.case == "above the roof" and "busier moment" in said.text
        assert "written back" not in said.text and "GEMM stays" not in said.text


SHARES = (0.05, 0.3, 0.6, 0.75, 0.9, 1.0, 1.05, 1.09, 1.11, 1.3, 1.62, 2.5)


@each_row(*MACHINES)
@each_row("01-ratio", "01-roofs")
def test_no_share_of_a_roof_is_contradicted(name, here):
    """Who is "far below" is; who is blamed reached less; who is above a roof is named."""
    for slow, fast in itertools.product(SHARES, repeat=2):
        text = rl.conclude(name, *both(MACHINES[here], slow, fast)).text
        assert "GEMM stays far below" not in text or fast < 0.75
        assert "AXPY stays far below" not in text or slow < 0.75
        assert "AXPY reaches a smaller" not in text or slow < fast
        assert "GEMM reaches a smaller" not in text or fast < slow
        assert slow <= 1.1 or "AXPY ran" in text or "AXPY is at" in text
        assert fast <= 1.1 or "GEMM ran" in text


def test_a_sum_and_a_product_above_their_roofs_are_both_named():
    said = rl.conclude("01-ratio", *both(MACHINES["4 MB of L3"], 1.3, 1.4))
    assert said.case == "above the roof"
    assert "GEMM ran 1.4 times" in said.text and "AXPY is at 130 % of its own" in said.text


def test_what_a_matrix_unit_loses_is_the_librarys_and_not_the_roofs():
    """GEMM at 30 % of the matrix unit: the ×3.3 that is missing there is no roof's."""
    mac = MACHINES["M-series Mac"]
    said = rl.conclude("01-ratio", *both(mac, 1.0, 0.3))
    assert said.case == "gemm loses" and "GEMM stays far below even that roof" in said.text
    assert "10 times as high" in said.text and "cut it off" not in said.text
    near = rl.conclude("01-ratio", *both(mac))
    assert "10 times as high" in near.text and near.text.endswith("The flat roof has cut it off.")


def test_a_share_beyond_one_is_not_said_to_be_below_a_roof():
    """AXPY at 105 %, GEMM at 88 %: within the noise of the roofs, and AXPY is not below its own."""
    here = MACHINES["hybrid laptop"]
    said = rl.conclude("01-ratio", *both(here, 1.05, 0.88))
    assert said.case == "mostly" and "smaller share" in said.text and "below" not in said.text
    assert "farther below" not in rl.conclude("01-roofs", *both(here, 0.88, 1.05)).text


def test_a_ratio_at_the_roofs_is_not_said_to_need_no_clock():
    """The roofs of this core were timed, like the two operations."""
    said = rl.conclude("01-roofs", *both(MACHINES["hybrid laptop"]))
    assert said.case == "alike" and "clock" not in said.text


def test_a_product_above_the_only_roof_is_not_called_cut_off():
    """A Mac whose matrix unit has not been measured: the vector roof is not GEMM's."""
    mac = MACHINES["M-series Mac"]
    data = mac.machine.to_dict()
    del data["peaks"]["fp32_tensor"]
    blind = type(mac.machine).from_dict(data)
    axpy, gemm, _ = both(mac)
    said = rl.conclude("01-ratio", axpy, gemm, blind)
    assert said.case == "above the roof" and "9 times as fast as the flat roof" in said.text
    assert rl.conclude("01-roofs", axpy, gemm, blind).case == "above the roof"
    assert "10 times as high" in rl.conclude("01-ratio", axpy, gemm, mac.machine).text


def test_a_call_that_costs_more_than_the_cache_saves():
    here = MACHINES["300 MB of L3"]
    slow = here.clock(rl.axpy(N), cache="warm", share=0.01)
    said = rl.conclude("01-small", here.clock(AXPY), slow, here.machine)
    assert said.case == "slower" and "cost of a call" in said.text


def test_less_room_than_at_home():
    mac = MACHINES["M-series Mac"].machine
    a100 = rl.Roofline("a100-sxm-80", "fp32")  # 9.6 FLOP/byte: 57 times
    assert rl.conclude("01-elsewhere", AXPY, GEMM, mac, a100).case == "less room"


def test_a_warning_of_the_clock_is_printed_with_the_number():
    here = MACHINES["hybrid laptop"]
    warned = here.clock(AXPY, warnings=("noisy",))
    gemm, few = here.clock(GEMM), here.clock(rl.axpy(N), cache="warm")
    for name, second in (("01-ratio", gemm), ("01-roofs", gemm), ("01-small", few)):
        said = rl.conclude(name, warned, second, here.machine).text
        assert "*Warning: axpy 16777216 fp32: noisy.*" in said
