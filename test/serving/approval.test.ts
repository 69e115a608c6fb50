import assert from "node:assert/strict";
import { describe, type TestContext, test } from "node:test";
import type { Approving, Ruling } from "../../src/policy/approving.js";
import type { Policy } from "../../src/policy/policy.js";
import { createEvaluator } from "../../src/policy/served/evaluator.js";
import { createPolicySet, type ServedPolicy } from "../../src/policy/served/policy-set.js";
import { Approval, approvalProblem } from "../../src/serving/approval.js";
import { Metrics } from "../../src/telemetry/metrics.js";
import { findCluster } from "../../src/world/cluster.js";
import { certificateRequest, conditionsOf, keptLog, REQUESTS } from "../cluster/approver/support.js";
import { FakeApiServer } from "../kubernetes/client/fake-api-server.js";
import { until } from "../kubernetes/client/support.js";

const plain: Policy = {
  id: "p",
  kind: "cel",
  implementation: "test",
  immediate: true,
  evaluate: () => ({ verdict: "allow" }),
};

/** An entry whose policy rules like this. */
const entry = (review: Approving["review"], more: Partial<ServedPolicy> = {}): ServedPolicy => ({
  id: "p",
  policy: { ...plain, review, denies: true } as Policy,
  mode: "protect",
  allowedToMutate: false,
  ...more,
});
const ruling = (result: "Approved" | "Denied", message: string) => (): Ruling => ({ result, message });

const UNUSABLE: readonly [string, ServedPolicy[], RegExp][] = [
  ["is not there", [], /names the policy "p", which is not there/],
  [
    "is of another kind",
    [{ ...entry(() => assert.fail()), policy: plain }],
    /is not an entry of CertificateRequestPolicies/,
  ],
  [
    "only warns",
    [{ ...entry(() => assert.fail()), policy: { ...plain, review: () => assert.fail(), denies: false } as Policy }],
    /validationActions without Deny: it only warns/,
  ],
  ["is in monitor mode", [entry(() => assert.fail(), { mode: "monitor" })], /is in monitor mode/],
  ["could not be loaded", [entry(() => assert.fail(), { unavailable: "broken" })], /could not be loaded/],
];

async function start(context: TestContext, entries: readonly ServedPolicy[]) {
  const server = await FakeApiServer.start(context);
  const access = findCluster({ kubeconfig: server.kubeconfig(), env: {}, now: () => performance.now() });
  const { logger, lines } = keptLog();
  const metrics = new Metrics(false);
  const evaluator = createEvaluator(createPolicySet(entries), { policyTimeout: 1_000 });
  const approval = Approval.start({ id: "p", access, evaluator, policyTimeout: 1_000, logger, metrics });
  assert.ok(approval !== undefined);
  context.after(() => approval.stop());
  const use = (...next: readonly ServedPolicy[]): void => {
    evaluator.use(createPolicySet(next));
    approval.policiesChanged();
  };
  await until("the watches", () => server.watching === 6);
  return { server, access, lines, metrics, use };
}

describe("--approve", () => {
  test("decides by the set that is served at the moment, and counts", async (context) => {
    const { server, metrics, use } = await start(context, [entry(ruling("Approved", "by the first"))]);
    server.put(REQUESTS, certificateRequest("a"));
    await until("the first decision", () => conditionsOf(server, "a").length > 0);
    use(entry(ruling("Denied", "by the second")));
    server.put(REQUESTS, certificateRequest("b"));
    await until("the second decision", () => conditionsOf(server, "b").length > 0);
    assert.deepEqual(
      ["a", "b"].map((name) => conditionsOf(server, name)[0]?.message),
      ["by the first", "by the second"],
    );
    for (const status of ["approved", "denied"]) {
      const line = `certmanager_approverpolicy_certificaterequests_approval{namespace="team",status="${status}"} 1`;
      await until(line, async () => (await metrics.text()).join("").includes(line));
    }
  });

  for (const [what, entries, problem] of UNUSABLE) {
    test(`decides nothing while its policy ${what} after a reload, says so, and goes on when that is mended`, async (context) => {
      const approved = entry(ruling("Approved", ""));
      const { server, lines, use, ...others } = await start(context, [approved]);
      const metrics = async () => (await others.metrics.text()).join("");
      use(...entries);
      assert.match(String(lines.at(-1)?.fields.reason), problem);
      server.put(REQUESTS, certificateRequest("a"));
      await until("the request", () => metrics().then((text) => text.includes('status="unmatched"} 1')));
      use(...entries);
      assert.equal(lines.filter(({ level }) => level === "error").length, 1, "once");
      assert.deepEqual([server.patches.length, server.objects("events").length], [0, 0]);
      use(approved);
      assert.equal(lines.at(-1)?.message, "CertificateRequests are approved and denied again");
      await until("the decision", () => conditionsOf(server, "a").length > 0);
    });
  }

  test("cannot begin without a policy that decides, or without a cluster", async (context) => {
    const { access } = await start(context, [entry(ruling("Approved", ""))]);
    for (const [what, entries, problem] of UNUSABLE) {
      const found = approvalProblem("p", createPolicySet(entries), access);
      // What cannot be loaded may be mended while the server runs, unless it is strict.
      if (what === "could not be loaded") assert.equal(found, undefined);
      else assert.match(found ?? "", problem);
    }
    const good = createPolicySet([entry(ruling("Approved", ""))]);
    assert.equal(approvalProblem("p", good, access), undefined);
    assert.equal(approvalProblem("p", good, { missing: "no kubeconfig" }), "--approve needs a cluster: no kubeconfig");
    assert.equal(approvalProblem("p", good, undefined), "--approve needs a cluster: none is configured");
  });

  test("ends reviews that take longer than the policy may", async (context) => {
    const { server, lines } = await start(context, [entry(() => new Promise(() => {}), { timeout: 5 })]);
    server.put(REQUESTS, certificateRequest("a"));
    await until("the end", () => lines.some(({ fields }) => fields.reason === "the review exceeded its time"));
    assert.equal(server.patches.length, 0);
  });
});
