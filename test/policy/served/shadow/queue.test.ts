import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { setImmediate as turn } from "node:timers/promises";
import { admissionQuestion, rawQuestion } from "../../../../src/admission/decode.js";
import type { Outcome } from "../../../../src/policy/outcome.js";
import type { Review } from "../../../../src/policy/review.js";
import { createEvaluator, type Evaluator, type EvaluatorOptions } from "../../../../src/policy/served/evaluator.js";
import { createPolicySet, type ServedPolicy } from "../../../../src/policy/served/policy-set.js";
import { MAX_WAITING, MAX_WAITING_BYTES, PATIENCE_MS } from "../../../../src/policy/served/shadow/queue.js";
import { MAX_EXAMPLES, type ShadowRow } from "../../../../src/policy/served/shadow/tally.js";
import { servedAlone } from "../../../../src/policy/served/shadow/versions.js";
import { entry, immediate } from "../../../server/fake-policy.js";
import { until } from "../../../support/until.js";

const ALLOW: Outcome = { verdict: "allow" };
const DENY: Outcome = { verdict: "deny", message: "no" };
const FAIL: Outcome = { verdict: "error", message: "broken", cause: "trap" };

function pod(name = "web", namespace = "prod", kind = "Pod") {
  return admissionQuestion({
    uid: "u",
    kind: { group: "", version: "v1", kind },
    resource: { group: "", version: "v1", resource: "pods" },
    operation: "CREATE",
    namespace,
    name,
    userInfo: {},
    object: { secret: "never told" },
  });
}

function beside(active: ServedPolicy, shadow: ServedPolicy, enforced: readonly string[] = []): ServedPolicy {
  const version = { entry: shadow, version: "2", enforcedNamespaces: new Set(enforced), isAlone: false };
  return { ...active, shadow: version };
}

const fixed = (outcome: Outcome, options: Partial<ServedPolicy> = {}) => immediate("p", () => outcome, options);

function evaluatorOf(served: ServedPolicy, options: Partial<EvaluatorOptions> = {}): Evaluator {
  return createEvaluator(createPolicySet([served]), { policyTimeout: 60_000, wall: () => 1000, ...options });
}

async function ask(evaluator: Evaluator, review: Review = pod(), more: { origin?: "audit"; bytes?: number } = {}) {
  const served = evaluator.policies.entries.get("p");
  assert.ok(served !== undefined);
  return evaluator.evaluate(served, { review, origin: "validate", ...more });
}

/** Once the queue is empty. */
async function counted(evaluator: Evaluator): Promise<ShadowRow> {
  for (let turns = 0; evaluator.shadows.waiting > 0; turns++) {
    assert.ok(turns < 10_000, "the queue does not become empty");
    await turn();
  }
  await turn();
  const [row] = evaluator.shadows.tally.rows;
  assert.ok(row !== undefined);
  return row;
}

const counts = ({ agreed, wouldDeny, wouldAllow, failed, notEvaluated }: ShadowRow) => [
  agreed,
  wouldDeny,
  wouldAllow,
  failed,
  notEvaluated,
];

describe("a version in shadow", () => {
  for (const [what, active, shadow, expected] of [
    ["agrees", ALLOW, ALLOW, [1, 0, 0, 0, 0]],
    ["agrees about a denial", DENY, DENY, [1, 0, 0, 0, 0]],
    ["would deny", ALLOW, DENY, [0, 1, 0, 0, 0]],
    ["would allow", DENY, ALLOW, [0, 0, 1, 0, 0]],
    ["fails", ALLOW, FAIL, [0, 0, 0, 1, 0]],
    ["fails where the other denies", DENY, FAIL, [0, 0, 0, 1, 0]],
  ] as const) {
    test(`that ${what} is counted as that, and changes no answer`, async () => {
      const results: string[] = [];
      const evaluator = evaluatorOf(beside(fixed(active), fixed(shadow)), {
        onShadow: (id, result) => results.push(`${id} ${result}`),
      });
      const { response } = await ask(evaluator);
      assert.equal(response.allowed, active === ALLOW);
      assert.deepEqual(counts(await counted(evaluator)), expected);
      assert.equal(results.length, 1);
    });
  }

  test("is asked after the answer, not before", async () => {
    const order: string[] = [];
    const shadow = immediate("p", () => {
      order.push("shadow");
      return ALLOW;
    });
    const evaluator = evaluatorOf(beside(fixed(ALLOW), shadow));
    const verdict = ask(evaluator);
    order.push("answered");
    await verdict;
    await counted(evaluator);
    assert.deepEqual(order, ["answered", "shadow"]);
  });

  test("answers as it would be deployed: in monitor mode it would deny nothing, and its own message is told", async () => {
    const monitored = evaluatorOf(beside(fixed(ALLOW), fixed(DENY, { mode: "monitor" })));
    await ask(monitored);
    assert.deepEqual(counts(await counted(monitored)), [1, 0, 0, 0, 0]);
    const worded = evaluatorOf(beside(fixed(ALLOW), fixed(DENY, { message: "see the handbook" })));
    await ask(worded);
    assert.equal((await counted(worded)).examples[0]?.message, "see the handbook");
  });

  test("that throws, rejects or never answers is a failure of its own", async () => {
    const defects: string[] = [];
    const cyclic: Record<string, unknown> = {};
    cyclic.self = cyclic;
    const wrong: Outcome = { verdict: "allow", mutation: { kind: "object", object: cyclic } };
    for (const shadow of [
      immediate("p", () => {
        throw new Error("bug");
      }),
      entry("p", () => Promise.reject(new Error("bug"))),
      fixed(wrong, { allowedToMutate: true }),
      entry("p", () => new Promise(() => {}), { timeout: 1 }),
    ]) {
      const evaluator = evaluatorOf(beside(fixed(ALLOW), shadow), { onDefect: (id) => defects.push(id) });
      assert.equal((await ask(evaluator)).response.allowed, true);
      await until("its failure", async () => (await counted(evaluator)).failed > 0);
      assert.equal((await counted(evaluator)).failed, 1);
    }
    assert.ok(defects.length >= 2);
  });

  test("has examples of where it differs: the latest ten, without objects, and nothing said about a Secret", async () => {
    let time = 0;
    const evaluator = evaluatorOf(beside(fixed(ALLOW), fixed(DENY)), { wall: () => ++time });
    for (let i = 1; i <= MAX_EXAMPLES + 3; i++) await ask(evaluator, pod(`web-${i}`));
    await ask(evaluator, pod("keys", "prod", "Secret"));
    const { examples, wouldDeny } = await counted(evaluator);
    assert.equal(wouldDeny, MAX_EXAMPLES + 4);
    assert.equal(examples.length, MAX_EXAMPLES);
    const { at, ...latest } = examples.at(-2) ?? assert.fail("no example");
    const name = `web-${MAX_EXAMPLES + 3}`;
    const expected = { result: "wouldDeny", operation: "CREATE", kind: "Pod", namespace: "prod", name, message: "no" };
    assert.deepEqual(latest, expected);
    assert.equal(examples.at(-1)?.message, "[redacted]");
    assert.ok(!JSON.stringify(examples).includes("never told"));
  });

  test("of a message as long as a guest likes tells its beginning", async () => {
    const evaluator = evaluatorOf(beside(fixed(ALLOW), fixed({ verdict: "deny", message: "x".repeat(100_000) })));
    await ask(evaluator, pod("n".repeat(100_000)));
    assert.ok(JSON.stringify((await counted(evaluator)).examples).length < 1000);
  });

  test("is not asked about what the audit scanner asks", async () => {
    const evaluator = evaluatorOf(beside(fixed(ALLOW), fixed(DENY)));
    await ask(evaluator, pod(), { origin: "audit" });
    assert.deepEqual(counts(await counted(evaluator)), [0, 0, 0, 0, 0]);
  });

  test("is not compared with an answer that load or a lost client decided", async () => {
    const cut: Outcome = { verdict: "error", message: "gone", cause: "abandoned", final: true };
    const evaluator = evaluatorOf(beside(fixed(cut), fixed(ALLOW)));
    await ask(evaluator);
    assert.deepEqual(counts(await counted(evaluator)), [0, 0, 0, 0, 1]);
  });
});

describe("namespaces in which the new version is in force", () => {
  test("are answered by it, and the other is not asked", async () => {
    const never = immediate("p", () => assert.fail("the old version is not to be asked"));
    const evaluator = evaluatorOf(beside(never, fixed(DENY), ["prod"]));
    assert.equal((await ask(evaluator)).response.allowed, false);
    assert.deepEqual(counts(await counted(evaluator)), [0, 0, 0, 0, 0]);
  });

  test("leave all others, and raw requests, to the other", async () => {
    const evaluator = evaluatorOf(beside(fixed(ALLOW), fixed(DENY), ["dev"]));
    assert.equal((await ask(evaluator)).response.allowed, true);
    assert.equal((await ask(evaluator, rawQuestion({ namespace: "dev" }))).response.allowed, true);
    assert.equal((await counted(evaluator)).wouldDeny, 2);
  });

  test("keep a version that works when the new one is broken", async () => {
    const broken = fixed(FAIL, { unavailable: "it is broken" });
    assert.equal((await ask(evaluatorOf(beside(fixed(ALLOW), broken, ["prod"])))).response.allowed, true);
    const alone = servedAlone({ entry: broken, version: "1", enforcedNamespaces: new Set(["prod"]) });
    assert.equal((await ask(evaluatorOf(alone))).response.allowed, false);
  });
});

describe("a policy that is in shadow alone", () => {
  test("lets everything pass and says nothing; what it would say is counted", async () => {
    const shadow = { entry: fixed(DENY), version: "1", enforcedNamespaces: new Set<string>() };
    const evaluator = evaluatorOf(servedAlone(shadow));
    assert.deepEqual((await ask(evaluator)).response, { uid: "u", allowed: true });
    assert.equal((await counted(evaluator)).wouldDeny, 1);
  });
});

describe("the line of requests that wait for their shadows", () => {
  test("is short: what finds no room is not asked, and counted", async () => {
    const evaluator = evaluatorOf(beside(fixed(ALLOW), fixed(ALLOW)));
    evaluator.shadows.isBusy = () => true;
    for (let i = 0; i < MAX_WAITING + 5; i++) await ask(evaluator);
    assert.equal(evaluator.shadows.waiting, MAX_WAITING);
    assert.equal(evaluator.shadows.tally.rows[0]?.notEvaluated, 5);
    evaluator.shadows.isBusy = () => false;
    assert.deepEqual(counts(await waitedFor(evaluator)), [MAX_WAITING, 0, 0, 0, 5]);
  });

  test("holds few bytes", async () => {
    const evaluator = evaluatorOf(beside(fixed(ALLOW), fixed(ALLOW)));
    evaluator.shadows.isBusy = () => true;
    for (let i = 0; i < 4; i++) await ask(evaluator, pod(), { bytes: MAX_WAITING_BYTES / 2 });
    assert.equal(evaluator.shadows.waiting, 2);
    assert.equal(evaluator.shadows.tally.rows[0]?.notEvaluated, 2);
  });

  test("is forgotten when a process has been busy for long", async () => {
    let now = 0;
    const evaluator = evaluatorOf(beside(fixed(ALLOW), fixed(ALLOW)), { now: () => now });
    evaluator.shadows.isBusy = () => true;
    await ask(evaluator);
    now = PATIENCE_MS + 1;
    assert.deepEqual(counts(await waitedFor(evaluator)), [0, 0, 0, 0, 1]);
  });

  test("has one guest at a time, and none while requests keep guests busy; others are asked meanwhile", async () => {
    let underWay = 0;
    let most = 0;
    const guest = entry("p", async () => {
      most = Math.max(most, ++underWay);
      for (let turns = 0; turns < 5; turns++) await turn();
      underWay -= 1;
      return ALLOW;
    });
    const evaluator = evaluatorOf(beside(fixed(ALLOW), guest));
    for (let i = 0; i < 5; i++) await ask(evaluator);
    assert.equal((await waitedFor(evaluator)).agreed, 5);
    assert.equal(most, 1);
    const busyGuests = createEvaluator(
      createPolicySet([
        beside(fixed(ALLOW), guest),
        {
          ...immediate("q", () => ALLOW),
          shadow: {
            entry: immediate("q", () => ALLOW),
            version: "2",
            enforcedNamespaces: new Set<string>(),
            isAlone: false,
          },
        },
      ]),
      { policyTimeout: 2000 },
    );
    busyGuests.shadows.isBusy = (isImmediate) => !isImmediate;
    for (const served of busyGuests.policies.entries.values())
      await busyGuests.evaluate(served, { review: pod(), origin: "validate" });
    for (let i = 0; i < 3; i++) await turn();
    assert.deepEqual(
      busyGuests.shadows.tally.rows.map(({ id, agreed }) => `${id} ${agreed}`),
      ["p 0", "q 1"],
    );
  });

  test("gives each its own time, whatever the request had", async () => {
    const deadlines: number[] = [];
    const policy = {
      ...fixed(ALLOW).policy,
      evaluate: (_: unknown, context: { deadline: number }): Outcome => {
        deadlines.push(context.deadline);
        return ALLOW;
      },
    };
    const evaluator = evaluatorOf(beside(fixed(ALLOW), { ...fixed(ALLOW), policy, timeout: 700 }), { now: () => 50 });
    await ask(evaluator);
    await counted(evaluator);
    assert.deepEqual(deadlines, [750]);
  });
});

/** Once the queue is empty, which may take its looking again. */
async function waitedFor(evaluator: Evaluator): Promise<ShadowRow> {
  await until("the end of the queue", () => evaluator.shadows.waiting === 0);
  return counted(evaluator);
}
