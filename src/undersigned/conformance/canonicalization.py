"""Canonicalization cases: a URL and its canonical form, or its refusal."""

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
    """One case. `received`, ours, says that the URL came from a peer; `refused_by`, ours, the rule that refuses it."""

    name: str
    document: Document

    def differences(self) -> Iterator[Difference | None]:
        """Compare target URI and authority, or the code of the refusal; a canonical form stays as it is."""
        case = self.document
        refused = case.flag("reject", default=False)
        expected = f"refused with {case.text('expected_error_code')}" if refused else case.text("expected_target_uri")
        try:
            canonical = canonicalize(case.text("input_url"), received=case.flag("received", default=False))
        except MalformedURL as malformed:
            note = f"the rule {malformed.rule}: {malformed}"
            yield Difference.between("outcome", expected, f"refused with {_PREFIX}{malformed.code}", note=note)
            if "refused_by" in case:
                yield Difference.between("rule", case.text("refused_by"), malformed.rule)
            return
        yield Difference.between("target URI", expected, canonical.target_uri)
        yield Difference.between("authority", case.text("expected_authority"), canonical.authority)
        yield Difference.between("target URI, canonicalized again", expected, canonicalize(expected).target_uri)
