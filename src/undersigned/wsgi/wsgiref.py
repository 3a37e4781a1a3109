"""The request target and fields for servers that use the standard library's parser: wsgiref's, and gevent's.

`http.client.parse_headers` drops a line that is not a field, and a server built on it takes the first of several
Content-Type or Content-Length fields. The environ made here tells both, so that the middleware can reject the request.

For wsgiref: `wsgiref.simple_server.make_server(host, port, app, handler_class=RawTargetHandler)`. Like wsgiref itself,
it is for development.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from wsgiref.simple_server import WSGIRequestHandler

if TYPE_CHECKING:
    from email.message import Message

_NAMELESS = "HTTP_"


class RawTargetHandler(WSGIRequestHandler):
    """A `WSGIRequestHandler` whose environ has `RAW_URI`, and only what the message has.

    wsgiref itself merges slashes, takes `Content_Type` for `Content-Type`, invents a Content-Type if the message has
    none, and drops lines that are not fields.
    """

    def get_environ(self) -> dict[str, Any]:
        """Return the environ of the request, with the raw target."""
        for name in {name for name in self.headers if "_" in name}:
            del self.headers[name]
        return {**super().get_environ(), **wire_variables(self.requestline, self.headers)}


def wire_variables(request_line: str, fields: Message) -> dict[str, str]:
    """Return the environ variables that tell what was on the wire.

    Args:
        request_line: the request line, without its line end.
        fields: the headers as parsed.

    Returns:
        `RAW_URI`, the target. `CONTENT_TYPE` and `CONTENT_LENGTH`, empty if the message has none and a list if it has
        several. If a line of the message was not a field, also a field without a name.
    """
    # Everything between the first and the last space: a request line of more than three parts is rejected later.
    _, _, rest = request_line.partition(" ")
    variables = {
        "RAW_URI": rest.rpartition(" ")[0],
        "CONTENT_TYPE": ", ".join(fields.get_all("Content-Type", [])),
        "CONTENT_LENGTH": ", ".join(fields.get_all("Content-Length", [])),
    }
    return {**variables, _NAMELESS: ""} if fields.defects else variables
