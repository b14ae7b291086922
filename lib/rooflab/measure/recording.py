"""Recordings: a machine's roofs and measurements as one JSON file, to replay anywhere.

Somebody without a GPU reads a recorded GPU exactly as their own machine. The format is described
by ``assets/recordings/schema.json``; all figures are SI (seconds, FLOP/s, byte/s, bytes).
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rooflab.count.suggest import unknown
from rooflab.measure.recorded import SCHEMA, Recording
from rooflab.measure.told import told_paths, user_folder

if TYPE_CHECKING:
    from rooflab.measure.measurement import Measurement

__all__ = ["ENV", "SCHEMA", "Recording", "folders", "read", "recording", "recordings", "text"]

ENV = "ROOFLAB_RECORDINGS"
_SHIPPED = Path(__file__).resolve().parents[3] / "assets" / "recordings"
_BUILD_TAG = re.compile(r"(?<=\d)[-+_].*")  # 6.8.0-45-generic, 6.1.2-somebody: they name the build
_LONG = ("roofs", "left_out", "measurements")  # lists that get one line an entry


def recordings() -> tuple[str, ...]:
    """Return the names of all recordings, in the order of the folders they are in."""
    return tuple(_files())


def recording(name: str) -> Recording:
    """Return the recording ``name``.

    Raises ValueError for an unknown name (with suggestions), and for a file that is damaged or of
    another version (naming the file, and what to do).
    """
    if not isinstance(name, str):
        raise TypeError(f"name={name!r} must be the name of a recording, such as 'epyc-2core-vm'")
    known = _files()
    if name not in known:
        if not known:
            places = ", ".join(map(str, folders()))
            raise ValueError(f"name={name!r} is unknown: there are no recordings in {places}")
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
    if isinstance(schema, bool) or not isinstance(schema, int):
        raise ValueError(f"{path}: not a recording, it has no schema version; {again}")
    if schema > SCHEMA:
        raise ValueError(
            f"{path}: written by a newer rooflab (schema {schema}; this one reads {SCHEMA}); "
            "update rooflab, for example with `git pull`"
        )
    if schema < SCHEMA:
        raise ValueError(
            f"{path}: schema {schema} is older than the oldest published one ({SCHEMA}) and lacks "
            f"what rooflab needs; record again with `rooflab record {path.stem} --overwrite`"
        )
    try:
        return Recording.from_dict({**data, "name": path.stem})
    except ValueError as error:
        raise ValueError(f"{path}: {error}; {again}") from error


def text(found: Recording) -> str:
    """Return the file's content: JSON, one measurement a line, so that two runs can be compared."""
    rows = []
    for key, value in found.to_dict().items():
        if key in _LONG and value:
            body = ",\n".join(f"    {_compact(entry)}" for entry in value)
            rows.append(f'  "{key}": [\n{body}\n  ]')
        else:
            rows.append(f'  "{key}": {_compact(value)}')
    return "{\n" + ",\n".join(rows) + "\n}\n"


def folders() -> tuple[Path, ...]:
    """Where recordings are looked for: ROOFLAB_RECORDINGS, the course's own, the user's own."""
    told = told_paths(ENV)
    shipped = [_SHIPPED] if (_SHIPPED / "schema.json").is_file() else []
    own = user_folder("data") / "recordings"
    return (*told, *shipped, own)


def published(environment: Mapping[str, Any]) -> dict[str, Any]:
    """Return ``environment`` without the host's id and the build tag of its system's kernel."""
    told = {key: value for key, value in environment.items() if key != "host"}
    if "system" in told:
        told["system"] = _BUILD_TAG.sub("", told["system"])
    return told


def with_machine(measurement: Measurement, name: str) -> Measurement:
    """Return ``measurement`` as one of the machine ``name``, fit to be published."""
    environment = published(measurement.environment)
    return replace(measurement, machine=name, environment=environment)


def _files() -> dict[str, Path]:
    found: dict[str, Path] = {}
    for folder in folders():
        try:
            paths = sorted(folder.glob("*.json"))
        except OSError:  # a folder that may not be read is as good as none
            continue
        for path in paths:
            if path.name != "schema.json":
                found.setdefault(path.stem, path)
    return found


def _compact(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
