import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, test } from "node:test";
import { parseJson } from "../../../src/data/json.js";
import { builtinKinds } from "../../../src/kubernetes/builtin-kinds.js";
import { asStruct, asStructStrictly, structOfObject } from "../../../src/kubernetes/go-types/as-struct.js";
import type { GoStruct } from "../../../src/kubernetes/go-types/go-type.js";
import type { JsonObject } from "../../../src/kubernetes/object.js";
import { differences, type GoCase } from "./cases.js";

const VECTORS = new URL("../../../../test/vectors/go-types/cases.jsonl", import.meta.url);

function typeOf(object: JsonObject): GoStruct {
  const type = structOfObject(object);
  assert.ok(type !== undefined);
  return type;
}

const object = (apiVersion: string, kind: string, rest: object = {}): JsonObject => ({ apiVersion, kind, ...rest });

function printed(given: JsonObject): unknown {
  const shaped = asStruct(given, typeOf(given));
  assert.ok(shaped.ok, "the object fits");
  return shaped.object;
}

function strictError(given: JsonObject): string | undefined {
  const shaped = asStructStrictly(given, typeOf(given));
  return shaped.ok ? undefined : shaped.error;
}

describe("an object of a built-in kind", () => {
  test("is what Kubernetes' own code makes of it", () => {
    const lines = readFileSync(VECTORS, "utf8").trimEnd().split("\n");
    assert.ok(lines.length > 700);
    for (const line of lines) assert.deepEqual(differences(parseJson(line) as GoCase), []);
  });

  test("has a struct, whatever the kind and version", () => {
    for (const { apiVersion, kind } of builtinKinds()) assert.ok(structOfObject(object(apiVersion, kind)), kind);
    assert.equal(structOfObject(object("acme.example/v1", "Widget")), undefined);
    assert.equal(structOfObject(object("__proto__", "x")), undefined);
  });

  test("has texts instead of nulls in maps and lists of texts", () => {
    assert.deepEqual(printed(object("v1", "ConfigMap", { data: { k: null } })), {
      metadata: {},
      ...object("v1", "ConfigMap", { data: { k: "" } }),
    });
  });

  test("keeps what is no optional member, and drops unknown members and those in another case", () => {
    const role = object("rbac.authorization.k8s.io/v1", "Role", { rules: null, Rules: [], colour: "red" });
    const { apiVersion, kind } = role;
    assert.deepEqual(printed(role), { apiVersion, kind, metadata: {}, rules: null });
  });

  test("keeps keys as keys, whatever they are called", () => {
    const data = parseJson('{"__proto__": "x", "constructor": "y"}') as JsonObject;
    const shaped = printed(object("v1", "ConfigMap", { data })) as { readonly data: JsonObject };
    assert.deepEqual(Object.entries(shaped.data), [
      ["__proto__", "x"],
      ["constructor", "y"],
    ]);
  });
});

describe("the strict decoder", () => {
  test("names unknown members by their paths, in the order of the text", () => {
    const spec = { colour: "red", template: { spec: { containers: [{ nme: "x" }] } } };
    assert.equal(
      strictError(object("apps/v1", "Deployment", { spec, other: 1 })),
      'strict decoding error: unknown field "spec.colour", unknown field "spec.template.spec.containers[0].nme", unknown field "other"',
    );
  });

  test("names struct and member of a wrong type, before anything unknown", () => {
    const spec = { colour: "red", replicas: "three" };
    assert.equal(
      strictError(object("apps/v1", "Deployment", { spec })),
      "json: cannot unmarshal string into Go struct field DeploymentSpec.spec.replicas of type int32",
    );
  });

  test("stops at a type that reads itself", () => {
    const metadata = { name: 3, creationTimestamp: "yesterday" };
    assert.equal(
      strictError(object("v1", "ConfigMap", { metadata })),
      'parsing time "yesterday" as "2006-01-02T15:04:05Z07:00": cannot parse "yesterday" as "2006"',
    );
  });
});
