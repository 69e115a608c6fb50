/** Policies for an authorization server: which answer counts, and what makes one an error (spec kyverno.md 6.3). */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { prepareAuthorization } from "../../../../src/kinds/kyverno/authorization/index.js";
import type { HttpSource } from "../../../../src/world/http/http-source.js";
import { commandLineData } from "../../../../src/world/offline-values.js";
import { LookupFailure } from "../../../../src/world/resources/resource-source.js";
import { policyOf, refusal, said } from "./authorized.js";

const ALLOWED = "http.Allowed().Response()";
const DENIED = 'http.Denied("no").Response()';
const MISSING = "object.attributes.header['x'][0] == 'a'";

describe("the first answer that is not null", () => {
  test("decides", async () => {
    assert.equal(await said(policyOf("HTTP", ["null", ALLOWED, DENIED]), {}), "pass: request allowed");
    assert.equal(await said(policyOf("HTTP", ["null", DENIED, ALLOWED]), {}), "fail: request denied, reason: no");
  });

  test("may be missing: nothing is decided then", async () => {
    assert.equal(await said(policyOf("HTTP", "null"), {}), "skip: request does not match");
    assert.equal(await said(policyOf("HTTP", []), {}), "skip: request does not match");
  });

  test("is one of two in a condition", async () => {
    const policy = policyOf("HTTP", `object.attributes.method == "GET" ? ${ALLOWED} : null`);
    assert.equal(await said(policy, { attributes: { method: "GET" } }), "pass: request allowed");
    assert.equal(await said(policy, { attributes: { method: "POST" } }), "skip: request does not match");
  });

  test("allows nothing where it says neither yes nor no", async () => {
    assert.match(await said(policyOf("HTTP", "http.CheckResponse{}"), {}), /^error: .* neither allows nor denies/);
  });
});

describe("an error", () => {
  test("is the result, unless the policy ignores failures", async () => {
    const rules = [`${MISSING} ? ${ALLOWED} : null`, ALLOWED];
    assert.equal(await said(policyOf("HTTP", rules), {}), "error: no such key: x");
    const ignoring = policyOf("HTTP", rules, { failurePolicy: "Ignore" });
    assert.equal(await said(ignoring, {}), "skip: request does not match");
  });

  test("of ours is one whatever the policy says", async () => {
    const many = `[${Array.from({ length: 300 }, (_, i) => i).join(",")}]`;
    const slow = `${many}.all(a, ${many}.all(b, ${many}.all(c, a + b + c >= 0))) ? ${ALLOWED} : null`;
    const policy = policyOf("HTTP", slow, { failurePolicy: "Ignore" });
    assert.match(await said(policy, {}), /^error: .*cost limit exceeded/);
  });
});

describe("match conditions", () => {
  const conditions = (...expressions: string[]) => ({
    matchConditions: expressions.map((expression, i) => ({ name: `c${i}`, expression })),
  });

  test("are all looked at: one that is false wins over errors", async () => {
    const policy = policyOf("HTTP", ALLOWED, conditions(MISSING, "false"));
    assert.equal(await said(policy, {}), "skip: request does not match");
  });

  test("that fail are the error together", async () => {
    const policy = policyOf("HTTP", ALLOWED, conditions(MISSING, "object.attributes.header['y'][0] == 'a'"));
    assert.equal(await said(policy, {}), "error: no such key: x; no such key: y");
  });

  test("know no variables", () => {
    const spec = { variables: [{ name: "a", expression: "true" }], ...conditions("variables.a") };
    assert.match(refusal(policyOf("HTTP", ALLOWED, spec)), /undefined field 'a'/);
  });
});

describe("variables", () => {
  test("are evaluated when they are asked for", async () => {
    const variables = [
      { name: "broken", expression: MISSING },
      { name: "fine", expression: "object.attributes.method == 'GET'" },
    ];
    const using = (name: string) => policyOf("HTTP", `variables.${name} ? ${ALLOWED} : null`, { variables });
    assert.equal(await said(using("fine"), { attributes: { method: "GET" } }), "pass: request allowed");
    assert.equal(await said(using("broken"), {}), "error: no such key: x");
  });
});

describe("what does not compile", () => {
  const of = "rule response output is expected to be of type";

  test("gives something else than an answer", () => {
    for (const expression of ["true", '"x"', 'http.Denied("x")', `dyn(${ALLOWED})`])
      assert.ok(refusal(policyOf("HTTP", expression)).endsWith(`${of} http.CheckResponse`), expression);
    assert.ok(refusal(policyOf("Envoy", "envoy.Denied(403)")).endsWith(`${of} envoy.service.auth.v3.CheckResponse`));
  });

  test("names what the mode has not", () => {
    const refused: readonly (readonly ["HTTP" | "Envoy", string])[] = [
      ["HTTP", "envoy.Allowed().Response()"],
      ["Envoy", ALLOWED],
      ["HTTP", 'http.Denied(sha256("a")).Response()'],
      ["HTTP", "request == null ? null : null"],
      ["HTTP", "http.Denied(object.attributes.foo).Response()"],
    ];
    for (const [mode, expression] of refused) assert.notEqual(refusal(policyOf(mode, expression)), "", expression);
  });

  test("says where, in the words of Kyverno's command", () => {
    const spec = { matchConditions: [{ name: "c", expression: "1" }] };
    assert.equal(
      refusal(policyOf("Envoy", "null", spec)),
      'failed to compile envoy policy p: spec.matchConditions[0].expression: Invalid value: "1": matchCondition output is expected to be of type bool',
    );
  });
});

describe("a policy", () => {
  test("is none of these without the mode, or in a namespace", () => {
    const namespaced = { ...policyOf("HTTP", ALLOWED), kind: "NamespacedValidatingPolicy" as const };
    const prepared = prepareAuthorization([namespaced, policyOf("HTTP", ALLOWED, { evaluation: { mode: "JSON" } })]);
    assert.deepEqual(prepared, { policies: [], failures: [] });
  });

  test("may ask HTTP servers, whose failures allow nothing", async () => {
    const policy = policyOf("HTTP", `http.Get("http://a.example/").ok ? ${ALLOWED} : null`);
    const answering = (send: HttpSource["send"]) => ({ external: commandLineData({}, { send }) });
    assert.equal(
      await said(
        policy,
        {},
        answering(() => new LookupFailure("gone")),
      ),
      "error: request failed: gone",
    );
    assert.equal(
      await said(
        policy,
        {},
        answering(async () => ({ ok: true })),
      ),
      "pass: request allowed",
    );
    assert.equal(
      await said(
        policy,
        {},
        answering(async () => ({ ok: false })),
      ),
      "skip: request does not match",
    );
  });
});
