import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { createEvaluator, createReview, loadPolicies } from "../../src/index.js";

/** Costs a bit more than 1,000 units for a list of 500. */
const TEXT = `
small:
  cel:
    validations:
      - expression: "object.items.all(i, i >= 0)"
`;
const review = createReview({ raw: { items: Array.from({ length: 500 }, (_, i) => i) } });

async function outcomeWith(costFactor?: number): Promise<string> {
  const loaded = await loadPolicies({ text: TEXT, ...(costFactor !== undefined && { costFactor }) });
  try {
    const { outcome } = await createEvaluator(loaded).evaluate("small", review);
    return "message" in outcome ? `${outcome.verdict}: ${outcome.message}` : outcome.verdict;
  } finally {
    loaded.close();
  }
}

describe("the cost limits of CEL policies", () => {
  test("are Kubernetes' own unless the operator says otherwise", async () => {
    assert.equal(await outcomeWith(), "allow");
    assert.equal(await outcomeWith(1), "allow");
  });

  test("are multiplied by the operator's factor: what costs more denies", async () => {
    assert.match(await outcomeWith(0.0001), /^(?:deny|error): .*cost limit exceeded/s);
  });
});
