"""The details that servers hide from applications, case by case.

The matrix compares each server with its cases exactly. An additional case fails, and so does a missing one.
"""

from __future__ import annotations

ABSOLUTE = "absolute-form is seen as origin-form; the signed Host is used"
FRAGMENT = "the fragment is removed"
SPACES = "extra spaces in the request line"
TRAILER = "whether a field was a trailer"
METHOD = "the case of the method"
STRIPPED = "the absolute part of :path and the fragment are removed"
SLASHES = "slashes at the start"
MERGED = "whether a field was sent with an underscore instead of a hyphen"
DROPPED = "a name with an underscore is dropped, so no application sees it"
DECHUNKED = "Content-Length is dropped if the content is chunked; the application gets the digested content"
LENGTHS = "equal lengths are joined, as RFC 9110 section 8.6 allows"
NO_FIELD = "a malformed field line is dropped, so no application sees it"
LAST = "the application sees the last of several"

TRAILER_OF_A_NEW_FIELD = "a trailer that forges a new field"
ABSOLUTE_CASES = dict.fromkeys(
    ("absolute-form, own host", "absolute-form, http", "absolute-form, other host", "absolute-form, userinfo"), ABSOLUTE
)
FRAGMENT_CASES = dict.fromkeys(("fragment", "fragment after the query"), FRAGMENT)
SPACES_CASES = {"two spaces in the request line": SPACES}
OTHER_LABEL = ("Signature_Input with Signature-Input", "Signature_Input before Signature-Input")
SAME_LABEL = (
    "Signature_Input of the same label with Signature-Input",
    "Signature_Input of the same label before Signature-Input",
)
DROPPED_CASES = dict.fromkeys((*OTHER_LABEL, *SAME_LABEL), DROPPED)
MERGED_CASES = {**dict.fromkeys(OTHER_LABEL, MERGED), "Content_Type for Content-Type": MERGED}
DECHUNKED_CASES = dict.fromkeys(
    ("Content-Length before Transfer-Encoding", "Transfer-Encoding before Content-Length"), DECHUNKED
)
LENGTHS_CASES = {"a list of lengths": LENGTHS}
