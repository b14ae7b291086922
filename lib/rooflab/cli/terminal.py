"""How the terminal speaks: one-line errors, tables of 80 columns, letters that it can print."""

from __future__ import annotations

import codecs
import sys
import textwrap
import warnings
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from typer.core import TyperGroup

if TYPE_CHECKING:
    from rich.console import Console

WIDTH = 80  # columns where the terminal does not say
WRONG = 2  # exit code of every error: a wrong option and a wrong value are the same to a caller
_PLAIN = {
    "µ": "u", "μ": "u", "×": "x", "·": ".", "–": "-", "—": "-", "…": "...", "→": "->", "≥": ">=",
    "≤": "<=", "β": "beta", "α": "alpha", "³": "^3", "²": "^2",
    "█": "#", "▒": "/", "▶": ">", "◀": "<", "│": "|", "◆": "*",
}  # fmt: skip


class Terminal(TyperGroup):
    """A group of commands whose every error is one line on stderr, never a traceback."""

    def main(self, *args: object, standalone_mode: bool = True, **extra: object) -> object:
        """Run a command; leave with 0, or with 2 after an error (130 after Ctrl-C)."""
        if not standalone_mode:
            return super().main(*args, standalone_mode=False, **extra)
        if not (sys.argv[1:] if extra.get("args") is None else extra["args"]):
            extra["args"] = ["--help"]
        try:
            with warnings.catch_warnings():
                # As one line too: a library's place in a file means nothing to a reader.
                warnings.showwarning = lambda message, *_, **__: complain(str(message))
                code = super().main(*args, standalone_mode=False, **extra)
        except KeyboardInterrupt:
            code = 130
        except Exception as error:
            print(f"rooflab: {one_line(error)}", file=sys.stderr)
            code = WRONG
        sys.exit(code if isinstance(code, int) else 0)


def one_line(error: Exception) -> str:
    """Return the message of ``error`` on one line, as the parser words it if it is the parser's."""
    parser_says = getattr(error, "format_message", None)
    text = parser_says() if parser_says else str(error)
    if isinstance(error, MemoryError) and not text:
        text = "not enough memory"
    expected = parser_says or isinstance(error, (ValueError, TypeError, RuntimeError, MemoryError))
    # A file that cannot be written says so itself; anything stranger also says what it is.
    kind = "" if expected else f"{type(error).__name__}: "
    return kind + (" ".join(text.split()) or type(error).__name__)


def console() -> Console:
    """A console on stdout: no colour codes in a pipe, ASCII lines where the encoding needs them."""
    from rich.console import Console

    out = Console(highlight=False, emoji=False, markup=False, legacy_windows=False)
    if out.width < 1:  # COLUMNS=0, as some containers and editors set it, would print nothing
        out.width = WIDTH
    return out


def say(*texts: str) -> None:
    """Print paragraphs, wrapped to the terminal's width; a word, or a path, is never broken."""
    out = console()
    for text in texts:
        lines = textwrap.fill(text, out.width, break_long_words=False, break_on_hyphens=False)
        out.print(lines, soft_wrap=True)


def complain(text: str) -> None:
    """Print a warning on stderr, which keeps piped tables clean."""
    print(f"rooflab: {' '.join(text.split())}", file=sys.stderr)


def table(
    columns: Sequence[str],
    rows: Iterable[Sequence[str]],
    *,
    right: Iterable[int] = (),
    keep: Iterable[int] = (0,),
) -> None:
    """Print a table. ``right``: columns of numbers; ``keep``: columns that never wrap."""
    from rich import box
    from rich.table import Table

    right, keep = set(right), set(keep)
    grid = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0))
    for number, heading in enumerate(columns):
        grid.add_column(
            heading,
            justify="right" if number in right else "left",
            no_wrap=number in keep or number in right,
            overflow="fold",
        )
    for row in rows:
        grid.add_row(*row)
    console().print(grid)


def plain_letters_where_needed() -> None:
    """Let stdout and stderr replace letters that their encoding lacks ("µs" becomes "us").

    A Windows console or a C locale would otherwise end a table in a UnicodeEncodeError.
    """
    codecs.register_error("rooflab", _plain)
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="rooflab")


def _plain(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    hard = error.object[error.start : error.end]
    return "".join(_PLAIN.get(letter, "?") for letter in hard), error.end
