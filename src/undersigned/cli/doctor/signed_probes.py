"""Probes for a site: signed for the URL that may arrive, or unsigned."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from undersigned.cli.doctor.probe import Probe
from undersigned.message.request import Request
from undersigned.signature.signer import Signer

if TYPE_CHECKING:
    from undersigned.cli.doctor.site import Site
    from undersigned.cli.doctor.spellings import Content
    from undersigned.client import AnySigner

CONTENT_METHODS = frozenset({"POST", "PUT", "PATCH"})
"""The methods that are used to test content."""

_DRAFT_BYTES = 'signature="'
_JSON = (("Content-Type", "application/json"),)


@dataclass(frozen=True, slots=True)
class SignedProbes:
    """A maker of the probes for one site.

    Attributes:
        site: the site to send all probes to.
        signer: the signer of the probes.
        method: the method. If it takes content, it is used for probes with content only, and GET for the others.
        fields: further header fields of every signed probe, such as Signature-Agent.
    """

    site: Site
    signer: AnySigner
    method: str
    fields: tuple[tuple[str, str], ...] = ()

    @property
    def take_content(self) -> bool:
        """Whether the method takes content."""
        return self.method in CONTENT_METHODS

    def unsigned_probe(self, end: str) -> Probe:
        """Return an unsigned probe for the target that ends with `end`."""
        return Probe(self._bare_method, self.site.target(end), self.site.authority)

    def signed_probe(self, end: str, url: str) -> Probe:
        """Return a probe for the target that ends with `end`, signed for `url`.

        Raises:
            SigningError: the profile asks for a header field that is not given.
        """
        always = self.signer.profile.coverage.always if isinstance(self.signer, Signer) else ()
        own = (*(_JSON if "content-type" in always else ()), *self.fields)
        signature = self.signer.sign(Request(self._bare_method, url, own))
        return replace(self.unsigned_probe(end), fields=(*own, *signature))

    def with_content(self, end: str, url: str, content: Content, *, signed: bytes) -> Probe:
        """Return a probe with `content`, signed for `url` and for the content `signed`."""
        own = (*_JSON, *self.fields)
        signature = self.signer.sign(Request(self.method, url, own, signed, has_body=True))
        return Probe(
            self.method,
            self.site.target(end),
            self.site.authority,
            (*own, *signature),
            content=content.sent,
            chunked=content.chunked,
        )

    def damage(self, probe: Probe, url: str) -> Probe:
        """Return `probe` with a signature over something else, which every verifier rejects."""
        other = dict(self.signed_probe("", f"{url}-control").fields)["Signature"]
        return replace(
            probe,
            fields=tuple(
                (name, _replace_signature(value, other) if name == "Signature" else value)
                for name, value in probe.fields
            ),
        )

    @property
    def _bare_method(self) -> str:
        return "GET" if self.take_content else self.method


def _replace_signature(value: str, other: str) -> str:
    """Return a Signature field with the bytes of another one. For the draft, all other parameters stay."""
    start, mark, _ = value.rpartition(_DRAFT_BYTES)
    return f"{start}{mark}{other.rpartition(_DRAFT_BYTES)[2]}"
