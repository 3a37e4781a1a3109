"""What the ASGI and the WSGI middleware share."""

from undersigned.middleware.decision import Decision
from undersigned.middleware.options import Mode

__all__ = [
    "Decision",
    "Mode",
]
