"""Activations of a transformer's layer that training keeps, and what recomputing them costs.

The terms are those of V. Korthikanti et al., "Reducing activation recomputation in large
transformer models" (2022): 16-bit activations and dropout masks of a byte, for s positions, b
sequences, width h and a heads. They add up to sbh(34 + 5as/h) bytes.
"""

from __future__ import annotations

from dataclasses import dataclass

from rooflab.count import Operand
from rooflab.count.validation import size, unknown

HOW = ("none", "selective", "full")
#: What is kept: multiples of s·b·h, or of a·s·s·b for what has an element a pair of positions.
LINEAR = {
    "input of the first layer norm": ("fp16", 1), "input of Q, K and V": ("fp16", 1),
    "Q and K": ("fp16", 2), "V": ("fp16", 1), "input of the projection": ("fp16", 1),
    "dropout mask after attention": ("int8", 1), "input of the second layer norm": ("fp16", 1),
    "input of the MLP": ("fp16", 1), "input of GELU": ("fp16", 4),
    "input of the MLP's second product": ("fp16", 4), "dropout mask after the MLP": ("int8", 1),
}  # fmt: skip
SQUARE = {
    "softmax": ("fp16", 1), "dropout mask of the softmax": ("int8", 1),
    "softmax after dropout": ("fp16", 1),
}  # fmt: skip


@dataclass(frozen=True)
class Activations:
    """What one layer keeps for its backward pass, from :func:`activations`.

    >>> rl.fusion.activations(2048, 1, 12288, 96).operands[-3].name
    'softmax'
    """

    sequence: int
    batch: int
    hidden: int
    heads: int

    @property
    def operands(self) -> tuple[Operand, ...]:
        """Every array that is kept, with its name, shape and format."""
        s, b, h, a = self.sequence, self.batch, self.hidden, self.heads
        linear = (Operand(name, (s, b, n * h), kind) for name, (kind, n) in LINEAR.items())
        square = (Operand(name, (b, n * a, s, s), kind) for name, (kind, n) in SQUARE.items())
        return (*linear, *square)

    def bytes(self, recompute: str = "none") -> int:
        """Return the bytes that are kept.

        "selective" recomputes what has an element a pair of positions; "full" keeps the layer's
        input only.
        """
        dropped = {"none": (), "selective": SQUARE, "full": None}[_how(recompute)]
        if dropped is None:
            return self.operands[0].nbytes
        return sum(operand.nbytes for operand in self.operands if operand.name not in dropped)

    def factor(self, recompute: str = "none") -> float:
        """Return the bytes in units of sequence · batch · hidden: 34 + 5as/h, 34, or 2."""
        return self.bytes(recompute) / (self.sequence * self.batch * self.hidden)

    @property
    def forward_flops(self) -> int:
        """FLOPs of the layer's products in a forward pass, 24sbh² + 4s²bh; backward takes twice."""
        s, b, h = self.sequence, self.batch, self.hidden
        return 24 * s * b * h * h + 4 * s * s * b * h

    def added(self, recompute: str) -> float:
        """Return the FLOPs that recomputing adds, as a share of a step without (three forwards)."""
        scores = 4 * self.sequence**2 * self.batch * self.hidden
        again = {"none": 0, "selective": scores, "full": self.forward_flops}[_how(recompute)]
        return again / (3 * self.forward_flops)


def activations(sequence: int, batch: int, hidden: int, heads: int) -> Activations:
    """Count what one layer of a transformer keeps for its backward pass.

    Parameters
    ----------
    sequence, batch : int
        Positions and sequences.
    hidden, heads : int
        Width of the layer, and heads, which divide it.

    Returns
    -------
    Activations
        Its operands, bytes, and what recomputing saves and costs.

    Examples
    --------
    >>> gpt3 = rl.fusion.activations(2048, 1, 12288, 96)
    >>> gpt3.factor() - gpt3.factor("selective"), gpt3.factor("selective")
    (80.0, 34.0)
    >>> round(gpt3.added("full"), 3), round(gpt3.added("selective"), 3)
    (0.333, 0.009)
    """
    sizes = {"sequence": sequence, "batch": batch, "hidden": hidden, "heads": heads}
    checked = {name: size(name, value) for name, value in sizes.items()}
    if checked["hidden"] % checked["heads"]:
        raise ValueError(f"heads={heads} must divide hidden={hidden}")
    return Activations(**checked)


def _how(recompute: object) -> str:
    if recompute not in HOW:
        raise unknown("recompute", recompute, HOW)
    return str(recompute)
