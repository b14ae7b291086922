from rooflab.labs.loops.legality.points import Arrow as Arrow, Instance as Instance
from rooflab.labs.loops.legality.verdict import Verdict as Verdict
from rooflab.labs.loops.nest import Nest as Nest
from rooflab.labs.loops.pictures.pipeline import pipeline as pipeline
from rooflab.labs.loops.pictures.space import space as space
