"""The handler that lets wsgiref's server show the request target as it was on the wire.

`wsgiref.simple_server.make_server(host, port, app, handler_class=RawTargetHandler)`; for development, as wsgiref is.
"""

from __future__ import annotations

from typing import Any
from wsgiref.simple_server import WSGIRequestHandler

from undersigned.wsgi.message_fields import shown


class RawTargetHandler(WSGIRequestHandler):
    """A `WSGIRequestHandler` whose environ holds `RAW_URI`, and only what the message holds.

    wsgiref itself merges slashes, takes `Content_Type` for `Content-Type`, invents a Content-Type where the message has
    none, and drops lines that are no field.
    """

    def get_environ(self) -> dict[str, Any]:
        """Return the environ of the request, with the raw target."""
        for name in {name for name in self.headers if "_" in name}:
            del self.headers[name]
        return {**super().get_environ(), **shown(self.requestline, self.headers)}
