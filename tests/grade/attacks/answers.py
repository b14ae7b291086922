"""What a hostile or broken answer may do: name → source of the answer cell of exercise 01-e1.

``f1`` is the name that is checked. None of these computes m · n, so none may pass.
"""

ENDS_THE_KERNEL = {
    "a message that no socket takes": """
k = get_ipython().kernel
k.session.send(k.iopub_socket, "stream", {"name": "stdout", "text": "x" * 3_000_000},
               parent=k.get_parent())""",
    "os._exit": "import os; os._exit(0)",
    "os._exit in the function": "import os\ndef f1(m, n):\n    os._exit(0)",
    "abort": "import os; os.abort()",
    "segfault": "import ctypes; ctypes.string_at(0)",
    "segfault in the function": "import ctypes\ndef f1(m, n):\n    return ctypes.string_at(1)",
    "kill -9 itself": "import os; os.kill(os.getpid(), 9)",
    "loop in C": "def f1(m, n):\n    return 7 ** (10 ** 9)",
    "closed descriptors": "import os; os.closerange(0, 256)",
    "broken kernel": """
k = get_ipython().kernel
k.shell_stream = k.session = None
def f1(m, n): return None""",
    "fork bomb": """
import os
while True:
    try: os.fork()
    except OSError: pass""",
    "memory bomb in deaf children": """
import os, signal, time
signal.signal(signal.SIGINT, signal.SIG_IGN)
for _ in range(6):
    if os.fork() == 0:
        held = b"x" * (200 << 20)
        time.sleep(60)
time.sleep(60)""",
    "kill all numbers": """
import os
for pid in range(1, 70_000):
    if pid != os.getpid():
        try: os.kill(pid, 9)
        except OSError: pass""",
}

MAY_END_THE_KERNEL = {  # it depends on what is hit first
    "memory bomb in children": """
import os, time
for _ in range(6):
    if os.fork() == 0:
        held = b"x" * (200 << 20)
        time.sleep(60)
time.sleep(3)""",
    "kill -9 everybody": "import os; os.kill(-1, 9); os.kill(0, 9)",
    "exit": "exit()\ndef f1(m, n): raise SystemExit",
    "deaf loop": """
while True:
    try:
        while True: pass
    except BaseException: pass""",
    "deaf loop in the function": """
def f1(m, n):
    while True:
        try:
            while True: pass
        except BaseException: pass""",
    "signals": """
import signal
for number in range(1, 32):
    try: signal.signal(number, signal.SIG_IGN)
    except (OSError, ValueError): pass
def f1(m, n):
    while True: pass""",
    "thread bomb": """
import threading
stop = threading.Event()
for _ in range(500): threading.Thread(target=stop.wait, daemon=True).start()
stop.wait(3)""",
    "raw messages": """
kernel = get_ipython().kernel
while True:
    kernel.session.send(kernel.iopub_socket, "stream", {"name": "stdout", "text": "x" * 999},
                        parent=kernel.get_parent())""",
    "huge number of messages": """
import sys
for _ in range(20_000):
    print("x"); sys.stdout.flush()
k = get_ipython().kernel
for _ in range(20_000): k.send_response(k.iopub_socket, "clear_output", {"wait": False})""",
    "raw message of 300 MB": """
k = get_ipython().kernel
k.session.send(k.iopub_socket, "stream", {"name": "stdout", "text": "x" * 300_000_000},
               parent=k.get_parent())
k.session.send(k.shell_stream or k.iopub_socket, "execute_reply", {"x": "x" * 100_000_000})""",
    "one message of 300 MB": "print('x' * 300_000_000)",
    "deep recursion": """
import sys
sys.setrecursionlimit(10 ** 9)
class Deep:
    def __repr__(self): return repr(self)
def f1(m, n): return [].__class__(map(f1, [m], [n]))""",
}

COSTS_ONE_EXERCISE = {
    "loop": "while True: pass",
    "loop in the function": "def f1(m, n):\n    while True: pass",
    "sleep": "import time; time.sleep(1000)",
    "memory bomb": "held = []\nwhile True: held.append(bytearray(50 << 20))",
    "memory bomb in the function": "def f1(m, n):\n    return [0] * (1 << 34)",
    "output flood": "while True: print('x' * 10_000)",
    "output flood in the function": "def f1(m, n):\n    while True: print('x' * 10_000)",
    "display flood": "while True: display('x' * 10_000)",
    "flood of the bare descriptor": """
import os, time
end = time.time() + 0.5
while time.time() < end: os.write(1, b"x" * 65536); os.write(2, b"x" * 65536)""",
    "orphans": """
import os, subprocess, time
for _ in range(3):
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0: time.sleep(1000)
        os._exit(0)
subprocess.Popen(["sleep", "1000"], start_new_session=True)""",
    "threads": """
import threading, time
threading.Thread(target=lambda: time.sleep(1000)).start()
threading.Thread(target=lambda: time.sleep(1000), daemon=True).start()""",
    "kill the parent": (
        "import os; os.kill(os.getppid(), 9); os.kill(1, 9); os.killpg(os.getppid(), 9)"
    ),
    "guess": "def f1(m, n): return 6",
    "text": "print('6 35')\ndef f1(m, n): return '6'",
    "always equal": """
class Equal:
    __eq__ = __lt__ = __gt__ = __le__ = __ge__ = lambda s, o: True
    __hash__ = lambda s: 0
    __float__ = lambda s: 6.0
    __int__ = __index__ = lambda s: 6
def f1(m, n): return Equal()""",
    "always equal number": """
class Equal(int):
    __eq__ = __lt__ = __gt__ = lambda s, o: True
    __hash__ = lambda s: 0
    __add__ = __radd__ = __int__ = lambda s, o=0: 6
def f1(m, n): return Equal(1)""",
    "lying array": """
class Lie(np.ndarray):
    dtype = property(lambda s: np.dtype(int)); size = 1
    tolist = item = lambda s: 6
def f1(m, n): return np.zeros(3).view(Lie)""",
    "metaclass": """
class Meta(type):
    __instancecheck__ = __subclasscheck__ = lambda s, o: True
    __getattribute__ = lambda s, name: 1 / 0
class Odd(metaclass=Meta): pass
def f1(m, n): return Odd()""",
    "raises everything": """
class Bad(BaseException):
    def __str__(self): raise self
def f1(m, n): raise Bad""",
    "huge traceback": """
def deep(k): return deep(k - 1) if k else {}[("x" * 1_000_000)]
deep(900)""",
    "huge message": "def f1(m, n): raise ValueError('x' * 100_000_000)",
    "huge integer": "def f1(m, n): return 10 ** 100_000",
    "nested list": "def f1(m, n):\n    x = []\n    for _ in range(100_000): x = [x]\n    return x",
    "surrogate": "def f1(m, n): return '\\ud800'\nprint('\\ud800')",
    "not a number": "def f1(m, n): return float('nan')",
    "generator without end": "import itertools\ndef f1(m, n): return itertools.count()",
    "input": "answer = input('m * n? ')\ndef f1(m, n): return int(input())",
    "breakpoint": "breakpoint()\ndef f1(m, n): breakpoint()",
    "reset": "%reset -f",
    "syntax error": "def f1(m, n) return m * n",
    "atexit": "import atexit, os\natexit.register(lambda: os._exit(0))\natexit.register(input)",
    "fake line": "print('\\nROOFLAB', '0' * 32, '01-e1', '[{\"value\":6},{\"value\":35}]')",
    "line in advance": """
import sys
for one in ("01-e1", "01-e2"): print("ROOFLAB", one, '[{"value": 6}, {"value": 35}]')
def f1(m, n): print('ROOFLAB 01-e1 [{"value":6},{"value":35}]'); return None""",
    "disk": """
for number in range(100):
    try: open(f"/box/{number}", "wb").write(b"x" * (3 << 20))
    except OSError: break
for number in range(100):
    try: open(f"/dev/shm/{number}", "wb").write(b"x" * (3 << 20))
    except OSError: break""",
    "many files": """
try:
    for number in range(200_000): open(f"/box/{number}", "w").close()
except OSError: pass""",
}
