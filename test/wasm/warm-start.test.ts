import assert from "node:assert/strict";
import { describe, type TestContext, test } from "node:test";
import type { WasmPolicy, WasmRuntimeOptions } from "../../src/wasm/index.js";
import { until } from "../support/until.js";
import { admission, context, file, testRuntime } from "./support.js";
import { bytesOf } from "./wat.js";

const ALLOW = '{"accepted":true}';
const DENY = '{"accepted":false}';
const WORK = `(local.set $i (i32.const 100000))
  (loop $l (br_if $l (local.tee $i (i32.sub (local.get $i) (i32.const 1)))))`;
const POD = admission({ kind: "Pod", metadata: { name: "some-pod" } });
const OTHER = admission({ kind: "Pod", metadata: { name: "zzzz" } });

/** A waPC guest whose call is slow the first time, and then does what is given. */
const lazy = (then: string) => {
  const text = `(module
    (import "wapc" "__guest_request" (func $request (param i32 i32)))
    (import "wapc" "__guest_response" (func $answer (param i32 i32)))
    (memory (export "memory") 2)
    (data (i32.const 100) ${JSON.stringify(ALLOW)}) (data (i32.const 200) ${JSON.stringify(DENY)})
    (data (i32.const 300) ${JSON.stringify('{"valid":true}')})
    (global $calls (mut i32) (i32.const 0))
    (func (export "__guest_call") (param $operation i32) (param $length i32) (result i32) (local $i i32)
      (call $request (i32.const 4096) (i32.const 8192))
      (if (i32.ne (local.get $operation) (i32.const 8))
        (then (call $answer (i32.const 300) (i32.const 14)) (return (i32.const 1))))
      (if (i32.eqz (global.get $calls)) (then ${WORK}))
      (global.set $calls (i32.add (global.get $calls) (i32.const 1)))
      ${then}
      (call $answer (i32.const 100) (i32.const ${ALLOW.length})) (i32.const 1)))`;
  return bytesOf(text);
};

/** Does something else in a second call of an instance when the question's last bytes are those of the Pod named zzzz: no neutral request has them. */
const changing = (does: string) =>
  lazy(`
  (if (i32.and (i32.gt_u (global.get $calls) (i32.const 1))
               (i32.eq (i32.load (i32.add (i32.const 8192) (i32.sub (local.get $length) (i32.const 23)))) (i32.const 0x7a7a7a7a)))
    (then ${does}))`);
const FORGETFUL = changing(`(call $answer (i32.const 200) (i32.const ${DENY.length})) (return (i32.const 1))`);

async function loaded(t: TestContext, bytes: Uint8Array, options: Partial<WasmRuntimeOptions> = {}) {
  const { runtime, logged } = testRuntime(options);
  t.after(() => runtime.close());
  return { policy: await runtime.load({ id: "p", bytes, settings: {} }), logged };
}

/** Asks until the policy's start is another one than at first. */
async function untilTaken(policy: WasmPolicy): Promise<void> {
  const first = policy.start;
  await until("another start", async () => {
    if (policy.start === first) assert.equal((await policy.evaluate(POD, context())).verdict, "allow");
    return policy.start !== first;
  });
}

describe("a policy's start", () => {
  test("is cold until it has been asked twice, and then as warm as can be", async (t) => {
    const { policy } = await loaded(t, lazy(""));
    assert.deepEqual(policy.start, { start: "cold", because: "it has not been asked often enough" });
    await untilTaken(policy);
    assert.deepEqual(policy.start, { start: "warm" });
    for (let left = 30; left > 0; left--) assert.deepEqual(await policy.evaluate(POD, context()), { verdict: "allow" });
    assert.deepEqual(policy.start, { start: "warm" });
  });

  test("stays cold when that is switched off", async (t) => {
    const { policy } = await loaded(t, lazy(""), { warmStart: false });
    for (let left = 5; left > 0; left--) await policy.evaluate(POD, context());
    await new Promise((resolve) => setTimeout(resolve, 100));
    assert.deepEqual(policy.start, { start: "cold", because: "it is told to" });
  });

  test("is cold again, with a warning, when a request shows that the state changes an answer; the answer is the cold one", async (t) => {
    const { policy, logged } = await loaded(t, FORGETFUL);
    await untilTaken(policy);
    assert.deepEqual(policy.start, { start: "warm" });
    assert.deepEqual(await policy.evaluate(OTHER, context()), { verdict: "allow" });
    await until("a cold start", () => policy.start.start !== "warm");
    assert.deepEqual(policy.start, { start: "cold", because: "with the state an answer was another than without" });
    assert.deepEqual(
      logged.map(({ level, message }) => `${level}: ${message}`),
      ["warn: the policy's instances begin cold again: with the state an answer was another than without"],
    );
    assert.deepEqual(await policy.evaluate(OTHER, context()), { verdict: "allow" });
  });

  test("is proved by answers that agreed, not by calls that began: of a burst all answers are the cold ones", async (t) => {
    const { policy } = await loaded(t, FORGETFUL);
    await untilTaken(policy);
    assert.deepEqual(policy.start, { start: "warm" });
    // Both ways are asked on threads: the gate has to hold a place for each.
    assert.equal(policy.immediate, false);
    const answers = await Promise.all(Array.from({ length: 60 }, () => policy.evaluate(OTHER, context())));
    assert.deepEqual(new Set(answers.map(({ verdict }) => verdict)), new Set(["allow"]));
    assert.equal(policy.start.start, "cold");
  });

  test("is cold again when a call with the state does not end", async (t) => {
    const { policy } = await loaded(t, changing("(loop $l (br $l))"), { defaultTimeoutMs: 1_000 });
    await untilTaken(policy);
    assert.deepEqual(policy.start, { start: "warm" });
    await until("a cold start", async () => {
      assert.deepEqual(await policy.evaluate(OTHER, context()), { verdict: "allow" });
      return policy.start.start !== "warm";
    });
  });

  for (const [what, path, mode, settings] of [
    ["OPA", "test/vectors/rego/opa.wasm", "opa", { denied: "kube-system", list: [1, 2] }],
    ["Gatekeeper", "test/vectors/rego/gatekeeper.wasm", "gatekeeper", { denied: "kube-system" }],
    ["Extism", "policies/privileged-pods/policy.wasm", "extism", {}],
  ] as const) {
    test(`${what}: answers are the same as without a state`, async (t) => {
      const { runtime } = testRuntime({ longStartUnits: 0 });
      t.after(() => runtime.close());
      const cold = testRuntime({ warmStart: false });
      t.after(() => cold.runtime.close());
      const source = { id: "p", bytes: file(path), settings, executionMode: mode };
      const policy = await runtime.load(source);
      const beside = await cold.runtime.load(source);
      const reviews = [
        POD,
        OTHER,
        admission({ kind: "Pod", spec: { containers: [{ name: "a", securityContext: { privileged: true } }] } }),
        admission(),
      ];
      const expected = await Promise.all(reviews.map((review) => beside.evaluate(review, context())));
      await until("a start with a state", async () => {
        for (const [index, review] of reviews.entries())
          assert.deepEqual(await policy.evaluate(review, context()), expected[index]);
        return policy.start.start !== "cold";
      });
      assert.deepEqual(policy.start, { start: "started" });
      for (const [index, review] of reviews.entries())
        assert.deepEqual(await policy.evaluate(review, context()), expected[index]);
    });
  }

  test("is cold when it is short", async (t) => {
    const { policy } = await loaded(t, file("policies/privileged-pods/policy.wasm"));
    await untilTaken(policy);
    assert.deepEqual(policy.start, { start: "cold", because: "its start is short" });
  });

  test("a command's is cold", async (t) => {
    const { policy } = await loaded(t, file("test/fixtures/trivial/wasi.wasm"));
    await untilTaken(policy);
    assert.deepEqual(policy.start, { start: "cold", because: "a command runs as a whole" });
  });
});
