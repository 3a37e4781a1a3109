"""What the standard library's parser saw of a request and a CGI environ leaves out.

`http.client.parse_headers` drops a line that is no field, and a server that is built on it takes the first of several
Content-Type or Content-Length fields. An environ that says so is refused where a signature is verified.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from email.message import Message

_NAMELESS = "HTTP_"


def shown(request_line: str, fields: Message) -> dict[str, str]:
    """Return the environ variables that tell what was on the wire.

    Args:
        request_line: the request line, without its line end.
        fields: the header fields as parsed.

    Returns:
        `RAW_URI`, the target; `CONTENT_TYPE` and `CONTENT_LENGTH`, empty where the message has none and a list where it
        has several; and a field without a name where a line of the message was no field.
    """
    # All between the first and the last space: a request line of more than three parts is refused, not repaired.
    _, _, rest = request_line.partition(" ")
    variables = {
        "RAW_URI": rest.rpartition(" ")[0],
        "CONTENT_TYPE": ", ".join(fields.get_all("Content-Type", [])),
        "CONTENT_LENGTH": ", ".join(fields.get_all("Content-Length", [])),
    }
    return {**variables, _NAMELESS: ""} if fields.defects else variables
