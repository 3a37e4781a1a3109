"""An A2A agent that knows who calls it.

    pip install 'undersigned[starlette]' 'a2a-sdk[http-server]' uvicorn
    undersigned keygen --out keys
    python examples/a2a_server.py

The agent card is open to everybody; every message must be signed. `a2a_client.py` sends one.
"""

import uvicorn
from a2a.server.agent_execution import AgentExecutor, RequestContext
from a2a.server.events import EventQueue
from a2a.server.request_handlers import DefaultRequestHandler
from a2a.server.routes import create_agent_card_routes, create_jsonrpc_routes
from a2a.server.tasks import InMemoryTaskStore
from a2a.types import a2a_pb2
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.middleware.authentication import AuthenticationMiddleware
from starlette.routing import Mount

from undersigned import KeySet, MemoryReplayStore, Verifier, profiles
from undersigned_starlette import SignatureBackend, SignatureMiddleware


class Plans(AgentExecutor):
    """An agent that sells the plan that a message names."""

    async def execute(self, context: RequestContext, event_queue: EventQueue) -> None:
        caller = context.call_context.user.user_name
        answer = a2a_pb2.Part(text=f"{caller} bought {context.get_user_input()}")
        message = a2a_pb2.Message(message_id="1", role=a2a_pb2.ROLE_AGENT, parts=[answer])
        await event_queue.enqueue_event(message)

    async def cancel(self, context: RequestContext, event_queue: EventQueue) -> None:
        raise NotImplementedError


def main() -> None:
    keys = KeySet.from_file("keys/public.jwks.json", owner="acme")
    verifier = Verifier(profiles.ADCP_3_2, keys=keys, replay=MemoryReplayStore())
    origin = "http://127.0.0.1:8000"
    interface = a2a_pb2.AgentInterface(url=f"{origin}/a2a", protocol_binding="JSONRPC", protocol_version="1.0")
    card = a2a_pb2.AgentCard(name="plans", version="1", supported_interfaces=[interface])
    handler = DefaultRequestHandler(Plans(), InMemoryTaskStore(), card)
    middleware = [
        Middleware(SignatureMiddleware, verifier=verifier, origins=[origin]),
        Middleware(AuthenticationMiddleware, backend=SignatureBackend()),
    ]
    agent = Starlette(routes=create_jsonrpc_routes(handler, "/a2a"), middleware=middleware)
    app = Starlette(routes=[*create_agent_card_routes(card), Mount("/", agent)])
    uvicorn.run(app, host="127.0.0.1", port=8000)


if __name__ == "__main__":
    main()
