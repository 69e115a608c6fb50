/** MutatingPolicies as a server answers with them; the words are those of Kyverno 1.19.1. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Problem } from "../../../../src/config/documents/problem.js";
import { parseResources } from "../../../../src/config/documents/source-document.js";
import type { ResourceEntry } from "../../../../src/config/entry.js";
import { formatProblem, parseConfig } from "../../../../src/config/index.js";
import { kyvernoKind } from "../../../../src/kinds/kyverno/kind.js";
import { LoadError } from "../../../../src/kinds/load-error.js";
import { prepareDocuments } from "../../../../src/kinds/resource-entry.js";
import type { JsonObject } from "../../../../src/kubernetes/object.js";
import type { AdmissionQuestion, EvaluationContext, Outcome } from "../../../../src/policy/index.js";
import { NO_OPINION } from "../../../../src/world/authorizer/authorizer.js";
import { CountedTurns } from "../../../support/counted-turns.js";
import { costly } from "../../validating-admission-policy/tricky.js";
import { context, review } from "../asked.js";

const MAPS = {
  resourceRules: [
    { apiGroups: [""], apiVersions: ["v1"], operations: ["CREATE", "UPDATE", "DELETE"], resources: ["configmaps"] },
  ],
};
const patch = (expression: string) => ({ patchType: "JSONPatch", jsonPatch: { expression } });
const apply = (expression: string) => ({ patchType: "ApplyConfiguration", applyConfiguration: { expression } });
const label = (name: string, value: string) =>
  apply(`Object{metadata: Object.metadata{labels: {"${name}": ${value}}}}`);

const document = (kind: string, spec: JsonObject, name = "p", metadata: JsonObject = {}): JsonObject => ({
  apiVersion: "policies.kyverno.io/v1",
  kind,
  metadata: { name, ...metadata },
  spec,
});
const policy = (spec: JsonObject, name = "p"): JsonObject =>
  document("MutatingPolicy", { matchConstraints: MAPS, ...spec }, name);

const map = (more: JsonObject = {}): JsonObject => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name: "m", namespace: "ns" },
  ...more,
});
const about = (object: unknown = map(), more: JsonObject = {}): AdmissionQuestion =>
  review({
    kind: { group: "", version: "v1", kind: "ConfigMap" },
    resource: { group: "", version: "v1", resource: "configmaps" },
    name: "m",
    object,
    ...more,
  });

/** What an entry of documents answers, and what is said of it. */
async function asked(
  documents: readonly JsonObject[],
  question = about(),
  allowedToMutate = true,
  { now = () => 0, ...more }: Partial<EvaluationContext> & { readonly now?: () => number } = {},
) {
  const written = documents.map((each) => JSON.stringify(each)).join("\n---\n");
  const holder = parseConfig("p: { cel: { validations: [ { expression: 'true' } ] } }", "p.yaml");
  const [first] = holder.ok ? holder.config.entries : [];
  assert.ok(first?.kind === "cel");
  const entry: ResourceEntry = {
    kind: "resource",
    id: "p",
    origin: first.origin,
    documents: parseResources(written, "f.yaml").documents,
    policyMode: "protect",
    allowedToMutate,
  };
  const problems: Problem[] = [];
  const prepared = prepareDocuments(entry, [kyvernoKind()], (problem) => problems.push(problem));
  const made = await prepared.policy({ authorizer: NO_OPINION, now });
  return { outcome: await made.evaluate(question, context(more)), said: problems.map(formatProblem) };
}

const answer = async (...given: Parameters<typeof asked>): Promise<Outcome> => (await asked(...given)).outcome;

/** The object that policies leave; their answer is a yes. */
async function left(documents: readonly JsonObject[], question = about()): Promise<unknown> {
  const outcome = await answer(documents, question);
  assert.ok(outcome.verdict === "allow", JSON.stringify(outcome));
  const { mutation } = outcome;
  return mutation?.kind === "patch" ? mutation.changed?.object : undefined;
}

async function refused(documents: readonly JsonObject[]): Promise<readonly string[]> {
  const error = await asked(documents).then(
    () => assert.fail("they are loaded"),
    (thrown: unknown) => thrown,
  );
  assert.ok(error instanceof LoadError);
  return error.problems.map(formatProblem);
}

describe("MutatingPolicies", () => {
  test("change the object by both notations, each mutation about what the one before left", async () => {
    const mutations = [
      label("a", '"1"'),
      patch('[JSONPatch{op: "add", path: "/data", value: {"seen": object.metadata.labels.a}}]'),
    ];
    assert.deepEqual(await left([policy({ mutations })]), {
      ...map({ data: { seen: "1" } }),
      metadata: { name: "m", namespace: "ns", labels: { a: "1" } },
    });
  });

  test("answer with the steps to the changed object, and with none where nothing changes", async () => {
    const outcome = await answer([
      policy({ mutations: [patch('[JSONPatch{op: "add", path: "/data", value: {"a": "1"}}]')] }),
    ]);
    assert.ok(outcome.verdict === "allow" && outcome.mutation?.kind === "patch");
    assert.deepEqual(JSON.parse(Buffer.from(outcome.mutation.patch, "base64").toString()), [
      { op: "add", path: "/data", value: { a: "1" } },
    ]);
    const same = policy({ mutations: [patch('true ? [] : [JSONPatch{op: "remove", path: "/x"}]')] });
    assert.deepEqual(await answer([same]), { verdict: "allow" });
  });

  test("come one after the other by name, and match what those before have left", async () => {
    const first = policy({ mutations: [label("a", '"1"')] }, "a");
    const labelled = { ...MAPS, objectSelector: { matchLabels: { a: "1" } } };
    const second = policy({ matchConstraints: labelled, mutations: [label("b", "object.metadata.labels.a")] }, "b");
    const object = (await left([second, first])) as { metadata: JsonObject };
    assert.deepEqual(object.metadata.labels, { a: "1", b: "1" });
    assert.equal(await left([second]).catch(() => "skipped"), "skipped");
  });

  test("are judged by the others of the entry after they have changed the object", async () => {
    const judge = document(
      "ValidatingPolicy",
      {
        matchConstraints: MAPS,
        validations: [{ expression: "object.?metadata.labels.a.orValue('') == '1'", message: "no a" }],
      },
      "j",
    );
    assert.equal((await answer([judge])).verdict, "deny");
    assert.equal((await answer([judge, policy({ mutations: [label("a", '"1"')] })])).verdict, "allow");
  });

  test("see variables in conditions; one keeps the value that it had when it was first read", async () => {
    const spec = {
      variables: [
        { name: "size", expression: "object.?data.orValue({}).size()" },
        { name: "late", expression: "object.?data.orValue({}).size()" },
      ],
      matchConditions: [{ name: "small", expression: "variables.size == 0" }],
      mutations: [
        patch('[JSONPatch{op: "add", path: "/data", value: {"a": "1"}}]'),
        label("sizes", "string(variables.size) + string(variables.late)"),
      ],
    };
    const object = (await left([policy(spec)])) as { metadata: JsonObject };
    assert.deepEqual(object.metadata.labels, { sizes: "01" });
    assert.equal((await answer([policy(spec)], about(map({ data: { x: "y" } })))).verdict, "skip");
  });

  for (const [what, spec, message] of [
    [
      "a mutation",
      { mutations: [patch('[JSONPatch{op: "remove", path: "/data/x"}]')] },
      /JSON Patch: remove operation does not apply/,
    ],
    ["a value that is not there", { mutations: [label("a", "object.data.x")] }, /: no such key: data$/],
    [
      "a condition",
      { matchConditions: [{ name: "c", expression: "object.data.x == ''" }], mutations: [label("a", '"1"')] },
      /no such key: data$/,
    ],
    [
      "the name of a type",
      { mutations: [apply("Object{data: Object.spec{a: '1'}}")] },
      /type mismatch: unexpected type name "Object.spec"/,
    ],
    [
      "an annotation",
      { auditAnnotations: [{ key: "k", valueExpression: "string(object.data.x)" }], mutations: [label("a", '"1"')] },
      /failed to evaluate auditAnnotation/,
    ],
  ] as const) {
    test(`are an error where ${what} fails, which failurePolicy alone can ignore`, async () => {
      const outcome = await answer([policy(spec)]);
      assert.ok(outcome.verdict === "error", JSON.stringify(outcome));
      assert.match(outcome.message, /^Policy p error: failed to evaluate policy: /);
      assert.match(outcome.message, message);
      // What the others have changed stays.
      const other = policy({ mutations: [label("other", '"1"')] }, "o");
      const object = (await left([policy({ ...spec, failurePolicy: "Ignore" }), other])) as { metadata: JsonObject };
      assert.deepEqual(object.metadata.labels, { other: "1" });
    });
  }

  test("answer the same where others have their turn after every step", async () => {
    // So dear that the clock is read after it, on which every look takes longer than all before.
    const long = costly(10_000);
    const documents = ["a", "b"].map((name) =>
      policy(
        {
          matchConditions: [{ name: "long", expression: long }],
          variables: [{ name: "v", expression: `${long} ? string(object.?metadata.labels.orValue({}).size()) : ''` }],
          mutations: [
            apply(`${long} ? Object{metadata: Object.metadata{labels: {"${name}": variables.v}}} : Object{}`),
            patch(
              `[JSONPatch{op: "add", path: "/metadata/labels/${name}2", value: object.metadata.labels.${name} + variables.v}]`,
            ),
          ],
        },
        name,
      ),
    );
    let time = 10;
    const now = (): number => {
      time *= 3;
      return time;
    };
    const turns = new CountedTurns();
    const { outcome } = await asked(documents, about(), true, { now, turns });
    assert.ok(turns.count > 6, String(turns.count));
    assert.deepEqual(outcome, await answer(documents));
    const object = (await left(documents)) as { metadata: JsonObject };
    assert.deepEqual(object.metadata.labels, { a: "0", a2: "00", b: "2", b2: "22" });
    // Time that is up is never a yes.
    time = 10;
    const late = await asked(documents, about(), true, { now, turns, deadline: 50 });
    assert.equal(late.outcome.verdict, "error");
  });

  test("write what is replaced as a whole with server-side apply only", async () => {
    const spec = {
      mutations: [apply('Object{metadata: Object.metadata{finalizers: ["a.b/c"]}}'), apply("Object{immutable: true}")],
    };
    const selector = { matchConstraints: { resourceRules: [{ ...MAPS.resourceRules[0], resources: ["services"] }] } };
    const service = {
      apiVersion: "v1",
      kind: "Service",
      metadata: { name: "m", namespace: "ns" },
      spec: { selector: { a: "b" } },
    };
    const question = about(service, {
      kind: { group: "", version: "v1", kind: "Service" },
      resource: { group: "", version: "v1", resource: "services" },
    });
    const replacing = { ...selector, mutations: [apply('Object{spec: Object.spec{selector: {"c": "d"}}}')] };
    const outcome = await answer([policy(replacing)], question);
    assert.ok(outcome.verdict === "error");
    assert.match(outcome.message, /may not mutate atomic arrays, maps or structs: \.spec\.selector/);
    const object = await left([policy({ ...replacing, evaluation: { useServerSideApply: true } })], question);
    assert.deepEqual((object as { spec: JsonObject }).spec.selector, { c: "d" });
    assert.equal((await answer([policy(spec)])).verdict, "allow");
  });

  test("of a namespace are for its objects only, and pass over what is deleted", async () => {
    const own = (namespace: string) =>
      document("NamespacedMutatingPolicy", { matchConstraints: MAPS, mutations: [label("a", '"1"')] }, "p", {
        namespace,
      });
    assert.equal((await answer([own("ns")])).verdict, "allow");
    assert.equal((await answer([own("other")])).verdict, "skip");
    const deleted = about(null, { operation: "DELETE", oldObject: map() });
    assert.equal((await answer([policy({ mutations: [label("a", '"1"')] })], deleted)).verdict, "skip");
  });

  test("are exempted by exceptions that name them by their kind, and see what these allow", async () => {
    const exception = (spec: JsonObject) =>
      document("PolicyException", { policyRefs: [{ name: "p", kind: "MutatingPolicy" }], ...spec }, "e", {
        namespace: "ns",
      });
    const labels = policy({ mutations: [label("a", "exceptions.allowedValues.join('')")] });
    assert.equal((await answer([labels, exception({})])).verdict, "skip");
    const other = exception({ policyRefs: [{ name: "p", kind: "ValidatingPolicy" }] });
    const { outcome, said } = await asked([labels, other]);
    assert.ok(outcome.verdict === "allow" && outcome.mutation !== undefined);
    assert.match(said.join("\n"), /the exception has no effect: there is no ValidatingPolicy "p"/);
    const object = (await left([labels, exception({ allowedValues: ["x", "y"] })])) as { metadata: JsonObject };
    assert.deepEqual(object.metadata.labels, { a: "xy" });
  });

  test("patch custom resources, and merge into those whose definition stands beside them", async () => {
    const widgets = {
      resourceRules: [
        { apiGroups: ["acme.example"], apiVersions: ["v1"], operations: ["CREATE"], resources: ["widgets"] },
      ],
    };
    const widget = {
      apiVersion: "acme.example/v1",
      kind: "Widget",
      metadata: { name: "m", namespace: "ns" },
      spec: { a: 1 },
    };
    const question = about(widget, {
      kind: { group: "acme.example", version: "v1", kind: "Widget" },
      resource: { group: "acme.example", version: "v1", resource: "widgets" },
    });
    const patched = policy({
      matchConstraints: widgets,
      mutations: [patch('[JSONPatch{op: "add", path: "/spec/b", value: 2}]')],
    });
    assert.deepEqual(((await left([patched], question)) as { spec: JsonObject }).spec, { a: 1, b: 2 });
    const merged = policy({ matchConstraints: widgets, mutations: [apply("Object{spec: Object.spec{b: 2}}")] });
    const { outcome, said } = await asked([merged], question);
    assert.ok(outcome.verdict === "error");
    assert.match(outcome.message, /type converter must not be nil/);
    assert.match(said.join("\n"), /nothing here says what objects of "acme.example" look like/);
    const definition = {
      apiVersion: "apiextensions.k8s.io/v1",
      kind: "CustomResourceDefinition",
      metadata: { name: "widgets.acme.example" },
      spec: {
        group: "acme.example",
        names: { plural: "widgets", kind: "Widget" },
        scope: "Namespaced",
        versions: [
          {
            name: "v1",
            served: true,
            storage: true,
            schema: {
              openAPIV3Schema: {
                type: "object",
                properties: { spec: { type: "object", "x-kubernetes-preserve-unknown-fields": true } },
              },
            },
          },
        ],
      },
    };
    assert.deepEqual(((await left([merged, definition], question)) as { spec: JsonObject }).spec, { a: 1, b: 2 });
  });

  test("are refused where Kyverno refuses them, and where they are about more than the request", async () => {
    const [target] = await refused([policy({ mutations: [label("a", '"1"')], targetMatchConstraints: MAPS })]);
    assert.match(target ?? "", /spec\.targetMatchConstraints: policies that change existing objects are not served/);
    const [existing] = await refused([
      policy({ mutations: [label("a", '"1"')], evaluation: { mutateExisting: { enabled: true } } }),
    ]);
    assert.match(
      existing ?? "",
      /spec\.evaluation\.mutateExisting: policies that change existing objects are not served/,
    );
    const list = await refused([policy({ mutations: [patch("[]")] })]);
    assert.match(
      list.join("\n"),
      /spec\.mutations\[0\]\.jsonPatch\.expression: .*output is expected to be of type list/,
    );
    const disabled = await refused([
      policy({ mutations: [label("a", '"1"')], evaluation: { admission: { enabled: false } } }),
    ]);
    assert.match(disabled.join("\n"), /disabling both admission and mutateExisting evaluation modes is not allowed/);
    const native = { autogen: { mutatingAdmissionPolicy: { enabled: true } } };
    const spec = {
      variables: [{ name: "v", expression: "true" }],
      matchConditions: [{ name: "c", expression: "variables.v" }],
    };
    assert.match(
      (await refused([policy({ ...native, ...spec, mutations: [label("a", '"1"')] })])).join("\n"),
      /variables cannot be referenced in matchConditions/,
    );
    assert.match((await refused([policy({ validations: [] })])).join("\n"), /only a ValidatingPolicy has validations/);
    const fromOutside = document("NamespacedMutatingPolicy", {
      matchConstraints: MAPS,
      mutations: [label("a", 'string(http.Get("http://x").a)')],
    });
    assert.match((await refused([fromOutside])).join("\n"), /http\.\* is not allowed in namespaced policies/);
  });

  test("are warned of where they change nothing, or are not allowed to", async () => {
    const odd = {
      mutations: [{ patchType: "Merge" }, { patchType: "JSONPatch" }, label("a", '"1"')],
      evaluation: { mode: "JSON" },
    };
    const { said } = await asked([policy(odd)], about(), false);
    for (const what of [
      /no patchType "Merge"/,
      /no jsonPatch, so/,
      /have no modes/,
      /every request that a MutatingPolicy would change is refused/,
    ])
      assert.match(said.join("\n"), what);
    const { outcome, said: nothing } = await asked([policy({})]);
    assert.match(nothing.join("\n"), /the policy changes nothing/);
    assert.deepEqual(outcome, { verdict: "skip", reason: "the policy has no mutations" });
  });
});
