"""adagents.json: the keys that a publisher pins for an agent that sells its inventory (adagents.json, signing_keys)."""

from __future__ import annotations

import math
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final
from urllib.parse import urljoin

from undersigned.discovery.adcp.protocols import objects
from undersigned.discovery.fetch import FetchRequest, Target
from undersigned.discovery.fetch_errors import FetchError, Redirected, Unreachable, UntrustedURL, UnusableDocument
from undersigned.discovery.jwk_set import read_json_object
from undersigned.discovery.kept_document import GONE, Copy
from undersigned.discovery.registrable_domain import registrable_domain
from undersigned.errors import KeySourceError, MalformedURL
from undersigned.limits import MOST_ADAGENTS_BYTES, MOST_AUTHORIZED_AGENTS, MOST_KEYS, MOST_REDIRECTS
from undersigned.message.timestamps import read_time
from undersigned.signature.jwk import thumbprint
from undersigned.url import canonicalize

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from undersigned.discovery.kept_document import Loader


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


NO_KEYS: Final = Pins("", {})
"""The pins of an agent that a publisher does not authorize any more."""


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
    try:
        found = _load(url, loader, seconds, redirects=MOST_REDIRECTS)
        fresh_until = found.fresh_until
        named = found.value.get("authoritative_location")
        if isinstance(named, str) and "authorized_agents" not in found.value:
            location = named
            found = _load(location, loader, seconds, redirects=0)
        keys = _pinned_keys(found.value, agent)
    except FetchError as error:
        is_gone = isinstance(error, Unreachable) and error.status in GONE
        has_moved = last is not None and location not in {"", last.location}
        if last is None or not (is_gone or has_moved):
            raise
        what = "the publisher's adagents.json" if is_gone else "the new place of the publisher's adagents.json"
        raise KeySourceError("signature_jwks_unavailable", f"{what}: {error}", definite=True) from error
    # Each document of the way may be withdrawn.
    return Copy(Pins(location, keys), found.fetched, min(fresh_until, found.fresh_until))


def _load(url: str, loader: Loader, seconds: Callable[[], float], *, redirects: int) -> Copy[Mapping[str, object]]:
    request = FetchRequest(url=url, max_bytes=MOST_ADAGENTS_BYTES, seconds=seconds())
    began = loader.clock()
    try:
        return loader.load(request, read_json_object)
    except Redirected as redirected:
        if not redirects:
            raise
        target = _redirect_target(url, redirected.fields.get("location", ""))
        found = _load(target, loader, seconds, redirects=redirects - 1)
        redirect_ends = began + loader.freshness.lifetime(redirected.fields)
        return Copy(found.value, found.fetched, min(found.fresh_until, redirect_ends))


def _pinned_keys(document: Mapping[str, object], agent: str) -> Mapping[str, float] | None:
    matching = _entries_of(agent, document)
    if len(matching) != 1:
        message = "the publisher's adagents.json does not authorize the agent, or does so twice"
        # What is no adagents.json says nothing of the agent.
        is_answer = isinstance(document.get("authorized_agents"), list)
        raise KeySourceError("signature_key_unknown", message, definite=is_answer)
    entry = matching[0]
    if "signing_keys" not in entry:
        return None
    pins: dict[str, float] = {}
    keys = objects(entry["signing_keys"])
    if len(keys) > MOST_KEYS:
        raise UnusableDocument(f"signing_keys has more than {MOST_KEYS} keys")
    for jwk in keys:
        if name := thumbprint(jwk):
            pins[name] = min(_revocation_time(jwk), pins.get(name, math.inf))
    return pins


def _revocation_time(jwk: Mapping[str, object]) -> float:
    """Return from when a pinned key is revoked; a time that cannot be read is long past."""
    value = jwk.get("revoked_at")
    moment = math.inf if value is None else read_time(value)
    return -math.inf if math.isnan(moment) else moment


def _entries_of(agent: str, document: Mapping[str, object]) -> list[Mapping[str, object]]:
    """Return the entries with the agent's URL, in any spelling of it.

    Raises:
        UnusableDocument: too many entries could be the agent's.
    """
    wanted, host = canonicalize(agent, received=True), Target.of(agent).host
    found: list[Mapping[str, object]] = []
    compared = 0
    for entry in objects(document.get("authorized_agents")):
        url = entry.get("url")
        if not isinstance(url, str):
            continue
        # Another host is seen at once, unless it is spelled with escapes or in another alphabet.
        if url.isascii() and "%" not in url and host not in url.lower():
            continue
        compared += 1
        if compared > MOST_AUTHORIZED_AGENTS:
            raise UnusableDocument(f"more than {MOST_AUTHORIZED_AGENTS} authorized_agents could be the agent")
        with suppress(MalformedURL):
            if canonicalize(url, received=True) == wanted:
                found.append(entry)
    return found


def _redirect_target(url: str, location: str) -> str:
    """Return the URL that a server redirects to, which must be of the same registrable domain.

    Raises:
        UntrustedURL: it is not.
    """
    try:
        target = urljoin(url, location)
    except ValueError:
        raise UntrustedURL("the server redirects to a malformed URL") from None
    domain = registrable_domain(Target.of(url).host)
    if not location or domain is None or domain != registrable_domain(Target.of(target).host):
        raise UntrustedURL("the server redirects to a URL that it may not redirect to")
    return target
