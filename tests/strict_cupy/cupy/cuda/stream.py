"""cupy.cuda.stream: streams and events where CuPy keeps them."""

from .._gpu import Event, Stream, get_current_stream, get_elapsed_time

__all__ = ["Event", "Stream", "get_current_stream", "get_elapsed_time"]
