"""What a person pastes or records: a request, and the keys of a verifier, in each form in which tools show them."""

from undersigned.pasted.keys import parse_pasted_keys
from undersigned.pasted.request import MalformedRequest, PastedRequest, parse_pasted_request

__all__ = ["MalformedRequest", "PastedRequest", "parse_pasted_keys", "parse_pasted_request"]
