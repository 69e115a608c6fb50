import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { NIL_LIST } from "../../../src/kubernetes/structured-merge/patch-value.js";
import { applied, BUNDLED, spec, thingOf } from "./support.js";

const apps = BUNDLED.version("apps", "v1");
const deployment = (spec: object) => ({ apiVersion: "apps/v1", kind: "Deployment", spec });
const refused = (patch: object, live: object = {}) => {
  assert.ok(apps);
  return applied(apps, deployment(live), { spec: patch });
};
const unfit = (cause: string) => `error applying patch: failed to convert patch object to typed object: ${cause}`;

describe("a patch that does not fit", () => {
  test("unknown members, one or several", () => {
    assert.equal(refused({ colour: "red" }), unfit(".spec.colour: field not declared in schema"));
    assert.equal(
      refused({ template: { colour: 1 }, strategy: { size: 2 } }),
      unfit(
        "errors:\n  .spec.template.colour: field not declared in schema\n  .spec.strategy.size: field not declared in schema",
      ),
    );
  });

  test("null is no value of any type", () => {
    const none = { $null: 1 };
    const expected = {
      replicas: "expected numeric (int or float), got structpb.NullValue",
      paused: "expected boolean, got &{NULL_VALUE}",
      strategy: "expected map, got &{NULL_VALUE}",
      template: "expected map, got &{NULL_VALUE}",
    };
    for (const [name, message] of Object.entries(expected)) {
      assert.equal(refused({ [name]: none }), unfit(`.spec.${name}: ${message}`));
    }
  });

  test("values of other types are shown as Go shows them", () => {
    const { $uint } = { $uint: 1 };
    assert.equal(refused({ replicas: "2" }), unfit(".spec.replicas: expected numeric (int or float), got string"));
    assert.equal(
      refused({ replicas: { $uint } }),
      unfit(".spec.replicas: expected numeric (int or float), got uint64"),
    );
    assert.equal(refused({ paused: "yes" }), unfit(".spec.paused: expected boolean, got &{yes}"));
    assert.equal(
      refused({ strategy: [1, { b: 2, a: "x" }] }),
      unfit(".spec.strategy: expected map, got &{[1 map[a:x b:2]]}"),
    );
    assert.equal(
      refused({ strategy: { type: { a: NIL_LIST, b: [] } } }),
      unfit(
        '.spec.strategy.type: expected string, got &value.valueUnstructured{Value:map[string]interface {}{"a":[]interface {}(nil), "b":[]interface {}{}}}',
      ),
    );
  });

  test("texts of bytes are texts, other formats take any scalar", () => {
    const schemas = thingOf({
      type: "object",
      properties: { bytes: { type: "string", format: "byte" }, time: { type: "string", format: "date-time" } },
    });
    const message = ".spec.bytes: expected string, got &value.valueUnstructured{Value:1}";
    assert.equal(
      spec(schemas, "{}", '{"time":1,"bytes":1}'),
      `failed to convert patch object to typed object: ${message}`,
    );
  });

  test("items of keyed lists", () => {
    const containers = (...list: unknown[]) => ({ template: { spec: { containers: list } } });
    const at = ".spec.template.spec.containers: ";
    assert.equal(refused(containers({ name: "b" }, { name: "b" })), unfit(`${at}duplicate entries for key [name="b"]`));
    assert.equal(
      refused(containers("a")),
      unfit(`${at}element 0: associative list with keys may not have non-map elements`),
    );
    assert.equal(
      refused(containers({ name: "a", ports: [{ containerPort: 1, hostPort: "x" }] })),
      unfit(
        '.spec.template.spec.containers[name="a"].ports[containerPort=1,protocol="TCP"].hostPort: expected numeric (int or float), got string',
      ),
    );
  });

  test("a kind that its own version does not publish", () => {
    const autoscaling = BUNDLED.version("autoscaling", "v1");
    assert.ok(autoscaling);
    assert.equal(
      applied(autoscaling, { apiVersion: "autoscaling/v1", kind: "Scale" }, {}),
      unfit("no corresponding type for autoscaling/v1, Kind=Scale"),
    );
    const core = BUNDLED.version("", "v1");
    assert.ok(core);
    assert.equal(
      applied(core, { apiVersion: "v1", kind: "PodExecOptions" }, {}),
      unfit("no corresponding type for /v1, Kind=PodExecOptions"),
    );
  });

  test("no more than a thousand mistakes of a list are told", () => {
    const wrong = Array.from({ length: 3000 }, (_, i) => ({ name: `c${i}`, colour: 1 }));
    assert.equal(String(refused({ template: { spec: { containers: wrong } } })).split("\n").length, 1001);
    const args = Array.from({ length: 3000 }, (_, i) => ({ name: `c${i}`, args: [] }));
    assert.equal(String(refused({ template: { spec: { containers: args } } })).split(", ").length - 1, 1000);
  });
});

test("a patch of more items than any policy writes, in all of its lists and maps together", () => {
  const core = BUNDLED.version("", "v1");
  assert.ok(core);
  const map = (length: number) => Object.fromEntries(Array.from({ length }, (_, i) => [`k${i}`, "v"]));
  const live = { apiVersion: "v1", kind: "ConfigMap" };
  const outcome = (length: number) => applied(core, live, { data: map(length), metadata: { labels: map(30_000) } });
  assert.equal(typeof outcome(30_000), "object");
  assert.match(String(outcome(30_001)), /: \.metadata\.labels: more than 60000 items of lists and maps in one patch$/);
});

describe("what a patch may not touch", () => {
  const atomics = (paths: string) =>
    `error applying patch: invalid ApplyConfiguration: may not mutate atomic arrays, maps or structs: ${paths}`;

  test("atomic lists, maps and structs, even empty, and what is inside of them", () => {
    const pod = { containers: [{ name: "a", args: [] }], nodeSelector: {}, tolerations: [{ key: "x" }] };
    assert.equal(
      refused({ template: { spec: pod } }),
      atomics(
        ".spec.template.spec.containers[0].args, .spec.template.spec.nodeSelector, .spec.template.spec.tolerations",
      ),
    );
    assert.equal(refused({ selector: { matchLabels: { a: "b" } } }), atomics(".spec.selector"));
  });

  test("but those in maps of any names, which are replaced", () => {
    const lists = { type: "object", additionalProperties: { type: "array", items: { type: "string" } } };
    assert.equal(spec(thingOf(lists), '{"a":["x","y"],"b":["z"]}', '{"a":["w"]}'), '{"a":["w"],"b":["z"]}');
    const objects = {
      "x-kubernetes-map-type": "atomic",
      type: "object",
      properties: { a: { type: "string" }, b: { type: "string" } },
    };
    const named = thingOf({ type: "object", additionalProperties: objects });
    assert.equal(spec(named, '{"x":{"a":"1"}}', '{"x":{"b":"2"}}'), '{"x":{"b":"2"}}');
  });
});

test("an object that does not fit is no object to patch", () => {
  assert.equal(
    refused({ paused: true }, { colour: "red" }),
    "error applying patch: failed to convert original object to typed object: .spec.colour: field not declared in schema",
  );
});
