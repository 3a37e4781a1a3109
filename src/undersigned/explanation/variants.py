"""All variants, in the order in which the search tries them: if two give the same base, the first has the say."""

from __future__ import annotations

from typing import Final

from undersigned.explanation.authority_variants import AUTHORITY_VARIANTS
from undersigned.explanation.content_variants import CONTENT_VARIANTS
from undersigned.explanation.field_variants import FIELD_VARIANTS
from undersigned.explanation.key_variants import KEY_VARIANTS
from undersigned.explanation.path_variants import PATH_VARIANTS
from undersigned.explanation.query_variants import QUERY_VARIANTS

VARIANTS: Final = (
    *KEY_VARIANTS,
    *AUTHORITY_VARIANTS,
    *PATH_VARIANTS,
    *QUERY_VARIANTS,
    *CONTENT_VARIANTS,
    *FIELD_VARIANTS,
)
"""The variants of one request."""

VARIANT_NAMES: Final = tuple(dict.fromkeys((*(variant.name for variant in VARIANTS), "another profile")))
"""The names of all variants, as `Change.variant` has them. Some variants of several parts share a name."""
