/** `eval` as people use it: summaries, many objects and policies, modules and files without a configuration. */
import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough, Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { after, describe, test } from "node:test";
import { runCommandLine } from "../../src/cli/command-line.js";
import type { ExplainedAnswer } from "../../src/kinds/explanation/index.js";

const folder = mkdtempSync(join(tmpdir(), "eval-people-"));
after(() => rmSync(folder, { recursive: true }));
const write = (name: string, content: string): string => {
  const file = join(folder, name);
  mkdirSync(join(file, ".."), { recursive: true });
  writeFileSync(file, content);
  return file;
};

const POLICIES = write(
  "policies.yaml",
  `
named: { cel: { validations: [{ expression: "object.metadata.name == 'web'", message: "only web" }] } }
watched: { policyMode: monitor, cel: { validations: [{ expression: "false", message: "never" }] } }
pods:
  cel:
    matchConstraints:
      resourceRules: [{ apiGroups: [""], apiVersions: ["v1"], operations: ["*"], resources: ["pods"] }]
    validations: [{ expression: "object.spec.nope == 1" }]
both:
  expression: "web() || (exempt() && named())"
  message: "neither"
  policies:
    web: { policy: named }
    exempt: { cel: { validations: [{ expression: "false", message: "not exempt" }] } }
    named: { policy: named }
unasked: { modul: x }
far: { module: "registry://127.0.0.1:1/never/asked:v1" }
`,
);
const object = (kind: string, name: string): string =>
  JSON.stringify({ apiVersion: kind === "Pod" ? "v1" : "apps/v1", kind, metadata: { name, namespace: "shop" } });
const WEB = write("web.json", object("Deployment", "web"));
const OTHER = write("other.json", object("Deployment", "other"));

async function run(args: readonly string[], { terminal = false, env = {} } = {}) {
  const [stdout, stderr] = [new PassThrough(), new PassThrough()];
  if (terminal) Object.assign(stdout, { isTTY: true });
  const code = await runCommandLine(args, { env, stdin: Readable.from([]), stdout, stderr });
  stdout.end();
  stderr.end();
  return { code, out: await text(stdout), err: await text(stderr) };
}
const ask = (args: readonly string[], where = {}) => run(["eval", "--policies", POLICIES, ...args], where);
/** Times differ from run to run. */
const untimed = (out: string): string => out.replaceAll(/\d+(?:\.\d+)?(?:e-\d+)? (?:µs|ms|s)\b/g, "T");

const AUDITED = write(
  "audited.yaml",
  `
apiVersion: policies.kyverno.io/v1
kind: ValidatingPolicy
metadata: { name: named-web }
spec:
  validationActions: [Audit]
  matchConstraints:
    resourceRules: [{ apiGroups: ["apps"], apiVersions: ["v1"], operations: ["*"], resources: ["deployments"] }]
  validations: [{ expression: "object.metadata.name == 'web'", message: "only web" }]
`,
);
const TRACED = write(
  "traced.yaml",
  `
audited: { resource: ${AUDITED} }
warned: { resource: ${AUDITED}, validationActions: [Warn] }
quiet:
  expression: "a() && w()"
  message: "no, never"
  groupWarnings: none
  auditAnnotations: { by: "request.userInfo.username" }
  policies:
    a: { policy: audited }
    w: { policy: warned }
`,
);

describe("what Audit and Warn found", () => {
  const traced = (args: readonly string[], where = {}) => run(["eval", "--policies", TRACED, ...args], where);

  test("stands in a summary, and a warning is not said twice", async () => {
    const [found, about] = ["  found:", "Deployment shop/other  T"];
    const ask = async (id: string) => untimed((await traced([id, "--object", OTHER, "-o", "text"])).out).split("\n");
    assert.deepEqual(await ask("audited"), [`ALLOWED  audited  ${about}`, found, "    Audit: named-web: only web", ""]);
    const warned = [`ALLOWED  warned  ${about}`, "  warnings:", "    Policy named-web failed: only web", ""];
    assert.deepEqual(await ask("warned"), warned);
    assert.deepEqual((await ask("quiet")).slice(0, 5), [
      `ALLOWED  quiet  ${about}`,
      found,
      "    Audit: a: named-web: only web",
      "    Warn: w: named-web: only web",
      "  members:",
    ]);
  });

  test("stands in the line of an answer, and in a list for programs", async () => {
    const many = await traced(["audited", "quiet", "--object", OTHER, WEB, "-o", "text"]);
    const lines = many.out.split("\n");
    assert.match(lines[0] ?? "", /^ALLOWED +audited +.*Audit: named-web: only web$/);
    assert.match(many.out, /^ALLOWED +quiet +.*Audit: a: named-web: only web \(and 1 more\)$/m);
    const listed = await traced(["quiet", "--object", OTHER, WEB, "-o", "json"]);
    const [first, second] = JSON.parse(listed.out) as { found?: { member: string }[] }[];
    assert.deepEqual([first?.found?.map(({ member }) => member), second?.found], [["a", "w"], undefined]);
  });

  test("a warning on standard error says which never denies, and an explanation shows the annotation's value", async () => {
    const { err } = await traced(["audited", "--object", WEB, "-o", "text"]);
    assert.match(err, /audited\.resource: named-web can never deny/);
    const { out } = await traced(["quiet", "--object", OTHER, "-o", "text", "--explain"]);
    assert.match(out, /expression: a\(\) && w\(\) {2}→ {2}true/);
    assert.match(out, /auditAnnotations\.by \(by\): request\.userInfo\.username {2}→ {2}"kubernetes-admin"/);
  });
});

describe("a summary", () => {
  test("says what came of it, why, and what each member said", async () => {
    const { code, out, err } = await ask(["both", "--object", OTHER, "-o", "text"]);
    assert.equal(code, 1);
    assert.deepEqual(untimed(out).split("\n"), [
      "DENIED  both  Deployment shop/other  T",
      "  neither",
      "  code 403",
      "  causes:",
      "    spec.policies.web: only web",
      "    spec.policies.exempt: not exempt",
      "  warnings:",
      "    web was rejected: only web",
      "    exempt was rejected: not exempt",
      "    named was not evaluated",
      "  members:",
      "    web     denied: only web  T",
      "    exempt  denied: not exempt  T",
      "    named   not evaluated",
      "",
    ]);
    assert.equal(err, "1 other entry has mistakes: run check\n");
  });

  test("says why a policy does not apply, what monitor mode hides, and what failed", async () => {
    const skipped = await ask(["pods", "--object", WEB, "-o", "text"]);
    assert.equal(untimed(skipped.out), "DOES NOT APPLY  pods  Deployment shop/web  T\n  no resource rule matches\n");
    const watched = await ask(["watched", "--object", WEB, "-o", "text"]);
    assert.equal(
      untimed(watched.out),
      "ALLOWED  watched  Deployment shop/web  T\n  monitor mode lets it pass; it would be denied: never\n",
    );
    assert.deepEqual([skipped.code, watched.code], [3, 0]);
    const failed = await ask(["pods", "--object", write("pod.json", object("Pod", "p")), "-o", "text"]);
    assert.equal(failed.code, 2);
    assert.match(failed.out, /^ERROR {2}pods {2}Pod shop\/p {2}.*\n {2}.*no such key: spec/);
  });

  test("stands on a terminal, in colour unless that is not wanted; into a pipe goes JSON", async () => {
    const colored = await ask(["named", "--object", WEB], { terminal: true });
    assert.ok(colored.out.startsWith("\u001b[32mALLOWED\u001b[0m"), colored.out);
    const plain = await ask(["named", "--object", WEB], { terminal: true, env: { NO_COLOR: "1" } });
    assert.match(plain.out, /^ALLOWED {2}named/);
    const piped = await ask(["named", "--object", WEB]);
    assert.equal((JSON.parse(piped.out) as { kind: string }).kind, "AdmissionReview");
    assert.equal(piped.err, "");
  });

  test("with --explain the explanation follows, and as data where JSON is asked for", async () => {
    const shown = await ask(["named", "--object", OTHER, "-o", "text", "--explain"]);
    assert.match(
      shown.out,
      /only web\n.*\n\nnamed \(ValidatingAdmissionPolicy\): denied: only web\n {2}spec\.validations/s,
    );
    const { out, err } = await ask(["named", "--object", OTHER, "-o", "json", "--explain"]);
    assert.equal(err, "");
    const { response, explanation } = JSON.parse(out) as {
      response: { allowed: boolean };
      explanation: ExplainedAnswer;
    };
    assert.equal(response.allowed, false);
    assert.equal(explanation.outcome, "deny");
    assert.equal(explanation.parts[0]?.expressions[0]?.evaluations[0]?.value, "false");
    const beside = await ask(["named", "--object", OTHER, "--explain"]);
    assert.equal("explanation" in (JSON.parse(beside.out) as object), false);
    assert.match(beside.err, /^named \(ValidatingAdmissionPolicy\): denied/);
  });

  test("nothing that others have written reaches the terminal but text", async () => {
    const evil = write("evil.json", object("Deployment", "\u001b[31mred\r\nALLOWED"));
    const { out } = await ask(["named", "--object", evil, "-o", "text", "--explain"]);
    assert.doesNotMatch(out, /[^\P{Cc}\n]/u);
    assert.match(out, /^DENIED {2}named {2}Deployment shop\/\\u001b\[31mred ALLOWED/);
  });
});

describe("many objects and policies", () => {
  const objects = join(folder, "objects");
  write("objects/a.yaml", `${object("Deployment", "web")}\n---\n${object("Pod", "p")}\n`);
  write(
    "objects/deep/b.yml",
    JSON.stringify({ apiVersion: "apps/v1", kind: "DeploymentList", items: [{ metadata: { name: "x" } }] }),
  );
  write("objects/deep/values.yaml", "replicas: 3\n");
  write("objects/deep/named.test.yaml", "cases: []\n");
  write("objects/notes.txt", "no object");

  test("have a line each, and the last one counts; the exit code is the worst", async () => {
    const { code, out, err } = await ask(["named", "pods", "--object", objects, "--object", WEB, "-o", "text"]);
    assert.equal(code, 2);
    assert.deepEqual(
      out.split("\n").map((line) => line.replaceAll(`${folder}/`, "").replace(/resulted in.*/, "…")),
      [
        "ALLOWED         named  objects/a.yaml: Deployment shop/web",
        "DOES NOT APPLY  pods   objects/a.yaml: Deployment shop/web  no resource rule matches",
        "DENIED          named  objects/a.yaml: Pod shop/p  only web",
        "ERROR           pods   objects/a.yaml: Pod shop/p  expression 'object.spec.nope == 1' …",
        "DENIED          named  objects/deep/b.yml: Deployment default/x  only web",
        "DOES NOT APPLY  pods   objects/deep/b.yml: Deployment default/x  no resource rule matches",
        "ALLOWED         named  web.json: Deployment shop/web",
        "DOES NOT APPLY  pods   web.json: Deployment shop/web  no resource rule matches",
        "8 answers: 2 allowed, 2 denied, 3 not applicable, 1 failed",
        "",
      ],
    );
    assert.match(
      err,
      /^1 other entry .*\nwarning: \S+values\.yaml: document 1 has no apiVersion and kind, and is left out\n$/,
    );
  });

  test("are an array for programs, also where a file further on is broken", async () => {
    const { code, out } = await ask(["named", "--object", objects, "-o", "json"]);
    assert.equal(code, 1);
    const items = JSON.parse(out) as readonly {
      object: { name: string };
      outcome: string;
      response: { allowed: boolean };
    }[];
    assert.deepEqual(
      items.map((item) => [item.object.name, item.outcome, item.response.allowed]),
      [
        ["web", "allow", true],
        ["p", "deny", false],
        ["x", "deny", false],
      ],
    );
    const broken = await ask(["named", "--object", WEB, "--object", write("broken.yaml", "a: ["), "-o", "json"]);
    assert.equal(broken.code, 2);
    assert.equal((JSON.parse(broken.out) as readonly unknown[]).length, 1);
    assert.match(broken.err, /broken\.yaml:1:\d+: /);
  });

  test("--all asks every policy of the file, and those that can't be loaded are errors", async () => {
    const { code, out } = await ask(["--all", "--object", WEB, "-o", "text"]);
    assert.equal(code, 2);
    assert.match(out, /^ERROR +unasked +.*it could not be loaded, as is said above$/m);
    assert.match(out, /\n6 answers: 3 allowed, 1 not applicable, 2 failed\n$/);
  });
});

describe("without a configuration", () => {
  const deny = (name: string, extra = ""): string => `
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: { name: ${name} }
spec:
  matchConstraints:
    resourceRules: [{ apiGroups: ["*"], apiVersions: ["*"], operations: ["*"], resources: ["*"] }]
  validations: [{ expression: "object.metadata.name == 'web'", message: "only web" }]
${extra}`;

  test("a file of resources is asked under its own name, wherever a policies.yaml is or is not", async () => {
    const file = write("direct/web-only.yaml", deny("p"));
    const { code, out, err } = await run([
      "eval",
      file,
      "--policies",
      "/nowhere.yaml",
      "--object",
      OTHER,
      "-o",
      "text",
    ]);
    assert.equal(err, "");
    assert.equal(code, 1);
    assert.match(out, /^DENIED {2}web-only {2}Deployment shop\/other/);
  });

  test("beside policies of a policies.yaml, in the order of the command line", async () => {
    const file = write("direct/policy.yaml", deny("p"));
    const { out } = await ask(["named", file, "--object", WEB, "--object", OTHER, "-o", "text"]);
    assert.deepEqual(
      out.split("\n").map((line) => line.split(/ +/).slice(0, 2)),
      [["ALLOWED", "named"], ["ALLOWED", "direct"], ["DENIED", "named"], ["DENIED", "direct"], ["4", "answers:"], [""]],
    );
  });

  const MUTATING = "policies/add-label/policy.wasm";
  const SETTINGS = '{"label": "example.com/team", "value": "a"}';

  test("a module that changes the object shows the change; what a server would refuse is refused, and says the remedy", async () => {
    const refused = await run(["eval", MUTATING, "--settings", SETTINGS, "--object", WEB, "-o", "text"]);
    assert.equal(refused.code, 1);
    assert.match(refused.out, /^DENIED {2}add-label/);
    assert.match(refused.out, /\n {4}\+ {3}labels:\n {4}\+ {5}example\.com\/team: a\n/);
    assert.match(refused.out, /`allowedToMutate: true`.*--allowed-to-mutate/);
    const settings = write("settings.yaml", SETTINGS);
    const allowed = await run(["eval", MUTATING, "--settings", settings, "--allowed-to-mutate", "--object", WEB]);
    assert.equal(allowed.code, 0);
    assert.match(allowed.out, /"patchType": "JSONPatch"/);
    const many = [MUTATING, "--settings", settings, "--allowed-to-mutate", "--object", WEB, "--object", OTHER];
    const { out } = await run(["eval", ...many, "-o", "text"]);
    assert.equal(out.match(/^ALLOWED .*changes the object$/gm)?.length, 2);
  });
});

describe("mistakes", () => {
  const cases: readonly (readonly [string, readonly string[], RegExp])[] = [
    [
      "a policy that nobody knows",
      ["nmaed", "--object", WEB],
      /^Error: unknown policy: nmaed \(did you mean "named"\?\) \(known are named, watched,/,
    ],
    ["a member that nobody knows", ["both/wbe", "--object", WEB], /did you mean "both\/web"\?/],
    ["no policy", ["--object", WEB], /^Error: which policy\?/],
    ["no object", ["named"], /^Error: give exactly one of --object/],
    [
      "an object without its option",
      ["named", WEB],
      /^Error: no object is given: name it by --object, as in --object /,
    ],
    ["standard input without its option", ["named", "-"], /as in --object -$/m],
    ["an object beside --all", ["--all", "nope.yaml"], /as in --object nope\.yaml$/m],
    [
      "a module that is not there",
      ["./nope.wasm", "--object", WEB],
      /^Error: cannot read \.\/nope\.wasm: there is no such file/,
    ],
    [
      "a configuration in place of a policy",
      [POLICIES, "--object", WEB],
      /has no kind, so that it is a configuration.*--policies/,
    ],
    ["JSON that is neither", [write("x.json", '{"name": 1}'), "--object", WEB], /neither a kind.* nor wasm/],
    ["settings for an id", ["named", "--settings", "{}", "--object", WEB], /^Error: --settings: only for a file/],
    [
      "settings that are no map",
      ["policies/add-label/policy.wasm", "--settings", "[1]", "--object", WEB],
      /cannot read \[1\]: --settings takes a file, or a map/,
    ],
    [
      "a format that there is not",
      ["named", "--object", WEB, "-o", "xml"],
      /^Error: unknown format 'xml', expected one of text, json, yaml/,
    ],
    [
      "a folder without objects",
      ["named", "--object", join(folder, "direct", "..", "empty")],
      /no file in it ends in \.yaml/,
    ],
    [
      "two former states",
      ["named", "--object", WEB, "--object", OTHER, "--old", WEB],
      /^Error: --old is the former state of one object/,
    ],
  ];
  mkdirSync(join(folder, "empty"));
  for (const [name, args, error] of cases) {
    test(`${name}: exit 2, with one line that says what to do`, async () => {
      const { code, out, err } = await ask(args);
      assert.deepEqual([code, out], [2, ""]);
      assert.match(err, error);
      assert.equal(err.trimEnd().split("\n").length, 1);
    });
  }

  test("of an entry that is made in memory names no place in it", async () => {
    const { code, err } = await run([
      "eval",
      "policies/add-label/policy.wasm",
      "--settings",
      "{}",
      "--object",
      WEB,
      "-o",
      "text",
    ]);
    assert.equal(code, 2);
    assert.equal(err, "add-label.settings: Policy settings are invalid: label must be a text that is not empty\n");
  });
});
