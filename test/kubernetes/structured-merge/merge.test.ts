import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { applyConfiguration } from "../../../src/kubernetes/structured-merge/apply-configuration.js";
import { applied, BUNDLED, spec, thingOf } from "./support.js";

const STRINGS = { type: "array", items: { type: "string" } };
const SET = { ...STRINGS, "x-kubernetes-list-type": "set" };
const KEYED = {
  type: "array",
  "x-kubernetes-list-type": "map",
  "x-kubernetes-list-map-keys": ["name"],
  items: { type: "object", properties: { name: { type: "string" }, v: { type: "integer" }, w: { type: "integer" } } },
};

describe("lists", () => {
  const set = thingOf({ type: "object", properties: { set: SET } });
  const inSet = (live: string, patch: string) => {
    const list = (letters: string) => `{"set":${JSON.stringify([...letters])}}`;
    const after = JSON.parse(String(spec(set, list(live), list(patch)))) as { set: string[] };
    return after.set.join("");
  };

  test("a new item without an anchor goes to the end, another before the item that follows it in the patch", () => {
    assert.equal(inSet("ab", "c"), "abc");
    assert.equal(inSet("ab", "cb"), "acb");
    assert.equal(inSet("ab", "ca"), "cab");
    assert.equal(inSet("abc", "xay"), "xabcy");
  });

  test("what both have stands in the order of the patch, what only the object has keeps its place between", () => {
    assert.equal(inSet("abc", "ca"), "bca");
    assert.equal(inSet("axbyc", "cba"), "xycba");
    assert.equal(inSet("", "ba"), "ba");
    assert.equal(inSet("ab", ""), "ab");
  });

  test("items that stand twice in the object stay until the patch names them", () => {
    assert.equal(inSet("aab", "c"), "aabc");
    assert.equal(inSet("aba", "a"), "ab");
    const keyed = thingOf({ type: "object", properties: { list: KEYED } });
    const live = '{"list":[{"name":"a","v":1},{"name":"a","v":2}]}';
    assert.equal(spec(keyed, live, '{"list":[{"name":"a","w":3}]}'), '{"list":[{"name":"a","w":3}]}');
  });

  test("an item of the same key is merged member by member; one without the key is another", () => {
    const keyed = thingOf({ type: "object", properties: { list: KEYED } });
    const live = '{"list":[{"name":"a","v":1}]}';
    assert.equal(spec(keyed, live, '{"list":[{"name":"a","w":2}]}'), '{"list":[{"name":"a","v":1,"w":2}]}');
    assert.match(String(spec(keyed, live, '{"list":[{"w":2}]}')), /omits all key fields \["name"\]/);
  });

  test("numbers are equal by value as keys, and a text is no number", () => {
    const mixed = thingOf({
      type: "object",
      properties: { set: { ...SET, items: { "x-kubernetes-int-or-string": true } } },
    });
    assert.equal(spec(mixed, '{"set":[1,"1"]}', '{"set":[1.0]}'), '{"set":[1.0,"1"]}');
    assert.equal(spec(mixed, '{"set":["true"]}', '{"set":[true]}'), '{"set":["true",true]}');
  });

  test("keys of several members are not mixed up", () => {
    const items = {
      type: "object",
      properties: { a: { type: "string" }, b: { type: "string" }, v: { type: "integer" } },
    };
    const two = thingOf({
      type: "object",
      properties: { list: { ...KEYED, "x-kubernetes-list-map-keys": ["a", "b"], items } },
    });
    const live = '{"list":[{"a":"x,","b":"y","v":1},{"a":"x"}]}';
    const patch = '{"list":[{"a":"x","b":",y"},{"b":"x"}]}';
    assert.equal(spec(two, live, patch), '{"list":[{"a":"x,","b":"y","v":1},{"a":"x"},{"a":"x","b":",y"},{"b":"x"}]}');
  });

  test("keys of any value are told from texts that look like them", () => {
    const item = { type: "object", properties: { name: { "x-kubernetes-preserve-unknown-fields": true } } };
    const list = thingOf({ type: "object", properties: { list: { ...KEYED, items: item } } });
    const names = [
      null,
      "null",
      "\u0000null",
      '\u00004"null',
      [],
      "[]",
      "\u0000[]",
      '\u00002"[]',
      ["a", 1],
      ["a", "1"],
      {},
      { a: 1 },
    ];
    const live = { list: names.map((name) => ({ name })) };
    const patch = { list: names.filter((name) => name !== null && !Array.isArray(name)).map((name) => ({ name })) };
    assert.equal(spec(list, JSON.stringify(live), JSON.stringify(patch)), JSON.stringify(live));
  });

  test("one list in two places is merged as each of them is", () => {
    const item = {
      type: "object",
      properties: { a: { type: "string" }, b: { type: "string" }, v: { type: "integer" } },
    };
    const by = (key: string) => ({ ...KEYED, "x-kubernetes-list-map-keys": [key], items: item });
    const schemas = thingOf({ type: "object", properties: { x: by("a"), y: by("b") } });
    const head = { apiVersion: "acme.example/v1", kind: "Thing" };
    const live = [
      { a: "1", b: "1" },
      { a: "2", b: "2" },
    ];
    const shared = [{ a: "1", b: "2", v: 5 }];
    const outcome = applyConfiguration(
      schemas,
      { ...head, spec: { x: live, y: live } },
      { spec: { x: shared, y: shared } },
    );
    assert.deepEqual("object" in outcome && outcome.object.spec, {
      x: [
        { a: "1", b: "2", v: 5 },
        { a: "2", b: "2" },
      ],
      y: [
        { a: "1", b: "1" },
        { a: "1", b: "2", v: 5 },
      ],
    });
  });

  test("the default of a key counts, and is not written", () => {
    const ports = (...list: object[]) => ({ apiVersion: "v1", kind: "Service", spec: { ports: list } });
    const core = BUNDLED.version("", "v1");
    assert.ok(core);
    assert.deepEqual(
      applied(
        core,
        ports({ port: 80, protocol: "TCP" }, { port: 80, protocol: "UDP" }),
        ports({ port: 80, nodePort: 5 }),
      ),
      ports({ port: 80, protocol: "TCP", nodePort: 5 }, { port: 80, protocol: "UDP" }),
    );
    assert.deepEqual(
      applied(core, ports({ port: 80 }), ports({ port: 80, protocol: "TCP" })),
      ports({ port: 80, protocol: "TCP" }),
    );
    assert.deepEqual(applied(core, ports(), ports({ port: 1 })), ports({ port: 1 }));
  });
});

describe("objects", () => {
  test("apiVersion and kind of the patch do not count; nothing is changed in place", () => {
    const apps = BUNDLED.version("apps", "v1");
    assert.ok(apps);
    const live = Object.freeze({ apiVersion: "apps/v1", kind: "Deployment", spec: Object.freeze({ replicas: 1 }) });
    const patch = Object.freeze({ apiVersion: "v1", kind: "Pod", spec: Object.freeze({ paused: true }) });
    assert.deepEqual(applied(apps, live, patch), {
      apiVersion: "apps/v1",
      kind: "Deployment",
      spec: { replicas: 1, paused: true },
    });
  });

  test("null and empty values stay as they are where the patch asks for nothing", () => {
    const free = thingOf({ type: "object", "x-kubernetes-preserve-unknown-fields": true });
    assert.equal(spec(free, '{"a":null,"b":{},"c":[]}', '{"d":1}'), '{"a":null,"b":{},"c":[],"d":1}');
    assert.equal(spec(free, '{"a":{"x":1}}', '{"a":{}}'), '{"a":{"x":1}}');
    assert.equal(spec(free, '{"a":null}', '{"a":{}}'), '{"a":{}}');
  });

  test("without a schema objects merge, lists are replaced, and a value may take another form", () => {
    const free = thingOf({ type: "object", "x-kubernetes-preserve-unknown-fields": true });
    assert.equal(spec(free, '{"a":{"x":1},"l":[1,2]}', '{"a":{"y":2},"l":[3]}'), '{"a":{"x":1,"y":2},"l":[3]}');
    assert.equal(
      spec(free, '{"a":{"x":1},"b":[1],"c":1}', '{"a":[2],"b":{"y":2},"c":{}}'),
      '{"a":[2],"b":{"y":2},"c":{}}',
    );
  });

  test("names of JavaScript's own are names", () => {
    const free = thingOf({ type: "object", "x-kubernetes-preserve-unknown-fields": true });
    assert.equal(
      spec(free, '{"__proto__":{"a":1}}', '{"__proto__":{"b":2},"constructor":{"c":3}}'),
      '{"__proto__":{"a":1,"b":2},"constructor":{"c":3}}',
    );
    const strict = thingOf({ type: "object", properties: { a: { type: "string" } } });
    assert.equal(
      spec(strict, "{}", '{"constructor":1}'),
      "failed to convert patch object to typed object: .spec.constructor: field not declared in schema",
    );
  });

  test("doubles and integers beyond 2^53 keep their form", () => {
    const free = thingOf({ type: "object", properties: { n: { type: "number" } } });
    assert.equal(spec(free, '{"n":1}', '{"n":2.0}'), '{"n":2.0}');
    assert.equal(spec(free, '{"n":1}', '{"n":9007199254740993}'), '{"n":9007199254740993}');
  });
});
