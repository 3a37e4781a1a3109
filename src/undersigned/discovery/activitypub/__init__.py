"""Discovery for ActivityPub: the key that an actor publishes, found by the keyid of a signature."""

from undersigned.discovery.activitypub.sources import ActorKeys, AsyncActorKeys

__all__ = ["ActorKeys", "AsyncActorKeys"]
