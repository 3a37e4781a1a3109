"""The keys of one agent: fetched from the URL that Signature-Agent names (Web Bot Auth sections 5.5 and C.3)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, cast

from undersigned.discovery.cache import Copy
from undersigned.discovery.document import source_error
from undersigned.discovery.failures import FetchError, UnusableDocument
from undersigned.discovery.fetch import FetchRequest
from undersigned.discovery.jwk_set import read_json_object
from undersigned.discovery.remote_jwks import JWK_SET_TYPES
from undersigned.discovery.web_bot_auth.card import read_card
from undersigned.discovery.web_bot_auth.published_keys import FAULT, PUBLISHED
from undersigned.limits import LONGEST_KEYID, MOST_CANDIDATES, MOST_CARD_BYTES, MOST_JWKS_BYTES, MOST_KEYS
from undersigned.message.signature_agent import DIRECTORY_TYPE
from undersigned.signature.thumbprint import thumbprint
from undersigned.signature.verification_key import VerificationKey

if TYPE_CHECKING:
    from collections.abc import Mapping

    from undersigned.discovery.allowance import Allowance
    from undersigned.discovery.document import Loader
    from undersigned.discovery.jwk_set import Keys
    from undersigned.discovery.web_bot_auth.card import Card
    from undersigned.message.signature_agent import SignatureAgent


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentLoader:
    """A function that loads the keys of one agent.

    Attributes:
        agent: the agent.
        loader: fetches under the guard.
        allowance: bounds the fetches of all agents.
        accepts_test_keys: whether keys that anybody has are accepted.
    """

    agent: SignatureAgent
    loader: Loader
    allowance: Allowance
    accepts_test_keys: bool

    async def __call__(self, last: Copy[Keys] | None, /) -> Copy[Keys]:
        """Return the agent's keys, each by its keyid and by its thumbprint.

        Raises:
            KeySourceError: the keys cannot be fetched now.
        """
        self.allowance.begin(is_known=last is not None)
        try:
            if self.agent.document == "cimd":
                return await self._from_card()
            return await self._from_set(self.agent.location, last)
        except FetchError as error:
            raise source_error("the key directory", error, "signature_jwks_unavailable") from error
        finally:
            self.allowance.end()

    async def _from_set(self, url: str, last: Copy[Keys] | None) -> Copy[Keys]:
        is_directory = self.agent.document == "directory"
        media_type = DIRECTORY_TYPE if is_directory else ""
        request = FetchRequest(url=url, max_bytes=MOST_JWKS_BYTES, accept=media_type or JWK_SET_TYPES)

        def read(body: bytes) -> Keys:
            return self._read(read_json_object(body), is_directory=is_directory)

        return await self.loader.load(request, last, read, media_type=media_type)

    async def _from_card(self) -> Copy[Keys]:
        url = self.agent.location
        request = FetchRequest(url=url, max_bytes=MOST_CARD_BYTES)
        copy: Copy[Card] = await self.loader.load(request, None, partial(read_card, url=self.agent.url))
        if copy.value.jwks is not None:
            return Copy(self._read(copy.value.jwks, is_directory=False), copy.fetched, copy.fresh_until)
        keys = await self._from_set(copy.value.jwks_uri, None)
        return replace(keys, fetched=copy.fetched, fresh_until=min(copy.fresh_until, keys.fresh_until), validators=())

    def _read(self, document: Mapping[str, object], *, is_directory: bool) -> Keys:
        return read_agent_keys(
            document,
            owner=self.agent.identity,
            is_directory=is_directory,
            denied=frozenset() if self.accepts_test_keys else PUBLISHED,
        )


def read_agent_keys(
    document: Mapping[str, object], *, owner: str, is_directory: bool, denied: frozenset[str] = PUBLISHED
) -> Keys:
    """Return the keys of a directory or a JWK set by their thumbprints.

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
    members = document.get("keys")
    if not isinstance(members, list) or len(cast("list[object]", members)) > MOST_KEYS:
        raise UnusableDocument(f"the JWK set has no array keys, or more than {MOST_KEYS} keys")
    found: dict[str, tuple[VerificationKey, ...]] = {}
    for member in cast("list[object]", members):
        jwk: Mapping[str, object] = cast("Mapping[str, object]", member) if isinstance(member, dict) else {}
        name, kid = thumbprint(jwk), jwk.get("kid")
        if name is None or (is_directory and kid != name):
            continue
        names = [name, kid] if isinstance(kid, str) and kid != name and 0 < len(kid) <= LONGEST_KEYID else [name]
        for keyid in names:
            key = VerificationKey.from_jwk({**jwk, "kid": keyid}, owner=owner)
            if name in denied:
                key = VerificationKey(keyid, "", key.use, key.operations, key.purposes, FAULT, owner)
            found[keyid] = (*found.get(keyid, ()), key)[:MOST_CANDIDATES]
    return found
