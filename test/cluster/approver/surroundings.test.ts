import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { type JsonObject, text } from "../../../src/kubernetes/object.js";
import type { Ruling } from "../../../src/policy/approving.js";
import { FakeApiServer, status } from "../../kubernetes/client/fake-api-server.js";
import { until } from "../../kubernetes/client/support.js";
import { certificateRequest, REQUESTS, startApprover, type TestClock } from "./support.js";

/** Markers are decided, so that they are reviewed once. */
const decide = ({ metadata }: JsonObject): Ruling =>
  text(metadata, "namespace") === "markers"
    ? { result: "Approved", message: "" }
    : { result: "Unprocessed", message: "" };
const SETTLED_MS = 6_000;
const SWEEP_MS = 300_000;

/** Which requests are reviewed by the time that a new one, made now, is. */
async function reviewedWith(marker: string, server: FakeApiServer, reviewed: string[]): Promise<string[]> {
  reviewed.length = 0;
  server.put(REQUESTS, certificateRequest(marker, { status: {} }, "markers"));
  await until(marker, () => reviewed.includes(marker));
  return reviewed.filter((name) => name !== marker).sort();
}

/** Waits until the list that failed is to be begun anew: beside that only the next sweep is to come. */
const tryAgain = (clock: TestClock) => until("the wait for another attempt", () => clock.timers === 2);

describe("what undecided requests depend on", () => {
  for (const [what, plural, object, again] of [
    ["a Namespace", "namespaces", { metadata: { name: "team" } }, ["a"]],
    ["a Role", "roles", { metadata: { name: "r", namespace: "team" } }, ["a"]],
    ["a RoleBinding", "rolebindings", { metadata: { name: "r", namespace: "team-2" } }, ["b"]],
    ["a ClusterRole", "clusterroles", { metadata: { name: "r" } }, ["a", "b"]],
    ["a ClusterRoleBinding", "clusterrolebindings", { metadata: { name: "r" } }, ["a", "b"]],
  ] as const) {
    test(`${what}: they are looked at again when it has changed and settled`, async (context) => {
      const server = await FakeApiServer.start(context);
      server.put(REQUESTS, certificateRequest("a"));
      server.put(REQUESTS, certificateRequest("b", {}, "team-2"));
      const { clock, reviewed } = await startApprover(context, server, decide);
      await until("the first reviews", () => reviewed.length === 2);
      const timers = clock.timers;
      server.put(plural, object);
      await until("the change", () => clock.timers === timers + 1);
      clock.move(SETTLED_MS - 1);
      assert.deepEqual(await reviewedWith("early", server, reviewed), []);
      clock.move(1);
      await until("the reviews", () => reviewed.length === 1 + again.length);
      assert.deepEqual(reviewed.slice(1).sort(), again.length === 2 ? ["a", "b"] : [...again]);
      clock.move(SWEEP_MS * 3);
      assert.deepEqual(await reviewedWith("late", server, reviewed), []);
    });
  }

  test("is asked about every five minutes where it may not be watched", async (context) => {
    const server = await FakeApiServer.start(context);
    server.put(REQUESTS, certificateRequest("a"));
    const refused = "/apis/rbac.authorization.k8s.io/v1/roles";
    server.special.set(refused, (_, response) => status(response, 403, "Forbidden", "roles is forbidden"));
    const { clock, reviewed, lines } = await startApprover(context, server, decide, { watches: 5 });
    await until("the warning", () => lines.some(({ level }) => level === "warn"));
    await until("the review", () => reviewed.length === 1);
    assert.match(lines.find(({ level }) => level === "warn")?.message ?? "", /changes of roles are not noticed/);
    for (let times = 2; times <= 3; times++) {
      await tryAgain(clock);
      clock.move(SWEEP_MS);
      await until(`review ${times}`, () => reviewed.length === times);
      await until("another attempt", () => server.asked(`GET ${refused}`).length === times);
    }
    assert.equal(lines.filter(({ level }) => level === "warn").length, 1);
    server.special.clear();
    await tryAgain(clock);
    clock.move(SWEEP_MS);
    await until("the watch", () => server.watching === 6);
  });

  test("is watched again soon where only the answer failed, and then everything is looked at", async (context) => {
    const server = await FakeApiServer.start(context);
    server.put(REQUESTS, certificateRequest("a"));
    const failing = "/apis/rbac.authorization.k8s.io/v1/roles";
    server.special.set(failing, (_, response) => status(response, 500, "InternalError", "etcd is away"));
    const { clock, reviewed, lines } = await startApprover(context, server, decide, { watches: 5 });
    await until("the warning", () => lines.some(({ level }) => level === "warn"));
    await until("the review", () => reviewed.length === 1);
    await tryAgain(clock);
    clock.move(1_000);
    await until("another attempt", () => server.asked(`GET ${failing}`).length === 2);
    await tryAgain(clock);
    server.special.clear();
    clock.move(2_000);
    await until("the watch", () => server.watching === 6);
    clock.move(SETTLED_MS);
    await until("the review", () => reviewed.length === 2);
    assert.deepEqual(
      lines.filter(({ level }) => level === "warn").map(({ message }) => message),
      ["changes of roles are not noticed until they can be watched again"],
    );
  });
});
