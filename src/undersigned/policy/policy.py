"""Policies: which operations must, should or may be signed (AdCP, policy around the checklist)."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, TypeAlias, cast

from undersigned.errors import ConfigurationError, MalformedSignature, SignatureError
from undersigned.policy.jsonrpc import TOOL_CALL
from undersigned.policy.operation import OperationResolver, PathResolver, UnresolvedOperation
from undersigned.policy.route import RouteResolver
from undersigned.policy.webhooks import names_webhook, registers_authentication

if TYPE_CHECKING:
    from undersigned.policy.operation import Operation
    from undersigned.signature.profile import Profile

_OPERATIONS = ("required_for", "warn_for", "supported_for")
_METHODS = ("protocol_methods_required_for", "protocol_methods_warn_for", "protocol_methods_supported_for")
_OPERATION = re.compile(r"[a-z][a-z0-9]*(?:[_.-]+[a-z0-9]+)*")
_METHOD = re.compile(r"[a-z][A-Za-z0-9_]*(?:/[a-z][A-Za-z0-9_]*)+|[A-Z][A-Za-z0-9]*")


Demand = Literal["required", "warn", "supported", "none"]
"""What a policy demands for an operation, the strictest first."""

SignatureResult: TypeAlias = Literal["verified", "unsigned"] | SignatureError
"""The result of verifying a signature: it passed every step, there is none, or the error that rejected it."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """A policy's decision on a request.

    Attributes:
        outcome: whether the application gets the request. `ask`: only if another credential of the caller is valid.
        error: the error of a rejected request. With `ask`, it applies if the other credential is not valid.
    """

    outcome: Literal["accept", "reject", "ask"]
    error: SignatureError | None = None


def is_forgivable(error: SignatureError) -> bool:
    """Return whether another valid credential can make up for a failed signature.

    Some failures are never forgiven: signature fields that cannot be read or lack required parameters, and a target or
    content that two programs read differently. A credential does not change how these are read.
    """
    return not isinstance(error, MalformedSignature)


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """A policy that says which operations must be signed.

    It has two name spaces. Operations, such as `create_media_buy`, are compared with the name that the resolver finds.
    Methods of the JSON-RPC envelope, such as `tasks/cancel` or `CancelTask`, are compared with the envelope's method.
    Both are compared exactly, and only with their own lists. If a name is in several lists, the strictest list counts.

    Args:
        required_for: operations that must be signed, unless another credential is valid.
        warn_for: operations whose failed signatures are logged and forgiven if another credential is valid.
        supported_for: operations that may be signed.
        protocol_methods_required_for: as `required_for`, for methods.
        protocol_methods_warn_for: as `warn_for`, for methods.
        protocol_methods_supported_for: as `supported_for`, for methods.
        resolver: finds the operation of a request.

    Raises:
        ConfigurationError: a list is not a list of names, or has a name of the other name space, or `resolver` can
            never find its names.
    """

    required_for: Collection[str] = ()
    warn_for: Collection[str] = ()
    supported_for: Collection[str] = ()
    protocol_methods_required_for: Collection[str] = ()
    protocol_methods_warn_for: Collection[str] = ()
    protocol_methods_supported_for: Collection[str] = ()
    resolver: OperationResolver = field(default_factory=PathResolver)

    def __post_init__(self) -> None:
        """Check that no list silently demands nothing."""
        for option in _OPERATIONS:
            object.__setattr__(self, option, _operations(option, getattr(self, option)))
        for option in _METHODS:
            object.__setattr__(self, option, _methods(option, getattr(self, option)))
        if not _is_resolver(self.resolver):
            raise ConfigurationError("resolver: pass an operation resolver, such as PathResolver() or A2AResolver()")
        listed = [option for option in _METHODS if getattr(self, option)]
        if listed and isinstance(self.resolver, (PathResolver, RouteResolver)):
            raise ConfigurationError(
                f"{listed[0]}: {type(self.resolver).__name__} finds no JSON-RPC method, so this list would never "
                "match: pass resolver=JSONRPCResolver() or resolver=A2AResolver()"
            )

    def demand(self, operation: Operation) -> Demand:
        """Return the demand for an operation, by the strictest list that has its name or its method."""
        if operation.name in self.required_for or operation.method in self.protocol_methods_required_for:
            return "required"
        if operation.name in self.warn_for or operation.method in self.protocol_methods_warn_for:
            return "warn"
        if operation.name in self.supported_for or operation.method in self.protocol_methods_supported_for:
            return "supported"
        return "none"

    def must_be_signed(self, operation: Operation) -> bool:
        """Return whether the request must be signed, even if no list says so or it has another valid credential."""
        if operation.is_unknown or operation.may_register_credentials:
            return True
        named = [name for name in (operation.name, operation.method) if name is not None]
        inside = operation.registers_webhook or any(map(names_webhook, named))
        return registers_authentication(operation.content, inside=inside)

    def decide(
        self,
        operation: Operation | UnresolvedOperation,
        signature: SignatureResult,
        *,
        fallback: bool,
        profile: Profile,
    ) -> Verdict:
        """Decide what happens to a request (AdCP, composition with fallback authenticators).

        - Verified: accept.
        - Unsigned: reject the request if `must_be_signed` says so. If the operation is in `required_for`, ask for
          another credential. Accept any other request.
        - Failed: reject with the signature's error, even if another credential is valid. But if the operation is in
          `warn_for`, ask for another credential, unless `is_forgivable` or `must_be_signed` forbids it. That includes
          errors for which the operator must act, such as a key source that is down.

        Args:
            operation: what the resolver returned or raised.
            signature: the result of verifying the signature.
            fallback: whether the application has another authenticator. If not, the outcome is never `ask`.
            profile: the profile, which names the errors.
        """
        if isinstance(operation, UnresolvedOperation):
            # An unresolved operation is in no list, so nothing is forgiven.
            failed = isinstance(signature, SignatureError) and not self.resolver.comes_first
            return Verdict("reject", cast("SignatureError", signature) if failed else operation.as_error(profile))
        if signature == "verified":
            return Verdict("accept")
        if signature == "unsigned":
            return self._decide_unsigned(operation, fallback=fallback, profile=profile)
        forgiven = self.demand(operation) == "warn" and fallback and is_forgivable(signature)
        return Verdict("ask" if forgiven and not self.must_be_signed(operation) else "reject", signature)

    def _decide_unsigned(self, operation: Operation, *, fallback: bool, profile: Profile) -> Verdict:
        demand = self.demand(operation)
        missing = "the operation must be signed, and no other credential is valid"
        if demand == "required" and not fallback:
            return Verdict("reject", _unsigned_error(profile, missing))
        if self.must_be_signed(operation):
            why = "a request that registers webhook credentials must be signed"
            unknown = (
                "the router does not tell which operation would run, or a WebSocket would carry it, so the request "
                "must be signed"
            )
            return Verdict("reject", _unsigned_error(profile, unknown if operation.is_unknown else why))
        return Verdict("ask", _unsigned_error(profile, missing)) if demand == "required" else Verdict("accept")


def _operations(option: str, given: object) -> frozenset[str]:
    names = _names(option, given)
    for name in sorted(names):
        if _OPERATION.fullmatch(name) is None:
            fix = f"list methods in protocol_methods_{option}" if _METHOD.fullmatch(name) else "write it like that"
            raise ConfigurationError(
                f"{option}: {name!r} is not an operation, which is written like 'create_media_buy': {fix}"
            )
    return names


def _methods(option: str, given: object) -> frozenset[str]:
    names = _names(option, given)
    operations = option.removeprefix("protocol_methods_")
    for name in sorted(names):
        if name == TOOL_CALL:
            raise ConfigurationError(f"{option}: {name!r} calls an operation: list the operations in {operations}")
        if _METHOD.fullmatch(name) is None:
            fix = f"list operations in {operations}" if _OPERATION.fullmatch(name) else "write it like that"
            raise ConfigurationError(
                f"{option}: {name!r} is not a JSON-RPC method, which is written like 'tasks/cancel' or 'CancelTask': "
                f"{fix}"
            )
    return names


def _names(option: str, given: object) -> frozenset[str]:
    if isinstance(given, (str, bytes, Mapping)) or not isinstance(given, Iterable):
        raise ConfigurationError(f"{option}: give a list of names, such as ['create_media_buy']")
    names = list(cast("Iterable[object]", given))
    if not all(isinstance(name, str) and name for name in names):
        raise ConfigurationError(f"{option}: every name in the list must be a text that is not empty")
    return frozenset(cast("list[str]", names))


def _is_resolver(given: object) -> bool:
    answers = (getattr(given, "reads_body", None), getattr(given, "comes_first", None))
    return callable(getattr(given, "resolve", None)) and all(isinstance(answer, bool) for answer in answers)


def _unsigned_error(profile: Profile, detail: str) -> SignatureError:
    return profile.error("signature_required", step=0, detail=detail)
