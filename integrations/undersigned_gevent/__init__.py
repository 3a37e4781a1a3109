"""gevent: a pywsgi handler that passes the raw request target to the application.

`gevent.pywsgi.WSGIServer(address, app, handler_class=RawTargetHandler)`
"""

from __future__ import annotations

from undersigned.errors import needs_extra

with needs_extra("gevent"):
    from .handler import RawTargetHandler

__all__ = ["RawTargetHandler"]
