/** The commands of docs/ci.md, taken from the page and run as a pipeline does: green with right files, red for each mistake. */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { PassThrough, Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { after, before, describe, test } from "node:test";
import { runCommandLine } from "../../src/cli/command-line.js";
import { isJsonObject } from "../../src/data/same-value.js";
import { parseYamlDocuments } from "../../src/data/yaml.js";
import { type Sarif, whatGitHubRefuses } from "../support/sarif.js";

const PAGE = readFileSync(new URL("../../../docs/ci.md", import.meta.url), "utf8");

/** The YAML file of the page that begins with this comment. */
function fileOf(name: string): unknown {
  const [, content] = new RegExp(`\`\`\`yaml\\n# ${name.replaceAll(".", "\\.")}\\n([\\s\\S]*?)\`\`\``).exec(PAGE) ?? [];
  assert.ok(content !== undefined, `docs/ci.md has ${name}`);
  const [document] = parseYamlDocuments(content, { uniqueKeys: true });
  return document;
}

/** All texts in a document under a key, lists of them too. */
function under(value: unknown, key: string): readonly string[] {
  if (Array.isArray(value)) return value.flatMap((each) => under(each, key));
  if (!isJsonObject(value)) return [];
  return Object.entries(value).flatMap(([name, inner]) =>
    name === key ? [inner].flat().filter((each) => typeof each === "string") : under(inner, key),
  );
}

const ours = (commands: readonly string[]): readonly string[] => {
  const found = commands.flatMap((command) => /^policy-server (.*)$/.exec(command)?.[1] ?? []);
  assert.ok(found.length > 0);
  return found;
};

const COMMANDS = [...PAGE.matchAll(/```sh\n(.*)\n```/g)].map(([, command = ""]) => command);

const PIPELINES: Readonly<Record<string, readonly string[]>> = {
  GitHub: ours(under(fileOf(".github/workflows/policies.yaml"), "run")),
  GitLab: ours(under(fileOf(".gitlab-ci.yml"), "script")),
  "pre-commit": ours(under(fileOf(".pre-commit-config.yaml"), "entry")),
  "a pull request": ours(COMMANDS.filter((command) => command.includes("--changed"))),
  "entries of policies.yaml": ours(COMMANDS.filter((command) => !command.includes("--changed"))),
};

const POLICY = `apiVersion: policies.kyverno.io/v1
kind: ValidatingPolicy
metadata: {name: need-owner}
spec:
  matchConstraints: {resourceRules: [{apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [pods]}]}
  validations: [{expression: "'owner' in object.metadata.?labels.orValue({})", message: set an owner}]
`;
const GOOD = "apiVersion: v1\nkind: Pod\nmetadata:\n  name: good\n  labels: {owner: a}\n";
const FILES: Readonly<Record<string, string>> = {
  "policies/need-owner.yaml": POLICY,
  "policies.yaml": `policies: { resource: policies/ }
need-team:
  cel:
    matchConstraints: {resourceRules: [{apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [configmaps]}]}
    validations: [{expression: "'team' in object.metadata.?labels.orValue({})", message: set a team}]
workloads:
  expression: "owned() || old()"
  message: not owned
  policies:
    owned: { policy: policies }
    old: { cel: { validations: [{ expression: "object.metadata.name.startsWith('old-')", message: not old }] } }
`,
  "tests/kyverno-test.yaml": `apiVersion: cli.kyverno.io/v1alpha1
kind: Test
metadata: {name: t}
policies: [../policies/need-owner.yaml]
resources: [pods.yaml]
results:
- {policy: need-owner, kind: Pod, resources: [bad], result: fail}
- {policy: need-owner, kind: Pod, resources: [good], result: pass}
`,
  "tests/pods.yaml": `${GOOD}---\napiVersion: v1\nkind: Pod\nmetadata: {name: bad}\n`,
  "tests/need-owner.test.yaml":
    "cases:\n  - name: none\n    policy: policies\n    object: {apiVersion: v1, kind: Pod, metadata: {name: a}}\n    expect: deny\n",
  "manifests/good.yaml": GOOD,
  "manifests/app/more.yaml": GOOD.replace("name: good", "name: more"),
};

/** A mistake: what it does to the files, and the pipelines that can see it. */
type Change = (folder: string) => void;
const written =
  (name: string, content: string): Change =>
  (folder) => {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), content);
  };
const removed =
  (name: string): Change =>
  (folder) =>
    rmSync(join(folder, name), { recursive: true });

const DENIED = "apiVersion: v1\nkind: Pod\nmetadata: {name: denied}\n";
const WRONG: Readonly<Record<string, Change>> = {
  "a denied manifest": written("manifests/denied.yaml", DENIED),
  "a denied manifest in a folder below": written("manifests/a/b/denied.yaml", DENIED),
  "a denied manifest in JSON": written(
    "manifests/denied.json",
    '{"apiVersion":"v1","kind":"Pod","metadata":{"name":"x"}}',
  ),
  "a denied item of a list": written(
    "manifests/list.yaml",
    `apiVersion: v1\nkind: List\nitems:\n- ${DENIED.replaceAll("\n", "\n  ")}`,
  ),
  "a manifest that is not YAML": written("manifests/broken.yaml", "apiVersion: v1\nkind: [Pod\n"),
  "a manifest without a kind": written("manifests/kindless.yaml", "apiVersion: v1\nmetadata: {name: a}\nspec: {}\n"),
  "a broken expression": written("policies/need-owner.yaml", POLICY.replace("'owner' in", "'owner' inn")),
  "a policy with a misspelt field": written("policies/need-owner.yaml", POLICY.replace("validations:", "validation:")),
  "a policy that is not YAML": written("policies/need-owner.yaml", `${POLICY}  : [\n`),
  "a misspelt kind of policies": written(
    "policies/need-owner.yaml",
    POLICY.replace("ValidatingPolicy", "ValidatingPolicie"),
  ),
  "a kind of policies that is not served": written(
    "policies/need-owner.yaml",
    POLICY.replace("ValidatingPolicy", "GeneratingPolicy"),
  ),
  "an empty policy": written("policies/need-owner.yaml", ""),
  "no folder of policies": removed("policies"),
  "no folder of manifests": removed("manifests"),
};
/** Mistakes that only a command can see that judges all resources: for `--changed` they are no change. */
const NEEDS_ALL: Readonly<Record<string, Change>> = {
  "no manifest at all": (folder) => {
    removed("manifests")(folder);
    mkdirSync(join(folder, "manifests"));
  },
  "misspelt kinds of manifests": (folder) => {
    removed("manifests")(folder);
    written("manifests/pod.yaml", DENIED.replace("Pod", "Pood"))(folder);
  },
};
/** Mistakes in tests. */
const TESTS: Readonly<Record<string, Change>> = {
  "a wrong expectation": (folder) =>
    written(
      "tests/kyverno-test.yaml",
      FILES["tests/kyverno-test.yaml"]?.replace("result: fail", "result: pass") ?? "",
    )(folder),
  "a wrong expectation of our own": (folder) =>
    written("tests/need-owner.test.yaml", FILES["tests/need-owner.test.yaml"]?.replace("deny", "allow") ?? "")(folder),
  "no tests": (folder) => {
    removed("tests")(folder);
    mkdirSync(join(folder, "tests"));
  },
  "no folder of tests": removed("tests"),
};

/** Mistakes that entries of policies.yaml see. */
const CONFIG = FILES["policies.yaml"] ?? "";
const ENTRIES: Readonly<Record<string, Change>> = {
  "a manifest that only an entry denies": written(
    "manifests/settings.json",
    '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"}}',
  ),
  "an entry that is gone": written("policies.yaml", CONFIG.slice(0, CONFIG.indexOf("workloads:"))),
  "an entry with a broken expression": written("policies.yaml", CONFIG.replace("owned() ||", "owned ||")),
  "an empty policies.yaml": written("policies.yaml", ""),
  "no policies.yaml": removed("policies.yaml"),
};

describe("docs/ci.md", () => {
  const start = process.cwd();
  let good = "";
  const git = (folder: string, ...args: string[]): void =>
    void execFileSync("git", ["-c", "user.email=a@example.com", "-c", "user.name=a", ...args], { cwd: folder });
  before(() => {
    good = realpathSync(mkdtempSync(join(tmpdir(), "ci-")));
    for (const [name, content] of Object.entries(FILES)) written(name, content)(good);
    git(good, "init", "-q", "-b", "main", ".");
    git(good, "add", "-A");
    git(good, "commit", "-qm", "x");
    git(good, "update-ref", "refs/remotes/origin/main", "HEAD");
  });
  after(() => rmSync(good, { recursive: true }));

  /** The exit codes of a pipeline's commands; it is red when one is not 0. */
  async function run(pipeline: string, change: Change = () => {}) {
    const folder = realpathSync(mkdtempSync(join(tmpdir(), "ci-")));
    cpSync(good, folder, { recursive: true });
    change(folder);
    process.chdir(folder);
    const codes: number[] = [];
    let said = "";
    try {
      for (const command of PIPELINES[pipeline] ?? []) {
        const [stdout, stderr] = [new PassThrough(), new PassThrough()];
        const [out, err] = [text(stdout), text(stderr)];
        const words = command.split(" ").map((word) => word.replaceAll('"', ""));
        const code = await runCommandLine(words, { env: {}, stdin: Readable.from([""]), stdout, stderr });
        codes.push(code);
        stdout.end();
        stderr.end();
        said += `$ ${command}\n${await out}${await err}`;
        if (code !== 0) break;
      }
      const sarif = existsSync("policies.sarif") ? readFileSync("policies.sarif", "utf8") : undefined;
      return { red: codes.some((code) => code !== 0), codes, said, sarif };
    } finally {
      process.chdir(start);
      rmSync(folder, { recursive: true });
    }
  }

  for (const pipeline of Object.keys(PIPELINES)) {
    const changed = (PIPELINES[pipeline] ?? []).every((command) => command.includes("--changed"));
    describe(pipeline, () => {
      test("is green with right files", async () => {
        const { red, said, sarif } = await run(pipeline);
        assert.equal(red, false, said);
        if (pipeline === "GitHub") assert.deepEqual(whatGitHubRefuses(JSON.parse(sarif ?? "") as Sarif), []);
      });
      test("is green with a new manifest that is right", async () => {
        const { red, said } = await run(pipeline, written("manifests/new.yaml", GOOD.replace("good", "new")));
        assert.equal(red, false, said);
      });
      const entries = pipeline.startsWith("entries");
      const wrong = { ...WRONG, ...(!changed && { ...NEEDS_ALL, ...(entries ? ENTRIES : TESTS) }) };
      // The others have the same commands, but for files of reports and the base.
      const few = !["GitHub", "pre-commit"].includes(pipeline) && !entries;
      for (const [what, change] of Object.entries(wrong).slice(0, few ? 1 : undefined)) {
        test(`is red for ${what}`, async () => {
          const { red, said } = await run(pipeline, change);
          assert.equal(red, true, said);
        });
      }
    });
  }

  test("of a denied manifest the workflow has a finding with its place", async () => {
    const { sarif } = await run("GitHub", WRONG["a denied manifest"]);
    const document = JSON.parse(sarif ?? "") as Sarif;
    assert.deepEqual(whatGitHubRefuses(document), []);
    const [result] = document.runs[0]?.results ?? [];
    assert.equal(result?.locations[0]?.physicalLocation.artifactLocation.uri, "manifests/denied.yaml");
  });
});
