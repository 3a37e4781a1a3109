"""What serves every server with an event loop: ASGI, and the frameworks with a server of their own."""

from undersigned.eventloop.guard import AsyncGuard
from undersigned.eventloop.received import TimedBody, WireBody, WireReceived

__all__ = ["AsyncGuard", "TimedBody", "WireBody", "WireReceived"]
