"""The rules of a profile: each part of what makes a signature acceptable, as frozen data.

`undersigned.Profile` is composed of them. A profile that changes one part makes it with `dataclasses.replace`.
"""

from __future__ import annotations

from undersigned.signature.rules.answers import Answers
from undersigned.signature.rules.coverage import CoverageRule
from undersigned.signature.rules.digest import DigestPolicy, DigestRule
from undersigned.signature.rules.key import KeyRule
from undersigned.signature.rules.parameters import ParameterMode, ParameterRule
from undersigned.signature.rules.replay import Caps, Remembered, ReplayRule
from undersigned.signature.rules.selection import Pick, Selection
from undersigned.signature.rules.validity import Validity

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
