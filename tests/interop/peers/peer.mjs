// One package of npm as a peer: a server that verifies what it receives, and a client that signs what it is told to.
//
// node peer.mjs NAME DIRECTORY   NAME.mjs beside this file is the package; DIRECTORY has its node_modules.
//
// The first line of the input has the keys, as private JWKs. The answer is a line with the port of the server. Every
// further line is an order to sign and send a request; the answer is a line with the response, or with the error.
// The server signs its response if the request has X-Answer: the components and the keyid. An order that is `answered`
// is one whose response must be signed. A package that is a whole server has `handle` in place of `verify`.
import { createServer, request as open } from "node:http";
import { createRequire } from "node:module";
import { join, resolve } from "node:path";
import { createInterface } from "node:readline";
import { createHash, webcrypto } from "node:crypto";

globalThis.crypto ??= webcrypto;

const [name, directory] = process.argv.slice(2);
const load = createRequire(join(resolve(directory), "peer.cjs"));
const { peer } = await import(`./${name}.mjs`);

async function read(stream) {
  const chunks = [];
  for await (const chunk of stream) chunks.push(chunk);
  return Buffer.concat(chunks);
}

// Header fields as most packages take them: the lines of each field by its name in lower case.
const lines = (flat) => {
  const fields = {};
  for (let at = 0; at < flat.length; at += 2) (fields[flat[at].toLowerCase()] ??= []).push(flat[at + 1]);
  return fields;
};

function sendSigned(order, fields) {
  const { hostname, port, pathname, search } = new URL(order.url);
  // A path is sent as it was written: URL would change dot segments.
  const target = order.url.slice(order.url.indexOf("/", 8));
  const headers = Object.entries(fields).flatMap(([field, values]) =>
    [].concat(values).flatMap((value) => [field, value]),
  );
  const length = order.body ? ["Content-Length", `${Buffer.byteLength(order.body)}`] : [];
  return new Promise((answer, reject) => {
    const outgoing = open({
      hostname, port, path: target || pathname + search, method: order.method, agent: false,
      headers: ["Host", `${hostname}:${port}`, ...length, ...headers],
    });
    outgoing.on("error", reject);
    outgoing.on("response", async (response) =>
      answer({ status: response.statusCode, fields: lines(response.rawHeaders), body: `${await read(response)}` }),
    );
    outgoing.end(order.body);
  });
}

const input = createInterface({ input: process.stdin })[Symbol.asyncIterator]();
const keys = JSON.parse((await input.next()).value);
const { sign, verify, send = sendAll, handle, signAnswer, verifyAnswer } = await peer(load, keys);

async function failure(verification) {
  try {
    return (await verification) === true ? "" : "not verified";
  } catch (raised) {
    return `${raised.code ?? raised.name}: ${raised.message}`;
  }
}

async function sendAll(order) {
  const signed = await sign(order);
  const response = await sendSigned(order, signed);
  if (!order.answered) return response;
  const fields = Object.fromEntries(Object.entries(signed).map(([name, value]) => [name.toLowerCase(), value]));
  const error = await failure(verifyAnswer({ ...response, request: { method: order.method, url: order.url, fields } }));
  return { ...response, verified: !error, error };
}

const server = createServer(async (incoming, outgoing) => {
  const body = await read(incoming);
  const message = {
    method: incoming.method,
    url: `http://${incoming.headers.host}${incoming.url}`,
    target: incoming.url,
    authority: incoming.headers.host,
    fields: lines(incoming.rawHeaders),
    body,
  };
  if (handle) {
    const response = await handle(message);
    outgoing.writeHead(response.status, Object.fromEntries(response.headers));
    return outgoing.end(await response.text());
  }
  const error = await failure(verify(message));
  const answer = JSON.stringify({ verified: !error, error });
  const status = error ? 401 : 200;
  let fields = { "Content-Type": "application/json" };
  if (incoming.headers["x-answer"]) {
    const asked = JSON.parse(incoming.headers["x-answer"]);
    fields["Content-Digest"] = `sha-256=:${createHash("sha256").update(answer).digest("base64")}:`;
    const created = Math.floor(Date.now() / 1000);
    fields = await signAnswer({ status, fields, request: message }, { ...asked, created });
  }
  outgoing.writeHead(status, fields);
  outgoing.end(answer);
});
server.listen(0, "127.0.0.1", () => console.log(JSON.stringify({ port: server.address().port })));

for await (const line of { [Symbol.asyncIterator]: () => input }) {
  const order = JSON.parse(line);
  try {
    console.log(JSON.stringify(await send(order)));
  } catch (raised) {
    console.log(JSON.stringify({ error: `${raised.name}: ${raised.message}` }));
  }
}
process.exit(0);
