"""The pywsgi handler."""

from __future__ import annotations

from typing import Any

from gevent.pywsgi import WSGIHandler

from undersigned.wsgi.wsgiref import wire_variables


class RawTargetHandler(WSGIHandler):
    """A `WSGIHandler` whose environ has `RAW_URI`, and only what the message has."""

    def get_environ(self) -> dict[str, Any]:
        """Return the environ of the request, with the raw target."""
        return {**super().get_environ(), **wire_variables(self.requestline or "", self.headers)}
