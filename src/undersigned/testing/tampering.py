"""Changes to a signed request that a verifier must reject, and how to send it as it is."""

from __future__ import annotations

import re
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, get_args

from undersigned.errors import ConfigurationError
from undersigned.message.request import Request

if TYPE_CHECKING:
    from collections.abc import Callable

Part: TypeAlias = Literal["method", "path", "query", "authority", "body", "created", "signature"]
"""A part of a request that `tamper` changes."""

PARTS: tuple[Part, ...] = get_args(Part)
"""All parts that `tamper` changes."""

_AUTHORITY = re.compile(r"(?<=://)[^/?]+")
_CREATED = re.compile(r"(?<=;created=)\d+")
_SIGNATURE = re.compile(r"(?<==:)[A-Za-z0-9+/_-]")


def tamper(request: Request, part: Part) -> Request:
    """Return a copy of a signed request with one part changed. No verifier may accept it.

    Args:
        request: the request with its signature fields.
        part: the part to change; `PARTS` lists them all.

    Raises:
        ConfigurationError: `part` is not one of `PARTS`, or the request has no such part.
    """
    path, mark, query = request.url.partition("?")
    changed: dict[str, str | bytes] = {"method": request.method, "url": request.url, "body": request.body}
    fields = list(request.fields)
    match part:
        case "method":
            changed["method"] = "PUT" if request.method == "POST" else "POST"
        case "path":
            changed["url"] = f"{path}x{mark}{query}"
        case "query":
            changed["url"] = f"{path}?{query}x=1"
        case "authority":
            changed["url"] = _AUTHORITY.sub("tampered.example", request.url, count=1)
            fields = [(name, value) for name, value in fields if name not in {"host", ":authority"}]
        case "body":
            # With one more space it is the same JSON, but other octets.
            changed["body"] = request.body + b" "
        case "created":
            fields = _with(fields, "signature-input", lambda value: _CREATED.sub(lambda at: str(int(at[0]) + 1), value))
        case "signature":
            other = partial(_SIGNATURE.sub, lambda at: "B" if at[0] == "A" else "A")
            fields = _with(fields, "signature", other)
        case _:
            raise ConfigurationError(f"part: use one of {', '.join(PARTS)}")
    tampered = Request(str(changed["method"]), str(changed["url"]), fields, changed["body"])
    if tampered == request:
        raise ConfigurationError(f"part: the request has no {part} to change; pass a signed request")
    return tampered


def _with(fields: list[tuple[str, str]], name: str, change: Callable[[str], str]) -> list[tuple[str, str]]:
    return [(field, change(value) if field == name else value) for field, value in fields]


def send(client: Any, request: Request) -> Any:
    """Send a request with exactly its method, URL, headers and body, such as one that `tamper` changed.

    Args:
        client: a client that signs nothing: of httpx or Starlette, a `requests.Session`, or Werkzeug's test client.
        request: the request with its signature.

    Returns:
        What the client returns, which is its response or an awaitable of it.
    """
    headers = {name: value for name, value in request.fields if name not in {"host", "content-length"}}
    if hasattr(client, "open"):
        scheme, _, rest = request.url.partition("://")
        authority, slash, path = rest.partition("/")
        origin = f"{scheme}://{authority}"
        return client.open(slash + path, base_url=origin, method=request.method, headers=headers, data=request.body)
    content = "data" if hasattr(client, "mount") else "content"
    options: dict[str, Any] = {"headers": headers, content: request.body}
    return client.request(request.method, request.url, **options)
