"""Discovery for Web Bot Auth: the keys at the URL that a signature's Signature-Agent names (sections 5.4 and 5.5)."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, cast

from undersigned.discovery.document_cache import Copy
from undersigned.discovery.fetch import FetchRequest, Target
from undersigned.discovery.fetch_errors import UntrustedURL, UnusableDocument, source_errors
from undersigned.discovery.freshness import Freshness
from undersigned.discovery.jwk_set import Keys, members_of, read_json_object
from undersigned.discovery.network import Network
from undersigned.discovery.remote_jwks import JWK_SET_TYPES
from undersigned.discovery.sender_limits import NamedKeys, TrustedAgents, trusted_urls
from undersigned.errors import ConfigurationError, KeySourceError
from undersigned.limits import (
    MOST_AGENT_FETCHES,
    MOST_AGENTS,
    MOST_CARD_BYTES,
    MOST_JWKS_BYTES,
    MOST_NAMED_KEYS,
    MOST_NEW_AGENTS,
)
from undersigned.message.signature_agent import (
    DIRECTORY_TYPE,
    SignatureAgent,
    SignatureAgentForm,
    form_of,
    read_signature_agent,
)
from undersigned.message.structured_fields import MalformedField, OversizedField
from undersigned.signature.jwk import thumbprint
from undersigned.signature.rules.coverage import covered_member
from undersigned.signature.verification_key import VerificationKey

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from undersigned.discovery.fetching_key_source import FoundKeys
    from undersigned.discovery.threads_and_tasks import Wait
    from undersigned.signature.jwk import JWK
    from undersigned.signature.key_source import KeyLookup

__all__ = ["WebBotAuthKeys"]


class WebBotAuthKeys(NamedKeys[SignatureAgent]):
    """The keys of the agent that Signature-Agent names, for threads and asyncio. Their `owner` is the URL of the keys.

    Senders choose the URLs, so every fetch is guarded as `undersigned.discovery` says, and all fetches together are
    bounded. The keys of a URL are kept as long as its Cache-Control says, within `freshness`. A key is looked up by URL
    and key ID, and never by key ID alone. If the profile has `answers.unknown`, the errors of this source mean that the
    sender is merely unknown.

    Args:
        form: the wire form of Signature-Agent, as the profile's name has it: `string`, `typed` or `jwks`; `any` for
            `WEB_BOT_AUTH`.
        trusted: whose keys may be fetched: URLs, or a function of the URL. It is asked for every URL that is fetched,
            also for the `jwks_uri` of a card.
        held: keys that you have beforehand, made of JWKs. They verify what Signature-Agent does not lead to, with their
            thumbprint as owner.
        freshness: how long keys are used. Its `interval` is how long a failure is remembered: up to five minutes.
        network: which addresses may be reached, and in what time.
        most_at_once: how many fetches may be in flight, without those that hang.
        most_a_minute: how many URLs that gave no keys yet may be fetched in a minute.
        clock: seconds that never go back.

    Raises:
        ConfigurationError: an argument has the wrong type or value.
    """

    __slots__ = ("_form", "_held", "_trusted")

    def __init__(
        self,
        *,
        form: SignatureAgentForm = "any",
        trusted: TrustedAgents = None,
        held: Iterable[VerificationKey] = (),
        freshness: Freshness = Freshness(),  # noqa: B008 - frozen
        network: Network = Network(),  # noqa: B008 - frozen
        most_at_once: int = MOST_AGENT_FETCHES,
        most_a_minute: int = MOST_NEW_AGENTS,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        super().__init__(network, freshness, clock, most=MOST_AGENTS, at_once=most_at_once, a_minute=most_a_minute)
        self._form: SignatureAgentForm = form
        self._trusted = trusted_urls(trusted)
        self._held = _held_keys(held)

    async def _fetch(self, lookup: KeyLookup, wait: Wait) -> FoundKeys:
        held = self._held.get(lookup.keyid, ())
        try:
            return await super()._fetch(lookup, wait) or held
        except KeySourceError:
            # Keys that the operator has excuse every failure.
            if not held:
                raise
        return held

    def agent(self, lookup: KeyLookup) -> tuple[SignatureAgent, str]:
        """Return the agent that Signature-Agent names, and its URL."""
        agent = named_agent(lookup, form=self._form)
        if agent is None:
            raise KeySourceError(
                "signature_identity_missing", "the signature covers no Signature-Agent that names someone in this form"
            )
        if not self._trusted(agent.location, agent.url):
            raise KeySourceError("signature_jwks_untrusted", "trusted: it does not have the URL of Signature-Agent")
        # Only a card has to name its own URL as it was written. Any other URL in two spellings is one URL.
        return agent if agent.document == "cimd" else replace(agent, url=agent.location), agent.location

    def load(self, agent: SignatureAgent) -> Copy[Keys]:
        """Fetch the keys of an agent."""
        with source_errors("the key directory", is_named=True):
            return self._load_card(agent) if agent.document == "cimd" else self._load_set(agent, agent.location)

    def _load_card(self, agent: SignatureAgent) -> Copy[Keys]:
        request = FetchRequest(url=agent.location, max_bytes=MOST_CARD_BYTES)
        card = self._loader.load(request, lambda body: read_card(body, url=agent.url))
        if not isinstance(card.value, str):
            return Copy(_read_keys(card.value, agent), card.fetched, card.fresh_until)
        target = Target.of(card.value)
        if not self._trusted(f"https://{target.authority}{target.path_and_query}", card.value):
            raise UntrustedURL("trusted: it does not have the jwks_uri of the card")
        keys = self._load_set(agent, card.value)
        return Copy(keys.value, card.fetched, min(card.fresh_until, keys.fresh_until))

    def _load_set(self, agent: SignatureAgent, url: str) -> Copy[Keys]:
        accept, accepts = (DIRECTORY_TYPE, _is_directory) if agent.document == "directory" else (JWK_SET_TYPES, None)
        request = FetchRequest(url=url, max_bytes=MOST_JWKS_BYTES, accept=accept, accepts=accepts)
        return self._loader.load(request, lambda body: _read_keys(read_json_object(body), agent))


def named_agent(lookup: KeyLookup, *, form: SignatureAgentForm) -> SignatureAgent | None:
    """Return the agent that the covered Signature-Agent of a signature names, or None if it names nobody.

    A value that is not covered is never read. Of a Dictionary, the member with the signature's label counts if it is
    covered, else the only covered member.

    Args:
        lookup: the question to a key source, which has the covered fields.
        form: the wire form of the field.

    Raises:
        KeySourceError: the field is malformed (`signature_header_malformed`).
    """
    value, member = lookup.fields.combined.get("signature-agent"), ""
    form = form_of(value or "", form)
    if form == "string":
        covers = '"signature-agent"' in lookup.identifiers
    else:
        member = covered_member(lookup.identifiers, "signature-agent", lookup.label) or ""
        covers = bool(member)
    if value is None or not covers:
        return None
    try:
        return read_signature_agent(value, form=form, member=member)
    except MalformedField as malformed:
        oversized = isinstance(malformed, OversizedField)
        raise KeySourceError("signature_header_malformed", str(malformed), oversized=oversized) from None


def _is_directory(content_type: str) -> bool:
    return content_type.partition(";")[0].strip().lower() == DIRECTORY_TYPE


def _read_keys(document: Mapping[str, object], agent: SignatureAgent) -> Keys:
    """Return the first 32 keys of a directory or a JWK set by their thumbprints.

    In a directory, `kid` must be the thumbprint; a key with another `kid` is left out. A key of any other set is also
    found by its `kid`. A signature with that key ID is then rejected for its key ID, and not for an unknown key.

    Raises:
        UnusableDocument: there is no array `keys`, or it has more than 256 members.
    """
    named: list[tuple[str, JWK]] = []
    for jwk in members_of(document)[:MOST_NAMED_KEYS]:
        name, kid = thumbprint(jwk), jwk.get("kid")
        if name is None or (agent.document == "directory" and kid != name):
            continue
        named.append((name, jwk))
        if isinstance(kid, str) and kid not in ("", name):
            named.append((kid, jwk))
    return Keys(named, make=partial(VerificationKey.from_jwk, owner=agent.location), is_empty=not named)


def read_card(text: bytes, *, url: str) -> Mapping[str, object] | str:
    """Return the JWK set that a card has in it, or the URL of its JWK set.

    Args:
        text: the document.
        url: the URL as the sender wrote it; the card's `client_id` must be the same, character by character.

    Raises:
        UnusableDocument: it is not a card of this URL, or it has not exactly one of `jwks` and `jwks_uri`.
    """
    document = read_json_object(text)
    if document.get("client_id") != url:
        raise UnusableDocument("the client_id of the card is not the URL of the card")
    jwks, jwks_uri = document.get("jwks"), document.get("jwks_uri")
    if (jwks is None) == (jwks_uri is None):
        raise UnusableDocument("the card has not exactly one of jwks and jwks_uri")
    if isinstance(jwks, Mapping):
        return cast("Mapping[str, object]", jwks)
    if not isinstance(jwks_uri, str) or not jwks_uri:
        raise UnusableDocument("the jwks of the card is not an object, or its jwks_uri is not a URL")
    return jwks_uri


def _held_keys(held: Iterable[VerificationKey]) -> dict[str, FoundKeys]:
    keys: dict[str, FoundKeys] = {}
    for key in held:
        if key.fault or not key.thumbprint:
            raise ConfigurationError(f"held: {key.fault or 'give keys that VerificationKey.from_jwk made'}")
        keys[key.thumbprint] = (replace(key, keyid=key.thumbprint, owner=key.thumbprint),)
    return keys
