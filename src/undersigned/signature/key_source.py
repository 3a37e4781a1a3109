"""Key sources: which keys a signature's keyid names (AdCP step 7)."""

from __future__ import annotations

from collections.abc import Awaitable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, Protocol, cast

from undersigned.errors import ConfigurationError
from undersigned.signature.verification_key import VerificationKey

if TYPE_CHECKING:
    from undersigned.message.header_fields import HeaderFields
    from undersigned.message.structured_fields import Parameter
    from undersigned.signature.jwk import JWK


class KeyLookup(NamedTuple):
    """What a signature says about its key, before it is verified: all of it is text from the sender.

    A source may choose among its own keys by it. It never fetches a URL that only the message names, unless the
    profile says so.

    Attributes:
        keyid: the `keyid` parameter, or "".
        parameters: the signature's parameters.
        components: the names of the covered components.
        method: the method.
        url: the target URI as it was received.
        fields: the header fields; `covered` reads one of them.
        again: whether the keys that were found before did not verify the signature.
        label: the label of the signature.
        identifiers: the identifiers of the covered components, with their parameters.
    """

    keyid: str
    parameters: Mapping[str, Parameter]
    components: frozenset[str]
    method: str
    url: str
    fields: HeaderFields
    again: bool = False
    label: str = ""
    identifiers: tuple[str, ...] = ()

    def covered(self, name: str) -> str | None:
        """Return the combined value of a header field if the signature covers it, else None."""
        return self.fields.combined.get(name) if name in self.components else None


class KeySource(Protocol):
    """A source of the keys that a keyid names.

    A source may have an attribute `asks_again`. If it is True and no key verifies, `find` is called a second time, with
    `lookup.again` set. A source that combines several sources may then find further keys.

    Attributes:
        blocking: whether `find` may block on IO; the ASGI middleware then asks it off the event loop.
    """

    @property
    def blocking(self) -> bool:
        """Whether `find` may block."""
        ...

    def find(self, lookup: KeyLookup) -> Sequence[VerificationKey]:
        """Return the keys that `lookup.keyid` names, the most likely first; none if it is unknown.

        At most four of those that may verify the signature are tried.

        Raises:
            KeySourceError: the source cannot find out now, for this reason.
            Exception: the source is unavailable.
        """
        ...


class AsyncKeySource(Protocol):
    """A key source whose answers may be awaitable. A `KeySet` is one, too."""

    def find(self, lookup: KeyLookup) -> Sequence[VerificationKey] | Awaitable[Sequence[VerificationKey]]:
        """As `KeySource.find`, or an awaitable of the answer."""
        ...


@dataclass(frozen=True, slots=True)
class KeySet:
    """A fixed set of keys by keyid."""

    keys: Mapping[str, VerificationKey]

    @classmethod
    def from_jwks(cls, jwks: Mapping[str, object], *, owner: str = "") -> KeySet:
        """Read a JWK set (RFC 7517 section 5). A key without `kid` cannot be named by a signature and is left out.

        Args:
            jwks: the JWK set, as json.loads reads it.
            owner: whose keys they are.

        Raises:
            ConfigurationError: not a JWK set, or two keys share a `kid`.
        """
        members: object = jwks.get("keys") if isinstance(jwks, Mapping) else None
        if not isinstance(members, list):
            raise ConfigurationError('keys: a JWK set is a JSON object with a "keys" array')
        keys: dict[str, VerificationKey] = {}
        for member in cast("list[object]", members):
            if not isinstance(member, Mapping):
                raise ConfigurationError("keys: every member of the JWK set's keys array must be a JSON object")
            jwk = cast("JWK", member)
            keyid = jwk.get("kid")
            if not isinstance(keyid, str):
                continue
            if keyid in keys:
                raise ConfigurationError(f"keys: two keys of the JWK set share the kid {keyid!r}; make them distinct")
            keys[keyid] = VerificationKey.from_jwk(jwk, owner=owner)
        return cls(keys)

    @classmethod
    def of(cls, *keys: VerificationKey) -> KeySet:
        """Return the set of these keys, such as `VerificationKey.from_pem` makes.

        Raises:
            ConfigurationError: two keys share a keyid.
        """
        named = {key.keyid: key for key in keys}
        if len(named) != len(keys):
            raise ConfigurationError("keys: two keys share a keyid; make them distinct")
        return cls(named)

    @property
    def blocking(self) -> bool:
        """Always False: the keys are in memory."""
        return False

    def find(self, lookup: KeyLookup) -> Sequence[VerificationKey]:
        """Return the key that `lookup.keyid` names, if there is one."""
        key = self.keys.get(lookup.keyid)
        return () if key is None else (key,)
