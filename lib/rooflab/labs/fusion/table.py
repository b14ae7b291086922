"""The blind table: nine operations as PyTorch runs them eagerly, and fused, with their bytes."""

from __future__ import annotations

import functools
import math
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from types import MappingProxyType

from rooflab.count import Operand, Operation, chain
from rooflab.count.validation import unknown
from rooflab.predict.catalogue import machine as _machine
from rooflab.predict.machine import Machine
from rooflab.predict.roofline import Roofline

Shape = tuple[int, ...]


@dataclass(frozen=True)
class Published:
    """What others measured of one operation: seconds eager and fused, where, and who says so.

    >>> rl.fusion.published("swish").factor.__round__(2)
    2.45
    """

    name: str
    eager: float
    fused: float
    gpu: str
    conditions: str
    source: str

    @property
    def factor(self) -> float:
        """How many times as long the eager kernels took."""
        return self.eager / self.fused


@dataclass(frozen=True)
class Row:
    """An operation of the table: its arrays, its eager kernels and its fused ones.

    A kernel is written "function: read read -> written". ``arrays`` gives shape and format of each.
    Without ``fused``, one kernel does all: no intermediate result is written or read.

    >>> row = rl.fusion.blind_row("swish")
    >>> row.eager[0], row.factor()
    ('sigmoid: x -> s', 2.5)
    """

    name: str
    arrays: Mapping[str, tuple[Shape, str]]
    eager: tuple[str, ...]
    fused: tuple[str, ...] = ()
    source: str = ""

    def kernels(self, fused: bool = False) -> tuple[Operation, ...]:
        """Return the kernels that run, each as an Operation."""
        if fused and not self.fused:
            return (chain(*map(self._kernel, self.eager), fused=True),)
        return tuple(map(self._kernel, self.fused if fused else self.eager))

    def bytes(self, fused: bool = False) -> int:
        """Return the bytes that the kernels move, each operand once a kernel."""
        return chain(*self.kernels(fused)).bytes

    def factor(self, machine: Machine | str | None = None) -> float:
        """Return how many times as much the eager kernels take: bytes, or seconds of the roofline.

        With a ``machine`` every kernel takes what its roofline allows, so that products, which
        fusion leaves alone, weigh in.
        """
        if machine is None:
            return self.bytes() / self.bytes(fused=True)
        m = _machine(machine)
        eager, fused = (
            sum(Roofline(m, op.compute_dtype).time(op) for op in self.kernels(which))
            for which in (False, True)
        )
        return eager / fused

    def _kernel(self, text: str) -> Operation:
        function, _, sides = text.partition(": ")
        reads, writes = (side.split() for side in sides.split("->"))
        names = dict.fromkeys([*reads, *writes])
        operands = tuple(
            Operand(name, *self.arrays[name], reads=reads.count(name), writes=writes.count(name))
            for name in names
        )
        elements = [operand.elements for operand in operands]
        kind = max((o.dtype for o in operands), key=lambda kind: kind.bits)
        if function.startswith("gemm"):  # m·k, k·n and m·n elements: their product is (m·n·k)²
            flops, unit, kind = 2 * math.isqrt(math.prod(elements)), "tensor", operands[0].dtype
        else:
            flops, unit = max(elements), "vector"
        return Operation(function, {}, operands, flops, kind, unit=unit)


def _sized(kinds: Mapping[str, Mapping[str, Shape]]) -> Mapping[str, tuple[Shape, str]]:
    pairs = (
        (name, (shape, kind)) for kind, names in kinds.items() for name, shape in names.items()
    )
    return MappingProxyType(dict(pairs))


def _alike(names: str, shape: Shape) -> dict[str, Shape]:
    return dict.fromkeys(names.split(), shape)


_TOKENS, _WIDTH, _INNER, _VOCABULARY, _HEADS, _HEAD = 4096, 4096, 11008, 128256, 32, 128
_ROWS, _HIDDEN = (_TOKENS, _WIDTH), (_TOKENS, _INNER)
_LOGITS, _LONG = (_TOKENS, _VOCABULARY), (4096, 16384)
_ONE = {"loss": (1,)}

_TABLE = (
    Row(
        "rmsnorm",
        _sized({"bf16": _alike("x z y", _ROWS) | {"w": (_WIDTH,)},
                "fp32": _alike("h h2 n", _ROWS) | _alike("v r", (_TOKENS, 1))}),
        ("to: x -> h", "pow: h -> h2", "mean: h2 -> v", "rsqrt: v -> r", "mul: h r -> n",
         "to: n -> z", "mul: w z -> y"),
        source="Hugging Face LlamaRMSNorm: bf16, normalised in fp32",
    ),
    Row(
        "swish",
        _sized({"fp32": _alike("x s y", _LONG)}),
        ("sigmoid: x -> s", "mul: x s -> y"),
        source="x * torch.sigmoid(x)",
    ),
    Row(
        "mse_loss",
        _sized({"fp32": _alike("p t d d2", _LONG) | _ONE}),
        ("sub: p t -> d", "square: d -> d2", "mean: d2 -> loss"),
        source="torch.mean((p - t) ** 2)",
    ),
    Row(
        "gelu",
        _sized({"fp32": _alike("x a b c d e f h y", _LONG)}),
        ("pow: x -> a", "mul: a -> b", "add: x b -> c", "mul: c -> d", "tanh: d -> e",
         "add: e -> f", "mul: x -> h", "mul: h f -> y"),
        source="written out, as in minGPT; torch's own gelu is one kernel and has nothing to fuse",
    ),
    Row(
        "rope",
        _sized({"bf16": _alike("q r a b y", (_HEADS, _TOKENS, _HEAD))
                | _alike("cos sin", (_TOKENS, _HEAD))
                | _alike("q2 m", (_HEADS, _TOKENS, _HEAD // 2))}),
        ("mul: q cos -> a", "neg: q2 -> m", "cat: q2 m -> r", "mul: r sin -> b", "add: a b -> y"),
        fused=("rope: q cos sin -> y",),
        source="Hugging Face apply_rotary_pos_emb; q2 is a half of q, a view",
    ),
    Row(
        "swiglu",
        _sized({"bf16": _alike("x y", _ROWS) | _alike("g u s p", _HIDDEN)
                | _alike("wg wu", (_INNER, _WIDTH)) | {"wd": (_WIDTH, _INNER)}}),
        ("gemm: x wg -> g", "gemm: x wu -> u", "silu: g -> s", "mul: s u -> p",
         "gemm: p wd -> y"),
        ("gemm: x wg -> g", "gemm: x wu -> u", "silu_mul: g u -> p", "gemm: p wd -> y"),
        source="Hugging Face LlamaMLP, with its three products",
    ),
    Row(
        "cross_entropy",
        _sized({"fp32": _alike("x lp z dlp dx dy", _LOGITS) | _ONE}),
        ("log_softmax: x -> lp", "nll_loss: -> loss", "nll_loss_backward: -> dlp",
         "log_softmax_backward: lp dlp -> dx"),
        ("online_softmax: x -> loss", "gradient: x -> x"),
        source="forward and backward of torch's cross_entropy on fp32 logits; fused: two passes",
    ),
    Row(
        "layernorm",
        _sized({"fp32": _alike("x y", _LONG) | _alike("w b", (_LONG[1],))}),
        ("layer_norm: x w b -> y",),
        source="torch's layer_norm is one kernel already",
    ),
    Row(
        "fused_linear_cross_entropy",
        _sized({"bf16": _alike("x dx", _ROWS) | _alike("w dw", (_VOCABULARY, _WIDTH))
                | _alike("l dl", _LOGITS),
                "fp32": _alike("lf lp dlp df", _LOGITS) | _ONE}),
        ("gemm: x w -> l", "to: l -> lf", "log_softmax: lf -> lp", "nll_loss: -> loss",
         "nll_loss_backward: -> dlp", "log_softmax_backward: lp dlp -> df", "to: df -> dl",
         "gemm: dl w -> dx", "gemm: dl x -> dw"),
        ("gemm: x w -> l", "online_softmax: l -> loss", "gradient: l -> l",
         "gemm: l w -> dx", "gemm: l x -> dw"),
        source="forward and backward of a head with its products, logits upcast to fp32",
    ),
)  # fmt: skip


def blind_table() -> tuple[Row, ...]:
    """Return the nine operations of the blind table, in the order in which they are asked.

    Returns
    -------
    tuple of Row
        Their arrays, eager and fused kernels; :meth:`Row.factor` is the bet.

    Examples
    --------
    >>> [round(row.factor(), 2) for row in rl.fusion.blind_table()][:3]
    [9.0, 2.5, 3.0]
    """
    return _TABLE


def blind_row(name: str) -> Row:
    """Return one operation of the blind table.

    Parameters
    ----------
    name : str
        Such as "rmsnorm"; an unknown one lists all.

    Returns
    -------
    Row
        Its arrays, eager and fused kernels.

    Examples
    --------
    >>> rl.fusion.blind_row("mse_loss").eager
    ('sub: p t -> d', 'square: d -> d2', 'mean: d2 -> loss')
    """
    for row in _TABLE:
        if row.name == name:
            return row
    raise unknown("name", name, [row.name for row in _TABLE])


def published(name: str) -> Published:
    """Return what was published of an operation of the blind table (published.yaml).

    Parameters
    ----------
    name : str
        Such as "rmsnorm".

    Returns
    -------
    Published
        Seconds eager and fused with their GPU, conditions, source, commit and licence.

    Examples
    --------
    >>> rl.fusion.published("rmsnorm").conditions
    'forward, 2048 × 32768 bf16'
    """
    rows = _published()
    if name not in rows:
        raise unknown("name", name, rows)
    return rows[name]


@functools.cache
def _published() -> Mapping[str, Published]:
    import yaml  # costs 20 ms and is needed only when the column is uncovered

    data = yaml.safe_load(files(__package__).joinpath("published.yaml").read_text("utf-8"))
    cited = {
        key: f"{source['title']}; commit {source['commit']}, {source['licence']}"
        for key, source in data["sources"].items()
    }
    return {
        name: Published(
            name, row["eager"] / 1e3, row["fused"] / 1e3, row["gpu"], row["conditions"],
            cited[row["source"]],
        )
        for name, row in data["rows"].items()
    }  # fmt: skip
