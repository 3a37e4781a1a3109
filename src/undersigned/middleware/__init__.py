"""What the ASGI and the WSGI middleware share."""

from undersigned.middleware.decision import Decision
from undersigned.middleware.wire import Mode

__all__ = [
    "Decision",
    "Mode",
]
