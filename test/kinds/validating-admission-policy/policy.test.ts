import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { paramValue } from "../../../src/kinds/admission-policy/params.js";
import { createExpressionCompiler, prepareInline } from "../../../src/kinds/validating-admission-policy/index.js";
import type { JsonObject } from "../../../src/kubernetes/object.js";
import type { EvaluationContext } from "../../../src/policy/policy.js";
import type { AdmissionQuestion, RawQuestion } from "../../../src/policy/review.js";
import { FileResources } from "../../../src/world/resources/file-resources.js";
import { answerOf } from "../../support/asking.js";
import { asked as ask, inline, prepare } from "./prepared.js";
import { binding, CONFIG, DEPLOYMENT, deployment, map, namespaceObject, policy, ref, validations } from "./tricky.js";

const context = (more: Partial<EvaluationContext> = {}): EvaluationContext => ({
  deadline: Number.POSITIVE_INFINITY,
  signal: new AbortController().signal,
  ...more,
});
const review = (request: JsonObject, more: Partial<AdmissionQuestion> = {}): AdmissionQuestion => ({
  kind: "admission",
  request: request as unknown as AdmissionQuestion["request"],
  requestBytes: () => new Uint8Array(),
  ...more,
});
const raw = (payload: unknown): RawQuestion => ({ kind: "raw", payload, requestBytes: () => new Uint8Array() });

/** All policies of documents together. */
const load = (...documents: readonly JsonObject[]) => ask(prepare(documents));

describe("outcomes", () => {
  test("no policy at all applies to nothing", () => {
    const skip = { verdict: "skip", reason: "there is no policy" };
    assert.deepEqual(answerOf(load(), raw({}), context()), skip);
  });

  test("what failures are ignored for says so, and an annotation that fails or is empty is none", () => {
    const ignored = (spec: JsonObject) =>
      answerOf(load(policy({ failurePolicy: "Ignore", ...spec }), binding()), review(deployment()), context());
    assert.deepEqual(ignored({ matchConditions: [{ name: "c", expression: "object.nope == 1" }] }), {
      verdict: "skip",
      reason: "a match condition failed and failures are ignored",
      report: { passedOver: "condition" },
    });
    const auditAnnotations = ["string(object.nope)", "'  '", "'v'"].map((valueExpression, i) => ({
      key: `k${i}`,
      valueExpression,
    }));
    assert.deepEqual(ignored({ validations: [{ expression: "true" }], auditAnnotations }), {
      verdict: "allow",
      auditAnnotations: { k2: "v" },
    });
  });

  test("parameters are those that the selector takes, with apiVersion and kind whether they were left out or not", () => {
    const labelled = (name: string, labels: JsonObject) => ({
      ...map(name),
      metadata: { name, namespace: "ns", labels },
    });
    const maps = [labelled("one", { a: "b" }), labelled("two", { a: "c" }), map("three")];
    const spec = {
      paramKind: CONFIG,
      validations: [
        {
          expression: "false",
          messageExpression: "params.metadata.name + ' ' + params.apiVersion + ' ' + params.kind",
        },
      ],
    };
    const bound = binding(ref({ selector: { matchLabels: { a: "b" } } }));
    const outcome = answerOf(
      load(policy(spec), bound, namespaceObject("ns"), ...maps),
      review(deployment()),
      context(),
    );
    const messages = outcome.verdict === "deny" ? outcome.causes?.map(({ message }) => message) : undefined;
    assert.deepEqual(messages, [
      "ValidatingAdmissionPolicy 'p.acme.example' with binding 'b' denied request: one v1 ConfigMap",
    ]);
    const kind = { kind: { group: "", version: "v1", kind: "ConfigMap" }, apiVersion: "v1" };
    for (const given of [{ apiVersion: "v2" }, { kind: "Other" }])
      assert.deepEqual(paramValue(given as never, kind as never), given);
    assert.deepEqual(paramValue({ data: {} } as never, kind as never), {
      apiVersion: "v1",
      kind: "ConfigMap",
      data: {},
    });
  });

  test("a key that two policies use is cut to what the API server takes, and begins with a letter or digit", () => {
    const key = `k${"e".repeat(60)}y`;
    const spec = { validations: [{ expression: "true" }], auditAnnotations: [{ key, valueExpression: "'v'" }] };
    const both = load(policy(spec), binding(), policy(spec, "q"), binding({ policyName: "q" }, "c"));
    assert.deepEqual(answerOf(both, review(deployment()), context()), {
      verdict: "allow",
      auditAnnotations: { [key]: "v" },
    });
  });

  test("an error keeps the warnings and annotations beside it", () => {
    const warned = binding({ validationActions: ["Warn"] }, "w");
    const spec = { ...validations("object.nope == 1"), auditAnnotations: [{ key: "k", valueExpression: "'v'" }] };
    const outcome = answerOf(load(policy(spec), warned, binding()), review(deployment()), context());
    assert.equal(outcome.verdict, "error");
    assert.match(outcome.warnings?.join() ?? "", /no such key: nope$/);
    assert.deepEqual(outcome.auditAnnotations, { k: "v" });
  });

  test("a policy applies when it does with one of its parameters, whichever comes last", () => {
    const spec = {
      paramKind: CONFIG,
      matchConditions: [{ name: "asked", expression: "params.data.applies == 'yes'" }],
      validations: [{ expression: "true" }],
    };
    for (const [applies, verdict] of [
      [["yes", "no"], "allow"],
      [["no", "yes"], "allow"],
      [["no", "no"], "skip"],
    ] as const) {
      const maps = applies.map((value, i) => map(`m${i}`, { applies: value }));
      const asked = load(policy(spec), binding(ref({ selector: {} })), namespaceObject("ns"), ...maps);
      assert.equal(answerOf(asked, review(deployment()), context()).verdict, verdict, applies.join());
    }
  });

  test("a policy without a binding stands alone and denies", () => {
    const alone = load(policy({ validations: [{ expression: "false", message: "m", reason: "Forbidden" }] }));
    assert.deepEqual(answerOf(alone, review(deployment()), context()), {
      verdict: "deny",
      message: "ValidatingAdmissionPolicy 'p.acme.example' denied request: m",
      code: 403,
      reason: "Forbidden",
      causes: [
        {
          reason: "Forbidden",
          message: "ValidatingAdmissionPolicy 'p.acme.example' denied request: m",
          field: "spec.validations[0].expression",
        },
      ],
      report: { message: "m", actions: ["Deny"] },
    });
  });

  test("its actions may be given", () => {
    const warning = ask(prepare([policy()], { validationActions: ["Warn", "Audit"] }));
    assert.deepEqual(answerOf(warning, review(deployment()), context()), {
      verdict: "allow",
      warnings: ["Validation failed for ValidatingAdmissionPolicy 'p.acme.example': matched"],
      found: (["Warn", "Audit"] as const).map((action) => ({
        action,
        message: "matched",
        policy: "p.acme.example",
        binding: "",
        index: 0,
        actions: ["Warn", "Audit"],
      })),
    });
  });

  test("the message is the API server's, and every failure is a cause", () => {
    const bound = load(policy(validations("false", "1 == 2")), binding());
    const outcome = answerOf(bound, review(deployment()), context());
    assert.equal(outcome?.verdict, "deny");
    const prefix = "ValidatingAdmissionPolicy 'p.acme.example' with binding 'b' denied request: failed expression:";
    assert.equal(outcome.message, `${prefix} false`);
    assert.deepEqual(
      outcome.causes?.map(({ message, field }) => [message, field]),
      [
        [`${prefix} false`, "spec.validations[0].expression"],
        [`${prefix} 1 == 2`, "spec.validations[1].expression"],
      ],
    );
  });

  test("an inline policy speaks for itself", () => {
    const outcome = answerOf(
      inline(validations({ expression: "false", message: "no" })),
      review(deployment()),
      context(),
    );
    assert.deepEqual([outcome?.verdict, outcome?.verdict === "deny" && outcome.message], ["deny", "no"]);
  });

  test("an error is not a denial: not() of it must not allow", () => {
    const outcome = answerOf(inline(validations("object.nope == 1")), review(deployment()), context());
    assert.equal(outcome?.verdict, "error");
    assert.deepEqual([outcome.code, outcome.reason, outcome.cause], [422, "Invalid", "expression"]);
    assert.equal(outcome.message, "expression 'object.nope == 1' resulted in error: no such key: nope");
  });

  test("a Namespace that cannot be had is one", () => {
    const asked = inline(validations("true"), { resources: new FileResources([]) });
    assert.deepEqual(answerOf(asked, review(deployment()), context()), {
      verdict: "error",
      message: 'namespaces "ns" not found',
      code: 404,
      reason: "NotFound",
      cause: "unavailable",
    });
  });

  test("so is a policy that is not configured as it should be", () => {
    const spec = { paramKind: { apiVersion: "acme.example/v1", kind: "None" }, ...validations("true") };
    const outcome = answerOf(
      load(policy(spec), binding({ validationActions: ["Warn"] })),
      review(deployment()),
      context(),
    );
    assert.equal(outcome.verdict, "error");
    assert.equal(outcome.cause, "unavailable");
    assert.match(outcome.message, /failed to configure policy: failed to find resource referenced by paramKind/);
  });

  test("beside an error, a violation denies for certain", () => {
    const outcome = answerOf(inline(validations("object.nope == 1", "false")), review(deployment()), context());
    assert.equal(outcome?.verdict, "deny");
    assert.match(outcome.message ?? "", /no such key: nope$/);
  });

  test("errors that are ignored allow", () => {
    const spec = { failurePolicy: "Ignore", ...validations("object.nope == 1") };
    assert.deepEqual(answerOf(inline(spec), review(deployment()), context()), { verdict: "allow" });
  });

  test("what does not apply is a skip, and says why", () => {
    const skip = (spec: JsonObject, request = deployment()): unknown =>
      answerOf(inline(spec), review(request), context());
    const pods = { resourceRules: [{ apiGroups: [""], apiVersions: ["v1"], operations: ["*"], resources: ["pods"] }] };
    assert.deepEqual(skip({ ...validations("false"), matchConstraints: pods }), {
      verdict: "skip",
      reason: "no resource rule matches",
    });
    const conditions = { matchConditions: [{ name: "never", expression: "false" }] };
    assert.deepEqual(skip({ ...validations("false"), ...conditions }), {
      verdict: "skip",
      reason: "match condition 'never' is false",
      report: { passedOver: "condition" },
    });
    const tokens = deployment({
      resource: { group: "authentication.k8s.io", version: "v1", resource: "tokenreviews" },
    });
    assert.match(JSON.stringify(skip(validations("false"), tokens)), /never judged/);
    const unbound = load(policy(), binding({ matchResources: { namespaceSelector: { matchLabels: { a: "b" } } } }));
    assert.deepEqual(answerOf(unbound, review(deployment()), context()), {
      verdict: "skip",
      reason: "no binding matches: the namespace's labels do not match the namespace selector",
    });
  });

  test("an operation that no API server asks about is an error, whatever the rules and the failure policy, and no skip", () => {
    const spec = { failurePolicy: "Ignore", ...validations("true") };
    const pods = { resourceRules: [{ apiGroups: [""], apiVersions: ["v1"], operations: ["*"], resources: ["pods"] }] };
    for (const operation of ["create", "PATCH", ""]) {
      for (const each of [spec, { ...spec, matchConstraints: pods }]) {
        const outcome = answerOf(inline(each), review(deployment({ operation })), context());
        assert.equal(outcome.verdict, "error", operation);
      }
    }
  });

  test("annotations have keys that a webhook can return", () => {
    const spec = { ...validations("true"), auditAnnotations: [{ key: "k", valueExpression: "'v'" }] };
    assert.deepEqual(answerOf(load(policy(spec)), review(deployment()), context()), {
      verdict: "allow",
      auditAnnotations: { k: "v" },
    });
    const together = answerOf(load(policy(spec), policy(spec, "q.acme.example")), review(deployment()), context());
    assert.deepEqual(together?.auditAnnotations, { "p.acme.example.k": "v", "q.acme.example.k": "v" });
  });
});

describe("asked about another value", () => {
  const targeted = (value: unknown): AdmissionQuestion =>
    review({ ...deployment(), object: value, oldObject: undefined }, { targeted: true });
  const strict = {
    matchConstraints: {
      resourceRules: [{ apiGroups: [""], apiVersions: ["v1"], operations: ["*"], resources: ["pods"] }],
      objectSelector: { matchLabels: { a: "b" } },
    },
    matchConditions: [{ name: "text", expression: "type(object) == string" }],
    ...validations("object.startsWith('reg/')"),
  };
  test("rules and selectors are not consulted, match conditions are", () => {
    const asked = inline(strict);
    assert.equal(answerOf(asked, targeted("reg/app"), context())?.verdict, "allow");
    assert.equal(answerOf(asked, targeted("docker/app"), context())?.verdict, "deny");
    assert.equal(answerOf(asked, targeted({ image: "x" }), context())?.verdict, "skip");
    assert.equal(answerOf(asked, review(deployment()), context())?.verdict, "skip");
  });
  test("a raw payload is the object", () => {
    const asked = inline(strict);
    assert.equal(answerOf(asked, raw("reg/app"), context())?.verdict, "allow");
    assert.equal(answerOf(asked, raw(5), context())?.verdict, "skip");
    const numbers = inline(validations("object == 9007199254740993 && namespaceObject == null && oldObject == null"));
    assert.equal(answerOf(numbers, raw(9007199254740993n), context())?.verdict, "allow");
    assert.equal(answerOf(inline(validations("object == null")), raw(null), context())?.verdict, "allow");
  });
});

test("an evaluation ends at its deadline, and does not allow", () => {
  const list = Array.from({ length: 200 }, () => 0);
  const object = { ...DEPLOYMENT, spec: { list } };
  const all = (depth: number): string => (depth === 0 ? "true" : `object.spec.list.all(x${depth}, ${all(depth - 1)})`);
  const spec = { failurePolicy: "Ignore", ...validations(all(4)) };
  const outcome = answerOf(inline(spec), review(deployment({ object })), context({ deadline: performance.now() - 1 }));
  assert.deepEqual(outcome, { verdict: "error", message: "the policy did not answer in time", cause: "timeout" });
});

test("also when it passes in the midst of an expression", () => {
  let time = 0;
  const all = "object.spec.list.all(x, object.spec.list.all(y, x == y))";
  const object = { ...DEPLOYMENT, spec: { list: Array.from({ length: 300 }, () => 0) } };
  const spec = { failurePolicy: "Ignore", ...validations(all) };
  // The clock is looked at once before the expression is evaluated.
  const outcome = answerOf(
    inline(spec, { now: () => time++ }),
    review(deployment({ object })),
    context({ deadline: 0 }),
  );
  assert.deepEqual(outcome, { verdict: "error", message: "the policy did not answer in time", cause: "timeout" });
  assert.equal(answerOf(inline(spec), review(deployment({ object })), context()).verdict, "allow");
});

test("so do many short ones", () => {
  let time = 0;
  const expressions = Array.from({ length: 50 }, (_, i) => `object.spec.replicas != ${i + 10}`);
  const asked = inline(validations(...expressions), { now: () => time++ });
  assert.equal(answerOf(asked, review(deployment()), context({ deadline: 1_000 }))?.verdict, "allow");
  time = 1_001;
  assert.equal(answerOf(asked, review(deployment()), context({ deadline: 1_000 }))?.verdict, "error");
});

test("mistakes of an inline policy have paths and carets", () => {
  const compiler = createExpressionCompiler();
  const written = { validations: [{ expression: "nope == 1" }], variables: [{ name: "in", expression: "1" }] };
  const compiled = prepareInline(written, { compiler });
  assert.deepEqual("errors" in compiled && compiled.errors.map(({ path, text }) => [path.join("."), text]), [
    ["variables.0.name", 'Invalid value: "in": must be a valid CEL identifier'],
    [
      "validations.0.expression",
      "Invalid value: \"nope == 1\": compilation failed: ERROR: <input>:1:1: undeclared reference to 'nope' (in container '')\n | nope == 1\n | ^",
    ],
  ]);
  const unknown = prepareInline({ validation: [] }, { compiler });
  assert.match(JSON.stringify(unknown), /unknown field \\"validation\\"/);
});
