"""What an OpenAPI document says of an operation that must be signed, whichever framework makes the document."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from undersigned.errors import ConfigurationError
from undersigned.policy.route import RouteResolver

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from undersigned.middleware.options import Mode
    from undersigned.policy.policy import Policy
    from undersigned.policy.route import MatchedRoute

SCHEME: Final[Mapping[str, str]] = {
    "type": "http",
    "scheme": "Signature",
    "description": "An HTTP message signature (RFC 9421) in the fields Signature-Input and Signature.",
}
"""The security scheme, which is named `Signature`."""

_FIELDS: Final[Mapping[str, str]] = {
    "Signature-Input": "What each signature covers (RFC 9421 section 4.1).",
    "Signature": "The signatures (RFC 9421 section 4.2).",
}
_UNSIGNED: Final = "The request is not signed, or its signature is not accepted: WWW-Authenticate has the code."
_REQUIREMENT: Final[Mapping[str, list[str]]] = {"Signature": []}


def must_be_signed(policy: Policy | None, mode: Mode, route: MatchedRoute) -> bool:
    """Return whether a middleware lets a route run for signed requests only. If that depends on the path, False.

    Args:
        policy: the policy of the middleware, or None.
        mode: the mode of the middleware.
        route: the route.

    Raises:
        ConfigurationError: the policy has no `RouteResolver`, so it is not known which route it names.
    """
    if policy is None:
        return mode == "required"
    if not isinstance(policy.resolver, RouteResolver):
        raise ConfigurationError("policy: give it a RouteResolver, so that the document can say what must be signed")
    return policy.demand(policy.resolver.operation_of(route, listed=policy.required_for)) == "required"


def document_signature(document: dict[str, Any], path: str, methods: Iterable[str]) -> None:
    """Mark operations as those that must be signed: their security, their header parameters and their response 401.

    Args:
        document: the OpenAPI document. It gets the security scheme.
        path: the path of the operations in it.
        methods: their methods. Nothing is marked twice, and what the document does not have is not.
    """
    operations = document["paths"].get(path, {})
    for operation in (operations[name] for name in operations.keys() & set(map(str.lower, methods))):
        document.setdefault("components", {}).setdefault("securitySchemes", {})["Signature"] = dict(SCHEME)
        security = operation.setdefault("security", [])
        if _REQUIREMENT not in security:
            security.append(dict(_REQUIREMENT))
        parameters = operation.setdefault("parameters", [])
        named = {one.get("name") for one in parameters if one.get("in") == "header"}
        parameters += [
            {"name": name, "in": "header", "required": True, "description": text, "schema": {"type": "string"}}
            for name, text in _FIELDS.items()
            if name not in named
        ]
        operation.setdefault("responses", {}).setdefault("401", {"description": _UNSIGNED})
