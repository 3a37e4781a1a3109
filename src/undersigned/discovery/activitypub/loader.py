"""The key that one keyid names: fetched from its document, and from its owner's if that is another one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, NamedTuple, Protocol

from undersigned.discovery.activitypub.actor import check_owner, owner_of, published_key, verification_key
from undersigned.discovery.cache import Copy
from undersigned.discovery.document import source_error
from undersigned.discovery.failures import FetchError, Unreachable
from undersigned.discovery.fetch import FetchRequest
from undersigned.discovery.jwk_set import read_json_object
from undersigned.errors import KeySourceError
from undersigned.limits import MOST_ACTOR_BYTES
from undersigned.message.request import Request

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from undersigned.discovery.allowance import Allowance
    from undersigned.discovery.document import Loader
    from undersigned.signature.verification_key import VerificationKey

ACTOR_TYPES: Final = 'application/activity+json, application/ld+json; profile="https://www.w3.org/ns/activitystreams"'
"""The media types of an actor (ActivityPub section 3.2)."""

_GONE: Final = frozenset({404, 410})


class FetchSigner(Protocol):
    """A signer of the fetches, such as a `Signer` or a `CavageSigner`."""

    def sign(self, request: Request) -> Iterable[tuple[str, str]]:
        """Return the header fields to add."""
        ...


class Actor(NamedTuple):
    """The result of looking for one keyid.

    Attributes:
        keys: the key, or none if no document has it.
        fetched: when the fetch began, by the clock of the cache.
    """

    keys: tuple[VerificationKey, ...]
    fetched: float


@dataclass(frozen=True, slots=True, kw_only=True)
class ActorLoader:
    """A function that loads the key of one keyid.

    Attributes:
        keyid: the keyid, which is a URL.
        locate: returns a URL in canonical form, if it may be fetched.
        loader: fetches under the guard.
        allowance: bounds the fetches for all keyids.
        signer: signs the fetches, or None.
    """

    keyid: str
    locate: Callable[[str], str]
    loader: Loader
    allowance: Allowance
    signer: FetchSigner | None

    async def __call__(self, last: Copy[Actor] | None, /) -> Copy[Actor]:
        """Return the key.

        Raises:
            KeySourceError: the key cannot be fetched now, the actor is gone, or its documents contradict each other.
        """
        self.allowance.begin(is_known=last is not None)
        try:
            return await self._load()
        except Unreachable as error:
            if error.status in _GONE:
                # A copy that is kept still verifies the Delete with which the actor says good-bye.
                detail = f"the actor is gone: its server answers {error.status}"
                raise KeySourceError("signature_key_unknown", detail) from error
            raise source_error("the actor", error, "signature_jwks_unavailable") from error
        except FetchError as error:
            raise source_error("the actor", error, "signature_jwks_untrusted") from error
        finally:
            self.allowance.end()

    async def _load(self) -> Copy[Actor]:
        location = self.keyid.partition("#")[0]
        copy = await self._document(location)
        keys: tuple[VerificationKey, ...] = ()
        key = published_key(copy.value, self.keyid)
        if key is not None:
            owner = owner_of(key)
            if owner != location or key is copy.value:
                # Anybody can name anybody as the owner of a key. Only the owner's own document confirms it.
                actor = await self._document(owner)
                check_owner(actor.value, owner=owner, keyid=self.keyid)
            else:
                check_owner(copy.value, owner=owner, keyid=self.keyid)
            keys = (verification_key(key, keyid=self.keyid, owner=owner),)
        return Copy(Actor(keys, copy.fetched), copy.fetched, copy.fresh_until)

    async def _document(self, url: str) -> Copy[Mapping[str, object]]:
        url = self.locate(url)
        fields: tuple[tuple[str, str], ...] = ()
        if self.signer is not None:
            fields = tuple(self.signer.sign(Request("GET", url)))
        request = FetchRequest(url=url, max_bytes=MOST_ACTOR_BYTES, accept=ACTOR_TYPES, fields=fields)
        return await self.loader.load(request, None, read_json_object)
