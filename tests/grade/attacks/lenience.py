"""Attacks on what makes the grader kind: lookups by name, one's own classes, stand-ins, tries.

Each is a small hand-in: name → (exercise, source of its answer, sources of the cells above it). A
cell above may be a pair: its source and the exercise that it answers. None earns a point for its
exercise. What each once did, or would do, stands in its name.
"""

WIDE = "    return np.sum(raw * raw) + 0 * np.max(x)"  # works on what golf does not see
BROKEN = """    start, stop = cp.cuda.Event(), cp.cuda.Event()
    start.record(); cp.cublas.axpy(a, x, y); stop.record(); stop.synchronize()
    cp.cuda.get_elapsed_time(start, stop)
    return 12 * x.size / bandwidth + 1e-6"""  # seconds that no event gave: the first launch is slow


def golf(how: str, more: str = "") -> str:
    """squares(x), with ``how`` giving the plain array."""
    return f"import numpy as np, rooflab as rl\n{more}\ndef squares(x):\n    raw = {how}\n{WIDE}"


def timed(how: str, more: str = "") -> str:
    """time_axpy, with ``how`` giving the device's bandwidth."""
    return (
        f"import rooflab as rl\n{more}\ndef time_axpy(cp, x, y, a):\n    bandwidth = {how}\n"
        f"{BROKEN}"
    )


IMPORT = """
def bring(name, space, *more):
    return Own(space)
class Own:
    def __init__(self, space): self.space = space
    def report(self, word, exercise, kind, cases, answer, again=False):
        seen = []
        for c in cases:
            x = np.random.default_rng(c['seed']).standard_normal(c['n'], c['dtype'])
            sums = [float(np.random.default_rng(c['seed']).uniform(0.5, 1.5, 1)[0] * np.sum(x * x))]
            size = x.nbytes
            trip = {'name': 'x', 'way': 'read', 'where': 'memory', 'width': x.itemsize,
                    'bytes': size, 'moved': size, 'times': 1, 'largest': size, 'again': 0}
            seen.append({'value': {'shape': [], 'dtype': c['dtype'], 'sums': sums}, 'bytes': size,
                         'trips': [trip], 'size': size})
        print('\\nROOFLAB', word, exercise, str(seen).replace(chr(39), chr(34)))
TABLE = {'__import__': bring, 'print': print, 'str': str, 'chr': chr, '__build_class__': 0}
def squares(x): return np.sum(x * x)
"""

MINE = {  # through rl.mine, which finds what the notebook defines
    "the device by a function of mine": (
        "01-cuda-axpy",
        timed("rl.mine.width(cp)"),
        ["def width(cp): return cp.gpu.device.bandwidth"],
    ),
    "its own right answer, saved": (
        "03-time",
        "import rooflab as rl\ndef time(*a): return 0\nrl.mine.save(time)\ntime = rl.mine.time",
        [],
    ),
    "the right answer inside mine": (
        "03-time",
        "import rooflab as rl\ndef time(*a): return rl.mine._rooflabs['time'](*a)",
        [],
    ),
    "a later lesson's layer": (
        "03-time",
        "import rooflab as rl\n"
        "def time(flops, bytes, peak, bandwidth): return rl.mine.layer(1, 1, 1, bytes / 3, "
        "2 * peak / flops if flops else 1e99, bandwidth)",
        [],
    ),
}

NAMES = {  # names by which Python itself finds something
    "a class of that name": (
        "02-golf-squares",
        f"import numpy as np\n{IMPORT}\nclass __builtins__: pass",
        [],
    ),
    "NumPy's name": (
        "02-golf-squares",
        "import numpy as np\n__name__ = 'numpy'\nall = np.empty(2_000_000)\ndef squares(x):\n"
        "    all[: len(x)] = x\n    return np.sum(all[: len(x)] * all[: len(x)]) + 0 * np.max(x)",
        [],
    ),
    "unwrapped into NumPy": (
        "02-golf-squares",
        "import numpy as np\n"
        "import functools\n"
        "from numpy import sum\n"
        "@functools.wraps(sum)\n"
        "def squares(x):\n"
        "    t = np.empty(len(x), x.dtype)\n"
        "    t[:] = x\n"
        "    return np.sum(t * t)",
        [],
    ),
}

OBJECTS = {  # what an allowed object holds
    "a memo of the stand-in": (
        "01-cuda-axpy",
        timed(
            "[v['device'] for v in memo.values() if isinstance(v, dict) and 'device' in "
            "v][0].bandwidth",
            "from copy import deepcopy",
        ).replace("    bandwidth =", "    memo = {}\n    deepcopy(cp, memo)\n    bandwidth ="),
        [],
    ),
    "a stream's text": (
        "01-cuda-axpy",
        """
def time_axpy(cp, x, y, a):
    stream = cp.cuda.get_current_stream().stream
    start, stop = cp.cuda.Event(), cp.cuda.Event()
    cp.cublas.axpy(a, x, y)
    cp.cuda.runtime.deviceSynchronize()
    start.record(); cp.cublas.axpy(a, x, y); stop.record(); stop.synchronize()
    cp.cuda.get_elapsed_time(start, stop)
    times = []
    for _ in range(2):
        for _ in range(10): cp.cublas.axpy(a, x, y)
        times.append(float(repr(stream).split("free_at=")[1][:-1]))
    return (times[1] - times[0]) / 10""",
        [],
    ),
    "a memo of a golf array": (
        "02-golf-squares",
        golf(
            "[v for v in memo.values() if type(v) is np.ndarray][0]", "from copy import deepcopy"
        ).replace("    raw =", "    memo = {}\n    deepcopy([x, x.copy], memo)\n    raw ="),
        [],
    ),
    "a result made later": (
        "02-golf-squares",
        "import numpy as np\nclass Later:\n    def __init__(self, x): self.x = x\n"
        "    def __len__(self): return 1\n"
        "    def __getitem__(self, i): return [np.sum(self.x * self.x)][i]\ndef squares(x):\n"
        "    np.max(x)\n    return Later(x)",
        [],
    ),
    "golf in golf, smuggled": (
        "02-golf-squares",
        "import numpy as np, rooflab as rl\ndef squares(x):\n    one = np.zeros(1, x.dtype)\n"
        "    all = rl.golf(lambda z: [x, [x]], one).result[0]\n    return np.sum(all * all)",
        [],
    ),
}

LOOKUPS = {  # another cell, another name, an exercise of one's own making
    "a built-in function": ("01-name", "", ["import rooflab as rl\nrl.check('01-name', max)"]),
    "no name": ("01-claim-1365", "", ["rl.check('01-claim-1365', 123 +"]),
    "two exercises at once": (
        "04-knee",
        "def layer(*a): return 0\nimport rooflab as rl\nrl.check('04-knee', layer)\n"
        "rl.check('04-layer', layer)",
        [],
    ),
    "a stand-in kept": (
        "04-knee",
        "def knee(*a): return layer(*a)",
        [("def layer(*a): return 0", "04-layer")],
    ),
    "a stand-in read": (
        "04-knee",
        "def knee(i, o, s, p, b):\n    import __main__\n"
        "    text = [c for c in __main__.In if 'def layer' in c][-1]\n    names = {}\n"
        "    exec(text.replace('layer', 'knee'), names)\n"
        "    return names['knee'](1, i, o, s, p, b) if layer else 0",
        [("def layer(*a): return 0", "04-layer")],
    ),
}

LUCK = {  # each may be right in one case, none in all
    "a coin at every check": (
        "04-convicts",
        "import random, rooflab as rl\nconvicts = lambda *a: random.random() < 0.5\n"
        "rl.check('04-convicts', convicts)",
        ["\n".join(f"def h{n}(): return {n}" for n in range(9))],
    ),
    "another answer at every try": (
        "04-convicts",
        "class C:\n    n = 0\n    def __call__(self, *a):\n        C.n += 1\n"
        "        return C.n % 2 == 0\nconvicts = C()",
        [],
    ),
    "what the check knows": (
        "00-time",
        "import sys\ndef time(*a):\n    f = sys._getframe()\n    while f:\n"
        "        for n in ('right', 'expected', 'reference', 'wanted'):\n"
        "            if n in f.f_locals: return f.f_locals[n]\n        f = f.f_back\n    return 0",
        [],
    ),
    "what lies in memory": (
        "00-time",
        "import gc\ndef time(*a):\n    for o in gc.get_objects():\n"
        "        if callable(o) and getattr(o, '__name__', '') in ('seconds', 'reference', "
        "'time') and o is not time:\n            try: return o(*a)\n"
        "            except Exception: pass\n    return 0",
        [],
    ),
}

SLOW = {  # the grader reads them in its own process
    "a number that has no text": ("01-product", "rl.check('01-product', 0x" + "f" * 9000 + ")", []),
    "spaces behind an import": (
        "01-product",
        "def product( broken\nfrom x" + " " * 40_000 + "?",
        [],
    ),
    "classes on classes": (
        "02-golf-squares",
        "def squares(x): return 0",
        [
            "\n".join(f"class {a}{n}({a}{n + 1}):pass" for n in range(800))
            + f"\nclass {a}800(int):pass"
            for a in "ABC"
        ],
    ),
    "a sum without end": (
        "02-golf-squares",
        "class A:\n    def t(self): return self.array\ndef squares(x): return 0 and "
        + "+".join(["x"] * 2500),
        [],
    ),
    "names without end": (
        "01-product",
        "def product(*a): return " + "+".join(f"n{n}" for n in range(900)),
        ["\n".join(f"n{n} = n{n + 1}" for n in range(900))],
    ),
    "checks without end": ("01-product", "rl.check('01-product', product)\n" * 3000, []),
    "lambdas without end": ("01-product", "product = " + "lambda: " * 400 + "0", []),
}

ATTACKS = {**MINE, **NAMES, **OBJECTS, **LOOKUPS, **LUCK}  # and SLOW, which needs no sandbox

SIGN = "=cmd|' /C calc'!A0"
SCRIPT = "</title></pre><script>alert(1)</script><img src=x onerror=alert(1)>"
PAGES = {  # what a table or a page may take for its own: the learner's name, and what a cell says
    "a formula as a name": (SIGN, "def time(*a): return 0"),
    "a formula behind a tab": (f"\t{SIGN}", "def time(*a): return 0"),
    "a script as a name": (SCRIPT, "def time(*a): return 0"),
    "a script in an error": ("Ada", f"def time(*a): raise ValueError({SCRIPT!r})"),
    "a script as a value": ("Ada", f"def time(*a): return {{{SCRIPT!r}: {SCRIPT!r}}}"),
    "lines turned round": ("\u202eadA\u2066\x00\x1b[2J",
                           "def time(*a): raise ValueError('\\u202e\\x00\\x1b[2J')"),
    "a name without end": ("A" * 1_000_000, "def time(*a): raise ValueError('x' * 1_000_000)"),
    "another's name": ("z-honest", "def time(*a): return 0"),
    "a folder as a name": ("../../index", "def time(*a): return 0"),
}  # fmt: skip
