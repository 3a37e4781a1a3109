"""brand.json: where an operator publishes the keys of its agents (AdCP, Discovering keys, steps 2 to 7)."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final, cast

from undersigned.discovery.adcp.protocols import objects
from undersigned.discovery.fetch import Target
from undersigned.discovery.fetch_errors import UntrustedURL
from undersigned.discovery.registrable_domain import registrable_domain
from undersigned.errors import KeySourceError
from undersigned.message.timestamps import read_time

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Never

    from undersigned.errors import Reason

_VERSION: Final = 3
_MEMBERS: Final[tuple[tuple[str, tuple[type, ...]], ...]] = (
    ("agents", (list,)),
    ("brands", (list,)),
    ("house", (dict, str)),
)
"""What a brand.json has at least one of."""


def brand_url(capabilities: Mapping[str, object]) -> str:
    """Return the URL of the operator's brand.json that an agent's capabilities name (step 2).

    Raises:
        KeySourceError: `identity.brand_json_url` is absent or not an https URL, or the version is not known.
    """
    versions = _object(capabilities.get("adcp")).get("major_versions")
    url = _object(capabilities.get("identity")).get("brand_json_url")
    if not isinstance(url, str) or not url.startswith("https://"):
        if not isinstance(versions, list) or _VERSION not in versions:
            # What is not an answer in a version that is known says nothing of the agent.
            message = f"the agent's capabilities have no brand_json_url, and their major_versions no {_VERSION}"
            raise KeySourceError("signature_capabilities_unreachable", message)
        _fail("signature_brand_json_url_missing", "the agent's capabilities name no https brand_json_url")
    return url


def authorized_until(agent: str, url: str, brand: Mapping[str, object], *, now: float) -> float:
    """Return until when the operator's brand.json may speak for an agent (step 3), in seconds since the epoch.

    The agent and the brand.json have one registrable domain, or the brand.json delegates to the agent's.

    Args:
        agent: the agent's URL.
        url: the URL of the brand.json.
        brand: the brand.json.
        now: seconds since the epoch, for the time limits of a delegation.

    Raises:
        KeySourceError: neither is so.
    """
    domain = registrable_domain(Target.of(agent).host)
    if domain is None:
        _fail("signature_brand_origin_mismatch", "the agent's host has no registrable domain")
    if domain == registrable_domain(Target.of(url).host):
        return math.inf
    ends = [
        end
        for operator in objects(brand.get("authorized_operators"))
        if isinstance(named := operator.get("domain"), str)
        and named.lower() == domain
        and now < (end := _end(operator, now))
    ]
    if not ends:
        message = "the brand.json is not of the agent's domain, and does not authorize it"
        _fail("signature_brand_origin_mismatch", message)
    return max(ends)


def jwks_url(agent: str, brand: Mapping[str, object]) -> str:
    """Return the URL of the agent's JWK set (steps 5 and 6).

    It is `jwks_uri` of the one entry whose `url` equals the agent's, character by character, or else
    `/.well-known/jwks.json` at the agent's origin. The lists of a house and its brands may each have the same entry.

    Raises:
        KeySourceError: there is no such entry, or there are two that differ; or the document is no brand.json.
    """
    held = [isinstance(brand[name], kind) for name, kind in _MEMBERS if name in brand]
    if not held or not all(held):
        message = "the document has no agents, house or brands of a brand.json"
        raise KeySourceError("signature_brand_json_malformed", message)
    found: set[str] = set()
    for holder in (brand, _object(brand.get("house")), *objects(brand.get("brands"))):
        matching = [entry for entry in objects(holder.get("agents")) if entry.get("url") == agent]
        if len(matching) > 1:
            _fail("signature_brand_json_ambiguous", "the brand.json lists the agent's URL twice")
        found.update(_jwks_uri(agent, entry) for entry in matching)
    if not found:
        _fail("signature_agent_not_in_brand_json", "the brand.json lists no agent with exactly this URL")
    if len(found) > 1:
        _fail("signature_brand_json_ambiguous", "the brand.json lists the agent's URL with two jwks_uri")
    uri = found.pop()
    try:
        Target.of(uri)
    except UntrustedURL as untrusted:
        _fail("signature_jwks_untrusted", f"the agent's jwks_uri: {untrusted}")
    return uri


def check_key_origins(capabilities: Mapping[str, object], jwks: str, *, purpose: str) -> None:
    """Check that the agent's capabilities agree on where its keys are (step 7).

    Args:
        capabilities: the agent's capabilities.
        jwks: the URL of its JWK set.
        purpose: the member of `identity.key_origins` that must be there, such as `request_signing`.

    Raises:
        KeySourceError: a purpose is declared for another host, or `purpose` is not declared.
    """
    origins = _object(_object(capabilities.get("identity")).get("key_origins"))
    host = Target.of(jwks).host
    for declared in origins.values():
        if _host(declared) != host:
            _fail("signature_key_origin_mismatch", "the agent's key_origins name another host than its jwks_uri has")
    if purpose not in origins:
        _fail("signature_key_origin_missing", f"the agent's key_origins do not name {purpose}")


def _jwks_uri(agent: str, entry: Mapping[str, object]) -> str:
    uri = entry.get("jwks_uri")
    if uri is None:
        return f"https://{Target.of(agent).authority}/.well-known/jwks.json"
    if not isinstance(uri, str):
        _fail("signature_brand_json_malformed", "the agent's jwks_uri is not a string")
    return uri


def _end(operator: Mapping[str, object], now: float) -> float:
    """Return when a delegation ends; it has ended if it has not begun, or if a time cannot be read."""
    begins, ends = operator.get("valid_from"), operator.get("valid_until")
    has_begun = begins is None or read_time(begins) <= now
    return (math.inf if ends is None else read_time(ends)) if has_begun else -math.inf


def _host(declared: object) -> str | None:
    """Return the host of an origin, or of a host name alone."""
    if not isinstance(declared, str):
        return None
    try:
        return Target.of(declared if "://" in declared else f"https://{declared}").host
    except UntrustedURL:
        return None


def _object(value: object) -> Mapping[str, object]:
    return cast("Mapping[str, object]", value) if isinstance(value, dict) else {}


def _fail(reason: Reason, message: str) -> Never:
    raise KeySourceError(reason, message, definite=True)
