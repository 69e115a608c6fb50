import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { FinishedAudit, RunOptions } from "../../../src/cluster/audit/audit-runner.js";
import type { AuditedPolicies } from "../../../src/cluster/audit/audited-policies.js";
import { Auditor } from "../../../src/cluster/audit/auditor.js";
import type { FromAuditor } from "../../../src/cluster/audit/messages.js";
import type { ClusterDelta } from "../../../src/config/from-cluster/index.js";
import { TestClock } from "../../support/test-clock.js";

const SECOND = 1_000;
const FINISHED: FinishedAudit = {
  summary: {
    objects: 3,
    evaluated: 2,
    results: new Map([["p", new Map([["fail", 1] as const])]]),
    problems: ["a kind"],
    moreProblems: 2,
    isComplete: false,
    milliseconds: 10,
  },
  leftOut: [
    { id: "broken", reason: "why", isProblem: true },
    { id: "off", reason: "as wanted", isProblem: false },
  ],
  counts: { pass: 0, fail: 1, warn: 0, error: 0, skip: 0 },
  isWell: false,
};

const delta = (version: number): ClusterDelta => ({ version, base: version - 1, put: [], removed: [], sets: [] });

function begin({ knows = true, took = 0, files = { changed: false } } = {}) {
  const clock = new TestClock();
  const told: FromAuditor[] = [];
  const rounds: Omit<RunOptions, "pace">[] = [];
  const used: AuditedPolicies[] = [];
  let finish = (): void => {};
  const auditor = new Auditor({
    clock,
    interval: 600 * SECOND,
    pace: { step: () => undefined },
    tell: (message) => told.push(message),
    policies: {
      take: () => knows,
      filesChanged: () => files.changed,
      load: async () => ({ policies: [], leftOut: [] }),
    },
    runner: {
      use: (policies) => used.push(policies),
      run: (options) => {
        rounds.push(options);
        if (took > 0) clock.move(took);
        return new Promise((resolve) => {
          finish = () => resolve(FINISHED);
        });
      },
    },
  });
  const settle = async () => {
    for (let i = 0; i < 10; i++) await Promise.resolve();
  };
  return {
    auditor,
    clock,
    told,
    rounds,
    used,
    settle,
    async finish() {
      await settle();
      finish();
      await settle();
    },
  };
}

describe("the auditor", () => {
  test("asks for what there is, and begins soon after it knows policies", async () => {
    const { auditor, clock, told, rounds, settle } = begin();
    auditor.start();
    assert.deepEqual(told, [{ type: "wants-all" }]);
    auditor.hear({ type: "replicas", live: ["a"], own: "a" });
    clock.move(60 * SECOND);
    await settle();
    assert.equal(rounds.length, 0, "there are no policies yet");
    auditor.hear({ type: "policies", delta: delta(1) });
    clock.move(4 * SECOND);
    auditor.hear({ type: "policies", delta: delta(2) });
    clock.move(4 * SECOND);
    await settle();
    assert.equal(rounds.length, 0, "more may come");
    clock.move(SECOND);
    await settle();
    assert.equal(rounds.length, 1);
  });

  test("asks for everything when it has missed something", () => {
    const { auditor, told } = begin({ knows: false });
    auditor.hear({ type: "policies", delta: delta(7) });
    assert.deepEqual(told, [{ type: "wants-all" }]);
  });

  test("tells what came of a round, and begins the next one after a while", async () => {
    const { auditor, clock, told, rounds, finish, settle } = begin();
    auditor.hear({ type: "policies", delta: delta(1) });
    clock.move(5 * SECOND);
    await finish();
    const [message] = told;
    assert.equal(message?.type, "round");
    assert.deepEqual(message?.type === "round" && { ...message.report, ended: 0 }, {
      objects: 3,
      evaluated: 2,
      milliseconds: 10,
      ended: 0,
      isComplete: false,
      results: [{ policy: "p", result: "fail", objects: 1 }],
      problems: ["a kind", "2 more problems"],
      leftOut: [{ policy: "broken", reason: "why" }],
    });
    clock.move(599 * SECOND);
    await settle();
    assert.equal(rounds.length, 1);
    clock.move(SECOND);
    await settle();
    assert.equal(rounds.length, 2);
  });

  test("begins again soon when something has changed meanwhile, but rests as long as it has worked", async () => {
    const { auditor, clock, rounds, finish, settle } = begin({ took: 100 * SECOND });
    auditor.hear({ type: "policies", delta: delta(1) });
    clock.move(5 * SECOND);
    await settle();
    auditor.hear({ type: "policies", delta: delta(2) });
    await finish();
    clock.move(99 * SECOND);
    await settle();
    assert.equal(rounds.length, 1);
    clock.move(2 * SECOND);
    await settle();
    assert.equal(rounds.length, 2);
  });

  test("begins no second round while one is under way, whatever changes", async () => {
    const { auditor, clock, rounds, finish, settle } = begin();
    auditor.hear({ type: "policies", delta: delta(1) });
    clock.move(5 * SECOND);
    await settle();
    auditor.hear({ type: "policies", delta: delta(2) });
    clock.move(60 * SECOND);
    await settle();
    assert.equal(rounds.length, 1);
    await finish();
    clock.move(200 * SECOND);
    await settle();
    assert.equal(rounds.length, 2);
  });

  test("is not put off for ever by changes that come one after the other", async () => {
    const { auditor, clock, rounds, settle } = begin();
    for (let version = 1; version <= 16; version++) {
      auditor.hear({ type: "policies", delta: delta(version) });
      clock.move(4 * SECOND);
      await settle();
    }
    assert.equal(rounds.length, 1);
  });

  test("begins soon when files of policies have changed", async () => {
    const files = { changed: false };
    const { auditor, clock, rounds, finish, settle } = begin({ files });
    auditor.start();
    auditor.hear({ type: "policies", delta: delta(1) });
    clock.move(5 * SECOND);
    await finish();
    clock.move(100 * SECOND);
    await settle();
    assert.equal(rounds.length, 1);
    files.changed = true;
    clock.move(10 * SECOND);
    files.changed = false;
    clock.move(5 * SECOND);
    await settle();
    assert.equal(rounds.length, 2);
  });

  test("takes no policies for gone that can't be read", async () => {
    const { auditor, clock, used, settle } = begin();
    auditor.hear({ type: "unread", resources: ["validatingpolicies.policies.kyverno.io"] });
    auditor.hear({ type: "policies", delta: delta(1) });
    clock.move(5 * SECOND);
    await settle();
    assert.deepEqual(used[0]?.leftOut, [
      { id: "of the cluster", reason: "validatingpolicies.policies.kyverno.io cannot be read", isProblem: true },
    ]);
  });

  test("looks at its part of the objects", async () => {
    const { auditor, clock, rounds, settle } = begin();
    auditor.hear({ type: "replicas", live: ["a", "b"], own: "a" });
    auditor.hear({ type: "policies", delta: delta(1) });
    clock.move(5 * SECOND);
    await settle();
    const own = Array.from({ length: 100 }, (_, i) => rounds[0]?.isOwn?.(`uid-${i}`)).filter(Boolean).length;
    assert.ok(own > 20 && own < 80, `${own}`);
  });

  test("knows whether requests come, and stops in the midst of a round", async () => {
    const { auditor, clock, rounds, told, settle, finish } = begin();
    auditor.hear({ type: "busy", busy: true });
    assert.equal(auditor.isBusy, true);
    auditor.hear({ type: "policies", delta: delta(1) });
    clock.move(5 * SECOND);
    await settle();
    const stopped = auditor.stop();
    assert.equal(rounds[0]?.signal.aborted, true);
    await finish();
    await stopped;
    assert.deepEqual(told, []);
    clock.move(10_000 * SECOND);
    await settle();
    assert.equal(rounds.length, 1);
  });
});
