"""What serves every server with an event loop: ASGI, and the frameworks with a server of their own.

Its guard blocks none, it reads the headers as bytes, and a body must come within a time.
"""

from undersigned.eventloop.guard import AsyncGuard
from undersigned.eventloop.received import WireBody, WireReceived
from undersigned.eventloop.timed_body import TimedBody

__all__ = ["AsyncGuard", "TimedBody", "WireBody", "WireReceived"]
