import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, describe, test } from "node:test";
import { WasmLoadError } from "../../../src/wasm/errors.js";
import { ModuleStore } from "../../../src/wasm/module/prepare.js";
import { RewritingThread } from "../../../src/wasm/module/rewriting-thread.js";
import { type RewriteOrder, rewritten, withoutFloor } from "../../../src/wasm/module/rewritten.js";
import { countedThreads } from "../../support/counted-threads.js";

const vector = (name: string): Uint8Array => readFileSync(new URL(`../../../../test/vectors/${name}`, import.meta.url));
const RUST = vector("kubewarden/wasm/chaos-wapc.wasm");
const REGO = vector("rego/gatekeeper.wasm");
const NO_MODULE = Uint8Array.of(0, 0x61, 0x73, 0x6d, 9, 9, 9, 9);

const order = (bytes: Uint8Array, role: RewriteOrder["role"] = "only", maximumPages = 1_024): RewriteOrder => ({
  bytes,
  role,
  maximumPages,
});

describe("modules that are rewritten on a thread", () => {
  const thread = new RewritingThread();
  after(() => thread.close());

  for (const [name, each] of [
    ["a policy in Rust, which has a floor", order(RUST)],
    ["a policy in Rego, which marks what it writes to", order(REGO)],
    ["the main module of several", order(RUST, "main")],
    ["a module beside that", order(RUST, "beside")],
  ] as const)
    test(`${name}: as on the main thread`, async () => assert.deepEqual(await thread.rewrite(each), rewritten(each)));

  test("a module without its floor can still be made", async () => {
    const { floor } = await thread.rewrite(order(RUST));
    assert.ok(floor !== undefined);
    await WebAssembly.compile(withoutFloor(floor));
  });

  test("several at once: each gets its own", async () => {
    const made = await Promise.all(
      [order(RUST), order(REGO), order(RUST, "beside")].map((each) => thread.rewrite(each)),
    );
    assert.deepEqual(
      made.map(({ bytes }) => bytes.length),
      [order(RUST), order(REGO), order(RUST, "beside")].map((each) => rewritten(each).bytes.length),
    );
  });

  test("the caller keeps its bytes", async () => {
    const bytes = Uint8Array.from(RUST);
    await thread.rewrite(order(bytes));
    assert.deepEqual(bytes, Uint8Array.from(RUST));
  });

  test("the caller gives its bytes away where it says so, if nobody else has a part of their memory", async () => {
    const [own, shared] = [Uint8Array.from(RUST), Uint8Array.from([...RUST, 0]).subarray(0, RUST.length)];
    const expected = rewritten(order(RUST)).bytes.length;
    const made = await Promise.all([own, shared].map((bytes) => thread.rewrite(order(bytes), true)));
    assert.deepEqual(
      made.map(({ bytes }) => bytes.length),
      [expected, expected],
    );
    assert.deepEqual([own.length, shared.length], [0, RUST.length]);
  });

  for (const [name, each, code] of [
    ["what is no module", order(NO_MODULE), "wasm-invalid"],
    ["too large a memory", order(RUST, "only", 1), "wasm-memory"],
  ] as const)
    test(`${name} is refused in the same words, and the next one is taken`, async () => {
      const refusal = await thread.rewrite(each).catch((error: unknown) => error);
      assert.ok(refusal instanceof WasmLoadError);
      assert.equal(refusal.code, code);
      assert.throws(() => rewritten(each), { code, message: refusal.message });
      assert.ok((await thread.rewrite(order(REGO))).bytes.length > 0);
    });

  test("the thread is asked again after it has ended", async () => {
    const own = new RewritingThread();
    await own.rewrite(order(REGO));
    own.close();
    assert.ok((await own.rewrite(order(REGO))).bytes.length > 0);
    own.close();
  });

  test("who waits is told when it is closed", async () => {
    const own = new RewritingThread();
    const waits = assert.rejects(own.rewrite(order(RUST)), /the thread that prepares modules has been closed/);
    own.close();
    await waits;
  });
});

describe("a store whose process answers requests", () => {
  test("prepares modules on a thread, and only then", async (context) => {
    const threads = countedThreads(context);
    const store = new ModuleStore();
    const first = await store.prepare(RUST, 1_024);
    assert.equal(threads.started, 0);
    store.leaveMainThread();
    assert.equal(await store.prepare(RUST, 1_024), first);
    assert.equal(threads.started, 0);
    assert.equal((await store.prepare(REGO, 1_024, "gatekeeper")).mode, "gatekeeper");
    assert.equal(threads.started, 1);
    store.close();
  });
});
