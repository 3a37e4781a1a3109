"""Key sources for UCP: the keys in the profile that a request's UCP-Agent names (UCP, signatures.md and overview)."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Final

from undersigned.discovery.fetch import FetchRequest, Target
from undersigned.discovery.fetch_errors import UntrustedURL, source_errors
from undersigned.discovery.freshness import Freshness
from undersigned.discovery.jwk_set import read_json_object, read_jwk_set
from undersigned.discovery.network import Network
from undersigned.discovery.sender_limits import NamedKeys, TrustedAgents, trusted_urls
from undersigned.errors import KeySourceError, MalformedURL
from undersigned.limits import MOST_AGENT_FETCHES, MOST_AGENTS, MOST_NAMED_KEYS, MOST_NEW_AGENTS, MOST_UCP_PROFILE_BYTES
from undersigned.message.structured_fields import MalformedField, OversizedField, check_size, parse_dictionary
from undersigned.signature.jwk import texts_of
from undersigned.url import canonicalize

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from undersigned.discovery.document_cache import Copy
    from undersigned.discovery.jwk_set import Keys
    from undersigned.signature.key_source import KeyLookup

__all__ = ["UCPKeys"]

UCP_FRESHNESS: Final = Freshness(interval=60)
"""How long a profile is used: UCP asks for 60 seconds between two fetches for an unknown key."""

UCP_ARRAYS: Final = ("keys", "signing_keys")
"""The arrays of a profile that have its keys: `signing_keys` by release 2026-04-08, `keys` since, or both."""

_BUSINESS_PATH: Final = "/.well-known/ucp"


class UCPKeys(NamedKeys[str]):
    """The keys in the UCP profile that a request's UCP-Agent names. Their `owner` is the profile's URL.

    Senders choose the URLs, so fetches are guarded and bounded as those of Web Bot Auth.

    Args:
        trusted: whose profiles may be fetched: URLs, or a function of the URL to fetch; None: anyone's.
        is_business: whether senders are businesses, such as those of webhooks: their URL ends in `/.well-known/ucp`.
        freshness: how long keys are used.
        network: which addresses may be reached, and in what time.
        most_at_once: how many fetches may be in flight, without those that hang.
        most_a_minute: how many URLs that gave no keys yet may be fetched in a minute.
        clock: seconds that never go back.

    Raises:
        ConfigurationError: an argument has the wrong type or value.
    """

    __slots__ = ("_is_business", "_trusted")

    def __init__(
        self,
        *,
        trusted: TrustedAgents = None,
        is_business: bool = False,
        freshness: Freshness = UCP_FRESHNESS,
        network: Network = Network(),  # noqa: B008 - frozen
        most_at_once: int = MOST_AGENT_FETCHES,
        most_a_minute: int = MOST_NEW_AGENTS,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        super().__init__(network, freshness, clock, most=MOST_AGENTS, at_once=most_at_once, a_minute=most_a_minute)
        self._trusted = trusted_urls(trusted)
        self._is_business = is_business

    def agent(self, lookup: KeyLookup) -> tuple[str, str]:
        """Return the URL of the profile that UCP-Agent names, in canonical form."""
        value = lookup.covered_value("ucp-agent")
        if value is None:
            raise KeySourceError("signature_identity_missing", "the signature covers no UCP-Agent")
        try:
            location = _profile_url(value, is_business=self._is_business)
        except (MalformedField, MalformedURL, UntrustedURL) as fault:
            oversized = isinstance(fault, OversizedField)
            raise KeySourceError("signature_identity_malformed", f"UCP-Agent: {fault}", oversized=oversized) from None
        if not self._trusted(location, location):
            raise KeySourceError("signature_jwks_untrusted", "trusted: it does not have the URL of UCP-Agent")
        return location, location

    def load(self, agent: str) -> Copy[Keys]:
        """Fetch the keys of a profile."""

        def read(body: bytes) -> Keys:
            document = read_json_object(body)
            return read_jwk_set(document, owner=agent, wanted=_verifies, most=MOST_NAMED_KEYS, arrays=UCP_ARRAYS)

        request = FetchRequest(url=agent, max_bytes=MOST_UCP_PROFILE_BYTES)
        with source_errors("the UCP profile", unusable="signature_jwks_malformed"):
            return self._loader.load(request, read)


def _profile_url(value: str, *, is_business: bool) -> str:
    """Return the URL that UCP-Agent names, in canonical form, or raise what is wrong with it."""
    check_size(value)
    url, _ = parse_dictionary(value).get("profile", (None, {}))
    if type(url) is not str:
        raise MalformedField("it has no profile that is a String")
    Target.of(url)
    canonical = canonicalize(url, received=True)
    if is_business and not canonical.path.endswith(_BUSINESS_PATH):
        raise MalformedField(f"the URL of a business ends in {_BUSINESS_PATH}")
    return canonical.target_uri


def _verifies(jwk: Mapping[str, object]) -> bool:
    """Return whether a key of a profile is for signatures. Keys for other uses are left out."""
    return jwk.get("use") != "enc" and ("key_ops" not in jwk or "verify" in texts_of(jwk["key_ops"]))
