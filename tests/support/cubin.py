"""What a CUDA binary (an ELF file) says of its kernels: registers and local memory."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import NamedTuple

# Attributes in section .nv.info, each a kernel's symbol and a number (EIATTR_… of the toolkit).
_FRAME, _REGISTERS = 0x11, 0x2F
_SYMBOLS, _NO_BITS = 2, 8


class Resources(NamedTuple):
    """Registers a thread, and bytes a thread in local memory (spills, indexed arrays)."""

    registers: int
    frame: int


class _Section(NamedTuple):
    name: str
    kind: int
    link: int
    data: bytes


def resources(binary: bytes) -> dict[str, Resources]:
    """Kernel name -> what a thread of it takes. Raises ValueError for another kind of file."""
    if binary[:5] != b"\x7fELF\x02":
        raise ValueError("binary= is no 64-bit ELF file")
    sections = list(_sections(binary))
    table = next(s for s in sections if s.kind == _SYMBOLS)
    strings = sections[table.link].data
    found: dict[int, dict[int, int]] = {_FRAME: {}, _REGISTERS: {}}
    for section in sections:
        if section.name == ".nv.info":
            for attribute, symbol, value in _attributes(section.data):
                if attribute in found:
                    found[attribute][symbol] = value
    return {
        _symbol(table.data, strings, symbol): Resources(registers, found[_FRAME].get(symbol, 0))
        for symbol, registers in found[_REGISTERS].items()
    }


def _sections(binary: bytes) -> Iterator[_Section]:
    (start,) = struct.unpack_from("<Q", binary, 0x28)
    size, count, names = struct.unpack_from("<HHH", binary, 0x3A)
    heads = [struct.unpack_from("<IIQQQQIIQQ", binary, start + i * size) for i in range(count)]
    texts = heads[names][4]
    for name, kind, _, _, offset, length, link, *_ in heads:
        data = b"" if kind == _NO_BITS else binary[offset : offset + length]
        yield _Section(_text(binary, texts + name), kind, link, data)


def _attributes(data: bytes) -> Iterator[tuple[int, int, int]]:
    """(attribute, symbol, value) of the records that hold two 32-bit numbers."""
    at = 0
    while at < len(data):
        form, attribute, size = struct.unpack_from("<BBH", data, at)
        at += 4
        if form == 4:  # the size is that of the record behind it; else it is the value itself
            if size == 8:
                yield (attribute, *struct.unpack_from("<II", data, at))
            at += size


def _symbol(table: bytes, strings: bytes, number: int) -> str:
    return _text(strings, struct.unpack_from("<I", table, 24 * number)[0])


def _text(data: bytes, at: int) -> str:
    return data[at : data.index(b"\0", at)].decode()
