/**
 * The API server is killed and comes back: a policy that is new, and one that changes, decide within five seconds of its readiness, with one replica and with
 * two. Requests go without kubectl, which reads hundreds of documents first after a restart.
 */
import assert from "node:assert/strict";
import { setTimeout as sleep } from "node:timers/promises";
import { Api } from "./api.js";
import { clusterAdmissionPolicy, configMap, namespacedValidatingPolicy, validatingPolicy } from "./policies.js";
import type { Stage } from "./stage.js";

/** And as long as a change takes without a restart three times, where the machine has other work. */
const WITHIN_MS = 5_000;
/** How long the API server is away in each round, in milliseconds. */
const AWAY_MS = [0, 0, 10_000, 0, 3_000, 35_000];

export async function apiServerRestarts(stage: Stage): Promise<void> {
  await stage.kubectl(["create", "namespace", "restart"]);
  await stage.replica("restart-a");
  const policies = (key: string): readonly object[] => [
    validatingPolicy("restart", "restart", `v-${key}`),
    clusterAdmissionPolicy("restart", "restart", `c-${key}`),
    namespacedValidatingPolicy("restart", "restart", `n-${key}`),
  ];
  await stage.apply(...policies("before"));
  for (const kind of ["vpol", "cap"]) await stage.claim(`${kind} is in force`, () => stage.active(kind, "restart"));
  for (const [round, away] of AWAY_MS.entries()) {
    if (round === AWAY_MS.length / 2) {
      await stage.replica("restart-b");
      await stage.claim("vpol is in force with two replicas", () => stage.active("vpol", "restart"));
    }
    let still = 0;
    await stage.claim("without a restart a change is in force after", async () => {
      const key = `still-${round}`;
      still = await inForce(stage, Date.now(), key, [validatingPolicy("restart", "restart", key)]);
      return `${still} ms`;
    });
    const start = await stage.cluster.stopApiServer();
    await sleep(away);
    const started = start();
    await isReady(stage);
    const ready = Date.now();
    const key = `round-${round}`;
    const created = validatingPolicy(`restart-${round}`, "restart", `new-${key}`);
    const replicas = `${stage.replicas.size} ${stage.replicas.size === 1 ? "replica" : "replicas"}`;
    await stage.claim(`${replicas}, API server away for ${away} ms: changes are in force after`, async () => {
      const all = await Promise.all([
        inForce(stage, ready, `new-${key}`, [created]),
        ...policies(key).map((policy, i) => inForce(stage, ready, `${"vcn"[i]}-${key}`, [policy])),
      ]);
      const late = Math.max(...all) - 3 * still - WITHIN_MS;
      assert.ok(late < 0, `${all.join(", ")} ms: too late by ${late} ms`);
      return `${all.join(", ")} ms`;
    });
    await started;
  }
  for (const replica of stage.replicas.values()) {
    assert.doesNotMatch(replica.log(), /(?:WARN|ERROR).*forbidden/);
  }
  for (const replica of [...stage.replicas.values()]) assert.equal(await replica.stop(), 0);
}

async function isReady({ cluster }: Stage): Promise<void> {
  for (;;) {
    const api = new Api(cluster.kubeconfig);
    const answer = await api.ask({ method: "GET", path: "/readyz" }).catch(() => undefined);
    api.close();
    if (answer?.code === 200) return;
    await sleep(50);
  }
}

/** Applies policies, and waits until a ConfigMap with a key is denied. @returns milliseconds since `from` */
async function inForce(stage: Stage, from: number, key: string, policies: readonly object[]): Promise<number> {
  const api = new Api(stage.cluster.kubeconfig);
  for (const policy of policies) {
    const { apiVersion, kind, metadata } = policy as {
      readonly apiVersion: string;
      readonly kind: string;
      readonly metadata: { readonly name: string; readonly namespace?: string };
    };
    const place = metadata.namespace === undefined ? "" : `/namespaces/${metadata.namespace}`;
    const plural = `${kind.toLowerCase().replace(/y$/, "ie")}s`;
    const path = `/apis/${apiVersion}${place}/${plural}/${metadata.name}?fieldManager=scene&force=true`;
    const { code, message } = await api.ask({
      method: "PATCH",
      path,
      body: policy,
      type: "application/apply-patch+yaml",
    });
    assert.ok(code < 300, message);
  }
  await stage.until(`the denial of ${key}`, async () => {
    const path = "/api/v1/namespaces/restart/configmaps?dryRun=All";
    const { message } = await api.ask({ method: "POST", path, body: configMap("c", key) });
    return message.includes(`the key ${key} is not allowed`) || message;
  });
  api.close();
  return Date.now() - from;
}
