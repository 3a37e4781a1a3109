"""Evidence: what a request was, cleaned for a log or a page of its operator."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, NamedTuple

from undersigned.limits import LONGEST_INSPECTED
from undersigned.log_text import is_credential, printable, without_credentials
from undersigned.message.signature_input import parse_signature_input
from undersigned.message.structured_fields import MalformedField

if TYPE_CHECKING:
    from undersigned.message.header_fields import HeaderFields
    from undersigned.signature.profile import Profile

MASK: Final = "(masked)"
"""What stands in place of the value of a credential."""

_TARGET_URI: Final = '"@target-uri": '


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """What a decision was made of. Every text of the sender is escaped and truncated, and credentials are masked.

    Attributes:
        url: the URL of the request; only its target as the server shows it, if its origin was not looked for.
        fields: the headers as (name, value) pairs, once they were read.
        base: the signature base as rebuilt from the request, or None if it was not rebuilt.
        detail: what was wrong, in a sentence, or None.
        received: other evidence, such as the Host and the request target, or None.
        is_local: whether all origins of the middleware are loopback origins, as in development.
    """

    url: str = ""
    fields: tuple[tuple[str, str], ...] = ()
    base: str | None = None
    detail: str | None = None
    received: str | None = None
    is_local: bool = False

    def cleaned(self) -> Evidence:
        """Return the same evidence without what nobody may read."""
        fields = tuple(
            (printable(name, limit=64), MASK if is_credential(name) else _clean(value)) for name, value in self.fields
        )
        base = None if self.base is None else "\n".join(map(_mask_line, self.base.split("\n")))
        received = None if self.received is None else _clean(self.received)
        return replace(self, url=_clean(self.url), fields=fields, base=base, received=received)


class Claims(NamedTuple):
    """What a request says of its signature, before anything of it is verified.

    Attributes:
        keyid: the key that it names, or None.
        created: when it says that it was signed, or None.
        expires: when it says that the signature ends, or None.
    """

    keyid: str | None = None
    created: int | None = None
    expires: int | None = None

    @classmethod
    def of(cls, fields: HeaderFields, profile: Profile) -> Claims:
        """Return the claims of the signature that the profile selects, else of the first one."""
        value = fields.combined.get("signature-input")
        if value is None:
            return cls()
        try:
            given = {label: one.parameters for label, one in parse_signature_input(value).items()}
            label = (*profile.selection.labels(given), *given)[0]
        except (MalformedField, IndexError):
            return cls()
        keyid, created, expires = (given[label].get(name) for name in ("keyid", "created", "expires"))
        return cls(
            keyid if isinstance(keyid, str) else None,
            created if type(created) is int else None,
            expires if type(expires) is int else None,
        )

    def seconds_off(self, profile: Profile, now: float) -> float | None:
        """Return how far from the validity period now is: negative before it, None within it."""
        if self.created is not None and self.created > now:
            return now - self.created
        end = profile.validity.end(self.created, self.expires)
        return now - end if end is not None and end < now else None


def without_query(target: str) -> str:
    """Return a target or URL for a log, without what its query has."""
    path, mark, _ = target.partition("?")
    return f"{path}?(withheld)" if mark else path


def rebuilt_target_uri(base: str) -> str | None:
    """Return the value of `@target-uri` in a signature base, or None if that is not covered."""
    return next((line.removeprefix(_TARGET_URI) for line in base.split("\n") if line.startswith(_TARGET_URI)), None)


def _mask_line(line: str) -> str:
    """Return a line of a signature base without the value of a credential."""
    name, colon, _ = line.partition(": ")
    return f"{_clean(name)}: {MASK}" if colon and is_credential(name) else _clean(line)


def _clean(text: str) -> str:
    """Return `text` escaped and truncated, without the values of query parameters that are credentials."""
    return printable(without_credentials(text, mask=MASK), limit=LONGEST_INSPECTED)
