"use strict";
// Every text reaches the page as textContent, so nothing that is pasted or received can become markup.

const at = (id) => document.getElementById(id);
const FIELDS = ["request", "keys", "body", "base", "profile", "scheme", "now"];
const MOST_SHOWN = 200;

/** Make an element with a class and children, which are elements or texts. */
function make(tag, className, ...children) {
  const element = document.createElement(tag);
  if (className) element.className = className;
  element.append(...children);
  return element;
}

function fill(id, children) {
  at(id).replaceChildren(...children);
}

function hide(id, hidden) {
  at(id).hidden = hidden;
}

/* The form */

function octets(file) {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(reader.result.slice(reader.result.indexOf(",") + 1));
    reader.onerror = () => reject(reader.error);
    reader.readAsDataURL(file);
  });
}

function complain(field, message) {
  for (const one of ["request", "keys", "now", "file"]) {
    const wrong = one === field;
    at(one).setAttribute("aria-invalid", String(wrong));
    at(`${one}-error`).textContent = wrong ? message : "";
  }
  if (field) {
    const control = at(field);
    const details = control.closest("details");
    if (details) details.open = true;
    control.focus();
  }
}

async function explain(event) {
  event.preventDefault();
  const pasted = Object.fromEntries(FIELDS.map((name) => [name, at(name).value]));
  const file = at("file").files[0];
  try {
    pasted.file = file && file.size ? await octets(file) : "";
  } catch {
    complain("file", "The file cannot be read.");
    return;
  }
  let response;
  let view;
  try {
    response = await fetch("explain", { method: "POST", body: JSON.stringify(pasted) });
    view = response.status === 413 ? { field: "request", message: "That is more than 2 MiB." } : await response.json();
  } catch {
    complain("request", "The process that serves this page does not answer. Is it still running?");
    return;
  }
  if (response.ok) {
    complain("", "");
    show(view);
  } else {
    hide("result", true);
    complain(view.field, view.message);
  }
}

/* The result */

function show(view) {
  const verdict = at("verdict");
  verdict.textContent = view.title;
  verdict.className = view.ok ? "ok" : "";
  fill("facts", view.facts.flatMap(([name, value]) => [make("dt", "", name), make("dd", "", value)]));
  hide("cause", !view.cause);
  at("cause").textContent = view.cause;
  hide("steps-section", view.steps.length === 0);
  fill("steps", view.steps.map(stepItem));
  showBases(view.bases);
  showRequest(view);
  showRules(view.canonicalization);
  hide("result", false);
  verdict.focus();
  verdict.scrollIntoView();
}

function stepItem(step) {
  const name = `${step.step}. ${step.check}`;
  const outcome = make("span", "outcome", ` ${step.outcome}`);
  const item = make("li", step.outcome.replace(" ", "-"));
  if (step.detail) {
    const details = make("details", "", make("summary", "", name, outcome), make("p", "", step.detail));
    details.open = step.outcome === "failed";
    item.append(details);
  } else {
    item.append(name, outcome);
  }
  return item;
}

function showBases(bases) {
  const both = bases.signers.length > 0;
  const heads = ["Line", "Rebuilt from the request", ...(both ? ["Signed by the sender"] : [])];
  const row = make("tr", "", ...heads.map((text) => Object.assign(make("th", "", text), { scope: "col" })));
  at("bases").tHead.replaceChildren(row);
  const rows = [];
  for (let number = 0; number < Math.max(bases.rebuilt.length, bases.signers.length); number += 1) {
    const lines = [bases.rebuilt[number], ...(both ? [bases.signers[number]] : [])];
    const head = Object.assign(make("th", "", String(number + 1)), { scope: "row" });
    const differs = lines.some((line) => line && line.length === 3);
    rows.push(make("tr", differs ? "differs" : "", head, ...lines.map(lineCell)));
  }
  at("bases").tBodies[0].replaceChildren(...rows);
  at("difference").textContent = bases.difference
    || (rows.length ? "" : "The base cannot be rebuilt from this request.");
}

/** Make the cell of a line: one text, or the text before the first differing byte, that byte and the rest. */
function lineCell(line) {
  if (!line || line.length < 3) return make("td", "", line ? line.join("") : "");
  return make("td", "", line[0], make("mark", "", line[1]), line[2]);
}

/* The request: a component lights its parts, and a part lights its components */

function showRequest(view) {
  const covered = new Set(view.components.flatMap((component) => component.parts));
  const lines = view.request.lines.flatMap((line) => [...line.map((piece) => pieceOf(piece, covered)), "\n"]);
  const body = pieceOf({ text: view.request.body, part: "body" }, covered);
  fill("message", [...lines, "\n", body]);
  fill("components", view.components.map(componentItem));
}

function pieceOf(piece, covered) {
  const parts = [piece.part, piece.also].filter(Boolean);
  if (!parts.length) return document.createTextNode(piece.text);
  const span = make("span", parts.some((part) => covered.has(part)) ? "covered" : "", piece.text);
  span.dataset.parts = JSON.stringify(parts);
  span.addEventListener("mouseenter", () => light(parts, true));
  span.addEventListener("mouseleave", () => light(parts, false));
  return span;
}

function componentItem(component) {
  const button = make("button", "", component.identifier);
  button.type = "button";
  button.dataset.parts = JSON.stringify(component.parts);
  button.setAttribute("aria-pressed", "false");
  const value = make("span", "value", component.value);
  const on = () => light(component.parts, true);
  const off = () => button.getAttribute("aria-pressed") === "false" && light(component.parts, false);
  for (const name of ["mouseenter", "focus"]) button.addEventListener(name, on);
  for (const name of ["mouseleave", "blur"]) button.addEventListener(name, off);
  button.addEventListener("click", () => {
    button.setAttribute("aria-pressed", String(button.getAttribute("aria-pressed") === "false"));
  });
  return make("li", "", button, value);
}

function light(parts, on) {
  for (const element of document.querySelectorAll("[data-parts]")) {
    if (JSON.parse(element.dataset.parts).some((part) => parts.includes(part))) element.classList.toggle("lit", on);
  }
}

/* Canonicalization */

function showRules(canonicalization) {
  hide("url-section", !canonicalization);
  if (!canonicalization) return;
  fill("rules", canonicalization.changes.map((change) => make(
    "li", "", make("strong", "", change.rule), ` ${change.summary} (${change.source})`,
    make("div", "", `before: ${change.before}`), make("div", "", `after: ${change.after}`),
  )));
  at("unchanged").textContent = `Rules without effect: ${canonicalization.unchanged.join(", ") || "none"}.`;
  at("canonical").textContent = canonicalization.error
    ? `No canonical form: ${canonicalization.error}`
    : `Canonical form: ${canonicalization.result}`;
}

/* Live traffic */

function listen() {
  hide("live-section", false);
  const source = new EventSource("live");
  source.addEventListener("open", () => {
    at("live-state").textContent = "Connected: decisions of the application appear here, the newest first.";
  });
  source.addEventListener("error", () => {
    at("live-state").textContent = "Disconnected. If the application started again, its log has a new URL.";
  });
  source.addEventListener("decision", (event) => {
    const view = JSON.parse(event.data);
    const button = make("button", view.outcome, `${view.number}. ${view.title}: ${view.summary}`);
    button.type = "button";
    button.addEventListener("click", () => show(view));
    at("live").prepend(make("li", "", button));
    while (at("live").children.length > MOST_SHOWN) at("live").lastChild.remove();
  });
}

async function start() {
  at("form").addEventListener("submit", explain);
  at("form").addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) at("form").requestSubmit();
  });
  const about = await (await fetch("about")).json();
  at("profile").append(...about.profiles.map((name) => new Option(name, name)));
  if (about.live) listen();
}

start();
