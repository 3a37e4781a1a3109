"""Signed probes: what is sent to a site, signed for what it may arrive as, or by nobody."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from undersigned.cli.doctor.probe import Probe
from undersigned.message.request import Request

if TYPE_CHECKING:
    from undersigned.cli.doctor.site import Site
    from undersigned.cli.doctor.spellings import Content
    from undersigned.signature.signer import Signer

CONTENT_METHODS = frozenset({"POST", "PUT", "PATCH"})
_JSON = (("Content-Type", "application/json"),)


@dataclass(frozen=True, slots=True)
class SignedProbes:
    """Makes probes for one site.

    Attributes:
        site: where every one is sent.
        signer: signs them.
        method: the method; where it takes content, of the probes with content alone, the others being GET.
    """

    site: Site
    signer: Signer
    method: str

    @property
    def take_content(self) -> bool:
        """Whether the method takes content."""
        return self.method in CONTENT_METHODS

    def unsigned(self, end: str) -> Probe:
        """Return a probe without a signature, for the target that ends with `end`."""
        return Probe(self._bare_method, self.site.target(end), self.site.authority)

    def signed(self, end: str, url: str) -> Probe:
        """Return a probe for the target that ends with `end`, signed for `url`."""
        own = _JSON if "content-type" in self.signer.profile.required else ()
        signature = self.signer.sign(Request(self._bare_method, url, own))
        return replace(self.unsigned(end), fields=(*own, *signature))

    def with_content(self, end: str, url: str, content: Content, *, signed: bytes) -> Probe:
        """Return a probe that carries `content`, signed for `url` and for the content `signed`."""
        signature = self.signer.sign(Request(self.method, url, _JSON, signed, has_body=True))
        return Probe(
            self.method,
            self.site.target(end),
            self.site.authority,
            (*_JSON, *signature),
            content=content.sent,
            chunked=content.chunked,
        )

    def damaged(self, probe: Probe, url: str) -> Probe:
        """Return `probe` with a signature over something else, which no verifier accepts."""
        other = dict(self.signed("", f"{url}-control").fields)["Signature"]
        return replace(
            probe, fields=tuple((name, other if name == "Signature" else value) for name, value in probe.fields)
        )

    @property
    def _bare_method(self) -> str:
        return "GET" if self.take_content else self.method
