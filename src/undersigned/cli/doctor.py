"""`undersigned doctor`: find changes to requests on the way to a server, and the settings that fix them.

The application does not have to report what arrives. If a request for `/a//b` is rejected when signed for `/a//b` and
accepted when signed for `/a/b`, its slashes were merged. Each accepted request is sent again with a signature over
something else. That request must be rejected, which proves that a verifier answers.
"""

from __future__ import annotations

import dataclasses
import json
from dataclasses import dataclass, replace
from functools import partial
from itertools import product
from typing import TYPE_CHECKING, BinaryIO, Final, NamedTuple, cast

import click

from undersigned.cli.http import NoAnswer, ca_file_option, read_verdict, send, timeout_option
from undersigned.cli.keys import key_option, keyid_option, read_signing_key
from undersigned.cli.lines import write_object
from undersigned.cli.options import header_option, profile_option
from undersigned.errors import ConfigurationError, MalformedURL, SigningError
from undersigned.explanation.advice import CONTENT, HOST, PATH, QUERY
from undersigned.message.content import USUALLY_WITH_CONTENT
from undersigned.message.request import Request
from undersigned.reasons import REASONS
from undersigned.signature.signer import Signer
from undersigned.url import CanonicalURL, canonicalize

if TYPE_CHECKING:
    import ssl
    from collections.abc import Callable, Iterator, Mapping

    from undersigned.cli.http import Verdict
    from undersigned.errors import Reason
    from undersigned.signature.profile import Profile

_MARK: Final = "/undersigned-doctor"
"""Part of every path that is sent or signed, after the path of the URL, so that no signature fits another resource."""

_METHODS: Final = ("GET", "HEAD", "POST", "PUT", "PATCH")
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
    "and that nothing on the way answers instead. A bot that the server does not know may pass as unsigned: the log of "
    "the logger `undersigned` says why (level INFO)"
)


class _Spelling(NamedTuple):
    """A valid request target that reveals one kind of change on the way.

    Some changes are part of canonicalization, such as removed dot segments, a decoded `%7e`, and escapes in upper case.
    They change no signature, so no spelling tests them.

    Attributes:
        name: a description of the target.
        target: the end of the target as sent.
        rewritings: the targets that may arrive instead, each with a description of the change.
        advice: the setting that fixes a change.
    """

    name: str
    target: str
    rewritings: Mapping[str, str]
    advice: str = PATH


_SPELLINGS: Final = (
    _Spelling("repeated slashes", "/a//b", {"/a/b": "the slashes are merged"}),
    _Spelling(
        "an encoded slash",
        "/a%2Fb",
        {"/a/b": "%2F is decoded", "/a%252Fb": "% is encoded again"},
    ),
    _Spelling("dot segments", "/a/./b/../c", {}),
    _Spelling(
        "dots between encoded slashes",
        "/a%2F..%2Fb",
        {"/b": "%2F is decoded and the new dot segment is resolved", "/a%252F..%252Fb": "% is encoded again"},
    ),
    _Spelling(
        "encoded reserved characters",
        "/a%2Bb%3Ac%40d",
        {
            "/a+b:c@d": "percent-encoding is changed: reserved characters are decoded",
            "/a%2Bb:c@d": "percent-encoding is changed: %3A and %40 are decoded",
            "/a%252Bb%253Ac%2540d": "percent-encoding is changed: % is encoded again",
        },
    ),
    _Spelling(
        "unencoded reserved characters",
        "/a+b!(c)*'d;e=f,g",
        {
            "/a%2Bb%21%28c%29%2A%27d%3Be%3Df%2Cg": "percent-encoding is changed: reserved characters are encoded",
            "/a%2Bb!(c)*'d%3Be%3Df%2Cg": "percent-encoding is changed: some reserved characters are encoded",
            "/a%20b!(c)*'d;e=f,g": "+ is read as a space",
            "/a+b!(c)*'d": "the text after the semicolon is cut off",
        },
    ),
    _Spelling(
        "encoded UTF-8",
        "/caf%C3%A9",
        {"/caf%E9": "UTF-8 is changed to Latin-1", "/caf%25C3%25A9": "% is encoded again"},
    ),
    _Spelling(
        "an unsorted query",
        "/a?b=2&a=1&b=1",
        {
            "/a?a=1&b=2&b=1": "the query is sorted",
            "/a?a=1&b=1&b=2": "the query is sorted",
            "/a?b=2&a=1": "a repeated parameter is dropped",
            "/a?b=1&a=1": "a repeated parameter is dropped",
            "/a": "the query is lost",
        },
        QUERY,
    ),
    _Spelling(
        "spaces in a query",
        "/a?x=a+b%20c",
        {"/a?x=a+b+c": "%20 becomes +", "/a?x=a%20b%20c": "+ becomes %20", "/a?x=a%2Bb%20c": "+ becomes %2B"},
        QUERY,
    ),
    _Spelling(
        "escapes in a query",
        "/a?x=%7e%2f",
        {
            "/a?x=~%2f": "%7e is decoded",
            "/a?x=~%2F": "percent-encoding is changed: %7e is decoded, %2f becomes %2F",
            "/a?x=~/": "percent-encoding is changed: the query is decoded",
            "/a?x=%7E%2F": "percent-encoding is changed: the hex digits become upper case",
            "/a?x=%257e%252f": "percent-encoding is changed: % is encoded again",
        },
        QUERY,
    ),
    _Spelling(
        "empty parameters",
        "/a?x=&y",
        {"/a?x=&y=": "an equals sign is added", "/a?x&y": "an equals sign is dropped", "/a?y": "x= is dropped"},
        QUERY,
    ),
    _Spelling(
        "a question mark without a query",
        "/a?",
        {"/a": "the ? is lost"},
        "nginx: `proxy_pass http://app;` without a path, and no rewrite. If that is not possible, clients must not "
        "send a ? without a query",
    ),
    _Spelling("a second question mark", "/a??x", {"/a?x": "a ? is lost", "/a?%3Fx": "? becomes %3F"}, QUERY),
)
"""The request targets that are sent to every server."""

_JSON: Final = b'{ "undersigned": "doctor",  "caf\\u00e9": [1.0, 1e2, "\xc3\xa9"] }\r\n'
_REWRITTEN: Final[Mapping[bytes, str]] = {
    b"": "it is dropped",
    _JSON.rstrip(): "the white space at its end is dropped",
    _JSON.replace(b"\r\n", b"\n"): "CR LF becomes LF",
    json.dumps(json.loads(_JSON)).encode(): "the JSON is rewritten",
    json.dumps(json.loads(_JSON), separators=(",", ":")).encode(): "the JSON is rewritten",
    json.dumps(json.loads(_JSON), separators=(",", ":"), ensure_ascii=False).encode(): "the JSON is rewritten",
}


_NEVER_TESTED: Final[Mapping[str, str]] = {
    "other paths": "all probes go below one path: a proxy may have rules for others, and a route checks of its own",
    "other methods and header fields": "the probes have one method: a proxy may treat others in another way",
    "large content": "the content is small: the limits of a proxy, or its buffering, are not reached",
    "HTTP/2 and HTTP/3": "the probes are HTTP/1.1, and clients may speak another version to the first proxy",
    "replays and clocks": "each probe is new and signed now: no nonce comes twice, and the store of other workers, the "
    "other clock and the revocation list are not asked",
    "the way of other clients": "the probes start here: other networks may pass through other proxies",
}
"""What no run tests, each with the reason."""


@dataclass(frozen=True, slots=True)
class _Finding:
    """A change on the way, or another reason why signatures are not accepted.

    Attributes:
        check: the name of the check.
        problem: a description of the problem.
        advice: the setting that fixes it.
        sent: the request target that was sent, or an empty text.
        arrives: the request target that arrives, or an empty text if it is not known.
    """

    check: str
    problem: str
    advice: str
    sent: str = ""
    arrives: str = ""


@dataclass(frozen=True, slots=True)
class _Site:
    """A service as clients or as a middleware see it.

    Attributes:
        scheme: `http` or `https`.
        host: the host without the port.
        port: a colon and the port, or an empty text.
        prefix: the path of the service, without a trailing slash.
    """

    scheme: str
    host: str
    port: str
    prefix: str

    def __str__(self) -> str:
        return f"{self.scheme}://{self.authority}{self.prefix}"

    @property
    def authority(self) -> str:
        return self.host + self.port

    def target(self, end: str) -> str:
        """Return the request target of a probe that ends with `end`."""
        return f"{self.prefix}{_MARK}{end}"

    def url(self, end: str) -> str:
        """Return the absolute URL of a probe that ends with `end`."""
        return f"{self}{_MARK}{end}"

    def mistaken(self) -> list[_Site]:
        """Return the sites that a middleware may see instead of this one, in order of the number of mistakes.

        A mistake is another scheme, a lost port, a stripped prefix that is not configured, or a configured prefix that
        is not stripped. The host is always the same.
        """
        segments = self.prefix.split("/")
        starts = ["/".join(segments[:end]) for end in range(2, len(segments) + 1)]
        prefixes = (self.prefix, *(self.prefix[len(start) :] for start in starts), *(s + self.prefix for s in starts))
        others = {
            _Site(scheme, self.host, port, prefix)
            for scheme, port, prefix in product(("http", "https"), {self.port, ""}, prefixes)
        }
        return sorted(others - {self}, key=lambda other: (len(list(self.mistakes(other))), str(other)))

    def mistakes(self, seen: _Site) -> Iterator[_Finding]:
        """Yield the findings if a middleware sees this site as `seen`."""
        if self.scheme != seen.scheme:
            problem = f"the middleware sees requests to {self.scheme} as requests to {seen.scheme}"
            yield _Finding("scheme", problem, f"write {self.scheme}:// in origins=, the scheme that clients use")
        if self.port != seen.port:
            problem = f"Host is rewritten: it arrives without the port {self.port[1:]}"
            yield _Finding("Host", problem, HOST, self.authority, seen.authority)
        if self.prefix.endswith(seen.prefix) and self.prefix != seen.prefix:
            start = self.prefix.removesuffix(seen.prefix)
            problem = f"the prefix {start} is stripped on the way, but origins= does not contain it"
            yield _Finding("prefix", problem, f'add the prefix: origins=["{replace(self, prefix=start)}"]')
        elif self.prefix != seen.prefix:
            start = seen.prefix.removesuffix(self.prefix)
            problem = f"the middleware adds {start} to a path that already has it"
            remedy = (
                f"no proxy strips {start}: remove it from origins=. If the server adds it (uvicorn --root-path), set "
                "server_adds_root_path=True"
            )
            yield _Finding("prefix", problem, remedy)


class _Probe(NamedTuple):
    """A request: its method, target and Host as sent, its other header fields, and its content."""

    method: str
    target: str
    host: str
    fields: tuple[tuple[str, str], ...] = ()
    content: bytes = b""
    chunked: bool = False


class _Examination:
    """An examination of the route to one service.

    Args:
        url: the public URL of the service. The paths of all probes begin with its path.
        signer: the signer of the probes, a client of the service.
        method: the method of the probes. If it takes content, it is used for content only, and GET for the rest.
        fields: further header fields of every signed probe, such as Signature-Agent.
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
        self.site = _Site(url.scheme, url.host, url.authority[len(url.host) :], url.path.rstrip("/"))
        self.requests = 0
        self.passed: list[str] = []
        self.findings: list[_Finding] = []
        self.notes: list[str] = []
        self.untested: dict[str, str] = {}
        self._url, self._signer, self._fields, self._timeout, self._tls = url, signer, fields, timeout, tls
        self._content_method = method if method in USUALLY_WITH_CONTENT else ""
        self._method = "GET" if self._content_method else method

    def examine(self) -> None:
        """Send the probes.

        Raises:
            NoAnswer: the first probes get no answer.
            SigningError: the profile asks for a header field that is not given.
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
            for spelling in _SPELLINGS:
                self._examine(spelling.name, spelling.target, partial(self._of_target, spelling, seen))
            if self._content_method:
                for name, chunked in (("content", False), ("content in chunks", True)):
                    self._examine(name, _PLAIN, partial(self._of_content, name, seen, chunked=chunked))

    def _examine(self, name: str, end: str, check: Callable[[], _Finding | None]) -> None:
        try:
            finding = check()
        except NoAnswer as silence:
            finding = _Finding(name, f"no answer: {silence}", _NOT_VERIFIED)
        if finding is None:
            self.passed.append(name)
        else:
            self.findings.append(replace(finding, sent=self.site.target(end)))

    def _seen_site(self) -> _Site | None:
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

    def _mistaken_site(self) -> _Site | None:
        for seen in self.site.mistaken():
            if self._ask_signed(_PLAIN, seen.url(_PLAIN)).code in _ACCEPTED:
                self.findings += self.site.mistakes(seen)
                return seen
        problem = "rejected: the request arrives changed in an unknown way, or the server has another key with this kid"
        self.findings.append(_Finding(_PLAIN_REQUEST, problem, _UNKNOWN_CHANGE))
        return None

    def _foreign_authority(self) -> _Finding:
        site = self.site
        origin, bare = f"{site.scheme}://{site.authority}", replace(site, port="")
        probe = self._signed(_PLAIN, bare.url(_PLAIN))._replace(host=bare.authority)
        if site.port and self._ask(probe).code in _ACCEPTED:
            problem = f"origins= contains {bare.authority} without the port {site.port[1:]} that clients use"
            return _Finding("Host", problem, f'add the port: origins=["{origin}"]')
        problem = f"Host arrives as another value than {site.authority}, or origins= lacks {origin}"
        remedy = (
            f"{HOST}. Otherwise add {origin} to origins=. To find out: the logger `undersigned` names the cause, and "
            "after `received:` the Host and the target that arrived"
        )
        return _Finding("Host", problem, remedy, site.authority)

    def _of_target(self, spelling: _Spelling, seen: _Site) -> _Finding | None:
        end, name = spelling.target, spelling.name
        answer = self._ask_signed(end, seen.url(end))
        if answer.code in _MAYBE_ACCEPTED and self._is_verified(end, seen):
            return None
        if answer.code in _ACCEPTED:
            return _unverified(answer, name)
        if answer.code == "target_uri_malformed":
            problem = "it does not arrive as a request target (for example, its escapes are decoded to raw bytes)"
            return _Finding(name, problem, spelling.advice)
        if answer.code != "signature_invalid":
            return _rejection(answer, name)
        for arrives, change in spelling.rewritings.items():
            if self._ask_signed(end, seen.url(arrives)).code in _MAYBE_ACCEPTED:
                return _Finding(name, change, spelling.advice, arrives=self.site.target(arrives))
        return _Finding(name, "it arrives changed in an unknown way", f"{spelling.advice}. Or {_UNKNOWN_CHANGE}")

    def _of_content(self, name: str, seen: _Site, *, chunked: bool) -> _Finding | None:
        url = seen.url(_PLAIN)

        def signed_over(content: bytes) -> _Probe:
            own = (("Content-Type", "application/json"), *self._fields)
            fields = (*own, *self._signer.sign(Request(self._content_method, url, own, content, has_body=True)))
            return _Probe(self._content_method, self.site.target(_PLAIN), self.site.authority, fields, _JSON, chunked)

        answer = self._ask(signed_over(_JSON))
        if answer.code in _ACCEPTED:
            control = self._ask(self._damaged(signed_over(_JSON), url))
            return None if control.code == "signature_invalid" else _unverified(answer, name)
        if answer.code == "signature_invalid":
            problem = "Content-Type or Content-Digest is rewritten"
            return _Finding(name, problem, "forward Content-Type and Content-Digest unchanged")
        if answer.code == "signature_header_malformed":
            advice = (
                "the application's server does not show chunked content to applications: put a buffering proxy "
                "in front of it (nginx, unless proxy_request_buffering is off), or use gunicorn, waitress or an ASGI "
                "server"
            )
            return _Finding(name, "the application's server does not show where the content ends", advice)
        if answer.code != "signature_digest_mismatch":
            return _rejection(answer, name)
        for arrives, change in _REWRITTEN.items():
            if self._ask(signed_over(arrives)).code in _ACCEPTED:
                return _Finding(name, change, CONTENT)
        return _Finding(name, "it arrives changed", CONTENT)

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

    def _is_verified(self, end: str, seen: _Site) -> bool:
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
            challenges = response.headers.get_all("www-authenticate") or []
            return read_verdict(response.status, challenges, response.read(_MOST_CONTENT))


def _unverified(answer: Verdict, name: str) -> _Finding:
    """Return the finding for an answer that does not come from a verifier."""
    if 300 <= answer.status < 400:  # noqa: PLR2004 - the class of redirects
        problem = f"it is redirected ({answer.status}) before it is verified"
        return _Finding(name, problem, "use the URL that it redirects to: a signature is valid for one URL only")
    if answer.status >= 500:  # noqa: PLR2004 - the class of server errors
        problem = f"the answer is {answer.status}: the application or its server fails"
        advice = "see the log of the server, and for 502 or 504 the log of the proxy: the application does not answer"
        return _Finding(name, problem, advice)
    return _Finding(name, f"the answer is {answer.status}, before it is verified", _NOT_VERIFIED)


def _rejection(answer: Verdict, name: str) -> _Finding:
    """Return the finding for an answer whose code names the problem."""
    known = REASONS.get(cast("Reason", answer.code))
    if known is None:
        return _Finding(name, f"it is rejected: {answer.code}", _LOG)
    # Who reads this has asked the doctor already.
    return _Finding(name, known.meaning, _LOG if "undersigned doctor" in known.sender else known.sender)


def _read_url(_ctx: click.Context, _param: click.Parameter, text: str) -> CanonicalURL:
    try:
        url = canonicalize(text)
    except MalformedURL as malformed:
        raise click.BadParameter(str(malformed)) from None
    if url.query is not None or "#" in text or "@" in text.partition("://")[2].partition("/")[0]:
        raise click.BadParameter("give scheme, host and path only, such as https://seller.example.com/adcp")
    return url


@click.command()
@key_option
@keyid_option
@profile_option
@header_option
@click.option(
    "--method",
    type=click.Choice(_METHODS),
    default="GET",
    show_default=True,
    help="The method of the probes. POST, PUT and PATCH are used to test content only; the other probes are then GET.",
)
@timeout_option
@ca_file_option
@click.option("--json", "as_json", is_flag=True, help="Write a JSON object.")
@click.argument("url", callback=_read_url)
def doctor(
    *,
    key: BinaryIO,
    keyid: str | None,
    profile: Profile,
    headers: tuple[tuple[str, str], ...],
    method: str,
    timeout: int,
    tls: ssl.SSLContext,
    as_json: bool,
    url: CanonicalURL,
) -> None:
    """Find changes to requests on the way to your server, and the settings that fix them.

    About thirty small requests, signed and unsigned, go to paths below URL/undersigned-doctor. Any answer is enough,
    also 404. No other server is contacted, and redirects are not followed. The exit code is 0 if
    nothing is changed, 1 if something is changed or no answer comes, 2 for wrong usage.

    \b
    Example:
      undersigned doctor https://seller.example.com --key keys/private.jwk.json
    """  # noqa: D301 - click needs the escape to keep the line breaks
    try:
        signer = Signer(read_signing_key(key, profile, keyid=keyid), profile=profile)
        found = _Examination(url, signer, method=method, fields=headers, timeout=timeout, tls=tls)
        found.examine()
    except (ConfigurationError, SigningError) as error:
        raise click.UsageError(str(error)) from None
    except NoAnswer as silence:
        if as_json:
            write_object({"url": str(url), "error": "no_answer", "message": str(silence)})
        else:
            click.echo(f"{url}: no answer: {silence}", err=True)
        click.get_current_context().exit(1)
    if as_json:
        write_object(
            {
                "unchanged": not found.findings,
                "profile": profile.name,
                "url": str(found.site),
                "requests": found.requests,
                "passed": found.passed,
                "findings": list(map(dataclasses.asdict, found.findings)),
                "notes": found.notes,
                "untested": found.untested,
            }
        )
    else:
        _write(found, profile.name)
    click.get_current_context().exit(int(bool(found.findings)))


def _write(found: _Examination, profile: str) -> None:
    click.echo(f"{found.site}: {found.requests} requests with the profile {profile}")
    for name in found.passed:
        click.echo(f"  ok       {name}")
    for finding in found.findings:
        click.echo(f"  PROBLEM  {finding.check}: {finding.problem}")
        for word, text in (("sent:   ", finding.sent), ("arrives:", finding.arrives)):
            if text:
                click.echo(f"           {word} {text}")
    for note in found.notes:
        click.echo(f"  note     {note}")
    if found.findings:
        click.echo("How to fix:")
    else:
        click.echo("No problems found: requests arrive as they were signed.")
    for advice in dict.fromkeys(finding.advice for finding in found.findings):
        checks = [finding.check for finding in found.findings if finding.advice == advice]
        click.echo(f"  {', '.join(checks)}: {advice}")
    click.echo("Not tested:")
    for name, reason in found.untested.items():
        click.echo(f"  {name}: {reason}")
