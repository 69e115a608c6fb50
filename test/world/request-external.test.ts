import assert from "node:assert/strict";
import { test } from "node:test";
import { jsonWeight } from "../../src/data/json-weight.js";
import type { JsonObject } from "../../src/kubernetes/object.js";
import { MAX_ANSWERS_BYTES } from "../../src/world/request-external.js";
import { LookupFailure } from "../../src/world/resources/resource-source.js";
import { requestWorld } from "../kinds/kyverno/external/support.js";

test("a value weighs what its texts and its members do", () => {
  const small = jsonWeight(Object(1));
  assert.ok(small > 0);
  assert.equal(jsonWeight("x".repeat(1_000)) - jsonWeight(""), 1_000);
  assert.ok(jsonWeight(new Array(1_000).fill(1)) > 1_000 * small);
  assert.ok(jsonWeight({ ["k".repeat(1_000)]: { a: [null] } }) > 1_000);
  // What is too heavy is not gone through to its end.
  const trap = Object.defineProperty({ a: "x".repeat(100) }, "b", { enumerable: true, get: () => assert.fail() });
  assert.ok(jsonWeight(trap, 50) > 50);
});

test("the answers to one request have room together; beyond it the request fails, whatever its policies make of it", () => {
  const half: JsonObject = { text: "x".repeat(MAX_ANSWERS_BYTES / 2 - 1_000) };
  const place = { apiVersion: "v1", resource: "configmaps", namespace: "a" };
  const http = { send: () => half };
  const asked = (objects: object) => {
    const world = requestWorld({ http, objects: objects as never });
    const { external } = world;
    const question = { method: "GET", headers: {}, body: undefined, ca: "", namespaced: false } as const;
    external.send({ ...question, url: "a" });
    // The same question has the same answer, which is there once.
    external.send({ ...question, url: "a" });
    external.get(place, "small");
    assert.equal(world.failure, undefined);
    return { world, external };
  };
  const small = { get: () => ({}), list: () => half, create: () => half };
  const answers = [
    asked(small).external.list(place, {}),
    asked({ ...small, list: () => ({ items: [half, {}] }) }).external.list(place, {}),
  ];
  assert.equal(answers[0], half);
  assert.ok(!(answers[1] instanceof LookupFailure));
  const { world, external } = asked(small);
  external.list(place, {});
  const refused = external.create(place, {}, "{}");
  assert.deepEqual(refused, new LookupFailure(`all answers take more than ${MAX_ANSWERS_BYTES} bytes`));
  assert.equal(world.failure, `all answers take more than ${MAX_ANSWERS_BYTES} bytes`);
});
