"""Canonicalization cases: a URL with its canonical form or its error."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from undersigned.conformance.difference import Difference
from undersigned.errors import MalformedURL
from undersigned.url import canonicalize

if TYPE_CHECKING:
    from collections.abc import Iterator

    from undersigned.conformance.document import Document

_PREFIX = "request_"


@dataclass(frozen=True, slots=True)
class CanonicalizationCase:
    """A case. Our own `received` means that the URL comes from a peer; our own `rejected_by` names the rule."""

    name: str
    document: Document

    def differences(self) -> Iterator[Difference | None]:
        """Compare target URI and authority, or the error code. A canonical form must be its own canonical form."""
        case = self.document
        rejected = case.flag("reject", default=False)
        expected = f"rejected with {case.text('expected_error_code')}" if rejected else case.text("expected_target_uri")
        try:
            canonical = canonicalize(case.text("input_url"), received=case.flag("received", default=False))
        except MalformedURL as malformed:
            note = f"the rule {malformed.rule}: {malformed}"
            yield Difference.between("outcome", expected, f"rejected with {_PREFIX}{malformed.code}", note=note)
            if "rejected_by" in case:
                yield Difference.between("rule", case.text("rejected_by"), malformed.rule)
            return
        yield Difference.between("target URI", expected, canonical.target_uri)
        yield Difference.between("authority", case.text("expected_authority"), canonical.authority)
        yield Difference.between("target URI, canonicalized again", expected, canonicalize(expected).target_uri)
