/** Two replicas under requests: the leader is killed, the certificates change, every replica is started anew. Nothing is lost, nothing wrong. */
import assert from "node:assert/strict";
import { setTimeout as sleep } from "node:timers/promises";
import { Api } from "./api.js";
import { type LoadResult, loadOn } from "./load.js";
import { validatingPolicy } from "./policies.js";
import type { Json, Replica, Stage } from "./stage.js";

/** Life times short enough to see both certificates change: an hour's worth of rotation in seconds. */
const ROTATE = ["--drain-delay=1", "--drain-grace=5"];

export async function replicasUnderLoad(stage: Stage): Promise<void> {
  const api = new Api(stage.cluster.kubeconfig);
  await stage.kubectl(["create", "namespace", "load"]);
  await stage.replica("first", ...ROTATE);
  await stage.replica("second", ...ROTATE);
  await stage.apply(validatingPolicy("load", "load", "bad"));
  await stage.active("vpol", "load");

  await under("the leader is killed", stage, api, async () => {
    const before = await leader(stage);
    await stage.replicas.get(before)?.kill();
    const took = await stage.until("another leader", async () => {
      const now = await leader(stage);
      return now !== before && now !== "";
    });
    console.log(`another one leads after ${took} ms`);
    await stage.replica("third", ...ROTATE);
  });
  await under("the certificates are made anew", stage, api, async () => {
    const before = await bundle(stage);
    await stage.kubectl(["annotate", "secret", "policy-server-tls", "-n", "policy-server", RENEW]);
    await stage.until("another bundle", async () => (await bundle(stage)) !== before);
    await stage.until("one authority again", async () => {
      const now = await bundle(stage);
      return now !== before && count(now) === 1;
    });
  });
  await under("every replica is started anew", stage, api, async () => {
    for (const name of [...stage.replicas.keys()]) {
      const old = stage.replicas.get(name) as Replica;
      await stage.replica(`${name}-anew`, ...ROTATE);
      await old.stop();
    }
  });
  await under("a policy changes ten times", stage, api, async () => {
    for (let round = 0; round < 10; round++) {
      const message = `round ${round}`;
      const validations = [{ expression: "!has(object.data) || !('bad' in object.data)", message }];
      await stage.apply(validatingPolicy("load", "load", "bad", { validations }));
      await stage.active("vpol", "load");
    }
  });
  await stage.kubectl(["delete", "vpol", "load"]);
  for (const replica of [...stage.replicas.values()]) assert.equal(await replica.stop(), 0);
  api.close();
}

/** Asks for certificates to be made anew, before their time. */
const RENEW = "policy-server.admission/renew=now";

async function under(what: string, stage: Stage, api: Api, work: () => Promise<void>): Promise<LoadResult> {
  const stop = loadOn(api, "load", "bad");
  await sleep(1_000);
  await work();
  await sleep(1_000);
  const result = await stop();
  const { sent, lost, wrong, slowestMs } = result;
  console.log(`${what}: ${sent} requests, ${lost.length} lost, ${wrong.length} wrong, the slowest ${slowestMs} ms`);
  if (lost.length + wrong.length > 0) {
    for (const { name, log } of stage.replicas.values()) console.log(`--- ${name}\n${log().slice(-3_000)}`);
  }
  assert.deepEqual({ lost, wrong }, { lost: [], wrong: [] }, what);
  return result;
}

/** The holder of the Lease that says who leads, as long as it is fresh. */
async function leader(stage: Stage): Promise<string> {
  const text = await stage.kubectl(["get", "leases", "-n", "policy-server", "-o", "json"]);
  const { items } = JSON.parse(text) as { items: Json[] };
  const lease = items.find(({ metadata }) => (metadata?.name as unknown) === "policy-server");
  return String(lease?.spec?.holderIdentity ?? "");
}

/** The authorities that the API server trusts for our webhooks, as PEM. */
async function bundle(stage: Stage): Promise<string> {
  const path = "{.items[*].webhooks[0].clientConfig.caBundle}";
  const text = await stage.kubectl([
    ...["get", "validatingwebhookconfigurations", "-l", "app.kubernetes.io/managed-by=policy-server"],
    ...["-o", `jsonpath=${path}`],
  ]);
  return Buffer.from(text.split(" ")[0] ?? "", "base64").toString();
}

const count = (pem: string): number => pem.split("BEGIN CERTIFICATE").length - 1;
