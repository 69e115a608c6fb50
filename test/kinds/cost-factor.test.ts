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
/** More of them than one budget has room for. */
const TOGETHER = `
together:
  cel:
    validations:
${'      - expression: "object.items.all(i, i >= 0)"\n'.repeat(40)}`;
const review = createReview({ raw: { items: Array.from({ length: 500 }, (_, i) => i) } });

/** Of the last outcome. */
let detail: string | undefined;

async function outcomeWith(costFactor?: number, id = "small"): Promise<string> {
  const loaded = await loadPolicies({ text: TEXT + TOGETHER, ...(costFactor !== undefined && { costFactor }) });
  try {
    const { outcome } = await createEvaluator(loaded).evaluate(id, review);
    detail = outcome.detail;
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

  test("are named for the log, with the expression that has passed one and who sets it", async () => {
    await outcomeWith();
    assert.equal(detail, undefined);
    await outcomeWith(0.0001);
    assert.equal(
      detail,
      "the expression object.items.all(i, i >= 0) passed the limit of 100 units of cost for one expression, as --cel-cost-factor 0.0001 makes it",
    );
    assert.match(await outcomeWith(0.003, "together"), /running out of cost budget/);
    assert.match(
      detail ?? "",
      /^the expression object\.items\.all\(i, i >= 0\) passed the limit of 30000 units of cost for all expressions that are evaluated together, as/,
    );
  });
});
