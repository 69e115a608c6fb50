import assert from "node:assert/strict";
import { describe, test } from "node:test";
import {
  customResourceSchemas,
  documentSchemas,
  joinedSchemas,
} from "../../../src/kubernetes/structured-merge/merge-schemas.js";
import { applied, BUNDLED, spec, thing, thingOf } from "./support.js";

const object = (properties: object, more: object = {}) => ({ type: "object", properties, ...more });

describe("schemas of custom resources", () => {
  test("metadata and embedded resources have the members that every object has", () => {
    const schemas = thingOf(
      object({ a: { type: "object", "x-kubernetes-embedded-resource": true, properties: { b: { type: "string" } } } }),
    );
    assert.equal(
      spec(schemas, '{"a":{"metadata":{"labels":{"x":"1"}}}}', '{"a":{"metadata":{"labels":{"y":"2"}}}}'),
      '{"a":{"metadata":{"labels":{"x":"1","y":"2"}}}}',
    );
    assert.match(
      String(spec(schemas, "{}", '{"a":{"metadata":{"colour":1}}}')),
      /\.spec\.a\.metadata\.colour: field not/,
    );
    const live = { apiVersion: "acme.example/v1", kind: "Thing" };
    assert.match(
      String(applied(schemas, live, { metadata: { labels: { a: 1 } } })),
      /metadata\.labels\.a: expected string/,
    );
  });

  test("unknown members go in below what preserves them, and merge", () => {
    const schemas = thingOf(
      object({ a: object({ b: { type: "string" } }) }, { "x-kubernetes-preserve-unknown-fields": true }),
    );
    assert.equal(
      spec(schemas, '{"x":{"l":1},"a":{"y":{"m":1}}}', '{"x":{"k":1},"a":{"y":{"n":2}}}'),
      '{"x":{"l":1,"k":1},"a":{"y":{"m":1,"n":2}}}',
    );
  });

  test("int-or-string takes either, lists and maps are what they are said to be", () => {
    const schemas = thingOf(
      object({
        either: { "x-kubernetes-int-or-string": true },
        whole: object({ a: { type: "string" } }, { "x-kubernetes-map-type": "atomic" }),
      }),
    );
    assert.equal(spec(schemas, '{"either":1}', '{"either":"50%"}'), '{"either":"50%"}');
    assert.match(String(spec(schemas, "{}", '{"whole":{"a":"b"}}')), /may not mutate .*: \.spec\.whole$/);
  });

  test("a schema that is not structural is as good as none: anything merges by deduction", () => {
    const ofSpec = (spec: object) => object({ spec });
    const broken = [
      undefined,
      { type: "array" },
      { ...object({}), $ref: "#/x" },
      ofSpec({ properties: { a: { type: "string" } } }),
      ofSpec({ type: "object", "x-kubernetes-embedded-resource": true }),
      ofSpec(object({ a: { type: "any" } })),
      { ...ofSpec(object({})), additionalProperties: true },
      // Conditions on what no structure has.
      { ...ofSpec(object({ a: { type: "string" } })), oneOf: [{ properties: { spec: { properties: { b: {} } } } }] },
      object({ spec: object({ a: { type: "string" } }), metadata: object({ labels: { type: "object" } }) }),
      object({ spec: object({ a: { type: "string" } }), kind: { type: "integer" } }),
    ];
    for (const schema of broken) {
      const schemas = thing(schema);
      assert.ok(schemas);
      assert.equal(spec(schemas, '{"a":{"x":1},"l":[1]}', '{"a":{"y":2},"l":[2]}'), '{"a":{"x":1,"y":2},"l":[2]}');
    }
  });

  test("what may be said of values makes a schema no less structural", () => {
    const either = { "x-kubernetes-int-or-string": true, anyOf: [{ type: "integer" }, { type: "string" }] };
    const schemas = thingOf(
      object({ a: either, b: { type: "string" } }, { oneOf: [{ required: ["a"] }, { required: ["b"] }] }),
    );
    assert.match(String(spec(schemas, "{}", '{"c":1}')), /\.spec\.c: field not declared/);
    const forbidden = thingOf(
      object({ a: { type: "string" } }, { oneOf: [{ properties: { a: { type: "string" } } }] }),
    );
    assert.equal(spec(forbidden, "{}", '{"c":1}'), '{"c":1}');
  });

  test("a list of no known type leaves its version unpublished, and so does one that is not served", () => {
    const list = { type: "array", items: { type: "string" }, "x-kubernetes-list-type": "bag" };
    assert.equal(thing(object({ spec: list })), undefined);
    const spec = { group: "acme.example", names: { kind: "Thing" }, versions: [{ name: "v1", served: false }] };
    assert.equal(customResourceSchemas([{ spec }], BUNDLED).version("acme.example", "v1"), undefined);
  });
});

describe("schemas of a cluster's documents", () => {
  const document = {
    components: {
      schemas: {
        "example.acme.v1.Thing": {
          type: "object",
          properties: {
            apiVersion: { type: "string" },
            kind: { type: "string" },
            spec: { allOf: [{ $ref: "#/components/schemas/example.acme.v1.Spec" }] },
          },
          "x-kubernetes-group-version-kind": [{ group: "acme.example", version: "v1", kind: "Thing" }],
        },
        "example.acme.v1.Spec": object({
          size: { type: "integer" },
          next: { $ref: "#/components/schemas/example.acme.v1.Spec" },
        }),
      },
    },
  };

  test("references are followed, those to themselves too; other groups' kinds are not its own", () => {
    const schemas = documentSchemas(document, "acme.example", "v1");
    assert.ok(schemas);
    assert.match(
      String(spec(schemas, '{"next":{"next":{}}}', '{"next":{"next":{"size":"x"}}}')),
      / \.spec\.next\.next\.size: expected numeric/,
    );
    assert.equal(schemas.typeOf("Other"), undefined);
    assert.equal(documentSchemas(document, "acme.example", "v2")?.typeOf("Thing"), undefined);
  });

  test("lists of old documents are merged as their patch strategy says", () => {
    const items = { type: "object", properties: { name: { type: "string" }, v: { type: "integer" } } };
    const list = { type: "array", items, "x-kubernetes-patch-merge-key": "name" };
    const merging = (strategy: string) => ({ ...list, "x-kubernetes-patch-strategy": strategy });
    const old = structuredClone(document);
    const lists = { a: merging("merge"), b: merging("merge,retainKeys"), c: merging("retainKeys") };
    Object.assign(old.components.schemas["example.acme.v1.Spec"].properties, lists);
    const schemas = documentSchemas(old, "acme.example", "v1");
    assert.ok(schemas);
    const of = (name: string, v: number) => `{"${name}":[{"name":"x","v":${v}}]}`;
    assert.equal(spec(schemas, of("a", 1), of("a", 2)), of("a", 2));
    assert.equal(spec(schemas, of("b", 1), '{"b":[{"name":"y"}]}'), '{"b":[{"name":"x","v":1},{"name":"y"}]}');
    assert.match(String(spec(schemas, of("c", 1), of("c", 2))), /may not mutate .*: \.spec\.c$/);
  });

  test("a document without schemas, or with one that makes no type, is none", () => {
    assert.equal(documentSchemas({}, "acme.example", "v1"), undefined);
    const broken = { components: { schemas: { a: { type: "array" } } } };
    assert.equal(documentSchemas(broken, "acme.example", "v1"), undefined);
  });

  test("the first source that knows a group and version counts", () => {
    const other = { version: () => documentSchemas(document, "acme.example", "v1") };
    const joined = joinedSchemas(BUNDLED, other);
    assert.equal(joined.version("apps", "v1"), BUNDLED.version("apps", "v1"));
    assert.ok(joined.version("acme.example", "v1"));
    assert.equal(joinedSchemas(BUNDLED).version("acme.example", "v1"), undefined);
  });
});
