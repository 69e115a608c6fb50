import assert from "node:assert/strict";
import { test } from "node:test";
import { MAX_STORE_OBJECTS } from "../../../src/kubernetes/client/limits.js";
import { StoredItems } from "../../../src/kubernetes/client/stored-items.js";

test("a store holds so many objects and no more", () => {
  const items = new StoredItems({ apiVersion: "v1", kind: "Pod" });
  const put = (i: number) => items.put({ metadata: { name: `p${i}` } });
  for (let i = 0; i < MAX_STORE_OBJECTS; i++) put(i);
  put(0);
  assert.throws(() => put(MAX_STORE_OBJECTS), {
    code: "KUBERNETES_RESOURCE",
    message: /more than 100000 objects of kind Pod/,
  });
});
