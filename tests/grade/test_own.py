"""An object of one's own has what names one likes; another's has not, by whatever way."""

import pytest

from rooflab.grade import gate
from tests.grade import attacks_own


@pytest.mark.parametrize("name", attacks_own.OWN)
def test_what_is_allowed_with_ones_own_leads_to_nothing_else(name):
    assert (gate.problem(attacks_own.OWN[name]) or "").startswith("line ")
