"""Content of httpx that is signed before it is sent: a file is not read into memory, and nothing else is sent."""

from __future__ import annotations

import asyncio
import io

import pytest
from tests.integrations.capture import capturing
from tests.integrations.clients import BY_TRANSPORT, LIBRARIES, MEANS
from tests.integrations.seller import KEYID, make_signer, make_verifier
from tests.integrations.test_httpx_changes import Passing

from undersigned import SigningError
from undersigned.client import ClientSigner
from undersigned_httpx.content import AsyncContent, SignedStream

CHUNK = 65_536
DATA = bytes(range(251)) * 784
OCTETS = {"Content-Type": "application/octet-stream"}
ORIGIN = "https://seller.example.com"
REDIRECT = b"HTTP/1.1 307 Moved\r\nLocation: /next\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
CHANGED = "content: the (file changed|stream yields other bytes)"

every_means = pytest.mark.parametrize("means", MEANS, ids=str)
sync_means = pytest.mark.parametrize("means", [means for means in MEANS if not means.asynchronous], ids=str)
async_means = pytest.mark.parametrize("means", [means for means in MEANS if means.asynchronous], ids=str)
by_transport = pytest.mark.parametrize("means", BY_TRANSPORT, ids=str)
both_libraries = pytest.mark.parametrize("library", LIBRARIES)


class CountedFile(io.FileIO):
    """A file that keeps the sizes of its reads; -1 for all that is left."""

    def __init__(self, path, mode="r+"):
        super().__init__(path, mode)
        self.sizes = set()

    def read(self, size=-1, /):
        self.sizes.add(size)
        return super().read(size)

    def readall(self):
        raise AssertionError("the file is read into memory")


class Chunks:
    """An iterable, sync and async, that can be read again; each reading yields the next of `readings`."""

    def __init__(self, *readings):
        self.readings = list(readings)

    def next(self):
        return self.readings.pop(0) if len(self.readings) > 1 else self.readings[0]


class SyncChunks(Chunks):
    def __iter__(self):
        yield from self.next()


class AsyncChunks(Chunks):
    async def __aiter__(self):
        for chunk in self.next():
            yield chunk


class Pipe:
    """A file that can be read once."""

    def __init__(self, data):
        self.read = io.BytesIO(data).read

    def __iter__(self):
        raise AssertionError("httpx reads what has a method for it")


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "plan.bin"
    path.write_bytes(DATA)
    with CountedFile(path) as file:
        yield file


def put(means, capture, **parts):
    """Send content, of which nothing may be kept unless `signing` says so."""
    origin = f"http://127.0.0.1:{capture.port}"
    parts = {"signing": {"max_spooled": 0}, **parts}
    return means.send("PUT", f"{origin}/plan", signer=make_signer(), origins=[origin], **parts)


def chunks(means, *readings):
    return {"content": (AsyncChunks if means.asynchronous else SyncChunks)(*readings), "headers": OCTETS}


def forms(file):
    return {"files": {"plan": ("plan.bin", file), "note": ("note.txt", b"gold")}, "data": {"budget": "1"}}


def signed_bodies(capture):
    verifier = make_verifier()
    assert all(verifier.verify(sent.request()).keyid == KEYID for sent in capture.sent)
    return [sent.body for sent in capture.sent]


@sync_means
def test_file_is_signed_and_sent_without_reading_it_into_memory(means, file):
    with capturing() as capture:
        put(means, capture, content=file, headers=OCTETS)
    assert signed_bodies(capture) == [DATA]
    assert 0 < min(file.sizes) <= max(file.sizes) <= CHUNK


@every_means
def test_form_with_a_file_is_signed_and_sent_without_reading_it_into_memory(means, file):
    with capturing() as capture:
        put(means, capture, **forms(file))
    (body,) = signed_bodies(capture)
    assert DATA in body
    assert b"gold" in body
    assert 0 < min(file.sizes) <= max(file.sizes) <= CHUNK


@every_means
def test_iterable_that_can_be_read_again_has_no_limit(means):
    with capturing() as capture:
        put(means, capture, **chunks(means, [b"", DATA[:CHUNK], bytearray(DATA[CHUNK:]), b""]))
    assert signed_bodies(capture) == [DATA]


@every_means
def test_iterable_that_yields_its_bytes_once_is_kept_up_to_the_limit(means):
    with capturing() as capture:
        put(means, capture, signing={"max_spooled": 6}, **chunks(means, [b"abc", b"def"], []))
    assert signed_bodies(capture) == [b"abcdef"]


@every_means
def test_empty_iterable_is_signed_as_no_bytes(means):
    with capturing() as capture:
        put(means, capture, **chunks(means, []))
    assert signed_bodies(capture) == [b""]


@by_transport
def test_redirected_file_is_signed_and_sent_again(means, file):
    with capturing(first=[REDIRECT]) as capture:
        put(means, capture, options={"follow_redirects": True}, **forms(file))
    first, second = signed_bodies(capture)
    assert first == second
    assert [sent.target for sent in capture.sent] == ["/plan", "/next"]


def changing(means, file, change):
    """Change the file between its signature and its sending."""

    def changed(request):
        file.seek(0)
        change(file)
        return request

    return lambda transport: Passing(means, transport, changed)


CHANGES = {"another byte": lambda file: file.write(b"x"), "shorter": lambda file: file.truncate(CHUNK)}


@pytest.mark.parametrize("change", CHANGES)
@sync_means
def test_file_that_changes_after_it_was_signed_is_not_sent_whole(means, file, change):
    with capturing() as capture, pytest.raises(SigningError, match=CHANGED):
        put(means, capture, content=file, headers=OCTETS, sending=changing(means, file, CHANGES[change]))
    assert capture.sent == []


@sync_means
def test_file_that_grows_after_it_was_signed_is_sent_as_it_was_signed(means, file):
    def grow(file):
        file.seek(0, io.SEEK_END)
        file.write(b"more")

    with capturing() as capture:
        put(means, capture, content=file, headers=OCTETS, sending=changing(means, file, grow))
    assert signed_bodies(capture) == [DATA]


@pytest.mark.parametrize("change", CHANGES)
@every_means
def test_form_whose_file_changes_after_it_was_signed_is_not_sent_whole(means, file, change):
    with capturing() as capture, pytest.raises(SigningError, match=CHANGED):
        put(means, capture, sending=changing(means, file, CHANGES[change]), **forms(file))
    assert capture.sent == []


@pytest.mark.parametrize("again", [[], [b"abc"], [b"abc", b"deF"]])
@every_means
def test_iterable_that_yields_something_else_is_not_sent_whole(means, again):
    with capturing() as capture, pytest.raises(SigningError, match=CHANGED):
        put(means, capture, **chunks(means, [b"abc", b"def"], again))
    assert capture.sent == []


@async_means
def test_async_iterable_that_yields_more_is_not_sent_whole(means):
    with capturing() as capture, pytest.raises(SigningError, match=CHANGED):
        put(means, capture, **chunks(means, [b"abc", b"def"], [b"abc", b"def", b"g"]))
    assert capture.sent == []


@pytest.mark.parametrize("most", [len(DATA), len(DATA) - 1])
@sync_means
def test_file_that_can_be_read_once_is_kept_up_to_the_limit(means, most):
    parts = {"content": Pipe(DATA), "headers": OCTETS, "signing": {"max_spooled": most}}
    with capturing() as capture:
        if most < len(DATA):
            with pytest.raises(SigningError, match="content: the stream has more than"):
                put(means, capture, **parts)
            return
        put(means, capture, **parts)
    assert signed_bodies(capture) == [DATA]


@pytest.mark.parametrize("most", [len(DATA) + 1000, len(DATA) - 1])
@every_means
def test_form_whose_file_can_be_read_once_is_kept_up_to_the_limit(means, most):
    parts = {"signing": {"max_spooled": most}, **forms(Pipe(DATA))}
    with capturing() as capture:
        if most < len(DATA):
            with pytest.raises(SigningError, match="content: the stream has more than"):
                put(means, capture, **parts)
            return
        put(means, capture, **parts)
    assert DATA in signed_bodies(capture)[0]


@every_means
def test_iterable_of_text_is_rejected(means):
    with capturing() as capture, pytest.raises(SigningError, match="content: the stream must yield bytes, not str"):
        put(means, capture, **chunks(means, ["abc"]))
    assert capture.sent == []


@both_libraries
def test_content_of_the_other_kind_of_client_is_rejected(library, file):
    plain, signed = LIBRARIES[library]
    auth = signed.SignatureAuth(make_signer(), origins=[ORIGIN])
    with pytest.raises(SigningError, match="can be sent by an AsyncClient only"):
        next(auth.auth_flow(plain.Request("PUT", ORIGIN, content=AsyncChunks([b"a"]), headers=OCTETS)))
    asynchronous = auth.async_auth_flow(plain.Request("PUT", ORIGIN, content=file, headers=OCTETS))
    with pytest.raises(SigningError, match="can be sent by a Client only"):
        asyncio.run(anext(asynchronous))


def test_async_content_is_not_sent_by_a_sync_client():
    stream = SignedStream(AsyncContent(AsyncChunks([b"a"]), ClientSigner(make_signer(), [ORIGIN])))
    with pytest.raises(SigningError, match="can be sent by an AsyncClient only"):
        list(stream)


# Names that are not public


@both_libraries
@pytest.mark.parametrize("asynchronous", [False, True])
def test_content_of_a_request_still_has_its_private_name(library, asynchronous):
    given = AsyncChunks([b"x"]) if asynchronous else SyncChunks([b"x"])
    stream = LIBRARIES[library][0].Request("POST", ORIGIN, content=given).stream
    assert stream._stream is given  # noqa: SLF001 - the name that is tested


@both_libraries
def test_files_of_a_form_still_have_their_names(library):
    file = io.BytesIO(b"x")
    form = LIBRARIES[library][0].Request("POST", ORIGIN, data={"a": "b"}, files={"c": file}).stream
    assert [getattr(field, "file", None) for field in form.fields] == [None, file]
