"""The loops that touch the roofs: pure multiply-adds, streams that only load and store, and chases.

They are written in LLVM IR and compiled by llvmlite (installed with numba, no C compiler needed)
rather than as numba functions, because a roof must not depend on what an optimiser makes of a loop.
Each kernel says exactly which loads, stores and multiply-adds run, at the host's vector width, and
compiles in milliseconds. Calls go through ctypes and release the GIL: threads really run at once.

A chase touches no roof. It follows pointers from cache line to cache line, so that each load has
to wait for the one before it: what it shows is latency.

Every kernel first waits at a gate, a counter in memory that each thread lowers by one: the work
starts when the last thread has come. Data must be aligned to the vector; lengths are in bytes and
multiples of a block. On arrays of ones every value stays between 1 and 2: no denormal, infinity
or NaN ever slows a loop down.
"""

from __future__ import annotations

import ctypes
import functools
import platform
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from llvmlite.binding import TargetMachine

ARM = ("aarch64", "arm64")
X86 = ("x86_64", "amd64", "x86-64")


@dataclass(frozen=True)
class Target:
    """What the kernels need to know of a processor.

    `vector_bytes`: width of a vector register. `chains`: independent multiply-adds that keep its
    arithmetic busy, at least latency x units, and no more than fit in its registers. `fused`:
    multiply and add are one instruction. `features`: LLVM's "+avx2,+fma,...".
    """

    vector_bytes: int
    chains: int
    fused: bool
    cpu: str = ""
    features: str = ""


def target_of(arch: str, features: Mapping[str, bool]) -> Target:
    """The widest vectors of `arch` with these `features`.

    x86: AVX-512 64 B, AVX 32 B, else 16 B; 2 units, latency 4 to 5, 16 registers before AVX-512.
    arm64: NEON, 16 B; up to 4 units, latency 4, 32 registers (a wider SVE is left unused: cores
    that have it issue NEON at the same rate, the A64FX excepted). Anything else: 16 B, multiply
    and add apart.
    """
    arch = arch.lower()
    flags = ",".join(("+" if on else "-") + name for name, on in features.items())
    if arch in X86:
        width = 64 if features.get("avx512f") else 32 if features.get("avx") else 16
        fused = bool(features.get("fma") or features.get("avx512f"))
        return Target(width, 12, fused, features=flags)
    if arch in ARM:
        return Target(16, 20, True, features=flags)
    return Target(16, 8, False, features=flags)


@functools.cache
def host() -> Target:
    """The processor this runs on, as LLVM sees it."""
    import llvmlite.binding as llvm

    try:
        features = dict(llvm.get_host_cpu_features())
    except RuntimeError:  # LLVM cannot tell on this platform: the architecture's baseline
        features = {}
    return replace(target_of(platform.machine(), features), cpu=llvm.get_host_cpu_name())


def target_machine(target: Target) -> TargetMachine:
    """LLVM's code generator for `target` (a new one: MCJIT takes what it is given)."""
    import llvmlite.binding as llvm

    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    return llvm.Target.from_triple(llvm.get_process_triple()).create_target_machine(
        cpu=target.cpu, features=target.features, opt=3, jit=True
    )


def compile_kernel(ir: str, argtypes: tuple[type, ...]) -> Callable[..., object]:
    """The function `kernel` of `ir`, callable; its code lives as long as the callable.

    Only LLVM's code generator runs, none of its optimising passes: what `ir` says is what the
    processor does, no loop is vectorised, unrolled, hoisted or deleted behind our back.
    """
    import llvmlite.binding as llvm

    generator = target_machine(host())
    module = llvm.parse_assembly(ir)
    module.verify()
    engine = llvm.create_mcjit_compiler(module, generator)
    engine.finalize_object()
    function = ctypes.CFUNCTYPE(None, *argtypes)(engine.get_function_address("kernel"))
    # The code is freed with its engine. ctypes lets its functions carry attributes.
    function.engine = engine  # type: ignore[attr-defined]  # typeshed knows no attributes of them
    return function


MIXES = {"read": (1, 0), "axpy": (2, 1), "copy": (1, 1), "update": (1, 1)}
"""mix -> (loads, stores) per element: axpy y = a*x + y in place, copy y = x, update x = a*x in
place (BLAS scal). copy alone writes lines that it has not read."""

UNROLL = 8  # vectors per loop turn: the loop's own instructions stay a small part
CHASE_UNROLL = 16  # hops per loop turn, of all chases together
AHEAD = 4  # blocks from the one that the free-lunch loop works on to the one that it asks for
LINE = 64  # bytes; on processors with longer lines some are asked for twice, which costs nothing
_REAL = {"fp32": ("float", 4, "f32", ctypes.c_float), "fp64": ("double", 8, "f64", ctypes.c_double)}
_POINTER, _LONG = ctypes.c_void_p, ctypes.c_int64


def stream_block(target: Target) -> int:
    """Bytes of one turn of a stream's loop: lengths are multiples of it."""
    return UNROLL * target.vector_bytes


def lunch_block(target: Target) -> int:
    """Bytes that the free-lunch loop keeps in registers: lengths are multiples of it."""
    return target.chains * target.vector_bytes


def _vector(dtype: str, target: Target) -> tuple[str, str, str]:
    """(scalar type, vector type, the intrinsic's suffix), such as float, <16 x float>, v16f32."""
    scalar, size, short, _ = _REAL[dtype]
    lanes = target.vector_bytes // size
    return scalar, f"<{lanes} x {scalar}>", f"v{lanes}{short}"


def _gate(arguments: str, target: Target) -> list[str]:
    """The function's opening, and the gate at which every thread waits for the last one."""
    width = 8 * target.vector_bytes  # stated, or LLVM may split 64-byte vectors in two
    return [
        f'define void @kernel(ptr %gate, {arguments}) "min-legal-vector-width"="{width}" {{',
        "arrive:",
        "  %before = atomicrmw sub ptr %gate, i64 1 seq_cst",
        "  br label %wait",
        "wait:",
        "  %missing = load atomic i64, ptr %gate acquire, align 8",
        "  %closed = icmp sgt i64 %missing, 0",
        "  br i1 %closed, label %wait, label %start",
        "start:",
    ]


def _head(dtype: str, target: Target, arguments: str) -> list[str]:
    """The opening and the gate, and the scalars %a and %b spread over vectors."""
    scalar, vector, short = _vector(dtype, target)
    lines = [
        f"declare {vector} @llvm.fma.{short}({vector}, {vector}, {vector})",
        *_gate(f"{arguments}, {scalar} %a, {scalar} %b", target),
    ]
    for name in "ab":
        lines += [
            f"  %{name}1 = insertelement {vector} undef, {scalar} %{name}, i32 0",
            f"  %{name}s = shufflevector {vector} %{name}1, {vector} undef, "
            f"<{target.vector_bytes // _REAL[dtype][1]} x i32> zeroinitializer",
        ]
    return lines


def _multiply_add(out: str, x: str, factor: str, y: str, dtype: str, target: Target) -> list[str]:
    """out = x * factor + y, fused where the processor can, else two instructions."""
    _, vector, short = _vector(dtype, target)
    if target.fused:
        call = f"@llvm.fma.{short}({vector} {x}, {vector} {factor}, {vector} {y})"
        return [f"  {out} = call {vector} {call}"]
    return [f"  {out}m = fmul {vector} {x}, {factor}", f"  {out} = fadd {vector} {out}m, {y}"]


def _loop_end(counter: str, step: str, limit: str, again: str, after: str) -> list[str]:
    return [
        f"  %{counter}next = add i64 %{counter}, {step}",
        f"  %{counter}more = icmp ult i64 %{counter}next, {limit}",
        f"  br i1 %{counter}more, label %{again}, label %{after}",
    ]


def fma_ir(dtype: str, target: Target) -> str:
    """kernel(gate, out, turns, a, b): `chains` vectors x = a*x + b, `turns` times; no loads."""
    scalar, vector, _ = _vector(dtype, target)
    count = target.chains
    lines = _head(dtype, target, "ptr %out, i64 %turns")
    for u in range(count):  # different starting values, or the chains would be one and the same
        lines.append(f"  %s{u} = insertelement {vector} %as, {scalar} {float(u)}, i32 0")
    lines += ["  br label %loop", "loop:", "  %i = phi i64 [0, %start], [%inext, %loop]"]
    lines += [f"  %x{u} = phi {vector} [%s{u}, %start], [%y{u}, %loop]" for u in range(count)]
    for u in range(count):
        lines += _multiply_add(f"%y{u}", f"%x{u}", "%as", "%bs", dtype, target)
    lines += [*_loop_end("i", "1", "%turns", "loop", "done"), "done:"]
    for u in range(count):  # stored, or nobody would need them
        lines.append(f"  %p{u} = getelementptr i8, ptr %out, i64 {u * target.vector_bytes}")
        lines.append(f"  store {vector} %y{u}, ptr %p{u}, align {target.vector_bytes}")
    return "\n".join([*lines, "  ret void", "}"])


def stream_ir(mix: str, target: Target) -> str:
    """kernel(gate, x, y, bytes, passes, a, b): `passes` times over `bytes` of x (and of y), fp64.

    Loads are volatile and every pass ends in a memory barrier: none can be dropped or merged.
    """
    _, vector, _ = _vector("fp64", target)
    align = target.vector_bytes
    lines = _head("fp64", target, "ptr %x, ptr %y, i64 %bytes, i64 %passes")
    lines += ["  br label %pass", "pass:", "  %r = phi i64 [0, %start], [%rnext, %passed]"]
    lines += ["  br label %block", "block:", "  %i = phi i64 [0, %pass], [%inext, %block]"]
    for u in range(UNROLL):
        lines += [
            f"  %o{u} = add i64 %i, {u * align}",
            f"  %x{u} = getelementptr i8, ptr %x, i64 %o{u}",
            f"  %y{u} = getelementptr i8, ptr %y, i64 %o{u}",
            f"  %l{u} = load volatile {vector}, ptr %x{u}, align {align}",
        ]
        value, where = "", ""
        if mix == "copy":
            value, where = f"%l{u}", f"%y{u}"
        elif mix == "update":
            value, where = f"%f{u}", f"%x{u}"
            lines.append(f"  {value} = fmul {vector} %l{u}, %as")
        elif mix == "axpy":
            value, where = f"%f{u}", f"%y{u}"
            lines.append(f"  %m{u} = load volatile {vector}, ptr {where}, align {align}")
            lines += _multiply_add(value, f"%l{u}", "%as", f"%m{u}", "fp64", target)
        if value:
            lines.append(f"  store {vector} {value}, ptr {where}, align {align}")
    lines += [
        *_loop_end("i", str(UNROLL * align), "%bytes", "block", "passed"),
        "passed:",
        '  call void asm sideeffect "", "~{memory}"()',
        *_loop_end("r", "1", "%passes", "pass", "done"),
    ]
    return "\n".join([*lines, "done:", "  ret void", "}"])


def lunch_ir(dtype: str, target: Target) -> str:
    """kernel(gate, x, bytes, k, a, b): every element becomes a*x + b, k times over, in place.

    A block of `chains` vectors is loaded, worked on in registers k times, stored: 2k FLOP for one
    read and one write an element, whatever k >= 1. Each block first asks for the lines of a later
    one (a hint, which may point behind the array). Without that, a processor looks ahead by some
    hundred instructions only, and beyond k = 9 or so it would carry and compute in turns.
    """
    _, vector, _ = _vector(dtype, target)
    count, align = target.chains, target.vector_bytes
    lines = ["declare void @llvm.prefetch.p0(ptr, i32, i32, i32)"]
    lines += _head(dtype, target, "ptr %x, i64 %bytes, i64 %k")
    lines += ["  br label %block", "block:", "  %i = phi i64 [0, %start], [%inext, %store]"]
    for at in range(0, count * align, LINE):  # 1: to be written, 3: into all caches, 1: data
        lines += [
            f"  %q{at} = add i64 %i, {AHEAD * count * align + at}",
            f"  %h{at} = getelementptr i8, ptr %x, i64 %q{at}",
            f"  call void @llvm.prefetch.p0(ptr %h{at}, i32 1, i32 3, i32 1)",
        ]
    for u in range(count):
        lines += [
            f"  %o{u} = add i64 %i, {u * align}",
            f"  %p{u} = getelementptr i8, ptr %x, i64 %o{u}",
            f"  %l{u} = load {vector}, ptr %p{u}, align {align}",
        ]
    lines += ["  br label %work", "work:", "  %j = phi i64 [0, %block], [%jnext, %work]"]
    lines += [f"  %v{u} = phi {vector} [%l{u}, %block], [%w{u}, %work]" for u in range(count)]
    for u in range(count):
        lines += _multiply_add(f"%w{u}", f"%v{u}", "%as", "%bs", dtype, target)
    lines += [*_loop_end("j", "1", "%k", "work", "store"), "store:"]
    lines += [f"  store {vector} %w{u}, ptr %p{u}, align {align}" for u in range(count)]
    lines += _loop_end("i", str(count * align), "%bytes", "block", "done")
    return "\n".join([*lines, "done:", "  ret void", "}"])


def chase_ir(chains: int, target: Target) -> str:
    """kernel(gate, at, turns): `chains` chases side by side, `chase_hops(chains)` hops a turn each.

    `at` holds the line that each chase stands on, before and after: the next call goes on from
    there. A hop loads the address of the next line from the one that it is on. The hops of one
    chase wait for each other, those of different chases do not.
    """
    lines = _gate("ptr %at, i64 %turns", target)
    for c in range(chains):
        lines.append(f"  %at{c} = getelementptr ptr, ptr %at, i64 {c}")
        lines.append(f"  %from{c} = load ptr, ptr %at{c}, align 8")
    lines += ["  br label %loop", "loop:", "  %i = phi i64 [0, %start], [%inext, %loop]"]
    last = chase_hops(chains)
    lines += [f"  %h{c}x0 = phi ptr [%from{c}, %start], [%h{c}x{last}, %loop]"
              for c in range(chains)]  # fmt: skip
    for hop in range(last):
        for c in range(chains):
            lines.append(f"  %h{c}x{hop + 1} = load volatile ptr, ptr %h{c}x{hop}, align 8")
    lines += [*_loop_end("i", "1", "%turns", "loop", "done"), "done:"]
    lines += [f"  store ptr %h{c}x{last}, ptr %at{c}, align 8" for c in range(chains)]
    return "\n".join([*lines, "  ret void", "}"])


def chase_hops(chains: int) -> int:
    """Hops that each of `chains` chases makes in one turn of their loop."""
    return max(1, CHASE_UNROLL // chains)


@functools.cache
def fma_kernel(dtype: str) -> tuple[Callable[..., object], int]:
    """(kernel(gate, out, turns, a, b), FLOP per turn) for this processor."""
    scalar, size = _REAL[dtype][3], _REAL[dtype][1]
    kernel = compile_kernel(fma_ir(dtype, host()), (_POINTER, _POINTER, _LONG, scalar, scalar))
    return kernel, 2 * lunch_block(host()) // size


@functools.cache
def stream_kernel(mix: str) -> Callable[..., object]:
    """kernel(gate, x, y, bytes, passes, a, b) on fp64 vectors for this processor."""
    scalar = _REAL["fp64"][3]
    arguments = (_POINTER, _POINTER, _POINTER, _LONG, _LONG, scalar, scalar)
    return compile_kernel(stream_ir(mix, host()), arguments)


@functools.cache
def lunch_kernel(dtype: str) -> Callable[..., object]:
    """kernel(gate, x, bytes, k, a, b) for this processor: one compile, k chosen at run time."""
    scalar = _REAL[dtype][3]
    arguments = (_POINTER, _POINTER, _LONG, _LONG, scalar, scalar)
    return compile_kernel(lunch_ir(dtype, host()), arguments)


@functools.cache
def chase_kernel(chains: int) -> Callable[..., object]:
    """kernel(gate, at, turns) for this processor; `at` points to `chains` addresses."""
    return compile_kernel(chase_ir(chains, host()), (_POINTER, _POINTER, _LONG))
