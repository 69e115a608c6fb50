/** `eval --explain`: the answer alone on standard output, and on standard error how it came about. */
import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough, Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { after, describe, test } from "node:test";
import { runCommandLine } from "../../src/cli/command-line.js";
import { emptyModule } from "../support/empty-module.js";

const folder = mkdtempSync(join(tmpdir(), "eval-explain-"));
after(() => rmSync(folder, { recursive: true }));
const write = (name: string, content: string): string => {
  const file = join(folder, name);
  writeFileSync(file, content);
  return file;
};

interface Explained {
  readonly code: number;
  readonly allowed: boolean | undefined;
  readonly lines: readonly string[];
}

async function run(...args: string[]): Promise<{ readonly code: number; readonly out: string; readonly err: string }> {
  const [stdout, stderr] = [new PassThrough(), new PassThrough()];
  const code = await runCommandLine(args, { env: {}, stdin: Readable.from([]), stdout, stderr });
  stdout.end();
  stderr.end();
  return { code, out: await text(stdout), err: await text(stderr) };
}

let files = 0;

/** The explanation of what a policy of `policies` answers about an object. */
async function explain(policies: string, id: string, object: unknown, ...more: string[]): Promise<Explained> {
  files += 1;
  const config = write(`policies-${files}.yaml`, policies);
  const question = write(`object-${files}.json`, JSON.stringify(object));
  const asked = ["--object", question, "--policies", config, "--explain", ...more];
  const { code, out, err } = await run("eval", id, ...asked);
  const { response } = JSON.parse(out) as { response: { allowed: boolean } };
  return { code, allowed: response.allowed, lines: err.trimEnd().split("\n") };
}

const deployment = (spec: object, labels: object = {}) => ({
  apiVersion: "apps/v1",
  kind: "Deployment",
  metadata: { name: "web", namespace: "shop", labels },
  spec,
});

/** A ValidatingAdmissionPolicy and its binding. */
const validating = (name: string, resource: string, spec: string, binding = ""): string => `
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: { name: ${name} }
spec:
  matchConstraints:
    resourceRules: [{ apiGroups: ["*"], apiVersions: ["*"], operations: ["*"], resources: ["${resource}"] }]
${spec}
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: { name: ${name} }
spec: { policyName: ${name}, validationActions: [Deny]${binding} }
---
`;

describe("a ValidatingAdmissionPolicy", () => {
  test("every expression stands at its place with its value, and what is false with its parts", async () => {
    const document = validating(
      "replicas",
      "deployments",
      `  paramKind: { apiVersion: v1, kind: ConfigMap }
  matchConditions: [{ name: not-exempt, expression: "!('exempt' in object.metadata.labels)" }]
  variables:
    - { name: limit, expression: "int(params.data.max)" }
    - { name: unused, expression: "object.metadata.name" }
  validations:
    - expression: |-
        object.spec.replicas <=
          variables.limit
      messageExpression: "'at most ' + string(variables.limit)"
    - { expression: "has(object.spec)" }
  auditAnnotations: [{ key: count, valueExpression: "string(object.spec.replicas)" }]`,
      ", paramRef: { name: limits, namespace: default, parameterNotFoundAction: Deny }",
    );
    const limits =
      "apiVersion: v1\nkind: ConfigMap\nmetadata: { name: limits, namespace: default }\ndata: { max: '5' }\n";
    const file = write("replicas.yaml", document + limits);
    const { code, lines } = await explain(`replicas: { resource: ${file} }`, "replicas", deployment({ replicas: 7 }));
    assert.equal(code, 1);
    assert.deepEqual(lines, [
      "replicas (ValidatingAdmissionPolicy): denied: ValidatingAdmissionPolicy 'replicas' with binding 'replicas' denied request: at most 5",
      "  ValidatingAdmissionPolicy 'replicas'",
      "    spec.matchConditions[0].expression (not-exempt): !('exempt' in object.metadata.labels)  →  true",
      "    spec.variables[0].expression (limit): int(params.data.max)  →  5",
      "    spec.variables[1].expression (unused): object.metadata.name  →  not evaluated",
      "    spec.validations[0].expression  →  false",
      "      | object.spec.replicas <=",
      "      |   variables.limit",
      "      object.spec.replicas  →  7",
      '        object.spec  →  {"replicas": 7}',
      '          object  →  {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web", "namespace": "shop", "la…',
      "      variables.limit  →  5",
      "    spec.validations[1].expression: has(object.spec)  →  true",
      "    spec.validations[0].messageExpression: 'at most ' + string(variables.limit)  →  \"at most 5\"",
      '    spec.auditAnnotations[0].valueExpression (count): string(object.spec.replicas)  →  "7"',
    ]);
  });

  test("of several only what was evaluated has values, though the same expression stands in all of them", async () => {
    const same = `  validations: [{ expression: "object.metadata.name == 'web'" }]`;
    const condition = `  matchConditions: [{ name: exempt, expression: "has(object.metadata.annotations)" }]\n${same}`;
    const bound = (spec: string, selector: string) =>
      spec.replace(/(validationActions: \[Deny\])/, `$1, matchResources: { ${selector} }`);
    const file = write(
      "several.yaml",
      validating("a", "deployments", same) +
        validating("b", "pods", same) +
        validating("c", "deployments", condition) +
        bound(validating("d", "deployments", same), "objectSelector: { matchLabels: { app: other } }"),
    );
    const { code, lines } = await explain(`several: { resource: ${file} }`, "several", deployment({}));
    assert.equal(code, 0);
    assert.deepEqual(lines, [
      "several (ValidatingAdmissionPolicy): allowed",
      "  ValidatingAdmissionPolicy 'a'",
      "    spec.validations[0].expression: object.metadata.name == 'web'  →  true",
      "  ValidatingAdmissionPolicy 'b': does not match",
      "  ValidatingAdmissionPolicy 'c': does not apply: match condition 'exempt' is false",
      "    spec.matchConditions[0].expression (exempt): has(object.metadata.annotations)  →  false",
      '      object.metadata  →  {"name": "web", "namespace": "shop", "labels": {}}',
      '        object  →  {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web", "namespace": "shop", "la…',
      "    spec.validations[0].expression: object.metadata.name == 'web'  →  not evaluated",
      "  ValidatingAdmissionPolicy 'd': does not apply: no binding matches: the object's labels do not match the object selector",
    ]);
  });

  test("with several parameters each value has its line, equal ones have one", async () => {
    const document = validating(
      "allowed",
      "deployments",
      `  paramKind: { apiVersion: v1, kind: ConfigMap }
  validations: [{ expression: "object.spec.replicas < int(params.data.max)", message: "too many" }]`,
      ", paramRef: { selector: {}, namespace: default, parameterNotFoundAction: Deny }",
    );
    const limits = ["5", "9", "9"].map(
      (max, i) =>
        `---\napiVersion: v1\nkind: ConfigMap\nmetadata: { name: m${i}, namespace: default }\ndata: { max: '${max}' }\n`,
    );
    const file = write("parameters.yaml", document + limits.join(""));
    const { lines } = await explain(`p: { resource: ${file} }`, "p", deployment({ replicas: 7 }));
    assert.equal(lines[2], "    spec.validations[0].expression: object.spec.replicas < int(params.data.max)");
    assert.deepEqual(
      lines.filter((line) => /^ {6}→|params\.data\.max\) {2}→/.test(line)),
      ["      →  false", "        int(params.data.max)  →  5", "      →  true"],
    );
  });
});

describe("values", () => {
  const inline = (expression: string) => `p: { cel: { validations: [{ expression: ${JSON.stringify(expression)} }] } }`;

  test("an error is shown where it arose, and the command says that nothing was decided", async () => {
    const { code, lines } = await explain(inline("object.spec.nope.x > 1 || false"), "p", deployment({}));
    assert.equal(code, 2);
    assert.deepEqual(lines.slice(1, 5), [
      "  spec.validations[0].expression: object.spec.nope.x > 1 || false  →  error: no such key: nope",
      "    object.spec.nope.x > 1  →  error: no such key: nope",
      "      object.spec.nope.x  →  error: no such key: nope",
      "        object.spec.nope  →  error: no such key: nope",
    ]);
  });

  test("long ones are cut, and nothing of them reaches the terminal but text", async () => {
    const labels = { text: `\u001b[31mred\n${"x".repeat(500)}` };
    const { lines } = await explain(inline("object.metadata.labels.text == ''"), "p", deployment({}, labels));
    const [value] = lines.filter((line) => line.includes("labels.text  →"));
    const written = `"\\u001b[31mred\\n${"x".repeat(500)}"`;
    assert.equal(value, `    object.metadata.labels.text  →  ${written.slice(0, 100)}…`);
    const failing = await explain(inline("int(object.metadata.labels.text) == 1"), "p", deployment({}, labels));
    assert.doesNotMatch(failing.lines.join("\n"), /[^\P{Cc}\n]/u);
  });

  test("nothing of an object that is explained stands in the answer, and nothing is explained unless asked for", async () => {
    const policies = write("plain.yaml", inline("object.metadata.labels.text == ''"));
    const object = write("plain.json", JSON.stringify(deployment({}, { text: "s3cret" })));
    const plain = await run("eval", "p", "--object", object, "--policies", policies);
    const explained = await run("eval", "p", "--object", object, "--policies", policies, "--explain");
    assert.equal(plain.err, "");
    assert.equal(explained.out, plain.out);
    assert.match(explained.err, /object\.metadata\.labels\.text {2}→ {2}"s3cret"/);
    assert.doesNotMatch(explained.out, /s3cret/);
  });
});

describe("a group", () => {
  const policies = `
containers:
  expression: "object.spec.template.spec.containers.all(c, image_ok(c)) && (named() || exempt())"
  message: "no"
  policies:
    image_ok: { cel: { validations: [{ expression: "object.image != 'bad'", message: "bad image" }] } }
    named:
      expression: "web() && about_pods()"
      message: "not named"
      policies:
        web: { cel: { validations: [{ expression: "object.metadata.name == 'web'" }] } }
        about_pods:
          cel:
            matchConstraints:
              resourceRules: [{ apiGroups: [""], apiVersions: ["v1"], operations: ["*"], resources: ["pods"] }]
            validations: [{ expression: "false" }]
    exempt: { cel: { validations: [{ expression: "false" }] } }
`;
  const about = (...images: string[]) =>
    deployment({ template: { spec: { containers: images.map((image) => ({ image })) } } });

  test("shows its expression with all parts, and each member's outcome with the member's own explanation", async () => {
    const { code, lines } = await explain(policies, "containers", about("good"));
    assert.equal(code, 0);
    assert.deepEqual(
      lines.slice(1).filter((line) => !/object(\.spec.*)? {2}→/.test(line) && !line.includes("containers.all")),
      [
        "      image_ok(c)  →  true",
        '        c  →  {"image": "good"}',
        "    named() || exempt()  →  true",
        "      named()  →  true",
        "      exempt()  →  not evaluated",
        '  image_ok({"image": "good"}) (ValidatingAdmissionPolicy): allowed',
        "    spec.validations[0].expression: object.image != 'bad'  →  true",
        "  named (group): allowed",
        "    expression: web() && about_pods()  →  true",
        "      web()  →  true",
        "      about_pods()  →  true",
        "    web (ValidatingAdmissionPolicy): allowed",
        "      spec.validations[0].expression: object.metadata.name == 'web'  →  true",
        "    about_pods (ValidatingAdmissionPolicy): does not apply: no resource rule matches",
        "  exempt: not evaluated",
      ],
    );
  });

  test("a member that is asked about several values is shown with each of them", async () => {
    const { code, lines } = await explain(policies, "containers", about("good", "bad", "unseen"));
    assert.equal(code, 1);
    assert.deepEqual(lines.slice(-8), [
      '  image_ok({"image": "good"}) (ValidatingAdmissionPolicy): allowed',
      "    spec.validations[0].expression: object.image != 'bad'  →  true",
      '  image_ok({"image": "bad"}) (ValidatingAdmissionPolicy): denied: bad image',
      "    spec.validations[0].expression: object.image != 'bad'  →  false",
      '      object.image  →  "bad"',
      '        object  →  {"image": "bad"}',
      "  named: not evaluated",
      "  exempt: not evaluated",
    ]);
  });
});

test("rules for Kubewarden's CEL module are shown with their places in the settings", async () => {
  writeFileSync(join(folder, "cel.wasm"), emptyModule("cel-policy"));
  const settings = {
    variables: [{ name: "name", expression: "object.metadata.name" }],
    validations: [
      { expression: "variables.name == 'x'", messageExpression: "'not ' + variables.name" },
      { expression: "true" },
    ],
  };
  const policies = `p: { module: ./cel.wasm, settings: ${JSON.stringify(settings)} }`;
  const { lines } = await explain(policies, "p", deployment({}));
  assert.deepEqual(lines, [
    "p (cel-policy, native): denied: not web",
    '  settings.variables[0].expression (name): object.metadata.name  →  "web"',
    "  settings.validations[0].expression: variables.name == 'x'  →  false",
    '    variables.name  →  "web"',
    "  settings.validations[0].messageExpression: 'not ' + variables.name  →  \"not web\"",
    "  settings.validations[1].expression: true  →  not evaluated",
  ]);
});

test("cases of --batch are not explained", async () => {
  const { code, err } = await run("eval", "--batch", "--explain");
  assert.deepEqual({ code, err }, { code: 2, err: "Error: --explain is about one answer, and not for --batch\n" });
});
