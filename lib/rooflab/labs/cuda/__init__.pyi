from rooflab.labs.cuda.available import here as here
from rooflab.labs.cuda.compiler import compile as compile
from rooflab.labs.cuda.cubin import occupancy as occupancy, sass as sass
from rooflab.labs.cuda.device import Device as Device, SimulatedGpu as SimulatedGpu
from rooflab.labs.cuda.emulator.cuda_text import emulate as emulate
from rooflab.labs.cuda.emulator.launch import launch as launch
from rooflab.labs.cuda.emulator.report import KernelFault as KernelFault
from rooflab.labs.cuda.lanes_picture import banks as banks, coalescing as coalescing
from rooflab.labs.cuda.loader import load as load, plan as plan
from rooflab.labs.cuda.modules import imported_as_cupy as imported_as_cupy
from rooflab.labs.cuda.standin import StandIn as StandIn
from rooflab.labs.cuda.rungs import rungs as rungs
from rooflab.labs.cuda.staircase import staircase as staircase
from rooflab.labs.cuda.stairs_picture import stairs as stairs
from rooflab.labs.cuda.occupancy_picture import multiprocessor as multiprocessor
from rooflab.labs.cuda.summary import summary as summary
from rooflab.labs.cuda.fragments_picture import fragments as fragments
from rooflab.labs.cuda.pipeline_picture import pipeline as pipeline
from rooflab.labs.cuda.waves_picture import library_times as library_times, waves as waves
from rooflab.labs.cuda.cluster_picture import cluster as cluster, cluster_saving as cluster_saving
from rooflab.labs.cuda.ncu import ncu as ncu
from rooflab.labs.cuda.listing_picture import listing as listing, loop_kinds as loop_kinds
from rooflab.labs.cuda.register_picture import register_tile as register_tile
from rooflab.labs.cuda.order_picture import order as order
