import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { NONE, type ShadowRow, type ShadowRows } from "../../src/policy/served/shadow/tally.js";
import { GatheredShadows } from "../../src/serving/gathered-shadows.js";
import { WantedSums } from "../../src/serving/worker.js";

const row = (version: string, agreed: number): ShadowRow => ({
  ...{ id: "p", version, since: 0, ...NONE, agreed, examples: [], isBroken: false },
});

describe("counts of versions in shadow, of all processes", () => {
  test("are sums of what each has counted since the last time, and stay when one has ended", async () => {
    let tell: () => void = () => {
      gathered.add([row("1", 2)]);
      gathered.add([row("1", 3)]);
    };
    const gathered = new GatheredShadows(async () => {
      tell();
      return undefined;
    });
    assert.deepEqual(await gathered.rows(), [row("1", 5)]);
    gathered.ended();
    tell = () => gathered.add([row("1", 1)]);
    assert.deepEqual(await gathered.rows(), [row("1", 6)]);
    assert.equal(gathered.lost, 1);
  });

  test("are forgotten with versions that no process has any more", async () => {
    const versions = ["1", "2"];
    const gathered = new GatheredShadows(async () => {
      gathered.add([row(versions.shift() ?? "", 1)]);
      return undefined;
    });
    await gathered.rows();
    assert.deepEqual(await gathered.rows(), [row("2", 1)]);
  });

  test("are all of them or none: who does not answer keeps nothing back for ever", async () => {
    let missing: string | undefined = "1 of 2 did not answer";
    const gathered = new GatheredShadows(async () => {
      gathered.add([row("1", 1)]);
      return missing;
    });
    assert.deepEqual(await gathered.rows(), { unavailable: "1 of 2 did not answer" });
    missing = undefined;
    assert.deepEqual(await gathered.rows(), [row("1", 2)]);
  });
});

test("a process that wants them hears only what it has asked for, and asks once for all who want them at the time", async () => {
  const asked: number[] = [];
  const wanted = new WantedSums<ShadowRows>(
    (id) => asked.push(id),
    () => [],
  );
  const both = [wanted.get(), wanted.get()];
  wanted.hear(99, () => [row("other", 1)]);
  wanted.hear(asked[0] ?? -1, () => [row("1", 1)]);
  assert.deepEqual(await Promise.all(both), [[row("1", 1)], [row("1", 1)]]);
  assert.equal(asked.length, 1);
});
