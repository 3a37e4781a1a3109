"""Operations over JSON-RPC 2.0, as in MCP: only the method `tools/call` has an operation."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, cast

from undersigned.errors import ConfigurationError
from undersigned.policy.operation import (
    Operation,
    PathResolver,
    UnresolvedOperation,
    content_of,
    is_name,
    members,
    path_segments,
    spellings,
)

if TYPE_CHECKING:
    from undersigned.message.request import Request
    from undersigned.message.strict_json import JSONValue

TOOL_CALL = "tools/call"
"""The one method of MCP that calls an operation."""

_ENVELOPE = spellings("jsonrpc", "id", "method", "params", "result", "error")
_TOOL = spellings("name", "arguments")


@dataclass(frozen=True, slots=True)
class AtPaths:
    """The paths at which JSON-RPC is spoken. A resolver reads every other path as `PathResolver` does.

    Args:
        path: the path, or several, such as `/mcp`. A request is there if its path contains these segments in a row, in
            any case, or if these end with its path. Neither a mount nor a slash hides it. None: all paths.

    Raises:
        ConfigurationError: `path` is not a path with a segment.
    """

    path: str | Collection[str] | None = None
    _runs: tuple[str, ...] = field(init=False, repr=False, compare=False, default=())

    def __post_init__(self) -> None:
        """Check the paths."""
        paths: object = [self.path] if isinstance(self.path, str) else [] if self.path is None else self.path
        is_list = isinstance(paths, Collection) and not isinstance(paths, bytes)
        given = list(cast("Collection[object]", paths)) if is_list else [paths]
        if (self.path is not None and not given) or not all(
            isinstance(one, str) and one.startswith("/") and one.strip("/") for one in given
        ):
            raise ConfigurationError("path: give a path such as '/mcp', or leave it out: then every path is JSON-RPC's")
        object.__setattr__(self, "_runs", tuple(_run(cast("str", one).split("/")) for one in given))

    def are_elsewhere(self, segments: list[str]) -> bool:
        """Return whether the segments of a path are none of these."""
        run = _run(segments)
        return bool(self._runs) and not any(one in run or (run != "/" and one.endswith(run)) for one in self._runs)


def _run(segments: list[str]) -> str:
    """Return segments without case, each between slashes."""
    return "/".join(["", *filter(None, segments), ""]).casefold()


@dataclass(frozen=True, slots=True)
class JSONRPCResolver(AtPaths):
    """A resolver for JSON-RPC: the operation is the `params.name` of a `tools/call`.

    A request has no operation if it has another method, or has no content and is not a POST. A JSON-RPC response, which
    is a client's answer to the server's own request, has no operation either. But the handshake of a WebSocket must be
    signed, with content or without, because envelopes may come over the socket, and nobody resolves these.

    Two readers could find different operations in content that is not one JSON object, such as a batch, in an envelope
    without `jsonrpc` 2.0, without a method, or with a member name in another case, and in a `tools/call` without a
    name. AdCP rejects such content, signed or not. With another profile, a signed one passes. An unsigned one passes
    unless a string in it may be the name of a listed operation.

    Args:
        path: the path of the JSON-RPC endpoint, or several, such as `/mcp`. At other paths, the operation is the last
            segment of the path, as with `PathResolver`. None: every path is such an endpoint.
    """

    reads_body = True
    comes_first = False

    def resolve(self, request: Request) -> Operation:
        """Return the operation that the envelope names.

        Raises:
            UnresolvedOperation: two readers could find different operations.
        """
        if self._runs and self.are_elsewhere(path_segments(request)):
            return PathResolver().resolve(request)
        if is_bare(request):
            return unless_handshake(Operation(), request)
        content = content_of(request)
        method, params = read_envelope(content)
        name = tool_name(params) if method == TOOL_CALL else None
        return unless_handshake(Operation(name, method, content), request)


def is_bare(request: Request) -> bool:
    """Return whether the request has no content and needs none, such as a GET that opens a stream."""
    return not request.body and not request.has_body and request.method != "POST"


def unless_handshake(operation: Operation, request: Request) -> Operation:
    """Return the operation of a request, as unknown if the request opens a WebSocket (RFC 6455, RFC 8441).

    Content does not change that: over WSGI, a server may open the socket and ignore the content.
    """
    fields = request.fields.combined
    # HTTP/2 has no Upgrade.
    is_handshake = "sec-websocket-version" in fields or "websocket" in fields.get("upgrade", "").lower()
    return replace(operation, is_unknown=True) if is_handshake else operation


def read_envelope(content: JSONValue) -> tuple[str | None, JSONValue]:
    """Return the method and the params of an envelope, or None and None if it is a response.

    Raises:
        UnresolvedOperation: `content` is not an envelope, or two readers could read it differently.
    """
    envelope = members(content, _ENVELOPE, of="JSON-RPC envelope")
    if envelope.get("jsonrpc") != "2.0":
        raise UnresolvedOperation("the envelope is not of JSON-RPC 2.0")
    if "method" not in envelope and "params" not in envelope and ("result" in envelope) != ("error" in envelope):
        return None, None
    method = envelope.get("method")
    if not is_name(method):
        raise UnresolvedOperation("the envelope has no method")
    if "result" in envelope or "error" in envelope:
        raise UnresolvedOperation("the envelope is a request and a response")
    return method, envelope.get("params")


def tool_name(params: JSONValue) -> str:
    """Return the name a `tools/call` calls.

    Raises:
        UnresolvedOperation: there is no such name.
    """
    name = members(params, _TOOL, of="tools/call").get("name")
    if not is_name(name):
        raise UnresolvedOperation("the tools/call has no name")
    return name
