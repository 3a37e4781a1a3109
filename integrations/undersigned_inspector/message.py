"""The request in the page: its lines, cut into the parts that components cover, and the components."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from undersigned.errors import printable
from undersigned.url import URL

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from undersigned import Request

    Piece = dict[str, str]

_LONGEST_BODY: Final = 4096
_LONGEST_VALUE: Final = 8192

_PARTS: Final[dict[str, tuple[str, ...]]] = {
    "@method": ("method",),
    "@target-uri": ("host", "path", "query"),
    "@authority": ("host",),
    "@scheme": (),
    "@request-target": ("path", "query"),
    "@path": ("path",),
    "@query": ("query",),
    "@query-param": ("query",),
    "@signature-params": ("field signature-input",),
    "content-digest": ("field content-digest", "body"),
    "(request-target)": ("method", "path", "query"),
    "host": ("host",),
    "digest": ("field digest", "body"),
}
"""The parts of a request that each component is made of; any other component is a header field."""


def request_view(request: Request, *, is_whole: bool) -> dict[str, object]:
    """Return a request as the page shows it.

    Args:
        request: the request.
        is_whole: whether its content is known.
    """
    url = URL.parse(request.url)
    body = _body(request.body) if is_whole else "(the content is not in what was pasted)"
    return {
        "lines": message_lines(request.method, url.path, url.query, request.fields),
        "body": body,
        "url": printable(request.url, limit=_LONGEST_VALUE),
    }


def message_lines(method: str, path: str, query: str | None, fields: Iterable[tuple[str, str]]) -> list[list[Piece]]:
    """Return the request line and the header fields, each as pieces of text, some of which are parts of the request."""
    first = [_piece(method, "method"), _piece(" "), _piece(path, "path")]
    if query is not None:
        first.append(_piece(f"?{query}", "query"))
    lines = [first]
    for name, value in fields:
        line = [_piece(f"{name}: ", f"field {name}"), _piece(value, f"field {name}")]
        if name in {"host", ":authority"}:
            line[1]["also"] = "host"
        lines.append(line)
    return lines


def component_views(base: str | None) -> list[dict[str, object]]:
    """Return the components of a base, each with the parts of the request that it is made of."""
    if base is None:
        return []
    views: list[dict[str, object]] = []
    for line in base.split("\n"):
        identifier, _, value = line.partition(": ")
        name = identifier.split('"')[1] if identifier.count('"') > 1 else identifier
        views.append(
            {
                "identifier": printable(identifier),
                "value": printable(value, limit=_LONGEST_VALUE),
                "parts": parts_of(name),
            }
        )
    return views


def parts_of(name: str) -> Sequence[str]:
    """Return the parts of a request that the component `name` is made of."""
    return _PARTS.get(name, (f"field {name}",))


def _piece(text: str, part: str = "") -> Piece:
    return {"text": printable(text, limit=_LONGEST_VALUE), "part": part}


def _body(body: bytes) -> str:
    text = body[:_LONGEST_BODY].decode("utf-8", "backslashreplace")
    shown = "".join(one if one.isprintable() or one == "\n" else printable(one) for one in text)
    return shown if len(body) <= _LONGEST_BODY else f"{shown}... ({len(body)} bytes)"
