"""The handler that lets wsgiref's server show the request target as it was on the wire.

`wsgiref.simple_server.make_server(host, port, app, handler_class=RawTargetHandler)`; for development, as wsgiref is.
"""

from __future__ import annotations

from typing import Any
from wsgiref.simple_server import WSGIRequestHandler


class RawTargetHandler(WSGIRequestHandler):
    """A `WSGIRequestHandler` whose environ holds `RAW_URI`, and only what the message holds.

    wsgiref itself merges slashes, takes `Content_Type` for `Content-Type` and invents a Content-Type where the
    message has none.
    """

    def get_environ(self) -> dict[str, Any]:
        """Return the environ of the request, with the raw target."""
        for name in {name for name in self.headers if "_" in name}:
            del self.headers[name]
        environ: dict[str, Any] = super().get_environ()
        if "Content-Type" not in self.headers:
            del environ["CONTENT_TYPE"]
        # All between the first and the last space: a request line of more than three parts is refused, not repaired.
        _, _, rest = self.requestline.partition(" ")
        environ["RAW_URI"] = rest.rpartition(" ")[0]
        return environ
