import assert from "node:assert/strict";
import { X509Certificate } from "node:crypto";
import { describe, test } from "node:test";
import { ApiError } from "../../../src/kubernetes/client/errors.js";
import { type JsonObject, member } from "../../../src/kubernetes/object.js";
import { DAY, distrust, HOST, MINUTE, SimulatedCluster, type SimulatedReplica } from "./simulated-cluster.js";

/** Two replicas that serve, the first of them as leader. */
async function started(options: ConstructorParameters<typeof SimulatedCluster>[0] = {}) {
  const cluster = new SimulatedCluster(options);
  const [one, two] = [cluster.start("one"), cluster.start("two")];
  cluster.lead(one);
  await cluster.pass(2 * MINUTE);
  return { cluster, one, two };
}

const annotated = (secret: JsonObject | undefined, annotations: JsonObject): JsonObject => {
  const metadata = member(secret, "metadata") as JsonObject;
  return {
    ...secret,
    metadata: { ...metadata, annotations: { ...(metadata.annotations as JsonObject), ...annotations } },
  };
};
const ask = (cluster: SimulatedCluster): void =>
  cluster.write(annotated(cluster.secret, { "policy-server.admission/rotate-certificates": "please" }));
const stepsOf = (...replicas: readonly SimulatedReplica[]): string[] => replicas.flatMap(({ steps }) => steps);

describe("certificates of a Secret", () => {
  test("are made by the first leader, and served by all", async () => {
    const { cluster, one, two } = await started();
    await Promise.all([one.certificates.ready, two.certificates.ready]);
    assert.deepEqual(stepsOf(one, two), ["made"]);
    assert.equal(two.certificates.unready(), undefined);
    assert.equal(one.serving, cluster.data("tls.crt"));
    assert.equal(two.serving, cluster.data("tls.crt"));
    assert.equal(one.certificates.caBundle(), cluster.data("ca.crt"));
    assert.equal(one.facts.certificate, two.facts.certificate);
    assert.match(one.facts.certificate ?? "", /^[0-9a-f]{16}$/);
    assert.equal(distrust(cluster.data("tls.crt"), cluster.data("ca.crt"), cluster.clock.wall()), undefined);
    const [leaf, authority] = [
      new X509Certificate(cluster.data("tls.crt")),
      new X509Certificate(cluster.data("ca.crt")),
    ];
    assert.equal(Date.parse(leaf.validTo) - Date.parse(leaf.validFrom), 90 * DAY + 5 * MINUTE);
    assert.equal(Date.parse(authority.validTo) - Date.parse(authority.validFrom), 365 * DAY + 5 * MINUTE);
    assert.equal(cluster.secret?.type, "kubernetes.io/tls");
  });

  test("are made by nobody while nobody leads", async () => {
    const cluster = new SimulatedCluster();
    const one = cluster.start("one");
    const refused = assert.rejects(
      one.certificates.ready,
      /no certificate in Secret policies\/policy-server-tls: it is not there; no leader has made it/,
    );
    await cluster.pass(2 * MINUTE);
    await refused;
    assert.equal(one.certificates.unready(), "no certificate yet: Secret policies/policy-server-tls: it is not there");
    assert.equal(one.lines.filter(({ level }) => level === "error").length, 1);
    assert.equal(cluster.secret, undefined);
  });

  test("that can't be made are missed with the reason", async () => {
    const cluster = new SimulatedCluster();
    cluster.refuse = () => new ApiError(403, "Forbidden", "secrets is forbidden");
    const one = cluster.start("one");
    cluster.lead(one);
    const refused = assert.rejects(
      one.certificates.ready,
      /it is not there; this replica leads, and could not make it: secrets is forbidden/,
    );
    await cluster.pass(2 * MINUTE, 10_000);
    await refused;
    cluster.refuse = undefined;
    await cluster.pass(MINUTE);
    assert.equal(one.serving, cluster.data("tls.crt"));
  });

  test("would fail calls if nobody waited for API servers: this is seen here", async () => {
    const { cluster } = await started({ times: { inForce: 0, held: 0 }, webhookDelay: 1000 });
    ask(cluster);
    await assert.rejects(cluster.pass(5 * MINUTE), /an API server does not trust/);
  });

  test("are renewed by the same authority when two thirds of their life are over, not before", async () => {
    const { cluster, one, two } = await started();
    const before = cluster.data("ca.crt");
    await cluster.jump(59 * DAY);
    await cluster.pass(MINUTE);
    assert.deepEqual(one.steps, ["made"]);
    await cluster.jump(2 * DAY);
    await cluster.pass(MINUTE);
    assert.deepEqual(one.steps, ["made", "renewed"]);
    assert.equal(cluster.data("ca.crt"), before);
    assert.equal(two.serving, cluster.data("tls.crt"));
  });

  test("change their authority in three steps, each when everybody is ready for it", async () => {
    const { cluster, one, two } = await started({ webhookDelay: 20_000 });
    const [authority, leaf] = [cluster.data("ca.crt"), cluster.data("tls.crt")];
    await cluster.jump(244 * DAY);
    // In which the certificate has been renewed four times.
    cluster.checking = false;
    await cluster.pass(MINUTE);
    cluster.checking = true;
    assert.deepEqual(one.steps, ["made", "renewed", "authority_added"]);
    const renewed = cluster.data("tls.crt");
    assert.notEqual(renewed, leaf);
    assert.equal(cluster.authorities, 2);
    assert.ok(cluster.data("ca.crt").startsWith(authority));
    assert.notEqual(cluster.data("next-ca.key"), "");
    await cluster.pass(2 * MINUTE);
    assert.deepEqual(one.steps.slice(3), ["authority_switched"]);
    assert.notEqual(cluster.data("tls.crt"), renewed);
    assert.equal(two.serving, cluster.data("tls.crt"));
    assert.equal(cluster.data("next-ca.key"), "");
    assert.ok(cluster.data("ca.crt").endsWith(authority));
    await cluster.pass(8 * MINUTE);
    assert.equal(cluster.authorities, 2);
    await cluster.pass(3 * MINUTE);
    assert.deepEqual(one.steps.slice(4), ["authority_removed"]);
    assert.equal(cluster.authorities, 1);
    assert.ok(!cluster.data("ca.crt").includes(authority));
    assert.equal(one.certificates.caBundle(), cluster.data("ca.crt"));
    await cluster.pass(60 * MINUTE, MINUTE);
    assert.equal(one.steps.length, 5);
  });

  test("wait for webhooks that are not written, and go on when they are", async () => {
    const { cluster, one } = await started();
    cluster.webhookDelay = Number.POSITIVE_INFINITY;
    ask(cluster);
    await cluster.pass(60 * MINUTE, 10_000);
    assert.deepEqual(one.steps, ["made", "authority_added"]);
    cluster.webhookDelay = 1000;
    cluster.lead(one);
    await cluster.pass(30_000);
    assert.equal(one.steps.length, 2);
    await cluster.pass(MINUTE);
    assert.deepEqual(one.steps.slice(2), ["authority_switched"]);
  });

  test("keep the old authority while a replica serves what it has signed", async () => {
    const { cluster, one, two } = await started();
    two.connected = false;
    ask(cluster);
    await cluster.pass(60 * MINUTE, 10_000);
    assert.deepEqual(one.steps, ["made", "authority_added", "authority_switched"]);
    assert.notEqual(two.serving, one.serving);
    cluster.reconnect(two);
    await cluster.pass(5 * MINUTE);
    assert.equal(two.serving, one.serving);
    assert.equal(cluster.authorities, 2);
    await cluster.pass(10 * MINUTE);
    assert.equal(cluster.authorities, 1);
  });

  test("are asked for once", async () => {
    const { cluster, one } = await started();
    ask(cluster);
    await cluster.pass(60 * MINUTE, 10_000);
    assert.deepEqual(one.steps, ["made", "authority_added", "authority_switched", "authority_removed"]);
  });

  test("go through the whole rotation when the leader changes every few seconds, without a step being done twice", async () => {
    for (const every of [7, 95]) {
      const { cluster, one, two } = await started();
      ask(cluster);
      for (let passed = 0; passed < 20 * 60; passed += every) {
        cluster.lead(cluster.replicas[(passed / every) % 2] ?? one);
        await cluster.pass(every * 1000, 1000);
      }
      if (every > 60)
        assert.deepEqual(stepsOf(one, two).toSorted(), ["authority_added", "authority_switched", "made"].toSorted());
      // Each leader waits for itself; one that leads for longer takes the last step.
      cluster.lead(two);
      await cluster.pass(15 * MINUTE, 1000);
      assert.deepEqual(
        stepsOf(one, two).toSorted(),
        ["authority_added", "authority_removed", "authority_switched", "made"].toSorted(),
      );
    }
  });

  test("go on after the leader has died in the middle of any write", async () => {
    for (let dying = 0; dying < 3; dying++) {
      for (const inDryRun of [true, false]) {
        const { cluster, one, two } = await started();
        let writes = 0;
        cluster.beforeWrite = (dryRun) => {
          if (dryRun !== inDryRun) return;
          if (writes++ !== dying) return;
          one.leading?.abort();
          cluster.refuse = () => new ApiError(503, "", "gone");
        };
        ask(cluster);
        await cluster.pass(20 * MINUTE, 5000);
        assert.equal(stepsOf(one, two).length, 1 + dying);
        cluster.refuse = undefined;
        await cluster.end(one);
        const three = cluster.start("three");
        cluster.lead(two);
        await cluster.pass(30 * MINUTE, 5000);
        assert.deepEqual(stepsOf(one, two, three), [
          "made",
          "authority_added",
          "authority_switched",
          "authority_removed",
        ]);
        assert.equal(three.serving, two.serving);
        assert.equal(cluster.authorities, 1);
      }
    }
  });

  test("look again when somebody else has written in between", async () => {
    const { cluster, one } = await started();
    let others = 0;
    cluster.beforeWrite = (dryRun) => {
      if (dryRun || others++ > 2) return;
      cluster.write(annotated(cluster.secret, { "example.com/other": String(others) }));
    };
    ask(cluster);
    await cluster.pass(30 * MINUTE, 10_000);
    assert.deepEqual(one.steps, ["made", "authority_added", "authority_switched", "authority_removed"]);
    const annotations = member(member(cluster.secret, "metadata"), "annotations");
    assert.equal(member(annotations, "example.com/other"), "3");
    assert.ok(one.lines.every(({ level }) => level !== "error"));
  });

  test("of two leaders at a time only one makes them", async () => {
    const cluster = new SimulatedCluster();
    const [one, two] = [cluster.start("one"), cluster.start("two")];
    one.certificates.lead(new AbortController().signal);
    cluster.lead(two);
    await cluster.pass(MINUTE);
    assert.deepEqual(stepsOf(one, two), ["made"]);
    assert.equal(one.serving, two.serving);
  });

  test("get names that they lack at once, beside those that they have", async () => {
    const { cluster, one } = await started();
    const three = cluster.start("three", { hosts: ["gateway.policies.svc", "127.0.0.1", "2001:db8::1"] });
    cluster.lead(three);
    await cluster.pass(10_000);
    const leaf = new X509Certificate(one.serving ?? "");
    assert.ok(leaf.checkHost("gateway.policies.svc"));
    assert.ok(leaf.checkIP("127.0.0.1"));
    assert.ok(leaf.checkIP("2001:db8::1"));
    assert.ok(leaf.checkHost(HOST));
    assert.deepEqual(three.steps, ["renewed"]);
    await cluster.pass(MINUTE);
    assert.deepEqual(three.steps, ["renewed"]);
  });

  test("that have expired are replaced at once, with a new authority when that has expired too", async () => {
    const { cluster, one } = await started();
    const authority = cluster.data("ca.crt");
    cluster.checking = false;
    await cluster.jump(100 * DAY);
    await cluster.pass(10_000);
    assert.deepEqual(one.steps, ["made", "renewed"]);
    assert.equal(cluster.data("ca.crt"), authority);
    cluster.check();
    await cluster.jump(400 * DAY);
    await cluster.pass(20_000);
    assert.deepEqual(one.steps.slice(2), ["made"]);
    assert.ok(!cluster.data("ca.crt").includes(authority));
    await cluster.pass(MINUTE);
    cluster.check();
  });

  test("are switched to the next authority when the old one ends before webhooks trust it", async () => {
    const { cluster, one } = await started();
    cluster.webhookDelay = Number.POSITIVE_INFINITY;
    cluster.checking = false;
    await cluster.jump(250 * DAY);
    await cluster.pass(MINUTE);
    assert.deepEqual(one.steps, ["made", "renewed", "authority_added"]);
    const bundle = cluster.data("ca.crt");
    await cluster.jump(114.9 * DAY);
    await cluster.pass(MINUTE);
    assert.deepEqual(one.steps.slice(3), ["renewed"]);
    await cluster.jump(0.2 * DAY);
    await cluster.pass(MINUTE);
    assert.deepEqual(one.steps.slice(4), ["authority_switched"]);
    assert.equal(distrust(one.serving ?? "", bundle, cluster.clock.wall()), undefined);
  });

  test("are not renewed again and again when their authority comes to its end", async () => {
    const { cluster, one } = await started();
    cluster.webhookDelay = Number.POSITIVE_INFINITY;
    await cluster.jump(250 * DAY);
    cluster.checking = false;
    await cluster.pass(MINUTE);
    await cluster.jump(110 * DAY);
    await cluster.pass(60 * MINUTE, 10_000);
    assert.deepEqual(one.steps, ["made", "renewed", "authority_added", "renewed"]);
    assert.equal(
      new X509Certificate(cluster.data("tls.crt")).validTo,
      new X509Certificate(cluster.data("ca.crt")).validTo,
    );
  });

  test("survive a wall clock that jumps forward and back", async () => {
    const { cluster, one } = await started();
    cluster.checking = false;
    await cluster.jump(1000 * DAY);
    await cluster.pass(MINUTE);
    await cluster.jump(-1000 * DAY);
    await cluster.pass(2 * MINUTE);
    cluster.checking = true;
    await cluster.pass(30 * MINUTE, 10_000);
    assert.equal(distrust(one.serving ?? "", cluster.data("ca.crt"), cluster.clock.wall()), undefined);
    assert.equal(cluster.authorities, 1);
  });

  test("are not touched by a leader whose clock is not the API server's", async () => {
    const { cluster, one, two } = await started();
    one.clock.shift = 400 * DAY;
    await cluster.pass(10 * MINUTE, 10_000);
    assert.deepEqual(one.steps, ["made"]);
    const errors = one.lines.filter(({ level }) => level === "error");
    assert.match(
      String(errors.at(-1)?.fields.reason),
      /the clock of this replica \(.*\) and the API server's \(.*\) are too far apart/,
    );
    assert.ok(errors.length < 100);
    assert.equal(one.serving, two.serving);
    one.clock.shift = 4 * MINUTE;
    ask(cluster);
    await cluster.pass(30 * MINUTE, 10_000);
    assert.equal(one.steps.length, 4);
  });

  test("whose webhooks are somebody else's change their authority a month after the new one was shown", async () => {
    const { cluster, one } = await started({ managed: false });
    ask(cluster);
    await cluster.pass(60 * MINUTE, 10_000);
    assert.deepEqual(one.steps, ["made", "authority_added"]);
    await cluster.jump(31 * DAY);
    await cluster.pass(MINUTE);
    assert.deepEqual(one.steps, ["made", "authority_added", "authority_switched"]);
  });

  test("stay when the Secret can't be written, which is said once and tried again", async () => {
    const { cluster, one } = await started();
    cluster.refuse = () => new ApiError(403, "Forbidden", "secrets is forbidden");
    ask(cluster);
    await cluster.pass(10 * MINUTE, 10_000);
    const errors = one.lines.filter(({ level }) => level === "error");
    assert.equal(errors.length, 1);
    assert.match(String(errors[0]?.fields.reason), /secrets is forbidden/);
    cluster.refuse = undefined;
    await cluster.pass(MINUTE);
    assert.deepEqual(one.steps, ["made", "authority_added"]);
  });

  test("get a new authority when the key of theirs is gone", async () => {
    const { cluster, one } = await started();
    const data = Object.entries(member(cluster.secret, "data") ?? {}).filter(([key]) => key !== "ca.key");
    cluster.write({ ...cluster.secret, data: Object.fromEntries(data) });
    await cluster.pass(30 * MINUTE, 10_000);
    assert.deepEqual(one.steps, ["made", "authority_added", "authority_switched", "authority_removed"]);
  });
});
