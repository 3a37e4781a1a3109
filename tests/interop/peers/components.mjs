// A component identifier, such as "priority";key="u", as its name and its parameters. A bare name has none.
export function parsed(text) {
  if (!text.startsWith('"')) return { name: text, parameters: [] };
  const [, name, rest] = /^"([^"]+)"(.*)$/.exec(text);
  const parameters = [...rest.matchAll(/;([a-z]+)(?:="([^"]*)")?/g)].map(([, key, value]) => [key, value ?? true]);
  return { name, parameters };
}
