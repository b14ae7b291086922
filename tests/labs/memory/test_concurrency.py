"""Lines in flight: Little's law on figures by hand, and a real run on the nearest cache."""

from __future__ import annotations

import pytest

import rooflab as rl
from rooflab.labs.memory.concurrency import Concurrency, Run
from tests.labs.memory.support.core import CHAINS, LATENCY, found
from tests.support.rows import each_row


@each_row((100e-9, 64e9, 100), (80e-9, 12.8e9, 16))
def test_littles_law(latency, rate, lines):
    """64 GB/s at 100 ns are 100 lines of 64 bytes under way; the figures of a textbook."""
    one = Concurrency("dram", 2**28, (1,), (Run(1, ((latency,),), (rate,)),))
    assert one.lines(rate) == pytest.approx(lines)


@each_row(5, 10, 12, 16)
def test_the_buffers_are_found(buffers):
    """Bandwidth grows with the chases until the buffers are full: 10 in Skylake's L1, say."""
    one = found(buffers)
    assert one.most == pytest.approx(buffers)
    assert one.bandwidth[0] == pytest.approx(64 / LATENCY)
    assert (
        "no more places to note" in one.sentences[1]
        and f"about {buffers} lines" in one.sentences[1]
    )


def test_chases_that_still_gain_do_not_show_the_buffers():
    assert "more than 32 lines" in found(100).sentences[1]


def test_a_dip_before_the_last_number_of_chases_is_no_gain():
    """12 lines in flight from 16 chases on; something else ran beside those with 96."""
    chains = (1, 2, 4, 8, 12, 16, 96, 128)
    hops = tuple((LATENCY * max(1, k / 12) * (1.25 if k == 96 else 1),) for k in chains)
    one = Concurrency("dram", 2**28, chains, (Run(1, hops, (12e9,)),))
    assert "still pays" not in one.sentences[1] and "about 12 lines" in one.sentences[1]


def test_streams_get_further_than_chases_or_not():
    assert "prefetchers see what comes next" in found(10, stream=20e9).sentences[2]
    assert "no further" in found(10, stream=8e9).sentences[2]


def test_one_core_cannot_have_all_or_can():
    assert "alone cannot have it" in found(together=30e9).sentences[3]
    assert "alone already gets" in found(together=12.5e9).sentences[3]
    assert "alone already gets" in found(together=9e9).sentences[3]
    assert "Little's law" in found(together=None).sentences[3]


@each_row((7.5e9, "alone already gets"), (16e9, "×2 of what one"))
def test_a_core_alone_is_what_its_chases_or_its_stream_reach(together, said):
    """Ten lines every 80 ns are 8 GB/s, four times what this core's stream gets."""
    one = found(10, stream=2e9, together=together)
    assert said in one.sentences[3]
    assert ("cannot have it" in one.sentences[3]) == (together > 8e9)


def test_its_words_have_a_row_for_each_number_of_chases():
    assert repr(found()).count("\n") == 2 * len(CHAINS) + 4


def test_two_chases_do_not_wait_for_each_other():
    """On the L1 both fit in its ports: two chases take far less than twice the time of one."""
    shares: list[float] = []
    one = rl.memory.concurrency("l1", chains=(1, 2, 4), threads=1, progress=shares.append)
    assert one.latency > 0 and one.core.hop_s[1] < 1.6 * one.core.hop_s[0]
    assert len(one.runs) == 1 and one.core.stream > one.bandwidth[0]
    assert shares == sorted(shares)


@each_row(
    ({"level": "l9"}, ValueError, "level='l9' is unknown"),
    ({"chains": (2, 4)}, ValueError, "begin with 1"),
    ({"chains": (1, 1)}, ValueError, "let them increase"),
    ({"chains": ()}, ValueError, "begin with 1"),
    ({"chains": (1, 1000)}, ValueError, "128 chases"),
    ({"chains": (1, 2.5)}, TypeError, r"chains\[1\]=2.5"),
    ({"chains": 4}, TypeError, "several numbers"),
    ({"threads": 0}, ValueError, "threads=0"),
)
def test_arguments_that_cannot_be(arguments, error, said):
    with pytest.raises(error, match=said):
        rl.memory.concurrency(**{"progress": False, **arguments})
