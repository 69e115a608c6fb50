/**
 * What the API server says against webhooks that quote others. `node dist/test/e2e/live/refusals.js <kubeconfig>` writes it down in test/vectors/webhook-refusals.jsonl, for tests without a
 * cluster.
 */
import { writeFileSync } from "node:fs";
import { configurationObject, webhookObject } from "../../../src/cluster/webhooks/configuration.js";
import type { DerivedWebhook } from "../../../src/cluster/webhooks/derived-webhook.js";
import { applyRequest, bodyText } from "../../../src/kubernetes/client/requests.js";
import { HOSTILE, harmless } from "../../cluster/webhooks/hostile.js";
import { Api } from "./api.js";
import { ROOT } from "./stage.js";

const TARGET = { service: { namespace: "n", name: "s" } };
const [kubeconfig = ""] = process.argv.slice(2);
const api = new Api(kubeconfig);

/** What it answers to an object with these webhooks. */
async function answerTo(...webhooks: readonly DerivedWebhook[]) {
  const raws = webhooks.map((webhook) => webhookObject(webhook, TARGET));
  const path = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations/refusals";
  const object = configurationObject("validating", "refusals", raws, { base: "refusals", labels: {} });
  const sent = applyRequest(path, object, { fieldManager: "policy-server", dryRun: true });
  const { code, body } = await api.ask({
    method: "PATCH",
    path: `${path}?${new URLSearchParams(sent.query)}`,
    type: sent.contentType ?? "",
    body: bodyText(sent) ?? "",
  });
  const { message, details } = body as { message?: string; details?: { causes?: readonly object[] } };
  return code < 300 ? { code } : { code, message, ...(details?.causes && { causes: details.causes }) };
}

const lines: string[] = [];
for (const { way, webhook } of HOSTILE) {
  const [a, z] = [harmless("a"), harmless("z")];
  lines.push(JSON.stringify({ way, between: await answerTo(a, webhook, z), alone: await answerTo(webhook) }));
}
writeFileSync(`${ROOT}test/vectors/webhook-refusals.jsonl`, `${lines.join("\n")}\n`);
console.log(`${lines.length} answers written`);
api.close();
