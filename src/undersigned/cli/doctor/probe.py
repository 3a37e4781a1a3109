"""Probes: requests sent byte for byte to one server, and what its answers say."""

from __future__ import annotations

import http.client
import json
import re
import ssl
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from undersigned import profiles
from undersigned.errors import UndersignedError
from undersigned.middleware.answer import UNREAD

if TYPE_CHECKING:
    from collections.abc import Sequence

    from undersigned.url import CanonicalURL

MOST_CONTENT = 64 * 1024
"""How much of an answer's content is read, in bytes."""

_CHALLENGE = re.compile(r'(?:^|[\s,])Signature error="([a-z_]{1,64})"')
_CODE = re.compile(r"[a-z_]{1,64}")
_PREFIXES = tuple(dict.fromkeys(profile.prefix for profile in profiles.BY_NAME.values()))
_BARE_CODES = frozenset(refusal.code for refusal in UNREAD)
_STATED = frozenset({503, *(refusal.status for refusal in UNREAD)})


class NoAnswer(UndersignedError):
    """The server gives no HTTP answer. The message is made of our words and the operating system's only."""


@dataclass(frozen=True, slots=True)
class Probe:
    """One request.

    Attributes:
        method: the method.
        target: the request target, as it is sent.
        host: the Host value, as it is sent.
        fields: the other header fields.
        content: the content; sent where there is any, or where it is chunked.
        chunked: whether it is sent chunked, without a Content-Length.
    """

    method: str
    target: str
    host: str
    fields: tuple[tuple[str, str], ...] = ()
    content: bytes = b""
    chunked: bool = False


@dataclass(frozen=True, slots=True)
class Answer:
    """What came back.

    Attributes:
        status: the HTTP status code.
        code: the verifier's code without its profile's prefix; empty where no verifier has refused.
    """

    status: int
    code: str

    @classmethod
    def read(cls, status: int, challenges: Sequence[str], content: bytes) -> Answer:
        """Read an answer: a challenge names the code, or JSON where there is no challenge to make."""
        for challenge in challenges:
            match = _CHALLENGE.search(challenge)
            if match is not None:
                return cls(status, _without_prefix(match[1]))
        if status in _STATED:
            return cls(status, _stated_code(content))
        return cls(status, "")


@dataclass(frozen=True, slots=True)
class ProbeClient:
    """Sends probes to one server and to no other: redirects and proxy settings are not followed.

    Attributes:
        site: a URL of the server; its host and port are connected to.
        timeout: the seconds a connection may be silent.
        tls: what is trusted, where the scheme is https.
    """

    site: CanonicalURL
    timeout: float
    tls: ssl.SSLContext

    def ask(self, probe: Probe) -> Answer:
        """Send `probe` over a connection of its own and read the answer.

        Raises:
            NoAnswer: the server cannot be reached, is not trusted, is silent, or answers something else than HTTP/1.1.
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
            raise NoAnswer(f"nothing comes back for {self.timeout:g} seconds") from None
        except OSError as failure:
            raise NoAnswer(failure.strerror or "the connection breaks") from None
        except http.client.HTTPException:
            raise NoAnswer("what comes back is not HTTP/1.1, or ends early") from None
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
    """Return the code that content in our own shape states, or nothing."""
    try:
        value = cast("object", json.loads(content))
    except ValueError:
        return ""
    stated = cast("dict[str, object]", value).get("error") if isinstance(value, dict) else None
    if not isinstance(stated, str) or _CODE.fullmatch(stated) is None:
        return ""
    if stated in _BARE_CODES:
        return stated
    return _without_prefix(stated) if stated.startswith(_PREFIXES) else ""


def _without_prefix(code: str) -> str:
    for prefix in _PREFIXES:
        if code.startswith(prefix):
            return code[len(prefix) :]
    return code
