"""Exercises of lesson 02 that are holes of byte golf.

Every mistake is a whole wrong function (golf_ways.py), recognised from its trace
(golf_mistakes.py).
"""

from __future__ import annotations

import random
from collections.abc import Callable
from functools import partial

import numpy as np

from rooflab.exercises import golf_mistakes as mistakes
from rooflab.exercises import golf_ways as ways
from rooflab.exercises.exercise import Case, Exercise, Misconception

PAR = 1.05  # room for a row of lengths or a vector of biases beside the large arrays
DTYPES = ("float32", "float64", "float32")
TOO_LARGE = 16  # times the piece that the cache keeps in every type

Way = Callable[..., object]  # what a learner writes


def _cases(hole: str, rng: random.Random) -> list[Case]:
    """Sizes that no power of two divides; float32 first, so that a wider type shows at once."""
    drawn = [
        {"hole": hole, "n": 512 * (2 * rng.randrange(600, 800) + 1), "dtype": dtype,
         "seed": rng.randrange(10**6)}
        for dtype in DTYPES
    ]  # fmt: skip
    # Nobody may find the seed, and with it the numbers, by trying all of them.
    return [{**case, "seed": case["seed"] + (rng.getrandbits(40) << 20)} for case in drawn]


_WIDER = "a number of a wider type (np.float64) or astype made everything wider."
_TAIL = "the last numbers do not fill a whole chunk, and they are left out."
_LARGE = (
    "you cut the work into pieces, but a piece is too large: before it is needed again, what was "
    "touched since has pushed it out of the cache of 512 KiB. Count all arrays of a piece, in the "
    "widest type."
)
_PASSES = (
    "all of x is carried in more than once, for every call or every loop over it. Finish a piece "
    "while the cache has it."
)
_JOINED = (
    "all pieces of the result are kept to the end, more than the cache holds, and copied once "
    "more there; begin with np.empty_like, which moves nothing, and fill it piece by piece."
)
_OUT = "out= saves the allocation, not the trips: the whole array is still written and read back."
_IN_PLACE = (
    "writing over an input needs no new array, but each call still carries a whole array to the "
    "processor and back."
)
_PLAIN = (
    "NumPy finishes each call before the next begins, so whole arrays are stored and read back; "
    "do all calls on one piece before the next piece."
)
_COPIED = (
    "a copy of everything is a trip there and one back, before any work is done; begin with "
    "np.empty_like, which moves nothing, and fill it piece by piece."
)
_FILLED = (
    "the result is filled once for nothing, with zeros say, and then again with what you worked "
    "out. np.zeros_like, np.full_like and np.apply_along_axis fill what they make; np.empty_like "
    "and np.zeros do not: the system clears memory when it is first written to."
)
_SCRATCH = (
    "two inputs are written over, and one result is wanted: the other one is carried back to "
    "memory for nothing. Let the first call make a small array instead."
)
_SQUARES = (
    "one call stores all the squares, the next reads them back; look for one call that multiplies "
    "and adds up at once. It stores no squares."
)


_OVERLAP = (
    "the pieces overlap: some numbers are in two of them, and are worked on twice. The step of the "
    "loop must be as long as a piece."
)
_ONE_PIECE = (
    "only one piece was worked on. All work on a piece is indented under `for`; `return` comes "
    "after the loop, not in it."
)
_OUTSIDE = (
    "the loop goes through pieces, but one call before or after it goes over a whole array once "
    "more; do that in the loop too, piece by piece."
)
_TWO_LOOPS = (
    "the second loop carries in every piece once more, long after it has left the cache; do all "
    "work on a piece in one loop."
)
_RENAMED = (
    "`part = part + …` gives the name to a new array, and what you return stays as it was; write "
    "into the piece itself, with `part += …` or `part[:] = …`."
)


def _numbers(name: str, wrong: Way, hint: str) -> Misconception:
    """A mistake in the numbers, which comes before any mistake in the bytes."""
    return Misconception(name, wrong, hint, mistakes.numbers(wrong))


def _of_pieces(name: str, wrong: Way, hint: str, in_pieces: Way) -> Misconception:
    """The same, made on the whole array or on each piece of it."""
    return Misconception(name, wrong, hint, mistakes.numbers_of_pieces(wrong), (in_pieces,))


def _renamed(unchanged: Way) -> Misconception:
    return _numbers("a new array under an old name", unchanged, _RENAMED)


def _shared(
    right: Way,
    *,
    plain: Way,
    in_place: Way,
    out: Way,
    widened: Way,
    overlapping: Way,
    one_piece: Way,
    one_large: Way,
    chunk: int = ways.CHUNK,
    copied: Way | None = None,
    filled: Way | None = None,
    joined: Way | None = None,
    scratch: Way | None = None,
    outside: Way | None = None,
    loops: Way | None = None,
    plain_hint: str = _PLAIN,
) -> tuple[Misconception, ...]:
    """The mistakes of most holes, the most telling first; ``chunk`` is one that the cache keeps."""
    large = partial(right, chunk=TOO_LARGE * chunk)
    found = (
        ("a copy to begin with", copied, _COPIED, mistakes.copied_first),
        ("filled for nothing", filled, _FILLED, mistakes.filled_first),
        ("pieces joined at the end", joined, _JOINED, mistakes.joined),
        ("overlapping pieces", overlapping, _OVERLAP, mistakes.overlapping),
        ("only one piece", one_piece, _ONE_PIECE, mistakes.one_piece),
        ("tail forgotten", partial(right, tail=False), _TAIL, mistakes.tail_forgotten),
        ("wider type", widened, _WIDER, mistakes.wider),
        ("a call outside the loop", outside, _OUTSIDE, mistakes.outside),
        ("piece larger than the cache", large, _LARGE, mistakes.large_piece, (one_large,)),
        ("in place moves fewer bytes", in_place, _IN_PLACE, mistakes.in_place),
        ("out= saves traffic", out, _OUT, mistakes.out_again),
        ("two loops over the pieces", loops, _TWO_LOOPS, mistakes.two_loops),
        ("the plain expression", plain, plain_hint, mistakes.whole_temporary),
        ("an input as scratch", scratch, _SCRATCH, mistakes.input_as_scratch),
    )
    return tuple(Misconception(*each) for each in found if each[1])


AXPY = Exercise(
    "02-golf-axpy", "Byte golf: AXPY", 2,
    "Return a*x + y with as few bytes over the memory bus as you can.",
    "golf_axpy(a, x, y)", ways.axpy, kind="golf", par=PAR, cases=partial(_cases, "axpy"), lines=3,
    insight="A piece that the cache holds is carried in once, whatever you do with it there. "
            "That holds for your machine's caches as well.",
    misconceptions=(
        _numbers("a on y", lambda a, x, y: x + a * y, "a is a factor of x, and y is added as it is."),
        _renamed(lambda a, x, y: y),
        _numbers("a on both", lambda a, x, y: a * (x + y),
                 "a is a factor of x alone; y is added as it is."),
        _numbers("y forgotten", lambda a, x, y: a * x,
                 "y is not added: `y[…] = …` writes over it, and `y[…] += …` adds to it."),
        *_shared(
        ways.axpy, plain=lambda a, x, y: a * x + y, in_place=ways.axpy_in_place, out=ways.axpy_out,
        widened=lambda a, x, y: np.float64(a) * x + y, copied=ways.axpy_copied,
        filled=ways.axpy_filled, joined=ways.axpy_joined, scratch=ways.axpy_scratch,
        overlapping=ways.axpy_overlapping, one_piece=ways.axpy_of_one_piece,
        one_large=ways.axpy_in_one_large_piece, outside=ways.axpy_outside,
        loops=ways.axpy_in_two_loops,
    )),
)  # fmt: skip

_ONE_NUMBER = _shared(
    ways.squares, plain=lambda x: np.sum(x * x), in_place=ways.squares_in_place,
    out=ways.squares_out, widened=lambda x: np.sum(x.astype(np.float64) ** 2), plain_hint=_SQUARES,
    overlapping=ways.squares_overlapping, one_piece=ways.squares_of_one_piece,
    one_large=ways.squares_in_one_large_piece,
)  # fmt: skip
_SEVERAL = Misconception(
    "several passes in one call", ways.squares_in_passes,
    "some functions of NumPy go over the numbers several times, and np.var even stores all "
    "differences from the mean; look for one that multiplies and adds up at once.",
    mistakes.passes,
)  # fmt: skip

SQUARES = Exercise(
    "02-golf-squares", "Byte golf: sum of squares", 1,
    "Return the sum of the squares of x, one number.",
    "squares(x)", ways.squares, kind="golf", par=PAR, lines=1,
    cases=partial(_cases, "sum-of-squares"),
    insight="A call that multiplies and adds up at once needs no array in between: every number "
            "comes in once, and one goes out.",
    misconceptions=(
        _numbers("the root taken", lambda x: np.sqrt(np.dot(x, x)),
                 "that is the length of x; its square is wanted, the sum of the squares itself."),
        _numbers("the square of the sum", lambda x: np.sum(x) ** 2,
                 "square first and add afterwards."),
        Misconception("single precision", lambda x: np.float32(np.dot(x, x)),
                      "the sum of float64 numbers came back as a float32, which keeps 7 digits; "
                      "return it as it comes out.", mistakes.single),
        _numbers("the root of each square", lambda x: np.sum(np.sqrt(x * x)),
                 "the root of a square is the number without its sign; add up the squares "
                 "themselves."),
        Misconception("the last piece alone", ways.squares_of_last_piece,
                      "`total = …` forgets the pieces before; `total += …` adds each one.",
                      mistakes.last_piece),
        _numbers("the mean", lambda x: np.dot(x, x) / len(x),
                 "that is the mean of the squares; their sum is wanted."),
        _numbers("not squared", np.sum, "those are the numbers themselves; add up their squares."),
        _numbers("not added up", np.square,
                 "the squares came back, one for each number; their sum is wanted, one number."),
        *_ONE_NUMBER[:-2], _SEVERAL, *_ONE_NUMBER[-2:]),
)  # fmt: skip

NORM = Exercise(
    "02-golf-row-norm", "Byte golf: row L2 norm", 3,
    "Divide every row of the matrix x by its length, the root of the sum of its squares. You may "
    "write over x.",
    "row_norm(x)", ways.row_norm, kind="golf", par=PAR, lines=5,
    cases=partial(_cases, "row-l2-norm"),
    insight="Every row is needed twice and carried in once: the second time it is in the cache. "
            "Language models do this in every layer.",
    errors=(("ValueError: operands could not be broadcast", "lengths in a row",
             "the lengths came as one row of numbers, and each belongs to a row of x: "
             "lengths[:, None] makes a column of them, and so does keepdims=True."),),
    misconceptions=(
        _numbers("the root of the mean", lambda x: x / (ways.lengths(x) / np.sqrt(x.shape[1])),
                 "that is RMSNorm, which divides by the root of the mean; a length is the root of "
                 "the sum."),
        _numbers("no root", lambda x: x / ways.lengths(x) ** 2,
                 "a length is the root of the sum of the squares."),
        _renamed(lambda x: x),
        _numbers("the root of each square",
                 lambda x: x / np.sum(np.sqrt(x * x), axis=1, keepdims=True),
                 "add up the squares of a row first; the root comes last."),
        _of_pieces("columns for rows", lambda x: x / np.sqrt((x * x).sum(axis=0)),
                   "axis=0 adds down the columns; a row is added up along axis=1.",
                   ways.norm_of_columns_of_blocks),
        _of_pieces("one length for all", lambda x: x / np.linalg.norm(x),
                   "each row has a length of its own, the root of the sum of its own squares; "
                   "np.linalg.norm(rows) is one number for all of them.", ways.norm_of_blocks),
        _numbers("whole numbers", lambda x: x // ways.lengths(x),
                 "`//` drops what comes after the point; `/` divides."),
        _numbers("multiplied", lambda x: x * ways.lengths(x),
                 "a row is divided by its length, not multiplied."),
        _numbers("not squared", lambda x: x / x.sum(axis=1, keepdims=True),
                 "that is the sum of a row; its length is the root of the sum of its squares."),
        Misconception("only one piece", ways.norm_of_one_piece, _ONE_PIECE, mistakes.one_piece),
        Misconception("filled for nothing", ways.norm_filled, _FILLED, mistakes.filled_first),
        Misconception("pieces joined at the end", ways.norm_joined, _JOINED, mistakes.joined),
        Misconception("a copy to begin with", ways.norm_copied, _COPIED, mistakes.copied_first),
        Misconception("tail forgotten", partial(ways.row_norm, tail=False), _TAIL,
                      mistakes.tail_forgotten),
        Misconception("wider type", lambda x: x / ways.lengths(x.astype(np.float64)), _WIDER,
                      mistakes.wider),
        Misconception("piece larger than the cache",
                      partial(ways.row_norm, chunk=TOO_LARGE * ways.ROWS), _LARGE,
                      mistakes.large_piece, (ways.norm_in_one_large_piece,)),
        Misconception("the plain expression",
                      lambda x: x / np.sqrt((x * x).sum(axis=1, keepdims=True)), _PLAIN,
                      mistakes.whole_temporary),
        Misconception("two passes over the whole array", lambda x: x / ways.lengths(x), _PASSES,
                      mistakes.passes),
    ),
)  # fmt: skip

_SUM = mistakes.numbers(lambda x, b: x + b)
_RELUS = ("maximum", "fmax", "clip", "where", "max")  # NumPy functions that make a ReLU

RELU = Exercise(
    "02-golf-bias-relu", "Byte golf: bias and ReLU", 2,
    "Add the vector b to every row of the matrix x, and set what is negative to zero. You may "
    "write over x.",
    "bias_relu(x, b)", ways.bias_relu, kind="golf", par=PAR, lines=4,
    cases=partial(_cases, "bias-relu"),
    insight="Both together now move what a plain copy moves. Libraries for neural networks do "
            "the same, and call it fusion.",
    errors=(("ValueError: operands could not be broadcast", "b in another shape",
             "b is as long as a row of x, so x + b adds it to every row: neither cut b nor turn it."),
            ("ValueError: The truth value", "max for np.maximum",
             "Python's max compares arrays as a whole; np.maximum compares number by number.")),
    misconceptions=(
        _renamed(lambda x, b: x),
        Misconception("the negative stays", ways.relu_lost,
                      "np.maximum(p, 0) makes a new array and leaves p alone: give it out=p, or "
                      "keep what it returns.", mistakes.calling(_SUM, *_RELUS)),
        Misconception("no ReLU", lambda x, b: x + b,
                      "b is added, and what is negative must still become zero: np.maximum does "
                      "that.", mistakes.calling(_SUM, *_RELUS, instead=False)),
        _numbers("b subtracted", lambda x, b: np.maximum(x - b, 0), "b is added to every row."),
        _numbers("b as a factor", lambda x, b: np.maximum(x * b, 0),
                 "b is added to every row, not multiplied."),
        _numbers("the sign dropped", lambda x, b: np.abs(x + b),
                 "np.abs turns what is negative into its positive; it must become zero."),
        _numbers("b forgotten", lambda x, b: np.maximum(x, 0),
                 "b is added to every row before what is negative becomes zero."),
        _numbers("ReLU before the bias", lambda x, b: np.maximum(x, 0) + b,
                 "add b first; it is the sum that must not be negative."),
        _numbers("the negative half kept", lambda x, b: np.minimum(x + b, 0),
                 "what is negative becomes zero; what is positive stays."),
        Misconception(
            "a mask", ways.relu_mask,
            "True and False take a byte each, for every number, and that array travels as well; "
            "np.maximum needs none.", mistakes.mask),
        *_shared(
            ways.bias_relu, plain=lambda x, b: np.maximum(x + b, 0), in_place=ways.relu_in_place,
            out=ways.relu_out, chunk=ways.ROWS,
            widened=lambda x, b: np.maximum(x + b.astype(np.float64), 0),
            copied=ways.relu_copied, filled=ways.relu_filled, joined=ways.relu_joined,
            overlapping=ways.relu_overlapping, one_piece=ways.relu_of_one_piece,
            one_large=ways.relu_in_one_large_piece, outside=ways.relu_outside,
            loops=ways.relu_in_two_loops,
        ),
    ),
)  # fmt: skip

SCALE = Exercise(
    "02-golf-scale-add-scale", "Byte golf: scale, add, scale", 2,
    "Return b*(a*x + y) with as few bytes over the memory bus as you can.",
    "scale_add_scale(a, b, x, y)", ways.scale_add_scale, kind="golf", par=PAR, lines=4,
    cases=partial(_cases, "scale-add-scale"),
    insight="A chain of such operations costs what goes in and what comes out, however long it "
            "is, as long as it is done piece by piece.",
    misconceptions=(
        _renamed(lambda a, b, x, y: y),
        _numbers("brackets forgotten", lambda a, b, x, y: b * a * x + y,
                 "b is a factor of the whole sum, of y too."),
        _numbers("a and b exchanged", lambda a, b, x, y: a * (b * x + y),
                 "a is the factor of x alone, b of the sum."),
        _numbers("b on y alone", lambda a, b, x, y: a * x + b * y,
                 "b is a factor of the whole sum, of a*x too: add first."),
        _numbers("b forgotten", lambda a, b, x, y: a * x + y,
                 "b is missing: it is a factor of the whole sum."),
        _numbers("y forgotten", lambda a, b, x, y: b * (a * x),
                 "y is not added: it belongs to the sum that b multiplies."),
        *_shared(
        ways.scale_add_scale, plain=lambda a, b, x, y: b * (a * x + y),
        in_place=ways.scale_in_place, out=ways.scale_out,
        widened=lambda a, b, x, y: np.float64(b) * (a * x + y),
        copied=ways.scale_copied, filled=ways.scale_filled, joined=ways.scale_joined,
        scratch=ways.scale_scratch, overlapping=ways.scale_overlapping,
        one_piece=ways.scale_of_one_piece, one_large=ways.scale_in_one_large_piece,
        outside=ways.scale_outside, loops=ways.scale_in_two_loops,
    )),
)  # fmt: skip

EXERCISES = (AXPY, SQUARES, NORM, RELU, SCALE)
