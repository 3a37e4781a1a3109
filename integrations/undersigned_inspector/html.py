"""HTML, in which every text is escaped unless it is HTML already."""

from __future__ import annotations

from html import escape


class HTML(str):
    """Text that is markup. `element` makes it."""

    __slots__ = ()


def element(tag: str, *children: str, **attributes: str) -> HTML:
    """Return an element. A child that is not HTML is text. `class_` is the attribute `class`."""
    names = "".join(f' {name.removesuffix("_")}="{escape(value)}"' for name, value in attributes.items())
    return HTML(f"<{tag}{names}>{join(*children)}</{tag}>")


def join(*children: str) -> HTML:
    """Return children one after another."""
    return HTML("".join(child if isinstance(child, HTML) else escape(child) for child in children))
