/** Kyverno's ClusterPolicies and Policies in a cluster: taken with the flag alone, converted, with exceptions and reports; their status stays as it is. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { answered } from "./mutating.js";
import { configMap, validatingPolicy } from "./policies.js";
import { type Json, type Replica, ROOT, type Stage } from "./stage.js";

const CRDS = join(ROOT, "deploy/helm/policy-server/files/crds/kyverno-cluster-policies");
const RIGHTS = join(ROOT, "deploy/manifests/kyverno-cluster-policies/role.yaml");

const rule = (name: string, namespace: string, body: object) => ({
  name,
  match: { any: [{ resources: { kinds: ["ConfigMap"], namespaces: [namespace] } }] },
  ...body,
});
/** Denies ConfigMaps with a key. */
const without = (key: string) => ({
  validate: {
    message: `the key ${key} is not allowed`,
    allowExistingViolations: false,
    pattern: { "=(data)": { [`X(${key})`]: "null" } },
  },
});
const old = (name: string, rules: readonly object[], namespace = "", action = "Enforce") => ({
  apiVersion: "kyverno.io/v1",
  kind: namespace === "" ? "ClusterPolicy" : "Policy",
  metadata: { name, ...(namespace !== "" && { namespace }) },
  spec: { validationFailureAction: action, rules },
});
const create = (namespace: string) => ["create", "--dry-run=server", "-n", namespace, "-f", "-"];
const [ONE, TWO] = [JSON.stringify(configMap("c", "one")), JSON.stringify(configMap("c", "two"))];

export async function clusterPolicies(stage: Stage): Promise<void> {
  for (const namespace of ["old", "team", "broken"]) await stage.kubectl(["create", "namespace", namespace]);
  await stage.kubectl(["apply", "-k", CRDS]);
  await stage.kubectl(["apply", "-f", RIGHTS]);
  await stage.apply(old("pinned", [rule("one", "old", without("one")), rule("two", "old", without("two"))]));
  await unread(stage);
  const server = await stage.replica(
    "old",
    "--kyverno-cluster-policies",
    "--audit-interval=2",
    "--exception-namespaces=old",
  );
  await decided(stage);
  await excepted(stage);
  await notConverted(stage, server);
  await reported(stage);
  await inBothForms(stage, server);
  assert.equal(await server.stop(), 0);
}

/** Without the flag they are nothing to the server. */
async function unread(stage: Stage): Promise<void> {
  const server = await stage.replica("without-flag");
  await stage.kubectl(create("old"), ONE);
  assert.doesNotMatch(await served(server), /clusterpolicy-/);
  assert.equal(await server.stop(), 0);
}

async function decided(stage: Stage): Promise<void> {
  await stage.claim("a ClusterPolicy denies what its rules deny, after", async () => {
    const took = await stage.until("a denial", () => stage.denies(create("old"), ONE));
    assert.match(await stage.refused(create("old"), TWO), /the key two is not allowed/);
    await stage.kubectl(create("team"), ONE);
    return `${took} ms`;
  });
  await stage.claim("a Policy denies in its namespace alone, and no more when it is deleted", async () => {
    const inTeam = { name: "one", match: { any: [{ resources: { kinds: ["ConfigMap"] } }] }, ...without("one") };
    await stage.apply(old("pinned", [inTeam], "team"));
    await stage.until("a denial", () => stage.denies(create("team"), ONE));
    await stage.kubectl(create("broken"), ONE);
    await stage.kubectl(["delete", "policies.kyverno.io", "pinned", "-n", "team"]);
    await stage.until("no denial", async () => (await stage.cluster.kubectl(create("team"), ONE)).code === 0);
  });
}

async function excepted(stage: Stage): Promise<void> {
  await stage.claim("exceptions of both generations exempt", async () => {
    await stage.apply({
      apiVersion: "kyverno.io/v2",
      kind: "PolicyException",
      metadata: { name: "old-one", namespace: "old" },
      spec: {
        exceptions: [{ policyName: "pinned", ruleNames: ["one"] }],
        match: { any: [{ resources: { kinds: ["ConfigMap"], names: ["c"] } }] },
      },
    });
    await stage.until("no denial", async () => (await stage.cluster.kubectl(create("old"), ONE)).code === 0);
    await stage.refused(create("old"), TWO);
    await stage.apply({
      apiVersion: "policies.kyverno.io/v1",
      kind: "PolicyException",
      metadata: { name: "new-two", namespace: "old" },
      spec: { policyRefs: [{ kind: "ValidatingPolicy", name: "pinned-two" }] },
    });
    await stage.until("no denial", async () => (await stage.cluster.kubectl(create("old"), TWO)).code === 0);
    await stage.kubectl(["delete", "policyexceptions.kyverno.io", "old-one", "-n", "old"]);
    await stage.kubectl(["delete", "policyexceptions.policies.kyverno.io", "new-two", "-n", "old"]);
    await stage.until("a denial", () => stage.denies(create("old"), ONE));
  });
}

/** `GET /policies`; empty where something else than our server answers. */
const served = ({ url }: Replica): Promise<string> => answered(`${url}/policies`).catch(() => "");

/** A rule that is not converted denies what it matches; the others of its policy are served. */
async function notConverted(stage: Stage, server: Replica): Promise<void> {
  const signed = rule("signed", "broken", { verifyImages: [{ imageReferences: ["*"] }] });
  await stage.claim("a rule that is not converted denies what it matches, and GET /policies names it", async () => {
    await stage.apply(old("signed", [signed, rule("one", "team", without("one"))]));
    await stage.until("a denial", () => stage.denies(create("broken"), TWO));
    assert.match(await stage.refused(create("broken"), TWO), /not converted: signatures of images/);
    await stage.refused(create("team"), ONE);
    await stage.kubectl(create("team"), TWO);
    assert.match(await served(server), /"notConverted":\["signed: signatures/);
  });
  await stage.kubectl(["delete", "clusterpolicy", "signed"]);
  await stage.claim("with Audit it denies nothing", async () => {
    await stage.until("no denial", async () => (await stage.cluster.kubectl(create("broken"), TWO)).code === 0);
    await stage.apply(old("signed", [signed], "", "Audit"));
    await stage.until("the policy", async () => /clusterpolicy-signed/.test(await served(server)));
    await stage.kubectl(create("broken"), TWO);
  });
}

/** Reports have a result for each rule; the policies' own status is not written. */
async function reported(stage: Stage): Promise<void> {
  await stage.kubectl(["create", "-n", "broken", "-f", "-"], JSON.stringify(configMap("there", "one")));
  const results = async (): Promise<Json[]> => {
    const text = await stage.kubectl(["get", "reports.openreports.io", "-n", "broken", "-o", "json"]);
    const { items } = JSON.parse(text) as { items: Json[] };
    return items.flatMap((item) => (item.results as unknown as Json[] | undefined) ?? []);
  };
  await stage.claim("a report names policy and rule; what is not converted is an error in it", async () => {
    const isTold = async () =>
      (await results()).some(({ policy, rule, result }) => `${policy} ${rule} ${result}` === "signed signed error");
    await stage.until("a report", isTold);
  });
  assert.equal((await stage.get("clusterpolicy", "pinned"))?.status, undefined, "nothing is written into its status");
}

async function inBothForms(stage: Stage, server: Replica): Promise<void> {
  await stage.claim("a policy that is there in both forms is warned about", async () => {
    await stage.apply(validatingPolicy("pinned", "old", "one"));
    await stage.until("a warning", () => /the same policy is there as ValidatingPolicy pinned/.test(server.log()));
  });
  await stage.kubectl(["delete", "vpol", "pinned"]);
  await stage.kubectl(["delete", "clusterpolicy", "--all"]);
}
