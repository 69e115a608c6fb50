import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { formatProblem } from "../../../../src/config/documents/problem.js";
import { parseResources } from "../../../../src/config/documents/source-document.js";
import { convert, printed } from "../../../../src/offline/convert/index.js";
import { constraint, converted, errorsOf, type Json, SOURCE, template } from "./converted.js";

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
  const config = (spec: Json): Json => ({
    apiVersion: "config.gatekeeper.sh/v1alpha1",
    kind: "Config",
    metadata: { name: "config" },
    spec,
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
    [
      "a version that is none",
      [{ ...template(SOURCE), apiVersion: "templates.gatekeeper.sh/v2" }, constraint({})],
      /apiVersion: expected templates\.gatekeeper\.sh\/v1/,
    ],
    [
      "a kind that is nearly ConstraintTemplate",
      [{ ...template(SOURCE), kind: "ConstraintTemplates" }, constraint({})],
      /kind: expected ConstraintTemplate/,
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
    [
      "a source that is a list",
      [template([]), constraint({})],
      /^[^\n]*source: expected a map\n[^\n]*is not converted$/,
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
      "a Config's namespaces with a star within",
      [template(SOURCE), config({ match: [{ processes: ["*"], excludedNamespaces: ["Bad*x"] }] })],
      /match\[0\]\.excludedNamespaces\[0\]: expected a name/,
    ],
    ["a Config's match that is a text", [template(SOURCE), config({ match: "all" })], /spec\.match: expected a list/],
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
    const made = convert(parseResources(lines, "t.yaml").documents, false);
    const places = made.problems.map(({ line, column }) => `${line}:${column}`);
    assert.deepEqual(places, ["14:28", "17:7", "21:7"]);
  });
});

test("of broken documents no Constraint disappears without a reason", () => {
  const base = [
    template(SOURCE, { schema: { type: "object", properties: { a: { type: "array", items: { type: "string" } } } } }),
    constraint({
      match: { kinds: [{ apiGroups: [""], kinds: ["Pod"] }], namespaces: ["a*"] },
      parameters: { a: ["b"] },
    }),
  ];
  const VALUES = [null, true, 0, "", "x", [], {}, [null], { a: 1 }, "constructor", "__proto__", "deny\n", -1.5];
  const places = (value: unknown): readonly (readonly [object, string])[] =>
    typeof value !== "object" || value === null
      ? []
      : Object.entries(value).flatMap(([key, inner]) => [[value, key] as const, ...places(inner)]);
  for (let at = 0; at < places(base).length; at++)
    for (const value of VALUES) {
      const documents = structuredClone(base);
      const [holder, key] = places(documents)[at] ?? [documents, ""];
      Object.assign(holder, { [key]: value });
      const made = converted(...documents);
      const isOther = (documents[1] as Json | null)?.apiVersion !== base[1]?.apiVersion;
      assert.ok(isOther || made.policies.length === 1 || errorsOf(made).length > 0, JSON.stringify(documents));
      printed(made.policies, "vap");
    }
});

describe("what is converted is said where it is not as it seems", () => {
  const kinds = (apiGroups: readonly string[], ...names: readonly string[]): Json =>
    constraint({ match: { kinds: [{ apiGroups, kinds: names }] } });
  for (const [match, expected] of [
    [
      kinds(["apps"], "deployment"),
      /kinds\[0\]\.kinds\[0\]: nothing is judged by it: apps\/v1 has .*did you mean "Deployment"/,
    ],
    [kinds(["", "apps"], "Pod", "Deploymnet"), /kinds\[0\]\.kinds\[1\]: nothing .*did you mean "Deployment"/],
    [kinds(["app"], "Deployment"), /no Deployment in app\/v1 \(did you mean "apps\/v1"/],
    [kinds(["", "apps", "example.com"], "Pod", "Deployment", "Widget"), undefined],
    [kinds(["policy", "autoscaling"], "Eviction", "Scale"), undefined],
    [kinds(["*"], "Widget"), undefined],
  ] as const)
    test(`kinds ${JSON.stringify((match.spec as Json).match)}`, () => {
      const made = converted(template(SOURCE), match);
      assert.deepEqual(errorsOf(made), []);
      assert.equal(made.policies.length, 1);
      const notes = made.problems.map(formatProblem);
      if (expected === undefined) assert.deepEqual(notes, []);
      else assert.match(notes.join("\n"), expected);
    });

  test("kinds of several groups become rules without those that no cluster has", () => {
    const made = converted(template(SOURCE), kinds(["", "apps"], "Service", "Deployment"));
    const [entry] = Object.values(made.policies[0]?.entries ?? {}) as { cel: { matchConstraints: Json } }[];
    const rules = entry?.cel.matchConstraints.resourceRules as readonly Json[];
    assert.deepEqual(
      rules.map(({ apiGroups, resources }) => [apiGroups, resources]),
      [
        [[""], ["services", "services/status"]],
        [["apps"], ["deployments"]],
      ],
    );
    assert.ok(!printed(made.policies, "cel").includes("matchConditions"));
  });

  test("a hint for Gatekeeper's names stands at each of several mistakes", () => {
    const source = { validations: [{ expression: "params.a.exist(r, r > 1)" }] };
    const made = converted(template(source), constraint({}));
    const hints = made.problems.flatMap(({ mistakes = [] }) => mistakes.map(({ hint }) => hint));
    assert.match(String(hints[0]), /write variables\.params\.x/);
  });
});
