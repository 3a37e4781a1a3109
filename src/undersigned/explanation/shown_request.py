"""Shown requests: what a tool shows of a request, before it is read as one."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from undersigned.explanation.raw_request import MalformedRequest

_LINE_END: Final = re.compile(r"[\r\n\0]")
_URL: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://(?P<authority>[^/?#]*)")


@dataclass(frozen=True, slots=True)
class ShownRequest:
    """A request as a tool shows it. Its texts are bytes decoded as Latin-1.

    Attributes:
        method: the method.
        target: the request target, or the whole URL.
        fields: the header fields as (name, value) pairs.
        body: the content, or None if the tool does not show it.
    """

    method: str
    target: str
    fields: tuple[tuple[str, str], ...]
    body: bytes | None = None

    def head(self) -> bytes:
        """Return the request line and the header fields as HTTP/1.1. Host is added if only the URL names it.

        Raises:
            MalformedRequest: a part has a line end, so it cannot be part of a request.
        """
        target = self.target.partition("#")[0]
        fields = self.fields
        url = _URL.match(target)
        if url is not None and not any(name.lower() in {"host", ":authority"} for name, _ in fields):
            fields = (("Host", url["authority"].rpartition("@")[2]), *fields)
        lines = [f"{self.method} {target} HTTP/1.1", *(f"{name}: {value}" for name, value in fields)]
        if any(_LINE_END.search(line) for line in lines):
            raise MalformedRequest("the method, the URL or a header field has a line end in it")
        return "\r\n".join([*lines, "", ""]).encode("latin-1")

    @property
    def declares_content(self) -> bool:
        """Whether the fields say that there is content."""
        fields = {name.lower(): value.strip() for name, value in self.fields}
        return "transfer-encoding" in fields or fields.get("content-length", "0") != "0"
