import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { defaultPolicy } from "../../../src/kinds/admission-policy/defaults.js";
import { createExpressionCompiler } from "../../../src/kinds/validating-admission-policy/index.js";
import { checkPolicy } from "../../../src/kinds/validating-admission-policy/read.js";
import type { PolicyResource } from "../../../src/kinds/validating-admission-policy/resource.js";
import type { JsonObject } from "../../../src/kubernetes/object.js";
import {
  BUDGET,
  binding,
  CONFIG,
  conditions,
  costly,
  DEPLOYMENT,
  decided,
  denial,
  denied,
  deployment,
  FAILURE,
  IGNORE,
  map,
  namespaceObject,
  policy,
  ref,
  request,
  status,
  UNKNOWN_KEY,
  validations,
  WARN,
  withList,
} from "./tricky.js";

describe("tricky cases: match conditions (spec validating-admission-policy.md 13)", () => {
  const A = "object.a == 1";
  const B = "object.b == 1";
  const error = (expression: string, key: string): string =>
    `expression '${expression}' resulted in error: no such key: ${key}`;
  test("49: false wins over an error", () => {
    assert.equal(denial({ spec: conditions(A, "false") }), undefined);
  });
  test("50: several errors make one text, each once", () => {
    assert.equal(denial({ spec: conditions("true", A, B) }), denied(`[${error(A, "a")}, ${error(B, "b")}]`));
    assert.equal(denial({ spec: conditions(A, A) }), denied(error(A, "a")));
  });
  test("51: errors skip the policy where failures are ignored", () => {
    assert.equal(denial({ spec: { ...conditions("true", A), ...IGNORE } }), undefined);
  });
  test("52: conditions that burn their budget, behind a false one", () => {
    const burn = "object.spec.list.all(x, object.spec.list.all(y, x == x))";
    const spec = conditions("false", burn, burn, burn, burn);
    assert.equal(denial({ spec, request: withList(350) }), denied(BUDGET));
    assert.equal(denial({ spec: { ...spec, ...IGNORE }, request: withList(350) }), undefined);
  });
  test("53: there is no namespaceObject in them", () => {
    const expression = "namespaceObject.metadata.name == 'x'";
    assert.equal(denial({ spec: conditions(expression) }), UNKNOWN_KEY(expression, "metadata"));
  });
  test("92: an unknown failurePolicy counts errors as met", () => {
    assert.equal(denial({ spec: { ...conditions(A), failurePolicy: "Maybe" } }), denied("matched"));
  });
});

describe("tricky cases: messages (spec validating-admission-policy.md 13)", () => {
  const message = (messageExpression: string, more: JsonObject = {}): string | undefined =>
    denial({ spec: validations({ expression: "false", messageExpression, ...more }) });
  test("54: results are trimmed", () => {
    assert.equal(message("' too big '"), denied("too big"));
  });
  test("each validation has its own, wherever the others have none", () => {
    const no = { expression: "false" };
    const spec = validations("true", { ...no, message: "first" }, { ...no, messageExpression: "'second'" }, no);
    const warnings = (decided({ spec, binding: WARN }).warnings ?? []).map((text) => text.replace(/^.*'b': /, ""));
    assert.deepEqual(warnings, ["first", "second", "failed expression: false"]);
  });
  test("55: unusable results fall back on the message", () => {
    for (const unusable of ["''", "' '", "'a\\nb'", `'${"é".repeat(2561)}'`]) {
      assert.equal(message(unusable, { message: "m" }), denied("m"));
    }
    assert.equal(message(`'${"é".repeat(2560)}'`, { message: "m" }), denied("é".repeat(2560)));
  });
  test("56: without a message the expression stands for it", () => {
    assert.equal(message("object.nope + 'x'"), denied("failed expression: false"));
  });
  test("57: a carriage return passes, but no client sees the warning", () => {
    assert.equal(message("'a\\rb'"), denied("a\rb"));
    const spec = validations({ expression: "false", messageExpression: "'a\\rb'" });
    assert.deepEqual(decided({ spec, binding: WARN }).clientWarnings, []);
  });
  const burn = "object.spec.list.all(x, object.spec.list.all(y, x == x)) ? 'a' : 'b'";
  const burning = (first: string): JsonObject =>
    validations(
      { expression: first, message: "m" },
      ...Array.from({ length: 12 }, () => ({ expression: "true", messageExpression: burn })),
    );
  test("58: messages that run out of budget deny everything", () => {
    const spec = burning("true");
    assert.equal(denial({ spec, request: withList(460) }), denied(`failed messageExpression: ${BUDGET}`));
  });
  test("59: and admit everything where failures are ignored", () => {
    assert.equal(denial({ spec: { ...burning("false"), ...IGNORE }, request: withList(460) }), undefined);
  });
  test("60: a multi-line expression keeps its line breaks", () => {
    const spec = validations("  1 == 2 &&\n  true\n");
    assert.equal(denial({ spec }), denied("failed expression: 1 == 2 &&\n  true"));
    assert.deepEqual(decided({ spec, binding: WARN }).clientWarnings, []);
  });
  test("67: a variable is evaluated again for messages", () => {
    const spec = {
      variables: [{ name: "v", expression: "authorizer.path('/x').check('get').allowed()" }],
      validations: [{ expression: "!variables.v", messageExpression: "string(variables.v)", message: "m" }],
    };
    // With messages there is no authorizer: the second evaluation fails.
    assert.equal(denial({ spec }), denied("m"));
  });
});

describe("tricky cases: audit annotations (spec validating-admission-policy.md 13)", () => {
  const annotating = (valueExpression: string): JsonObject => ({
    validations: [{ expression: "true" }],
    auditAnnotations: [{ key: "k", valueExpression }],
  });
  test("61: authorizer is declared but not there", () => {
    const expression = "string(authorizer.path('/x').check('get').allowed())";
    assert.equal(
      denial({ spec: annotating(expression), binding: WARN }),
      denied(`expression '${expression}' resulted in error: no such attribute(s): authorizer`),
    );
  });
  const burn = "object.spec.list.all(x, object.spec.list.all(y, x == x)) ? 'a' : 'b'";
  test("62: annotations out of budget replace the evaluation's decisions", () => {
    const spec = {
      validations: [{ expression: "false" }],
      auditAnnotations: Array.from({ length: 12 }, (_, i) => ({ key: `k${i}`, valueExpression: burn })),
    };
    assert.equal(denial({ spec: { ...spec, ...IGNORE }, request: withList(460) }), undefined);
    assert.equal(denial({ spec, request: withList(460) }), denied(BUDGET));
  });
  test("63: values of all bindings are joined, repeated and blank ones left out", () => {
    const values = { a: "  a ", b: "a", c: "b", d: " " };
    const result = decided({
      spec: { ...annotating("string(params.data.v)"), paramKind: CONFIG },
      bindings: Object.keys(values).map((name) => binding(ref({ name }), name)),
      params: Object.entries(values).map(([name, v]) => map(name, { v })),
    });
    assert.deepEqual(result.auditAnnotations, { "p.acme.example/k": "a, b" });
  });
  test("64: a denied request has them too", () => {
    const result = decided({ spec: { ...annotating("'v'"), validations: [{ expression: "false" }] } });
    assert.deepEqual([result.allowed, result.auditAnnotations], [false, { "p.acme.example/k": "v" }]);
  });
  test("71: a conditional null does not compile", () => {
    const text = refused(annotating("object.x == 1 ? 'x' : null"));
    assert.match(text, /found no matching overload for '_\?_:_' applied to '\(bool, string, null\)'/);
  });
  test("96: they see the whole Namespace", () => {
    const expression = "string(dyn(namespaceObject).metadata.ownerReferences[0].name)";
    const namespace = { ...namespaceObject("ns"), metadata: { name: "ns", ownerReferences: [{ name: "o" }] } };
    const parts = { namespaces: [namespace] };
    assert.deepEqual(decided({ ...parts, spec: annotating(expression) }).auditAnnotations, { "p.acme.example/k": "o" });
    assert.equal(
      denial({ ...parts, spec: validations(`${expression} == 'o'`) }),
      UNKNOWN_KEY(`${expression} == 'o'`, "ownerReferences"),
    );
  });
});

const compiler = createExpressionCompiler();

/** The texts with which a policy is refused when it is loaded. */
function refused(spec: JsonObject): string {
  const { errors } = checkPolicy(defaultPolicy(policy(spec) as unknown as PolicyResource), compiler);
  return errors.map(({ text }) => text).join("\n");
}

describe("tricky cases: variables and cost (spec validating-admission-policy.md 13)", () => {
  test("65: an error of a variable is everybody's", () => {
    const spec = {
      variables: [{ name: "v", expression: "object.nope" }],
      ...validations("variables.v == 1", "variables.v == 2"),
    };
    const result = decided({ spec, binding: { validationActions: ["Deny", "Audit"] } });
    const text = (expression: string): string =>
      `expression '${expression}' resulted in error: composited variable "v" fails to evaluate: no such key: nope`;
    assert.equal(result.status?.details?.causes?.[0]?.message, denied(text("variables.v == 1")));
    const audited = JSON.parse(result.auditAnnotations?.[FAILURE] ?? "") as { message: string }[];
    assert.deepEqual(
      audited.map(({ message }) => message),
      [text("variables.v == 1"), text("variables.v == 2")],
    );
  });
  test("66: a variable that is not needed does not fail", () => {
    const variables = [{ name: "v", expression: "object.nope" }];
    assert.equal(denial({ spec: { variables, ...validations("!(false && variables.v == 1)") } }), undefined);
  });
  test("68: three authorizer checks in one expression are too many, in three variables not", () => {
    const check = "authorizer.path('/x').check('get').allowed()";
    const expression = `${check} && ${check} && ${check}`;
    assert.equal(
      denial({ spec: validations(expression) }),
      denied(`expression '${expression}' resulted in error: operation cancelled: actual cost limit exceeded`),
    );
    const variables = ["a", "b", "c"].map((name) => ({ name, expression: check }));
    assert.equal(
      denial({ spec: { variables, ...validations("variables.a && variables.b && variables.c") } }),
      undefined,
    );
  });
  test("69, 98: a budget may be used up exactly; literals are free", () => {
    // 28 checks of 350,003 and what fills the rest up to 10,000,000.
    const check = "authorizer.path('/x').check('get').allowed()";
    const checks = Array.from({ length: 28 }, () => check);
    const rest = 10_000_000 - 28 * 350_003;
    const list = (length: number): JsonObject =>
      deployment({ object: { ...DEPLOYMENT, spec: { list: Array.from({ length }, () => 0) } } });
    const filler = "object.spec.list.all(x, true)";
    const outcome = (length: number, last: string): string | undefined =>
      denial({ spec: validations(...checks, filler, last), request: list(length) });
    // The longest list that still fits.
    let length = 0;
    let tooLong = rest;
    while (tooLong - length > 1) {
      const middle = Math.floor((length + tooLong) / 2);
      if (outcome(middle, "true") === undefined) length = middle;
      else tooLong = middle;
    }
    assert.equal(outcome(tooLong, "true"), denied(BUDGET));
    assert.equal(outcome(length, "false"), denied("failed expression: false"));
  });
  test("94: the same check is asked once and charged each time", () => {
    const check = "authorizer.path('/x').check('get').allowed()";
    const result = decided({ spec: validations(...Array.from({ length: 15 }, () => `${check} && ${check}`)) });
    assert.equal(result.status?.details?.causes?.[0]?.message, denied(BUDGET));
    assert.equal((result as { authorizerChecks?: readonly unknown[] }).authorizerChecks?.length, 1);
  });
  test("89: a repeated variable is refused", () => {
    const variables = [
      { name: "v", expression: "1" },
      { name: "v", expression: "variables.v + 1" },
    ];
    assert.match(refused({ variables, ...validations("variables.v == 2") }), /^Duplicate value: "v"/);
  });
  test("89: evaluated all the same, it ends in an error", () => {
    const variables = [
      { name: "v", expression: "1" },
      { name: "v", expression: "variables.v + 1" },
    ];
    assert.match(
      denial({ spec: { variables, ...validations("variables.v == 2") } }) ?? "",
      /composited variable "v" fails to evaluate/,
    );
  });
  test("costs are counted at all", () => {
    assert.match(denial({ spec: validations(costly(2_000_000)) }) ?? "", /actual cost limit exceeded$/);
  });
});

describe("tricky cases: inputs (spec validating-admission-policy.md 13)", () => {
  test("70: a dyn result is refused", () => {
    assert.match(refused(validations("object.spec.paused")), /must evaluate to bool but got dyn$/);
  });
  test("72: the name of one of a collection is absent", () => {
    const remove = deployment({ operation: "DELETE", name: "", object: null, oldObject: DEPLOYMENT });
    assert.equal(
      denial({ spec: validations("request.name == ''"), request: remove }),
      UNKNOWN_KEY("request.name == ''", "name"),
    );
  });
  test("73: request has neither uid nor object", () => {
    assert.match(refused(validations("request.uid == ''")), /undefined field 'uid'/);
    assert.match(refused(validations("request.object == null")), /undefined field 'object'/);
  });
  test("74: the Namespace's uid is declared under another name", () => {
    assert.match(refused(validations("namespaceObject.metadata.uid == ''")), /undefined field 'uid'/);
    const expression = "namespaceObject.metadata.UID == ''";
    assert.equal(denial({ spec: validations(expression) }), UNKNOWN_KEY(expression, "UID"));
  });
  test("75: a Namespace has no namespaceObject", () => {
    const update = request(["", "v1", "namespaces", "Namespace"], { operation: "UPDATE", name: "ns", namespace: "ns" });
    assert.equal(denial({ spec: validations("namespaceObject == null"), request: update }), undefined);
  });
  test("76, 77: there is no object on DELETE", () => {
    const remove = deployment({ operation: "DELETE", object: null, oldObject: DEPLOYMENT });
    const expression = "object.spec.replicas < 3";
    assert.equal(denial({ spec: validations(expression), request: remove }), UNKNOWN_KEY(expression, "spec"));
    assert.equal(denial({ spec: validations(`!has(object.spec) || ${expression}`), request: remove }), undefined);
  });
  test("78: lists are ordered", () => {
    const object = { ...DEPLOYMENT, spec: { someSet: ["b", "a"] } };
    const spec = validations("['a', 'b'] == object.spec.someSet");
    assert.equal(
      denial({ spec, request: deployment({ object }) }),
      denied("failed expression: ['a', 'b'] == object.spec.someSet"),
    );
  });
  test("79: a compile error is met at run time", () => {
    assert.match(
      denial({ spec: validations("nope") }) ?? "",
      /denied request: compilation error: compilation failed: ERROR: <input>:1:1: undeclared reference to 'nope'/,
    );
  });
  test("81: an unknown Namespace fails the request, whatever the policies say", () => {
    const answer = status({ spec: IGNORE, namespaces: [] });
    assert.deepEqual([answer?.code, answer?.message], [404, 'namespaces "ns" not found']);
  });
  test("86: an unknown failurePolicy", () => {
    assert.equal(
      denial({ spec: { paramKind: CONFIG, failurePolicy: "Maybe" }, binding: ref({ name: "none" }) }),
      denied("unrecognized failure policy: 'Maybe'"),
    );
  });
});
