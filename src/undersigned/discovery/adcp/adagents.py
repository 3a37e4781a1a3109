"""adagents.json: the keys that a publisher pins for an agent that sells its inventory (adagents.json, signing_keys)."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, TypeAlias

from undersigned.discovery.adcp.conversation import objects
from undersigned.discovery.adcp.registrable import registrable_domain
from undersigned.discovery.cache import Copy
from undersigned.discovery.fetch import FetchRequest, Target
from undersigned.discovery.jwk_set import read_json_object
from undersigned.errors import KeySourceError, MalformedURL
from undersigned.limits import MOST_ADAGENTS_BYTES, MOST_REDIRECTS
from undersigned.message.timestamps import read_time
from undersigned.signature.thumbprint import thumbprint
from undersigned.url import canonicalize

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from undersigned.discovery.document import Loader

Pins: TypeAlias = "Mapping[str, float] | None"
"""Pinned keys: by thumbprint, the time in seconds since the epoch from which a key is revoked. None: no pin."""


async def load_pins(publisher: str, agent: str, loader: Loader, *, seconds: Callable[[], float]) -> Copy[Pins]:
    """Return the keys that a publisher pins for an agent.

    An `authoritative_location` is followed once, without redirects.

    Args:
        publisher: the publisher's domain.
        agent: the agent's URL; compared in canonical form.
        loader: fetches under the guard.
        seconds: returns for how long the next request may take.

    Raises:
        FetchError: the adagents.json cannot be fetched or read.
        KeySourceError: it does not authorize exactly one such agent.
    """
    request = FetchRequest(
        url=f"https://{publisher}/.well-known/adagents.json",
        max_bytes=MOST_ADAGENTS_BYTES,
        seconds=seconds(),
        redirects=MOST_REDIRECTS,
        may_redirect=_has_one_owner,
    )
    found = await loader.load(request, None, read_json_object)
    location = found.value.get("authoritative_location")
    if isinstance(location, str) and "authorized_agents" not in found.value:
        request = FetchRequest(url=location, max_bytes=MOST_ADAGENTS_BYTES, seconds=seconds())
        found = await loader.load(request, None, read_json_object)
    return Copy(_pins(found.value, agent), found.fetched, found.fresh_until)


def _pins(document: Mapping[str, object], agent: str) -> Pins:
    matching = [entry for entry in objects(document.get("authorized_agents")) if _is_same(entry.get("url"), agent)]
    if len(matching) != 1:
        message = "the publisher's adagents.json does not authorize the agent, or does so twice"
        raise KeySourceError("signature_key_unknown", message, definite=True)
    entry = matching[0]
    if "signing_keys" not in entry:
        return None
    pins: dict[str, float] = {}
    for jwk in objects(entry["signing_keys"]):
        if name := thumbprint(jwk):
            pins[name] = min(_revocation_time(jwk), pins.get(name, math.inf))
    return pins


def _revocation_time(jwk: Mapping[str, object]) -> float:
    """Return from when a pinned key is revoked; a time that cannot be read is long past."""
    value = jwk.get("revoked_at")
    moment = math.inf if value is None else read_time(value)
    return -math.inf if math.isnan(moment) else moment


def _is_same(url: object, agent: str) -> bool:
    try:
        return isinstance(url, str) and canonicalize(url, received=True) == canonicalize(agent, received=True)
    except MalformedURL:
        return False


def _has_one_owner(first: str, second: str) -> bool:
    domain = registrable_domain(Target.of(first).host)
    return domain is not None and domain == registrable_domain(Target.of(second).host)
