"""What the tests share that see which route a WSGI framework asks the policy about."""

from __future__ import annotations

from tests.keys import ORIGIN
from werkzeug.test import EnvironBuilder


class Asked:
    """The part of a resolver that keeps the routes that the policy is asked about."""

    def __init__(self, operations=None) -> None:
        super().__init__(operations)
        self.asked: list = []

    def operation_of(self, route, *, listed=()):
        self.asked.append(route)
        return super().operation_of(route, listed=listed)


def environ_of(method: str, target: str, **fields) -> dict:
    return EnvironBuilder(target, base_url=ORIGIN, method=method, headers=fields).get_environ()
