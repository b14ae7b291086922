"""rooflab: count the FLOPs and bytes of an operation, predict its time, measure it, explain it.

``import rooflab as rl`` gives every name a lesson uses. Names are imported on first use, so that
the import itself stays light (no scipy, matplotlib, ipywidgets, numba or cupy until needed).
"""

from __future__ import annotations

from rooflab.lazy import attach

__version__ = "0.2.0"

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
    "conclude": "rooflab.exercises.sentences",
}
_MODULES = {
    "cache": "rooflab.labs.cache",
    "loops": "rooflab.labs.loops",
    "memory": "rooflab.labs.memory",
    "search": "rooflab.labs.search",
    "show": "rooflab.show",
    "live": "rooflab.live",
}

__getattr__, __dir__, __all__ = attach(__name__, _HOME, _MODULES)
