import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { PassThrough, Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { after, describe, test } from "node:test";
import { runCommandLine } from "../../src/cli/command-line.js";
import { codeSections } from "../../src/cli/explain-code.js";
import { PROBLEM_CODES } from "../../src/config/documents/problem-codes.js";

const folder = mkdtempSync(join(tmpdir(), "check-"));
after(() => rmSync(folder, { recursive: true, force: true }));

function file(name: string, content: string): string {
  const path = join(folder, name);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, content);
  return path;
}

async function run(
  args: readonly string[],
  { stdin = "", env = {} }: { stdin?: string; env?: Record<string, string> } = {},
) {
  const [stdout, stderr] = [new PassThrough(), new PassThrough()];
  const printed = Promise.all([text(stdout), text(stderr)]);
  const code = await runCommandLine(args, { env, stdin: Readable.from([stdin]), stdout, stderr });
  stdout.end();
  stderr.end();
  const [out, err] = await printed;
  return { code, out, err };
}

const RULES = 'cel: { validations: [{ expression: "true" }] }';
const good = file("good.yaml", `a: { ${RULES} }\n`);
const doubtful = file(
  "doubtful.yaml",
  `g: { expression: a(), message: m, policies: { a: { ${RULES} }, b: { ${RULES} } } }\n`,
);
const wrong = file("wrong.yaml", `a: { ${RULES}, polcyMode: monitor }\n`);

describe("check", () => {
  test("exits 0 for doubts, and 1 with --strict", async () => {
    assert.deepEqual(
      [(await run(["check", doubtful])).code, (await run(["check", doubtful, "--strict"])).code],
      [0, 1],
    );
    assert.equal((await run(["check", good, "--strict"])).code, 0);
  });

  test("takes several files and folders, and says of each how it is", async () => {
    const nested = file("deploy/a/policies.yaml", "a: 5\n");
    const other = file("deploy/policies.yml", "{}\n");
    file("deploy/a/other.yaml", "a: 5\n");
    file("deploy/node_modules/policies.yaml", "a: 5\n");
    file("deploy/.hidden/policies.yaml", "a: 5\n");
    const { code, out } = await run(["check", good, join(folder, "deploy"), good]);
    assert.equal(code, 1);
    assert.deepEqual(
      out.split("\n").filter((line) => /^\S+: \d+ (?:polic|error)/.test(line)),
      [`${good}: 1 policy, no errors`, `${nested}: 1 error`, `${other}: 0 policies, no errors`],
    );
  });

  test("has nothing to check in a folder without a policy", async () => {
    const empty = join(folder, "empty");
    mkdirSync(empty);
    const { code, err } = await run(["check", empty]);
    assert.deepEqual(
      [code, err],
      [3, `nothing was judged: there is no policy in ${empty} (--allow-empty: exit 0 all the same)\n`],
    );
  });

  test("reads standard input, and shows its lines", async () => {
    const { code, out } = await run(["check", "-"], { stdin: "a: { modul: 5 }\n" });
    assert.equal(code, 1);
    assert.match(out, /^<stdin>:1:4: a: does not say .* \[CONFIG_KIND\]\n 1 \| a: \{ modul: 5 \}\n {3}\| {4}\^\n/);
  });

  test("says of a file that is not there only that", async () => {
    for (const name of [join(folder, "nope.yaml"), join(folder, "nope/"), ""])
      assert.deepEqual(await run(["check", good, name]), {
        ...{ code: 2, out: "" },
        err: `Error: there is no such file or folder: ${JSON.stringify(name)}\n`,
      });
    const { code, out } = await run(["check", "--policies", join(folder, "nope.yaml")]);
    assert.equal(code, 2);
    assert.equal(out, `${folder}/nope.yaml:1:1: does not exist [CONFIG_FILE]\n\n${folder}/nope.yaml: 1 error\n`);
  });

  test("can't be asked about what is no map of policies", async () => {
    for (const content of ["", "# a comment\n", "---\n", "null\n", "text\n", "5\n", "- a\n"])
      for (const name of ["unusable.yaml", "unusable/policies.yaml"]) {
        const { code, out } = await run(["check", file(name, content)]);
        assert.equal(code, 2, content);
        assert.match(out, /:1:1: expected a map from policy name to policy, found /);
      }
    assert.equal((await run(["check", wrong, join(folder, "unusable.yaml")])).code, 2);
  });

  test("says how to begin where nobody has named a file", async () => {
    const empty = mkdtempSync(join(tmpdir(), "check-nothing-"));
    const before = process.cwd();
    process.chdir(empty);
    try {
      const { code, out } = await run(["check"]);
      assert.equal(code, 2);
      assert.match(out, /^policies\.yaml:1:1: does not exist: `policy-server scaffold cel NAME` makes one /);
    } finally {
      process.chdir(before);
      rmSync(empty, { recursive: true });
    }
  });

  test("tells mistakes of the file itself first, then those of others by name, each once", async () => {
    file("z.yaml", "kind: X\n");
    file("b.yaml", "kind: Y\n");
    const named = file("named.yaml", `a: { resource: [z.yaml, b.yaml] }\nb: { resource: z.yaml }\nc: 5\n`);
    const { problems } = JSON.parse((await run(["check", named, "-o", "json"])).out);
    assert.deepEqual(
      problems.map(
        ({ file: each, line }: { file: string; line: number }) => `${each.slice(folder.length + 1)}:${line}`,
      ),
      ["named.yaml:3", "b.yaml:1", "z.yaml:1"],
    );
  });

  test("has colours where they are wanted, around nothing that a file says", async () => {
    const { out } = await run(["check", wrong], { env: { FORCE_COLOR: "1" } });
    assert.ok(out.includes("\u001b[31m^^^^^^^^^\u001b[0m"), out);
    assert.ok(!(await run(["check", wrong])).out.includes("\u001b"));
  });
});

describe("check for programs", () => {
  test("-o json is one object for a file, and a list of them for several", async () => {
    const value = JSON.parse((await run(["check", wrong, "-o", "json"])).out);
    assert.deepEqual(value, {
      file: wrong,
      policies: 1,
      errors: 1,
      warnings: 0,
      notes: 0,
      problems: [
        {
          file: wrong,
          line: 1,
          column: 54,
          endColumn: 63,
          severity: "error",
          code: "CONFIG_UNKNOWN_KEY",
          path: "a.polcyMode",
          message: 'unknown key (did you mean "policyMode"?)',
        },
      ],
    });
    const several = JSON.parse((await run(["check", good, doubtful, "-o", "json"])).out);
    assert.deepEqual(
      several.files.map(({ errors, warnings }: { errors: number; warnings: number }) => [errors, warnings]),
      [
        [0, 0],
        [0, 1],
      ],
    );
  });

  test("-o sarif has a rule for each code, with help, and a result for each problem", async () => {
    const { code, out } = await run(["check", wrong, doubtful, "-o", "sarif"]);
    assert.equal(code, 1);
    const { version, runs } = JSON.parse(out);
    assert.equal(version, "2.1.0");
    const [{ tool, results, columnKind }] = runs;
    assert.equal(columnKind, "unicodeCodePoints");
    for (const { id, help } of tool.driver.rules) assert.ok(help.text.startsWith(`policy-server explain ${id} says`));
    assert.deepEqual(
      results.map((result: Record<string, unknown>) => [result.ruleId, result.level]),
      [
        ["CONFIG_UNKNOWN_KEY", "error"],
        ["POLICY_DOUBT", "warning"],
      ],
    );
    for (const { ruleId, ruleIndex, message, locations } of results) {
      assert.equal(tool.driver.rules[ruleIndex].id, ruleId);
      assert.equal(typeof message.text, "string");
      const [
        {
          physicalLocation: { artifactLocation, region },
        },
      ] = locations;
      assert.ok(URL.canParse(artifactLocation.uri, "file:///"));
      assert.ok(region.startLine >= 1 && region.startColumn >= 1 && (region.endColumn ?? 2) > 1);
    }
  });

  test("-o takes nothing else", async () => {
    assert.equal((await run(["check", good, "-o", "xml"])).code, 2);
  });
});

describe("explain", () => {
  test("prints the section of a code, however it is written", async () => {
    const { code, out } = await run(["explain", "config-unknown-key"]);
    assert.equal(code, 0);
    assert.match(out, /^CONFIG_UNKNOWN_KEY\n\nAn unknown key\..*\n[\s\S]*```yaml\n/);
  });

  test("prints a line for each code without one", async () => {
    const lines = (await run(["explain"])).out.trimEnd().split("\n");
    assert.ok(lines.length >= PROBLEM_CODES.length);
    for (const line of lines) assert.match(line, /^[A-Z_]+ {2,}\S.*\.$/);
  });

  test("suggests the code that is meant", async () => {
    const { code, err } = await run(["explain", "CONFIG_REFRENCE"]);
    assert.deepEqual([code, err], [2, "Error: there is no code 'CONFIG_REFRENCE': did you mean CONFIG_REFERENCE?\n"]);
  });
});

test("a policy that can never deny is a warning, with which --strict fails", async () => {
  file(
    "warned/policy.yaml",
    `apiVersion: policies.kyverno.io/v1
kind: ValidatingPolicy
metadata: { name: baseline }
spec:
  validationActions: [Warn]
  matchConstraints: { resourceRules: [{ apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [pods] }] }
  validations: [{ expression: "!object.spec.?hostNetwork.orValue(false)" }]
`,
  );
  const named = file("warned/policies.yaml", "baseline: { resource: policy.yaml }\n");
  const lax = await run(["check", named]);
  assert.equal(lax.code, 0);
  assert.match(
    lax.out,
    /warning: baseline\.resource: baseline can never deny: .*\[POLICY_NEVER_DENIES\]\n.*\n.*\nhelp: to deny, write `validationActions: \[Deny\]`/,
  );
  assert.equal((await run(["check", "--strict", named])).code, 1);
  const meant = file("warned/meant.yaml", "baseline: { resource: policy.yaml, validationActions: [Warn] }\n");
  assert.equal((await run(["check", "--strict", meant])).code, 0);
});

describe("the examples of docs/errors.md", () => {
  const sections = codeSections(readFileSync(new URL("../../../docs/errors.md", import.meta.url), "utf8"));
  const VAP =
    "apiVersion: admissionregistration.k8s.io/v1\nkind: ValidatingAdmissionPolicy\nmetadata: { name: v }\nspec: { matchConstraints: { resourceRules: [{ apiGroups: [''], apiVersions: [v1], operations: [CREATE], resources: [pods] }] }, validations: [{ expression: 'true' }] }\n";
  file("examples/vap.yaml", VAP);
  file(
    "examples/needs-namespaces.yaml",
    VAP.replace("matchConstraints: {", "matchConstraints: { namespaceSelector: { matchLabels: { a: b } },"),
  );
  file("examples/policies.yaml", "a: {}\n");
  const BINDING =
    "apiVersion: admissionregistration.k8s.io/v1\nkind: ValidatingAdmissionPolicyBinding\nmetadata: { name: b }\n";
  file("examples/audit-only.yaml", `${VAP}---\n${BINDING}spec: { policyName: v, validationActions: [Audit] }\n`);
  for (const [code, section] of sections) {
    const [, example] = /```yaml\n([\s\S]*?)```/.exec(section) ?? [];
    // The module that refuses settings is not among what this file can write down.
    if (example === undefined || !(PROBLEM_CODES as readonly string[]).includes(code) || code === "SETTINGS_INVALID")
      continue;
    test(code, async () => {
      const asDocument = ["POLICY_KIND", "POLICY_NOT_CONVERTED"].includes(code)
        ? file("examples/document.yaml", example)
        : undefined;
      const named = file(
        "examples/example.yaml",
        asDocument === undefined ? example : "p: { resource: document.yaml }\n",
      );
      const upgrade = code === "KUBERNETES_UPGRADE" ? ["--upgrade", "1.38"] : [];
      const { problems } = JSON.parse((await run(["check", "--policies", named, "-o", "json", ...upgrade])).out);
      assert.ok(
        problems.some((problem: { code: string }) => problem.code === code),
        JSON.stringify(problems),
      );
    });
  }
});
