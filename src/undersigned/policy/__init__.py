"""Policies: which operations must be signed, and how the operation of a request is found (AdCP verifier checklist)."""

from undersigned.policy.a2a import A2AOperation
from undersigned.policy.jsonrpc import JSONRPCOperation
from undersigned.policy.operation import Operation, OperationResolver, PathOperation, UnresolvedOperation
from undersigned.policy.policy import Policy

__all__ = [
    "A2AOperation",
    "JSONRPCOperation",
    "Operation",
    "OperationResolver",
    "PathOperation",
    "Policy",
    "UnresolvedOperation",
]
