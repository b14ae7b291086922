"""What the commands say at the end: the picture's name, and how much more there is in a file."""

from __future__ import annotations

from types import SimpleNamespace

from rooflab.cli import recording
from tests.cli.test_measuring import PNG, quick, run
from tests.support.rows import each_row

__all__ = ["quick"]


def test_a_picture_of_several_operations_is_named_after_all_of_them(tmp_path) -> None:
    assert run("measure", "--threads", "1", "--cache", "warm").endswith(
        "Picture: roofline-axpy-gemv-gemm-fp32.png"
    )
    assert (tmp_path / "roofline-axpy-gemv-gemm-fp32.png").read_bytes().startswith(PNG)


@each_row(
    (12, 12, "axpy 11 too large"),
    (13, 12, "… and 1 more; they are named in the file."),
    (40, 12, "… and 28 more; they are named in the file."),
)
def test_a_long_list_of_what_was_left_out_is_cut_and_counted(left_out, lines, last, capsys) -> None:
    found = SimpleNamespace(
        machine=SimpleNamespace(name="A test machine"),
        measurements=[SimpleNamespace(warnings=()), SimpleNamespace(warnings=("noisy",))],
        left_out=[{"what": f"axpy {n}", "reason": "too large"} for n in range(left_out)],
    )
    recording._report(found, "mine.json")
    out = capsys.readouterr().out.rstrip()
    said = [" ".join(line.split()) for line in out.splitlines()]
    assert said[0] == "A test machine: 2 measurements in mine.json"
    assert said[1].startswith("1 of them carry warnings")
    assert sum(line.endswith("too large") for line in said) == lines
    assert said[-1] == last
