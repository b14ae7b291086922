from rooflab.labs.sparse.weights import GroupQuantised as GroupQuantised, Packed24 as Packed24
from rooflab.labs.sparse.weights import pack as pack, prune as prune
from rooflab.labs.sparse.weights import quantise_weights as quantise_weights
from rooflab.labs.sparse.products import gemv as gemv
from rooflab.labs.sparse.gain import GemvGain as GemvGain, gemv_gain as gemv_gain
from rooflab.labs.sparse.levers import ideal as ideal, levers as levers, published as published
from rooflab.labs.sparse.gain_picture import bars as bars
from rooflab.labs.sparse.levers_picture import marlin as marlin, marlin_batch as marlin_batch
from rooflab.labs.sparse.levers_picture import serving as serving, shapes as shapes
