from rooflab.labs.cuda.emulator.launch import launch as launch
from rooflab.labs.cuda.emulator.report import ArrayTraffic as ArrayTraffic, Fault as Fault, KernelFault as KernelFault, LineTraffic as LineTraffic, Run as Run, SharedTraffic as SharedTraffic, Thread as Thread, Traffic as Traffic
