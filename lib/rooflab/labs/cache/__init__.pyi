from rooflab.labs.cache.formula import gemm_bounds as gemm_bounds, smallest_cache as smallest_cache
from rooflab.labs.cache.formula import tile_ledger as tile_ledger
from rooflab.labs.cache.hierarchy import Cache as Cache, Hierarchy as Hierarchy
from rooflab.labs.cache.ledger import Ledger as Ledger
from rooflab.labs.cache.nests import gemm_stream as gemm_stream
from rooflab.labs.cache.sets_picture import sets as sets
from rooflab.labs.cache.simulator import simulate as simulate
from rooflab.labs.cache.stream import AccessStream as AccessStream, Guard as Guard
from rooflab.labs.cache.stream import Reference as Reference
from rooflab.labs.cache.tiles_picture import tiles as tiles
from rooflab.labs.cache.two_costs import TurnCost as TurnCost, turn_cost as turn_cost
