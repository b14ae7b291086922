"""Recordings: a machine's roofs and measurements as one JSON file, to replay anywhere.

Somebody without a GPU reads a recorded GPU exactly as their own machine. The format is described
by ``assets/recordings/schema.json``; all figures are SI (seconds, FLOP/s, byte/s, bytes).
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from rooflab.count.dtypes import DTypeLike
from rooflab.count.dtypes import dtype as _dtype
from rooflab.count.si import rounded
from rooflab.count.validation import unknown
from rooflab.measure.free_lunch import FreeLunch
from rooflab.measure.measurement import Measurement
from rooflab.measure.settings import path_settings, user_folder
from rooflab.measure.threads import with_threads
from rooflab.predict import estimate
from rooflab.predict.machine import Machine

SCHEMA = 1
ENV = "ROOFLAB_RECORDINGS"
_PACKAGE = Path(__file__).resolve().parents[1]
# In a clone of the repository; in an installed wheel, which setup.py gives a copy.
_SHIPPED = (_PACKAGE.parents[1] / "assets" / "recordings", _PACKAGE / "recordings")
_BUILD_TAG = re.compile(r"(?<=\d)[-+_].*")  # 6.8.0-45-generic, 6.1.2-somebody: they name the build


@dataclass(frozen=True)
class Recording:
    """A recorded machine.

    ``roofs``: one dict per thread count, as :func:`rooflab.measure.roofs.measure_roofs` makes them
    (with their raw samples, and "routines" where these were calibrated). ``measurements``: all
    that was timed; ``left_out``: what was not, each with the reason. ``free_lunch`` may be None.
    ``recorded_on``: UTC, as 2026-11-21T10:00:00Z.
    """

    name: str
    recorded_on: str
    environment: Mapping[str, Any] = field(repr=False)
    roofs: tuple[Mapping[str, Any], ...] = field(repr=False)
    measurements: tuple[Measurement, ...] = field(repr=False)
    free_lunch: FreeLunch | None = field(default=None, repr=False)
    left_out: tuple[Mapping[str, str], ...] = field(default=(), repr=False)
    quick: bool = False

    @cached_property
    def machines(self) -> tuple[Machine, ...]:
        """The recorded machine with its measured roofs, once a thread count."""
        device = str(self.environment.get("cpu", "unknown processor"))
        if self.roofs[0]["backend"] == "gpu" and "gpu" in self.environment:
            device = str(self.environment["gpu"]["name"])
        return tuple(
            Machine.from_roofs(
                roofs, id=self.name, name=with_threads(device, roofs.get("threads")),
                routines=roofs.get("routines"),
            )
            for roofs in self.roofs
        )  # fmt: skip

    @property
    def machine(self) -> Machine:
        """The machine with the most threads that were recorded: what it can do at best."""
        return max(self.machines, key=lambda machine: machine.threads or 0)

    def at(self, threads: int | None) -> Machine:
        """Return the machine as it was with ``threads`` threads (None: on a GPU)."""
        for machine in self.machines:
            if machine.threads == threads:
                return machine
        there = ", ".join(str(machine.threads) for machine in self.machines)
        raise ValueError(f"threads={threads!r} was not recorded in {self.name}; it has {there}")

    def select(
        self,
        op: str | None = None,
        dtype: DTypeLike | None = None,
        cache: str | None = None,
        threads: int | None = None,
    ) -> tuple[Measurement, ...]:
        """Return the measurements of one operation name, dtype, cache and thread count."""
        kind = None if dtype is None else _dtype(dtype)
        return tuple(
            m
            for m in self.measurements
            if (op is None or m.op.name == op)
            and (kind is None or m.op.compute_dtype == kind)
            and (cache is None or m.cache == cache)
            and (threads is None or m.threads == threads)
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the content of the file."""
        return {
            "schema": SCHEMA,
            "name": self.name,
            "recorded_on": self.recorded_on,
            "quick": self.quick,
            "environment": dict(self.environment),
            "roofs": [dict(roofs) for roofs in self.roofs],
            "free_lunch": None if self.free_lunch is None else self.free_lunch.to_dict(),
            "left_out": [dict(entry) for entry in self.left_out],
            "measurements": [_slim(m.to_dict(), self.environment) for m in self.measurements],
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Recording:
        """Inverse of :meth:`to_dict`; raises ValueError saying what is wrong with ``data``."""
        try:
            name, environment = data["name"], data["environment"]
            found = cls(
                name=name,
                recorded_on=data["recorded_on"],
                environment=environment,
                roofs=tuple(data["roofs"]),
                measurements=tuple(
                    Measurement.from_dict({
                        **m, "machine": name,
                        "environment": {**environment, **m.get("environment", {})},
                    })
                    for m in data["measurements"]
                ),
                free_lunch=data["free_lunch"] and FreeLunch.from_dict(data["free_lunch"]),
                left_out=tuple(data["left_out"]),
                quick=bool(data["quick"]),
            )  # fmt: skip
            _sound(found)
        except (AttributeError, KeyError, TypeError, IndexError) as error:
            raise ValueError(f"damaged: {type(error).__name__} {error}") from error
        return found


def _slim(measured: dict[str, Any], environment: Mapping[str, Any]) -> dict[str, Any]:
    """Leave out what the recording as a whole already says."""
    plain = json.loads(json.dumps(dict(environment)))
    own = json.loads(json.dumps(measured["environment"]))
    differing = {key: value for key, value in own.items() if plain.get(key, key) != value}
    return {
        **{k: v for k, v in measured.items() if k not in ("machine", "environment")},
        "samples": [rounded(sample, 6) for sample in measured["samples"]],
        "environment": differing,
    }


def _sound(found: Recording) -> None:
    """Raise ValueError where figures are missing; those that are there were checked as read."""
    for machine in found.machines:
        for level in ("dram", *machine.bandwidths):
            machine.bandwidth(level, "best")
        if not machine.peaks or not estimate.sound(machine.routines, machine.levels):
            raise ValueError(f"damaged: the peaks or the routines of {machine.name}")


def recordings() -> tuple[str, ...]:
    """Return the names of all recordings, in the order of the folders they are in.

    Returns
    -------
    tuple of str
        Names for :func:`recording`. Folders: those that the environment variable
        ROOFLAB_RECORDINGS lists, the course's, the user's.

    Examples
    --------
    >>> "epyc-2core-vm" in rl.recordings()
    True
    """
    return tuple(files())


def recording(name: str) -> Recording:
    """Return the recording ``name``.

    Parameters
    ----------
    name : str
        One of :func:`recordings`.

    Returns
    -------
    Recording
        Its ``machine`` (the measured roofs) is usable wherever a Machine is; ``measurements`` holds
        all that was timed, and ``select`` finds some of them.

    Raises
    ------
    ValueError
        For a file that is damaged or of another version, naming the file and what to do.

    Examples
    --------
    >>> epyc = rl.recording("epyc-2core-vm")
    >>> epyc.machine.threads
    2
    >>> largest = epyc.select("gemm", dtype="fp32", cache="cold", threads=1)[-1]
    >>> largest.op.label, largest.flop_per_s < epyc.at(threads=1).peak("fp32")
    ('gemm 4096×4096×4096 fp32', True)
    """
    known = files()
    if name not in known:
        raise unknown("name", name, known)
    return read(known[name])


def read(path: Path) -> Recording:
    """Return the recording in the file ``path``, named after the file."""
    again = f"restore the file, or record again with `rooflab record {path.stem} --overwrite`"
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ValueError(f"{path}: cannot be read ({error.strerror})") from error
    except (ValueError, RecursionError) as error:  # broken JSON, broken UTF-8, brackets only
        raise ValueError(f"{path}: damaged or cut off ({error}); {again}") from error
    schema = data.get("schema") if isinstance(data, dict) else None
    if not isinstance(schema, int) or schema < SCHEMA:
        raise ValueError(f"{path}: not a recording, it has no schema version; {again}")
    if schema > SCHEMA:
        raise ValueError(
            f"{path}: written by a newer rooflab (schema {schema}; this one reads {SCHEMA}); "
            "update rooflab, for example with `git pull`"
        )
    try:
        return Recording.from_dict({**data, "name": path.stem})
    except ValueError as error:
        raise ValueError(f"{path}: {error}; {again}") from error


def text(found: Recording) -> str:
    """Return the file's content: JSON, one measurement a line, so that two runs can be compared."""
    return in_rows(found.to_dict(), long=("roofs", "left_out", "measurements"))


def in_rows(data: Mapping[str, Any], long: Collection[str]) -> str:
    """Return ``data`` as JSON with a line for each key, and for each entry of the ``long`` ones."""
    rows = []
    for key, value in data.items():
        body = ",\n".join(f"    {_compact(entry)}" for entry in value) if key in long else ""
        rows.append(f'  "{key}": ' + (f"[\n{body}\n  ]" if body else _compact(value)))
    return "{\n" + ",\n".join(rows) + "\n}\n"


def folders() -> tuple[Path, ...]:
    """Where recordings are looked for: ROOFLAB_RECORDINGS, the course's own, the user's own."""
    told = path_settings(ENV)
    shipped = [folder for folder in _SHIPPED if (folder / "schema.json").is_file()][:1]
    own = user_folder("data") / "recordings"
    return (*told, *shipped, own)


def published(environment: Mapping[str, Any]) -> dict[str, Any]:
    """Return ``environment`` without the host's id and the build tag of its system's kernel."""
    told = {key: value for key, value in environment.items() if key != "host"}
    if "system" in told:
        told["system"] = _BUILD_TAG.sub("", told["system"])
    return told


def files(subfolder: str = "") -> dict[str, Path]:
    """Return the recordings by name: those in ``subfolder`` of each of :func:`folders`."""
    found: dict[str, Path] = {}
    for folder in folders():
        try:
            paths = sorted((folder / subfolder).glob("*.json"))
        except OSError:  # a folder that may not be read is as good as none
            continue
        for path in paths:
            if path.name != "schema.json":
                found.setdefault(path.stem, path)
    return found


def _compact(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
