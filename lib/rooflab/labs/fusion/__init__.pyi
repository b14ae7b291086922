from rooflab.labs.fusion.attention import attend as attend, predict_attention as predict_attention
from rooflab.labs.fusion.attention import attention_gain as attention_gain
from rooflab.labs.fusion.chains import Chain as Chain, Step as Step, chains as chains
from rooflab.labs.fusion.costs import Costs as Costs, costs as costs
from rooflab.labs.fusion.gain import Gain as Gain, Terms as Terms, gain as gain
from rooflab.labs.fusion.gain import predict_chain as predict_chain
from rooflab.labs.fusion.recompute import Activations as Activations, activations as activations
from rooflab.labs.fusion.table import Published as Published, Row as Row, blind_table as blind_table
from rooflab.labs.fusion.picture import bets as bets, ways as ways
from rooflab.labs.fusion.blocks_picture import blocks as blocks
