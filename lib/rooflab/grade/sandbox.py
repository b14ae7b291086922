"""The bubblewrap command line: what the sandbox sees, and whether there is a sandbox at all."""

from __future__ import annotations

import os
import shutil
import site
import subprocess
import sys
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path

import rooflab
from rooflab.grade.limits import Limits

COURSE = "/course"  # where the trimmed rooflab is mounted
HOME = "/box"
NOBODY = "65534"
NESTED_ROOM = 1 << 20  # bytes of the outer folders, in which nothing runs
_ENVIRONMENT = {
    "PATH": "/usr/bin:/bin", "LANG": "C.UTF-8", "PYTHONDONTWRITEBYTECODE": "1",
    "PYTHONNOUSERSITE": "1", "PYTHONSAFEPATH": "1", "OPENBLAS_NUM_THREADS": "1",
    "OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1",
    "MPLBACKEND": "module://matplotlib_inline.backend_inline",
    "PYDEVD_DISABLE_FILE_VALIDATION": "1",
}  # fmt: skip


class NoSandbox(RuntimeError):
    """Learners' code cannot be locked in here; the message says what to install."""


def missing() -> str | None:
    """Return why no sandbox can be had on this machine and what to install, or None."""
    if sys.platform != "linux":
        return (
            f"grading needs bubblewrap, which exists for Linux only (this is {sys.platform}); "
            "grade on a Linux machine, in a virtual machine or in WSL 2"
        )
    if shutil.which("bwrap") is None:
        return (
            "grading needs bubblewrap to lock in what learners hand in; install bubblewrap "
            "(Debian, Ubuntu: apt install bubblewrap; Fedora: dnf install bubblewrap)"
        )
    return _refused()


@cache
def _refused() -> str | None:
    """Try an empty sandbox once; say what the system answers if it refuses."""
    command = [_bwrap(), "--unshare-all", "--ro-bind", "/", "/", "--proc", "/proc", "true"]
    try:
        done = subprocess.run(command, capture_output=True, timeout=10, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"bubblewrap is installed but does not start ({error})"
    if done.returncode == 0:
        return None
    said = done.stderr.decode("utf-8", "replace").strip().splitlines()
    return (
        f"bubblewrap is installed, but this system refuses it ({said[-1] if said else 'no reason'})"
        "; allow unprivileged user namespaces (sysctl kernel.unprivileged_userns_clone=1, or on "
        "Ubuntu 24.04 kernel.apparmor_restrict_unprivileged_userns=0; in Docker "
        "--security-opt seccomp=unconfined --security-opt systempaths=unconfined)"
    )


def command(
    course: Path,
    inner: Sequence[str],
    limits: Limits | None = None,
    hidden: Iterable[Path] = (),
) -> list[str]:
    """Return the command that runs ``inner`` in a new sandbox.

    ``course``: folder of the trimmed rooflab. ``limits``: those of the one submission that runs
    right in it; without, it is a sandbox for nests. ``hidden``: folders that must not be seen even
    if they lie within what is mounted (the submissions, the course's own repository).
    """
    room = str(limits.files if limits else NESTED_ROOM)
    words = [_bwrap(), "--unshare-all", "--die-with-parent", "--new-session", "--clearenv"]
    words += ["--cap-drop", "ALL", "--uid", NOBODY, "--gid", NOBODY, "--hostname", "sandbox"]
    words += ["--proc", "/proc", "--dev", "/dev"]
    for folder in ("/tmp", HOME, "/dev/shm"):
        words += ["--size", room, "--tmpfs", folder]
    shown = _shown()
    for path in shown:
        words += ["--ro-bind", path, path] if not os.path.islink(path) else _link(path)
    for path in _masked(hidden, shown):
        words += ["--tmpfs", path, "--remount-ro", path]
    words += ["--ro-bind", str(course), COURSE]
    for name, value in environment(COURSE, HOME).items():
        words += ["--setenv", name, value]
    closed = ["/dev", "/", *(() if limits else ("/tmp", HOME, "/dev/shm"))]  # nests have their own
    for path in closed:
        words += ["--remount-ro", path]
    return [*words, "--chdir", HOME, "--", *inner]


def environment(course: str, home: str) -> dict[str, str]:
    """Return the whole environment of what runs inside."""
    folders = {"HOME": home, "TMPDIR": home, "IPYTHONDIR": f"{home}/.ipython",
               "MPLCONFIGDIR": f"{home}/.matplotlib", "PYTHONPATH": course}  # fmt: skip
    return {**_ENVIRONMENT, **folders}


def python(*arguments: str) -> list[str]:
    """Return the command of this Python with ``arguments``; the same path holds inside."""
    return [sys.executable, *arguments]


def _bwrap() -> str:
    return shutil.which("bwrap") or "bwrap"


def _link(path: str) -> list[str]:
    return ["--symlink", os.readlink(path), path]


def _shown() -> list[str]:
    """Folders and files that Python needs, outer ones first."""
    system = ["/usr", "/lib", "/lib64", "/lib32", "/bin", "/sbin", "/etc/ld.so.cache",
              "/etc/alternatives", "/etc/localtime", "/nix/store"]  # fmt: skip
    packages = [p for p in site.getsitepackages() if os.path.isdir(p)]
    pythons = [sys.prefix, sys.base_prefix, sys.exec_prefix, *packages]
    found: list[str] = []
    for path in [*system, *sorted(pythons, key=len)]:
        inside = any(Path(path).is_relative_to(have) for have in found)
        if os.path.lexists(path) and not inside:
            found.append(path)
    return found


def _masked(hidden: Iterable[Path], shown: Iterable[str]) -> list[str]:
    """Folders within what is shown that are covered with an empty one."""
    here = Path(rooflab.__file__).resolve().parent
    repository = next((p for p in here.parents if (p / "pyproject.toml").is_file()), here)
    found = []
    for path in {here, repository, *(Path(h).resolve() for h in hidden)}:
        within = any(path.is_relative_to(Path(s).resolve()) for s in shown)
        around = any(Path(s).is_relative_to(path) for s in shown)
        if path.is_dir() and within and not around:
            found.append(str(path))
    return sorted(found)
