"""The work of a verification grows with what was received, and no faster. Lines of Python are counted, not time."""

from __future__ import annotations

import base64

import pytest
from tests.keys import FULL, KEY, covering, verifier
from tests.work import lines_run

from undersigned import Request, SignatureError

ORIGIN = "https://seller.example.com"
BODY = b'{"plan_id":"plan_001"}'
DIGEST = "sha-256=:SNIVma8dgUBx/U1CBaYFQnsJep9S0/tXaNXlQQOdoxQ=:"
SIGNATURE = f"sig1=:{base64.b64encode(KEY.sign(b'another message')).decode()}:"


def message(**parts: str) -> Request:
    """Return a request that is verified to its end, and that nobody signed."""
    fields = {
        "host": "seller.example.com",
        "content-type": "application/json",
        "content-digest": DIGEST,
        "signature-input": covering(*FULL),
        "signature": SIGNATURE,
        **parts,
    }
    target = fields.pop("target", "/adcp/create_media_buy")
    return Request("POST", f"{ORIGIN}{target}", [*fields.items()], BODY)


PARTS = {
    "triplets": lambda size: message(target="/" + "%c3%7e" * size),
    "segments": lambda size: message(target="/a" * size),
    "dot segments": lambda size: message(target="/a/.." * size),
    "query": lambda size: message(target="/?" + "a=b&" * size),
    "fields": lambda size: message(**{f"x{at}": "v" for at in range(size // 16)}),
    "values of covered fields": lambda size: message(**{"signature-input": covering(*FULL, '"x"'), "x": "v, " * size}),
    "covered fields": lambda size: message(
        **{f"x{at}": "v" for at in range(size // 64)},
        **{"signature-input": covering(*FULL, *(f'"x{at}"' for at in range(size // 64)))},
    ),
    "a structured field": lambda size: message(
        **{"signature-input": covering(*FULL, '"x";sf'), "x": "v" + ", v" * (size // 32)}
    ),
    "signatures": lambda size: message(
        **{
            "signature-input": ", ".join([covering(*FULL), *(f'l{at}=("@method")' for at in range(size // 64))]),
            "signature": ", ".join([SIGNATURE, *(f"l{at}=:AAAA:" for at in range(size // 64))]),
        }
    ),
    "white space": lambda size: message(signature=" " * size + SIGNATURE),
    "digests": lambda size: message(
        **{"content-digest": ", ".join([DIGEST, *(f"d{at}=:AAAA:" for at in range(size // 64))])}
    ),
}


@pytest.mark.parametrize("part", PARTS)
def test_twice_as_much_is_at_most_twice_the_work(part):
    verifying = verifier()

    def work(size: int) -> int:
        request = PARTS[part](size)

        def verify() -> None:
            with pytest.raises(SignatureError) as caught:
                verifying.verify(request)
            assert caught.value.step == 10

        return lines_run(verify)

    work(1)  # What is made once, and kept, is not counted.
    least, some, twice = work(1), work(512), work(1024)
    assert twice - least <= 2.2 * (some - least) + least / 10
