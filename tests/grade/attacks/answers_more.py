"""More hostile and broken answers to 01-e1: what lies, what stays behind, what talks to Jupyter.

As in attacks.py, ``f1`` is the name that is checked and none of these may pass.
"""

LIES = {  # the value that comes back is no product of m and n, whatever it says of itself
    "a second call is right": """
calls = []
def f1(m, n):
    calls.append(1)
    return 0 if len(calls) < 2 else m * n""",
    "remembers the case before": """
def f1(m, n, before=[]):
    before.append(m * n)
    return before[0]""",
    "text of a number": """
class Word(str):
    __eq__ = lambda s, o: True
    __hash__ = str.__hash__
    __float__ = lambda s: 6.0
def f1(m, n): return Word(m * n)""",
    "array of texts": "def f1(m, n): return np.array(['6'])",
    "lying dictionary": """
class Box(dict):
    items = lambda s: [("value", s.right)]
    values = lambda s: [s.right]
    __getitem__ = lambda s, key: s.right
    __iter__ = lambda s: iter(lambda: 1, 2)
def f1(m, n):
    box = Box(value=0)
    box.right = m * n
    return box""",
    "list that grows while it is read": """
class Long(list):
    __iter__ = lambda s: iter(lambda: 6, 7)
    __len__ = lambda s: 1
def f1(m, n): return Long([0, 0])""",
    "holds itself": "def f1(m, n):\n    x = {}\n    x['x'] = x\n    return x",
    "wide and deep": "def f1(m, n):\n    x = 1\n    for _ in range(40): x = [x, x]\n    return x",
    "lying fraction": """
from fractions import Fraction
class Lie(Fraction):
    __int__ = __float__ = __eq__ = lambda s, o=0: 6
def f1(m, n): return Lie(1, 3)""",
    "long text": "def f1(m, n): return 'x' * 10_000_000",
    "changes its case": """
def f1(m, n):
    import sys
    case = sys._getframe(2).f_locals.get("case")
    if case: case.clear()
    return 0""",
    "every attribute": """
class All:
    def __getattr__(self, name): return lambda *a, **k: self
    __call__ = __getattr__
def f1(m, n): return All()""",
    "raises a group": (
        "def f1(m, n):\n    raise BaseExceptionGroup('x' * 9999, [KeyboardInterrupt()] * 999)"
    ),
    "control marks": (
        "def f1(m, n):\n"
        "    raise ValueError('\\x1b[2J\\x00\\u202e</code><script>alert(1)</script>')"
    ),
}

SHARES = {  # hooks, messages, displays, processes: the answers around it still count
    "exception handler": """
get_ipython().set_custom_exc((BaseException,), lambda *a, **k: print("6"))
1 / 0""",
    "widgets": """
k = get_ipython().kernel
for number in range(300):
    k.session.send(k.iopub_socket, "comm_open", {
        "comm_id": str(number), "target_name": "jupyter.widget",
        "data": {"state": {"x": "y" * 9_999}}}, parent=k.get_parent())""",
    "display that raises": """
class Bad:
    def __repr__(self): raise SystemExit
    _repr_html_ = _repr_mimebundle_ = _ipython_display_ = __repr__
display(Bad())
Bad()""",
    "early reply": """
k = get_ipython().kernel
k.session.send(k.shell_stream or k.shell_socket, "execute_reply", {"status": "ok"}, k.get_parent(),
               ident=b"x")""",
    "timer": """
import signal
signal.signal(signal.SIGALRM, lambda *a: 1 / 0)
signal.setitimer(signal.ITIMER_REAL, 60)""",
    "writes a module": """
open("json.py", "w").write("1 / 0")
open("collect.py", "w").write("1 / 0")
import sys
sys.path.insert(0, "")""",
    "environment": "import os\nos.environ.clear()\nos.umask(0o777)\nos.chdir('/')",
    "stays behind": """
import threading, time
def later():
    time.sleep(0.3)
    get_ipython().user_ns.update(f1=lambda m, n: m * n + 1, f2=f1)
threading.Thread(target=later, daemon=True).start()
def f1(m, n): return 0""",
    "late result thread": """
import threading, time, sys
def later():
    for _ in range(200):
        print("ROOFLAB 01-e1 []"); time.sleep(0.01)
threading.Thread(target=later, daemon=True).start()""",
    "steals the word": """
import gc
def f1(m, n):
    import sys
    f = sys._getframe()
    while f:
        if "word" in f.f_locals: print(f"ROOFLAB {f.f_locals['word']} 01-e1 []")
        f = f.f_back
    return 0""",
    "shutdown request": """
get_ipython().kernel.do_shutdown(True)
get_ipython().ask_exit()""",
    "fork answers too": "\nimport os\ndef f1(m, n):\n    os.fork(); return m + n",
    "pipe hoard": """
import os
held = []
while True:
    held.append(os.pipe())
    os.set_blocking(held[-1][1], False)
    os.write(held[-1][1], b"x" * 65536)""",
}

SPOILS = {  # may cost this learner the later answers, and nobody else anything
    "events": """
ip = get_ipython()
for name in ("pre_execute", "post_execute", "pre_run_cell", "post_run_cell"):
    ip.events.register(name, lambda *a: 1 / 0)""",
    "tree": """
import ast
class Swap(ast.NodeTransformer):
    def visit_Constant(self, node): return ast.Constant(6)
get_ipython().ast_transformers.append(Swap())
def f1(m, n): return 5""",
    "no namespace": "get_ipython().user_ns.clear()\nget_ipython().user_ns = {}",
    "dup2 over sockets": """
import os
for n in range(3, 60):
    try: os.dup2(0, n)
    except OSError: pass""",
    "sigstop itself": "import os, signal\nos.kill(os.getpid(), signal.SIGSTOP)",
    "rlimit": """import resource
for r in (resource.RLIMIT_NOFILE, resource.RLIMIT_AS, resource.RLIMIT_FSIZE,
          resource.RLIMIT_STACK):
    resource.setrlimit(r, (0, 0))""",
}
