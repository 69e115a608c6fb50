/** SARIF of every command: each finding has a file and a line. */
import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { PassThrough, Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { after, before, describe, test } from "node:test";
import { runCommandLine } from "../../src/cli/command-line.js";
import { placesIn, type Sarif, whatGitHubRefuses } from "../support/sarif.js";

const policy = (
  name: string,
  expression = "false",
  kind = "ValidatingPolicy",
): string => `apiVersion: policies.kyverno.io/v1
kind: ${kind}
metadata: {name: ${name}}
spec:
  matchConstraints: {resourceRules: [{apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [pods]}]}
  validations: [{expression: "${expression}", message: "no"}]
`;
const pod = (name: string): string => `apiVersion: v1\nkind: Pod\nmetadata: {name: ${name}}\n`;
const podJson = (name: string): string => `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"${name}"}}`;
const item = (name: string): string => `- apiVersion: v1\n  kind: Pod\n  metadata: {name: ${name}}\n`;
const ADMISSION = `apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: vap}
spec:
  matchConstraints: {resourceRules: [{apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [pods]}]}
  validations: [{expression: "false"}]
`;
const SUITE = `apiVersion: cli.kyverno.io/v1alpha1
kind: Test
policies: [policy.yaml]
resources: [one.yaml]
results:
- {policy: p, kind: Pod, resources: [one], result: fail}
- policy: p
  kind: Pod
  resources: [one]
  result: pass
`;

const FILES: Readonly<Record<string, string>> = {
  "policy.yaml": policy("p"),
  "more.yaml": `# a comment\n---\n${policy("first", "true")}---\n${policy("second", "object.(")}---\n${policy("old", "false", "GeneratingPolicy")}`,
  "vap.yaml": `---\n\n${ADMISSION}`,
  "policies.yaml":
    "fine:\n  cel: {validations: [{expression: 'true'}]}\nnever:\n  cel: {validations: [{expression: 'false'}]}\n",
  "one.yaml": pod("one"),
  "test/kyverno-test.yaml": SUITE.replace("[policy.yaml]", "[../policy.yaml]").replace("[one.yaml]", "[../one.yaml]"),
  "own.test.yaml":
    "cases:\n  - name: a\n    policy: fine\n    object: {apiVersion: v1, kind: Pod, metadata: {name: a}}\n    expect: deny\n",
  "payload.json": '{"a": 1}',
  "json.yaml": policy("js").replace(
    "spec:\n",
    "spec:\n  evaluation: {mode: JSON}\n  autogen: {podControllers: {controllers: []}}\n",
  ),
};

describe("SARIF", () => {
  const start = process.cwd();
  let folder = "";
  before(() => {
    folder = realpathSync(mkdtempSync(join(tmpdir(), "sarif-")));
    for (const [name, content] of Object.entries(FILES)) write(name, content);
    process.chdir(folder);
  });
  after(() => {
    process.chdir(start);
    rmSync(folder, { recursive: true });
  });
  function write(name: string, content: string): void {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), content);
  }

  async function run(args: readonly string[], stdin = "") {
    const [stdout, stderr] = [new PassThrough(), new PassThrough()];
    const [out, err] = [text(stdout), text(stderr)];
    const code = await runCommandLine(args, { env: {}, stdin: Readable.from([stdin]), stdout, stderr });
    stdout.end();
    stderr.end();
    return { code, out: await out, err: await err };
  }
  /** What GitHub takes, with the places of its results. */
  function taken(written: string): readonly string[] {
    const document = JSON.parse(written) as Sarif;
    assert.deepEqual(whatGitHubRefuses(document), []);
    return placesIn(document);
  }
  const applied = async (args: readonly string[], stdin = ""): Promise<readonly string[]> =>
    taken((await run(["apply", ...args, "--sarif", "-"], stdin)).out);

  describe("of apply has the line of the resource", () => {
    for (const [name, content, lines] of [
      ["documents.yaml", `${pod("a")}---\n# b\n\n${pod("b")}---\n---\n${pod("c")}`, [1, 7, 12]],
      ["crlf.yaml", `# x\n${pod("a")}---\n${pod("b")}`.replaceAll("\n", "\r\n"), [2, 6]],
      ["bom.yaml", `\ufeff---\n${pod("a")}`, [2]],
      ["list.yaml", `apiVersion: v1\nkind: List\nitems:\n${item("a")}# b\n${item("b")}`, [4, 8]],
      ["indented.yaml", `apiVersion: v1\nitems:\n  ${item("a").replaceAll("\n  ", "\n    ")}kind: List\n`, [3]],
      ["inline.yaml", `apiVersion: v1\nkind: List\nitems: [\n  ${podJson("a")},\n  ${podJson("b")}]\n`, [4, 5]],
      [
        "lists.yaml",
        `apiVersion: v1\nkind: List\nitems:\n- apiVersion: v1\n  kind: PodList\n  items:\n  - metadata: {name: a}\n  - metadata: {name: b}\n`,
        [7, 8],
      ],
      ["one.json", `\n\n${podJson("a")}`, [3]],
      ["list.json", `{"apiVersion":"v1","kind":"List","items":[\n${podJson("a")},\n\n${podJson("b")}\n]}`, [2, 4]],
      [
        "pretty.json",
        JSON.stringify(
          { apiVersion: "v1", kind: "List", items: [JSON.parse(podJson("a")), JSON.parse(podJson("b"))] },
          null,
          2,
        ),
        [5, 12],
      ],
      ["lines.jsonl", `${podJson("a")}\n\n${podJson("b")}\n`, [1, 3]],
      ["array.json", `[\n${podJson("a")},\n${podJson("b")}]`, [2, 3]],
    ] as const) {
      test(name, async () => {
        write(name, content);
        assert.deepEqual(
          await applied(["policy.yaml", "-r", name]),
          lines.map((line) => `${name}:${line}`),
        );
      });
    }

    test("large inputs, which are cut on the way", async () => {
      const filler = (index: number) => `# ${"x".repeat(20_000)}\n${pod(`p${index}`)}`;
      write("large.yaml", Array.from({ length: 300 }, (_, i) => filler(i)).join("---\n"));
      assert.deepEqual(
        await applied(["policy.yaml", "-r", "large.yaml"]),
        Array.from({ length: 300 }, (_, i) => `large.yaml:${i * 5 + 2}`),
      );
      const wide = (index: number) =>
        `{"apiVersion":"v1","kind":"Pod",\n"metadata":{"name":"p${index}","annotations":{"a":"${"x".repeat(20_000)}"}}}`;
      write(
        "large.json",
        `{"kind":"List","apiVersion":"v1","items":[\n${Array.from({ length: 300 }, (_, i) => wide(i)).join(",\n")}]}`,
      );
      assert.deepEqual(
        await applied(["policy.yaml", "-r", "large.json"]),
        Array.from({ length: 300 }, (_, i) => `large.json:${i * 2 + 2}`),
      );
    });

    test("files in folders below the working directory", async () => {
      write("deep/er/a b.yaml", pod("a"));
      assert.deepEqual(await applied(["policy.yaml", "-r", "deep/er"]), ["deep/er/a%20b.yaml:1"]);
    });
  });

  test("of apply has the policy's line where a resource is in no file", async () => {
    write("two.yaml", `${policy("x", "true")}---\n${policy("p")}`);
    assert.deepEqual(await applied(["two.yaml", "-r", "-"], pod("piped")), ["two.yaml:8"]);
  });

  test("of apply has the payload's file", async () =>
    assert.deepEqual(await applied(["json.yaml", "--json", "payload.json"]), ["payload.json:1"]));

  test("of apply has the line of a policy that was not asked", async () => {
    const places = await applied(["more.yaml", "-r", "one.yaml", "--continue-on-fail"]);
    assert.deepEqual([...places].sort(), ["more.yaml:17", "more.yaml:10"].sort());
  });

  test("of apply has the place of an input that can't be used", async () => {
    write("kind.yaml", `# a\n${pod("x").replace("Pod", "Pdo")}`);
    write("twice.yaml", `${pod("one")}  labels: {a: b}\n`.replace("{name: one}", "\n  name: one"));
    write("kinds.yaml", policy("x", "true", "ValidatingPolicie"));
    write("broken-policy.yaml", "a: [\n");
    const policies = ["policy.yaml", "kinds.yaml", "broken-policy.yaml", "nope.yaml"];
    const places = await applied([...policies, "-r", "one.yaml,kind.yaml,twice.yaml"]);
    assert.deepEqual([...places].sort(), [
      "broken-policy.yaml:1",
      "kind.yaml:2",
      "kinds.yaml:1",
      "nope.yaml:1",
      "one.yaml:1",
      "one.yaml:1",
    ]);
  });

  test("of apply is the same for every kind of policies", async () => {
    assert.deepEqual(await applied(["vap.yaml", "-r", "one.yaml"]), ["one.yaml:1"]);
    assert.deepEqual(await applied(["vap.yaml", "-r", "-"], pod("piped")), ["vap.yaml:3"]);
    assert.deepEqual(await applied(["never", "--policies", "policies.yaml", "-r", "one.yaml"]), ["one.yaml:1"]);
    assert.deepEqual(await applied(["never", "--policies", "policies.yaml", "-r", "-"], pod("piped")), [
      "policies.yaml:3",
    ]);
  });

  test("of test has the line of what is expected", async () => {
    assert.equal((await run(["test", "test", "own.test.yaml", "--sarif", "out.sarif"])).code, 1);
    assert.deepEqual(taken(readFileSync("out.sarif", "utf8")), ["test/kyverno-test.yaml:7", "own.test.yaml:5"]);
    assert.equal((await run(["test", "own.test.yaml", "--sarif", "out.sarif", "--policies", "nope.yaml"])).code, 2);
    assert.deepEqual(taken(readFileSync("out.sarif", "utf8")), ["own.test.yaml:1"]);
  });

  test("of check has the line of the mistake", async () => {
    write("broken.yaml", "a:\n  cel: {validations: [{expression: 'object.('}]}\nb: {modul: x}\n");
    const { out } = await run(["check", "broken.yaml", "-o", "sarif"]);
    const places = taken(out);
    assert.ok(places.includes("broken.yaml:2") && places.includes("broken.yaml:3"), places.join());
  });
});
