"""adagents.json: the keys that a publisher pins for an agent that sells its inventory (adagents.json, signing_keys)."""

from __future__ import annotations

import math
import re
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Final
from urllib.parse import urljoin

from undersigned.discovery.adcp.protocols import objects
from undersigned.discovery.document_cache import Copy
from undersigned.discovery.fetch import FetchRequest, Target
from undersigned.discovery.fetch_errors import GONE, FetchError, Redirected, Unreachable, UntrustedURL, UnusableDocument
from undersigned.discovery.registrable_domain import registrable_domain
from undersigned.errors import KeySourceError, MalformedURL
from undersigned.limits import (
    LONGEST_URL,
    MOST_ADAGENTS_BYTES,
    MOST_AUTHORIZED_AGENTS,
    MOST_JWKS_BYTES,
    MOST_KEYS,
    MOST_REDIRECTS,
)
from undersigned.message.json_slices import values, whole
from undersigned.message.strict_json import loads
from undersigned.message.timestamps import read_time
from undersigned.signature.jwk import thumbprint
from undersigned.url import canonicalize

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence

    from undersigned.discovery.document_cache import Loader


@dataclass(frozen=True, slots=True)
class Pins:
    """What a publisher says of an agent's keys.

    Attributes:
        location: the URL that the adagents.json names as its `authoritative_location`, or "".
        keys: by thumbprint, the time in seconds since the epoch from which a key is revoked. None: all keys count.
    """

    location: str
    keys: Mapping[str, float] | None

    def ends_at(self, jwk: Mapping[str, object]) -> float:
        """Return until when a key counts, in seconds since the epoch; always past for a key that is not pinned."""
        return math.inf if self.keys is None else self.keys.get(thumbprint(jwk) or "", -math.inf)


@dataclass(frozen=True, slots=True)
class _Document:
    """What an adagents.json says of an agent.

    Attributes:
        location: its `authoritative_location` if it has no `authorized_agents`, or "".
        keys: the `signing_keys` of each of the agent's entries as JSON, or None if it has none.
            None: it lists no agents.
    """

    location: str
    keys: Sequence[bytes | None] | None


NO_KEYS: Final = Pins("", {})
"""The pins of an agent that a publisher does not authorize any more."""


_MAY_BE_OF: Final = (
    rb'"(?:u|\\u0075)(?:r|\\u0072)(?:l|\\u006[cC])"[ \t\n\r]*+:[ \t\n\r]*+'
    rb'"(?:[^"\\]|\\[^u]){0,16384}?(?:(?i:%b)|\\u|[%%\x80-\xff])'
)
"""A member `url` that has a host, escapes or another alphabet in it. Any other host is seen at once."""


def load_pins(
    publisher: str, agent: str, loader: Loader, *, last: Pins | None, seconds: Callable[[], float]
) -> Copy[Pins]:
    """Return the keys that a publisher pins for an agent.

    An `authoritative_location` is followed once, without redirects.

    Args:
        publisher: the publisher's domain.
        agent: the agent's URL; compared in canonical form.
        loader: fetches under the guard.
        last: the pins that were loaded last.
        seconds: returns for how long the next request may take.

    Raises:
        FetchError: the adagents.json cannot be fetched or read, or has too much in it for the agent.
        KeySourceError: it is gone, it does not authorize exactly one such agent, or it is elsewhere now and cannot be
            fetched there. The last pins do not count any more.
    """
    url, location = f"https://{publisher}/.well-known/adagents.json", ""
    read = partial(_read, agent=agent)
    try:
        found = _load(url, loader, seconds, read, redirects=MOST_REDIRECTS)
        fresh_until = found.fresh_until
        if location := found.value.location:
            found = _load(location, loader, seconds, read, redirects=0)
        keys = _pinned_keys(found.value)
    except FetchError as error:
        is_gone = isinstance(error, Unreachable) and error.status in GONE
        has_moved = last is not None and location not in {"", last.location}
        if last is None or not (is_gone or has_moved):
            raise
        what = "the publisher's adagents.json" if is_gone else "the new place of the publisher's adagents.json"
        raise KeySourceError("signature_jwks_unavailable", f"{what}: {error}", definite=True) from error
    # Each document of the way may be withdrawn.
    return Copy(Pins(location, keys), found.fetched, min(fresh_until, found.fresh_until))


def _load(
    url: str, loader: Loader, seconds: Callable[[], float], read: Callable[[bytes], _Document], *, redirects: int
) -> Copy[_Document]:
    request = FetchRequest(url=url, max_bytes=MOST_ADAGENTS_BYTES, seconds=seconds())
    began = loader.clock()
    try:
        return loader.load(request, read)
    except Redirected as redirected:
        if not redirects:
            raise
        target = _redirect_target(url, redirected.fields.get("location", ""))
        found = _load(target, loader, seconds, read, redirects=redirects - 1)
        redirect_ends = began + loader.freshness.lifetime(redirected.fields)
        return Copy(found.value, found.fetched, min(found.fresh_until, redirect_ends))


def _read(text: bytes, *, agent: str) -> _Document:
    """Return what an adagents.json says of an agent. What it says of others is passed over: there may be much of it."""
    wanted, host, compared = canonicalize(agent, received=True), Target.of(agent).host, 0
    hint = re.compile(_MAY_BE_OF % re.escape(host).encode("ascii"))
    keys: list[bytes | None] = []
    try:
        start = whole(text)
        if text[start : start + 1] != b"{":
            raise UnusableDocument("the document is not a JSON object")
        document = _members(text, start, ("authorized_agents", "authoritative_location"))
        listed = document.get("authorized_agents", b"")
        for _, start, _ in values(listed, 0, hint=hint):
            entry = _members(listed, start, ("url", "signing_keys"))
            url = entry.get("url")
            if url is None or not hint.match(b'"url":' + url):
                continue
            compared += 1
            if compared > MOST_AUTHORIZED_AGENTS:
                raise UnusableDocument(f"more than {MOST_AUTHORIZED_AGENTS} authorized_agents could be the agent")
            with suppress(MalformedURL):
                is_agent = canonicalize(_string(url), received=True) == wanted
                keys += [entry.get("signing_keys")] if is_agent else []
    except ValueError:
        raise UnusableDocument("the document is not JSON, or nested too deeply") from None
    location = "" if "authorized_agents" in document else _string(document.get("authoritative_location"))
    return _Document(location, keys if listed.startswith(b"[") else None)


def _members(text: bytes, at: int, names: Collection[str]) -> dict[str, bytes]:
    """Return some members of the value that begins at a place, each as JSON; none of what is not an object."""
    found: dict[str, bytes] = {}
    for name, start, end in values(text, at):
        if name in names:
            if name in found:
                raise UnusableDocument("the document repeats a key")
            found[name] = text[start:end]
    return found


def _string(text: bytes | None) -> str:
    """Return a JSON string that may be a URL, or "" for anything else."""
    value = None if text is None or len(text) > 8 * LONGEST_URL else loads(text)
    return value if isinstance(value, str) else ""


def _pinned_keys(document: _Document) -> Mapping[str, float] | None:
    if document.keys is None:
        # What is no adagents.json says nothing of the agent.
        raise UnusableDocument("the document has no array authorized_agents")
    if len(document.keys) != 1:
        message = "the publisher's adagents.json does not authorize the agent, or does so twice"
        raise KeySourceError("signature_key_unknown", message, definite=True)
    [text] = document.keys
    if text is None:
        return None
    if len(text) > MOST_JWKS_BYTES:
        raise UnusableDocument(f"signing_keys has more than {MOST_JWKS_BYTES} bytes")
    try:
        keys = objects(loads(text))
    except ValueError:
        raise UnusableDocument("signing_keys is not JSON, or has duplicate keys") from None
    if len(keys) > MOST_KEYS:
        raise UnusableDocument(f"signing_keys has more than {MOST_KEYS} keys")
    pins: dict[str, float] = {}
    for jwk in keys:
        if name := thumbprint(jwk):
            moment = read_time(jwk["revoked_at"]) if jwk.get("revoked_at") is not None else math.inf
            # A time that cannot be read is long past.
            pins[name] = -math.inf if math.isnan(moment) else min(moment, pins.get(name, math.inf))
    return pins


def _redirect_target(url: str, location: str) -> str:
    """Return the URL that a server redirects to, which must be of the same registrable domain."""
    try:
        target = urljoin(url, location)
    except ValueError:
        raise UntrustedURL("the server redirects to a malformed URL") from None
    domain = registrable_domain(Target.of(url).host)
    if not location or domain is None or domain != registrable_domain(Target.of(target).host):
        raise UntrustedURL("the server redirects to a URL that it may not redirect to")
    return target
