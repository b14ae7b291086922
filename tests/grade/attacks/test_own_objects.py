"""An object of one's own has what names one likes; another's has not, by whatever way."""

from pathlib import Path

import pytest

from rooflab.grade import gate, suspects
from tests.grade.attacks import own_objects as attacks_own


@pytest.mark.parametrize("name", attacks_own.OWN)
def test_what_is_allowed_with_ones_own_leads_to_nothing_else(name):
    assert (gate.problem(attacks_own.OWN[name]) or "").startswith("line ")


NAMES = ("data", "chunk", "buffer", "array", "trace", "string", "numbers", "code", "test", "run",
         "load", "types", "modules", "_size")  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    "source",
    [
        "class G:\n    {0} = 4096\ndef f(x):\n    return x[: G.{0}]",
        "class G:\n"
        "    def __init__(self):\n"
        "        self.{0} = 1\n"
        "    def more(self):\n"
        "        self.{0} += 1",
        "class G:\n    {0} = 1\ng = G()\ng.{0} = 2",
        "from dataclasses import dataclass, field\n"
        "@dataclass\n"
        "class G:\n"
        "    {0}: list = field(default_factory=list)\n"
        "g = G()\n"
        "def f(x):\n"
        "    g.{0}.append(x)",
        "class G:\n    @property\n    def {0}(self):\n        return self.{0}s",
    ],
    ids=["of a class", "of self", "of an object", "of a dataclass", "a property"],
)
def test_an_object_of_ones_own_has_what_names_one_likes(name, source):
    assert gate.problem(source.format(name)) is None


def test_what_is_refused_hangs_on_no_list_of_pythons_modules():
    """The same file got 2 points in one version of Python and none in another."""
    for module in (gate, suspects, suspects, suspects):
        assert "stdlib_module_names" not in Path(module.__file__).read_text("utf-8")
