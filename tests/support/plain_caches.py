"""Caches in plain Python, to compare the compiled ones with: an ordered dictionary for each set."""

from __future__ import annotations

from collections import Counter, OrderedDict
from collections.abc import Iterator

from rooflab.labs.cache import AccessStream, Hierarchy, Reference

Line = OrderedDict[int, dict[str, bool]]


class PlainCaches:
    """The levels of ``hierarchy``. ``counts`` is keyed by operand, level and kind."""

    def __init__(self, hierarchy: Hierarchy) -> None:
        self.hierarchy, self.caches = hierarchy, hierarchy.caches
        self.sets: list[list[Line]] = [[Line() for _ in range(c.sets)] for c in self.caches]
        self.counts: Counter[tuple[str, int, str]] = Counter()
        self.owner: dict[int, str] = {}

    def fills(self, level: int) -> bool:
        """Whether a level fetches lines itself: not a last one that holds victims alone."""
        return not self.hierarchy.exclusive or level + 1 < len(self.caches)

    def find(self, level: int, line: int) -> Line:
        """The set of a level that a line belongs to."""
        return self.sets[level][line % self.caches[level].sets]

    def access(self, operand: str, address: int, width: int, write: bool) -> None:
        """One access of the program, line by line."""
        size = self.hierarchy.line
        for line in range(address // size, (address + width - 1) // size + 1):
            part = min(address + width, (line + 1) * size) - max(address, line * size)
            missed = self.ask(operand, 0, line, part, write)
            for level in sorted(missed, reverse=True):
                prefetch = self.caches[level].prefetch and self.fills(level)
                if prefetch and line + 1 not in self.find(level, line + 1):
                    self.counts[operand, level, "prefetched"] += 1
                    self.fill(operand, level, line + 1)
                    self.find(level, line + 1)[line + 1]["fresh"] = True

    def ask(self, operand: str, level: int, line: int, width: int, write: bool) -> list[int]:
        """A load or a store arrives at a level; return the levels that fetched the line."""
        if level == len(self.caches):
            return []
        if not self.has(operand, level, line):
            if write and not (self.caches[level].write_allocate and self.fills(level)):
                self.counts[operand, level, "through"] += width
                return self.ask(operand, level + 1, line, width, write)
            missed = self.fill(operand, level, line)
        else:
            missed = []
        self.find(level, line)[line]["dirty"] |= write
        return missed

    def has(self, operand: str, level: int, line: int) -> bool:
        """Look a line up, and make it the newest of its set."""
        self.counts[operand, level, "accesses"] += 1
        group = self.find(level, line)
        if line not in group:
            self.counts[operand, level, "misses"] += 1
            return False
        group.move_to_end(line)
        self.counts[operand, level, "useful"] += group[line].pop("fresh", False)
        return True

    def fill(self, operand: str, level: int, line: int) -> list[int]:
        """Fetch a line from below into a level."""
        missed, dirty = [level], False
        below = level + 1
        if below < len(self.caches):
            there = self.has(operand, below, line)
            if not self.fills(below):
                self.counts[operand, below, "fetched"] += not there
                dirty = self.find(below, line).pop(line)["dirty"] if there else False
            elif not there:
                missed += self.fill(operand, below, line)
        self.owner[line] = operand
        self.counts[operand, level, "fetched"] += 1
        self.place(level, line, dirty)
        return missed

    def place(self, level: int, line: int, dirty: bool) -> None:
        """Put a line into its set; what has to leave for it is written back if it is dirty."""
        group = self.find(level, line)
        left = None
        if len(group) == self.caches[level].lines // self.caches[level].sets:
            left, marks = group.popitem(last=False)
            lost = marks["dirty"]
            if self.hierarchy.inclusive:
                lost |= self.lose_above(level, left)
            down = lost or (level + 1 < len(self.caches) and not self.fills(level + 1))
            self.counts[self.owner[left], level, "written"] += down
            left = left if down else None
        group[line] = {"dirty": dirty}
        if left is not None and level + 1 < len(self.caches):
            self.leave(level + 1, left, lost)

    def lose_above(self, level: int, line: int) -> bool:
        """Take a line out of the levels above; return whether it was dirty there."""
        dirty = False
        for above in range(level):
            marks = self.find(above, line).pop(line, None)
            if marks is not None:
                dirty |= marks["dirty"]
                self.counts[self.owner[line], above, "written"] += dirty
        return dirty

    def leave(self, level: int, line: int, dirty: bool) -> None:
        """A line arrives from above: a dirty one, or a victim."""
        group = self.find(level, line)
        if line in group:
            group[line]["dirty"] |= dirty
        else:
            self.counts[self.owner[line], level, "stray"] += self.fills(level)
            self.place(level, line, dirty)

    def flush(self) -> None:
        """Write back what is dirty: a line crosses every border below the one it is dirty at."""
        dirty: set[int] = set()
        for level, groups in enumerate(self.sets):
            dirty |= {line for group in groups for line, marks in group.items() if marks["dirty"]}
            for line in dirty:
                self.counts[self.owner[line], level, "written"] += 1


def walked(stream: AccessStream) -> Iterator[tuple[Reference, int]]:
    """Every access of a stream in its order, by loops within loops: reference and address."""
    loops = len(stream.extents)

    def runs(index: tuple[int, ...]) -> bool:
        return all(
            sum(c * i for c, i in zip(guard.coefficients, index)) < guard.limit
            for guard in stream.guards
        )

    def made(index: tuple[int, ...], when: str) -> Iterator[tuple[Reference, int]]:
        for reference in stream.references:
            if reference.depth == len(index) and reference.when == when and runs(index):
                moved = sum(s * i for s, i in zip(reference.strides, index))
                yield reference, reference.offset + moved

    def inside(index: tuple[int, ...]) -> Iterator[tuple[Reference, int]]:
        yield from made(index, "before")
        if len(index) < loops:
            for turn in range(stream.extents[len(index)]):
                yield from inside((*index, turn))
        yield from made(index, "after")

    yield from inside(())
