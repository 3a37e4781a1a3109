"""Key sources: which keys a signature's key ID names (AdCP step 7)."""

from __future__ import annotations

import itertools
from collections.abc import Awaitable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Final, NamedTuple, Protocol, Self, cast

from undersigned.errors import ConfigurationError
from undersigned.limits import MOST_CANDIDATES
from undersigned.message.covered_components import whole_field
from undersigned.signature.jwk import PRIVATE_MEMBERS
from undersigned.signature.pem import read_key_file
from undersigned.signature.rules import KeyRule
from undersigned.signature.rules.option_checks import check
from undersigned.signature.verification_key import VerificationKey

if TYPE_CHECKING:
    from os import PathLike

    from undersigned.message.header_fields import HeaderFields
    from undersigned.message.structured_fields import Parameter
    from undersigned.signature.jwk import JWK
    from undersigned.signature.profile import Profile

_SHOWN: Final = 3
_RELAXED: Final = ". In a profile of your own, derive(key=KeyRule()) accepts plain JWKs"


class KeyLookup(NamedTuple):
    """A question to a key source: what a signature says about its key before it is verified, all from the sender.

    A source may choose among its own keys by it. It never fetches a URL that only the message names, unless the
    profile says so.

    Attributes:
        keyid: the `keyid` parameter, or "".
        parameters: the signature's parameters.
        components: the names of the covered components, also of those with parameters.
        method: the method.
        url: the target URI as it was received.
        fields: the headers; `covered_value` reads one of them.
        is_second_try: whether the keys that were found before did not verify the signature.
        label: the label of the signature.
        identifiers: the identifiers of the covered components, with their parameters.
    """

    keyid: str
    parameters: Mapping[str, Parameter]
    components: frozenset[str]
    method: str
    url: str
    fields: HeaderFields
    is_second_try: bool = False
    label: str = ""
    identifiers: tuple[str, ...] = ()

    def covered_value(self, name: str) -> str | None:
        """Return the combined value of a header if the signature covers all of it, else None."""
        # In draft-cavage, the identifier of a field is its name.
        covers = name in self.identifiers or not whole_field(name).isdisjoint(self.identifiers)
        return self.fields.combined.get(name) if covers else None


class KeySource(Protocol):
    """A source of the keys that a key ID names.

    A source may have an attribute `asks_again`. If it is True and no key verifies, `find` is called a second time, with
    `lookup.is_second_try` set. A source that combines several sources may then find further keys.

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


def is_key_source(source: object) -> bool:
    """Return whether `source` has the method of a key source. Texts have a `find` too, and so do classes of sources."""
    return not isinstance(source, (str, bytes, bytearray, type)) and callable(getattr(source, "find", None))


class KeySet:
    """A fixed set of keys by key ID. One key ID may name several (RFC 7517 section 4.5), and the first four count.

    Args:
        keys: the keys. `from_jwks` makes them of a JWK set, and `of` of single keys.

    Attributes:
        keys: the keys that each key ID names.

    Raises:
        ConfigurationError: it is empty, or a JWK set.
    """

    __slots__ = ("keys",)
    _is_configured = True

    def __init__(self, keys: Mapping[str, VerificationKey | Sequence[VerificationKey]]) -> None:
        given: Mapping[str, object] = keys if isinstance(keys, Mapping) else {"": None}
        self.keys: Mapping[str, tuple[VerificationKey, ...]] = {
            keyid: cast("tuple[VerificationKey, ...]", tuple(named) if isinstance(named, (list, tuple)) else (named,))[
                :MOST_CANDIDATES
            ]
            for keyid, named in given.items()
        }
        check("keys", not self._is_configured or any(self.keys.values()), "the key set is empty; add a public key")
        if not all(isinstance(key, VerificationKey) for key in self):
            raise ConfigurationError(
                "keys: every value must be a VerificationKey: make a key set of a JWK set with KeySet.from_jwks(jwks), "
                "and of single keys with KeySet.of(key)"
            )

    @classmethod
    def from_jwks(cls, jwks: Mapping[str, object], *, owner: str = "") -> Self:
        """Read a JWK set (RFC 7517 section 5). A key without `kid` cannot be named by a signature and is left out.

        Args:
            jwks: the JWK set, as json.loads reads it.
            owner: whose keys they are.

        Raises:
            ConfigurationError: not a JWK set, no key has a `kid`, or a key has private members.
        """
        members: object = jwks.get("keys") if isinstance(jwks, Mapping) else None
        if not isinstance(members, list):
            raise ConfigurationError(
                'keys: a JWK set is a JSON object with a "keys" array; read a file with '
                "KeySet.from_file(path), and put a single JWK into an array"
            )
        keys: dict[str, list[VerificationKey]] = {}
        for member in cast("list[object]", members):
            if not isinstance(member, Mapping):
                raise ConfigurationError("keys: every member of the JWK set's keys array must be a JSON object")
            jwk = cast("JWK", member)
            private = sorted(PRIVATE_MEMBERS.intersection(jwk))
            if private and cls._is_configured:
                raise ConfigurationError(
                    f"keys: a JWK of the set has the private member {private[0]!r}. Give public keys only, such as "
                    "keys/public.jwks.json, and use the private key for signing only"
                )
            keyid = jwk.get("kid")
            if isinstance(keyid, str):
                keys.setdefault(keyid, []).append(VerificationKey.from_jwk(jwk, owner=owner))
        advice = "no key of the JWK set has a kid; give each one a kid, a string: signatures name their key by it"
        check("keys", keys or not members, advice)
        return cls(keys)

    @classmethod
    def from_file(cls, path: str | PathLike[str], *, keyid: str | None = None, owner: str = "") -> Self:
        """Read the public keys of a file: a JWK set, a public JWK, or a public key in PEM of any kind but RSA.

        Args:
            path: the file.
            keyid: the key ID of a key in PEM, which has none.
            owner: whose keys they are.

        Raises:
            ConfigurationError: the file cannot be read, or as `from_jwks` and `VerificationKey.from_pem`.
        """
        read = read_key_file(path, keyid=keyid, expected="a JWK set, a public JWK or a public key in PEM")
        if isinstance(read, bytes):
            return cls.of(VerificationKey.from_pem(read, keyid=keyid or "", owner=owner))
        jwks = cast("Mapping[str, object]", read)
        if isinstance(read, Mapping) and "kty" in jwks and "keys" not in jwks:
            jwks = {"keys": [jwks]}
        return cls.from_jwks(jwks, owner=owner)

    @classmethod
    def of(cls, *keys: VerificationKey) -> Self:
        """Return the set of these keys, such as `VerificationKey.from_pem` makes.

        Raises:
            ConfigurationError: there is no key.
        """
        return cls({key.keyid: [one for one in keys if one.keyid == key.keyid] for key in keys})

    def for_tests(self) -> Self:
        """Return this set with its published test keys accepted, as `VerificationKey.for_tests` says."""
        return type(self)({keyid: [key.for_tests() for key in named] for keyid, named in self.keys.items()})

    def check_for(self, profile: Profile) -> None:
        """Check that a key of this set can verify a signature of a profile.

        Raises:
            ConfigurationError: none can. The message names the first keys, each with what is wrong.
        """
        faults = [(keyid, key.unfit(profile)) for keyid, named in self.keys.items() for key in named]
        if self._is_configured and all(fault for _, fault in faults):
            shown = "; ".join(f"{keyid!r}: {fault}" for keyid, fault in faults[:_SHOWN])
            plain = profile.derive(key=KeyRule())
            relaxed = "" if all(key.unfit(plain) for named in self.keys.values() for key in named) else _RELAXED
            raise ConfigurationError(
                f"keys: no key can verify a signature of the profile {profile.name}: {shown}{relaxed}"
            )

    @property
    def blocking(self) -> bool:
        """Always False: the keys are in memory."""
        return False

    def find(self, lookup: KeyLookup) -> Sequence[VerificationKey]:
        """Return the keys that `lookup.keyid` names. Nothing else of the lookup is read."""
        return self.keys.get(lookup.keyid, ())

    def __iter__(self) -> Iterator[VerificationKey]:
        """Yield every key."""
        return itertools.chain.from_iterable(self.keys.values())


class ExaminedKeys(KeySet):
    """A key set that is looked into and not configured: by a tool that shows why signatures fail, or of a document.

    It may be empty, and its keys may have private members or be unfit for the profile. A server's keys are a `KeySet`.
    """

    __slots__ = ()
    _is_configured = False
