from rooflab.labs.cuda.compiler import Compiled as Compiled, compile as compile
from rooflab.labs.cuda.cubin import Occupancy as Occupancy, Sass as Sass
from rooflab.labs.cuda.cubin import occupancy as occupancy, sass as sass
from rooflab.labs.cuda.device import Device as Device, SimulatedGpu as SimulatedGpu
from rooflab.labs.cuda.emulator.launch import launch as launch
from rooflab.labs.cuda.emulator.report import Fault as Fault, KernelFault as KernelFault, Run as Run
from rooflab.labs.cuda.lanes_picture import banks as banks, coalescing as coalescing
from rooflab.labs.cuda.loader import load as load, plan as plan
from rooflab.labs.cuda.modules import imported_as_cupy as imported_as_cupy
from rooflab.labs.cuda.standin import StandIn as StandIn
from rooflab.labs.cuda.rungs import Rung as Rung, rungs as rungs
from rooflab.labs.cuda.staircase import Staircase as Staircase, staircase as staircase
from rooflab.labs.cuda.stairs_picture import stairs as stairs
from rooflab.labs.cuda.occupancy_picture import multiprocessor as multiprocessor
from rooflab.labs.cuda.summary import Summary as Summary, summary as summary
