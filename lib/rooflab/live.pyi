from rooflab.labs.golf.live import golf as golf
from rooflab.labs.llm.film.live import film as film
from rooflab.labs.llm.linear_layer import layer as layer
from rooflab.labs.memory.picture import mountain as mountain
from rooflab.show.free_lunch_picture import free_lunch as free_lunch
from rooflab.show.rooflines.live import box as box, roofline as roofline
from rooflab.show.time_to_roofline import morph as morph
