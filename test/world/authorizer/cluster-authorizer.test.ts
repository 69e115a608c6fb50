import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { setImmediate as turn } from "node:timers/promises";
import { MAX_CONNECTIONS, REQUEST_MS } from "../../../src/kubernetes/client/limits.js";
import type { AuthorizerAttributes, AuthorizerUser } from "../../../src/world/authorizer/authorizer.js";
import { ClusterAuthorizer } from "../../../src/world/authorizer/cluster-authorizer.js";

const userWith = (groups: readonly string[]): AuthorizerUser => ({ name: "alice", uid: "", groups, extra: {} });
const manyGroups = (count: number) => Array.from({ length: count }, (_, i) => `group-${i}`);
const asked = (user: AuthorizerUser, name: string): AuthorizerAttributes => ({
  user,
  verb: "use",
  group: "policy.cert-manager.io",
  version: "",
  resource: "certificaterequestpolicies",
  subresource: "",
  namespace: "n",
  name,
  path: "",
  fieldSelector: "",
  labelSelector: "",
  selectorError: "",
});

/** An authorizer before an API server that answers when it is told to. */
function held() {
  let now = 0;
  const waiting: (() => void)[] = [];
  const specs: { groups?: string[]; resourceAttributes: { name: string } }[] = [];
  const post = (_path: string, body: unknown) => {
    specs.push((body as { spec: (typeof specs)[0] }).spec);
    return new Promise((resolve) => waiting.push(() => resolve({ status: { allowed: true } })));
  };
  const authorizer = new ClusterAuthorizer({ post }, () => now, new AbortController().signal);
  const answer = async () => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      next();
      await turn();
    }
  };
  return { authorizer, specs, waiting, answer, later: (ms: number) => (now += ms) };
}

describe("questions to a cluster about who may do what", () => {
  test("wait for a connection before they are written, and are all answered", async () => {
    const { authorizer, specs, waiting, answer } = held();
    const user = userWith(manyGroups(10_000));
    const names = Array.from({ length: 1_000 }, (_, i) => `p${i}`);
    const answers = Promise.all(names.map((name) => authorizer.authorize(asked(user, name))));
    assert.equal(waiting.length, MAX_CONNECTIONS);
    await answer();
    assert.ok((await answers).every(({ decision }) => decision === "allow"));
    assert.deepEqual(
      specs.map(({ resourceAttributes }) => resourceAttributes.name),
      names,
    );
    assert.ok(specs.every(({ groups }) => groups?.length === 10_000));
  });

  test("are not put any more when they have waited too long", async () => {
    const { authorizer, specs, answer, later } = held();
    const user = userWith([]);
    const names = Array.from({ length: 40 }, (_, i) => `p${i}`);
    const answers = Promise.all(names.map((name) => authorizer.authorize(asked(user, name))));
    later(REQUEST_MS + 1);
    await answer();
    const late = (await answers).filter(({ error }) => error === "the API server did not answer in time");
    assert.deepEqual([specs.length, late.length], [MAX_CONNECTIONS, 40 - MAX_CONNECTIONS]);
    assert.ok(late.every(({ decision }) => decision === "noOpinion"));
  });

  test("about somebody with more groups than any token has are none", () => {
    const { authorizer, specs } = held();
    const user = userWith(manyGroups(100_000));
    assert.deepEqual(authorizer.authorize(asked(user, "p")), {
      decision: "noOpinion",
      reason: "",
      error: "the user has too many groups to be asked about",
    });
    assert.deepEqual(specs, []);
  });

  test("are the same about the same, in whatever order the groups stand, and others about others", async () => {
    for (const groups of [["a", "b"], manyGroups(1_000)]) {
      const { authorizer, specs, answer } = held();
      const users = [userWith(groups), userWith([...groups].reverse()), userWith([...groups, "c"])];
      const answers = users.map((user) => authorizer.authorize(asked(user, "p")));
      await answer();
      await Promise.all(answers);
      assert.equal(specs.length, 2);
    }
  });
});
