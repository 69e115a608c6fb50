import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { asStruct, asStructStrictly, structOf } from "../../src/kubernetes/go-types/as-struct.js";
import { applyJsonPatch } from "../../src/kubernetes/json-patch/apply.js";
import type { JsonObject } from "../../src/kubernetes/object.js";
import { PatchMemory } from "../../src/kubernetes/patch-memory.js";

const POD = structOf("v1", "Pod");
const container = (i: number): JsonObject => ({ name: `c${i}`, image: "a", resources: { limits: { cpu: "1000m" } } });
const pod = (): JsonObject => ({
  kind: "Pod",
  apiVersion: "v1",
  metadata: { name: "p", labels: { a: "b" } },
  spec: { containers: Array.from({ length: 20 }, (_, i) => container(i)) },
});
const containersOf = (object: unknown): readonly JsonObject[] =>
  (object as { spec: { containers: readonly JsonObject[] } }).spec.containers;

function shaped(object: JsonObject, memory?: PatchMemory): JsonObject {
  assert.ok(POD !== undefined);
  const result = asStructStrictly(object, POD, memory);
  assert.ok(result.ok, JSON.stringify(result));
  return result.object;
}

describe("what is known of an object", () => {
  test("is not made again: what a patch leaves as it was is the very same in the next struct", () => {
    const memory = new PatchMemory();
    const first = shaped(pod(), memory);
    const patched = applyJsonPatch(
      first,
      [{ op: "replace", path: "/spec/containers/3/image", from: "", value: "b" }],
      memory,
    );
    assert.ok(patched.kind === "patched");
    const second = shaped(patched.object, memory);
    const same = containersOf(second).map((each, i) => each === containersOf(first)[i]);
    assert.deepEqual(
      same.flatMap((each, i) => (each ? [] : [i])),
      [3],
    );
    assert.equal(second.metadata, first.metadata);
    assert.equal(shaped(second, memory), second);
  });

  test("comes to the same as looking at everything", () => {
    const memory = new PatchMemory();
    const operations = [
      { op: "add", path: "/spec/containers/-", from: "", value: container(21) },
      { op: "copy", path: "/spec/containers/0", from: "/spec/containers/5", value: undefined },
      { op: "remove", path: "/metadata/labels", from: "", value: undefined },
    ];
    const [known, anew] = [memory, undefined].map((each) => {
      const patched = applyJsonPatch(shaped(pod(), each), operations, each);
      assert.ok(patched.kind === "patched");
      return JSON.stringify(shaped(patched.object, each));
    });
    assert.equal(known, anew);
  });

  test("is no excuse for what does not fit", () => {
    const memory = new PatchMemory();
    assert.ok(POD !== undefined);
    const first = shaped(pod(), memory);
    for (const value of [{ name: 1 }, "text"]) {
      const patched = applyJsonPatch(first, [{ op: "replace", path: "/spec/containers/3", from: "", value }], memory);
      assert.ok(patched.kind === "patched");
      for (let i = 0; i < 2; i++) {
        assert.equal(asStructStrictly(patched.object, POD, memory).ok, false);
        assert.equal(asStruct(patched.object, POD, "converter", memory).ok, false);
      }
    }
    const unknown = applyJsonPatch(
      first,
      [{ op: "add", path: "/spec/containers/3/colour", from: "", value: "x" }],
      memory,
    );
    assert.ok(unknown.kind === "patched");
    for (let i = 0; i < 2; i++) assert.equal(asStructStrictly(unknown.object, POD, memory).ok, false);
  });
});
