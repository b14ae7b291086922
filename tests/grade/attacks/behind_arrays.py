"""Ways round the lock that look like plain Python; each once gave an answer its points."""

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
