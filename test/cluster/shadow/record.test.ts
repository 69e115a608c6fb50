import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { factText, type ToldCounts } from "../../../src/cluster/shadow/fact.js";
import {
  progressOf,
  readRecord,
  recordText,
  type ShadowRecord,
  whyNotYet,
} from "../../../src/cluster/shadow/record.js";
import { ReplicaCounts } from "../../../src/cluster/shadow/replica-counts.js";
import { NONE, type ShadowCounts } from "../../../src/policy/served/shadow/tally.js";

const VERSION = "2.1.01234567";
const HOUR = 3_600_000;

interface Told extends Partial<ToldCounts> {
  readonly lost?: number;
  readonly isEnded?: boolean;
  readonly isStale?: boolean;
  readonly version?: string;
}

/** Live replicas by name: what each tells as which instance; nothing: it tells nothing. */
type Live = Readonly<Record<string, readonly [instance: string, told: Told] | undefined>>;

/** The record as it comes out of a series of looks, each at its hour. */
class Looks {
  readonly counts = new ReplicaCounts();
  record: ShadowRecord | undefined;

  look(hour: number, live: Live) {
    this.counts.see(Object.entries(live).map(([name, told]) => replica(name, told)));
    const progress = progressOf(VERSION, this.record, this.counts.of(VERSION), hour * HOUR);
    // As the next leader reads it.
    this.record = readRecord(recordText(progress.record));
    return progress;
  }
}

function replica(name: string, told: Live[string]) {
  if (told === undefined) return { name, routes: new Set<string>(), facts: {} };
  const [instance, { lost = 0, isEnded = false, isStale = false, version = VERSION, isBroken = false, ...counts }] =
    told;
  const row = { id: "p", version, since: 0, ...NONE, ...counts, examples: [], isBroken };
  return { name, routes: new Set<string>(), facts: { shadow: factText({ instance, lost, isEnded, isStale }, [row]) } };
}

const hours = ({ passed }: { passed: number }) => passed / HOUR;

describe("how far a version in shadow has come", () => {
  test("is the time since all replicas tell of it, and the sum of what they tell", () => {
    const looks = new Looks();
    assert.equal(hours(looks.look(1, { a: ["A", { agreed: 1 }] })), 0);
    const { counts, denied, passed } = looks.look(25, {
      a: ["A", { agreed: 5, wouldDeny: 1 }],
      b: ["B", { agreed: 7, failed: 2 }],
    });
    assert.deepEqual([counts.agreed, denied, passed], [12, 3, 24 * HOUR]);
  });

  test("begins anew with another version", () => {
    const looks = new Looks();
    looks.look(1, { a: ["A", { wouldDeny: 3 }] });
    const other = progressOf("3.1.01234567", looks.record, looks.counts.of("3.1.01234567"), 9 * HOUR);
    assert.deepEqual([other.denied, other.passed, other.record.version], [0, 0, "3.1.01234567"]);
  });

  test("does not go on while a replica tells nothing of it, or nothing new, or could not load it", () => {
    for (const silent of [
      undefined,
      ["B", { version: "1.1.x" }],
      ["B", { isBroken: true }],
      ["B", { isStale: true }],
    ] as const) {
      const looks = new Looks();
      looks.look(0, { a: ["A", {}] });
      const held = looks.look(10, { a: ["A", {}], b: silent });
      assert.deepEqual(held.silent, ["b"]);
      assert.equal(hours(looks.look(15, { a: ["A", {}], b: silent })), 10);
      assert.equal(hours(looks.look(20, { a: ["A", {}], b: ["B", {}] })), 10);
      assert.equal(hours(looks.look(21, { a: ["A", {}], b: ["B", {}] })), 11);
    }
  });

  test("keeps what a replica has counted that took its leave", () => {
    const looks = new Looks();
    looks.look(0, { a: ["A", {}], b: ["B", {}] });
    looks.look(9, { a: ["A", {}], b: ["B", { wouldDeny: 2, isEnded: true }] });
    const after = looks.look(10, { a: ["A", { wouldDeny: 1 }] });
    assert.deepEqual([after.denied, hours(after)], [3, 10]);
    assert.deepEqual([looks.look(11, { a: ["A", { wouldDeny: 1 }] }).denied], [3]);
  });

  test("begins anew when a replica is gone, or starts again, without a word: what it counted last nobody knows", () => {
    for (const next of [{ a: ["A", {}] }, { a: ["A", {}], b: ["B2", {}] }] as const) {
      const looks = new Looks();
      looks.look(0, { a: ["A", {}], b: ["B", {}] });
      looks.look(5, { a: ["A", {}], b: ["B", { wouldDeny: 2 }] });
      const after = looks.look(10, next);
      assert.deepEqual([after.denied, hours(after)], [2, 0]);
      assert.equal(hours(looks.look(12, next)), 2);
    }
  });

  test("begins anew when a replica has lost some of what it had counted; the rest counts once", () => {
    const looks = new Looks();
    looks.look(0, { a: ["A", { wouldDeny: 1 }] });
    const after = looks.look(5, { a: ["A", { wouldDeny: 1, lost: 1 }] });
    assert.deepEqual([after.denied, hours(after)], [1, 0]);
    assert.equal(hours(looks.look(6, { a: ["A", { wouldDeny: 1, lost: 1 }] })), 1);
  });

  test("is known to the next leader, who finds gone whom the last one saw", () => {
    const looks = new Looks();
    looks.look(0, { a: ["A", {}], b: ["B", { wouldDeny: 4 }] });
    const next = new Looks();
    next.record = looks.record;
    // It was not there to hear how many B had counted: but the time begins anew.
    assert.equal(hours(next.look(10, { c: ["C", {}] })), 0);
    assert.deepEqual(Object.keys(next.record?.from ?? {}), ["C"]);
  });

  test("notes that are none are as good as none", () => {
    for (const text of [undefined, "", "null", "{}", "[1]", '{"version":"v","since":-1,"denied":0,"from":{}}'])
      assert.equal(readRecord(text), undefined, text);
  });
});

describe("a version is promoted by itself", () => {
  const progress = (
    counts: Partial<ShadowCounts>,
    more: { denied?: number; passed?: number; silent?: string[] } = {},
  ) => ({
    record: { version: VERSION, since: 0, denied: 0, from: {} },
    counts: { ...NONE, ...counts },
    denied: 0,
    passed: 2 * HOUR,
    silent: [],
    ...more,
  });
  const promotion = { after: HOUR, atMost: 1 };

  test("when its time has passed with few enough denials", () => {
    assert.equal(whyNotYet(promotion, progress({ agreed: 5 }, { denied: 1 })), undefined);
    assert.equal(whyNotYet(promotion, progress({})), undefined);
  });

  for (const [what, why, rule, far] of [
    ["without a time", /by hand only/, { atMost: 1 }, progress({})],
    ["before its time", /in 30 min/, promotion, progress({}, { passed: HOUR / 2 })],
    ["with more denials", /denied 2 requests/, promotion, progress({}, { denied: 2 })],
    ["while a replica is silent", /: b$/, promotion, progress({}, { silent: ["b"] })],
    ["when it was hardly asked", /less than half/, promotion, progress({ agreed: 4, notEvaluated: 5 })],
  ] as const) {
    test(`not ${what}`, () => {
      assert.match(whyNotYet(rule, far) ?? "promoted", why);
    });
  }
});
