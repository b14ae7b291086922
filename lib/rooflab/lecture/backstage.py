"""Cells that say nothing from a wall, or belong to one learner: no lecture shows them."""

from __future__ import annotations

import re

#: How such a cell begins. A browser reads it too, so only what Python and JavaScript share.
BACKSTAGE = re.compile(r"rl\.(check|mine\.save|my_guesses|progress|lecture)\(")
