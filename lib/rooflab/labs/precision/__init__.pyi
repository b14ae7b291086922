from rooflab.labs.precision.blocks import Blocked as Blocked, block_quantise as block_quantise
from rooflab.labs.precision.formats import Format as Format, formats as formats
from rooflab.labs.precision.formats import quantise as quantise, running_sum as running_sum
from rooflab.labs.precision.integers import dp4a as dp4a, pack4 as pack4
from rooflab.labs.precision.integers import sliced_product as sliced_product, slices as slices
from rooflab.labs.precision.product import error as error, multiply as multiply
from rooflab.labs.precision.speedup import Published as Published, expected as expected
from rooflab.labs.precision.speedup import published as published
