// Makes data/kubernetes-openapi.json, against which type checking checks policies and by which patches are merged: the schemas of the kinds that
// every cluster serves, from Kubernetes' published OpenAPI v3 documents (api/openapi-spec/v3 of a release), without descriptions and other things
// that neither depends on.
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
/** The document of a group and version; the core group's are in `api`. */
const VERSION_DOCUMENT = /^(?:api|apis__(?<group>[^_]+))__(?<version>[^_]+)_openapi\.json$/;
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
  "x-kubernetes-list-map-keys",
  "x-kubernetes-list-type",
  "x-kubernetes-map-type",
  "x-kubernetes-preserve-unknown-fields",
]);

const schemas = {};
/** What each group and version's own document holds: a kind that another group's document borrows has no type in its own version. */
const documents = {};
for (const file of readdirSync(folder).filter((name) => name.endsWith(".json"))) {
  const found = JSON.parse(readFileSync(join(folder, file), "utf8")).components?.schemas ?? {};
  Object.assign(schemas, found);
  const { group, version } = VERSION_DOCUMENT.exec(file)?.groups ?? {};
  if (version !== undefined) documents[group === undefined ? version : `${group}/${version}`] = found;
}

const kinds = {};
const versions = {};
for (const version of Object.keys(documents)) versions[version] = {};
for (const [name, schema] of Object.entries(schemas)) {
  const identities = schema["x-kubernetes-group-version-kind"] ?? [];
  // Options and lists belong to every group; they are no objects that policies see.
  if (identities.length !== 1 || /(List|Options)$/.test(identities[0].kind)) continue;
  const { group, version, kind } = identities[0];
  const apiVersion = group === "" ? version : `${group}/${version}`;
  if (STABLE.test(version)) kinds[`${apiVersion}/${kind}`] = name;
  if (documents[apiVersion]?.[name] !== undefined) versions[apiVersion][kind] = name;
}

const definitions = {};
const wanted = [...Object.values(kinds), ...Object.values(versions).flatMap((version) => Object.values(version))];
for (let name = wanted.pop(); name !== undefined; name = wanted.pop()) {
  if (definitions[name] !== undefined) continue;
  definitions[name] = stripped(schemas[name]);
}
keepDefaultsOfKeys();

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

/** An item of a keyed list that lacks a key is found by the key's default; no other default matters. */
function keepDefaultsOfKeys() {
  for (const definition of Object.values(definitions)) {
    for (const list of Object.values(definition.properties ?? {})) {
      const keys = list["x-kubernetes-list-map-keys"] ?? [];
      const reference = list.items?.$ref ?? list.items?.allOf?.[0]?.$ref;
      const item = reference?.replace("#/definitions/", "");
      for (const key of keys) {
        const found = schemas[item]?.properties?.[key]?.default;
        if (found !== undefined) definitions[item].properties[key].default = found;
      }
    }
  }
}

const sorted = (object) => Object.fromEntries(Object.entries(object).sort(([a], [b]) => (a < b ? -1 : 1)));
const file = fileURLToPath(new URL("../data/kubernetes-openapi.json", import.meta.url));
const data = {
  kinds: sorted(kinds),
  versions: sorted(Object.fromEntries(Object.entries(versions).map(([name, version]) => [name, sorted(version)]))),
  definitions: sorted(definitions),
};
writeFileSync(file, `${JSON.stringify(data)}\n`);
console.log(`${Object.keys(kinds).length} kinds, ${Object.keys(definitions).length} definitions`);
