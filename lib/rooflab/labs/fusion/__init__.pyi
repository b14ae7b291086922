from rooflab.labs.fusion.chains import Chain as Chain, chains as chains
from rooflab.labs.fusion.table import blind_row as blind_row, blind_table as blind_table
from rooflab.labs.fusion.table import published as published
