"""The language of nests, and what each transformation does to the order of iterations."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rooflab.labs.loops.language.expression import Affine, variable
from rooflab.labs.loops.nest import Nest
from tests.support.rows import each_row


def order(nest: Nest) -> list[tuple[int, ...]]:
    return [one.iteration for one in nest.instances()]


def copy(**extents: int) -> Nest:
    index = ",".join(extents)
    return Nest(extents, f"B[{index}] = A[{index}]")


# Textbook forms.


def test_a_tile_visits_one_block_after_the_other() -> None:
    # A picture of 100 x 100 in blocks of 10 x 10: the 11th instance is in row 1 of block 0, the
    # 101st begins block 1.
    visited = [
        one.iteration for one in copy(i=100, j=100).tile({"i": 10, "j": 10}).instances(10_000)
    ]
    assert visited[10] == (1, 0)
    assert visited[100] == (0, 10)
    assert len(set(visited)) == 10_000


def test_a_tile_that_does_not_divide_has_a_short_last_one() -> None:
    tiled = copy(i=100, j=100).tile({"i": 16, "j": 16})
    assert tiled.loop("io")[0].extent == tiled.loop("jo")[0].extent == 7
    assert len(tiled.instances(10_000)) == 10_000
    assert "for ii in range(min(16, 100 - 16*io)):" in tiled.code()


def test_a_skewed_and_interchanged_square_goes_by_antidiagonals() -> None:
    visited = order(copy(i=3, j=3).skew("j", "i").interchange("i", "j"))
    assert [i + j for i, j in visited] == [0, 1, 1, 2, 2, 2, 3, 3, 4]


def test_coalescing_keeps_the_order() -> None:
    both = copy(i=10, j=10)
    assert order(both.coalesce("i", "j")) == order(both)
    assert both.coalesce("i", "j", "t").loops == ("t",)


def test_reversal_and_shift() -> None:
    assert order(copy(i=4).reverse("i")) == [(3,), (2,), (1,), (0,)]
    assert order(copy(i=4).shift("i", 5)) == [(0,), (1,), (2,), (3,)]
    assert "range(5, 9)" in copy(i=4).shift("i", 5).code()


def test_fusion_shift_and_distribution_of_statements() -> None:
    nest = Nest({"i": 3}, "B[i] = A[i]; C[i] = B[i]", order="nests")
    names = [one.statement for one in nest.instances()]
    assert names == ["S", "S", "S", "T", "T", "T"]
    fused = nest.fuse("S", "T")
    assert [one.statement for one in fused.instances()] == ["S", "T"] * 3
    late = [(one.statement, *one.iteration) for one in fused.shift("i", 1, "T").instances()]
    assert late == [("S", 0), ("S", 1), ("T", 0), ("S", 2), ("T", 1), ("T", 2)]
    assert [one.statement for one in fused.distribute("i").instances()] == names


def test_fusion_takes_as_many_loops_as_it_may() -> None:
    nest = Nest({"i": 3, "j": 4}, "B[i,j] = A[i,j]; C[i,j] = B[i,j]", order="nests")
    assert nest.loops == ("i", "j", "i", "j")
    assert nest.fuse("S", "T").loops == ("i", "j")
    assert nest.fuse("S", "T", depth=1).loops == ("i", "j", "j")


def test_a_statement_of_order_nests_has_the_loops_that_it_mentions() -> None:
    text = "C[i,j] = 0; C[i,j] += A[i,k]*B[k,j]"
    nest = Nest({"i": 4, "j": 5, "k": 6}, text, order="nests")
    assert nest.dims("S") == ("i", "j")
    assert nest.dims("T") == ("i", "j", "k")
    assert nest.fuse("S", "T").check()


@given(st.lists(st.integers(1, 9), min_size=1, max_size=3), st.data())
def test_every_transformation_visits_the_same_iterations_once(
    sizes: list[int], data: st.DataObject
) -> None:
    nest = copy(**dict(zip("ijk", sizes)))
    for _ in range(3):
        name = data.draw(st.sampled_from(nest.loops))
        factor = data.draw(st.integers(1, nest.loop(name)[0].extent))
        try:
            nest = nest.split(name, factor)
        except ValueError:
            continue
        nest = nest.reorder(*data.draw(st.permutations(nest.loops)))
        nest = nest.reverse(data.draw(st.sampled_from(nest.loops)))
    visited = order(nest)
    assert sorted(visited) == list(itertools.product(*map(range, sizes)))
    assert order(copy(**dict(zip("ijk", sizes))).replay(nest.log)) == visited


@given(st.integers(-50, 50), st.integers(1, 9), st.integers(1, 9), st.integers(-3, 3))
def test_expressions_are_those_of_integers(x: int, a: int, b: int, c: int) -> None:
    i = variable("i")
    for made, value in (
        ((i // a) // b, (x // a) // b), ((i + c) % a, (x + c) % a), (-(i // a) * b, -(x // a) * b),
        (i * c - i + 7, x * c - x + 7), (Affine() - (i % a), -(x % a)),
    ):  # fmt: skip
        assert made.at({"i": x}) == value
        assert eval(str(made), {"i": x}) == value
        low, high = made.bounds({"i": (x, x + 3)})
        assert low <= min(made.at({"i": y}) for y in range(x, x + 4))
        assert high >= max(made.at({"i": y}) for y in range(x, x + 4))


def test_names_of_split_loops_can_be_foretold() -> None:
    nest = copy(i=64).split("i", 8).split("ii", 2)
    assert nest.loops == ("io", "iio", "iii")
    assert copy(i=64).strip_mine("i", 4).loops == copy(i=64).split("i", 4).loops


def test_a_nest_does_not_change_under_a_transformation() -> None:
    nest = copy(i=8)
    nest.split("i", 2)
    assert nest.loops == ("i",)
    assert nest.log == ()
    with pytest.raises(AttributeError, match="a nest does not change: tree"):
        nest.tree = ()


def test_a_nest_says_what_it_is() -> None:
    said = repr(copy(i=8).split("i", 2).vectorize("ii"))
    assert said == (
        "B[i] = A[i]\n.split('i', 2)\n.vectorize('ii')\nio 0..3\n  ii 0..1 vectorize\n    S"
    )


# What is refused, and with which words.


@each_row(
    ("", "holds no statement"), ("B[i] = ", "no assignment"),
    ("B[i] == A[i]", "write one assignment"),
    ("B[i] += A[i]\nC[i] = 1", r"'C\[i\] = 1': this is a second statement; write ';'"),
    ("B[i] = A[i]\nC[i] = 1", "this is a second statement"),
    ("B[i] = A[i]*1e999", "'1e999': floating point has no such number"),
    ("B[i] = A[i]*" + "9" * 401, "floating point has no such number"),
    ("x = A[i]", "column 1, 'x': an array element is wanted"),
    ("B[q] = A[i]", "column 3, 'q': no loop has this name; there are i, j"),
    ("B[i*j] = A[i]", "column 3, 'i\\*j': a subscript is a sum of loops"),
    ("B[A[i]] = 1", "a subscript is a sum of loops"),
    ("B[i] = open('x')", "array elements, numbers"), ("B[i] = i", "array elements, numbers"),
    ("B[i] /= A[i]", r"of the updates, \+=, -= and \*= are understood"),
    ("B[i] = max(A[i])", "array elements, numbers"), ("i[j] = A[i]", "'i' cannot name an array"),
    ("B[i] = __import__('os')[0]", "an array element is wanted"),
    ("B[i] = A[i]; B[i,j] = A[i]", r"B\[i, j\] has 2 subscripts; array B has 1 axes"),
    ("range[i] = A[i]", "'range' cannot name an array"),
)  # fmt: skip
def test_text_that_is_not_understood_is_refused_with_its_place(text: str, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        Nest({"i": 4, "j": 4}, text)


def test_an_access_out_of_bounds_names_iteration_and_subscript() -> None:
    with pytest.raises(
        ValueError, match=r"A\[i - 1, j\]: subscript 1, i - 1, is -1 in iteration S"
    ):
        Nest({"i": 4, "j": 4}, "B[i,j] = A[i-1,j]")
    with pytest.raises(
        ValueError, match=r"subscript 2, j \+ 1, is 4 in iteration S\(0, 3\).* 0 to 3"
    ):
        Nest({"i": 4, "j": 4}, "B[i,j] = A[i,j+1]", shapes={"A": (4, 4)})
    assert Nest({"i": (1, 4)}, "B[i] = A[i-1]").shapes == {"A": (3,), "B": (4,)}


@each_row(
    (lambda n: n.split("i", 0), "factor=0 must be a positive integer"),
    (lambda n: n.split("i", 9), "factor=9 is more than loop 'i' runs: 8"),
    (lambda n: n.split("q", 2), "loop='q' is unknown"),
    (lambda n: n.tile({"i": 0}), "factor=0"),
    (lambda n: n.interchange("i", "i"), "name each loop once"),
    (lambda n: n.reorder("i", "q"), "loop='q' is unknown"),
    (lambda n: n.skew("i", "i"), "by='i' must be a loop around S"),
    (lambda n: n.coalesce("j", "i"), "inner='i' must be all that loop 'j' holds"),
    (lambda n: n.distribute("i"), "nothing to distribute"),
    (lambda n: n.fuse("S", "T"), "statement='T' is unknown|'T'"),
    (lambda n: n.pack("B"), "array='B' is written"),
    (lambda n: n.pack("Q"), "array='Q' is unknown"),
    (lambda n: n.shift("i", 1, "Q"), "statement='Q' is unknown"),
    (lambda n: n.replay([("launch", ())]), "log='launch' is unknown"),
)
def test_wrong_transformations_are_refused(wrong, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        wrong(copy(i=8, j=8))


@each_row(({"i": 0}, "positive"), ({"i": (3, 3)}, "4 or more"), ({"a b": 3}, "cannot name a loop"))
def test_wrong_extents_are_refused(extents, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        Nest(extents, "B[i] = A[i]")


def test_wrong_types_are_refused() -> None:
    with pytest.raises(TypeError, match="extents"):
        Nest([("i", 3)], "B[i] = A[i]")  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="ends of a loop are numbers here; one that depends on ano"):
        Nest({"i": 8, "j": (0, "i")}, "A[i,j] = B[i,j]")
    with pytest.raises(TypeError, match="text=3"):
        Nest({"i": 3}, 3)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="factor=2.5 is a float"):
        copy(i=8).split("i", 2.5)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="reassociate"):
        copy(i=8).check("yes")  # type: ignore[arg-type]


def test_a_name_that_is_taken_is_refused() -> None:
    with pytest.raises(ValueError, match="'io', which is taken"):
        Nest({"i": 4, "io": 4}, "B[i,io] = A[i,io]").split("i", 2)


def test_two_loops_of_one_name_are_told_apart() -> None:
    nest = Nest({"i": 4}, "B[i] = A[i]; C[i] = B[i]", order="nests")
    with pytest.raises(ValueError, match=r"say S\.i or T\.i"):
        nest.split("i", 2)
    assert nest.split("T.i", 2).loops == ("i", "io", "ii")


def test_interchange_across_statements_says_what_to_do_first() -> None:
    nest = Nest({"i": 4, "j": 4}, "B[i,j] = A[i,j]; C[i,j] = B[i,j]", order="nests")
    with pytest.raises(ValueError, match=r"distribute\('i'\) first"):
        nest.fuse("S", "T", depth=1).interchange("i", "S.j")
