from rooflab.labs.sparse.weights import GroupQuantised as GroupQuantised, Packed24 as Packed24
from rooflab.labs.sparse.weights import pack as pack, prune as prune
from rooflab.labs.sparse.weights import quantise_weights as quantise_weights
from rooflab.labs.sparse.products import gemv_24 as gemv_24, gemv_dense as gemv_dense
from rooflab.labs.sparse.products import gemv_int4 as gemv_int4, gemv_int8 as gemv_int8
from rooflab.labs.sparse.gain import GemvGain as GemvGain, gemv_gain as gemv_gain
from rooflab.labs.sparse.levers import ideal as ideal, levers as levers, published as published
from rooflab.labs.sparse.gain_picture import bars as bars
from rooflab.labs.sparse.levers_picture import marlin as marlin, marlin_batch as marlin_batch
from rooflab.labs.sparse.levers_picture import serving as serving, shapes as shapes
