/** What policies leave in the audit log: the annotations of an audited policy and of a group, as the API server took them, beside its own. */
import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { makeCertificate } from "../cluster.js";
import { admissionPolicy, configMap, validatingPolicy } from "./policies.js";
import type { Stage } from "./stage.js";

const NAMESPACE = "trail";
const KEY = "forbidden";
const USER = "ann";
/** A member whose name leaves no room for a key. */
const LONG = `m${"_long".repeat(12)}`;

/** Kubernetes' own policy, with the action Audit. */
const native = (): object[] => {
  const [policy, binding] = admissionPolicy("trail.example.com", NAMESPACE, KEY) as [object, { spec: object }];
  return [policy, { ...binding, spec: { ...binding.spec, validationActions: ["Audit"] } }];
};

const webhook = (id: string, url: string, caBundle: string): object => ({
  name: `${id}.trail.example.com`,
  rules: [{ apiGroups: [""], apiVersions: ["v1"], operations: ["CREATE"], resources: ["configmaps"] }],
  namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": NAMESPACE } },
  clientConfig: { url: `${url}/validate/${id}`, caBundle },
  admissionReviewVersions: ["v1"],
  sideEffects: "None",
  failurePolicy: "Fail",
});

/** The annotations of the request that created a ConfigMap, without those that each request has. */
function annotationsOf(stage: Stage, name: string): Readonly<Record<string, string>> | undefined {
  const line = stage.cluster.auditLog().find((each) => each.includes(`"name":"${name}"`) && each.includes('"create"'));
  if (line === undefined) return undefined;
  const { annotations } = JSON.parse(line) as { annotations: Readonly<Record<string, string>> };
  const ours = Object.entries(annotations).filter(([key]) => /trail\.example\.com|validation_failure/.test(key));
  return Object.fromEntries(ours);
}

/** The annotations of a request by a user, as they must be whether it was allowed or not. */
async function annotated(stage: Stage, name: string, user: string): Promise<Readonly<Record<string, string>>> {
  await stage.until("the audit log", () => annotationsOf(stage, name) !== undefined);
  const annotations = { ...annotationsOf(stage, name) };
  console.log(name, annotations);
  const of = (id: string) => annotations[`group.trail.example.com/${id}`];
  const [failure] = JSON.parse(of("kyverno.validation_failure") ?? "[]") as { policy: string; message: string }[];
  assert.deepEqual([failure?.policy, failure?.message], ["audited", `the key ${KEY} is not allowed`]);
  assert.ok(of("native.validation_failure") !== undefined, "of the member that is Kubernetes' own");
  assert.equal(of("who"), user);
  assert.equal(of("empty"), undefined);
  const shortened = Object.keys(annotations).filter((each) => /\/[0-9a-f]{8}\./.test(each));
  assert.equal(shortened.length, 2, "a long name has digits in its place");
  return annotations;
}

export async function trailOfAudits(stage: Stage): Promise<void> {
  const { folder } = stage;
  const audited = validatingPolicy("audited", NAMESPACE, KEY, { validationActions: ["Audit"] });
  const file = `${folder}/trail.yaml`;
  writeFileSync(`${folder}/audited.json`, JSON.stringify(audited));
  writeFileSync(
    `${folder}/native.json`,
    native()
      .map((each) => JSON.stringify(each))
      .join("\n---\n"),
  );
  const group = {
    expression: `kyverno() && native() && ${LONG}()`,
    message: "not allowed",
    messageExpression: `"not allowed for " + request.userInfo.username`,
    auditAnnotations: { who: "request.userInfo.username", empty: "''" },
    policies: {
      kyverno: { policy: "audited" },
      native: { policy: "native" },
      [LONG]: {
        expression: "kyverno() && named()",
        message: "no",
        policies: {
          kyverno: { policy: "audited" },
          named: {
            cel: {
              validations: [{ expression: "object.metadata.name != 'refused'", message: "a bad name" }],
              auditAnnotations: [{ key: "name", valueExpression: "string(object.metadata.name)" }],
            },
          },
        },
      },
    },
  };
  writeFileSync(
    file,
    JSON.stringify({ audited: { resource: "audited.json" }, native: { resource: "native.json" }, group }),
  );
  const { cert, key } = await makeCertificate(folder);
  const server = await stage.serve("--policies", file, "--cert-file", cert, "--key-file", key);
  const hooks = { apiVersion: "admissionregistration.k8s.io/v1", kind: "ValidatingWebhookConfiguration" };
  try {
    const url = `https://127.0.0.1:${new URL(server.url).port}`;
    const caBundle = readFileSync(cert).toString("base64");
    await stage.kubectl(["create", "namespace", NAMESPACE]);
    const webhooks = ["audited", "native", "group"].map((id) => webhook(id, url, caBundle));
    await stage.apply(...native(), { ...hooks, metadata: { name: "trail" }, webhooks });
    let attempt = 0;
    await stage.claim(
      "annotations of an audited policy, of Kubernetes' own and of a group reach the audit log",
      async () => {
        // A new webhook and a new policy are in force after a moment.
        await stage.until("all annotations", async () => {
          attempt += 1;
          const object = JSON.stringify(configMap(`probe-${attempt}`, KEY));
          await stage.kubectl(["create", "-n", NAMESPACE, "-f", "-"], object);
          return Object.keys(annotationsOf(stage, `probe-${attempt}`) ?? {}).length >= 8;
        });
        const annotations = await annotated(stage, `probe-${attempt}`, "admin");
        const own = annotations["validation.policy.admission.k8s.io/validation_failure"];
        assert.ok(own !== undefined, "the API server's own annotation");
        assert.equal(annotations["native.trail.example.com/validation_failure"], own, "as the API server");
        assert.equal(annotations["group.trail.example.com/native.validation_failure"], own, "in the group, too");
      },
    );
    await stage.claim("those of a request that is denied do, too", async () => {
      const asUser = ["--as", USER, "--as-group", "system:masters"];
      const refused = JSON.stringify(configMap("refused", KEY));
      const text = await stage.refused(["create", "-n", NAMESPACE, ...asUser, "-f", "-"], refused);
      assert.match(text, /admission webhook "group\.trail\.example\.com" denied the request: not allowed for ann/);
      await annotated(stage, "refused", USER);
    });
  } finally {
    await stage.kubectl(["delete", "validatingwebhookconfiguration", "trail", "--ignore-not-found"]);
    await stage.kubectl([
      "delete",
      "validatingadmissionpolicy,validatingadmissionpolicybinding",
      "trail.example.com",
      "--ignore-not-found",
    ]);
    await server.stop();
  }
}
