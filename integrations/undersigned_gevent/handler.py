"""The pywsgi handler."""

from __future__ import annotations

from typing import Any

from gevent.pywsgi import WSGIHandler

from undersigned.wsgi.wsgiref import wire_variables


class RawTargetHandler(WSGIHandler):
    """A `WSGIHandler` that adds `RAW_URI` to the environ and removes values that are not from the message."""

    def get_environ(self) -> dict[str, Any]:
        """Return the environ of the request, with the raw target."""
        return {**super().get_environ(), **wire_variables(self.requestline or "", self.headers)}
