import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { Waiting } from "../../../../src/cel/index.js";
import { RULE_DIALECT } from "../../../../src/kinds/certificate-request-policy/dialect.js";
import { Applicable } from "../../../../src/kinds/certificate-request-policy/engine/applicable.js";
import type { Decision } from "../../../../src/kinds/certificate-request-policy/engine/decision.js";
import { Reviewer } from "../../../../src/kinds/certificate-request-policy/engine/review.js";
import { Attempt } from "../../../../src/kinds/shared/expressions/attempt.js";
import { Turns } from "../../../../src/policy/turns.js";
import type { Authorizer } from "../../../../src/world/authorizer/authorizer.js";
import { RequestWorld } from "../../../../src/world/request-world.js";
import { CountedTurns } from "../../../support/counted-turns.js";
import { attribute, der, pem, request as requestOf } from "../../../x509/pkcs10/requests.js";
import { decisionOf, evaluation, policy, request, saidOf, worldWith } from "./asked.js";

const named = (...dns: readonly string[]) =>
  request({ request: pem(requestOf({ alternatives: dns.map((name) => der(0x82, Buffer.from(name))) })) });

/** Counts the turns that are asked for. */

/** A review on a clock that goes on by so many milliseconds whenever somebody looks at it. */
async function paused(
  policies: ConstructorParameters<typeof Reviewer>[0],
  asked: ReturnType<typeof request>,
  { step, deadline = 1e9, authorizer }: { step: number; deadline?: number; authorizer?: Authorizer },
): Promise<{ readonly decision: Decision; readonly turns: number }> {
  let time = 0;
  const now = (): number => {
    time += step;
    return time;
  };
  const turns = new CountedTurns(() => 0);
  const world = worldWith({ now, ...(authorizer && { authorizer }) });
  const context = { deadline, signal: new AbortController().signal, turns };
  const { decision } = await new Reviewer(policies, { world, readiness: "self" }).review({ request: asked }, context);
  return { decision, turns: turns.count };
}

const plain = ({ accounts, ...rest }: Decision): unknown => ({ ...rest, accounts: accounts() });

describe("policies that are paused", () => {
  const names = Array.from({ length: 40 }, (_, i) => `n${i}.example`);
  const subject = ["a", "b"].map((value) => attribute("1.2.3", der(0x0c, Buffer.from(value))));
  const asked = request({
    request: pem(requestOf({ names: subject, alternatives: names.map((name) => der(0x82, Buffer.from(name))) })),
    usages: ["server auth", "client auth"],
    isCA: true,
  });
  const DEAR =
    "[0,1,2,3,4,5,6,7,8,9].all(a, [0,1,2,3,4,5,6,7,8,9].all(b, [0,1,2,3,4,5,6,7,8,9].all(c, a + b + c >= 0)))";
  const allowed = {
    dnsNames: {
      values: Array.from({ length: 2_000 }, (_, i) => `n${i}*x*`),
      validations: [{ rule: DEAR }, { rule: "self != 'n7.example'" }, { rule: "self +" }],
    },
    usages: ["server*"],
    subject: {
      otherAttributes: [
        { oid: "1.2.3", values: ["a"] },
        { oid: "1.2.4", required: true },
      ],
    },
  };
  const policies = [
    policy({ allowed }, { name: "a" }),
    policy({ allowed: { ...allowed, isCA: true } }, { name: "b" }),
    policy({ constraints: { maxDuration: "1h" } }, { name: "c" }),
  ];

  for (const step of [0, 3, 7, 20]) {
    test(`say what they say at once, and no more, on a clock with steps of ${step} ms`, async () => {
      const { decision, turns } = await paused(policies, asked, { step });
      assert.deepEqual(plain(decision), plain(await decisionOf(policies, asked)));
      if (step > 0) assert.ok(turns > 10, `${turns} turns`);
    });
  }

  test("come to an end, however much one of them takes: each turn goes on where the last one was", async () => {
    const values = Array.from({ length: 3_000 }, (_, i) => `no-${i}`);
    const { decision, turns } = await paused([policy({ allowed: { dnsNames: { values } } })], asked, { step: 11 });
    assert.equal(decision.result, "Denied");
    assert.ok(turns < 500, `${turns} turns`);
  });

  test("approve, too", async () => {
    const approving = policy({ allowed: { dnsNames: { validations: [{ rule: DEAR }] } } });
    const { decision, turns } = await paused([approving], named(...names), { step: 7 });
    assert.equal(decision.result, "Approved");
    assert.ok(turns > 5, `${turns} turns`);
  });

  test("whether one may be used is asked once", async () => {
    const asked: string[] = [];
    const authorizer: Authorizer = {
      authorize: async ({ name }) => {
        asked.push(name);
        return { decision: name === "b" ? "allow" : "noOpinion", reason: "" };
      },
    };
    const approving = ["a", "b", "c"].map((name) => policy({}, { name }));
    const { decision } = await paused(approving, request(), { step: 7, authorizer });
    assert.equal(decision.result, "Approved");
    assert.deepEqual(asked, ["a", "b", "c"]);
  });
});

describe("what is decided after the deadline", () => {
  const TIMEOUT = { verdict: "error", message: "the policy did not answer in time", cause: "timeout" };

  test("is a time-out, whatever it would have been, also where nobody looked at the clock on the way", async () => {
    for (const policies of [[], [policy()], [policy({ selector: { issuerRef: { name: "other" } } })]]) {
      const { decision } = await paused(policies, request(), { step: 2, deadline: 1 });
      assert.equal(decision.result, "Error");
      assert.deepEqual("failure" in decision && decision.failure, TIMEOUT);
    }
  });

  test("is a time-out where nobody waits any more for who may use a policy", async () => {
    const never = { authorize: () => new Promise<never>(() => {}) };
    const ending = new AbortController();
    const reviewer = new Reviewer([policy()], { world: worldWith({ authorizer: never }), readiness: "self" });
    const reviewed = reviewer.review({ request: request() }, { deadline: 1e9, signal: ending.signal });
    ending.abort();
    const { decision } = await reviewed;
    assert.deepEqual("failure" in decision && decision.failure, TIMEOUT);
  });

  test("is a time-out in the midst of a policy's patterns", async () => {
    const values = Array.from({ length: 3_000 }, (_, i) => `no-${i}`);
    const { decision } = await paused([policy({ allowed: { dnsNames: { values } } })], named("a", "b"), {
      step: 5,
      deadline: 12,
    });
    assert.deepEqual("failure" in decision && decision.failure, TIMEOUT);
  });
});

describe("what is left to do after the deadline is left", () => {
  /** An attempt that is late from the first look at the clock on, and how often it was looked at: once for every 100,000 steps. */
  function late(world = worldWith()): { readonly attempt: Attempt; readonly looks: () => number } {
    let looks = 0;
    const now = (): number => {
      looks += 1;
      return 1;
    };
    const circumstances = { deadline: { at: 0, now }, turns: new Turns(() => 0) };
    return { attempt: new Attempt(RULE_DIALECT, new RequestWorld(world), circumstances), looks: () => looks };
  }

  test("patterns that names are still to be compared with", () => {
    const values = Array.from({ length: 3_000 }, (_, i) => `no-${i}`);
    const dnsNames = Array.from({ length: 1_000 }, (_, i) => `n${i}`);
    const { attempt, looks } = late();
    const asked = evaluation(policy({ allowed: { dnsNames: { values: [...values, "*"] } } }), { dnsNames });
    assert.ok(asked.objections(attempt) instanceof Waiting);
    assert.ok(looks() < 3, `${looks()} looks`);
  });

  test("selectors", () => {
    const other = policy({ selector: { issuerRef: { name: "other" } } });
    const { attempt, looks } = late();
    const applicable = new Applicable(new Array(20_000).fill(other), { request: request() });
    assert.ok(applicable.policies(attempt) instanceof Waiting);
    assert.ok(looks() < 3, `${looks()} looks`);
  });

  test("questions about who may use a policy", () => {
    let asked = 0;
    const authorizer: Authorizer = {
      authorize: () => {
        asked += 1;
        return { decision: "noOpinion", reason: "" };
      },
    };
    const { attempt } = late(worldWith({ authorizer }));
    const policies = Array.from({ length: 500 }, (_, i) => policy({}, { name: `p${i}` }));
    assert.ok(new Applicable(policies, { request: request() }).policies(attempt) instanceof Waiting);
    assert.ok(asked < 200, `${asked} questions`);
  });
});

describe("who may use a policy, and which policies are for a request", () => {
  test("a requester who cannot be asked about is an error, though another policy approves", async () => {
    const authorizer: Authorizer = {
      authorize: ({ name }) =>
        name === "a"
          ? { decision: "noOpinion", reason: "", error: "away", unanswered: true }
          : { decision: "allow", reason: "" },
    };
    const policies = [policy({}, { name: "a" }), policy({}, { name: "b" })];
    assert.equal(
      await saidOf(policies, request(), { world: worldWith({ authorizer }) }),
      "Error: failed to perform predicate on policies: failed to create subjectaccessreview: away",
    );
  });

  test("labels are looked up once, and only where names and issuer match", async () => {
    const looked: string[] = [];
    const { resources } = worldWith();
    const counting = Object.create(resources, {
      namespace: {
        value: (name: string) => {
          looked.push(name);
          return { metadata: { name, labels: { a: "b" } } };
        },
      },
    });
    const world = worldWith({ resources: counting });
    const matchLabels = { a: "c" };
    const elsewhere = [
      policy({ selector: { issuerRef: { name: "other" }, namespace: { matchLabels } } }, { name: "a" }),
      policy({ selector: { namespace: { matchNames: ["bar"], matchLabels } } }, { name: "b" }),
    ];
    await saidOf(elsewhere, request(), { world });
    assert.deepEqual(looked, []);
    const here = ["c", "d"].map((name) => policy({ selector: { namespace: { matchLabels } } }, { name }));
    await saidOf([...elsewhere, ...here], request(), { world });
    assert.deepEqual(looked, ["foo"]);
  });

  test("labels that are none, in a policy that nobody checked, are an error", async () => {
    const odd = policy({ selector: { namespace: { matchLabels: { a: "b*" } } } });
    assert.match(
      await saidOf([odd], request(), { namespaceLabels: {} }),
      /^Error: failed to perform predicate on policies: failed to parse namespace label selector: values\[0\]\[a\]: Invalid value: "b\*": /,
    );
  });

  test("names and identities beyond all measure are an error, and nobody is asked", async () => {
    const asked: string[] = [];
    const authorizer: Authorizer = {
      authorize: ({ name }) => {
        asked.push(name);
        return { decision: "allow", reason: "" };
      },
    };
    const world = worldWith({ authorizer });
    const issuerRef = { name: "x".repeat(2 ** 16), kind: "", group: "" };
    const large = "x".repeat(2 ** 18);
    for (const [more, said] of [
      [{ issuerRef }, /^Error: the request's names, issuer and usages have \d+ characters, more than 65536$/],
      [{ usages: [large] }, /^Error: the request's names, issuer and usages/],
      [
        { groups: [large] },
        /^Error: the request's user, groups and extra values have \d+ characters, more than 262144$/,
      ],
      [{ extra: { [large]: [] } }, /^Error: the request's user, groups and extra values/],
      [{ extra: { a: ["b", large] } }, /^Error: the request's user, groups and extra values/],
    ] as const) {
      assert.match(await saidOf([policy()], request(more), { world }), said);
    }
    assert.deepEqual(asked, []);
  });
});
