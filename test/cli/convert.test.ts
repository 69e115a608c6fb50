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
import { fileURLToPath } from "node:url";
import { runCommandLine } from "../../src/cli/command-line.js";

const fixtures = fileURLToPath(new URL("../../../test/fixtures/gatekeeper/", import.meta.url));
const [cel, rego] = ["required-labels.yaml", "no-latest.yaml"].map((name) =>
  readFileSync(join(fixtures, name), "utf8"),
);
const root = mkdtempSync(join(tmpdir(), "convert-"));
after(() => rmSync(root, { recursive: true }));
let folders = 0;

/** A new folder with files. */
function folderOf(files: Readonly<Record<string, string | undefined>>): string {
  const folder = join(root, String(++folders));
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(join(folder, name, ".."), { recursive: true });
    writeFileSync(join(folder, name), content ?? "");
  }
  return folder;
}

async function run(args: readonly string[], stdin = ""): Promise<{ code: number; out: string; err: string }> {
  const [stdout, stderr] = [new PassThrough(), new PassThrough()];
  const code = await runCommandLine(args, { env: {}, stdin: Readable.from([Buffer.from(stdin)]), stdout, stderr });
  return { code, out: await text(stdout.end()), err: (await text(stderr.end())).replaceAll(`${root}/`, "") };
}

const convert = (...args: readonly string[]): ReturnType<typeof run> => run(["convert", ...args]);

describe("convert", () => {
  test("prints policies that check takes, from files, folders, lists and standard input alike", async () => {
    const folder = folderOf({
      "a/template.yaml": cel?.split("---\n")[0],
      "a/b/constraint.yaml": cel?.split("---\n")[1],
    });
    const fromFolder = await convert(folder);
    assert.deepEqual([fromFolder.code, fromFolder.err], [0, "1 policy converted\n"]);
    assert.equal((await run(["convert", "-"], cel)).out, fromFolder.out);
    assert.equal((await convert(join(fixtures, "required-labels.yaml"))).out, fromFolder.out);
    const items = cel?.split("---\n").map(
      (each) =>
        `- ${each
          .replaceAll(/^#.*\n/gm, "")
          .trim()
          .replaceAll("\n", "\n  ")}\n`,
    );
    const list = await run(["convert", "-"], `apiVersion: v1\nkind: List\nitems:\n${items?.join("")}`);
    assert.equal(`# Every team is named.\n${list.out}`, fromFolder.out);
    const served = folderOf({ "vap.yaml": fromFolder.out, "policies.yaml": "labels: { resource: vap.yaml }\n" });
    const checked = await run(["check", join(served, "policies.yaml"), "--strict"]);
    assert.equal(checked.code, 0, checked.out);
  });

  test("prints entries of policies.yaml that check takes", async () => {
    const { code, out } = await convert(fixtures, "--to", "cel", "--output", join(root, "cel"));
    assert.deepEqual([code, out.trim().split("\n").length], [0, 3]);
    const entries = await run(["convert", "-", "--to", "cel"], cel);
    const checked = await run(["check", join(folderOf({ "policies.yaml": entries.out }), "policies.yaml"), "--strict"]);
    assert.equal(checked.code, 0, checked.out);
  });

  test("writes a file for each policy, and what Rego needs; never over others", async () => {
    const folder = join(root, "written");
    const first = await convert(fixtures, "--output", folder);
    assert.equal(first.code, 0, first.err);
    const files = readdirSync(folder, { recursive: true }).map(String).sort();
    assert.deepEqual(files, [
      "namespaces-have-a-team.yaml",
      "nolatest",
      "nolatest/lib1.rego",
      "nolatest/policy.rego",
      "policies.yaml",
    ]);
    const build =
      "opa build --v0-compatible -t wasm -e nolatest/violation -o nolatest/bundle.tar.gz nolatest/policy.rego nolatest/lib1.rego && tar -xzf nolatest/bundle.tar.gz -C nolatest /policy.wasm";
    assert.ok(first.err.includes(build), first.err);
    const entries = readFileSync(join(folder, "policies.yaml"), "utf8");
    assert.ok(entries.includes(`#   ${build}\n`), entries);
    writeFileSync(join(folder, "policies.yaml"), "mine: true\n");
    rmSync(join(folder, "nolatest"), { recursive: true });
    const second = await convert(fixtures, "--output", folder);
    assert.equal(second.code, 2);
    assert.match(second.err, /policies\.yaml are there already: nothing was made/);
    assert.deepEqual(
      [existsSync(join(folder, "nolatest")), readFileSync(join(folder, "policies.yaml"), "utf8")],
      [false, "mine: true\n"],
    );
    assert.equal((await convert(fixtures, "--output", folder, "--force")).code, 0);
    assert.equal(readFileSync(join(folder, "policies.yaml"), "utf8"), entries);
  });

  test("what is converted is written, also where something is not", async () => {
    const { code, out, err } = await run(["convert", "-"], `${cel}---\n${rego}`);
    assert.equal(code, 1);
    assert.match(out, /name: namespaces-have-a-team/);
    assert.match(err, /^-:\d+:7: not converted: kind: .* is in Rego, .*--output FOLDER$/m);
  });

  test("Kyverno's ClusterPolicies become its policies in CEL, or what --to names", async () => {
    const rule = (name: string, validate: string): string =>
      `    - name: ${name}\n      match: {any: [{resources: {kinds: [ConfigMap]}}]}\n      ${validate}\n`;
    const good = rule(
      "team",
      'validate: {cel: {expressions: [{expression: "has(object.metadata.labels)", message: m}]}}',
    );
    const head = "apiVersion: kyverno.io/v1\nkind: ClusterPolicy\nmetadata: {name: team}\nspec:\n  rules:\n";
    const folder = folderOf({ "team.yaml": head + good });
    const written = await convert(folder, "--output", join(folder, "new"));
    assert.deepEqual([written.code, written.err], [0, "1 policy converted\n"]);
    assert.match(readFileSync(join(folder, "new", "team.yaml"), "utf8"), /^kind: ValidatingPolicy$/m);
    assert.equal((await run(["check", join(folder, "new", "team.yaml")])).code, 0);
    assert.match((await convert(folder, "--to", "vap")).out, /^kind: ValidatingAdmissionPolicyBinding$/m);
    assert.match((await convert(folder, "--to", "cel")).out, /^team:\n {2}cel:\n/);
    const partly = await run(["convert", "-"], head + good + rule("sign", 'verifyImages: [{imageReferences: ["*"]}]'));
    assert.equal(partly.code, 1);
    assert.match(partly.out, /name: team-team/);
    assert.match(partly.err, /^-:11:21: not converted: spec\.rules\[1\]\.verifyImages: /m);
    assert.equal((await run(["convert", "-", "--to", "kyverno"], cel)).code, 1);
  });

  test("nothing is written where an input can't be read", async () => {
    const folder = folderOf({ "good.yaml": cel, "chart/broken.yaml": "a: {{ .Values.x }}\n" });
    for (const [args, expected] of [
      [[folder], /broken\.yaml:1:5: .*render it with `helm template` first[\s\S]*nothing is converted/],
      [[join(folder, "good.yaml"), join(folder, "nope.yaml")], /cannot read .*nope\.yaml: no such file/],
      [[join(folder, "good.yaml"), "--to", "rego"], /Allowed choices are kyverno, vap, cel/],
      [[], /missing required argument 'file'/],
      [[join(folder, "good.yaml"), "--output", ""], /--output needs the name of a folder/],
      [[""], /cannot read/],
    ] as const) {
      const { code, out, err } = await convert(...args);
      assert.deepEqual([code, out], [2, ""], err);
      assert.match(err, expected);
    }
    const named = await convert(join(folderOf({ "values.yaml": "replicas: 2\n" }), "values.yaml"));
    assert.deepEqual([named.code, named.out], [2, ""]);
    assert.match(named.err, /no Kubernetes object/);
  });

  test("a key that stands twice is said", async () => {
    const { code, err } = await run(["convert", "-"], cel?.replace("  match:\n", "  match: {}\n  match:\n"));
    assert.equal(code, 0, err);
    assert.match(err, /^-:\d+:\d+: note: spec\.match: .*\n1 policy converted\n$/);
  });

  test("a file of a folder that can't be read is named", async () => {
    const folder = folderOf({ "good.yaml": cel });
    symlinkSync("nowhere", join(folder, "link.yaml"));
    const { code, err } = await convert(folder);
    assert.equal(code, 2);
    assert.match(err, /cannot read .*link\.yaml: no such file/);
  });

  test("where there is nothing to convert it says so", async () => {
    const other = folderOf({
      "values.yaml": "replicas: 2\n",
      "ns.yaml": "apiVersion: v1\nkind: Namespace\nmetadata: { name: a }\n",
    });
    for (const [args, stdin] of [
      [[other]],
      [[folderOf({ "a.txt": "x" })]],
      [["-"], ""],
      [["-"], "---\n# nothing\n"],
    ] as const) {
      const { code, err } = await run(["convert", ...args], stdin);
      assert.equal(code, 3, err);
      assert.match(err, /^there is nothing to convert/);
    }
    assert.match((await convert(other)).err, /2 documents of other kinds left out/);
    assert.equal((await convert(other, "--allow-empty")).code, 0);
  });
});
