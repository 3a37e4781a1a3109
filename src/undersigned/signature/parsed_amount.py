"""The bound on what is parsed for the components with parameters of one signature."""

from __future__ import annotations

from undersigned.limits import MOST_PARSED, PARSED_PER_COMPONENT, WRAPPED_PER_PARSED
from undersigned.message.structured_fields import count_delimiters
from undersigned.signature.unresolvable import UnresolvableComponent


class ParsedAmount:
    """A count of what has been parsed for the components of one message, and of the request that it answers.

    Args:
        longest: upper bound on the characters.
    """

    __slots__ = ("_characters", "_delimiters", "_longest", "_seen")

    def __init__(self, longest: int) -> None:
        self._longest = longest
        self._characters = 0
        self._delimiters = 0
        self._seen: set[tuple[int, str, bool]] = set()

    def add(self, section: int, name: str, text: str, *, delimiters: str, wrapped: bool) -> None:
        """Count what has to be parsed for a component, each value once, and reject too much of it.

        Args:
            section: which section of which message has the value.
            name: the name of the component.
            text: the value.
            delimiters: the characters to count.
            wrapped: whether the value is only wrapped as bytes, and not looked at.

        Raises:
            UnresolvableComponent: it is too much.
        """
        self._delimiters += PARSED_PER_COMPONENT
        if (section, name, wrapped) not in self._seen:
            self._seen.add((section, name, wrapped))
            self._characters += len(text) // WRAPPED_PER_PARSED if wrapped else len(text)
            if not wrapped and len(text) <= self._longest:
                self._delimiters += count_delimiters(text, delimiters)
        if self._delimiters > MOST_PARSED or self._characters > self._longest:
            raise UnresolvableComponent(
                f"components with parameters ask for more than {MOST_PARSED} delimiters or {self._longest} characters "
                "to be parsed: cover the whole field instead, or @target-uri"
            )
