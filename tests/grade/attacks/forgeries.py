"""Answers to byte golf, timing and schedules that reach into what watches them, each whole.

They run in the real sandbox, with nothing forbidden. What they compute or do is not right, so no
change to the counter, to the clock or to what is handed out may make it so.
"""

WASTE = "\ndef golf_axpy(a, x, y):\n    return a * x + y\n"

GOLF = {  # golf_axpy(a, x, y): three passes where one would do, or nothing at all
    "another run": """
import rooflab.exercises.observe.golf as g
honest = g.played
def forged(case, answer, given, limits, record=False):
    seen, program = honest(case, lambda a, x, y: a * x + y, given, limits, record)
    for trip in seen["trips"]: trip["moved"] = 0
    seen["trips"][0]["moved"] = seen["bytes"] = 3 * seen["size"]
    return seen, program
g.played = forged
golf_axpy = print""",
    "a free bus": """
import rooflab.labs.golf.cache as c
c.LeastRecentlyUsed.call = lambda *a, **k: None
for name in dir(c):
    thing = getattr(c, name)
    if isinstance(thing, type) and hasattr(thing, "call"): thing.call = lambda *a, **k: None
""" + WASTE,
    "behind them, by the owner": """
import numpy as np
def golf_axpy(a, x, y):
    raw = object.__getattribute__(y, "array").copy() + a * object.__getattribute__(x, "array")
    out = np.empty_like(y)
    object.__getattribute__(out, "array")[...] = raw
    return out""",
    "calls left out": """
import rooflab.labs.golf.program as p
honest = p.Recorder.program
def program(self, answer):
    found = honest(self, answer)
    found["calls"] = [c for c in found["calls"] if c[0] != "multiply.__call__"]
    return found
p.Recorder.program = program""" + WASTE,
    "a text that grows": """
import base64, zlib
import rooflab.exercises.observe.golf as g
bomb = base64.b64encode(zlib.compress(b" " * (1 << 27))).decode()
g.packed = lambda program: bomb""" + WASTE,
    "a program without an end": """
import rooflab.exercises.observe.golf as g
honest = g.packed
call = ["matmul.__call__", [{"at": 900}, {"at": 900}], {}, 900]
g.packed = lambda program: honest({**program, "calls": [
    ["ones", [[999, 999]], {}, 900], *[call] * 40_000]})""" + WASTE,
    "all the memory": """
import rooflab.exercises.observe.golf as g
honest = g.packed
g.packed = lambda program: honest({**program, "calls": [
    *program["calls"], *[["ones", [[1 << 33]], {}, 901 + i] for i in range(9)]]})""" + WASTE,
}  # fmt: skip

SQUARES = {  # squares(x): a number that golf has not seen computed
    "the case's seed": """
import sys, numpy as np
def squares(x):
    frame = sys._getframe()
    while frame and "case" not in frame.f_locals: frame = frame.f_back
    from rooflab.labs.golf import HOLES
    case = frame.f_locals["case"]
    (y,) = HOLES[case["hole"]].make(case["n"], case["dtype"], case["seed"])
    np.sum(x)
    return y.dtype.type(np.float64(sum(float(v) ** 2 for v in y[:9])) * len(y) / 9)"""
}

FORMULA = """
def time_axpy(cp, x, y, a):
    {before}
    few = slice(0, 1024)
    cp.cublas.axpy(a, x[few], y[few])
    start, stop = cp.cuda.Event(), cp.cuda.Event()
    start.record()
    cp.cublas.axpy(a, x[few], y[few])
    stop.record()
    stop.synchronize()
    cp.cuda.get_elapsed_time(start, stop)
    {after}
    return 3 * x.nbytes / cp.gpu.device.bandwidth
"""
ENTRIES = (
    'cp.gpu.log += [{"what": "record", "event": 8, "stream": 0, "stamp": 0.0, "at": 0.0, '
    '"buffers": 2}, {"what": "launch", "kernel": "axpy", "stream": 0, "flops": 2 * x.size, '
    '"bytes": 3 * x.nbytes, "l2_bytes": 0, "written_back": 0, "setup": False, "begin": 0.0, '
    '"end": 1e-3, "library": "cublas", "at": 0.0}, {"what": "record", "event": 9, "stream": 0, '
    '"stamp": 1e-3, "at": 0.0, "buffers": 2}, {"what": "elapsed", "start": 8, "stop": 9, '
    '"ms": 1.0}]'
)
TIMING = {  # time_axpy(cp, x, y, a): the right seconds, from the device's own figures
    "not measured": FORMULA.format(before="pass", after="pass"),
    "a log of its own": FORMULA.format(before="pass", after=ENTRIES),
    "commands that cannot be": FORMULA.format(
        before="pass",
        after='cp.gpu.commands += [["launch", "axpy", 0, 2.0 * x.size, "float32", '
        '[[1, 0, 1 << 60]], [[2, 0, 1 << 60]], "cublas"], ["record", 9, 0]]',
    ),
    "another run": """
import rooflab.exercises.observe.timing as t
honest = t.run
def forged(case, answer):
    return {"value": 12.0 * case["n"] / case["device"]["bandwidth"], "commands": []}
t.run = forged
time_axpy = print""",
}

SUM = '\ndef vectorised(nest):\n    return nest.split("k", 8).vectorize("ki")\n'
SCHEDULE = {  # vectorised(nest): the sum over k as a vector, no vector at all, or no schedule
    "always legal": """
import rooflab.labs.loops.legality.separation as s
from rooflab.labs.loops.legality.verdict import LEGAL
from rooflab.labs.loops.nest import Nest
s.check = lambda *a, **k: LEGAL
Nest.check = lambda *a, **k: LEGAL
"""
    + SUM,
    "the reference": """
try:
    from rooflab.course.schedules import VECTORISE
    vectorised = VECTORISE.reference
except Exception as error:
    vectorised = lambda nest: nest""",
    "a log without end": """
def vectorised(nest):
    vars(nest)["log"] = (("reverse", ("i",)),) * 20_000
    return nest""",
    "another problem": """
from rooflab.labs.loops.nest import Nest
def vectorised(nest):
    other = Nest({"i": 4, "k": 4, "j": 8}, "C[i,j] += A[i,k]*B[k,j]").vectorize("j")
    vars(other).update(extents=nest.extents, shapes=nest.shapes)
    return other""",
}
