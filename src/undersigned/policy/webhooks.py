"""Webhook registrations: whether a request registers a webhook with credentials of its own (AdCP webhook security).

Whoever can change such a request on its way chooses how every later delivery is authenticated, so it has to be signed
whatever other credential comes with it.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from undersigned.message.strict_json import JSONValue

_SEPARATORS = re.compile(r"[^a-z0-9]")
_WEBHOOK = re.compile(r"webhook|notificationconfig")
_AUTHENTICATION = "authentication"


def names_webhook(name: str) -> bool:
    """Return whether a member, operation, method or path segment is named for a webhook or a notification config.

    As `push_notification_config` and `pushNotificationConfig`, `notification_configs`, `reporting_webhook` and their
    kin are, whatever their case and separators.
    """
    return _WEBHOOK.search(_plain(name)) is not None


def registers_authentication(content: JSONValue, *, itself: bool) -> bool:
    """Return whether the content of a request registers a webhook with an `authentication` of its own.

    That is an `authentication` other than null, at any depth below a member that names a webhook, wherever that
    stands; or anywhere in the content, where `itself` says that the whole request is such a registration.
    """
    # On a stack: content may be nested deeper than calls may be.
    stack: list[tuple[JSONValue, bool]] = [(content, itself)]
    while stack:
        value, inside = stack.pop()
        if isinstance(value, dict):
            for name, member in value.items():
                if inside and member is not None and _plain(name) == _AUTHENTICATION:
                    return True
                stack.append((member, inside or names_webhook(name)))
        elif isinstance(value, list):
            stack.extend((item, inside) for item in value)
    return False


def _plain(name: str) -> str:
    """Return `name` without case and separators: snake, camel and slash forms of a name are the same."""
    return _SEPARATORS.sub("", name.casefold())
