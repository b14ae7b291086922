"""``Nest``: a loop nest as text, its transformations, and what can be asked of the result.

Each transformation returns a new nest. None of them asks whether it is legal: ``check`` does.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from rooflab.count.validation import flag, shape, size, unknown
from rooflab.labs.loops.language import tree as trees
from rooflab.labs.loops.language.expression import variable
from rooflab.labs.loops.language.statement import Statement, accesses, nameable, statements
from rooflab.labs.loops.language.tree import Leaf, Loop, Tree
from rooflab.optional import installed

if TYPE_CHECKING:
    from numpy import ndarray

    from rooflab.count.operation import Operation
    from rooflab.labs.cache.stream import AccessStream
    from rooflab.labs.loops.legality.points import Arrow, Instance
    from rooflab.labs.loops.legality.verdict import Verdict
    from rooflab.measure.measurement import Measurement

ORDERS = ("body", "nests")
Step = tuple[str, tuple[Any, ...]]


class Nest:
    """A loop nest over boxes of whole numbers, with the schedule in which it runs.

    Parameters
    ----------
    extents : mapping of str to int or (int, int)
        The loops, outermost first: how often each runs, or its first value and the one after its
        last.
    text : str
        Assignments separated by ";": ``"C[i,j] += A[i,k]*B[k,j]"``. Subscripts are sums of loops
        times whole numbers. On the right stand array elements, numbers, + - * / and sqrt, sin,
        exp, max, min. Statements are called S, T, U and so on.
    order : {"body", "nests"}
        "body": the statements run one after the other inside all loops. "nests": each has a nest
        of its own, of the loops that it mentions, and the nests run one after the other.
    shapes : mapping of str to tuple of int, optional
        Shapes of arrays. By default an array just holds every element that is accessed.

    Raises
    ------
    ValueError
        For text that is not understood, with its place. For an access out of an array's bounds,
        with the iteration and the subscript.

    Examples
    --------
    >>> gemm = rl.loops.Nest({"i": 64, "j": 64, "k": 64}, "C[i,j] += A[i,k]*B[k,j]")
    >>> tiled = gemm.tile({"i": 8, "j": 8, "k": 8})
    >>> tiled.loops
    ('io', 'jo', 'ko', 'ii', 'ji', 'ki')
    >>> tiled.check().ok
    True
    >>> stencil = rl.loops.Nest({"i": (1, 9), "j": 8}, "A[i,j] = A[i-1,j+1]*0.5")
    >>> verdict = stencil.interchange("i", "j").check()
    >>> verdict.first, verdict.second
    (('S', (1, 1)), ('S', (2, 0)))
    """

    extents: Mapping[str, tuple[int, int]]
    statements: tuple[Statement, ...]
    order: str
    shapes: Mapping[str, tuple[int, ...]]
    tree: Tree
    original: Tree
    packed: tuple[str, ...]
    log: tuple[Step, ...]

    def __init__(
        self,
        extents: Mapping[str, int | tuple[int, int]],
        text: str,
        *,
        order: str = "body",
        shapes: Mapping[str, Sequence[int]] | None = None,
    ) -> None:
        loops = _extents(extents)
        if order not in ORDERS:
            raise unknown("order", order, ORDERS)
        own = vars(self)
        own.update(extents=loops, statements=statements(text, tuple(loops)), order=order)
        own.update(shapes=_shapes(self, shapes), original=_original(self), packed=(), log=())
        own.update(tree=self.original)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"a nest does not change: {name} is set by its transformations")

    def _with(self, **values: Any) -> Nest:
        made = copy.copy(self)
        vars(made).update(values)
        return made

    def _new(self, tree: Tree, name: str, *arguments: Any) -> Nest:
        return self._with(tree=tree, log=(*self.log, (name, arguments)))

    def untouched(self) -> Nest:
        """The nest in its original order, as if nothing had been done to it."""
        return self._with(tree=self.original, packed=(), log=())

    # What is in a nest.

    @property
    def loops(self) -> tuple[str, ...]:
        """Names of the loops of the schedule, in the order of its text."""
        return tuple(loop.name for loop, _ in trees.loops(self.tree))

    @property
    def arrays(self) -> tuple[str, ...]:
        """Names of the arrays, those that are read first."""
        return tuple(self.shapes)

    @property
    def written(self) -> tuple[str, ...]:
        """Names of the arrays that are written."""
        return tuple(dict.fromkeys(one.target.array for one in self.statements))

    def dims(self, statement: str) -> tuple[str, ...]:
        """The loops that stood around a statement at first: its iterations are named by them."""
        return next(
            tuple(loop.name for loop in around)
            for leaf, around, _ in trees.leaves(self.original)
            if leaf.statement == statement
        )

    def loop(self, name: str) -> tuple[Loop, tuple[Loop, ...]]:
        """The loop of this name and the loops around it; "S.i" is the loop i around statement S.

        Raises ValueError for a name that no loop has, or more than one.
        """
        wanted, _, plain = str(name).rpartition(".")
        known = {leaf.statement for leaf, _, _ in trees.leaves(self.tree)}
        if wanted and wanted not in known:
            raise unknown("statement", wanted, sorted(known))
        found = [
            (loop, around)
            for loop, around in trees.loops(self.tree)
            if loop.name == plain and (not wanted or wanted in trees.inside(loop))
        ]
        if not found:
            raise unknown("loop", name, dict.fromkeys(self.loops))
        if len(found) > 1:
            which = " or ".join(f"{min(trees.inside(loop))}.{plain}" for loop, _ in found)
            raise ValueError(f"loop={name!r} is the name of {len(found)} loops; say {which}")
        return found[0]

    def __repr__(self) -> str:
        head = "; ".join(one.text for one in self.statements)
        steps = "".join(f"\n.{name}({', '.join(map(repr, a))})" for name, a in self.log)
        return f"{head}{steps}\n{outline(self.tree)}"

    # Transformations.

    def split(self, loop: str, factor: int) -> Nest:
        """``i`` becomes ``io`` over chunks and ``ii`` in a chunk; a shorter last one is fine.

        Examples
        --------
        >>> rl.loops.Nest({"i": 8}, "B[i] = A[i]").split("i", 4).loops
        ('io', 'ii')
        """
        found, around = self.loop(loop)
        chunk = size("factor", factor)
        if chunk > found.extent:
            raise ValueError(f"factor={chunk} is more than loop {loop!r} runs: {found.extent}")
        outer, inner = f"{found.name}o", f"{found.name}i"
        self._free(found, around, outer, inner)
        made = trees.split(self.tree, found, chunk, outer, inner)
        return self._new(made, "split", loop, chunk)

    strip_mine = split  # the name that vectorising knows it by

    def tile(self, factors: Mapping[str, int]) -> Nest:
        """Split several loops, and move all loops over tiles outside of those in a tile.

        Examples
        --------
        >>> rl.loops.Nest({"i": 8, "j": 4}, "B[i,j] = A[i,j]").tile({"i": 4, "j": 2}).loops
        ('io', 'jo', 'ii', 'ji')
        """
        if not isinstance(factors, Mapping) or not factors:
            raise TypeError(f"factors={factors!r} must map loops to sizes, such as {{'i': 32}}")
        made = self
        for name, factor in factors.items():
            made = made.split(name, factor)
        names = [made.loop(f"{name}{end}")[0].name for end in "oi" for name in factors]
        return made.reorder(*names)

    def interchange(self, first: str, second: str) -> Nest:
        """Swap two loops. Between them may be loops, but no statement and no second loop.

        Examples
        --------
        >>> rl.loops.Nest({"i": 8, "j": 4}, "B[i,j] = A[i,j]").interchange("i", "j").loops
        ('j', 'i')
        """
        names = [loop.name for loop in self._chain((first, second))]
        self._distinct((first, second))
        at = [names.index(self.loop(name)[0].name) for name in (first, second)]
        names[at[0]], names[at[1]] = names[at[1]], names[at[0]]
        return self._reordered(names, "interchange", first, second)

    def reorder(self, *order: str) -> Nest:
        """Put the named loops into this order, in the places that they have among all loops.

        Examples
        --------
        >>> nest = rl.loops.Nest({"i": 8, "j": 4, "k": 2}, "B[i,j] += A[k]")
        >>> nest.reorder("k", "i").loops
        ('k', 'j', 'i')
        """
        self._distinct(order)
        names = [loop.name for loop in self._chain(order)]
        wanted = [self.loop(name)[0].name for name in order]
        turn = iter(wanted)
        names = [next(turn) if name in wanted else name for name in names]
        return self._reordered(names, "reorder", *order)

    def _reordered(self, names: list[str], *step: Any) -> Nest:
        chain = self._chain(step[1:])
        return self._new(trees.reorder(self.tree, chain, names), *step)

    def reverse(self, loop: str) -> Nest:
        """Run a loop from its last value to its first.

        Examples
        --------
        >>> nest = rl.loops.Nest({"i": 3}, "B[i] = A[i]").reverse("i")
        >>> [one.iteration for one in nest.instances()]
        [(2,), (1,), (0,)]
        """
        return self._new(trees.reverse(self.tree, self.loop(loop)[0]), "reverse", loop)

    def skew(self, loop: str, by: str, factor: int = 1) -> Nest:
        """Let ``loop`` count ``factor`` times ``by`` more: j becomes j + factor*i.

        Examples
        --------
        >>> nest = rl.loops.Nest({"i": (1, 9), "j": 8}, "A[i,j] = A[i-1,j+1]*0.5")
        >>> nest.skew("j", by="i").interchange("i", "j").check().ok
        True
        """
        (found, above), (other, _) = self.loop(loop), self.loop(by)
        step = _whole("factor", factor)
        for leaf, around, _ in trees.leaves((found,)):
            if found is other or not any(one is other for one in (*above, *around)):
                raise ValueError(f"by={by!r} must be a loop around {leaf.statement}, as {loop} is")
        return self._new(trees.skew(self.tree, found, other, step), "skew", loop, by, step)

    def shift(self, loop: str, by: int, statement: str | None = None) -> Nest:
        """Run ``statement`` (by default all in the loop) ``by`` turns of the loop later.

        Examples
        --------
        >>> nest = rl.loops.Nest({"i": 8}, "B[i] = A[i]; C[i] = B[i]").shift("i", 1, "T")
        >>> nest.loop("i")[0].extent, nest.check().ok
        (9, True)
        """
        found, _ = self.loop(loop)
        if statement is not None and statement not in trees.inside(found):
            raise unknown("statement", statement, sorted(trees.inside(found)))
        made = trees.shift(self.tree, found, _whole("by", by), statement)
        return self._new(made, "shift", loop, by, statement)

    def coalesce(self, outer: str, inner: str, name: str | None = None) -> Nest:
        """One loop in place of two, where ``inner`` is all that ``outer`` holds, in the same order.

        Examples
        --------
        >>> nest = rl.loops.Nest({"i": 8, "j": 4}, "B[i,j] = A[i,j]").coalesce("i", "j")
        >>> nest.loops, nest.loop("ij")[0].extent
        (('ij',), 32)
        """
        first, around = self.loop(outer)
        second, _ = self.loop(inner)
        if len(first.children) != 1 or first.children[0] is not second:
            raise ValueError(f"inner={inner!r} must be all that loop {outer!r} holds")
        new = first.name + second.name if name is None else name
        if not isinstance(new, str) or not nameable(new):
            raise ValueError(f"name={new!r} must be a name such as 'ij'")
        self._free(second, (*around, first), new)
        return self._new(
            trees.coalesce(self.tree, first, second, new), "coalesce", outer, inner, new
        )

    def fuse(self, first: str, second: str, depth: int | None = None) -> Nest:
        """Run two statements' adjacent loops as one, ``depth`` loops deep (None: all they have).

        Raises ValueError where the loops do not stand side by side, or there are fewer of them.

        Examples
        --------
        >>> two = rl.loops.Nest({"i": 8}, "B[i] = A[i]; C[i] = B[i]", order="nests")
        >>> two.loops, two.fuse("S", "T").loops
        (('i', 'i'), ('i',))
        """
        wanted = None if depth is None else size("depth", depth)
        made, done = self.tree, 0
        while wanted is None or done < wanted:
            pair = self._siblings(made, first, second)
            if isinstance(pair, str):
                if done == 0 or wanted is not None:
                    raise ValueError(f"fuse({first!r}, {second!r}): {pair}")
                break
            made, done = trees.fuse(made, *pair), done + 1
        return self._new(made, "fuse", first, second, depth)

    def distribute(self, loop: str) -> Nest:
        """Give each statement or loop inside ``loop``, two or more, a loop of its own.

        Examples
        --------
        >>> rl.loops.Nest({"i": 8}, "B[i] = A[i]; C[i] = B[i]").distribute("i").loops
        ('i', 'i')
        """
        found, _ = self.loop(loop)
        if len(found.children) < 2:
            raise ValueError(f"loop={loop!r} holds one thing only: nothing to distribute")
        return self._new(trees.distribute(self.tree, found), "distribute", loop)

    def unroll(self, loop: str) -> Nest:
        """Write a loop's turns one after the other in the code.

        Examples
        --------
        >>> print(rl.loops.Nest({"i": 2}, "B[i] = A[i]").unroll("i"))
        B[i] = A[i]
        .unroll('i')
        i 0..1 unroll
          S
        """
        return self._new(trees.mark(self.tree, self.loop(loop)[0], "unroll"), "unroll", loop)

    def vectorize(self, loop: str) -> Nest:
        """Run the turns of a loop as lanes of one instruction.

        Examples
        --------
        >>> rl.loops.Nest({"i": 8}, "B[i] = A[i]").vectorize("i").check().ok
        True
        >>> rl.loops.Nest({"i": 8}, "B[0] += A[i]").vectorize("i").check().ok
        False
        """
        return self._new(trees.mark(self.tree, self.loop(loop)[0], "vectorize"), "vectorize", loop)

    def parallel(self, loop: str) -> Nest:
        """Share the turns of a loop among threads.

        Examples
        --------
        >>> rl.loops.Nest({"i": 8}, "B[i] = A[i]").parallel("i").check().ok
        True
        """
        return self._new(trees.mark(self.tree, self.loop(loop)[0], "parallel"), "parallel", loop)

    def pack(self, array: str) -> Nest:
        """Copy an array that is only read into the order in which the loops visit it.

        Raises ValueError for an unknown array, one that is written, and one that is read in two
        places or by other subscripts than loops.

        Examples
        --------
        >>> nest = rl.loops.Nest({"i": 8, "j": 4}, "B[i,j] = A[j,i]")
        >>> nest.pack("A").packed
        ('A',)
        """
        if array not in self.shapes:
            raise unknown("array", array, self.arrays)
        if array in self.written:
            raise ValueError(f"array={array!r} is written; only what is read alone can be packed")
        found = {
            one
            for statement in self.statements
            for one in accesses(statement.value)
            if one.array == array
        }
        plain = [e.terms[0][0] for one in found for e in one.subscripts if len(e.terms) == 1]
        simple = all(
            e == variable(str(name)) for one in found for e, name in zip(one.subscripts, plain)
        )
        if len(found) != 1 or not simple or len(set(plain)) != len(self.shapes[array]):
            raise ValueError(
                f"array={array!r} can be packed where it is read in one place, as A[i,k]"
            )
        made = self._new(self.tree, "pack", array)
        return made._with(packed=tuple(dict.fromkeys((*self.packed, array))))

    def replay(self, log: Sequence[Step]) -> Nest:
        """The nest after the transformations of a ``log``, one after the other.

        Examples
        --------
        >>> rl.loops.Nest({"i": 8}, "B[i] = A[i]").replay([("split", ("i", 4))]).loops
        ('io', 'ii')
        """
        made = self
        for name, arguments in log:
            if name not in TRANSFORMATIONS:
                raise unknown("log", name, TRANSFORMATIONS)
            made = getattr(made, name)(*arguments)
        return made

    # Questions.

    def check(self, reassociate: bool = True) -> Verdict:
        """Say whether the schedule is legal, exactly for these extents.

        Parameters
        ----------
        reassociate : bool
            Whether a reduction such as ``+=`` may add in another order, which changes rounding.
            Loops that are parallel or vectorised need its privatisation even then.

        Returns
        -------
        Verdict
            ``ok``, or the two iterations whose order is broken and the cell that they share.

        Raises
        ------
        ValueError
            For a nest with too many iterations to be decided here, with what would help.

        Examples
        --------
        >>> nest = rl.loops.Nest({"i": 8}, "A[i+1] = A[i]*0.5")
        >>> nest.reverse("i").check().ok
        False
        """
        from rooflab.labs.loops.legality.separation import check

        return check(self, flag("reassociate", reassociate))

    def instances(self, limit: int = 4096) -> list[Instance]:
        """The iterations in the order in which they run, at most ``limit``.

        Examples
        --------
        >>> nest = rl.loops.Nest({"i": 2, "j": 2}, "B[i,j] = A[i,j]").interchange("i", "j")
        >>> [one.iteration for one in nest.instances()]
        [(0, 0), (1, 0), (0, 1), (1, 1)]
        """
        from rooflab.labs.loops.legality.points import instances

        return instances(self, size("limit", limit))

    def arrows(self, reassociate: bool = True, limit: int = 4096) -> list[Arrow]:
        """The dependences between iterations, at most ``limit``, and whether each is kept.

        Examples
        --------
        >>> nest = rl.loops.Nest({"i": 3}, "A[i+1] = A[i]*0.5").reverse("i")
        >>> [(one.first, one.second, one.ok) for one in nest.arrows()]
        [(('S', (0,)), ('S', (1,)), False), (('S', (1,)), ('S', (2,)), False)]
        """
        from rooflab.labs.loops.legality.points import arrows

        return arrows(self, flag("reassociate", reassociate), size("limit", limit))

    # Code.

    def code(self) -> str:
        """The nest as a function in Python. Marked loops are plain loops there.

        Examples
        --------
        >>> print(rl.loops.Nest({"i": 3}, "B[i] = A[i]").code().rstrip())
        def nest(A, B):
            for i in range(3):
                B[i] = A[i]
        """
        from rooflab.labs.loops.code.printer import code

        return code(self)

    @installed("rooflab.loops.Nest.run")
    def run(self, backend: str = "llvm", threads: int = 1, **arrays: ndarray) -> dict[str, ndarray]:
        """Run the schedule on copies of ``arrays``; arrays not given are zeros.

        Parameters
        ----------
        backend : {"llvm", "python"}
            "llvm" compiles the schedule. "python" interprets its code, for small nests.
        threads : int
            Among how many threads an outermost parallel loop is shared.
        **arrays : ndarray
            What the arrays hold, in this nest's shapes.

        Returns
        -------
        dict of str to ndarray
            The arrays that were written.

        Raises
        ------
        ValueError
            For a schedule whose marks the code cannot follow.

        Examples
        --------
        >>> import numpy as np
        >>> nest = rl.loops.Nest({"i": 4}, "B[i] = 2*A[i]")
        >>> nest.reverse("i").run("python", A=np.arange(4.0))["B"].tolist()
        [0.0, 2.0, 4.0, 6.0]
        """
        from rooflab.labs.loops.code.execution import run

        return run(self, backend, size("threads", threads), arrays)

    @installed("rooflab.loops.Nest.measure")
    def measure(self, op: Operation, *, samples: int = 5, seconds: float = 0.1) -> Measurement:
        """Time this schedule of C[i,j] += A[i,k]*B[k,j], compiled by LLVM, on one thread.

        LLVM vectorises and unrolls loops that are not marked where it can, as compilers do.

        Parameters
        ----------
        op : Operation
            What it computes: ``rl.gemm(n, n, n, accumulate=True)`` in fp32 or fp64.
        samples : int
            At least so many, as in :func:`rooflab.measure`.
        seconds : float
            Or until so much time has passed.

        Returns
        -------
        Measurement
            With operands that stay where they are, so "warm". The result is checked once.

        Examples
        --------
        >>> gemm = rl.loops.Nest({"i": 64, "j": 64, "k": 64}, "C[i,j] += A[i,k]*B[k,j]")
        >>> gemm.interchange("j", "k").measure(rl.gemm(64, 64, 64, accumulate=True)).threads
        1
        """
        from rooflab.labs.loops.code.execution import timed

        return timed(self, op, samples, seconds)

    def reference(self, **arrays: ndarray) -> dict[str, ndarray]:
        """What ``run`` returns, by the original order in plain Python.

        Examples
        --------
        >>> import numpy as np
        >>> nest = rl.loops.Nest({"i": 4}, "B[i] = 2*A[i]").reverse("i")
        >>> nest.reference(A=np.arange(4.0))["B"].tolist()
        [0.0, 2.0, 4.0, 6.0]
        """
        from rooflab.labs.loops.code.execution import run

        return run(self.untouched(), "python", 1, arrays)

    def stream(self, itemsize: int = 4) -> AccessStream:
        """The accesses that are left after registers, for ``rl.cache.simulate``.

        Loops that are unrolled or vectorised leave the accesses of one tile, each element or
        vector once. Where such a tile does not divide a loop, every access is a scalar one.

        Parameters
        ----------
        itemsize : int
            Bytes of an element.

        Returns
        -------
        AccessStream
            The loops that run, and an affine reference for each access in them.

        Raises
        ------
        ValueError
            For a schedule whose addresses are no sums of loops, or that is no single nest.

        Examples
        --------
        >>> gemm = rl.loops.Nest({"i": 4, "j": 4, "k": 4}, "C[i,j] += A[i,k]*B[k,j]")
        >>> [one.array for one in gemm.stream().references]
        ['A', 'B', 'C', 'C']
        """
        from rooflab.labs.loops.code.access_stream import stream

        return stream(self, size("itemsize", itemsize))

    def trace(self, itemsize: int = 4) -> tuple[ndarray, ndarray]:
        """Every access of every iteration, in the schedule's order: addresses, and which store.

        For any schedule of a small nest, also where :meth:`stream` has none: for skewed loops and
        for several nests. Registers keep nothing here. Copying a packed array is not in it. Every
        array begins at a page of its own. Raises ValueError above two million iterations.

        >>> nest = rl.loops.Nest({"i": 3}, "B[i] = 2*A[i]")
        >>> addresses, writes = nest.reverse("i").trace()
        >>> addresses.tolist()
        [8, 4104, 4, 4100, 0, 4096]
        >>> rl.cache.simulate(addresses, rl.cache.Cache("L1", 1024), writes=writes).bytes()
        192
        """
        from rooflab.labs.loops.code.access_stream import trace

        return trace(self, size("itemsize", itemsize))

    # Checks of names.

    def _free(self, loop: Loop, around: tuple[Loop, ...], *names: str) -> None:
        """Refuse names that another loop on the way to any statement in ``loop`` has."""
        used = {one.name for one in around} | {x.name for x, _ in trees.loops(loop.children)}
        used |= set(self.shapes)
        for name in names:
            if name in used:
                raise ValueError(f"a new loop would be called {name!r}, which is taken")

    def _distinct(self, names: Sequence[str]) -> None:
        if len({self.loop(name)[0].name for name in names}) != len(names) or not names:
            raise ValueError(f"loops={names!r}: name each loop once")

    def _chain(self, names: Sequence[str]) -> list[Loop]:
        """The loops from the outermost to the innermost of those named."""
        found = [self.loop(name) for name in names]
        innermost, around = max(found, key=lambda one: len(one[1]))
        first = min(len(above) for _, above in found)
        chain = [*around, innermost][first:]
        for name, (loop, _) in zip(names, found):
            if not any(loop is one for one in chain):
                raise ValueError(
                    f"loop={name!r} and loop {innermost.name!r} are not inside each other"
                )
        for loop in chain[:-1]:
            if len(loop.children) > 1:
                raise ValueError(
                    f"loop {loop.name!r} holds more than the next loop: "
                    f"distribute({loop.name!r}) first"
                )
        return chain

    @staticmethod
    def _siblings(tree: Tree, first: str, second: str) -> tuple[Loop, Loop] | str:
        """The two loops to fuse, the earlier one first, or why there are none."""
        found = {leaf.statement: (around, places) for leaf, around, places in trees.leaves(tree)}
        for name in (first, second):
            if name not in found:
                raise unknown("statement", name, found)
        (one, at), (other, place) = found[first], found[second]
        if first == second:
            return "name two statements"
        common = sum(1 for a, b in zip(one, other) if a is b)
        if len(one) == common or len(other) == common:
            return "one of them has no loop of its own left"
        pair = (one[common], other[common]) if at < place else (other[common], one[common])
        if abs(at[common] - place[common]) != 1:
            return "another statement stands between their loops"
        taken = {x.name for x, _ in trees.loops(pair[1].children)} - {pair[1].name}
        if pair[0].name in taken:
            return f"inside the second loop another one is called {pair[0].name!r}"
        if pair[0].kind != pair[1].kind:
            return f"one loop is {pair[0].kind!r}, the other {pair[1].kind!r}"
        return pair


TRANSFORMATIONS = (
    "split", "strip_mine", "tile", "interchange", "reorder", "reverse", "skew", "shift", "coalesce",
    "fuse", "distribute", "unroll", "vectorize", "parallel", "pack",
)  # fmt: skip


def outline(tree: Tree) -> str:
    """The tree in one line a loop."""
    lines = []

    def say(nodes: Tree, depth: int) -> None:
        for node in nodes:
            if isinstance(node, Leaf):
                lines.append("  " * depth + node.statement)
                continue
            kind = "" if node.kind == "for" else f" {node.kind}"
            lines.append("  " * depth + f"{node.name} {node.lower}..{node.upper - 1}{kind}")
            say(node.children, depth + 1)

    say(tree, 0)
    return "\n".join(lines)


def _whole(name: str, value: object) -> int:
    return size(name, value, -(2**31))


def _extents(extents: object) -> dict[str, tuple[int, int]]:
    if not isinstance(extents, Mapping) or not extents:
        raise TypeError(f"extents={extents!r} must map loops to counts, such as {{'i': 64}}")
    found = {}
    for name, value in extents.items():
        if not isinstance(name, str) or not nameable(name):
            raise ValueError(f"extents: {name!r} cannot name a loop; take a name such as 'i'")
        if isinstance(value, (tuple, list)):
            if len(value) != 2:
                raise ValueError(f"extents[{name!r}]={value!r} must be a count or (first, end)")
            if any(isinstance(end, str) for end in value):
                raise TypeError(
                    f"extents[{name!r}]={value!r}: the ends of a loop are numbers here; one that "
                    "depends on another loop, as in a triangle, is not understood"
                )
            first = _whole(f"extents[{name!r}][0]", value[0])
            found[name] = first, size(f"extents[{name!r}][1]", value[1], first + 1)
        else:
            found[name] = 0, size(f"extents[{name!r}]", value)
    return found


def _original(nest: Nest) -> Tree:
    def chain(names: Sequence[str], inside: Tree) -> Tree:
        for name in reversed(names):
            inside = (Loop(name, *nest.extents[name], inside),)
        return inside

    def leaf(statement: Statement, names: Sequence[str]) -> Leaf:
        own = {name: variable(name) for name in names}
        return Leaf(statement.name, own, own)

    every = tuple(nest.extents)
    if nest.order == "body":
        return chain(every, tuple(leaf(one, every) for one in nest.statements))
    grown: Tree = ()
    for one in nest.statements:
        names = [name for name in every if name in one.names]
        grown += chain(names, (leaf(one, names),))
    return grown


def _shapes(nest: Nest, given: Mapping[str, Sequence[int]] | None) -> dict[str, tuple[int, ...]]:
    """The shapes of the arrays, in which every access is within bounds."""
    box = {name: (lower, upper - 1) for name, (lower, upper) in nest.extents.items()}
    wanted = {name: shape(f"shapes[{name!r}]", value) for name, value in (given or {}).items()}
    every = [(one, a) for one in nest.statements for a in (*accesses(one.value), one.target)]
    ranks: dict[str, int] = {}
    found: dict[str, list[int]] = {}
    for statement, access in every:
        name, rank = access.array, len(access.subscripts)
        if ranks.setdefault(name, rank) != rank or len(wanted.get(name, (0,) * rank)) != rank:
            known = len(wanted.get(name, (0,) * ranks[name]))
            raise ValueError(
                f"{access.text()} has {rank} subscripts; array {name} has {known} axes"
            )
        room = wanted.get(name, (2**62,) * rank)
        for axis, subscript in enumerate(access.subscripts):
            low, high = subscript.bounds(box)
            if low < 0 or high >= room[axis]:
                end = low if low < 0 else high
                at = _corner(nest, statement, subscript.terms, low < 0)
                right = f"0 to {room[axis] - 1}" if name in wanted else "0 or more"
                raise ValueError(
                    f"{access.text()}: subscript {axis + 1}, {subscript}, is {end} in iteration "
                    f"{at}; it must be {right}"
                )
            sizes = found.setdefault(name, [0] * rank)
            sizes[axis] = max(sizes[axis], high + 1)
    for name in wanted:
        if name not in found:
            raise unknown("shapes", name, found)
    return {name: wanted.get(name, tuple(sizes)) for name, sizes in found.items()}


def _corner(nest: Nest, statement: Statement, terms: tuple[Any, ...], low: bool) -> str:
    """The iteration in which a sum of loops is least, or greatest."""
    factors = dict(terms)
    values = []
    for name, (lower, upper) in nest.extents.items():
        if nest.order == "body" or name in statement.names:
            rising = factors.get(name, 0) > 0
            last = rising != low and name in factors
            values.append(upper - 1 if last else lower)
    return f"{statement.name}({', '.join(map(str, values))})"


__all__ = ["ORDERS", "TRANSFORMATIONS", "Nest", "outline"]
