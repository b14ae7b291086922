"""CUDA lab: a stand-in for CuPy that keeps simulated time and logs what a program asks of a GPU."""

from rooflab.cuda.device import Device, SimulatedGpu
from rooflab.cuda.modules import imported_as_cupy
from rooflab.cuda.standin import StandIn

__all__ = ["Device", "SimulatedGpu", "StandIn", "imported_as_cupy"]
