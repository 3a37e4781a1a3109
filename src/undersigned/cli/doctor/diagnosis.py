"""Diagnosis: infer the changes on the way to an application from the signatures that it accepts.

The application does not have to report what arrives. If a request for `/a//b` is rejected when signed for `/a//b` and
accepted when signed for `/a/b`, its slashes were merged. Each accepted request is sent again with a signature over
something else. That request must be rejected, which proves that a verifier answers.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, cast

from undersigned.cli.doctor import checks as advice
from undersigned.cli.doctor.checks import CONTENTS, SPELLINGS, Content, Diagnosis, Finding, Spelling
from undersigned.cli.doctor.probes import SignedProbes, Site
from undersigned.cli.http import NoAnswer
from undersigned.reasons import REASONS

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from undersigned.cli.doctor.probes import Probe
    from undersigned.cli.http import Verdict
    from undersigned.errors import Reason
    from undersigned.signature.signer import Signer
    from undersigned.url import CanonicalURL

_PLAIN = "/plain"
_PLAIN_REQUEST = "a plain request"
_ACCEPTED = frozenset({"", "body_malformed"})
"""The codes of an answer to a valid signature: no code, or the code of a later check."""
_MAYBE_ACCEPTED = _ACCEPTED | {"target_uri_malformed"}
"""`_ACCEPTED`, and the code of a rejected target: a policy rejects some signed targets, and a middleware those that
cannot be signed."""


class Examination:
    """An examination of the route to one service.

    Args:
        url: the public URL of the service. The paths of all probes begin with its path.
        signer: the signer of the probes, a client of the service.
        ask: a function that sends a probe and returns the answer. It raises `NoAnswer` if there is none.
        method: the method of the probes. If it takes content, it is used for content only, and GET for the rest.
        fields: further header fields of every signed probe.
    """

    def __init__(
        self,
        url: CanonicalURL,
        signer: Signer,
        ask: Callable[[Probe], Verdict],
        *,
        method: str,
        fields: Sequence[tuple[str, str]] = (),
    ) -> None:
        self._site = Site.of(url)
        self._probes = SignedProbes(self._site, signer, method, tuple(fields))
        self._send = ask
        self._requests = 0
        self._passed: list[str] = []
        self._findings: list[Finding] = []
        self._notes: list[str] = []

    def diagnose(self) -> Diagnosis:
        """Send the probes and return the findings.

        Raises:
            NoAnswer: the first probes get no answer.
        """
        seen = self._seen_site()
        self._note_unsigned_requests()
        if seen is not None:
            for check in (*SPELLINGS, *(CONTENTS if self._probes.take_content else ())):
                self._examine(check, seen)
        return Diagnosis(
            str(self._site),
            self._requests,
            tuple(self._passed),
            tuple(self._findings),
            tuple(self._notes),
        )

    def _note_unsigned_requests(self) -> None:
        answer = self._ask(self._probes.unsigned_probe(_PLAIN))
        if answer.code != "signature_required":
            self._notes.append(
                f"an unsigned request is answered with {answer.status} {answer.code}".rstrip()
                + "; if signatures must be required, check mode= and policy="
            )

    def _seen_site(self) -> Site | None:
        """Return the site as the middleware sees it, or None if even a plain request is not accepted."""
        answer = self._ask_signed(_PLAIN, self._site.url(_PLAIN))
        if answer.code == "signature_invalid":
            return self._mistaken_site()
        if answer.code == "target_uri_malformed":
            self._findings.append(self._foreign_authority())
        elif answer.code not in _ACCEPTED:
            self._findings.append(_rejection_finding(answer, _PLAIN_REQUEST))
        elif not self._is_verified(_PLAIN, self._site):
            self._findings.append(_unverified_finding(answer, _PLAIN_REQUEST))
        else:
            self._passed.append("scheme, Host and prefix")
            return self._site
        return None

    def _mistaken_site(self) -> Site | None:
        for seen in self._site.mistaken():
            if self._ask_signed(_PLAIN, seen.url(_PLAIN)).code in _ACCEPTED:
                self._findings += self._site.mistakes(seen)
                return seen
        problem = "rejected: the request arrives changed in an unknown way, or the server has another key with this kid"
        self._findings.append(Finding(_PLAIN_REQUEST, problem, advice.UNKNOWN_CHANGE))
        return None

    def _foreign_authority(self) -> Finding:
        site = self._site
        origin = f"{site.scheme}://{site.authority}"
        if site.port:
            bare = replace(site, port="")
            probe = self._probes.signed_probe(_PLAIN, bare.url(_PLAIN))
            if self._ask(replace(probe, host=bare.authority)).code in _ACCEPTED:
                problem = f"origins= contains {bare.authority} without the port {site.port[1:]} that clients use"
                return Finding("Host", problem, f'add the port: origins=["{origin}"]')
        problem = f"Host arrives as another value than {site.authority}, or origins= lacks {origin}"
        remedy = f"{advice.HOST}. Otherwise add {origin} to origins=. To find out: {advice.RECEIVED}"
        return Finding("Host", problem, remedy, site.authority)

    def _examine(self, check: Spelling | Content, seen: Site) -> None:
        try:
            finding = self._of_content(check, seen) if isinstance(check, Content) else self._of_target(check, seen)
        except NoAnswer as silence:
            finding = Finding(check.name, f"no answer: {silence}", advice.NOT_VERIFIED)
        if finding is None:
            self._passed.append(check.name)
        else:
            sent = self._site.target(_PLAIN if isinstance(check, Content) else check.target)
            self._findings.append(replace(finding, sent=sent))

    def _of_target(self, spelling: Spelling, seen: Site) -> Finding | None:
        end, name = spelling.target, spelling.name
        answer = self._ask_signed(end, seen.url(end))
        if answer.code in _MAYBE_ACCEPTED and self._is_verified(end, seen):
            return None
        if answer.code in _ACCEPTED:
            return _unverified_finding(answer, name)
        if answer.code == "target_uri_malformed":
            problem = "it does not arrive as a request target (for example, its escapes are decoded to raw bytes)"
            return Finding(name, problem, spelling.advice)
        if answer.code != "signature_invalid":
            return _rejection_finding(answer, name)
        for arrives, change in spelling.rewritings.items():
            if self._ask_signed(end, seen.url(arrives)).code in _MAYBE_ACCEPTED:
                return Finding(name, change, spelling.advice, arrives=self._site.target(arrives))
        return Finding(name, "it arrives changed in an unknown way", f"{spelling.advice}. Or {advice.UNKNOWN_CHANGE}")

    def _of_content(self, content: Content, seen: Site) -> Finding | None:
        url, name = seen.url(_PLAIN), content.name
        probe = self._probes.with_content(_PLAIN, url, content, signed=content.sent)
        answer = self._ask(probe)
        if answer.code in _ACCEPTED:
            control = self._ask(self._probes.damage(probe, url))
            return None if control.code == "signature_invalid" else _unverified_finding(answer, name)
        if answer.code == "signature_invalid":
            return Finding(name, "Content-Type or Content-Digest is rewritten", advice.CONTENT_FIELDS)
        if answer.code == "signature_header_malformed":
            return Finding(name, "the application's server does not show where the content ends", advice.CHUNKS)
        if answer.code != "signature_digest_mismatch":
            return _rejection_finding(answer, name)
        for arrives, change in content.rewritings.items():
            if self._ask(self._probes.with_content(_PLAIN, url, content, signed=arrives)).code in _ACCEPTED:
                return Finding(name, change, advice.CONTENT)
        return Finding(name, "it arrives changed", advice.CONTENT)

    def _is_verified(self, end: str, seen: Site) -> bool:
        """Return whether a verifier answers: whether a signature over something else is rejected."""
        url = seen.url(end)
        return self._ask(self._probes.damage(self._probes.signed_probe(end, url), url)).code == "signature_invalid"

    def _ask_signed(self, end: str, url: str) -> Verdict:
        return self._ask(self._probes.signed_probe(end, url))

    def _ask(self, probe: Probe) -> Verdict:
        self._requests += 1
        return self._send(probe)


def _unverified_finding(answer: Verdict, name: str) -> Finding:
    """Return the finding for an answer that does not come from a verifier."""
    if 300 <= answer.status < 400:  # noqa: PLR2004 - the class of redirects
        return Finding(name, f"it is redirected ({answer.status}) before it is verified", advice.REDIRECTED)
    if answer.status >= 500:  # noqa: PLR2004 - the class of server errors
        return Finding(name, f"the answer is {answer.status}: the application or its server fails", advice.FAILING)
    return Finding(name, f"the answer is {answer.status}, before it is verified", advice.NOT_VERIFIED)


def _rejection_finding(answer: Verdict, name: str) -> Finding:
    """Return the finding for an answer whose code names the problem."""
    known = REASONS.get(cast("Reason", answer.code))
    if known is None:
        return Finding(name, f"it is rejected: {answer.code}", advice.LOG)
    # Who reads this has asked the doctor already.
    return Finding(name, known.meaning, advice.LOG if "undersigned doctor" in known.sender else known.sender)
