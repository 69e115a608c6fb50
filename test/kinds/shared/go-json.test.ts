import assert from "node:assert/strict";
import { test } from "node:test";
import { any, list, string, struct } from "../../../src/kinds/shared/decode/api-type.js";
import { decodeAsGo } from "../../../src/kinds/shared/decode/go-json.js";

const TYPE = struct("v1.Thing", {
  name: string(),
  items: list(struct("v1.Item", { userName: string() })),
  data: any,
});

test("keys fit fields in any case, and null is absent", () => {
  const written = { NAME: "n", Items: [{ username: "a" }], data: { Any: null } };
  assert.deepEqual(decodeAsGo(written, TYPE), {
    ok: true,
    value: { name: "n", items: [{ userName: "a" }], data: { Any: null } },
  });
  assert.deepEqual(decodeAsGo({ name: null }, TYPE), { ok: true, value: {} });
});

test("of two keys for a field the later one in order of keys counts", () => {
  assert.deepEqual(decodeAsGo({ name: "small", NAME: "large" }, TYPE), { ok: true, value: { name: "small" } });
});

test("the first mistake in order of keys is the one that is said", () => {
  assert.deepEqual(decodeAsGo({ zoo: 1, items: [{ b: 1, a: 2 }] }, TYPE), {
    ok: false,
    error: 'json: unknown field "a"',
  });
  assert.deepEqual(decodeAsGo({ name: 1 }, TYPE), {
    ok: false,
    error: "json: cannot unmarshal number into Go struct field Thing.name of type string",
  });
  assert.equal(decodeAsGo({ toString: 1 }, TYPE).ok, false);
  assert.deepEqual(decodeAsGo([], TYPE), {
    ok: false,
    error: "json: cannot unmarshal array into Go value of type v1.Thing",
  });
});
