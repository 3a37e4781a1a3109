"""Content that is signed before it is sent: what is read, what is kept, what is rejected."""

from __future__ import annotations

import io
from itertools import repeat

import pytest
from tests.keys import BODY, signer, verifier

from undersigned import Request, SigningError
from undersigned.client import ClientSigner, UnchangedBody, finish

ORIGIN = "https://seller.example.com"


def client(**options) -> ClientSigner:
    return ClientSigner(signer(), [ORIGIN], **options)


def read(body, **options) -> bytes | UnchangedBody:
    return finish(client(**options).read(body))


class Readable:
    """A stream that can be read once."""

    def __init__(self, data: bytes) -> None:
        self.read = io.BytesIO(data).read


class WithoutSeekable(Readable):
    """A file of a library that does not say whether it can be read again."""

    def __init__(self, data: bytes) -> None:
        file = io.BytesIO(data)
        self.read, self.seek, self.tell = file.read, file.seek, file.tell


def show_value(value) -> str:
    """Return a name for a parameter that is the same in every process."""
    text = str(value)
    return type(value).__name__ if " at 0x" in text else text


@pytest.mark.parametrize(
    ("body", "content"),
    [
        (None, b""),
        (b"", b""),
        (b"abc", b"abc"),
        (bytearray(b"abc"), b"abc"),
        (memoryview(b"abc"), b"abc"),
        ("caf\u00e9", "caf\u00e9".encode()),
        ([b"ab", bytearray(b"c")], b"abc"),
        (iter([b"abc", b""]), b"abc"),
        (Readable(b"abc"), b"abc"),
        (io.BytesIO(), b""),
    ],
    ids=show_value,
)
def test_content_is_read_before_it_is_sent(body, content):
    assert read(body) == content


@pytest.mark.parametrize("body", [7, object(), {"a": 1}, [1], ["text"], io.StringIO("text")], ids=show_value)
def test_content_that_is_not_bytes_is_rejected(body):
    with pytest.raises(SigningError, match=r"^content: .*bytes.*, not (?:int|object|str)"):
        read(body)


def test_stream_is_kept_up_to_the_limit_and_not_read_beyond_it():
    assert read(iter([b"a" * 5, b"b" * 5]), max_spooled=10) == b"a" * 5 + b"b" * 5
    with pytest.raises(SigningError, match=r"more than 10 bytes.*Pass a file that can be read again, or a larger"):
        read(repeat(b"four"), max_spooled=10)


@pytest.mark.parametrize("kind", [io.BytesIO, WithoutSeekable])
def test_file_is_not_kept_and_is_then_where_it_was(kind):
    body = b"[%s]" % b",".join([BODY] * 10_000)
    file = kind(b"skipped" + body)
    file.seek(7)
    digest = read(file, max_spooled=0)
    assert (type(digest), len(digest), file.tell()) == (UnchangedBody, len(body), 7)
    signed = client().sign("POST", f"{ORIGIN}/", [("Content-Type", "text/plain")], digest)
    request = Request("POST", signed.url, [("host", signed.authority), *signed.headers], file.read(-1))
    assert verifier().verify(request)


def test_file_that_a_redirect_sends_again_is_checked_from_its_beginning():
    file = io.BytesIO(b"skipped" + BODY)
    start = file.seek(7)
    sent = read(file)
    for body in (sent, sent, read(sent)):
        assert b"".join(body) == BODY
    file.getbuffer()[start] ^= 1
    with pytest.raises(SigningError, match=r"^content: it changed"):
        list(sent)
