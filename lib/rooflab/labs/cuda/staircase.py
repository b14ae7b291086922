"""Foretell published staircases of GEMM kernels: count what each rung moves, and time it.

The work of a step (one pair of tiles) is counted at every level, in clocks of one SM. Of levels
that run at the same time the longest counts; what nothing runs beside is added. Two constants are
fitted, both on the A6000's rungs; the H100's and the B200's were predicted before they were read.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from rooflab.count.validation import unknown
from rooflab.predict.catalogue import tables

Numbers = Mapping[str, Any]  # a rung's, a problem's or a machine's, as staircase.yaml has them

PIPELINE = 33  # clocks from an MMA's operands to its result: arXiv 2402.13499, mma m16n8k16
REGISTERS = 255  # that a thread can have
ADDRESSES = 40  # registers beside the accumulators: 168 printed for 128 (H100, two consumers)
LAUNCH = 2e-6  # seconds to start and to end a kernel, queued back to back
LEVELS = ("compute", "shared", "l2", "dram")  # that overlap; issue shares its slots with compute
# What counting cannot tell: least squares of log(predicted / published) over the A6000's ten rungs.
FMA_SHARE = 0.575  # of the CUDA cores' peak at boost, what power and issue leave
LOADED = 1.31  # latency of memory under load over that of an idle one


@dataclass(frozen=True)
class Terms:
    """Seconds of one rung: of each part as if alone, and all told."""

    parts: Mapping[str, float]
    seconds: float

    @property
    def limit(self) -> str:
        """Name the part that takes longest."""
        return max(self.parts, key=lambda name: self.parts[name])


def hide(busy: float, delay: float, tokens: int) -> float:
    """Return the clocks a step costs where ``tokens`` of them are under way at a time.

    Each is ``busy`` on a resource that all share, then waits ``delay`` elsewhere. One token pays
    busy + delay; many pay busy; between, a token finds the others in line (mean-value analysis of a
    closed queue, Reiser and Lavenberg 1980).
    """
    time, line = busy + delay, 0.0
    for under_way in range(1, tokens + 1):
        response = busy * (1 + line)
        time = (response + delay) / under_way
        line = response / time
    return time


def load_bytes(rung: Numbers) -> float:
    """Return the bytes a block reads from L2 a step: its tiles, half of B in a cluster of two."""
    m, n, k = rung["tile"]
    return float((m + n / (2 if rung.get("cluster") else 1)) * k * rung["bytes"])


def dram_bytes(rung: Numbers, size: tuple[int, int, int], machine: Numbers) -> float:
    """Return the bytes of A and B that come from DRAM.

    The tiles under way at one time walk along k together: they load the rows and columns that they
    cover once. What is larger than L2 is loaded anew by each such wave.
    """
    (m, n, k), (tile_m, tile_n, _) = size, rung["tile"]
    wave = rung.get("persistent") or rung["resident"] * machine["sms"]
    down, along = m // tile_m, n // tile_n
    rows, columns = max(1, wave / along), min(along, wave)
    if rung.get("order") == "columns":
        rows, columns = min(down, wave), max(1, wave / down)
    rows, columns = rung.get("wave", (rows, columns))
    once: float = (m + n) * k * rung["bytes"]
    waves: float = down * along / wave * (rows * tile_m + columns * tile_n) * k * rung["bytes"]
    return once if once <= machine["l2_bytes"] else max(once, waves)


def cuda_core_step(rung: Numbers) -> dict[str, float]:
    """Count a step on CUDA cores: its FMAs, all other instructions, wavefronts of shared memory."""
    m, n, k = rung["tile"]
    warps = rung["threads"] // 32
    tiles = [m * k * rung["bytes"], n * k * rung["bytes"]]  # of A and of B
    reads = warps * k * sum(count for count, _ in rung["reads"])  # instructions
    wavefronts = warps * k * sum(count * each for count, each in rung["reads"])
    if rung.get("operands") != "global":
        conflicts = rung["write_conflicts"]
        wavefronts += sum(tile / 128 * (1 + worst) for tile, worst in zip(tiles, conflicts))
        reads += 4 * sum(tiles) / (32 * rung["width"])  # load and store, and an address for each
    compute = m * n * k / 128 / FMA_SHARE
    return {"compute": compute, "issue": reads / 4, "shared": wavefronts}


def tensor_core_step(rung: Numbers, machine: Numbers, resident: int) -> dict[str, float]:
    """Count a step on tensor cores: its MMAs and waits, bytes of shared memory, bytes spilled."""
    (m, n, k), (mma_m, mma_n) = rung["tile"], rung["mma"]
    pair = 2 if rung.get("cluster") == "pair" else 1  # each SM keeps and reads half of B
    mma = 2 * m * n * k / (machine["flop_per_clock"] * machine["unit_share"][mma_n])
    read = m / mma_m * n / mma_n * (mma_m + mma_n / pair) * k * rung["bytes"]
    written = (m + n / pair) * k * rung["bytes"]
    groups = m / mma_m * n / mma_n * k / 16 if rung.get("serialized") else 1
    signal = 2 * machine["latency"]["shared"]  # written, then polled
    wait = rung["waits"] * (rung["arrivals"] + signal)  # one arrival a clock: one address
    wait += groups * (machine["latency"]["shared"] + PIPELINE)
    compute = hide(mma, wait, rung["in_flight"] * resident)
    # half of the tile after the other: registers of 4 bytes go out and in again, twice a step
    spilled = max(0, rung["accumulators"] + ADDRESSES - REGISTERS) * rung["threads"] * 4 * 4
    return {"compute": compute, "shared": (read + written) / 128, "spills": spilled / 128}


def epilogue(rung: Numbers, machine: Numbers, problem: Numbers, latency: float) -> float:
    """Return the clocks of a tile during which its block loads and computes nothing."""
    m, n, _ = rung["tile"]
    width, wavefronts, exposed = rung["store"]
    size = m * n * rung["out_bytes"]
    write = size / (32 * width) * wavefronts
    if rung.get("zeroed"):
        write += rung["accumulators"] * rung["threads"] / 128
    transfer = size * problem["c_moves"] / machine["l2_bytes_per_clock"]
    shown = {"all": write + transfer, "strips": max(write, transfer), "write": write, "none": 0.0}
    # a block that ends waits for its stores; the next one starts up and waits for its first tiles
    return float(shown[exposed]) + (0 if rung.get("persistent") else 3 * latency)


def predict_rung(rung: Numbers, machine: Numbers, problem: Numbers) -> Terms:
    """Predict the seconds of one rung on one machine from plain numbers.

    They are named as in staircase.yaml: what the kernel does, the machine's figures, the ``size``
    and ``c_moves`` of the problem.
    """
    blocks, sms = rung["blocks"], machine["sms"]
    parts, tile = _tile(rung, machine, problem, rung["resident"])
    if rung.get("persistent"):
        clocks = math.ceil(blocks / rung["persistent"]) * tile
    else:
        full, rest = divmod(blocks, rung["resident"] * sms)
        clocks = full * rung["resident"] * tile
        if rest:  # the last blocks have an SM to themselves, or share it with fewer
            resident = math.ceil(rest / sms)
            clocks += resident * _tile(rung, machine, problem, resident)[1]
    even = blocks / sms / machine["clock_hz"]
    seconds = {name: even * part for name, part in parts.items()}
    seconds["idle SMs"] = clocks / machine["clock_hz"] - even * tile
    seconds["launch"] = LAUNCH
    return Terms(seconds, clocks / machine["clock_hz"] + LAUNCH)


def _tile(
    rung: Numbers, machine: Numbers, problem: Numbers, resident: int
) -> tuple[dict[str, float], float]:
    """Clocks of an SM for one tile where ``resident`` blocks share it: by part, and in all."""
    steps = problem["size"][2] // rung["tile"][2]
    tensor = rung["unit"] == "tensor cores"
    step = tensor_core_step(rung, machine, resident) if tensor else cuda_core_step(rung)
    in_all = rung["blocks"] * steps
    loads = dram_bytes(rung, problem["size"], machine)
    moved = loads + math.prod(problem["size"][:2]) * rung["out_bytes"] * problem["c_moves"]
    per_clock = machine["dram_bytes_per_s"] / machine["clock_hz"] / machine["sms"]
    step["l2"] = load_bytes(rung) / machine["l2_bytes_per_clock"]
    step["dram"] = moved / in_all / per_clock
    work = {name: step[name] for name in LEVELS}
    work["compute"] += step.get("issue", 0.0)
    busy = max(work.values())
    missed = min(1.0, loads / (in_all * load_bytes(rung)))
    idle = machine["latency"]
    latency = LOADED * (idle["l2"] + missed * (idle["dram"] - idle["l2"]))
    # of a lone step: what it waits for, its load and its arithmetic, one after the other
    arithmetic = max(work["compute"], work["shared"])
    delay = latency + arithmetic + max(step["l2"], step["dram"]) - busy
    # without shared memory there is no barrier: warps, not blocks, wait and work by turns
    turns = rung["threads"] // 32 if rung.get("operands") == "global" else 1
    spent = turns * hide(busy / turns, delay, resident * rung["stages"] * turns)
    steady = steps * (spent + step.get("spills", 0.0))
    tile = hide(steady, epilogue(rung, machine, problem, latency), resident)
    parts = {name: steps * clocks for name, clocks in step.items()}
    return {**parts, "exposed latency": steps * (spent - busy), "epilogue": tile - steady}, tile


@dataclass(frozen=True)
class Rung:
    """One kernel of a staircase: what it does, what it should reach, what it was published with."""

    title: str
    published: float  # FLOP/s
    numbers: Numbers = field(repr=False)
    machine: Numbers = field(repr=False)
    problem: Numbers = field(repr=False)

    def predict(self) -> Terms:
        """Predict the seconds; of a rung that was searched over, those of the fastest variant."""
        variants = [self.numbers, {**self.numbers, **self.numbers.get("or", {})}]
        terms = [predict_rung(it, self.machine, self.problem) for it in variants]
        return min(terms, key=lambda one: one.seconds)

    @property
    def flop_per_s(self) -> float:
        """The FLOP/s that the prediction comes to."""
        return 2 * math.prod(self.problem["size"]) / self.predict().seconds


@dataclass(frozen=True)
class Staircase:
    """A machine's figures, the size (m, n, k) of the GEMM, and the rungs from slow to fast."""

    machine: Numbers
    size: tuple[int, int, int]
    rungs: tuple[Rung, ...]


def staircase(name: str) -> Staircase:
    """Return a published staircase of GEMM kernels, with what is predicted of each.

    Parameters
    ----------
    name : {"a6000", "h100", "b200"}
        S. Boehm's kernels in fp32, P. Shankhdhar's in bf16, or those of JAX's guide in fp16.

    Returns
    -------
    Staircase
        Its rungs in the order of their authors; ``published`` and ``flop_per_s`` are FLOP/s.

    Examples
    --------
    >>> stairs = rl.cuda.staircase("h100")
    >>> len(stairs.rungs), stairs.rungs[0].predict().limit
    (13, 'l2')
    """
    document = tables("labs.cuda", "staircase")
    if name not in document["staircases"]:
        raise unknown("name", name, document["staircases"])
    problem, machine = document["staircases"][name], document["machines"][name]
    rungs = []
    for row in problem["rungs"]:
        speed = row.get("gflops") or document["published"][name][row["title"]]
        numbers = {**problem["common"], **row}
        rungs.append(Rung(row["title"], 1e9 * speed, numbers, machine, problem))
    return Staircase(machine, tuple(problem["size"]), tuple(rungs))
