"""The guarded fetch: one request to an https URL that a peer may have chosen (AdCP, Webhook URL validation).

The host's name is resolved once, every address is checked, and the connection goes to an address that was checked. So
it does not matter if the name resolves to another address later. SNI names the URL's host, and the certificate must be
for it. Cookies, proxies and .netrc are not used. Redirects are not followed unless the request allows them.
"""

from __future__ import annotations

import math
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Protocol
from urllib.parse import urljoin

from undersigned.discovery.failures import NotConnected, Unreachable, UntrustedURL
from undersigned.errors import MalformedURL
from undersigned.limits import LONGEST_URL, MOST_TRIES
from undersigned.url import URL, canonicalize

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from undersigned.discovery.network import Network, Resolver


_HTTPS_PORT = 443
_REDIRECTS = frozenset({301, 302, 303, 307, 308})


@dataclass(frozen=True, slots=True, kw_only=True)
class FetchRequest:
    """A request of the guarded fetch, and what it allows.

    Attributes:
        url: an https URL.
        max_bytes: upper bound on the bytes of the body, after decoding.
        method: the method.
        accept: the media types that are asked for.
        content: the content, or None.
        fields: further header fields.
        seconds: a further upper bound on the seconds that the fetch may take, next to `Network.total_timeout`.
        redirects: how many redirects are followed at most.
        may_redirect: tells whether the first URL may redirect to the second one. None: no URL may redirect.
        ends: takes the next bytes of the body, and returns whether the rest is not needed.
    """

    url: str
    max_bytes: int
    method: str = "GET"
    accept: str = "application/json"
    content: bytes | None = None
    fields: Sequence[tuple[str, str]] = ()
    seconds: float = math.inf
    redirects: int = 0
    may_redirect: Callable[[str, str], bool] | None = None
    ends: Callable[[bytes], bool] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class FetchResponse:
    """The response of a server.

    Attributes:
        url: the URL that answered, after redirects.
        status: the status code.
        fields: the header fields by lower-case name; several lines of one name are joined with `, `.
        body: the decoded body; read only if the status is 200.
    """

    url: str
    status: int
    fields: Mapping[str, str] = field(repr=False)
    body: bytes = field(repr=False)


@dataclass(frozen=True, slots=True)
class Target:
    """The server and the request target that a request goes to.

    Attributes:
        host: a name, or an address without brackets.
        port: the port.
        authority: host and port as the Host field has them.
        path_and_query: the request target.
    """

    host: str
    port: int
    authority: str
    path_and_query: str

    @classmethod
    def of(cls, url: str) -> Target:
        """Return the target of an https URL, in its canonical form.

        Raises:
            UntrustedURL: `url` is malformed, longer than 2,048 characters, not https, or has user info.
        """
        if len(url) > LONGEST_URL:
            raise UntrustedURL(f"the URL has more than {LONGEST_URL} characters")
        try:
            canonical = canonicalize(url, received=True)
        except MalformedURL as malformed:
            raise UntrustedURL(f"the URL is rejected by the rule {malformed.rule!r}") from None
        if canonical.scheme != "https":
            raise UntrustedURL("the URL is not an https URL")
        if URL.parse(url).userinfo is not None:
            raise UntrustedURL("the URL has user info")
        start = len("https://") + len(canonical.authority)
        return cls(
            canonical.host.strip("[]"),
            _HTTPS_PORT if canonical.port is None else canonical.port,
            canonical.authority,
            canonical.target_uri[start:],
        )


class FetchIO(Protocol):
    """The IO of a fetch: one implementation blocks, the other awaits."""

    async def resolve(self, resolver: Resolver, host: str, port: int) -> Sequence[str]:
        """Return the addresses that `resolver` finds for a host.

        Raises:
            OSError: it finds none.
        """
        ...

    async def exchange(self, request: FetchRequest, target: Target, address: str) -> FetchResponse:
        """Send `request` to `address` and return the response.

        Raises:
            NotConnected: there was no connection, so that another address can be tried.
            Unreachable: the exchange failed or took too long.
            UnusableDocument: the body is too large or wrongly encoded.
        """
        ...


async def fetch(request: FetchRequest, network: Network, io: FetchIO) -> FetchResponse:
    """Return the response of the server of `request.url`, fetched under the guard.

    Raises:
        UntrustedURL: the URL, or one that it redirects to, must not be fetched.
        Unreachable: the server did not answer in time, or redirected although that is not allowed.
        UnusableDocument: the answer is too large or wrongly encoded.
    """
    for _ in range(request.redirects):
        response = await _fetch_one(request, network, io)
        if response.status not in _REDIRECTS:
            return response
        request = replace(request, url=_redirect_target(request, response.fields.get("location", "")))
    response = await _fetch_one(request, network, io)
    if response.status in _REDIRECTS:
        raise Unreachable("the server answers with a redirect, which is not followed", status=response.status)
    return response


async def _fetch_one(request: FetchRequest, network: Network, io: FetchIO) -> FetchResponse:
    target = Target.of(request.url)
    try:
        answers = await io.resolve(network.resolve, target.host, target.port)
    except (OSError, UnicodeError) as error:
        raise Unreachable("the host has no address") from error
    addresses = network.check(answers)
    *others, last = addresses[:MOST_TRIES]
    for address in others:
        with suppress(NotConnected):
            return await io.exchange(request, target, address)
    return await io.exchange(request, target, last)


def _redirect_target(request: FetchRequest, location: str) -> str:
    try:
        url = urljoin(request.url, location)
    except ValueError:
        raise UntrustedURL("the server redirects to a malformed URL") from None
    if not location or request.may_redirect is None or not request.may_redirect(request.url, url):
        raise UntrustedURL("the server redirects to a URL that it may not redirect to")
    return url
