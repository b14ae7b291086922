"""Lesson 05: the facts behind its answers, published figures first."""

from __future__ import annotations

import ast
import itertools
import math
import random
import re
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import rooflab as rl
from rooflab.course.drawing import peak_and_bandwidth
from rooflab.course.lesson05.exercises import INT4_GROUP_32, MODELS, RUNS, parameters_read
from rooflab.exercises.registry import exercise

decode = exercise("05-decode").reference
LLAMA_2_7B, LLAMA_3_8B = parameters_read("llama-2-7b"), parameters_read("llama-3-8b")
CARD = peak_and_bandwidth("rtx-4090", "fp16")
sizes = st.integers(1, 10**6)
rates = st.floats(1e9, 1e16)


def answer(id):
    return exercise(id).reference


def wrong(id, name):
    return next(m.wrong for m in exercise(id).misconceptions if m.name == name)


def test_seven_billion_parameters_on_a_4090():
    """72 tokens/s; 67 with GiB, 144 with one byte a weight; 50 is 69 %."""
    case = (7e9, 2, 524_288, 1, 0, *CARD)
    assert decode(*case) == pytest.approx(72.0)
    assert wrong("05-decode", "GiB")(*case) == pytest.approx(67.06, abs=0.005)
    assert wrong("05-decode", "one byte a weight")(*case) == pytest.approx(144.0)
    assert 50 / decode(*case) == pytest.approx(0.694, abs=0.0005)


def test_batch_64_on_a_4090_with_and_without_caches():
    """4608 without caches; 3526, 2856 and 2688 at contexts of 128, 256 and 298."""
    assert decode(7e9, 2, 524_288, 64, 0, *CARD) == pytest.approx(4608)
    for context, published in ((128, 3526), (256, 2856), (298, 2688)):
        assert decode(7e9, 2, 524_288, 64, context, *CARD) == pytest.approx(published, rel=5e-4)
    assert 800 / decode(7e9, 2, 524_288, 64, 298, *CARD) == pytest.approx(0.298, abs=0.0005)


def test_a_token_of_llama_2_7b_leaves_half_a_mebibyte_and_gpt_2_36_kib():
    """A key and a value of every layer and KV head, each a head's width of 2-byte numbers."""
    assert rl.model("llama-2-7b").kv_bytes(1, 1) == 524_288 == 2 * 32 * 32 * 128 * 2
    assert rl.model("llama-3-8b").kv_bytes(1, 1) == 131_072 == 2 * 32 * 8 * 128 * 2
    assert rl.model("gpt2").kv_bytes(1, 1024) == pytest.approx(37.75e6, rel=1e-3)


def test_the_gauges_of_gpt_2_on_an_a100():
    """6983 tokens/s at 1.99 TFLOP/s with a cache, 1613 at 312 without (2 TB/s)."""
    blocks, head = 12 * 12 * 768 * 768, 50_257 * 768
    assert blocks + head == 123_532_032
    found = answer("05-gauges")(blocks, head, 4 * 12 * 768, 1024, 312e12, 2.0e12)
    assert found[2:] == (pytest.approx(1613, abs=1), pytest.approx(312e12))
    positions = 124_337_664 - blocks - head  # and norms, which are read whole in that figure
    assert found[0] == pytest.approx(6983, rel=1e-2) and positions > 0
    assert found[1] == pytest.approx(1.99e12, rel=1e-2)
    assert found[0] / found[2] == pytest.approx(4.3, abs=0.06)


def test_with_a_few_positions_the_cache_brings_nothing():
    blocks, head, kv = 12 * 12 * 768 * 768, 50_257 * 768, 4 * 12 * 768
    kept, _, again, _ = answer("05-gauges")(blocks, head, kv, 16, 312e12, 2.0e12)
    assert again == pytest.approx(kept, rel=0.01) and again > kept


def test_a_machine_is_filled_up_to_memory_or_up_to_the_promise():
    """Llama-3-8B on an H100; with all of its memory 264 and 66 sequences, 349 and 152 in time."""
    peak, bandwidth = peak_and_bandwidth("h100-sxm", "bf16")
    memory = rl.machine("h100-sxm").capacities["dram"]

    def filled(context, promised, parameters=LLAMA_3_8B, memory=memory):
        return answer("05-fill")(parameters, 131_072, context, promised, memory, peak, bandwidth)

    assert filled(2048, 30) == (264, 349, "memory") and filled(2048, 60) == (264, 152, "promise")
    assert filled(8192, 30) == (66, 90, "memory")
    assert filled(2048, 300)[1:] == (0, "promise"), "the weights alone take longer"
    served = filled(2048, 30, 8_030_261_248, 0.9 * memory)
    assert served == (228, 345, "memory")
    assert filled(2048, 60, 8_030_261_248, 0.9 * memory) == (228, 148, "promise")


def test_the_shapes_are_published_ones():
    """Layers, heads, KV heads and width of a head in the models' config.json files."""
    shapes = {
        "llama-2-7b": (32, 32, 32, 128),
        "llama-2-13b": (40, 40, 40, 128),
        "llama-2-70b": (80, 64, 8, 128),
        "llama-3-8b": (32, 32, 8, 128),
        "gpt2": (12, 12, 12, 64),
        "gemma-2b": (18, 8, 1, 256),
        "qwen2.5-7b": (28, 28, 4, 128),
    }
    assert {*shapes} >= {*MODELS}
    for name, shape in shapes.items():
        m = rl.model(name)
        assert (m.layers, m.heads, m.kv_heads, m.head_dim) == shape, name


TOTALS = {  # published number of parameters, and the table of embeddings
    "llama-2-7b": (6_738_415_616, 32_000 * 4096),
    "llama-2-13b": (13_015_864_320, 32_000 * 5120),
    "llama-2-70b": (68_976_648_192, 32_000 * 8192),
    "llama-3-8b": (8_030_261_248, 128_256 * 4096),
    "qwen2.5-7b": (7_615_616_512, 152_064 * 3584),
}


@pytest.mark.parametrize("name", sorted({*MODELS, *(run.model for run in RUNS)}))
def test_a_token_reads_all_parameters_but_the_embeddings(name):
    read, (parameters, table) = parameters_read(name), TOTALS[name]
    assert read == parameters - table
    assert rl.model(name).decode(1, 1).traffic["weights"] == pytest.approx(2 * read, rel=1e-3)


@pytest.mark.parametrize("run", RUNS, ids=lambda r: f"{r.machine}/{r.model}/{r.batch}/{r.itemsize}")
def test_no_published_run_beats_its_bound(run):
    roof, read = peak_and_bandwidth(run.machine, run.compute), parameters_read(run.model)
    kv = rl.model(run.model).kv_bytes(1, 1, run.compute)
    most = decode(read, run.itemsize, kv, run.batch, run.context, *roof)
    assert 0.4 < run.tokens_per_s / most < 0.8


def published_rows():
    """The lesson's table: machine, model, bytes a weight, a KV number, batch, context, rate."""
    source = Path(__file__).parents[2] / "notebooks" / "source" / "05_decode.py"
    (table,) = re.findall(r"^published = (\[.*?^\])", source.read_text("utf-8"), re.M | re.S)
    return ast.literal_eval(table)


def test_the_lessons_table_is_made_of_published_runs():
    known = {(r.machine, r.model, r.itemsize, r.batch, r.context, r.tokens_per_s) for r in RUNS}
    for machine, model, itemsize, _, batch, context, seen in published_rows():
        assert (machine, model, itemsize, batch, context, seen) in known


def test_the_witnesses_promise_as_much_too_much_as_the_lesson_says():
    arithmetic, weights = [], []
    for name, model, itemsize, kv, batch, _, seen in published_rows():
        m, machine = rl.model(model), rl.machine(name)
        read = m.parameters - m.vocab * m.hidden
        arithmetic.append(machine.peak("fp8" if kv == 1 else "fp16") / (2 * read) / seen)
        if batch > 1:
            weights.append(batch * machine.bandwidth() / (read * itemsize) / seen)
    assert (round(min(arithmetic)), round(max(arithmetic))) == (12, 225)
    assert (round(min(weights)), round(max(weights))) == (5, 9)


def test_312_tokens_for_each_of_64_are_what_fits_beside_the_weights():
    """A card's 24 GB are 24 · 2³⁰ bytes, of which a twentieth stays free."""
    card = rl.machine("rtx-4090")
    assert card.capacities["dram"] == 24 * 2**30
    room = 0.95 * 24 * 2**30 - 7e9 * 2
    assert int(room / (64 * 524_288)) == 312
    assert 800 / decode(7e9, 2, 524_288, 64, 312, *CARD) == pytest.approx(0.30, abs=0.005)
    assert 64 < CARD[0] / CARD[1] == pytest.approx(164, abs=0.5)


def test_weights_of_4_bits_with_16_bit_arithmetic_reach_the_ridge_at_74():
    peak, bandwidth = peak_and_bandwidth("h100-sxm", "bf16")
    assert peak / bandwidth * 2 / 2 == pytest.approx(295, abs=0.5)
    assert peak / bandwidth * 0.5 / 2 == pytest.approx(74, abs=0.5)
    assert rl.machine("h100-sxm").measured["bf16"] == pytest.approx(794.5e12)


GPT_FAST_GPUS = {1: 104.9, 2: 168.84, 4: 254.02, 8: 328.43}  # Llama-2-7B, its README


def test_a_law_of_two_runs_comes_within_6_per_cent_of_the_others():
    rates = GPT_FAST_GPUS
    divides = 2 * (1 / rates[1] - 1 / rates[2])
    stays = 1 / rates[1] - divides
    assert (1e3 * divides, 1e3 * stays) == (pytest.approx(7.22, abs=0.005),
                                            pytest.approx(2.31, abs=0.005))  # fmt: skip
    for gpus in (4, 8):
        assert divides / gpus + stays == pytest.approx(1 / rates[gpus], rel=0.06)
    assert stays > divides / 8, "on eight it is most of the step"
    token, bandwidth = rl.model("llama-2-7b").decode(1, 105), rl.machine("a100-sxm-80").bandwidth()
    assert rates[8] * token.bytes / 8 / bandwidth == pytest.approx(0.27, abs=0.005)


@pytest.mark.parametrize(("tokens", "tool", "saved"), [(1024, 16.25, 0.04), (4096, 64.25, 0.01)])
def test_a_tool_that_stores_2s2_saves_next_to_nothing(tokens, tool, saved):
    """LLM-Viewer at 472f71f, prefill: q + n_blocks_r · S · d · 2 + 2 · S², for one head of 64."""
    head, kv_byte = 64, 2
    for onchip in (8 << 10, 20 << 20):  # bytes; a buffer smaller than 8 kB would make it worse
        block = min(math.ceil(onchip / (kv_byte * head)), head)
        assert block == 64
    counted = tokens * head + math.ceil(tokens / block) * tokens * head * 2 + 2 * tokens**2
    materialised, streamed = answer("05-claim-flash")(tokens, head, 2)
    assert 2 * counted / streamed == tool
    assert 1 - 2 * counted / materialised == pytest.approx(saved, abs=0.005)


def test_gpt_fast_counts_the_bytes_that_its_bandwidths_say():
    """Its table has GB/s beside tokens/s: bytes a token within 7 % of weights and cache."""
    printed = [(2, 104.9, 1397.31), (1, 155.58, 1069.20), (INT4_GROUP_32, 196.80, 862.69)]
    for itemsize, tokens_per_s, gb_per_s in printed:
        counted = LLAMA_2_7B * itemsize + 105 * 524_288
        assert gb_per_s * 1e9 / tokens_per_s == pytest.approx(counted, rel=0.07)


def test_the_library_and_decode_agree_where_the_lesson_says_so():
    """The whole ledger has activations too: little at batch 1, some per cent at 64."""
    peak, bandwidth = peak_and_bandwidth("h100-sxm", "bf16")
    for batch, context in itertools.product((1, 16, 64), (105, 1152)):
        mine = decode(LLAMA_2_7B, 2, 524_288, batch, context, peak, bandwidth)
        theirs = rl.model("llama-2-7b").decode(batch, context).tokens_per_s("h100-sxm")
        assert theirs == pytest.approx(mine, rel=0.05)


@given(n=sizes, k=sizes, b=st.integers(1, 4096), c=sizes, peak=rates, bandwidth=rates)
def test_more_sequences_are_more_tokens_and_never_b_times_as_many(n, k, b, c, peak, bandwidth):
    one, more, many = (decode(n, 2, k, i, c, peak, bandwidth) for i in (1, b, b + 1))
    assert one * (1 - 1e-9) <= more <= many * (1 + 1e-9)
    assert more <= b * one * (1 + 1e-9)


@given(n=st.integers(10**6, 10**11), k=st.integers(1, 10**6), c=st.integers(0, 10**5))
def test_a_large_enough_batch_takes_as_long_to_compute_as_to_carry(n, k, c):
    peak, bandwidth = peak_and_bandwidth("h100-sxm", "bf16")
    batch = answer("05-claim-always")(n, k, c, peak, bandwidth)
    if batch:
        arithmetic = 2 * n * batch / peak
        assert arithmetic == pytest.approx((2 * n + batch * k * c) / bandwidth, rel=1e-6)
    else:
        assert 2 * n / peak <= k * c / bandwidth


def test_llama_3_8b_on_an_h100_is_limited_by_computing_only_with_short_contexts():
    enough, roof = answer("05-claim-always"), peak_and_bandwidth("h100-sxm", "bf16")
    assert enough(LLAMA_3_8B, 131_072, 128, *roof) == pytest.approx(440, abs=5)
    assert enough(LLAMA_3_8B, 131_072, 0, *roof) == pytest.approx(roof[0] / roof[1])
    longest = 2 * LLAMA_3_8B * roof[1] / roof[0] / 131_072
    assert 380 < longest < 395
    assert enough(LLAMA_3_8B, 131_072, math.ceil(longest), *roof) == 0


def test_attention_has_one_flop_a_byte_and_more_where_heads_share():
    """One FLOP/byte with 16-bit numbers, g of them with g query heads for a KV head."""
    for heads, kv_heads, expected in ((32, 32, 1), (32, 8, 4), (64, 8, 8)):
        assert answer("05-attention")(heads, kv_heads, 2, 7, 999) == expected
    op = rl.attention(3, 1, 4000, 32, 8, 128, "bf16")
    cache = 2 * 3 * 4000 * 8 * 128 * 2
    products = 2 * 2 * 3 * 4000 * 32 * 128
    assert products / cache == answer("05-attention")(32, 8, 2, 3, 4000)
    assert op.bytes == pytest.approx(cache, rel=0.01) and op.flops == pytest.approx(
        products, rel=0.05
    )


def test_fewer_bits_bring_most_at_batch_1_and_less_with_every_cache():
    gain = answer("05-fewer-bits")
    assert gain(LLAMA_2_7B, 4, 32, 4, 524_288, 1, 0) == pytest.approx(2 / INT4_GROUP_32)
    gains = [gain(LLAMA_2_7B, 4, 32, 4, 524_288, 8, context) for context in (0, 500, 5000, 50_000)]
    assert gains == sorted(gains, reverse=True) and 1 < gains[-1] < 1.2
    assert gain(LLAMA_2_7B, 4, 32, 4, 524_288, 1, 105) > 196.80 / 104.9


@pytest.mark.parametrize(("experts", "active", "batch"), [(8, 2, 3), (16, 4, 5), (64, 6, 12)])
def test_the_experts_of_a_batch_are_those_that_drawing_lots_gives(experts, active, batch):
    rng = random.Random(5)

    def step():
        return len({e for _ in range(batch) for e in rng.sample(range(experts), active)})

    drawn = np.mean([step() for _ in range(4000)])
    assert answer("05-experts")(experts, active, batch) == pytest.approx(drawn, rel=0.02)


@pytest.mark.parametrize(
    ("tokens", "head_dim", "times"), [(1024, 64, 17), (4096, 64, 65), (2048, 128, 17)]
)
def test_attention_in_memory_moves_s_over_d_times_as_much_and_one(tokens, head_dim, times):
    """8.91 MB against 0.524 MB at 1024 tokens and width 64."""
    materialised, streamed = answer("05-claim-flash")(tokens, head_dim, 2)
    assert materialised / streamed == times
    if (tokens, head_dim) == (1024, 64):
        assert (materialised, streamed) == (pytest.approx(8.91e6, rel=1e-3), 524_288)
