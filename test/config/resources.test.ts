import assert from "node:assert/strict";
import { join } from "node:path";
import { describe, test } from "node:test";
import { loadConfig } from "../../src/config/load-config.js";
import { entryOf, folder, problemsOf } from "./helpers.js";

const GROUP = `apiVersion: policies.kubewarden.io/v1
kind: ClusterAdmissionPolicyGroup
metadata: {name: images}
spec:
  policyServer: default
  mode: monitor
  rules: [{apiGroups: [""], apiVersions: [v1], resources: [pods], operations: [CREATE]}]
  message: image refused
  expression: signed() || internal()
  policies:
    signed: {module: registry.example.org/policies/verify:v1, settings: {}}
    internal: {module: ./wasm/registries.wasm, settings: {allow: [reg.internal]}, contextAwareResources: [{apiVersion: v1, kind: Pod}]}
`;
const POLICY = `apiVersion: policies.kubewarden.io/v1
kind: AdmissionPolicy
metadata: {name: p, namespace: n}
spec: {module: "registry://r.example/p", mutating: true, settings: {a: 1}, message: own words, timeoutEvalSeconds: 5, rules: []}
`;
const CONFIG_MAP = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\n";

describe("resources", () => {
  test("files and folders are read in order, relative to the file that names them", (context) => {
    const root = folder(context, {
      "p.yaml": "p: {resource: [dir, one.yaml], validationActions: [Audit]}",
      "dir/b.yml": "kind: B\n---\nkind: C\n",
      "dir/a.json": '{"kind": "A"}',
      "dir/notes.txt": "not read",
      "dir/..data/c.yaml": "kind: not read",
      "one.yaml": "kind: D",
    });
    const result = loadConfig(join(root, "p.yaml"));
    assert.ok(result.ok);
    const entry = entryOf(result.config, "p", "resource");
    assert.deepEqual(
      entry.documents.map(({ value }) => value),
      [{ kind: "A" }, { kind: "B" }, { kind: "C" }, { kind: "D" }],
    );
    assert.deepEqual(entry.validationActions, ["Audit"]);
    assert.deepEqual(result.config.files.map((file) => file.slice(root.length + 1)).sort(), [
      "dir",
      "dir/a.json",
      "dir/b.yml",
      "one.yaml",
      "p.yaml",
    ]);
  });

  test("a Kubewarden policy loses none of its settings to aliases that stand for too much: it is refused", (context) => {
    const settings = (lists: number) =>
      `{a: &a [${"1,".repeat(1_500)}], lists: [${"*a,".repeat(lists)}], denied: [evil]}`;
    const policy = (lists: number) => POLICY.replace("{a: 1}", settings(lists));
    const root = folder(context, {
      "p.yaml": "p: {resource: few.yaml}\nq: {resource: many.yaml}",
      "few.yaml": policy(60),
      "many.yaml": policy(75),
    });
    const result = loadConfig(join(root, "p.yaml"));
    assert.ok(result.ok);
    assert.deepEqual(entryOf(result.config, "p", "module").settings.denied, ["evil"]);
    assert.match(
      entryOf(result.config, "q", "invalid").problems[0]?.message ?? "",
      /^aliases that stand for more than/,
    );
  });

  test("a Kubewarden group is the group it describes, with the controller's capabilities", (context) => {
    const root = folder(context, { "p.yaml": "g: {resource: groups/g.yaml}", "groups/g.yaml": GROUP });
    const result = loadConfig(join(root, "p.yaml"));
    assert.deepEqual(problemsOf(result), []);
    assert.ok(result.ok);
    const entry = entryOf(result.config, "g", "group");
    assert.equal(entry.policyMode, "monitor");
    assert.equal(entry.message, "image refused");
    assert.equal(entry.expression, "signed() || internal()");
    assert.deepEqual(entry.origin.positionOf(["expression"]), {
      file: join(root, "groups/g.yaml"),
      line: 9,
      column: 15,
    });
    const internal = entry.members[1]!.policy;
    assert.ok(internal.kind === "module");
    assert.equal(internal.id, "g/internal");
    assert.equal(internal.module.location, `file://${join(root, "groups/wasm/registries.wasm")}`);
    assert.deepEqual(internal.hostCapabilities, ["*"]);
    assert.deepEqual(internal.contextAwareResources, [{ apiVersion: "v1", kind: "Pod" }]);
  });

  test("a Kubewarden policy is the module it describes, and the entry's own keys win", (context) => {
    const root = folder(context, {
      "p.yaml":
        "a: {resource: p.yml}\nb: {resource: p.yml, policyMode: monitor, message: other, timeoutEvalSeconds: 9, hostCapabilities: [], allowedToMutate: false}",
      "p.yml": POLICY,
    });
    const result = loadConfig(join(root, "p.yaml"));
    assert.deepEqual(problemsOf(result), []);
    assert.ok(result.ok);
    const a = entryOf(result.config, "a", "module");
    assert.deepEqual(
      [a.policyMode, a.allowedToMutate, a.message, a.timeoutEvalSeconds, a.hostCapabilities, a.settings],
      ["protect", true, "own words", 5, ["*"], { a: 1 }],
    );
    const b = entryOf(result.config, "b", "module");
    assert.deepEqual(
      [b.policyMode, b.allowedToMutate, b.message, b.timeoutEvalSeconds, b.hostCapabilities],
      ["monitor", false, "other", 9, []],
    );
  });

  test("as a member, a Kubewarden policy has neither mode nor mutation nor message", (context) => {
    const root = folder(context, {
      "p.yaml": "g: {expression: a(), message: m, policies: {a: {resource: p.yml}}}",
      "p.yml": POLICY,
    });
    const result = loadConfig(join(root, "p.yaml"));
    assert.ok(result.ok);
    const member = entryOf(result.config, "g", "group").members[0]!.policy;
    assert.ok(member.kind === "module");
    assert.deepEqual(
      [member.id, member.policyMode, member.allowedToMutate, member.message],
      ["g/a", "protect", false, undefined],
    );
  });

  const mistakes: Record<string, [files: Record<string, string>, expected: (string | RegExp)[]]> = {
    "a file that isn't there": [
      {},
      [/^p\.yaml:1:15: p\.resource: "r\.yaml" does not exist; paths start at the folder of this file$/],
    ],
    "a file that isn't YAML": [{ "r.yaml": "a: [" }, [/^r\.yaml:1:\d+: /]],
    "a folder without resources": [{ "r.yaml/x.txt": "" }, [/is a folder without any/]],
    "a file without documents": [{ "r.yaml": "# nothing\n" }, [/no document in it/]],
    "a Kubewarden policy beside others": [
      { "r.yaml": `${POLICY}---\n${CONFIG_MAP}` },
      [/found 2 documents, a Kubewarden policy among them/],
    ],
    "an unknown kind of Kubewarden": [
      { "r.yaml": POLICY.replace("AdmissionPolicy", "AdmisionPolicy") },
      ['r.yaml:2:7: kind: unknown kind "AdmisionPolicy", not a Kubewarden policy (did you mean "AdmissionPolicy"?)'],
    ],
    "another version of Kubewarden": [
      { "r.yaml": POLICY.replace("io/v1", "io/v1alpha2") },
      [
        'r.yaml:1:13: apiVersion: invalid apiVersion "policies.kubewarden.io/v1alpha2": expected policies.kubewarden.io/v1',
      ],
    ],
    "mistakes in a spec are said in its own file; unknown keys are ignored, and said": [
      { "r.yaml": POLICY.replace("settings: {a: 1}", "settings: 1, mesage: x") },
      [
        "r.yaml:4:68: spec.settings: expected a map with string keys, found the number 1",
        'r.yaml:4:71: warning: spec.mesage: unknown key, ignored (did you mean "message"?)',
      ],
    ],
    "a group whose member names the group's own file": [
      { "r.yaml": GROUP.replace(/signed: .*/, "signed: {resource: r.yaml}") },
      [/^r\.yaml:11:24: spec\.policies\.signed\.resource: cycle of resource files: r\.yaml -> r\.yaml$/],
    ],
  };
  const keys: [key: string, file: string, what: string][] = [
    ["validationActions: [Deny]", POLICY, "a WASM policy"],
    ["groupWarnings: all", POLICY, "a WASM policy"],
    ["allowedToMutate: true", GROUP, "a group"],
    ["hostCapabilities: []", CONFIG_MAP, "a CEL policy"],
  ];
  for (const [key, file, what] of keys) {
    test(`${key} is refused for ${what}`, (context) => {
      const root = folder(context, { "p.yaml": `p: {resource: r.yaml, ${key}}`, "r.yaml": file });
      const expected = `${root}/p.yaml:1:23: p.${key.split(":")[0]}: has no meaning here: the resource is ${what}`;
      assert.deepEqual(problemsOf(loadConfig(join(root, "p.yaml"))), [expected]);
    });
  }

  for (const kind of ["ClusterPolicy", "Policy"])
    test(`allowedToMutate is taken for a ${kind}, whose rules may mutate`, (context) => {
      const file = `{apiVersion: kyverno.io/v1, kind: ${kind}, metadata: {name: x}, spec: {rules: []}}`;
      const root = folder(context, { "p.yaml": "p: {resource: r.yaml, allowedToMutate: true}", "r.yaml": file });
      const result = loadConfig(join(root, "p.yaml"));
      assert.deepEqual(problemsOf(result), []);
      assert.ok(result.ok && entryOf(result.config, "p", "resource").allowedToMutate);
    });

  for (const [name, [files, expected]] of Object.entries(mistakes)) {
    test(name, (context) => {
      const root = folder(context, { "p.yaml": "p: {resource: r.yaml}", ...files });
      const result = loadConfig(join(root, "p.yaml"));
      assert.ok(result.ok);
      const found = problemsOf(result).map((line) => line.replace(`${root}/`, ""));
      assert.equal(found.length, expected.length, found.join("\n"));
      for (const [index, line] of found.entries()) {
        const wanted = expected[index]!;
        if (typeof wanted === "string") assert.equal(line, wanted);
        else assert.match(line, wanted);
      }
      assert.equal(result.config.entries[0]?.kind, "invalid");
    });
  }
});
