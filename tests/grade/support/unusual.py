"""Honest hand-ins in unusual dress: name → what is done to the solution. All must get full points.

To add one, add a line: ``"what it is": ("01", behind("01-product", "source of a cell"))``. The
functions below say what can be done; several make one case as ``both(…, …)``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from rooflab.exercises.registry import lesson
from rooflab.grade.notebook_code import checks
from tests.grade.support.notebooks import answer, code

HOLES = [each.id for each in lesson("02") if each.kind == "golf"]
Notebook = dict[str, Any]
Change = Callable[[Notebook], None]


def instead(exercise: str, source: str) -> Change:
    """Another source in the answer cell."""
    return lambda notebook: answer(notebook, exercise).update(source=source)


def first_hole(source: str) -> Change:
    """Another way to play hole 1; the other holes, which take the grader seconds, are empty."""

    def change(notebook: Notebook) -> None:
        for hole in HOLES:
            answer(notebook, hole).update(source=source if hole == HOLES[0] else "")

    return change


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


LOOP = (
    "    for i in range(0, len(x), 4096):\n"
    "        y[i : i + 4096] += a * x[i : i + 4096]\n"
    "    return y"
)
PLAIN = f"def golf_axpy(a, x, y):\n{LOOP}"
PIECES = (
    "        for i in range(0, len(x), self.{0}):\n"
    "            y[i : i + self.{0}] += a * x[i : i + self.{0}]\n"
    "        return y"
)
GOLF = {  # hole 1 in plain Python of every kind
    "a class": (
        "class G:\n"
        "    def __init__(self, size):\n"
        "        self.size = size\n"
        "    def __call__(self, a, x, y):\n" + PIECES.format("size") + "\ngolf_axpy = G(4096)"
    ),
    "a class's method": (
        "class G:\n"
        "    def __init__(self, size):\n"
        "        self._size = size\n"
        "    def run(self, a, x, y):\n" + PIECES.format("_size") + "\ngolf_axpy = G(4096).run"
    ),
    "a dataclass": (
        "from dataclasses import dataclass\n"
        "@dataclass\n"
        "class G:\n"
        "    chunk: int = 4096\n"
        "    def run(self, a, x, y):\n"
        + PIECES.format("chunk")
        + "\nplayer = G()\ndef golf_axpy(a, x, y):\n    return player.run(a, x, y)"
    ),
    "a frozen dataclass": (
        "import dataclasses\n"
        "@dataclasses.dataclass(frozen=True)\n"
        "class G:\n"
        "    data: int = 4096\n"
        "def golf_axpy(a, x, y):\n"
        "    g = G()\n"
        "    for i in range(0, len(x), g.data):\n"
        "        y[i : i + g.data] += a * x[i : i + g.data]\n"
        "    return y"
    ),
    "functools.wraps": (
        "import functools\n"
        "def counted(f):\n"
        "    @functools.wraps(f)\n"
        "    def inner(*args):\n"
        "        inner.calls += 1\n"
        "        return f(*args)\n"
        "    inner.calls = 0\n"
        "    return inner\n"
        "@counted\n"
        "def golf_axpy(a, x, y):\n"
        f"{LOOP}"
    ),
    "wraps by from": (
        "from functools import wraps\n"
        "def same(f):\n"
        "    @wraps(f)\n"
        "    def inner(*args):\n"
        "        return f(*args)\n"
        "    return inner\n"
        "@same\n"
        "def golf_axpy(a, x, y):\n"
        f"{LOOP}"
    ),
    "functools.partial": (
        "from functools import partial\n"
        "def in_parts(size, a, x, y):\n"
        f"{LOOP}\n"
        "golf_axpy = partial(in_parts, 4096)"
    ),
    "operator": (
        "import operator\n"
        "def golf_axpy(a, x, y):\n"
        "    for i in range(0, len(x), 4096):\n"
        "        part = slice(i, i + 4096)\n"
        "        y[part] = operator.iadd(y[part], operator.mul(a, x[part]))\n"
        "    return y"
    ),
    "copy": (
        "from copy import deepcopy\n"
        "SIZES = {'chunk': [4096]}\n"
        "def golf_axpy(a, x, y):\n"
        "    size = deepcopy(SIZES)['chunk'][0]\n"
        "    for i in range(0, len(x), size):\n"
        "        y[i : i + size] += a * x[i : i + size]\n"
        "    return y"
    ),
    "contextlib": (
        "from contextlib import contextmanager, suppress\n"
        "@contextmanager\n"
        "def room():\n"
        "    yield 4096\n"
        "def golf_axpy(a, x, y):\n"
        "    with room() as size, suppress(IndexError):\n"
        "        for i in range(0, len(x), size):\n"
        "            y[i : i + size] += a * x[i : i + size]\n"
        "    return y"
    ),
    "a function's attribute": (
        "def golf_axpy(a, x, y):\n"
        "    golf_axpy.calls = getattr_free.n + 1\n"
        f"{LOOP}\n"
        "def getattr_free(): pass\n"
        "getattr_free.n = 0"
    ),
    "a class attribute": (
        "class Golf:\n"
        "    chunk = 4096\n"
        "def golf_axpy(a, x, y):\n"
        "    for i in range(0, len(x), Golf.chunk):\n"
        "        y[i : i + Golf.chunk] += a * x[i : i + Golf.chunk]\n"
        "    return y"
    ),
    "a counter": (
        f"class Count:\n    number = 0\ndef golf_axpy(a, x, y):\n    Count.number += 1\n{LOOP}"
    ),
    "an iterator": (
        "class Pieces:\n"
        "    def __init__(self, n, size):\n"
        "        self.n, self.size, self.at = n, size, 0\n"
        "    def __iter__(self):\n"
        "        return self\n"
        "    def __next__(self):\n"
        "        if self.at >= self.n:\n"
        "            raise StopIteration\n"
        "        self.at += self.size\n"
        "        return slice(self.at - self.size, self.at)\n"
        "def golf_axpy(a, x, y):\n"
        "    for part in Pieces(len(x), 4096):\n"
        "        y[part] += a * x[part]\n"
        "    return y"
    ),
    "a class on a class": (
        "class Base:\n"
        "    def __init__(self):\n"
        "        self.chunk = 4096\n"
        "class G(Base):\n"
        "    def __init__(self):\n"
        "        super().__init__()\n"
        "        self.trace = []\n"
        "    def play(self, a, x, y):\n"
        "        self.trace.append(len(x))\n"
        + PIECES.format("chunk")
        + "\ng = G()\ndef golf_axpy(a, x, y):\n    return g.play(a, x, y)"
    ),
    "a property": (
        "class G:\n"
        "    def __init__(self):\n"
        "        self.buffer = 4096\n"
        "    @property\n"
        "    def chunk(self):\n"
        "        return self.buffer\n"
        "g = G()\n"
        "def golf_axpy(a, x, y):\n"
        "    for i in range(0, len(x), g.chunk):\n"
        "        y[i : i + g.chunk] += a * x[i : i + g.chunk]\n"
        "    return y"
    ),
    "a class method": (
        "class G:\n"
        "    load = 4096\n"
        "    @classmethod\n"
        "    def run(cls, a, x, y):\n"
        "        for i in range(0, len(x), cls.load):\n"
        "            y[i : i + cls.load] += a * x[i : i + cls.load]\n"
        "        return y\n"
        "def golf_axpy(a, x, y):\n"
        "    return G.run(a, x, y)"
    ),
    "a named tuple": (
        "from collections import namedtuple\n"
        "Setting = namedtuple('Setting', 'code test numbers string')\n"
        "S = Setting(4096, 1, 2, 3)\n"
        "def golf_axpy(a, x, y):\n"
        "    for i in range(0, len(x), S.code):\n"
        "        y[i : i + S.code] += a * x[i : i + S.code]\n"
        "    return y"
    ),
    "a generator": (
        "def parts(n, size=4096):\n"
        "    for i in range(0, n, size):\n"
        "        yield slice(i, i + size)\n"
        "def golf_axpy(a, x, y):\n"
        "    for part in parts(len(x)):\n"
        "        y[part] += a * x[part]\n"
        "    return y"
    ),
    "tqdm": (
        "from tqdm import tqdm\n"
        "def golf_axpy(a, x, y):\n"
        "    for i in tqdm(range(0, len(x), 4096), desc='golf', leave=False):\n"
        "        y[i : i + 4096] += a * x[i : i + 4096]\n"
        "    return y"
    ),
    "tqdm.auto": (
        "from tqdm.auto import trange\n"
        "def golf_axpy(a, x, y):\n"
        "    for i in trange(0, len(x), 4096, disable=True):\n"
        "        y[i : i + 4096] += a * x[i : i + 4096]\n"
        "    return y"
    ),
    "a lambda": (
        "import numpy as np\n"
        "add = lambda a, x, y: np.add(y, a * x, out=y)\n"
        "def golf_axpy(a, x, y):\n"
        "    for i in range(0, len(x), 4096):\n"
        "        add(a, x[i : i + 4096], y[i : i + 4096])\n"
        "    return y"
    ),
    "a plot above": f"import matplotlib.pyplot as plt\nplt.plot([1])\n{PLAIN}",
    "a timer below": f"{PLAIN}\n%timeit -n1 -r1 None",
    "sys in another function": f"import sys\ndef show():\n    print(sys.version)\n{PLAIN}",
}
CASES: dict[str, tuple[str, Change]] = {
    # a scratch cell behind the check that uses the name again
    "import time": ("00", behind("00-time", "import time")),
    "from time import time": ("00", behind("00-time", "from time import time")),
    "time = 0.005": ("00", behind("00-time", "time = 0.005")),
    "import time in 03": ("03", behind("03-time", "import time")),
    "from time import time in 03": ("03", behind("03-time", "from time import time")),
    "time = 0.005 in 03": ("03", behind("03-time", "time = 0.005")),
    "bandwidth and peak": (
        "00",
        behind("00-bandwidth", "bandwidth = 53.4e9; peak = 118e9; print(peak / bandwidth)"),
    ),
    "peak, bandwidth": ("00", behind("00-peak", "peak, bandwidth = 118e9, 53.4e9")),
    "all names at the end": ("00", last("bandwidth, peak, overtakes, time = 1, 2, 3, 4")),
    "a product, stored": ("01", behind("01-product", "product = 2 * 4096**3")),
    "a product, called": ("01", behind("01-product", "product = product(4096, 4096, 4096, 4)")),
    "a product, deleted": ("01", behind("01-product", "del product")),
    "a claim to compare": ("01", behind("01-claim-1365", "claim = 1365")),
    "an older try below": (
        "01",
        behind("01-speed-limit", "def speed_limit(peak, bandwidth, itemsize):\n    return peak"),
    ),
    "an older try above": (
        "01",
        above("01-speed-limit", "def speed_limit(peak, bandwidth, itemsize):\n    return peak"),
    ),
    "a name between": ("01", between("01-speed-limit", "speed_limit = 3")),
    "a loop's name": ("01", last("for name in ('axpy', 'gemm'):\n    print(name)")),
    "a with's name": ("03", last("with open('x') as rows:\n    pass")),
    "an error's name": (
        "01",
        last("try:\n    1 / 0\nexcept ZeroDivisionError as claim:\n    print(claim)"),
    ),
    "a comprehension below": ("01", last("verdicts = [1 for _ in 'ab']")),
    "knee stored": ("04", behind("04-knee", "knee = 412")),
    "layer stored, then used": ("04", behind("04-layer", "layer = 3.5e-3")),
    "decode stored": ("05", behind("05-decode", "decode = decode(7e9, 2, 1, 1, 1, 1e14, 1e12)")),
    "squares stored": ("02", behind("02-golf-squares", "squares = 385.0")),
    "golf_axpy older below": ("02", last("def golf_axpy(a, x, y):\n    return a * x + y")),
    "a checked twice": ("01", behind("01-name", "name = 3\nprint(name)")),
    "a class of that name": ("01", last("class product:\n    pass")),
    "a del at the end": ("04", last("del layer, knee, last")),
    # answers that lost their mark, their name or their place
    "renamed": ("00", renamed("00-time", "time", "predicted_time")),
    "renamed, with the old name in use": (
        "00",
        both(renamed("00-time", "time", "predicted_time"), above("00-time", "import time")),
    ),
    "renamed golf": ("02", renamed("02-golf-axpy", "golf_axpy", "my_axpy")),
    "renamed, marks gone": ("01", both(renamed("01-name", "name", "which"), unmarked)),
    "renamed, marks and ids gone": ("01", both(renamed("01-name", "name", "which"), bare)),
    "merged with its check": ("00", merged("00-peak")),
    "every answer merged": (
        "00",
        both(*map(merged, ("00-bandwidth", "00-peak", "00-time", "00-lunch"))),
    ),
    "a value merged": ("01", merged("01-claim-1365")),
    "golf merged": ("02", merged("02-golf-axpy")),
    "typed into a new cell": ("01", retyped("01-product")),
    "typed into a new cell lower": ("01", retyped("01-speed-limit", 3)),
    "a value in a new cell": ("01", retyped("01-claim-1365")),
    "golf in a new cell": ("02", retyped("02-golf-row-norm")),
    "all marks dropped": ("01", unmarked),
    "all marks dropped in 02": ("02", unmarked),
    "all marks dropped in 04": ("04", unmarked),
    "all marks and ids dropped": ("01", bare),
    "all marks and ids dropped in 03": ("03", bare),
    "all marks and ids dropped in 05": ("05", bare),
    "two answers in one cell": ("01", in_one_cell("01-product", "01-speed-limit")),
    "written into the check": (
        "01",
        both(
            instead("01-claim-1365", "# see below"),
            checked(
                "01-claim-1365",
                'claim = product(4096, 4096, 4096, 4)[2], 2\nrl.check("01-claim-1365", claim)',
            ),
        ),
    ),
    "a value in the check": (
        "01",
        both(
            lambda n: n["cells"].remove(answer(n, "01-claim-1365")),
            checked(
                "01-claim-1365", 'rl.check("01-claim-1365", (product(4096, 4096, 4096, 4)[2], 2))'
            ),
        ),
    ),
    "single quotes and a space": ("00", checked("00-time", "rl.check( '00-time' , time )")),
    "by keyword": (
        "00",
        both(
            renamed("00-time", "time", "t"), checked("00-time", "rl.check(id='00-time', answer=t)")
        ),
    ),
    "the check above": ("01", pulled_up("01-product")),
    "no check": ("01", unchecked("01-product")),
    "no checks at all": (
        "00",
        both(*map(unchecked, ("00-bandwidth", "00-peak", "00-time", "00-lunch"))),
    ),
    "backwards": ("01", backwards),
    "backwards in 04": ("04", backwards),
    "checked in the answer's cell": ("00", under("00-peak", 'rl.check("00-peak", peak)')),
    # helpers, and lines that fail in the grade
    "a plot above the answer": ("00", top("00-peak", "plt.loglog(curve.k, curve.seconds)")),
    "a print above the answer": ("00", top("00-bandwidth", "print(here)")),
    "a measurement above the answer": (
        "01",
        top("01-speed-limit", "m = rl.measure(rl.axpy(10**6))\nprint(m.median_s)"),
    ),
    "a failing test below": ("01", under("01-product", "assert product(1, 2, 3, 4) == 'no'")),
    "a magic above": ("01", top("01-product", "%matplotlib inline")),
    "a shell line above": ("01", top("01-product", "!ls")),
    "a helper below its answer": (
        "01",
        both(
            instead("01-speed-limit", "def speed_limit(p, b, s):\n    return 3 * s * p / twice(b)"),
            behind("01-speed-limit", "def twice(n):\n    return 2 * n"),
        ),
    ),
    "a helper between": (
        "01",
        both(
            instead("01-speed-limit", "def speed_limit(p, b, s):\n    return 3 * s * p / twice(b)"),
            between("01-speed-limit", "def twice(n):\n    return 2 * n"),
        ),
    ),
    "a helper at the end": (
        "01",
        both(
            instead("01-speed-limit", "def speed_limit(p, b, s):\n    return 3 * s * p / twice(b)"),
            last("def twice(n):\n    return 2 * n"),
        ),
    ),
    "a value's helper below": (
        "01",
        both(
            instead("01-claim-1365", "claim = product(SIDE, SIDE, SIDE, 4)[2], 2"),
            last("SIDE = 4096"),
        ),
    ),
    "a golf helper below": (
        "02",
        both(
            instead("02-golf-squares", "def squares(x):\n    return both(x, x)"),
            last("def both(x, y):\n    return np.dot(x, y)"),
        ),
    ),
    "three nested loops": (
        "01",
        instead(
            "01-product",
            "def product(m, n, k, itemsize, accumulate=False):\n"
            "    flops = 0\n"
            "    for _ in range(m):\n"
            "        for _ in range(n):\n"
            "            for _ in range(k):\n"
            "                flops += 2\n"
            "    moved = (m * k + k * n + (1 + accumulate) * m * n) * "
            "itemsize\n"
            "    return flops, moved, flops / moved",
        ),
    ),
    "fractions": (
        "01",
        instead(
            "01-speed-limit",
            "from fractions import Fraction\n"
            "def speed_limit(p, b, s):\n"
            "    return Fraction(3 * s, 2) * Fraction(p) / Fraction(b)",
        ),
    ),
    # rl.mine
    "the ridge of mine": (
        "03",
        instead(
            "03-time",
            "def time(flops, bytes, peak, bandwidth):\n"
            "    return flops / peak if flops / bytes > "
            "rl.mine.ridge(peak, bandwidth) else bytes / bandwidth",
        ),
    ),
    "the time of mine": (
        "05",
        instead(
            "05-decode",
            "def decode(parameters, itemsize, kv, batch, context, peak, "
            "bandwidth):\n"
            "    t = rl.mine.time(2 * parameters * batch, "
            "parameters * itemsize, peak, bandwidth)\n"
            "    return batch / (t + kv * context * batch / "
            "bandwidth)",
        ),
    ),
    "the product of mine": (
        "04",
        instead(
            "04-layer",
            "def layer(tokens, inputs, outputs, itemsize, peak, "
            "bandwidth):\n"
            "    flops, moved, _ = rl.mine.product(tokens, outputs, "
            "inputs, itemsize)\n"
            "    return rl.mine.time(flops, moved, peak, "
            "bandwidth)",
        ),
    ),
} | {f"golf by {name}": ("02", first_hole(source)) for name, source in GOLF.items()}

SAID = {  # right, and refused: (exercise, source); rl.check must say so in the grader's words
    "the library's count": (
        "01-product",
        "def product(m, n, k, itemsize, accumulate=False):\n"
        "    op = rl.gemm(m, n, k, {8: 'fp64', 4: 'fp32', 2: 'fp16', 1: 'fp8_e4m3'}[itemsize], "
        "accumulate=accumulate)\n"
        "    return op.flops, op.bytes, op.intensity",
    )
}
