"""Verifiers of both schemes: RFC 9421 if the request has Signature-Input, otherwise the draft."""

from __future__ import annotations

from typing import TYPE_CHECKING

from undersigned.activitypub.cavage_checks import screen_cavage
from undersigned.cavage.signing_string import SIGNED_NAME
from undersigned.errors import ConfigurationError
from undersigned.message.request import Request
from undersigned.message.timestamps import system_clock
from undersigned.profiles import ACTIVITYPUB
from undersigned.replay.memory import MemoryReplayStore
from undersigned.verification.verifier import SIGNATURE_FIELDS, AsyncVerifier, Verifier

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from undersigned.errors import SignatureError
    from undersigned.message.header_fields import HeaderFields
    from undersigned.message.response import Response
    from undersigned.replay.store import AsyncReplayStore
    from undersigned.signature.key_source import AsyncKeySource
    from undersigned.signature.profile import Profile
    from undersigned.verification.revocation_list import AsyncRevocationSource
    from undersigned.verification.verifier import ReceivedSignature


class AsyncActivityPubVerifier(AsyncVerifier):
    """`ActivityPubVerifier` that awaits the answers of its sources."""

    def __init__(
        self,
        *,
        keys: AsyncKeySource,
        replay: AsyncReplayStore | None = None,
        revocations: AsyncRevocationSource | None = None,
        profile: Profile = ACTIVITYPUB,
        required: Sequence[str] = (),
        clock: Callable[[], float] = system_clock,
    ) -> None:
        store = MemoryReplayStore() if replay is None else replay
        super().__init__(profile, keys=keys, replay=store, revocations=revocations, clock=clock)
        names = all(isinstance(name, str) and SIGNED_NAME.fullmatch(name) for name in required)
        if isinstance(required, str) or not names:
            raise ConfigurationError('required: list names in lower case, such as ("(request-target)", "host")')
        self._required = tuple(required)

    def is_signed(self, fields: HeaderFields) -> bool:
        """Return whether a message with these fields is signed, in either scheme."""
        return not SIGNATURE_FIELDS.isdisjoint(fields.combined)

    def screen(self, message: Request | Response) -> Sequence[ReceivedSignature | SignatureError]:
        """Read and check the signature in the scheme that the message was sent with.

        Raises:
            SignatureError: as `verify`.
        """
        fields = message.fields.combined
        if "signature-input" in fields or "signature" not in fields or not isinstance(message, Request):
            return super().screen(message)
        return (screen_cavage(message, self.profile, now=self.clock(), required=self._required),)


class ActivityPubVerifier(AsyncActivityPubVerifier, Verifier):
    """A verifier of ActivityPub requests, signed by RFC 9421 or by draft-cavage-12.

    A request with Signature-Input is verified by RFC 9421 and the profile. Any other signed request is verified by the
    draft, with the algorithms, times, key rule and answers of the profile. A signature by the draft must cover what
    Mastodon asks for: `date` or `(created)`, `(request-target)` or `digest`, `host` for GET and HEAD, and `digest` for
    POST and for content. The verified signature then has the label "", and its components are those names.

    Args:
        keys: finds the key that a key ID names, such as `undersigned.discovery.activitypub.ActorKeys()`.
        replay: tells whether a signature is fresh, if the profile remembers it; by default in memory.
        revocations: as for `Verifier`.
        profile: the profile for RFC 9421.
        required: what a signature by the draft must also cover, such as `("(request-target)", "host")`.
        clock: returns seconds since the epoch.

    Raises:
        ConfigurationError: `required` is wrong, or as `Verifier`.
    """
