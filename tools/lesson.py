"""A lesson's source and the two notebooks it becomes.

``notebooks/source/NN_slug.py`` (jupytext percent format) is the only edited form. In it a
solution stands between two comment lines::

    # BEGIN SOLUTION
    return 2 * n
    # END SOLUTION

The solution notebook keeps it without the markers; the learner's notebook gets one line in its
place: ``...  # your code; ours has 1 line``. Where the block ends by assigning `ridge` that line
begins with ``ridge = ``, so that the cells below it still run. Above it stands what the inputs of
the exercise may be, and one call with the value that the reference gives.
"""

from __future__ import annotations

import ast
import hashlib
import re
import textwrap
from collections import Counter
from collections.abc import Sequence
from copy import deepcopy
from dataclasses import dataclass
from pathlib import Path

import jupytext
import nbformat
from nbformat import NotebookNode

from rooflab.exercises.compare import show
from rooflab.exercises.observe.plaindata import to_plain
from rooflab.exercises.registry import exercises

BEGIN, END = "# BEGIN SOLUTION", "# END SOLUTION"
FILE_NAME = re.compile(r"\d\d_[a-z0-9_]+\.py")
TIED = "\u00a0"  # a blank at which no line is broken
LONGEST = 84  # characters of a line that shows a call
KERNEL = {
    "kernelspec": {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"},
    "language_info": {
        "file_extension": ".py",
        "mimetype": "text/x-python",
        "name": "python",
        "pygments_lexer": "ipython3",
    },
}


class LessonError(ValueError):
    """A lesson's source breaks a rule; the message names the file and the cell."""


@dataclass(frozen=True)
class Lesson:
    """One lesson: its name (``00_free_lunch``) and both notebooks, not yet executed."""

    name: str
    learner: NotebookNode
    solution: NotebookNode

    @property
    def number(self) -> str:
        """The two digits exercise ids of this lesson begin with."""
        return self.name[:2]


def read_lesson(source: Path) -> Lesson:
    """Read ``NN_slug.py`` and make the learner's and the solution notebook.

    Raises LessonError when the file name is not NN_slug.py or solution markers do not pair up.
    """
    if not FILE_NAME.fullmatch(source.name):
        raise LessonError(f"{source.name}: a lesson's source is named NN_slug.py, e.g. 02_bytes.py")
    written = jupytext.reads(source.read_text(encoding="utf-8"), fmt="py:percent")
    learner, solution = [], []
    seen: Counter[str] = Counter()
    for number, cell in enumerate(written.cells):
        where = f"{source.name}, cell {number}"
        tags = list(cell.metadata.get("tags", []))
        if not {"core", "deep"} & set(tags):
            tags.insert(0, "core")
        metadata = {"tags": tags}
        if "rooflab" in cell.metadata:
            metadata["rooflab"] = dict(cell.metadata["rooflab"])
        identity = _cell_id(cell, metadata, seen)
        text = cell.source.strip("\n")
        if cell.cell_type == "markdown" and (BEGIN in text or END in text):
            raise LessonError(f"{where}: a solution marker stands in a text cell")
        asked = metadata.get("rooflab", {}).get("exercise") if "answer" in tags else None
        sign = "//" if 'r"""' in text else "#"  # how a comment begins; CUDA C++ stands in a text
        above = [f"{sign} {line}" for line in example(asked)] if asked else ()
        stub = stub_solutions(text, where, above, sign)
        learner.append(_cell(cell.cell_type, stub, metadata, identity))
        solution.append(_cell(cell.cell_type, keep_solutions(text), metadata, identity))
    name = source.stem
    return Lesson(name, _notebook(learner, name), _notebook(solution, name))


def _cell_id(cell: NotebookNode, metadata: dict, seen: Counter[str]) -> str:
    """An id that stays when other cells come and go: from the exercise, else from the content."""
    exercise = metadata.get("rooflab", {}).get("exercise")
    stem = (
        f"answer-{exercise}"
        if exercise and "answer" in metadata["tags"]
        else hashlib.sha256(f"{cell.cell_type}\n{cell.source}".encode()).hexdigest()[:10]
    )
    seen[stem] += 1
    return stem if seen[stem] == 1 else f"{stem}-{seen[stem]}"


def _cell(kind: str, text: str, metadata: dict, identity: str) -> NotebookNode:
    make = nbformat.v4.new_code_cell if kind == "code" else nbformat.v4.new_markdown_cell
    return make(text, metadata=deepcopy(metadata), id=identity)


def _notebook(cells: list[NotebookNode], name: str) -> NotebookNode:
    metadata = {**deepcopy(KERNEL), "rooflab": {"lesson": name}}
    notebook = nbformat.v4.new_notebook(cells=cells, metadata=metadata)
    notebook.nbformat_minor = 5
    return notebook


def keep_solutions(text: str) -> str:
    """The text of a cell without its marker lines."""
    return "\n".join(line for line in text.split("\n") if line.strip() not in (BEGIN, END))


def stub_solutions(text: str, where: str, above: Sequence[str] = (), sign: str = "#") -> str:
    """The text of a cell with each solution replaced by one line, the first below those ``above``.

    `where` is for messages; `sign` begins a comment.
    """
    kept: list[str] = []
    block: list[str] | None = None
    indent = ""
    for line in text.split("\n"):
        marker = line.strip()
        if marker == BEGIN:
            if block is not None:
                raise LessonError(f"{where}: {BEGIN!r} inside a solution that has not ended")
            block, indent = [], line[: len(line) - len(line.lstrip())]
        elif marker == END:
            if block is None:
                raise LessonError(f"{where}: {END!r} without {BEGIN!r} before it")
            kept += [indent + line for line in (*above, _stub(block, where, sign))]
            block, above = None, ()
        elif block is not None:
            block.append(line)
        else:
            kept.append(line)
    if block is not None:
        raise LessonError(f"{where}: {BEGIN!r} without {END!r} after it")
    if kept != text.split("\n"):
        _must_be_python(keep_solutions(text), f"{where} with its solution")
        _must_be_python("\n".join(kept), f"{where} without its solution")
    return "\n".join(kept)


def example(id: str) -> list[str]:
    """The lines that show what an exercise takes and what one call of it gives."""
    found = exercises().get(id)
    if found is None:
        return []
    alike: dict[str, list[str]] = {}
    for name, domain in found.domain.items():
        alike.setdefault(domain.text, []).append(name)
    takes = "; ".join(f"{', '.join(names)}: {text}" for text, names in alike.items())
    call = f"{found.name}({', '.join(map(_written, found.example))})"
    parts = ", ".join(found.returns)
    gives = f"{call if found.example else found.signature} gives{TIED}"
    if found.kind == "value":
        blank = not re.search(r"\w", found.signature)
        gives = f"in the form {found.signature}{f': {parts}' * blank}"
    elif found.form or not found.example:
        gives += found.form or (f"({parts})" if len(found.returns) > 1 else parts)
    else:
        gives += _written(found.reference(*found.example))
    lines = [
        line for text in (takes, gives)
        for line in textwrap.wrap(text, LONGEST, break_long_words=False)
    ]  # fmt: skip
    return [line.replace(TIED, " ") for line in lines]


def _written(value: object) -> str:
    """Plain data as a learner writes it."""
    if isinstance(value, dict):
        return f"{{{f',{TIED}'.join(f'{k!r}:{TIED}{_written(v)}' for k, v in value.items())}}}"
    if isinstance(value, float):
        return re.sub(r"e\+?(-?)0*", r"e\1", show(value))
    if not isinstance(value, (list, tuple)):
        return show(to_plain(value))
    items = f",{TIED}".join(map(_written, value))
    return f"[{items}]" if isinstance(value, list) else f"({items}{',' * (len(value) == 1)})"


def _stub(block: list[str], where: str, sign: str) -> str:
    lines = sum(1 for line in block if line.strip() and not line.strip().startswith("#"))
    if not lines:
        raise LessonError(f"{where}: the solution is empty")
    name = _assigned_last(textwrap.dedent("\n".join(block)))
    target = f"{name} = " if name else ""
    return f"{target}...  {sign} your code; ours has {lines} line{'s' if lines > 1 else ''}"


def _assigned_last(code: str) -> str | None:
    """The plain name that the block's last statement assigns, if it does."""
    try:  # inside a function, because a block may hold `return`
        function = ast.parse("def _():\n" + textwrap.indent(code, "    ")).body[0]
    except SyntaxError:
        return None  # a solution that ends one function and begins the next
    last = function.body[-1]  # type: ignore[attr-defined]
    if isinstance(last, ast.Assign) and all(isinstance(t, ast.Name) for t in last.targets):
        return " = ".join(target.id for target in last.targets)  # type: ignore[attr-defined]
    return None


def _must_be_python(text: str, where: str) -> None:
    magics = ("%", "!")
    lines = [line for line in text.split("\n") if not line.lstrip().startswith(magics)]
    try:
        ast.parse("\n".join(lines))
    except SyntaxError as error:
        raise LessonError(f"{where}: not valid Python: {error.msg}") from None
