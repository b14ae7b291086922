"""A pytest plugin: nbval's kernels take no ports, so that several may start at once."""

import os

import rooflab.grade  # noqa: F401, before nbformat, which then starts at once

# isort: split
import nbval.kernel
from jupyter_client.manager import KernelManager

from rooflab.grade.local_kernel import without_ports


def manager(**options: object) -> KernelManager:
    """A manager whose kernel is reached by files in this run's own folder."""
    return without_ports(KernelManager(**options), os.environ["ROOFLAB_HOME"])


nbval.kernel.KernelManager = manager
