"""Routes: a network between a doctor and an application, simulated in this process, with the real middleware."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from io import BytesIO
from typing import TYPE_CHECKING
from urllib.parse import unquote_to_bytes

from tests import keys

from undersigned import MemoryReplayStore, Signer, Verifier, canonicalize, profiles
from undersigned.cli.doctor.diagnosis import Examination
from undersigned.cli.http import Verdict, read_verdict
from undersigned.wsgi import SignatureMiddleware

if TYPE_CHECKING:
    from collections.abc import Callable

    from undersigned.cli.doctor.checks import Diagnosis, Finding
    from undersigned.cli.doctor.probes import Probe

URL = "https://seller.example.com"


@dataclass
class Route:
    """A route to a server that changes probes, and the configuration of the server.

    Attributes:
        change: returns the probe that arrives, or an `Verdict` if the route answers instead of the server.
        origins: the origins of the middleware.
        options: the other options of the middleware.
        prefix: the prefix that the route strips from the target.
        status: the status of the application's answers.
        terminated: whether the server shows where chunked content ends.
        sent: the probes that were sent.
    """

    change: Callable[[Probe], Probe | Verdict] = lambda probe: probe
    origins: tuple[str, ...] = (URL,)
    options: dict = field(default_factory=dict)
    prefix: str = ""
    status: str = "404 Not Found"
    terminated: bool = True
    sent: list[Probe] = field(default_factory=list)

    def __post_init__(self) -> None:
        verifier = Verifier(profiles.ADCP_3_2, keys=keys.KEYS, replay=MemoryReplayStore())
        options = {"verifier": verifier, "origins": self.origins, **self.options}
        self._middleware = SignatureMiddleware(self._application, **options)

    def ask(self, probe: Probe) -> Verdict:
        self.sent.append(probe)
        arrived = self.change(probe)
        if isinstance(arrived, Verdict):
            return arrived
        said: list = []
        content = b"".join(self._middleware(self._environ(arrived), lambda *started: said.extend(started)))
        fields = dict(said[1])
        challenges = [fields["WWW-Authenticate"]] if "WWW-Authenticate" in fields else []
        return read_verdict(int(said[0][:3]), challenges, content)

    def diagnosis(self, url: str = URL, *, method: str = "GET", key=keys.KEY, profile=profiles.ADCP_3_2) -> Diagnosis:
        signer = Signer(key, profile=profile)
        return Examination(canonicalize(url), signer, self.ask, method=method).diagnose()

    def finding(self, url: str = URL, *, method: str = "GET") -> Finding:
        """Return the only finding."""
        [finding] = self.diagnosis(url, method=method).findings
        return finding

    def _application(self, _environ, start_response):
        start_response(self.status, [])
        return [json.dumps({"error": "of its own"}).encode()]

    def _environ(self, probe: Probe) -> dict:
        target = probe.target.removeprefix(self.prefix)
        path, _, query = target.partition("?")
        environ = {
            "REQUEST_METHOD": probe.method,
            "SERVER_PROTOCOL": "HTTP/1.1",
            "RAW_URI": target,
            "PATH_INFO": unquote_to_bytes(path).decode("latin-1"),
            "QUERY_STRING": query,
            "HTTP_HOST": probe.host,
            "wsgi.input": BytesIO(probe.content),
            "wsgi.url_scheme": "http",
        }
        for name, value in probe.fields:
            environ[f"HTTP_{name.upper().replace('-', '_')}"] = value
        environ["CONTENT_TYPE"] = environ.pop("HTTP_CONTENT_TYPE", "")
        if probe.chunked:
            environ |= {"HTTP_TRANSFER_ENCODING": "chunked", "wsgi.input_terminated": self.terminated}
        elif probe.content:
            environ["CONTENT_LENGTH"] = str(len(probe.content))
        return environ
