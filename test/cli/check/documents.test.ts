/** `check` of files and folders of Kubernetes documents. */
import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { PassThrough, Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { after, describe, test } from "node:test";
import { runCommandLine } from "../../../src/cli/command-line.js";

const root = mkdtempSync(join(tmpdir(), "check-documents-"));
after(() => rmSync(root, { recursive: true }));
let folders = 0;

function folder(files: Readonly<Record<string, string | object | readonly object[]>>): string {
  const made = join(root, String(++folders));
  for (const [name, content] of Object.entries(files)) {
    const path = join(made, name);
    mkdirSync(dirname(path), { recursive: true });
    const documents = Array.isArray(content) ? (content as readonly object[]) : [content as object];
    writeFileSync(
      path,
      typeof content === "string" ? content : documents.map((each) => JSON.stringify(each)).join("\n---\n"),
    );
  }
  mkdirSync(made, { recursive: true });
  return made;
}

async function check(args: readonly string[], stdin = "") {
  const [stdout, stderr] = [new PassThrough(), new PassThrough()];
  const [out, err] = [text(stdout), text(stderr)];
  const io = { env: { KUBECONFIG: join(root, "none") }, stdin: Readable.from([stdin]), stdout, stderr };
  const code = await runCommandLine(["check", ...args], io);
  stdout.end();
  stderr.end();
  return { code, out: (await out).replaceAll(`${root}/`, ""), err: (await err).replaceAll(`${root}/`, "") };
}

interface Checked {
  readonly file: string;
  readonly policies: number;
  readonly leftOut?: { readonly objects: number; readonly files: number };
  readonly problems: readonly { readonly severity: string; readonly file: string; readonly message: string }[];
}
const json = async (...args: readonly string[]): Promise<readonly Checked[]> => {
  const value = JSON.parse((await check([...args, "-o", "json"])).out) as
    | Checked
    | { readonly files: readonly Checked[] };
  return "files" in value ? value.files : [value];
};
const told = async (...args: readonly string[]): Promise<readonly string[]> =>
  (await json(...args)).flatMap(({ problems }) => problems.map(({ severity, message }) => `${severity}: ${message}`));

const matchConstraints = {
  resourceRules: [{ apiGroups: [""], apiVersions: ["v1"], operations: ["CREATE"], resources: ["pods"] }],
};
const admission = (kind: string, name: string, spec: object) => ({
  ...{ apiVersion: "admissionregistration.k8s.io/v1", kind, metadata: { name } },
  spec,
});
const vap = (name: string, expression = "object.kind == 'Pod'", more: object = {}) =>
  admission("ValidatingAdmissionPolicy", name, { matchConstraints, validations: [{ expression }], ...more });
const binding = (name: string, policyName: string, more: object = {}) =>
  admission("ValidatingAdmissionPolicyBinding", name, { policyName, validationActions: ["Deny"], ...more });
const map = (name: string) =>
  admission("MutatingAdmissionPolicy", name, {
    ...{ matchConstraints, reinvocationPolicy: "Never" },
    mutations: [{ patchType: "JSONPatch", jsonPatch: { expression: "[JSONPatch{op: 'remove', path: '/spec'}]" } }],
  });
const kyverno = (name: string, expression = "object.kind == 'Pod'") => ({
  ...{ apiVersion: "policies.kyverno.io/v1", kind: "ValidatingPolicy", metadata: { name } },
  spec: { matchConstraints, validationActions: ["Deny"], validations: [{ expression, message: "no" }] },
});
const exception = (name: string, refs: readonly string[], more: object = {}) => ({
  ...{ apiVersion: "policies.kyverno.io/v1", kind: "PolicyException", metadata: { name, namespace: "x" } },
  spec: { policyRefs: refs.map((ref) => ({ name: ref, kind: "ValidatingPolicy" })), ...more },
});
const certificates = {
  ...{ apiVersion: "policy.cert-manager.io/v1alpha1", kind: "CertificateRequestPolicy", metadata: { name: "c" } },
  spec: { allowed: {}, selector: { issuerRef: {} } },
};
const kubewarden = (module: string) => ({
  ...{ apiVersion: "policies.kubewarden.io/v1", kind: "ClusterAdmissionPolicyGroup", metadata: { name: "g" } },
  spec: { rules: [], expression: "a()", message: "no", policies: { a: { module } } },
});
const pod = { apiVersion: "v1", kind: "Pod", metadata: { name: "p" } };
const ENTRY = (name: string) => `p:\n  resource: ${name}\n`;

describe("files of documents", () => {
  test("of every kind that is served, in YAML and JSON, and lists of them", async () => {
    for (const [i, policy] of [vap("a"), map("a"), kyverno("a"), certificates].entries()) {
      const at = folder({ "p.yaml": policy, "p.json": { apiVersion: "v1", kind: "List", items: [policy] } });
      for (const name of ["p.yaml", "p.json"]) {
        const { code, out, err } = await check([join(at, name)]);
        assert.deepEqual([code, err], [0, ""], `${i} ${out}`);
        assert.match(out, /: 1 policy, no errors/);
      }
    }
    const at = folder({ "p.yaml": kubewarden("file:///none.wasm") });
    const { code, out } = await check([join(at, "p.yaml")]);
    assert.equal(code, 1, out);
    assert.match(out, /none\.wasm/);
  });

  test("mistakes have their place in the file, also of standard input, in text, JSON and SARIF", async () => {
    const at = folder({ "p.yaml": vap("a", "object.kind ==") });
    const file = join(at, "p.yaml");
    assert.match((await check([file])).out, /^1*\d+\/p\.yaml:1:\d+: spec\.validations\[0\]\.expression: /);
    assert.equal((await json(file))[0]?.problems[0]?.file, `${folders}/p.yaml`);
    const sarif = JSON.parse((await check([file, "-o", "sarif"])).out) as { runs: { results: { level: string }[] }[] };
    assert.equal(sarif.runs[0]?.results[0]?.level, "error");
    const piped = await check(["-"], JSON.stringify(vap("a", "object.kind ==")));
    assert.equal(piped.code, 1);
    assert.match(piped.out, /^<stdin>:1:\d+: spec/);
  });

  test("notes are counted, have a level of their own, and never fail", async () => {
    const at = folder({ "p.yaml": vap("a", "object.metadata.labels.team == 'x'") });
    const file = join(at, "p.yaml");
    const { code, out } = await check([file, "--strict"]);
    assert.equal(code, 0, out);
    assert.match(out, /: note: spec/);
    assert.match(out, /1 policy, no errors, 1 note\n$/);
    const sarif = JSON.parse((await check([file, "-o", "sarif"])).out) as { runs: { results: { level: string }[] }[] };
    assert.equal(sarif.runs[0]?.results[0]?.level, "note");
    assert.equal(((await json(file))[0] as unknown as { notes: number }).notes, 1);
  });

  test("that are named together belong together", async () => {
    const paramKind = { apiVersion: "v1", kind: "ConfigMap" };
    const at = folder({
      "p.yaml": vap("a", "params.data.x == 'y'", { paramKind }),
      "b.yaml": binding("b", "a", { paramRef: { name: "q", namespace: "x", parameterNotFoundAction: "Deny" } }),
      "c.yaml": { ...paramKind, metadata: { name: "q", namespace: "x" } },
    });
    const files = ["p.yaml", "b.yaml", "c.yaml"].map((name) => join(at, name));
    assert.deepEqual(await check(files), {
      code: 0,
      out: `${folders}/p.yaml, ${folders}/b.yaml, ${folders}/c.yaml: 1 policy, no errors\n`,
      err: "",
    });
  });

  test("one without a policy can't be checked, also beside others", async () => {
    const at = folder({ "p.yaml": vap("a"), "pod.yaml": pod, "b.yaml": binding("b", "a") });
    for (const names of [["pod.yaml"], ["p.yaml", "pod.yaml"], ["p.yaml", "b.yaml", "pod.yaml"]]) {
      const { code, err } = await check(names.map((name) => join(at, name)));
      assert.equal(code, 2, names.join(" "));
      assert.match(err, /pod\.yaml: there is no policy in it/);
    }
  });

  test("a file of another program that is named holds no policy, in one line", async () => {
    for (const content of ["replicas: 1\nimage:\n  repository: nginx\n", "apiVersion: v2\nname: chart\n", "a: b\n"]) {
      const at = folder({ "values.yaml": content });
      const { code, out, err } = await check([join(at, "values.yaml")]);
      assert.deepEqual([code, out], [2, ""], content);
      assert.match(err, /^Error: \S*values\.yaml holds no policy: [^\n]*\n$/);
    }
    for (const meant of ["a: { modul: x }\n", "a: { settings: {} }\n", "a: { validations: [] }\n", "policies: [x]\n"])
      assert.equal((await check([join(folder({ "mine.yaml": meant }), "mine.yaml")])).code, 1, meant);
  });

  test("a kind that is not served, and one that is misspelt, is an error", async () => {
    const cluster = { ...kyverno("a"), apiVersion: "kyverno.io/v2", kind: "CleanupPolicy" };
    const cases: readonly [object, RegExp][] = [
      [cluster, /this is Kyverno's CleanupPolicy.*not evaluated here/],
      [{ ...kyverno("a"), kind: "GeneratingPolicy" }, /GeneratingPolicy.*: it is not evaluated here/],
      [{ ...kyverno("a"), kind: "ValidatingPolcy" }, /did you mean "ValidatingPolicy"/],
      [{ ...vap("a"), kind: "ValidatingAdmisionPolicy" }, /did you mean "ValidatingAdmissionPolicy"/],
      [{ ...vap("a"), apiVersion: "admissionregistration.k8s.oi/v1" }, /expected the apiVersion/],
      [
        { apiVersion: "templates.gatekeeper.sh/v1", kind: "ConstraintTemplate", metadata: { name: "a" } },
        /ConstraintTemplate/,
      ],
    ];
    for (const [policy, message] of cases) {
      const at = folder({ "p.yaml": policy, "good.yaml": vap("good") });
      for (const path of [at, join(at, "p.yaml")]) {
        const { code, out } = await check([path]);
        assert.equal(code, 1, out);
        assert.match(out, message);
      }
    }
  });
});

describe("folders", () => {
  test("have the entries of each policies.yaml, and each document that no entry names, once", async () => {
    const at = folder({
      "policies.yaml": ENTRY("named.yaml"),
      "named.yaml": vap("named", "object.kind =="),
      "deep/er/free.json": vap("free", "object.kind =="),
      "deep/policies.yaml": "q:\n  cel:\n    validations: [{expression: 'object.'}]\n",
      "more.yaml": [kyverno("a"), map("b"), pod],
    });
    const files = await json(at);
    assert.deepEqual(
      files.map(({ policies }) => policies),
      [1, 1, 3],
    );
    assert.deepEqual(
      files.map(({ problems }) => problems.map(({ file }) => file.slice(file.indexOf("/") + 1))),
      [["deep/policies.yaml"], ["named.yaml"], ["deep/er/free.json"]],
    );
    assert.deepEqual(files[2]?.leftOut, { objects: 1, files: 0 });
    assert.equal((await check([at])).code, 1);
  });

  test("leave out other objects, other files and templates, in one line", async () => {
    const at = folder({
      "p.yaml": vap("a"),
      "pod.yaml": pod,
      "values.yaml": "replicas: 1\n",
      "chart/templates/x.yaml": "apiVersion: v1\nkind: {{ .Values.kind }}\nmetadata: {{- toYaml . }}\n",
      "tsconfig.json": "{ // comment\n}",
      "chart/empty.yaml": "",
      "node_modules/x/policies.yaml": "a: [",
    });
    assert.deepEqual(await check([at, "--strict"]), {
      ...{ code: 0, err: "" },
      out: `${folders}: 1 policy, no errors; left out: 1 object of another kind, 4 files without a Kubernetes object\n`,
    });
  });

  test("an empty file beside a policy, alone or of an entry, is a doubt", async () => {
    for (const content of [
      "",
      "# kind: ValidatingAdmissionPolicy\n",
      "---\n",
      "kind: List\napiVersion: v1\nitems: []\n",
    ])
      for (const entry of [{}, { "policies.yaml": "p:\n  resource: rules/\n" }]) {
        const at = folder({ ...entry, "rules/p.yaml": vap("a"), "rules/off.yaml": content });
        const { code, out } = await check([at, "--strict"]);
        assert.equal(code, 1, out);
        assert.match(out, /rules\/off\.yaml" holds no policy: it is empty, or all of it is commented out/);
        assert.match(out, /1 warning/);
      }
  });

  test("a folder below that of an entry is a doubt while no entry reads its policies", async () => {
    const files = { "rules/p.yaml": vap("a"), "rules/sub/deep/q.yaml": vap("b") };
    const at = folder({ ...files, "policies.yaml": "p:\n  resource: rules/\n" });
    const { code, out } = await check([join(at, "policies.yaml"), "--strict"]);
    assert.equal(code, 1, out);
    assert.match(out, /warning: p\.resource: the folder ".*rules\/sub" holds policies that are not read: name it, too/);
    const quiet = [
      folder({ ...files, "policies.yaml": "p:\n  resource: rules/\nq:\n  resource: rules/sub/deep\n" }),
      folder({ ...files, "rules/sub/deep/q.yaml": pod, "policies.yaml": "p:\n  resource: rules/\n" }),
    ];
    for (const each of quiet) {
      const quietly = await check([join(each, "policies.yaml"), "--strict"]);
      assert.deepEqual([quietly.code, quietly.err], [0, ""], quietly.out);
    }
  });

  test("what kustomize merges into other objects is no policy of its own", async () => {
    const part = { ...vap("a"), spec: { failurePolicy: "Ignore" } };
    for (const key of ["patches: [{ path: part.yaml }]", "patchesStrategicMerge: [part.yaml]"]) {
      const at = folder({ "base.yaml": vap("a"), "over/kustomization.yaml": `${key}\n`, "over/part.yaml": part });
      const { code, out } = await check([at]);
      assert.equal(code, 0, out);
      assert.match(out, /: 1 policy, no errors; left out: 2 files without a Kubernetes object/);
    }
  });

  test("broken YAML is an error", async () => {
    const at = folder({ "p.yaml": vap("a"), "broken.yaml": "apiVersion: v1\nkind: [" });
    const { code, out } = await check([at]);
    assert.equal(code, 1);
    assert.match(out, /broken\.yaml:2/);
  });

  test("without any policy they are nothing to check", async () => {
    for (const files of [{}, { "pod.yaml": pod }, { "values.yaml": "a: 1" }, { "b.yaml": "" }]) {
      const { code, err } = await check([folder(files)]);
      assert.equal(code, 3, JSON.stringify(files));
      assert.match(err, /there is no policy in/);
      assert.equal((await check([folder(files), "--allow-empty"])).code, 0);
    }
  });

  test("the same policy in two overlays, with a binding beside each, is checked twice", async () => {
    const at = folder({
      "prod/p.yaml": [vap("a"), binding("b", "a"), kyverno("k")],
      "test/p.yaml": [vap("a"), binding("b", "a"), kyverno("k")],
    });
    assert.deepEqual((await json(at))[0]?.problems, []);
    assert.equal((await json(at))[0]?.policies, 4);
  });

  test("bindings and exceptions without a policy, and those that have expired, are told", async () => {
    const at = folder({
      "p.yaml": [kyverno("a"), kyverno("b")],
      "deep/good.yaml": exception("good", ["a", "b"]),
      "lost.yaml": [exception("lost", ["c"]), binding("b", "nowhere")],
      "old.yaml": exception("old", ["a"], { expiresAt: "2020-01-01T00:00:00Z" }),
    });
    assert.deepEqual([...(await told(at))].sort(), [
      'warning: the binding has no effect: there is no policy "nowhere"',
      "warning: the exception has expired, and has no effect",
      'warning: the exception has no effect: there is no ValidatingPolicy "c"',
    ]);
    const alone = folder({ "p.yaml": vap("a"), "e.yaml": exception("e", ["a"]) });
    assert.deepEqual(await told(alone), ["warning: the PolicyException has no effect: there is no policy beside it"]);
    const entry = folder({ "policies.yaml": ENTRY("p.yaml"), "p.yaml": [vap("a"), exception("e", ["a"])] });
    assert.deepEqual(await told(entry), ["warning: PolicyException of policies.kyverno.io/v1 has no effect here"]);
  });
});
