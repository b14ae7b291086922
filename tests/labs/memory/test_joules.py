"""Joules from counters: a folder as Linux has it, a library as NVIDIA's driver has it, and none."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import rooflab as rl
from rooflab.labs.memory.energies import meter
from rooflab.labs.memory.energies.meter import Meter, gpu_counters, processor_counters
from tests.support.rows import each_row

MOST = 262_143_328_850  # max_energy_range_uj of a common processor: 262 kJ


def zone(folder: Path, name: str, called: str, used: int, most: int = MOST) -> Path:
    """A zone of the power capping framework, as Documentation/power/powercap describes it."""
    path = folder / name
    path.mkdir(parents=True)
    (path / "name").write_text(f"{called}\n")
    (path / "energy_uj").write_text(f"{used}\n")
    (path / "max_energy_range_uj").write_text(f"{most}\n")
    return path


def clock(*times: float) -> Any:
    """A clock that shows these seconds, one after the other."""
    left: Iterator[float] = iter(times)
    return lambda: next(left)


def set_to(path: Path, microjoules: int) -> None:
    (path / "energy_uj").write_text(f"{microjoules}\n")


@pytest.fixture
def package(tmp_path: Path) -> Path:
    return zone(tmp_path, "intel-rapl:0", "package-0", 1_000_000)


def counted(folder: Path, *times: float, **more: Any) -> Meter:
    return Meter(*processor_counters(folder), clock=clock(*times), **more)


# The processor.


def test_joules_and_watts_of_a_package(tmp_path: Path, package: Path) -> None:
    with counted(tmp_path, 10.0, 12.0) as used:
        set_to(package, 61_000_000)
    assert used.joules == {"package-0": 60.0}
    assert (used.seconds, used.watts, used.total) == (2.0, {"package-0": 30.0}, 60.0)
    assert used.missing == used.warnings == ()
    assert str(used) == "2.00 s: package-0 60.0 J (30.0 W)"


def test_a_counter_that_begins_again(tmp_path: Path, package: Path) -> None:
    set_to(package, MOST - 3_000_000)
    with counted(tmp_path, 0.0, 1.0) as used:
        set_to(package, 2_000_000)
    assert used.joules["package-0"] == pytest.approx(5.0)


def test_cores_are_part_of_their_package_and_dram_is_not(tmp_path: Path, package: Path) -> None:
    cores = zone(tmp_path, "intel-rapl:0:0", "core", 0)
    dram = zone(tmp_path, "intel-rapl:0:1", "dram", 0)
    whole = zone(tmp_path, "intel-rapl:1", "psys", 0)
    with counted(tmp_path, 0.0, 1.0) as used:
        for path, joules in ((package, 11), (cores, 7), (dram, 4), (whole, 30)):
            set_to(path, joules * 1_000_000)
    assert used.joules == {"package-0": 10.0, "core-0": 7.0, "dram-0": 4.0, "psys": 30.0}
    assert used.total == 14.0


def test_two_sockets(tmp_path: Path, package: Path) -> None:
    other = zone(tmp_path, "intel-rapl:1", "package-1", 0)
    dram = zone(tmp_path, "intel-rapl:1:0", "dram", 0)
    zone(tmp_path, "intel-rapl-mmio:0", "package-0", 0)  # the same counter by another way
    with counted(tmp_path, 0.0, 1.0) as used:
        set_to(other, 5_000_000), set_to(dram, 1_000_000), set_to(package, 3_000_000)
    assert used.joules == {"package-0": 2.0, "package-1": 5.0, "dram-1": 1.0}


def test_what_idling_uses_is_known_if_it_is_asked_for(tmp_path: Path, package: Path) -> None:
    def idle(seconds: float) -> None:
        assert seconds == 2.0
        set_to(package, 21_000_000)

    with counted(tmp_path, 0.0, 2.0, 2.0, 6.0, idle_s=2.0, sleep=idle) as used:
        set_to(package, 121_000_000)
    assert used.idle_watts == {"package-0": 10.0}
    assert used.total == 100.0
    assert used.above_idle == pytest.approx(60.0)
    assert str(used).endswith("60.0 J more than idle")


def test_a_block_that_raises_is_counted_and_still_raises(tmp_path: Path, package: Path) -> None:
    counting = counted(tmp_path, 0.0, 1.0)

    def work() -> None:
        with counting:
            set_to(package, 2_000_000)
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        work()
    assert counting.used.total == 1.0


def test_a_short_block_is_told(tmp_path: Path, package: Path) -> None:
    with counted(tmp_path, 0.0, 0.01) as used:
        pass
    assert "10.0 ms is short" in used.warnings[0]
    assert "repeat the work" in repr(used)


def test_counters_that_only_root_may_read(
    tmp_path: Path, package: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = Path.read_text

    def closed(path: Path, *args: Any, **more: Any) -> str:
        if path.name == "energy_uj":
            raise PermissionError(13, "Permission denied")
        return real(path, *args, **more)

    monkeypatch.setattr(Path, "read_text", closed)
    with counted(tmp_path, 0.0, 1.0) as used:
        pass
    assert used.total is None
    assert used.above_idle is None
    assert "only root may read" in str(used)
    assert "chmod a+r" in str(used)


def test_a_zone_without_a_counter_is_passed_over(tmp_path: Path, package: Path) -> None:
    (zone(tmp_path, "intel-rapl:0:0", "core", 0) / "energy_uj").unlink()
    (zone(tmp_path, "intel-rapl:0:1", "dram", 0) / "energy_uj").write_text("none\n")
    counters, missing = processor_counters(tmp_path)
    assert [name for name, _, _ in counters] == ["package-0"]
    assert missing == []


def test_no_counters_at_all(tmp_path: Path) -> None:
    with Meter(
        *processor_counters(tmp_path / "nowhere"), idle_s=5.0, clock=clock(0.0, 1.0)
    ) as used:
        pass
    assert used.joules == {}
    assert used.total is None
    assert "need Linux on Intel or AMD" in repr(used)


# GPUs.


def driver(*millijoules: list[int] | None) -> SimpleNamespace:
    """NVML with a GPU for each list, whose counter shows its numbers in turn; None has none."""

    def energy(number: int) -> int:
        left = millijoules[number]
        if left is None:
            raise RuntimeError("Not Supported")
        return left.pop(0)

    return SimpleNamespace(
        nvmlInit=lambda: None, nvmlDeviceGetCount=lambda: len(millijoules),
        nvmlDeviceGetHandleByIndex=lambda number: number,
        nvmlDeviceGetTotalEnergyConsumption=energy,
    )  # fmt: skip


def test_joules_of_gpus() -> None:
    counters, missing = gpu_counters(driver([0, 1_000, 351_000], None, [0, 5_000, 5_500]))
    with Meter(counters, missing, clock=clock(0.0, 1.0)) as used:
        pass
    assert used.joules == {"gpu-0": 350.0, "gpu-2": 0.5}
    assert used.total == 350.5
    assert used.watts["gpu-0"] == 350.0


def test_gpus_that_count_nothing() -> None:
    assert gpu_counters(driver(None, None)) == ([], ["2 GPUs, none of which counts its energy"])


def test_no_driver(monkeypatch: pytest.MonkeyPatch) -> None:
    def absent() -> None:
        raise RuntimeError("Driver Not Loaded")

    assert gpu_counters(SimpleNamespace(nvmlInit=absent))[1] == [
        "no NVIDIA GPU, or no driver that answers"
    ]
    monkeypatch.setitem(__import__("sys").modules, "pynvml", None)
    assert "nvidia-ml-py is not installed" in gpu_counters()[1][0]


# The public name.


def test_it_reads_this_machine_or_says_why_not() -> None:
    with rl.memory.joules(idle_s=0, gpu=False) as used:
        sum(range(1000))
    assert isinstance(used, rl.memory.Joules)
    assert used.seconds > 0
    assert bool(used.joules) is not bool(used.missing)


def test_it_asks_the_gpu_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(meter, "POWERCAP", tmp_path)
    zone(tmp_path, "intel-rapl:0", "package-0", 0)
    monkeypatch.setitem(__import__("sys").modules, "pynvml", driver([0, 0, 9_000]))
    with rl.memory.joules(idle_s=0) as used:
        pass
    assert used.joules == {"package-0": 0.0, "gpu-0": 9.0}


@each_row(
    ({"idle_s": -1}, ValueError, "idle_s=-1"), ({"idle_s": 1e9}, ValueError, "an hour"),
    ({"idle_s": "1"}, TypeError, "idle_s='1'"), ({"idle_s": True}, TypeError, "idle_s=True"),
    ({"idle_s": float("nan")}, ValueError, "idle_s=nan"), ({"gpu": 1}, TypeError, "gpu=1"),
)  # fmt: skip
def test_bad_input(given: dict[str, Any], error: type[Exception], said: str) -> None:
    with pytest.raises(error, match=said):
        rl.memory.joules(**given)
