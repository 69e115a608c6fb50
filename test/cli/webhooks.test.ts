import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, test } from "node:test";
import { runCommandLine } from "../../src/cli/command-line.js";
import { yamlLibrary } from "../../src/data/yaml-library.js";
import { define, KUBEWARDEN as KUBEWARDEN_DEFINITIONS, keyOfPolicy, POLICIES, policy } from "../cluster/support.js";
import { FakeApiServer } from "../kubernetes/client/fake-api-server.js";

const folder = mkdtempSync(join(tmpdir(), "webhooks-"));
after(() => rmSync(folder, { recursive: true }));

interface Printed {
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly webhooks: readonly { readonly name: string; readonly [key: string]: unknown }[];
}

async function webhooks(files: Readonly<Record<string, string | Uint8Array>>, ...args: readonly string[]) {
  const own = mkdtempSync(join(folder, "case-"));
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(own, { recursive: true });
    writeFileSync(join(own, name), content);
  }
  const out: string[] = [];
  const err: string[] = [];
  const io = {
    stdout: { write: (text: string) => out.push(text) > 0 },
    stderr: { write: (text: string) => err.push(text) > 0 },
    env: {},
  };
  const code = await runCommandLine(["webhooks", join(own, "policies.yaml"), ...args], io as never);
  const objects = yamlLibrary()
    .parseAllDocuments(out.join(""))
    .map((document) => (document as { toJS(): unknown }).toJS() as Printed);
  return { code, err: err.join(""), objects };
}

const SUGGESTED = { apiGroups: ["apps"], apiVersions: ["v1"], operations: ["CREATE"], resources: ["deployments"] };

/** A module of nothing but metadata; `undefined`: none. */
function moduleWith(metadata: unknown): Uint8Array {
  const empty = new Uint8Array([0, 0x61, 0x73, 0x6d, 1, 0, 0, 0]);
  if (metadata === undefined) return empty;
  const name = new TextEncoder().encode("io.kubewarden.metadata");
  const content = new TextEncoder().encode(JSON.stringify(metadata));
  const length = 1 + name.length + content.length;
  return Uint8Array.from([...empty, 0, (length & 0x7f) | 0x80, length >> 7, name.length, ...name, ...content]);
}

const rules = (resource: string) =>
  `resourceRules: [{apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [${resource}]}]`;
const CEL = `cel: {matchConstraints: {${rules("pods")}}, validations: [{expression: "true"}]}`;
const KYVERNO = `
apiVersion: policies.kyverno.io/v1
kind: ValidatingPolicy
metadata: {name: k}
spec:
  matchConstraints: {${rules("services")}}
  validations: [{expression: "true"}]
`;
const KUBEWARDEN = `
apiVersion: policies.kubewarden.io/v1
kind: ClusterAdmissionPolicy
metadata: {name: c}
spec: {module: registry://r/p:v1, mutating: true, rules: [{apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [nodes]}]}
`;

describe("policy-server webhooks", () => {
  test("prints what entries say of what they are about", async () => {
    const { code, objects, err } = await webhooks({
      "policies.yaml": `a: {${CEL}}\nk: {resource: k.yaml}\nc: {resource: c.yaml}\n`,
      "k.yaml": KYVERNO,
      "c.yaml": KUBEWARDEN,
    });
    assert.equal(
      err,
      "warning: c: names nodes: a denial, or no replica that answers, stops Nodes that join or report their state\n",
    );
    assert.equal(code, 0);
    assert.deepEqual(
      objects.map(({ kind, metadata, webhooks: own }) => [kind, metadata.name, own.map(({ name }) => name)]),
      [
        ["MutatingWebhookConfiguration", "policies-1", ["c.kubewarden.admission"]],
        ["ValidatingWebhookConfiguration", "policies-1", ["a.policy-server.admission", "k.policy-server.admission"]],
      ],
    );
  });

  test("a group is asked about what any of its members is about", async () => {
    const { code, objects } = await webhooks({
      "policies.yaml": `a: {${CEL}}\ng: {expression: "one() && two()", message: m, policies: {one: {policy: a}, two: {resource: k.yaml}}}\n`,
      "k.yaml": KYVERNO,
    });
    assert.equal(code, 0);
    const group = objects[0]?.webhooks.find(({ name }) => name.startsWith("g."));
    assert.deepEqual(
      ((group?.rules ?? []) as { resources: string[] }[]).flatMap(({ resources }) => resources),
      ["pods", "services"],
    );
  });

  test("says which entries can't be asked, and what to write", async () => {
    const { code, objects, err } = await webhooks({
      "policies.yaml": `m: {module: m.wasm}\nA_b: {${CEL}}\ng: {expression: "x()", message: m, policies: {x: {policy: m}}}\n`,
      "m.wasm": moduleWith(undefined),
    });
    assert.equal(code, 1);
    assert.deepEqual(objects, []);
    assert.match(
      err,
      /^m: says nothing of what it is to be asked about, and neither does its module: write it as a ClusterAdmissionPolicy with spec\.rules/m,
    );
    assert.match(err, /^A_b: cannot be asked by way of a Service/m);
    assert.match(err, /^g: its member 'x' says nothing/m);
  });

  test("asks modules about what their authors suggest, groups of them, too; who may mutate is asked first", async () => {
    const { code, objects, err } = await webhooks({
      "policies.yaml": [
        "m: {module: m.wasm, timeoutEvalSeconds: 4}",
        "w: {module: m.wasm, allowedToMutate: true, timeoutEvalSeconds: 300}",
        'g: {expression: "x() && z()", message: m, policies: {x: {policy: m}, z: {module: m.wasm, timeoutEvalSeconds: 2}}}',
        `c: {timeoutEvalSeconds: 1, ${CEL}}`,
      ].join("\n"),
      "m.wasm": moduleWith({ rules: [SUGGESTED], mutating: true }),
    });
    assert.deepEqual([code, err], [0, ""]);
    const all = objects.flatMap(({ kind, webhooks: own }) =>
      own.map(({ name, rules: about, timeoutSeconds }) => [kind, name, about, timeoutSeconds]),
    );
    const about = [{ ...SUGGESTED, scope: "*" }];
    const pods = [{ apiGroups: [""], apiVersions: ["v1"], operations: ["CREATE"], resources: ["pods"], scope: "*" }];
    assert.deepEqual(all, [
      ["MutatingWebhookConfiguration", "w.kubewarden.admission", about, 30],
      ["ValidatingWebhookConfiguration", "c.policy-server.admission", pods, 2],
      ["ValidatingWebhookConfiguration", "g.kubewarden.admission", about, 7],
      ["ValidatingWebhookConfiguration", "m.kubewarden.admission", about, 5],
    ]);
  });

  test("a module that suggests nothing, is for raw requests, is broken or is not there has none, and it is said why", async () => {
    const { code, objects, err } = await webhooks({
      "policies.yaml": ["empty", "raw", "broken", "none"].map((name) => `${name}: {module: ${name}.wasm}\n`).join(""),
      "empty.wasm": moduleWith({ rules: [{ ...SUGGESTED, resources: [] }], mutating: false }),
      "raw.wasm": moduleWith({ rules: [SUGGESTED], mutating: false, policyType: "raw" }),
      "broken.wasm": moduleWith({ rules: 7 }),
    });
    assert.deepEqual([code, objects], [1, []]);
    const lines = err.trimEnd().split("\n");
    assert.match(lines.find((line) => line.startsWith("empty:")) ?? "", /says nothing .* spec\.rules/);
    assert.match(lines.find((line) => line.startsWith("raw:")) ?? "", /has a module for raw requests/);
    assert.match(
      lines.find((line) => line.startsWith("broken:")) ?? "",
      /metadata can't be read: .*missing field `rules`/,
    );
    assert.match(lines.find((line) => line.startsWith("none:")) ?? "", /metadata can't be read: .*none\.wasm/);
  });

  test("what the command line says of time and failures holds for all; JSON is one List", async () => {
    const { code, objects } = await webhooks(
      { "policies.yaml": `a: {timeoutEvalSeconds: 3, ${CEL}}\nc: {resource: c.yaml}\n`, "c.yaml": KUBEWARDEN },
      ...["--timeout", "7", "--failure-policy", "Ignore", "-o", "json"],
    );
    assert.equal(code, 0);
    const [list] = objects as unknown as readonly { readonly kind: string; readonly items: readonly Printed[] }[];
    assert.equal(list?.kind, "List");
    assert.deepEqual(
      list?.items.flatMap(({ kind, webhooks: own }) =>
        own.map(({ timeoutSeconds, failurePolicy }) => [kind, timeoutSeconds, failurePolicy]),
      ),
      [
        ["MutatingWebhookConfiguration", 7, "Ignore"],
        ["ValidatingWebhookConfiguration", 7, "Ignore"],
      ],
    );
  });

  test("asks at an address, with the authorities of a file", async () => {
    const { code, objects } = await webhooks(
      { "policies.yaml": `A_b: {${CEL}}\n`, "ca.pem": "PEM" },
      "--webhook-url",
      "https://localhost:8443",
      "--ca-file",
      import.meta.filename,
    );
    assert.equal(code, 0);
    const [webhook] = objects[0]?.webhooks ?? [];
    assert.match(webhook?.name ?? "", /^a-b-[0-9a-f]{16}\.policy-server\.admission$/);
    const { url, caBundle } = (webhook?.clientConfig ?? {}) as { url?: string; caBundle?: string };
    assert.equal(url, "https://localhost:8443/validate/A_b");
    assert.match(Buffer.from(caBundle ?? "", "base64").toString(), /asks at an address/);
  });

  test("leaves out what the API server refuses, which would take all others with it, and says why", async () => {
    const policyOf = (name: string, more: string) => `
apiVersion: policies.kubewarden.io/v1
kind: ClusterAdmissionPolicy
metadata: {name: ${name}}
spec:
  module: registry://r/p:v1
  mutating: false
  rules: [{apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [pods]}]
  ${more}`;
    const files = {
      "good.yaml": policyOf("good", ""),
      "label.yaml": policyOf("label", 'objectSelector: {matchLabels: {"webhooks[0]": x}}'),
      "twice.yaml": policyOf(
        "twice",
        "matchConditions: [{name: c, expression: 'true'}, {name: c, expression: 'true'}]",
      ),
      "policies.yaml": ["good", "label", "twice"].map((id) => `${id}: {resource: ${id}.yaml}\n`).join(""),
    };
    const { code, err, objects } = await webhooks(files);
    assert.equal(code, 1);
    assert.match(
      err,
      /^label: the API server refuses its webhook: objectSelector\.matchLabels: Invalid value: "webhooks/m,
    );
    assert.match(err, /^twice: the API server refuses its webhook: matchConditions\[1\]\.name: Duplicate value: "c"$/m);
    const names = objects.flatMap((each) => each.webhooks.map(({ name }) => name));
    assert.deepEqual(names, ["good.kubewarden.admission"]);
  });

  test("options that mean nothing are refused", async () => {
    for (const args of [
      ["--service", "name"],
      ["--webhook-url", "http://localhost"],
      ["--ca-file", join(folder, "none")],
      ["--timeout", "0"],
      ["--timeout", "31"],
      ["--timeout", "1.5"],
      ["--failure-policy", "ignore"],
      ["-o", "text"],
    ]) {
      assert.equal((await webhooks({ "policies.yaml": "{}" }, ...args)).code, 2, args.join(" "));
    }
  });

  test("prints what the leader makes of a cluster's policies, but for those whose ids the file has", async (context) => {
    const server = await FakeApiServer.start(context);
    define(server, ...KUBEWARDEN_DEFINITIONS);
    const spec = { rules: [{ apiGroups: [""], apiVersions: ["v1"], operations: ["CREATE"], resources: ["pods"] }] };
    for (const name of ["a", "b"]) server.put(POLICIES, policy(name, spec));
    server.put(POLICIES, policy("c", { ...spec, policyServer: "other" }));
    const args = ["--from-cluster", "--kubeconfig", server.kubeconfig()];
    const { code, objects, err } = await webhooks({ "policies.yaml": `clusterwide-b: {${CEL}}\n` }, ...args);
    assert.equal(err, `${keyOfPolicy("b")}: is not asked: the policies file has a policy of its id\n`);
    assert.equal(code, 1);
    assert.deepEqual(
      objects.map(({ metadata, webhooks: own }) => [metadata, own.map(({ name }) => name)]),
      [
        [
          {
            name: "policy-server-1",
            labels: { "app.kubernetes.io/managed-by": "policy-server", "policy-server.admission/server": "default" },
          },
          ["clusterwide-a.kubewarden.admission"],
        ],
      ],
    );
    server.forbidden.add("list admissionpolicies");
    const refused = await webhooks({ "policies.yaml": "{}\n" }, ...args);
    assert.equal(refused.code, 1);
    assert.match(refused.err, /^of the cluster: .*forbidden/);
    assert.equal(refused.objects[0]?.webhooks.length, 2);
  });

  test("warns of rules that an API server asks static webhooks about, and a cel: entry skips", async () => {
    const rule = (resources: string) =>
      `matchConstraints: {resourceRules: [{apiGroups: [admissionregistration.k8s.io], apiVersions: [v1], operations: [DELETE], resources: [${resources}]}]}`;
    const cel = `cel: {${rule("validatingadmissionpolicies")}, validations: [{expression: "false"}]}`;
    const hooks = cel.replace("validatingadmissionpolicies", "validatingwebhookconfigurations");
    const files = {
      "policies.yaml": `skips: {${cel}}\njudges: {expression: m(), message: no, policies: {m: {${cel}}}}\nhooks: {${hooks}}\n`,
    };
    const { err } = await webhooks(files, "--static", "--webhook-url", "https://10.0.0.5:3000");
    assert.match(
      err,
      /skips: it is never asked: validatingadmissionpolicies\.\S+ policies of this kind never judge it/,
    );
    assert.doesNotMatch(err, /(?:judges|hooks): it is never asked/);
    assert.match(err, /hooks: names validatingwebhookconfigurations\.\S+ a denial/);
  });

  test("asks ImageValidatingPolicies in the mutating phase where they replace tags", async () => {
    const images = (configured: string) =>
      `{apiVersion: policies.kyverno.io/v1, kind: ImageValidatingPolicy, metadata: {name: i}, spec: {matchConstraints: {${rules("pods")}}, validationConfigurations: {${configured}}, attestors: [], validations: [{expression: "true"}]}}`;
    const { code, objects } = await webhooks({
      "policies.yaml":
        "pins: {resource: i.yaml, allowedToMutate: true}\njudges: {resource: i.yaml}\nkeeps: {resource: k.yaml, allowedToMutate: true}\n",
      "i.yaml": images(""),
      "k.yaml": images("mutateDigest: false"),
    });
    assert.equal(code, 0);
    const asked = objects.map(({ kind, webhooks }) => [
      kind,
      webhooks.map(({ clientConfig }) => JSON.stringify(clientConfig)),
    ]);
    assert.match(JSON.stringify(asked), /MutatingWebhookConfiguration[^[]*\[[^\]]*validate\/pins/);
    assert.doesNotMatch(
      JSON.stringify(asked.filter(([kind]) => kind === "MutatingWebhookConfiguration")),
      /judges|keeps/,
    );
  });

  test("prints static manifests, which name a URL, end in .static.k8s.io and pass check --static", async () => {
    const files = {
      "policies.yaml": `v: {${CEL}}\nm: {resource: m.yaml, allowedToMutate: true}\n`,
      "m.yaml": `{apiVersion: admissionregistration.k8s.io/v1, kind: MutatingAdmissionPolicy, metadata: {name: m}, spec: {reinvocationPolicy: Never, matchConstraints: {${rules("pods")}}, mutations: [{patchType: JSONPatch, jsonPatch: {expression: "[JSONPatch{op: 'remove', path: '/a'}]"}}]}}`,
    };
    const service = await webhooks(files, "--static");
    assert.equal(service.code, 2);
    assert.match(
      service.err,
      /--static: an API server asks no Service from its static manifests: give --webhook-url https:/,
    );
    const url = ["--static", "--webhook-url", "https://10.0.0.5:3000"];
    const both = await webhooks(files, ...url);
    assert.deepEqual([both.code, both.objects.length], [0, 2]);
    assert.match(
      both.err,
      /warning: the plugins of the two types read directories of their own: print each with --type/,
    );
    for (const type of ["validating", "mutating"]) {
      const { code, err, objects } = await webhooks(files, ...url, "--type", type);
      assert.deepEqual([code, err, objects.length], [0, "", 1]);
      const [made] = objects as [Printed];
      assert.equal(made.kind.toLowerCase(), `${type}webhookconfiguration`);
      assert.equal(made.metadata.name, "policies-1.static.k8s.io");
      const clients = made.webhooks.map(({ clientConfig }) => clientConfig);
      assert.deepEqual(clients, [{ url: `https://10.0.0.5:3000/validate/${type[0]}` }]);
      const own = mkdtempSync(join(folder, "static-"));
      writeFileSync(join(own, "policies.json"), JSON.stringify(made));
      const out: string[] = [];
      const io = { stdout: { write: (text: string) => out.push(text) > 0 }, stderr: { write: () => true }, env: {} };
      assert.equal(await runCommandLine(["check", "--static", own], io as never), 0, out.join(""));
    }
  });
});
