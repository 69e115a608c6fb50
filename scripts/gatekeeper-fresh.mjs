/**
 * Fresh Constraints and requests beside Gatekeeper itself, made by a seed:
 *
 *     node scripts/gatekeeper-fresh.mjs generate SEED COUNT > cases.jsonl
 *     gatekeeper-verdicts < cases.jsonl > answers.jsonl          (go build in scripts/gatekeeper-verdicts)
 *     node scripts/gatekeeper-fresh.mjs compare cases.jsonl answers.jsonl
 *
 * Each Constraint is converted, and each request judged by the result: whether it passes, with which messages and warnings. Outside of CI.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough, Writable } from "node:stream";
import { runCommandLine } from "../dist/src/cli/command-line.js";
import { createEvaluator } from "../dist/src/library/create-evaluator.js";
import { createReview } from "../dist/src/library/create-review.js";
import { loadPolicies } from "../dist/src/library/load-policies.js";

const [mode, ...rest] = process.argv.slice(2);
if (mode === "generate") generate(Number(rest[0]), Number(rest[1]));
else if (mode === "compare") await compare(rest[0], rest[1]);
else throw new Error("usage: gatekeeper-fresh.mjs generate SEED COUNT | compare CASES ANSWERS");

function generate(seed, count) {
  let state = seed >>> 0;
  const random = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const chance = (part) => random() < part;
  const one = (list) => list[Math.floor(random() * list.length)];
  const some = (list, part = 0.5) => list.filter(() => chance(part));
  const maybe = (part, key, make) => (chance(part) ? { [key]: make() } : {});

  const NAMESPACES = ["default", "kube-system", "prod-eu", "prod-us", "team-a"];
  const labels = () =>
    Object.fromEntries(some(["app", "team", "env", "tier"]).map((key) => [key, one(["a", "b", "prod", "dev"])]));
  const namespaceOf = new Map(
    NAMESPACES.map((name) => [
      name,
      {
        apiVersion: "v1",
        kind: "Namespace",
        metadata: { name, labels: { ...labels(), "kubernetes.io/metadata.name": name } },
      },
    ]),
  );
  const KINDS = [
    ["v1", "Pod", "pods", true],
    ["v1", "Namespace", "namespaces", false],
    ["v1", "Service", "services", true],
    ["apps/v1", "Deployment", "deployments", true],
    ["rbac.authorization.k8s.io/v1", "ClusterRole", "clusterroles", false],
    ["example.com/v1", "Widget", "widgets", true],
  ];
  const PATTERNS = ["default", "kube-system", "prod-*", "*-a", "*eu*", "team-a", "kube-*", "*"];
  const selector = () => ({
    ...maybe(0.6, "matchLabels", () => ({ [one(["app", "team", "env"])]: one(["a", "b", "prod"]) })),
    ...maybe(0.5, "matchExpressions", () => [
      one([
        { key: one(["app", "team"]), operator: "In", values: ["a", "b"] },
        { key: one(["env", "tier"]), operator: "NotIn", values: ["prod"] },
        { key: one(["app", "env"]), operator: "Exists" },
        { key: one(["app", "tier"]), operator: "DoesNotExist" },
      ]),
    ]),
  });
  const kinds = () =>
    Array.from({ length: 1 + Math.floor(random() * 2) }, () =>
      one([
        { apiGroups: [""], kinds: ["Pod"] },
        { apiGroups: [""], kinds: some(["Namespace", "Pod", "Service"], 0.7) },
        { apiGroups: ["apps", ""], kinds: ["Deployment", "Pod"] },
        { apiGroups: ["*"], kinds: ["Pod", "Widget"] },
        { apiGroups: ["*"], kinds: ["*"] },
        { apiGroups: ["example.com"], kinds: ["Widget"] },
        { apiGroups: ["rbac.authorization.k8s.io"], kinds: ["*"] },
        { kinds: ["Namespace", "ClusterRole"] },
      ]),
    );
  const match = () => ({
    ...maybe(0.8, "kinds", kinds),
    ...maybe(0.2, "scope", () => one(["*", "Cluster", "Namespaced"])),
    ...maybe(0.3, "namespaces", () => some(PATTERNS, 0.4)),
    ...maybe(0.3, "excludedNamespaces", () => some(PATTERNS.slice(0, -1), 0.3)),
    ...maybe(0.3, "labelSelector", selector),
    ...maybe(0.3, "namespaceSelector", selector),
    ...maybe(0.2, "name", () => one(["web", "we*", "*eb", "*e*", "prod-*"])),
    ...maybe(0.2, "source", () => one(["All", "Original"])),
  });
  const schema = () => ({
    type: "object",
    properties: {
      labels: {
        type: "array",
        items: {
          type: "object",
          properties: { key: { type: "string" }, pattern: { type: "string", ...maybe(0.5, "default", () => ".*") } },
        },
        ...maybe(0.5, "default", () => [{ key: "team" }]),
      },
      max: { type: "integer", ...maybe(0.6, "default", () => 2) },
      ratio: { type: "number", ...maybe(0.4, "default", () => 0.5) },
      strict: { type: "boolean", ...maybe(0.5, "default", () => true) },
      names: { type: "object", additionalProperties: { type: "string" } },
      any: { "x-kubernetes-preserve-unknown-fields": true },
    },
  });
  const parameters = () => ({
    ...maybe(0.6, "labels", () =>
      some(["team", "app", "env"]).map((key) => ({
        key,
        ...maybe(0.5, "pattern", () => one(["^a$", "^[ab]$", "prod"])),
      })),
    ),
    ...maybe(0.5, "max", () => one([0, 1, 3])),
    ...maybe(0.5, "ratio", () => one([0.25, 1, 1.5])),
    ...maybe(0.5, "strict", () => chance(0.5)),
    ...maybe(0.4, "names", () => ({ a: "x", 'quo"ted': "two\nlines", ünï: "\\" })),
    ...maybe(0.4, "any", () => one([1, "text", null, [1, "a", [true], {}], { a: 1, b: { c: [] } }])),
  });
  const VALIDATIONS = [
    {
      expression:
        "!has(variables.params.labels) || variables.params.labels.all(l, has(variables.anyObject.metadata.labels) && l.key in variables.anyObject.metadata.labels)",
      messageExpression: "'needs: ' + variables.params.labels.map(l, l.key).join(', ')",
    },
    {
      expression:
        "variables.params.labels.all(l, !has(l.pattern) || !(l.key in variables.labels) || string(variables.labels[l.key]).matches(l.pattern))",
      message: "a label does not fit",
    },
    {
      expression: "size(variables.labels) <= variables.params.max",
      message: "too many labels",
      messageExpression: "'more than ' + string(variables.params.max)",
    },
    {
      expression:
        "!has(variables.params.ratio) || variables.params.ratio < 1.0 || variables.anyObject.metadata.name != 'web'",
    },
    {
      expression:
        "!(has(variables.params.strict) && variables.params.strict) || has(variables.anyObject.metadata.labels)",
      message: "  strict: no labels  ",
    },
    {
      expression:
        "!has(variables.params.names) || variables.params.names.all(k, variables.params.names[k] != variables.anyObject.metadata.name && k != 'ünï')",
      message: "a name is taken",
    },
    {
      expression: "!has(variables.params.any) || type(variables.params.any) != list || size(variables.params.any) == 0",
      messageExpression: "'any: ' + string(size(variables.params.any))",
    },
    { expression: "object == null || oldObject == null || object.metadata.name == oldObject.metadata.name" },
    { expression: "has(request.operation) && request.operation != 'DELETE'", message: "not deleted" },
    { expression: "variables.missing.isEmpty()", message: "does not compile at run time" },
  ];
  const source = () => ({
    validations: [...some(VALIDATIONS.slice(0, -1), 0.3), one(VALIDATIONS.slice(0, -1))],
    variables: [
      {
        name: "labels",
        expression: "has(variables.anyObject.metadata.labels) ? variables.anyObject.metadata.labels : {}",
      },
    ],
    ...maybe(0.3, "failurePolicy", () => one(["Fail", "Ignore"])),
    ...maybe(0.3, "matchCondition", () => [
      one([
        { name: "not-web", expression: "request.name != 'web'" },
        { name: "kinds", expression: "object == null || object.kind != 'Service'" },
        { name: "name", expression: "object.metadata.name != 'db'" },
      ]),
    ]),
  });
  const metadata = (isNamespaced, namespace, isNamespace) => ({
    ...(chance(0.15) && !isNamespace
      ? { generateName: one(["web-", "we", "prod-"]), name: `${one(["web-", "prod-"])}x1` }
      : { name: isNamespace ? one(NAMESPACES) : one(["web", "db", "prod-api", "seb"]) }),
    ...(isNamespaced && { namespace }),
    ...maybe(0.7, "labels", labels),
  });

  for (let index = 0; index < count; index++) {
    const kind = `Fresh${index}`;
    const operations = one([
      undefined,
      undefined,
      ["CREATE"],
      ["CREATE", "UPDATE", "DELETE"],
      ["*"],
      ["UPDATE", "DELETE"],
    ]);
    const template = {
      apiVersion: `templates.gatekeeper.sh/${one(["v1", "v1", "v1beta1"])}`,
      kind: "ConstraintTemplate",
      metadata: { name: kind.toLowerCase() },
      spec: {
        crd: {
          spec: {
            names: { kind },
            validation: { openAPIV3Schema: { ...schema(), ...maybe(0.2, "default", () => ({})) }, legacySchema: false },
          },
        },
        targets: [
          {
            target: "admission.k8s.gatekeeper.sh",
            code: [{ engine: "K8sNativeValidation", source: source() }],
            ...(operations && { operations }),
          },
        ],
      },
    };
    const action = one(["deny", "deny", "deny", "warn", "dryrun", "scoped", undefined]);
    const constraint = {
      apiVersion: "constraints.gatekeeper.sh/v1beta1",
      kind,
      metadata: { name: `fresh-${index}` },
      spec: {
        ...maybe(0.95, "match", match),
        ...maybe(0.85, "parameters", parameters),
        ...(action && { enforcementAction: action }),
        ...(action === "scoped" && {
          scopedEnforcementActions: [
            { action: one(["deny", "warn"]), enforcementPoints: [{ name: one(["*", "validation.gatekeeper.sh"]) }] },
            { action: "dryrun", enforcementPoints: [{ name: "audit.gatekeeper.sh" }] },
          ],
        }),
      },
    };
    // What Gatekeeper refuses.
    const { spec } = constraint;
    const source0 = template.spec.targets[0].code[0].source;
    if (chance(0.15))
      one([
        () => Object.assign(spec, { parameters: { ...spec.parameters, max: "two" } }),
        () => Object.assign(spec, { parameters: { ...spec.parameters, lables: [] } }),
        () => Object.assign(spec, { parameters: { ...spec.parameters, labels: [{ key: 1 }] } }),
        () => Object.assign(spec, { match: { ...spec.match, excludedNamespace: ["a"] } }),
        () => Object.assign(spec, { match: { ...spec.match, namespaces: ["A_b"] } }),
        () => Object.assign(spec, { match: { ...spec.match, source: "Any" } }),
        () => Object.assign(spec, { match: { ...spec.match, kinds: "Pod" } }),
        () => Object.assign(spec, { match: { ...spec.match, kinds: [{ kind: ["Pod"] }] } }),
        () =>
          Object.assign(spec, {
            match: { ...spec.match, labelSelector: { matchExpressions: [{ key: "a", operator: "Is" }] } },
          }),
        () => Object.assign(spec, { match: { ...spec.match, namespaceSelector: { matchLabels: { a: 1 } } } }),
        () => Object.assign(spec, { enforcmentAction: "dryrun" }),
        () => Object.assign(source0, { failurePolicy: "Maybe" }),
        () => source0.variables.push({ name: "params", expression: "1" }),
        () => template.spec.targets.push(template.spec.targets[0]),
        () => Object.assign(template.spec.targets[0], { target: "other" }),
        () => Object.assign(template.metadata, { name: "other" }),
        () => Object.assign(template.spec.targets[0].code[0], { engine: "Other" }),
        () => Object.assign(constraint.metadata, { name: "Upper" }),
        () => Object.assign(constraint, { apiVersion: "constraints.gatekeeper.sh/v2" }),
      ])();
    const requests = Array.from({ length: 12 }, () => {
      const [apiVersion, each, resource, isNamespaced] = one(KINDS);
      const [group, version] = apiVersion.includes("/") ? apiVersion.split("/") : ["", apiVersion];
      const namespace = one(NAMESPACES);
      const object = { apiVersion, kind: each, metadata: metadata(isNamespaced, namespace, each === "Namespace") };
      const allowed = operations === undefined ? ["CREATE", "UPDATE"] : ["CREATE", "UPDATE", "DELETE"];
      const operation = one(allowed);
      const oldObject = { ...object, metadata: { ...object.metadata, labels: labels() } };
      const inNamespace = isNamespaced ? namespace : each === "Namespace" ? object.metadata.name : undefined;
      const gvk = { group, version, kind: each };
      const request = {
        uid: "u",
        kind: gvk,
        resource: { group, version, resource },
        requestKind: gvk,
        requestResource: { group, version, resource },
        name: object.metadata.name,
        ...(inNamespace && { namespace: inNamespace }),
        operation,
        userInfo: { username: "u" },
        ...(operation === "DELETE" ? { oldObject } : { object }),
        ...(operation === "UPDATE" && { oldObject }),
        dryRun: false,
      };
      return { request, ...(inNamespace && { namespace: namespaceOf.get(inNamespace) }) };
    });
    console.log(JSON.stringify({ id: kind, template, constraints: [constraint], requests }));
  }
}

async function compare(casesFile, answersFile) {
  const lines = (file) =>
    readFileSync(file, "utf8")
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
  const answers = new Map(lines(answersFile).map((each) => [each.id, each]));
  const counts = {};
  const count = (what) => {
    counts[what] = (counts[what] ?? 0) + 1;
  };
  for (const { id, template, constraints, requests } of lines(casesFile)) {
    const theirs = answers.get(id);
    const work = mkdtempSync(join(tmpdir(), "gatekeeper-fresh-"));
    const namespaces = new Map(
      requests.flatMap(({ namespace }) => (namespace ? [[namespace.metadata.name, namespace]] : [])),
    );
    const write = (name, value) => writeFileSync(join(work, name), JSON.stringify(value));
    write("in.json", { apiVersion: "v1", kind: "List", items: [template, ...constraints] });
    write("namespaces.json", { apiVersion: "v1", kind: "List", items: [...namespaces.values()] });
    let [out, said] = ["", ""];
    const into = (add) => new Writable({ write: (chunk, _encoding, done) => done(add(String(chunk))) });
    const code = await runCommandLine(["convert", join(work, "in.json")], {
      stdin: new PassThrough(),
      stdout: into((text) => {
        out += text;
      }),
      stderr: into((text) => {
        said += text;
      }),
      env: {},
    });
    if (theirs.error !== undefined || code !== 0) {
      const alike = theirs.error !== undefined && code !== 0;
      count(alike ? "refused by both" : "refused by one");
      if (!alike) console.log(`${id}: ${code} ${said}\n  Gatekeeper: ${theirs.error}`);
      rmSync(work, { recursive: true });
      continue;
    }
    writeFileSync(join(work, "vap.yaml"), out);
    writeFileSync(join(work, "policies.yaml"), `p: { resource: [vap.yaml, namespaces.json] }\n`);
    const loaded = await loadPolicies({ file: join(work, "policies.yaml") });
    if (loaded.errors > 0) console.log(id, loaded.problems);
    const evaluator = createEvaluator(loaded);
    count("constraints");
    for (const [index, { request }] of requests.entries()) {
      const { response } = await evaluator.evaluate("p", createReview({ request }));
      const prefix =
        /^(?:ValidatingAdmissionPolicy '[^']*' with binding '[^']*' denied request: |Validation failed for ValidatingAdmissionPolicy '[^']*' with binding '[^']*': )/;
      const bare = (texts) =>
        texts.map((text) => text.replace(prefix, "").replace(/^failed expression: .*/s, "failed expression")).sort();
      const denied = response.allowed
        ? []
        : (response.status.details?.causes ?? [response.status]).map(({ message }) => message);
      const audited = Object.entries(response.auditAnnotations ?? {}).flatMap(([key, value]) =>
        key.endsWith("validation_failure") ? JSON.parse(value).map(({ message }) => message) : [],
      );
      const ours = { denied: bare(denied), warned: bare(response.warnings ?? []), audited: bare(audited) };
      const results = theirs.answers[index].results;
      const of = (action) =>
        bare(
          results
            .filter((each) => (each.action === "scoped" ? each.scoped.includes(action) : each.action === action))
            .map(({ message }) => message),
        );
      const wanted = { denied: of("deny"), warned: of("warn"), audited: of("dryrun") };
      // A warning is cut to the length that Kubernetes allows.
      const same = (left, right) =>
        left.length === right.length &&
        left.every((text, at) => (text.endsWith("…") ? right[at].startsWith(text.slice(0, -1)) : text === right[at]));
      const alike =
        ["denied", "warned", "audited"].every((key) => same(ours[key], wanted[key])) &&
        theirs.answers[index].error === undefined;
      count(
        alike
          ? `requests alike: ${wanted.denied.length > 0 ? "denied" : wanted.warned.length + wanted.audited.length > 0 ? "found" : "nothing found"}`
          : "requests otherwise",
      );
      if (!alike)
        console.log(
          id,
          index,
          JSON.stringify(request),
          "\n  here",
          JSON.stringify(ours),
          "\n  Gatekeeper",
          JSON.stringify(theirs.answers[index]),
          "\n ",
          JSON.stringify(constraints[0].spec),
        );
    }
    evaluator.close();
    await loaded.close();
    rmSync(work, { recursive: true });
  }
  console.log(counts);
  if (counts["requests otherwise"] !== undefined || counts["refused by one"] !== undefined) process.exitCode = 1;
}
