"""Ways behind the arrays and round the lock that look like plain NumPy and Python.

Each once gave an answer its points, or the means to: a name that a star import brings, a code
object that no underscore hides, memory that NumPy is told of.
"""

BEHIND = {  # what the gate must name
    "a module by star": "from numpy import *\ntesting.runstring('1', {})",
    "a loader by star": "from numpy import *\nload('x', allow_pickle=True)",
    "type hints by star": "from typing import *\nclass A:\n    x: 'print(1)'\nget_type_hints(A)",
    "a decorator by star": "from functools import *\nwraps(print)",
    "a room by star": "from rooflab import *\nshow.theme",
    "code of a coroutine": "async def probe(o):\n    return o.x\nprobe(0).cr_code",
    "code of an async generator": "async def probe(o):\n    yield o.x\nprobe(0).ag_code",
    "constants of code": "def f(code):\n    return code.co_consts",
    "a check's source": "def squares(x):\n    return _i7",
    "an earlier value": "def squares(x):\n    return _12",
    "the tests of NumPy": "import numpy as np\nnp.test(tests=['/box/e.npy'])",
    "the tests of a part": "import numpy as np\nnp.fft.test()",
    "memory at an address": """
class Raw:
    @property
    def __array_interface__(self):
        return {"shape": (1,), "typestr": "<i8", "data": (id(self), False), "version": 3}""",
    "memory by a struct": "class Raw:\n    def __array_struct__(self): pass",
    "a class from texts": "R = type('R', (), {'__array_inter' + 'face__': {}})",
    "type of a type": "T = type(type(0))",
    "type as a value": "make = type",
    "type by another name": "f = lambda print: print(type(0))",
    "type in brackets": "class G:\n    def __getitem__(self, t): return t\nG()[type(0)] is None",
    "rooflab as a base": "import rooflab as rl\nclass A(rl): pass",
    "rooflab as a decorator": "import rooflab as rl\n@rl\ndef f(): pass",
    "a metaclass": "class A(metaclass=print): pass",
    "a metaclass from typing": "import typing\ntyping.ABCMeta('R', (), {})",
    "type from typing": "import typing\ntyping.get_origin(typing.Type)('R', (), {})",
    "the stand-in's namespace": "def f(cp):\n    N = type(cp.cuda.stream)",
    "any attribute": "class A:\n    def __getattr__(self, name): return 1",
    "another class": "class A:\n    @property\n    def __class__(self): return int",
    "a class equal to all": "class A:\n    def __eq__(self, other): return other",
    "objects over bytes": "import numpy as np\nnp.ndarray((1,), object, buffer=bytearray(8))",
    "the same as a base": "import numpy as np\nclass A(np.ndarray): pass",
    "the same by a kin": "import numpy as np\nnp.matrix.mro()[1]",
    "the same by an annotation's name": "import numpy as np\nnp.typing.NDArray[int]((1,), object)",
    "the same by another name": "from numpy import ndarray as make",
    "bytes over objects": "import numpy as np\nnp.frombuffer(np.empty(1, object), np.int64)",
    "memory that is gone": "import numpy as np\na = np.zeros(9)\na.resize(1, refcheck=False)",
    "a generator's memory": "import numpy as np\nnp.random.PCG64().cffi",
    "what an error holds": "try:\n    x.y\nexcept AttributeError as e:\n    e.obj",
    "any NumPy function": "def f(cp):\n    cp.ufunc('__setattr__', 'sum', print, None)",
    "the stand-in's clock": "def f(cp):\n    cp.cuda.get_current_stream().stream.free_at",
    "the value shown last": "import rooflab as rl\nrl",
}

HONEST = {  # what it must let pass
    "the type, shown": (
        "def f(x):\n    print(type(x), f'{type(x)}')\n    return x.dtype.type(0) * x"
    ),
    "the type, compared": "import numpy as np\ndef f(x):\n    return type(x) is np.ndarray",
    "of a class": "import numpy as np\ndef f(x):\n    return isinstance(x, (np.ndarray, list))",
    "annotated": (
        "import numpy as np\n"
        "def f(x: np.ndarray) -> np.ndarray:\n"
        "    y: np.ndarray = x\n"
        "    return y"
    ),
    "annotated with its numbers": (
        "from numpy.typing import NDArray\n"
        "import numpy as np\n"
        "def f(x: NDArray[np.float32]): return x"
    ),
    "a star": "from numpy import *\nfrom math import *\ndef f(x):\n    return sqrt(sum(x * x))",
    "a class of one's own": (
        "class Chunks:\n"
        "    def __init__(self, n): print(n)\n"
        "    def __iter__(self): return iter(())"
    ),
    "another size": "import numpy as np\nnp.resize(np.zeros(3), 4)",
    "a method by its class": "import numpy as np\ndef f(x):\n    return np.ndarray.sum(x)",
    "not filled in": "def f(x):\n    return ?",
    "not read": "for _ in range(3):\n    pass",
    "names as in a star, without one": "def test(load):\n    return load\ntest(1)",
}

ROUND = {  # product(…) by a function that is locked
    "behind a magic that gives a value": """
x = %time 1
import importlib, rooflab.count.blas as b
def product(m, n, k, *more): return importlib.reload(b).gemm(m, n, k).flops""",
    "behind a question": """
import importlib, rooflab.count.blas as b
def product(m, n, k, *more): return importlib.reload(b).gemm(m, n, k).flops
product?""",
    "in a magic": (
        "%time import importlib; product = lambda m, n, k, *more: importlib.reload(b).gemm(m, n, k)"
    ),
    "by its loader": """
import rooflab.count.blas as b
def product(m, n, k, *more):
    b.__spec__.loader.exec_module(b)
    return b.gemm(m, n, k).flops""",
    "imported anew": """
import sys
def product(m, n, k, *more):
    del sys.modules['rooflab.count.blas']
    from rooflab.count.blas import gemm
    return gemm(m, n, k).flops""",
    "in a timer": "import timeit\ndef product(m, n, k, *more):\n    timeit.timeit('...', number=1)",
    "in a console": (
        "import code\ndef product(m, n, k, *more):\n    code.InteractiveInterpreter().runcode('')"
    ),
    "by a text": (
        "import rooflab as rl\n"
        "keep = getattr(rl.gemm, '__co' + 'de__')\n"
        "def product(m, n, k, *more): keep"
    ),
    "on the stand-in for a GPU": (
        "from rooflab.labs.cuda import StandIn\ndef product(m, n, k, *more): return StandIn(d)"
    ),
    "by a part of NumPy": (
        "from numpy.testing import runstring\ndef product(m, n, k, *more): runstring('')"
    ),
    "by a getter": "import operator\ndef product(m, n, k, *more): operator.attrgetter('__code__')",
    "of all of os": "from os import *\ndef product(m, n, k, *more): return listdir()",
}
