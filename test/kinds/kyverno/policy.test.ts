import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Outcome } from "../../../src/policy/index.js";
import { Turns } from "../../../src/policy/turns.js";
import { FileResources } from "../../../src/world/resources/file-resources.js";
import { LookupFailure } from "../../../src/world/resources/resource-source.js";
import { answerOf } from "../../support/asking.js";
import { CountedTurns } from "../../support/counted-turns.js";
import { context, exception, never, PODS, policy, raw, review, setOf, world } from "./asked.js";

const ask = (set: ReturnType<typeof setOf>, about = review()): Outcome => answerOf(set, about, context());
const message = "Policy p failed: never";
const status = { status: "Failure" };
/** What reports say of a violated validation. */
const report = { message: "never", actions: ["Deny"], properties: { "cel.validationIndex": "0" } };

describe("outcomes", () => {
  test("a denial carries the webhook's words, neither code nor reason", () => {
    assert.deepEqual(ask(setOf([never()])), { verdict: "deny", message, status, report });
  });

  test("warnings stand beside a denial, or alone, and what other actions found is data, too", () => {
    const found = (action: "Audit" | "Warn", actions = [action as string]) => ({
      action,
      message: "never",
      policy: "p",
      index: 0,
      actions,
    });
    assert.deepEqual(ask(setOf([never({ validationActions: ["Deny", "Warn"] })])), {
      verdict: "deny",
      message,
      status,
      report: { ...report, actions: ["Deny", "Warn"] },
      warnings: [message],
      found: [found("Warn", ["Deny", "Warn"])],
    });
    assert.deepEqual(ask(setOf([never({ validationActions: ["Warn"] })])), {
      verdict: "allow",
      warnings: [message],
      found: [found("Warn")],
    });
    const audited = ask(setOf([never({ validationActions: ["Audit"] })]));
    assert.deepEqual(audited, { verdict: "allow", found: [found("Audit")] });
  });

  test("an entry's actions take the place of the policies'", () => {
    const set = setOf([never({ validationActions: ["Audit"] })], { validationActions: ["Deny"] });
    assert.deepEqual(ask(set).report, { ...report, actions: ["Audit"] }, "reports have those of the policies");
  });

  test("errors alone are no denial, errors beside one are", () => {
    const failing = policy({ validations: [{ expression: "object.nope.x == 1" }] }, { name: "a" });
    const said = "Policy a error: error: no such key: nope";
    const own = "error: no such key: nope";
    assert.deepEqual(ask(setOf([failing])), {
      verdict: "error",
      message: said,
      cause: "expression",
      report: { ...report, message: own },
    });
    assert.deepEqual(ask(setOf([never(), failing])), {
      verdict: "deny",
      message: `${said}; ${message}`,
      status,
      report: { message: `${own}; never`, actions: ["Deny", "Deny"] },
    });
  });

  test("policies are asked by kind, namespace and name, whatever their order", () => {
    const set = setOf([never({}, { name: "b" }), never({}, { name: "a" }), never({}, { name: "a", namespace: "ns" })]);
    const names = ["a", "a", "b"].map((name) => `Policy ${name} failed: never`);
    assert.deepEqual({ ...ask(set), report }, { verdict: "deny", message: names.join("; "), status, report });
  });

  test("what does not apply says why", () => {
    const elsewhere = never({ matchConstraints: { resourceRules: [{ ...PODS, resources: ["secrets"] }] } });
    assert.deepEqual(ask(setOf([elsewhere])), { verdict: "skip", reason: "no resource rule matches" });
    const unmet = never({ matchConditions: [{ name: "c", expression: "false" }] });
    assert.deepEqual(ask(setOf([unmet])), {
      verdict: "skip",
      reason: "a match condition is false",
      report: { passedOver: "condition" },
    });
    assert.deepEqual(ask(setOf([never()], { exceptions: [exception({})] })), {
      verdict: "skip",
      reason: "rule is skipped due to policy exception: ns/e",
      report: { passedOver: "exception", rule: "exception", properties: {}, exceptions: ["e"] },
    });
  });

  test("a policy without validations judges nothing, and what others say stands", () => {
    const reason = "the policy has no validations";
    for (const spec of [{ validations: [] }, {}, { auditAnnotations: [{ key: "k", valueExpression: "'v'" }] }])
      assert.deepEqual(ask(setOf([policy(spec)])), { verdict: "skip", reason });
    const empty = policy({ validations: [] }, { name: "empty" });
    assert.equal(ask(setOf([empty, policy({ validations: [{ expression: "true" }] })])).verdict, "allow");
    assert.equal(ask(setOf([empty, never()])).verdict, "deny");
    const failing = policy({ auditAnnotations: [{ key: "k", valueExpression: "string(object.nope)" }] });
    assert.equal(ask(setOf([failing])).verdict, "error", "a failure is no pass");
  });

  test("what all variants of a policy find in a payload is one finding, and as many warnings as Kyverno has", () => {
    const json = { evaluation: { mode: "JSON" }, matchConstraints: { resourceRules: [PODS] } };
    const outcome = answerOf(setOf([never({ ...json, validationActions: ["Audit", "Warn"] })]), raw({}), context());
    assert.deepEqual(
      outcome.found?.map(({ action }) => action),
      ["Audit", "Warn"],
    );
    assert.equal(outcome.warnings?.length, 3);
  });

  test("an operation that no API server sends is an error", () => {
    assert.equal(ask(setOf([policy({ validations: [] })]), review({ operation: "create" })).verdict, "error");
  });
});

describe("which policies look", () => {
  test("a namespaced one sees its namespace only", () => {
    const set = setOf([never({}, { namespace: "ns" })]);
    assert.equal(ask(set).verdict, "deny");
    assert.equal(ask(set, review({ namespace: "other" })).verdict, "skip");
    assert.equal(ask(set, review({ namespace: undefined })).verdict, "skip");
  });

  test("one for payloads does not look at requests, and gets a payload with its numbers as doubles", () => {
    const json = { evaluation: { mode: "JSON" }, validations: [{ expression: "type(object.n) == double" }] };
    assert.equal(ask(setOf([never(json)])).verdict, "skip");
    const set = setOf([policy(json)]);
    assert.deepEqual(answerOf(set, raw({ n: 1 }), context()), { verdict: "allow" });
  });

  test("one for scans lets requests pass, but not what a group asks about", () => {
    const set = setOf([never({ evaluation: { admission: { enabled: false } } })]);
    assert.equal(ask(set).verdict, "skip");
    assert.equal(ask(set, review({}, true)).verdict, "deny");
  });

  test("one for requests takes a payload for its object", () => {
    const set = setOf([policy({ validations: [{ expression: "object.n == 1" }] })]);
    assert.deepEqual(answerOf(set, raw({ n: 1 }), context()), { verdict: "allow" });
    assert.equal(answerOf(set, raw({ n: 2 }), context()).verdict, "deny");
  });

  test("what a group asks about needs no rule, but meets conditions", () => {
    const rules = { matchConstraints: { resourceRules: [{ ...PODS, resources: ["secrets"] }] } };
    const set = setOf([never({ ...rules, matchConditions: [{ name: "c", expression: "object.spec.a == 1" }] })]);
    assert.equal(ask(set, review({}, true)).verdict, "deny");
    assert.equal(ask(set, review({ object: { spec: { a: 2 } } }, true)).verdict, "skip");
  });

  test("a group that asks about a controller asks the variant for it", () => {
    const set = setOf([
      policy({
        matchConstraints: { resourceRules: [PODS] },
        validations: [{ expression: "object.spec.hostNetwork != true" }],
      }),
    ]);
    const template = { spec: { hostNetwork: true } };
    const deployment = { apiVersion: "apps/v1", kind: "Deployment", spec: { template } };
    const kind = { group: "apps", version: "v1", kind: "Deployment" };
    assert.equal(ask(set, review({ kind, object: deployment }, true)).verdict, "deny");
    assert.equal(ask(set, review({ object: template }, true)).verdict, "deny");
    assert.equal(ask(set, review({ object: { spec: { hostNetwork: false } } }, true)).verdict, "allow");
  });

  test("a group that asks about a custom controller has its pods judged", () => {
    const set = setOf([
      policy({
        matchConstraints: { resourceRules: [PODS] },
        autogen: { podControllers: { controllers: ["jobsets.v1alpha2.jobset.x-k8s.io"] } },
        validations: [{ expression: "object.spec.?hostNetwork.orValue(false) != true" }],
      }),
    ]);
    const containers = [{ name: "c", image: "i" }];
    const jobSet = (hostNetwork: boolean) => ({
      apiVersion: "jobset.x-k8s.io/v1alpha2",
      kind: "JobSet",
      spec: { replicatedJobs: [{ template: { spec: { containers, hostNetwork } } }] },
    });
    const kind = { group: "jobset.x-k8s.io", version: "v1alpha2", kind: "JobSet" };
    assert.equal(ask(set, review({ kind, object: jobSet(true) }, true)).verdict, "deny");
    assert.equal(ask(set, review({ kind, object: jobSet(false) }, true)).verdict, "allow");
  });

  test("the numbers of a payload do not depend on the policies beside", () => {
    const json = { evaluation: { mode: "JSON" }, validations: [{ expression: "object.n + 1 == 2" }] };
    const beside = policy({ validations: [{ expression: "object.n == 1" }] }, { name: "q" });
    assert.equal(answerOf(setOf([policy(json), beside]), raw({ n: 1 }), context()).verdict, "error");
    assert.equal(ask(setOf([policy(json)]), review({ object: { n: 1 } }, true)).verdict, "error");
  });

  test("an object that does not say its kind is an error, as for Kyverno", () => {
    const set = setOf([policy({ validations: [] })]);
    assert.equal(ask(set, review({ object: { metadata: {} } })).verdict, "error");
    assert.equal(ask(set, review({ operation: "DELETE", object: null, oldObject: [] })).verdict, "error");
  });

  test("an object with more values than are looked through for pods is an error, whatever the policy ignores", () => {
    const set = setOf([
      policy({
        failurePolicy: "Ignore",
        validationActions: ["Audit"],
        matchConstraints: { resourceRules: [PODS] },
        autogen: { podControllers: { controllers: ["things.v1.x.io"] } },
        validations: [{ expression: "true" }],
      }),
    ]);
    const object = { apiVersion: "x.io/v1", kind: "Thing", spec: { list: new Array(60_000).fill(0) } };
    const kind = { group: "x.io", version: "v1", kind: "Thing" };
    const resource = { group: "x.io", version: "v1", resource: "things" };
    const outcome = ask(set, review({ kind, resource, object }));
    assert.ok(outcome.verdict === "error");
    assert.match(outcome.message, /too large/);
  });

  test("exceptions that have expired exempt from nothing", () => {
    const asked = (expiresAt: string) => ask(setOf([never()], { exceptions: [exception({ expiresAt })] })).verdict;
    assert.deepEqual(
      [asked("2001-01-01T00:00:00Z"), asked("2999-01-01T00:00:00Z"), asked("whenever")],
      ["deny", "skip", "deny"],
    );
  });
});

describe("what has to be looked up", () => {
  const selector = { matchLabels: { env: "prod" } };
  const selecting = never({ matchConstraints: { namespaceSelector: selector, resourceRules: [PODS] } });
  const naming = policy({ validations: [{ expression: "!has(namespaceObject.metadata)" }] });
  const namespace = { apiVersion: "v1", kind: "Namespace", metadata: { name: "ns", labels: { env: "prod" } } };
  const failing = { namespace: () => new LookupFailure("nobody is there") };

  test("a Namespace that cannot be looked up is an error, never another Namespace or none", () => {
    for (const each of [selecting, naming]) {
      const resources = Object.assign(new FileResources([]), failing);
      const outcome = ask(setOf([each], { world: world({ resources }) }));
      assert.equal(outcome.verdict, "error");
    }
  });

  test("a Namespace that has to be fetched is waited for, once", async () => {
    let asked = 0;
    const later = {
      namespace: () => {
        asked += 1;
        return Promise.resolve(namespace);
      },
    };
    const resources = Object.assign(new FileResources([]), later);
    const set = setOf([selecting, naming], { world: world({ resources }) });
    const outcome = set.evaluate(review(), context());
    assert.ok(outcome instanceof Promise);
    const texts = ["never", "CEL expression validation failed at index 0"].map((text) => `Policy p failed: ${text}`);
    assert.deepEqual({ ...(await outcome), report }, { verdict: "deny", message: texts.join("; "), status, report });
    assert.equal(asked, 1);
  });
});

describe("turns", () => {
  /** Dear enough for a look at the clock. */
  const LONG = "range.all(x, range.all(y, range.all(z, x + y + z < 1000)))".replaceAll(
    "range",
    `[${Array.from({ length: 30 }, (_, i) => i).join(", ")}]`,
  );

  /** On it every look takes longer than a slice, and than everything before. */
  function fastClock(): () => number {
    let time = 10;
    return () => {
      time *= 3;
      return time;
    };
  }

  test("others have their turn between expressions, and nothing is evaluated anew", async () => {
    const spec = {
      matchConditions: [{ name: "c", expression: LONG }],
      variables: [{ name: "v", expression: `${LONG} ? 1 : 2` }],
      validations: [
        { expression: `variables.v == 1 && ${LONG}` },
        { expression: `!(${LONG})`, messageExpression: `'v is ' + string(variables.v) + string(${LONG})` },
      ],
      auditAnnotations: [{ key: "k", valueExpression: `${LONG} ? 'a' : 'b'` }],
    };
    const policies = [policy(spec, { name: "a" }), policy(spec, { name: "b" })];
    const exceptions = [exception({ matchConditions: [{ name: "c", expression: `!(${LONG})` }] })];
    const turns = new CountedTurns();
    const set = setOf(policies, { exceptions, world: world({ now: fastClock() }) });
    const outcome = await set.evaluate(review(), context({ turns }));
    assert.equal(outcome.verdict, "deny");
    assert.equal(outcome.message, "Policy a failed: v is 1true; Policy b failed: v is 1true");
    assert.ok(turns.count >= 8, `${turns.count} turns`);
  });

  test("after the deadline nothing counts, whatever failures a policy ignores", async () => {
    const set = setOf(
      [policy({ failurePolicy: "Ignore", validationActions: ["Audit"], validations: [{ expression: LONG }] })],
      {
        world: world({ now: fastClock() }),
      },
    );
    const outcome = await set.evaluate(review(), context({ turns: new Turns(), deadline: 20 }));
    assert.deepEqual(outcome, { verdict: "error", message: "the policy did not answer in time", cause: "timeout" });
  });
});
