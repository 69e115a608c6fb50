import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { createEnvironment } from "../../../src/cel/index.js";
import { DYN, STRING } from "../../../src/cel/types.js";
import { CelError } from "../../../src/cel/values/cel-error.js";
import type { Value } from "../../../src/cel/values/value.js";
import { parseJson } from "../../../src/data/json.js";

const environment = createEnvironment({
  flavour: "kubernetes",
  variables: [
    { name: "object", type: DYN },
    { name: "k", type: STRING },
  ],
});

function evaluate(source: string, object: Value, k = ""): unknown {
  const compiled = environment.compile(source);
  assert.ok(compiled.ok, compiled.ok ? "" : compiled.text);
  const { result } = compiled.program.evaluate({ object, k });
  return result instanceof CelError ? `error: ${result.message}` : result;
}

/** Every name that some built-in prototype answers to. */
const INHERITED = [Object.prototype, Array.prototype, Number.prototype, Uint8Array.prototype, Map.prototype]
  .flatMap((prototype) => Object.getOwnPropertyNames(prototype))
  .filter((name) => /^[A-Za-z_]\w*$/.test(name));

describe("names of JavaScript's own objects are plain keys", () => {
  const filled = parseJson(`{${INHERITED.map((name) => `"${name}": "own"`).join(",")}}`) as Value;
  for (const name of new Set(INHERITED)) {
    test(name, () => {
      for (const empty of [{}, [], "text", 5, Object(1) as Value, new Uint8Array(3), null] as Value[]) {
        const isList = Array.isArray(empty);
        assert.equal(
          evaluate(`has(object.${name})`, empty),
          isList ? `error: unsupported index type 'string' in list` : false,
        );
        assert.equal(
          evaluate(`object.${name}`, empty),
          `error: ${isList ? "unsupported index type 'string' in list" : `no such key: ${name}`}`,
        );
        if (!isList) assert.equal(evaluate("object[?k].hasValue()", empty, name), false);
      }
      assert.equal(evaluate(`object.${name}`, filled), "own");
      assert.equal(evaluate("object[k]", filled, name), "own");
      assert.equal(evaluate(`has(object.${name}) && '${name}' in object && k in object`, filled, name), true);
      assert.equal(evaluate("k in object", {}, name), false);
      assert.equal(evaluate(`object.exists(key, key == '${name}')`, filled), true);
    });
  }
});

describe("data out of proportion", () => {
  test("objects whose members are called like conversions are compared and added without being called", () => {
    const object = parseJson('{"valueOf": 1, "toString": 2, "toJSON": 3}') as Value;
    assert.equal(evaluate("object == 1", object), false);
    assert.equal(evaluate("object + 1", object), "error: no such overload: _+_");
    assert.equal(evaluate("object < 1", object), "error: no such overload: _<_");
    assert.equal(evaluate("[object][object]", object), "error: invalid qualifier type: map[string]interface {}");
  });

  test("a nest of 500 lists is walked", () => {
    const nested = parseJson(`${"[".repeat(400)}${"]".repeat(400)}`) as Value;
    assert.equal(evaluate("object == object", nested), true);
    assert.equal(evaluate("object in [object]", nested), true);
  });

  test("a loop over a long list ends at the cost limit", () => {
    const long = Array.from({ length: 1_000_000 }, (_, index) => index) as Value;
    assert.equal(evaluate("object.all(x, x >= 0)", long), "error: operation cancelled: actual cost limit exceeded");
    const loops = "object.all(a, object.all(b, object.all(c, object.all(d, true))))";
    assert.equal(evaluate(loops, long), "error: operation cancelled: actual cost limit exceeded");
  });

  test("a loop ends at the deadline", () => {
    const compiled = environment.compile("object.all(a, object.all(b, a <= b || b <= a)) || true");
    assert.ok(compiled.ok);
    let now = 0;
    const deadline = { at: 10, now: () => now++ };
    const object = Array.from({ length: 300 }, (_, index) => index) as Value;
    const { result } = compiled.program.evaluate({ object }, { deadline });
    assert.deepEqual(result, new CelError("operation interrupted", "interrupted"));
  });

  test("integers beyond 2^53 keep their value, whole doubles stay doubles", () => {
    const object = parseJson('{"big": 9007199254740993, "whole": 2.0, "most": 9223372036854775807}') as Value;
    assert.equal(evaluate("object.big - 1", object), 9007199254740992n);
    assert.equal(evaluate("object.most + 1", object), "error: integer overflow");
    assert.equal(evaluate("object.whole + 1", object), "error: no such overload");
    assert.equal(evaluate("object.whole == 2 && type(object.whole) == double", object), true);
  });
});
