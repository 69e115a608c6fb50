/**
 * Two API servers on one etcd: one enforces ValidatingAdmissionPolicies itself, at the other our server does by webhooks. Both get the same requests. Who is allowed,
 * with which code, reason and message, which warnings and audit annotations there are, and what an object has become must be the same.
 */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import type { ApiServer } from "../cluster.js";
import { type Answered, Api, type Asked } from "./api.js";
import { generated } from "./parity-generated.js";
import { ANOTHER_VERSION } from "./parity-mutations.js";
import { NAMESPACES, PARITY_POLICIES, WIDGETS } from "./parity-policies.js";
import { OBJECTS, PARITY_REQUESTS } from "./parity-requests.js";
import { ACCOUNT, ROOT, type Stage } from "./stage.js";

const REQUESTS = Number(process.env.E2E_REQUESTS ?? 1_000);
/** Another one makes other policies and requests. */
const SEED = Number(process.env.E2E_SEED ?? 48);
const AT_A_TIME = 8;
/** Requests that are all allowed would compare little. */
const LEAST_DENIED = 100;
/** How soon policies are in force at both, two hundred at once. */
const IN_FORCE_WITHIN_MS = 120_000;
const GONE_WITHIN_MS = 3_000;
const NATIVE = "--disable-admission-plugins=ValidatingAdmissionWebhook,MutatingAdmissionWebhook";
const BY_WEBHOOKS = "--disable-admission-plugins=ValidatingAdmissionPolicy,MutatingAdmissionPolicy";
/** What `reader`, `writer` and our server may do. */
const ROLES = `apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: { name: parity-writer }
rules: [{ apiGroups: [""], resources: [configmaps], verbs: [create, get] }]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: { name: parity-reader }
rules:
  - { apiGroups: [""], resources: [secrets], verbs: [get] }
  - { apiGroups: ["", apps, autoscaling, rbac.authorization.k8s.io, parity.example.com], resources: ["*"], verbs: [delete] }
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: { name: parity-writer }
roleRef: { apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: parity-writer }
subjects:
  - { apiGroup: rbac.authorization.k8s.io, kind: User, name: writer }
  - { apiGroup: rbac.authorization.k8s.io, kind: User, name: reader }
  - { apiGroup: rbac.authorization.k8s.io, kind: User, name: exempt }
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: { name: parity-reader }
roleRef: { apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: parity-reader }
subjects: [{ apiGroup: rbac.authorization.k8s.io, kind: User, name: reader }]
---
# In the namespaces of the generator: all but to read Secrets, and to delete.
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: { name: parity-generated }
rules:
  - { apiGroups: [""], resources: [namespaces], verbs: [patch] }
  - apiGroups: ["", apps, rbac.authorization.k8s.io, parity.example.com, autoscaling]
    resources: [horizontalpodautoscalers, pods/exec, pods/attach, pods/portforward, pods/proxy, pods/eviction, pods/binding, pods/ephemeralcontainers, serviceaccounts/token, configmaps, services, serviceaccounts, pods, pods/status, deployments, deployments/scale, deployments/status, roles, widgets, widgets/scale, widgets/status]
    verbs: [create, update, patch, get, list, deletecollection]
  - { apiGroups: [""], resources: [secrets], verbs: [create, update, patch, deletecollection] }
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: { name: parity-generated }
roleRef: { apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: parity-generated }
subjects:
  - { apiGroup: rbac.authorization.k8s.io, kind: User, name: writer }
  - { apiGroup: rbac.authorization.k8s.io, kind: User, name: reader }
  - { apiGroup: rbac.authorization.k8s.io, kind: User, name: exempt }
---
# What docs/cluster.md says that parameters need.
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: { name: parity-parameters }
rules:
  - { apiGroups: ["", parity.example.com], resources: [configmaps, widgets], verbs: [get, list, watch] }
  - { nonResourceURLs: [/flagz], verbs: [get] }
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: { name: parity-parameters }
roleRef: { apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: parity-parameters }
subjects: [{ kind: ServiceAccount, name: policy-server, namespace: policy-server }]
`;
/** Requests that are denied while a policy of the stage's is in force: one of each namespace's last policies to come. */
const PROBES = ["over a parameter", "false, Ignore", "an object that is selected", "a generated name"];

/** What is compared of an answer. */
interface Told {
  readonly code: number;
  readonly reason: string;
  /** Of a denial without what is said of its webhook, or of the object's name. */
  readonly message: string;
  readonly warnings: readonly string[];
  readonly annotations: readonly string[];
  /** What the object has become, where it is allowed. */
  readonly object: string;
}

const BY_PASS = /^mutatingadmissionpolicy-[^:]*: /;
/** Differences that docs/differences.md has a row about. */
const DOCUMENTED: readonly { readonly row: string; readonly is: (native: Told, ours: Told) => boolean }[] = [
  {
    row: "a match condition of an enforced ValidatingAdmissionPolicy that fails",
    is: (native, ours) => {
      const [, failure = ""] =
        /denied request: (expression '[\s\S]*' resulted in error: [\s\S]*)$/.exec(native.message) ?? [];
      return failure !== "" && ours.code === 403 && ours.message.endsWith(` is forbidden: ${failure}`);
    },
  },
  {
    row: "a failure of a MutatingAdmissionPolicy that is enforced here",
    is: (native, ours) =>
      BY_PASS.test(ours.message) &&
      JSON.stringify({ ...ours, message: ours.message.replace(BY_PASS, "") }) === JSON.stringify(native),
  },
  {
    row: "a MutatingAdmissionPolicy whose rules name another version of a built-in kind than the request",
    is: (native) => native.message.endsWith("unknown conversion"),
  },
  {
    row: "rules for several versions of a resource, one of them for objects of some names only, of a ValidatingAdmissionPolicy that is enforced here",
    is: (_, ours) => ours.message.includes("failed to convert object version: only the API server converts"),
  },
];

export async function parity(stage: Stage): Promise<void> {
  const { policies, objects, requests } = generated(SEED);
  const asked = [...PARITY_REQUESTS];
  while (asked.length < REQUESTS) asked.push(requests.next().value);
  await stage.kubectl(["apply", "-f", "-"], ROLES);
  await stage.apply(WIDGETS);
  await stage.kubectl(["wait", "--for=condition=Established", "crd/widgets.parity.example.com", "--timeout=30s"]);
  await stage.apply(...NAMESPACES.map((name) => namespaceOf(name)));
  for (const [namespace, object] of OBJECTS) {
    await stage.kubectl(["create", "-n", namespace, "-f", "-"], JSON.stringify(object));
  }
  const first = new Api(stage.cluster.kubeconfig);
  for (const [path, body] of objects) await made(first, path, body);
  const [native, webhooks] = await Promise.all([
    stage.cluster.another("native", NATIVE),
    stage.cluster.another("webhooks", BY_WEBHOOKS),
  ]);
  try {
    const kubeconfig = stage.cluster.kubeconfigOf(ACCOUNT, stage.folder, webhooks.kubeconfig);
    const server = await stage.replica(
      "parity",
      "--enforce-admission-policies",
      "--enforce-mutating-admission-policies",
      "--audit-interval=0",
      // On a machine that does more than this.
      "--policy-timeout=9",
      "--kubeconfig",
      kubeconfig,
    );
    await stage.apply(...policies, ...PARITY_POLICIES, ...ANOTHER_VERSION);
    await stage.claim("decided alike:", () => decidedAlike(stage, asked, native, webhooks));
    assert.equal(await server.stop(), 0);
  } finally {
    first.close();
    await Promise.all([native.stop(), webhooks.stop()]);
    await stage.kubectl(
      ["delete", "-f", "-", "--wait=false", "--ignore-not-found"],
      JSON.stringify({ apiVersion: "v1", kind: "List", items: [...policies, ...PARITY_POLICIES, ...ANOTHER_VERSION] }),
    );
    // The API server notices within two seconds that a policy is gone.
    await sleep(GONE_WITHIN_MS);
  }
}

async function decidedAlike(
  stage: Stage,
  requests: readonly (Asked & { readonly title: string })[],
  native: ApiServer,
  webhooks: ApiServer,
): Promise<string> {
  const apis = [new Api(native.kubeconfig), new Api(webhooks.kubeconfig)] as const;
  for (const title of PROBES) {
    const probe = requests.find((one) => one.title === title) as Asked;
    const deny = async () => (await Promise.all(apis.map((api) => api.ask(probe)))).every(isDenial);
    await stage.until(`a denial at both: ${title}`, deny, IN_FORCE_WITHIN_MS);
  }
  const begin = Date.now();
  const answers: [Answered, Answered][] = [];
  const rest = requests.entries();
  const worker = async (): Promise<void> => {
    for (const [index, request] of rest) answers[index] = await both(apis, request);
  };
  await Promise.all(Array.from({ length: AT_A_TIME }, worker));
  const took = Date.now() - begin;
  for (const api of apis) api.close();

  const [ofNative, ofWebhooks] = [annotationsIn(native.auditLog()), annotationsIn(webhooks.auditLog())];
  const counts = new Map<string, number>();
  const different: string[] = [];
  const denied = answers.filter(([answer]) => isDenial(answer)).length;
  for (const [index, [one, other]] of answers.entries()) {
    const request = requests[index] as Asked;
    const [there, here] = [told(request, one, ofNative), told(request, other, ofWebhooks)];
    if (JSON.stringify(there) === JSON.stringify(here)) continue;
    const row = DOCUMENTED.find(({ is }) => is(there, here))?.row;
    if (row !== undefined) counts.set(row, (counts.get(row) ?? 0) + 1);
    else
      different.push(
        `${JSON.stringify(request)}:\n  native ${JSON.stringify(there)}\n  ours   ${JSON.stringify(here)}`,
      );
  }
  assert.equal(different.length, 0, `${different.length} differ:\n${different.join("\n")}`);
  const page = readFileSync(`${ROOT}docs/differences.md`, "utf8");
  for (const { row } of DOCUMENTED) {
    assert.ok(page.includes(row), `docs/differences.md has a row "${row}"`);
    assert.ok(counts.has(row), `nothing differs any more as docs/differences.md says: ${row}`);
    console.log(`${counts.get(row)} differ as docs/differences.md says: ${row}`);
  }
  const codes = new Map<number, number>();
  for (const [{ code }] of answers) codes.set(code, (codes.get(code) ?? 0) + 1);
  const each = [...codes].map(([code, count]) => `${code}: ${count}`).join(", ");
  console.log(`${requests.length} requests in ${Math.round(took / 1_000)} s, ${denied} denials (${each})`);
  assert.ok(denied >= LEAST_DENIED, `only ${denied} natively denied`);
  const documented = [...counts.values()].reduce((sum, count) => sum + count, 0);
  return `${requests.length - documented} of ${requests.length} requests`;
}

/** Both answers. A request that is no dry run is asked one after the other, and what it creates is deleted in between. */
async function both([native, webhooks]: readonly [Api, Api], request: Asked): Promise<[Answered, Answered]> {
  if (request.path.includes("dryRun")) return Promise.all([native.ask(request), webhooks.ask(request)]);
  const one = await native.ask(request);
  await undo(native, request, one);
  const other = await webhooks.ask(request);
  await undo(webhooks, request, other);
  return [one, other];
}

async function undo(api: Api, { method, path }: Asked, { code, body }: Answered): Promise<void> {
  if (method !== "POST" || code !== 201) return;
  const { metadata } = body as { metadata: { name: string } };
  await api.ask({ method: "DELETE", path: `${path}/${metadata.name}` });
}

async function made(api: Api, path: string, body: object): Promise<void> {
  const { code, message } = await api.ask({ method: "POST", path, body });
  if (code !== 201) throw new Error(`${path}: ${code} ${message}`);
}

function namespaceOf(name: string): object {
  const labels = name === "labels" ? { stage: "production" } : {};
  return { apiVersion: "v1", kind: "Namespace", metadata: { name, labels } };
}

const isDenial = ({ message }: Answered): boolean => /denied (?:the )?request/.test(message);

function told(
  { method, path }: Asked,
  { code, message, body, warnings, auditId }: Answered,
  annotations: ReadonlyMap<string, readonly string[]>,
): Told {
  const status = body as { kind?: string; reason?: string };
  const isAllowed = code < 300;
  // Of the objects of a collection the first one's annotations stay, and the API server has one key for all policies.
  const isCollection = method === "DELETE" && /s\?/.test(path);
  return {
    code,
    reason: isAllowed ? "" : String(status.reason ?? ""),
    message: isAllowed
      ? ""
      : withoutNames(
          message.replace(
            /^.*? is forbidden: (?=ValidatingAdmissionPolicy )|^admission webhook "[^"]*" denied the request: /,
            "",
          ),
        ),
    warnings: warnings.map(withoutNames).sort(),
    annotations: isCollection ? [] : (annotations.get(auditId) ?? []),
    object: isAllowed ? withoutNames(stable(body)) : "",
  };
}

/** Names that the API server makes up. */
const withoutNames = (text: string): string => text.replaceAll(/\b(gen|fine)-[a-z0-9]{5}\b/g, "$1-?");

/** An object without what is anew each time. */
function stable(body: unknown): string {
  return JSON.stringify(body, (key, value: unknown) =>
    [
      "uid",
      "creationTimestamp",
      "resourceVersion",
      "deletionTimestamp",
      "time",
      "token",
      "expirationTimestamp",
    ].includes(key)
      ? undefined
      : value,
  );
}

/** What policies have left in an audit log, by the request's id: without whose it is, a failure each. */
function annotationsIn(log: readonly string[]): ReadonlyMap<string, readonly string[]> {
  const all = new Map<string, readonly string[]>();
  for (const line of log) {
    if (!/validation_failure|\/asked"|\.asked"/.test(line)) continue;
    const { auditID, annotations } = JSON.parse(line) as { auditID: string; annotations: Record<string, string> };
    const found = Object.entries(annotations).flatMap(([key, value]) => {
      if (/[./]validation_failure$/.test(key))
        return (JSON.parse(value) as object[]).map((failure) => JSON.stringify(failure));
      return /[./]asked$/.test(key) ? [`asked: ${value}`] : [];
    });
    all.set(auditID, found.map(withoutNames).sort());
  }
  return all;
}
