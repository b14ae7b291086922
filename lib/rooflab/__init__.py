"""rooflab: count the FLOPs and bytes of an operation, predict its time, measure it, explain it.

``import rooflab as rl`` gives every name a lesson uses. Names are imported on first use, so that
the import itself stays light (no scipy, matplotlib, ipywidgets, numba or cupy until needed).
"""

from __future__ import annotations

import importlib
import sys
from types import ModuleType

__version__ = "0.1.0"

# Public name → the module that defines it.
_HOME = {
    **dict.fromkeys(("axpy", "dot", "scale", "ger", "outer", "gemv", "gemm"), "rooflab.count.blas"),
    **dict.fromkeys(("conv2d", "pool2d"), "rooflab.count.conv"),
    **dict.fromkeys(("elementwise", "chain"), "rooflab.count.elementwise"),
    **dict.fromkeys(("dtype", "DType"), "rooflab.count.dtypes"),
    **dict.fromkeys(("Operand", "Operation"), "rooflab.count.operation"),
    "si": "rooflab.count.si",
    **dict.fromkeys(("machine", "machines"), "rooflab.predict.catalogue"),
    **dict.fromkeys(("Machine", "Figure"), "rooflab.predict.machine"),
    **dict.fromkeys(("Roofline", "HierarchicalRoofline"), "rooflab.predict.roofline"),
    **dict.fromkeys(("predict", "Prediction"), "rooflab.predict.estimate"),
    **dict.fromkeys(("model", "models"), "rooflab.labs.llm.catalogue"),
    "Model": "rooflab.labs.llm.model",
    "Workload": "rooflab.labs.llm.workload",
    "attention": "rooflab.count.attention",
    "explain": "rooflab.measure.this_machine",
    "Explanation": "rooflab.predict.explain",
    "measure": "rooflab.measure.measure",
    "Measurement": "rooflab.measure.measurement",
    **dict.fromkeys(("this_machine", "this_machine_async"), "rooflab.measure.this_machine"),
    **dict.fromkeys(("free_lunch", "FreeLunch"), "rooflab.measure.free_lunch"),
    **dict.fromkeys(("decode_loop", "loop_weights"), "rooflab.labs.llm.decode_loop"),
    "loop_model": "rooflab.labs.llm.transformer",
    "DecodeRun": "rooflab.labs.llm.decode_loop",
    **dict.fromkeys(
        ("record_decode", "decode_recording", "decode_recordings"),
        "rooflab.labs.llm.decode_prediction",
    ),
    **dict.fromkeys(("predict_decode", "DecodePrediction"), "rooflab.labs.llm.decode_prediction"),
    "loop_efficiency": "rooflab.labs.llm.decode_prediction",
    **dict.fromkeys(("golf", "Golf"), "rooflab.labs.golf.score"),
    "record": "rooflab.measure.record",
    **dict.fromkeys(("recordings", "recording"), "rooflab.measure.recording"),
    "check": "rooflab.exercises.check",
    "ask": "rooflab.exercises.ask",
    "guess": "rooflab.exercises.guesses",
    "my_guesses": "rooflab.exercises.my_guesses",
    **dict.fromkeys(("reveal", "show_me"), "rooflab.exercises.guesses"),
    "mine": "rooflab.exercises.mine",
    "progress": "rooflab.exercises.progress",
    "lecture": "rooflab.lecture.present",
    "sort": "rooflab.exercises.sorting",
    "conclude": "rooflab.conclusions",
}
_MODULES = {
    "cache": "rooflab.labs.cache",
    "loops": "rooflab.labs.loops",
    "memory": "rooflab.labs.memory",
    "search": "rooflab.labs.search",
    "show": "rooflab.show",
    "live": "rooflab.live",
}

__all__ = [*_HOME, *_MODULES]


def __getattr__(name: str) -> object:
    if name in _HOME:
        from rooflab.optional import installed

        with installed(f"rooflab.{name}"):
            found = getattr(importlib.import_module(_HOME[name]), name)
    elif name in _MODULES:
        found = importlib.import_module(_MODULES[name])
    else:
        raise AttributeError(f"module 'rooflab' has no attribute {name!r}")
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])


class _Package(ModuleType):
    """The package, in which ``rl.predict`` stays the function when ``rooflab.predict`` loads.

    Python binds a subpackage to its parent under its own name; ``predict`` and ``measure`` are
    functions first.
    """

    def __setattr__(self, name: str, value: object) -> None:
        if not (name in _HOME and isinstance(value, ModuleType)):
            super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Package
