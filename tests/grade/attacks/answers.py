"""What a hostile or broken answer may do: name → source of the answer cell of exercise 01-e1.

``f1`` is the name that is checked. None of these computes m · n, so none may pass.
"""

ENDS_THE_KERNEL = {
    "a message that no socket takes": """
k = get_ipython().kernel
k.session.send(k.iopub_socket, "stream", {"name": "stdout", "text": "x" * 3_000_000},
               parent=k.get_parent())""",
    "os._exit in the function": "import os\ndef f1(m, n):\n    os._exit(0)",
    "segfault in the function": "import ctypes\ndef f1(m, n):\n    return ctypes.string_at(1)",
    "loop in C": "def f1(m, n):\n    return 7 ** (10 ** 9)",
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
}

MAY_END_THE_KERNEL = {  # it depends on what is hit first
    "deaf loop in the function": """
def f1(m, n):
    while True:
        try:
            while True: pass
        except BaseException: pass""",
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
    "one message of 300 MB": "print('x' * 300_000_000)",
}

COSTS_ONE_EXERCISE = {
    "loop in the function": "def f1(m, n):\n    while True: pass",
    "sleep": "import time; time.sleep(1000)",
    "memory bomb in the function": "def f1(m, n):\n    return [0] * (1 << 34)",
    "output flood in the function": "def f1(m, n):\n    while True: print('x' * 10_000)",
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
    "always equal": """
class Equal:
    __eq__ = __lt__ = __gt__ = __le__ = __ge__ = lambda s, o: True
    __hash__ = lambda s: 0
    __float__ = lambda s: 6.0
    __int__ = __index__ = lambda s: 6
def f1(m, n): return Equal()""",
    "raises everything": """
class Bad(BaseException):
    def __str__(self): raise self
def f1(m, n): raise Bad""",
    "huge message": "def f1(m, n): raise ValueError('x' * 100_000_000)",
    "nested list": "def f1(m, n):\n    x = []\n    for _ in range(100_000): x = [x]\n    return x",
    "input": "answer = input('m * n? ')\ndef f1(m, n): return int(input())",
    "reset": "%reset -f",
    "syntax error": "def f1(m, n) return m * n",
    "atexit": "import atexit, os\natexit.register(lambda: os._exit(0))\natexit.register(input)",
    "fake line": "print('\\nROOFLAB', '0' * 32, '01-e1', '[{\"value\":6},{\"value\":35}]')",
    "disk": """
for number in range(100):
    try: open(f"/box/{number}", "wb").write(b"x" * (3 << 20))
    except OSError: break
for number in range(100):
    try: open(f"/dev/shm/{number}", "wb").write(b"x" * (3 << 20))
    except OSError: break""",
}
