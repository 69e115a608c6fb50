import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { createPolicySet, type PolicySet } from "../../../../src/policy/served/policy-set.js";
import { MAX_EXAMPLES, type ShadowExample, ShadowTally } from "../../../../src/policy/served/shadow/tally.js";
import { servedAlone, withShadows } from "../../../../src/policy/served/shadow/versions.js";
import { immediate } from "../../../server/fake-policy.js";

const policy = (id: string) => immediate(id, () => ({ verdict: "allow" }));

function shadowed(...versions: readonly (readonly [id: string, version: string])[]): PolicySet {
  return createPolicySet(
    versions.map(([id, version]) => servedAlone({ entry: policy(id), version, enforcedNamespaces: new Set() })),
  );
}

const example = (at: number): ShadowExample => ({ at, result: "wouldDeny", name: `n${at}` });

describe("counts of versions in shadow", () => {
  test("go on over reloads while the version is the same, and begin anew with another", () => {
    const tally = new ShadowTally();
    tally.follow(shadowed(["p", "1"]), 10);
    assert.ok(tally.count("p", "1", "agreed"));
    tally.follow(shadowed(["p", "1"]), 20);
    assert.deepEqual(
      tally.rows.map(({ agreed, since }) => [agreed, since]),
      [[1, 10]],
    );
    tally.follow(shadowed(["p", "2"]), 30);
    assert.ok(!tally.count("p", "1", "agreed"), "an answer to the older version counts for none");
    assert.deepEqual(
      tally.rows.map(({ version, agreed, since }) => [version, agreed, since]),
      [["2", 0, 30]],
    );
    tally.follow(shadowed(), 40);
    assert.deepEqual(tally.rows, []);
  });

  test("are handed over once, and added up", () => {
    const [one, other, sum] = [new ShadowTally(), new ShadowTally(), new ShadowTally()];
    for (const [tally, since] of [
      [one, 20],
      [other, 10],
    ] as const)
      tally.follow(shadowed(["p", "1"]), since);
    for (let at = 1; at <= MAX_EXAMPLES; at++) one.count("p", "1", "wouldDeny", example(2 * at));
    other.count("p", "1", "wouldDeny", example(7));
    for (let round = 0; round < 2; round++) for (const tally of [one, other]) sum.add(tally.take());
    const [row] = sum.rows;
    assert.equal(row?.wouldDeny, MAX_EXAMPLES + 1);
    assert.equal(row?.since, 10);
    assert.deepEqual(
      row?.examples.map(({ at }) => at),
      [4, 6, 7, 8, 10, 12, 14, 16, 18, 20],
    );
    one.count("p", "1", "failed");
    sum.add(one.take());
    assert.equal(sum.rows[0]?.failed, 1);
  });

  test("of versions that nobody has any more are forgotten", () => {
    const sum = new ShadowTally();
    const one = new ShadowTally();
    one.follow(shadowed(["p", "1"], ["q", "1"]), 0);
    sum.add(one.take());
    sum.keep([{ id: "q", version: "1" }]);
    assert.deepEqual(
      sum.rows.map(({ id }) => id),
      ["q"],
    );
  });
});

describe("a set in the shadow of another", () => {
  test("goes by id: equal ones beside each other, others alone, members of groups not at all", () => {
    const policies = createPolicySet([policy("b"), policy("c"), policy("g/m")]);
    const both = withShadows([policy("a"), policy("b")], { policies, version: "v" });
    const shown = both.map(({ id, shadow }) => [id, shadow?.version, shadow?.isAlone]);
    assert.deepEqual(shown, [
      ["a", undefined, undefined],
      ["b", "v", false],
      ["c", "v", true],
    ]);
  });
});
