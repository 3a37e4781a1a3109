"""The examination: probes that are sent, what their answers prove, and what remains untested."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Final, NamedTuple, cast

from undersigned.cli.doctor.site import Finding, Site
from undersigned.cli.doctor.spellings import JSON, REWRITTEN, SPELLINGS
from undersigned.cli.http import NoAnswer, send
from undersigned.cli.verdict import read_verdict
from undersigned.explanation.advice import CONTENT, HOST
from undersigned.message.content import USUALLY_WITH_CONTENT
from undersigned.message.request import Request
from undersigned.reasons import REASONS

if TYPE_CHECKING:
    import ssl
    from collections.abc import Callable, Mapping

    from undersigned.cli.doctor.spellings import Spelling
    from undersigned.cli.verdict import Verdict
    from undersigned.errors import Reason
    from undersigned.signature.signer import Signer
    from undersigned.url import CanonicalURL

_MOST_CONTENT: Final = 64 * 1024
"""Upper bound on the content of an answer that is read, in bytes."""

_PLAIN: Final = "/plain"
_PLAIN_REQUEST: Final = "a plain request"
_ACCEPTED: Final = frozenset({"", "body_malformed"})
"""The codes of an answer to a valid signature: no code, or the code of a later check."""
_MAYBE_ACCEPTED: Final = _ACCEPTED | {"target_uri_malformed"}
"""`_ACCEPTED`, and the code of a rejected target: a policy rejects some signed targets, and a middleware those that
cannot be signed."""

_UNKNOWN_CHANGE: Final = (
    "see the log of the logger `undersigned` (level INFO): it contains the rebuilt signature base, whose @method, "
    "@target-uri and @authority are the values that arrived"
)
_LOG: Final = "see the log of the logger `undersigned`: it names the cause"
_NOT_VERIFIED: Final = (
    "check that the path of the URL leads to the application, that SignatureMiddleware is its outermost middleware, "
    "and that nothing in between answers instead. A bot that the server does not know may pass as unsigned: the log of "
    "the logger `undersigned` says why (level INFO)"
)


_NEVER_TESTED: Final[Mapping[str, str]] = {
    "other paths": "all probes go below one path: a proxy may have rules for others, and a route checks of its own",
    "other methods and headers": "the probes have one method: a proxy may treat others in another way",
    "large content": "the content is small: the limits of a proxy, or its buffering, are not reached",
    "HTTP/2 and HTTP/3": "the probes are HTTP/1.1, and clients may speak another version to the first proxy",
    "replays and clocks": "each probe is new and signed now: no nonce comes twice, and the store of other workers, the "
    "other clock and the revocation list are not asked",
    "the way of other clients": "the probes start here: other networks may pass through other proxies",
}
"""What no run tests, each with the reason."""


class _Probe(NamedTuple):
    """A request: its method, target and Host as sent, its other headers, and its content."""

    method: str
    target: str
    host: str
    fields: tuple[tuple[str, str], ...] = ()
    content: bytes = b""
    chunked: bool = False


class Examination:
    """An examination of the route to one service.

    Args:
        url: the public URL of the service. The paths of all probes begin with its path.
        signer: the signer of the probes, a client of the service.
        method: the method of the probes. If it takes content, it is used for content only, and GET for the rest.
        fields: further headers of every signed probe, such as Signature-Agent.
        timeout: the seconds of silence after which a connection fails.
        tls: the certificates to trust if the scheme is https.

    Attributes:
        site: the examined service.
        requests: the number of requests that were sent.
        passed: the names of the checks without a problem.
        findings: the problems.
        notes: further information for the operator.
        untested: what was not tested, each with the reason.
    """

    def __init__(
        self,
        url: CanonicalURL,
        signer: Signer,
        *,
        method: str,
        fields: tuple[tuple[str, str], ...],
        timeout: int,
        tls: ssl.SSLContext,
    ) -> None:
        self.site = Site(url.scheme, url.host, url.authority[len(url.host) :], url.path.rstrip("/"))
        self.requests = 0
        self.passed: list[str] = []
        self.findings: list[Finding] = []
        self.notes: list[str] = []
        self.untested: dict[str, str] = {}
        self._url, self._signer, self._fields, self._timeout, self._tls = url, signer, fields, timeout, tls
        self._content_method = method if method in USUALLY_WITH_CONTENT else ""
        self._method = "GET" if self._content_method else method

    def examine(self) -> None:
        """Send the probes.

        Raises:
            NoAnswer: the first probes get no answer.
            SigningError: the profile asks for a header that is not given.
        """
        seen = self._seen_site()
        unsigned = self._ask(_Probe(self._method, self.site.target(_PLAIN), self.site.authority))
        if unsigned.code != "signature_required":
            self.notes.append(
                f"an unsigned request is answered with {unsigned.status} {unsigned.code}".rstrip()
                + "; if signatures must be required, check mode= and policy="
            )
        self.untested = dict(_NEVER_TESTED)
        if seen is None:
            self.untested["targets and content"] = "not even a plain request is accepted: mend that first"
        elif not self._content_method:
            self.untested["content"] = f"the probes are {self._method}: --method POST sends content too"
        if seen is not None:
            for spelling in SPELLINGS:
                self._examine(spelling.name, spelling.target, partial(self._of_target, spelling, seen))
            if self._content_method:
                for name, chunked in (("content", False), ("content in chunks", True)):
                    self._examine(name, _PLAIN, partial(self._of_content, name, seen, chunked=chunked))

    def _examine(self, name: str, end: str, check: Callable[[], Finding | None]) -> None:
        try:
            finding = check()
        except NoAnswer as silence:
            finding = Finding(name, f"no response: {silence}", _NOT_VERIFIED)
        if finding is None:
            self.passed.append(name)
        else:
            self.findings.append(replace(finding, sent=self.site.target(end)))

    def _seen_site(self) -> Site | None:
        """Return the site as the middleware sees it, or None if even a plain request is not accepted."""
        site = self.site
        answer = self._ask_signed(_PLAIN, site.url(_PLAIN))
        if answer.code == "signature_invalid":
            return self._mistaken_site()
        if answer.code == "target_uri_malformed":
            self.findings.append(self._foreign_authority())
        elif answer.code not in _ACCEPTED:
            self.findings.append(_rejection(answer, _PLAIN_REQUEST))
        elif not self._is_verified(_PLAIN, site):
            self.findings.append(_unverified(answer, _PLAIN_REQUEST))
        else:
            self.passed.append("scheme, Host and prefix")
            return site
        return None

    def _mistaken_site(self) -> Site | None:
        for seen in self.site.mistaken():
            if self._ask_signed(_PLAIN, seen.url(_PLAIN)).code in _ACCEPTED:
                self.findings += self.site.mistakes(seen)
                return seen
        problem = "rejected: the request arrives changed in an unknown way, or the server has another key with this kid"
        self.findings.append(Finding(_PLAIN_REQUEST, problem, _UNKNOWN_CHANGE))
        return None

    def _foreign_authority(self) -> Finding:
        site = self.site
        origin, bare = f"{site.scheme}://{site.authority}", replace(site, port="")
        probe = self._signed(_PLAIN, bare.url(_PLAIN))._replace(host=bare.authority)
        if site.port and self._ask(probe).code in _ACCEPTED:
            problem = f"origins= contains {bare.authority} without the port {site.port[1:]} that clients use"
            return Finding("Host", problem, f'add the port: origins=["{origin}"]')
        problem = f"Host arrives as another value than {site.authority}, or origins= lacks {origin}"
        remedy = (
            f"{HOST}. Otherwise add {origin} to origins=. To find out: the logger `undersigned` names the cause, and "
            "after `received:` the Host and the target that arrived"
        )
        return Finding("Host", problem, remedy, site.authority)

    def _of_target(self, spelling: Spelling, seen: Site) -> Finding | None:
        end, name = spelling.target, spelling.name
        answer = self._ask_signed(end, seen.url(end))
        if answer.code in _MAYBE_ACCEPTED and self._is_verified(end, seen):
            return None
        if answer.code in _ACCEPTED:
            return _unverified(answer, name)
        if answer.code == "target_uri_malformed":
            problem = "it does not arrive as a request target (for example, its escapes are decoded to raw bytes)"
            return Finding(name, problem, spelling.advice)
        if answer.code != "signature_invalid":
            return _rejection(answer, name)
        for arrives, change in spelling.rewritings.items():
            if self._ask_signed(end, seen.url(arrives)).code in _MAYBE_ACCEPTED:
                return Finding(name, change, spelling.advice, arrives=self.site.target(arrives))
        return Finding(name, "it arrives changed in an unknown way", f"{spelling.advice}. Or {_UNKNOWN_CHANGE}")

    def _of_content(self, name: str, seen: Site, *, chunked: bool) -> Finding | None:
        url = seen.url(_PLAIN)

        def signed_over(content: bytes) -> _Probe:
            own = (("Content-Type", "application/json"), *self._fields)
            fields = (*own, *self._signer.sign(Request(self._content_method, url, own, content, has_body=True)))
            return _Probe(self._content_method, self.site.target(_PLAIN), self.site.authority, fields, JSON, chunked)

        answer = self._ask(signed_over(JSON))
        if answer.code in _ACCEPTED:
            control = self._ask(self._damaged(signed_over(JSON), url))
            return None if control.code == "signature_invalid" else _unverified(answer, name)
        if answer.code == "signature_invalid":
            problem = "Content-Type or Content-Digest is rewritten"
            return Finding(name, problem, "forward Content-Type and Content-Digest unchanged")
        if answer.code == "signature_header_malformed":
            advice = (
                "the application's server does not show chunked content to applications: put a buffering proxy "
                "in front of it (nginx, unless proxy_request_buffering is off), or use gunicorn, waitress or an ASGI "
                "server"
            )
            return Finding(name, "the application's server does not show where the content ends", advice)
        if answer.code != "signature_digest_mismatch":
            return _rejection(answer, name)
        for arrives, change in REWRITTEN.items():
            if self._ask(signed_over(arrives)).code in _ACCEPTED:
                return Finding(name, change, CONTENT)
        return Finding(name, "it arrives changed", CONTENT)

    def _signed(self, end: str, url: str) -> _Probe:
        """Return a probe for the target that ends with `end`, signed for `url`."""
        has_type = "content-type" in self._signer.profile.coverage.always
        own = (*([("Content-Type", "application/json")] if has_type else ()), *self._fields)
        fields = (*own, *self._signer.sign(Request(self._method, url, own)))
        return _Probe(self._method, self.site.target(end), self.site.authority, fields)

    def _damaged(self, probe: _Probe, url: str) -> _Probe:
        """Return `probe` with a signature over something else, which every verifier rejects."""
        other = dict(self._signed("", f"{url}-control").fields)["Signature"]
        fields = tuple((name, other if name == "Signature" else value) for name, value in probe.fields)
        return probe._replace(fields=fields)

    def _is_verified(self, end: str, seen: Site) -> bool:
        """Return whether a verifier answers: whether a signature over something else is rejected."""
        url = seen.url(end)
        return self._ask(self._damaged(self._signed(end, url), url)).code == "signature_invalid"

    def _ask_signed(self, end: str, url: str) -> Verdict:
        return self._ask(self._signed(end, url))

    def _ask(self, probe: _Probe) -> Verdict:
        """Send a probe over a connection of its own, and read the answer."""
        self.requests += 1
        fields = [("Host", probe.host), ("User-Agent", "undersigned-doctor"), ("Connection", "close"), *probe.fields]
        if probe.chunked:
            fields.append(("Transfer-Encoding", "chunked"))
        elif probe.content:
            fields.append(("Content-Length", str(len(probe.content))))
        content = [probe.content] if probe.chunked else probe.content
        with send(
            self._url, probe.method, probe.target, fields, content, timeout=self._timeout, tls=self._tls
        ) as response:
            return read_verdict(response, response.read(_MOST_CONTENT))


def _unverified(answer: Verdict, name: str) -> Finding:
    """Return the finding for an answer that does not come from a verifier."""
    if 300 <= answer.status < 400:  # noqa: PLR2004 - the class of redirects
        problem = f"it is redirected ({answer.status}) before it is verified"
        return Finding(name, problem, "use the URL that it redirects to: a signature is valid for one URL only")
    if answer.status >= 500:  # noqa: PLR2004 - the class of server errors
        problem = f"the answer is {answer.status}: the application or its server fails"
        advice = "see the log of the server, and for 502 or 504 the log of the proxy: the application does not answer"
        return Finding(name, problem, advice)
    return Finding(name, f"the answer is {answer.status}, before it is verified", _NOT_VERIFIED)


def _rejection(answer: Verdict, name: str) -> Finding:
    """Return the finding for an answer whose code names the problem."""
    known = REASONS.get(cast("Reason", answer.code))
    if known is None:
        return Finding(name, f"it is rejected: {answer.code}", _LOG)
    # Who reads this has asked the doctor already.
    return Finding(name, known.meaning, _LOG if "undersigned doctor" in known.sender else known.sender)
