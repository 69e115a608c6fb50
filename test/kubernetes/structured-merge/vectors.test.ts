import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { parseJson } from "../../../src/data/json.js";
import { sameValue } from "../../../src/data/same-value.js";
import { isObject, type JsonObject, text } from "../../../src/kubernetes/object.js";
import { documentSchemas, type VersionSchemas } from "../../../src/kubernetes/structured-merge/merge-schemas.js";
import { applied, BUNDLED, thing } from "./support.js";

const FILE = new URL("../../../../test/vectors/map/merge.jsonl", import.meta.url);

const lines = readFileSync(FILE, "utf8")
  .split("\n")
  .filter((line) => line !== "")
  .map((line) => parseJson(line) as JsonObject);

/** Types by the names of schemas: made of the definition, and of the published document where there is one. */
const custom = new Map<string, readonly (VersionSchemas | undefined)[]>();
for (const line of lines) {
  if (line.live !== undefined) continue;
  const made = [thing(line.openAPIV3Schema)];
  if (isObject(line.document)) made.push(documentSchemas(line.document, "acme.example", "v1"));
  custom.set(text(line, "schema"), made);
}

const cases = lines.filter(({ live }) => live !== undefined);

/** The parts of a message whose order is random. */
function parts(message: string): readonly string[] {
  const [head = "", atomics] = message.split("may not mutate atomic arrays, maps or structs: ");
  return atomics === undefined ? message.split("\n").sort() : [head, ...atomics.split(", ").sort()];
}

function typesOf({ schema, live }: JsonObject): readonly (VersionSchemas | undefined)[] {
  if (schema !== undefined) return custom.get(String(schema)) ?? [];
  const [version = "", group = ""] = text(live, "apiVersion").split("/").reverse();
  return [BUNDLED.version(group, version)];
}

test("objects after a patch are those of the API server, and so are its messages", () => {
  assert.ok(cases.length > 700, "the vectors are there");
  assert.ok([...custom.values()].filter(({ length }) => length === 2).length > 2, "documents are there");
  const wrong: string[] = [];
  for (const line of cases) {
    for (const types of typesOf(line)) {
      const outcome = types === undefined ? undefined : applied(types, line.live, line.patch);
      if (!isExpected(line, outcome)) wrong.push(`${text(line, "id")}: ${JSON.stringify(outcome)}`);
    }
  }
  assert.deepEqual(wrong, []);
});

function isExpected({ object, failure, unpublished }: JsonObject, outcome: unknown): boolean {
  if (unpublished === true) return outcome === undefined;
  if (failure === undefined) return sameValue(outcome, object);
  // Empty lists of these patches are JSON's, not CEL's.
  const message = String(failure).replaceAll("[]interface {}(nil)", "[]interface {}{}");
  return typeof outcome === "string" && sameValue(parts(outcome), parts(`error applying patch: ${message}`));
}
