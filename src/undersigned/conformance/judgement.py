"""Judgements: what the gate decides of a request whose body is at hand."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from undersigned.errors import SignatureError
from undersigned.message.request import Request
from undersigned.verification.gate import Authenticate, Complete, Gate, ReadContent, drive
from undersigned.verification.screening import is_signed

if TYPE_CHECKING:
    from undersigned.policy.policy import Policy
    from undersigned.verification.checklist import VerifiedSignature
    from undersigned.verification.gate import Judged, Question
    from undersigned.verification.verifier import Verifier


@dataclass(frozen=True, slots=True)
class Judgement:
    """What became of a request: it went on, or an error refused it.

    Attributes:
        judged: the request that goes on, or None.
        error: what refused it, or None.
        fallback: whether another credential was asked for and was valid.
    """

    judged: Judged | None
    error: SignatureError | None
    fallback: bool

    @property
    def signature(self) -> VerifiedSignature | None:
        """The verified signature of a request that goes on."""
        return None if self.judged is None else self.judged.signature

    @property
    def source(self) -> str:
        """What says who the caller is: `signature`, `fallback` or `none`."""
        if self.signature is not None:
            return "signature"
        return "fallback" if self.judged is not None and self.fallback else "none"


def judge(verifier: Verifier, request: Request, *, policy: Policy | None, fallback: bool = False) -> Judgement:
    """Judge a request as the middlewares do, by the same gate; nothing of its body is read before the gate asks.

    Args:
        verifier: what judges the signature.
        request: the request with its body.
        policy: the endpoint's policy, or None where every request has to be signed.
        fallback: whether another authenticator of the application accepts the caller.
    """
    answers = _Answers(verifier, request, fallback=fallback)
    judging = Gate(verifier.profile, policy, fallback=fallback).judge(_head(request), signed=is_signed(request.fields))
    try:
        return Judgement(drive(judging, answers.answer), None, answers.vouched)
    except SignatureError as error:
        return Judgement(None, error, answers.vouched)


class _Answers:
    """What the gate is told of one request.

    Attributes:
        vouched: whether another credential was asked for and was valid.
    """

    __slots__ = ("_fallback", "_request", "_verifier", "vouched")

    def __init__(self, verifier: Verifier, request: Request, *, fallback: bool) -> None:
        self._verifier = verifier
        self._request = request
        self._fallback = fallback
        self.vouched = False

    def answer(self, question: Question) -> object:
        match question:
            case Authenticate() | Complete():
                return question.ask(self._verifier)
            case ReadContent(digest):
                if digest is not None:
                    digest.update(self._request.body)
                return self._request.content
            case _:
                self.vouched = self._fallback
                return self._fallback


def _head(request: Request) -> Request:
    return Request(
        request.method, request.url, request.fields, has_body=request.has_body, query_unknown=request.query_unknown
    )
