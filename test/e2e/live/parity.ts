/**
 * The same policies and the same requests twice: enforced by the API server itself, and, with that part of it switched off, by our server's webhooks. Who is
 * allowed, with which code and for which reason, must be the same.
 */
import assert from "node:assert/strict";
import { type Answered, Api } from "./api.js";
import { NAMESPACES, PARITY_POLICIES, WIDGETS } from "./parity-policies.js";
import { OBJECTS, PARITY_REQUESTS, type ParityRequest } from "./parity-requests.js";
import type { Stage } from "./stage.js";

const WITHOUT_NATIVE = "--disable-admission-plugins=ValidatingAdmissionPolicy";
/** What `reader` and `writer` may do. */
const ROLES = `apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: { name: parity-writer }
rules: [{ apiGroups: [""], resources: [configmaps], verbs: [create, get] }]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: { name: parity-reader }
rules: [{ apiGroups: [""], resources: [secrets], verbs: [get] }]
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
`;
/** Requests that are denied while a policy of the stage's is in force: one of each namespace's last policies to come. */
const PROBES = ["over a parameter", "false, Ignore", "an object that is selected", "a generated name"];

export async function parity(stage: Stage): Promise<void> {
  await stage.kubectl(["apply", "-f", "-"], ROLES);
  await stage.apply(WIDGETS);
  await stage.kubectl(["wait", "--for=condition=Established", "crd/widgets.parity.example.com", "--timeout=30s"]);
  await stage.apply(...NAMESPACES.map((name) => namespaceOf(name)));
  for (const [namespace, object] of OBJECTS) {
    await stage.kubectl(["create", "-n", namespace, "-f", "-"], JSON.stringify(object));
  }
  await stage.apply(...PARITY_POLICIES);

  const native = await answers(stage);
  const start = await stage.cluster.stopApiServer();
  await start(WITHOUT_NATIVE);
  const server = await stage.replica("parity", "--enforce-admission-policies", "--audit-interval=0");
  const ours = await answers(stage);
  assert.equal(await server.stop(), 0);
  const back = await stage.cluster.stopApiServer();
  await back();

  const different = PARITY_REQUESTS.flatMap((asked, index) => {
    const [one, other] = [native[index], ours[index]].map((answer) => answer && told(answer));
    return one === other ? [] : [`${asked.title}:\n  native ${one}\n  ours   ${other}`];
  });
  const denied = native.filter(({ message }) => message.includes("denied request")).length;
  console.log(
    `${PARITY_REQUESTS.length - different.length} of ${PARITY_REQUESTS.length} requests the same, ${denied} of them denials`,
  );
  assert.ok(denied > 25, "natively denied");
  assert.equal(different.join("\n"), "");
  await stage.kubectl(
    ["delete", "-f", "-", "--wait=false"],
    JSON.stringify({ apiVersion: "v1", kind: "List", items: PARITY_POLICIES }),
  );
}

async function answers(stage: Stage): Promise<Answered[]> {
  const api = new Api(stage.cluster.kubeconfig);
  for (const title of PROBES) {
    const asked = PARITY_REQUESTS.find((one) => one.title === title) as ParityRequest;
    await stage.until(`a denial: ${title}`, async () => /denied/.test((await api.ask(asked)).message));
  }
  const all: Answered[] = [];
  for (const asked of PARITY_REQUESTS) all.push(await api.ask(asked));
  api.close();
  return all;
}

function namespaceOf(name: string): object {
  const labels = name === "labels" ? { stage: "production" } : {};
  return { apiVersion: "v1", kind: "Namespace", metadata: { name, labels } };
}

/** The code and the reason of a denial, without who denied; of anything else only the code. */
function told({ code, message }: Answered): string {
  const native = /ValidatingAdmissionPolicy '[^']*' with binding '[^']*' denied request: ([\s\S]*)$/.exec(message);
  const ours = /admission webhook "[^"]*" denied the request: ([\s\S]*)$/.exec(message);
  const reason = native?.[1] ?? ours?.[1];
  return reason === undefined ? `${code}` : `${code} ${reason}`;
}
