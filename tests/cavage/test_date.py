"""The Date that a signature by the draft covers, as the verifier of ActivityPub reads it."""

from __future__ import annotations

import pytest
from tests.activitypub.actors import GET, KEYID, NOW, sign_by_draft, sign_by_hand, verifier, with_fields

from undersigned import Request, SignatureError


def dated(text: str) -> Request:
    """A request whose signature covers this Date."""
    lines = {"(request-target)": "get /inbox?page=1", "host": "inbox.example", "date": text}
    return sign_by_hand(with_fields(GET, ("Date", text)), lines)


def test_http_date_is_written_as_it_is_read():
    assert dict(sign_by_draft(GET).fields)["date"] == "Sun, 22 Nov 2026 00:00:05 GMT"
    assert verifier().verify(dated("Sun, 22 Nov 2026 00:00:00 GMT")).created == NOW - 5
    verified = verifier(clock=lambda: 60).verify(dated("Thu, 01 Jan 1970 00:00:00 GMT"))
    assert (verified.created, verified.keyid) == (0, KEYID)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Sunday, 22-Nov-26 00:00:00 GMT",
        "Sun Nov 22 00:00:00 2026",
        "Sun, 22 Nov 2026 00:00:00 +0000",
        "Sun, 31 Feb 2026 00:00:00 GMT",
        "Mon, 22 Nov 2026 00:00:00 GMT",
        "Sun, 22 Nov 2026 24:00:00 GMT",
        "Sun, 22 Nov 0000 00:00:00 GMT",
        "Sun, 22 Nov 99999999999 00:00:00 GMT",
    ],
)
def test_date_in_another_form_or_of_no_day_is_malformed(text):
    with pytest.raises(SignatureError) as caught:
        verifier().verify(dated(text))
    assert (caught.value.reason, caught.value.step) == ("signature_header_malformed", 1)
    assert "the covered Date is absent, or not a date" in caught.value.detail
