import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { formatProblem } from "../../../src/config/documents/problem.js";
import { parseResources } from "../../../src/config/documents/source-document.js";
import { createEvaluator, createReview, loadPolicies } from "../../../src/index.js";
import { convert, printed, type WholeConversion } from "../../../src/offline/convert/index.js";

type Json = Readonly<Record<string, unknown>>;

const SOURCE = { validations: [{ expression: "false", message: "matched" }] };
const template = (source: unknown, more: Json = {}, kind = "Rule"): Json => ({
  apiVersion: "templates.gatekeeper.sh/v1",
  kind: "ConstraintTemplate",
  metadata: { name: kind.toLowerCase() },
  spec: {
    crd: {
      spec: { names: { kind }, ...(more.schema !== undefined && { validation: { openAPIV3Schema: more.schema } }) },
    },
    targets: [
      {
        target: "admission.k8s.gatekeeper.sh",
        code: [{ engine: "K8sNativeValidation", source }],
        ...(more.operations !== undefined && { operations: more.operations }),
      },
    ],
  },
});
const constraint = (spec: Json, name = "rule", kind = "Rule"): Json => ({
  apiVersion: "constraints.gatekeeper.sh/v1beta1",
  kind,
  metadata: { name },
  spec,
});

function converted(...documents: readonly Json[]): WholeConversion {
  const read = parseResources(JSON.stringify({ apiVersion: "v1", kind: "List", items: documents }), "in.json");
  return convert(read.documents, { commentsOf: () => [], hasFolder: true });
}

const errorsOf = ({ problems }: WholeConversion): readonly string[] =>
  problems.filter(({ severity }) => severity === "error").map(formatProblem);

/** The one policy's entry, judging. */
async function judge(made: WholeConversion, questions: readonly Parameters<typeof createReview>[0][]) {
  assert.deepEqual(errorsOf(made), []);
  const loaded = await loadPolicies({ text: printed(made.policies, "cel") });
  assert.equal(loaded.errors, 0, JSON.stringify(loaded.problems));
  const evaluator = createEvaluator(loaded);
  const ids = loaded.ids;
  const answers = [];
  for (const question of questions) {
    const review = createReview(question);
    const given = await Promise.all(ids.map((id) => evaluator.evaluate(id, review)));
    answers.push({
      allowed: given.every(({ allowed }) => allowed),
      message: given.map(({ response }) => response.status?.message ?? "").join(""),
      warnings: given.flatMap(({ response }) => response.warnings ?? []),
    });
  }
  evaluator.close();
  await loaded.close();
  return answers;
}

/** Gatekeeper's wildcards. */
function fits(pattern: string, text: string): boolean {
  const bare = pattern.replace(/^\*/, "").replace(/\*$/, "");
  if (pattern.startsWith("*") && pattern.endsWith("*")) return text.includes(bare);
  if (pattern.startsWith("*")) return text.endsWith(bare);
  return pattern.endsWith("*") ? text.startsWith(bare) : text === pattern;
}

describe("the match of a Constraint", () => {
  const objects = [
    { apiVersion: "v1", kind: "Pod", metadata: { name: "web", namespace: "prod-eu", labels: { app: "a" } } },
    { apiVersion: "v1", kind: "Pod", metadata: { name: "db", namespace: "kube-system" } },
    { apiVersion: "v1", kind: "Namespace", metadata: { name: "prod-eu", labels: { app: "a" } } },
    { apiVersion: "v1", kind: "Namespace", metadata: { name: "kube-system", labels: { app: "b" } } },
    { apiVersion: "apps/v1", kind: "Deployment", metadata: { name: "web", namespace: "team-a", labels: { app: "b" } } },
    { apiVersion: "rbac.authorization.k8s.io/v1", kind: "ClusterRole", metadata: { name: "web" } },
    { apiVersion: "example.com/v1", kind: "Widget", metadata: { name: "web-1", namespace: "team-a" } },
  ];
  const KINDS = [
    undefined,
    [{ apiGroups: [""], kinds: ["Pod"] }],
    [{ apiGroups: ["*"], kinds: ["Pod", "Widget"] }],
    [{ apiGroups: ["apps", "example.com"], kinds: ["*"] }, { kinds: ["Namespace"] }],
    [{ apiGroups: ["", "apps"], kinds: ["Deployment", "Namespace"] }],
    [
      { apiGroups: ["*"], kinds: ["*"] },
      { apiGroups: [""], kinds: ["Pod"] },
    ],
  ];
  const MATCHES = KINDS.flatMap((kinds) =>
    [
      {},
      { namespaces: ["prod-*", "team-a"] },
      { excludedNamespaces: ["kube-*"] },
      { namespaces: ["*"], excludedNamespaces: ["*eu*", "team-a"] },
      { scope: "Cluster" },
      { scope: "Namespaced", name: "we*" },
      { name: "*b" },
      { labelSelector: { matchLabels: { app: "a" } } },
      { labelSelector: { matchExpressions: [{ key: "app", operator: "DoesNotExist" }] }, namespaces: ["prod-eu"] },
    ].map((match) => ({ ...match, ...(kinds && { kinds }) })),
  );

  /** What Gatekeeper's matcher says (pkg/mutation/match/match.go), of an object without a former state. */
  function matches(match: Record<string, unknown>, { apiVersion, kind, metadata }: (typeof objects)[number]): boolean {
    const group = apiVersion.includes("/") ? (apiVersion.split("/")[0] ?? "") : "";
    const listed = (key: string, from: object = match): readonly string[] =>
      (from as Record<string, string[]>)[key] ?? [];
    const has = (list: readonly string[], one: string): boolean =>
      list.length === 0 || list.includes("*") || list.includes(one);
    const kinds = (match.kinds ?? []) as readonly object[];
    const isNamespace = kind === "Namespace" && group === "";
    const namespace = isNamespace ? metadata.name : metadata.namespace;
    const labels: Record<string, string> = metadata.labels ?? {};
    const selector = match.labelSelector as { matchLabels?: { app: string } } | undefined;
    return [
      kinds.length === 0 ||
        kinds.some((each) => has(listed("kinds", each), kind) && has(listed("apiGroups", each), group)),
      match.scope !== "Cluster" || isNamespace || namespace === undefined,
      match.scope !== "Namespaced" || (!isNamespace && namespace !== undefined),
      listed("namespaces").length === 0 ||
        namespace === undefined ||
        listed("namespaces").some((each) => fits(each, namespace)),
      namespace === undefined || !listed("excludedNamespaces").some((each) => fits(each, namespace)),
      match.name === undefined || fits(String(match.name), metadata.name),
      selector === undefined ||
        (selector.matchLabels === undefined ? !("app" in labels) : labels.app === selector.matchLabels.app),
    ].every(Boolean);
  }

  for (const match of MATCHES)
    test(JSON.stringify(match), async () => {
      const made = converted(template(SOURCE), constraint({ match }));
      const answers = await judge(
        made,
        objects.map((object) => ({ object })),
      );
      assert.deepEqual(
        answers.map(({ allowed }) => !allowed),
        objects.map((object) => matches(match, object)),
      );
    });

  test("subresources that change a Pod belong to Pods", async () => {
    const object = objects[0];
    const made = converted(template(SOURCE), constraint({ match: { kinds: [{ apiGroups: [""], kinds: ["Pod"] }] } }));
    const gvk = { group: "", version: "v1", kind: "Pod" };
    const request = (subResource: string): Json => ({
      request: {
        uid: "u",
        kind: gvk,
        resource: { group: "", version: "v1", resource: "pods" },
        subResource,
        operation: "UPDATE",
        name: "web",
        namespace: "prod-eu",
        userInfo: {},
        object,
        oldObject: object,
      },
    });
    const answers = await judge(
      made,
      ["ephemeralcontainers", "resize", "status"].map((each) => request(each) as { request: Json }),
    );
    assert.deepEqual(
      answers.map(({ allowed }) => allowed),
      [false, false, true],
    );
  });

  test("a selector of namespaces is about a Namespace's own labels, before and after", async () => {
    const made = converted(
      template(SOURCE),
      constraint({
        match: { namespaceSelector: { matchLabels: { app: "a" } }, labelSelector: { matchLabels: { x: "y" } } },
      }),
    );
    const namespace = (labels: Json): Json => ({
      apiVersion: "v1",
      kind: "Namespace",
      metadata: { name: "n", labels },
    });
    const [both, one] = [namespace({ app: "a", x: "y" }), namespace({ app: "a" })];
    const answers = await judge(made, [{ object: both }, { object: one }, { object: one, oldObject: both }]);
    assert.deepEqual(
      answers.map(({ allowed }) => allowed),
      [false, true, false],
    );
    assert.equal(printed(made.policies, "vap").match(/^kind: ValidatingAdmissionPolicyBinding$/gm)?.length, 2);
  });

  test("only an operation of the template is judged; without any, those that Gatekeeper's webhook is sent", async () => {
    const object = objects[0];
    const questions = (["CREATE", "UPDATE", "DELETE"] as const).map((operation) => ({ object, operation }));
    for (const [operations, denied] of [
      [undefined, [true, true, false]],
      [["DELETE"], [false, false, true]],
      [["*"], [true, true, true]],
    ] as const) {
      const answers = await judge(converted(template(SOURCE, { operations }), constraint({})), questions);
      assert.deepEqual(
        answers.map(({ allowed }) => !allowed),
        denied,
        String(operations),
      );
    }
  });
});

describe("parameters", () => {
  const pod = { object: { apiVersion: "v1", kind: "Pod", metadata: { name: "web", namespace: "a" } } };
  /** What an expression comes to, by a message. */
  async function value(expression: string, schema: Json | undefined, parameters?: unknown): Promise<string> {
    const source = { validations: [{ expression: "false", messageExpression: expression }] };
    const made = converted(template(source, { schema }), constraint(parameters === undefined ? {} : { parameters }));
    return (await judge(made, [pod]))[0]?.message ?? "";
  }
  const of = (properties: Json): Json => ({ type: "object", properties });

  test("have the defaults of their schema, at every depth", async () => {
    const inner = of({ b: { type: "integer", default: 2 }, c: { type: "string" } });
    const schema = of({
      a: { ...inner, default: {} },
      l: { type: "array", items: inner },
      m: { type: "object", additionalProperties: inner },
    });
    const all = "string(variables.params.a.b) + string(variables.params.l[0].b) + string(variables.params.m.x.b)";
    assert.equal(await value(all, schema, { l: [{}], m: { x: { b: 3 } } }), "223");
    assert.equal(await value("string(has(variables.params.l))", schema, {}), "false");
    assert.equal(await value("string(variables.params == null)", schema), "true");
    assert.equal(await value("string(variables.params.a.b)", { ...schema, default: {} }), "2");
  });

  test("of every form are the same values", async () => {
    const any = of({ v: { "x-kubernetes-preserve-unknown-fields": true } });
    const write = "variables.params.v == dyn(EXPECTED) ? 'same' : 'other'";
    for (const [given, expected] of [
      [[1, "a", null, [true], { a: 1.5 }], `[dyn(1), dyn("a"), dyn(null), dyn([true]), dyn({"a": 1.5})]`],
      ['quo"te\\ \n ü 💥 $x', `"quo\\"te\\\\ \\n ü 💥 $x"`],
      [{ "a.b/c-d": { "": -7 } }, `{"a.b/c-d": {"": -7}}`],
      [[], "[]"],
      [9007199254740991, "9007199254740991"],
      [-0.25, "-0.25"],
      [1e21, "1e21"],
    ] as const) {
      assert.equal(
        await value(
          write.replace("EXPECTED", () => expected),
          any,
          { v: given },
        ),
        "same",
        expected,
      );
    }
  });

  test("that a cluster would refuse are named at their place", () => {
    const schema = {
      ...of({ labels: { type: "array", items: { type: "string" } }, mode: { type: "string", enum: ["a", "b"] } }),
      required: ["mode"],
    };
    for (const [parameters, expected] of [
      [{ labels: "team", mode: "a" }, /parameters\.labels: expected an array/],
      [{ labels: [1], mode: "a" }, /parameters\.labels\[0\]: expected a string/],
      [{ labels: null, mode: "a" }, /parameters\.labels: expected an array/],
      [{ label: [], mode: "a" }, /parameters\.label: unknown parameter.*did you mean "labels"/],
      [{ mode: "c" }, /parameters\.mode: expected one of "a", "b"/],
      [{}, /parameters: the required parameter mode is missing/],
      [[], /parameters: expected an object/],
    ] as const) {
      const made = converted(template(SOURCE, { schema }), constraint({ parameters }));
      assert.equal(made.policies.length, 0);
      assert.match(errorsOf(made).join("\n"), expected);
    }
    assert.match(
      errorsOf(converted(template(SOURCE), constraint({ parameters: { a: 1 } }))).join(),
      /no schema of parameters/,
    );
    assert.match(
      errorsOf(
        converted(template(SOURCE, { schema: { type: "object" } }), constraint({ parameters: { a: 1 } })),
      ).join(),
      /unknown parameter/,
    );
  });
});

describe("enforcement actions", () => {
  const scoped = (...points: readonly (readonly [string, ...string[]])[]): Json => ({
    enforcementAction: "scoped",
    scopedEnforcementActions: points.map(([action, ...names]) => ({
      action,
      enforcementPoints: names.map((name) => ({ name })),
    })),
  });
  for (const [spec, actions] of [
    [{}, ["Deny"]],
    [{ enforcementAction: "deny" }, ["Deny"]],
    [{ enforcementAction: "warn" }, ["Warn"]],
    [{ enforcementAction: "dryrun" }, ["Audit"]],
    [scoped(["deny", "*"]), ["Deny"]],
    [scoped(["warn", "validation.gatekeeper.sh"], ["deny", "audit.gatekeeper.sh"]), ["Warn"]],
    [scoped(["warn", "vap.k8s.io"], ["dryrun", "validation.gatekeeper.sh"]), ["Audit", "Warn"]],
    [scoped(["warn", "*"], ["deny", "validation.gatekeeper.sh"]), ["Deny"]],
    [scoped(["deny", "audit.gatekeeper.sh"]), ["Audit"]],
  ] as const)
    test(`${JSON.stringify(spec)}: ${actions.join(", ")}`, () => {
      const made = converted(template(SOURCE), constraint(spec));
      assert.deepEqual(errorsOf(made), []);
      assert.deepEqual(
        made.policies.map((policy) => "actions" in policy && policy.actions),
        [actions],
      );
    });

  for (const [spec, expected] of [
    [{ enforcementAction: "Deny" }, /enforcementAction: expected one of .*did you mean "deny"/],
    [{ enforcementAction: "constructor" }, /expected one of/],
    [{ enforcementAction: "drynun" }, /did you mean "dryrun"/],
    [{ enforcementAction: true }, /enforcementAction: expected a text/],
    [{ enforcmentAction: "dryrun" }, /enforcmentAction: unknown field.*did you mean "enforcementAction"/],
    [{ enforcementAction: "scoped" }, /scopedEnforcementActions: the actions .* are missing/],
    [scoped(["block", "*"]), /action: expected one of deny/],
    [scoped(["deny", "validation.gatekeeper.io"]), /name: expected one of .*did you mean "validation.gatekeeper.sh"/],
    [scoped(["deny"]), /an action and a point are needed/],
    [scoped(["deny", "gator.gatekeeper.sh"]), /not about admission/],
  ] as const)
    test(`${JSON.stringify(spec)} is named`, () => {
      const made = converted(template(SOURCE), constraint(spec));
      assert.equal(made.policies.length, 0);
      assert.match(errorsOf(made).join("\n"), expected);
    });
});

describe("what can't be converted is named, and nothing is made of it", () => {
  const rego = (text: string, more: Json = {}): Json => {
    const made = structuredClone(template(SOURCE)) as { spec: { targets: object[] } };
    made.spec.targets = [
      { target: "admission.k8s.gatekeeper.sh", ...more, code: [{ engine: "Rego", source: { rego: text } }] },
    ];
    return made as unknown as Json;
  };
  const targets = (list: unknown): Json => ({
    ...template(SOURCE),
    spec: { ...(template(SOURCE).spec as Json), targets: list },
  });
  const [target] = (template(SOURCE).spec as { targets: Json[] }).targets;
  for (const [what, documents, expected] of [
    ["a Constraint without a template", [constraint({})], /no ConstraintTemplate of kind Rule/],
    ["a template without a Constraint", [template(SOURCE)], /no Constraint of kind Rule/],
    [
      "two templates of one kind",
      [template(SOURCE), template({ validations: [{ expression: "true" }] }), constraint({})],
      /another ConstraintTemplate has this name/,
    ],
    [
      "two Constraints of one name",
      [template(SOURCE), constraint({}), constraint({ match: {} })],
      /another Rule has this name/,
    ],
    ["no targets", [targets([]), constraint({})], /the target is missing/],
    ["two targets", [targets([target, target]), constraint({})], /one target/],
    [
      "another target",
      [targets([{ ...target, target: "x" }]), constraint({})],
      /expected admission\.k8s\.gatekeeper\.sh/,
    ],
    ["no code", [targets([{ target: "admission.k8s.gatekeeper.sh" }]), constraint({})], /it has no code/],
    [
      "another engine",
      [targets([{ ...target, code: [{ engine: "Wasm", source: {} }] }]), constraint({})],
      /Gatekeeper knows no such engine/,
    ],
    [
      "a name that is not its kind's",
      [{ ...template(SOURCE), metadata: { name: "other" } }, constraint({})],
      /must be rule/,
    ],
    ["no validations", [template({ variables: [] }), constraint({})], /validations: there is none/],
    [
      "a validation that is a text",
      [template({ validations: ["true"] }), constraint({})],
      /validations\[0\]: expected a map/,
    ],
    [
      "a variable of Gatekeeper's name",
      [template({ ...SOURCE, variables: [{ name: "params", expression: "1" }] }), constraint({})],
      /Gatekeeper refuses the name params/,
    ],
    [
      "another failure policy",
      [template({ ...SOURCE, failurePolicy: "Maybe" }), constraint({})],
      /failurePolicy: Unsupported value/,
    ],
    [
      "CEL that does not compile",
      [template({ validations: [{ expression: "object.metadata.nme.startWith('a')" }] }), constraint({})],
      /targets\[0\]\.code\[0\]\.source\.validations\[0\]\.expression: .*startWith/,
    ],
    [
      "a broken message",
      [template({ validations: [{ expression: "true", messageExpression: "1 +" }] }), constraint({})],
      /messageExpression: /,
    ],
    [
      "a broken variable behind ours",
      [
        template({
          variables: [
            { name: "a", expression: "variables.params" },
            { name: "b", expression: "nope" },
          ],
          ...SOURCE,
        }),
        constraint({}),
      ],
      /source\.variables\[1\]\.expression: .*nope/,
    ],
    [
      "params in a variable",
      [template({ variables: [{ name: "a", expression: "params.spec" }], ...SOURCE }), constraint({})],
      /undeclared reference to 'params'/,
    ],
    [
      "variables in a match condition",
      [
        template({ ...SOURCE, matchCondition: [{ name: "a", expression: "variables.anyObject != null" }] }),
        constraint({ match: { name: "x" } }),
      ],
      /matchCondition\[0\]\.expression: .*'variables'/,
    ],
    [
      "labels that are no texts",
      [template(SOURCE), constraint({ match: { labelSelector: { matchLabels: { a: 1 } } } })],
      /spec\.match\.labelSelector\.matchLabels/,
    ],
    [
      "labels of the Constraint that are no texts",
      [template(SOURCE), { ...constraint({}), metadata: { name: "rule", labels: { a: 1 } } }],
      /metadata\.labels\.a: expected a text/,
    ],
    [
      "a label that a cluster refuses",
      [template(SOURCE), { ...constraint({}), metadata: { name: "rule", labels: { a: "not this!" } } }],
      /metadata\.labels.*a valid label must be/,
    ],
    [
      "a selector's operator",
      [
        template(SOURCE),
        constraint({ match: { namespaceSelector: { matchExpressions: [{ key: "a", operator: "Is" }] } } }),
      ],
      /spec\.match/,
    ],
    [
      "generated objects",
      [template(SOURCE), constraint({ match: { source: "Generated" } })],
      /match\.source: objects that Gatekeeper generates/,
    ],
    [
      "a misspelt member of match",
      [template(SOURCE), constraint({ match: { excludedNamespace: ["a"] } })],
      /match\.excludedNamespace: unknown field.*did you mean/,
    ],
    [
      "a name with a star within",
      [template(SOURCE), constraint({ match: { namespaces: ["a*b"] } })],
      /match\.namespaces\[0\]: expected a name/,
    ],
    ["a scope that is none", [template(SOURCE), constraint({ match: { scope: "cluster" } })], /match\.scope: expected/],
    [
      "kinds that are a text",
      [template(SOURCE), constraint({ match: { kinds: "Pod" } })],
      /match\.kinds: expected a list/,
    ],
    ["a match that is a list", [template(SOURCE), constraint({ match: [] })], /spec\.match: expected a map/],
    [
      "mutation",
      [{ apiVersion: "mutations.gatekeeper.sh/v1", kind: "Assign", metadata: { name: "a" } }],
      /Assign: mutation/,
    ],
    ["Rego without a package", [rego("violation[x] { x := 1 }"), constraint({})], /no package/],
    [
      "external data",
      [rego('package a\nviolation[x] { x := external_data({"provider": "p"}) }'), constraint({})],
      /external_data/,
    ],
    [
      "an inventory that is not known",
      [rego("package a\nviolation[x] { x := data.inventory.cluster }"), constraint({})],
      /data\.inventory/,
    ],
    [
      "Rego about the Namespace",
      [rego('package a\nviolation[x] { x := input.review.namespaceObject.metadata.labels["team"] }'), constraint({})],
      /namespaceObject/,
    ],
    [
      "Rego about deletions",
      [rego("package a\nviolation[x] { x := 1 }", { operations: ["DELETE"] }), constraint({})],
      /input\.review\.object/,
    ],
  ] as const)
    test(what, () => {
      const made = converted(...documents);
      assert.equal(made.policies.length, 0);
      assert.match(errorsOf(made).join("\n"), expected);
    });

  test("a mistake stands where it is in the template", () => {
    const lines = `apiVersion: templates.gatekeeper.sh/v1
kind: ConstraintTemplate
metadata: { name: rule }
spec:
  crd: { spec: { names: { kind: Rule } } }
  targets:
    - target: admission.k8s.gatekeeper.sh
      code:
        - engine: K8sNativeValidation
          source:
            validations:
              - expression: |
                  variables.anyObject.metadata.name != "" &&
                  variables.nope == 1
---
apiVersion: constraints.gatekeeper.sh/v1beta1
kind: Rule
metadata: { name: a }
---
apiVersion: constraints.gatekeeper.sh/v1beta1
kind: Rule
metadata: { name: b }
`;
    const made = convert(parseResources(lines, "t.yaml").documents, { commentsOf: () => [], hasFolder: false });
    const places = made.problems.map(({ line, column }) => `${line}:${column}`);
    assert.deepEqual(places, ["14:28", "17:7", "21:7"]);
  });
});

describe("what several documents say together", () => {
  test("CEL goes before Rego, whatever their order", () => {
    const both = structuredClone(template(SOURCE)) as { spec: { targets: { code: object[] }[] } };
    both.spec.targets[0]?.code.unshift({ engine: "Rego", source: { rego: "package a" } });
    const made = converted(both as unknown as Json, constraint({}));
    assert.ok(made.policies.every((policy) => "spec" in policy));
    assert.match(made.problems.map(({ message }) => message).join(), /has Rego, too/);
  });

  test("the same document twice is one, and Constraints of one name in two kinds get two names", () => {
    const made = converted(
      template(SOURCE),
      template(SOURCE),
      constraint({}),
      constraint({}),
      template(SOURCE, {}, "Other"),
      constraint({}, "rule", "Other"),
    );
    assert.deepEqual(errorsOf(made), []);
    assert.deepEqual(
      made.policies.map(({ name }) => name),
      ["rule-rule", "other-rule"],
    );
  });

  test("a Config's excluded namespaces count, those of other processes do not", async () => {
    const config = {
      apiVersion: "config.gatekeeper.sh/v1alpha1",
      kind: "Config",
      metadata: { name: "config", namespace: "gatekeeper-system" },
      spec: {
        match: [
          { processes: ["*"], excludedNamespaces: ["kube-*"] },
          { processes: ["audit"], excludedNamespaces: ["a"] },
        ],
      },
    };
    const pod = (namespace: string): { object: Json } => ({
      object: { apiVersion: "v1", kind: "Pod", metadata: { name: "p", namespace } },
    });
    const answers = await judge(converted(config, template(SOURCE), constraint({})), [pod("kube-system"), pod("a")]);
    assert.deepEqual(
      answers.map(({ allowed }) => allowed),
      [true, false],
    );
  });

  test("of several Configs none exempts, and what each keeps counts", () => {
    const config = (namespace: string, kind: string): Json => ({
      apiVersion: "config.gatekeeper.sh/v1alpha1",
      kind: "Config",
      metadata: { name: "config" },
      spec: {
        match: [{ processes: ["*"], excludedNamespaces: [namespace] }],
        sync: { syncOnly: [{ group: "", version: "v1", kind }] },
      },
    });
    const made = converted(config("a", "Pod"), config("b", "Service"), template(SOURCE), constraint({}));
    assert.deepEqual(errorsOf(made), []);
    assert.ok(!printed(made.policies, "vap").includes("excluded-namespaces"));
  });

  test("what Gatekeeper keeps for Rego is what a module may read", () => {
    const made = structuredClone(template(SOURCE)) as { spec: { targets: object[] } };
    made.spec.targets = [
      { target: "admission.k8s.gatekeeper.sh", rego: "package a.b\nviolation[x] { x := data.inventory }" },
    ];
    const set = {
      apiVersion: "syncset.gatekeeper.sh/v1alpha1",
      kind: "SyncSet",
      metadata: { name: "s" },
      spec: { gvks: [{ group: "apps", version: "v1", kind: "Deployment" }] },
    };
    const [policy] = converted(set, made as unknown as Json, constraint({ enforcementAction: "dryrun" })).policies;
    assert.ok(policy !== undefined && "entry" in policy);
    assert.deepEqual(policy.entry, {
      module: "./rule/policy.wasm",
      executionMode: "gatekeeper",
      contextAwareResources: [{ apiVersion: "apps/v1", kind: "Deployment" }],
      policyMode: "monitor",
    });
    assert.match(policy.build, /^opa build --v0-compatible -t wasm -e a\/b\/violation /);
  });

  test("messages are kept: one of several lines becomes one line", async () => {
    const source = { validations: [{ expression: "false", message: "first\n  second\n" }] };
    const pod = { object: { apiVersion: "v1", kind: "Pod", metadata: { name: "p" } } };
    assert.equal((await judge(converted(template(source), constraint({})), [pod]))[0]?.message, "first second");
  });

  test("what Gatekeeper does not read is left out, and said", () => {
    const made = converted(
      template({ ...SOURCE, matchConditions: [{ name: "a", expression: "false" }] }),
      constraint({}),
    );
    assert.deepEqual(errorsOf(made), []);
    assert.match(made.problems.map(({ message }) => message).join(), /it reads matchCondition/);
    assert.ok(!printed(made.policies, "vap").includes("matchConditions"));
  });
});
