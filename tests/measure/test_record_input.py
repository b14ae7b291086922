"""What the recorder refuses, before anything is measured."""

from __future__ import annotations

import pytest

from rooflab.measure import record as recorder
from rooflab.measure import recording as shelf
from tests.support.rows import each_row


@pytest.fixture(autouse=True)
def nothing_is_measured(monkeypatch, tmp_path):
    monkeypatch.setenv("ROOFLAB_BACKEND", "cpu")
    monkeypatch.setenv(shelf.ENV, str(tmp_path))
    monkeypatch.setattr(recorder, "measured_roofs", lambda *_: pytest.fail("measured"))


def record(name="mine", **options):
    return recorder.record(name, **{"threads": (1,), "progress": False, **options})


BAD = {
    "a path as name": ({"name": "../evil"}, "name='../evil' must be lower-case"),
    "no name": ({"name": ""}, "name=''"),
    "the schema's name": ({"name": "schema"}, "name='schema'"),
    "unknown dtype": ({"dtypes": ("fp33",)}, "dtype='fp33' is unknown; did you mean"),
    "dtype without routines": ({"dtypes": ("bf16",)}, "bf16 cannot be recorded"),
    "no dtype": ({"dtypes": ()}, "dtypes: an empty list cannot be recorded"),
    "too many threads": ({"threads": (10_000,)}, "threads=10000"),
    "no threads": ({"threads": ()}, "threads=.*one or more"),
    "a number for threads": ({"threads": 1}, "threads=1 must be one or more"),
    "no time": ({"minutes": 0}, "minutes=0"),
    "minutes in words": ({"minutes": "two"}, "minutes='two'"),
    "no time at all": ({"stop_after": 0}, "stop_after=0 must be a positive number of seconds"),
    "time without end": ({"stop_after": float("inf")}, "stop_after=inf must be a positive number"),
    "a truth for a time": ({"stop_after": True}, "stop_after=True must be a positive number of"),
    "a time in words": ({"stop_after": "5"}, "stop_after='5' must be a positive number of seconds"),
    "another backend": ({"backend": "tpu"}, "backend='tpu' is unknown"),
}


@each_row(*BAD.values())
def test_bad_arguments_are_named_before_anything_is_measured(options, says):
    (value,) = options.values()
    wants_a_number = {"minutes", "stop_after"} & {*options} and type(value) in (bool, str)
    with pytest.raises(TypeError if wants_a_number else ValueError, match=says):
        record(**options)


def test_a_folder_that_cannot_be_written_to_is_told_first(monkeypatch, tmp_path):
    (tmp_path / "a file").write_text("", encoding="utf-8")
    with pytest.raises(ValueError, match=r"folder=.*cannot be written to.*nothing was measured"):
        record(folder=tmp_path / "a file" / "inside")

    def read_only(*_, **__):
        raise OSError(30, "Read-only file system")

    monkeypatch.setattr(recorder.tempfile, "TemporaryFile", read_only)
    with pytest.raises(ValueError, match="Read-only file system"):
        record(folder=tmp_path)
