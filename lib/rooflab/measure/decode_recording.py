"""Decode runs as a file: recorded on one machine, replayed on any other.

They lie in a folder ``decode`` beside the machine recordings, in the same folders.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from rooflab.count.dtypes import dtype as _dtype
from rooflab.count.si import rounded
from rooflab.count.sizes import size
from rooflab.count.suggest import unknown
from rooflab.measure.atomic import replace_file
from rooflab.measure.backend import Backend, select
from rooflab.measure.decode import decode_loop, loop_weights, require_positions, require_room
from rooflab.measure.decode_models import loop_model
from rooflab.measure.decode_run import SCHEMA, DecodeRun
from rooflab.measure.environment import environment, now
from rooflab.measure.progress import Progress, told
from rooflab.measure.recorder import target_of
from rooflab.measure.recording import folders, published
from rooflab.measure.transformer_weights import require_loop
from rooflab.predict.workload_model import Model

BATCHES = (1, 2, 3, 4, 8, 16, 32, 64)
FOLDER = "decode"


@dataclass(frozen=True)
class DecodeRecording:
    """Decode runs of one machine. ``recorded_on``: UTC, as 2026-11-21T10:00:00Z."""

    name: str
    recorded_on: str
    environment: Mapping[str, Any] = field(repr=False)
    runs: tuple[DecodeRun, ...] = field(repr=False)

    def select(
        self, model: str | None = None, batch: int | None = None, dtype: str | None = None
    ) -> tuple[DecodeRun, ...]:
        """Return the runs of one model, batch and dtype."""
        return tuple(
            run
            for run in self.runs
            if model in (None, run.model.name)
            and batch in (None, run.batch)
            and dtype in (None, run.dtype)
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the content of the file."""
        return {
            "schema": SCHEMA, "name": self.name, "recorded_on": self.recorded_on,
            "environment": dict(self.environment), "runs": [_slim(run) for run in self.runs],
        }  # fmt: skip

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> DecodeRecording:
        """Inverse of :meth:`to_dict`; raises ValueError saying what is wrong with ``data``."""
        if not isinstance(data, Mapping) or data.get("schema") != SCHEMA:
            raise ValueError(f"not a decode recording of schema {SCHEMA}: record it again")
        try:
            name, surroundings = data["name"], data["environment"]
            runs = tuple(
                DecodeRun.from_dict({
                    **run, "machine": name, "environment": {**surroundings, **run["environment"]},
                })
                for run in data["runs"]
            )  # fmt: skip
            return cls(name, data["recorded_on"], surroundings, runs)
        except (KeyError, TypeError) as error:
            raise ValueError(f"damaged: {type(error).__name__} {error}") from error


def record_decode(
    name: str,
    models: Iterable[Model | str] = ("small",),
    batches: Iterable[int] = BATCHES,
    *,
    context: int = 128,
    steps: int = 20,
    backend: str | None = "auto",
    threads: int | None = None,
    dtypes: Iterable[str] = ("fp32",),
    folder: str | Path | None = None,
    overwrite: bool = False,
    progress: Progress = True,
) -> DecodeRecording:
    """Run the decode loop for every model, dtype and batch, and keep the runs as ``name``.

    ``models``: rl.Model, or names for :func:`rooflab.loop_model`. ``folder``: by default the first
    recordings folder. Raises before anything is measured: ValueError for a name that is taken
    (unless ``overwrite``), a folder that cannot be written to, or a run that is refused;
    OperandsTooLarge for one that does not fit memory.
    """
    chosen = select(backend, threads)
    tasks = _tasks(models, dtypes, batches, chosen)
    where = (folders()[0] if folder is None else Path(folder)) / FOLDER
    target = target_of(name, where, overwrite)
    context, steps = size("context", context), size("steps", steps)
    for model, kind, batch in tasks:
        require_positions(require_loop(model), context + steps)
        require_room(model, batch, context, steps, kind, chosen)
    runs: list[DecodeRun] = []
    held = None
    with told(progress, f"recording {name}") as tell:
        for done, (model, kind, batch) in enumerate(tasks):
            tell(done / len(tasks), f"{model.name}, {kind}, batch {batch}")
            if held is None or (held.model, held.dtype) != (model, kind):
                held = None  # the old weights go before the new ones come
                held = loop_weights(model, kind, chosen.name)
            run = decode_loop(model, batch, context, steps, chosen.name, threads, held, kind)
            runs.append(replace(run, machine=name, environment=published(run.environment)))
        tell(1.0)
    found = DecodeRecording(name, now(), published(environment(chosen)), tuple(runs))
    replace_file(target, _text(found))
    return found


def _tasks(
    models: Iterable[Model | str], dtypes: Iterable[str], batches: Iterable[int], backend: Backend
) -> list[tuple[Model, str, int]]:
    """Model, dtype and batch of every run, in order; loop models get their layers here."""
    lists = {"models": models, "dtypes": dtypes, "batches": batches}
    for argument, given in lists.items():
        if isinstance(given, str) or not isinstance(given, Iterable):
            raise TypeError(f"{argument}={given!r} must be a list, such as [{given!r}]")
    lists = {argument: list(given) for argument, given in lists.items()}
    for argument, given in lists.items():
        if not given:
            raise ValueError(f"{argument}={given!r} is empty; give at least one")
    sized = [
        loop_model(each, backend=backend.name) if isinstance(each, str) else each
        for each in lists["models"]
    ]
    kinds = [_dtype(kind).name for kind in lists["dtypes"]]
    rows = [size(f"batches[{i}]", each) for i, each in enumerate(lists["batches"])]
    return [(model, kind, batch) for model in sized for kind in kinds for batch in rows]


def decode_recordings() -> tuple[str, ...]:
    """Names of all decode recordings, in the order of the folders they are in."""
    return tuple(_files())


def decode_recording(name: str) -> DecodeRecording:
    """Return the decode recording ``name``, named after its file.

    Raises TypeError unless ``name`` is a text, ValueError for an unknown one or a damaged file.
    """
    if not isinstance(name, str):
        raise TypeError(f"name={name!r} must be the name of a recording, such as 'epyc-2core-vm'")
    known = _files()
    if not known:
        raise ValueError(f"name={name!r} is unknown: nothing is recorded; see rl.record_decode")
    if name not in known:
        raise unknown("name", name, known)
    path = known[name]
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
        named = {**data, "name": path.stem} if isinstance(data, dict) else data
        return DecodeRecording.from_dict(named)
    except (OSError, ValueError, RecursionError) as error:  # the last: nothing but brackets
        raise ValueError(f"{path}: {error}") from error


def _files() -> dict[str, Path]:
    found: dict[str, Path] = {}
    for folder in folders():
        for path in sorted((folder / FOLDER).glob("*.json")):
            found.setdefault(path.stem, path)
    return found


def _slim(run: DecodeRun) -> dict[str, Any]:
    """The run without what the recording as a whole already says."""
    plain = run.to_dict()
    for phase in ("prefill", "decode"):
        plain[phase] = {name: [rounded(s, 5) for s in each] for name, each in plain[phase].items()}
    plain["trials"] = {
        name: {form: rounded(s, 4) for form, s in each.items()}
        for name, each in plain["trials"].items()
    }
    del plain["machine"]
    return {**plain, "environment": {"clock": run.environment["clock"]}}


def _text(found: DecodeRecording) -> str:
    """JSON, one run a line, so that two recordings can be compared."""
    data = found.to_dict()
    rows = [json.dumps(run, ensure_ascii=False, separators=(",", ":")) for run in data.pop("runs")]
    head = json.dumps(data, ensure_ascii=False, indent=1)[:-2]
    body = ",\n".join(rows)
    return f'{head},\n "runs": [\n{body}\n ]\n}}\n'
