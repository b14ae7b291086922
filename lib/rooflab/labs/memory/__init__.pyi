from rooflab.labs.memory.bandwidth_bars import bandwidth_bars as bandwidth_bars
from rooflab.labs.memory.bandwidths import Bandwidths as Bandwidths, bandwidths as bandwidths
from rooflab.labs.memory.belt import belt as belt
from rooflab.labs.memory.concurrency import Concurrency as Concurrency, concurrency as concurrency
from rooflab.labs.memory.energies.arch import energy_arch as energy_arch
from rooflab.labs.memory.energies.bill import Energy as Energy, energy as energy
from rooflab.labs.memory.energies.bill import energy_of as energy_of
from rooflab.labs.memory.energies.meter import Joules as Joules, joules as joules
from rooflab.labs.memory.energies.picture import energy_bars as energy_bars
from rooflab.labs.memory.energies.roofline import EnergyRoofline as EnergyRoofline
from rooflab.labs.memory.energies.roofline import energy_roofline as energy_roofline
from rooflab.labs.memory.energies.table import EnergyTable as EnergyTable
from rooflab.labs.memory.energies.table import energy_memories as energy_memories
from rooflab.labs.memory.energies.table import energy_table as energy_table
from rooflab.labs.memory.energies.table import energy_tables as energy_tables
from rooflab.labs.memory.mountain import Mountain as Mountain, mountain as mountain
from rooflab.labs.memory.rings import rings as rings
