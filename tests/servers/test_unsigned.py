"""An application answers unsigned requests as without the middleware, in every framework, on a real server."""

from __future__ import annotations

import pytest
from tests.integrations.every_framework import FRAMEWORKS
from tests.integrations.unsigned import (
    LEAVING,
    Unsigned,
    ask,
    ask_in_series,
    ask_whether_to_continue,
    leave_early,
    requests,
    uploads_ended,
)
from tests.keys import ORIGINS, Party

from undersigned import Policy

# Some frameworks leave files open, with and without the middleware.
pytestmark = [
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]

every_framework = pytest.mark.parametrize("framework", FRAMEWORKS, ids=lambda framework: framework.name)


def options(framework) -> dict[str, dict]:
    """The middleware in three ways that must not touch an unsigned request for an open route."""
    common = {"verifier": Party.make().verifier(), "origins": ORIGINS}
    return {
        "optional": {**common, "mode": "optional"},
        "policy": {**common, "policy": Policy(required_for=["create_media_buy"])},
        "policy by route": {**common, "by_route": [framework.guarded_name]},
    }


EXPECTING = [
    Unsigned("POST", "/upload", [("Content-Type", "image/png")], b"x" * 1000),
    Unsigned("POST", "/read", [("Content-Type", "application/json")], b"[1]"),
    Unsigned("POST", "/nothing", [("Content-Type", "image/png")], b"x" * 1000),
]


def seen(framework, port: int, *, ended: int = 1) -> dict[str, object]:
    """Return every answer. `ended`: of how many uploads the application tells whose clients left early."""
    prefixes = ["", "/rest"] if framework.name.startswith("django") else [""]
    sent = [request for prefix in prefixes for request in requests(prefix)]
    answers: dict[str, object] = {f"{request}, {at}": ask(port, request) for at, request in enumerate(sent)}
    for request in EXPECTING:
        answers[f"asked to continue: {request}"], answers[f"expecting {request}"] = ask_whether_to_continue(
            port, request
        )
    for at, answer in enumerate(ask_in_series(port)):
        answers[f"series {at}"] = answer
    before = len(uploads_ended(port))
    leave_early(port, LEAVING)
    answers["an upload that ends early"] = uploads_ended(port, at_least=before + ended)[before:]
    return answers


def differences(alone: dict[str, object], behind: dict[str, object], documented: tuple[str, ...]) -> list[str]:
    return [
        f"{name}: {alone[name]} became {behind[name]}"[:500]
        for name in alone
        if alone[name] != behind[name] and not name.startswith(documented)
    ]


# docs/frameworks.md, "Unsigned requests": a policy reads content that may be JSON before the application does.
_OF_POLICIES = (
    "asked to continue: POST /nothing",
    "POST /read Content-Type 200007 octets",
    "POST /read Content-Type,Content-Encoding 2 octets",
)
DOCUMENTED = {"optional": (), "policy": _OF_POLICIES, "policy by route": _OF_POLICIES}


@every_framework
def test_unsigned_request_is_answered_as_without_the_middleware(framework):
    with framework.running() as port:
        alone = seen(framework, port)
    # Some servers never tell an application of it.
    ended = len(alone["an upload that ends early"])
    for name, chosen in options(framework).items():
        if "by_route" in chosen and not framework.by_route:
            continue
        with framework.running(chosen) as port:
            assert differences(alone, seen(framework, port, ended=ended), DOCUMENTED[name]) == [], name
