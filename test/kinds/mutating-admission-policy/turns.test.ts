import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { JsonObject } from "../../../src/kubernetes/object.js";
import type { EvaluationContext, Outcome, Policy } from "../../../src/policy/index.js";
import { Turns } from "../../../src/policy/turns.js";
import type { AuthorizerAttributes, AuthorizerDecision } from "../../../src/world/authorizer/authorizer.js";
import { FileResources } from "../../../src/world/resources/file-resources.js";
import type { ResourceSource } from "../../../src/world/resources/resource-source.js";
import { CountedTurns } from "../../support/counted-turns.js";
import { costly } from "../validating-admission-policy/tricky.js";
import { applies, asked, binding, map, patches, policy, review, stepsOf } from "./support/documents.js";

/** So dear that the clock is read after it. */
const LONG = costly(10_000);

/** A clock on which every look at it takes longer than a slice, and than everything before. */
function fastClock(): () => number {
  let time = 10;
  return () => {
    time *= 3;
    return time;
  };
}

const context = (more: Partial<EvaluationContext> = {}): EvaluationContext => ({
  deadline: Number.POSITIVE_INFINITY,
  signal: new AbortController().signal,
  ...more,
});

/** Three policies with conditions, variables, parameters and mutations of both types, two of which are asked again. */
const LARGE: readonly JsonObject[] = [
  ...["p", "q", "r"].map((name) =>
    policy(
      {
        paramKind: { apiVersion: "v1", kind: "ConfigMap" },
        reinvocationPolicy: name === "q" ? "Never" : "IfNeeded",
        failurePolicy: name === "r" ? "Ignore" : "Fail",
        matchConditions: [
          { name: "long", expression: LONG },
          { name: "cheap", expression: "request.name == 'm'" },
        ],
        variables: [{ name: "n", expression: `${LONG} ? params.data.n : ''` }],
        mutations: [
          ...(patches(
            `${LONG} ? [JSONPatch{op: 'add', path: '/data/${name}', value: object.data[?'${name}'].orValue('') + variables.n}] : []`,
            `[JSONPatch{op: 'remove', path: '/data/none'}].filter(x, ${name === "r"})`,
          ).mutations as JsonObject[]),
          ...(applies(
            `${LONG} ? Object{metadata: Object.metadata{labels: {'${name}': string(size(object.data)) + variables.n}}} : Object{}`,
          ).mutations as JsonObject[]),
        ],
      },
      name,
    ),
  ),
  ...["p", "q", "r"].map((policyName) =>
    binding({ policyName, paramRef: { selector: {}, parameterNotFoundAction: "Deny" } }, `of-${policyName}`),
  ),
  map({ n: "1" }, "one"),
  map({ n: "2" }, "two"),
];

async function paused(
  of: (now: () => number) => Policy,
): Promise<{ readonly outcome: Outcome; readonly turns: number }> {
  const turns = new CountedTurns();
  return { outcome: await of(fastClock()).evaluate(review(), context({ turns })), turns: turns.count };
}

describe("mutations that take longer", () => {
  const large = (now: () => number): Policy => asked(LARGE, { now });

  test("let others have their turn, and come to the same", async () => {
    const whole = await large(() => 0).evaluate(review(), context());
    assert.equal(whole.verdict, "allow", JSON.stringify(whole));
    assert.deepEqual(
      (stepsOf(whole) as { readonly path: string; readonly value: unknown }[]).map(({ path, value }) => [path, value]),
      [
        ["/data/p", "1212"],
        ["/data/q", "12"],
        ["/data/r", "1212"],
        ["/metadata/labels", { p: "42", q: "32", r: "42" }],
      ],
    );
    const { outcome, turns } = await paused(large);
    assert.deepEqual(outcome, whole);
    assert.ok(turns > 20, `${turns} turns`);
  });

  test("let others have their turn between the steps of a single one, and before each half of the answer", async () => {
    const single = (now: () => number): Policy =>
      asked([policy(patches("[JSONPatch{op: 'add', path: '/data/b', value: '2'}]")), binding()], { now });
    const whole = await single(() => 0).evaluate(review(), context());
    const { outcome, turns } = await paused(single);
    assert.deepEqual(outcome, whole);
    assert.deepEqual(stepsOf(outcome), [{ op: "add", path: "/data/b", value: "2" }]);
    // What it asks for, its application, the struct that it becomes; the difference and its text.
    assert.ok(turns >= 5, `${turns} turns`);
  });

  test("are never an allow when their time is over", async () => {
    const turns = new Turns();
    const outcome = await large(fastClock()).evaluate(review(), context({ turns, deadline: 100 }));
    assert.ok(outcome.verdict === "error");
    assert.equal(outcome.cause, "timeout");
    const gone = new AbortController();
    const left = large(fastClock()).evaluate(review(), context({ turns, signal: gone.signal }));
    gone.abort();
    assert.equal((await left).verdict, "error");
  });
});

describe("mutations that wait", () => {
  /** Answers a moment later. */
  const later = <T>(answer: T): Promise<T> => new Promise((resolve) => setImmediate(() => resolve(answer)));

  test("are done once: what was done before the answer came is not believed", async () => {
    const documents = [
      policy({
        paramKind: { apiVersion: "v1", kind: "ConfigMap" },
        reinvocationPolicy: "IfNeeded",
        ...patches(
          "[JSONPatch{op: 'add', path: '/data/a', value: object.data.a + params.data.n}]",
          "authorizer.requestResource.check('x').allowed() ? [JSONPatch{op: 'add', path: '/data/a', value: object.data.a + '!'}] : []",
        ),
      }),
      binding({ paramRef: { name: "one", parameterNotFoundAction: "Deny" } }),
    ];
    const files = new FileResources([map({ n: "x" }, "one")], { guessScope: true, synthesiseNamespaces: true });
    const questions: string[] = [];
    const asking = <T>(question: string, answer: T): Promise<T> => {
      questions.push(question);
      return later(answer);
    };
    const resources: ResourceSource = {
      namespace: (name) => asking("namespace", files.namespace(name)),
      get: (kind, namespace, name) => asking("get", files.get(kind, namespace, name)),
      list: (kind, namespace) => asking("list", files.list(kind, namespace)),
      namespaced: (kind) => asking("scope", files.namespaced(kind)),
      equivalents: () => asking("equivalents", []),
      convert: (object) => object,
    };
    const authorizer = {
      authorize: (_: AuthorizerAttributes): Promise<AuthorizerDecision> =>
        asking("authorize", { decision: "allow", reason: "" }),
    };
    const outcome = asked(documents, { resources, authorizer }).evaluate(review(), context());
    assert.ok(outcome instanceof Promise);
    assert.deepEqual(stepsOf(await outcome), [{ op: "replace", path: "/data/a", value: "1x!x!" }]);
    assert.deepEqual(new Set(questions), new Set(["get", "namespace", "authorize"]));
    assert.equal(questions.filter((question) => question === "authorize").length, 1);
  });
});
