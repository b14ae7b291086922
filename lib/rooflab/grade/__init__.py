"""Grading: merge answers into a locked notebook, run it in a sandbox, judge what comes out."""

import sys

# nbformat imports jsonschema, and that compiles a grammar of international addresses if the package
# rfc3987_syntax is installed, which it is beside Jupyter. It takes most of a second at the start of
# every process, and no notebook's schema asks for it.
sys.modules.setdefault("rfc3987_syntax", None)
