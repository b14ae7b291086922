"""What is recorded about a machine: enough to judge a number, nothing that names its owner."""

from __future__ import annotations

import getpass
import json
import os
import re
import socket
import struct
import subprocess
import sys
from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace

import psutil
import pytest

from rooflab.measure import backend as environment
from rooflab.measure import caches, gpu
from rooflab.measure.backend import Backend, select
from rooflab.measure.caches import cache_sizes, from_windows_table, last_level_bytes
from tests.support.fake_cupy import FakeCupy
from tests.support.rows import each_row


@pytest.fixture(scope="module")
def found():
    return environment.environment(select("cpu"))


def test_it_says_what_the_speed_depends_on(found):
    assert found["cpu"] and found["architecture"] and found["system"]
    assert found["cores"]["available"] >= 1 and found["memory"] > 0
    assert set(found["caches"]) == {"l1", "l2", "l3"}
    assert re.match(r"\w+ 3\.\d+", found["python"])
    assert {"numpy", "scipy"} <= set(found["packages"])
    for pool in found["blas"]:  # none where BLAS is Apple's
        assert pool["internal_api"] and pool["num_threads"] >= 1
        assert pool["owner"] in ("scipy", "numpy", "numba", "mkl", "system")


def test_it_names_nobody(found):
    text = json.dumps(found)
    for private in (str(Path.home()), sys.prefix, os.getcwd()):
        assert len(private) < 4 or private not in text
    assert not re.search(r"[/\\](usr|home|Users|opt|lib|site-packages)", text)
    assert f'"{getpass.getuser()}"' not in text and f'"{socket.gethostname()}"' not in text


def test_the_host_id_is_stable_readable_and_differs_by_device():
    assert environment.host_id() == environment.host_id()
    assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*-[0-9a-f]{6}", environment.host_id())
    assert environment.host_id("NVIDIA H200").startswith("nvidia-h200-")
    assert environment.host_id("NVIDIA H200") != environment.host_id("NVIDIA H100")


def test_hosts_with_the_same_processor_differ(monkeypatch):
    ids = set()
    for name in ("one", "two"):
        monkeypatch.setattr(environment, "_machine_identifier", lambda name=name: name)
        ids.add(environment.host_id())
    assert len(ids) == 2


def test_cores_follow_the_affinity_and_the_quota(monkeypatch, tmp_path):
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: set(range(8)), raising=False)
    monkeypatch.setattr(environment, "cgroup_cores", lambda: None)
    assert environment.available_cores() == 8
    monkeypatch.setattr(environment, "cgroup_cores", lambda: 3)
    assert environment.available_cores() == 3
    monkeypatch.undo()
    quota = tmp_path / "cpu.max"
    for text, cores in (("150000 100000", 2), ("max 100000", None), ("", None)):
        quota.write_text(text)
        assert environment.cgroup_cores(quota) == cores
    assert environment.cgroup_cores(tmp_path / "absent") is None


def test_cores_without_an_affinity_call(monkeypatch):
    monkeypatch.delattr(os, "sched_getaffinity", raising=False)
    monkeypatch.setattr(environment, "cgroup_cores", lambda: None)
    assert 1 <= environment.available_cores() <= os.cpu_count()
    monkeypatch.delattr(psutil.Process, "cpu_affinity", raising=False)  # macOS
    assert environment.available_cores() == os.cpu_count()


@each_row((True, "mains"), (False, "battery"), (None, None), ("absent", None))
def test_power(plugged, told, monkeypatch):
    battery = None if plugged == "absent" else type("B", (), {"power_plugged": plugged})
    monkeypatch.setattr(psutil, "sensors_battery", lambda: battery, raising=False)
    assert environment.power() == told
    monkeypatch.delattr(psutil, "sensors_battery")
    assert environment.power() is None, "nobody can tell"


def test_throttling_counts_add_up(tmp_path):
    assert environment.throttle_count(tmp_path) is None
    for core, kinds in (("cpu0", {"core": 2, "package": 3}), ("cpu1", {"core": 4})):
        folder = tmp_path / core / "thermal_throttle"
        folder.mkdir(parents=True)
        for kind, count in kinds.items():
            (folder / f"{kind}_throttle_count").write_text(f"{count}\n")
    assert environment.throttle_count(tmp_path) == 9


@each_row(
    ("Intel(R) Xeon(R) CPU E5-2680 v4 @ 2.40GHz", "Intel Xeon E5-2680 v4"),
    ("AMD Ryzen 9 7950X 16-Core Processor", "AMD Ryzen 9 7950X 16-Core Processor"),
    ("  Apple   M3 Pro\n", "Apple M3 Pro"),
)
def test_processor_names_are_tidied(said, name, monkeypatch):
    monkeypatch.setattr(environment, "_cpu_linux", lambda: said)
    monkeypatch.setattr(environment.sys, "platform", "linux")
    assert environment.cpu_name.__wrapped__() == name


def test_a_processor_without_a_name_still_has_one(monkeypatch):
    def unreadable():
        raise OSError

    monkeypatch.setattr(environment, "_cpu_linux", unreadable)
    monkeypatch.setattr(environment.sys, "platform", "linux")
    assert environment.cpu_name.__wrapped__()


class Registry(SimpleNamespace):
    """What winreg finds on a computer with an Intel processor."""

    HKEY_LOCAL_MACHINE = "machine"
    ENTRIES = {
        (r"HARDWARE\DESCRIPTION\System\CentralProcessor\0", "ProcessorNameString"): (
            "Intel(R) Core(TM) i7-1260P CPU @ 2.10GHz"
        ),
        (r"SOFTWARE\Microsoft\Cryptography", "MachineGuid"): "3fa2b1",
    }

    @staticmethod
    def OpenKey(root, key):
        assert root == "machine"
        return nullcontext(key)

    @classmethod
    def QueryValueEx(cls, opened, entry):
        return cls.ENTRIES[opened, entry], 1


def test_windows_says_its_processor_and_its_identifier(monkeypatch):
    monkeypatch.setattr(environment.sys, "platform", "win32")
    monkeypatch.setitem(sys.modules, "winreg", Registry())
    assert environment.cpu_name.__wrapped__() == "Intel Core i7-1260P"
    assert environment._machine_identifier.__wrapped__() == "3fa2b1"


# caches


def test_linux_takes_data_caches_only(tmp_path):
    for i, entry in enumerate(
        [("1", "Data", "48K"), ("1", "Instruction", "64K"), ("2", "Unified", "2048K")]
    ):
        folder = tmp_path / f"index{i}"
        folder.mkdir()
        for name, text in zip(("level", "type", "size"), entry, strict=True):
            (folder / name).write_text(text + "\n")
    (tmp_path / "index3").mkdir()  # a cache that cannot be read is passed over
    assert caches._linux(tmp_path) == {"l1": 48 << 10, "l2": 2 << 20}


@each_row((8, "<QII"), (4, "<II"))
def test_windows_records(pointer, head):
    """SYSTEM_LOGICAL_PROCESSOR_INFORMATION as a 64-bit and as a 32-bit process sees it."""

    def record(relationship, level, size, kind):
        start = (1, relationship) if pointer == 4 else (1, relationship, 0)
        union = struct.pack("<BBHII", level, 8, 64, size, kind) + bytes(4)
        return struct.pack(head, *start) + union

    table = b"".join(
        record(*r)
        for r in [(0, 1, 7, 0), (2, 1, 32768, 2), (2, 1, 65536, 1), (2, 2, 1 << 20, 0),
                  (2, 3, 32 << 20, 0), (2, 3, 96 << 20, 0)]
    )  # fmt: skip
    assert from_windows_table(table, pointer) == {"l1": 32768, "l2": 1 << 20, "l3": 96 << 20}
    assert from_windows_table(b"", pointer) == {}


def test_macos_asks_the_performance_cores_first(monkeypatch):
    known = {"hw.perflevel0.l1dcachesize": "131072", "hw.l1dcachesize": "65536",
             "hw.l2cachesize": "4194304"}  # fmt: skip

    def sysctl(command, **_):
        text = known.get(command[-1])
        return type("Done", (), {"returncode": int(text is None), "stdout": (text or "") + "\n"})

    monkeypatch.setattr(subprocess, "run", sysctl)
    assert caches._macos() == {"l1": 131072, "l2": 4 << 20, "l3": 0}


@each_row(
    ("linux", "64", 64), ("linux", "256", 256), ("darwin", "128", 128), ("linux", "0", 64),
    ("linux", "48", 64), ("linux", "no", 64), ("darwin", None, 64), ("win32", None, 64)
)  # fmt: skip
def test_the_length_of_a_cache_line(platform, told, line, monkeypatch, tmp_path):
    """128 bytes on Apple's chips, 64 elsewhere and where the system says none or nonsense."""

    def sysctl(*_, **__):
        if told is None:
            raise FileNotFoundError("sysctl")
        return type("Done", (), {"returncode": 0, "stdout": f"{told}\n"})

    folder = tmp_path / f"{platform} {told}"
    (folder / "index0").mkdir(parents=True)
    if told is not None:
        (folder / "index0" / "coherency_line_size").write_text(f"{told}\n")
    monkeypatch.setattr(caches, "SYSFS", folder)
    monkeypatch.setattr(caches.sys, "platform", platform)
    monkeypatch.setattr(subprocess, "run", sysctl)
    assert caches.line_bytes.__wrapped__() == line


@each_row("linux", "darwin", "win32", "freebsd14")
def test_a_silent_system_gives_none_and_a_safe_default(platform, monkeypatch):
    def silent(*_, **__):
        raise OSError

    monkeypatch.setattr(caches.sys, "platform", platform)
    for name in ("_linux", "_macos", "_windows"):
        monkeypatch.setattr(caches, name, silent)
    monkeypatch.setattr(caches, "system_sizes", caches.system_sizes.__wrapped__)
    monkeypatch.delenv(caches.TOLD)
    assert cache_sizes() == {"l1": None, "l2": None, "l3": None}
    assert last_level_bytes() == 32 << 20
    monkeypatch.setenv(caches.TOLD, "8M")
    assert last_level_bytes() == 8 << 20


def test_the_last_level_is_what_a_learner_says_it_is(monkeypatch):
    found = (("l1", 32 << 10), ("l2", 1 << 20), ("l3", None))
    monkeypatch.setattr(caches, "system_sizes", lambda: found)
    monkeypatch.setenv(caches.TOLD, " 24m ")
    assert cache_sizes() == {"l1": 32 << 10, "l2": 24 << 20, "l3": None}
    monkeypatch.setenv(caches.TOLD, "33554432")
    assert last_level_bytes() == 32 << 20
    monkeypatch.setenv(caches.TOLD, " ")
    assert last_level_bytes() == 1 << 20


@each_row("0", "-32M", "large", "M", "3.5M", "32MB")
def test_what_is_no_size_of_a_cache_is_refused(text, monkeypatch):
    monkeypatch.setenv(caches.TOLD, text)
    with pytest.raises(ValueError, match=r"ROOFLAB_LAST_LEVEL=.* must be a size in bytes, such as"):
        last_level_bytes()


def test_a_gpu_describes_itself(monkeypatch):
    monkeypatch.setattr(gpu, "nvidia_smi", lambda bus, *names: {"driver_version": "580.65.06"})
    backend = Backend("gpu", FakeCupy(l2=50 << 20), "a test", "Stand-in GPU")
    told = environment.environment(backend)["gpu"]
    assert told["name"] == "Stand-in GPU" and told["l2"] == 50 << 20
    assert told["driver_version"] == "580.65.06" and told["cuda_driver"] == 13020
