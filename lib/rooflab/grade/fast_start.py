"""Import this first where a process should start at once: it saves a second in nbformat.

nbformat imports jsonschema, and that compiles a grammar of international addresses if the package
``rfc3987_syntax`` is installed, which it is beside Jupyter. No notebook's schema asks for them.
"""

from __future__ import annotations

import sys

sys.modules.setdefault("rfc3987_syntax", None)
