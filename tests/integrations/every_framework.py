"""One application in every framework of docs/frameworks.md, with and without the middleware, each on a real server.

The routes: `/open/<name>` is open to everybody, `/signed/<name>` needs a signature, as do those of `GUARDS`, each in
another way of the framework to say so; `/upload` counts the octets that it reads one chunk after another, `/read` reads
the content as the framework does by itself, `/form` is sent a form, `/stream` answers in parts, `/slash/` ends in a
slash, `/files` has files, and `/left` tells how the reading of each upload ended.
"""

# The annotations of views are read while they run, in the scope that imports a framework.
import asyncio
import contextlib
import hashlib
import json
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Annotated, Any
from unittest.mock import ANY

from tests.drive import call_asgi
from tests.integrations.django_site import CSRF, FIRST, site
from tests.integrations.own_servers import aiohttp_server, sanic_app, sanic_server, tornado_server
from tests.keys import ORIGINS, Party
from tests.serving import gunicorn_server, uvicorn_server, waitress_server

from undersigned import Policy, asgi

SECRET = "told to signed callers only"
FILES = Path(__file__).parent / "files"
PARTS = [b"one ", b"two ", b"three"]


class Uploads:
    """How the reading of each upload ended: with the number of octets, or with an exception."""

    def __init__(self) -> None:
        self.ended: list[str] = []

    def of(self, chunks):
        """Return the number of octets of some chunks."""
        with self._told() as told:
            return told(sum(map(len, chunks)))

    async def of_async(self, chunks):
        """Return the number of octets of some chunks that are awaited."""
        with self._told() as told:
            return told(sum([len(chunk) async for chunk in chunks]))

    @contextlib.contextmanager
    def _told(self):
        def told(octets: int) -> dict[str, int]:
            self.ended.append("whole")
            return {"octets": octets}

        try:
            yield told
        except BaseException:
            self.ended.append("left")
            raise


def read_in_parts(read):
    """Return what a function reads, part by part."""
    return iter(partial(read, 65536), b"")


def digested(content: bytes) -> dict[str, object]:
    """Return what a view says about its content."""
    return {"octets": len(content), "sha256": hashlib.sha256(content).hexdigest()}


def told(name: str, query: str, signature: object) -> dict[str, object]:
    """Return what an open view says about its request."""
    return {"name": name, "query": query, "caller": getattr(signature, "keyid", None)}


def shown(signature, name: str, content: bytes | None = None) -> dict[str, object]:
    """Return what a guarded view says about its request; None is content that it does not read."""
    read = None if content is None else content.decode()
    return {
        "secret": SECRET, "caller": signature.keyid, "signed": signature.target_uri, "name": name, "content": read
    }  # fmt: skip


def text(octets: bytes) -> str:
    return octets.decode("latin-1")


@dataclass(frozen=True)
class Framework:
    """A framework on a server.

    Attributes:
        name: what the two are called.
        make: makes the application, with these options of the middleware, or without the middleware.
        serve: serves it, and yields the port.
        by_route: whether a policy by route can ask about its routes.
        guards: the prefixes of its guarded routes, each with the name of the route in a decision.
        advice: what its log says of a guarded view without the middleware, if its server logs it.
    """

    name: str
    make: Callable[[dict[str, Any] | None], Any]
    serve: Callable[[Any], Any]
    by_route: bool = True
    guards: dict[str, str | None] = field(default_factory=lambda: {"/signed": None})
    advice: str = ""

    @property
    def shows_decisions(self) -> bool:
        """Whether it runs in this process."""
        return not self.name.endswith("gunicorn")

    @property
    def guarded_name(self) -> str:
        """What its guarded endpoint is called: the operation that a policy by route finds for it."""
        return "signed" if self.name in {"starlette", "fastapi", "aiohttp"} else "guarded"

    @property
    def open_route(self) -> str | None:
        """The name of the open route in a decision."""
        route = self.guards["/signed"]
        return route and route.replace("signed", "open")

    @contextlib.contextmanager
    def running(self, options: dict[str, Any] | None = None):
        """Serve the application with these options of the middleware, or without the middleware; yields the port."""
        with self.serve(self.make(options)) as port:
            yield port


def optional(party: Party, **options) -> dict[str, Any]:
    """Return the options of a middleware that lets unsigned requests pass."""
    return {"verifier": party.verifier(), "origins": ORIGINS, "mode": "optional", **options}


def by_route(options, resolver, *arguments) -> dict:
    """Return the options, with a policy by route for the operations that they list as `by_route`."""
    rest = {name: value for name, value in options.items() if name != "by_route"}
    if "by_route" in options:
        rest["policy"] = Policy(required_for=options["by_route"], resolver=resolver(*arguments))
    return rest


def starlette(options):
    from starlette.applications import Starlette
    from starlette.endpoints import HTTPEndpoint
    from starlette.responses import JSONResponse, StreamingResponse
    from starlette.routing import Mount, Route
    from starlette.staticfiles import StaticFiles

    from undersigned_starlette import RouteResolver, SignatureMiddleware, find_signature, signature_required

    uploads = Uploads()

    async def show(request):
        signature = None if options is None else find_signature(request)
        return JSONResponse(told(request.path_params["name"], request.url.query, signature))

    def guarded(request, content=None):
        return JSONResponse(shown(find_signature(request), request.path_params["name"], content))

    @signature_required
    async def signed(request):
        return guarded(request, await request.body())

    class Signed(HTTPEndpoint):
        @signature_required
        async def post(self, request):
            return guarded(request, await request.body())

        @signature_required
        def get(self, request):
            return guarded(request)

    async def upload(request):
        return JSONResponse(await uploads.of_async(request.stream()))

    async def left(_request):
        return JSONResponse(uploads.ended)

    async def read(request):
        return JSONResponse(digested(await request.body()))

    async def form(request):
        async with request.form() as sent:
            return JSONResponse({"name": sent["name"], **digested(await sent["file"].read())})

    async def stream(_request):
        return StreamingResponse(iter(PARTS), media_type="text/plain")

    app = Starlette(
        routes=[
            Route("/open/{name:path}", show, methods=["GET", "POST"]),
            Route("/signed/{name:path}", signed, methods=["GET", "POST"]),
            Route("/sync/{name:path}", signature_required(guarded), methods=["GET", "POST"]),
            Route("/class/{name:path}", Signed),
            Mount("/mount", Starlette(routes=[Route("/{name:path}", signed, methods=["GET", "POST"])])),
            Route("/upload", upload, methods=["POST"]),
            Route("/left", left),
            Route("/read", read, methods=["POST"]),
            Route("/form", form, methods=["POST"]),
            Route("/stream", stream),
            Route("/slash/", left),
            Mount("/files", StaticFiles(directory=FILES), name="files"),
        ]
    )
    if options is not None:
        app.add_middleware(SignatureMiddleware, **by_route(options, RouteResolver, {"files": None}))
    return app


def fastapi(options):
    from fastapi import APIRouter, Depends, FastAPI, Form, Request, UploadFile
    from fastapi.responses import StreamingResponse
    from starlette.staticfiles import StaticFiles

    from undersigned_fastapi import RouteResolver, Signature, SignatureMiddleware, find_signature
    from undersigned_fastapi import signature_required as require
    from undersigned_starlette import signature_required

    app, uploads = FastAPI(), Uploads()

    @app.api_route("/open/{name:path}", methods=["GET", "POST"])
    async def show(name: str, request: Request):
        return told(name, request.url.query, None if options is None else find_signature(request))

    @app.api_route("/signed/{name:path}", methods=["GET", "POST"])
    async def signed(name: str, request: Request, signature: Signature):
        return shown(signature, name, await request.body())

    @app.api_route("/sync/{name:path}", methods=["GET", "POST"])
    def synchronous(name: str, signature: Signature):
        return shown(signature, name)

    @app.api_route("/decorated/{name:path}", methods=["GET", "POST"])
    @signature_required
    async def decorated(request: Request, name: str, plan: int):
        assert plan == 1
        return shown(find_signature(request), name, await request.body())

    router = APIRouter(prefix="/router", dependencies=[Depends(require)])

    @router.api_route("/{name:path}", methods=["GET", "POST"])
    async def routed(name: str, request: Request):
        return shown(find_signature(request), name, await request.body())

    mounted = FastAPI()
    mounted.include_router(router)
    app.include_router(router)
    app.mount("/mount", mounted)

    @app.post("/upload")
    async def upload(request: Request):
        return await uploads.of_async(request.stream())

    @app.get("/left")
    @app.get("/slash/")
    async def left():
        return uploads.ended

    @app.post("/read")
    async def read(request: Request):
        return digested(await request.body())

    @app.post("/form")
    async def form(file: UploadFile, name: Annotated[str, Form()]):
        return {"name": name, **digested(await file.read())}

    @app.get("/stream")
    async def stream():
        return StreamingResponse(iter(PARTS), media_type="text/plain")

    app.mount("/files", StaticFiles(directory=FILES), name="files")

    if options is not None:
        app.add_middleware(SignatureMiddleware, **by_route(options, RouteResolver, {"files": None}))
    return app


def litestar(options):
    from litestar import Litestar, Request, get, post, route
    from litestar.response import Stream
    from litestar.static_files import create_static_files_router

    from undersigned_litestar import (
        RouteResolver,
        SignatureMiddleware,
        find_signature,
        signature_required,
        verified_signature,
    )

    @route("/open/{name:path}", http_method=["GET", "POST"], status_code=200)
    async def show(request: Request) -> dict:
        # Litestar gives a path parameter its slash.
        name = str(request.path_params["name"]).removeprefix("/")
        return told(name, text(request.scope["query_string"]), None if options is None else find_signature(request))

    @route("/signed/{name:path}", http_method=["GET", "POST"], status_code=200, guards=[signature_required])
    async def guarded(request: Request) -> dict:
        name = str(request.path_params["name"]).removeprefix("/")
        return shown(verified_signature(request), name, await request.body())

    uploads = Uploads()

    @post("/upload", status_code=200)
    async def upload(request: Request) -> dict:
        return await uploads.of_async(request.stream())

    @get(["/left", "/slash/"])
    async def left() -> list:
        return uploads.ended

    @post("/read", status_code=200)
    async def read(request: Request) -> dict:
        return digested(await request.body())

    @post("/form", status_code=200)
    async def form(request: Request) -> dict:
        sent = await request.form()
        return {"name": sent["name"], **digested(await sent["file"].read())}

    @get("/stream")
    async def stream() -> Stream:
        return Stream(iter(PARTS), media_type="text/plain")

    files = create_static_files_router("/files", [FILES])
    routes = [show, guarded, upload, left, read, form, stream, files]
    app = Litestar(routes, openapi_config=None, request_max_body_size=10_000_000)
    return app if options is None else SignatureMiddleware(app, **by_route(options, RouteResolver))


def quart(options):
    from quart import Blueprint, Quart, request

    from undersigned_quart import RouteResolver, Undersigned, find_signature, signature_required, verified_signature

    app, uploads = Quart("every", static_folder=str(FILES), static_url_path="/files"), Uploads()

    @app.route("/open/<path:name>", methods=["GET", "POST"])
    async def show(name):
        return told(name, text(request.query_string), None if options is None else find_signature(request))

    async def guarded(name):
        return shown(verified_signature(request), name, await request.get_data())

    blueprint = signature_required(Blueprint("blueprint", "every"))
    for where, path, view in ((app, "/signed", signature_required(guarded)), (blueprint, "/blueprint", guarded)):
        where.add_url_rule(f"{path}/<path:name>", view_func=view, methods=["GET", "POST"])
    app.register_blueprint(blueprint)

    @app.post("/upload")
    async def upload():
        return await uploads.of_async(request.body)

    @app.get("/left")
    @app.get("/slash/")
    async def left():
        return uploads.ended

    @app.post("/read")
    async def read():
        return digested(await request.get_data())

    @app.post("/form")
    async def form():
        return {"name": (await request.form)["name"], **digested((await request.files)["file"].read())}

    @app.get("/stream")
    async def stream():
        async def parts():
            for part in PARTS:
                yield part

        return parts(), {"Content-Type": "text/plain"}

    if options is not None:
        Undersigned(app, **by_route(options, RouteResolver))
    return app


def falcon_routes(app, options, *resources):
    """Add each resource at the path of its name, and the middleware."""
    from undersigned_falcon import RouteResolver, SignatureMiddleware

    show, guarded, _, left, *_ = resources
    for resource in resources:
        below = "/{name:path}" if resource in {show, guarded} else ""
        app.add_route(f"/{resource.__name__.lower()}{below}", resource())
    app.add_route("/slash/", left())
    app.add_static_route("/files", FILES)
    resolved = by_route(options or {}, RouteResolver, {show: "show", guarded: "guarded"})
    return app if options is None else SignatureMiddleware(app, **resolved)


def falcon_asgi(options):
    import falcon
    import falcon.asgi

    from undersigned_falcon import find_signature, signature_required, verified_signature

    class Open:
        async def on_get(self, request, response, name):
            signature = None if options is None else find_signature(request)
            response.media = told(name, request.query_string, signature)

        on_post = on_get

    @signature_required
    class Signed:
        async def on_get(self, request, response, name):
            response.media = shown(verified_signature(request), name, await request.stream.read())

        async def on_post(self, request, response, name):
            await self.on_get(request, response, name)

    uploads = Uploads()

    class Upload:
        async def on_post(self, request, response):
            response.media = await uploads.of_async(request.stream)

    class Left:
        async def on_get(self, _request, response):
            response.media = uploads.ended

    class Read:
        async def on_post(self, request, response):
            response.media = digested(await request.stream.read())

    class Form:
        async def on_post(self, request, response):
            sent = {part.name: await part.get_data() async for part in await request.get_media()}
            response.media = {"name": sent["name"].decode(), **digested(sent["file"])}

    class Stream:
        async def on_get(self, _request, response):
            async def parts():
                for part in PARTS:
                    yield part

            response.content_type, response.stream = "text/plain", parts()

    return falcon_routes(falcon.asgi.App(), options, Open, Signed, Upload, Left, Read, Form, Stream)


def falcon(options):
    import falcon

    from undersigned_falcon import find_signature, signature_required, verified_signature

    class Open:
        def on_get(self, request, response, name):
            response.media = told(name, request.query_string, None if options is None else find_signature(request))

        on_post = on_get

    @signature_required
    class Signed:
        def on_get(self, request, response, name):
            response.media = shown(verified_signature(request), name, request.bounded_stream.read())

        def on_post(self, request, response, name):
            self.on_get(request, response, name)

    uploads = Uploads()

    class Upload:
        def on_post(self, request, response):
            response.media = uploads.of(read_in_parts(request.bounded_stream.read))

    class Left:
        def on_get(self, _request, response):
            response.media = uploads.ended

    class Read:
        def on_post(self, request, response):
            response.media = digested(request.bounded_stream.read())

    class Form:
        def on_post(self, request, response):
            sent = {part.name: part.get_data() for part in request.get_media()}
            response.media = {"name": sent["name"].decode(), **digested(sent["file"])}

    class Stream:
        def on_get(self, _request, response):
            response.content_type, response.stream = "text/plain", iter(PARTS)

    return falcon_routes(falcon.App(), options, Open, Signed, Upload, Left, Read, Form, Stream)


def flask(options):
    from flask import Blueprint, Flask, request
    from flask.views import MethodView

    from undersigned_flask import RouteResolver, Undersigned, find_signature, signature_required

    app, uploads = Flask("every", static_folder=FILES, static_url_path="/files"), Uploads()

    @app.route("/open/<path:name>", methods=["GET", "POST"])
    def show(name):
        return told(name, text(request.query_string), None if options is None else find_signature(request))

    def guarded(name):
        return shown(find_signature(request), name, request.get_data())

    async def guarded_async(name):
        return guarded(name)

    class Signed(MethodView):
        decorators = (signature_required,)

        def post(self, name):
            return guarded(name)

        get = post

    blueprint, nested = signature_required(Blueprint("blueprint", "every")), Blueprint("nested", "every")
    for where, path, view in (
        (app, "/signed", signature_required(guarded)),
        (app, "/async", signature_required(guarded_async)),
        (app, "/class", Signed.as_view("Signed")),
        (blueprint, "/blueprint", guarded),
        (nested, "/nested", guarded),
    ):
        where.add_url_rule(f"{path}/<path:name>", view_func=view, methods=["GET", "POST"])
    blueprint.register_blueprint(nested)
    app.register_blueprint(blueprint)

    @app.post("/upload")
    def upload():
        return uploads.of(read_in_parts(request.stream.read))

    @app.get("/left")
    @app.get("/slash/")
    def left():
        return uploads.ended

    @app.post("/read")
    def read():
        return digested(request.get_data())

    @app.post("/form")
    def form():
        return {"name": request.form["name"], **digested(request.files["file"].read())}

    @app.get("/stream")
    def stream():
        return iter(PARTS), {"Content-Type": "text/plain"}

    if options is not None:
        Undersigned(app, **by_route(options, RouteResolver))
    return app


def django_views(*, asynchronous: bool) -> list:
    from django.conf import settings
    from django.http import JsonResponse, StreamingHttpResponse
    from django.urls import path
    from django.utils.decorators import method_decorator
    from django.views import View
    from django.views.decorators.csrf import csrf_exempt
    from django.views.static import serve
    from rest_framework.decorators import api_view
    from rest_framework.permissions import IsAuthenticated
    from rest_framework.response import Response
    from rest_framework.views import APIView

    from undersigned_django import find_signature, signature_required
    from undersigned_django.rest_framework import SignatureAuthentication

    def signature_of(request):
        return find_signature(request) if settings.MIDDLEWARE[0] == FIRST else None

    @csrf_exempt
    def show(request, name):
        return JsonResponse(told(name, request.META.get("QUERY_STRING", ""), signature_of(request)))

    def guarded(request, name):
        return JsonResponse(shown(find_signature(request), name, request.body))

    @signature_required
    async def guarded_async(request, name):
        return guarded(request, name)

    @method_decorator(signature_required, name="dispatch")
    class SignedClass(View):
        def post(self, request, name):
            return guarded(request, name)

        get = post

    uploads = Uploads()

    @csrf_exempt
    def upload(request):
        return JsonResponse(uploads.of(read_in_parts(request.read)))

    def left(_request):
        return JsonResponse(uploads.ended, safe=False)

    @csrf_exempt
    def read(request):
        return JsonResponse(digested(request.body))

    @csrf_exempt
    def form(request):
        return JsonResponse({"name": request.POST["name"], **digested(request.FILES["file"].read())})

    def stream(_request):
        async def parts():
            for part in PARTS:
                yield part

        # Django warns of parts that it cannot read in the way of the interface.
        return StreamingHttpResponse(parts() if asynchronous else iter(PARTS), content_type="text/plain")

    @api_view(["GET", "POST"])
    def show_rest(request, name):
        return Response(told(name, request.META.get("QUERY_STRING", ""), signature_of(request._request)))  # noqa: SLF001 - as REST framework documents it

    @api_view(["POST"])
    def read_rest(request):
        return Response({"data": request.data})

    @api_view(["POST"])
    def form_rest(request):
        return Response({"name": request.data["name"], **digested(request.data["file"].read())})

    class Signed(APIView):
        authentication_classes = (SignatureAuthentication,)
        permission_classes = (IsAuthenticated,)

        def post(self, request, name):
            caller = request.user
            assert caller.keyid == request.auth.keyid
            return Response(shown(request.auth, name, json.dumps(request.data, separators=(",", ":")).encode()))

        get = post

    return [
        path("open/<path:name>", show),
        path("signed/<path:name>", signature_required(guarded)),
        path("async/<path:name>", guarded_async),
        path("class/<path:name>", SignedClass.as_view()),
        path("rest/open/<path:name>", show_rest),
        path("rest/read", read_rest),
        path("rest/form", form_rest),
        path("rest/<path:name>", Signed.as_view()),
        path("upload", upload),
        path("left", left),
        path("read", read),
        path("form", form),
        path("stream", stream),
        path("slash/", left),
        path("files/<path:path>", serve, {"document_root": FILES}),
    ]


@contextlib.contextmanager
def serve_django(options, *, interface: str, serve):
    from django.test import override_settings
    from tests.integrations.django_site import APPLICATIONS

    urls = type("urls", (), {"urlpatterns": django_views(asynchronous=interface == "asgi")})
    from undersigned_django import RouteResolver

    given = {name.upper(): value for name, value in by_route(options or {}, RouteResolver).items()}
    verifier = given.pop("VERIFIER", None)
    alone = [CSRF, "django.middleware.common.CommonMiddleware"]
    first = override_settings(MIDDLEWARE=alone) if options is None else site(verifier, **{"MODE": None, **given})
    with first, override_settings(ROOT_URLCONF=urls), serve(APPLICATIONS[interface]()) as port:
        yield port


def aiohttp(options):
    from aiohttp import web

    from undersigned_aiohttp import (
        RouteResolver,
        SignatureMiddleware,
        find_signature,
        signature_required,
        verified_signature,
    )

    async def show(request):
        signature = None if options is None else find_signature(request)
        return web.json_response(told(request.match_info["name"], request.query_string, signature))

    def guarded(request, content):
        return web.json_response(shown(verified_signature(request), request.match_info["name"], content))

    @signature_required
    async def signed(request):
        return guarded(request, await request.read())

    class Streamed:
        @signature_required
        async def read(self, request):
            return guarded(request, b"".join([chunk async for chunk in request.content.iter_any()]))

    class Signed(web.View):
        @signature_required
        async def post(self):
            return guarded(self.request, await self.request.read())

        get = post

    uploads = Uploads()

    async def upload(request):
        return web.json_response(await uploads.of_async(request.content.iter_any()))

    async def left(_request):
        return web.json_response(uploads.ended)

    async def read(request):
        return web.json_response(digested(await request.read()))

    async def form(request):
        sent = await request.post()
        return web.json_response({"name": sent["name"], **digested(sent["file"].file.read())})

    async def stream(request):
        answer = web.StreamResponse()
        answer.content_type = "text/plain"
        await answer.prepare(request)
        for part in PARTS:
            await answer.write(part)
        return answer

    middlewares = [] if options is None else [SignatureMiddleware(**by_route(options, RouteResolver))]
    app = web.Application(middlewares=[*middlewares, web.normalize_path_middleware()], client_max_size=10_000_000)
    for method in ("GET", "POST"):
        app.router.add_route(method, "/open/{name:.+}", show)
        app.router.add_route(method, "/signed/{name:.+}", signed)
        app.router.add_route(method, "/streamed/{name:.+}", Streamed().read)
    app.router.add_view("/class/{name:.+}", Signed)
    app.router.add_post("/upload", upload)
    app.router.add_post("/read", read)
    app.router.add_post("/form", form)
    app.router.add_get("/left", left)
    app.router.add_get("/stream", stream)
    app.router.add_get("/slash/", left)
    app.router.add_static("/files", FILES)
    return app


def tornado(options):
    from tornado.web import Application, RequestHandler, StaticFileHandler, addslash, stream_request_body

    from undersigned_tornado import RouteResolver, Undersigned, find_signature, signature_required, verified_signature

    class Open(RequestHandler):
        def get(self, name):
            signature = None if options is None else find_signature(self.request)
            self.write(told(name, self.request.query, signature))

        post = get

    class Guarded(RequestHandler):
        def post(self, name):
            self.write(shown(verified_signature(self.request), name, self.request.body))

        get = post

    class Signed(Guarded):
        @signature_required
        async def post(self, name):
            await asyncio.sleep(0)
            super().post(name)

        get = post

    class Sync(Guarded):
        get = post = signature_required(Guarded.post)

    class Prepared(Guarded):
        @signature_required
        def prepare(self):
            pass

    uploads = Uploads()

    @stream_request_body
    class Upload(RequestHandler):
        octets = 0

        def data_received(self, chunk):
            self.octets += len(chunk)

        def on_connection_close(self):
            uploads.ended.append("left")

        def post(self):
            uploads.ended.append("whole")
            self.write({"octets": self.octets})

    class Left(RequestHandler):
        def get(self):
            self.write({"ended": uploads.ended})

    class Read(RequestHandler):
        def post(self):
            self.write(digested(self.request.body))

    class Form(RequestHandler):
        def post(self):
            self.write({"name": self.get_argument("name"), **digested(self.request.files["file"][0].body)})

    class Stream(RequestHandler):
        async def get(self):
            for part in PARTS:
                self.write(part)
                await self.flush()

    class Slash(Left):
        get = addslash(Left.get)

    routes = [("/open/(.+)", Open), ("/signed/(.+)", Signed), ("/sync/(.+)", Sync), ("/prepared/(.+)", Prepared)]
    routes += [("/upload", Upload), ("/left", Left), ("/read", Read), ("/form", Form), ("/stream", Stream)]
    app = Application([*routes, ("/slash/?", Slash), ("/files/(.*)", StaticFileHandler, {"path": str(FILES)})])
    resolved = by_route(options or {}, RouteResolver, {Open: "show", Signed: "guarded"})
    return app if options is None else Undersigned(app, **resolved)


def sanic_application(options):
    from sanic import json as json_response

    from undersigned_sanic import find_signature, verified_signature

    app = sanic_app()

    # Sanic's own router does not decode a path.
    @app.route("/open/<name:path>", methods=["GET", "POST"])
    async def show(request, name):
        return json_response(told(name, request.query_string, None if options is None else find_signature(request)))

    @app.route("/signed/<name:path>", methods=["GET", "POST"])
    async def guarded(request, name):
        return json_response(shown(verified_signature(request), name, request.body))

    uploads = Uploads()

    @app.post("/upload", stream=True)
    async def upload(request):
        return json_response(await uploads.of_async(request.stream))

    @app.get("/left", name="left")
    @app.get("/slash/", name="slash")
    async def left(_request):
        return json_response(uploads.ended)

    @app.post("/read")
    async def read(request):
        return json_response(digested(request.body))

    @app.post("/form")
    async def form(request):
        return json_response({"name": request.form.get("name"), **digested(request.files.get("file").body)})

    @app.get("/stream")
    async def stream(request):
        answer = await request.respond(content_type="text/plain")
        for part in PARTS:
            await answer.send(part)

    app.static("/files", FILES)

    return app


def sanic(options):
    from sanic import Blueprint
    from sanic import json as json_response
    from sanic.views import HTTPMethodView

    from undersigned_sanic import RouteResolver, Undersigned, signature_required, verified_signature

    app = sanic_application(options)

    def guarded(request, name):
        return json_response(shown(verified_signature(request), name, request.body))

    class Asked(HTTPMethodView):
        async def post(self, request, name):
            return guarded(request, name)

        get = post

    class Signed(Asked):
        decorators = (signature_required,)

    class Methods(Asked):
        get = post = signature_required(Asked.post)

    blueprint = Blueprint("all", url_prefix="/blueprint")

    @blueprint.on_request
    async def check(request):
        verified_signature(request)

    methods = ["GET", "POST"]
    app.add_route(signature_required(guarded), "/sync/<name:path>", methods, name="sync")
    app.add_route(Methods.as_view(), "/methods/<name:path>")
    app.add_route(Signed.as_view(), "/class/<name:path>")
    blueprint.add_route(guarded, "/<name:path>", methods)
    app.blueprint(blueprint)
    if options is not None:
        Undersigned(app, **by_route(options, RouteResolver))
    return app


def sanic_asgi(options):
    app = sanic_application(options)
    # Sanic makes its router when its server says that it starts, which the servers of these tests do not.
    asyncio.run(call_asgi(app, {"type": "lifespan"}))
    return app if options is None else asgi.SignatureMiddleware(app, **options)


def _identity(options):
    return options


django_wsgi = partial(serve_django, interface="wsgi", serve=waitress_server)
django_gunicorn = partial(serve_django, interface="wsgi", serve=gunicorn_server)
django_asgi = partial(serve_django, interface="asgi", serve=uvicorn_server)
httptools = partial(uvicorn_server, http="httptools")


def guards(written: str, *prefixes: str, **other: str | None) -> dict[str, str | None]:
    """Return guarded routes: how a framework writes the one below a prefix, and those that it names otherwise."""
    names: dict[str, str | None] = {prefix: written.format(prefix) for prefix in ("/signed", *prefixes)}
    return names | {f"/{prefix}": name for prefix, name in other.items()}


FLASK = guards("{}/<path:name>", "/async", "/class", "/blueprint", "/nested")
DJANGO = {prefix: f"{prefix[1:]}/<path:name>" for prefix in ("/signed", "/async", "/class", "/rest")}
SANIC = guards("{}/<name:path>", "/sync", "/methods", "/class", "/blueprint")
_FIRST = "as the first of MIDDLEWARE"

FRAMEWORKS = (
    Framework(
        "starlette", starlette, uvicorn_server,
        guards=guards("{}/{{name:path}}", "/sync", "/class", mount=ANY),
    ),
    Framework(
        "fastapi", fastapi, httptools,
        guards=guards("{}/{{name:path}}", "/sync", "/decorated", "/router", **{"mount/router": ANY}),
    ),
    Framework(
        "litestar", litestar, uvicorn_server, guards=guards("{}/{{name}}"),
    ),
    Framework(
        "quart", quart, uvicorn_server, guards=guards("{}/<path:name>", "/blueprint"),
        advice="call Undersigned(app, ...)",
    ),
    Framework("falcon-asgi", falcon_asgi, uvicorn_server, guards=guards("{}/{{name:path}}")),
    Framework(
        "sanic-asgi", sanic_asgi, uvicorn_server, by_route=False, guards=guards("{}/<name:path>"),
    ),
    Framework("django-asgi", _identity, django_asgi, guards=DJANGO, advice=_FIRST),
    Framework("flask-gunicorn", flask, gunicorn_server, guards=FLASK),
    Framework("flask-waitress", flask, waitress_server, guards=FLASK, advice="call Undersigned(app)"),
    Framework("falcon", falcon, waitress_server, guards=guards("{}/{{name:path}}")),
    Framework("django-waitress", _identity, django_wsgi, guards=DJANGO, advice=_FIRST),
    Framework("django-gunicorn", _identity, django_gunicorn, guards=DJANGO),
    Framework(
        "aiohttp", aiohttp, aiohttp_server, guards=guards("{}/{{name}}", "/streamed", "/class"),
        advice="middlewares=[SignatureMiddleware(...)]",
    ),
    Framework(
        "tornado", tornado, tornado_server, guards={"/signed": None, "/sync": None, "/prepared": None},
        advice="HTTPServer(Undersigned(app, ...))",
    ),
    Framework("sanic", sanic, sanic_server, guards=SANIC, advice="call Undersigned(app, ...)"),
)  # fmt: skip
