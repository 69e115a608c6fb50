/** What `check` says of expressions that fail for some requests, by kinds of policies. */
import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough, Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { after, describe, test } from "node:test";
import { runCommandLine } from "../../../../src/cli/command-line.js";

const folder = mkdtempSync(join(tmpdir(), "doubts-"));
after(() => rmSync(folder, { recursive: true }));

interface Found {
  readonly severity: string;
  readonly code: string;
  readonly line: number;
  readonly column: number;
  readonly path: string;
  readonly message: string;
  readonly hint?: string;
}

async function check(file: string, documents: unknown): Promise<readonly Found[]> {
  const path = join(folder, file);
  writeFileSync(
    path,
    Array.isArray(documents)
      ? documents.map((each) => JSON.stringify(each)).join("\n---\n")
      : JSON.stringify(documents),
  );
  const [stdout, stderr] = [new PassThrough(), new PassThrough()];
  const io = { env: { KUBECONFIG: join(folder, "none") }, stdin: Readable.from([]), stdout, stderr };
  const [out, err] = [text(stdout), text(stderr)];
  await runCommandLine(["check", path, "-o", "json"], io);
  stdout.end();
  stderr.end();
  assert.equal(await err, "");
  const { problems } = JSON.parse(await out) as { readonly problems: readonly Found[] };
  assert.deepEqual(
    problems.filter(({ severity }) => severity === "error"),
    [],
  );
  return problems;
}

const rule = (operations: readonly string[], resource = "pods", group = "", version = "v1") => ({
  resourceRules: [{ apiGroups: [group], apiVersions: [version], operations, resources: [resource] }],
});
const spec = (expression: string, matchConstraints: object, more: object = {}) => ({
  ...{ matchConstraints, validations: [{ expression, message: "no" }] },
  ...more,
});
const document = (apiVersion: string, kind: string, body: object) => ({
  apiVersion,
  kind,
  metadata: { name: "p" },
  spec: body,
});
const vap = (body: object) => document("admissionregistration.k8s.io/v1", "ValidatingAdmissionPolicy", body);
const kyverno = (body: object) => document("policies.kyverno.io/v1", "ValidatingPolicy", body);
const map = (expression: string, matchConstraints: object, more: object = {}) =>
  document("admissionregistration.k8s.io/v1", "MutatingAdmissionPolicy", {
    ...{ matchConstraints, failurePolicy: "Fail", reinvocationPolicy: "Never" },
    mutations: [{ patchType: "ApplyConfiguration", applyConfiguration: { expression } }],
    ...more,
  });

/** The paths that a message says may be absent. */
const absent = async (expression: string, matchConstraints = rule(["CREATE"]), more: object = {}) =>
  (await check("absent.json", vap(spec(expression, matchConstraints, more))))
    .filter(({ code }) => code === "CEL_ABSENT")
    .map(({ message }) => message.slice(0, message.indexOf(" ")));

describe("an optional member that may be absent", () => {
  const cases: readonly [expression: string, ...found: string[]][] = [
    ["object.metadata.labels.team == 'x'", "object.metadata.labels"],
    ["has(object.metadata.labels) && object.metadata.labels.team == 'x'", "object.metadata.labels.team"],
    ["has(object.metadata.labels.team) && object.metadata.labels.team == 'x'", "object.metadata.labels"],
    ["has(object.metadata.labels) && has(object.metadata.labels.team) && object.metadata.labels.team == 'x'"],
    ["has(object.metadata.labels) && 'team' in object.metadata.labels && object.metadata.labels.team == 'x'"],
    ["has(object.metadata.labels) && object.metadata.labels['a/b'] == 'x'", 'object.metadata.labels["a/b"]'],
    ["object.metadata.?labels.?team.orValue('') == 'x'"],
    ["object.metadata.?labels[?'a/b'].orValue('') == 'x'"],
    ["object.metadata.?labels.orValue({}).team == 'x'", "object.metadata.labels.team"],
    ["object.metadata.?labels.?team.orValue('') == '' || object.metadata.labels.team == 'x'"],
    ["object.metadata.?labels.hasValue() && object.metadata.labels.all(k, k != 'x')"],
    ["object.metadata.annotations.all(k, k != 'x')", "object.metadata.annotations"],
    ["object.spec.hostNetwork == false", "object.spec.hostNetwork"],
    ["object.spec.initContainers.all(c, c.image != '')", "object.spec.initContainers"],
    [
      "object.spec.containers.all(c, c.securityContext.privileged == false)",
      "object.spec.containers[].securityContext",
    ],
    ["object.spec.containers.all(c, c.?securityContext.?privileged.orValue(false) == false)"],
    ["object.spec.containers.filter(c, has(c.securityContext)).all(c, has(c.securityContext.privileged))"],
    [
      "(object.spec.containers + object.spec.?initContainers.orValue([])).all(c, c.livenessProbe != null)",
      "object.spec.containers[].livenessProbe",
    ],
    ["object.spec.nodeSelector.exists(k, v, v == 'x')", "object.spec.nodeSelector"],
    ["object.metadata.?labels.?a.orValue('').startsWith('x') && object.metadata.labels.a.size() > 2"],
    ["object.metadata.?labels.?a.orValue('') in ['x', 'y'] && object.metadata.labels.a.size() > 2"],
    ["object.spec.?hostNetwork.orValue(false) && object.spec.hostNetwork"],
    ["object.metadata.?labels != optional.none() && object.metadata.labels.size() > 0"],
    ["object.metadata.?labels.orValue({}) == {} || object.metadata.labels.a == 'x'", "object.metadata.labels.a"],
    // What the API server always has.
    ["object.metadata.name != '' && object.metadata.namespace != '' && object.spec.restartPolicy == 'Always'"],
    ["object.spec.containers[0].image != '' && has(object.spec.containers[0].resources.limits)"],
    ["object.kind == 'Pod' && object.apiVersion == 'v1'"],
  ];
  for (const [expression, ...found] of cases)
    test(expression, async () => {
      assert.deepEqual(await absent(expression), found);
    });

  test("conditions and variables guard validations, and a validation its message; variables are followed", async () => {
    const labels = { matchConditions: [{ name: "a", expression: "has(object.metadata.labels)" }] };
    assert.deepEqual(await absent("object.metadata.labels.all(k, k != 'x')", rule(["CREATE"]), labels), []);
    const variables = [{ name: "cs", expression: "object.spec.?initContainers.orValue([])" }];
    assert.deepEqual(await absent("variables.cs.all(c, c.ports.size() > 0)", rule(["CREATE"]), { variables }), [
      "object.spec.initContainers[].ports",
    ]);
    const validations = [
      { expression: "!has(object.spec.nodeName)", messageExpression: "'on ' + object.spec.nodeName" },
      { expression: "true", messageExpression: "'on ' + object.spec.nodeName" },
    ];
    const found = await check("message.json", vap({ ...spec("", rule(["CREATE"])), validations }));
    assert.deepEqual(
      found.map(({ path, severity }) => [path, severity]),
      [["spec.validations[1].messageExpression", "note"]],
    );
  });

  test("custom resources by their schema; of kinds that are not known only metadata", async () => {
    const member = { type: "string" };
    const schema = {
      ...{ type: "object", required: ["spec"] },
      properties: {
        spec: {
          ...{ type: "object", required: ["size"] },
          properties: { size: member, color: member, kind: { type: "string", default: "a" } },
        },
      },
    };
    const definition = {
      ...{
        apiVersion: "apiextensions.k8s.io/v1",
        kind: "CustomResourceDefinition",
        metadata: { name: "w.acme.example" },
      },
      spec: {
        ...{ group: "acme.example", scope: "Namespaced", names: { kind: "Widget", plural: "widgets" } },
        versions: [{ name: "v1", served: true, storage: true, schema: { openAPIV3Schema: schema } }],
      },
    };
    const widgets = rule(["CREATE"], "widgets", "acme.example");
    const expression =
      "object.spec.size != object.spec.color && object.spec.kind != '' && object.metadata.labels != {}";
    const policy = vap(spec(expression, widgets));
    const told = async (file: string, documents: unknown) =>
      (await check(file, documents))
        .filter(({ code }) => code === "CEL_ABSENT")
        .map(({ message }) => message.split(" ")[0]);
    const found = await told("crd.json", [policy, definition]);
    assert.deepEqual(found, ["object.spec.color", "object.metadata.labels"]);
    const alone = await told("no-crd.json", policy);
    assert.deepEqual(alone, ["object.metadata.labels"]);
  });

  test("is a warning in an entry of our own, and a note in documents, at its place", async () => {
    const own = spec("object.metadata.labels.team == 'x'", rule(["CREATE"]));
    const [inline] = await check("own.yaml", { p: { cel: own } });
    assert.equal(inline?.severity, "warning");
    assert.equal(inline?.hint, "write .?labels, with orValue() at the end, or test has(object.metadata.labels) first");
    for (const [name, policy] of [
      ["vap.json", vap(own)],
      ["kyverno.json", kyverno(own)],
      ["map.json", map("Object{metadata: Object.metadata{name: object.metadata.labels.team}}", rule(["CREATE"]))],
    ] as const) {
      const [found] = await check(name, policy);
      assert.equal(found?.code, "CEL_ABSENT", name);
      assert.equal(found?.severity, "note", name);
      const column = JSON.stringify(policy).indexOf("labels.team") + 1;
      assert.deepEqual([found?.line, found?.column], [1, column], name);
    }
  });
});

describe("an object that is null for all operations of the rules", () => {
  const nulls = async (policy: object) =>
    (await check("null.json", policy))
      .filter(({ code }) => code === "CEL_NULL")
      .map(({ path, severity }) => [path, severity]);
  const cases: readonly [operations: readonly string[], expression: string, found: boolean][] = [
    [["DELETE"], "object.metadata.name == 'x'", true],
    [["DELETE"], "oldObject.metadata.name == 'x'", false],
    [["DELETE"], "object == null || object.metadata.name == 'x'", false],
    [["DELETE"], "request.operation == 'DELETE' || object.metadata.name == 'x'", false],
    [["DELETE", "UPDATE"], "object.metadata.name == 'x'", false],
    [["*"], "object.metadata.name == 'x'", false],
    [["CREATE"], "oldObject.metadata.name == 'x'", true],
    [["CREATE"], "oldObject == null", false],
    [["CREATE", "UPDATE"], "oldObject.metadata.name == 'x'", false],
    [["CONNECT"], "oldObject.metadata.name == 'x'", true],
    [["CONNECT"], "object.kind == 'PodExecOptions'", false],
  ];
  for (const [operations, expression, found] of cases)
    test(`${operations.join(" ")}: ${expression}`, async () => {
      const expected = found ? [["spec.validations[0].expression", "warning"]] : [];
      assert.deepEqual(await nulls(vap(spec(expression, rule(operations)))), expected, "ValidatingAdmissionPolicy");
      assert.deepEqual(await nulls(kyverno(spec(expression, rule(operations)))), expected, "Kyverno");
      const inline = await nulls({ p: { cel: spec(expression, rule(operations)) } });
      assert.deepEqual(inline, found ? [["p.cel.validations[0].expression", "warning"]] : [], "inline");
    });

  test("in every place of an expression", async () => {
    const uses = "string(object.metadata.name)";
    const whole = spec(`${uses} == 'x'`, rule(["DELETE"]), {
      matchConditions: [{ name: "c", expression: `${uses} == 'x'` }],
      variables: [{ name: "v", expression: uses }],
      auditAnnotations: [{ key: "k", valueExpression: uses }],
      validations: [{ expression: `${uses} == 'x'`, messageExpression: uses }],
    });
    const places = ["matchConditions[0].expression", "variables[0].expression", "validations[0].expression"];
    const all = [...places, "validations[0].messageExpression", "auditAnnotations[0].valueExpression"];
    for (const policy of [vap(whole), kyverno(whole)])
      assert.deepEqual((await nulls(policy)).map(([path]) => path).sort(), all.map((place) => `spec.${place}`).sort());
    const mutation = map("Object{metadata: Object.metadata{name: oldObject.metadata.name}}", rule(["CREATE"]));
    assert.deepEqual(await nulls(mutation), [["spec.mutations[0].applyConfiguration.expression", "warning"]]);
  });

  test("in Kyverno it is an empty map, which has() tests", async () => {
    assert.deepEqual(
      await nulls(kyverno(spec("!has(object.metadata) || object.metadata.name == 'x'", rule(["DELETE"])))),
      [],
    );
  });
});

describe("apply configurations", () => {
  const writes = async (expression: string) =>
    (await check("map.json", map(expression, rule(["CREATE"])))).map(({ message }) => message.split(" ")[0]);
  test("that write what is replaced as a whole", async () => {
    assert.deepEqual(await writes("Object{spec: Object.spec{tolerations: []}}"), [".spec.tolerations"]);
    const container = "Object.spec.containers{name: 'a', args: ['x']}";
    assert.deepEqual(await writes(`Object{spec: Object.spec{containers: [${container}]}}`), [
      ".spec.containers[].args",
    ]);
    const choice = "true ? Object{} : Object{spec: Object.spec{nodeSelector: {'a': 'b'}}}";
    assert.deepEqual(await writes(choice), [".spec.nodeSelector"]);
  });
  test("that write lists by their keys, and texts", async () => {
    const container = "Object.spec.containers{name: 'a', image: 'b'}";
    assert.deepEqual(await writes(`Object{spec: Object.spec{containers: [${container}], hostname: 'x'}}`), []);
    assert.deepEqual(await writes("Object{metadata: Object.metadata{labels: {'a': 'b'}}}"), []);
  });
});

describe("parameters", () => {
  const bound = (more: object) => ({
    ...document("admissionregistration.k8s.io/v1", "ValidatingAdmissionPolicyBinding", {
      ...{ policyName: "p", validationActions: ["Deny"] },
      ...more,
    }),
  });
  const paramKind = { apiVersion: "v1", kind: "ConfigMap" };
  const policy = (more: object) => vap(spec("true || false", rule(["CREATE"]), more));
  const found = async (documents: unknown) =>
    (await check("params.json", documents))
      .filter(({ path }) => path.includes("param") || path === "spec")
      .map(({ path }) => path);

  test("a kind without a binding, a binding without a parameter, one that is not there, and one of no kind", async () => {
    const refers = (name: string) => bound({ paramRef: { name, namespace: "x", parameterNotFoundAction: "Deny" } });
    const object = { ...paramKind, metadata: { name: "here", namespace: "x" } };
    assert.deepEqual(await found(policy({ paramKind })), ["spec.paramKind"]);
    assert.deepEqual(await found([policy({ paramKind }), bound({})]), ["spec"]);
    assert.deepEqual(await found([policy({ paramKind }), refers("there"), object]), ["spec.paramRef.name"]);
    assert.deepEqual(await found([policy({ paramKind }), refers("here"), object]), []);
    assert.deepEqual(await found([policy({}), refers("here"), object]), ["spec.paramRef"]);
    const inline = await check("own.json", { p: { cel: spec("true || false", rule(["CREATE"]), { paramKind }) } });
    assert.ok(inline.some(({ path }) => path === "p.cel.paramKind"));
  });
});
