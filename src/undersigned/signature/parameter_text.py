"""Parameter text: the signature parameters as a signer writes them (RFC 9421 section 2.3)."""

from __future__ import annotations

from os import urandom
from typing import TYPE_CHECKING, Final

from undersigned.errors import ConfigurationError, SigningError
from undersigned.message.signature_input import serialize_signature_input
from undersigned.message.structured_fields import base64url
from undersigned.signature.rules.parameters import PARAMETERS

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from undersigned.message.structured_fields import Parameter
    from undersigned.signature.profile import Profile

_LARGEST_INTEGER: Final = 999_999_999_999_999
_NONCE_BYTES: Final = 16
_REGISTERED: Final = frozenset(PARAMETERS)
_CREATED: Final = "created: pass whole seconds since the epoch, of at most 15 digits"


class ParameterText:
    """A writer of the parameters of a signer's signatures.

    Args:
        profile: the profile.
        keyid: the name of the key.
        algorithm: the RFC 9421 name of its algorithm.
        clock: returns seconds since the epoch.
        nonces: returns a nonce; None: nonces are random.

    Raises:
        ConfigurationError: `clock` or `nonces` is not a function.
    """

    __slots__ = (
        "_clock",
        "_constant",
        "_has_own",
        "_latest",
        "_nonce_bytes",
        "_nonces",
        "_profile",
        "_signed_for",
        "_writes_all",
        "_written",
    )

    def __init__(
        self,
        profile: Profile,
        *,
        keyid: str,
        algorithm: str,
        clock: Callable[[], float],
        nonces: Callable[[], str] | None,
    ) -> None:
        if not callable(clock) or not (nonces is None or callable(nonces)):
            option = "nonces" if callable(clock) else "clock"
            raise ConfigurationError(f"{option}: pass a function without arguments")
        self._profile = profile
        self._clock = clock
        self._nonces = nonces
        written = profile.parameters.signed
        self._written = frozenset(written)
        self._writes_all = self._written.issuperset(("created", "expires", "nonce"))
        self._has_own = bool(profile.parameters.own)
        self._signed_for = profile.validity.signed_for
        self._latest = _LARGEST_INTEGER - self._signed_for
        self._nonce_bytes = max(_NONCE_BYTES, profile.parameters.nonce_bytes or 0)
        constant = {"keyid": keyid, "alg": algorithm, "tag": profile.selection.tag or ""}
        given = {name: value for name, value in constant.items() if name in written}
        self._constant = serialize_signature_input((), given).removeprefix("()")

    def text(self, created: int | None, expires: int | None, nonce: str | None, own: Mapping[str, Parameter]) -> str:
        """Return the parameters as they follow the covered components.

        Args:
            created: seconds since the epoch, or None for the clock's time.
            expires: seconds since the epoch, or None for the profile's period after `created`.
            nonce: the nonce, or None for a new one.
            own: further parameters.

        Raises:
            SigningError: a value is out of the profile's bounds, or a required one is missing.
        """
        written = self._written
        if created is None:
            created = int(self._clock())
        elif not _is_whole(created):
            raise SigningError(_CREATED)
        if abs(created) > self._latest:
            raise SigningError(_CREATED)
        if expires is None:
            expires = created + self._signed_for
        else:
            self._check_expires(expires, created)
        # Integers and a nonce need no serializer: `_nonce` escapes what has to be escaped.
        if self._writes_all:
            # Nearly every nonce is random, which takes no check.
            if nonce is None and self._nonces is None:
                nonce = base64url(urandom(self._nonce_bytes))
            else:
                nonce = self._nonce(nonce)
            text = f';created={created};expires={expires};nonce="{nonce}"{self._constant}'
        else:
            text = f";created={created}" if "created" in written else ""
            text += f";expires={expires}" if "expires" in written else ""
            text += f';nonce="{self._nonce(nonce)}"' if "nonce" in written else ""
            text += self._constant
        return text + self._own(own) if own or self._has_own else text

    def _check_expires(self, expires: int, created: int) -> None:
        longest = self._profile.validity.longest or _LARGEST_INTEGER
        if not _is_whole(expires) or not 0 < expires - created <= longest:
            raise SigningError(f"expires: pass whole seconds, 1 to {longest} after created: the profile allows no more")

    def _own(self, parameters: Mapping[str, Parameter]) -> str:
        """Return the further parameters, and check those that the profile names."""
        rule = self._profile.parameters
        missing = [name for name in rule.missing(parameters) if name not in _REGISTERED]
        fault = f"{', '.join(missing)} is missing" if missing else rule.fault_of_types(parameters)
        if fault or not _REGISTERED.isdisjoint(parameters):
            raise SigningError(f"parameters: {fault or 'pass the registered parameters by their own arguments'}")
        return serialize_signature_input((), parameters).removeprefix("()")

    def _nonce(self, nonce: str | None) -> str:
        """Return the given nonce, else one that the `nonces` function makes, else a random one."""
        rule, option = self._profile.parameters, "nonce: must"
        if nonce is None:
            if self._nonces is None:
                return base64url(urandom(self._nonce_bytes))
            nonce, option = self._nonces(), "nonces: what the function returns must"
        if rule.nonce_pattern is None:
            if not nonce.isascii() or not nonce.isprintable():
                raise SigningError(f"{option} be printable ASCII")
            return nonce.replace("\\", "\\\\").replace('"', '\\"')
        if rule.nonce_pattern.fullmatch(nonce) is None:
            raise SigningError(f"{option} be unpadded Base64url of at least {rule.nonce_bytes} bytes")
        return nonce


def _is_whole(seconds: object) -> bool:
    return isinstance(seconds, int) and not isinstance(seconds, bool)
