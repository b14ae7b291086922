"""CUDA lab: a stand-in for CuPy that keeps simulated time and logs what a program asks of a GPU."""

from __future__ import annotations

from rooflab.labs.cuda.device import Device, SimulatedGpu
from rooflab.labs.cuda.modules import imported_as_cupy
from rooflab.labs.cuda.standin import StandIn
from rooflab.labs.cuda.user_kernels import Launch

__all__ = ["Device", "Launch", "SimulatedGpu", "StandIn", "imported_as_cupy"]
