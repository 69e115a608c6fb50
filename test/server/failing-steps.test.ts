import assert from "node:assert/strict";
import { test } from "node:test";
import { admissionReview, immediate, post, serve, type TestServer } from "./fake-policy.js";

/** What fails once, and how many of two requests that come together still have their answer. */
const STEPS: readonly (readonly [
  step: string,
  of: (server: TestServer) => object,
  method: string,
  answered: number,
])[] = [
  ["asks its policy", ({ evaluator }) => evaluator, "evaluate", 1],
  ["sends its answer", ({ evaluator }) => evaluator, "whenSent", 1],
  ["reports it", ({ metrics }) => metrics, "evaluated", 2],
];

for (const [step, of, method, answered] of STEPS) {
  test(`a request that fails where it ${step} takes no other with it, and is no allow by that`, async (t) => {
    const server = await serve([immediate("p", () => ({ verdict: "allow" }))]);
    t.after(() => server.stop({ delay: 0, grace: 0 }));
    const owner = of(server) as Record<string, (...all: unknown[]) => unknown>;
    t.mock.method(
      owner,
      method,
      () => {
        throw new Error("a defect");
      },
      { times: 1 },
    );
    const ask = () => post(`${server.url}/validate/p`, admissionReview());
    const answers = await Promise.all([ask(), ask()]);
    const texts = await Promise.all(answers.map((answer) => answer.text()));
    assert.equal(texts.filter((text) => text.includes('"allowed":true')).length, answered);
    for (const [index, { status }] of answers.entries()) {
      if (status === 200) continue;
      assert.equal(status, 500);
      assert.doesNotMatch(texts[index] ?? "", /allowed|defect/);
    }
    assert.ok(server.lines.some((line) => line.includes("failed unexpectedly")));
    assert.equal((await ask()).status, 200);
  });
}
