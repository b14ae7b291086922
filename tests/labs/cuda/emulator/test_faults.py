"""Seeded faults: each is found, of the right kind and at the lines marked ``#!``."""

from __future__ import annotations

import textwrap

import numpy as np
import pytest

from rooflab.labs.cuda.emulator import KernelFault, launch

HEAD = """
def kernel(x, y, n):
    t, i = cuda.threadIdx.x, cuda.grid(1)
    s = cuda.shared.array(64, float32)
    v = cuda.local.array(4, float32)
"""
#: Bodies of kernels of 2 blocks of 64 threads, where x and y have n = 100 entries.
FAULTS = """
## out of bounds: no guard at the edge
y[i] = x[0] #!
## out of bounds: index from the end
y[0] = x[t - 1] #!
## out of bounds: tile too small
s[t + 1] = 0.0 #!
## race: no barrier, other warp
s[t] = 1.0 #!
y[t] = s[63 - t] #!
## race: no barrier within a warp
s[t] = 1.0 #!
s[t] = s[t ^ 1] #!
## race: syncwarp for two warps
s[t] = 1.0 #!
cuda.syncwarp(); v[0] = s[63 - t] #!
## race: read, then overwritten
s[t] = 1.0; cuda.syncthreads(); v[0] = s[(t + 1) % 64] #!
s[t] = 2.0 #!
## race: no second barrier in a loop
for k in range(3):
    s[t] = k #!
    cuda.syncthreads(); v[0] = s[63 - t] #!
## race: two values, one cell
s[t // 2] = t #!
## race: blocks share a cell
y[t % 50] = i #!
## race: neighbour of another block
if i < n - 1: x[i] = x[i + 1] #!
## race: a barrier does not order blocks
if i < n: y[i] = 1.0 #!
cuda.syncthreads(); x[t] = y[99 - t] #!
## race: sum without atomics
y[0] += x[t] #!
## race: atomics and a plain read
cuda.atomic.add(y, 0, 1.0) #!
v[0] = y[0] #!
## race: array used again
s[t] = x[t]; cuda.syncthreads(); a = s[t ^ 32] #!
if t < 8: s[t] = a #!
## race: a thread that returned wrote
if t == 40:
    s[0] = 5.0 #!
    return
s[t] = 1.0 #!
## race: one block's flag
if cuda.blockIdx.x == 0: y[0] = 1.0 #!
else: v[0] = y[0] #!
## divergent barrier: barrier in a branch
if t < 40: cuda.syncthreads() #!
## divergent barrier: barrier in both branches
if t < 40: cuda.syncthreads() #!
else: cuda.syncthreads()
## divergent barrier: barrier after break
while True:
    if t == 3: break
    cuda.syncthreads() #!
## divergent barrier: syncwarp in a branch
if t % 2: cuda.syncwarp() #!
## uninitialised: tile not filled
if t < 60: s[t] = 1.0
cuda.syncthreads(); v[0] = s[t] #!
## uninitialised: a returned thread wrote nothing
if i >= n: return
s[t] = x[i]; cuda.syncthreads(); v[0] = s[63 - t] #!
## uninitialised: register without a value
v[0] = 0.0; v[1] += 1.0 #!
## uninitialised: only some have assigned
if t > 3: a = 1.0
s[t] = a #!
## uninitialised: last turn's variable
for k in range(2):
    if k: s[t] = a #!
    if t != 7: a = 1.0
## divergent barrier: shuffle in a branch
if t % 32 < 16: a = cuda.shfl_down_sync(0xffffffff, 1.0, 16) #!
## shuffle: shuffle from outside
if t % 32 < 16: a = cuda.shfl_down_sync(0xffff, 1.0, 8) #!
## shuffle: mask without the caller
a = cuda.shfl_xor_sync(0xffff, t, 1) #!
## shuffle: shuffle from a thread that returned
if t > 40: return
a = cuda.shfl_xor_sync(0xffffffff, t, 16) #!
## misaligned: not aligned
a = cuda.load4(x, 4 * (t % 8) + 2) #!
## out of bounds: off the end by four
a = cuda.load4(x, 4 * (t % 26)) #!
## infinite loop: no end
a = 0
while t < 3: #!
    a += 1
## infinite loop: work of atomics
while True: cuda.atomic.add(y, 0, 1.0) #!
## infinite loop: work of a local array
for k in range(4): v[k] = 1.0
while True: v[(t + 1) % 4] = v[t % 4] #!
## undefined: shift by less than nothing
a = 1 << (t - 1) #!
## undefined: power beyond 64 bits
a = 9 ** 9 ** 9 #!
## division by zero: divided by nothing
a = 7 // t #!
## divergent barrier: last warp misses the last barrier
for k in range(3):
    if k < 2 or t < 32: cuda.syncthreads() #!
## race: second buffer, no barrier
b = cuda.shared.array((2, 64), float32); b[0, t] = 1.0; cuda.syncthreads()
for k in range(2): b[1 - k, t] = b[k, 63 - t] #!
"""


def test_each_fault_is_found_where_it_is() -> None:
    wrong, cases = {}, FAULTS.split("\n## ")[1:]
    for case in cases:
        title, _, body = case.partition("\n")
        text = HEAD + textwrap.indent(body, "    ")
        marked = tuple(i for i, line in enumerate(text.splitlines(), 1) if "#!" in line)
        x, y = np.ones(100, np.float32), np.zeros(100, np.float32)
        try:
            launch(text, 2, 64, x, y, 100, max_steps=20_000)
            wrong[title] = "nothing"
        except KernelFault as error:
            fault = error.fault
            if not title.startswith(f"{fault.kind}: ") or tuple(sorted(fault.lines)) != marked:
                wrong[title] = f"{fault.lines} {fault}"
    assert wrong == {} and len(cases) > 30


def test_a_launch_ends_whatever_its_functions_call() -> None:
    calls = [f"def f{i}(x): return {' + '.join([f'f{i - 1}(x)'] * 8)}\n" for i in range(1, 14)]
    text = f"def f0(x): return x\n{''.join(calls)}def kernel(x): x[0] = f13(1.0)"
    with pytest.raises(KernelFault, match="gave up at line .* 2,000 steps"):
        launch(text, 1, 1, np.zeros(1, np.float32), max_steps=2000)


def test_a_fault_names_both_threads() -> None:
    text = "def kernel(x):\n    i = cuda.grid(1)\n    x[i // 2] = i"
    message = r"thread \(1, 0, 0\) of block \(0, 0, 0\) writes x\[0\]"
    with pytest.raises(KernelFault, match=message) as caught:
        launch(text, 2, 8, np.zeros(20, np.float32))
    fault = caught.value.fault
    assert (fault.kind, fault.lines) == ("race", (3,))
    assert [each.thread for each in fault.threads] == [(1, 0, 0), (0, 0, 0)]
