import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Clock } from "../../../src/data/clock.js";
import { ServerRelease } from "../../../src/kubernetes/client/server-release.js";

/** A clock that runs when it is told to. */
function manualClock(): Clock & { run: (milliseconds: number) => Promise<void> } {
  let now = 0;
  const due: { at: number; call: () => void }[] = [];
  const settled = () => new Promise((resolve) => setImmediate(resolve));
  return {
    now: () => now,
    wall: () => now,
    after(milliseconds, call) {
      const entry = { at: now + milliseconds, call };
      due.push(entry);
      return () => void due.splice(due.indexOf(entry), due.includes(entry) ? 1 : 0);
    },
    async run(milliseconds) {
      const end = now + milliseconds;
      for (;;) {
        const next = due.sort((a, b) => a.at - b.at)[0];
        if (next === undefined || next.at > end) break;
        due.shift();
        now = next.at;
        next.call();
        await settled();
      }
      now = end;
    },
  };
}

const MINUTE = 60_000;

describe("the release of a cluster's API servers", () => {
  test("is what they say, without the marks of builds", async () => {
    for (const [minor, wanted] of [
      ["37", "1.37"],
      ["38+", "1.38"],
      ["39", "1.39"],
      ["x", undefined],
      ["", undefined],
    ] as const) {
      const release = new ServerRelease({ clock: manualClock(), ask: async () => ({ major: "1", minor }) });
      await release.begin();
      assert.equal(release.current, wanted, minor);
      release.close();
    }
  });

  test("is the lowest while they are of two, and the higher one once the other has not been seen for ten minutes", async () => {
    const clock = manualClock();
    let answers = ["38", "37"];
    let asked = 0;
    const ask = async () => ({ major: "1", minor: answers[asked++ % answers.length] });
    const release = new ServerRelease({ clock, ask });
    const seen: unknown[] = [];
    release.listeners.push(() => seen.push(release.current));
    await release.begin();
    assert.equal(release.current, "1.38");
    await clock.run(MINUTE);
    assert.equal(release.current, "1.37");
    answers = ["38"];
    await clock.run(9 * MINUTE);
    assert.equal(release.current, "1.37");
    await clock.run(3 * MINUTE);
    assert.equal(release.current, "1.38");
    assert.deepEqual(seen, ["1.38", "1.37", "1.38"]);
    release.close();
  });

  test("does not keep loading from going on, and counts once it is known", async () => {
    const clock = manualClock();
    let answer: (value: unknown) => void = () => {};
    const release = new ServerRelease({ clock, ask: () => new Promise((resolve) => (answer = resolve)) });
    const begun = release.begin();
    await clock.run(2_000);
    await begun;
    assert.equal(release.current, undefined);
    answer({ major: "1", minor: "38" });
    await clock.run(1);
    await new Promise((resolve) => setImmediate(resolve));
    assert.equal(release.current, "1.38");
    release.close();
  });

  test("stays while no API server answers, and is asked for no more once closed", async () => {
    const clock = manualClock();
    let asked = 0;
    const ask = async () => {
      if (asked++ > 0) throw new Error("gone");
      return { major: "1", minor: "38" };
    };
    const release = new ServerRelease({ clock, ask });
    await release.begin();
    await clock.run(30 * MINUTE);
    assert.equal(release.current, "1.38");
    const before = asked;
    release.close();
    await clock.run(5 * MINUTE);
    assert.equal(asked, before);
  });
});
