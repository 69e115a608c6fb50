import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, test } from "node:test";
import { inspect } from "node:util";
import { readJson } from "../../../src/data/json.js";
import { sameValue } from "../../../src/data/same-value.js";
import { applyJsonPatch, type PatchOutcome } from "../../../src/kubernetes/json-patch/apply.js";
import { COPY_MAX_BYTES } from "../../../src/kubernetes/json-patch/limits.js";
import type { PatchOperation } from "../../../src/kubernetes/json-patch/operation.js";
import type { JsonObject } from "../../../src/kubernetes/object.js";

/** A patch and what the library makes of it. */
interface Golden {
  readonly object: JsonObject;
  readonly operations: readonly Partial<PatchOperation>[];
  readonly result: { readonly kind: string; readonly value?: unknown; readonly message?: string };
}

const golden = readFileSync(new URL("../../../../test/vectors/map/json-patch.jsonl", import.meta.url), "utf8")
  .trim()
  .split("\n")
  .map((line) => readJson(line).value as Golden);

const operation = ({ op = "", path = "", from = "", value }: Partial<PatchOperation>): PatchOperation => ({
  op,
  path,
  from,
  value,
});
const apply = (object: JsonObject, ...operations: readonly Partial<PatchOperation>[]): PatchOutcome =>
  applyJsonPatch(object, operations.map(operation));
const thing = (members: JsonObject): JsonObject => ({ apiVersion: "v1", kind: "Thing", ...members });
const objectOf = (outcome: PatchOutcome): JsonObject => {
  assert.equal(outcome.kind, "patched", inspect(outcome));
  return outcome.kind === "patched" ? outcome.object : {};
};

describe("a JSON patch", () => {
  test("does what evanphx/json-patch does, in object and message, and leaves the object as it was", () => {
    const differences: string[] = [];
    for (const { object, operations, result } of golden) {
      const before = JSON.stringify(object);
      const outcome = apply(object, ...operations);
      const same =
        outcome.kind === "patched"
          ? result.kind === "patched" && sameValue(outcome.object, result.value)
          : outcome.kind === "error"
            ? outcome.message === `JSON Patch: ${result.message}`
            : outcome.kind === "internal"
              ? result.kind === "patched"
              : outcome.kind === result.kind && (outcome.kind !== "panic" || outcome.message === result.message);
      if (!same || JSON.stringify(object) !== before) {
        differences.push(`${JSON.stringify(operations)}: ${JSON.stringify(outcome)}`);
      }
    }
    assert.deepEqual(differences, []);
    assert.ok(golden.length > 400);
  });

  test("that leaves no object of a kind is an internal error, with the text of what it leaves", () => {
    const outcome = apply(thing({ b: "<é>", a: [1, null] }), { op: "remove", path: "/kind" });
    const message = `Object 'Kind' is missing in '{"a":[1,null],"apiVersion":"v1","b":"\\u003cé\\u003e"}'`;
    assert.deepEqual(outcome, { kind: "internal", message, withoutKind: true });
    const number = apply(thing({}), { op: "add", path: "/kind", value: 5 });
    assert.equal(number.kind, "internal");
    const list = apply(thing({}), { op: "replace", path: "", value: [] });
    assert.ok(list.kind === "internal" && list.message.includes("cannot unmarshal array into Go value of type struct"));
  });

  test("writes numbers and reads them again: whole doubles are integers then, beyond int64 they stay doubles", () => {
    const object = objectOf(
      apply(thing({ a: Object(3), b: 1e20, c: 2 ** 60, d: [Object(2)], e: 9223372036854775807n })),
    );
    assert.deepEqual(object, thing({ a: 3, b: 1e20, c: 1152921504606847000n, d: [2], e: 9223372036854775807n }));
  });

  test("takes names such as __proto__ for data", () => {
    const object = objectOf(apply(thing({}), { op: "add", path: "/__proto__", value: { x: 1 } }));
    assert.deepEqual(Object.keys(object), ["apiVersion", "kind", "__proto__"]);
    assert.equal(Object.getPrototypeOf(object), Object.prototype);
  });

  test("shares what it does not change", () => {
    const spec = { list: [1, 2, { x: "y" }] };
    const object = objectOf(apply(thing({ spec }), { op: "add", path: "/metadata", value: {} }));
    assert.equal(object.spec, spec);
  });
});

describe("what a JSON patch may take", () => {
  test("copies may add 3 MiB, as in the API server", () => {
    const half = "x".repeat(COPY_MAX_BYTES / 2 - 2);
    const twice = [1, 2].map((i) => ({ op: "copy", from: "/a", path: `/${i}` }));
    assert.equal(apply(thing({ a: half }), ...twice).kind, "patched");
    const more = apply(thing({ a: `${half}xx` }), ...twice);
    const message = `Unable to complete the copy, the accumulated size increase of copy is ${COPY_MAX_BYTES + 4}, exceeding the limit ${COPY_MAX_BYTES}`;
    assert.deepEqual(more, { kind: "error", message: `JSON Patch: ${message}` });
  });

  test("an object that doubles with every operation is refused", () => {
    const doubling = Array.from({ length: 100 }, (_, i) => ({ op: "copy", from: "/a", path: `/a/${i}` }));
    const outcome = apply(thing({ a: { x: "y" } }), ...doubling);
    assert.ok(outcome.kind === "error" && /accumulated size|too much work|nests deeper/.test(outcome.message));
  });

  test("a long list is not moved again and again", () => {
    const list = Array.from({ length: 300_000 }, () => 0);
    const shifts = Array.from({ length: 20_000 }, () => ({ op: "remove", path: "/a/0" }));
    const began = process.cpuUsage();
    const outcome = apply(thing({ a: list }), ...shifts);
    const { user } = process.cpuUsage(began);
    assert.ok(outcome.kind === "error" && outcome.message.includes("too much work"), outcome.kind);
    assert.ok(user < 2_000_000, String(user));
  });

  test("an object that is nested deeper and deeper is refused", () => {
    const deeper = Array.from({ length: 2_000 }, () => [
      { op: "add", path: "/b", value: {} },
      { op: "move", from: "/a", path: "/b/a" },
      { op: "move", from: "/b", path: "/a" },
    ]).flat();
    const outcome = apply(thing({ a: {} }), ...deeper);
    assert.ok(outcome.kind === "error" && outcome.message.includes("nests deeper"), inspect(outcome));
  });

  test("ten thousand operations on a large object are a patch like any other", () => {
    const members = Object.fromEntries(Array.from({ length: 10_000 }, (_, i) => [`k${i}`, { x: `value ${i}` }]));
    const operations = Object.keys(members).map((key) => ({ op: "add", path: `/members/${key}/y`, value: 1 }));
    assert.equal(apply(thing({ members }), ...operations).kind, "patched");
  });
});
