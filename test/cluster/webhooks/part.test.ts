import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { routeOf } from "../../../src/cluster/webhooks/derive.js";
import { WebhookDeriver } from "../../../src/cluster/webhooks/from-documents.js";
import { setsOf } from "../../../src/cluster/webhooks/part.js";
import { TestClock } from "../../support/test-clock.js";
import { kyverno } from "./documents.js";

describe("sets that are answered", () => {
  test("are those of now and of a minute before: a webhook may still name them", () => {
    const clock = new TestClock();
    const deriver = new WebhookDeriver({ ownNamespace: "own", idOf: (key) => key.split("/").at(-1) });
    const sets = setsOf(deriver, clock);
    const answered = (...names: string[]): readonly string[] =>
      sets(new Map(names.map((name) => [name, kyverno(name)]))).map(({ members }) => members.join());
    assert.deepEqual(answered("a", "b"), ["a,b"]);
    clock.move(500_000);
    assert.deepEqual(answered("a", "b"), ["a,b"]);
    clock.move(59_000);
    const both = [routeOf(["a", "b"]), routeOf(["a", "b", "c"])].sort((x, y) => (x.hash < y.hash ? -1 : 1));
    assert.deepEqual(
      answered("a", "b", "c"),
      both.map(({ members }) => members.join()),
    );
    clock.move(2_000);
    assert.deepEqual(answered("a", "b", "c"), ["a,b,c"]);
  });
});
