"""Ways to another object by what is allowed with one's own: classes, their methods, decorators.

An attribute such as ``.array`` may be asked of ``self`` where ``self`` cannot be anything else.
Each of these once gave, or would give, a method another object, or the grader a module in disguise.
"""

TAKE = "class A:\n    def take(self): return self.array\n"
SET = "import numpy as np\nclass A:\n    def put(self): self.add = print\n"

OWN = {  # what the gate must name
    "by the class": f"{TAKE}def f(x): return A.take(x)",
    "by the class, mapped": f"{TAKE}def f(x): return [*map(A.take, [x])]",
    "by another name": f"{TAKE}B = A\ndef f(x): return B.take(x)",
    "from a list": f"{TAKE}def f(x): return [A][0].take(x)",
    "from a function": f"{TAKE}def g(): return A\ndef f(x): return g().take(x)",
    "from a default": f"{TAKE}def f(x, K=A): return K.take(x)",
    "as an argument": f"{TAKE}def g(K, x): return K.take(x)\ndef f(x): return g(A, x)",
    "kept in an object": (
        f"{TAKE}class B:\n    def __init__(self): self.K = A\ndef f(x): return B().K.take(x)"
    ),
    "inside the class": "class A:\n    def take(self): return self.array\n    raw = [take]",
    "called in the class": "class A:\n    def put(self): self.add = 1\n    put(print)",
    "a static method": "class A:\n    @staticmethod\n    def take(self): return self.array",
    "a decorator of one's own": (
        "def bare(f): return f\nclass A:\n    @bare\n    def take(self): return self.array"
    ),
    "a false property": (
        "def property(f): return f\nclass A:\n    @property\n    def take(self): return self.array"
    ),
    "a false dataclass": (
        "def dataclass(c): return c\n@dataclass\nclass A:\n    def take(self): return self.array"
    ),
    "a decorated class": (
        "kept = []\n"
        "def keep(c): kept.append(c); return c\n"
        "@keep\n"
        "class A:\n"
        "    def take(self): return self.array"
    ),
    "through cls": (
        "class A:\n"
        "    def take(self): return self.array\n"
        "    @classmethod\n"
        "    def get(cls, x): return cls.take(x)"
    ),
    "cls handed on": (
        "class A:\n"
        "    def take(self): return self.array\n"
        "    @classmethod\n"
        "    def get(cls): return cls"
    ),
    "another self": "class A:\n    def take(self, x):\n        self = x\n        return self.array",
    "a self in a loop": (
        "class A:\n    def take(self, x):\n        for self in [x]:\n            return self.array"
    ),
    "a self inside": (
        "class A:\n"
        "    def take(self, x):\n"
        "        def g(self): return self.array\n"
        "        return g(x)"
    ),
    "a lambda's self": "class A:\n    def take(self, x): return (lambda self: self.array)(x)",
    "built on something else": (
        "import numpy as np\nclass A(np.vectorize):\n    def take(self): return self.pyfunc"
    ),
    "built on a call": (
        "def g(): return object\nclass A(g()):\n    def take(self): return self.array"
    ),
    "two of one name": f"{TAKE}A = print\ndef f(x): return A(x).array",
    "an object's name reused": f"{TAKE}a = A()\ndef f(a): return a.array",
    "an object in a loop": f"{TAKE}a = A()\ndef f(x):\n    for a in [x]:\n        return a.array",
    "not the first argument": "class A:\n    def take(self, x): return x.array",
    "a function's name reused": "def f(x): x.calls = 1\ndef x(): pass",
    "a module in a list": "import numpy as np\nfor m in [np]: m.add = print",
    "a module as an argument": "import numpy as np\ndef f(m): return m.trace\nf(np)",
    "a part as an argument": "import numpy as np\ndef f(m): return m\nf(np.random)",
    "a part by from": "from numpy import random\ndef f(m): return m\nf(random)",
    "a part by a star": "from numpy import *\ndef f(m): return m\nf(random)",
    "a module returned": "import statistics\ndef f(): return statistics",
    "a module set": f"{SET}A.put(np)",
    "a module's attribute set": "import numpy as np\nnp.linalg.norm = print",
    "a module in a module": "import statistics\nstatistics.sys",
    "a module in an operator": "import operator\noperator.attrgetter('array')",
    "a getter by from": "from operator import methodcaller",
    "wraps of an object": "import functools\ndef f(x): return functools.wraps(x)(print)",
    "wraps with names": (
        "import functools\n@functools.wraps(print, assigned=('array',))\ndef f(): pass"
    ),
    "wraps by another name": (
        "from functools import wraps as w\ndef f(x): return w(x, assigned=('array',))"
    ),
    "wraps kept": "from functools import wraps\nw = wraps",
    "redirected": "from contextlib import redirect_stdout",
    "redirected by its module": (
        "import contextlib\nclass G(contextlib.redirect_stdout): _stream = 'modules'"
    ),
    "all of contextlib": "from contextlib import *",
    "a class from texts": "from dataclasses import make_dataclass",
    "copyreg": "import copy\ncopy.copyreg",
    "a bar's text": (
        "from tqdm import tqdm\ndef f(x): tqdm([1], bar_format='{postfix.array}', postfix=x)"
    ),
    "a bar's text by **": "from tqdm import tqdm\ndef f(k): tqdm([1], **k)",
    "a bar's text by *": "from tqdm import tqdm\ndef f(k): tqdm(*k)",
    "a bar handed on": "from tqdm import tqdm\nt = tqdm",
    "a bar's insides": "import tqdm\ntqdm.std",
    "a bar around": "from tqdm import tqdm\ntqdm.wrapattr(x, 'array')",
    "a file by a star": "from numpy import *\ndef f(): return load('x', allow_pickle=True)",
    "underscores of another's": "def f(x): return x._array",
    "two underscores of one's own": "class A:\n    def take(self): return self.__dict__",
    "a class's call": (
        "class A:\n    def __call__(self): return self.array\ndef f(x): return A.__call__(x)"
    ),
    "its call, inside": "class A:\n    def __call__(self): return self.array\n    raw = __call__",
    "the getter of a property": (
        "class A:\n"
        "    @property\n"
        "    def take(self): return self.array\n"
        "def f(x): return A.take.fget(x)"
    ),
    "a cached property": (
        "from functools import cached_property\n"
        "class A:\n"
        "    @cached_property\n"
        "    def take(self): return self.array\n"
        "def f(x): return A.take.func(x)"
    ),
    "a class in a class": (
        "class A:\n"
        "    class B:\n"
        "        def take(self): return self.array\n"
        "def f(x): return A.B.take(x)"
    ),
    "by super": f"{TAKE}class B(A):\n    def take2(self, x): return super(B, x).take()",
    "by super's class": (
        "class A:\n"
        "    def take(self): return self.array\n"
        "class B(A):\n"
        "    def g(self, x): return super(B, B).take(x)"
    ),
    "a star over a class": (
        "from numpy import *\nclass ndenumerate:\n    def take(self): return self.array"
    ),
}
