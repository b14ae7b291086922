from rooflab.labs.search import operators as operators
from rooflab.labs.search.pictures.growth import growth as growth
from rooflab.labs.search.pictures.trail import trail as trail
from rooflab.labs.search.pictures.tree import tree as tree
from rooflab.labs.search.rewrite.cost import total as total
from rooflab.labs.search.rewrite.egraph import EGraph as EGraph
from rooflab.labs.search.rewrite.expression import Expression as Expression
from rooflab.labs.search.rewrite.expression import elementwise as elementwise, matrix as matrix
from rooflab.labs.search.rewrite.expression import vector as vector
from rooflab.labs.search.rewrite.rules import rules as rules
from rooflab.labs.search.rewrite.simplify import Simplified as Simplified, greedy as greedy
from rooflab.labs.search.rewrite.simplify import simplify as simplify
from rooflab.labs.search.schedules.beam import search as search
from rooflab.labs.search.schedules.moves import space as space
from rooflab.labs.search.schedules.result import Candidate as Candidate, Search as Search
from rooflab.labs.search.statement import Operator as Operator, operator as operator
