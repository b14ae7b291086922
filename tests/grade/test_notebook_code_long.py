"""Long cells: what a submission costs the grader itself grows as its length, not as its square."""

import sys

from rooflab.grade.notebook_code import kept, parsed, text_of

TWICE = 2.5  # times the steps that twice the length may take: a square takes four times


def steps(work) -> int:
    """Lines of Python that ``work()`` runs."""
    count = 0

    def one(frame, event, arg):
        nonlocal count
        count += event == "line"
        return one

    before = sys.gettrace()
    sys.settrace(one)
    try:
        work()
    finally:
        sys.settrace(before)
    return count


def test_twice_the_length_takes_twice_the_steps():
    short, long = (steps(lambda n=n: kept("x = 1;" * n)) for n in (150, 300))
    assert 0 < long <= TWICE * short


PIECES = {
    "x = 1; y = 2": ["x = 1", "y = 2"],
    "é = 'ü'; y = é": ["é = 'ü'", "y = é"],
    "x = [1,\n  2]; y = '''a\nb'''": ["x = [1,\n  2]", "y = '''a\nb'''"],
    "@a\n@b\ndef f():\n    x = 1; return x": ["@a\n@b\ndef f():\n    x = 1; return x"],
    "if a: x = 1; y = 2\nz = ';'": ["if a: x = 1; y = 2", "z = ';'"],
}


def test_statements_come_out_as_they_stand():
    for source, pieces in PIECES.items():
        assert [text_of(source, [node]) for node in parsed(source).body] == pieces
