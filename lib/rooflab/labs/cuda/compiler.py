"""Compile CUDA C++ to machine code with NVRTC, on a machine without a GPU.

NVRTC is a library in NVIDIA's wheel ``nvidia-cuda-nvrtc``; from 13.4 on it brings all headers.
"""

from __future__ import annotations

import ctypes
import functools
import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from rooflab.labs.cuda.kernels import source_of, spec_of
from rooflab.measure.settings import user_folder

_INSTALL = 'pip install "nvidia-cuda-nvrtc>=13.4"'
_ARCHITECTURE = re.compile(r"sm_\d{2,3}[af]?")


class CompilationError(ValueError):
    """What the compiler refused; the message is its log."""


@dataclass(frozen=True)
class Resources:
    """What a kernel takes: registers a thread, bytes a thread, and shared bytes a block.

    ``shared_bytes`` are those that the source declares; a launch may ask for more (dynamic).
    """

    registers: int
    spill_stores: int
    spill_loads: int
    stack_bytes: int
    shared_bytes: int


@dataclass(frozen=True)
class Compiled:
    """Machine code of one architecture, and what the assembler says of its ``kernels``."""

    arch: str
    cubin: bytes = field(repr=False)
    ptx: str = field(repr=False)
    kernels: Mapping[str, Resources]

    @property
    def only(self) -> Resources:
        """Resources of the source's only kernel; ValueError when it has several."""
        if len(self.kernels) != 1:
            names = ", ".join(self.kernels) or "none"
            raise ValueError(f"this source has other than one kernel ({names}): ask .kernels[name]")
        return next(iter(self.kernels.values()))

    registers = property(lambda self: self.only.registers)
    spill_stores = property(lambda self: self.only.spill_stores)
    spill_loads = property(lambda self: self.only.spill_loads)
    stack_bytes = property(lambda self: self.only.stack_bytes)
    shared_bytes = property(lambda self: self.only.shared_bytes)


def compile(
    source: str,
    arch: str = "sm_90",
    options: Sequence[str] = (),
    macros: Mapping[str, object] | None = None,
) -> Compiled:
    """Compile a kernel of the catalogue, or CUDA C++ text, for one architecture; no GPU is needed.

    ``source`` is a kernel's name, or text with a ``__global__`` function. ``arch``: "sm_75" to
    "sm_121", or with the suffix of features that no later GPU has ("sm_90a"). ``options`` are
    NVRTC's, such as "-maxrregcount=32", ``macros`` the values of -D, such as ``{"TILE": 16}``. The
    same call answers from memory.

    Raises CompilationError with the compiler's log, whose lines are those of ``source``, and
    ModuleNotFoundError without NVRTC, with what to install.

    >>> rl.cuda.compile("sgemm_shared", "sm_90").shared_bytes
    8192
    """
    if not isinstance(source, str):
        raise TypeError(f"source={source!r} must be CUDA C++ or a kernel's name, as text")
    if not isinstance(arch, str) or not _ARCHITECTURE.fullmatch(arch):
        raise ValueError(f'arch={arch!r} must be "sm_" and the compute capability, such as "sm_90"')
    if isinstance(options, str):
        raise TypeError(f"options={options!r} must be a list of texts, not one text")
    named = "__global__" not in source and "\n" not in source
    file = spec_of(source, macros).name if named else "kernel"
    text = source_of(source) if named else source
    words = [f"-D{name}={value}" for name, value in sorted((macros or {}).items())]
    return _compiled(text, f"{file}.cu", arch, (*words, *options))


@functools.lru_cache(maxsize=256)
def _compiled(text: str, file: str, arch: str, options: tuple[str, ...]) -> Compiled:
    nvrtc = library()
    program = ctypes.c_void_p()
    made = ctypes.byref(program), text.encode(), file.encode(), 0, None, None
    _succeeded(nvrtc, nvrtc.nvrtcCreateProgram(*made))
    try:
        words = [f"-arch={arch}", "--ptxas-options=-v", "-default-device", *options]
        if not any(word.startswith(("-std", "--std")) for word in words):
            words.append("-std=c++17")
        if "#include" in text:
            words += [f"-I{folder}" for folder in headers()]
        array = (ctypes.c_char_p * len(words))(*(word.encode() for word in words))
        status = nvrtc.nvrtcCompileProgram(program, len(words), array)
        log = _output(nvrtc, program, "ProgramLog").decode(errors="replace").rstrip("\0\n")
        if status:
            raise CompilationError(f"{file} does not compile for {arch}:\n{log or status}")
        cubin = _output(nvrtc, program, "CUBIN")
        ptx = _output(nvrtc, program, "PTX").decode(errors="replace").rstrip("\0")
    finally:
        nvrtc.nvrtcDestroyProgram(ctypes.byref(program))
    return Compiled(arch, cubin, ptx, _resources(log))


def _output(nvrtc: ctypes.CDLL, program: ctypes.c_void_p, kind: str) -> bytes:
    """Log, PTX or machine code of a program that has been compiled."""
    size = ctypes.c_size_t()
    _succeeded(nvrtc, getattr(nvrtc, f"nvrtcGet{kind}Size")(program, ctypes.byref(size)))
    data = ctypes.create_string_buffer(size.value)
    _succeeded(nvrtc, getattr(nvrtc, f"nvrtcGet{kind}")(program, data))
    return data.raw


def _succeeded(nvrtc: ctypes.CDLL, status: int) -> None:
    if status:
        raise RuntimeError(f"NVRTC fails: {nvrtc.nvrtcGetErrorString(status).decode()}")


_ENTRY = re.compile(
    r"Function properties for (?P<name>\w+)\n"
    r"ptxas\W+(?P<stack>\d+) bytes stack frame, (?P<stores>\d+) bytes spill stores, "
    r"(?P<loads>\d+) bytes spill loads\n"
    r".*?Used (?P<registers>\d+) registers(?P<rest>.*)"
)


def _resources(log: str) -> dict[str, Resources]:
    """Kernel -> what ``ptxas -v`` says of it."""
    kernels = {}
    for entry in _ENTRY.finditer(log):
        shared = re.search(r"(\d+) bytes smem", entry["rest"])
        kernels[entry["name"]] = Resources(
            int(entry["registers"]), int(entry["stores"]), int(entry["loads"]),
            int(entry["stack"]), int(shared[1]) if shared else 0,
        )  # fmt: skip
    return kernels


@functools.cache
def library() -> ctypes.CDLL:
    """Return NVRTC, loaded from its wheel or from where the system finds it."""
    pattern = "bin/**/nvrtc64_*0.dll" if sys.platform == "win32" else "lib/libnvrtc.so.*"
    path = nvidia_file(pattern)
    try:
        nvrtc = ctypes.CDLL(str(path or "libnvrtc.so.13"))
    except OSError as error:
        why = f"is not installed here: {_INSTALL}"
        if sys.platform == "darwin":
            why = "NVIDIA offers for Linux and Windows only"
        raise ModuleNotFoundError(
            f"compiling CUDA needs NVRTC, which {why}", name="nvidia-cuda-nvrtc"
        ) from error
    nvrtc.nvrtcGetErrorString.restype = ctypes.c_char_p
    return nvrtc


def nvidia_file(pattern: str) -> Path | None:
    """Return the newest file of NVIDIA's wheels below ``nvidia/*/`` that fits, None without."""
    paths = (path for folder in sys.path for path in Path(folder).glob(f"nvidia/*/{pattern}"))
    return max(paths, key=lambda path: (path.parts[-3], path.name), default=None)


@functools.cache
def headers() -> tuple[Path, Path]:
    """Return the folders of CUDA's headers, which NVRTC unpacks once for each of its versions."""
    nvrtc = library()
    if not hasattr(nvrtc, "nvrtcInstallBundledHeaders"):
        raise ModuleNotFoundError(
            f"this NVRTC is older than 13.4 and has no headers: {_INSTALL}",
            name="nvidia-cuda-nvrtc",
        )
    major, minor = ctypes.c_int(), ctypes.c_int()
    _succeeded(nvrtc, nvrtc.nvrtcVersion(ctypes.byref(major), ctypes.byref(minor)))
    version = f"nvrtc-headers-{major.value}.{minor.value}"
    folder = user_folder("cache") / version
    folder.parent.mkdir(parents=True, exist_ok=True)
    reason = ctypes.c_char_p()
    if nvrtc.nvrtcInstallBundledHeaders(str(folder).encode(), 0, ctypes.byref(reason)):
        raise RuntimeError(f"NVRTC cannot unpack its headers: {(reason.value or b'').decode()}")
    return folder, folder / "cccl"
