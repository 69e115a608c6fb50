import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { applyPatch, type Operation } from "rfc6902";
import { encodePatch } from "../../src/admission/encode.js";
import { parseJson, stringifyJson } from "../../src/data/json.js";
import { diff } from "../../src/data/json-patch.js";

/** The patch between two JSON texts, as JSON text. */
function patch(before: string, after: string): string {
  return stringifyJson(diff(parseJson(before), parseJson(after)));
}

describe("JSON Patch (spec kubewarden.md 4.1)", () => {
  test("equal values give no operations, whatever the order of keys", () => {
    assert.equal(patch('{"a":1,"b":[1,{"c":null}]}', '{"b":[1,{"c":null}],"a":1}'), "[]");
    assert.equal(encodePatch({ a: 1 }, { a: 1 }), undefined);
  });

  test("objects: keys sorted, adds, replacements, then removals", () => {
    assert.equal(
      patch('{"z":1,"a":1,"gone":true}', '{"z":2,"new":null,"a":1,"b":{"x":1}}'),
      '[{"op":"add","path":"/b","value":{"x":1}},{"op":"add","path":"/new","value":null},{"op":"replace","path":"/z","value":2},{"op":"remove","path":"/gone"}]',
    );
  });

  test("arrays: index by index, trailing adds, trailing removals at one index", () => {
    assert.equal(
      patch("[1,2]", "[1,3,4,5]"),
      '[{"op":"replace","path":"/1","value":3},{"op":"add","path":"/2","value":4},{"op":"add","path":"/3","value":5}]',
    );
    assert.equal(patch("[1,2,3]", "[1]"), '[{"op":"remove","path":"/1"},{"op":"remove","path":"/1"}]');
  });

  test("the whole document may be replaced, and kinds are told apart", () => {
    assert.equal(patch('{"a":1}', "[1]"), '[{"op":"replace","path":"","value":[1]}]');
    assert.equal(patch('{"a":{}}', '{"a":[]}'), '[{"op":"replace","path":"/a","value":[]}]');
    assert.equal(patch('{"a":null}', '{"a":false}'), '[{"op":"replace","path":"/a","value":false}]');
    assert.equal(patch('{"a":"1"}', '{"a":1}'), '[{"op":"replace","path":"/a","value":1}]');
  });

  test("keys are escaped as JSON Pointers say", () => {
    assert.equal(patch("{}", '{"a/b~c":1}'), '[{"op":"add","path":"/a~1b~0c","value":1}]');
    assert.equal(patch("{}", '{"a~1b":1}'), '[{"op":"add","path":"/a~01b","value":1}]');
    assert.equal(patch("{}", '{"a/b":1}'), '[{"op":"add","path":"/a~1b","value":1}]');
  });

  test("numbers beyond 2^53 and doubles keep their value, and are compared by it", () => {
    assert.equal(
      patch('{"n":9007199254740993}', '{"n":9007199254740993,"m":9007199254740995}'),
      '[{"op":"add","path":"/m","value":9007199254740995}]',
    );
    assert.equal(
      patch('{"n":9007199254740993}', '{"n":9007199254740992}'),
      '[{"op":"replace","path":"/n","value":9007199254740992}]',
    );
    assert.equal(patch('{"n":1.0,"m":2.0}', '{"n":1,"m":3.0}'), '[{"op":"replace","path":"/m","value":3.0}]');
    assert.equal(patch('{"n":1.0}', '{"n":2.0}'), '[{"op":"replace","path":"/n","value":2.0}]');
  });

  test("__proto__ and other special keys are keys", () => {
    assert.equal(
      patch("{}", '{"__proto__":{"polluted":1}}'),
      '[{"op":"add","path":"/__proto__","value":{"polluted":1}}]',
    );
    assert.equal(
      patch('{"__proto__":1,"constructor":2}', '{"toString":3}'),
      '[{"op":"add","path":"/toString","value":3},{"op":"remove","path":"/__proto__"},{"op":"remove","path":"/constructor"}]',
    );
  });

  test("a long array that changed everywhere is compared in linear time", () => {
    const before = Array.from({ length: 200_000 }, (_, i) => i);
    const after = before.map((i) => i + 1);
    assert.equal(diff(before, after).length, 200_000);
  });

  test("applied by another implementation, the patch gives the new value: 2,000 random pairs", () => {
    let seed = 42;
    const random = (n: number): number => {
      seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648;
      return seed % n;
    };
    const value = (depth: number): unknown => {
      const kind = random(depth > 3 ? 4 : 6);
      if (kind === 0) return random(3);
      if (kind === 1) return "s".repeat(random(3));
      if (kind === 2) return null;
      if (kind === 3) return random(2) === 0;
      if (kind === 4) return Array.from({ length: random(4) }, () => value(depth + 1));
      return Object.fromEntries(
        Array.from({ length: random(4) }, () => [["a", "b/c", "d~e", ""][random(4)] ?? "", value(depth + 1)]),
      );
    };
    for (let i = 0; i < 2000; i++) {
      const before = { root: value(0) };
      const after = { root: value(0) };
      const document = structuredClone(before);
      const failures = applyPatch(document, structuredClone(diff(before, after)) as Operation[]);
      assert.deepEqual(
        failures.filter((failure) => failure !== null),
        [],
      );
      assert.deepEqual(document, after);
    }
  });
});
