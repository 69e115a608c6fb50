/**
 * The chart, by Helm itself: it lints and renders every combination of modes, refuses wrong values by name, and a real API server takes what comes of it. Part
 * of no other suite: `npm run helm-test`. Needs Go the first time; without E2E_DIR the API server is built as for `npm run e2e`.
 */
import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseYamlDocuments } from "../../src/data/yaml.js";
import type { KubernetesObject } from "../deploy/objects.js";
import { Cluster, type Printed, run } from "../e2e/cluster.js";
import { type Combination, modes, switches, WRONG } from "./combinations.js";
import { helmProgram } from "./helm.js";

const CHART = fileURLToPath(new URL("../../../deploy/helm/policy-server", import.meta.url));
const MANIFESTS = fileURLToPath(new URL("../../../deploy/manifests", import.meta.url));
const RELEASE = ["policy-server", CHART, "--namespace", "admission", "--kube-version", "1.30.0"];
/** Groups of other programs, which the API server here does not have. */
const FOREIGN = /^(?:cert-manager\.io|monitoring\.coreos\.com)\//;

const helm = helmProgram();
const folder = mkdtempSync(join(tmpdir(), "helm-test-"));

function render(command: readonly string[], { values }: Combination): Promise<Printed> {
  const file = join(folder, "values.yaml");
  writeFileSync(file, JSON.stringify(values));
  return run(helm, [...command, "--values", file]);
}

/** A message for people: it names the value, and does not show how templates work. */
function assertReadable(text: string, { name, refused }: Combination): void {
  assert.match(text, refused ?? /^$/, name);
  assert.doesNotMatch(text, /nil pointer|panic|goroutine/, name);
}

async function renderedObjects(): Promise<KubernetesObject[]> {
  const objects = new Map<string, KubernetesObject>();
  for (const combination of [...modes(), ...switches()]) {
    const { code, text } = await render(["template", ...RELEASE], combination);
    if (combination.refused !== undefined) {
      assert.notEqual(code, 0, `${combination.name} should have been refused`);
      assertReadable(text, combination);
      continue;
    }
    assert.equal(code, 0, `${combination.name}: ${text}`);
    for (const object of parseYamlDocuments(text) as (KubernetesObject | null)[])
      if (object !== null) objects.set(JSON.stringify(object), object);
  }
  return [...objects.values()];
}

const list = (items: readonly object[]): string => JSON.stringify({ apiVersion: "v1", kind: "List", items });

try {
  const lint = await run(helm, ["lint", "--strict", CHART]);
  assert.equal(lint.code, 0, lint.text);
  for (const wrong of WRONG) {
    const { code, text } = await render(["template", ...RELEASE], wrong);
    assert.notEqual(code, 0, `${wrong.name} should have been refused`);
    assertReadable(text, wrong);
  }
  console.log(`${WRONG.length} wrong values are refused by name`);
  const objects = await renderedObjects();
  console.log(`${objects.length} different objects come of all combinations`);
  const cluster = await Cluster.start();
  try {
    const kubectl = async (args: readonly string[], input = ""): Promise<void> => {
      const { code, text } = await cluster.kubectl(args, input);
      assert.equal(code, 0, `kubectl ${args.join(" ")}: ${text}`);
    };
    await kubectl(["create", "namespace", "admission"]);
    const known = objects.filter(({ apiVersion }) => !FOREIGN.test(apiVersion));
    // The same object in several forms: each is asked about alone, as it would be created.
    for (let at = 0; at < known.length; at += 100)
      await kubectl(["create", "--dry-run=server", "--validate=strict", "-f", "-"], list(known.slice(at, at + 100)));
    await kubectl(["create", "namespace", "policy-server"]);
    for (const name of ["from-cluster", "base"])
      await kubectl(["apply", "--dry-run=server", "--server-side", "--validate=strict", "-k", `${MANIFESTS}/${name}`]);
    console.log(`a real API server takes ${known.length} of them, and the manifests`);
    await releases(cluster);
  } finally {
    await cluster.stop();
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}

/** Two releases beside each other: one name each; upgrade, rollback, and one goes. */
async function releases(cluster: Cluster): Promise<void> {
  const env = { ...process.env, KUBECONFIG: cluster.kubeconfig };
  const call = (...args: string[]) => run(helm, args, { env });
  const done = async (...args: string[]) => {
    const { code, text } = await call(...args);
    assert.equal(code, 0, `helm ${args.join(" ")}: ${text}`);
  };
  const install = (namespace: string, name: string) => [
    ...["install", "policy-server", CHART, "--namespace", namespace, "--create-namespace"],
    ...["--set", "fromCluster.enabled=true", "--set", `fromCluster.policyServerName=${name}`],
  ];
  await done(...install("one", "default"));
  const same = await call(...install("two", "default"));
  assert.notEqual(same.code, 0, "two servers of one name");
  assert.match(
    same.text,
    /policyServerName: another release has the name default already \(ClusterRole policy-server-one\)/,
  );
  await done(...install("two", "second"));
  // What the cluster itself writes into an aggregated role.
  const written = { rules: [{ apiGroups: [""], resources: ["pods"], verbs: ["get"] }] };
  const aggregated = ["clusterrole", "policy-server-two-audit", "--type=merge", "-p", JSON.stringify(written)];
  const patched = await cluster.kubectl(["patch", ...aggregated, "--field-manager=clusterrole-aggregation-controller"]);
  assert.equal(patched.code, 0, patched.text);
  await done("upgrade", "policy-server", CHART, "--namespace", "two", "--reuse-values", "--set", "workers=1");
  await done("rollback", "policy-server", "--namespace", "two");
  await done("uninstall", "policy-server", "--namespace", "two");
  const left = await cluster.kubectl(["get", "clusterroles,clusterrolebindings", "-o", "name"]);
  assert.ok(left.text.includes("policy-server-one-webhooks") && !left.text.includes("policy-server-two"), left.text);
  const crds = await cluster.kubectl(["get", "crd", "policyservers.policies.kubewarden.io", "-o", "name"]);
  assert.equal(crds.code, 0, crds.text);
  console.log("two releases stand beside each other; a second of one name is refused");
}
