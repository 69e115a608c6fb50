/** Two replicas under requests: the leader is killed, the certificates change, every replica is started anew. Nothing is lost, nothing wrong. */
import assert from "node:assert/strict";
import { setTimeout as sleep } from "node:timers/promises";
import { Api } from "./api.js";
import { type LoadResult, type Lost, loadOn } from "./load.js";
import { validatingPolicy } from "./policies.js";
import type { Replica, Stage } from "./stage.js";

/** As pods do, but quicker: there is no Service whose news has to spread. */
const DRAIN = ["--drain-delay=1", "--drain-grace=5"];
/** How soon the API server notices that its connections to a replica were cut. */
const NOTICED_MS = 200;
/** Asks for a new authority before its time. */
const ROTATE = "policy-server.admission/rotate-certificates=once";
/** Every API server knows the new authority before a certificate of it is served: a minute, and half of one for the news. */
const SWITCHED_WITHIN_MS = 5 * 60_000;
/** An old authority stays for ten minutes, for replicas that were cut off. Only waited for when `E2E_LONG` is set. */
const REMOVED_WITHIN_MS = 15 * 60_000;

export async function replicasUnderLoad(stage: Stage): Promise<void> {
  const api = new Api(stage.cluster.kubeconfig);
  await stage.kubectl(["create", "namespace", "load"]);
  await stage.replica("first", ...DRAIN);
  await stage.replica("second", ...DRAIN);
  await stage.apply(validatingPolicy("load", "load", "bad"));
  await stage.claim("a policy of two replicas is in force", () => stage.active("vpol", "load"));

  let [killed, cut] = [0, 0];
  const leaderIsKilled = async (): Promise<void> => {
    const before = await leader(stage);
    killed = Date.now();
    await stage.replicas.get(before)?.kill();
    cut = Date.now();
    const took = await stage.until("another leader", async () => {
      const now = await leader(stage);
      return now !== before && now !== "";
    });
    console.log(`another one leads after ${took} ms`);
    await stage.replica("third", ...DRAIN);
  };
  // A process that is killed answers nothing more.
  const isCut = ({ began, ended }: Lost) => began <= cut + NOTICED_MS && ended >= killed;
  await under(stage, "the leader is killed", api, leaderIsKilled, isCut);
  await under(stage, "the authority is replaced", api, async () => {
    const old = await bundle(stage);
    await stage.kubectl(["annotate", "secret", "policy-server-tls", "-n", "policy-server", ROTATE]);
    await stage.until("both authorities", async () => count(await bundle(stage)) === 2);
    const before = await certificate(stage);
    const isServed = async () => (await certificate(stage)) !== before;
    const took = await stage.until("a certificate of the new one", isServed, SWITCHED_WITHIN_MS);
    console.log(`a certificate of the new authority is there after ${took} ms`);
    // Every replica has taken it over by then.
    await sleep(5_000);
    if (process.env.E2E_LONG === undefined) return;
    const isAlone = async () => count(await bundle(stage)) === 1 && (await bundle(stage)) !== old;
    await stage.until("the old authority gone", isAlone, REMOVED_WITHIN_MS);
  });
  await under(stage, "every replica is started anew", api, async () => {
    for (const name of [...stage.replicas.keys()]) {
      const old = stage.replicas.get(name) as Replica;
      await stage.replica(`${name}-anew`, ...DRAIN);
      await old.stop();
    }
  });
  await under(stage, "a policy changes ten times", api, async () => {
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

/** Claims that nothing is lost, unless it may be, and nothing wrong of requests that are sent meanwhile. */
function under(
  stage: Stage,
  what: string,
  api: Api,
  work: () => Promise<void>,
  mayBeLost = (_: Lost): boolean => false,
): Promise<void> {
  return stage.claim(`${what}:`, async () => {
    const stop = loadOn(api, "load", "bad");
    let result: LoadResult;
    try {
      await sleep(1_000);
      await work();
      await sleep(1_000);
    } finally {
      result = await stop();
    }
    const { sent, wrong, slowestMs } = result;
    const lost = result.lost.filter((one) => !mayBeLost(one)).map(({ said }) => said);
    assert.deepEqual({ lost, wrong }, { lost: [], wrong: [] }, what);
    const cut = result.lost.length;
    return `${sent} requests, none wrong, ${cut === 0 ? "none" : `${cut} that were under way`} lost, the slowest ${slowestMs} ms`;
  });
}

/** The holder of the Lease that says who leads, as long as it is fresh. */
async function leader(stage: Stage): Promise<string> {
  const lease = await stage.get("lease", "policy-server-leader", "policy-server");
  // `<replica>_<what tells its processes apart>`
  return String(lease?.spec?.holderIdentity ?? "").replace(/_[^_]*$/, "");
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

/** The certificate that is served, or is to be. */
async function certificate(stage: Stage): Promise<string> {
  const secret = await stage.get("secret", "policy-server-tls", "policy-server");
  return String(secret?.data?.["tls.crt"]);
}

const count = (pem: string): number => pem.split("BEGIN CERTIFICATE").length - 1;
