"""The terminal's commands are put together once, not at every call of a test."""

from functools import cache

from typer import testing

testing._get_command = cache(testing._get_command)
