import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { MOST_WEBHOOKS, place, standingWebhooks } from "../../../src/cluster/webhooks/configuration.js";

const named = (...names: string[]) => names.map((name) => ({ name, raw: {} }));
const many = (count: number) => named(...Array.from({ length: count }, (_, i) => `w${String(i).padStart(4, "0")}`));
const sizes = (placed: ReadonlyMap<string, readonly unknown[]>) =>
  Object.fromEntries(Array.from(placed, ([name, list]) => [name, list.length]));

describe("webhooks in configurations", () => {
  test("are at most so many in one", () => {
    assert.deepEqual(sizes(place(many(2 * MOST_WEBHOOKS + 1), new Map(), "s")), {
      "s-1": MOST_WEBHOOKS,
      "s-2": MOST_WEBHOOKS,
      "s-3": 1,
    });
  });

  test("stay where they stand when others go, and stand in order of name", () => {
    const standing = new Map(many(MOST_WEBHOOKS + 10).map(({ name }, i) => [name, i < MOST_WEBHOOKS ? "s-1" : "s-2"]));
    const left = many(MOST_WEBHOOKS + 10).filter(({ name }) => name !== "w0003");
    assert.deepEqual(sizes(place(left, standing, "s")), { "s-1": MOST_WEBHOOKS - 1, "s-2": 10 });
    const placed = place([...left, ...named("a-new-one")], standing, "s");
    assert.deepEqual(sizes(placed), { "s-1": MOST_WEBHOOKS, "s-2": 10 });
    assert.equal(placed.get("s-1")?.[0]?.name, "a-new-one");
  });

  test("are fewer where they are large: what can be stored has a limit", () => {
    const raw = { text: "x".repeat(400_000) };
    const large = ["a", "b", "c", "d"].map((name) => ({ name, raw }));
    assert.deepEqual(sizes(place(large, new Map(), "s")), { "s-1": 3, "s-2": 1 });
  });

  test("are counted as they are stored: by bytes, with what is stored about the names of their conditions", () => {
    const kana = ["a", "b", "c", "d"].map((name) => ({ name, raw: { text: "か".repeat(200_000) } }));
    assert.deepEqual(sizes(place(kana, new Map(), "s")), { "s-1": 2, "s-2": 2 });
    const matchConditions = Array.from({ length: 64 }, (_, i) => ({
      name: `${"n".repeat(300)}${i}`,
      expression: "true",
    }));
    const conditions = many(40).map(({ name }) => ({ name, raw: { matchConditions } }));
    // 22 KB each, of which names make 20; these are stored twice more, and each with some words.
    assert.deepEqual(sizes(place(conditions, new Map(), "s")), { "s-1": 17, "s-2": 17, "s-3": 6 });
  });

  test("are fewer where they have long conditions: the API server compiles them all when one changes", () => {
    const raw = { matchConditions: [{ name: "c", expression: "x".repeat(30_000) }] };
    const long = many(20).map(({ name }) => ({ name, raw }));
    assert.deepEqual(sizes(place(long, new Map(), "s")), { "s-1": 8, "s-2": 8, "s-3": 4 });
  });

  test("that stand in an object that is none of ours get a place", () => {
    const standing = new Map([
      ["a", "other"],
      ["b", "s-copy"],
    ]);
    assert.deepEqual([...place(named("a", "b"), standing, "s").keys()], ["s-1"]);
  });

  test("tell where they ask, by Service or by address", () => {
    const service = { service: { path: "/validate/p" } };
    const webhooks = [
      { name: "a", clientConfig: service },
      { name: "b", clientConfig: { url: "https://h:8443/validate/q" } },
      { name: "c" },
    ];
    assert.deepEqual(
      standingWebhooks("validating", { metadata: { name: "o" }, webhooks }).map(({ path, object }) => [path, object]),
      [
        ["/validate/p", "o"],
        ["/validate/q", "o"],
        ["", "o"],
      ],
    );
  });
});
