"""Content that is signed before it is sent: what is read, what is kept, what is rejected, and what is read again."""

from __future__ import annotations

import asyncio
import io
from itertools import repeat

import pytest
from tests.keys import BODY, JSON_FIELD, signer, verifier

from undersigned import Request, SigningError
from undersigned.client import ClientSigner, FileContent

ORIGIN = "https://seller.example.com"


def client(**options) -> ClientSigner:
    return ClientSigner(signer(), [ORIGIN], **options)


class Readable:
    """A stream that can be read once."""

    def __init__(self, data: bytes) -> None:
        self.read = io.BytesIO(data).read


class ReadTwoWays(Readable):
    """A stream of a library that can be read with and without asyncio."""

    async def __aiter__(self):
        yield b"by asyncio"


class WithoutSeekable(Readable):
    """A file of a library that does not say whether it can be read again."""

    def __init__(self, data: bytes) -> None:
        file = io.BytesIO(data)
        self.read, self.seek, self.tell = file.read, file.seek, file.tell


def show_value(value) -> str:
    """Return a name for a parameter that is the same in every process."""
    text = str(value)
    return type(value).__name__ if " at 0x" in text else text


async def chunks():
    yield b"ab"
    yield bytearray(b"c")


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
    assert client().read(body) == content


def test_async_generator_is_read_by_a_client_for_asyncio_only():
    assert asyncio.run(client().async_read(chunks())) == b"abc"
    assert asyncio.run(client().async_read([b"a"])) == b"a"
    assert asyncio.run(client().async_read(ReadTwoWays(b"by read"))) == b"by read"
    with pytest.raises(SigningError, match="async generator can be sent by a client for asyncio only"):
        client().read(chunks())


@pytest.mark.parametrize("body", [7, object(), {"a": 1}, [1], ["text"], io.StringIO("text")], ids=show_value)
def test_content_that_is_not_bytes_is_rejected(body):
    with pytest.raises(SigningError, match=r"^content: .*bytes.*, not (?:int|object|str)"):
        client().read(body)


def test_stream_is_kept_up_to_the_limit_and_not_read_beyond_it():
    limited = client(max_spooled=10)
    assert limited.read(iter([b"a" * 5, b"b" * 5])) == b"a" * 5 + b"b" * 5
    endless = repeat(b"four")
    with pytest.raises(SigningError, match=r"more than 10 bytes.*Pass a file that can be read again, or a larger"):
        limited.read(endless)

    async def forever():
        while True:
            yield b"four"

    with pytest.raises(SigningError, match="more than 10 bytes"):
        asyncio.run(limited.async_read(forever()))


def test_stream_is_kept_up_to_16_mib_by_default():
    most = bytes(16 * 1024 * 1024)
    assert client().read(iter([most])) == most
    with pytest.raises(SigningError, match="more than 16777216 bytes"):
        client().read(iter([most, b"x"]))


@pytest.mark.parametrize("kind", [io.BytesIO, WithoutSeekable])
def test_file_that_can_be_read_again_is_not_kept(kind):
    body = BODY * 10_000
    content = client(max_spooled=0).read(kind(body))
    assert isinstance(content, FileContent)
    assert len(content) == len(body)
    signed = client().sign("POST", f"{ORIGIN}/", [JSON_FIELD], content)
    fields = [("host", signed.authority), *signed.fields, *signed.signature]
    for _ in range(2):
        assert content.seek(0) == 0
        assert content.tell() == 0
        assert verifier().verify(Request("POST", signed.url, fields, b"".join(content)))
    assert content.tell() == len(body)
    assert (content.read(), content.read(5)) == (b"", b"")


def test_file_is_sent_from_where_it_was():
    file = io.BytesIO(b"0123456789")
    file.seek(4)
    content = client().read(file)
    assert (len(content), content.read(2), content.tell(), content.read()) == (6, b"45", 2, b"6789")
    assert content.seek(4) == 4  # a position that a client noted of the file itself
    assert content.tell() == 0
    assert client().read(content) is content
    assert content.read(None) == b"456789"


@pytest.mark.parametrize("place", [(1, 0), (0, 2), (0, 1)])
def test_file_is_sent_from_its_beginning_only(place):
    with pytest.raises(io.UnsupportedOperation):
        client().read(io.BytesIO(b"abc")).seek(*place)


@pytest.mark.parametrize("change", [b"ABC", b"ab", b""], ids=["other", "shorter", "empty"])
def test_file_that_changed_is_not_read_to_its_end(change):
    file = io.BytesIO(b"abc")
    content = client().read(file)
    file.seek(0)
    file.truncate()
    file.write(change)
    content.seek(0)
    with pytest.raises(SigningError, match="content: the file changed after it was signed"):
        b"".join(content)


def test_file_that_grew_is_sent_as_it_was_signed():
    file = io.BytesIO(b"abc")
    content = client().read(file)
    file.seek(0, io.SEEK_END)
    file.write(b"d")
    content.seek(0)
    assert b"".join(content) == b"abc"
