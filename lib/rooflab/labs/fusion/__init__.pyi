from rooflab.labs.fusion.chains import Chain as Chain, chains as chains
from rooflab.labs.fusion.costs import Cost as Cost, Costs as Costs, costs as costs
from rooflab.labs.fusion.table import blind_row as blind_row, blind_table as blind_table
from rooflab.labs.fusion.table import published as published
from rooflab.labs.fusion.gain import Gain as Gain, Terms as Terms, gain as gain
from rooflab.labs.fusion.gain import predict_chain as predict_chain
from rooflab.labs.fusion.gain import rows_beyond_caches as rows_beyond_caches
from rooflab.labs.fusion.picture import ways as ways
