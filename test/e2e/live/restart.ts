/** The API server restarts: a policy that is new, and one that changes, are in force within five seconds of its readiness, with one replica and with two. */
import assert from "node:assert/strict";
import { setTimeout as sleep } from "node:timers/promises";
import { clusterAdmissionPolicy, configMap, namespacedValidatingPolicy, validatingPolicy } from "./policies.js";
import type { Stage } from "./stage.js";

const WITHIN_MS = 5_000;
/** How long the API server is away in each round, in milliseconds. */
const AWAY_MS = [1_000, 1_000, 10_000, 1_000, 3_000, 35_000];

export async function apiServerRestarts(stage: Stage): Promise<void> {
  await stage.kubectl(["create", "namespace", "restart"]);
  await stage.replica("restart-a");
  const policies = (key: string): readonly object[] => [
    validatingPolicy("restart", "restart", `v-${key}`),
    clusterAdmissionPolicy("restart", "restart", `c-${key}`),
    namespacedValidatingPolicy("restart", "restart", `n-${key}`),
  ];
  const denied = async (key: string): Promise<boolean> => {
    const create = ["create", "--dry-run=server", "-n", "restart", "-f", "-"];
    const { text } = await stage.cluster.kubectl(create, JSON.stringify(configMap("c", key)));
    return text.includes(`the key ${key} is not allowed`);
  };
  await stage.apply(...policies("before"));
  await stage.active("vpol", "restart");
  const took: number[] = [];
  for (const [round, away] of AWAY_MS.entries()) {
    if (round === AWAY_MS.length / 2) await stage.replica("restart-b");
    const start = await stage.cluster.stopApiServer();
    await sleep(away);
    await start();
    const ready = Date.now();
    const since = async (what: string, key: string): Promise<string> => {
      await stage.until(what, () => denied(key));
      took.push(Date.now() - ready);
      return `${what} ${took.at(-1)} ms`;
    };
    const key = `round-${round}`;
    await stage.apply(validatingPolicy(`restart-${round}`, "restart", `new-${key}`), ...policies(key));
    const all = await Promise.all([
      since("the new one", `new-${key}`),
      ...["v", "c", "n"].map((kind) => since(`a changed one (${kind})`, `${kind}-${key}`)),
    ]);
    await stage.until("the former ones do not deny", async () => !(await denied(`v-round-${round - 1}`)));
    console.log(`away for ${away} ms, ${stage.replicas.size} replicas: ${all.join(", ")}`);
  }
  assert.ok(Math.max(...took) < WITHIN_MS, `in force after ${Math.max(...took)} ms`);
  for (const replica of [...stage.replicas.values()]) assert.equal(await replica.stop(), 0);
}
