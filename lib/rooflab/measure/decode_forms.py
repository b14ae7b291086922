"""Which way to compute each weight product, found by measuring: see transformer_products.py.

All ways are timed on the model's own memory, sweep after sweep through all weights, so that each
product finds them as cold as the loop will. A way that wants W stored otherwise reads the same
memory as if it were: the numbers are wrong, the time is right, and nothing has to be stored twice.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from time import perf_counter
from typing import Any

from rooflab.count.suggest import unknown
from rooflab.measure.ceiling import quickest
from rooflab.measure.decode_clock import Clock
from rooflab.measure.timing import Call, undisturbed
from rooflab.measure.told import fewer
from rooflab.measure.transformer import activation_dtype
from rooflab.measure.transformer_products import FORMS, Form, bind, by_columns, viewed
from rooflab.measure.transformer_weights import Weights

ROUNDS, FEWEST, SECONDS = fewer(5), 2, 1.0  # sweeps through the weights; fewer after so long
HOPELESS = 1.6  # times the fastest, for every product: a form that need not be timed again


@dataclass(frozen=True)
class Trial:
    """What the choice rests on: seconds a product (one layer) of each form, and the fastest."""

    seconds: Mapping[str, Mapping[str, float]]
    chosen: Mapping[str, str]


def try_forms(weights: Weights, batch: int, rounds: int = ROUNDS) -> Trial:
    """Time every form of every product for ``batch`` tokens, and choose the fastest.

    Products of equal shape are chosen together: they are the same call on other numbers.
    """
    clock = Clock(weights.backend)
    sweeps = {name: _sweep(weights, form, batch) for name, form in FORMS.items()}
    samples: dict[str, dict[str, list[float]]] = {name: {} for name in sweeps}
    alive = dict(sweeps)
    began = perf_counter()
    with undisturbed():
        for number in range(rounds):
            if number >= FEWEST and perf_counter() - began > SECONDS:
                break
            for form, sweep in alive.items():
                clock.start()
                for name, calls in sweep.items():
                    for call in calls:
                        call()
                    clock(name)
                for name, seconds in clock.seconds().items():
                    samples[form].setdefault(name, []).append(seconds / len(sweep[name]))
            alive = _promising(alive, samples)
    return _trial(weights, samples)


def given_forms(weights: Weights, forms: object) -> dict[str, str]:
    """``forms`` as one form a product: a form's name for all of them, or a dict by product."""
    names = [p.name for p in weights.model.products]
    if not isinstance(forms, (str, Mapping)):
        raise TypeError(f"forms={forms!r} must be a form's name, or a dict of them by product")
    wanted = dict.fromkeys(names, forms) if isinstance(forms, str) else dict(forms)
    for name in wanted:
        if name not in names:
            raise unknown("forms", name, names)
    for form in wanted.values():
        if not isinstance(form, str) or form not in FORMS:
            raise unknown("forms", form, FORMS)
    missing = [name for name in names if name not in wanted]
    if missing:
        raise ValueError(f"forms: {missing[0]!r} is missing; say a form for {', '.join(names)}")
    return wanted


def lay(weights: Weights, forms: Mapping[str, str]) -> dict[str, Form]:
    """Store every product's weights as its form wants them, and return the forms."""
    for name, form in forms.items():
        weights.lay(name, by_columns(FORMS[form], weights.backend))
    return {name: FORMS[form] for name, form in forms.items()}


def for_many(forms: Mapping[str, Form], sequences: int) -> dict[str, Form]:
    """The forms of a prefill, on the weights as they lie: one GEMM for its many tokens.

    Only the last token of each sequence meets the head, so that one sequence makes that a GEMV.
    """
    many = {
        name: FORMS["gemm on Wᵀ" if form.transposed else "gemm"] for name, form in forms.items()
    }
    if sequences == 1:
        many["head"] = FORMS["gemv ×B on Wᵀ" if forms["head"].transposed else "gemv ×B"]
    return many


def _sweep(weights: Weights, form: Form, batch: int) -> dict[str, list[Call]]:
    """The calls of all products in one form, a product's layers one after the other."""
    backend, model = weights.backend, weights.model
    xp, kind = backend.xp, activation_dtype(weights.dtype)
    columns, found = by_columns(form, backend), {}
    for p in model.products:
        x, y = xp.ones((batch, p.inputs), kind), xp.empty((batch, p.outputs), kind)
        found[p.name] = [
            bind(form, viewed(_flat(matrix), matrix.shape, columns), x, y, backend)
            for matrix in weights.matrices(p.name)
        ]
    return found


def _flat(matrix: Any) -> Any:
    return (matrix if matrix.flags.c_contiguous else matrix.T).reshape(-1)


def _promising(
    alive: Mapping[str, dict[str, list[Call]]], samples: Mapping[str, dict[str, list[float]]]
) -> dict[str, dict[str, list[Call]]]:
    """Drop a form that is far behind for every product; sweeps stay whole, so that they stay
    cold."""
    best = {
        name: min(min(samples[form][name]) for form in alive) for name in next(iter(alive.values()))
    }
    return {
        form: sweep
        for form, sweep in alive.items()
        if any(min(samples[form][name]) <= HOPELESS * best[name] for name in sweep)
    }


def _trial(weights: Weights, samples: Mapping[str, dict[str, list[float]]]) -> Trial:
    shapes = {p.name: (p.outputs, p.inputs) for p in weights.model.products}
    seconds: dict[str, dict[str, float]] = {}
    for name, shape in shapes.items():
        alike = [other for other in shapes if shapes[other] == shape]
        seconds[name] = {
            form: quickest([s for other in alike for s in found[other]])
            for form, found in samples.items()
        }
    chosen = {name: min(each, key=each.__getitem__) for name, each in seconds.items()}
    return Trial(seconds, chosen)
