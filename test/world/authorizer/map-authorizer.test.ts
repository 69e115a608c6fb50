import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { AuthorizerAttributes, AuthorizerUser } from "../../../src/world/authorizer/authorizer.js";
import { MapAuthorizer, type MapEntry } from "../../../src/world/authorizer/map-authorizer.js";

const TOPIC = { verb: "use", group: "policy.cert-manager.io", resource: "certificaterequestpolicies" };
const user = (name: string, ...groups: string[]): AuthorizerUser => ({ name, uid: "", groups, extra: {} });
const asked = (more: Partial<AuthorizerAttributes>): AuthorizerAttributes => ({
  ...TOPIC,
  user: user("alice"),
  version: "",
  subresource: "",
  namespace: "n",
  name: "p",
  path: "",
  fieldSelector: "",
  labelSelector: "",
  selectorError: "",
  ...more,
});

function allows(entries: readonly MapEntry[], more: Partial<AuthorizerAttributes>): boolean {
  return new MapAuthorizer(TOPIC, entries).authorize(asked(more)).decision === "allow";
}

describe("a list of who may use what", () => {
  test("names users, groups and service accounts, as they stand", () => {
    const entries = [{ users: ["alice", "*"], groups: ["dev"], serviceAccounts: ["a:b"], names: ["*"] }];
    for (const who of [user("alice"), user("x", "ops", "dev"), user("system:serviceaccount:a:b")]) {
      assert.ok(allows(entries, { user: who }), JSON.stringify(who));
    }
    for (const who of [user("bob"), user("dev"), user("", "alice"), user("a:b"), user("system:serviceaccount:a:c")]) {
      assert.ok(!allows(entries, { user: who }), JSON.stringify(who));
    }
    assert.ok(!allows([], { user: user("root", "system:masters") }));
  });

  test("has wildcards for policies and namespaces; all entries count together", () => {
    const entries = [
      { users: ["alice"], names: ["a-*"], namespaces: ["prod-*", "n"] },
      { groups: ["dev"], names: ["b", "c"] },
    ];
    const who = user("alice", "dev");
    const authorizer = new MapAuthorizer(TOPIC, entries);
    const may = (namespace: string) =>
      ["a", "a-1", "b", "bb", "c"].filter(
        (name) => authorizer.authorize(asked({ user: who, namespace, name })).decision === "allow",
      );
    assert.deepEqual(may("prod-1"), ["a-1", "b", "c"]);
    assert.deepEqual(may("test"), ["b", "c"]);
    assert.deepEqual(may("n"), ["a-1", "b", "c"]);
    assert.ok(!allows(entries, { user: user("bob"), name: "a-1" }));
  });

  test("says nothing about anything else", () => {
    const entries = [{ users: ["alice"], names: ["*"] }];
    assert.ok(allows(entries, {}));
    const others = [{ verb: "get" }, { group: "" }, { resource: "x" }, { subresource: "status" }, { path: "/" }];
    for (const other of others) assert.ok(!allows(entries, other), JSON.stringify(other));
  });
});
