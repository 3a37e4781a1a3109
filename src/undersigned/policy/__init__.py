"""Policies: which operations must be signed, and how the operation of a request is found (AdCP verifier checklist)."""

from undersigned.policy.a2a import A2AResolver
from undersigned.policy.jsonrpc import JSONRPCResolver
from undersigned.policy.operation import Operation, OperationResolver, PathResolver, UnresolvedOperation
from undersigned.policy.policy import Policy
from undersigned.policy.route import (
    ListedRoute,
    MatchedRoute,
    RouteOperation,
    RouteResolver,
    Routes,
    answers_itself,
    called_applications,
    own_names,
)
from undersigned.policy.table import TableLine, policy_table, table_report

__all__ = [
    "A2AResolver",
    "JSONRPCResolver",
    "ListedRoute",
    "MatchedRoute",
    "Operation",
    "OperationResolver",
    "PathResolver",
    "Policy",
    "RouteOperation",
    "RouteResolver",
    "Routes",
    "TableLine",
    "UnresolvedOperation",
    "answers_itself",
    "called_applications",
    "own_names",
    "policy_table",
    "table_report",
]
