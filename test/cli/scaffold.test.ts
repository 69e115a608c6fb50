import assert from "node:assert/strict";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough, Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { after, describe, test } from "node:test";
import { runCommandLine } from "../../src/cli/command-line.js";
import { TOOLS } from "../../src/cli/scaffold/wasm.js";
import { VERSION } from "../../src/data/version.js";
import { annotated } from "../support/annotated-module.js";

const root = mkdtempSync(join(tmpdir(), "scaffold-"));
after(() => rmSync(root, { recursive: true }));
let folders = 0;
const newFolder = (): string => {
  const folder = join(root, String(++folders));
  mkdirSync(folder);
  return folder;
};

async function run(...args: string[]): Promise<{ code: number; out: string; err: string }> {
  const [stdout, stderr] = [new PassThrough(), new PassThrough()];
  const code = await runCommandLine(args, { env: {}, stdin: Readable.from([]), stdout, stderr });
  stdout.end();
  stderr.end();
  const clean = (printed: string): string => printed.replaceAll(`${root}/`, "");
  return { code, out: clean(await text(stdout)), err: clean(await text(stderr)) };
}

/** Checks and tests all of a folder. */
async function passes(folder: string, cases: number): Promise<void> {
  const policies = join(folder, "policies.yaml");
  const check = await run("check", policies);
  assert.equal(check.code, 0, check.out);
  assert.ok(!/warning|:\d+:\d+:/.test(check.out), check.out);
  const tested = await run("test", folder, "--policies", policies, "--min-coverage", "100");
  assert.equal(tested.code, 0, tested.out + tested.err);
  assert.match(tested.out, new RegExp(`^${cases} passed, 0 failed\n`));
}

const filesOf = (folder: string): readonly string[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
    .sort();

describe("scaffold", () => {
  test("what it makes of each kind passes check and test, with every expression reached", async () => {
    const folder = newFolder();
    const made = await run("scaffold", "cel", "need-team", "--folder", folder);
    assert.deepEqual([made.code, made.err], [0, ""]);
    assert.match(made.out, /^made \d+\/policies\/need-team\/need-team.test.yaml\n/);
    assert.match(made.out, /\nnext:\n {2}cd \d+\n {2}npx policy-server check policies.yaml\n/);
    assert.equal((await run("scaffold", "vap", "few", "--folder", folder)).code, 0);
    assert.equal((await run("scaffold", "vap", "few-by-param", "--param", "--folder", folder)).code, 0);
    assert.equal((await run("scaffold", "kyverno", "need-team-k", "--folder", folder)).code, 0);
    const group = await run("scaffold", "group", "both", "--members", "need-team,few", "--folder", folder);
    assert.match(group.out, /changed \d+\/policies.yaml: both was added/);
    await passes(folder, 14);
  });

  test("an entry stands behind the others, which are as they were, comments and line ends too", async () => {
    const folder = newFolder();
    const file = join(folder, "policies.yaml");
    const before = "# mine\r\na: { cel: { validations: [{ expression: 'true' }] } } # here\r\n";
    writeFileSync(file, before);
    assert.equal((await run("scaffold", "cel", "b", "--folder", folder)).code, 0);
    const after = readFileSync(file, "utf8");
    assert.ok(after.startsWith(before));
    assert.ok(!/[^\r]\n/.test(after));
    for (const empty of ["", "{}\n", "# nothing yet\n"]) {
      const other = newFolder();
      writeFileSync(join(other, "policies.yaml"), empty);
      assert.equal((await run("scaffold", "cel", "b", "--folder", other)).code, 0);
      await passes(other, 3);
    }
  });

  test("nothing is made when something is there already, leads outside, or can't be added", async () => {
    const folder = newFolder();
    const policies = join(folder, "policies.yaml");
    const nothing = async (said: RegExp, ...args: string[]): Promise<void> => {
      const before = filesOf(folder);
      const { code, out, err } = await run("scaffold", ...args, "--folder", folder);
      assert.deepEqual([code, out, filesOf(folder)], [2, "", before]);
      assert.match(err, said);
    };
    mkdirSync(join(folder, "policies/a"), { recursive: true });
    writeFileSync(join(folder, "policies/a/good.yaml"), "mine");
    await nothing(/policies\/a\/good.yaml is there already: nothing was made.*--force/, "cel", "a");
    symlinkSync(newFolder(), join(folder, "policies/out"));
    await nothing(/policies\/out\/\S+ leads outside of/, "vap", "out");
    writeFileSync(join(folder, "policies/file"), "");
    await nothing(/nothing was made: /, "kyverno", "file");
    writeFileSync(policies, "x: { cel: { validations: [{ expression: 'true' }] } }\n");
    await nothing(/policies.yaml:1:4: there is a policy 'x' already/, "cel", "x");
    writeFileSync(policies, "{ x: { cel: { validations: [{ expression: 'true' }] } } }\n");
    await nothing(
      /nothing can be added behind what stands in .*, so nothing was made: write it in block style/,
      "cel",
      "y",
    );
    writeFileSync(policies, "[\n");
    await nothing(/policies.yaml:\d+:\d+: .*\n {2}mend .*policies.yaml first/, "cel", "y");
  });

  test("--force replaces files, and takes nothing else with it", async () => {
    const folder = newFolder();
    mkdirSync(join(folder, "policies/a"), { recursive: true });
    writeFileSync(join(folder, "policies/a/good.yaml"), "mine");
    writeFileSync(join(folder, "policies/a/other.yaml"), "mine");
    assert.equal((await run("scaffold", "cel", "a", "--force", "--folder", folder)).code, 0);
    assert.match(readFileSync(join(folder, "policies/a/good.yaml"), "utf8"), /kind: Pod/);
    assert.equal(readFileSync(join(folder, "policies/a/other.yaml"), "utf8"), "mine");
  });

  test("--dry-run prints, and writes nothing", async () => {
    const folder = newFolder();
    writeFileSync(join(folder, "policies.yaml"), "# mine\n");
    const { code, out } = await run("scaffold", "vap", "few", "--dry-run", "--folder", folder);
    assert.equal(code, 0);
    assert.match(out, /--- \d+\/policies\/few\/policy.yaml\n# Deployments have few replicas/);
    assert.match(out, /--- \d+\/policies.yaml \(added\)\n# A ValidatingAdmissionPolicy/);
    assert.deepEqual(filesOf(folder), ["policies.yaml"]);
  });

  test("names and members that can't be are refused with what can", async () => {
    const folder = newFolder();
    for (const [args, said] of [
      [["cel", "My Policy"], /'My Policy' can't be a name: .*, such as my-policy\n/],
      [["cel", "../up"], /'..\/up' can't be a name: .*, such as up\n/],
      [["cel", "_"], /can't be a name: .*at both ends\n/],
      [["wasm", "a".repeat(64)], /can't be a name/],
      [["vap", "a", "--members", "b"], /--members is for scaffold group, and not for vap/],
      [["group", "g", "--members", "a"], /has no policies yet/],
      [["celll", "a"], /Allowed choices are cel, vap, kyverno, group, wasm, from-module/],
      [["from-module", join(folder, "none.wasm")], /none.wasm: .*(no such file|No such file)/],
    ] as const) {
      const { code, err } = await run("scaffold", ...args, "--folder", folder);
      assert.equal(code, 2, err);
      assert.match(err, said);
    }
    writeFileSync(join(folder, "policies.yaml"), "labels: { cel: { validations: [{ expression: 'true' }] } }\n");
    const whom = await run("scaffold", "group", "g", "--folder", folder);
    assert.match(whom.err, /which members\? --members a,b; known are labels/);
    const typo = await run("scaffold", "group", "g", "--members", "label", "--folder", folder);
    assert.match(typo.err, /there is no policy 'label' \(did you mean "labels"\?\); known are labels/);
    assert.deepEqual(filesOf(folder), ["policies.yaml"]);
  });

  test("a group of members that can't be loaded is not made: its test would hold an error", async () => {
    const folder = newFolder();
    writeFileSync(
      join(folder, "policies.yaml"),
      "here: { cel: { validations: [{ expression: 'true' }] } }\naway: { module: none.wasm }\n",
    );
    const { code, err } = await run("scaffold", "group", "g", "--members", "here,away", "--folder", folder);
    assert.equal(code, 2);
    assert.match(err, /the member 'away' could not be loaded: .*; mend what check says of \d+\/policies.yaml first/);
    assert.deepEqual(filesOf(folder), ["policies.yaml"]);
  });

  test("a review is printed as an API server sends it, and eval takes it", async () => {
    const folder = newFolder();
    await run("scaffold", "cel", "need-team", "--folder", folder);
    const [good, bad] = ["good", "bad"].map((name) => join(folder, `policies/need-team/${name}.yaml`)) as [
      string,
      string,
    ];
    const { code, out } = await run("scaffold", "review", good, "--old", bad);
    assert.equal(code, 0);
    const { kind, request } = JSON.parse(out) as { kind: string; request: Record<string, unknown> };
    assert.deepEqual([kind, request.operation, request.namespace], ["AdmissionReview", "UPDATE", "default"]);
    assert.deepEqual(request.resource, { group: "", version: "v1", resource: "pods" });
    writeFileSync(join(folder, "review.json"), out);
    const policies = ["--policies", join(folder, "policies.yaml")];
    assert.equal((await run("eval", "need-team", "--request", join(folder, "review.json"), ...policies)).code, 0);
    const deleted = JSON.parse((await run("scaffold", "review", good, "--operation", "delete")).out);
    assert.deepEqual([deleted.request.operation, deleted.request.object], ["DELETE", undefined]);
    writeFileSync(join(folder, "list.yaml"), '{ "apiVersion": "v1", "kind": "PodList", "items": [] }');
    writeFileSync(
      join(folder, "space.yaml"),
      "apiVersion: v1\nkind: Namespace\nmetadata: { name: shop, namespace: x }\n",
    );
    const space = JSON.parse((await run("scaffold", "review", join(folder, "space.yaml"))).out);
    // As the API server asks about Namespaces: they are in themselves, and their metadata name none.
    assert.deepEqual([space.request.namespace, space.request.object.metadata], ["shop", { name: "shop" }]);
    for (const [args, said] of [
      [[join(folder, "none.yaml")], /cannot read .*none.yaml/],
      [[join(folder, "policies.yaml")], /policies\.yaml: the object has no apiVersion and kind/],
      [[join(folder, "list.yaml")], /list\.yaml: kind is that of a list/],
      [[good, "--operation", "PATCH"], /unknown operation 'PATCH'/],
      [[good, "--members", "a"], /--members is for scaffold group, and not for review/],
    ] as const) {
      const refused = await run("scaffold", "review", ...args);
      assert.equal(refused.code, 2);
      assert.match(refused.err, said);
    }
  });

  test("names that YAML takes for something else stand in quotes", async () => {
    const folder = newFolder();
    for (const [kind, name] of [
      ["cel", "true"],
      ["vap", "1e3"],
      ["kyverno", "2024-01-01"],
    ] as const)
      assert.equal((await run("scaffold", kind, name, "--folder", folder)).code, 0);
    assert.equal((await run("scaffold", "vap", "no", "--param", "--folder", folder)).code, 0);
    assert.equal((await run("scaffold", "group", "y", "--members", "true,no", "--folder", folder)).code, 0);
    await passes(folder, 14);
  });

  test("members that would be the same function are refused", async () => {
    const folder = newFolder();
    const policy = "{ cel: { validations: [{ expression: 'true' }] } }";
    writeFileSync(join(folder, "policies.yaml"), `a-b: ${policy}\na_b: ${policy}\n`);
    const { code, err } = await run("scaffold", "group", "g", "--members", "a-b,a_b", "--folder", folder);
    assert.equal(code, 2);
    assert.match(err, /'a-b' and 'a_b' would both be called a_b\(\)/);
  });

  test("an entry can be added to an empty map with a comment, and before the end of a document", async () => {
    for (const text of ["{ }  # none yet\n", "a: { cel: { validations: [{ expression: 'true' }] } }\n...\n"]) {
      const folder = newFolder();
      writeFileSync(join(folder, "policies.yaml"), text);
      assert.equal((await run("scaffold", "cel", "b", "--folder", folder)).code, 0);
      assert.equal((await run("check", join(folder, "policies.yaml"))).code, 0);
    }
  });

  test("files name the schemas where the package is installed", async () => {
    const folder = newFolder();
    const docs = join(folder, "node_modules/policy-group-gateway/docs");
    mkdirSync(docs, { recursive: true });
    for (const name of ["policies", "tests"]) writeFileSync(join(docs, `${name}.schema.json`), "{}");
    assert.equal((await run("scaffold", "cel", "a", "--folder", folder)).code, 0);
    assert.equal((await run("scaffold", "wasm", "w", "--folder", folder)).code, 0);
    for (const [file, schema] of [
      ["policies.yaml", "./node_modules/policy-group-gateway/docs/policies.schema.json"],
      ["policies/a/a.test.yaml", "../../node_modules/policy-group-gateway/docs/tests.schema.json"],
      ["w/w.test.yaml", "./node_modules/policy-group-gateway/docs/tests.schema.json"],
    ] as const)
      assert.equal(
        readFileSync(join(folder, file), "utf8").split("\n")[0],
        `# yaml-language-server: $schema=${schema}`,
      );
  });

  test("members whose ids are no names in CEL have others in the expression", async () => {
    const folder = newFolder();
    const policy = "{ cel: { validations: [{ expression: 'true' }] } }";
    writeFileSync(join(folder, "policies.yaml"), `in: ${policy}\n2-b.c: ${policy}\n`);
    assert.equal((await run("scaffold", "group", "g", "--members", "in, 2-b.c", "--folder", folder)).code, 0);
    assert.match(readFileSync(join(folder, "policies.yaml"), "utf8"), /expression: "_in\(\) && _2_b_c\(\)"/);
    assert.equal((await run("test", folder, "--policies", join(folder, "policies.yaml"))).code, 0);
  });

  test("a WASM policy depends on this package as the project around it does", async () => {
    const folder = newFolder();
    const dependency = (name: string): unknown =>
      JSON.parse(readFileSync(join(folder, name, "package.json"), "utf8")).devDependencies["policy-group-gateway"];
    await run("scaffold", "wasm", "alone", "--folder", folder);
    assert.equal(dependency("alone"), VERSION);
    writeFileSync(join(folder, "package.json"), '{ "dependencies": { "policy-group-gateway": "file:../x.tgz" } }');
    await run("scaffold", "wasm", "near", "--folder", folder);
    assert.equal(dependency("near"), "file:../../x.tgz");
    writeFileSync(join(folder, "package.json"), '{ "devDependencies": { "policy-group-gateway": "^9" } }');
    await run("scaffold", "wasm", "ranged", "--folder", folder);
    assert.equal(dependency("ranged"), "^9");
  });

  test("the tools of a WASM policy are those that this package's own are built with", () => {
    const manifest = JSON.parse(readFileSync(new URL("../../../package.json", import.meta.url), "utf8")) as {
      devDependencies: Record<string, string>;
    };
    for (const [name, version] of Object.entries(TOOLS)) assert.equal(manifest.devDependencies[name], version);
  });
});

describe("scaffold from-module", () => {
  const folder = newFolder();
  const file = join(folder, "policy.wasm");
  writeFileSync(
    file,
    annotated("test/fixtures/trivial/extism.wasm", {
      executionMode: "extism",
      mutating: true,
      rules: [{ apiGroups: ["apps"], apiVersions: ["v1"], resources: ["deployments"], operations: ["CREATE"] }],
      contextAwareResources: [{ apiVersion: "v1", kind: "Namespace" }],
      annotations: {
        "io.kubewarden.policy.title": "My Title",
        "io.kubewarden.policy.description": "line one\n--- \u2028evil: { module: x }",
        "io.kubewarden.policy.severity": "low",
      },
    }),
  );

  test("adds an entry that its metadata suggests, on which check has nothing to say", async () => {
    const made = await run("scaffold", "from-module", file, "--folder", folder);
    assert.deepEqual([made.code, made.err], [0, ""]);
    assert.equal(
      readFileSync(join(folder, "policies.yaml"), "utf8").split("\n\n")[1],
      `# line one --- evil: { module: x }
# Its author suggests it for deployments.
my-title:
  module: "policy.wasm"
  # It changes objects.
  allowedToMutate: true
  # Kinds of the cluster that it reads. Look at them: this grants it what is in them.
  contextAwareResources:
    - { apiVersion: "v1", kind: "Namespace" }
  # What it takes, its documentation says.
  settings: {}
`,
    );
  });

  test("says what a module answers that refuses to be without settings", async () => {
    const other = newFolder();
    const module = new URL("../../../policies/add-label/policy.wasm", import.meta.url).pathname;
    const { code, out } = await run("scaffold", "from-module", module, "--folder", other);
    assert.equal(code, 0);
    assert.match(out, /\$EDITOR policies.yaml {3}# add-label: the module wants settings\n/);
    assert.match(
      readFileSync(join(other, "policies.yaml"), "utf8"),
      /# It refuses to be without: .*label.*\n.*\n {2}settings: \{\}\n/,
    );
  });

  test("prints a manifest, which a configuration can name", async () => {
    const { code, out } = await run("scaffold", "from-module", file, "--manifest", "--name", "mine");
    assert.equal(code, 0);
    const other = newFolder();
    writeFileSync(join(other, "manifest.yaml"), out.replace(/file:\S+\.wasm/, `file://${file}`));
    writeFileSync(join(other, "policies.yaml"), "mine: { resource: manifest.yaml }\n");
    assert.match(out, / {2}name: mine\n {2}annotations:\n {4}io.kubewarden.policy.severity: "low"\n/);
    assert.match(out, / {4}- apiGroups: \["apps"\]\n {6}apiVersions: \["v1"\]\n {6}resources: \["deployments"\]\n/);
    const check = await run("check", join(other, "policies.yaml"));
    assert.ok(!check.out.includes("unknown key"), check.out);
    assert.ok(existsSync(file));
  });

  test("a module without metadata, and a file that is none", async () => {
    const bare = join(folder, "bare.wasm");
    writeFileSync(bare, readFileSync(new URL("../../../test/fixtures/trivial/extism.wasm", import.meta.url)));
    const { out } = await run("scaffold", "from-module", bare, "--manifest");
    assert.match(out, /no metadata that says more[\s\S]*name: bare\n[\s\S]*write down what it is to be asked about/);
    writeFileSync(join(folder, "text.wasm"), "no module");
    const none = await run("scaffold", "from-module", join(folder, "text.wasm"), "--folder", folder);
    assert.equal(none.code, 2);
    assert.match(none.err, /text.wasm: /);
  });
});
