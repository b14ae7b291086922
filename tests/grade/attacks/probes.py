"""What a curious or scheming answer may try: name → source of exercise 01-e1; see attacks.py."""

import tomllib
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages

import rooflab


def kept_out() -> list[str]:
    """What an import contract keeps from what runs beside a learner's code; all of it is here."""
    project = tomllib.loads((Path(__file__).parents[3] / "pyproject.toml").read_text("utf-8"))
    contracts = project["tool"]["importlinter"]["contracts"]
    (rooms,) = (c["forbidden_modules"] for c in contracts if "no right answer" in c["name"])
    there = [module.name for module in walk_packages(rooflab.__path__, "rooflab.")]
    found = {room: [n for n in there if f"{n}.".startswith(f"{room}.")] for room in rooms}
    assert all(found.values()), found  # a probe without its prey would find nothing, and pass
    return [import_module(name).__name__ for names in found.values() for name in names]


TAMPERS = {  # may spoil this learner's later answers, but not make one of them right
    "own line": """
import sys
def f1(m, n):
    frame = sys._getframe()
    while frame:
        word = frame.f_locals.get("word")
        if word: print(f'ROOFLAB {word} 01-e1 [{{"value": 1}}, {{"value": 2}}]')
        frame = frame.f_back""",
    "builtins": """
import builtins
builtins.isinstance = builtins.issubclass = lambda *a: True
builtins.len = lambda x: 0
builtins.type = str""",
    "collector": """
import rooflab.exercises.observe.collect as c, rooflab.grade.inside.kernel as i
c.collect = i.collect = i._observe = lambda *a: [{"value": True}, {"passed": True}]
i.report = lambda *a: print("all right")""",
    "run_cell": """
ip = get_ipython()
ip.run_cell = ip.run_cell_async = ip.kernel.do_execute = lambda *a, **k: None""",
    "numpy": """
for name in ("array", "allclose", "isclose", "array_equal", "all", "float64", "ndarray", "generic"):
    try: setattr(np, name, lambda *a, **k: True)
    except Exception: pass""",
    "import hook": "import sys; sys.meta_path.insert(0, None); sys.modules.clear()",
    "forged iopub": """
k = get_ipython().kernel
for state in ("busy", "idle", "dead"):
    k.session.send(k.iopub_socket, "status", {"execution_state": state}, parent=k.get_parent())
k.session.send(k.iopub_socket, "stream", {"name": [], "text": {}}, parent=k.get_parent())
k.session.send(k.iopub_socket, "execute_result", {}, parent=k.get_parent())
k.session.send(k.iopub_socket, "nonsense", [1], parent=k.get_parent())
k.iopub_thread.socket.send_multipart([b"x"]) if hasattr(k.iopub_thread, "socket") else None""",
}

PROBES = {  # f1 returns what it could get at: it must be an empty list
    "course and home": """
import os
wanted = [HERE, "/home", "/root/.ssh", "/work", "/etc/passwd", "/etc/shadow", "/var", "/mnt",
          "/opt"]
def f1(m, n): return [p for p in wanted if os.path.exists(p) and not os.path.isdir(p)
                      or os.path.isdir(p) and p == HERE]""",
    "the grader's files": """
import glob
def f1(m, n):
    return glob.glob("/tmp/rooflab*") + glob.glob("/tmp/pytest*") + glob.glob("/box/*")""",
    "references": """
import importlib
def f1(m, n):
    got = []
    for name in WANTED:
        try: got.append(importlib.import_module(name).__name__)
        except ImportError: pass
    return got""".replace("WANTED", repr(kept_out())),
    "references in golf": """
from rooflab.labs.golf import HOLES
def f1(m, n):
    got = []
    for hole in HOLES.values():
        for name in ("reference", "variants", "says"):
            try: got.append(getattr(hole, name))
            except RuntimeError: pass
    return got""",
    "files with answers": """
import os
def f1(m, n):
    got = []
    for root in ("/course", "/box", "/tmp", "/etc", "/dev"):
        for folder, inner, names in os.walk(root):
            inner[:] = [i for i in inner if i not in ("site-packages", "lib", "bin", "share")]
            got += [os.path.join(folder, x) for x in names
                    if x.endswith(".ipynb") or x.startswith("lesson") or "variants" in x]
    return got""",
    "write outside": """
import os, sys
wanted = ["/", "/usr", "/course", "/course/rooflab", "/etc", "/dev", "/proc", sys.prefix,
          os.path.dirname(np.__file__), sys.base_prefix, "/root", "/bin"]
def f1(m, n):
    got = []
    for folder in wanted:
        try: open(folder + "/mine", "w").close(); got.append(folder)
        except OSError: pass
    return got""",
    "network": """
import socket
def f1(m, n):
    got = []
    for host in ("127.0.0.1", "10.0.0.1", "1.1.1.1", "::1"):
        try: socket.create_connection((host, PORT), 0.2); got.append(host)
        except OSError: pass
    try: socket.getaddrinfo("localhost.example", 80); got.append("names")
    except OSError: pass
    return got""",
    "other processes": """
import os
def f1(m, n): return [int(x) for x in os.listdir("/proc") if x.isdigit()]""",
    "rights": """
import ctypes, os
libc = ctypes.CDLL(None)
def f1(m, n):
    got = []
    if libc.unshare(0x10000000) == 0: got.append("user namespace")
    if libc.mount(b"tmpfs", b"/tmp", b"tmpfs", 0, None) == 0: got.append("mount")
    if libc.umount2(b"/proc", 2) == 0: got.append("umount")
    if libc.ptrace(16, 1, 0, 0) == 0: got.append("ptrace")
    memfd_create = 319 if os.uname().machine == "x86_64" else 279
    if libc.syscall(memfd_create, b"x", 0) >= 0: got.append("memfd")
    try: os.setuid(0); got.append("setuid")
    except OSError: pass
    try: os.chroot("/box"); got.append("chroot")
    except OSError: pass
    return got""",
    "descriptors": """
import os, stat
def f1(m, n):
    got = []
    for number in range(3, 256):
        try: mode = os.fstat(number).st_mode
        except OSError: continue
        if stat.S_ISREG(mode) or stat.S_ISDIR(mode): got.append(number)
    return got""",
    "environment": """
import os
def f1(m, n):
    return [k for k, v in os.environ.items() if HERE in v or "TOKEN" in k or "KEY" in k]""",
}

# How an answer cell may print what ran before it, which the student reads. Name → its last lines.
# An answer can still keep the inputs that it is called with. The page shows a failing case anyway.
LOOKS_BACK = {
    "the history": "print(In, Out, _ih, _oh, globals())",
    "magics": "%history -n\n%history -g\n%recall 1\n%rerun 1",
    "texts of cells": "import linecache\nprint(linecache.cache)",
}
