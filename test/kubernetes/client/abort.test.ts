import assert from "node:assert/strict";
import { once } from "node:events";
import { test } from "node:test";
import { endWithin } from "../../../src/kubernetes/client/abort.js";

test("many that listen to one signal are no leak, and nobody is warned of one", async () => {
  const outer = new AbortController();
  const warned = once(process, "warning").then(([warning]) => String(warning));
  const limits = Array.from({ length: 20 }, () => endWithin(outer.signal, 60_000));
  const nothing = new Promise((resolve) => setImmediate(() => setImmediate(resolve, "nothing")));
  assert.equal(await Promise.race([warned, nothing]), "nothing");
  outer.abort();
  for (const { signal, done } of limits) {
    assert.ok(signal.aborted);
    done();
  }
});
