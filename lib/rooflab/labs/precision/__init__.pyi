from rooflab.labs.precision.blocks import Blocked as Blocked, block_quantise as block_quantise
from rooflab.labs.precision.formats import Format as Format, formats as formats
from rooflab.labs.precision.formats import quantise as quantise, running_sum as running_sum
from rooflab.labs.precision.integers import sliced_product as sliced_product, slices as slices
from rooflab.labs.precision.product import error as error, multiply as multiply
from rooflab.labs.precision.speedup import Published as Published, expected as expected
from rooflab.labs.precision.speedup import published as published
from rooflab.labs.precision.bits_picture import bits as bits
from rooflab.labs.precision.blocks_picture import blocks as blocks
from rooflab.labs.precision.ridge_picture import expectations as expectations, ridge as ridge
from rooflab.labs.precision.slices_picture import sliced as sliced
from rooflab.labs.precision.slices_picture import slices_needed as slices_needed
from rooflab.labs.precision.sums_picture import sums as sums
