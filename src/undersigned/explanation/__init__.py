"""Why a recorded request is rejected: the step that fails, and the change that, undone, makes its signature valid.

`explain_request` says all that is known of a request. `find_cause` only searches for the change. Neither sends
anything, keeps anything, or needs the signer's base.
"""

from undersigned.explanation.base_difference import BaseDifference, compare_bases
from undersigned.explanation.budget import Budget
from undersigned.explanation.cause import Cause, CauseSearch, find_cause
from undersigned.explanation.explained_request import (
    CHECKS,
    ContentDigests,
    ExplainedRequest,
    Outcome,
    ValidityPeriod,
    explain_request,
)
from undersigned.explanation.pasted_request import PastedRequest, parse_pasted_request
from undersigned.explanation.profile_guess import REQUEST_PROFILES, guess
from undersigned.explanation.raw_request import MalformedRequest, parse_raw_request
from undersigned.explanation.right_request import right_request
from undersigned.explanation.variant import Change, Part
from undersigned.explanation.variants import VARIANT_NAMES

__all__ = [
    "CHECKS",
    "REQUEST_PROFILES",
    "VARIANT_NAMES",
    "BaseDifference",
    "Budget",
    "Cause",
    "CauseSearch",
    "Change",
    "ContentDigests",
    "ExplainedRequest",
    "MalformedRequest",
    "Outcome",
    "Part",
    "PastedRequest",
    "ValidityPeriod",
    "compare_bases",
    "explain_request",
    "find_cause",
    "guess",
    "parse_pasted_request",
    "parse_raw_request",
    "right_request",
]
