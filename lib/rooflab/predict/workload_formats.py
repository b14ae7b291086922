"""Number formats of a step: what ``quant="w4a8"`` means, and what is assumed on a machine.

Weights, KV cache and activations have a format each. Products are computed in the wider of their
two operands' formats, so that the activations decide which of a machine's peaks counts: weights
of 8 bits bring the 8-bit peak only where the activations have 8 bits too.
"""

from __future__ import annotations

from rooflab.count.dtypes import DTYPES, DType, as_dtype
from rooflab.count.llm_steps import Formats
from rooflab.count.suggest import unknown
from rooflab.predict.machine import Machine

# Bits of the weights and of the activations, as serving software writes them.
QUANTS = {
    "w16a16": ("bf16", "bf16"), "w8a16": ("int8", "bf16"), "w8a8": ("int8", "int8"),
    "w4a16": ("int4", "bf16"), "w4a8": ("int4", "int8"), "w4a4": ("int4", "int4"),
}  # fmt: skip
# Formats that are multiplied as they are stored wherever a machine can; integers of 4 bits are
# nearly always widened first.
FOLLOWED = ("fp8", "int8", "fp6", "fp4")
PLAIN = as_dtype("activations", "bf16")  # what activations are in where nothing else is known


def formats_of(
    weights: object = None, kv: object = "bf16", activations: object = None, quant: object = None
) -> Formats:
    """Return the formats of a step from its arguments; see :meth:`Model.decode`.

    ``weights`` None is bf16. ``quant``: one of :data:`QUANTS`, or a format that weights and
    activations share ("fp8", "nvfp4", …); it replaces ``weights`` and ``activations``. Raises
    ValueError or TypeError naming the argument that does not fit.
    """
    kv = as_dtype("kv", kv)
    if quant is not None:
        if weights is not None or activations is not None:
            raise ValueError(
                f"quant={quant!r} says what weights= and activations= are; give one or the other"
            )
        return Formats(*_quantised(quant, kv))
    weights = as_dtype("weights", "bf16" if weights is None else weights)
    if activations is not None:
        return Formats(weights, kv, as_dtype("activations", activations))
    return Formats(weights, kv, sixteen_bits(weights), assumed=True)


def _quantised(quant: object, kv: DType) -> tuple[DType, DType, DType]:
    key = quant.strip().lower() if isinstance(quant, str) else quant
    if isinstance(key, str) and key in QUANTS:
        weights, activations = (as_dtype("quant", name) for name in QUANTS[key])
        return weights, kv, activations
    try:
        both = as_dtype("quant", quant)
    except ValueError:
        raise unknown("quant", quant, (*QUANTS, *DTYPES)) from None
    return both, kv, both


def sixteen_bits(weights: DType) -> DType:
    """Format of the activations beside ``weights`` that are only stored narrow: bf16, or the
    weights' own format where that is a float of 16 or 32 bits."""
    plain = weights.kind == "float" and weights.bits in (16, 32) and not weights.group
    return weights if plain else PLAIN


def formats_on(m: Machine, formats: Formats) -> tuple[Formats, str]:
    """Return ``formats`` as ``m`` runs them, and a note on what was assumed ("" if nothing was).

    Activations that nobody named follow weights of less than 16 bits where ``m`` has a peak for
    their format; elsewhere they have 16 bits.
    """
    if not formats.assumed or formats.weights.bits >= 16:
        return formats, ""
    weights, wide = formats.weights, sixteen_bits(formats.weights)
    if weights.family not in FOLLOWED or not m.has_peak(weights):
        why = f"{m.id} lists no {weights.family} peak"
        if m.has_peak(weights):
            why = f"weights in {weights} are mostly widened before they are multiplied"
        return formats, f"{wide} activations assumed, no arithmetic is saved: {why}"
    whole = weights.kind == "int" and weights.family in DTYPES
    kind = as_dtype("activations", weights.family) if whole else weights
    return Formats(weights, formats.kv, kind), (
        f"{kind} activations assumed: {m.id} has an {weights.family} peak; "
        f"weights that are only stored so are computed in 16 bits: activations='{wide}'"
    )


def narrowest(formats: Formats) -> int:
    """Bits of the narrowest format in which products with the weights may be computed.

    No narrower than the weights, and no narrower than activations that were named.
    """
    return max(formats.weights.bits, 0 if formats.assumed else formats.activations.bits)
