"""More honest hand-ins in unusual dress, many to a notebook: each is about one exercise.

To add one, add a line to ``ON``: ``"what it is": ("01-product", top("01-product", "a line"))``.
:func:`notebooks` puts as many as can be into one notebook, so that they share a run. What changes a
whole notebook stands in ``WHOLE``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from tests.grade.support.notebooks import answer, code, solution
from tests.grade.support.unusual import (
    Change,
    Notebook,
    above,
    bare,
    behind,
    between,
    both,
    check_of,
    checked,
    in_one_cell,
    instead,
    last,
    renamed,
    top,
    unchecked,
    under,
)


def changed(exercise: str, change: Callable[[str], str]) -> Change:
    """The source of the answer, changed."""

    def changing(notebook: Notebook) -> None:
        cell = answer(notebook, exercise)
        cell["source"] = change("".join(cell["source"]))

    return changing


def swapped(exercise: str, old: str, new: str, *more: Change) -> Change:
    """A part of the answer in another way, perhaps with other changes."""

    def swap(source: str) -> str:
        assert old in source, (exercise, old)
        return source.replace(old, new)

    return both(changed(exercise, swap), *more)


def copied(exercise: str, source: str, check: bool = False) -> Change:
    """The answer's cell copied below its check, mark and all, with an older text in it."""

    def change(notebook: Notebook) -> None:
        at = check_of(notebook, exercise) + 1
        copies = [code(source, rooflab={"exercise": exercise}, tags=["answer"])]
        if check:
            copies.append(code(notebook["cells"][at - 1]["source"]))
        notebook["cells"][at:at] = copies

    return change


def first(source: str) -> Change:
    """A cell at the top."""
    return lambda notebook: notebook["cells"].insert(1, code(source))


def text(exercise: str) -> Change:
    """The answer's cell turned into text."""
    return lambda notebook: answer(notebook, exercise).update(cell_type="markdown")


def each_answer(change: Callable[[str], str]) -> Change:
    """All answers changed."""

    def changing(notebook: Notebook) -> None:
        for cell in _answers(notebook):
            cell["source"] = change("".join(cell["source"]))

    return changing


def each_check(**new: str) -> Change:
    """All check cells with another source or of another kind."""

    def change(notebook: Notebook) -> None:
        for cell in notebook["cells"]:
            source = "".join(cell["source"])
            if cell["cell_type"] == "code" and "rl.check(" in source:
                cell.update({key: value.format(source) for key, value in new.items()})

    return change


def all_in_one(place: int) -> Change:
    """All answers in one cell: the first one's or the last one's."""

    def change(notebook: Notebook) -> None:
        cells = _answers(notebook)
        cells[place]["source"] = "\n\n".join("".join(cell["source"]) for cell in cells)
        for cell in cells:
            if cell is not cells[place]:
                notebook["cells"].remove(cell)

    return change


def paragraphs(notebook: Notebook) -> None:
    """A script made into a notebook again: no marks, no ids, a cell for every paragraph."""
    sources = ["".join(cell["source"]) for cell in notebook["cells"] if cell["cell_type"] == "code"]
    parts = [part for source in sources for part in re.split(r"\n\n\n+(?=\S)", source)]
    notebook["cells"] = [code(part) for part in parts]
    notebook["metadata"] = {}


def one_cell(notebook: Notebook) -> None:
    """The whole notebook in one cell, as a script is."""
    sources = ["".join(cell["source"]) for cell in notebook["cells"] if cell["cell_type"] == "code"]
    notebook["cells"] = [code("\n\n\n".join(sources))]
    notebook["metadata"] = {}


def checked_last(notebook: Notebook) -> None:
    """All checks in one cell at the end."""
    cells = notebook["cells"]
    checks = [c for c in cells if c["cell_type"] == "code" and "rl.check(" in "".join(c["source"])]
    for cell in checks:
        cells.remove(cell)
    cells.append(code("\n".join("".join(cell["source"]) for cell in checks)))


def each_cell(**metadata: object) -> Change:
    """Metadata of another tool in every cell."""

    def change(notebook: Notebook) -> None:
        for cell in notebook["cells"]:
            cell["metadata"].update(metadata)

    return change


def without_ids(notebook: Notebook) -> None:
    """No ids, as nbformat 4.4 and Kaggle have it."""
    for cell in notebook["cells"]:
        cell.pop("id", None)


def _answers(notebook: Notebook) -> list[dict]:
    return [c for c in notebook["cells"] if c["metadata"].get("rooflab", {}).get("exercise")]


LIMIT = (
    "def speed_limit(peak, bandwidth, itemsize):\n    return 3 * itemsize * peak / bandwidth / 2"
)
OLDER = "def speed_limit(peak, bandwidth, itemsize):\n    return peak"
PRODUCT = """def product(m, n, k, itemsize, accumulate=False):
    flops = 2 * m * n * k
    moved = (m * k + k * n + (1 + accumulate) * m * n) * itemsize
    return flops, moved, flops / moved"""
SPEED, COUNT, NAME, THREE = "01-speed-limit", "01-product", "01-name", "01-three-intensities"
KEPT = "    return flops, moved, flops / moved"
ON: dict[str, tuple[str, Change]] = {
    # an older text in a copy of the cell
    "a copy with an older try": (SPEED, copied(SPEED, OLDER)),
    "a copy left empty": (
        SPEED,
        copied(SPEED, "def speed_limit(peak, bandwidth, itemsize):\n    ..."),
    ),
    "a copy and its check": (SPEED, copied(SPEED, OLDER, check=True)),
    "a copy of a value": ("01-claim-1365", copied("01-claim-1365", "claim = 1365, 4")),
    "a copy of golf": (
        "02-golf-squares",
        copied("02-golf-squares", "def squares(x):\n    return sum(x * x)"),
    ),
    "a copy in 04": (
        "04-ceiling",
        copied("04-ceiling", "def ceiling(inputs, outputs, itemsize):\n    return inputs"),
    ),
    # magics
    "%%time": ("03-predict", top("03-predict", "%%time")),
    "%%capture": ("03-time", top("03-time", "%%capture out")),
    "%%time of golf": ("02-golf-bias-relu", top("02-golf-bias-relu", "%%time")),
    "%time of a value": (
        "01-claim-1365",
        instead("01-claim-1365", "%time claim = product(4096, 4096, 4096, 4)[2], 2"),
    ),
    "%time of a helper": (
        SPEED,
        both(instead(SPEED, LIMIT.replace("3 *", "THREE *")), above(SPEED, "%time THREE = 3")),
    ),
    "%timeit in a loop, renamed": (
        SPEED,
        both(
            instead(SPEED, f"{LIMIT}\nfor n in (2, 3):\n    %timeit -n1 -r1 speed_limit(1, 1, 4)"),
            renamed(SPEED, "speed_limit", "limit"),
        ),
    ),
    "a shell line stored": (
        SPEED,
        both(
            instead(SPEED, LIMIT.replace("3 *", "three() *")),
            above(SPEED, "files = !ls\ndef three():\n    return 3"),
        ),
    ),
    "%timeit -o stored": (
        "03-sparse-peak",
        swapped(
            "03-sparse-peak",
            "claimed / 2",
            "claimed / two()",
            above("03-sparse-peak", "def two():\n    return 2\nt = %timeit -o -n1 -r1 two()"),
        ),
    ),
    "help behind a helper": (
        "03-number-type",
        swapped(
            "03-number-type",
            "3 * ",
            "vectors() * ",
            above("03-number-type", "def vectors():\n    return 3\nvectors?"),
        ),
    ),
    "help in the answer": (NAME, under(NAME, "rl.gemm?")),
    "%pip": ("03-ridge-grew", top("03-ridge-grew", "%pip install -q numpy")),
    "!pip above golf": (
        "02-golf-scale-add-scale",
        top("02-golf-scale-add-scale", "!pip install numpy"),
    ),
    "a magic of an exported script": (
        NAME,
        top(NAME, "get_ipython().run_line_magic('matplotlib', 'inline')"),
    ),
    "that above golf": (
        "02-golf-row-norm",
        top("02-golf-row-norm", "get_ipython().run_line_magic('matplotlib', 'inline')"),
    ),
    "autoreload": (THREE, first("%load_ext autoreload\n%autoreload 2")),
    "IPython.display": (
        THREE,
        top(
            THREE,
            "from IPython.display import clear_output, display, HTML\n"
            "clear_output()\n"
            "display(HTML('<b>x</b>'))",
        ),
    ),
    # modules that are not there, and that no answer needs
    "pandas in the answer": (NAME, top(NAME, "import not_pandas as pd")),
    "pandas where nothing is locked": ("00-time", top("00-time", "import not_pandas as pd")),
    "torch": ("04-layer", top("04-layer", "import not_torch\nimport not_torch.nn as nn")),
    "Colab's drive above a helper": (
        SPEED,
        both(
            instead(SPEED, LIMIT.replace("3 *", "math.prod([3]) *")),
            first("from not_google.colab import drive\nimport math\ndrive.mount('/content/drive')"),
        ),
    ),
    "pandas above math": (
        "04-ceiling",
        swapped(
            "04-ceiling",
            "2 / itemsize",
            "cmath.sqrt(4).real / itemsize",
            first("import not_pandas as pd\nimport not_seaborn as sns\nimport cmath"),
        ),
    ),
    "pandas, if it is there": (
        THREE,
        top(THREE, "try:\n    import not_pandas as pd\nexcept ImportError:\n    pd = None"),
    ),
    "pandas above golf": ("02-golf-axpy", top("02-golf-axpy", "import not_pandas")),
    # tests of one's own
    "unittest": (
        COUNT,
        under(
            COUNT,
            "import unittest\n"
            "class T(unittest.TestCase):\n"
            "    def test(self):\n"
            "        self.assertEqual(product(1, 1, 1, 4)[0], 2)\n"
            "unittest.main(argv=[''], exit=False)",
        ),
    ),
    "doctest": (NAME, under(NAME, "import doctest\nprint(doctest.testmod())")),
    "timeit": (
        THREE,
        under(THREE, "import timeit\nprint(timeit.timeit(lambda: intensities(9), number=10))"),
    ),
    "main()": (
        COUNT,
        under(
            COUNT,
            "def main():\n    print(product(2, 3, 4, 4))\n\nif __name__ == '__main__':\n    main()",
        ),
    ),
    "main() under golf": (
        "02-golf-axpy",
        under(
            "02-golf-axpy",
            "def main():\n"
            "    print(golf_axpy(2.0, np.ones(3), "
            "np.ones(3)))\n\n"
            "if __name__ == '__main__':\n"
            "    main()",
        ),
    ),
    "asserts": (
        "00-time",
        under("00-time", "assert time(1, 1, 4, 1e9, 1e9) > 0\nassert callable(time), 'no'"),
    ),
    "asserts on what was measured": (
        "00-bandwidth",
        under("00-bandwidth", "assert bandwidth(curve.seconds, curve.n, 4) > 1e9"),
    ),
    "asserts above": ("00-peak", top("00-peak", "assert curve.n > 3")),
    "a clock": (NAME, top(NAME, "import time\nt0 = time.perf_counter()")),
    "a clock under golf": (
        "02-golf-squares",
        under(
            "02-golf-squares",
            "from time import perf_counter\n"
            "t = perf_counter()\n"
            "squares(np.ones(9))\n"
            "print(perf_counter() - t)",
        ),
    ),
    "a random test": (
        COUNT,
        under(
            COUNT,
            "import random\n"
            "random.seed(3)\n"
            "for _ in range(100):\n"
            "    m, n, k = (random.randint(1, 99) for _ in range(3))\n"
            "    assert product(m, n, k, 4)[0] == 2 * m * n * k",
        ),
    ),
    "the library to compare": (
        "04-intensities",
        under("04-intensities", "print(rl.gemm(64, 11008, 4096).intensity)"),
    ),
    "interact": (
        COUNT,
        under(
            COUNT,
            "from ipywidgets import interact\ninteract(lambda n: product(n, n, n, 4), n=(1, 10))",
        ),
    ),
    "a thread pool": (
        THREE,
        under(
            THREE,
            "from concurrent.futures import ThreadPoolExecutor\n"
            "with ThreadPoolExecutor() as pool:\n"
            "    print(list(pool.map(intensities, range(1, 5))))",
        ),
    ),
    "rich, inspect, subprocess": (
        NAME,
        under(
            NAME,
            "from rich import print\n"
            "import inspect, subprocess\n"
            "print(inspect.getsource(name))\n"
            "print(subprocess.run(['ls'], "
            "capture_output=True).stdout)",
        ),
    ),
    "globals, getattr, open": (
        COUNT,
        under(
            COUNT,
            "print(list(globals())[:3], getattr(product, "
            "'__name__', '?'))\n"
            "with open('mine.txt', 'w') as f:\n"
            "    f.write(str(product(1, 2, 3, 4)))",
        ),
    ),
    "a file under golf": (
        "02-golf-squares",
        under("02-golf-squares", "with open('mine.txt', 'w') as f:\n    f.write('x')"),
    ),
    # printing and asking
    "a megabyte of prints": (
        SPEED,
        instead(
            SPEED,
            LIMIT.replace(
                "    return",
                "    for i in range(30_000):\n"
                "        print(i, 'and so on, and so on, and so on')\n"
                "    return",
            ),
        ),
    ),
    "prints in golf": (
        "02-golf-squares",
        instead(
            "02-golf-squares",
            "def squares(x):\n    print(len(x), x.shape, x.dtype)\n    return np.dot(x, x)",
        ),
    ),
    "logging": (
        SPEED,
        instead(
            SPEED,
            "import logging\n"
            "logging.basicConfig(level=logging.DEBUG)\n"
            "log = logging.getLogger(__name__)\n"
            + LIMIT.replace("    return", "    log.debug('%s', peak)\n    return"),
        ),
    ),
    "input above": (NAME, top(NAME, "who = input('your name? ')")),
    # Python of every kind
    "typing": (
        COUNT,
        instead(
            COUNT,
            "from typing import Tuple, Optional\n"
            "import typing as t\n"
            + PRODUCT.replace(
                "accumulate=False)", "accumulate: Optional[bool] = False) -> Tuple[int, int, float]"
            ),
        ),
    ),
    "numpy.typing in golf": (
        "02-golf-squares",
        instead(
            "02-golf-squares",
            "from __future__ import annotations\n"
            "import numpy.typing as npt\n"
            "import numpy as np\n"
            "def squares(x: npt.NDArray[np.float64]) -> float:\n"
            "    return float(np.dot(x, x))",
        ),
    ),
    "a walrus": (
        COUNT,
        instead(
            COUNT,
            "def product(m, n, k, itemsize, accumulate=False):\n"
            "    return (f := 2 * m * n * k), (b := (m * k + k * n + (1 + "
            "accumulate) * m * n) * itemsize), f / b",
        ),
    ),
    "match": (
        COUNT,
        instead(
            COUNT,
            PRODUCT.replace(
                "    moved",
                "    match accumulate:\n"
                "        case True:\n"
                "            c = 2\n"
                "        case _:\n"
                "            c = 1\n"
                "    moved",
            ).replace("(1 + accumulate)", "c"),
        ),
    ),
    "lru_cache": (
        COUNT,
        instead(COUNT, f"import functools\n@functools.lru_cache(maxsize=None)\n{PRODUCT}"),
    ),
    "a decorator of one's own": (
        COUNT,
        instead(
            COUNT,
            "from functools import wraps\n"
            "def loud(f):\n"
            "    @wraps(f)\n"
            "    def inner(*a, **k):\n"
            "        print(f.__name__, a)\n"
            "        return f(*a, **k)\n"
            "    return inner\n\n"
            "@loud\n"
            f"{PRODUCT}",
        ),
    ),
    "a cache": (
        COUNT,
        instead(
            COUNT,
            "_CACHE = {}\n"
            + PRODUCT.replace(
                KEPT,
                "    return _CACHE.setdefault((m, n, k, itemsize, accumulate), "
                "(flops, moved, flops / moved))",
            ),
        ),
    ),
    "a cache in golf": (
        "02-golf-axpy",
        instead(
            "02-golf-axpy",
            "CACHE = {}\n"
            "def golf_axpy(a, x, y):\n"
            "    size = CACHE.setdefault('size', 4096)\n"
            "    for i in range(0, len(x), size):\n"
            "        y[i : i + size] += a * x[i : i + size]\n"
            "    return y",
        ),
    ),
    "a global": (
        COUNT,
        both(
            above(COUNT, "calls = 0"),
            instead(
                COUNT,
                PRODUCT.replace("    flops", "    global calls\n    calls += 1\n    flops", 1),
            ),
        ),
    ),
    "recursion": (
        COUNT,
        instead(
            COUNT,
            "import sys\n"
            "sys.setrecursionlimit(10_000)\n"
            "def total(n, each):\n"
            "    return 0 if n == 0 else each + total(n - 1, each)\n"
            + PRODUCT.replace(
                "2 * m * n * k", "(2 * m * n * k if m > 99 else total(m, 2 * n * k))"
            ),
        ),
    ),
    "recursion in golf": (
        "02-golf-axpy",
        instead(
            "02-golf-axpy",
            "def golf_axpy(a, x, y):\n"
            "    if len(x) > 4096:\n"
            "        h = len(x) // 2\n"
            "        golf_axpy(a, x[:h], y[:h])\n"
            "        golf_axpy(a, x[h:], y[h:])\n"
            "        return y\n"
            "    y += a * x\n"
            "    return y",
        ),
    ),
    "a method": (
        SPEED,
        instead(
            SPEED,
            "class Machine:\n"
            "    def limit(self, peak, bandwidth, itemsize):\n"
            "        return 3 * itemsize * peak / bandwidth / 2\n"
            "speed_limit = Machine().limit",
        ),
    ),
    "a method checked by its path": (
        "03-thumb-rules",
        both(
            instead(
                "03-thumb-rules",
                "class Rules:\n"
                "    @staticmethod\n"
                "    def holds(peak, bandwidth):\n"
                "        return peak / bandwidth >= 4, peak / bandwidth <= 8",
            ),
            checked("03-thumb-rules", 'rl.check("03-thumb-rules", Rules.holds)'),
        ),
    ),
    "a lambda in the check": (
        "03-thumb-rules",
        both(
            instead("03-thumb-rules", "pass"),
            checked(
                "03-thumb-rules",
                'rl.check("03-thumb-rules", lambda p, b: (p / b >= 4, p / b <= 8))',
            ),
        ),
    ),
    "a partial": (
        SPEED,
        instead(
            SPEED,
            "from functools import partial\n"
            "def _f(three, peak, bandwidth, itemsize):\n"
            "    return three * itemsize * peak / bandwidth / 2\n"
            "speed_limit = partial(_f, 3)",
        ),
    ),
    "a closure": (
        SPEED,
        instead(
            SPEED,
            "def make():\n"
            "    three = 3\n"
            "    def limit(peak, bandwidth, itemsize):\n"
            "        return three * itemsize * peak / bandwidth / 2\n"
            "    return limit\n"
            "speed_limit = make()",
        ),
    ),
    "a NamedTuple": (
        COUNT,
        instead(
            COUNT,
            "from typing import NamedTuple\n"
            "class R(NamedTuple):\n"
            "    flops: int\n"
            "    moved: int\n"
            "    intensity: float\n"
            + PRODUCT.replace(KEPT, "    return R(flops, moved, flops / moved)"),
        ),
    ),
    "a dataclass with slots": (
        SPEED,
        instead(
            SPEED,
            "from dataclasses import dataclass, field\n"
            "@dataclass(slots=True, kw_only=True)\n"
            "class A:\n"
            "    s: int\n"
            "    parts: list = field(default_factory=list)\n"
            "    @property\n"
            "    def i(self):\n"
            "        return 2 / (3 * self.s)\n"
            "def speed_limit(peak, bandwidth, itemsize):\n"
            "    return peak / (A(s=itemsize).i * bandwidth)",
        ),
    ),
    "numpy's own strings": (
        NAME,
        instead(
            NAME,
            "import numpy\n"
            "def name(flops, nbytes, itemsize):\n"
            "    adds, moved = flops / 2, nbytes / itemsize\n"
            "    edge = numpy.sqrt(adds)\n"
            "    names = numpy.array(['axpy', 'dot', 'gemv', "
            "'outer', 'gemm'])\n"
            "    counts = numpy.array([3 * adds, 2 * adds + 1, "
            "adds + 2 * edge, 2 * adds + 2 * edge, "
            "3 * adds ** (2 / 3)])\n"
            "    return names[numpy.argmin(abs(counts - moved))]",
        ),
    ),
    "star imports": (
        SPEED,
        both(first("from math import *"), instead(SPEED, LIMIT.replace("3 *", "floor(pi) *"))),
    ),
    "a star import in golf": (
        "02-golf-squares",
        instead("02-golf-squares", "from numpy import *\ndef squares(x):\n    return dot(x, x)"),
    ),
    "numpy as xp in golf": (
        "02-golf-squares",
        instead(
            "02-golf-squares",
            "import numpy as xp\ndef squares(x):\n    return xp.einsum('i,i->', x, x)",
        ),
    ),
    "decimal": (
        SPEED,
        instead(
            SPEED,
            "from decimal import Decimal, getcontext\n"
            "getcontext().prec = 50\n"
            "def speed_limit(peak, bandwidth, itemsize):\n"
            "    return Decimal(peak) / Decimal(bandwidth) * itemsize * 3 / 2",
        ),
    ),
    "numba": (SPEED, instead(SPEED, f"from numba import njit\n@njit\n{LIMIT}")),
    "names in other alphabets": (
        SPEED,
        instead(
            SPEED,
            "def speed_limit(π, β, größe):\n"
            '    """∀ größe"""\n'
            "    λ = 2 / (3 * größe)  # „AXPY“\n"
            "    return π / (λ * β)",
        ),
    ),
    "renamed in another alphabet": ("00-time", renamed("00-time", "time", "zeit_schätzung")),
    "a semicolon behind": ("01-claims", under("01-claims", "verdicts;")),
    "all on one line": (
        SPEED,
        instead(SPEED, "def speed_limit(p, b, s): a = 2 / (3 * s); return p / (a * b);"),
    ),
    "blanks that do not break": (
        COUNT,
        top(COUNT, "#\u00a0mein\u00a0Versuch\u2003\u200b\n'''text\u00a0with\u00a0blanks'''"),
    ),
    "a check in a docstring": (
        COUNT,
        instead(
            COUNT,
            PRODUCT.replace(
                "    flops",
                "    '''rl.check(\"01-product\", other)\n    %time\n    '''\n    flops",
                1,
            ),
        ),
    ),
    "prompts": (
        "01-claim-1365",
        instead("01-claim-1365", ">>> claim = product(4096, 4096, 4096, 4)[2], 2"),
    ),
    "under if": (
        SPEED,
        instead(SPEED, "if True:\n" + "\n".join(f"    {line}" for line in LIMIT.split("\n"))),
    ),
    # helpers and where they stand
    "a table made in a loop": (
        SPEED,
        both(
            instead(SPEED, LIMIT.replace("3 *", "TABLE['axpy'] *")),
            above(
                SPEED, "TABLE = {}\nfor name, n in (('axpy', 3), ('dot', 2)):\n    TABLE[name] = n"
            ),
        ),
    ),
    "a constant beside what was measured": (
        "00-bandwidth",
        swapped(
            "00-bandwidth",
            "2 * n",
            "trips * n",
            above("00-bandwidth", "print(curve.n)\ntrips = 2\nrate = trips * curve.n"),
        ),
    ),
    "a helper in the check's cell": (
        SPEED,
        both(
            instead(SPEED, LIMIT.replace("3 *", "three() *")),
            checked(SPEED, f'def three():\n    return 3\n\nrl.check("{SPEED}", speed_limit)'),
        ),
    ),
    "a value in two cells": (
        "01-claim-1365",
        both(
            instead("01-claim-1365", "intensity = product(4096, 4096, 4096, 4)[2]"),
            between("01-claim-1365", "claim = intensity, 2"),
        ),
    ),
    "the stub left, a new cell": (
        COUNT,
        both(
            instead(
                COUNT,
                "def product(m, n, k, itemsize, accumulate=False):\n    ...  # your code: 4 lines",
            ),
            between(COUNT, PRODUCT),
        ),
    ),
    "the stub left, a new cell and check": (
        SPEED,
        both(
            instead(SPEED, "def speed_limit(peak, bandwidth, itemsize):\n    ..."),
            behind(SPEED, f'{LIMIT}\nrl.check("{SPEED}", speed_limit)'),
        ),
    ),
    "the stub left, a value": (
        "01-claim-1365",
        both(
            instead("01-claim-1365", "claim = ..."),
            between("01-claim-1365", "claim = product(4096, 4096, 4096, 4)[2], 2"),
        ),
    ),
    "the stub left, golf": (
        "02-golf-squares",
        both(
            instead("02-golf-squares", "def squares(x):\n    ..."),
            between("02-golf-squares", "def squares(x):\n    return np.dot(x, x)"),
        ),
    ),
    "the stub left, a value in the check": (
        "01-claims",
        both(
            instead("01-claims", "verdicts = ..."),
            checked(
                "01-claims",
                'rl.check("01-claims", ("wrong", "sometimes", "sometimes", '
                '"wrong", "right", "wrong"))',
            ),
        ),
    ),
    "the marked cell turned to text": (COUNT, both(above(COUNT, PRODUCT), text(COUNT))),
    # checks
    "a verdict stored": (
        "00-time",
        checked("00-time", 'v = rl.check("00-time", time)\nprint(v.passed)\nassert v.passed\nv'),
    ),
    "check by import": (
        "00-time",
        both(
            renamed("00-time", "time", "dauer"),
            checked("00-time", "from rooflab import check\ncheck('00-time', dauer)"),
        ),
    ),
    "rooflab by another name": (
        "00-time",
        both(
            renamed("00-time", "time", "dauer"),
            checked("00-time", "import rooflab as roof\nroof.check('00-time', dauer);"),
        ),
    ),
    "the exercise in a variable": (
        "00-time",
        both(
            renamed("00-time", "time", "dauer"),
            checked("00-time", "id = '00-time'\nrl.check(id, dauer)"),
        ),
    ),
    "checks in a loop": (
        "00-time",
        both(
            renamed("00-time", "time", "t_of"),
            unchecked("00-time"),
            last(
                'for id, f in {"00-time": t_of, "00-peak": '
                "peak}.items():\n"
                "    print(rl.check(id, f))"
            ),
        ),
    ),
}
WHOLE: dict[str, tuple[str, Change]] = {
    "two golf answers, a magic": (
        "02",
        both(
            in_one_cell("02-golf-axpy", "02-golf-squares"),
            top("02-golf-axpy", "%matplotlib inline"),
        ),
    ),
    "golf behind a plot": (
        "02",
        both(
            in_one_cell("02-claim-bias", "02-golf-row-norm"),
            top("02-claim-bias", "import matplotlib.pyplot as plt\nplt.plot([1, 2])"),
        ),
    ),
    "two timings, a magic": (
        "01",
        both(
            in_one_cell("01-cuda-axpy", "01-cuda-gemv"),
            top("01-cuda-axpy", "%config InlineBackend.figure_format = 'retina'"),
        ),
    ),
    "all answers in the first's cell": ("02", all_in_one(0)),
    "all answers in the last's cell": ("04", all_in_one(-1)),
    "a script made into a notebook": ("03", paragraphs),
    "a script with golf": ("02", paragraphs),
    "%%time on every answer": ("00", each_answer("%%time\n{}".format)),
    "__future__ in every answer": (
        "03",
        each_answer("from __future__ import annotations\n{}".format),
    ),
    "__future__ in golf, and a magic": (
        "02",
        both(
            top("02-golf-squares", "from __future__ import annotations"),
            top("02-golf-axpy", "%matplotlib inline"),
        ),
    ),
    "tabs and CRLF": (
        "01",
        each_answer(lambda source: source.replace("    ", "\t").replace("\n", "\r\n")),
    ),
    "every answer indented": (
        "01",
        each_answer(
            lambda source: "\n".join(f"    {line}" if line else line for line in source.split("\n"))
        ),
    ),
    "names of Python used behind the last answer": (
        "03",
        behind("03-sparse-peak", "max = 3\nzip = 1\nrange = 2\nnext = 0\nint = 3\nlist = 4"),
    ),
    "a lesson in one cell": ("03", one_cell),
    "names of Python used at the end": (
        "05",
        last("max = min = int = zip = sum = rl = 0\nprint = None"),
    ),
    "the checker's names": ("01", behind(COUNT, "_report = _lock = None\nIn = Out = 3\nexit = 4")),
    "np is None at the end": ("02", last("np = None")),
    "renamed in Korean, marks and ids gone": ("00", both(renamed("00-time", "time", "시간"), bare)),
    "checks in one cell": ("00", checked_last),
    "checks emptied": ("01", each_check(source="")),
    "checks as remarks": ("04", each_check(source="# {}")),
    "checks turned to text": ("00", each_check(cell_type="markdown")),
    "Kaggle": (
        "01",
        both(each_cell(_uuid="8f2839f2", _cell_guid="b1076dfc", trusted=True), without_ids),
    ),
    "collapsed": (
        "00",
        each_cell(collapsed=True, jupyter={"source_hidden": True, "outputs_hidden": True}),
    ),
}


def notebooks() -> Iterator[tuple[str, dict[str, str], Notebook]]:
    """Yield lesson, exercise → what is unusual about it, and the notebook."""
    rows: list[tuple[str, dict[str, str]]] = []
    for name, (exercise, _) in ON.items():
        lesson = exercise[:2]
        row = next((r for at, r in rows if at == lesson and exercise not in r), None)
        if row is None:
            rows.append((lesson, row := {}))
        row[exercise] = name
    for lesson, row in rows:
        notebook = solution(lesson)
        for name in row.values():
            ON[name][1](notebook)
        yield lesson, row, notebook
