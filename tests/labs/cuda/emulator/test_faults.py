"""Seeded faults: each is found, of the right kind and at the lines marked ``#!``."""

from __future__ import annotations

import numpy as np

from rooflab.labs.cuda.emulator import KernelFault, launch

HEAD = """
def kernel(x, y, n):
    t, i = cuda.threadIdx.x, cuda.grid(1)
    s = cuda.shared.array(64, float32)
    v = cuda.local.array(4, float32)
"""
#: What is wrong → (kind, body of a kernel of 2 blocks of 64 threads; x and y have n = 100 entries).
FAULTS = {
    "no guard at the edge": ("out of bounds", "y[i] = x[0] #!"),
    "index from the end": ("out of bounds", "y[0] = x[t - 1] #!"),
    "tile too small": ("out of bounds", "s[t + 1] = 0.0 #!"),
    "register too many": ("out of bounds", "for k in range(5):\n        v[k] = 0.0 #!"),
    "no barrier, other warp": ("race", "s[t] = 1.0 #!\n    y[t] = s[63 - t] #!"),
    "no barrier within a warp": ("race", "s[t] = 1.0 #!\n    s[t] = s[t ^ 1] #!"),
    "syncwarp for two warps": ("race", "s[t] = 1.0 #!\n    cuda.syncwarp()\n    v[0] = s[63 - t] #!"),
    "read, then overwritten": (
        "race",
        "s[t] = 1.0\n    cuda.syncthreads()\n    v[0] = s[(t + 1) % 64] #!\n    s[t] = 2.0 #!",
    ),
    "no second barrier in a loop": (
        "race",
        "for k in range(3):\n        s[t] = k #!\n        cuda.syncthreads()\n"
        "        v[0] = s[63 - t] #!",
    ),
    "two values, one cell": ("race", "s[t // 2] = t #!"),
    "blocks share a cell": ("race", "y[t % 50] = i #!"),
    "neighbour of another block": (
        "race",
        "if i < n - 1:\n        x[i] = x[i + 1] #!",
    ),
    "a barrier does not order blocks": (
        "race",
        "if i < n:\n        y[i] = 1.0 #!\n    cuda.syncthreads()\n    x[t] = y[99 - t] #!",
    ),
    "sum without atomics": ("race", "y[0] += x[t] #!"),
    "atomics and a plain read": ("race", "cuda.atomic.add(y, 0, 1.0) #!\n    v[0] = y[0] #!"),
    "buffers too few": (
        "race",
        "s[t % 32] = t #!\n    s[t % 32 + 32] = t",
    ),
    "array used again": (
        "race",
        "s[t] = x[t]\n    cuda.syncthreads()\n    a = s[t ^ 32] #!\n    if t < 8:\n"
        "        s[t] = a #!",
    ),
    "a thread that returned wrote": (
        "race",
        "if t == 40:\n        s[0] = 5.0 #!\n        return\n    s[t] = 1.0 #!",
    ),
    "one block's flag": (
        "race",
        "if cuda.blockIdx.x == 0:\n        y[0] = 1.0 #!\n    else:\n        v[0] = y[0] #!",
    ),
    "barrier in a branch": ("divergent barrier", "if t < 40:\n        cuda.syncthreads() #!"),
    "barrier in both branches": (
        "divergent barrier",
        "if t < 40:\n        cuda.syncthreads() #!\n    else:\n        cuda.syncthreads()",
    ),
    "barrier missed by one warp": (
        "divergent barrier",
        "for k in range(t // 32, 3):\n        cuda.syncthreads() #!",
    ),
    "barrier after break": (
        "divergent barrier",
        "while True:\n        if t == 3:\n            break\n        cuda.syncthreads() #!",
    ),
    "syncwarp in a branch": ("divergent barrier", "if t % 2:\n        cuda.syncwarp() #!"),
    "tile not filled": ("uninitialised", "if t < 60:\n        s[t] = 1.0\n    cuda.syncthreads()\n"
                        "    v[0] = s[t] #!"),
    "a returned thread wrote nothing": (
        "uninitialised",
        "if i >= n:\n        return\n    s[t] = x[i]\n    cuda.syncthreads()\n    v[0] = s[63 - t] #!",
    ),
    "register without a value": ("uninitialised", "v[0] = 0.0\n    v[1] += 1.0 #!"),
    "only some have assigned": (
        "uninitialised",
        "if t > 3:\n        a = 1.0\n    s[t] = a #!",
    ),
    "last turn's variable": (
        "uninitialised",
        "for k in range(2):\n        if k:\n            s[t] = a #!\n        if t != 7:\n"
        "            a = 1.0",
    ),
    "shuffle in a branch": ("divergent barrier", "if t % 32 < 16:\n"
                            "        a = cuda.shfl_down_sync(0xffffffff, 1.0, 16) #!"),
    "shuffle from outside": ("shuffle", "if t % 32 < 16:\n"
                             "        a = cuda.shfl_down_sync(0xffff, 1.0, 8) #!"),
    "mask without the caller": ("shuffle", "a = cuda.shfl_xor_sync(0xffff, t, 1) #!"),
    "shuffle from a thread that returned": (
        "shuffle", "if t > 40:\n        return\n    a = cuda.shfl_xor_sync(0xffffffff, t, 16) #!"),
    "not aligned": ("misaligned", "a = cuda.load4(x, 4 * (t % 8) + 2) #!"),
    "off the end by four": ("out of bounds", "a = cuda.load4(x, 4 * (t % 26)) #!"),
    "no end": ("infinite loop", "a = 0\n    while t < 3: #!\n        a += 1"),
    "divided by nothing": ("division by zero", "a = 7 // t #!"),
}  # fmt: skip


def marked(text: str) -> tuple[int, ...]:
    return tuple(i for i, line in enumerate(text.splitlines(), 1) if "#!" in line)


def test_each_fault_is_found_where_it_is() -> None:
    wrong = {}
    for name, (kind, body) in FAULTS.items():
        text = f"{HEAD}    {body}\n"
        x, y = np.ones(100, np.float32), np.zeros(100, np.float32)
        try:
            launch(text, 2, 64, x, y, 100, max_steps=20_000)
            wrong[name] = "nothing"
        except KernelFault as error:
            fault = error.fault
            if (fault.kind, tuple(sorted(fault.lines))) != (kind, marked(text)):
                wrong[name] = f"{fault.lines} {fault}"
    assert wrong == {}
