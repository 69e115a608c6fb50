/** Every kind of policy: applied, changed and deleted with kubectl, which sees what it decides, its status, reports and events. */
import assert from "node:assert/strict";
import { join } from "node:path";
import {
  admissionPolicy,
  certificateRequestPolicy,
  clusterAdmissionPolicy,
  configMap,
  kubewardenAdmissionPolicy,
  namespacedValidatingPolicy,
  policyException,
  policyGroup,
  validatingPolicy,
} from "./policies.js";
import { conditionsOf, type Json, type Replica, ROOT, type Stage } from "./stage.js";

const AUDIT_SECONDS = 2;
/** Events are gathered for a minute. */
const EVENT_WITHIN_MS = 90_000;
/** What the manifests give only where events are wanted. */
const EVENT_RIGHTS = `apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: { name: policy-server-events }
rules: [{ apiGroups: [events.k8s.io], resources: [events], verbs: [create] }]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: { name: policy-server-events }
roleRef: { apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: policy-server-events }
subjects: [{ kind: ServiceAccount, name: policy-server, namespace: policy-server }]
`;
/** A kind, and how a policy of it that denies a key is made. */
interface Kind {
  readonly resource: string;
  readonly namespaced: boolean;
  readonly make: (name: string, namespace: string, key: string) => object | readonly object[];
}

const KINDS: readonly Kind[] = [
  { resource: "validatingpolicies.v1.policies.kyverno.io", namespaced: false, make: validatingPolicy },
  {
    resource: "namespacedvalidatingpolicies.v1.policies.kyverno.io",
    namespaced: true,
    make: namespacedValidatingPolicy,
  },
  { resource: "clusteradmissionpolicies", namespaced: false, make: clusterAdmissionPolicy },
  { resource: "admissionpolicies", namespaced: true, make: kubewardenAdmissionPolicy },
  {
    resource: "clusteradmissionpolicygroups",
    namespaced: false,
    make: (name, namespace, key) => policyGroup(name, namespace, [key, key], false),
  },
  {
    resource: "admissionpolicygroups",
    namespaced: true,
    make: (name, namespace, key) => policyGroup(name, namespace, [key, key], true),
  },
];

export async function everyKind(stage: Stage): Promise<void> {
  await stage.kubectl(["apply", "-f", "-"], EVENT_RIGHTS);
  const server = await stage.replica(
    "kinds",
    `--audit-interval=${AUDIT_SECONDS}`,
    "--events",
    "--exception-namespaces=exempt",
  );
  for (const [index, kind] of KINDS.entries()) await lifeOf(stage, kind, `kind-${index}`);
  await exceptions(stage);
  await modules(stage);
  await certificates(stage);
  await admissionPolicies(stage, server);
  await reports(stage);
  await events(stage);
  assert.equal(await server.stop(), 0);
}

/** From the first version of a policy to its end. */
async function lifeOf(stage: Stage, { resource, namespaced, make }: Kind, namespace: string): Promise<void> {
  const name = `policy-${namespace}`;
  await stage.kubectl(["create", "namespace", namespace]);
  const create = ["create", "--dry-run=server", "-n", namespace, "-f", "-"];
  const one = JSON.stringify(configMap("c", "one"));
  const two = JSON.stringify(configMap("c", "two"));
  await stage.kubectl(create, one);

  await stage.apply(...[make(name, namespace, "one")].flat());
  await stage.claim(`${resource}: active and denying after`, async () => {
    const took = await stage.active(resource, name, namespaced ? namespace : "");
    assert.match(await stage.refused(create, one), /not allowed/);
    await stage.kubectl(create, two);
    return `${took} ms`;
  });

  await stage.apply(...[make(name, namespace, "two")].flat());
  await stage.claim(`${resource}: changed after`, async () => {
    const took = await stage.active(resource, name, namespaced ? namespace : "");
    assert.match(await stage.refused(create, two), /not allowed/);
    await stage.kubectl(create, one);
    return `${took} ms`;
  });

  const place = namespaced ? ["-n", namespace] : [];
  await stage.claim(`${resource}: deleted, it denies no more after`, async () => {
    await stage.refused(create, two);
    await stage.kubectl(["delete", resource, name, ...place]);
    const allowed = async () => (await stage.cluster.kubectl(create, two)).code === 0;
    return `${await stage.until(`${resource} without effect`, allowed)} ms`;
  });
}

/** An exception is in force while it is there. */
async function exceptions(stage: Stage): Promise<void> {
  await stage.kubectl(["create", "namespace", "exempt"]);
  await stage.apply(validatingPolicy("with-exception", "exempt", "one"));
  const create = ["create", "--dry-run=server", "-n", "exempt", "-f", "-"];
  const exempt = JSON.stringify(configMap("exempt", "one"));
  await stage.claim("an exception exempts what it names, and nothing else", async () => {
    await stage.active("vpol", "with-exception");
    await stage.refused(create, exempt);
    await stage.apply(policyException("exception", "exempt", "with-exception", "exempt"));
    await stage.until("the exception", async () => (await stage.cluster.kubectl(create, exempt)).code === 0);
    await stage.refused(create, JSON.stringify(configMap("other", "one")));
  });
  await stage.claim("an exception that is deleted exempts no more", async () => {
    await stage.kubectl(["delete", "polex", "exception", "-n", "exempt"]);
    await stage.until("no exception", () => stage.denies(create, exempt));
  });
  await stage.kubectl(["delete", "vpol", "with-exception"]);
}

/** A real module that denies, and one that changes what it is asked about. */
async function modules(stage: Stage): Promise<void> {
  const pods = { apiGroups: [""], apiVersions: ["v1"], operations: ["CREATE"], resources: ["pods"] };
  const module = (name: string) => `file://${join(ROOT, "policies", name, "policy.wasm")}`;
  await stage.kubectl(["create", "namespace", "modules"]);
  const namespaceSelector = { matchLabels: { "kubernetes.io/metadata.name": "modules" } };
  const common = { rules: [pods], namespaceSelector };
  await stage.apply(
    clusterAdmissionPolicy("privileged", "modules", "", {
      ...common,
      ...{ module: module("privileged-pods"), settings: {} },
    }),
    clusterAdmissionPolicy("labels", "modules", "", {
      ...common,
      ...{ module: module("add-label"), settings: { label: "owner", value: "platform" }, mutating: true },
    }),
  );
  const pod = (securityContext: object) =>
    JSON.stringify({
      ...{ apiVersion: "v1", kind: "Pod", metadata: { name: "p" } },
      spec: { containers: [{ name: "c", image: "i", securityContext }] },
    });
  const create = ["create", "--dry-run=server", "-n", "modules", "-f", "-"];
  await stage.claim("a module denies", async () => {
    await stage.active("cap", "privileged");
    assert.match(await stage.refused(create, pod({ privileged: true })), /clusterwide-privileged/);
    await stage.kubectl(create, pod({}));
  });
  await stage.claim("another module changes what it is asked about", async () => {
    await stage.active("cap", "labels");
    const made = JSON.parse(await stage.kubectl([...create, "-o", "json"], pod({}))) as Json;
    assert.equal(made.metadata?.labels?.owner, "platform");
  });
  await stage.claim(
    "without the policy of the module what it denied is allowed, and changed all the same",
    async () => {
      await stage.refused(create, pod({ privileged: true }));
      await stage.kubectl(["delete", "cap", "privileged"]);
      const isAllowed = async () => (await stage.cluster.kubectl(create, pod({ privileged: true }))).code === 0;
      await stage.until("a privileged Pod that is allowed", isAllowed);
      const made = JSON.parse(await stage.kubectl([...create, "-o", "json"], pod({ privileged: true }))) as Json;
      assert.equal(made.metadata?.labels?.owner, "platform");
    },
  );
  await stage.kubectl(["delete", "cap", "privileged", "labels", "--ignore-not-found"]);
}

/** CertificateRequestPolicies decide together under one id, and have a status each. */
async function certificates(stage: Stage): Promise<void> {
  await stage.apply(certificateRequestPolicy("internal"));
  await stage.claim("a CertificateRequestPolicy is ready", async () => {
    await stage.until("the policy's status", async () => {
      const conditions = conditionsOf(await stage.get("certificaterequestpolicies", "internal"));
      return conditions.some(({ type, status }) => type === "Ready" && status === "True");
    });
  });
  await stage.kubectl(["delete", "certificaterequestpolicies", "internal"]);
}

/** The API server enforces these itself: there is no webhook for them, but they are served for reports and explanations. */
async function admissionPolicies(stage: Stage, server: Replica): Promise<void> {
  await stage.kubectl(["create", "namespace", "native"]);
  await stage.apply(...admissionPolicy("native", "native", "one"));
  await stage.claim("the API server's own policies are read, and left to it", async () => {
    const added = /reloaded policies .*added=.*"validatingadmissionpolicy-native"/;
    await stage.until("the policy among those that are served", () => added.test(server.log()));
    const create = ["create", "--dry-run=server", "-n", "native", "-f", "-"];
    const denied = async () =>
      (await stage.cluster.kubectl(create, JSON.stringify(configMap("c", "one")))).text.includes("denied request");
    await stage.until("the API server's own denial", denied);
    const webhooks = await stage.kubectl(["get", "validatingwebhookconfigurations", "-o", "yaml"]);
    assert.doesNotMatch(webhooks, /kubernetes\.io\/metadata\.name: native/);
  });
  await stage.kubectl(["delete", "validatingadmissionpolicies/native", "validatingadmissionpolicybindings/native"]);
}

/** Objects that exist are reported on, and no longer when they, or the policy, are mended. */
async function reports(stage: Stage): Promise<void> {
  await stage.kubectl(["create", "namespace", "reported"]);
  await stage.kubectl(["create", "-n", "reported", "-f", "-"], JSON.stringify(configMap("bad", "one")));
  await stage.kubectl(["create", "-n", "reported", "-f", "-"], JSON.stringify(configMap("good", "two")));
  await stage.apply(validatingPolicy("reporting", "reported", "one"));
  const uid = (await stage.get("configmap", "bad", "reported"))?.metadata?.uid;
  const found = async (): Promise<Json | undefined> => {
    const text = await stage.kubectl(["get", "reports.openreports.io", "-n", "reported", "-o", "json"]);
    const { items } = JSON.parse(text) as { items: Json[] };
    assert.ok(
      items.every(({ scope }) => (scope?.name as unknown) !== "good"),
      "nothing is written of what passes",
    );
    return items.find(({ scope }) => (scope?.name as unknown) === "bad");
  };
  await stage.claim("an object that exists and would be denied is reported after", async () => {
    const took = await stage.until("a report", async () => (await found()) !== undefined);
    const report = await found();
    const [owner] = (report?.metadata?.ownerReferences ?? []) as unknown as Json[];
    assert.equal(owner?.uid, uid, "it goes with its object");
    assert.equal(report?.summary?.fail, 1);
    return `${took} ms`;
  });
  await stage.claim("once it is mended it is reported no longer", async () => {
    assert.notEqual(await found(), undefined, "it was reported");
    const mend = JSON.stringify([{ op: "remove", path: "/data/one" }]);
    await stage.kubectl(["patch", "configmap", "bad", "-n", "reported", "--type=json", "-p", mend]);
    await stage.until("no report", async () => (await found()) === undefined);
  });
  await stage.kubectl(["delete", "vpol", "reporting"]);
}

/** What a policy denies is told on it, not once for each request. */
async function events(stage: Stage): Promise<void> {
  await stage.kubectl(["create", "namespace", "told"]);
  await stage.apply(validatingPolicy("telling", "told", "one"));
  const create = ["create", "--dry-run=server", "-n", "told", "-f", "-"];
  const found = async (): Promise<string> => {
    const about = ["--field-selector", "involvedObject.name=telling", "-o", "jsonpath={.items[*].message}"];
    return await stage.kubectl(["get", "events", "-n", "default", ...about]);
  };
  await stage.claim("an event says what a policy denied:", async () => {
    await stage.active("vpol", "telling");
    for (let round = 0; round < 3; round++) await stage.refused(create, JSON.stringify(configMap("c", "one")));
    const said = async () => /denied \d requests?/.test(await found()) || (await found());
    await stage.until("an event", said, EVENT_WITHIN_MS);
    return found();
  });
  await stage.kubectl(["delete", "vpol", "telling"]);
}
