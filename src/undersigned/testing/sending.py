"""Requests that are sent as they are, by a test client that signs nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from undersigned.message.request import Request


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
