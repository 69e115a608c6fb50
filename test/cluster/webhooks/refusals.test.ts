import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, test } from "node:test";
import { setImmediate as turn } from "node:timers/promises";
import { standingWebhooks, webhookObject } from "../../../src/cluster/webhooks/configuration.js";
import type { DerivedWebhook } from "../../../src/cluster/webhooks/derived-webhook.js";
import { WebhookKeeper, type WebhookReport } from "../../../src/cluster/webhooks/keeper.js";
import { isDoubtful, mistakesIn } from "../../../src/cluster/webhooks/mistakes.js";
import { writeConfigurations } from "../../../src/cluster/webhooks/write.js";
import { type ApiCause, ApiError, ClusterUnreachable } from "../../../src/kubernetes/client/errors.js";
import { formatFieldError } from "../../../src/kubernetes/field-error.js";
import { createLogger } from "../../../src/telemetry/logger.js";
import { TestClock } from "../../support/test-clock.js";
import { FakeReplicas, FakeStore, type Webhook } from "./fakes.js";
import { HOSTILE, harmless } from "./hostile.js";

/** An answer of a real API server (test/e2e/live/refusals.ts). */
interface Answer {
  readonly code: number;
  readonly message?: string;
  readonly causes?: readonly ApiCause[];
}

const ANSWERS = readFileSync(new URL("../../../../test/vectors/webhook-refusals.jsonl", import.meta.url), "utf8")
  .trim()
  .split("\n")
  .map((line) => JSON.parse(line) as { readonly between: Answer; readonly alone: Answer });

const SIGNAL = new AbortController().signal;
const IDENTITY = { base: "s", labels: {} };
const nameOf = ({ name }: { readonly name: string }) => name.split(".")[0] ?? "";
const errorOf = ({ code, message = "", causes = [] }: Answer) => new ApiError(code, "", message, "", causes);

/** An API server that answers about the webhook `m` as the real one has: alone, or between `a` and `z`. */
function answering({ between, alone }: { readonly between: Answer; readonly alone: Answer }): FakeStore {
  const store = new FakeStore();
  store.refuseAll = (webhooks) => {
    const answer = webhooks.length === 1 ? alone : between;
    return answer.code >= 300 && webhooks.some((each) => nameOf(each) === "m") ? errorOf(answer) : undefined;
  };
  return store;
}

/** Writes as the leader does, without what was refused. */
async function write(store: FakeStore, webhooks: readonly DerivedWebhook[]) {
  const objects = await store.list("validating");
  return writeConfigurations({
    ...{ store, identity: IDENTITY, signal: SIGNAL },
    found: new Map([["validating", objects]]),
    standing: objects.flatMap((each) => standingWebhooks("validating", each)),
    intended: webhooks.map((webhook) => {
      const { type, name } = webhook;
      return { type, name, webhook, raw: webhookObject(webhook, { service: { namespace: "n", name: "s" } }) };
    }),
  });
}

async function settle(): Promise<void> {
  for (let i = 0; i < 50; i++) await turn();
}

/** A leader with these webhooks, which every replica answers. */
async function leader(store: FakeStore, webhooks: readonly DerivedWebhook[]) {
  const [replicas, clock, lines] = [new FakeReplicas(), new TestClock(), [] as string[]];
  const sink = { write: (line: string) => void lines.push(line), flushSync: () => {}, dropped: 0 };
  let report: WebhookReport | undefined;
  const keeper = new WebhookKeeper({
    ...{ store, replicas, clock, random: () => 0, ownerRole: "policy-server", identity: { base: "s", labels: {} } },
    derive: () => ({ webhooks, sets: [], problems: [], advice: [] }),
    target: { service: { namespace: "n", name: "s" } },
    caBundle: () => "CA",
    logger: createLogger({ sink, format: "json" }),
    report: (told) => {
      report = told;
    },
  });
  replicas.are(webhooks.map(({ path }) => path));
  keeper.served({ version: 1, documents: new Map(), sets: [], unread: [] });
  keeper.lead(SIGNAL);
  await settle();
  return { keeper, clock, lines, report: () => report, standing: () => Object.values(store.standing).flat() };
}

describe("what a real API server has said against 200 webhooks that name others", () => {
  assert.equal(ANSWERS.length, HOSTILE.length);
  assert.deepEqual(new Set(ANSWERS.map(({ between: { code } }) => code)), new Set([201, 422, 500]));

  test("is held against none but the one that it is about", async () => {
    for (const [i, { way, webhook }] of HOSTILE.entries()) {
      const answers = ANSWERS[i] ?? assert.fail();
      const store = answering(answers);
      const webhooks = [harmless("a"), webhook, harmless("z")];
      const { refused, failure } = await write(store, webhooks);
      const isRefused = answers.between.code >= 300;
      assert.deepEqual(
        refused.map((each) => nameOf(each.webhook)),
        isRefused ? ["m"] : [],
        `${i}: ${way}`,
      );
      assert.equal(failure, undefined);
      if (isRefused) await write(store, [harmless("a"), harmless("z")]);
      assert.deepEqual(store.standing["validating s-1"], isRefused ? ["a", "z"] : ["a", "m", "z"], `${i}: ${way}`);
    }
  });

  test("keeps no other webhook from being written, and none that the API server takes", async () => {
    for (const [i, { way, webhook }] of HOSTILE.entries()) {
      const answers = ANSWERS[i] ?? assert.fail();
      const kept = await leader(answering(answers), [harmless("a"), webhook, harmless("z")]);
      const isRefused = answers.alone.code >= 300;
      assert.deepEqual(kept.standing(), isRefused ? ["a", "z"] : ["a", "m", "z"], `${i}: ${way}`);
      assert.deepEqual(
        kept.report()?.problems.map(({ id }) => id),
        isRefused ? ["m"] : [],
        `${i}: ${way}`,
      );
      await kept.keeper.stop();
    }
  });

  test("is known here before anything is written, in the same words, but for expressions", () => {
    const isOfExpression = ({ field, message }: ApiCause) =>
      field.endsWith(".expression") && !message.startsWith("Req");
    for (const [i, { way, webhook }] of HOSTILE.entries()) {
      const { code, causes = [] } = ANSWERS[i]?.alone ?? assert.fail();
      const found = mistakesIn(webhook).map(formatFieldError);
      const others = causes.filter((cause) => !isOfExpression(cause));
      const said = others.map(({ field, message }) => `${field.replace("webhooks[0].", "")}: ${message}`);
      // Where it can't read the object it names no places.
      if (code === 422 || code === 201) assert.deepEqual(found, said, `${i}: ${way}`);
      else assert.notDeepEqual(found, [], `${i}: ${way}`);
      if (others.length < causes.length) assert.ok(isDoubtful(webhook));
    }
  });
});

describe("a refusal that names no places, or wrong ones", () => {
  const isBad = ({ name }: Webhook) => name.startsWith("bad");
  const many = (count: number, ...bad: readonly number[]) =>
    Array.from({ length: count }, (_, i) => harmless(`${bad.includes(i) ? "bad" : "w"}-${String(i).padStart(3, "0")}`));
  const failures: Readonly<Record<string, (webhooks: readonly Webhook[]) => Error>> = {
    "400": () => new ApiError(400, "BadRequest", "error decoding patch: webhooks[0]"),
    "413": () => new ApiError(413, "RequestEntityTooLarge", "Request entity too large: limit is 3145728"),
    "422 without causes": () => new ApiError(422, "Invalid", "webhooks[0].name: webhooks[1]"),
    "422 about all of it": () => new ApiError(422, "Invalid", "m", "", [{ field: "metadata.labels", message: "m" }]),
    "422 about the one before": (webhooks) =>
      new ApiError(422, "Invalid", "m", "", [
        { field: `webhooks[${webhooks.findIndex(isBad) - 1}].name`, message: "m" },
      ]),
    "422 about one that is not there": () =>
      new ApiError(422, "Invalid", "m", "", [{ field: "webhooks[99999999999].name", message: "m" }]),
    "422 with a place in a place": () =>
      new ApiError(422, "Invalid", "m", "", [{ field: "spec[webhooks[0]].webhooks[1]", message: "m" }]),
    "500": () => new ApiError(500, "", "failed to create typed patch object"),
    "504": () => new ApiError(504, "Timeout", "request did not complete within requested timeout"),
    "no answer in time": () => new ClusterUnreachable("no answer in time"),
  };
  for (const [name, failure] of Object.entries(failures))
    test(`is held against the one that is refused alone: ${name}`, async () => {
      const store = new FakeStore();
      store.refuseAll = (webhooks) => (webhooks.some(isBad) ? failure(webhooks) : undefined);
      const kept = await leader(store, many(40, 7, 23));
      assert.equal(kept.standing().length, 38);
      assert.ok(!kept.standing().some((each) => each.startsWith("bad")));
      assert.deepEqual(
        kept.report()?.problems.map(({ id }) => id),
        ["bad-007", "bad-023"],
      );
      await kept.keeper.stop();
    });

  test("of everything is held against none: it is tried again after longer and longer, and then all are written", async () => {
    for (const failure of [failures["500"], failures["no answer in time"], () => new ApiError(429, "", "later")]) {
      const store = new FakeStore();
      store.refuseAll = () => failure?.([]);
      const kept = await leader(store, many(5));
      assert.deepEqual(kept.standing(), []);
      // None is said to be refused: where there was an answer, that they can't be written.
      assert.ok((kept.report()?.problems ?? []).every(({ reason }) => reason === "WebhookNotWritable"));
      assert.deepEqual(store.attempts, [[]]);
      store.refuseAll = () => undefined;
      kept.clock.move(1_000);
      await settle();
      assert.equal(kept.standing().length, 5);
      await kept.keeper.stop();
    }
  });

  test("of one object keeps no other object from being written", async () => {
    const store = new FakeStore();
    // As where something is too large for the API server's own store: of a dry run it says nothing.
    store.apply = async (type, configuration) => {
      const { metadata } = configuration as { metadata: { name: string } };
      if (metadata.name === "s-1") throw new ApiError(500, "", "etcdserver: request is too large");
      return FakeStore.prototype.apply.call(store, type, configuration);
    };
    const kept = await leader(store, many(600));
    assert.deepEqual(Object.keys(store.standing), ["validating s-2"]);
    assert.equal(kept.standing().length, 100);
    await kept.keeper.stop();
  });

  test("takes few attempts among many, and finds all in the end", async () => {
    const store = new FakeStore();
    store.refuseAll = (webhooks) => (webhooks.some(isBad) ? failures["500"]?.([]) : undefined);
    const kept = await leader(store, many(400, 3, 4, 5, 100, 350));
    assert.equal(kept.standing().length, 395);
    assert.ok(store.attempts.length < 100, `${store.attempts.length} attempts`);
    await kept.keeper.stop();
    const worse = new FakeStore();
    worse.refuseAll = store.refuseAll;
    const all = await leader(worse, many(400, ...Array.from({ length: 100 }, (_, i) => 4 * i)));
    await settle();
    assert.equal(all.standing().length, 300);
    await all.keeper.stop();
  });
});

describe("what was refused", () => {
  /** Every attempt at `m` alone, and the milliseconds until it came. */
  async function waits(store: FakeStore, times: number) {
    const kept = await leader(store, [harmless("a"), harmless("m", { timeoutSeconds: 2 })]);
    const found: number[] = [];
    const attempts = () => store.attempts.filter(([name]) => name === "m").length;
    for (let before = attempts(); found.length < times; before = attempts()) {
      let waited = 0;
      for (; attempts() === before; waited += 1_000) {
        kept.clock.move(1_000);
        await settle();
      }
      found.push(waited);
    }
    return { kept, found };
  }

  test("is tried again alone, after longer and longer, and written once it is taken", async () => {
    const store = new FakeStore();
    store.refuse = ({ timeoutSeconds }) => (timeoutSeconds === 2 ? "timeoutSeconds: Invalid value: 2" : undefined);
    const { kept, found } = await waits(store, 11);
    assert.deepEqual(
      found,
      [1, 1, 2, 4, 8, 16, 32, 64, 128, 150, 150].map((seconds) => seconds * 1_000),
    );
    assert.deepEqual(kept.standing(), ["a"]);
    // The others stand as they are, and what is said again is not said again.
    assert.equal(store.writes.filter((each) => each.startsWith("apply")).length, 2);
    assert.equal(kept.lines.filter((line) => line.includes("refuses a webhook")).length, 1);
    store.refuse = () => undefined;
    kept.clock.move(150_000);
    await settle();
    assert.deepEqual(kept.standing(), ["a", "m"]);
    assert.deepEqual(kept.report()?.problems, []);
    await kept.keeper.stop();
  });

  test("is not tried when no API server would take it", async () => {
    const store = new FakeStore();
    const selector = { matchLabels: { "webhooks[0].rules: Required value": "x" } };
    const kept = await leader(store, [harmless("a"), harmless("m", { objectSelector: selector })]);
    assert.deepEqual(kept.standing(), ["a"]);
    assert.match(
      kept.report()?.problems[0]?.text ?? "",
      /^the API server refuses its webhook: objectSelector.matchLab/,
    );
    kept.clock.move(3_600_000);
    await settle();
    assert.deepEqual(store.attempts, []);
    await kept.keeper.stop();
  });

  test("is asked of the API server before it stands beside others, where it is an expression; not where it stands already", async () => {
    const store = new FakeStore();
    const matchConditions = [{ name: "x", expression: "true" }];
    const kept = await leader(store, [harmless("a"), harmless("m", { matchConditions })]);
    assert.deepEqual(store.attempts, [["m"]]);
    assert.deepEqual(kept.standing(), ["a", "m"]);
    await kept.keeper.stop();
    const after = await leader(store, [harmless("a"), harmless("m", { matchConditions, timeoutSeconds: 5 })]);
    assert.deepEqual(store.attempts, [["m"]]);
    await after.keeper.stop();
  });

  test("costs an API server little: what is longer than it reads in time is not given to it", () => {
    const long = (count: number, bytes: number) =>
      Array.from({ length: count }, (_, i) => ({ name: `c${i}`, expression: `'${"é".repeat(bytes / 2)}' != ''` }));
    const values = Array.from({ length: 100_000 }, (_, i) => `_${i}`);
    const cases: readonly Partial<DerivedWebhook>[] = [
      { matchConditions: long(1, 8 * 1024) },
      { matchConditions: long(40, 1024) },
      { objectSelector: { matchExpressions: [{ key: "a", operator: "In", values }] } },
    ];
    for (const more of cases) assert.equal(mistakesIn(harmless("m", more)).length, 1);
    assert.deepEqual(mistakesIn(harmless("m", { matchConditions: long(4, 7 * 1024) })), []);
  });
});
