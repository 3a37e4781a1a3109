"""Prepared requests that are signed each time they are written to a connection."""

from __future__ import annotations

import io
from contextlib import suppress
from typing import TYPE_CHECKING, Any, cast

from requests import PreparedRequest
from requests.structures import CaseInsensitiveDict
from urllib3 import HTTPResponse

from undersigned import SigningError, UndersignedError
from undersigned.client import SIGNATURE_FIELDS, FileContent

if TYPE_CHECKING:
    from collections.abc import ItemsView, Iterable, MutableMapping
    from http.cookiejar import CookieJar

    from requests import Response
    from requests.adapters import BaseAdapter
    from requests.cookies import RequestsCookieJar

    from undersigned.client import ClientSigner, SignedRequest

    Value = str | bytes


_CHUNK = 65_536
_WANTED = "Accept-Signature"


class Signing:
    """The signing of one prepared request, each time it is written.

    Args:
        prepared: the request.
        signer: signs it.
        origin: for a copy, the origin that the copied request was signed for, or None if it had no signature.

    Attributes:
        origin: the origin this request is signed for, or None if it is left without a signature.
    """

    __slots__ = ("_client", "_prepared", "_signed", "_signer", "origin")

    def __init__(self, prepared: PreparedRequest, signer: ClientSigner, origin: str | None) -> None:
        self._prepared = prepared
        self._client = self._signer = signer
        self._signed: SignedRequest | None = None
        self.origin = origin

    def prepare(self) -> None:
        """Give the request its canonical URL, its content as bytes or as a file, and a signature.

        Raises:
            MalformedURL: the URL has no canonical form.
            SigningError: the origin is not listed, the content is a stream that is too long, or the request lacks what
                is covered.
        """
        prepared = self._prepared
        # Sending normalizes a URL from a redirect, or one set by hand, once more. Preparing it again here yields a URL
        # that sending does not change.
        prepared.prepare_url(prepared.url or "", None)
        given: object = prepared.body
        content = self._signer.read(given)
        if not isinstance(given, FileContent | bytes | str | None):
            prepared.headers.pop("Transfer-Encoding", None)
            prepared.headers["Content-Length"] = str(len(content))
            if isinstance(content, bytes):
                # requests noted where the file was, to rewind it for a redirect. Bytes need no rewinding.
                vars(prepared)["_body_position"] = None
        signed = self._sign(prepared.headers, content)
        # An empty body is sent without framing.
        prepared.url, prepared.body = signed.url, content or None
        self.origin = signed.origin
        put(prepared.headers, signed)

    def prepare_redirected(self) -> None:
        """Do what `prepare` does if the request stays within the listed origins.

        Raises:
            MalformedURL: the URL has no canonical form.
            SigningError: it leaves the listed origins, or lacks what is covered.
        """
        if self._signer.signs_redirect(self.origin, self._prepared.url or ""):
            self.prepare()

    def write(self, fields: MutableMapping[str, Value]) -> None:
        """Sign the request as it is, and put the signature into `fields`, which are about to be written.

        Raises:
            MalformedURL: it is redirected to a URL without canonical form.
            SigningError: it is redirected out of the listed origins, or was changed after it was prepared.
        """
        prepared = self._prepared
        if not self._signer.signs_redirect(self.origin, prepared.url or ""):
            self.origin = None
            return
        body: object = prepared.body
        if not isinstance(body, FileContent | bytes | None):
            raise SigningError("body: it was changed after it was signed; prepare the request again")
        signed = self._sign(fields, body or b"")
        if signed.url != prepared.url:
            raise SigningError("url: it was changed after it was signed; prepare the request again")
        put(fields, signed)
        put(prepared.headers, signed)

    def copy(self, prepared: PreparedRequest) -> Signing:
        """Return the signing of `prepared`, a copy of the request."""
        return Signing(prepared, self._client, self.origin)

    def note_answer(self, r: Response) -> bool:
        """Note how the request was answered, and return whether to send it once more. Then it is signed otherwise.

        The request after a second try is signed as the first one was.
        """
        signed = None if self.origin is None else self._signed
        again = None if signed is None else self._client.second_try(signed, r.status_code, r.headers.get(_WANTED))
        is_first = self._signer is self._client
        self._signer = again if is_first and again is not None else self._client
        return self._signer is not self._client

    def verify(self, r: Response) -> None:
        """Read and verify the response `r`, if responses are verified. It then has its content in memory.

        Raises:
            SignatureError: it is rejected, and closed.
        """
        responses = self._client.responses
        if responses is None:
            return
        signed = cast("SignedRequest", self._signed)
        raw = cast("HTTPResponse", r.raw)
        try:
            content = responses.read(raw.stream(_CHUNK, decode_content=False))
            responses.verify(signed, r.status_code, raw.headers.iteritems(), content)
        except BaseException:
            r.close()
            raise
        r.raw = HTTPResponse(
            io.BytesIO(content),
            raw.headers,
            raw.status,
            raw.version,
            reason=raw.reason,
            preload_content=False,
            original_response=vars(raw)["_original_response"],  # requests reads cookies from it
            request_method=self._prepared.method,
        )

    def _sign(self, fields: MutableMapping[str, Value], content: bytes | FileContent) -> SignedRequest:
        # By keys, because `items` of fields that are about to be written signs them.
        pairs = [(name, _text(fields[name])) for name in fields]
        self._signed = self._signer.sign(self._prepared.method or "", self._prepared.url or "", pairs, content)
        return self._signed


class WireFields(CaseInsensitiveDict["str | bytes"]):
    """Header fields that are signed when they are written.

    urllib3 copies them for an attempt, and takes `items` of the copy to write them. Each attempt does so, also a retry.

    Args:
        fields: the fields as (name, value) pairs.
        signing: signs them.
    """

    def __init__(self, fields: Iterable[tuple[str, Value]], signing: Signing) -> None:
        super().__init__(fields)
        self.signing = signing

    def copy(self) -> WireFields:
        """Return a copy that is signed when it is written."""
        return WireFields(self._store.values(), self.signing)

    def items(self) -> ItemsView[str, Value]:
        """Return the names and values as they are written, with a signature of their own."""
        self.signing.write(self)
        return super().items()

    def __repr__(self) -> str:
        """Return the names and values as they are, without signing them."""
        return repr(dict(self._store.values()))


class SignedCopy(PreparedRequest):
    """A copy of a signed request, which is signed for its own URL.

    To follow a redirect, requests copies the request with all its header fields, sets method, URL and content, and
    prepares its cookies last. It does not call the auth. So the copy has no signature, and preparing the cookies signs
    it.

    Args:
        request: the request that is copied.
        signing: the signing of that request.
    """

    def __init__(self, request: PreparedRequest, signing: Signing) -> None:
        super().__init__()
        vars(self).update(vars(PreparedRequest.copy(request)))
        self._signing = signing.copy(self)
        self.headers = WireFields(unsigned_fields(request), self._signing)

    def copy(self) -> PreparedRequest:
        """Return a copy that is signed for its own URL."""
        return SignedCopy(self, self._signing)

    def prepare_cookies(self, cookies: RequestsCookieJar | CookieJar | dict[str, str] | None) -> None:
        """Prepare the cookies, then sign the request if it stays within the listed origins.

        A request that cannot be signed raises when it is written: requests also prepares redirects that it does not
        follow.
        """
        super().prepare_cookies(cookies)
        with suppress(UndersignedError):
            self._signing.prepare_redirected()


class SentRequest(PreparedRequest):
    """A request as it was sent. It has no signer, and a copy of it has no signature.

    Args:
        request: the request that was sent.
    """

    def __init__(self, request: PreparedRequest) -> None:
        super().__init__()
        vars(self).update(vars(PreparedRequest.copy(request)))
        self.headers = CaseInsensitiveDict([(name, request.headers[name]) for name in request.headers])

    def copy(self) -> PreparedRequest:
        """Return a copy without a signature, as it may be sent to another URL."""
        copied = PreparedRequest.copy(self)
        copied.headers = CaseInsensitiveDict(unsigned_fields(self))
        return copied


def finish(r: Response, **options: Any) -> Response:
    """Return the response `r`, or the one to a second try, with its request as it was sent."""
    _verify(r)
    answer = _try_again(r, **options)
    keep_sent(answer)
    return answer


def _verify(r: Response) -> None:
    fields = r.request.headers
    if isinstance(fields, WireFields):
        fields.signing.verify(r)


def _try_again(r: Response, **options: Any) -> Response:
    """Send the request of the response `r` once more, if the receiver asks for another scheme or signature.

    Args:
        r: the response.
        options: how the request was sent.
    """
    request = r.request
    fields = request.headers
    if not isinstance(fields, WireFields) or not fields.signing.note_answer(r):
        return r
    keep_sent(r)
    r.close()
    if isinstance(request.body, FileContent):
        request.body.rewind()
    adapter = cast("BaseAdapter", vars(r)["connection"])
    answer = adapter.send(request, **options)
    _verify(answer)
    fields.signing.note_answer(answer)
    answer.history.append(r)
    return answer


def keep_sent(r: Response) -> None:
    """Give the response `r` its request as it was sent, as the original gets a new signature when it is sent again."""
    if isinstance(r.request.headers, WireFields):
        r.request = SentRequest(r.request)


def unsigned_fields(request: PreparedRequest) -> list[tuple[str, Value]]:
    """Return the header fields of `request` without its signature, and without `Host`, which fits its own URL only."""
    fields, own = request.headers, SIGNATURE_FIELDS | {"host"}
    return [(name, fields[name]) for name in fields if name.lower() not in own]


def put(fields: MutableMapping[str, Value], signed: SignedRequest) -> None:
    """Put the signature, and the canonical form of a `Host`, into `fields`."""
    for name in SIGNATURE_FIELDS:
        fields.pop(name, None)
    fields.update(signed.signature)
    if "Host" in fields:
        fields["Host"] = signed.authority


def _text(value: object) -> str:
    return value.decode("latin-1") if isinstance(value, bytes) else str(value)
