import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { JsonObject } from "../../../src/kubernetes/object.js";
import type { EvaluationContext, Outcome, Policy } from "../../../src/policy/index.js";
import type { AdmissionQuestion } from "../../../src/policy/review.js";
import type { AuthorizerAttributes, AuthorizerDecision } from "../../../src/world/authorizer/authorizer.js";
import { MAX_QUESTIONS } from "../../../src/world/request-world.js";
import { FileResources } from "../../../src/world/resources/file-resources.js";
import { type Lookup, LookupFailure, type ResourceSource } from "../../../src/world/resources/resource-source.js";
import { inline, prepare, worldWith } from "./prepared.js";
import { binding, deployment, map, namespaceObject, policy, ref, validations } from "./tricky.js";

const context = (more: Partial<EvaluationContext> = {}): EvaluationContext => ({
  deadline: Number.POSITIVE_INFINITY,
  signal: new AbortController().signal,
  ...more,
});
const review: AdmissionQuestion = {
  kind: "admission",
  request: deployment() as unknown as AdmissionQuestion["request"],
  requestBytes: () => new Uint8Array(),
};

/** The outcome of a policy that has to wait. */
function waited(asked: Policy, more: Partial<EvaluationContext> = {}): Promise<Outcome> {
  const outcome = asked.evaluate(review, context(more));
  assert.ok(outcome instanceof Promise, "nothing is waited for");
  return outcome;
}

const check = (verb: string): string => `authorizer.requestResource.check('${verb}').allowed()`;

/** Answers a moment later. Questions of one moment are a round. */
class Remote {
  readonly rounds: string[][] = [];
  #open = false;

  later<T>(question: string, answer: T): Promise<T> {
    if (!this.#open) this.rounds.push([]);
    this.#open = true;
    this.rounds.at(-1)?.push(question);
    return new Promise((resolve) =>
      setImmediate(() => {
        this.#open = false;
        resolve(answer);
      }),
    );
  }

  /** Allows all but the verb `deny`. */
  readonly authorizer = {
    authorize: ({ verb }: AuthorizerAttributes): Promise<AuthorizerDecision> =>
      this.later(verb, { decision: verb === "deny" ? "deny" : "allow", reason: "" }),
  };

  /** Documents that somebody has to be asked for. */
  resources(documents: readonly JsonObject[]): ResourceSource {
    const files = new FileResources(documents);
    return {
      namespace: (name) => this.later(`namespace ${name}`, files.namespace(name)),
      get: (kind, namespace, name) => this.later(`get ${name}`, files.get(kind, namespace, name)),
      list: (kind, namespace) => this.later("list", files.list(kind, namespace)),
      namespaced: (kind) => this.later("scope", files.namespaced(kind)),
      equivalents: () => this.later("equivalents", []),
      convert: (object) => object,
    };
  }
}

describe("answers that are not there yet", () => {
  test("are waited for, one after the other, as often as it takes", async () => {
    const verbs = ["a", "b", "c", "d", "e"];
    // What one expression may cost ends with its third check: a list of a request must not start a thousand.
    const remote = new Remote();
    const each = `${JSON.stringify(verbs)}.all(verb, authorizer.requestResource.check(verb).allowed())`;
    const outcome = await waited(inline(validations(each), { authorizer: remote.authorizer }));
    assert.match(outcome.verdict === "error" ? outcome.message : "", /actual cost limit exceeded/);
    assert.deepEqual(remote.rounds, [["a"], ["b"], ["c"]]);

    const variables = verbs.map((verb, i) => ({
      name: verb,
      expression: i === 0 ? check(verb) : `variables.${verbs[i - 1]} && ${check(verb)}`,
    }));
    const chain = new Remote();
    const spec = { variables, ...validations("variables.e") };
    assert.deepEqual(await waited(inline(spec, { authorizer: chain.authorizer })), { verdict: "allow" });
    assert.deepEqual(chain.rounds, [["a"], ["b"], ["c"], ["d"], ["e"]]);
    const denied = { variables, ...validations("!variables.e") };
    assert.equal((await waited(inline(denied, { authorizer: chain.authorizer }))).verdict, "deny");
  });

  test("decide: what was evaluated without them does not", async () => {
    const { authorizer } = new Remote();
    assert.equal((await waited(inline(validations(`!${check("get")}`), { authorizer }))).verdict, "deny");
    assert.equal((await waited(inline(validations(check("deny")), { authorizer }))).verdict, "deny");
    const conditions = (expression: string) => ({
      matchConditions: [{ name: "c", expression }],
      ...validations("false"),
    });
    assert.equal((await waited(inline(conditions(check("get")), { authorizer }))).verdict, "deny");
    assert.deepEqual(await waited(inline(conditions(check("deny")), { authorizer })), {
      verdict: "skip",
      reason: "match condition 'c' is false",
      report: { passedOver: "condition" },
    });
    const annotations = {
      auditAnnotations: [{ key: "k", valueExpression: `${check("get")} ? 'yes' : 'no'` }],
      ...validations("true"),
    };
    // Annotations have no authorizer.
    assert.equal((inline(annotations, { authorizer }).evaluate(review, context()) as Outcome).verdict, "error");
  });

  test("are not asked for what may not be evaluated at all", async () => {
    const remote = new Remote();
    const spec = { matchConditions: [{ name: "c", expression: check("deny") }], ...validations(check("x")) };
    assert.equal((await waited(inline(spec, { authorizer: remote.authorizer }))).verdict, "skip");
    assert.deepEqual(remote.rounds, [["deny"]]);
  });

  test("of one round are asked side by side, over policies, bindings and expressions", async () => {
    const remote = new Remote();
    const kind = { paramKind: { apiVersion: "v1", kind: "ConfigMap" }, ...validations("params.data.max == '1'") };
    const documents = [
      policy(kind),
      binding(ref({ name: "c1" }), "b1"),
      binding(ref({ name: "c2" }), "b2"),
      policy({ ...validations(check("x"), check("y")) }, "q.acme.example"),
    ];
    const resources = remote.resources([map("c1", { max: "1" }), map("c2", { max: "1" }), namespaceObject("ns")]);
    const asked = prepare(documents).policy("all", worldWith({ resources, authorizer: remote.authorizer }));
    assert.deepEqual(await waited(asked), { verdict: "allow" });
    assert.deepEqual(remote.rounds, [
      ["scope", "namespace ns"],
      ["get c1", "get c2", "x", "y"],
    ]);
  });

  test("never turn into an allow when the caller goes", async () => {
    const controller = new AbortController();
    const authorizer = { authorize: () => new Promise<AuthorizerDecision>(() => {}) };
    const outcome = waited(inline(validations(check("get")), { authorizer }), { signal: controller.signal });
    controller.abort();
    assert.deepEqual(await outcome, {
      verdict: "error",
      message: "the policy did not answer in time",
      cause: "timeout",
    });
  });

  test("nor when they are a failure", async () => {
    const authorizer = { authorize: () => Promise.reject(new Error("no route")) };
    const shown = "the policy server could not ask the cluster";
    const said = inline(validations(`authorizer.requestResource.check('get').error() == '${shown}'`), { authorizer });
    assert.deepEqual(await waited(said), { verdict: "allow", detail: "no route" });
    assert.equal((await waited(inline(validations(check("get")), { authorizer }))).verdict, "deny");
    class Broken extends FileResources {
      override namespace(): Lookup<JsonObject> {
        return Promise.reject(new Error("no route")) as never;
      }
    }
    const outcome = await waited(inline(validations("true"), { resources: new Broken([]) }));
    assert.deepEqual(outcome, {
      verdict: "error",
      message: shown,
      code: 500,
      reason: "InternalError",
      cause: "unavailable",
      detail: "no route",
    });
  });

  test("so with Namespaces, for selectors too", async () => {
    const remote = new Remote();
    const resources = remote.resources([namespaceObject("ns", { env: "prod" })]);
    const spec = validations("namespaceObject.metadata.labels.env == 'dev'");
    assert.equal((await waited(inline(spec, { resources }))).verdict, "deny");
    const namespaceSelector = { matchLabels: { env: "dev" } };
    const selecting = inline({ ...spec, matchConstraints: { resourceRules: [], namespaceSelector } }, { resources });
    assert.equal((await waited(selecting)).verdict, "skip");
    const missing = await waited(inline(spec, { resources: remote.resources([]) }));
    assert.deepEqual([missing.verdict, missing.verdict === "error" && missing.code], ["error", 404]);
  });

  test("a Namespace that fails ends the request although another answer is under way", async () => {
    const remote = new Remote();
    const resources: ResourceSource = {
      ...remote.resources([]),
      namespace: () => new LookupFailure("gone"),
      equivalents: () => [],
    };
    const spec = { failurePolicy: "Ignore", ...validations(check("get")) };
    const outcome = inline(spec, { resources, authorizer: remote.authorizer }).evaluate(review, context());
    assert.equal((outcome as Outcome).verdict, "error");
    assert.deepEqual(remote.rounds, []);
  });
});

describe("more questions than a request may ask", () => {
  const kind = { paramKind: { apiVersion: "v1", kind: "ConfigMap" }, ...validations("true") };
  const documents = (bindings: number, spec: JsonObject) => [
    policy({ ...kind, ...spec }),
    ...Array.from({ length: bindings }, (_, i) => binding(ref({ name: `c${i}` }), `b${i}`)),
  ];
  const outcome = (bindings: number, spec: JsonObject = {}): Promise<Outcome> => {
    const maps = Array.from({ length: bindings }, (_, i) => map(`c${i}`));
    const resources = new Remote().resources([...maps, namespaceObject("ns")]);
    return waited(prepare(documents(bindings, spec)).policy("all", worldWith({ resources })));
  };
  // Besides its parameter of each binding the policy asks for the Namespace and the scope of the kind.
  const OTHERS = 2;

  test("are a failure, also for a policy whose failures are ignored", async () => {
    const failure = {
      verdict: "error",
      message: `the policy asks more than ${MAX_QUESTIONS} different questions`,
      cause: "unavailable",
    };
    assert.deepEqual(await outcome(MAX_QUESTIONS - OTHERS + 1), failure);
    assert.deepEqual(await outcome(MAX_QUESTIONS - OTHERS + 1, { failurePolicy: "Ignore" }), failure);
  });

  test("as many as allowed are answered", async () => {
    assert.deepEqual(await outcome(MAX_QUESTIONS - OTHERS), { verdict: "allow" });
  });
});
