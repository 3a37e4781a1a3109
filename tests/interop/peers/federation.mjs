// @fedify/fedify as a server of the fediverse: its federation delivers activities and takes them, knocking twice.
import { createPrivateKey, createPublicKey } from "node:crypto";
import { pathToFileURL } from "node:url";

export async function peer(load, keys) {
  const root = load.resolve("@fedify/fedify").replace(/\/dist\/.*/, "");
  const { createFederation, MemoryKvStore } = await import(pathToFileURL(`${root}/dist/mod.js`));
  const { Follow, preloadedContexts } = await vocabulary(load);
  const jwk = keys.find((key) => key.actor);
  const algorithm = { name: "RSASSA-PKCS1-v1_5", hash: "SHA-256" };
  const der = createPrivateKey({ key: jwk, format: "jwk" }).export({ type: "pkcs8", format: "der" });
  const privateKey = await crypto.subtle.importKey("pkcs8", der, algorithm, true, ["sign"]);
  const publicKeyPem = createPublicKey({ key: jwk, format: "jwk" }).export({ type: "spki", format: "pem" });
  const document = {
    "@context": ["https://www.w3.org/ns/activitystreams", "https://w3id.org/security/v1"],
    id: jwk.actor, type: "Person", inbox: `${jwk.actor}/inbox`, publicKey: { id: jwk.kid, owner: jwk.actor, publicKeyPem },
  };
  const documents = { ...preloadedContexts, [jwk.actor]: document, [jwk.kid]: document };
  const loader = async (url) => {
    if (!(url in documents)) throw new Error(`not found: ${url}`);
    return { contextUrl: null, documentUrl: url, document: documents[url] };
  };
  const federation = (challenges) => {
    const made = createFederation({
      kv: new MemoryKvStore(), documentLoaderFactory: () => loader, contextLoaderFactory: () => loader,
      inboxChallengePolicy: challenges ? { enabled: true, requestNonce: true } : undefined,
    });
    made.setActorDispatcher("/users/{identifier}", () => null);
    made.setInboxListeners("/users/{identifier}/inbox", challenges ? "/challenge" : "/inbox").on(Follow, () => {});
    return made;
  };
  const [plain, challenging] = [federation(false), federation(true)];

  return {
    async send({ url }) {
      const origin = new URL(url).origin;
      const recipient = { id: new URL(`${origin}/users/anna`), inboxId: new URL(url) };
      const follow = new Follow({ id: new URL(`${jwk.actor}/${Math.random()}`), actor: new URL(jwk.actor), object: recipient.id });
      // Each order is the first message to its origin: nothing is remembered of it.
      const sender = createFederation({ kv: new MemoryKvStore(), allowPrivateAddress: true });
      const context = sender.createContext(new URL(jwk.actor));
      await context.sendActivity({ keyId: new URL(jwk.kid), privateKey }, recipient, follow);
      return { status: 202 };
    },
    async handle({ method, url, fields, body }) {
      const headers = Object.entries(fields).flatMap(([name, values]) => values.map((value) => [name, value]));
      const request = new Request(url, { method, headers, body });
      return (url.endsWith("/challenge") ? challenging : plain).fetch(request, { contextData: undefined });
    },
  };
}

async function vocabulary(load) {
  const at = async (name) => import(pathToFileURL(load.resolve(name)));
  return { ...(await at("@fedify/vocab")), ...(await at("@fedify/vocab-runtime")) };
}
