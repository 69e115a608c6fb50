/** What OPA's and Gatekeeper's modules answer: what is not what the protocol says is an error, and neither an acceptance nor a rejection. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Outcome } from "../../src/policy/outcome.js";
import { readGatekeeperAnswer } from "../../src/wasm/protocols/gatekeeper/answer.js";
import { readOpaAnswer } from "../../src/wasm/protocols/opa/answer.js";
import { admission, question } from "./support.js";

const asked = question(admission({ kind: "Pod" }));
const unusable = (what: string): Outcome => ({
  verdict: "error",
  message: `internal server error: cannot interpret ${what} policy result`,
  cause: "protocol",
});

describe("Gatekeeper's answers", () => {
  const read = (result: string): Outcome => readGatekeeperAnswer(`[{"result":${result}}]`, asked);

  test("allow without a violation, and deny with the messages of those that have one", () => {
    assert.deepEqual(read("[]"), { verdict: "allow" });
    assert.deepEqual(read('[{"msg":"a"},{"msg":1},{},{"msg":"b"}]'), { verdict: "deny", message: "a, b" });
    assert.deepEqual(read("[{}]"), { verdict: "deny", message: "" });
  });

  for (const result of ["{}", "null", "true", '""', "[null]", "[1]", '[{"msg":"a"},"b"]'])
    test(`are not ${result}`, () => assert.deepEqual(read(result), unusable("Gatekeeper")));
});

describe("OPA's answers", () => {
  const text = (response: unknown): string => JSON.stringify([{ result: { response } }]);
  const read = (response: unknown): Outcome => readOpaAnswer(text(response), asked);

  test("are an AdmissionResponse, with all that it says", () => {
    const patch = Buffer.from('[{"op":"add","path":"/a","value":1}]').toString("base64");
    const status = { message: "m", code: 418, reason: "R", more: { is: "kept" } };
    const more = { warnings: ["w", 1], auditAnnotations: { a: "b", c: 2 }, patch };
    const shared = { warnings: ["w", "1"], auditAnnotations: { a: "b", c: "2" }, mutation: { kind: "patch", patch } };
    assert.deepEqual(read({ uid: "", allowed: true, status, ...more }), {
      ...{ verdict: "allow", message: "m", code: 418 },
      ...shared,
    });
    assert.deepEqual(read({ uid: "", allowed: false, status, ...more }), {
      ...{ verdict: "deny", message: "m", code: 418, reason: "R", status },
      ...shared,
    });
    for (const none of [undefined, null, "no"]) {
      const bare = { uid: "u", status: none, warnings: none, auditAnnotations: none };
      assert.deepEqual(read({ ...bare, allowed: false, patch: null }), { verdict: "deny" });
      assert.deepEqual(read({ ...bare, allowed: true }), { verdict: "allow" });
    }
    const odd = { message: 1, code: "1", reason: 1 };
    assert.deepEqual(read({ uid: "u", allowed: false, status: odd }), { verdict: "deny", status: odd });
  });

  for (const response of [
    ...[undefined, null, [], true, {}, { allowed: true }, { uid: "u" }, { uid: 1, allowed: true }],
    ...["true", 1, null].map((allowed) => ({ uid: "u", allowed })),
    ...[1, {}, "bm8=", Buffer.from("{}").toString("base64")].map((patch) => ({ uid: "u", allowed: true, patch })),
  ])
    test(`are not ${JSON.stringify(response)}`, () => assert.deepEqual(read(response), unusable("OPA")));

  for (const whole of ["[]", "{}", "null", "[null]", "[{}]", `[${text({ uid: "u", allowed: true }).slice(1, -1)},{}]`])
    test(`are not ${whole} as a whole`, () => assert.deepEqual(readOpaAnswer(whole, asked), unusable("OPA")));

  test("that are no JSON say so", () => {
    const outcome = readOpaAnswer("[", asked);
    assert.ok(outcome.verdict === "error" && outcome.cause === "protocol");
    assert.match(outcome.message, /^internal server error: .+/);
  });
});
