"""The weights of a transformer: made at random, or the learner's own.

Names are those of the operations ("q", "gate", "head", …); a name that every layer has comes with
a leading axis of layers. Matrices are (layers, outputs, inputs), as y = x Wᵀ wants them.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from rooflab.measure.backend import Backend
from rooflab.measure.transformer_products import array_dtype, relaid
from rooflab.predict.workload_model import Model

_CHUNK = 1 << 22  # numbers drawn at once: halves are drawn in fp32 and rounded


@dataclass(frozen=True, eq=False)
class Weights:
    """``arrays``: name → one array a layer (a single one for embed, positions, head, norm).

    Matrices may be stored by rows or by columns; :meth:`lay` changes that, never the numbers.
    """

    model: Model
    dtype: str
    backend: Backend
    arrays: dict[str, list[Any]]

    @property
    def nbytes(self) -> int:
        """Bytes of all weights, each once."""
        return sum(a.nbytes for arrays in self.arrays.values() for a in arrays)

    def matrices(self, name: str) -> list[Any]:
        """The matrices (outputs, inputs) of a product; the head of a tied model is its table."""
        return self.arrays["embed" if name == "head" and self.model.tied else name]

    def lay(self, name: str, columns: bool) -> None:
        """Store the matrices of ``name`` by columns or by rows, in the memory they have."""
        matrices = self.matrices(name)
        matrices[:] = [relaid(matrix, columns, self.backend.xp) for matrix in matrices]


def require_loop(model: Model) -> Model:
    """Return ``model`` if the loop can run it; ValueError naming the part that it has not."""
    if not isinstance(model, Model):
        kind = type(model).__name__
        raise TypeError(f"model={model!r} is a {kind}; use rl.Model(…) or rl.model('gpt2')")
    parts = {
        "experts": model.experts, "window": model.window, "qk_norm": model.qk_norm,
        "latent": model.latent,
        "norms": 0 if model.norms == 2 else model.norms,
    }  # fmt: skip
    for name, value in parts.items():
        if value:
            raise ValueError(
                f"model: the loop runs plain decoders, and {model.name} has {name}={value}; "
                "m.decode(…) analyses it"
            )
    if not model.positions and model.head_dim % 2:
        raise ValueError(f"model: head_dim={model.head_dim} must be even: positions turn pairs")
    return model


def shapes(model: Model) -> dict[str, tuple[int, ...]]:
    """Shape of every array of weights, the axis of layers first where there is one."""
    hidden, layers = model.hidden, model.layers
    found: dict[str, tuple[int, ...]] = {"embed": (model.vocab, hidden)}
    if model.positions:
        found["positions"] = (model.positions, hidden)
    for p in model.products[:-1]:
        found[p.name] = (layers, p.outputs, p.inputs)
        if p.bias:
            found[f"{p.name} bias"] = (layers, p.outputs)
    for name, lead in (("norm 1", (layers,)), ("norm 2", (layers,)), ("norm", ())):
        found[name] = (*lead, hidden)
        if model.norm == "layer":
            found[f"{name} bias"] = (*lead, hidden)
    if not model.tied:
        found["head"] = (model.vocab, hidden)
    return found


def random_weights(model: Model, dtype: str, backend: Backend, seed: int = 0) -> Weights:
    """Weights of ``model`` drawn evenly, scaled so that a product keeps the size of its input."""
    kind, xp = array_dtype(dtype, backend), backend.xp
    rng = xp.random.default_rng(seed)
    arrays = {}
    for name, shape in shapes(model).items():
        flat = xp.empty(math.prod(shape), kind)
        if "norm" in name and "bias" not in name:
            flat[...] = 1
        else:
            width = 0.1 if "bias" in name else math.sqrt(3 / shape[-1])
            for start in range(0, flat.size, _CHUNK):
                part = flat[start : start + _CHUNK]
                part[...] = (2 * rng.random(part.size, dtype=np.float32) - 1) * width
        arrays[name] = _split(name, flat.reshape(shape))
    return Weights(model, dtype, backend, arrays)


def given_weights(model: Model, given: Mapping[str, Any], dtype: str, backend: Backend) -> Weights:
    """A copy of ``given`` (arrays by name, see :func:`shapes`) on ``backend``.

    Raises ValueError naming what is missing, unknown or of the wrong shape.
    """
    wanted = shapes(model)
    if not isinstance(given, Mapping):
        raise TypeError(f"weights={type(given).__name__} must be a dict of arrays by name")
    wrong = sorted(set(wanted) ^ set(given))
    if wrong:
        what = "missing" if wrong[0] in wanted else "unknown"
        raise ValueError(f"weights: {wrong[0]!r} is {what}; there are {', '.join(wanted)}")
    kind, arrays = array_dtype(dtype, backend), {}
    for name, shape in wanted.items():
        found = backend.xp.array(given[name], dtype=kind, order="C")
        if found.shape != shape:
            raise ValueError(f"weights[{name!r}] has shape {found.shape}; it must be {shape}")
        arrays[name] = _split(name, found)
    return Weights(model, dtype, backend, arrays)


def _split(name: str, array: Any) -> list[Any]:
    """One array a layer; those that no layer owns stay whole."""
    whole = name in ("embed", "positions", "head", "norm", "norm bias")
    return [array] if whole else list(array)
