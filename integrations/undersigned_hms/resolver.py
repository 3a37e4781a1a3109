"""The component resolver that http-message-signatures is given, over the messages that it takes."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Protocol, cast

from http_message_signatures import HTTPMessageSignaturesException

from undersigned import MalformedURL, Request, Response, canonicalize
from undersigned.message import STRICT, Component, HeaderFields, Reading
from undersigned.signature import ComponentValues, ResponseValues, UnresolvableComponent

if TYPE_CHECKING:
    from collections.abc import Iterable

    from http_sf.compat import Item


class _Headers(Protocol):
    def items(self) -> Iterable[tuple[str, str]]: ...


class _Message(Protocol):
    """A request or a response; `request_target` and `trailers` are optional."""

    headers: _Headers


class _Sent(_Message, Protocol):
    method: str
    url: str


class _Answer(_Message, Protocol):
    status_code: int


class CanonicalComponentResolver:
    """The values of covered components as undersigned has them, for http-message-signatures.

    The target is brought into canonical form first. So signer and verifier agree whenever two spellings name the same
    resource. A request must then be sent to the canonical URL, which `target_uri` has. Trailers, request targets in
    every form, and structured fields of all registered types have values too. What is parsed is bounded.

    A subclass may set `reading`, for its own structured fields or lower-case methods.

    Args:
        message: the request or response, as http-message-signatures takes it. A request may have `request_target`, if
            that is not in origin-form. Both may have `trailers`, which are read like `headers`.

    Raises:
        HTTPMessageSignaturesException: the URL has no canonical form.
    """

    reading: ClassVar[Reading] = STRICT

    def __init__(self, message: object) -> None:
        self._request: ComponentValues | None = None
        self._values: ComponentValues | ResponseValues
        if hasattr(message, "status_code"):
            asked = getattr(message, "request", None)
            if asked is not None:
                self._request = self._request_values(cast("_Sent", asked))
            self._values = self._response_values(cast("_Answer", message))
        else:
            self._values = self._request = self._request_values(cast("_Sent", message))

    @property
    def target_uri(self) -> str | None:
        """The canonical URL of the request, or of the request that a response answers, if that is known."""
        return None if self._request is None else self._request.target.target_uri

    def resolve(self, component_node: Item) -> str:
        """Return the value of a component identifier.

        Raises:
            HTTPMessageSignaturesException: the message has no such component, or its value is not printable ASCII.
        """
        text = str(component_node)
        component = Component(str(component_node.value), text, bare=not component_node.params)
        try:
            return self._values.value(component)
        except UnresolvableComponent as unresolvable:
            raise HTTPMessageSignaturesException(str(unresolvable)) from None

    def _request_values(self, message: _Sent) -> ComponentValues:
        url = str(message.url)
        try:
            target = canonicalize(url)
        except MalformedURL as malformed:
            raise HTTPMessageSignaturesException(f"the URL has no canonical form: rule {malformed.rule!r}") from None
        return ComponentValues(
            Request(message.method, url, message.headers.items()),
            target,
            reading=self.reading,
            request_target=getattr(message, "request_target", None),
            trailers=_trailers(message),
        )

    def _response_values(self, message: _Answer) -> ResponseValues:
        response = Response(message.status_code, message.headers.items(), trailers=_trailers(message))
        return ResponseValues(response, self._request, reading=self.reading)


def _trailers(message: _Message) -> HeaderFields | None:
    trailers: _Headers | None = getattr(message, "trailers", None)
    return None if trailers is None else HeaderFields(trailers.items())
