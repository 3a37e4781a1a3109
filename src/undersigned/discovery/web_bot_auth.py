"""Discovery for Web Bot Auth: the keys at the URL that a signature's Signature-Agent names (sections 5.4 and 5.5)."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Final, cast

from undersigned.discovery.fetch import FetchRequest, Target
from undersigned.discovery.fetch_errors import FetchError, UntrustedURL, UnusableDocument
from undersigned.discovery.freshness import Freshness
from undersigned.discovery.jwk_set import Keys, members_of, read_json_object
from undersigned.discovery.kept_document import Copy, Loader, source_error
from undersigned.discovery.named_keys import (
    FoundKeys,
    NamedKeys,
    TrustedAgents,
    trusted_urls,
)
from undersigned.discovery.network import Network
from undersigned.discovery.remote_jwks import JWK_SET_TYPES
from undersigned.errors import ConfigurationError, KeySourceError
from undersigned.limits import (
    LONGEST_KEYID,
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
    read_signature_agent,
)
from undersigned.message.structured_fields import MalformedField
from undersigned.signature.jwk import thumbprint
from undersigned.signature.rules.coverage import covered_member
from undersigned.signature.verification_key import VerificationKey

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from undersigned.signature.jwk import JWK
    from undersigned.signature.key_source import KeyLookup

__all__ = ["WebBotAuthKeys"]

PUBLISHED: Final = frozenset(
    {
        "poqkLGiymh_W0uP6PZFw-dvez3QJT5SolqXBCW38r0U",  # RFC 9421 B.1.4, test-key-ed25519
        "oD0HwocPBSfpNy5W3bpJeyFGY_IQ_YpqxSjQ3Yd-CLA",  # RFC 9421 B.1.2, test-key-rsa-pss
        "BHj8s0GPnMEQtkaULIM-PLgEhLBbuGUQ1vMxmBWZzEo",  # RFC 9421 B.1.1, test-key-rsa
        "ydQXMtvbsOsZyFir-Y7A8t7fKEM1gbKPvyFkdpu4fvI",  # RFC 9421 B.1.3, test-key-ecc-p256
        "kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k",  # RFC 8032 7.1, TEST 1; RFC 8037 A.1
        "FtIu-VbGrfe_KB6CH7GNwODB72MNxj_ml11dEvO-7kk",  # RFC 8032 7.1, TEST 2
        "FVV5umTuau890q59V-4Ga_R6qWb7ON_ivJc4EjvCwTM",  # RFC 8032 7.1, TEST 3
        "lZI1vM7tnlYapaF5-cy86ptx0tT_8Av721hhiNB5ti4",  # RFC 8032 7.1, TEST 1024
        "iiDHHfFVNG6ICMUTsicgrWf1igtFYZEK73xlobt1ah4",  # RFC 8032 7.1, TEST SHA(abc); 7.3
        "2bVIQ9_u0wVxBsBwmxK3F42rRFnt_dA7CZQ3u_2RKZY",  # RFC 8032 7.2, foo and bar
        "qz1FYaobwnFjkaNLccv-mFXe7gu45Zo72p2XqE3Is20",  # RFC 8032 7.2, foo3
        "DOvxvJiAdIqVWIkFt5hDtCunXLF0BV4-JGv4f-ALSm0",  # RFC 6979 A.2.5, P-256
        "l2tfkSzhekdOr24I18E1O_-49AlK14MTo7OxJMS7-HI",  # RFC 6979 A.2.6, P-384
        "NzbLsXh8uDCcd-6MNwXF4W_7noWXFZAfHkxZsRGC9Xs",  # RFC 7517 A.2, RSA
        "cn-I_WNMClehiVp51i_0VpOENW1upEerA8sEam5hn-s",  # RFC 7517 A.2, P-256
        "IsUn6_e04MaShXFIISMp4kG62LWzMIPy_MvSA5pJgX8",  # RFC 7515 A.2
        "oKIywvGUpTVTyxMQ3bwIIeQUudfr_CkLMjCE19ECD-U",  # RFC 7515 A.3
        "xtIsOV1FqKH77AI_A3jdTg5QfdabzqI-LNpYTPi0IgI",  # RFC 7516 A.1
        "_K0fXS8wlsT7Tn3vvZrs9qdKUIqi5AxQ5EVk41xi_BM",  # RFC 7516 A.2
        "9jg46WB3rR_AHD-EBXdN7cBkH1WOu0tA3M9fm21mqTI",  # RFC 7520 3.3
        "xNnfOFTMgZSRM3KtGHQqavZGWGF00Fe54LZBYCIxr88",  # RFC 8152 C.7.2, kid 11
        "HsSFalww3yP-dO-lWGYgFcyV5H22oScIFc4V2Y6GOto",  # RFC 8152 C.7.2, meriadoc.brandybuck
    }
)
"""The JWK thumbprints of keys whose private half is published: anyone can sign with them (section 6.8)."""

FAULT: Final = "the key is a published test key: anyone can sign with it"


class WebBotAuthKeys(NamedKeys[SignatureAgent]):
    """The keys of the agent that Signature-Agent names, for threads and asyncio. Their `owner` is the URL of the keys.

    Senders choose the URLs, so every fetch is guarded as `undersigned.discovery` says, and all fetches together are
    bounded. The keys of a URL are kept as long as its Cache-Control says, within `freshness`. A key is looked up by URL
    and keyid, and never by keyid alone. If the profile has `answers.unknown`, the errors of this source mean that the
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
        accepts_test_keys: whether keys of RFC examples, whose private half is published, are accepted: in tests only.
        clock: seconds that never go back.

    Raises:
        ConfigurationError: an argument has the wrong type or value.
    """

    __slots__ = ("_denied", "_form", "_held", "_trusted")

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
        accepts_test_keys: bool = False,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        super().__init__(network, freshness, clock, most=MOST_AGENTS, at_once=most_at_once, a_minute=most_a_minute)
        self._form: SignatureAgentForm = form
        self._trusted = trusted_urls(trusted)
        self._held = _held_keys(held, accepts_test_keys=accepts_test_keys)
        self._denied = frozenset[str]() if accepts_test_keys else PUBLISHED

    def held(self, keyid: str) -> FoundKeys:
        """Return the keys that the operator has."""
        return self._held.get(keyid, ())

    def agent(self, lookup: KeyLookup) -> SignatureAgent:
        """Return the agent that Signature-Agent names."""
        agent = named_agent(lookup, form=self._form)
        if agent is None:
            raise KeySourceError(
                "signature_identity_missing", "the signature covers no Signature-Agent that names someone in this form"
            )
        if not self._trusted(agent.location, agent.url):
            raise KeySourceError("signature_jwks_untrusted", "trusted: it does not have the URL of Signature-Agent")
        # Only a card has to name its own URL as it was written. Any other URL in two spellings is one URL.
        return agent if agent.document == "cimd" else replace(agent, url=agent.location)

    def load(self, agent: SignatureAgent) -> Copy[Keys]:
        """Fetch the keys of an agent."""
        try:
            return _load(agent, self._loader, trusted=self._trusted, denied=self._denied)
        except FetchError as error:
            what = "the key directory"
            raise source_error(what, error, "signature_jwks_unavailable", is_named=True) from error


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
    if form == "any":
        form = "string" if (value or "").startswith('"') else "jwks"
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
        raise KeySourceError("signature_header_malformed", str(malformed)) from None


def _load(
    agent: SignatureAgent, loader: Loader, *, trusted: Callable[[str, str], bool], denied: frozenset[str]
) -> Copy[Keys]:
    """Fetch an agent's keys.

    Raises:
        FetchError: they cannot be fetched now.
    """
    is_directory = agent.document == "directory"

    def read(document: Mapping[str, object]) -> Keys:
        return _read_keys(document, owner=agent.location, is_directory=is_directory, denied=denied)

    def load_set(url: str) -> Copy[Keys]:
        accept, accepts = (DIRECTORY_TYPE, _is_directory) if is_directory else (JWK_SET_TYPES, None)
        request = FetchRequest(url=url, max_bytes=MOST_JWKS_BYTES, accept=accept, accepts=accepts)
        return loader.load(request, lambda body: read(read_json_object(body)))

    if agent.document != "cimd":
        return load_set(agent.location)
    request = FetchRequest(url=agent.location, max_bytes=MOST_CARD_BYTES)
    card = loader.load(request, lambda body: read_card(body, url=agent.url))
    if not isinstance(card.value, str):
        return Copy(read(card.value), card.fetched, card.fresh_until)
    target = Target.of(card.value)
    if not trusted(f"https://{target.authority}{target.path_and_query}", card.value):
        raise UntrustedURL("trusted: it does not have the jwks_uri of the card")
    keys = load_set(card.value)
    return Copy(keys.value, card.fetched, min(card.fresh_until, keys.fresh_until))


def _is_directory(content_type: str) -> bool:
    return content_type.partition(";")[0].strip().lower() == DIRECTORY_TYPE


def _read_keys(document: Mapping[str, object], *, owner: str, is_directory: bool, denied: frozenset[str]) -> Keys:
    """Return the first 32 keys of a directory or a JWK set by their thumbprints.

    In a directory, `kid` must be the thumbprint; a key with another `kid` is left out. A key of any other set is also
    found by its `kid`. A signature with that keyid is then rejected for its keyid, and not for an unknown key.

    Args:
        document: the JWK set.
        owner: whose keys they are.
        is_directory: whether it is a key directory.
        denied: the thumbprints of keys that must not verify anything.

    Raises:
        UnusableDocument: there is no array `keys`, or it has more than 256 members.
    """

    def make(jwk: JWK) -> VerificationKey:
        key = VerificationKey.from_jwk(jwk, owner=owner)
        if key.thumbprint in denied:
            return VerificationKey(key.keyid, "", key.use, key.operations, key.purposes, FAULT, owner)
        return key

    named: list[tuple[str, JWK]] = []
    for jwk in members_of(document)[:MOST_NAMED_KEYS]:
        name, kid = thumbprint(jwk), jwk.get("kid")
        if name is None or (is_directory and kid != name):
            continue
        named.append((name, jwk))
        if isinstance(kid, str) and kid != name and 0 < len(kid) <= LONGEST_KEYID:
            named.append((kid, jwk))
    return Keys(named, make=make, is_empty=not named)


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


def _held_keys(held: Iterable[VerificationKey], *, accepts_test_keys: bool) -> dict[str, FoundKeys]:
    keys: dict[str, FoundKeys] = {}
    for key in held:
        if not key.thumbprint:
            raise ConfigurationError("held: give keys that VerificationKey.from_jwk made, and that have no fault")
        if key.thumbprint in PUBLISHED and not accepts_test_keys:
            raise ConfigurationError(f"held: {FAULT}")
        keys[key.thumbprint] = (replace(key, keyid=key.thumbprint, owner=key.thumbprint),)
    return keys
