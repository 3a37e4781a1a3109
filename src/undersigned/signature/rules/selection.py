"""Which signatures of a message are of a profile (RFC 9421 section 7.2.5)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple

from undersigned.limits import MOST_SELECTED
from undersigned.message.structured_fields import KEY, MalformedField
from undersigned.signature.rules.option_checks import check, check_choice, check_texts

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from undersigned.message.structured_fields import Parameter

Pick = Literal["preferred", "only", "any", "all"]
"""Which signature is verified if a message has several.

`preferred`: the one with the profile's label, else the first with its tag, else the first. Its tag must be the
profile's. `only`: a message with several is rejected. `any`: those with the profile's tag, one after the other, until
one is valid. `all`: each of those with the profile's tag must be valid.
"""


class Selection(NamedTuple):
    """A rule that selects the signatures of a message that are of a profile.

    Attributes:
        tags: the accepted `tag` values; a signer writes the first. Empty: any tag, or none.
        skipped_tags: signatures with one of these tags are of another profile, and not looked at.
        label: the label that a signer writes, and that `preferred` takes first.
        pick: which signature is verified if there are several.
        is_exclusive: whether a Signature field with a signature of another scheme, such as draft-cavage, is malformed.
            If not, that signature is left alone: a message without another one is not signed.
    """

    tags: tuple[str, ...] = ()
    skipped_tags: tuple[str, ...] = ()
    label: str = "sig1"
    pick: Pick = "preferred"
    is_exclusive: bool = False

    def check(self) -> None:
        """Raise ConfigurationError if a value is wrong or contradicts another."""
        check_choice("selection.pick", self.pick, Pick)
        for option, tags in (("tags", self.tags), ("skipped_tags", self.skipped_tags)):
            check_texts(f"selection.{option}", tags, _is_tag, example='("my-app",), in printable ASCII')
        is_skipped = not set(self.tags).isdisjoint(self.skipped_tags)
        check("selection.skipped_tags", not is_skipped, "a tag cannot be both accepted and skipped")
        advice = "use lower-case letters, digits and _ - . * (RFC 8941 section 3.1.2)"
        check("selection.label", KEY.fullmatch(self.label), advice)

    @property
    def tag(self) -> str | None:
        """The tag that a signer writes, or None if it writes none."""
        return self.tags[0] if self.tags else None

    def accepts(self, tag: object) -> bool:
        """Return whether a signature with this tag (None if it has none) is of this profile."""
        return tag not in self.skipped_tags and (not self.tags or tag in self.tags)

    def labels(self, members: Mapping[str, Mapping[str, Parameter]]) -> Sequence[str]:
        """Return the labels of the signatures to verify, in their order; none if no signature is of this profile.

        Args:
            members: the parameters of each signature by its label.

        Raises:
            MalformedField: the message has several signatures, and the profile takes only one.
        """
        if self.pick == "only" and len(members) > 1:
            raise MalformedField("the message has several signatures, and the profile takes only one")
        if self.pick == "preferred" and self.label in members:
            return (self.label,)
        of_profile = [label for label, parameters in members.items() if self.accepts(parameters.get("tag"))]
        if self.pick == "preferred":
            return of_profile[:1] or tuple(members)[:1]
        return of_profile[: MOST_SELECTED + 1]


def _is_tag(text: str) -> bool:
    return text.isascii() and text.isprintable()
