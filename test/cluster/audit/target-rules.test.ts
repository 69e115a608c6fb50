import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { ruleNames, targetRules, withoutWildcards } from "../../../src/cluster/audit/target-rules.js";

const rule = (more: object) => ({
  apiGroups: [""],
  apiVersions: ["v1"],
  operations: ["CREATE"],
  resources: ["pods"],
  ...more,
});
const resources = (...rules: object[]) => targetRules(rules).map((each) => each.resources);

describe("what policies are for in the background", () => {
  test("is what can be created", () => {
    assert.deepEqual(resources(rule({}), rule({ operations: ["*"] }), rule({ operations: ["UPDATE", "CREATE"] })), [
      ["pods"],
      ["pods"],
      ["pods"],
    ]);
    assert.deepEqual(
      resources(rule({ operations: ["DELETE"] }), rule({ operations: ["CONNECT"] }), rule({ operations: [] })),
      [],
    );
  });

  test("has no subresources", () => {
    assert.deepEqual(resources(rule({ resources: ["pods/exec", "pods/*", "services"] })), [["services"]]);
    assert.deepEqual(resources(rule({ resources: ["pods/exec"] })), []);
    assert.deepEqual(resources(rule({ resources: ["*/*"] }), rule({ resources: ["*"] })), [["*"], ["*"]]);
  });

  test("may be everything, but not where it must be named", () => {
    const [all] = targetRules([rule({ apiGroups: ["*"], resources: ["*"] })]);
    assert.ok(all);
    const events = { group: "events.k8s.io", version: "v1", plural: "events" };
    assert.equal(ruleNames(all, events), true);
    assert.equal(ruleNames(all, events, true), false);
    assert.deepEqual(withoutWildcards([all]), []);
    assert.deepEqual(withoutWildcards(targetRules([rule({ apiVersions: ["*"] })])), []);
    assert.equal(withoutWildcards(targetRules([rule({ operations: ["*"] })])).length, 1);
  });

  test("is nothing that nobody understands", () => {
    assert.deepEqual(targetRules([null, 1, {}, { operations: "CREATE", resources: ["pods"] }]), []);
  });
});
