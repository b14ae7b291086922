"""An IPython kernel that shows little at a time: what it shows crosses the sandbox's wall.

Only a courtesy to those whose honest answer shows a huge value or fails with a huge message: beyond
the limits outside it would cost them the rest of the notebook. Who means harm is stopped outside.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from typing import Any

from ipykernel.displayhook import ZMQShellDisplayHook
from ipykernel.ipkernel import IPythonKernel
from ipykernel.zmqshell import ZMQDisplayPublisher, ZMQInteractiveShell
from traitlets import observe

MOST = 4000  # characters of an error's message, and of its traceback
LARGEST = 1 << 20  # characters of a shown value's form
LINES = 40  # of a traceback: the last ones say what was raised


def cut(text: str) -> str:
    """Return ``text``, or its two ends where it is long."""
    return text if len(text) <= MOST else f"{text[: MOST // 2]} … {text[-MOST // 2 :]}"


def shown(forms: Mapping[str, Any]) -> dict[str, Any]:
    """Return the forms of a value (by MIME type), long texts cut."""
    return {
        kind: cut(form) if isinstance(form, str) and len(form) > LARGEST else form
        for kind, form in forms.items()
    }


class BriefHook(ZMQShellDisplayHook):
    """Shows the value of a cell's last line."""

    def write_format_data(
        self, format_dict: Mapping[str, Any], md_dict: Mapping[str, Any] | None = None
    ) -> None:
        """Add the forms of a value to the message, long texts cut."""
        super().write_format_data(shown(format_dict), md_dict)


class BriefPublisher(ZMQDisplayPublisher):
    """Shows what a cell displays."""

    def publish(self, data: Mapping[str, Any], *args: Any, **kwargs: Any) -> None:
        """Send the forms of a value, long texts cut."""
        super().publish(shown(data), *args, **kwargs)


class BriefShell(ZMQInteractiveShell):
    """Shows the last lines of a traceback, and little of a long message or value."""

    displayhook_class = BriefHook
    display_pub_class = BriefPublisher

    @observe("exit_now")
    def _update_exit_now(self, change: object) -> None:
        """Stop nothing: who asks for a shutdown would end the kernel 0.1 s later, in another cell."""

    def _showtraceback(self, etype: type, evalue: Any, stb: Sequence[str]) -> None:
        lines = cut("\n".join(cut(line) for line in stb[-LINES:])).split("\n")
        super()._showtraceback(etype, cut(str(evalue)), lines)


class BriefKernel(IPythonKernel):
    """Answers with as little as it shows."""

    shell_class = BriefShell

    async def do_execute(self, *args: Any, **kwargs: Any) -> dict[str, Any]:
        """Run a cell as any IPython kernel does; of a long error message, return the ends.

        What an earlier cell put in place of the streams is undone: without them no cell is
        answered.
        """
        sys.stdout, sys.stderr = self._stdout, self._stderr
        reply = await super().do_execute(*args, **kwargs)
        if "evalue" in reply:
            reply["evalue"] = cut(reply["evalue"])
        return reply
