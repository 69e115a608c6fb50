/** What is special about Extism plugins; what every protocol does is in test/contract. */
import assert from "node:assert/strict";
import { after, describe, test } from "node:test";
import { context, file, raw, testRuntime } from "../../support.js";

describe("extism plugins", () => {
  const { runtime, logged } = testRuntime();
  after(() => runtime.close());

  test("built for WASI are initialised with the host's own WASI, and may print", async () => {
    const policy = await runtime.load({
      id: "wasi",
      bytes: file("test/fixtures/start/extism-wasi.wasm"),
      settings: {},
    });
    assert.equal(policy.implementation, "extism");
    // It is started to see whether it starts at all, and anew for the call.
    const hello = { policy: "wasi", level: "info", message: "hello", fields: {} };
    assert.deepEqual(logged, [hello]);
    assert.deepEqual(await policy.evaluate(raw(1), context()), { verdict: "allow" });
    assert.deepEqual(logged, [hello, hello]);
  });

  test("without validate_settings take any settings", async () => {
    const policy = await runtime.load({
      id: "trivial",
      bytes: file("test/fixtures/trivial/extism.wasm"),
      settings: { whatever: true },
    });
    assert.deepEqual(await policy.evaluate(raw(1), context()), { verdict: "allow" });
  });
});
