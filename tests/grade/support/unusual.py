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


def in_one_cell(first: str, second: str) -> Change:
    """Two answers merged into the first one's cell."""

    def change(notebook: Notebook) -> None:
        one, other = answer(notebook, first), answer(notebook, second)
        one["source"] = f"{''.join(one['source'])}\n{''.join(other['source'])}"
        notebook["cells"].remove(other)

    return change


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
        for i in range(0, len(x), size):
            y[i : i + size] += a * x[i : i + size]
    return y"""
PIECES = """from tqdm.auto import tqdm
def parts(n, size=4096):
    for i in range(0, n, size):
        yield slice(i, i + size)
def golf_axpy(a, x, y):
    for part in tqdm(parts(len(x)), leave=False):
        getattr(y[part], '__iadd__')(a * x[part])
    return y"""
HALVES = """def golf_axpy(a, x, y):
    if len(x) > 4096:
        h = len(x) // 2
        golf_axpy(a, x[:h], y[:h])
        golf_axpy(a, x[h:], y[h:])
        return y
    y += a * x
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
RIDGE = """def time(flops, bytes, peak, bandwidth):
    ridge = rl.mine.ridge(peak, bandwidth)
    return flops / peak if flops / bytes > ridge else bytes / bandwidth"""
SPEED, COUNT, NAME, THREE = "01-speed-limit", "01-product", "01-name", "01-three-intensities"
CLAIM, VALUE = "01-claim-1365", "product(4096, 4096, 4096, 4)[2], 2"
AXPY, SQUARES, RULES = "02-golf-axpy", "02-golf-squares", "03-thumb-rules"
TIMEIT = "print(timeit.timeit(lambda: {}, number=10))"
VERDICTS = '("wrong", "sometimes", "sometimes", "wrong", "right", "wrong")'
ON: dict[str, tuple[str, Change]] = {
    # the name of an answer, used again; an older text of it
    "import time": ("00-time", behind("00-time", "import time")),
    "a name between": (NAME, between(NAME, "name = 3")),
    "a name deleted": (COUNT, behind(COUNT, "del product")),
    "a copy with an older try": (SPEED, copied(SPEED, OLDER, check=True)),
    "a copy left empty": (SQUARES, copied(SQUARES, "def squares(x):\n    ...")),
    # answers that lost their mark, their name or their place
    "renamed": ("00-time", renamed("00-time", "time", "zeit_schätzung")),
    "merged with its check": ("00-peak", merged("00-peak")),
    "typed into a new cell": (COUNT, retyped(COUNT)),
    "typed into a new cell lower": ("01-witnesses", retyped("01-witnesses", 3)),
    "a value in a new cell": (CLAIM, retyped(CLAIM)),
    "golf in a new cell": ("02-golf-row-norm", retyped("02-golf-row-norm")),
    "the check above": ("00-lunch", pulled_up("00-lunch")),
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
    "the marked cell turned to text": (SPEED, both(above(SPEED, LIMIT), text(SPEED))),
    # how the check is written
    "checked in the answer's cell": ("00-peak", under("00-peak", 'rl.check("00-peak", peak)')),
    "check by import, the exercise in a variable": ("00-time", both(
        renamed("00-time", "time", "dauer"),
        checked("00-time", "from rooflab import check\nid = '00-time'\nv = check(id, dauer)\nv"))),
    "a method checked by its path": (RULES, both(
        instead(RULES, "class Rules:\n    @staticmethod\n    def holds(peak, bandwidth):\n"
                       "        return peak / bandwidth >= 4, peak / bandwidth <= 8"),
        checked(RULES, f'rl.check("{RULES}", Rules.holds)'))),
    "a lambda in the check": (RULES, both(
        instead(RULES, "pass"),
        checked(RULES, f'rl.check("{RULES}", lambda p, b: (p / b >= 4, p / b <= 8))'))),
    "checks in a loop": ("00-time", both(
        renamed("00-time", "time", "t_of"), unchecked("00-time"),
        last('for id, f in {"00-time": t_of, "00-peak": peak}.items():\n'
             "    print(rl.check(id, f))"))),
    # lines that fail in the grade
    "a plot above": ("00-peak", top("00-peak", "plt.loglog(curve.k, curve.seconds)")),
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
    "%%capture": ("02-golf-bias-relu", top("02-golf-bias-relu", "%%capture out")),
    "%time of a value": (CLAIM, instead(CLAIM, f"%time claim = {VALUE}")),
    "a shell line stored, a table made in a loop": (SPEED, both(
        instead(SPEED, LIMIT.replace("3 *", "TABLE['axpy'] *")),
        checked(SPEED, f'def f(): pass\nrl.check("{SPEED}", speed_limit)'),
        above(SPEED, "files = !ls\n%time N = 3\nTABLE = {}\n"
                     "for name, n in (('axpy', N), ('dot', 2)):\n    TABLE[name] = n"))),
    "%timeit -o stored": ("03-sparse-peak", swapped(
        "03-sparse-peak", "claimed / 2", "claimed / two()",
        above("03-sparse-peak", "def two():\n    return 2\nt = %timeit -o -n1 -r1 two()\ntwo?"))),
    "!pip above": ("02-golf-scale-add-scale",
                   top("02-golf-scale-add-scale", "!pip install numpy\n%matplotlib inline")),
    "a magic of an exported script": (
        NAME, top(NAME, "get_ipython().run_line_magic('matplotlib', 'inline')")),
    "autoreload, IPython.display": (THREE, both(
        first("%load_ext autoreload\n%autoreload 2"),
        top(THREE, "from IPython.display import display, HTML\ndisplay(HTML('<b>x</b>'))"))),
    "prompts": (CLAIM, instead(CLAIM, f">>> claim = {VALUE}")),
    # tests and tools of one's own: an import costs nothing, wherever it stands
    "timeit": (COUNT, both(
        above(COUNT, "import timeit"), under(COUNT, TIMEIT.format("product(4, 5, 6, 4)")))),
    "asyncio": ("01-claims", both(
        first("import asyncio"), under("01-claims", "await asyncio.sleep(0)\nverdicts;"))),
    "unittest and others": (COUNT, under(COUNT, OWN_TESTS)),
    "a thread pool": (THREE, under(THREE,
        "from concurrent.futures import ThreadPoolExecutor\n"
        "with ThreadPoolExecutor() as pool:\n    print(list(pool.map(intensities, range(1, 5))))")),
    "the library to compare": (
        "04-intensities", under("04-intensities", "print(rl.gemm(64, 11008, 4096).intensity)")),
    "input above": (NAME, top(NAME, "import logging\nwho = input('your name? ')")),
    # Python of every kind
    "three nested loops": (COUNT, instead(COUNT, NESTED)),
    "typing, match and so on": (COUNT, instead(COUNT, EVERY_KIND)),
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
    "golf by a decorator": (AXPY, instead(AXPY, WRAPPED)),
    "golf by a generator": (AXPY, instead(AXPY, PIECES)),
    "golf by recursion": (AXPY, instead(AXPY, HALVES)),
    "golf with types and prints": (SQUARES, instead(SQUARES,
        "import numpy.typing as npt\nfrom numpy import *\ndef squares(x: npt.NDArray) -> float:\n"
        "    print(len(x), x.shape, x.dtype)\n    return float(dot(x, x))")),
    # helpers and where they stand
    "a golf helper below": (SQUARES, both(
        instead(SQUARES, "def squares(x):\n    return both(x, x)"),
        last("def both(x, y):\n    return np.dot(x, y)"))),
    "a constant beside what was measured": ("00-bandwidth", swapped(
        "00-bandwidth", "2 * n", "trips * n",
        above("00-bandwidth", "print(curve.n)\ntrips = 2\nrate = trips * curve.n"))),
    "the ridge of mine": ("03-time", both(
        first("import timeit"),
        instead("03-time", f"{RIDGE}\n{TIMEIT.format('time(1, 2, 3, 4)')}"))),
    "the product of mine": ("04-layer", instead("04-layer", LAYER)),
    "the time of mine": ("05-decode", both(
        first("import timeit"),
        instead("05-decode", f"{DECODE}\n{TIMEIT.format('decode(7e9, 2, 1, 1, 1, 1e14, 1e12)')}"))),
    "knee stored": ("04-knee", behind("04-knee", "knee = 412")),
}  # fmt: skip
FULL = "all answers in the first's cell"  # the one notebook that plays golf as it is
WHOLE: dict[str, tuple[str, Change]] = {
    FULL: ("02", all_in_one(0)),
    "two answers in one cell, a magic": (
        "00", both(in_one_cell("00-time", "00-lunch"), top("00-time", "%matplotlib inline"))),
    "all marks dropped": ("00", unmarked),
    "renamed in Korean, marks and ids gone": ("00", both(renamed("00-time", "time", "시간"), bare)),
    "backwards": ("04", backwards),
    "a script made into a notebook": ("03", paragraphs),
    "a lesson in one cell": ("00", one_cell),
    "tabs, CRLF and indents": ("00", each_answer(lambda source: "%%time\n" + "\r\n".join(
        f"\t{line}" if line else line for line in source.replace("    ", "\t").split("\n")))),
    "__future__ in every answer": (
        "03", each_answer("from __future__ import annotations\n{}".format)),
    "names of Python used at the end": ("05", last(
        "max = min = int = zip = sum = rl = np = 0\nprint = _report = _lock = In = exit = None")),
    "all names used at the end": ("00", last("bandwidth, peak, overtakes, time = 1, 2, 3, 4")),
    "checks in one cell": ("00", checked_last),
    "checks emptied": ("00", each_check(source="")),
    "checks turned to text": ("00", each_check(cell_type="markdown")),
    "Kaggle": ("00", both(each_cell(_uuid="8f2839f2", trusted=True, collapsed=True), without_ids)),
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
