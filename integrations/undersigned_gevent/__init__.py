"""gevent: a pywsgi handler that passes the raw request target to the application.

`gevent.pywsgi.WSGIServer(address, app, handler_class=RawTargetHandler)`
"""

from __future__ import annotations

from undersigned.errors import missing_extra

try:
    from .handler import RawTargetHandler
except ModuleNotFoundError as missing:
    raise missing_extra("gevent", missing) from missing

__all__ = ["RawTargetHandler"]
