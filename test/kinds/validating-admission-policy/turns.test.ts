import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { JsonObject } from "../../../src/kubernetes/object.js";
import type { AdmissionQuestion, EvaluationContext, Outcome, Policy } from "../../../src/policy/index.js";
import { type TurnGiver, Turns } from "../../../src/policy/turns.js";
import { NO_OPINION } from "../../../src/world/authorizer/authorizer.js";
import { FileResources } from "../../../src/world/resources/file-resources.js";
import type { ResourceSource } from "../../../src/world/resources/resource-source.js";
import { worldOf } from "../../../src/world/world.js";
import { CountedTurns } from "../../support/counted-turns.js";
import { inline, prepare } from "./prepared.js";
import { binding, costly, deployment, map, namespaceObject, policy, ref, validations } from "./tricky.js";

const review: AdmissionQuestion = {
  kind: "admission",
  request: deployment() as unknown as AdmissionQuestion["request"],
  requestBytes: () => new Uint8Array(),
};

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

async function asked(policyOf: (now: () => number) => Policy, more: Partial<EvaluationContext> = {}) {
  const turns = new CountedTurns();
  const signal = new AbortController().signal;
  const context = { deadline: Number.POSITIVE_INFINITY, signal, turns, ...more };
  return { outcome: await policyOf(fastClock()).evaluate(review, context), turns: turns.count };
}

const atOnce = (policyOf: (now: () => number) => Policy): Outcome | Promise<Outcome> =>
  policyOf(() => 0).evaluate(review, {
    deadline: Number.POSITIVE_INFINITY,
    signal: new AbortController().signal,
  });

/** Two policies, two bindings each, two parameters, and everything that an evaluation has. */
function large(now: () => number): Policy {
  const spec = (which: string): JsonObject => ({
    paramKind: { apiVersion: "v1", kind: "ConfigMap" },
    matchConditions: [
      { name: "long", expression: LONG },
      { name: "cheap", expression: "request.name == 'web'" },
    ],
    variables: [
      { name: "long", expression: `${LONG} ? int(params.data.n) : 0` },
      { name: "more", expression: `variables.long + (${LONG} ? 1 : 0)` },
    ],
    validations: [
      {
        expression: `variables.more < 3 && ${LONG}`,
        messageExpression: `'${which} ' + string(variables.more) + string(${LONG})`,
      },
      { expression: `${LONG} && object.spec.replicas == 3` },
      { expression: `!(${LONG})`, message: `${which} never` },
      { expression: `object.nothing == ${LONG}` },
    ],
    auditAnnotations: [
      { key: "a", valueExpression: `${LONG} ? string(params.data.n) : ''` },
      { key: "b", valueExpression: `string(variables.more)` },
    ],
  });
  const documents = [
    policy(spec("first")),
    policy(spec("second"), "q.acme.example"),
    binding({ ...ref({ selector: {} }) }),
    binding({ ...ref({ name: "one" }), validationActions: ["Warn", "Audit"] }, "c"),
    binding({ ...ref({ selector: {} }), policyName: "q.acme.example" }, "d"),
    namespaceObject("ns"),
    map("one", { n: "1" }),
    map("two", { n: "2" }),
  ];
  const prepared = prepare(documents);
  assert.deepEqual(prepared.problems, []);
  return prepared.policy("all", worldOf(prepared.objects, { authorizer: NO_OPINION, now }));
}

describe("policies that take longer", () => {
  test("let others have their turn, and come to the same", async () => {
    const whole = await atOnce(large);
    assert.equal(whole.verdict, "deny", JSON.stringify(whole));
    const { outcome, turns } = await asked(large);
    assert.deepEqual(outcome, whole);
    assert.ok(turns > 20, `${turns} turns`);
  });

  test("go on where they were: nothing is evaluated twice", async () => {
    const expressions = Array.from({ length: 30 }, (_, i) => `${LONG} && ${i} >= 0`);
    const policyOf = (now: () => number): Policy => inline(validations(...expressions), { now });
    const { outcome, turns } = await asked(policyOf);
    assert.deepEqual(outcome, { verdict: "allow" });
    assert.ok(turns <= 30, `${turns} turns`);
  });

  test("pay for everything once", async () => {
    // Together just within what a policy may cost.
    const variables = [{ name: "v", expression: costly(600_000) }];
    const ten = Array.from({ length: 10 }, () => `variables.v && ${costly(600_000)}`);
    const within = (now: () => number): Policy => inline({ variables, ...validations(...ten) }, { now });
    assert.deepEqual((await asked(within)).outcome, { verdict: "allow" });
    const twelve = [...ten, costly(600_000), costly(600_000)];
    const beyond = (now: () => number): Policy => inline({ variables, ...validations(...twelve) }, { now });
    const whole = await atOnce(beyond);
    assert.match("message" in whole ? String(whole.message) : "", /out of cost budget/);
    assert.deepEqual((await asked(beyond)).outcome, whole);
  });

  test("ask again what they wait for, and are not believed before", async () => {
    const verbs: string[] = [];
    const policyOf = (now: () => number): Policy => {
      const authorizer = {
        authorize: ({ verb }: { readonly verb: string }) => {
          verbs.push(verb);
          return new Promise<{ decision: "allow"; reason: string }>((resolve) =>
            setImmediate(() => resolve({ decision: "allow", reason: "" })),
          );
        },
      };
      const check = (verb: string): string => `authorizer.requestResource.check('${verb}').allowed()`;
      return inline(validations(LONG, `${LONG} && ${check("a")}`, LONG, `${LONG} && !${check("b")}`), {
        now,
        authorizer,
      });
    };
    const { outcome } = await asked(policyOf);
    assert.equal(outcome.verdict, "deny");
    assert.deepEqual(verbs, ["a", "b"]);
  });

  test("end with their deadline", async () => {
    const expressions = Array.from({ length: 30 }, (_, i) => `${LONG} && ${i} >= 0`);
    const { outcome } = await asked((now) => inline(validations(...expressions), { now }), { deadline: 200 });
    assert.deepEqual([outcome.verdict, "cause" in outcome && outcome.cause], ["error", "timeout"]);
  });

  test("take no turn as long as their slice lasts, whatever time it is", async () => {
    const turns = new CountedTurns();
    const context = { deadline: Number.POSITIVE_INFINITY, signal: new AbortController().signal, turns };
    const policyOf = inline(validations(LONG, LONG, LONG), { now: () => 1_000_000 });
    assert.deepEqual([policyOf.evaluate(review, context), turns.count], [{ verdict: "allow" }, 0]);
  });

  test("let others have their turn also between many cheap expressions", async () => {
    const cheap = Array.from({ length: 100 }, (_, i) => `object.spec.replicas != ${-i}`);
    const { outcome, turns } = await asked((now) => inline(validations(...cheap), { now }));
    assert.deepEqual(outcome, { verdict: "allow" });
    assert.ok(turns >= 5 && turns <= 20, `${turns} turns`);
  });

  test("are in time at their deadline, and late behind it", () => {
    const signal = new AbortController().signal;
    const policyOf = inline(validations(LONG), { now: () => 200 });
    assert.deepEqual(policyOf.evaluate(review, { deadline: 200, signal }), { verdict: "allow" });
    const late = policyOf.evaluate(review, { deadline: 199, signal });
    assert.deepEqual("cause" in late && late.cause, "timeout");
  });

  test("answer at once where nobody else waits", () => {
    const policyOf = inline(validations(LONG, LONG), { now: fastClock() });
    const signal = new AbortController().signal;
    assert.deepEqual(policyOf.evaluate(review, { deadline: Number.POSITIVE_INFINITY, signal }), { verdict: "allow" });
  });
});

describe("variables that take long", () => {
  const chain = Array.from({ length: 6 }, (_, i) => ({
    name: `v${i}`,
    expression: `${i === 0 ? "true" : `variables.v${i - 1}`} && ${LONG}`,
  }));

  test("let others have their turn between them, though one expression asks for all", async () => {
    const spec = { variables: chain, ...validations("variables.v5 && object.spec.replicas == 3", "!variables.v0") };
    const policyOf = (now: () => number): Policy => inline(spec, { now });
    const { outcome, turns } = await asked(policyOf);
    assert.deepEqual(outcome, await atOnce(policyOf));
    assert.equal(outcome.verdict, "deny");
    assert.ok(turns >= 5 && turns <= 12, `${turns} turns`);
  });

  test("are paid for by who asked for them, once", async () => {
    const dear = Array.from({ length: 5 }, (_, i) => ({
      name: `v${i}`,
      expression: `${i === 0 ? "true" : `variables.v${i - 1}`} && ${costly(600_000)}`,
    }));
    const rest = Array.from({ length: 6 }, () => costly(600_000));
    for (const [more, verdict] of [
      [0, "allow"],
      [1, "error"],
    ] as const) {
      const expressions = ["variables.v4", ...rest, ...Array.from({ length: more }, () => costly(600_000))];
      const policyOf = (now: () => number): Policy =>
        inline({ variables: dear, ...validations(...expressions) }, { now });
      const { outcome } = await asked(policyOf);
      assert.deepEqual([outcome.verdict, outcome], [verdict, await atOnce(policyOf)]);
    }
  });
});

test("an expression that holds the thread for too long has timed out, with its variables, and says so", () => {
  const list = Array.from({ length: 20_000 }, (_, i) => i);
  const object = { metadata: {}, list, other: [...list] };
  const asking = { ...review, request: deployment({ object }) } as unknown as AdmissionQuestion;
  const loop = (turns: number): string => `[${Array(turns).fill(0)}].all(x, object.list == object.other)`;
  const outcome = (turns: number, step: number): Outcome | Promise<Outcome> => {
    let time = 0;
    const now = (): number => {
      time += step;
      return time;
    };
    const spec = {
      variables: [{ name: "v", expression: loop(turns) }],
      ...validations(`${loop(turns)} && variables.v`),
    };
    const context = { deadline: 1_000_000, signal: new AbortController().signal };
    return inline(spec, { now }).evaluate(asking, context);
  };
  const { detail = "", ...stopped } = outcome(200, 1) as Outcome;
  assert.deepEqual(stopped, {
    verdict: "error",
    message: "an expression of the policy was stopped: it took longer than 90 ms, while other requests wait",
    cause: "timeout",
  });
  assert.match(
    detail,
    /^the expression \[0,0,.*… was stopped; the limit is the server's own, and no option changes it$/,
  );
  // Little was done in all that time: the process had not its turn.
  assert.deepEqual(outcome(2, 200), { verdict: "allow" });
});

describe("an expression that takes long", () => {
  const list = Array.from({ length: 20_000 }, (_, i) => i);
  const long = `[${Array(200).fill(0)}].all(x, object.list == object.other)`;
  const large = "url('https://h/' + object.text).getHostname() == 'h'";
  const object = { metadata: {}, list, other: [...list], text: "x".repeat(40_000) };
  const asking = { ...review, request: deployment({ object }) } as unknown as AdmissionQuestion;
  const specs: Readonly<Record<string, JsonObject>> = {
    "a validation": validations(`!(${long})`, LONG, "true"),
    "a variable": { variables: [{ name: "v", expression: long }], ...validations("!variables.v", LONG, "true") },
    "a match condition": {
      matchConditions: [long, LONG, "true"].map((expression, i) => ({ name: `c${i}`, expression })),
      ...validations("false"),
    },
    "a message": { validations: [{ expression: "false", messageExpression: `string(${long})` }, { expression: LONG }] },
    "a validation that reads too much": validations(`!(${large})`, LONG, "true"),
    "a variable that reads too much": {
      variables: [{ name: "v", expression: large }],
      ...validations("!variables.v", LONG, "true"),
    },
  };
  const isTooLarge = (name: string): boolean => name.endsWith("reads too much");
  /** With a clock on which every look takes a millisecond. */
  const outcomeOf = async (spec: JsonObject, deadline: number, turns?: TurnGiver): Promise<Outcome> => {
    let time = 0;
    const now = (): number => {
      time += 1;
      return time;
    };
    return inline(spec, { now }).evaluate(asking, { deadline, signal: new AbortController().signal, turns });
  };
  for (const [name, spec] of Object.entries(specs)) {
    for (const failurePolicy of ["Fail", "Ignore"]) {
      const written = { failurePolicy, ...spec };
      test(`is stopped where it cannot give others their turn: ${name}, failurePolicy ${failurePolicy}`, async () => {
        for (const turns of isTooLarge(name) ? [undefined, new CountedTurns()] : [undefined]) {
          const outcome = await outcomeOf(written, 1_000_000, turns);
          assert.deepEqual([outcome.verdict, "cause" in outcome && outcome.cause], ["error", "timeout"]);
          assert.match(
            "message" in outcome ? String(outcome.message) : "",
            /^an expression of the policy was stopped: it /,
          );
        }
      });
      if (isTooLarge(name)) continue;

      test(`comes to its result in steps: ${name}, failurePolicy ${failurePolicy}`, async () => {
        const turns = new CountedTurns();
        const outcome = await outcomeOf(written, 1_000_000, turns);
        assert.deepEqual([outcome.verdict, "code" in outcome && outcome.code], ["deny", 422]);
        if (name === "a message") assert.match("message" in outcome ? String(outcome.message) : "", /true/);
        assert.ok(turns.count > 5, `${turns.count} turns`);
      });

      test(`has timed out at its deadline, in whatever step: ${name}, failurePolicy ${failurePolicy}`, async () => {
        const outcome = await outcomeOf(written, 100, new CountedTurns());
        assert.deepEqual(outcome, { verdict: "error", message: "the policy did not answer in time", cause: "timeout" });
      });
    }
  }
});

test("a Namespace that changes while others have their turn is seen in one state", async () => {
  const tierIs = (tier: string): string => `namespaceObject.metadata.labels.tier == '${tier}' && ${LONG}`;
  let tier = "low";
  const files = new FileResources([], { guessScope: true, synthesiseNamespaces: true });
  const resources: ResourceSource = {
    namespace: () => namespaceObject("ns", { tier }),
    get: (...asked) => files.get(...asked),
    list: (...asked) => files.list(...asked),
    namespaced: (...asked) => files.namespaced(...asked),
    equivalents: (...asked) => files.equivalents(...asked),
    convert: (...asked) => files.convert(...asked),
  };
  const outcome = inline(validations(tierIs("low"), tierIs("high")), { now: fastClock(), resources }).evaluate(review, {
    deadline: Number.POSITIVE_INFINITY,
    signal: new AbortController().signal,
    turns: new Turns(),
  });
  tier = "high";
  assert.equal((await outcome).verdict, "deny");
});

test("an evaluation that comes back often has longer slices: it does not spend its time with coming back", async () => {
  const parameters = Array.from({ length: 600 }, (_, i) => map(`m${i}`, { n: String(i) }));
  const spec = {
    paramKind: { apiVersion: "v1", kind: "ConfigMap" },
    ...validations(`int(params.data.n) >= 0 && ${costly(2_000)}`),
  };
  const prepared = prepare([policy(spec), binding(ref({ selector: {} })), namespaceObject("ns"), ...parameters]);
  // Each look at the clock takes a millisecond, and there is one for each parameter.
  let time = 0;
  const now = (): number => {
    time += 1;
    return time;
  };
  const { outcome, turns } = await asked(() =>
    prepared.policy("all", worldOf(prepared.objects, { authorizer: NO_OPINION, now })),
  );
  assert.deepEqual(outcome, { verdict: "allow" });
  assert.ok(turns > 1 && turns < 30, `${turns} turns`);
});
