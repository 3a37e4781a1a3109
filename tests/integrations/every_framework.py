"""One application in every framework of docs/frameworks.md, with and without the middleware, each on a real server.

The routes: `/open/<name>` is open to everybody, `/signed/<name>` needs a signature, `/upload` counts the octets that it
reads one chunk after another, `/read` reads the content as the framework does by itself, `/form` is sent a form,
`/stream` answers in parts, `/slash/` ends in a slash, `/files` has files, `/left` tells how the reading of each upload
ended, and `/socket` is a WebSocket that needs a signature.
"""

# The annotations of views are read while they run, in the scope that imports a framework.
import asyncio
import contextlib
import hashlib
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Annotated, Any

from tests.integrations.django_site import CSRF, site
from tests.integrations.test_aiohttp import serve_aiohttp
from tests.integrations.test_sanic import NAMES, serve_sanic
from tests.integrations.test_tornado import serve_tornado
from tests.keys import HOST
from tests.serving import gunicorn_server, uvicorn_server, waitress_server

from undersigned import Policy, asgi, wsgi

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


def text(octets: bytes) -> str:
    return octets.decode("latin-1")


@dataclass(frozen=True)
class Framework:
    """A framework on a server.

    Attributes:
        name: what the two are called.
        make: makes the application, with these options of the middleware, or without the middleware.
        serve: serves it, and yields the port.
        websocket: whether it has WebSockets.
        refused: what an unsigned client sees of a handshake: a status, or the code of a close.
        options: options of the middleware that its server needs.
    """

    name: str
    make: Callable[[dict[str, Any] | None], Any]
    serve: Callable[[Any], Any]
    websocket: bool = False
    options: dict[str, object] = field(default_factory=dict)

    @contextlib.contextmanager
    def running(self, options: dict[str, Any] | None = None):
        """Serve the application with these options of the middleware, or without the middleware; yields the port."""
        given = None if options is None else {**options, **self.options}
        with contextlib.ExitStack() as stack:
            yield stack.enter_context(self.serve(self.make(given)))


def by_route(options, resolver, *arguments) -> dict:
    """Return the options, with a policy by route if they say `by_route`: it names none of the routes."""
    rest = {name: value for name, value in options.items() if name != "by_route"}
    if "by_route" in options:
        rest["policy"] = Policy(required_for=["create_media_buy"], resolver=resolver(*arguments))
    return rest


def starlette(options):
    from starlette.applications import Starlette
    from starlette.responses import JSONResponse, StreamingResponse
    from starlette.routing import Mount, Route, WebSocketRoute
    from starlette.staticfiles import StaticFiles

    from undersigned_starlette import RouteResolver, SignatureMiddleware, signature_required

    uploads = Uploads()

    async def show(request):
        signature = getattr(request.state, "signature", None)
        return JSONResponse(told(request.path_params["name"], request.url.query, signature))

    @signature_required
    async def guarded(request):
        return JSONResponse({"secret": SECRET, "name": request.path_params["name"]})

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

    @signature_required
    async def socket(websocket):
        await websocket.accept()
        await websocket.send_text(SECRET)
        await websocket.close()

    app = Starlette(
        routes=[
            Route("/open/{name:path}", show, methods=["GET", "POST"]),
            Route("/signed/{name:path}", guarded, methods=["GET", "POST"]),
            Route("/upload", upload, methods=["POST"]),
            Route("/left", left),
            Route("/read", read, methods=["POST"]),
            Route("/form", form, methods=["POST"]),
            Route("/stream", stream),
            Route("/slash/", left),
            Mount("/files", StaticFiles(directory=FILES), name="files"),
            WebSocketRoute("/socket", socket),
        ]
    )
    if options is not None:
        mapping = {"files": None}
        app.add_middleware(SignatureMiddleware, **by_route(options, RouteResolver, app, mapping))
    return app


def fastapi(options):
    from fastapi import FastAPI, Form, Request, UploadFile, WebSocket
    from fastapi.responses import StreamingResponse
    from starlette.staticfiles import StaticFiles

    from undersigned_fastapi import RouteResolver, Signature, SignatureMiddleware

    app, uploads = FastAPI(), Uploads()

    @app.api_route("/open/{name:path}", methods=["GET", "POST"])
    async def show(name: str, request: Request):
        return told(name, request.url.query, getattr(request.state, "signature", None))

    @app.api_route("/signed/{name:path}", methods=["GET", "POST"])
    async def guarded(name: str, _signature: Signature):
        return {"secret": SECRET, "name": name}

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

    @app.websocket("/socket")
    async def socket(websocket: WebSocket, _signature: Signature):
        await websocket.accept()
        await websocket.send_text(SECRET)
        await websocket.close()

    if options is not None:
        mapping = {"files": None}
        app.add_middleware(SignatureMiddleware, **by_route(options, RouteResolver, app, mapping))
    return app


def wrapped(app, options):
    """Put the ASGI middleware around an application."""
    return app if options is None else asgi.SignatureMiddleware(app, **options)


def litestar(options):
    from litestar import Litestar, Request, WebSocket, get, post, route, websocket
    from litestar.response import Stream
    from litestar.static_files import create_static_files_router

    from undersigned import SignatureError
    from undersigned.asgi import required_signature
    from undersigned.middleware import ErrorResponse

    def signed(connection, _handler):
        required_signature(connection.scope)

    @route("/open/{name:path}", http_method=["GET", "POST"], status_code=200)
    async def show(request: Request) -> dict:
        # Litestar gives a path parameter its slash.
        name = str(request.path_params["name"]).removeprefix("/")
        return told(name, text(request.scope["query_string"]), getattr(request.state, "signature", None))

    @route("/signed/{name:path}", http_method=["GET", "POST"], status_code=200, guards=[signed])
    async def guarded(request: Request) -> dict:
        return {"secret": SECRET, "name": str(request.path_params["name"]).removeprefix("/")}

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

    @websocket("/socket", guards=[signed])
    async def socket(socket: WebSocket) -> None:
        await socket.accept()
        await socket.send_text(SECRET)
        await socket.close()

    def rejected(_request, error: SignatureError):
        from litestar import Response

        answer = ErrorResponse.of(error)
        return Response(answer.body, status_code=answer.status, headers=dict(answer.fields))

    files = create_static_files_router("/files", [FILES])
    routes = [show, guarded, upload, left, read, form, stream, files, socket]
    app = Litestar(
        routes, exception_handlers={SignatureError: rejected}, openapi_config=None, request_max_body_size=10_000_000
    )
    return wrapped(app, options)


def quart(options):
    from quart import Quart, Response, request, websocket

    from undersigned import SignatureError
    from undersigned.asgi import required_signature
    from undersigned.middleware import ErrorResponse

    app, uploads = Quart("every", static_folder=str(FILES), static_url_path="/files"), Uploads()

    @app.route("/open/<path:name>", methods=["GET", "POST"])
    async def show(name):
        return told(name, text(request.query_string), request.scope.get("state", {}).get("signature"))

    @app.route("/signed/<path:name>", methods=["GET", "POST"])
    async def guarded(name):
        required_signature(request.scope)
        return {"secret": SECRET, "name": name}

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

    @app.websocket("/socket")
    async def socket():
        required_signature(websocket.scope)
        await websocket.send(SECRET)

    @app.errorhandler(SignatureError)
    async def rejected(error):
        answer = ErrorResponse.of(error)
        return Response(answer.body, answer.status, dict(answer.fields))

    if options is not None:
        app.asgi_app = asgi.SignatureMiddleware(app.asgi_app, **options)
    return app


def falcon_asgi(options):
    import falcon
    import falcon.asgi

    from undersigned import SignatureError
    from undersigned.asgi import required_signature
    from undersigned.middleware import ErrorResponse

    async def signed(request, *_rest):
        required_signature(request.scope)

    class Open:
        async def on_get(self, request, response, name):
            signature = request.scope.get("state", {}).get("signature")
            response.media = told(name, request.query_string, signature)

        on_post = on_get

    @falcon.before(signed)
    class Signed:
        async def on_get(self, _request, response, name):
            response.media = {"secret": SECRET, "name": name}

        async def on_post(self, _request, response, name):
            response.media = {"secret": SECRET, "name": name}

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

    class Socket:
        async def on_websocket(self, request, websocket):
            required_signature(request.scope)
            await websocket.accept()
            await websocket.send_text(SECRET)
            await websocket.close()

    async def rejected(_request, response, error, _parameters, ws=None):
        answer = ErrorResponse.of(error)
        if ws is not None:
            await ws.close(1008)
            return
        response.status, response.data = answer.status, answer.body
        response.set_headers(answer.fields)

    app = falcon.asgi.App()
    app.add_error_handler(SignatureError, rejected)
    app.add_route("/open/{name:path}", Open())
    app.add_route("/signed/{name:path}", Signed())
    app.add_route("/upload", Upload())
    app.add_route("/left", Left())
    app.add_route("/read", Read())
    app.add_route("/form", Form())
    app.add_route("/stream", Stream())
    app.add_route("/slash/", Left())
    app.add_static_route("/files", FILES)
    app.add_route("/socket", Socket())
    return wrapped(app, options)


def falcon(options):
    import falcon

    from undersigned import SignatureError
    from undersigned.middleware import ErrorResponse
    from undersigned.wsgi import required_signature

    def signed(request, *_rest):
        required_signature(request.env)

    class Open:
        def on_get(self, request, response, name):
            response.media = told(name, request.query_string, request.env.get("undersigned.signature"))

        on_post = on_get

    @falcon.before(signed)
    class Signed:
        def on_get(self, _request, response, name):
            response.media = {"secret": SECRET, "name": name}

        def on_post(self, _request, response, name):
            response.media = {"secret": SECRET, "name": name}

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

    def rejected(_request, response, error, _parameters):
        answer = ErrorResponse.of(error)
        response.status, response.data = answer.status, answer.body
        response.set_headers(answer.fields)

    app = falcon.App()
    app.add_error_handler(SignatureError, rejected)
    app.add_route("/open/{name:path}", Open())
    app.add_route("/signed/{name:path}", Signed())
    app.add_route("/upload", Upload())
    app.add_route("/left", Left())
    app.add_route("/read", Read())
    app.add_route("/form", Form())
    app.add_route("/stream", Stream())
    app.add_route("/slash/", Left())
    app.add_static_route("/files", FILES)
    return app if options is None else wsgi.SignatureMiddleware(app, **options)


def flask(options):
    from flask import Flask, request

    from undersigned_flask import RouteResolver, Undersigned, signature_required

    app, uploads = Flask("every", static_folder=FILES, static_url_path="/files"), Uploads()

    @app.route("/open/<path:name>", methods=["GET", "POST"])
    def show(name):
        return told(name, text(request.query_string), request.environ.get("undersigned.signature"))

    @app.route("/signed/<path:name>", methods=["GET", "POST"])
    @signature_required
    def guarded(name):
        return {"secret": SECRET, "name": name}

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
        Undersigned(app, **by_route(options, RouteResolver, app))
    return app


def django_views(*, asynchronous: bool) -> list:
    from django.http import JsonResponse, StreamingHttpResponse
    from django.urls import path
    from django.views.decorators.csrf import csrf_exempt
    from django.views.static import serve
    from rest_framework.decorators import api_view
    from rest_framework.permissions import IsAuthenticated
    from rest_framework.response import Response
    from rest_framework.views import APIView

    from undersigned_django import signature_required
    from undersigned_django.rest_framework import SignatureAuthentication

    @csrf_exempt
    def show(request, name):
        return JsonResponse(told(name, request.META.get("QUERY_STRING", ""), getattr(request, "signature", None)))

    @signature_required
    def guarded(_request, name):
        return JsonResponse({"secret": SECRET, "name": name})

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
        signature = getattr(request, "signature", None)
        return Response(told(name, request.META.get("QUERY_STRING", ""), signature))

    @api_view(["POST"])
    def read_rest(request):
        return Response({"data": request.data})

    @api_view(["POST"])
    def form_rest(request):
        return Response({"name": request.data["name"], **digested(request.data["file"].read())})

    class Signed(APIView):
        authentication_classes = (SignatureAuthentication,)
        permission_classes = (IsAuthenticated,)

        def post(self, _request, name):
            return Response({"secret": SECRET, "name": name})

        get = post

    return [
        path("open/<path:name>", show),
        path("signed/<path:name>", guarded),
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

    from undersigned_aiohttp import signature_middleware, signature_required
    from undersigned_aiohttp.requirement import VERIFICATION

    async def show(request):
        published = request.get(VERIFICATION)
        signature = None if published is None else published.signature
        return web.json_response(told(request.match_info["name"], request.query_string, signature))

    @signature_required
    async def guarded(request):
        return web.json_response({"secret": SECRET, "name": request.match_info["name"]})

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

    @signature_required
    async def socket(request):
        answer = web.WebSocketResponse()
        await answer.prepare(request)
        await answer.send_str(SECRET)
        await answer.close()
        return answer

    middlewares = [] if options is None else [signature_middleware(**options)]
    app = web.Application(middlewares=[*middlewares, web.normalize_path_middleware()], client_max_size=10_000_000)
    for method in ("GET", "POST"):
        app.router.add_route(method, "/open/{name:.+}", show)
        app.router.add_route(method, "/signed/{name:.+}", guarded)
    app.router.add_post("/upload", upload)
    app.router.add_post("/read", read)
    app.router.add_post("/form", form)
    app.router.add_get("/left", left)
    app.router.add_get("/stream", stream)
    app.router.add_get("/slash/", left)
    app.router.add_static("/files", FILES)
    app.router.add_get("/socket", socket)
    return app


def tornado(options):
    from tornado.web import Application, RequestHandler, StaticFileHandler, addslash, stream_request_body
    from tornado.websocket import WebSocketHandler

    from undersigned_tornado import SignatureMiddleware, find_signature, signature_required

    class Open(RequestHandler):
        def get(self, name):
            signature = None if options is None else find_signature(self.request)
            self.write(told(name, self.request.query, signature))

        post = get

    class Signed(RequestHandler):
        @signature_required
        async def post(self, name):
            self.write({"secret": SECRET, "name": name})

        get = post

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

    class Socket(WebSocketHandler):
        @signature_required
        async def get(self):
            await super().get()

        async def open(self):
            await self.write_message(SECRET)
            self.close()

    routes = [("/open/(.+)", Open), ("/signed/(.+)", Signed), ("/upload", Upload), ("/socket", Socket)]
    routes += [("/left", Left), ("/read", Read), ("/form", Form), ("/stream", Stream), ("/slash/?", Slash)]
    app = Application([*routes, ("/files/(.*)", StaticFileHandler, {"path": str(FILES)})])
    return app if options is None else SignatureMiddleware(app, **options)


def sanic_application(*, signed, caller):
    from sanic import Sanic
    from sanic import json as json_response

    Sanic.test_mode = True
    app = Sanic(f"every{next(NAMES)}", configure_logging=False)
    app.config.TOUCHUP = False

    # Sanic's own router does not decode a path.
    @app.route("/open/<name:path>", methods=["GET", "POST"])
    async def show(request, name):
        return json_response(told(name, request.query_string, caller(request)))

    @app.route("/signed/<name:path>", methods=["GET", "POST"])
    async def guarded(request, name):
        signed(request)
        return json_response({"secret": SECRET, "name": name})

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

    @app.websocket("/socket")
    async def socket(request, websocket):
        signed(request)
        await websocket.send(SECRET)

    return app


def sanic(options):
    from undersigned_sanic import find_signature, verified_signature, verify_signatures

    app = sanic_application(
        signed=verified_signature, caller=lambda request: None if options is None else find_signature(request)
    )
    if options is not None:
        verify_signatures(app, **options)
    return app


def sanic_asgi(options):
    from sanic import HTTPResponse

    from undersigned import SignatureError
    from undersigned.asgi import required_signature
    from undersigned.middleware import ErrorResponse

    def state(request):
        return request.scope.get("state", {}).get("signature")

    app = sanic_application(signed=lambda request: required_signature(request.scope), caller=state)

    @app.exception(SignatureError)
    async def rejected(_request, error):
        answer = ErrorResponse.of(error)
        return HTTPResponse(answer.body, answer.status, dict(answer.fields))

    events = [{"type": "lifespan.startup"}, {"type": "lifespan.shutdown"}]

    async def receive():
        return events.pop(0)

    async def send(_message):
        pass

    # Sanic makes its router when its server says that it starts, which the servers of these tests do not.
    asyncio.run(app({"type": "lifespan"}, receive, send))
    return wrapped(app, options)


def _identity(options):
    return options


django_wsgi = partial(serve_django, interface="wsgi", serve=waitress_server)
django_gunicorn = partial(serve_django, interface="wsgi", serve=gunicorn_server)
django_asgi = partial(serve_django, interface="asgi", serve=uvicorn_server)
httptools = partial(uvicorn_server, http="httptools")

FRAMEWORKS = (
    Framework("starlette", starlette, uvicorn_server, websocket=True),
    Framework("fastapi", fastapi, httptools, websocket=True),
    Framework("litestar", litestar, uvicorn_server, websocket=True),
    Framework("quart", quart, uvicorn_server, websocket=True),
    Framework("falcon-asgi", falcon_asgi, uvicorn_server, websocket=True),
    Framework("sanic-asgi", sanic_asgi, uvicorn_server, websocket=True),
    Framework("django-asgi", _identity, django_asgi),
    Framework("flask-gunicorn", flask, gunicorn_server),
    Framework("flask-waitress", flask, waitress_server),
    Framework("falcon", falcon, waitress_server),
    Framework("django-waitress", _identity, django_wsgi),
    Framework("django-gunicorn", _identity, django_gunicorn),
    Framework("aiohttp", aiohttp, serve_aiohttp, websocket=True),
    Framework("tornado", tornado, serve_tornado, websocket=True),
    Framework("sanic", sanic, serve_sanic, websocket=True),
)

__all__ = ["FRAMEWORKS", "HOST", "SECRET", "Framework"]
