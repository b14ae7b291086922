"""Linux calls of the sandbox: nested namespaces, dropped rights, a filter of system calls.

The trusted processes inside the sandbox make them before a learner's code runs. The worker outside
uses :func:`die_with_parent` and :func:`adopt_orphans`. Each raises OSError when Linux refuses.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import platform
import random
import signal
import struct
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NoReturn

import numpy.random

from rooflab.grade.inside.limits import Limits

_libc = ctypes.CDLL(None, use_errno=True)
_NEW = 0x10000000 | 0x00020000 | 0x20000000 | 0x40000000 | 0x08000000 | 0x04000000
"""CLONE_NEW: USER, NS, PID, NET, IPC, UTS."""
_BIND, _RECURSIVE, _PRIVATE, _REMOUNT, _READ_ONLY = 0x1000, 0x4000, 0x40000, 0x20, 1
_NOSUID_NODEV = 2 | 4
_PDEATHSIG, _DUMPABLE, _SECCOMP, _BOUNDING, _SUBREAPER, _NO_NEW_PRIVS = 1, 4, 22, 24, 36, 38
_AMBIENT = 47
_READABLE = ("cpuinfo", "meminfo", "stat", "loadavg", "version")  # of /proc, in nested namespaces
MOST_FILES = 20_000

# System calls that are refused: memory that no limit counts, other processes' memory, new
# namespaces, new mounts. For each machine the number of its architecture, and those of the calls.
_FORBIDDEN = {
    "x86_64": (0xC000003E, (101, 155, 165, 166, 248, 249, 250, 272, 298, 308, 310, 311, 319, 321,
                            323, 425, 428, 429, 430, 442, 447)),
    "aarch64": (0xC00000B7, (117, 41, 40, 39, 217, 218, 219, 97, 241, 268, 270, 271, 279, 280,
                             282, 425, 428, 429, 430, 442, 447)),
}  # fmt: skip
_X32 = 0x40000000


def _checked(result: int, what: str) -> None:
    if result != 0:
        code = ctypes.get_errno()
        raise OSError(code, f"{what}: {os.strerror(code)}")


def _prctl(option: int, value: int, what: str) -> None:
    _checked(_libc.prctl(option, ctypes.c_ulong(value), 0, 0, 0), what)


def die_with_parent(signal: int = 9) -> None:
    """Get ``signal`` when the parent ends. Call it after :func:`drop_rights`, which clears it."""
    _prctl(_PDEATHSIG, signal, "PR_SET_PDEATHSIG")


def adopt_orphans() -> None:
    """Become the parent of descendants whose own parent ended, so that they can be found."""
    _prctl(_SUBREAPER, 1, "PR_SET_CHILD_SUBREAPER")


def unreadable() -> None:
    """Let no process of the same user read or trace this one."""
    _prctl(_DUMPABLE, 0, "PR_SET_DUMPABLE")


def unshare() -> None:
    """Enter new namespaces; the next child is process 1 of its own process table."""
    user, group = os.getuid(), os.getgid()
    _checked(_libc.unshare(_NEW), "unshare")
    _prctl(_DUMPABLE, 1, "PR_SET_DUMPABLE")  # else the next three files belong to root
    Path("/proc/self/setgroups").write_text("deny")
    Path("/proc/self/uid_map").write_text(f"{user} {user} 1")
    Path("/proc/self/gid_map").write_text(f"{group} {group} 1")
    unreadable()


def mount_folders(bytes_each: int) -> None:
    """Mount an empty /tmp, /box and /dev/shm, and a /proc that shows no processes."""
    _mount(None, "/", None, _RECURSIVE | _PRIVATE)
    with contextlib.suppress(OSError):  # read-only in some containers; the filter refuses it too
        Path("/proc/sys/user/max_user_namespaces").write_text("0")
    size = f"size={bytes_each},nr_inodes={MOST_FILES}"
    stage = "/dev/shm"
    _mount("tmpfs", stage, "tmpfs", _NOSUID_NODEV, "size=64k,mode=755")
    for name in _READABLE:
        if os.path.exists(f"/proc/{name}"):
            Path(f"{stage}/{name}").touch()
            _mount(f"/proc/{name}", f"{stage}/{name}", None, _BIND)
    _mount(stage, "/proc", None, _BIND | _RECURSIVE)
    _mount(None, "/proc", None, _BIND | _REMOUNT | _READ_ONLY | _NOSUID_NODEV)
    for folder in ("/tmp", "/box", "/dev/shm"):
        if folder == stage or not os.listdir(folder):  # a Python in /tmp has to stay in sight
            _mount("tmpfs", folder, "tmpfs", _NOSUID_NODEV, size)


def _mount(source: str | None, target: str, kind: str | None, flags: int, data: str = "") -> None:
    texts = (os.fsencode(text) if text is not None else None for text in (source, target, kind))
    done = _libc.mount(*texts, ctypes.c_ulong(flags), os.fsencode(data))
    _checked(done, f"mount {target}")


def drop_rights() -> None:
    """Give up every capability, and the way back to one, for this process and its children."""
    for capability in range(64):
        if _libc.prctl(_BOUNDING, ctypes.c_ulong(capability), 0, 0, 0) != 0:
            break  # beyond the last one, or never had the right to drop any
    _libc.prctl(_AMBIENT, ctypes.c_ulong(4), 0, 0, 0)
    _prctl(_NO_NEW_PRIVS, 1, "PR_SET_NO_NEW_PRIVS")
    header = ctypes.create_string_buffer(struct.pack("=Ii", 0x20080522, 0))
    _checked(_libc.capset(header, ctypes.create_string_buffer(24)), "capset")


def filter_calls() -> None:
    """Refuse (EPERM) the system calls that an answer never needs; see ``_FORBIDDEN``.

    Does nothing on a processor of which the numbers are not known here.
    """
    if platform.machine() not in _FORBIDDEN:
        return
    arch, numbers = _FORBIDDEN[platform.machine()]
    refuse, count = 0x00050000 | 1, len(numbers)
    steps = [
        (0x20, 0, 0, 4),  # load the architecture of the call
        (0x15, 1, 0, arch),
        (0x06, 0, 0, 0x80000000),  # another one: end the process
        (0x20, 0, 0, 0),  # load the number of the call
        (0x35, count + 1, 0, _X32),
        *((0x15, count - place, 0, number) for place, number in enumerate(numbers)),
        (0x06, 0, 0, 0x7FFF0000),  # allow
        (0x06, 0, 0, refuse),
    ]
    code = ctypes.create_string_buffer(b"".join(struct.pack("=HBBI", *step) for step in steps))
    program = struct.pack("@HP", len(steps), ctypes.addressof(code))
    _prctl(_NO_NEW_PRIVS, 1, "PR_SET_NO_NEW_PRIVS")
    pointer = ctypes.create_string_buffer(program)
    _checked(_libc.prctl(_SECCOMP, 2, pointer, 0, 0), "PR_SET_SECCOMP")


# From the fork server to a kernel: the last trusted steps before a learner's code runs.


try:
    import resource
except ImportError:  # Windows has none, and no sandbox: there this module need only be read
    resource = None

BOX = "/box"  # the learner's folder
MOST_OPEN = 256  # files and sockets
_FAILED = 99


def run_submission(
    connection: Mapping[str, object], listening: Sequence[int], limits: Limits, nested: bool
) -> NoReturn:
    """Run a submission in this process, a fresh child of the fork server. Never returns."""
    try:
        size = _address_space()  # before /proc is replaced
        _keep_only(listening)
        if nested:
            unshare()
            first = os.fork()
            if first:
                os._exit(_reap_until(first))
            mount_folders(limits.files)
            drop_rights()
            die_with_parent()
        _be_init(connection, listening, limits, size)
    except BaseException as error:
        print(f"sandbox: {error!r}", file=sys.__stderr__, flush=True)
    finally:
        os._exit(_FAILED)


def _be_init(
    connection: Mapping[str, object], listening: Sequence[int], limits: Limits, size: int
) -> NoReturn:
    """Process 1 of the namespace: fork the kernel, reap orphans, end when the kernel ends."""
    unreadable()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    kernel = os.fork()
    if kernel == 0:
        _confine(limits, size)
        from rooflab.grade.inside.kernel import serve

        serve(connection, listening, limits.shown)
    for descriptor in listening:
        os.close(descriptor)
    os._exit(_reap_until(kernel))


def _confine(limits: Limits, size: int) -> None:
    """Give the kernel's own process its limits, its folder and fresh random numbers.

    ``size``: bytes of address space that it has already, and that do not count.
    """
    os.setsid()
    signal.signal(signal.SIGINT, signal.default_int_handler)
    null = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(null, descriptor)
    os.close(null)
    os.chdir(os.environ["HOME"])
    random.seed()
    numpy.random.seed()
    memory = limits.memory + size
    _cap(resource.RLIMIT_AS, memory, memory)
    _cap(resource.RLIMIT_CPU, limits.cpu, limits.cpu + 1)
    _cap(resource.RLIMIT_FSIZE, limits.files, limits.files)
    _cap(resource.RLIMIT_NOFILE, MOST_OPEN, MOST_OPEN)
    _cap(resource.RLIMIT_CORE, 0, 0)
    if _counts_in_namespace():
        _cap(resource.RLIMIT_NPROC, limits.threads, limits.threads)
    filter_calls()


def _cap(which: int, soft: int, hard: int) -> None:
    """Set a limit, or leave a lower one that is set already."""
    most = resource.getrlimit(which)[1]
    if most != resource.RLIM_INFINITY:
        soft, hard = min(soft, most), min(hard, most)
    resource.setrlimit(which, (soft, hard))


def _address_space() -> int:
    """Bytes of address space that the preloaded process has already."""
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[0]) * resource.getpagesize()


def _counts_in_namespace() -> bool:
    """Whether Linux limits a user's processes in each namespace by itself, as since 5.14."""
    major, minor, *_ = os.uname().release.split(".")
    return (int(major), int(minor)) >= (5, 14) and os.getuid() == 65534


def _reap_until(child: int) -> int:
    """Reap children until ``child`` has ended; return the code to end with."""
    while True:
        try:
            pid, status = os.waitpid(-1, 0)
        except ChildProcessError:
            return _FAILED
        if pid == child:
            code = os.waitstatus_to_exitcode(status)
            return code if code >= 0 else 128 - code


def _keep_only(descriptors: Sequence[int]) -> None:
    """Close the descriptors of other submissions, which the fork server holds."""
    last = 2
    for descriptor in [*sorted(descriptors), resource.getrlimit(resource.RLIMIT_NOFILE)[0]]:
        os.closerange(last + 1, descriptor)
        last = descriptor
