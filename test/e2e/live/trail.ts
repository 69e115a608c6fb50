/** What policies leave in the audit log: the annotations of an audited policy and of a group, as the API server took them, beside its own. */
import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { startExample } from "../../support/example-server.js";
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
  const server = await startExample("--policies", file, "--cert-file", cert, "--key-file", key);
  const hooks = { apiVersion: "admissionregistration.k8s.io/v1", kind: "ValidatingWebhookConfiguration" };
  try {
    const url = `https://127.0.0.1:${new URL(server.url).port}`;
    const caBundle = readFileSync(cert).toString("base64");
    await stage.kubectl(["create", "namespace", NAMESPACE]);
    const webhooks = ["audited", "native", "group"].map((id) => webhook(id, url, caBundle));
    await stage.apply(...native(), { ...hooks, metadata: { name: "trail" }, webhooks });
    let attempt = 0;
    // A new webhook and a new policy are in force after a moment.
    await stage.until("all annotations", async () => {
      attempt += 1;
      const object = JSON.stringify(configMap(`probe-${attempt}`, KEY));
      await stage.kubectl(["create", "-n", NAMESPACE, "-f", "-"], object);
      return Object.keys(annotationsOf(stage, `probe-${attempt}`) ?? {}).length >= 8;
    });
    const refused = JSON.stringify(configMap("refused", KEY));
    const text = await stage.refused(
      ["create", "-n", NAMESPACE, "--as", USER, "--as-group", "system:masters", "-f", "-"],
      refused,
    );
    assert.match(text, /admission webhook "group\.trail\.example\.com" denied the request: not allowed for ann/);

    for (const name of [`probe-${attempt}`, "refused"]) {
      await stage.until("the audit log", () => annotationsOf(stage, name) !== undefined);
      const annotations = { ...annotationsOf(stage, name) };
      console.log(name, annotations);
      const own = annotations["validation.policy.admission.k8s.io/validation_failure"];
      if (name !== "refused")
        assert.equal(annotations["native.trail.example.com/validation_failure"], own, "as the API server");
      const of = (id: string) => annotations[`group.trail.example.com/${id}`];
      const [failure] = JSON.parse(of("kyverno.validation_failure") ?? "[]") as { policy: string; message: string }[];
      assert.deepEqual([failure?.policy, failure?.message], ["audited", `the key ${KEY} is not allowed`]);
      assert.equal(of("native.validation_failure"), own ?? of("native.validation_failure"));
      assert.equal(of("who"), name === "refused" ? USER : of("who"));
      assert.equal(of("empty"), undefined);
      const shortened = Object.keys(annotations).filter((each) => /\/[0-9a-f]{8}\./.test(each));
      assert.equal(shortened.length, 2, "a long name has digits in its place");
    }
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
