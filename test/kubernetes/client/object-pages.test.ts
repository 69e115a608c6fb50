import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { AnswerTooLarge, ApiError } from "../../../src/kubernetes/client/errors.js";
import { ListError, type ListedCluster, objectPages } from "../../../src/kubernetes/client/object-pages.js";
import { PATIENT } from "./support.js";

const PODS = { group: "", version: "v1", plural: "pods" };
const named = (i: number) => ({ metadata: { name: `p${i}` } });

type Answer = (query: Record<string, string>) => unknown;

/** Answers that question after question gets. */
function listed(...answers: Answer[]) {
  const asked: Record<string, string>[] = [];
  const get = async (_: string, query: unknown) => {
    asked.push(query as Record<string, string>);
    const value = answers[asked.length - 1]?.(query as Record<string, string>);
    if (value instanceof Error) throw value;
    return { value, bytes: 10 };
  };
  return { asked, cluster: { http: { get } as ListedCluster["http"], signal: PATIENT } };
}

async function names(cluster: ListedCluster): Promise<unknown[]> {
  const found: unknown[] = [];
  for await (const { items } of objectPages(cluster, PODS, "")) found.push(...items.map((item) => item.metadata));
  return found.map((metadata) => (metadata as { name: string }).name);
}

describe("objects in pages", () => {
  test("come one page after the other", async () => {
    const { cluster, asked } = listed(
      () => ({ metadata: { continue: "x", remainingItemCount: 1 }, items: [named(1)] }),
      () => ({ metadata: {}, items: [named(2)] }),
    );
    assert.deepEqual(await names(cluster), ["p1", "p2"]);
    assert.deepEqual(asked, [{ limit: "250" }, { limit: "250", continue: "x" }]);
  });

  test("go on where the API server says when it has forgotten the place", async () => {
    const { cluster, asked } = listed(
      () => ({ metadata: { continue: "x" }, items: [named(1)] }),
      () => new ApiError(410, "Expired", "The provided continue parameter is too old", "y"),
      () => ({ metadata: {}, items: [named(2)] }),
    );
    assert.deepEqual(await names(cluster), ["p1", "p2"]);
    assert.equal(asked[2]?.continue, "y");
  });

  test("are fewer in a page when they are too large together", async () => {
    const { cluster, asked } = listed(
      () => new AnswerTooLarge("64 MiB"),
      () => ({ metadata: {}, items: [named(1)] }),
    );
    assert.deepEqual(await names(cluster), ["p1"]);
    assert.deepEqual(
      asked.map(({ limit }) => limit),
      ["250", "62"],
    );
  });

  const errors: Readonly<Record<string, readonly [answers: Answer[], message: RegExp]>> = {
    "that may not be listed": [
      [() => new ApiError(403, "Forbidden", "pods is forbidden")],
      /api\/v1\/pods: pods is forbidden/,
    ],
    "in an answer that is no list": [[() => ({ metadata: {} })], /the answer is not a list/],
    "in a list that does not go on": [
      Array(3).fill(() => ({ metadata: { continue: "x" }, items: [] })),
      /does not go on/,
    ],
    "of a list whose place is forgotten for good": [[() => new ApiError(410, "Expired", "too old")], /too old/],
    "one of which alone is too large": [Array(9).fill(() => new AnswerTooLarge("64 MiB")), /64 MiB/],
  };
  for (const [name, [answers, message]] of Object.entries(errors)) {
    test(`${name} are an error`, async () => {
      await assert.rejects(names(listed(...answers).cluster), (error) => {
        assert.ok(error instanceof ListError);
        assert.match(error.message, message);
        return true;
      });
    });
  }

  test("of none may be null", async () => {
    assert.deepEqual(await names(listed(() => ({ metadata: {}, items: null })).cluster), []);
  });
});
