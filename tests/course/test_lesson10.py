"""Facts of lesson 10, its exercises and its sentences."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.special import softmax

import rooflab as rl
from rooflab.exercises.sentences import conclude
from rooflab.labs.fusion.gain import Gain, Terms
from rooflab.measure.measurement import Measurement
from tests.course.machines import unsaid
from tests.course.verdicts import answer, refused
from tests.support.rows import each_row


def by_ledgers(steps):
    """10-moves from the course's own ledgers, of arrays with one element of 8 bytes."""
    each = [rl.Operation("step", {}, (*(rl.Operand(one, (1,), "fp64") for one in set(inputs)),
                                      rl.Operand(name, (1,), "fp64", reads=0, writes=1)), 1, "fp64")
            for name, inputs in steps]  # fmt: skip
    alone, together = (rl.chain(*each, fused=fused).bytes // 8 for fused in (False, True))
    read = {one for _, inputs in steps for one in inputs}
    return alone, together - sum(name not in read for name, _ in steps[:-1])  # nobody needs these


def by_scipy(blocks):
    scores, values = (np.concatenate(part) for part in zip(*blocks))
    return float(softmax(scores) @ values)


def by_activations(layers, s, b, h, a, memory):
    layer = rl.fusion.activations(s, b, a * h, a)  # heads divide the width
    kept, inputs = layer.bytes(), layer.bytes("full")
    return next((n for n in range(layers + 1)
                 if n * inputs + (layers - n) * kept <= memory), -1)  # fmt: skip


def test_the_ledgers_and_scipy_give_the_right_answers():
    assert not refused({"10-moves": by_ledgers, "10-stream": by_scipy}, range(30))


def test_layers_that_forget_are_those_of_the_count():
    for given in ((12, 64, 2, 16, 4, 900_000), (7, 10, 1, 8, 8, 4_000), (5, 99, 1, 3, 2, 10**9)):
        layers, s, b, h, a, memory = given
        assert answer("10-recompute")(layers, s, b, a * h, a, memory) == by_activations(*given)


def test_attention_written_out_has_half_the_head_in_fp16():
    for d in (64, 128):
        written_out, streamed = answer("10-attention")(10**6, d, 2, False)
        assert written_out == pytest.approx(d / 2, rel=1e-3) and streamed == 10**6 / 2
        assert answer("10-attention")(10**6, d, 2, True)[0] == pytest.approx(d / 3, rel=1e-3)
        ours = [rl.attention(1, 900, 900, 1, head_dim=d, dtype="fp16", causal=False,
                             streamed=way).intensity for way in (False, True)]  # fmt: skip
        assert answer("10-attention")(900, d, 2, False) == pytest.approx(ours)


def test_the_norm_moves_20_bytes_and_not_36():
    three, one = answer("10-claim-norm")(4096, 4096, 4, 48 << 10)
    assert (three / 4096**2, one / 4096**2) == (pytest.approx(20, abs=0.01), 8)


def test_a_square_root_of_segments_where_layers_keep_their_input_only():
    assert answer("10-segments")(100, 1) == 10 == math.isqrt(100)


def gain(title="RMSNorm", ways=("temporaries", "buffers", "fused"), *, seconds, terms, warnings=()):
    """Ways with the bytes of RMSNorm, these seconds and these terms."""
    chain = rl.fusion.chains()["rms_norm"]
    measured = {
        way: Measurement(chain.ledger(64, 64, way=way if way in ("temporaries", "fused") else
                                      "buffers"), "here", "cpu", "cold", 1, (s,) * 3, warnings)
        for way, s in zip(ways, seconds, strict=True)
    }  # fmt: skip
    return Gain(title, {way: Terms(*t) for way, t in zip(ways, terms, strict=True)}, measured)


PAGES = (0.4, 0.0, 0.3, 0.0), (0.3, 0.0, 0.0, 0.0), (0.1, 0.0, 0.0, 0.0)
SLOW_SINE = (0.2, 0.0, 0.1, 0.0), (0.2, 0.0, 0.0, 0.0), (0.1, 0.2, 0.0, 0.0)
BOTH = ("materialised", "streamed")
BLOCKS = (0.5, 0.5, 0.0, 0.0), (0.1, 0.5, 0.0, 0.0)


def attention(slow, fast):
    return gain("attention", BOTH, seconds=(slow, fast), terms=BLOCKS), 1 << 26, 1 << 19


def drawn(rng, terms):
    seconds = (rng.choice((0.1, 0.3, 0.7, 2.0)), 0.3, rng.choice((0.1, 0.2)))
    share = rng.choice(((0.4, 0.0, 0.01, 0.0), terms[0]))
    fused = rng.choice(((0.4, 0.01, 0.0, 0.0), terms[2]))
    return gain(seconds=seconds, terms=(share, terms[1], fused))


TRIALS = {
    "10-norm": lambda on, rng: (drawn(rng, PAGES),),
    "10-sine": lambda on, rng: (drawn(rng, SLOW_SINE),),
    "10-streamed": lambda on, rng: attention(rng.choice((0.4, 1.0, 3.0)), rng.choice((0.5, 1.0))),
}


@each_row(
    ("10-norm", (gain(seconds=(0.7, 0.3, 0.1), terms=PAGES, warnings=("noisy",)),),
     "beyond the bytes, new arrays cost",
     ["7 times as fast", "alone say 3.5", "took 300 ms: new arrays cost 400 ms", "prediction was 7",
      "noisy"], []),
    ("10-norm", (gain(seconds=(0.35, 0.34, 0.1), terms=PAGES),),
     "as the bytes say, new arrays are free, far", ["explain all of it", "off by 2"], []),
    ("10-norm", (gain(seconds=(0.1, 0.3, 0.1), terms=PAGES),),
     "less than the bytes, new arrays are free, far", ["less than the bytes say"], []),
    ("10-sine", (gain(seconds=(0.3, 0.2, 0.3), terms=SLOW_SINE),),
     "no gain, computing, new arrays cost", ["no faster", "67 % of its time", "C library"], []),
    ("10-sine", (gain(seconds=(0.3, 0.3, 0.6), terms=SLOW_SINE),),
     "slower, computing, new arrays are free, far", ["takes 2 times as long"], []),
    ("10-sine", (gain(seconds=(0.7, 0.3, 0.1), terms=PAGES),), "gain, carrying, new arrays cost",
     ["7 times as fast", "0 % of its time"], ["C library"]),
    ("10-streamed", attention(1.0, 0.5), "faster",
     ["2 times as fast", "67.1 MB", "524 kB", "83 % of the time"], []),
    ("10-streamed", attention(1.0, 1.0), "alike, far", ["stands out from the noise"], []),
    ("10-streamed", attention(0.4, 1.0), "slower, far", ["here the matrix is faster"], []),
)  # fmt: skip
def test_what_is_said_and_what_is_not(name, given, case, words, never):
    assert not unsaid(conclude(name, *given), case, words, never)


def test_the_pictures_say_what_was_measured_and_counted():
    found = gain(seconds=(0.7, 0.3, 0.1), terms=PAGES)
    picture = rl.fusion.ways(found)
    picture.way = "fused"
    assert "one loop moves 8.06 bytes" in picture.sentence and "×7 as fast" in picture.sentence
    assert "bytes alone say ×3.5" in picture.sentence
    with pytest.raises(TypeError, match="gains: give one or more"):
        rl.fusion.ways(found.measured)
    bets = rl.fusion.bets()
    assert bets.sentence.startswith("6 of 9") and "LayerNorm: counted ×1," in bets.sentence
