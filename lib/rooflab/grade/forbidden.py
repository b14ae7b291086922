"""Words of Python that an answer has no need of, and with which it could reach behind its back.

gate.py reads answers for them. ``TRACED`` concerns byte golf and timing, whose trace is kept in the
learner's own process; ``BORROWED`` the exercises that ask to derive what the library has.
"""

from __future__ import annotations

import re
import sys

MODULES = ("numpy", "math", "cmath", "statistics", "itertools", "functools", "collections",
           "fractions", "decimal", "random", "time", "typing", "rooflab",
           "__future__")  # fmt: skip
# Of numpy and collections.
PARTS = ("linalg", "random", "fft", "polynomial", "typing", "dtypes", "exceptions", "abc")
NAMES = frozenset((
    "eval", "exec", "compile", "getattr", "setattr", "delattr", "globals", "locals", "vars",
    "open", "breakpoint", "get_ipython", "exit", "quit", "help", "_report", "_lock",
    "In", "Out", "_ih", "_oh", "_dh", "_i", "_ii", "_iii",
))  # fmt: skip
_ATTRIBUTES = frozenset((  # modules in modules, frames, files with code, the stand-in's insides
    "sys", "os", "modules", "builtins", "ctypes", "ctypeslib", "f2py", "testing", "lib", "core",
    "distutils", "importlib", "inspect", "f_back", "f_globals", "f_locals", "f_builtins", "f_code",
    "tb_frame", "tb_next", "gi_frame", "gi_code", "gi_yieldfrom", "cr_frame", "ag_frame", "load",
    "tofile", "fromfile", "memmap", "DataSource", "gpu", "attrgetter", "methodcaller", "savetxt",
    "dump", "loads", "pickle", "types", "CodeType", "FunctionType", "operator", "copyreg", "grade",
    "exercises", "run",
))  # fmt: skip
_BY_NAME = frozenset((  # read or set what a text names, or run that text
    "update_wrapper", "wraps", "singledispatch", "singledispatchmethod", "get_type_hints",
    "evaluate_forward_ref", "ForwardRef",
))  # fmt: skip
_ALSO_WORDS = {"copy", "select", "array", "trace", "abc"}  # of modules, and of NumPy
_INNER = frozenset((  # modules in modules of MODULES under names of their own
    "ma", "extras", "mrecords", "matlib", "matrixlib", "defmatrix", "mu", "ntypes", "umath",
    "overrides", "bltns", "pu", "np", "la", "stdlib_re",
))  # fmt: skip
_OTHERS = frozenset(sys.stdlib_module_names) - {*MODULES, *_ALSO_WORDS}
# Changes how later cells are read, which gate.py cannot know of.
_FUTURE = frozenset(("barry_as_FLUFL",))
ATTRIBUTES = _ATTRIBUTES | _BY_NAME | _INNER | _OTHERS | _FUTURE

BORROWED_MODULES = frozenset((
    "subprocess", "importlib", "runpy", "ctypes", "multiprocessing", "marshal", "zipimport",
))  # fmt: skip
BORROWED_NAMES = frozenset(("eval", "exec", "compile", "__import__", "__builtins__", "_lock"))
BORROWED_ATTRIBUTES = frozenset((
    "__code__", "__globals__", "__closure__", "__import__", "f_back", "f_globals", "f_locals",
    "tb_frame", "CodeType", "FunctionType", "getsource", "grade", "unlock", "import_module",
    "reload", "run_path", "run_module", "system", "popen", "fork", "forkpty", "get_objects",
    "get_referents", "get_referrers", "run_cell", "run_line_magic", "run_cell_magic", "exec",
    "eval", "compile", "getoutput", "check_output", "execv", "execve", "execl", "spawnv",
    "spawnl", "posix_spawn",
))  # fmt: skip
# In a function, or assigned: there a command can get the inputs of a case, or lend its values.
COMMAND = re.compile(
    r"(?:^[ \t]+|=[ \t]*)(?:!|%(?:sx|system)\b)|^[ \t]*%(?:run|load)\b", re.MULTILINE
)
