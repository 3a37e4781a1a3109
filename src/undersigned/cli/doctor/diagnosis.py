"""Diagnosis: what the way to an application changes, inferred from which signatures are accepted at its end.

No endpoint has to tell what arrived. A request for `/a//b` whose signature for `/a//b` is refused and whose signature
for `/a/b` is accepted has had its slashes merged. Whether an answer comes from behind a verifier shows by a control:
the same request with a signature over something else must be refused.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from undersigned.cli.doctor import advice
from undersigned.cli.doctor.finding import Diagnosis, Finding
from undersigned.cli.doctor.probe import NoAnswer
from undersigned.cli.doctor.signed_probes import SignedProbes
from undersigned.cli.doctor.site import Site
from undersigned.cli.doctor.spellings import CONTENTS, SPELLINGS, Content, Spelling

if TYPE_CHECKING:
    from collections.abc import Callable

    from undersigned.cli.doctor.probe import Answer, Probe
    from undersigned.signature.signer import Signer
    from undersigned.url import CanonicalURL

_PLAIN = "/plain"
_PLAIN_REQUEST = "a plain request"
_ACCEPTED = frozenset({"", "body_malformed"})
"""Codes of an answer to a signature that held: none, or that of a check which comes behind it."""
_MAYBE_ACCEPTED = _ACCEPTED | {"target_uri_malformed"}
"""The same, with the code that a policy answers a signed target with, and a middleware one that nobody can sign."""


class Examination:
    """Examines the way to one service.

    Args:
        url: the public URL of the service; the paths of all probes begin with its path.
        signer: signs as a client of the service.
        ask: sends a probe and returns the answer, or raises `NoAnswer`.
        method: the method of the probes; where it takes content, of those with content alone, the others being GET.
    """

    def __init__(self, url: CanonicalURL, signer: Signer, ask: Callable[[Probe], Answer], *, method: str) -> None:
        self._site = Site.of(url)
        self._probes = SignedProbes(self._site, signer, method)
        self._send = ask
        self._requests = 0
        self._kept: list[str] = []
        self._findings: list[Finding] = []
        self._notes: list[str] = []

    def diagnose(self) -> Diagnosis:
        """Send the probes and return what they show.

        Raises:
            NoAnswer: the first probes get none.
        """
        self._look_at_unsigned_requests()
        taken = self._taken_for()
        if taken is not None:
            for check in (*SPELLINGS, *(CONTENTS if self._probes.take_content else ())):
                self._examine(check, taken)
        return Diagnosis(str(self._site), self._requests, tuple(self._kept), tuple(self._findings), tuple(self._notes))

    def _look_at_unsigned_requests(self) -> None:
        answer = self._ask(self._probes.unsigned(_PLAIN))
        if answer.code != "signature_required":
            self._notes.append(
                f"an unsigned request is answered {answer.status} {answer.code}".rstrip()
                + "; where signatures are meant to be required, look at mode= and at policy="
            )

    def _taken_for(self) -> Site | None:
        """Return what the middleware takes the site for, or None where even a plain request does not come through."""
        answer = self._ask_signed(_PLAIN, self._site.url(_PLAIN))
        if answer.code == "signature_invalid":
            return self._mistaken_for()
        if answer.code == "target_uri_malformed":
            self._findings.append(self._foreign_authority())
        elif answer.code not in _ACCEPTED:
            self._findings.append(_refused(answer, _PLAIN_REQUEST))
        elif not self._is_judged(_PLAIN, self._site):
            self._findings.append(_unjudged(answer, _PLAIN_REQUEST))
        else:
            self._kept.append("scheme, Host and prefix")
            return self._site
        return None

    def _mistaken_for(self) -> Site | None:
        for taken in self._site.mistaken():
            if self._ask_signed(_PLAIN, taken.url(_PLAIN)).code in _ACCEPTED:
                self._findings += self._site.mistakes(taken)
                return taken
        problem = (
            "it is refused: what arrives is not what was signed, and not in one of the known ways, or the server has "
            "another key under this kid"
        )
        self._findings.append(Finding(_PLAIN_REQUEST, problem, advice.UNKNOWN_CHANGE))
        return None

    def _foreign_authority(self) -> Finding:
        site = self._site
        origin = f"{site.scheme}://{site.authority}"
        if site.port:
            bare = replace(site, port="")
            probe = self._probes.signed(_PLAIN, bare.url(_PLAIN))
            if self._ask(replace(probe, host=bare.authority)).code in _ACCEPTED:
                problem = f"origins= names {bare.authority} without the port {site.port[1:]} that clients use"
                return Finding("Host", problem, f'name the port: origins=["{origin}"]')
        problem = f"Host does not arrive as {site.authority}, being rewritten on the way, or origins= lacks {origin}"
        remedy = f"{advice.HOST}. Else add {origin} to origins=. Which of them it is: {advice.RECEIVED}"
        return Finding("Host", problem, remedy, site.authority)

    def _examine(self, check: Spelling | Content, taken: Site) -> None:
        try:
            finding = self._of_content(check, taken) if isinstance(check, Content) else self._of_target(check, taken)
        except NoAnswer as silence:
            finding = Finding(check.name, f"no answer: {silence}", advice.UNJUDGED)
        if finding is None:
            self._kept.append(check.name)
        else:
            sent = self._site.target(_PLAIN if isinstance(check, Content) else check.target)
            self._findings.append(replace(finding, sent=sent))

    def _of_target(self, spelling: Spelling, taken: Site) -> Finding | None:
        end, name = spelling.target, spelling.name
        answer = self._ask_signed(end, taken.url(end))
        if answer.code in _MAYBE_ACCEPTED and self._is_judged(end, taken):
            return None
        if answer.code in _ACCEPTED:
            return _unjudged(answer, name)
        if answer.code == "target_uri_malformed":
            problem = "it arrives as no request target at all, as where its escapes are decoded to raw bytes"
            return Finding(name, problem, spelling.advice)
        if answer.code != "signature_invalid":
            return _refused(answer, name)
        for arrives, happened in spelling.rewritings.items():
            if self._ask_signed(end, taken.url(arrives)).code in _MAYBE_ACCEPTED:
                return Finding(name, happened, spelling.advice, arrives=self._site.target(arrives))
        return Finding(name, "it arrives as something else", f"{spelling.advice}. Else {advice.UNKNOWN_CHANGE}")

    def _of_content(self, content: Content, taken: Site) -> Finding | None:
        url, name = taken.url(_PLAIN), content.name
        probe = self._probes.with_content(_PLAIN, url, content, signed=content.sent)
        answer = self._ask(probe)
        if answer.code in _ACCEPTED:
            control = self._ask(self._probes.damaged(probe, url))
            return None if control.code == "signature_invalid" else _unjudged(answer, name)
        if answer.code == "signature_invalid":
            return Finding(name, "Content-Type or Content-Digest is rewritten", advice.CONTENT_FIELDS)
        if answer.code == "signature_header_malformed":
            return Finding(name, "the server behind cannot say where it ends", advice.CHUNKS)
        if answer.code != "signature_digest_mismatch":
            return _refused(answer, name)
        for arrives, happened in content.rewritings.items():
            if self._ask(self._probes.with_content(_PLAIN, url, content, signed=arrives)).code in _ACCEPTED:
                return Finding(name, happened, advice.CONTENT)
        return Finding(name, "it is altered", advice.CONTENT)

    def _is_judged(self, end: str, taken: Site) -> bool:
        """Return whether a verifier stands before what answers: whether a signature over something else is refused."""
        url = taken.url(end)
        return self._ask(self._probes.damaged(self._probes.signed(end, url), url)).code == "signature_invalid"

    def _ask_signed(self, end: str, url: str) -> Answer:
        return self._ask(self._probes.signed(end, url))

    def _ask(self, probe: Probe) -> Answer:
        self._requests += 1
        return self._send(probe)


def _unjudged(answer: Answer, name: str) -> Finding:
    """Return the finding for an answer that no verifier stands before."""
    if 300 <= answer.status < 400:  # noqa: PLR2004 - the class of redirects
        return Finding(name, f"it is redirected ({answer.status}) before any verifier sees it", advice.REDIRECTED)
    if answer.status >= 500:  # noqa: PLR2004 - the class of server errors
        return Finding(name, f"it is answered {answer.status}: the application or its server fails", advice.FAILING)
    return Finding(name, f"it is answered {answer.status} before any verifier sees it", advice.UNJUDGED)


def _refused(answer: Answer, name: str) -> Finding:
    """Return the finding for a code that says by itself what is wrong."""
    problem, remedy = advice.CODES.get(answer.code, (f"it is refused: {answer.code}", advice.LOG))
    return Finding(name, problem, remedy)
