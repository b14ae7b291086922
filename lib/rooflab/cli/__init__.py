"""The terminal: ``rooflab measure | explain | mountain | search | machines | record | check | …``.

Light to start: a command imports what it needs when it runs.
"""

from __future__ import annotations

import typer

from rooflab.cli.catalogue import machines, recordings
from rooflab.cli.checking import check
from rooflab.cli.grading import grade, release
from rooflab.cli.llm import decode, model
from rooflab.cli.measuring import explain, measure
from rooflab.cli.memory import mountain
from rooflab.cli.recording import record
from rooflab.cli.search import search
from rooflab.cli.terminal import Terminal, plain_letters_where_needed

app = typer.Typer(
    cls=Terminal,
    help="Count FLOPs and bytes, predict a time, measure it, explain the difference.",
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)
for command in (
    measure, explain, mountain, search, machines, model, decode, record, recordings, check, grade,
    release,
):  # fmt: skip
    app.command()(command)


def main() -> None:
    """Run the command line; errors are one line on stderr and exit code 2."""
    plain_letters_where_needed()
    app(prog_name="rooflab")
