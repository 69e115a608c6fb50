/**
 * MutatingAdmissionPolicies of the cluster: served beside the API server that enforces them, and, with its plugin off, enforced by our webhooks. Objects come out
 * the same.
 */
import assert from "node:assert/strict";
import { request as send } from "node:https";
import { setTimeout as sleep } from "node:timers/promises";
import {
  MUTATED,
  MUTATING_POLICIES,
  MUTATION_NAMESPACES,
  MUTATION_ROLES,
  MUTATION_WIDGETS,
} from "./mutating-policies.js";
import type { Json, Replica, Stage } from "./stage.js";

const WITHOUT_NATIVE = "--disable-admission-plugins=MutatingAdmissionPolicy";
const ENFORCED = "--enforce-mutating-admission-policies";
/** How long the leader takes at most to see that the API server was started with other flags. */
const SEEN_WITHIN_MS = 90_000;

export async function mutating(stage: Stage): Promise<void> {
  await stage.kubectl(["apply", "-f", "-"], MUTATION_ROLES);
  await stage.apply(MUTATION_WIDGETS);
  await stage.kubectl(["wait", "--for=condition=Established", "crd/gadgets.mutating.example.com", "--timeout=30s"]);
  await stage.apply(...MUTATION_NAMESPACES);
  await stage.apply(...MUTATING_POLICIES);
  // Not by `until`, which waits for our server, and without it in vain.
  while (!(await mutates(stage))) await sleep(500);
  // The plugin sees parameters later than policies: what it says twice is what it says.
  let native: string[] = [];
  for (let before = ""; before !== JSON.stringify(native); await sleep(2_000)) {
    before = JSON.stringify(native);
    native = await all(stage);
  }

  const server = await stage.replica("mutating", ENFORCED, "--audit-interval=0");
  await stage.claim("beside the plugin they are served, and asked by no webhook", async () => {
    await stage.until("the API server's plugin is seen", () =>
      /no webhooks: the API server's own plugin/.test(server.log()),
    );
    assert.equal(await webhooks(stage), 0, "webhooks beside the plugin");
    await stage.until("a certificate", () => server.log().includes("a certificate is served"));
    await asked(server, "mutatingadmissionpolicy-apply");
  });

  const start = await stage.cluster.stopApiServer();
  await start(WITHOUT_NATIVE);
  await stage.claim("where the plugin is off objects come out as it makes them:", async () => {
    await stage.until("webhooks", async () => (await webhooks(stage)) > 0, SEEN_WITHIN_MS);
    await stage.until("the first policy and the last mutate", () => mutates(stage));
    const ours = await all(stage);
    const different = MUTATED.flatMap(({ title }, i) =>
      native[i] === ours[i] ? [] : [`${title}:\n  native ${native[i]}\n  ours   ${ours[i]}`],
    );
    assert.equal(different.join("\n"), "");
    return `${ours.length}`;
  });

  await stage.claim("webhooks change with their policies, and go with the plugin's return", async () => {
    const [policy] = MUTATING_POLICIES as readonly [Json];
    const changed = JSON.parse(JSON.stringify(policy).replace('\\"yes\\"', '\\"anew\\"')) as Json;
    await stage.apply(changed);
    await stage.until("the changed policy mutates", async () => (await made(stage, 0)).includes('"anew"'));
    const back = await stage.cluster.stopApiServer();
    await back();
    await stage.until("the webhooks are gone", async () => (await webhooks(stage)) === 0, SEEN_WITHIN_MS);
    await stage.until("the plugin mutates", async () => (await made(stage, 0)).includes('"anew"'));
  });
  await stage.kubectl(
    ["delete", "-f", "-"],
    JSON.stringify({ apiVersion: "v1", kind: "List", items: MUTATING_POLICIES }),
  );
  assert.equal(await server.stop(), 0);
  // Where the claim failed it is still off.
  const back = await stage.cluster.stopApiServer();
  await back();
}

/** The policy answers, though no webhook asks it, and is listed. */
async function asked(server: Replica, id: string): Promise<void> {
  const text = await answered(`${server.url}/policies`);
  assert.ok(text.includes(`"${id}"`), text.slice(0, 2_000));
  const object = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "a", namespace: "apply" } };
  const request = {
    ...{ uid: "u", operation: "CREATE", name: "a", namespace: "apply", object, userInfo: { username: "me" } },
    ...{
      kind: { group: "", version: "v1", kind: "ConfigMap" },
      resource: { group: "", version: "v1", resource: "configmaps" },
    },
  };
  const body = JSON.stringify({ apiVersion: "admission.k8s.io/v1", kind: "AdmissionReview", request });
  const { response } = JSON.parse(await answered(`${server.url}/validate/${id}`, body)) as Json;
  assert.ok(Buffer.from(String(response?.patch), "base64").toString().includes("mutated"), JSON.stringify(response));
}

/** What our server answers, whoever signed its certificate. */
export function answered(url: string, body?: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const headers = { "content-type": "application/json" };
    const options = { method: body === undefined ? "GET" : "POST", headers, rejectUnauthorized: false };
    const sent = send(url.replace("http:", "https:"), options, (response) => {
      let text = "";
      response.setEncoding("utf8").on("data", (chunk: string) => (text += chunk));
      response.on("end", () => resolve(text));
    });
    sent.on("error", reject).end(body);
  });
}

/** Whether the first policy and the last are in force. */
async function mutates(stage: Stage): Promise<boolean> {
  const last = MUTATED.findIndex(({ title }) => title === "who asks, and may");
  return (await made(stage, 0)).includes('"mutated"') && (await made(stage, last)).includes('"who"');
}

async function webhooks(stage: Stage): Promise<number> {
  const ours = ["-l", "app.kubernetes.io/managed-by=policy-server", "-o", "json"];
  const { items } = JSON.parse(await stage.kubectl(["get", "mutatingwebhookconfigurations", ...ours])) as Json;
  return (items as unknown as { webhooks: unknown[] }[]).flatMap((each) => each.webhooks).length;
}

async function all(stage: Stage): Promise<string[]> {
  const found: string[] = [];
  for (let i = 0; i < MUTATED.length; i++) found.push(await made(stage, i));
  return found;
}

/** The object as the API server would store it, or why it would not. */
async function made(stage: Stage, index: number): Promise<string> {
  const { object, verb = "create" } = MUTATED[index] ?? { object: {} };
  const args = [verb, "--dry-run=server", "-o", "json", "-f", "-"];
  const { code, text } = await stage.cluster.kubectl(args, JSON.stringify(object));
  if (code !== 0) return /denied request: .*/.exec(text)?.[0] ?? text;
  const { metadata, ...rest } = JSON.parse(text) as Json;
  const { uid: _, creationTimestamp: __, resourceVersion: ___, generation: ____, ...kept } = metadata as Json;
  return JSON.stringify({ ...rest, metadata: kept });
}
