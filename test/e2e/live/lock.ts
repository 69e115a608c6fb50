/** A policy that denies everything, and no replica that answers: the cluster runs on, and its operator gets out. */
import assert from "node:assert/strict";
import { configMap } from "./policies.js";
import { type Condition, conditionsOf, type Json, type Stage } from "./stage.js";

const EVERYTHING = { apiGroups: ["*"], apiVersions: ["*"], operations: ["*"], resources: ["*/*"] };
const named = (group: string, resource: string, operations = ["*"]): object => ({
  ...EVERYTHING,
  apiGroups: [group],
  resources: [resource],
  operations,
});

const policy = (name: string, ...resourceRules: readonly object[]): object => ({
  apiVersion: "policies.kyverno.io/v1",
  kind: "ValidatingPolicy",
  metadata: { name },
  spec: { matchConstraints: { resourceRules }, validations: [{ expression: "false", message: "nothing passes" }] },
});

/** Kubewarden's, with as many match conditions as a webhook may have. */
const crowded = {
  apiVersion: "policies.kubewarden.io/v1",
  kind: "ClusterAdmissionPolicy",
  metadata: { name: "crowded" },
  spec: {
    module: "registry://localhost:1/absent:v1",
    mutating: false,
    rules: [EVERYTHING],
    matchConditions: Array.from({ length: 64 }, (_, i) => ({ name: `c${i}`, expression: `'${i}' != '' // ${i}` })),
  },
};

const of = (apiVersion: string, kind: string, more: object, namespace?: string): string =>
  JSON.stringify({ apiVersion, kind, metadata: { name: `lock-${kind.toLowerCase()}`, namespace }, ...more });
const REFERENCE = { kind: "Pod", namespace: "plain", name: "p" };
const pod = (namespace: string): string =>
  of(
    "v1",
    "Pod",
    { spec: { automountServiceAccountToken: false, containers: [{ name: "c", image: "i" }] } },
    namespace,
  );

/** What goes on, whatever a policy about everything says, and whether or not a replica answers. */
const RUNS_ON: readonly string[] = [
  of("v1", "Node", {}),
  of("storage.k8s.io/v1", "CSINode", { spec: { drivers: [] } }),
  of("coordination.k8s.io/v1", "Lease", { spec: { holderIdentity: "me" } }, "plain"),
  of("v1", "Event", { involvedObject: REFERENCE, reason: "R", type: "Normal" }, "plain"),
  of(
    "events.k8s.io/v1",
    "Event",
    {
      metadata: { name: "lock-newer", namespace: "plain" },
      ...{ regarding: REFERENCE, reason: "R", type: "Normal", action: "A", reportingController: "c/c" },
      ...{ reportingInstance: "i", eventTime: "2026-01-01T00:00:00.000000Z" },
    },
    "plain",
  ),
  JSON.stringify(policy("another", named("", "pods"))),
  JSON.stringify({
    ...{ apiVersion: "policies.kyverno.io/v1", kind: "PolicyException" },
    metadata: { name: "way-out", namespace: "plain" },
    spec: { policyRefs: [{ name: "everything", kind: "ValidatingPolicy" }] },
  }),
  JSON.stringify(configMap("by-name", "one")).replace('"metadata":{', '"metadata":{"namespace":"calico-system",'),
  pod("calico-system"),
  pod("openshift-sdn"),
  of("v1", "Namespace", { metadata: { name: "openshift-new" } }),
];

/** What waits: it is in the list of docs/cluster.md. */
const WAITS: readonly string[] = [
  pod("plain"),
  pod("not-openshift-sdn"),
  of("v1", "Namespace", { metadata: { name: "anything" } }),
  of("discovery.k8s.io/v1", "EndpointSlice", { addressType: "IPv4", endpoints: [] }, "plain"),
];

const tried = (stage: Stage, object: string) =>
  stage.cluster.kubectl(["create", "--dry-run=server", "-f", "-"], object);

async function passes(stage: Stage, refusal: RegExp): Promise<void> {
  for (const object of RUNS_ON) {
    const { code, text } = await tried(stage, object);
    assert.equal(code, 0, `${object}: ${text}`);
  }
  for (const object of WAITS) await stage.refused(["create", "--dry-run=server", "-f", "-"], object, refusal);
}

const activeOf = async (stage: Stage, name: string, kind = "vpol"): Promise<Condition | undefined> =>
  conditionsOf(await stage.get(kind, name)).find(({ type }) => type === "Active");

export async function lock(stage: Stage): Promise<void> {
  for (const name of ["plain", "calico-system", "openshift-sdn", "not-openshift-sdn"]) {
    await stage.kubectl(["create", "namespace", name]);
    await stage.until(
      `the account of ${name}`,
      async () => (await stage.get("serviceaccount", "default", name)) !== undefined,
    );
  }
  const exempt = "--exempt-namespaces=calico-system,openshift-*";
  const server = await stage.replica("lock", exempt);
  await neverAsked(stage);
  await stage.apply(policy("everything", EVERYTHING));
  await stage.active("vpol", "everything");
  await stage.apply(crowded);
  await stage.until("the crowded webhook", async () => {
    const { text } = await stage.cluster.kubectl(["get", "validatingwebhookconfigurations", "-o", "json"]);
    return text.includes("clusterwide-crowded");
  });
  await passes(stage, /nothing passes|downloading policy/);
  console.log(`${RUNS_ON.length} requests pass a policy that denies everything, ${WAITS.length} others do not`);

  await server.kill();
  await passes(stage, /failed calling webhook/);
  const node = JSON.parse(of("v1", "Node", {})) as Json;
  await stage.kubectl(["create", "-f", "-"], JSON.stringify(node));
  const ready = { status: { conditions: [{ type: "Ready", status: "True", reason: "R", message: "m" }] } };
  await stage.kubectl([
    "patch",
    "node",
    "lock-node",
    "--subresource=status",
    "--type=merge",
    "-p",
    JSON.stringify(ready),
  ]);
  await stage.kubectl(["delete", "node", "lock-node"]);
  await signed(stage);
  for (const [kind, name] of [
    ["vpol", "everything"],
    ["cap", "crowded"],
  ] as const)
    await stage.kubectl(["delete", kind, name]);
  await stage.kubectl([
    "delete",
    "validatingwebhookconfigurations",
    "-l",
    "app.kubernetes.io/managed-by=policy-server",
  ]);
  await stage.kubectl(["create", "-f", "-"], pod("plain"));
  console.log(
    "with all replicas down the same pass; the policies and the webhooks can be deleted, and then all is free",
  );
  await reviews(stage);
}

/** A certificate of a Node is asked for, and approved. */
async function signed(stage: Stage): Promise<void> {
  const { spawnSync } = await import("node:child_process");
  const made = spawnSync(
    "openssl",
    ["req", "-new", "-newkey", "rsa:2048", "-nodes", "-keyout", "/dev/null", "-subj", "/CN=me"],
    { encoding: "utf8" },
  );
  const spec = {
    request: Buffer.from(made.stdout).toString("base64"),
    signerName: "kubernetes.io/kube-apiserver-client",
    usages: ["client auth"],
  };
  await stage.kubectl(["create", "-f", "-"], of("certificates.k8s.io/v1", "CertificateSigningRequest", { spec }));
  await stage.kubectl(["certificate", "approve", "lock-certificatesigningrequest"]);
  await stage.kubectl(["delete", "csr", "lock-certificatesigningrequest"]);
}

/** What the status says of rules that no webhook asks about. */
async function neverAsked(stage: Stage): Promise<void> {
  const leases = named("coordination.k8s.io", "leases", ["DELETE"]);
  await stage.apply(
    policy("tokens", named("authentication.k8s.io", "tokenreviews")),
    policy("wild-leases", { ...EVERYTHING, resources: ["leases"] }),
    policy("configurations", named("admissionregistration.k8s.io", "validatingwebhookconfigurations")),
    policy("mixed", named("events.k8s.io", "*"), { ...named("", "configmaps"), scope: "Namespaced" }),
    policy("leases", named("coordination.k8s.io", "*"), leases),
  );
  for (const [name, says] of [
    ["tokens", /tokenreviews\.authentication\.k8s\.io: Kubernetes 1\.37 and newer/],
    ["wild-leases", /leases\.\*: a wildcard does not mean it/],
    ["configurations", /Kubernetes asks no webhook about it/],
  ] as const) {
    await stage.until(`${name} to be told that it is never asked`, async () => {
      const active = await activeOf(stage, name);
      return (active?.reason === "NeverAsked" && says.test(active.message)) || JSON.stringify(active);
    });
  }
  for (const [name, says] of [
    ["mixed", /some rules are never asked about: \*\.events\.k8s\.io/],
    ["leases", /names leases\.coordination\.k8s\.io: a denial, or no replica that answers, stops elections/],
  ] as const) {
    await stage.until(`a warning about ${name}`, async () => {
      const active = await activeOf(stage, name);
      return (active?.status === "True" && says.test(active.message)) || JSON.stringify(active);
    });
  }
  await stage.kubectl(["create", "-f", "-"], of("coordination.k8s.io/v1", "Lease", { spec: {} }, "plain"));
  assert.match(await stage.refused(["delete", "lease", "lock-lease", "-n", "plain"]), /nothing passes/);
  await stage.kubectl(["delete", "vpol", "--all"]);
  await stage.until(
    "that to be over",
    async () => (await stage.cluster.kubectl(["delete", "lease", "lock-lease", "-n", "plain"])).code === 0,
  );
  console.log("the status tells which rules are never asked about, and a rule by name is obeyed for what it says");
}

/** An API server that asks about reviews, as all do before 1.37. */
async function reviews(stage: Stage): Promise<void> {
  const start = await stage.cluster.stopApiServer();
  await start("--feature-gates=ExcludeAdmissionWebhookVirtualResources=false");
  const server = await stage.replica("reviews");
  const asking = policy("asking", named("authorization.k8s.io", "subjectaccessreviews")) as { spec: object };
  const review = `{"spec": dyn({"user": dyn("u"), "resourceAttributes": dyn({"verb": "get", "resource": "pods"})})}`;
  const expression = `resource.Post("authorization.k8s.io/v1", "subjectaccessreviews", ${review}).status.allowed && false`;
  const validations = [{ expression, message: "m" }];
  await stage.apply(policy("everything", EVERYTHING), { ...asking, spec: { ...asking.spec, validations } });
  await stage.apply(policy("tokens", named("authentication.k8s.io", "tokenreviews")));
  await stage.active("vpol", "everything");
  await stage.until("a token review that is denied by name", async () => {
    const { code, text } = await stage.cluster.kubectl(
      ["create", "-f", "-"],
      of("authentication.k8s.io/v1", "TokenReview", { spec: { token: "t" } }),
    );
    return (code !== 0 && text.includes("nothing passes")) || text;
  });
  const resourceAttributes = { verb: "get", resource: "pods" };
  for (const kind of ["SubjectAccessReview", "SelfSubjectAccessReview"]) {
    const spec = { resourceAttributes, ...(kind.startsWith("Subject") && { user: "u" }) };
    await stage.kubectl(["create", "-f", "-"], JSON.stringify({ apiVersion: "authorization.k8s.io/v1", kind, spec }));
  }
  await stage.until("the reason in the status", async () => {
    const active = await activeOf(stage, "asking");
    return active?.reason === "NeverAsked" || JSON.stringify(active);
  });
  console.log("reviews ask policies that name them, but none that would ask about rights");
  await stage.kubectl(["delete", "vpol", "--all"]);
  assert.equal(await server.stop(), 0);
  const again = await stage.cluster.stopApiServer();
  await again();
}
