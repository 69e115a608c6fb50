import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { JsonObject } from "../../../src/kubernetes/object.js";
import type { EvaluationContext, Outcome, Policy, Review } from "../../../src/policy/index.js";
import { applies, asked, binding, map, patches, policy, prepare, review, stepsOf } from "./support/documents.js";

const context: EvaluationContext = {
  deadline: Number.POSITIVE_INFINITY,
  signal: new AbortController().signal,
};

/** The outcome of a policy that has all that it needs. */
function outcomeOf(of: Policy, question: Review = review()): Outcome {
  const outcome = of.evaluate(question, context);
  assert.ok(!(outcome instanceof Promise));
  return outcome;
}

const LABEL = applies("Object{metadata: Object.metadata{labels: {'x': '1'}}}");
const WIDGET = { apiVersion: "acme.example/v1", kind: "Widget", metadata: { name: "w", namespace: "ns" }, spec: {} };
const WIDGETS = {
  kind: { group: "acme.example", version: "v1", kind: "Widget" },
  resource: { group: "acme.example", version: "v1", resource: "widgets" },
  name: "w",
};
const DEFINITION: JsonObject = {
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "CustomResourceDefinition",
  metadata: { name: "widgets.acme.example" },
  spec: {
    group: "acme.example",
    scope: "Namespaced",
    names: { kind: "Widget", plural: "widgets" },
    versions: [
      {
        name: "v1",
        served: true,
        storage: true,
        schema: {
          openAPIV3Schema: {
            type: "object",
            properties: { spec: { type: "object", properties: { size: { type: "integer" } } } },
          },
        },
      },
    ],
  },
};

describe("MutatingAdmissionPolicies as a policy", () => {
  test("are evaluated in one pass with others of a cluster: by name, reinvoked when another has changed the object", () => {
    const counted = (spec: JsonObject, name: string) =>
      asked([
        policy(
          {
            ...patches("[JSONPatch{op: 'add', path: '/data/a', value: object.data.a + 'NAME'}]".replace("NAME", name)),
            ...spec,
          },
          name,
        ),
      ]);
    const first = counted({ reinvocationPolicy: "IfNeeded" }, "p");
    const second = counted({}, "q");
    const together = second.inOnePass?.("all", [first]);
    assert.equal(together?.id, "all");
    assert.deepEqual(stepsOf(outcomeOf(together as Policy)), [{ op: "replace", path: "/data/a", value: "1pqp" }]);
  });

  test("answer the patch from the object that came to the one that all of them made", () => {
    const first = policy(patches("[JSONPatch{op: 'add', path: '/data/b', value: object.data.a + '2'}]"));
    const second = policy(patches("[JSONPatch{op: 'add', path: '/data/c', value: object.data.b}]"), "q");
    const outcome = outcomeOf(asked([second, first]));
    assert.equal(outcome.verdict, "allow");
    assert.deepEqual(stepsOf(outcome), [
      { op: "add", path: "/data/b", value: "12" },
      { op: "add", path: "/data/c", value: "12" },
    ]);
  });

  test("allow without a patch when nothing differs in the end", () => {
    const there = patches("[JSONPatch{op: 'add', path: '/data/a', value: '1'}]");
    assert.deepEqual(outcomeOf(asked([policy(there)])), { verdict: "allow" });
    // Not even the form that a struct gives an object is a change.
    const loose = { ...map({ a: "1" }), immutable: null };
    assert.deepEqual(outcomeOf(asked([policy(there)]), review(loose)), { verdict: "allow" });
  });

  test("see parameters of built-in kinds without apiVersion and kind, and custom resources with both, as the API server holds them", () => {
    const told = "(has(params.kind) ? params.kind : '-') + (has(params.apiVersion) ? params.apiVersion : '-')";
    const quota = { apiVersion: "v1", kind: "ResourceQuota", metadata: { name: "one", namespace: "ns" } };
    const tier = { apiVersion: "scheduling.k8s.io/v1", kind: "PriorityClass", metadata: { name: "one" }, value: 1 };
    const custom = { ...WIDGET, metadata: { name: "one", namespace: "ns" } };
    const definition = { ...DEFINITION, metadata: { name: "one" } };
    for (const [param, expected] of [
      [map({}, "one"), "--"],
      [quota, "--"],
      [tier, "--"],
      [custom, "Widgetacme.example/v1"],
      [definition, "CustomResourceDefinitionapiextensions.k8s.io/v1"],
    ] as const) {
      for (const ref of [{ name: "one" }, { selector: {} }]) {
        const { apiVersion = "", kind = "" } = param as JsonObject;
        // Matched by its kind, as in the API server; conditions see the parameter as mutations do.
        const of = policy({
          ...patches(`[JSONPatch{op: 'add', path: '/data/b', value: ${told}}]`),
          paramKind: { apiVersion, kind },
          matchConditions: [{ name: "c", expression: `${told} == '${expected}'` }],
        });
        const bound = binding({ paramRef: { ...ref, parameterNotFoundAction: "Deny" } });
        const documents = param === definition ? [definition] : [param, DEFINITION];
        const outcome = outcomeOf(asked([of, bound, ...documents]));
        assert.deepEqual(
          stepsOf(outcome),
          [{ op: "add", path: "/data/b", value: expected }],
          `${kind}: ${JSON.stringify(outcome)}`,
        );
      }
    }
    // The types of its members are still those of its kind.
    const whole = policy({
      ...patches("[JSONPatch{op: 'add', path: '/data', value: params.data}]"),
      paramKind: { apiVersion: "v1", kind: "ConfigMap" },
    });
    const bound = binding({ paramRef: { name: "one", parameterNotFoundAction: "Deny" } });
    const outcome = outcomeOf(asked([whole, bound, map({ x: "1" }, "one")]));
    assert.match(JSON.stringify(outcome), /type conversion error from 'map\(dyn, dyn\)' to '\*structpb.Value'/);
  });

  test("see nothing that is deleted, nor what they are exempt from, nor what no rule names", () => {
    const deleted = outcomeOf(asked([policy(LABEL)]), review(map({}), { operation: "DELETE" }));
    assert.deepEqual(deleted, { verdict: "skip", reason: "nothing is mutated that is deleted" });
    const resource = { group: "admissionregistration.k8s.io", version: "v1", resource: "mutatingadmissionpolicies" };
    assert.equal(outcomeOf(asked([policy(LABEL)]), review(map({}), { resource })).verdict, "skip");
    const bound = binding({ matchResources: { objectSelector: { matchLabels: { no: "such" } } } });
    assert.equal(outcomeOf(asked([policy(LABEL), bound])).verdict, "skip");
    assert.equal(outcomeOf(asked([policy(LABEL)]), review(map({}), { operation: "PATCH" })).verdict, "error");
  });

  test("refuse with a failure, never with a no, and say all of them", () => {
    const mutations = [...(patches("[JSONPatch{op: 'remove', path: object.nope}]").mutations as JsonObject[])];
    const outcome = outcomeOf(asked([policy({ mutations: [...mutations, ...mutations] }), binding()]));
    assert.ok(outcome.verdict === "error");
    const { code, reason, cause, message, causes } = outcome;
    assert.deepEqual([code, reason, cause, causes?.length], [403, "Invalid", "expression", 2]);
    assert.match(
      message,
      /^policy 'p' with binding 'b' denied request: expression '.*' resulted in error: no such key: nope$/,
    );
    const ignoring = outcomeOf(asked([policy({ mutations, failurePolicy: "Ignore" })]));
    assert.deepEqual(ignoring, { verdict: "allow" });
  });

  test("end with a status of its own what leaves no object of its kind", () => {
    const gone = policy({
      ...patches("[JSONPatch{op: 'add', path: '/colour', value: 'red'}]"),
      failurePolicy: "Ignore",
    });
    const outcome = outcomeOf(asked([gone]));
    assert.ok(outcome.verdict === "error");
    assert.deepEqual(
      [outcome.code, outcome.reason, outcome.message],
      [500, "InternalError", 'Internal error occurred: strict decoding error: unknown field "colour"'],
    );
  });

  test("leave members alone that are newer than this package, and do not merge what they do not know", () => {
    const newer = { ...map({ a: "1" }), since1: "1.50" };
    assert.equal(outcomeOf(asked([policy(LABEL)]), review(newer)).verdict, "error");
    const patch = policy(patches("[JSONPatch{op: 'add', path: '/data/b', value: '2'}]"));
    assert.deepEqual(stepsOf(outcomeOf(asked([patch]), review(newer))), [{ op: "add", path: "/data/b", value: "2" }]);
  });

  test("need to know what custom resources look like", () => {
    const about = policy({
      ...applies("Object{spec: Object.spec{size: 2}}"),
      matchConstraints: {
        resourceRules: [
          { apiGroups: ["acme.example"], apiVersions: ["*"], operations: ["CREATE"], resources: ["widgets"] },
        ],
      },
    });
    const unknown = outcomeOf(asked([about]), review(WIDGET, WIDGETS));
    assert.ok(unknown.verdict === "error");
    assert.deepEqual([unknown.code, unknown.reason], [503, "ServiceUnavailable"]);
    assert.match(prepare([about]).problems[0]?.message ?? "", /give their CustomResourceDefinition beside the policy/);
    assert.deepEqual(prepare([about, DEFINITION]).problems, []);
    const known = outcomeOf(asked([about, DEFINITION]), review(WIDGET, WIDGETS));
    assert.deepEqual(stepsOf(known), [{ op: "add", path: "/spec/size", value: 2 }]);
  });

  test("mutate raw payloads that are of some kind", () => {
    const raw = (payload: unknown): Review => ({ kind: "raw", payload, requestBytes: () => new Uint8Array() });
    const of = asked([policy(patches("[JSONPatch{op: 'add', path: '/data/b', value: '2'}]"))]);
    assert.deepEqual(stepsOf(outcomeOf(of, raw(map({ a: "1" })))), [{ op: "add", path: "/data/b", value: "2" }]);
    for (const payload of [{ data: {} }, 5, null, []]) assert.equal(outcomeOf(of, raw(payload)).verdict, "error");
  });

  test("are asked again when the object has changed, once", () => {
    const again = { ...patches("[JSONPatch{op: 'add', path: '/data/a', value: object.data.a + 'x'}]") };
    const steps = (reinvocationPolicy: string): unknown =>
      stepsOf(outcomeOf(asked([policy({ ...again, reinvocationPolicy })])));
    assert.deepEqual(steps("Never"), [{ op: "replace", path: "/data/a", value: "1x" }]);
    assert.deepEqual(steps("IfNeeded"), [{ op: "replace", path: "/data/a", value: "1xx" }]);
  });
});
