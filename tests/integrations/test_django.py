"""The Django middleware, decorator and settings, on real servers over both interfaces."""

from __future__ import annotations

import contextlib
import sys
from importlib import import_module
from io import BytesIO
from types import SimpleNamespace

import pytest
from django.core.checks import run_checks
from django.core.exceptions import ImproperlyConfigured
from django.core.handlers.wsgi import WSGIHandler, WSGIRequest
from django.http import HttpRequest, HttpResponse
from django.test import RequestFactory, override_settings
from django.urls import path
from tests.integrations.django_site import APPLICATIONS, CSRF, FIRST, Caller, Named, site
from tests.keys import BODY, HOST, JSON, KEYID, ORIGIN, ORIGINS, Party
from tests.serving import uvicorn_server, waitress_server
from tests.wire import ask, assert_rejected, raw_request

from undersigned import (
    KeySet,
    MemoryReplayStore,
    Request,
    Verifier,
    profiles,
)
from undersigned.middleware import Admission
from undersigned.signature.rules import Answers
from undersigned_django import verified_signature
from undersigned_django.middleware import SignatureMiddleware
from undersigned_django.requirement import PUBLISHED
from undersigned_django.rest_framework import SignatureAuthentication, SignedCaller

UNSIGNED = "request_signature_required"
SERVERS = {"wsgi": waitress_server, "asgi": uvicorn_server}


@contextlib.contextmanager
def serve(interface: str, verifier, **options):
    """Serve the site with these settings by a server in a thread; yields the port."""
    with site(verifier, **options), SERVERS[interface](APPLICATIONS[interface]()) as port:
        yield port


interfaces = pytest.mark.parametrize("interface", SERVERS)


@interfaces
def test_site_names_the_user_of_a_signature_or_rejects_its_caller(interface, party):
    users = {200: lambda signature: SignedCaller(f"user of {signature.keyid}"), 401: lambda _signature: None}
    for status, user in users.items():
        with serve(interface, party.verifier(), USER=user) as port:
            answer = ask(port, party.raw("POST", "/drf", BODY))
            assert (answer.status, answer.json.get("caller")) == (status, f"user of {KEYID}" if status == 200 else None)


@interfaces
def test_rest_framework_asks_for_no_signature_if_the_profile_does_not(interface, party):
    profile = profiles.ADCP_3_2.derive(answers=Answers(prefix="request_", asks=frozenset()))
    with serve(interface, party.verifier(profile=profile)) as port:
        answer = ask(port, raw_request("POST", "/drf", JSON, BODY))
    assert (answer.status, answer.fields.get("accept-signature")) == (401, None)


def test_signed_caller_is_authenticated_and_not_anonymous():
    caller = SignedCaller(KEYID)
    assert (caller.is_authenticated, caller.is_anonymous, caller.is_active) == (True, False, True)


def test_callers_of_other_signers_are_not_the_same_although_their_keys_have_the_same_keyid(party):
    callers: list[object] = []
    for owner in ("a.example", "b.example"):
        keys = KeySet.from_jwks(party.jwks, owner=owner)
        verifier = Verifier(profiles.ADCP_3_2, keys=keys, replay=MemoryReplayStore())
        signature = verifier.verify(Request("GET", f"{ORIGIN}/x", party.fields("GET", "/x")))
        request = RequestFactory().get("/x")
        PUBLISHED.publish(request, Admission(None, None, signature))
        with override_settings(UNDERSIGNED={}):
            caller, _ = SignatureAuthentication().authenticate(SimpleNamespace(_request=request))
        callers.append(caller)
    assert [(caller.keyid, caller.signer) for caller in callers] == [(KEYID, "a.example"), (KEYID, "b.example")]
    assert callers[0] != callers[1]


def timing(get_response):
    def respond(request):
        request.META["timer"] = "set"
        response = get_response(request)
        response["X-Timer"] = request.META["timer"]
        return response

    return respond


def marking(get_response):
    def respond(request):
        (request.environ if hasattr(request, "environ") else request.scope)["marked"] = request.path
        return get_response(request)

    return respond


@interfaces
def test_layers_outside_keep_what_they_have_put_into_a_request_and_see_what_the_application_does(interface, party):
    seen = []

    def layer(environ, start_response):
        answer = app(environ, start_response)
        seen.append(environ.get("marked"))
        return answer

    async def asgi_layer(scope, receive, send):
        async def noting(message):
            if "status" in message:
                seen.append(scope.get("marked"))
            await send(message)

        await app(scope, receive, noting)

    served = {"wsgi": layer, "asgi": asgi_layer}[interface]
    with site(party.verifier(), middleware=[f"{__name__}.timing", FIRST, f"{__name__}.marking"]):
        app = APPLICATIONS[interface]()
        with SERVERS[interface](served) as port:
            answer = ask(port, party.raw("GET", "/public"))
            assert (answer.status, answer.fields["x-timer"]) == (200, "set")
            assert ask(port, raw_request("GET", "/public")).fields["x-timer"] == "set"
    assert seen == ["/public", "/public"]


def requires(get_response):
    def respond(request):
        verified_signature(request)
        return get_response(request)

    return respond


@interfaces
def test_signature_that_a_middleware_requires_is_answered_401_with_the_fields_of_other_middlewares(interface, party):
    stack = [FIRST, "django.middleware.security.SecurityMiddleware", f"{__name__}.requires"]
    with serve(interface, party.verifier(), middleware=stack) as port:
        assert ask(port, party.raw("GET", "/public")).status == 200
        answer = ask(port, raw_request("GET", "/public"))
    assert_rejected(answer, UNSIGNED)
    assert answer.fields["x-content-type-options"] == "nosniff"


def reads_headers(get_response):
    def respond(request):
        assert request.headers["Transfer-Encoding"] == "chunked"
        return get_response(request)

    return respond


def test_values_cached_before_verification_are_discarded(party):
    environ = {
        "REQUEST_METHOD": "POST",
        "PATH_INFO": "/public",
        "RAW_URI": "/public",
        "QUERY_STRING": "",
        "SERVER_NAME": HOST,
        "SERVER_PORT": "443",
        "SERVER_PROTOCOL": "HTTP/1.1",
        "HTTP_HOST": HOST,
        "HTTP_TRANSFER_ENCODING": "chunked",
        "wsgi.input": BytesIO(BODY),
        "wsgi.input_terminated": True,
        "wsgi.url_scheme": "https",
    }
    for name, value in party.fields("POST", "/public", BODY):
        variable = name.upper().replace("-", "_")
        environ[variable if variable == "CONTENT_TYPE" else f"HTTP_{variable}"] = value
    with site(party.verifier(), middleware=[f"{__name__}.reads_headers", FIRST]):
        response = WSGIHandler()(environ, lambda *_started: None)
    assert b'"Content-Length": "%d"' % len(BODY) in response.content
    assert b"Transfer-Encoding" not in response.content


# Settings and system checks


def wrong(party: Party) -> dict[str, tuple[object, str]]:
    good = {"VERIFIER": party.verifier(), "ORIGINS": ORIGINS}
    return {
        "nothing": (None, "UNDERSIGNED: set it to a dictionary"),
        "unknown": (good | {"ORIGIN": ORIGIN}, "UNDERSIGNED: ORIGIN is not an option; use "),
        "no verifier": ({"ORIGINS": ORIGINS}, r'UNDERSIGNED\["VERIFIER"\]: pass a Verifier, or set UNDERSIGNED\["JWKS'),
        "no origins": ({"VERIFIER": party.verifier()}, r'UNDERSIGNED\["ORIGINS"\]: list the public origins'),
        "no such path": (good | {"POLICY": "nowhere.policy"}, r'UNDERSIGNED\["POLICY"\]: cannot import nowhere.policy'),
        "unknown mode": (good | {"MODE": "strict"}, r'UNDERSIGNED\["MODE"\]: use "required"'),
    }


@pytest.mark.parametrize("name", wrong(Party.make()))
def test_wrong_setting_is_reported_by_system_checks_and_at_construction(name, party):
    setting, message = wrong(party)[name]
    with override_settings(UNDERSIGNED=setting):
        (found,) = run_checks()
        assert found.id == "undersigned_django.E001"
        with pytest.raises(ImproperlyConfigured, match=message) as caught:
            WSGIHandler()
    assert str(caught.value) == found.msg


def test_jwk_set_and_the_name_of_a_profile_make_a_verifier(party):
    with serve("wsgi", None, JWKS=party.jwks, PROFILE="adcp-3.2") as port:
        assert ask(port, party.raw("POST", "/view/x", BODY)).json["keyid"] == KEYID


def tenant(authority: str) -> str:
    return f"https://{authority}"


def test_origins_may_be_the_path_of_a_function(party, monkeypatch):
    monkeypatch.setitem(sys.modules, "tenants", SimpleNamespace(tenant=tenant))
    with serve("wsgi", party.verifier(), ORIGINS="tenants.tenant") as port:
        assert ask(port, party.raw("POST", "/view/x", BODY)).json["keyid"] == KEYID


def test_system_checks_report_a_middleware_that_is_missing_or_not_first(party):
    cors, late = "corsheaders.middleware.CorsMiddleware", ["undersigned_django.W001"]
    expected = {
        (FIRST, CSRF): [],
        (CSRF,): ["undersigned_django.E002"],
        (CSRF, FIRST): late,
        (cors, FIRST, CSRF): [],
        (cors, CSRF, FIRST): late,
    }
    for middleware, ids in expected.items():
        with site(party.verifier(), middleware=middleware):
            assert [found.id for found in run_checks()] == ids


def test_system_check_tells_that_runserver_does_not_show_the_raw_url(party, monkeypatch):
    monkeypatch.setattr(sys, "argv", ["manage.py", "runserver"])
    with site(party.verifier()):
        assert [found.id for found in run_checks()] == ["undersigned_django.W002"]
    with site(party.verifier(), RECONSTRUCT=True):
        assert run_checks() == []


# Misuse never opens a view


def test_request_is_not_held_by_its_own_admission(party):
    environ = RequestFactory().get("/x", headers=dict(party.fields("GET", "/x")) | {"Host": HOST}).environ
    held = []

    def answer(request: HttpRequest) -> HttpResponse:
        held.append(PUBLISHED.admission(request))
        return HttpResponse(verified_signature(request).keyid)

    with site(party.verifier(), RECONSTRUCT=True):
        assert SignatureMiddleware(answer)(WSGIRequest(environ)).content == KEYID.encode()
    assert held[0].received.context() is None


def test_schema_of_drf_spectacular_has_the_security_scheme():
    # It reads the settings when it is imported.
    generators, shown = (import_module(f"drf_spectacular.{name}") for name in ("generators", "openapi"))

    class Signed(Caller):
        schema = shown.AutoSchema()

    class Other(Signed):
        authentication_classes = (Named,)

    patterns = [path("plans", Signed.as_view()), path("other", Other.as_view())]
    with override_settings(INSTALLED_APPS=["undersigned_django", "rest_framework", "drf_spectacular"]):
        schema = generators.SchemaGenerator(patterns=patterns).get_schema(public=True)
    assert schema["components"]["securitySchemes"]["Signature"]["scheme"] == "Signature"
    assert schema["paths"]["/plans"]["post"]["security"] == [{"Signature": []}]
    assert "security" not in schema["paths"]["/other"]["post"]
