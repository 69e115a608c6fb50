/** What `apply` shows and writes of resources that policies change. */
import assert from "node:assert/strict";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough, Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { after, describe, test } from "node:test";
import { runCommandLine } from "../../../src/cli/command-line.js";
import { parseYamlDocuments } from "../../../src/data/yaml.js";

const folder = mkdtempSync(join(tmpdir(), "apply-changes-"));
after(() => rmSync(folder, { recursive: true }));
const at = (name: string): string => join(folder, name);

const MATCH = `matchConstraints: {resourceRules: [{apiGroups: [""], apiVersions: [v1], operations: [CREATE, UPDATE], resources: [configmaps]}]}`;
const mutating = (name: string, expression: string, kind = "MutatingPolicy", api = "policies.kyverno.io/v1"): string =>
  `apiVersion: ${api}\nkind: ${kind}\nmetadata: {name: ${name}}\nspec:\n  ${MATCH}\n  reinvocationPolicy: Never\n  mutations:\n  - patchType: JSONPatch\n    jsonPatch: {expression: '${expression}'}\n`;
const add = (path: string, value: string): string => `[JSONPatch{op: "add", path: "${path}", value: ${value}}]`;
const judging = (expression: string): string =>
  `apiVersion: policies.kyverno.io/v1\nkind: ValidatingPolicy\nmetadata: {name: judge}\nspec:\n  ${MATCH}\n  validations: [{expression: '${expression}', message: wrong}]\n`;
const map = (name: string, more = ""): string =>
  `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: ${name}, namespace: ns}\n${more}`;

/** Applies policies to resources. */
async function apply(policies: readonly string[], resources: readonly string[], ...more: readonly string[]) {
  writeFileSync(at("policies.yaml"), policies.join("---\n"));
  writeFileSync(at("resources.yaml"), resources.join("---\n"));
  const [stdout, stderr] = [new PassThrough(), new PassThrough()];
  const args = ["apply", at("policies.yaml"), "--resource", at("resources.yaml"), "--remove-color", ...more];
  const code = await runCommandLine(args, { stdin: Readable.from([]), stdout, stderr, env: {} });
  stdout.end();
  stderr.end();
  return { code, out: await text(stdout), err: (await text(stderr)).replaceAll(folder, "DIR") };
}

const DATA = mutating("data", add("/data", '{"a": "1"}'));

describe("apply of policies that mutate", () => {
  test("shows what each resource became, once, in the order of its keys", async () => {
    const more = mutating("more", add("/data/b", "object.data.a"));
    const { code, out, err } = await apply([DATA, more, judging('object.data.b == "1"')], [map("one"), map("two")]);
    assert.equal(code, 0, err);
    const change = (name: string) =>
      `changed ns/ConfigMap/${name}:\n  …\n  metadata:\n    name: ${name}\n    namespace: ns\n+ data:\n+   a: "1"\n+   b: "1"\n`;
    assert.ok(out.includes(change("one") + change("two")), out);
    assert.match(out, /pass: 6, fail: 0, warn: 0, error: 0, skip: 0/);
  });

  test("evaluates Kubernetes' own first, then Kyverno's in the order of the files", async () => {
    const native = mutating(
      "native",
      add("/data", '{"a": "native"}'),
      "MutatingAdmissionPolicy",
      "admissionregistration.k8s.io/v1",
    );
    const last = mutating("zz", add("/data/last", 'object.data.a + "zz"'));
    const then = mutating("aa", add("/data/last", 'object.data.last + "aa"'));
    const { out } = await apply([last, then, native], [map("one")]);
    assert.match(out, /\+ {3}last: nativezzaa/);
  });

  test("goes on with the object as it was before a policy that fails, and ends with 1", async () => {
    const broken = mutating("broken", add("/nowhere/x", '"1"'));
    const { code, out, err } = await apply([DATA, broken, judging('object.data.a == "1"')], [map("one")]);
    assert.equal(code, 1, err);
    assert.match(
      err,
      /policy broken -> resource ns\/ConfigMap\/one could not be judged: failed to evaluate policy: JSON Patch/,
    );
    assert.match(out, /\+ {3}a: "1"/);
    assert.match(out, /pass: 2, fail: 0, warn: 0, error: 1, skip: 0/);
  });

  test("writes changed resources alone: to a file, each a document, whatever it held", async () => {
    writeFileSync(at("out.yaml"), "old: true\n");
    await apply([DATA], [map("one"), map("two", 'data: {a: "1"}\n'), map("three")], "-o", at("out.yaml"));
    const written = parseYamlDocuments(readFileSync(at("out.yaml"), "utf8"));
    assert.deepEqual(
      written,
      ["one", "three"].map((name) => {
        return { apiVersion: "v1", kind: "ConfigMap", metadata: { name, namespace: "ns" }, data: { a: "1" } };
      }),
    );
    assert.match(readFileSync(at("out.yaml"), "utf8"), /^apiVersion: v1\nkind: ConfigMap\n/);
  });

  test("or to a folder, with a file for each name that stays in it", async () => {
    mkdirSync(at("out"));
    writeFileSync(at("out/one-mutated.yaml"), "old: true\n");
    const resources = [map("one"), map("one").replace("ns}", "other}"), map("'../../up'")];
    await apply([DATA], resources, "--output", at("out"));
    assert.deepEqual(readdirSync(at("out")).sort(), [".._.._up-mutated.yaml", "one-mutated.yaml"]);
    assert.equal(parseYamlDocuments(readFileSync(at("out/one-mutated.yaml"), "utf8")).length, 2);
    await apply([DATA], [map("one")], "-o", at("deep/new"), "--policy-report");
    assert.ok(existsSync(at("deep/new/one-mutated.yaml")));
  });

  test("says so where it cannot write", async () => {
    const { code, err } = await apply([DATA], [map("one")], "-o", at("none/out.yaml"));
    assert.deepEqual([code, err.split("\n")[0]?.slice(0, 37)], [2, "Error: cannot write DIR/none/out.yaml"]);
  });

  test("serves none about existing objects, and none that does nothing", async () => {
    const targets = DATA.replace("  reinvocationPolicy", "  targetMatchConstraints: {}\n  reinvocationPolicy");
    const missing = await apply([targets], [map("one")]);
    assert.equal(missing.code, 2);
    assert.match(missing.err, /MutatingPolicy data: policies that change existing objects are not served/);
    const nothing = await apply([DATA.replace(/ {2}mutations:[\s\S]*/, "")], [map("one")]);
    assert.equal(nothing.code, 2);
    assert.match(nothing.err, /MutatingPolicy data has no mutations: it changes nothing/);
    const unbound = DATA.replace("kind: MutatingPolicy", "kind: MutatingAdmissionPolicyBinding").replace(
      "policies.kyverno.io/v1",
      "admissionregistration.k8s.io/v1",
    );
    assert.match((await apply([unbound], [map("one")])).err, /the binding is for the policy without a name/);
  });
});
