"""gevent: a pywsgi handler that passes the raw request target to the application.

`gevent.pywsgi.WSGIServer(address, app, handler_class=RawTargetHandler)`
"""

from __future__ import annotations

import logging
from typing import Any

from undersigned.errors import needs_extra
from undersigned.wsgi.wsgiref import wire_variables

with needs_extra("gevent"):
    from gevent.monkey import is_module_patched
    from gevent.pywsgi import WSGIHandler

__all__ = ["RawTargetHandler"]

if not is_module_patched("threading"):
    logging.getLogger("undersigned").warning(
        "gevent has not patched the standard library, so a request that waits for keys or for a replay store stops all "
        "others: call gevent.monkey.patch_all() before every other import"
    )


class RawTargetHandler(WSGIHandler):
    """A `WSGIHandler` that adds `RAW_URI` to the environ and removes values that are not from the message."""

    def get_environ(self) -> dict[str, Any]:
        """Return the environ of the request, with the raw target."""
        return {**super().get_environ(), **wire_variables(self.requestline or "", self.headers)}
