"""More hostile and broken answers to 01-e1: what lies, what stays behind, what talks to Jupyter.

As in attacks.py, ``f1`` is the name that is checked and none of these may pass.
"""

LIES = {  # the value that comes back is no product of m and n, whatever it says of itself
    "a second call is right": """
calls = []
def f1(m, n):
    calls.append(1)
    return 0 if len(calls) < 2 else m * n""",
    "table of the cases": "def f1(m, n): return {(2, 3): 6}.get((m, n), 0)",
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
    "a number that is no number": "def f1(m, n): return float('nan')",
    "minus zero": "def f1(m, n): return -0.0",
    "endless": "def f1(m, n): return float('inf')",
    "complex": "def f1(m, n): return m * n + 0j",
    "truth": "def f1(m, n): return True",
    "0-d array of objects": "def f1(m, n): return np.array(Ellipsis, dtype=object)",
    "array of texts": "def f1(m, n): return np.array(['6'])",
    "masked": "def f1(m, n): return np.ma.masked",
    "a date": "def f1(m, n): return np.timedelta64(m * n, 's')",
    "keys that collide": """
class Key(str):
    __eq__ = lambda s, o: True
    __hash__ = lambda s: 1
def f1(m, n): return {Key("a"): m * n, Key("b"): 6}""",
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
    "decimal bomb": "from decimal import Decimal\ndef f1(m, n): return Decimal('1e999999')",
    "fraction bomb": "from fractions import Fraction\ndef f1(m, n): return Fraction(1, 10 ** 5000)",
    "lying fraction": """
from fractions import Fraction
class Lie(Fraction):
    __int__ = __float__ = __eq__ = lambda s, o=0: 6
def f1(m, n): return Lie(1, 3)""",
    "long text": "def f1(m, n): return 'x' * 10_000_000",
    "a class": "class f1:\n    def __init__(self, m, n): self.value = m * n",
    "a coroutine": "async def f1(m, n): return m * n",
    "a generator": "def f1(m, n): yield m * n",
    "needs more": "def f1(m, n, k): return m * n",
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
    "module": "import sys\nsys.modules['f1'] = f1 = type(sys)('f1')",
    "raises a group": (
        "def f1(m, n):\n    raise BaseExceptionGroup('x' * 9999, [KeyboardInterrupt()] * 999)"
    ),
    "raises a chain": """
def f1(m, n):
    error = None
    for _ in range(5000):
        new = ValueError("x" * 99); new.__cause__ = error; error = new
    raise error""",
    "control marks": (
        "def f1(m, n):\n"
        "    raise ValueError('\\x1b[2J\\x00\\u202e</code><script>alert(1)</script>')"
    ),
    "stop iteration": "def f1(m, n): raise StopIteration(m * n)",
    "name error": "def f1(m, n): raise NameError(\"name 'f1' is not defined\")",
}

SHARES = {  # hooks, messages, displays, processes: the answers around it still count
    "exception handler": """
get_ipython().set_custom_exc((BaseException,), lambda *a, **k: print("6"))
1 / 0""",
    "payload": """
ip = get_ipython()
ip.set_next_input("def f1(m, n): return m * n", replace=True)
ip.payload_manager.write_payload({"source": "page", "data": {"text/plain": "x" * 900_000}})""",
    "widgets": """
k = get_ipython().kernel
for number in range(300):
    k.session.send(k.iopub_socket, "comm_open", {
        "comm_id": str(number), "target_name": "jupyter.widget",
        "data": {"state": {"x": "y" * 9_999}}}, parent=k.get_parent())""",
    "displays": """
from IPython.display import HTML, Javascript, display
display(Javascript("alert(1)"), HTML("<script>1</script>"), {"image/png": 3}, raw=False)
display({"text/plain": [[[]]], "text/html": {"x": 1}}, raw=True)
display({"text/plain": "x"}, raw=True, metadata={"x": [1] * 999})""",
    "display that raises": """
class Bad:
    def __repr__(self): raise SystemExit
    _repr_html_ = _repr_mimebundle_ = _ipython_display_ = __repr__
display(Bad())
Bad()""",
    "updates": """
h = display("x", display_id="x")
for _ in range(200): h.update("y")""",
    "own prompt": """k = get_ipython().kernel
k.raw_input('m * n?')
def f1(m, n): return k.getpass('?')""",
    "early reply": """
k = get_ipython().kernel
k.session.send(k.shell_stream or k.shell_socket, "execute_reply", {"status": "ok"}, k.get_parent(),
               ident=b"x")""",
    "counter": "get_ipython().execution_count = -10 ** 400",
    "finaliser": """
class Bad:
    def __del__(self): 1 / 0
import gc
gc.callbacks.append(lambda *a: 1 / 0)
for _ in range(9): Bad()""",
    "timer": """
import signal
signal.signal(signal.SIGALRM, lambda *a: 1 / 0)
signal.setitimer(signal.ITIMER_REAL, 60)""",
    "warnings": """
import sys, warnings
sys.excepthook = sys.unraisablehook = warnings.showwarning = lambda *a: 1 / 0
warnings.warn("x")""",
    "recursion limit": "import sys\nsys.setrecursionlimit(120)",
    "integer digits": """import sys
sys.set_int_max_str_digits(640)
def f1(m, n): return 7 ** 1000""",
    "magics": """%matplotlib inline
%config InlineBackend.figure_format = 'svg'
%time 1
%who""",
    "cell magic": "%%bash\necho 6",
    "writes a module": """
open("json.py", "w").write("1 / 0")
open("collect.py", "w").write("1 / 0")
import sys
sys.path.insert(0, "")""",
    "environment": "import os\nos.environ.clear()\nos.umask(0o777)\nos.chdir('/')",
    "locale": """import locale
locale.setlocale(locale.LC_ALL, 'C')
def f1(m, n): return '６'""",
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
    "prints at exit of check": """
class P:
    def __del__(self):
        import sys; print("x" * 10**6)
def f1(m, n):
    f1.p = P(); return P()""",
    "shutdown request": """
get_ipython().kernel.do_shutdown(True)
get_ipython().ask_exit()""",
    "fork answers too": "\nimport os\ndef f1(m, n):\n    os.fork(); return m + n",
    "deep folders": """
import os
try:
    while True: os.mkdir("d"); os.chdir("d")
except OSError: pass""",
    "odd file names": """
for n in range(200):
    try: open(bytes([n % 255 + 1]) * 200, "wb").write(b"x")
    except Exception: pass""",
    "pipe hoard": """
import os
held = []
while True:
    held.append(os.pipe())
    os.set_blocking(held[-1][1], False)
    os.write(held[-1][1], b"x" * 65536)""",
    "nice": "import os\nos.nice(19)\nos.sched_setaffinity(0, {0})",
    "vfork storm": """
import subprocess
for _ in range(50): subprocess.Popen(["/bin/sleep", "99"])""",
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
    "aborted": "\nk = get_ipython().kernel\nk._aborting = True",
    "no namespace": "get_ipython().user_ns.clear()\nget_ipython().user_ns = {}",
    "huge result": "'x' * 3_000_000",
    "stops loop": "\nimport asyncio\nasyncio.get_event_loop().stop()",
    "dup2 over sockets": """
import os
for n in range(3, 60):
    try: os.dup2(0, n)
    except OSError: pass""",
    "sigstop itself": "import os, signal\nos.kill(os.getpid(), signal.SIGSTOP)",
    "loop without end of forks": "\nimport os\nwhile os.fork() == 0: pass\nos._exit(0)",
    "rlimit": """import resource
for r in (resource.RLIMIT_NOFILE, resource.RLIMIT_AS, resource.RLIMIT_FSIZE,
          resource.RLIMIT_STACK):
    resource.setrlimit(r, (0, 0))""",
    "comm flood": """
k = get_ipython().kernel
for _ in range(40):
    k.session.send(k.iopub_socket, "comm_msg", {"x": "y" * 7_000_00}, parent=k.get_parent())
""",
}
