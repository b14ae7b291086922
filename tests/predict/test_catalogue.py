"""The catalogue: 45 machines, a source for every figure, names, and what is measured."""

from __future__ import annotations

import re
from collections import Counter

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import rooflab as rl
from rooflab.predict.catalogue import _NOISE, _PARTS, VagueName, _vocabulary, record, sources
from tests.support.rows import each_row


def figures(node, path=""):
    """Every figure of a record: (path, {value, source, …}); disputed values are not figures."""
    if "value" in node and "source" in node:
        yield path, node
        return
    for key, child in node.items():
        if isinstance(child, dict) and key != "disputed":
            yield from figures(child, f"{path}.{key}")


EVERY_FIGURE = [(id, *found) for id in rl.machines() for found in figures(record(id))]


def test_forty_five_machines_of_three_kinds():
    assert Counter(m.kind for m in rl.machines().values()) == {"gpu": 33, "tpu": 8, "cpu": 4}
    assert all(id == m.id for id, m in rl.machines().items())
    assert len({m.name for m in rl.machines().values()}) == 45


def test_every_figure_has_a_source_that_exists():
    assert len(EVERY_FIGURE) == 653
    known = sources()
    for id, path, figure in EVERY_FIGURE:
        assert figure["source"], f"{id}{path} has no source"
        assert set(figure["source"]) <= set(known), f"{id}{path} cites an unknown source"
    assert all({"title", "publisher", "seen", "grade"} <= set(entry) for entry in known.values())
    assert len(known) == 97


def test_most_figures_have_two_sources_or_more():
    assert sum(len(set(figure["source"])) > 1 for *_, figure in EVERY_FIGURE) == 340


def test_numbers_are_positive_and_peaks_name_their_unit():
    for id, path, figure in EVERY_FIGURE:
        if isinstance(figure["value"], (int, float)):
            assert figure["value"] > 0, f"{id}{path}"
        if path.startswith(".peak_flops"):
            assert figure["unit"] in ("vector", "tensor"), f"{id}{path}"


@each_row(*rl.machines())
def test_a_machine_carries_the_figures_of_its_record(id):
    m, row = rl.machine(id), record(id)
    assert {key: float(f) for key, f in m.peaks.items()} == {
        key: entry["value"] for key, entry in row["peak_flops"].items()
    }
    assert m.bandwidth() == row["bandwidth_bytes_per_s"]["value"]
    assert m.bandwidth().source == tuple(row["bandwidth_bytes_per_s"]["source"])
    assert all(figure.source for figure in (*m.peaks.values(), *m.measured.values()))
    assert m.origin == m.provenance == "datasheet"
    for level, key in {"l2": "l2_bytes", "l3": "llc_bytes", "dram": "memory_bytes"}.items():
        assert m.capacities.get(level) == row.get(key, {}).get("value")


def test_no_peak_is_a_sparse_one():
    """2:4 sparsity doubles a rate: the dense H100 is 989, not 1979; the L4 121, not 242."""
    dense = {"h100-sxm": 989.4e12, "l4": 121e12, "gh200": 989e12, "a100-sxm-80": 312e12}
    assert {name: rl.machine(name).peak("bf16") for name in dense} == dense


# A GeForce card boosts past the clock of its datasheet (machines.md), a B-series bus does not.
BOOSTS = {"nvidia-rtx-3090", "nvidia-rtx-4090", "nvidia-rtx-5090"}


@each_row(*rl.machines())
def test_nothing_measured_is_above_its_peak(id):
    m = rl.machine(id)
    roofs = {**m.peaks, "bandwidth_bytes_per_s": m.bandwidth()}
    shares = {key: figure / roofs[key] for key, figure in m.measured.items() if key in roofs}
    above = {key: share for key, share in shares.items() if share > 1}
    assert not above or id in BOOSTS
    assert all(share < 1.16 and "above peak" in m.measured[key].note
               for key, share in above.items())  # fmt: skip


def test_geforce_boost_shares_are_those_published():
    shares = {
        name: rl.machine(name).measured["bf16"] / rl.machine(name).peak("bf16")
        for name in ("rtx-5090", "rtx-3090", "rtx-4090", "h100-sxm", "a100-sxm-80")
    }
    printed = {"rtx-5090": 116, "rtx-3090": 108, "rtx-4090": 105, "h100-sxm": 80, "a100-sxm-80": 87}
    assert {name: round(100 * share) for name, share in shares.items()} == printed


@each_row(
    ("nvidia-h100-sxm", "nvidia-h100-sxm"), ("H100-SXM", "nvidia-h100-sxm"),
    ("h100 sxm", "nvidia-h100-sxm"), ("NVIDIA_H200_SXM", "nvidia-h200-sxm"),
    ("mi300x", "amd-mi300x"), ("TPU-v5e", "google-tpu-v5e"), ("rtx 4090", "nvidia-rtx-4090"),
    (" m3 ", "apple-m3"), ("pi-5", "raspberry-pi-5"), ("raspberry-pi-5", "raspberry-pi-5"),
)  # fmt: skip
def test_vendor_and_case_are_optional(name, id):
    assert rl.machine(name).id == id


@each_row(*rl.machines())
def test_every_machine_answers_to_its_short_name(id):
    assert rl.machine(id.partition("-")[2].upper()) is rl.machine(id)


# What torch.cuda.get_device_name(), nvidia-smi -L, rocm-smi, /proc/cpuinfo and JAX call a device.
DRIVERS = {
    "NVIDIA H100 80GB HBM3": "nvidia-h100-sxm", "NVIDIA H100 PCIe": "nvidia-h100-pcie",
    "GPU 0: NVIDIA H100 80GB HBM3 (UUID: GPU-5a1c)": "nvidia-h100-sxm",
    "NVIDIA A100-SXM4-80GB": "nvidia-a100-sxm-80", "NVIDIA A100-SXM4-40GB": "nvidia-a100-sxm-40",
    "NVIDIA A100-PCIE-40GB": "nvidia-a100-sxm-40", "A100-SXM4-40GB": "nvidia-a100-sxm-40",
    "NVIDIA H200": "nvidia-h200-sxm", "NVIDIA GH200 480GB": "nvidia-gh200",
    "NVIDIA B200": "nvidia-b200", "NVIDIA GB200": "nvidia-gb200",
    "NVIDIA B300 SXM6 AC": "nvidia-b300", "Tesla T4": "nvidia-t4",
    "Tesla V100-SXM2-32GB": "nvidia-v100-sxm2", "NVIDIA A10G": "nvidia-a10g",
    "NVIDIA L4": "nvidia-l4", "NVIDIA L40S": "nvidia-l40s",
    "NVIDIA RTX A6000": "nvidia-rtx-a6000", "NVIDIA GeForce RTX 3090": "nvidia-rtx-3090",
    "NVIDIA GeForce RTX 4090": "nvidia-rtx-4090", "NVIDIA GeForce RTX 5090": "nvidia-rtx-5090",
    "AMD Instinct MI300X": "amd-mi300x", "AMD Instinct MI300X OAM": "amd-mi300x",
    "AMD Instinct MI250X / MI250": "amd-mi250x-gcd", "AMD Instinct MI325X": "amd-mi325x",
    "AMD INSTINCT MI250X (MCM) OAM AC MBA": "amd-mi250x-gcd", "AMD Instinct MI210": "amd-mi210",
    "Radeon RX 7900 XTX": "amd-rx-7900-xtx", "TPU v4": "google-tpu-v4",
    "TPU v5 lite": "google-tpu-v5e", "TPU v6 lite": "google-tpu-v6e", "TPU v5p": "google-tpu-v5p",
    "Apple M3 Max": "apple-m3-max", "Apple M4": "apple-m4",
    "AMD Ryzen 9 7950X 16-Core Processor": "amd-ryzen-7950x",
    "AMD EPYC 9654 96-Core Processor": "amd-epyc-9654",
    "Intel(R) Xeon(R) Platinum 8480+": "intel-xeon-8480p",
    "Intel(R) Xeon(R) Platinum 8480+ @ 2.00GHz": "intel-xeon-8480p",
    "Intel(R) Data Center GPU Max 1550": "intel-max-1550", "epyc": "amd-epyc-9654",
    "orin": "nvidia-jetson-agx-orin", "RTX 4090 24 GB": "nvidia-rtx-4090",
}  # fmt: skip


@each_row(*DRIVERS.items())
def test_drivers_names_of_devices_are_known(name, id):
    assert rl.machine(name).id == id


@each_row(*rl.machines())
@given(spoil=st.sampled_from([str, str.upper, str.lower, lambda s: s.replace(" ", "-")]),
       before=st.sampled_from(["", " ", "GPU 3: "]))  # fmt: skip
@settings(max_examples=8)
def test_every_machine_answers_to_its_own_name(id, spoil, before):
    assert rl.machine(before + spoil(rl.machine(id).name)).id == id


@each_row(*rl.machines())
@each_row("Laptop", "D", "NVL", "Ti", "Super", "Max-Q", "144G", "v9")
def test_another_word_is_another_machine(word, id):
    """An RTX 4090 Laptop GPU has half the memory; a name that is nearly right is not right."""
    with pytest.raises(ValueError, match=r"is unknown; did you mean"):
        rl.machine(f"{rl.machine(id).name} {word}")


@each_row(
    "NVIDIA H100 NVL", "NVIDIA A100 80GB PCIe", "NVIDIA L40", "NVIDIA A10", "Tesla V100-PCIE-16GB",
    "NVIDIA GeForce RTX 3090 Ti", "Radeon RX 7900 XT", "AMD Instinct MI250", "Apple M2 Max",
    "AMD Ryzen 9 7950X3D 16-Core Processor"
)  # fmt: skip
def test_a_card_that_is_not_in_the_catalogue_is_never_taken_for_another(name):
    with pytest.raises(ValueError, match="unknown|vague"):
        rl.machine(name)


WORDS = sorted({w for words in _vocabulary().values() for w in words})


@given(st.lists(st.sampled_from(WORDS), min_size=1, max_size=4))
@example(["intel", "oam"])
def test_one_candidate_is_never_vague_and_two_are_named(words):
    fitting = [
        id for id, own in _vocabulary().items()
        if set(words) <= own and not all(map(_PARTS.fullmatch, words))
    ]  # fmt: skip
    try:
        found = rl.machine(" ".join(words)).id
    except VagueName as error:
        listed = str(error).partition("could mean ")[2].split(", ")
        assert len(listed) > 1
        assert set(fitting) <= set(listed), "words of a board, such as OAM, decide nothing"
        assert not fitting or set(listed) == set(fitting) or set(words) & _NOISE
    except ValueError:
        assert not fitting or all(map(_PARTS.fullmatch, set(words) - _NOISE))
    else:
        assert (
            fitting == [found] or found.partition("-")[2] == "-".join(words) or set(words) & _NOISE
        )


def test_a_machine_is_returned_as_it_is():
    m = rl.machine("b200")
    assert rl.machine(m) is m


@each_row(
    ("h100", ["nvidia-h100-sxm", "nvidia-h100-pcie"]),
    ("a100", ["nvidia-a100-sxm-40", "nvidia-a100-sxm-80"]),
    ("rtx", ["nvidia-rtx-a6000", "nvidia-rtx-3090", "nvidia-rtx-4090", "nvidia-rtx-5090"]),
    ("NVIDIA A100", ["nvidia-a100-sxm-40", "nvidia-a100-sxm-80"]),
    ("apple m3 gpu core", ["apple-m3", "apple-m3-pro", "apple-m3-max"]),
    ("TPU v5", ["google-tpu-v5e", "google-tpu-v5p"]),
)
def test_vague_names_list_what_they_could_mean(name, meant):
    expected = f"machine='{name}' is vague; it could mean {', '.join(meant)}"
    with pytest.raises(ValueError, match=re.escape(expected) + "$"):
        rl.machine(name)


@each_row(
    ("h100-smx", "nvidia-h100-sxm"), ("rtx-5080", "nvidia-rtx-5090"), ("mi300", "amd-mi300x"),
    ("rtx4090", "nvidia-rtx-4090"), ("nvidia-h100-sxn", "nvidia-h100-sxm"), ("tpu-v5", "tpu-v5e"),
    ("H800", "nvidia-h100-sxm"), ("MI300A", "amd-mi300x"), ("L20", "nvidia-l40s' or 'nvidia-l4'"),
    ("Tesla V100-PCIE-16GB", "nvidia-v100-sxm2"), ("A30", "nvidia-a100-sxm-40"),
    ("B100", "nvidia-b200"), ("Apple M5", "apple-m4")
)  # fmt: skip
def test_unknown_names_come_with_suggestions(name, suggested):
    with pytest.raises(ValueError, match=f"machine='{name}' .*{suggested}"):
        rl.machine(name)


def test_a_proposal_is_of_the_same_kind():
    for name, far in [("MI300A", "b300"), ("L20", "b200"), ("A30", "b300"), ("Thor", "did you")]:
        with pytest.raises(ValueError) as error:
            rl.machine(name)
        assert far not in str(error.value), name


def test_a_slice_of_a_card_says_how_it_is_written():
    with pytest.raises(
        ValueError, match="slice of nvidia-a100-sxm-80: 1 of 7 .* 255 GB/s"
    ) as error:
        rl.machine("NVIDIA A100-SXM4-80GB MIG 1g.10gb")
    made = eval(str(error.value).partition("its own: ")[2], {"rl": rl})
    assert made.bandwidth() == pytest.approx(254.9e9, rel=1e-3)
    assert made.peak("fp16") == pytest.approx(312e12 / 7)


def test_hopeless_names_list_the_catalogue():
    for name in ("", "zzzzzzzz"):
        with pytest.raises(ValueError, match=f"machine='{name}' is unknown; .*45 in all"):
            rl.machine(name)


@each_row(None, 100, 1.5, True, ["h100-sxm"])
def test_names_are_strings(value):
    with pytest.raises(TypeError, match="machine=.* must be a machine's name or a Machine"):
        rl.machine(value)


def test_the_catalogue_cannot_be_changed():
    with pytest.raises(TypeError):
        rl.machines()["mine"] = rl.machine("b200")
    with pytest.raises(TypeError):
        rl.machine("b200").peaks["bf16"] = 1.0
    with pytest.raises(AttributeError):
        rl.machine("b200").id = "mine"


@each_row("8gb", "80 GB", "141gb", "480GB", "NVIDIA 80GB", "hbm3", "PCIe")
def test_a_memory_or_a_slot_alone_names_no_machine(name):
    with pytest.raises(ValueError, match="is unknown|is vague"):
        rl.machine(name)
