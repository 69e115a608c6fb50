/** `serve --approve`: CertificateRequests in a real API server, with the rights that docs/cluster.md asks for and no others. */
import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { Approver, SYSTEM_CLOCK } from "../../../src/cluster/approver/index.js";
import { findConnection, openCluster } from "../../../src/kubernetes/client/index.js";
import type { Ruling } from "../../../src/policy/approving.js";
import { keptLog } from "../../cluster/approver/support.js";
import { run } from "../cluster.js";
import { ROOT, type Stage } from "./stage.js";

const NAMESPACE = "approvals";
/** Not the account of the other scenes: that one has more rights. */
const ACCOUNT = "approver";
const DEFINITION = process.env.E2E_CERTIFICATE_REQUESTS ?? join(ROOT, "test/e2e/manifests/certificate-requests.yaml");
const APPROVED = 'Approved Approved by CertificateRequestPolicy: "internal"';
/** Lets those who make requests in the namespace have them decided. */
const USE_POLICIES = `apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: { name: use-policies }
rules:
  - { apiGroups: [policy.cert-manager.io], resources: [certificaterequestpolicies], verbs: [use] }
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: { name: use-policies, namespace: approvals }
roleRef: { apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: use-policies }
subjects:
  - { apiGroup: rbac.authorization.k8s.io, kind: User, name: alice }
`;

export async function approvals(stage: Stage): Promise<void> {
  await stage.kubectl(["apply", "-f", DEFINITION]);
  await stage.kubectl(["apply", "-f", "-"], rightsInDocumentation());
  const established = "--for=condition=Established";
  await stage.kubectl(["wait", established, "crd/certificaterequests.cert-manager.io", "--timeout=30s"]);
  await stage.kubectl(["create", "namespace", NAMESPACE]);
  const folder = mkdtempSync(join(stage.folder, "approver-"));
  const kubeconfig = stage.cluster.kubeconfigOf(`system:serviceaccount:policy-server:${ACCOUNT}`, folder);
  const requests = new Requests(stage);
  await conflicts(requests, kubeconfig);
  await serving(requests, kubeconfig, folder);
}

/** What happens to requests while they are reviewed, with a policy that does it to them. */
async function conflicts(requests: Requests, kubeconfig: string): Promise<void> {
  const { stage } = requests;
  const connection = findConnection({ kubeconfig, env: {}, now: SYSTEM_CLOCK.now });
  const client = openCluster({ connection, now: SYSTEM_CLOCK.now, note: (message) => console.log(message) });
  const { logger, lines } = keptLog();
  const disturbed = new Map<string, number>();
  const make = () =>
    new Approver({
      cluster: client,
      clock: SYSTEM_CLOCK,
      log: logger,
      random: Math.random,
      instance: "e2e",
      decide: async ({ metadata }) => {
        const { name } = metadata as { name: string };
        const times = (disturbed.get(name) ?? 0) + 1;
        disturbed.set(name, times);
        if (times === 1) await disturb(requests, name);
        const ruling: Ruling = { result: times === 1 ? "Approved" : "Denied", message: `review ${times}` };
        return ruling;
      },
    });
  const approver = stage.withoutServer ? undefined : make();
  try {
    for (const name of ["changed", "made-anew", "deleted", "decided"]) await requests.create(name, "unused");
    for (const name of ["changed", "made-anew"]) {
      await stage.claim(`a request that is ${name} during its review is reviewed again`, async () => {
        await requests.condition(name, "Denied review 2");
        assert.equal(disturbed.get(name), 2);
      });
    }
    await stage.claim("one that is decided or deleted during its review is left alone", async () => {
      await requests.condition("decided", "Denied by somebody");
      const isSaid = () => lines.some(({ message }) => message.includes("deleted before"));
      await stage.until("the end of the deleted one", isSaid);
      await sleep(2_000);
      assert.deepEqual([disturbed.get("deleted"), disturbed.get("decided")], [1, 1]);
      assert.equal(await requests.conditions("decided"), "Denied by somebody");
    });
  } finally {
    await approver?.stop();
    await client.close();
  }
}

async function disturb(requests: Requests, name: string): Promise<void> {
  const { stage } = requests;
  const at = ["certificaterequest.v1.cert-manager.io", name, "-n", NAMESPACE];
  switch (name) {
    case "changed":
      await stage.kubectl(["annotate", ...at, "changed=yes"]);
      return;
    case "made-anew":
      await stage.kubectl(["delete", ...at]);
      await requests.create(name, "unused");
      return;
    case "deleted":
      await stage.kubectl(["delete", ...at]);
      return;
    case "decided": {
      const written = [{ type: "Denied", status: "True", reason: "r", message: "by somebody" }];
      const patch = JSON.stringify({ status: { conditions: written } });
      await stage.kubectl(["patch", ...at, "--subresource=status", "--type=merge", "-p", patch]);
    }
  }
}

/** The server with real policies and two processes. */
async function serving(requests: Requests, kubeconfig: string, folder: string): Promise<void> {
  const { stage } = requests;
  const policies = join(folder, "policies.yaml");
  writeFileSync(policies, "certificates: { resource: certificates.yaml }\n");
  const write = (...issuers: readonly string[]) =>
    writeFileSync(join(folder, "certificates.yaml"), issuers.map(policyFor).join("---\n"));
  write("internal");
  const options = ["--policies", policies, "--kubeconfig", kubeconfig, "--approve", "certificates", "--workers", "2"];
  const server = await stage.serve(...options);
  const unprocessed = "Unprocessed Request is not applicable for any policy so ignoring";
  try {
    await requests.create("waiting", "internal");
    await stage.claim("a request is left alone while its maker may use no policy", async () => {
      await requests.event("waiting", unprocessed);
      assert.equal(await requests.conditions("waiting"), "");
    });
    await stage.kubectl(["create", "-f", "-"], USE_POLICIES);
    await stage.claim("a request is approved once its maker may use the policy", async () => {
      await requests.condition("waiting", APPROVED);
      await requests.event("waiting", APPROVED);
    });

    await requests.create("wrong-name", "internal", "/CN=elsewhere.example.com");
    await stage.claim("a request that no policy allows is denied, with the reason", async () => {
      const denial =
        'Denied No policy approved this request: [internal: spec.allowed.commonName.value: Invalid value: "elsewhere.example.com": *.internal.example.com]';
      await requests.condition("wrong-name", denial);
      await requests.event("wrong-name", denial);
    });

    await requests.create("other-issuer", "public");
    await stage.claim("a reload decides what was undecided", async () => {
      await requests.event("other-issuer", unprocessed);
      write("internal", "public");
      await requests.condition("other-issuer", APPROVED.replace("internal", "public"));
    });

    await stage.claim("when the process that approves dies, another goes on", async () => {
      const pids = () =>
        Array.from(server.log().matchAll(/approving CertificateRequests.* pid=(\d+)/g), ([, pid]) => Number(pid));
      const [first, ...more] = pids();
      assert.ok(first !== undefined && more.length === 0, "one process approves");
      process.kill(first, "SIGKILL");
      await requests.create("after-death", "internal");
      await requests.condition("after-death", APPROVED);
      await stage.until("a successor", () => pids().length === 2);
    });

    await stage.claim("what was decided is counted, and nothing went wrong", async () => {
      for (const [status, count] of [
        ["approved", 3],
        ["denied", 4],
      ]) {
        const line = `certmanager_approverpolicy_certificaterequests_approval{namespace="${NAMESPACE}",status="${status}"} ${count}`;
        await stage.until(line, async () => (await (await fetch(`${server.probes}/metrics`)).text()).includes(line));
      }
      assert.doesNotMatch(
        server.log(),
        /are not noticed|cannot be watched|can be written|could not be (?:reviewed|approved|denied)/,
      );
    });
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
  const page = readFileSync(join(ROOT, "docs/cluster.md"), "utf8");
  const [, section = ""] = page.split("## Approving CertificateRequests");
  const [, yaml] = /```yaml\n([\s\S]*?)```/.exec(section) ?? [];
  assert.ok(yaml !== undefined, "docs/cluster.md says which rights are needed");
  return yaml.replace(/name: policy-server\n( +namespace: policy-server)/, `name: ${ACCOUNT}\n$1`);
}

/** CertificateRequests, and what is said of them. */
class Requests {
  readonly stage: Stage;

  constructor(stage: Stage) {
    this.stage = stage;
  }

  /** Makes a request as cert-manager's webhook leaves it: with its maker. */
  async create(name: string, issuer: string, subject = "/CN=app.internal.example.com"): Promise<void> {
    const how = [
      "req",
      "-new",
      "-newkey",
      "ec",
      "-pkeyopt",
      "ec_paramgen_curve:P-256",
      "-nodes",
      "-keyout",
      "/dev/null",
    ];
    const { code, text } = await run("openssl", [...how, "-subj", subject]);
    if (code !== 0) throw new Error(text);
    const pem = text.slice(text.indexOf("-----BEGIN"));
    const spec = {
      request: Buffer.from(`${pem}\n`).toString("base64"),
      issuerRef: { name: issuer },
      username: "alice",
      groups: ["system:authenticated"],
    };
    const metadata = { name, namespace: NAMESPACE };
    const request = { apiVersion: "cert-manager.io/v1", kind: "CertificateRequest", metadata, spec };
    await this.stage.kubectl(["create", "-f", "-"], JSON.stringify(request));
  }

  /** What deciding conditions of a request say: type and message. */
  async conditions(name: string): Promise<string> {
    const path = '{range .status.conditions[*]}{.type} {.message}{"\\n"}{end}';
    const about = ["certificaterequest.v1.cert-manager.io", name, "-n", NAMESPACE, "-o", `jsonpath=${path}`];
    return (await this.stage.cluster.kubectl(["get", ...about])).text.trim();
  }

  /** Waits for the only one. */
  async condition(name: string, expected: string): Promise<void> {
    await this.stage.until(`${name}: ${expected}`, async () => (await this.conditions(name)) === expected);
  }

  /** Waits for an event: reason and message. */
  async event(name: string, expected: string): Promise<void> {
    const path = '{range .items[*]}{.reason} {.message}{"\\n"}{end}';
    const about = ["--field-selector", `involvedObject.name=${name}`, "-o", `jsonpath=${path}`];
    await this.stage.until(`event ${expected}`, async () =>
      (await this.stage.kubectl(["get", "events", "-n", NAMESPACE, ...about])).split("\n").includes(expected),
    );
  }
}
