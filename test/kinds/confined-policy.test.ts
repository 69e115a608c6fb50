import assert from "node:assert/strict";
import { test } from "node:test";
import { confined } from "../../src/kinds/confined-policy.js";
import type { AdmissionRequest, Outcome, Policy, Review } from "../../src/policy/index.js";
import { context, raw } from "../wasm/support.js";

const DENY: Outcome = { verdict: "deny", message: "no" };
const policy: Policy = { id: "p", kind: "wasm", implementation: "x", immediate: true, evaluate: () => DENY };

const ask = (more: Partial<AdmissionRequest>): Outcome | Promise<Outcome> => {
  const request = {
    uid: "u",
    kind: { group: "", version: "v1", kind: "Pod" },
    resource: { group: "", version: "v1", resource: "pods" },
    operation: "CREATE",
    userInfo: {},
    ...more,
  };
  const review: Review = { kind: "admission", request, requestBytes: () => new Uint8Array() };
  return confined(policy, "team").evaluate(review, context());
};

test("a policy that is confined to a namespace judges requests about objects in it, and skips all others", () => {
  assert.equal(ask({ namespace: "team" }), DENY);
  const skip = { verdict: "skip", reason: 'the policy is confined to the namespace "team"' };
  const namespaces = { group: "", version: "v1", resource: "namespaces" };
  for (const request of [{ namespace: "other" }, {}, { namespace: "" }, { namespace: "team", resource: namespaces }]) {
    assert.deepEqual(ask(request), skip, JSON.stringify(request));
  }
  assert.equal(confined(policy, "team").evaluate(raw({}), context()), DENY, "no admission request is of no namespace");
  assert.equal(confined(policy, undefined), policy);
});

test("a guest that is confined tells how it begins at the moment", () => {
  let start: NonNullable<Policy["start"]> = { start: "cold" };
  const guest = confined(
    {
      ...policy,
      get start() {
        return start;
      },
    },
    "team",
  );
  assert.equal(guest.start?.start, "cold");
  start = { start: "warm" };
  assert.equal(guest.start?.start, "warm");
  assert.equal("start" in confined(policy, "team"), false);
});
