import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { SeenObjects } from "../../../src/cluster/audit/seen-objects.js";

const uid = (i: number): string => `00000000-0000-4000-8000-${String(i).padStart(12, "0")}`;

describe("objects that were seen", () => {
  test("are known by the state in which they were evaluated", () => {
    const seen = new SeenObjects();
    assert.equal(seen.find("a"), -1);
    const place = seen.add("a");
    assert.equal(seen.isIn(place, 1, 2), false, "it was never evaluated");
    seen.evaluated(place, 1, 2, 7);
    assert.equal(seen.isIn(place, 1, 2), true);
    assert.equal(seen.isIn(place, 1, 3), false);
    assert.equal(seen.isIn(place, 2, 2), false);
    assert.equal(seen.patternOf(place), 7);
    assert.equal(seen.add("a"), place, "nobody is added twice");
  });

  test("are all found again, with all that is known of them, however many there are", () => {
    const seen = new SeenObjects();
    for (let i = 1; i <= 20_000; i++) {
      const place = seen.add(uid(i));
      seen.evaluated(place, i, i + 1, i + 2);
      seen.setReport(place, i + 3);
    }
    assert.equal(seen.size, 20_000);
    for (let i = 1; i <= 20_000; i++) {
      const place = seen.find(uid(i));
      assert.ok(seen.isIn(place, i, i + 1));
      assert.deepEqual([seen.patternOf(place), seen.reportOf(place)], [i + 2, i + 3]);
    }
    assert.ok(seen.bytes / seen.size < 100, `${seen.bytes / seen.size} bytes each`);
  });

  test("are forgotten when a round has not met them", () => {
    const seen = new SeenObjects();
    for (let i = 0; i < 5_000; i++) seen.add(uid(i));
    seen.begin();
    for (let i = 0; i < 10; i++) seen.meet(seen.find(uid(i)));
    seen.forgetOthers();
    assert.equal(seen.size, 10);
    assert.ok(seen.find(uid(9)) >= 0);
    assert.equal(seen.find(uid(10)), -1);
    assert.ok(seen.bytes < 30_000, "and their memory is given back");
  });

  test("are no more than there may be", () => {
    const seen = new SeenObjects(3);
    for (let i = 0; i < 3; i++) assert.ok(seen.add(uid(i)) >= 0);
    assert.equal(seen.add(uid(3)), -1);
    assert.ok(seen.add(uid(2)) >= 0);
  });

  test("are told apart by rounds also when their numbers begin anew", () => {
    const seen = new SeenObjects();
    seen.add("a");
    for (let i = 0; i < 70_000; i++) {
      seen.begin();
      assert.equal(seen.isMet(seen.find("a")), false);
      seen.meet(seen.find("a"));
    }
    seen.forgetOthers();
    assert.equal(seen.size, 1);
  });

  test("are evaluated again when their results are believed no more, and their reports stay known", () => {
    const seen = new SeenObjects();
    const place = seen.add("a");
    seen.evaluated(place, 1, 2, 3);
    seen.setReport(place, 4);
    seen.forgetResults();
    assert.equal(seen.isIn(place, 1, 2), false);
    assert.equal(seen.reportOf(place), 4);
  });
});
