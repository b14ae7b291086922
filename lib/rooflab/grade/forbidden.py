"""Words of Python that an answer has no need of, and with which it could reach behind its back.

gate.py reads answers for them. ``TRACED`` concerns byte golf and timing, whose trace is kept in the
learner's own process; ``BORROWED`` the exercises that ask to derive what the library has.
"""

from __future__ import annotations

import re
import types

MODULES = ("numpy", "math", "cmath", "statistics", "itertools", "functools", "collections",
           "fractions", "decimal", "random", "time", "typing", "operator", "rooflab",
           "__future__")  # fmt: skip
# Of numpy and collections.
PARTS = ("linalg", "random", "fft", "polynomial", "typing", "dtypes", "exceptions", "abc")
ALIASES = {"np": "numpy", "numpy": "numpy", "rl": "rooflab", "rooflab": "rooflab"}
# Modules of which a part is harmless, and that part.
ONLY = {
    "contextlib": ("contextmanager", "suppress", "nullcontext", "closing", "ExitStack"),
    "copy": ("copy", "deepcopy"),
    "dataclasses": ("dataclass", "field"),
    "tqdm": ("tqdm", "trange"),
    "tqdm.auto": ("tqdm", "trange"),
    "tqdm.notebook": ("tqdm", "trange"),
}
# A bar's text may look into an object, and its other methods take the names of attributes.
BARS, OF_BARS = ("tqdm", "trange"), ("desc", "total", "leave", "disable", "unit")
NAMES = frozenset((
    "eval", "exec", "compile", "getattr", "setattr", "delattr", "globals", "locals", "vars",
    "open", "breakpoint", "get_ipython", "memoryview", "exit", "quit", "help", "_report", "_lock",
    "In", "Out",
))  # fmt: skip
# What Jupyter keeps of earlier cells: their sources, also that of a check, and their values.
HISTORY = re.compile(r"_i{1,3}\d*|_\d+|_(?:ih|oh|dh)")
_ATTRIBUTES = frozenset((  # modules in modules, frames, files with code, the stand-in's insides
    "sys", "os", "modules", "builtins", "ctypes", "ctypeslib", "f2py", "testing", "lib", "core",
    "distutils", "importlib", "inspect", "f_back", "f_globals", "f_locals", "f_builtins", "f_code",
    "tb_frame", "tb_next", "gi_frame", "gi_code", "gi_yieldfrom", "cr_frame", "ag_frame",
    "tofile", "fromfile", "memmap", "DataSource", "gpu", "attrgetter", "methodcaller", "savetxt",
    "dump", "loads", "pickle", "types", "CodeType", "FunctionType", "copyreg", "grade",
    "exercises", "run", "obj", "fget", "fset", "fdel", "pyfunc", "rec", "recarray",
    "chararray", "frombuffer", "data", "mro", "cffi", "capsule", "free_at", "stamp", "wrapattr",
    "wrapper_getattr", "format_meter", "status_printer", "external_write_mode",
))  # fmt: skip
OF_MODULES = frozenset(("load", "test"))  # np.load and np.test run what is in a file
_MAKES_CLASSES = frozenset(("ABCMeta", "NamedTupleMeta", "get_origin"))  # gives type itself
_RUNNING = (types.CodeType, types.FrameType, types.TracebackType, types.GeneratorType,
            types.CoroutineType, types.AsyncGeneratorType)  # fmt: skip
_INSIDE_RUNNING = frozenset(
    name for kind in _RUNNING for name in dir(kind) if re.match("(?:ag|co|cr|f|gi|tb)_", name)
)
# Of a class of the learner's own; others tell NumPy where memory lies, or hide what an object is.
METHODS = frozenset((
    "__init__", "__call__", "__iter__", "__next__", "__len__", "__getitem__", "__enter__",
    "__exit__", "__repr__", "__str__", "__post_init__",
))  # fmt: skip
LOOKING = frozenset(("isinstance", "issubclass", "print"))  # calls that hand on no class
_BY_NAME = frozenset((  # read or set what a text names, or run that text
    "update_wrapper", "singledispatch", "singledispatchmethod", "get_type_hints",
    "evaluate_forward_ref", "ForwardRef",
))  # fmt: skip
_SHELL = frozenset(("shell", "do_execute"))  # Jupyter's own, which run a text
_INNER = frozenset((  # modules in modules of MODULES under names of their own
    "ma", "extras", "mrecords", "matlib", "matrixlib", "defmatrix", "mu", "ntypes", "umath",
    "overrides", "bltns", "pu", "np", "la", "stdlib_re",
))  # fmt: skip
# Changes how later cells are read, which gate.py cannot know of.
_FUTURE = frozenset(("barry_as_FLUFL",))
ATTRIBUTES = _ATTRIBUTES | _BY_NAME | _SHELL | _INNER | _FUTURE | _MAKES_CLASSES | _INSIDE_RUNNING

# What an answer to derive may import: with others code could be loaded or run once more.
DERIVING_MODULES = frozenset((
    *MODULES, "dataclasses", "numbers", "enum", "abc", "copy", "re", "json", "string",
    "textwrap", "pprint", "warnings", "logging", "traceback", "datetime", "calendar", "heapq",
    "bisect", "array", "os", "sys", "pathlib", "scipy", "matplotlib", "numba", "cupy", "tqdm",
    "ipywidgets",
))  # fmt: skip
BORROWED_NAMES = frozenset((
    "eval", "exec", "compile", "__import__", "__builtins__", "_lock", "getattr", "setattr",
    "delattr", "vars", "globals", "open", "get_ipython",
))  # fmt: skip
BORROWED_ATTRIBUTES = frozenset((
    "__code__", "__globals__", "__closure__", "__import__", "__builtins__", "__dict__", "__spec__",
    "__loader__", "__subclasses__", "__getattribute__", "__self__", "_getframe", "f_back",
    "f_globals", "f_locals", "tb_frame", "CodeType", "FunctionType", "getsource", "grade",
    "unlock", "import_module", "reload", "exec_module", "load_module", "modules", "meta_path",
    "path_hooks", "run_path", "run_module", "system", "popen", "fork", "forkpty", "get_objects",
    "get_referents", "get_referrers", "run_cell", "run_line_magic", "run_cell_magic", "eval",
    "compile", "getoutput", "check_output", "open", "read_text", "read_bytes", "fromfile",
    "testing", "test", "f2py", "ctypeslib", "settrace", "setprofile", "attrgetter",
    "methodcaller", "get_field",
)) | _BY_NAME | _SHELL  # fmt: skip
STARTS_PROGRAMS = re.compile(r"(?:exec|spawn|posix_spawn)(?:[lv]?[pe]{0,2})")  # os.execv and kin
# In a function, or assigned: there a command can get the inputs of a case, or lend its values.
COMMAND = re.compile(
    r"(?:^[ \t]+|=[ \t]*)(?:!|%(?:sx|system)\b)|^[ \t]*%(?:run|load)\b", re.MULTILINE
)
