"""Honest hand-ins in unusual dress, one of a kind: all must get full points.

To add one, add a line to ``ON``: ``"what it is": ("01-product", top("01-product", "a line"))``.
:func:`notebooks` puts as many as can be into one notebook, so that they share a run. What changes a
whole notebook stands in ``WHOLE``. The functions below say what can be done; several make one case
as ``both(…, …)``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

from rooflab.grade.notebook_code import checks
from tests.grade.support.notebooks import answer, code, solution

Notebook = dict[str, Any]
Change = Callable[[Notebook], None]


def instead(exercise: str, source: str) -> Change:
    """Another source in the answer cell."""
    return lambda notebook: answer(notebook, exercise).update(source=source)


def behind(exercise: str, source: str) -> Change:
    """A cell behind the check of an exercise."""
    return lambda notebook: notebook["cells"].insert(check_of(notebook, exercise) + 1, code(source))


def between(exercise: str, source: str) -> Change:
    """A cell between an answer and its check."""
    return lambda notebook: notebook["cells"].insert(check_of(notebook, exercise), code(source))


def above(exercise: str, source: str) -> Change:
    """A cell above an answer."""

    def change(notebook: Notebook) -> None:
        at = notebook["cells"].index(answer(notebook, exercise))
        notebook["cells"].insert(at, code(source))

    return change


def last(source: str) -> Change:
    """A cell at the end."""
    return lambda notebook: notebook["cells"].append(code(source))


def top(exercise: str, source: str) -> Change:
    """Lines above the answer, in its cell."""

    def change(notebook: Notebook) -> None:
        cell = answer(notebook, exercise)
        cell["source"] = f"{source}\n{''.join(cell['source'])}"

    return change


def under(exercise: str, source: str) -> Change:
    """Lines below the answer, in its cell."""

    def change(notebook: Notebook) -> None:
        cell = answer(notebook, exercise)
        cell["source"] = f"{''.join(cell['source'])}\n{source}"

    return change


def renamed(exercise: str, old: str, new: str) -> Change:
    """Another name, in the answer and in its check."""

    def change(notebook: Notebook) -> None:
        for cell in (answer(notebook, exercise), notebook["cells"][check_of(notebook, exercise)]):
            cell["source"] = "".join(cell["source"]).replace(f"{old}(", f"{new}(")
            cell["source"] = cell["source"].replace(f", {old})", f", {new})")

    return change


def checked(exercise: str, call: str) -> Change:
    """Another text in the check cell."""
    return lambda notebook: notebook["cells"][check_of(notebook, exercise)].update(source=call)


def merged(exercise: str) -> Change:
    """The answer merged into its check, as Shift+M does: the lower cell's marks survive."""

    def change(notebook: Notebook) -> None:
        cell = answer(notebook, exercise)
        check = notebook["cells"][check_of(notebook, exercise)]
        check["source"] = f"{''.join(cell['source'])}\n{''.join(check['source'])}"
        notebook["cells"].remove(cell)

    return change


def retyped(exercise: str, where: int = 0) -> Change:
    """The answer typed into a new cell, ``where`` cells lower, and the old one deleted."""

    def change(notebook: Notebook) -> None:
        cell = answer(notebook, exercise)
        at = notebook["cells"].index(cell)
        notebook["cells"].remove(cell)
        notebook["cells"].insert(at + where, code("".join(cell["source"])))

    return change


def unmarked(notebook: Notebook) -> None:
    """All metadata dropped; the ids stay."""
    notebook["metadata"] = {}
    for cell in notebook["cells"]:
        cell["metadata"] = {}


def bare(notebook: Notebook) -> None:
    """All metadata and all ids dropped."""
    unmarked(notebook)
    for number, cell in enumerate(notebook["cells"]):
        cell["id"] = f"c{number}"


def pulled_up(exercise: str) -> Change:
    """The check above its answer."""

    def change(notebook: Notebook) -> None:
        check = notebook["cells"].pop(check_of(notebook, exercise))
        notebook["cells"].insert(notebook["cells"].index(answer(notebook, exercise)), check)

    return change


def unchecked(exercise: str) -> Change:
    """The check deleted."""
    return lambda notebook: notebook["cells"].pop(check_of(notebook, exercise))


def backwards(notebook: Notebook) -> None:
    """All cells in reverse order."""
    notebook["cells"].reverse()


def both(*changes: Change) -> Change:
    """Several changes."""

    def change(notebook: Notebook) -> None:
        for each in changes:
            each(notebook)

    return change


def check_of(notebook: Notebook, exercise: str) -> int:
    return next(
        number
        for number, cell in enumerate(notebook["cells"])
        if cell["cell_type"] == "code"
        and exercise in [one.exercise for one in checks("".join(cell["source"]))]
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


LIMIT = """def speed_limit(peak, bandwidth, itemsize):
    return 3 * itemsize * peak / bandwidth / 2"""
OLDER = "def speed_limit(peak, bandwidth, itemsize):\n    return peak"
PRODUCT = """def product(m, n, k, itemsize, accumulate=False):
    flops = 2 * m * n * k
    moved = (m * k + k * n + (1 + accumulate) * m * n) * itemsize
    return flops, moved, flops / moved"""
NESTED = """def product(m, n, k, itemsize, accumulate=False):
    flops = 0
    for _ in range(m):
        for _ in range(n):
            for _ in range(k):
                flops += 2
    moved = (m * k + k * n + (1 + accumulate) * m * n) * itemsize
    return flops, moved, flops / moved"""
EVERY_KIND = """from __future__ import annotations
import functools
from typing import NamedTuple, Optional
class R(NamedTuple):
    flops: int
    moved: int
    intensity: float
def loud(f):
    @functools.wraps(f)
    def inner(*a, **k):
        print(f.__name__, a)
        return f(*a, **k)
    return inner
@loud
@functools.lru_cache(maxsize=None)
def product(m, n, k, itemsize, accumulate: Optional[bool] = False) -> R:
    '''rl.check("01-product", other)
    %time
    '''
    match accumulate:
        case True: trips = 2
        case _: trips = 1
    return R((f := 2 * m * n * k), (b := (m * k + k * n + trips * m * n) * itemsize), f / b)"""
OWN_TESTS = """import unittest, doctest, inspect, subprocess, random
class T(unittest.TestCase):
    def test(self):
        self.assertEqual(product(1, 1, 1, 4)[0], 2)
unittest.main(argv=[''], exit=False)
doctest.testmod()
print(inspect.getsource(product), subprocess.run(['ls'], capture_output=True).stdout)
print(list(globals())[:3], getattr(product, '__name__', '?'))
with open('mine.txt', 'w') as f: f.write(str(product(1, 2, 3, 4)))
if __name__ == '__main__': assert product(random.randint(1, 99), 2, 3, 4) == 'no'"""
SLOTS = """from dataclasses import dataclass, field
from decimal import Decimal
@dataclass(slots=True, kw_only=True)
class Machine:
    \"\"\"∀ größe\"\"\"
    three: int
    parts: list = field(default_factory=list)
    @property
    def per_byte(self):
        for i in range(30_000):
            print(i, 'and so on, and so on, and so on')
        return Decimal(self.three) / 2
    def limit(self, π, β, größe): return Decimal(π) / Decimal(β) * größe * self.per_byte
speed_limit = Machine(three=3).limit"""
STRINGS = """import numpy
def name(flops, nbytes, itemsize):
    adds, moved = flops / 2, nbytes / itemsize
    edge = numpy.sqrt(adds)
    names = numpy.array(['axpy', 'dot', 'gemv', 'outer', 'gemm'])
    counts = numpy.array([3 * adds, 2 * adds + 1, adds + 2 * edge, 2 * adds + 2 * edge,
                          3 * adds ** (2 / 3)])
    return names[numpy.argmin(abs(counts - moved))]"""
CALLABLE = """import dataclasses, functools, operator
@dataclasses.dataclass(frozen=True)
class G:
    chunk: int = 4096
    def __call__(self, a, x, y):
        for i in range(0, len(x), self.chunk):
            part = slice(i, i + self.chunk)
            y[part] = operator.iadd(y[part], operator.mul(a, x[part]))
        return y
golf_axpy = functools.partial(G(), )"""
WRAPPED = """import functools, os
from contextlib import contextmanager, suppress
from copy import deepcopy
CACHE = {}
def counted(f):
    @functools.wraps(f)
    def inner(*args):
        inner.calls += os.getpid() > 0
        return f(*args)
    inner.calls = 0
    return inner
@contextmanager
def room():
    yield deepcopy(CACHE.setdefault('size', [4096]))[0]
@counted
def golf_axpy(a, x, y):
    with room() as size, suppress(IndexError):
        if len(x) > size:
            h = len(x) // 2
            golf_axpy(a, x[:h], y[:h])
            golf_axpy(a, x[h:], y[h:])
        else:
            y += a * x
    return y"""
PIECES = """from tqdm.auto import tqdm
def parts(n, size=4096):
    for i in range(0, n, size):
        yield slice(i, i + size)
def scale_add_scale(a, b, x, y):
    for part in tqdm(parts(len(x)), leave=False):
        getattr(y[part], '__iadd__')(a * x[part])
        y[part] *= b
    return y"""
ON_THE_GPU = """def on_the_gpu():
    import cupy
    return cupy.cuda
def time_axpy(cp, x, y, a):
    cuda = on_the_gpu()
    cp.cublas.axpy(a, x, y)
    start, stop = cuda.Event(), cuda.Event()
    start.record()
    for _ in range(10):
        cp.cublas.axpy(a, x, y)
    stop.record()
    stop.synchronize()
    return cuda.get_elapsed_time(start, stop) / 1e4"""
LAYER = """def layer(tokens, inputs, outputs, itemsize, peak, bandwidth):
    flops, moved, _ = rl.mine.product(tokens, outputs, inputs, itemsize)
    return rl.mine.time(flops, moved, peak, bandwidth)"""
DECODE = """def decode(parameters, itemsize, kv, batch, context, peak, bandwidth):
    t = rl.mine.time(2 * parameters * batch, parameters * itemsize, peak, bandwidth)
    return batch / (t + kv * context * batch / bandwidth)"""
SPEED, COUNT, NAME, THREE = "01-speed-limit", "01-product", "01-name", "01-three-intensities"
CLAIM, VALUE = "01-claim-1365", "product(4096, 4096, 4096, 4)[2], 2"
AXPY, SQUARES = "02-golf-axpy", "02-golf-squares"
TIMEIT = "print(timeit.timeit(lambda: {}, number=10))"
VERDICTS = '("wrong", "sometimes", "sometimes", "wrong", "right", "wrong")'
ON: dict[str, tuple[str, Change]] = {
    # the name of an answer, used again; an older text of it
    "import time": ("03-time", behind("03-time", "import time")),
    "a name between": ("05-gauges", between("05-gauges", "gauges = 3")),
    "a name deleted": (COUNT, behind(COUNT, "del product")),
    "a copy with an older try": (
        "04-shapes", copied("04-shapes", "def shape(*a):\n    return 0, 0, 0", check=True)),
    "a copy left empty": (
        "02-golf-bias-relu", copied("02-golf-bias-relu", "def bias_relu(x, b):\n    ...")),
    # answers that lost their mark, their name or their place
    "renamed": ("03-worth-the-call", renamed("03-worth-the-call", "worth", "wert_schätzung")),
    "merged with its check": ("00-peak", merged("00-peak")),
    "typed into a new cell": ("05-fill", retyped("05-fill")),
    "typed into a new cell lower": ("01-witnesses", retyped("01-witnesses", 3)),
    "a value in a new cell": (CLAIM, retyped(CLAIM)),
    "golf in a new cell": ("02-golf-row-norm", retyped("02-golf-row-norm")),
    "the check above": ("04-predict", pulled_up("04-predict")),
    "no check": ("01-witnesses", unchecked("01-witnesses")),
    "a value in the check": (CLAIM, both(
        instead(CLAIM, "# see below"), checked(CLAIM, f'rl.check("{CLAIM}", ({VALUE}))'))),
    "a value in two cells": (CLAIM, both(
        instead(CLAIM, "intensity = product(4096, 4096, 4096, 4)[2]"),
        between(CLAIM, "claim = intensity, 2"))),
    "the stub left, a new cell": (COUNT, both(
        instead(COUNT, "def product(m, n, k, itemsize, accumulate=False):\n    ..."),
        between(COUNT, PRODUCT))),
    "the stub left, golf": (SQUARES, both(
        instead(SQUARES, "def squares(x):\n    ..."),
        between(SQUARES, "def squares(x):\n    return np.dot(x, x)"))),
    "the stub left, a value in the check": ("01-claims", both(
        instead("01-claims", "verdicts = ..."),
        checked("01-claims", f'rl.check("01-claims", {VERDICTS})'))),
    "the marked cell turned to text": ("04-ceiling", both(
        above("04-ceiling", "def ceiling(i, o, size):\n    return 2 / size / (1 / i + 1 / o)"),
        text("04-ceiling"))),
    # how the check is written
    "checked in the answer's cell": (
        "03-number-type", under("03-number-type", 'rl.check("03-number-type", edges)')),
    "check by import, the exercise in a variable": ("05-experts", both(
        renamed("05-experts", "experts_read", "gelesen"),
        checked("05-experts",
                "from rooflab import check\nid = '05-experts'\nv = check(id, gelesen)\nv"))),
    "a method checked by its path": ("05-attention", both(
        instead("05-attention", "class Rules:\n    @staticmethod\n    def intensity(heads, kv, "
                                "itemsize, *more):\n        return 2 * heads / kv / itemsize"),
        checked("05-attention", 'rl.check("05-attention", Rules.intensity)'))),
    "a lambda in the check": ("04-convicts", both(
        instead("04-convicts", "pass"),
        checked("04-convicts", 'rl.check("04-convicts", lambda m, n, k: n != k)'))),
    "checks in a loop": ("04-gradients", both(
        renamed("04-gradients", "gradients", "g_of"), unchecked("04-gradients"),
        last('for id, f in {"04-gradients": g_of, "04-layer": layer}.items():\n'
             "    print(rl.check(id, f))"))),
    # lines that fail in the grade
    "a plot above": ("00-lunch", top("00-lunch", "plt.loglog(curve.k, curve.seconds)")),
    "asserts on what was measured": ("00-bandwidth", both(
        top("00-bandwidth", "print(here)"),
        under("00-bandwidth", "assert bandwidth(curve.seconds, curve.n, 4) > 1e9"))),
    "pandas in the answer": (NAME, top(NAME, "import not_pandas as pd")),
    "pandas, if it is there": (
        THREE, top(THREE, "try:\n    import not_pandas\nexcept ImportError:\n    pd = None")),
    "Colab's drive above, a helper below": (SPEED, both(
        instead(SPEED, LIMIT.replace("3 *", "math.prod([three()]) *")),
        last("def three():\n    return 3"),
        first("from not_google.colab import drive\nimport math\ndrive.mount('/content/drive')"))),
    # magics
    "%%time": ("03-predict", top("03-predict", "%%time")),
    "%%capture": ("05-fewer-bits", top("05-fewer-bits", "%%capture out")),
    "%time of a value": (CLAIM, instead(CLAIM, f"%time claim = {VALUE}")),
    "a shell line stored, a table made in a loop": (SPEED, both(
        instead(SPEED, LIMIT.replace("3 *", "TABLE['axpy'] *")),
        checked(SPEED, f'def f(): pass\nrl.check("{SPEED}", speed_limit)'),
        above(SPEED, "files = !ls\n%time N = 3\nTABLE = {}\n"
                     "for name, n in (('axpy', N), ('dot', 2)):\n    TABLE[name] = n"))),
    "%timeit -o stored": ("03-sparse-peak", swapped(
        "03-sparse-peak", "claimed / 2", "claimed / two()",
        above("03-sparse-peak", "def two():\n    return 2\nt = %timeit -o -n1 -r1 two()\ntwo?"))),
    "a shell line above": ("05-claim-always", top("05-claim-always", "!ls\n%matplotlib inline")),
    "a magic of an exported script": (
        NAME, top(NAME, "get_ipython().run_line_magic('matplotlib', 'inline')")),
    "autoreload, IPython.display": (THREE, both(
        first("%load_ext autoreload\n%autoreload 2"),
        top(THREE, "from IPython.display import display, HTML\ndisplay(HTML('<b>x</b>'))"))),
    "prompts": ("04-swapped", changed("04-swapped", ">>> {}".format)),
    # tests and tools of one's own: an import costs nothing, wherever it stands
    "asyncio": ("01-claims", both(
        first("import asyncio"), under("01-claims", "await asyncio.sleep(0)\nverdicts;"))),
    "a thread pool": (THREE, under(THREE,
        "from concurrent.futures import ThreadPoolExecutor\n"
        "with ThreadPoolExecutor() as pool:\n    print(list(pool.map(intensities, range(1, 5))))")),
    "the library to compare": (
        "04-intensities", under("04-intensities", "print(rl.gemm(64, 11008, 4096).intensity)")),
    "input above": (NAME, top(NAME, "import logging\nwho = input('your name? ')")),
    # Python of every kind
    "typing, match, unittest and so on": (COUNT, instead(COUNT, f"{EVERY_KIND}\n{OWN_TESTS}")),
    "three nested loops": (COUNT, instead(COUNT, NESTED)),
    "slots, decimals, other alphabets, a megabyte of prints": (SPEED, instead(SPEED, SLOTS)),
    "a closure under if": (SPEED, instead(SPEED,
        "from math import *\nif True:\n    def make():\n        three = floor(pi)\n"
        "        def limit(p, b, s): a = 2 / (three * s); return p / (a * b);\n"
        "        return limit\n    speed_limit = make()")),
    "numba": (
        "01-witnesses", top("01-witnesses", "from numba import njit\n@njit\ndef f(x): return x")),
    "numpy's own strings": (NAME, instead(NAME, STRINGS)),
    "CuPy imported in a helper": ("01-cuda-axpy", instead("01-cuda-axpy", ON_THE_GPU)),
    "golf by a class": (AXPY, instead(AXPY, CALLABLE)),
    "golf by a decorator and recursion": (AXPY, instead(AXPY, WRAPPED)),
    "golf by a generator": ("02-golf-scale-add-scale", instead("02-golf-scale-add-scale", PIECES)),
    # helpers and where they stand
    "golf with types and prints, its helper below": (SQUARES, both(
        instead(SQUARES, "import numpy.typing as npt\nfrom numpy import *\n"
                         "def squares(x: npt.NDArray) -> float:\n"
                         "    print(len(x), x.shape, x.dtype)\n    return float(of_both(x, x))"),
        last("def of_both(x, y):\n    return np.dot(x, y)"))),
    "a constant beside what was measured": ("00-time", swapped(
        "00-time", "2 * n * itemsize", "trips * n * itemsize",
        above("00-time", "print(curve.n)\ntrips = 2\nrate = trips * curve.n"))),
    "the ridge of mine": ("03-thumb-rules", swapped(
        "03-thumb-rules", "peak / bandwidth", "rl.mine.ridge(peak, bandwidth)",
        first("import timeit"), under("03-thumb-rules", TIMEIT.format("holds(3, 4)")))),
    "the product of mine": ("04-layer", instead("04-layer", LAYER)),
    "the time of mine": ("05-decode", both(
        above("05-decode", "import timeit"),
        instead("05-decode", f"{DECODE}\n{TIMEIT.format('decode(7e9, 2, 1, 1, 1, 1e14, 1e12)')}"))),
    "knee stored": ("04-knee", behind("04-knee", "knee = 412")),
}  # fmt: skip
FULL = "all answers in the first's cell"  # the one notebook that plays golf as it is
WHOLE: dict[str, tuple[str, Change]] = {
    FULL: ("02", both(all_in_one(0), top("02-numpy-bytes", "%matplotlib inline"))),
    "all marks dropped": ("00", unmarked),
    "renamed in Korean, marks and ids gone": ("00", both(renamed("00-time", "time", "시간"), bare)),
    "backwards": ("04", backwards),
    "a script made into a notebook": ("03", paragraphs),
    "a lesson in one cell": ("00", one_cell),
    "Kaggle; tabs, CRLF and indents; checks turned to text": ("00", both(
        each_answer(lambda source: "%%time\n" + "\r\n".join(
            f"\t{line}" if line else line for line in source.replace("    ", "\t").split("\n"))),
        each_check(cell_type="markdown"), without_ids,
        each_cell(_uuid="8f2839f2", trusted=True, collapsed=True))),
    "__future__ in every answer, checks emptied": (
        "03", both(each_answer("from __future__ import annotations\n{}".format),
                   each_check(source=""))),
    "names of Python and of answers used at the end": ("05", last(
        "max = min = int = zip = sum = rl = np = 0\nprint = _report = _lock = In = exit = None\n"
        "switch, decode, fill, gauges = 1, 2, 3, 4")),
    "checks in one cell": ("00", checked_last),
}  # fmt: skip


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
