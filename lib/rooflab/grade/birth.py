"""From the keeper to a kernel: the last trusted steps before a learner's code runs."""

from __future__ import annotations

import os
import random
import signal
import sys
from collections.abc import Mapping, Sequence
from typing import NoReturn

import numpy.random

from rooflab.grade import nest
from rooflab.grade.limits import Limits

try:
    import resource
except ImportError:  # Windows has none, and no sandbox: there this module need only be read
    resource = None

BOX = "/box"  # the learner's folder
MOST_OPEN = 256  # files and sockets
_FAILED = 99


def give_birth(
    connection: Mapping[str, object], listening: Sequence[int], limits: Limits, nested: bool
) -> NoReturn:
    """In a fresh child of the keeper: become the root of a submission, and never return."""
    try:
        size = _address_space()  # as long as there is a /proc
        _keep_only(listening)
        if nested:
            nest.unshare()
            first = os.fork()
            if first:
                os._exit(_outcome(first))
            nest.furnish(limits.files)
            nest.drop_rights()
            nest.die_with_parent()
        _be_first(connection, listening, limits, size)
    except BaseException as error:
        print(f"sandbox: {error!r}", file=sys.__stderr__, flush=True)
    finally:
        os._exit(_FAILED)


def _be_first(
    connection: Mapping[str, object], listening: Sequence[int], limits: Limits, size: int
) -> NoReturn:
    """Process 1 of the nest: fork the kernel, bury orphans, end when the kernel ends."""
    nest.unreadable()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    kernel = os.fork()
    if kernel == 0:
        _settle(limits, size)
        from rooflab.grade.kernel import serve

        serve(connection, listening, limits.shown)
    for descriptor in listening:
        os.close(descriptor)
    os._exit(_outcome(kernel))


def _settle(limits: Limits, size: int) -> None:
    """The kernel's own process: its limits (``size``: what it has already), folder, luck."""
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
    nest.filter_calls()


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
    """Whether Linux counts a user's processes by namespace (5.14 and newer), not all of them."""
    major, minor, *_ = os.uname().release.split(".")
    return (int(major), int(minor)) >= (5, 14) and os.getuid() == 65534


def _outcome(child: int) -> int:
    """Wait for ``child``, burying others; return the code to end with."""
    while True:
        try:
            pid, status = os.waitpid(-1, 0)
        except ChildProcessError:
            return _FAILED
        if pid == child:
            code = os.waitstatus_to_exitcode(status)
            return code if code >= 0 else 128 - code


def _keep_only(descriptors: Sequence[int]) -> None:
    """Close what the keeper holds of others."""
    last = 0
    for descriptor in sorted(descriptors):
        os.closerange(max(3, last + 1), descriptor)
        last = descriptor
    os.closerange(max(3, last + 1), resource.getrlimit(resource.RLIMIT_NOFILE)[0])
