/** `check --static`: directories of manifests that an API server reads at its start. */
import assert from "node:assert/strict";
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { PassThrough, Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { describe, type TestContext, test } from "node:test";
import { staticConfig } from "../../src/cli/check/static-manifests.js";
import { runCommandLine } from "../../src/cli/command-line.js";
import { folder } from "../fetch/helpers.js";

/** What an API server 1.37.2 said about directories: each was given to its plugin, which read it again. */
interface Measured {
  readonly id: string;
  readonly plugin: string;
  readonly files: Readonly<Record<string, string>>;
  readonly valid: boolean;
  readonly error?: string;
}
const MEASURED = readFileSync("test/vectors/static-manifests/manifests.jsonl", "utf8")
  .trimEnd()
  .split("\n")
  .map((line) => JSON.parse(line) as Measured);

/** Where `check` says something else, on purpose. */
const DIFFERENT: ReadonlyMap<string, string> = new Map([
  ["vap/repeated-variable", "refused here everywhere: evaluating it may never end"],
  ["x/tag-own", "tags are refused here everywhere"],
  ["x/form-feed", "control characters are refused here everywhere"],
]);

async function run(...args: readonly string[]) {
  const [stdout, stderr] = [new PassThrough(), new PassThrough()];
  const io = { env: {}, stdin: Readable.from([]), stdout, stderr };
  const code = await runCommandLine(["check", "--static", ...args], io);
  stdout.end();
  stderr.end();
  return { code, out: await text(stdout), err: await text(stderr) };
}

interface Told {
  readonly problems: readonly { severity: string; file: string; line: number; path: string; message: string }[];
}

async function checked(context: TestContext, files: Readonly<Record<string, string>>, ...args: readonly string[]) {
  const root = folder(context, files);
  const { code, out } = await run(root, "-o", "json", ...args);
  const { problems } = JSON.parse(out.replaceAll(`${root}/`, "")) as Told;
  const errors = problems.filter(({ severity }) => severity === "error");
  return { code, problems, errors, root };
}

/** The errors that are known without loading policies, of the files that a directory is read for. */
function errorsAlone({ files, plugin }: Measured) {
  const read = Object.entries(files).filter(([name]) => /^[^/]*\.(?:ya?ml|json)$/i.test(name));
  const named = read.map(([name]) => name).sort();
  const texts = new Map(read.map(([name, content]) => [resolve(name), content]));
  return staticConfig("", named, texts, { plugin }).problems.filter(({ severity }) => severity === "error");
}

const POLICY = (name: string, more = "") => `apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: ${name}}
spec:
  matchConstraints: {resourceRules: [{apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [pods]}]}
  validations: [{expression: "true"}]
${more}`;
const BINDING = (name: string, policy: string, more = "") => `apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: ${name}}
spec:
  policyName: ${policy}
  validationActions: [Deny]
${more}`;

describe("check --static", () => {
  test("takes the directories that an API server takes, and refuses those that it refuses", async (context) => {
    const different: string[] = [];
    for (const measured of MEASURED) {
      const { id, plugin, files, valid } = measured;
      // Loading policies takes most of the time: what is known without it is enough.
      const alone = errorsAlone(measured);
      const isKnown = alone.length > 0 || plugin.endsWith("Webhook");
      const errors = isKnown ? alone : (await checked(context, files, "--plugin", plugin)).errors;
      const taken = errors.length === 0;
      if (taken !== valid) different.push(id);
    }
    assert.ok(MEASURED.length > 250);
    assert.deepEqual(different.sort(), [...DIFFERENT.keys()].sort());
  });

  test("says each mistake at its place, with the rule", async (context) => {
    const files = {
      "a.yaml": `# all of them\n---\n${POLICY("a", "  paramKind: {apiVersion: v1, kind: ConfigMap}\n")}---\n${BINDING("b.static.k8s.io", "none.static.k8s.io", "  paramRef: {name: x, parameterNotFoundAction: Deny}\n")}`,
      "b.yaml": `${POLICY("c.static.k8s.io")}---\n${POLICY("c.static.k8s.io").replace("/v1\n", "/v1beta1\n")}--- two\n`,
      "c.json": `{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "x"}}`,
      "d.YML": `${POLICY("c.static.k8s.io")}---\napiVersion: admissionregistration.k8s.io/v1\nkind: MutatingWebhookConfiguration\n`,
    };
    const { code, errors } = await checked(context, files);
    assert.equal(code, 1);
    const told = errors.map(({ file, line, path, message }) => `${file}:${line} ${path}: ${message}`);
    for (const expected of [
      /^a\.yaml:1 : Object 'Kind' is missing: this document is empty$/m,
      /^a\.yaml:5 metadata\.name: must have a name ending with "\.static\.k8s\.io"$/m,
      /^a\.yaml:9 spec\.paramKind: is not supported for static manifests$/m,
      /^a\.yaml:15 spec\.policyName: references policy "none\.static\.k8s\.io" which does not exist in the manifest directory$/m,
      /^a\.yaml:17 spec\.paramRef: is not supported for static manifests$/m,
      /^b\.yaml:8 apiVersion: unsupported resource type: only v1 is read$/m,
      /^b\.yaml:14 : behind --- at the beginning of a line comes nothing but a comment/m,
      /^c\.json:1 kind: static manifests have no ConfigMap of v1$/m,
      /^d\.YML:3 metadata\.name: duplicate name "c\.static\.k8s\.io" \(previously seen in "b\.yaml"\)$/m,
      /^d\.YML:9 kind: unsupported resource type: a directory has the objects of one plugin, and there is a ValidatingAdmissionPolicy \(a\.yaml\)$/m,
    ])
      assert.match(told.join("\n"), expected);
    // What is reserved in a cluster is required here.
    assert.ok(!told.some((line) => line.includes("reserved")), told.join("\n"));
  });

  test("reads the files of the directory alone, and links as files", async (context) => {
    const good = `${POLICY("a.static.k8s.io")}---\n${BINDING("a.static.k8s.io", "a.static.k8s.io")}`;
    const root = folder(context, { "..data/policy.yaml": good, "notes.txt": "bad: [", "sub/x.yaml": "bad: [" });
    symlinkSync("..data/policy.yaml", join(root, "policy.yaml"));
    mkdirSync(join(root, "folder.yaml"));
    const { code, out } = await run(root);
    assert.equal(code, 0, out);
    assert.match(out, /sub:1:1: warning: the API server reads no folder of the directory \[POLICY_DOUBT\]/);
    assert.match(out, /: 1 policy, no errors, 1 warning\n$/);
    // Go takes the name of a hidden file for its ending.
    writeFileSync(join(root, ".yaml"), "bad: [");
    assert.equal((await run(root)).code, 1);
    const named = await run(join(root, "notes.txt"));
    assert.equal(named.code, 2);
    assert.match(named.out, /the API server reads files that end in \.yaml, \.yml and \.json alone/);
    for (const target of ["/nowhere", "."]) {
      const other = folder(context, { "policy.yaml": good });
      symlinkSync(target, join(other, "a.yaml"));
      assert.equal((await run(other)).code, 1, target);
    }
  });

  test("refuses keys that a merge brings twice, as the strict decoder does", async (context) => {
    const rule = "{apiGroups: [apps], apiVersions: [v1], operations: [CREATE], resources: [deployments]}";
    for (const [second, isTaken] of [
      ["{<<: *r}", true],
      ["{<<: *r, scope: Namespaced}", true],
      ["{<<: {scope: Cluster}, <<: *r}", true],
      ["{<<: *r, operations: [UPDATE]}", false],
      ["{operations: [UPDATE], <<: *r}", false],
      ["{<<: [*r, *r]}", false],
    ] as const) {
      const policy = POLICY("a.static.k8s.io").replace(/resourceRules: .*/, `resourceRules: [&r ${rule}, ${second}]}`);
      const { errors } = await checked(context, { "a.yaml": policy });
      assert.equal(errors.length === 0, isTaken, `${second}: ${JSON.stringify(errors)}`);
    }
  });

  test("checks files together, each directory by itself, and by the rules of a version", async (context) => {
    const root = folder(context, {
      "one/p.yaml": POLICY("a.static.k8s.io"),
      "two/b.yaml": BINDING("a.static.k8s.io", "a.static.k8s.io"),
      "empty/notes.txt": "",
    });
    const files = ["one/p.yaml", "two/b.yaml"].map((file) => join(root, file));
    assert.equal((await run(...files, "--strict")).code, 0);
    const apart = await run(join(root, "one"), join(root, "two"));
    assert.equal(apart.code, 1);
    assert.match(apart.out, /p\.yaml:3:18: warning: metadata\.name: the policy has no effect/);
    assert.equal((await run(join(root, "empty"))).code, 3);
    for (const [args, said] of [
      [[], /--static: name the directory of an admission plugin, or its files/],
      [[join(root, "none")], /there is no such file or folder/],
      [
        [root, "--kubernetes-version", "1.35"],
        /Kubernetes 1\.35 reads no static manifests: 1\.36 is the first that does/,
      ],
    ] as const) {
      const { code, err } = await run(...args);
      assert.equal(code, 2);
      assert.match(err, said);
    }
    // The plugin is that of the first object, or the one that is named.
    const other = await run(join(root, "one"), "--plugin", "MutatingAdmissionPolicy");
    assert.equal(other.code, 1);
    assert.match(other.out, /a directory has the objects of one plugin, and this one is MutatingAdmissionPolicy's/);
    // An API server of 1.37 must be able to go back to 1.36, which does not have the function.
    const newer = { "p.yaml": POLICY("a.static.k8s.io").replace('"true"', '"[1].includes(1)"') };
    assert.equal((await checked(context, newer)).code, 1);
    assert.equal((await checked(context, newer, "--kubernetes-version", "1.38")).code, 0);
  });
});
