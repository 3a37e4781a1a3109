"""Probes: requests that are sent byte for byte to one server, and the answers to them."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, cast, get_args

from undersigned import profiles
from undersigned.cli.connection import connect, connect_tls
from undersigned.cli.doctor.intermediaries import FIELDS
from undersigned.errors import Reason
from undersigned.middleware.answer import UNREAD

if TYPE_CHECKING:
    import http.client
    import ssl
    from collections.abc import Sequence

    from undersigned.url import CanonicalURL

MOST_CONTENT = 64 * 1024
"""Upper bound on the content of an answer that is read, in bytes."""

_CHALLENGE = re.compile(r'(?:^|[\s,])Signature error="([a-z_]{1,64})"')
_CODE = re.compile(r"[a-z_]{1,64}")
_ANSWERS = tuple(profile.answers for profile in profiles.BY_NAME.values())
_BARE_CODES = frozenset(response.code for response in UNREAD)
_STATED = frozenset({503, *(response.status for response in UNREAD)})


def _reasons() -> dict[str, Reason]:
    """Return the reason that each code means. A code with several meanings means that the signature is invalid."""
    meanings: dict[str, Reason] = {}
    for answers in _ANSWERS:
        meanings |= {answers.code(reason): reason for reason in (*get_args(Reason), "signature_invalid")}
    return meanings


_REASONS = _reasons()
_IN_CONTENT = frozenset(
    answers.code(reason) for answers in _ANSWERS if answers.challenge != "signature" for reason in get_args(Reason)
)
_MEMBERS = tuple(dict.fromkeys(answers.member for answers in _ANSWERS))


@dataclass(frozen=True, slots=True)
class Probe:
    """A request.

    Attributes:
        method: the method.
        target: the request target as sent.
        host: the value of Host as sent.
        fields: the other header fields.
        content: the content. It is sent if it is not empty or if it is chunked.
        chunked: whether it is sent in chunks, without Content-Length.
    """

    method: str
    target: str
    host: str
    fields: tuple[tuple[str, str], ...] = ()
    content: bytes = b""
    chunked: bool = False


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer to a probe.

    Attributes:
        status: the HTTP status code.
        code: the verifier's code as the library names it, without the prefix of its profile; empty if no verifier
            rejected the request.
        stated: the code as the server wrote it.
        accepts: the value of Accept-Signature; text of the server.
        shown: the header fields by which a proxy shows itself; text of the server.
    """

    status: int
    code: str
    stated: str = field(default="", compare=False)
    accepts: str = field(default="", compare=False)
    shown: tuple[tuple[str, str], ...] = field(default=(), compare=False)

    @classmethod
    def of(cls, status: int, fields: Sequence[tuple[str, str]], content: bytes) -> Answer:
        """Return the answer with this status, these header fields, their names in lower case, and this content."""
        challenges = [value for name, value in fields if name == "www-authenticate"]
        accepts = ", ".join([value for name, value in fields if name == "accept-signature"])
        shown = tuple((name, value) for name, value in fields if name in FIELDS)
        return replace(cls.read(status, challenges, content, accepts=accepts), shown=shown)

    @classmethod
    def read(cls, status: int, challenges: Sequence[str], content: bytes, *, accepts: str = "") -> Answer:
        """Read the code from the challenge, or from JSON content if the answer cannot have a challenge."""
        for challenge in challenges:
            match = _CHALLENGE.search(challenge)
            if match is not None:
                return cls(status, _REASONS.get(match[1], match[1]), match[1], accepts)
        stated = _stated_code(content) if status >= 400 else ""  # noqa: PLR2004 - the first status of an error
        if stated in _IN_CONTENT or status in _STATED:
            return cls(status, _REASONS.get(stated, stated), stated, accepts)
        return cls(status, "", "", accepts)


@dataclass(frozen=True, slots=True)
class ProbeClient:
    """A client that sends probes to one server only. It follows neither redirects nor proxy settings.

    Attributes:
        site: a URL of the server, with the host and port to connect to.
        timeout: the seconds of silence after which a connection fails.
        tls: the certificates to trust if the scheme is https.
    """

    site: CanonicalURL
    timeout: float
    tls: ssl.SSLContext

    def ask(self, probe: Probe) -> Answer:
        """Send `probe` over its own connection and read the answer.

        Raises:
            NoAnswer: the server cannot be reached, is not trusted, is silent, or does not answer with HTTP/1.1.
        """
        with connect(self.site, timeout=self.timeout, tls=self.tls) as connection:
            _send(connection, probe)
            with connection.getresponse() as response:
                fields = [(name.lower(), value) for name, value in response.headers.items()]
                return Answer.of(response.status, fields, response.read(MOST_CONTENT))

    def offers_http2(self) -> bool:
        """Return whether the server chooses HTTP/2 when TLS is negotiated (RFC 9113 section 3.2).

        Raises:
            NoAnswer: the server cannot be reached, is not trusted, or is silent.
        """
        with connect_tls(self.site, ["h2", "http/1.1"], timeout=self.timeout, tls=self.tls) as connection:
            return connection.selected_alpn_protocol() == "h2"


def _send(connection: http.client.HTTPConnection, probe: Probe) -> None:
    connection.putrequest(probe.method, probe.target, skip_host=True, skip_accept_encoding=True)
    own = (("Host", probe.host), ("User-Agent", "undersigned-doctor"), ("Connection", "close"))
    for name, value in (*own, *probe.fields):
        connection.putheader(name, value)
    if probe.chunked:
        connection.putheader("Transfer-Encoding", "chunked")
        connection.endheaders([probe.content], encode_chunked=True)
    elif probe.content:
        connection.putheader("Content-Length", str(len(probe.content)))
        connection.endheaders(probe.content)
    else:
        connection.endheaders()


def _stated_code(content: bytes) -> str:
    """Return the code in JSON content of one of the profiles' formats, or an empty text."""
    try:
        value = cast("object", json.loads(content))
    except (ValueError, RecursionError):
        return ""
    members = cast("dict[str, object]", value) if isinstance(value, dict) else {}
    for stated in (members.get(member) for member in _MEMBERS):
        if isinstance(stated, str) and _CODE.fullmatch(stated) and (stated in _REASONS or stated in _BARE_CODES):
            return stated
    return ""
