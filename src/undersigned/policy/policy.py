"""Policies: which operations must, should or may be signed (AdCP, policy around the checklist)."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final, Literal, TypeAlias, cast

from undersigned.errors import ConfigurationError, MalformedSignature, SignatureError
from undersigned.policy.a2a import A2AResolver
from undersigned.policy.content import UnsignedContent, names_webhook
from undersigned.policy.jsonrpc import TOOL_CALL
from undersigned.policy.operation import OperationResolver, PathResolver, UnresolvedOperation, check_path
from undersigned.policy.route import RouteResolver

if TYPE_CHECKING:
    from undersigned.message.request import Request
    from undersigned.policy.operation import Operation
    from undersigned.signature.profile import Profile

_OPERATIONS = ("required_for", "warn_for", "supported_for")
_PREFIX = "protocol_methods_"
_METHODS = tuple(f"{_PREFIX}{option}" for option in _OPERATIONS)
_OPERATION = re.compile(r"[a-z][a-z0-9]*(?:[_.-]+[a-z0-9]+)*")
_METHOD = re.compile(r"[a-z][A-Za-z0-9_]*(?:/[a-z][A-Za-z0-9_]*)+|[A-Z][A-Za-z0-9]*")
_WRITTEN = (
    "an operation, which is written like 'create_media_buy'",
    "a JSON-RPC method, which is written like 'tasks/cancel' or 'CancelTask'",
)
_WEBHOOK: Final = "a request that registers webhook credentials must be signed"
_UNKNOWN: Final = (
    "nothing tells which operation would run, so the request must be signed: a WebSocket may carry it, no hook asks "
    "the policy of the RouteResolver (a layer around the application may call several, or a class of the application "
    "overrides how it finds a route), or its operations= does not list the route"
)

_OTHER = re.compile(r"[^a-z0-9_./-]+")

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
        supported_for: operations that may be signed. It decides nothing: `demand` returns it, for an agent that
            publishes what it verifies.
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
        for option in (*_OPERATIONS, *_METHODS):
            object.__setattr__(self, option, _checked(option, getattr(self, option)))
        if isinstance(self.resolver, RouteResolver) and self.warn_for:
            raise ConfigurationError("warn_for: a signature is rejected before the route is known: use PathResolver")
        listed = [option for option in _METHODS if getattr(self, option)]
        if listed and isinstance(self.resolver, (PathResolver, RouteResolver)):
            raise ConfigurationError(
                f"{listed[0]}: {type(self.resolver).__name__} finds no JSON-RPC method, so this list would never "
                "match: pass resolver=JSONRPCResolver() or resolver=A2AResolver()"
            )

    def bound(self, app: object) -> Policy:
        """Return this policy for an application that a middleware is put around, whose routes may have to ask it.

        Args:
            app: the application, or the `Routes` of it.

        Raises:
            ConfigurationError: the application cannot ask it.
        """
        resolver = self.resolver
        return replace(self, resolver=resolver.bound(app)) if isinstance(resolver, RouteResolver) else self

    def lists(self) -> list[tuple[str, Collection[str]]]:
        """Return each list of the policy with its name."""
        return [(option, getattr(self, option)) for option in (*_OPERATIONS, *_METHODS)]

    def demand(self, operation: Operation) -> Demand:
        """Return the demand for an operation, by the strictest list that has its name or its method."""
        methods = {operation.method, *operation.methods}
        demands: tuple[Demand, ...] = ("required", "warn", "supported")
        for demand in demands:
            names, listed = getattr(self, f"{demand}_for"), getattr(self, f"{_PREFIX}{demand}_for")
            if operation.name in names or not methods.isdisjoint(listed):
                return demand
        return "none"

    @staticmethod
    def _registers_webhook(
        operation: Operation | UnresolvedOperation, content: UnsignedContent, profile: Profile, path: str = ""
    ) -> bool:
        """Return whether a request registers a webhook with credentials, so that it must be signed (AdCP)."""
        if not profile.is_of_adcp:
            return False
        inside = names_webhook(path)
        if not isinstance(operation, UnresolvedOperation):
            named = [name for name in (operation.name, operation.method) if name is not None]
            inside = operation.registers_webhook or any(map(names_webhook, named))
        return content.registers_webhook(inside=inside)

    def _may_name(self, content: UnsignedContent, path: str) -> bool:
        """Return whether a request whose operation is not resolved may be for an operation or method of a list."""
        listed, plain = {*self.required_for, *self.protocol_methods_required_for}, _squeezed(path)
        return any(_squeezed(name) in plain for name in listed) or (
            self.resolver.reads_body and content.may_name(listed)
        )

    def resolve(self, request: Request, path: str = "") -> Operation | UnresolvedOperation:
        """Return the operation that the resolver finds in what has been read, or the error that it raises."""
        try:
            if path and not isinstance(self.resolver, RouteResolver):
                check_path(path)
            return self.resolver.resolve(request)
        except UnresolvedOperation as unresolved:
            unresolved.__context__ = unresolved.__traceback__ = None  # the frames refer to it, and it to them
            return unresolved

    def decide(
        self,
        operation: Operation | UnresolvedOperation,
        signature: SignatureResult,
        request: Request,
        *,
        fallback: bool,
        profile: Profile,
        path: str = "",
    ) -> Verdict:
        """Decide what happens to a request (AdCP, composition with fallback authenticators).

        - Verified: accept. But AdCP rejects a JSON-RPC or A2A message whose operation is not resolved, unless the
          resolver is `A2AResolver(adcp=False)`.
        - Unsigned: if the operation is in `required_for`, ask for another credential. Reject a request that registers a
          webhook with credentials, and one that may be for a listed operation without telling it. Accept any other.
        - Failed: reject with the signature's error, even if another credential is valid. But if the operation is in
          `warn_for`, ask for another credential, unless `is_forgivable` or the registration of a webhook forbids it.
          That includes errors for which the operator must act, such as a key source that is down.

        Args:
            operation: what the resolver returned or raised.
            signature: the result of verifying the signature.
            request: the request, with its content if that was read.
            fallback: whether the application has another authenticator. If not, the outcome is never `ask`.
            profile: the profile, which names the errors.
            path: the percent-decoded path, as the application's router reads it.
        """
        if isinstance(operation, UnresolvedOperation):
            return self._decide_unresolved(operation, signature, request, profile=profile, path=path)
        if signature == "verified":
            return Verdict("accept")
        if isinstance(signature, SignatureError):
            forgiven = self._may_pass(operation, signature, fallback=fallback)
            is_asked = forgiven and not self._must_be_signed(operation, request, profile)
            return Verdict("ask" if is_asked else "reject", signature)
        if why := self._must_be_signed(operation, request, profile):
            return Verdict("reject", _unsigned_error(profile, why))
        if self.demand(operation) != "required":
            return Verdict("accept")
        detail = "the operation must be signed"
        if fallback:
            detail = f"{detail}, and fallback= does not accept the caller"
        return Verdict("ask" if fallback else "reject", _unsigned_error(profile, detail))

    def needs_content(
        self,
        operation: Operation | UnresolvedOperation,
        signature: SignatureResult,
        *,
        fallback: bool,
        profile: Profile,
    ) -> bool:
        """Return whether `decide` has to know the content, although the operation is not in it.

        Only the registration of a webhook is left to find there. It does not matter if the request is rejected anyway.
        """
        if signature == "verified" or self.resolver.reads_body or not profile.is_of_adcp:
            return False
        if isinstance(operation, UnresolvedOperation):
            return signature == "unsigned" and not self.resolver.comes_first
        return self._may_pass(operation, signature, fallback=fallback)

    def _may_pass(self, operation: Operation, signature: SignatureResult, *, fallback: bool) -> bool:
        """Return whether the lists let a request pass that has no valid signature, maybe on another credential."""
        if operation.is_unknown:
            return False
        demand = self.demand(operation)
        if isinstance(signature, SignatureError):
            return demand == "warn" and fallback and is_forgivable(signature)
        return demand != "required" or fallback

    def _decide_unresolved(
        self,
        operation: UnresolvedOperation,
        signature: SignatureResult,
        request: Request,
        *,
        profile: Profile,
        path: str,
    ) -> Verdict:
        # It is in no list, so nothing is forgiven.
        resolver = self.resolver
        is_a2a = isinstance(resolver, A2AResolver)
        is_strict = resolver.comes_first or (resolver.reads_body and profile.is_of_adcp and not is_a2a)
        if isinstance(signature, SignatureError) and not resolver.comes_first:
            return Verdict("reject", signature)
        # Nobody knows which path of A2A's HTTP+JSON binding a router reads, if it is malformed.
        methods = self.protocol_methods_required_for
        is_any = is_a2a and operation.reason == "target_uri_malformed" and bool(methods)
        is_listed = is_any or not operation.methods.isdisjoint(methods)
        content = UnsignedContent(request)
        if is_strict or (signature == "unsigned" and (is_listed or self._may_name(content, path))):
            return Verdict("reject", operation.as_error(profile))
        if signature == "unsigned" and self._registers_webhook(operation, content, profile, path):
            return Verdict("reject", _unsigned_error(profile, _WEBHOOK))
        return Verdict("accept")

    def _must_be_signed(self, operation: Operation, request: Request, profile: Profile) -> str | None:
        """Return why a request must be signed whatever the lists say, or None."""
        if operation.is_unknown:
            return _UNKNOWN
        return _WEBHOOK if self._registers_webhook(operation, UnsignedContent(request), profile) else None


def _squeezed(text: str) -> str:
    """Return `text` without case, and without what some program might drop."""
    return _OTHER.sub("", text.casefold())


def _checked(option: str, given: object) -> frozenset[str]:
    if isinstance(given, (str, bytes, Mapping)) or not isinstance(given, Iterable):
        raise ConfigurationError(f"{option}: give a list of names, such as ['create_media_buy']")
    names, is_method = list(cast("Iterable[object]", given)), option in _METHODS
    pattern, other = (_METHOD, _OPERATION) if is_method else (_OPERATION, _METHOD)
    twin = option.removeprefix(_PREFIX) if is_method else f"{_PREFIX}{option}"
    for name in names:
        if is_method and name == TOOL_CALL:
            raise ConfigurationError(f"{option}: {name!r} calls an operation: list the operations in {twin}")
        if not isinstance(name, str) or pattern.fullmatch(name) is None:
            is_other = isinstance(name, str) and other.fullmatch(name) is not None
            fix = f"list {'operations' if is_method else 'methods'} in {twin}" if is_other else "write it like that"
            raise ConfigurationError(f"{option}: {name!r} is not {_WRITTEN[is_method]}: {fix}")
    return frozenset(cast("list[str]", names))


def _unsigned_error(profile: Profile, detail: str) -> SignatureError:
    return profile.error("signature_required", step=0, detail=detail)
