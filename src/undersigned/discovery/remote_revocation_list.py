"""Remote revocation lists: fetched again at their `next_update`, and verified with pinned keys (AdCP step 9)."""

from __future__ import annotations

import time
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Final, cast

from undersigned.discovery.document_cache import Kept, Loader, any_copy
from undersigned.discovery.fetch import FetchRequest, Target
from undersigned.discovery.fetch_errors import UnusableDocument, source_errors
from undersigned.discovery.freshness import Freshness
from undersigned.discovery.jwk_set import read_json_object
from undersigned.discovery.network import Network
from undersigned.discovery.remote_jwks import check_url
from undersigned.discovery.threads_and_tasks import wait_in_task, wait_in_thread
from undersigned.errors import ConfigurationError, KeySourceError
from undersigned.limits import MOST_LIST_BYTES
from undersigned.message.timestamps import system_clock
from undersigned.signature.key_source import KeySet
from undersigned.tokens.jwt import read_token
from undersigned.verification.blocking_calls import finish
from undersigned.verification.revocation_list import LONGEST_INTERVAL, SHORTEST_INTERVAL, RevocationList

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Mapping

    from undersigned.discovery.document_cache import Copy

LIST_FRESHNESS: Final = Freshness(
    least=SHORTEST_INTERVAL, default=SHORTEST_INTERVAL, most=LONGEST_INTERVAL, stale=10 * LONGEST_INTERVAL
)
"""When a list is fetched again. The verifier checks separately whether a list is stale."""

LIST_TYPE: Final = "adcp-gov-revocation+jws"
"""The `typ` of a revocation list's JWS (AdCP)."""

_SOON: Final = 10.0
"""The least seconds until the next fetch of a list that is due soon."""


class RemoteRevocationList:
    """A revocation source that fetches an issuer's signed list over https.

    The list is fetched again a little before its `next_update`, and after 30 minutes at most. After a failed fetch, it
    is fetched every 30 seconds. No request waits for that: the last good list counts until its grace period is over.
    Then the verifier rejects signatures until a fresh list is fetched.

    Args:
        url: the https URL of the list, such as `https://gov.example.com/.well-known/governance-revocations.json`.
        issuer: the list's `issuer`, such as `https://gov.example.com`.
        keys: the JWK set of the public keys that may sign the list.
        network: which addresses may be reached, and in what time.
        clock: seconds that never go back.
        now: seconds since the epoch.

    Raises:
        ConfigurationError: an argument has the wrong type or value.
    """

    __slots__ = ("_kept",)

    blocking = True

    def __init__(
        self,
        url: str,
        *,
        issuer: str,
        keys: Mapping[str, object],
        network: Network = Network(),  # noqa: B008 - frozen
        clock: Callable[[], float] = time.monotonic,
        now: Callable[[], float] = system_clock,
    ) -> None:
        check_url("url", url)
        pinned = KeySet.from_jwks(keys)
        for key in pinned:
            if key.fault or key.algorithm not in {"ed25519", "ecdsa-p256-sha256"}:
                fault = key.fault or "its alg must be EdDSA or ES256"
                raise ConfigurationError(f"keys: {key.keyid!r} cannot be used: {fault}")
        loader = Loader(network, LIST_FRESHNESS, clock)
        request = FetchRequest(url=url, max_bytes=MOST_LIST_BYTES, accept="application/jose+json, application/jose")

        def load(last: Copy[RevocationList] | None) -> Copy[RevocationList]:
            wall = now()
            before = None if last is None else last.value
            read = partial(read_signed_list, keys=pinned, issuer=issuer, last=before, now=wall)
            with source_errors("the revocation list", "signature_revocation_stale"):
                copy = loader.load(request, read)
            # The list's own time counts and not Cache-Control.
            left = copy.value.next_update - wall
            seconds = min(max(left, _SOON), LONGEST_INTERVAL) if left > 0 else SHORTEST_INTERVAL
            return replace(copy, fresh_until=copy.fetched + seconds)

        self._kept = Kept(url, Target.of(url).host, load, loader, document="revocations")

    def current(self, owner: str) -> RevocationList:  # noqa: ARG002 - the protocol's signature
        """Return the issuer's list, whoever owns the key.

        Raises:
            KeySourceError: no list could be fetched yet.
        """
        return self._held() or finish(self._kept.get(any_copy, wait_in_thread))

    def async_current(self, owner: str) -> RevocationList | Coroutine[object, None, RevocationList]:  # noqa: ARG002
        """Return the list as `current` does, or an awaitable of it if it has to be fetched."""
        return self._held() or self._kept.get(any_copy, wait_in_task)

    def is_ready(self, now: float) -> bool:
        """Return whether there is a list that is not stale. If a fetch is due, begin it; never wait for it."""
        current = self._held()
        return current is not None and current.is_ready(now)

    def _held(self) -> RevocationList | None:
        copy = self._kept.usable_copy(any_copy, begins=True)
        return None if copy is None else copy.value


def read_signed_list(
    text: bytes, *, keys: KeySet, issuer: str, last: RevocationList | None, now: float
) -> RevocationList:
    """Return the revocation list in a JWS, in compact or JSON serialization.

    Args:
        text: the JWS.
        keys: the keys that may have signed it.
        issuer: who must have made the list.
        last: the list that was read last.
        now: seconds since the epoch.

    Raises:
        UnusableDocument: it is not signed by one of the keys, not a list of the issuer, older than `last`, or of the
            future.
    """
    try:
        token = read_token(_compact(text), types={LIST_TYPE}, most=MOST_LIST_BYTES)
        token.check_issuer(keys.keys.get(token.keyid, ()))
        return RevocationList.from_document(token.claims, issuer).after(last, now=now)
    except (KeySourceError, ConfigurationError) as error:
        raise UnusableDocument(str(error)) from None


def _compact(text: bytes) -> str:
    """Return the compact serialization of a JWS, which has no header that is not signed (RFC 7515 section 7)."""
    try:
        if not text.strip().startswith(b"{"):
            return text.decode("ascii").strip()
        document = read_json_object(text)
        [signature] = cast("list[Mapping[str, str]]", document.get("signatures", [document]))
        return ".".join((signature["protected"], cast("str", document["payload"]), signature["signature"]))
    except (ValueError, TypeError, KeyError):
        raise UnusableDocument("the document is not a JWS with one signature") from None
