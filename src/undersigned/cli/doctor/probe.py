"""Probes: requests that are sent byte for byte to one server, and the answers to them."""

from __future__ import annotations

import http.client
import json
import re
import ssl
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast, get_args

from undersigned import profiles
from undersigned.errors import Reason, UndersignedError
from undersigned.middleware.answer import UNREAD

if TYPE_CHECKING:
    from collections.abc import Sequence

    from undersigned.url import CanonicalURL

MOST_CONTENT = 64 * 1024
"""Upper bound on the content of an answer that is read, in bytes."""

_CHALLENGE = re.compile(r'(?:^|[\s,])Signature error="([a-z_]{1,64})"')
_CODE = re.compile(r"[a-z_]{1,64}")
_ANSWERS = tuple(profile.answers for profile in profiles.BY_NAME.values())
_PREFIXES = tuple(dict.fromkeys(answers.prefix for answers in _ANSWERS if answers.prefix))
_CODES = frozenset(answers.code(reason) for answers in _ANSWERS for reason in get_args(Reason))
_BARE_CODES = frozenset(response.code for response in UNREAD)
_STATED = frozenset({503, *(response.status for response in UNREAD)})


class NoAnswer(UndersignedError):
    """Raised when the server gives no HTTP answer. The message quotes nothing that the server sent."""


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
        code: the verifier's code without the prefix of its profile; empty if no verifier rejected the request.
    """

    status: int
    code: str

    @classmethod
    def read(cls, status: int, challenges: Sequence[str], content: bytes) -> Answer:
        """Read the code from the challenge, or from JSON content if the answer cannot have a challenge."""
        for challenge in challenges:
            match = _CHALLENGE.search(challenge)
            if match is not None:
                return cls(status, _without_prefix(match[1]))
        if status in _STATED:
            return cls(status, _stated_code(content))
        return cls(status, "")


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
        connection = self._connection()
        try:
            _send(connection, probe)
            with connection.getresponse() as response:
                challenges = response.headers.get_all("WWW-Authenticate", [])
                return Answer.read(response.status, challenges, response.read(MOST_CONTENT))
        except ssl.SSLCertVerificationError as distrusted:
            raise NoAnswer(f"the certificate is not trusted: {distrusted.verify_message}") from None
        except TimeoutError:
            raise NoAnswer(f"no data for {self.timeout:g} seconds") from None
        except OSError as failure:
            raise NoAnswer(failure.strerror or "the connection was closed") from None
        except http.client.HTTPException:
            raise NoAnswer("the answer is not HTTP/1.1, or it ends early") from None
        finally:
            connection.close()

    def _connection(self) -> http.client.HTTPConnection:
        host, port = self.site.host.strip("[]"), self.site.port
        if self.site.scheme == "https":
            return http.client.HTTPSConnection(host, port, timeout=self.timeout, context=self.tls)
        return http.client.HTTPConnection(host, port, timeout=self.timeout)


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
    """Return the code in JSON content of our own format, or an empty text."""
    try:
        value = cast("object", json.loads(content))
    except (ValueError, RecursionError):
        return ""
    stated = cast("dict[str, object]", value).get("error") if isinstance(value, dict) else None
    if not isinstance(stated, str) or _CODE.fullmatch(stated) is None:
        return ""
    if stated in _BARE_CODES:
        return stated
    return _without_prefix(stated) if stated in _CODES else ""


def _without_prefix(code: str) -> str:
    for prefix in _PREFIXES:
        if code.startswith(prefix):
            return code[len(prefix) :]
    return code
