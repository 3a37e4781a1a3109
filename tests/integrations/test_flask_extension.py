"""Setting the extension up: the sources of its settings, wrong settings, and the signature that a view requires."""

from __future__ import annotations

import pytest
from flask import Blueprint, Flask, request
from tests.keys import HOST, KEYID, ORIGIN, ORIGINS, Party
from werkzeug.middleware.dispatcher import DispatcherMiddleware
from werkzeug.test import EnvironBuilder, run_wsgi_app

from undersigned import ConfigurationError, KeySet, profiles
from undersigned_flask import Undersigned, find_signature, signature_required, verified_signature

UNSIGNED = "request_signature_required"


def make(**config) -> Flask:
    app = Flask(__name__)
    app.config.update({f"UNDERSIGNED_{name.upper()}": value for name, value in config.items()})

    @app.get("/")
    @signature_required
    def view() -> str:
        return verified_signature(request).keyid

    @app.get("/open")
    def open_view() -> str:
        signature = find_signature(request)
        return signature.keyid if signature else "unsigned"

    return app


def get(app: Flask, path: str, party: Party | None = None):
    fields = [] if party is None else party.fields("GET", path)
    return app.test_client().get(path, headers=[("Host", HOST), *fields])


def code(response) -> str:
    assert response.status_code == 401
    assert response.json == {"error": response.headers["WWW-Authenticate"].split('"')[1]}
    return response.json["error"]


# Where the settings come from


@pytest.mark.parametrize(("profile", "keys"), [("adcp-3.2", dict), (profiles.ADCP_3_2, KeySet.from_jwks)])
def test_keys_and_a_profile_in_the_configuration_make_a_verifier(profile, keys, party):
    app = make(jwks=keys(party.jwks), profile=profile, origins=ORIGINS)
    Undersigned(app)
    fields = [("Host", HOST), *party.fields("GET", "/")]
    assert app.test_client().get("/", headers=fields).text == KEYID
    assert code(app.test_client().get("/", headers=fields)) == "request_signature_replayed"


def test_all_settings_may_come_from_the_configuration(party):
    app = make(verifier=party.verifier(), origins=ORIGINS, mode="optional", max_body=10)
    Undersigned(app)
    assert get(app, "/", party).text == KEYID
    assert get(app, "/open").text == "unsigned"


def test_configuration_overrides_the_arguments(party):
    stranger = Party.make(seed=2)
    extension = Undersigned(
        verifier=stranger.verifier(), origins=["https://other.example"], mode="required", max_body=1
    )
    app = make(verifier=party.verifier(), origins=ORIGINS, mode="optional", max_body=10)
    extension.init_app(app)
    assert get(app, "/", party).text == KEYID
    assert get(app, "/open").text == "unsigned"
    assert code(get(app, "/", stranger)) == "request_signature_invalid"


def test_one_extension_serves_several_applications_each_with_its_configuration(party):
    extension = Undersigned(verifier=party.verifier(), origins=ORIGINS)
    strict, lenient = make(), make(mode="optional")
    elsewhere = make(origins=["https://elsewhere.example"])
    for app in (strict, lenient, elsewhere):
        extension.init_app(app)
    assert code(get(strict, "/open")) == UNSIGNED
    assert get(lenient, "/open").text == "unsigned"
    assert get(strict, "/", party).text == get(lenient, "/", party).text == KEYID
    assert code(get(elsewhere, "/", party)) == "request_target_uri_malformed"


# Wrong settings


def wrong_settings(party: Party) -> dict[str, tuple[dict, str]]:
    good = {"verifier": party.verifier(), "origins": ORIGINS}
    keys = {"jwks": party.jwks, "profile": "adcp-3.2", "origins": ORIGINS}
    return {
        "no verifier": ({"origins": ORIGINS}, "UNDERSIGNED_VERIFIER: pass a Verifier, or set UNDERSIGNED_JWKS"),
        "no verifier but something else": (good | {"verifier": "v"}, r"UNDERSIGNED_VERIFIER: pass a Verifier"),
        "two sources of keys": (good | {"jwks": party.jwks}, "UNDERSIGNED_VERIFIER: .* leave UNDERSIGNED_JWKS"),
        "two profiles": (good | {"profile": "adcp-3.2"}, "UNDERSIGNED_VERIFIER: .* UNDERSIGNED_PROFILE out"),
        "profile alone": ({"profile": "adcp-3.2", "origins": ORIGINS}, "UNDERSIGNED_JWKS: .* set this to a JWK set"),
        "unknown profile": (keys | {"profile": "adcp-9"}, "UNDERSIGNED_PROFILE: set it to default or adcp-3.2 or "),
        "no JWK set": (keys | {"jwks": "/etc/keys.json"}, "UNDERSIGNED_JWKS: .* JWK set is a JSON object"),
        "no origins": ({"verifier": party.verifier()}, r"UNDERSIGNED_ORIGINS .*list the public origins"),
        "unknown mode": (good | {"mode": "strict"}, 'UNDERSIGNED_MODE .*use "required"'),
    }


WRONG = list(wrong_settings(Party.make()))


@pytest.mark.parametrize("name", WRONG)
def test_wrong_setting_is_rejected_by_name_and_the_application_stays_unchanged(name, party):
    config, message = wrong_settings(party)[name]
    app = make(**config)
    before = app.wsgi_app
    with pytest.raises(ConfigurationError, match=message):
        Undersigned(app)
    assert (app.wsgi_app, "undersigned" in app.extensions) == (before, False)


def test_wrong_argument_is_rejected_like_a_wrong_setting(party):
    with pytest.raises(ConfigurationError, match=r"UNDERSIGNED_MODE .or mode= of Undersigned"):
        Undersigned(make(), verifier=party.verifier(), origins=ORIGINS, mode="nonsense")


def test_request_that_reaches_a_view_beside_the_middleware_runs_nothing(party, caplog):
    app, ran = Flask("seller"), []
    app.before_request(lambda: ran.append("before"))
    app.add_url_rule("/", "view", lambda: ran.append("view") or "")
    # Connexion, for example, takes the application at construction, before the extension is there.
    taken = app.wsgi_app
    Undersigned(app, verifier=party.verifier(), origins=[ORIGIN], mode="optional", reconstruct=True)
    environ = EnvironBuilder("/", base_url=ORIGIN).get_environ()
    assert run_wsgi_app(taken, environ)[1] == "500 INTERNAL SERVER ERROR"
    assert ran == []
    assert "takes app.wsgi_app" in caplog.text
    assert run_wsgi_app(app, environ)[1] == "200 OK"
    assert ran == ["before", "view"]


def test_second_init_app_of_one_application_is_rejected(party):
    app = make(verifier=party.verifier(), origins=ORIGINS)
    extension = Undersigned(app)
    for another in (extension, Undersigned()):
        with pytest.raises(ConfigurationError, match="already set up"):
            another.init_app(app)
    assert get(app, "/", party).text == KEYID


def test_other_applications_beside_flask_and_its_own_answers_are_behind_the_middleware(party):
    def neighbour(_environ, start_response):
        start_response("200 OK", [("Content-Type", "text/plain")])
        return [b"neighbour"]

    app = make(verifier=party.verifier(), origins=ORIGINS)
    app.wsgi_app = DispatcherMiddleware(app.wsgi_app, {"/neighbour": neighbour})
    Undersigned(app)
    for path in ("/open", "/neighbour/x", "/nothing", "/static/x"):
        assert code(get(app, path)) == UNSIGNED
    assert get(app, "/neighbour/x", party).text == "neighbour"


PREFLIGHT = {"Origin": "https://shop.example", "Access-Control-Request-Method": "POST"}


def test_guard_of_a_blueprint_lets_options_pass_that_run_no_view(party):
    app, plans, ran = Flask(__name__), Blueprint("plans", __name__, url_prefix="/plans"), []
    plans.add_url_rule("/buy", "buy", lambda: ran.append("buy"), methods=["POST"])
    plans.add_url_rule("/any", "any", lambda: ran.append("any"), methods=["POST", "OPTIONS"])
    app.register_blueprint(signature_required(plans))
    Undersigned(app, verifier=party.verifier(), origins=ORIGINS, mode="optional")
    client = app.test_client()
    assert client.options("/plans/buy", headers=PREFLIGHT).status_code == 200
    assert client.options("/plans/any", headers=PREFLIGHT).status_code == 401
    assert client.post("/plans/buy", headers=PREFLIGHT).status_code == 401
    assert ran == []
