"""Method names: the JSON-RPC methods that a policy may list, and the methods in requests that they match."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

from undersigned.conformance.difference import Difference
from undersigned.errors import ConfigurationError
from undersigned.message.request import Request
from undersigned.policy.a2a import A2AResolver
from undersigned.policy.jsonrpc import JSONRPCResolver
from undersigned.policy.policy import Policy

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from undersigned.policy.operation import OperationResolver
    from undersigned.policy.policy import Demand

Option: TypeAlias = Literal["required", "warn", "supported"]

OPTIONS: tuple[Option, ...] = ("required", "warn", "supported")
RESOLVERS: tuple[OperationResolver, ...] = (JSONRPCResolver(), A2AResolver())

_WITH_MESSAGE = frozenset({"message/send", "message/stream", "SendMessage", "SendStreamingMessage"})
_URL = "https://seller.example.com/rpc"


@dataclass(frozen=True, slots=True)
class MethodMatch:
    """Methods that a policy lists, and a method in a request that they must match or not match."""

    name: str
    declared: Sequence[str]
    wire: str
    matches: bool

    def differences(self) -> Iterator[Difference | None]:
        """Compare the demand for the method, for each list and each resolver."""
        request = carrying(self.wire)
        for option in OPTIONS:
            for resolver in RESOLVERS:
                demand = listing(option, self.declared, resolver).demand(resolver.resolve(request))
                expected = option if self.matches else "none"
                yield Difference.between(f"demand of protocol_methods_{option}_for", expected, demand)


@dataclass(frozen=True, slots=True)
class MethodDeclaration:
    """A name that a policy must reject in every list, alone and among other names."""

    name: str
    method: str

    def differences(self) -> Iterator[Difference | None]:
        """Check that each declaration is rejected."""
        for option in OPTIONS:
            for names in ([self.method], ["tasks/cancel", self.method]):
                subject = f"declaration in protocol_methods_{option}_for"
                try:
                    listing(option, names, RESOLVERS[0])
                except ConfigurationError:
                    yield None
                else:
                    yield Difference(subject, "rejected", "accepted")


def carrying(method: str) -> Request:
    """Return a request whose JSON-RPC envelope contains the method."""
    message = {"message": {"parts": [{"data": {"skill": "get_products"}}]}}
    params = message if method in _WITH_MESSAGE else {}
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
    return Request("POST", _URL, [("Content-Type", "application/json")], body)


def listing(option: Demand, methods: Sequence[str], resolver: OperationResolver) -> Policy:
    """Return a policy with methods in one of its lists.

    Raises:
        ConfigurationError: one of the methods must not be listed.
    """
    return Policy(
        protocol_methods_required_for=methods if option == "required" else (),
        protocol_methods_warn_for=methods if option == "warn" else (),
        protocol_methods_supported_for=methods if option == "supported" else (),
        resolver=resolver,
    )
