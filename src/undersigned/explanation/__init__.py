"""Why a recorded request is rejected: the step that fails, and the change that, undone, makes its signature valid.

`explain_request` says all that is known of a request. It neither sends nor keeps anything, and does not need the
signer's base. `parse_pasted_request` reads a request as tools show it.
"""

from undersigned.errors import CHECKS
from undersigned.explanation.advice import NAMES
from undersigned.explanation.cause import Cause
from undersigned.explanation.explained_request import (
    BaseDifference,
    ContentDigests,
    ExplainedRequest,
    Outcome,
    ValidityPeriod,
    explain_request,
)
from undersigned.pasted import MalformedRequest, PastedRequest, parse_pasted_request

__all__ = [
    "CHECKS",
    "NAMES",
    "BaseDifference",
    "Cause",
    "ContentDigests",
    "ExplainedRequest",
    "MalformedRequest",
    "Outcome",
    "PastedRequest",
    "ValidityPeriod",
    "explain_request",
    "parse_pasted_request",
]
