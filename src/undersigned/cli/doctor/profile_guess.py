"""The guess at a server's profile: what its answers and the given header fields hint at, tried one after the other."""

from __future__ import annotations

from typing import TYPE_CHECKING

from undersigned.cli.doctor.signed_probes import SignedProbes
from undersigned.cli.signing import signer_by
from undersigned.errors import ConfigurationError, SigningError
from undersigned.explanation.profile_guess import REQUEST_PROFILES
from undersigned.message.signature_input import parse_signature_input
from undersigned.message.structured_fields import MalformedField

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from undersigned.cli.doctor.probe import Answer, Probe
    from undersigned.cli.doctor.site import Site
    from undersigned.signature.profile import Profile
    from undersigned.signature.signing_key import SigningKey

_PLAIN = "/plain"


class ProfileGuess:
    """Asks a server which profile it verifies by.

    Args:
        site: the site.
        key: the key of the probes.
        fields: further header fields of every signed probe.
        ask: a function that sends a probe and returns the answer.
    """

    def __init__(
        self, site: Site, key: SigningKey, fields: Sequence[tuple[str, str]], ask: Callable[[Probe], Answer]
    ) -> None:
        self._site = site
        self._key = key
        self._fields = tuple(fields)
        self._ask = ask

    def check(self, profile: Profile) -> None:
        """Check that the key, with the given header fields, can sign by a profile.

        Raises:
            ConfigurationError: the key cannot.
            SigningError: a header field is missing.
        """
        self._probes(profile).signed_probe(_PLAIN, self._site.url(_PLAIN))

    def likely(self) -> Sequence[Profile]:
        """Return the profiles that the key can sign by, the most likely first, by the answer to an unsigned request.

        Raises:
            NoAnswer: the server gives none.
        """
        # The profile of GNAP is always among them: it takes every algorithm, and needs no header field.
        usable = [profile for profile in REQUEST_PROFILES if self._can_sign(profile)]
        answer = self._ask(self._probes(usable[0]).unsigned_probe(_PLAIN))
        tags = _tags(answer.accepts)
        names = {name.lower() for name, _ in self._fields}

        def hints(profile: Profile) -> tuple[bool, bool, int]:
            rule = profile.coverage
            known = names & {*rule.always, *rule.sent, *rule.if_sent}
            stated = answer.stated == profile.answers.code("signature_required")
            return not tags.isdisjoint(profile.selection.tags), stated, len(known)

        return sorted(usable, key=hints, reverse=True)

    def find_accepted(self, likely: Sequence[Profile]) -> Profile | None:
        """Return the first of these profiles by which a plain request is verified, or None.

        Raises:
            NoAnswer: the server gives none.
        """
        return next((profile for profile in likely if self._is_verified(profile)), None)

    def _is_verified(self, profile: Profile) -> bool:
        probes, url = self._probes(profile), self._site.url(_PLAIN)
        probe = probes.signed_probe(_PLAIN, url)
        return not self._ask(probe).code and self._ask(probes.damage(probe, url)).code == "signature_invalid"

    def _can_sign(self, profile: Profile) -> bool:
        try:
            self.check(profile)
        except (ConfigurationError, SigningError):
            return False
        return True

    def _probes(self, profile: Profile) -> SignedProbes:
        return SignedProbes(self._site, signer_by(profile, self._key), "GET", self._fields)


def _tags(accepts: str) -> set[object]:
    """Return the tags that Accept-Signature asks for (RFC 9421 section 5.1)."""
    try:
        return {member.parameters.get("tag") for member in parse_signature_input(accepts).values()}
    except MalformedField:
        return set()
