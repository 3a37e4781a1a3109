"""The agent of a signature: who the Signature-Agent that it covers names (Web Bot Auth section 5.2.1)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from undersigned.errors import KeySourceError
from undersigned.message.signature_agent import read_signature_agent
from undersigned.message.structured_fields import MalformedField
from undersigned.signature.rules import covered_member

if TYPE_CHECKING:
    from undersigned.message.signature_agent import SignatureAgent, SignatureAgentForm
    from undersigned.signature.key_source import KeyLookup


def named_agent(lookup: KeyLookup, *, form: SignatureAgentForm) -> SignatureAgent | None:
    """Return the agent that the covered Signature-Agent of a signature names, or None if it names nobody.

    A value that is not covered is never read. Of a Dictionary, the member with the signature's label counts if it is
    covered, else the only covered member.

    Args:
        lookup: the question to a key source, which has the covered fields.
        form: the wire form of the field.

    Raises:
        KeySourceError: the field is malformed (`signature_header_malformed`).
    """
    value, member = lookup.fields.combined.get("signature-agent"), ""
    if form == "string":
        covers = '"signature-agent"' in lookup.identifiers
    else:
        member = covered_member(lookup.identifiers, "signature-agent", lookup.label) or ""
        covers = bool(member)
    if value is None or not covers:
        return None
    try:
        return read_signature_agent(value, form=form, member=member)
    except MalformedField as malformed:
        raise KeySourceError("signature_header_malformed", str(malformed)) from None
