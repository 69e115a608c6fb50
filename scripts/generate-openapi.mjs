// Makes data/kubernetes-openapi.json, against which type checking checks policies: the schemas of the kinds that every cluster serves, from
// Kubernetes' published OpenAPI v3 documents (api/openapi-spec/v3 of a release), without descriptions and other things no type depends on.
//
//     node scripts/generate-openapi.mjs <folder of the v3 documents>
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const folder = process.argv[2];
if (folder === undefined) {
  console.error("usage: node scripts/generate-openapi.mjs <folder of OpenAPI v3 documents>");
  process.exit(2);
}

/** The stable versions are those that a server has on by default. */
const STABLE = /^v[0-9]+$/;
const KEPT = new Set([
  "$ref",
  "additionalProperties",
  "allOf",
  "format",
  "items",
  "oneOf",
  "properties",
  "type",
  "x-kubernetes-embedded-resource",
  "x-kubernetes-int-or-string",
]);

const schemas = {};
for (const file of readdirSync(folder).filter((name) => name.endsWith(".json"))) {
  Object.assign(schemas, JSON.parse(readFileSync(join(folder, file), "utf8")).components?.schemas ?? {});
}

const kinds = {};
for (const [name, schema] of Object.entries(schemas)) {
  const identities = schema["x-kubernetes-group-version-kind"] ?? [];
  // Options and lists belong to every group; they are no objects that policies see.
  if (identities.length !== 1 || /(List|Options)$/.test(identities[0].kind)) continue;
  const { group, version, kind } = identities[0];
  if (STABLE.test(version)) kinds[group === "" ? `${version}/${kind}` : `${group}/${version}/${kind}`] = name;
}

const definitions = {};
const wanted = Object.values(kinds);
for (let name = wanted.pop(); name !== undefined; name = wanted.pop()) {
  if (definitions[name] !== undefined) continue;
  definitions[name] = stripped(schemas[name]);
}

function stripped(schema) {
  const kept = {};
  for (const [key, value] of Object.entries(schema)) {
    if (!KEPT.has(key)) continue;
    if (key === "$ref") {
      const name = value.replace("#/components/schemas/", "");
      wanted.push(name);
      kept.$ref = `#/definitions/${name}`;
    } else if (key === "properties") {
      kept.properties = Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, stripped(inner)]));
    } else if (Array.isArray(value))
      kept[key] = value.map((inner) => (typeof inner === "object" ? stripped(inner) : inner));
    else if (typeof value === "object") kept[key] = stripped(value);
    else kept[key] = value;
  }
  return kept;
}

const sorted = (object) => Object.fromEntries(Object.entries(object).sort(([a], [b]) => (a < b ? -1 : 1)));
const file = fileURLToPath(new URL("../data/kubernetes-openapi.json", import.meta.url));
writeFileSync(file, `${JSON.stringify({ kinds: sorted(kinds), definitions: sorted(definitions) })}\n`);
console.log(`${Object.keys(kinds).length} kinds, ${Object.keys(definitions).length} definitions`);
