/**
 * The end-to-end test of `serve --approve`: CertificateRequests in a real API server, with the rights that docs/cluster.md asks for and no others. Part of
 * `npm run e2e`.
 */
import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { Approver, SYSTEM_CLOCK } from "../../src/cluster/approver/index.js";
import { findConnection, openCluster } from "../../src/kubernetes/client/index.js";
import type { Ruling } from "../../src/policy/approving.js";
import { keptLog } from "../cluster/approver/support.js";
import { startExample } from "../support/example-server.js";
import { Cluster, run } from "./cluster.js";

const root = fileURLToPath(new URL("../../..", import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "e2e-approver-"));
const ACCOUNT = "system:serviceaccount:policy-server:policy-server";
const WITHIN_MS = 30_000;
/** Lets those who make requests in the namespace have them decided. */
const USE_POLICIES = `apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: { name: use-policies }
rules:
  - { apiGroups: [policy.cert-manager.io], resources: [certificaterequestpolicies], verbs: [use] }
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: { name: use-policies, namespace: team }
roleRef: { apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: use-policies }
subjects:
  - { apiGroup: rbac.authorization.k8s.io, kind: User, name: alice }
`;

const cluster = await Cluster.start();
try {
  const crd = process.env.E2E_CERTIFICATE_REQUESTS ?? join(root, "test/e2e/manifests/certificate-requests.yaml");
  await succeed(["apply", "-f", crd]);
  await succeed(["apply", "-f", "-"], rightsInDocumentation());
  await succeed(["wait", "--for=condition=Established", "crd/certificaterequests.cert-manager.io", "--timeout=30s"]);
  await succeed(["create", "namespace", "team"]);
  await conflicts();
  await serving();
  console.log("all scenes of the approver passed");
} finally {
  await cluster.stop();
  rmSync(folder, { recursive: true, force: true });
}

/** What happens to requests while they are reviewed, with a policy that does it to them. */
async function conflicts(): Promise<void> {
  const connection = findConnection({
    kubeconfig: cluster.kubeconfigOf(ACCOUNT, folder),
    env: {},
    now: SYSTEM_CLOCK.now,
  });
  const client = openCluster({ connection, now: SYSTEM_CLOCK.now, note: (message) => console.log(message) });
  const { logger, lines } = keptLog();
  const disturbed = new Map<string, number>();
  const approver = new Approver({
    cluster: client,
    clock: SYSTEM_CLOCK,
    log: logger,
    random: Math.random,
    instance: "e2e",
    decide: async ({ metadata }) => {
      const { name } = metadata as { name: string };
      const times = (disturbed.get(name) ?? 0) + 1;
      disturbed.set(name, times);
      if (times === 1) await disturb(name);
      const ruling: Ruling = { result: times === 1 ? "Approved" : "Denied", message: `review ${times}` };
      return ruling;
    },
  });
  for (const name of ["changed", "made-anew", "deleted", "decided"]) await create(name, "unused");
  await condition("changed", "Denied review 2");
  await condition("made-anew", "Denied review 2");
  await condition("decided", "Denied by somebody");
  await until("the end of the deleted one", () => lines.some(({ message }) => message.includes("deleted before")));
  await sleep(2_000);
  assert.deepEqual(Object.fromEntries(disturbed), { changed: 2, "made-anew": 2, deleted: 1, decided: 1 });
  assert.equal(await conditions("decided"), "Denied by somebody");
  await approver.stop();
  await client.close();
  console.log("what changes during its review is reviewed again, what is decided or gone is left alone");
}

async function disturb(name: string): Promise<void> {
  const at = ["certificaterequest.v1.cert-manager.io", name, "-n", "team"];
  switch (name) {
    case "changed":
      await succeed(["annotate", ...at, "changed=yes"]);
      return;
    case "made-anew":
      await succeed(["delete", ...at]);
      await create(name, "unused");
      return;
    case "deleted":
      await succeed(["delete", ...at]);
      return;
    case "decided": {
      const written = [{ type: "Denied", status: "True", reason: "r", message: "by somebody" }];
      const patch = JSON.stringify({ status: { conditions: written } });
      await succeed(["patch", ...at, "--subresource=status", "--type=merge", "-p", patch]);
    }
  }
}

/** The server with real policies and two processes. */
async function serving(): Promise<void> {
  const policies = join(folder, "policies.yaml");
  writeFileSync(policies, "certificates: { resource: certificates.yaml }\n");
  const write = (...issuers: readonly string[]) =>
    writeFileSync(join(folder, "certificates.yaml"), issuers.map(policyFor).join("---\n"));
  write("internal");
  const kubeconfig = cluster.kubeconfigOf(ACCOUNT, folder);
  const options = ["--policies", policies, "--kubeconfig", kubeconfig, "--approve", "certificates", "--workers", "2"];
  const server = await startExample(...options);
  try {
    await create("waiting", "internal");
    await event("waiting", "Unprocessed Request is not applicable for any policy so ignoring");
    assert.equal(await conditions("waiting"), "", "nobody may use the policy yet");
    await succeed(["create", "-f", "-"], USE_POLICIES);
    await condition("waiting", 'Approved Approved by CertificateRequestPolicy: "internal"');
    await event("waiting", 'Approved Approved by CertificateRequestPolicy: "internal"');
    console.log("a request is approved once its maker may use the policy");

    await create("wrong-name", "internal", "/CN=elsewhere.example.com");
    const denial =
      'No policy approved this request: [internal: spec.allowed.commonName.value: Invalid value: "elsewhere.example.com": *.internal.example.com]';
    await condition("wrong-name", `Denied ${denial}`);
    await event("wrong-name", `Denied ${denial}`);

    await create("other-issuer", "public");
    await event("other-issuer", "Unprocessed Request is not applicable for any policy so ignoring");
    write("internal", "public");
    await condition("other-issuer", 'Approved Approved by CertificateRequestPolicy: "public"');
    console.log("a reload decides what was undecided");

    const pids = () =>
      Array.from(server.log().matchAll(/approving CertificateRequests.* pid=(\d+)/g), ([, pid]) => Number(pid));
    const [first, ...more] = pids();
    assert.ok(first !== undefined && more.length === 0, "one process approves");
    process.kill(first, "SIGKILL");
    await create("after-death", "internal");
    await condition("after-death", 'Approved Approved by CertificateRequestPolicy: "internal"');
    await until("a successor", () => pids().length === 2);
    console.log("when the process that approves dies, another goes on");

    const metric = (status: string, count: number) =>
      `certmanager_approverpolicy_certificaterequests_approval{namespace="team",status="${status}"} ${count}`;
    for (const line of [metric("approved", 3), metric("denied", 4)]) {
      await until(line, async () => (await (await fetch(`${server.probes}/metrics`)).text()).includes(line));
    }
    assert.doesNotMatch(
      server.log(),
      /are not noticed|cannot be watched|can be written|could not be (?:reviewed|approved|denied)/,
    );
  } catch (error) {
    console.log(server.log());
    throw error;
  } finally {
    assert.equal(await server.stop(), 0);
  }
}

function policyFor(issuer: string): string {
  return `apiVersion: policy.cert-manager.io/v1alpha1
kind: CertificateRequestPolicy
metadata:
  name: ${issuer}
spec:
  allowed:
    commonName: { value: "*.internal.example.com" }
  selector:
    issuerRef: { name: ${issuer} }
`;
}

/** The first YAML block of the section about approvals: what a reader would apply. */
function rightsInDocumentation(): string {
  const page = readFileSync(join(root, "docs/cluster.md"), "utf8");
  const [, section = ""] = page.split("## Approving CertificateRequests");
  const [, yaml] = /```yaml\n([\s\S]*?)```/.exec(section) ?? [];
  assert.ok(yaml !== undefined, "docs/cluster.md says which rights are needed");
  return yaml;
}

/** Makes a request as cert-manager's webhook leaves it: with its maker. */
async function create(name: string, issuer: string, subject = "/CN=app.internal.example.com"): Promise<void> {
  const how = ["req", "-new", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", "/dev/null"];
  const { code, text } = await run("openssl", [...how, "-subj", subject]);
  assert.equal(code, 0, text);
  const pem = text.slice(text.indexOf("-----BEGIN"));
  const spec = {
    request: Buffer.from(`${pem}\n`).toString("base64"),
    issuerRef: { name: issuer },
    username: "alice",
    groups: ["system:authenticated"],
  };
  const metadata = { name, namespace: "team" };
  const request = { apiVersion: "cert-manager.io/v1", kind: "CertificateRequest", metadata, spec };
  await succeed(["create", "-f", "-"], JSON.stringify(request));
}

/** What deciding conditions of a request say: type and message. */
async function conditions(name: string): Promise<string> {
  const path = '{range .status.conditions[*]}{.type} {.message}{"\\n"}{end}';
  const { text } = await cluster.kubectl([
    "get",
    "certificaterequest.v1.cert-manager.io",
    name,
    "-n",
    "team",
    "-o",
    `jsonpath=${path}`,
  ]);
  return text.trim();
}

async function condition(name: string, expected: string): Promise<void> {
  await until(`${name}: ${expected}`, async () => (await conditions(name)) === expected);
}

async function event(name: string, expected: string): Promise<void> {
  const selector = `involvedObject.name=${name}`;
  const path = '{range .items[*]}{.reason} {.message}{"\\n"}{end}';
  const args = ["get", "events", "-n", "team", "--field-selector", selector, "-o", `jsonpath=${path}`];
  await until(`event ${expected}`, async () => (await cluster.kubectl(args)).text.split("\n").includes(expected));
}

async function succeed(args: readonly string[], input = ""): Promise<void> {
  const { code, text } = await cluster.kubectl(args, input);
  assert.equal(code, 0, `kubectl ${args.join(" ")}: ${text}`);
}

async function until(what: string, holds: () => boolean | Promise<boolean>): Promise<void> {
  const end = Date.now() + WITHIN_MS;
  while (!(await holds())) {
    assert.ok(Date.now() < end, `${what} did not come`);
    await sleep(200);
  }
}
