"""HTTP messages: requests, their header fields and their content."""

from undersigned.message.content import Content
from undersigned.message.request import FieldLines, Headers, Request

__all__ = [
    "Content",
    "FieldLines",
    "Headers",
    "Request",
]
