"""A workshop for the tests: one a process, because a submission leaves nothing behind in it."""

import pytest

from rooflab.grade import sandbox
from rooflab.grade.run import Workshop


@pytest.fixture(scope="session")
def shop():
    """A workshop with the sandbox; where there is none, the reason is the skip's."""
    if why := sandbox.missing():
        pytest.skip(why)
    with Workshop() as workshop:
        yield workshop
