"""The rules of a profile: each part of what makes a signature acceptable, as data.

A `undersigned.Profile` is composed of them, and checks them when it is made. Each rule is a named tuple, so
`rule._replace(name=value)` returns a rule that differs in one value.
"""

from undersigned.signature.rules.coverage import CoverageRule, DigestPolicy, DigestRule
from undersigned.signature.rules.error_answers import Answers
from undersigned.signature.rules.key import KeyRule
from undersigned.signature.rules.parameters import ParameterMode, ParameterRule
from undersigned.signature.rules.selection import Pick, Selection
from undersigned.signature.rules.validity import Caps, Remembered, ReplayRule, Validity

__all__ = [
    "Answers",
    "Caps",
    "CoverageRule",
    "DigestPolicy",
    "DigestRule",
    "KeyRule",
    "ParameterMode",
    "ParameterRule",
    "Pick",
    "Remembered",
    "ReplayRule",
    "Selection",
    "Validity",
]
