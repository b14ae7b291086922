"""Wrong answers that a reader is likely to give, written as a reader writes them: each has a name.

The registry's own test gives every misconception its name back; here the answers are written down
once more, so that a misconception that nobody would have is noticed.
"""

from __future__ import annotations

import math

import pytest

from rooflab.exercises.judge import judge
from rooflab.exercises.lessons.lesson03 import CANNOT_TELL, LOG
from rooflab.exercises.observe.collect import collect
from rooflab.exercises.registry import exercise

SEEDS = (0, *range(40, 60))


def attainable_by_slope(products, batch, itemsize, peak, bandwidth):
    """04-last with the share of a roof that has no flat part."""

    def knee(i, o):
        return 1 / (2 * bandwidth / itemsize / peak - 1 / i - 1 / o)

    place = max(range(len(products)), key=lambda at: knee(*products[at]))
    i, o = products[place]
    intensity = 2 * batch * i * o / ((batch * i + i * o + batch * o) * itemsize)
    return place, math.ceil(knee(i, o)), intensity * bandwidth / peak


def filled_in_total(parameters, kv, context, promised, memory, peak, bandwidth):
    """05-fill with a step as long as all sequences of the memory's batch may take together."""
    held = max(0, int((memory - 2 * parameters) / (kv * context)))
    seconds = held / promised
    cache = kv * context / bandwidth
    kept = min(
        (seconds - 2 * parameters / bandwidth) / cache, seconds / (2 * parameters / peak + cache)
    )
    return held, max(0, int(kept)), "memory" if held < int(kept) else "promise"


def reached_in_total(parameters, kv, context, promised, memory, peak, bandwidth):
    """05-fill with batch / step = promised, while the weights take longer than the arithmetic."""
    held = max(0, int((memory - 2 * parameters) / (kv * context)))
    kept = int(2 * parameters / (bandwidth / promised - kv * context))
    return held, kept, "memory" if held < kept else "promise"


def warm_by_rate(n, itemsize, seconds, bandwidth, caches):
    rate = 3 * n * itemsize / seconds
    fits = [name for name, size in caches.items() if 2 * n * itemsize <= size]
    return rate, rate / bandwidth, "dram" if rate <= bandwidth else (fits or ["dram"])[0]


def predict_with_one_more(tokens, inputs, outputs, first, again, copy, peak):
    weights = inputs * outputs
    return min(weights * (first + tokens * again), weights * copy + 2 * tokens * weights / peak)


def intensity(m, n, k, s):
    return 2 * m * n * k / (s * (m * n + m * k + n * k))


def product_with_old_c(m, n, k, s, acc=False):
    flops, nbytes = 2 * m * n * k, s * (m * k + k * n + (1 + acc) * m * n)
    if acc:
        flops += m * n
    return flops, nbytes, flops / nbytes


def log_but(row, word):
    return [*LOG[: row - 1], word, *LOG[row:]]


ANSWERS = [
    ("01-three-intensities", lambda n: (2 / 4, 1, n / 3), "y not read"),
    ("01-speed-limit", lambda p, b, s: p / (2 / (2 * s) * b), "y not read"),
    ("01-product", product_with_old_c, "old C added at the end"),
    ("02-claim-warm", warm_by_rate, "slow, so it was the memory"),
    ("03-log", log_but(6, CANNOT_TELL), "nothing to see in row 6"),
    ("03-log", log_but(7, "cannot_tell"), "nothing to see in row 7"),
    ("04-shapes", lambda b, n, i, o, d: (1 if d else b * n, o, i), "one sequence writes"),
    ("04-shapes", lambda b, n, i, o, d: (b if d else n, o, i), "one sequence reads"),
    ("04-intensities", lambda b, n, i, o, s: (intensity(b * n, o, i, s), intensity(1, o, i, s)),
     "one sequence writes"),
    ("04-intensities", lambda b, n, i, o, s: (intensity(n, o, i, s), intensity(b, o, i, s)),
     "one sequence reads"),
    ("04-predict", predict_with_one_more, "one vector too many"),
    ("04-last", attainable_by_slope, "above the roof"),
    ("05-fill", filled_in_total, "the promise as a total"),
    ("05-fill", reached_in_total, "a total to be reached"),
    ("05-decode", lambda n, s, k, b, c, p, w: b / max(2 * n * b / p, s * n / w, k * b * c / w),
     "the longest of three"),
]  # fmt: skip


@pytest.mark.parametrize(("id", "answer", "name"), ANSWERS, ids=[f"{a[0]} {a[2]}" for a in ANSWERS])
def test_a_plausible_wrong_answer_has_a_name(id, answer, name):
    found = exercise(id)
    for seed in SEEDS:
        cases = found.draw(seed)
        told = judge(found, cases, collect(found.kind, cases, answer))
        assert not told.passed and told.misconception == name and told.hint, (seed, told)
