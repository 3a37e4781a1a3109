"""Signing vectors: a request is verified, its base is compared, and an accepted request is signed again."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from undersigned.conformance.difference import Difference
from undersigned.conformance.resigning import sign_again
from undersigned.conformance.vector import Vector
from undersigned.errors import MalformedURL, SignatureError
from undersigned.message.request_target import received_target
from undersigned.policy.operation import Operation, UnresolvedOperation
from undersigned.signature.components import ComponentValues, UnresolvableComponent, signature_base
from undersigned.verification.screening import screen

if TYPE_CHECKING:
    from collections.abc import Iterator

    from undersigned.conformance.result import Result

_ACCEPTED = "accepted"
_OPERATIONS = ("resolved_operation", "dispatched_operation")


@dataclass(frozen=True, slots=True)
class SigningVector(Vector):
    """A request vector of a set, graded by the gate of the middlewares."""

    def differences(self) -> Iterator[Difference | None]:
        """Compare the outcome, the operation, the base if there is one, and the results of signing again."""
        result, expected = self.result(), self.expected
        yield self._outcome(result)
        if result.error is None:
            status = "unsigned" if result.signature is None else "verified"
            yield Difference.between("status", expected.text("status", "verified"), status)
        for member in _OPERATIONS:
            if member in expected.members:
                yield Difference.between(member, self._expected_operation(member), self._operation(result))
        if "authentication_source" in expected:
            yield Difference.between("authentication source", expected.text("authentication_source"), result.source)
        yield Difference.between("warning", expected.text("warning_code", "none"), _warning(result))
        if result.signature is not None:
            yield Difference.between("label", self.label, result.signature.label)
        base = self.rebuilt_base() if result.signature is None else result.signature.signature_base
        if self.base is not None and base is not None:
            yield Difference.between("signature base", self.base, base)
        if result.signature is not None:
            yield from sign_again(self, result.signature.signature_base)

    def rebuilt_base(self) -> str | None:
        """Return the base of the message as in step 10, or None if the message is rejected before it has a base.

        Checks that a base does not need are left out, such as the key's owner and the operation.
        """
        request = self.request
        try:
            candidate = screen(request, self.profile, now=self.now)
            values = ComponentValues(request, received_target(request))
            return signature_base(values, candidate.coverage.components, candidate.text)
        except (SignatureError, MalformedURL, UnresolvableComponent):
            return None

    def _outcome(self, result: Result) -> Difference | None:
        error = result.error
        expected = _ACCEPTED if self.code is None else f"rejected with {self.code}"
        if error is None:
            return Difference.between("outcome", expected, _ACCEPTED)
        note = f"rejected at step {error.step}: {error.detail}"
        return Difference.between("outcome", expected, f"rejected with {error.code}", note=note)

    def _expected_operation(self, member: str) -> str:
        return self.expected.text(member) if member in self.expected else "none"

    def _operation(self, result: Result) -> str:
        """Return the operation that the application gets, or for a rejected request the operation that was verified."""
        operation: Operation | None = None
        if result.admitted is not None:
            operation = result.admitted.operation
        elif self.policy is not None:
            try:
                operation = self.policy.resolver.resolve(self.request)
            except UnresolvedOperation:
                return "unresolved"
        return "none" if operation is None or operation.name is None else operation.name


def _warning(result: Result) -> str:
    warning = None if result.admitted is None else result.admitted.warning
    return "none" if warning is None else warning.code
