"""The pywsgi handler."""

from __future__ import annotations

from typing import Any

from gevent.pywsgi import WSGIHandler

from undersigned.wsgi.message_fields import shown


class RawTargetHandler(WSGIHandler):
    """A `WSGIHandler` whose environ holds `RAW_URI`, and only what the message holds."""

    def get_environ(self) -> dict[str, Any]:
        """Return the environ of the request, with the raw target."""
        return {**super().get_environ(), **shown(self.requestline or "", self.headers)}
