import assert from "node:assert/strict";
import { describe, test } from "node:test";
import {
  AUDIT,
  binding,
  CONFIG,
  decided,
  denial,
  denied,
  FAILURE,
  IGNORE,
  LIMIT,
  map,
  ref,
  request,
  status,
  UNKNOWN_KEY,
  validations,
  WARN,
} from "./tricky.js";

describe("tricky cases: parameters (spec validating-admission-policy.md 13)", () => {
  test("30: a paramKind that nobody serves", () => {
    const text =
      "failed to configure policy: failed to find resource referenced by paramKind: 'acme.example/v1, Kind=Limit'";
    assert.equal(
      denial({ spec: { paramKind: LIMIT } }),
      `ValidatingAdmissionPolicy 'p.acme.example' denied request: ${text}`,
    );
  });
  test("31: it is silent where failures are ignored, and where the policy does not match", () => {
    assert.equal(denial({ spec: { paramKind: LIMIT, ...IGNORE } }), undefined);
    const elsewhere = {
      matchConstraints: {
        resourceRules: [{ apiGroups: [""], apiVersions: ["v1"], operations: ["*"], resources: ["pods"] }],
      },
    };
    assert.equal(denial({ spec: { paramKind: LIMIT, ...elsewhere } }), undefined);
  });
  test("32: a missing parameter denies whatever the actions are", () => {
    assert.equal(
      denial({ spec: { paramKind: CONFIG }, binding: { ...ref({ name: "none" }), ...AUDIT } }),
      denied("failed to configure binding: no params found for policy binding with `Deny` parameterNotFoundAction"),
    );
  });
  test("33: unless missing is allowed", () => {
    const result = decided({
      spec: { paramKind: CONFIG, auditAnnotations: [{ key: "k", valueExpression: "'v'" }] },
      binding: { paramRef: { name: "none", parameterNotFoundAction: "Allow" } },
    });
    assert.deepEqual(result, { allowed: true });
  });
  test("34: without paramRef params is null", () => {
    assert.equal(
      denial({ spec: { paramKind: CONFIG, ...validations("params.x > 1") } }),
      UNKNOWN_KEY("params.x > 1", "x"),
    );
  });
  test("35: a namespaced parameter for a cluster-scoped request", () => {
    const role = request(["rbac.authorization.k8s.io", "v1", "clusterroles", "ClusterRole"]);
    assert.equal(
      denial({ spec: { paramKind: CONFIG }, binding: ref({ name: "c" }), request: role }),
      denied(
        "failed to configure binding: cannot use namespaced paramRef in policy binding that matches cluster-scoped resources",
      ),
    );
  });
  test("36: a namespace for a cluster-scoped parameter", () => {
    const kind = { group: "acme.example", version: "v1", kind: "Limit", resource: "limits", namespaced: false };
    assert.equal(
      denial({ spec: { paramKind: LIMIT }, binding: ref({ name: "c", namespace: "ns" }), restMappings: [kind] }),
      denied("failed to configure binding: paramRef.namespace must not be provided for a cluster-scoped `paramKind`"),
    );
  });
  test("37: creating a Namespace, a parameter is looked up inside of it", () => {
    const create = request(["", "v1", "namespaces", "Namespace"], { name: "new", namespace: "new" });
    const found = denial({
      spec: { paramKind: CONFIG },
      binding: ref({ name: "c" }),
      request: create,
      params: [map("c")],
    });
    assert.match(found ?? "", /no params found/);
  });
  test("38: every selected parameter is evaluated", () => {
    const result = decided({
      spec: {
        paramKind: CONFIG,
        validations: [{ expression: "params.data.ok == 'y'", messageExpression: "string(params.metadata.name)" }],
      },
      binding: { ...ref({ selector: {} }), validationActions: ["Deny", "Audit"] },
      params: [map("a", { ok: "y" }), map("b", { ok: "n" }), map("c", { ok: "n" })],
    });
    assert.equal(result.status?.details?.causes?.[0]?.message, denied("b"));
    assert.match(result.auditAnnotations?.[FAILURE] ?? "", /"message":"b".*"message":"c"/);
  });
  test("91: a missing Namespace fails the request even when no parameter is selected", () => {
    const parts = {
      spec: { paramKind: CONFIG, ...IGNORE },
      binding: { paramRef: { selector: { matchLabels: { a: "b" } }, parameterNotFoundAction: "Allow" } },
      namespaces: [],
    };
    assert.equal(status(parts)?.code, 404);
  });
});

describe("tricky cases: actions (spec validating-admission-policy.md 13)", () => {
  test("39, 40: a warning and a denial are both given", () => {
    const result = decided({ bindings: [binding(WARN, "a"), binding()] });
    assert.deepEqual(result.warnings, [
      "Validation failed for ValidatingAdmissionPolicy 'p.acme.example' with binding 'a': matched",
    ]);
    assert.equal(result.allowed, false);
    assert.equal(decided({ binding: WARN }).allowed, true);
  });
  test("41: the client sees a repeated warning once", () => {
    const result = decided({
      spec: { paramKind: CONFIG },
      binding: { ...ref({ selector: {} }), ...WARN },
      params: [map("a"), map("b")],
    });
    assert.deepEqual([result.warnings?.length, result.clientWarnings?.length], [2, 1]);
  });
  test("42: audit names the validation", () => {
    const result = decided({
      spec: validations("true", "true", { expression: "false", message: "m" }),
      binding: AUDIT,
    });
    assert.equal(result.allowed, true);
    assert.equal(
      result.auditAnnotations?.[FAILURE],
      '[{"message":"m","policy":"p.acme.example","binding":"b","expressionIndex":2,"validationActions":["Audit"]}]',
    );
  });
  test("43: the first 50 audited failures", () => {
    const result = decided({ spec: validations(...Array.from({ length: 60 }, () => "false")), binding: AUDIT });
    assert.equal((JSON.parse(result.auditAnnotations?.[FAILURE] ?? "") as unknown[]).length, 50);
  });
  test("44: a false validation denies although failures are ignored", () => {
    assert.equal(denial({ spec: IGNORE }), denied("matched"));
  });
  test("45, 46: an error before a false validation", () => {
    const spec = validations("object.nope == 1", { expression: "false", message: "second", reason: "Forbidden" });
    assert.equal(denial({ spec: { ...spec, ...IGNORE } }), denied("second"));
    assert.equal(status({ spec })?.code, 422);
    assert.equal(denial({ spec }), UNKNOWN_KEY("object.nope == 1", "nope"));
  });
  test("47: the first of several false validations is the answer", () => {
    const spec = validations(
      { expression: "false", message: "one", reason: "Forbidden" },
      { expression: "false", message: "two", reason: "Invalid" },
    );
    const answer = status({ spec });
    assert.deepEqual([answer?.code, answer?.details?.causes], [403, [{ message: denied("one") }]]);
  });
  test("48: an error is a warning where the action is Warn", () => {
    const result = decided({ spec: validations("object.nope == 1"), binding: WARN });
    assert.equal(result.allowed, true);
    assert.match(result.warnings?.[0] ?? "", /no such key: nope$/);
  });
  test("85: reasons and codes", () => {
    for (const [reason, code] of Object.entries({
      Unauthorized: 401,
      Forbidden: 403,
      RequestEntityTooLarge: 413,
      Other: 422,
    })) {
      assert.equal(status({ spec: validations({ expression: "false", reason }) })?.code, code);
    }
  });
});
