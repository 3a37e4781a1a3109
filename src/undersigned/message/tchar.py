"""The characters of a token, such as a method or a field name, as part of a pattern (RFC 9110 section 5.6.2)."""

from __future__ import annotations

LOWER = r"[!#$%&'*+.^_`|~0-9a-z-]"
"""A character of a token in lower case, such as a field name that is compared."""

UPPER = r"[!#$%&'*+.^_`|~0-9A-Z-]"
"""A character of a token in upper case, such as a method."""

ANY = r"[!#$%&'*+.^_`|~0-9A-Za-z-]"
"""A character of a token."""
