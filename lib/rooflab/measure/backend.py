"""Where measuring runs: NumPy on the CPU, or CuPy on an NVIDIA GPU.

This is the only module that imports cupy. A GPU counts as usable after it has *run* something:
cupy imports happily without a driver, and counts devices happily without the CUDA libraries that
its first kernel needs.
"""

from __future__ import annotations

import functools
import hashlib
import importlib
import importlib.util
import math
import os
import platform
import re
import sys
import threading
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from rooflab.count.validation import unknown
from rooflab.measure.caches import cache_sizes
from rooflab.measure.settings import printed

NAMES = ("auto", "cpu", "gpu")
ENV = "ROOFLAB_BACKEND"
_INSTALL = (
    'install the CUDA libraries with `pip install "cupy-cuda13x[ctk]"` '
    '(or "cupy-cuda12x[ctk]" for a driver of CUDA 12)'
)
# What CuPy says, in its several ways, when it cannot find a library of the CUDA toolkit.
_MISSING_TOOLKIT = (
    "dynamiclibnotfound", "nvrtc", "libcublas", "cublas64", "cudart", "cannot open shared object",
    "cuda headers", "cuda_path", "failure finding", "dll load failed", "cuda toolkit",
)  # fmt: skip


@dataclass(frozen=True)
class Backend:
    """What measuring runs on: ``name`` ("cpu" or "gpu"), the array module ``xp`` and ``device``.

    ``reason`` says why this one was chosen, in words for the learner.
    """

    name: str
    xp: ModuleType = field(repr=False)
    reason: str
    device: str = ""

    @property
    def is_gpu(self) -> bool:
        """True on a GPU."""
        return self.name == "gpu"

    def to_numpy(self, array: Any) -> np.ndarray:
        """Copy an array of this backend to the host, or return it as it is on the CPU."""
        return self.xp.asnumpy(array) if self.is_gpu else np.asarray(array)

    def synchronize(self) -> None:
        """Wait until everything queued on the GPU is done; nothing to wait for on the CPU."""
        if self.is_gpu:
            self.xp.cuda.get_current_stream().synchronize()


def select(backend: str | None = None, threads: int | None = None) -> Backend:
    """Return the backend to measure on. ``threads`` are the CPU's: "auto" with some is the CPU.

    ``backend``: "cpu", "gpu", or "auto" / None = the environment variable ROOFLAB_BACKEND if it is
    set, else a GPU if one works, else the CPU. Raises ValueError for another name, RuntimeError
    with the reason when "gpu" is asked for and none can be used.
    """
    wanted, asked_by = wanted_backend(backend)
    if wanted == "auto" and threads is not None:
        wanted, asked_by = "cpu", f"threads={threads}"
    if wanted == "cpu":
        return Backend("cpu", np, f"{asked_by} asks for the CPU", cpu_name())
    cupy, reason = probe_gpu()
    if cupy is not None:
        return Backend("gpu", cupy, reason, _device_name(cupy))
    if wanted == "gpu":
        raise RuntimeError(f"{asked_by} asks for a GPU, but {reason}")
    return Backend("cpu", np, f"CPU, because {reason}", cpu_name())


_CUPY = threading.RLock()
_PATIENCE_S = 15.0  # an answer that is stopped late may hold CuPy's place for that long


@contextmanager
def cupy_to_oneself() -> Iterator[None]:
    """Keep other threads from importing CuPy, or from putting something in its place."""
    held = _CUPY.acquire(timeout=_PATIENCE_S)  # a thread that never ends must not stop the rest
    try:
        yield
    finally:
        if held:
            _CUPY.release()


def probe_gpu() -> tuple[ModuleType | None, str]:
    """Return (cupy, "…works") or (None, why the GPU cannot be used), after running on it.

    A GPU is tried once in a process: waking one takes seconds.
    """
    with cupy_to_oneself(), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # two CuPys installed, no GPU: said below, once
        try:
            cupy = importlib.import_module("cupy") if cupy_installed() else None
        except Exception as error:  # ImportError, but also ABI errors from an unfitting NumPy
            return None, f"`import cupy` fails ({_brief(error)})"
        if not hasattr(cupy, "cuda"):  # a folder of that name; another thread's stand-in
            return None, "CuPy is not installed"
        return _probed(cupy, current_device())


@functools.lru_cache(maxsize=16)
def _probed(cupy: ModuleType, _device: int | None) -> tuple[ModuleType | None, str]:
    """What :func:`probe_gpu` answers for the current device of an imported CuPy."""
    try:
        count = cupy.cuda.runtime.getDeviceCount()
    except Exception as error:  # cudaErrorInsufficientDriver: no driver, or one that is too old
        return None, f"there is no usable NVIDIA driver ({_brief(error)})"
    if count == 0:
        return None, "no CUDA device is visible"
    try:
        problem = _self_test(cupy)
    except Exception as error:
        said = f"a GPU is here but CuPy cannot use it ({_brief(error)})"
        told = f"{type(error).__name__} {error}".lower()
        missing = any(sign in told for sign in _MISSING_TOOLKIT)
        return None, f"{said}: {_INSTALL}" if missing else said
    return (None, problem) if problem else (cupy, "a GPU is here and passed its self-test")


def cupy_installed() -> bool:
    """Whether CuPy is there; it is not imported, which takes a second or two."""
    return "cupy" in sys.modules or importlib.util.find_spec("cupy") is not None


def current_device() -> int | None:
    """Number of the GPU that this thread uses; None while CuPy is not imported or finds none."""
    cupy = sys.modules.get("cupy")
    try:
        return None if cupy is None else int(cupy.cuda.Device().id)
    except Exception:  # no driver
        return None


def use_device(number: int | None) -> None:
    """Make GPU ``number`` this thread's: every thread begins with GPU 0. None if there is none."""
    if number:
        sys.modules["cupy"].cuda.Device(number).use()


def cublas_of(cupy: ModuleType) -> ModuleType:
    """Return CuPy's cuBLAS wrappers, a module that ``import cupy`` does not load."""
    return importlib.import_module(f"{cupy.__name__}.cublas")


def _self_test(cupy: ModuleType) -> str:
    """Run an elementwise kernel (compiled by NVRTC) and a product (cuBLAS); "" if both are right.

    The product is in fp64: CuPy fixes its fp32 mode (CUPY_TF32) at the first fp32 product, and a
    self-test must not take that choice from the learner.
    """
    a = cupy.arange(4, dtype=cupy.float64).reshape(2, 2)
    b = a * 2 + 1
    cublas_of(cupy)  # `import cupy` does not load it, and exercises say cp.cublas
    got = cupy.asnumpy(a @ b).tolist()
    right = [[5.0, 7.0], [17.0, 27.0]]
    return "" if got == right else f"the GPU's self-test gave {got} instead of {right}"


def wanted_backend(backend: str | None) -> tuple[str, str]:
    """Return (name, who asks for it), the explicit argument winning over the environment.

    The name is one of NAMES. Raises ValueError or TypeError for what is no name.
    """
    if backend is not None and not isinstance(backend, str):
        kind = type(backend).__name__
        raise TypeError(f"backend={backend!r} is a {kind}; use 'auto', 'cpu' or 'gpu'")
    name = (backend or "auto").strip().lower()
    if name not in NAMES:
        raise unknown("backend", backend, NAMES)
    if name != "auto":
        return name, f"backend={name!r}"
    value = os.environ.get(ENV, "").strip()
    if value and value.lower() not in NAMES:
        raise unknown(f"environment variable {ENV}", value, NAMES)
    return value.lower() or "auto", f"{ENV}={value}"


def _device_name(cupy: ModuleType) -> str:
    name = cupy.cuda.runtime.getDeviceProperties(cupy.cuda.Device().id)["name"]
    return name.decode() if isinstance(name, bytes) else str(name)


def _brief(error: Exception) -> str:
    first = str(error).strip().splitlines()[0] if str(error).strip() else ""
    return f"{type(error).__name__}: {first[:160]}".rstrip(": ")


# What a recording must say about the machine it was made on, so that a stranger can judge it. Never
# paths, user names or host names: recordings are published.


_PROCESSOR = r"HARDWARE\DESCRIPTION\System\CentralProcessor\0"  # in the registry of Windows
PACKAGES = ("numpy", "scipy", "numba", "cupy-cuda13x", "cupy-cuda12x")


def environment(backend: Backend | None = None) -> dict[str, Any]:
    """Return the machine as plain JSON data: system, processor, caches, libraries, power, GPU."""
    import psutil

    found: dict[str, Any] = {
        "host": host_id(),
        "system": f"{platform.system()} {platform.release()}",
        "architecture": platform.machine(),
        "cpu": cpu_name(),
        "cores": {
            "available": available_cores(),
            "logical": os.cpu_count(),
            "physical": psutil.cpu_count(logical=False),
        },
        "caches": cache_sizes(),
        "memory": psutil.virtual_memory().total,
        "virtual": virtualisation(),
        "power": power(),
        "python": f"{platform.python_implementation()} {platform.python_version()}",
        "packages": _versions(),
        "blas": blas_pools(),
    }
    if backend is not None and backend.is_gpu:
        from rooflab.measure.gpu import describe

        found["gpu"] = describe(backend)
    return found


def now() -> str:
    """This moment in UTC, as it is written everywhere: "2026-11-21T10:00:00Z"."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def available_cores() -> int:
    """Processors that this process may use: its affinity mask, and a container's CPU quota."""
    affinity = getattr(os, "sched_getaffinity", None)  # Linux; absent on macOS and Windows
    cores = len(affinity(0)) if affinity else _affinity_elsewhere()
    quota = cgroup_cores()
    return max(1, min(cores, quota) if quota else cores)


def _affinity_elsewhere() -> int:
    with suppress(Exception):  # no psutil; no affinity, as on macOS; no right to ask
        import psutil

        return len(psutil.Process().cpu_affinity())
    return os.cpu_count() or 1


def cgroup_cores(path: Path = Path("/sys/fs/cgroup/cpu.max")) -> int | None:
    """Cores that a container's quota amounts to, rounded up; None without a quota."""
    try:
        quota, period = path.read_text().split()[:2]
        return math.ceil(int(quota) / int(period))
    except (OSError, ValueError):  # no such file, or "max"
        return None


@functools.cache
def cpu_name() -> str:
    """The processor's marketing name, such as "Apple M3 Pro"; its architecture if unknown."""
    readers = {
        "darwin": lambda: printed("sysctl", "-n", "machdep.cpu.brand_string"),
        "win32": lambda: _registry(_PROCESSOR, "ProcessorNameString"),
    }
    try:
        name = readers.get(sys.platform, _cpu_linux)()
    except (OSError, ImportError):
        name = ""
    # Intel's registered marks and frequency carry nothing that the picture needs.
    name = re.sub(r"\((R|TM|tm)\)|\bCPU\b|@.*$", " ", name)
    return " ".join(name.split()) or platform.machine() or "unknown processor"


def _cpu_linux() -> str:
    text = Path("/proc/cpuinfo").read_text()
    for key in ("model name", "Model", "Hardware", "cpu model"):  # x86; then ARM boards, MIPS
        found = re.search(rf"^{key}\s*:\s*(.+)$", text, re.MULTILINE)
        if found:
            return found.group(1)
    return ""


def _registry(key: str, entry: str) -> str:
    """A text in the registry of Windows, below HKEY_LOCAL_MACHINE."""
    winreg = importlib.import_module("winreg")  # there on Windows only
    with winreg.OpenKey(winreg.HKEY_LOCAL_MACHINE, key) as opened:
        return str(winreg.QueryValueEx(opened, entry)[0])


def host_id(device: str = "") -> str:
    """A name for this machine that stays the same from day to day: "amd-epyc-2c-3fa2b1".

    ``device``: a GPU's name, for what is measured on it. The six digits are a hash of the system's
    machine identifier, which cannot be read back from them.
    """
    name = device or f"{cpu_name()} {available_cores()}c"
    digest = hashlib.sha256(f"{_machine_identifier()}|{name}".encode()).hexdigest()
    return f"{re.sub(r'[^a-z0-9]+', '-', name.lower()).strip('-')}-{digest[:6]}"


@functools.cache
def _machine_identifier() -> str:
    try:
        if sys.platform == "darwin":
            told = printed("ioreg", "-rd1", "-c", "IOPlatformExpertDevice")
            return "".join(re.findall(r'IOPlatformUUID" = "([^"]+)"', told))
        if sys.platform == "win32":
            return _registry(r"SOFTWARE\Microsoft\Cryptography", "MachineGuid")
        return Path("/etc/machine-id").read_text().strip()
    except (OSError, ImportError):
        return ""  # the processor's name alone still tells most hosts apart


def virtualisation() -> list[str]:
    """What stands between the program and the metal: "hypervisor", "container", both or nothing."""
    in_container = (
        os.path.exists("/.dockerenv")
        or os.path.exists("/run/.containerenv")
        or _mentions("/proc/1/cgroup", r"docker|kubepods|containerd|lxc")
    )
    hypervised = _mentions("/proc/cpuinfo", r"^flags\s*:.*\bhypervisor\b")
    return ["hypervisor"] * hypervised + ["container"] * in_container


def _mentions(path: str, pattern: str) -> bool:
    try:
        return re.search(pattern, Path(path).read_text(), re.MULTILINE) is not None
    except OSError:
        return False


def power() -> str | None:
    """ "battery" or "mains"; None on a machine without a battery, or that does not tell."""
    import psutil

    try:
        battery = psutil.sensors_battery()
    except (AttributeError, OSError, RuntimeError):  # absent on some systems; broken ACPI tables
        return None
    if battery is None or battery.power_plugged is None:
        return None
    return "mains" if battery.power_plugged else "battery"


def throttle_count(root: Path = Path("/sys/devices/system/cpu")) -> int | None:
    """How often the cores were slowed down by heat since boot; None where nobody counts."""
    total = None
    for counter in root.glob("cpu[0-9]*/thermal_throttle/*_throttle_count"):
        with suppress(OSError, ValueError):
            total = (total or 0) + int(counter.read_text())
    return total


def blas_pools() -> list[dict[str, Any]]:
    """The BLAS and OpenMP libraries loaded so far: name, version, kernels picked, threads.

    ``architecture`` is the processor OpenBLAS picked its kernels for; it may be an older one than
    yours ("Haswell" runs AVX2 kernels on an AVX-512 machine, at half of its peak).
    """
    import scipy.linalg.blas  # noqa: F401  # the pool that rooflab times; numpy brings another
    from threadpoolctl import threadpool_info

    keys = ("user_api", "internal_api", "version", "architecture", "threading_layer", "num_threads")
    return [
        {**{key: pool[key] for key in keys if key in pool}, "owner": _owner(pool["filepath"])}
        for pool in threadpool_info()
    ]


def _owner(path: str, packages: Iterable[str] = ("scipy", "numpy", "numba", "mkl")) -> str:
    """Which package brought a library; its path itself must not leave the machine."""
    parts = Path(path).parts[-3:]
    return next((name for name in packages if any(p.startswith(name) for p in parts)), "system")


def _versions() -> dict[str, str]:
    found = {}
    for package in PACKAGES:
        with suppress(metadata.PackageNotFoundError):
            found[package] = metadata.version(package)
    return found
