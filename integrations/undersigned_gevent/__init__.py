"""gevent: a pywsgi handler that shows the request target as it was on the wire.

`gevent.pywsgi.WSGIServer(address, app, handler_class=RawTargetHandler)`
"""

from __future__ import annotations

from .handler import RawTargetHandler

__all__ = ["RawTargetHandler"]
