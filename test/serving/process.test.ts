import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { serveSettings } from "../../src/cli/serve-settings.js";
import type { Policy } from "../../src/policy/policy.js";
import { createPolicySet, type ServedPolicy } from "../../src/policy/served/policy-set.js";
import { ServingProcess } from "../../src/serving/process.js";
import { Metrics } from "../../src/telemetry/metrics.js";
import { findCluster } from "../../src/world/cluster.js";
import { keptLog } from "../cluster/approver/support.js";
import { FakeApiServer } from "../kubernetes/client/fake-api-server.js";

const policy = { review: () => assert.fail("nothing is to be decided"), denies: true };
const ENTRY: ServedPolicy = { id: "p", policy: policy as unknown as Policy, mode: "protect", allowedToMutate: false };

describe("a process that serves", () => {
  test("and is told to approve approves once; one that was told to stop before does not", async (context) => {
    const api = await FakeApiServer.start(context);
    const access = findCluster({ kubeconfig: api.kubeconfig(), env: {}, now: () => performance.now() });
    const limits = { maxBodyBytes: 1000, maxConcurrentRequests: 1, maxQueuedRequests: 1, drainDelay: 0, drainGrace: 0 };
    const ports = { addr: "127.0.0.1", port: 0, readinessProbePort: 0 };
    const loaded = { file: "", policies: createPolicySet([ENTRY]), files: [], problems: [], errors: 0 };
    for (const stopped of [false, true]) {
      const { logger, lines } = keptLog();
      const serving = await ServingProcess.start({
        settings: serveSettings({ ...limits, ...ports, approve: "p" }),
        source: { policyTimeout: 1000, access, load: async () => loaded, close: () => {} },
        logger,
        metrics: new Metrics(false),
        probes: false,
        cut: new AbortController().signal,
      });
      const stop = () => serving.stop(0, 0);
      if (stopped) await stop();
      for (let times = 0; times < 2; times++) serving.approve();
      if (!stopped) await stop();
      const begun = lines.filter(({ message }) => message === "approving CertificateRequests").length;
      assert.equal(begun, stopped ? 0 : 1);
    }
  });
});
