from rooflab.labs.golf.curves import pieces as pieces, scores as scores
from rooflab.labs.golf.picture import golf as golf
from rooflab.labs.llm.layer_time import tokens as tokens
from rooflab.labs.llm.layer_walk import walk as walk
from rooflab.show.figures import Panel as Panel, Picture as Picture
from rooflab.show.published_picture import published as published
from rooflab.show.rooflines.figure import roofline as roofline
from rooflab.show.rooflines.points import Point as Point
from rooflab.show.waiting import say as say
from rooflab.show.waterfall_picture import waterfall as waterfall
