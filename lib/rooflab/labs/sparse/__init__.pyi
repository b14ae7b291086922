from rooflab.labs.sparse.pruning import Packed24 as Packed24, pack as pack, prune as prune
from rooflab.labs.sparse.quantised import GroupQuantised as GroupQuantised
from rooflab.labs.sparse.quantised import quantise_weights as quantise_weights
from rooflab.labs.sparse.products import gemv_24 as gemv_24, gemv_dense as gemv_dense
from rooflab.labs.sparse.products import gemv_int4 as gemv_int4, gemv_int8 as gemv_int8
from rooflab.labs.sparse.gain import GemvGain as GemvGain, gemv_gain as gemv_gain
from rooflab.labs.sparse.batch import BatchGain as BatchGain, batch_gain as batch_gain
from rooflab.labs.sparse.levers import Lever as Lever, Published as Published, ideal as ideal
from rooflab.labs.sparse.levers import levers as levers, published as published
