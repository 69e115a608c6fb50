import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Decision } from "../../../../src/kinds/certificate-request-policy/engine/decision.js";
import { Reviewer } from "../../../../src/kinds/certificate-request-policy/engine/review.js";
import { Turns } from "../../../../src/policy/turns.js";
import { hasMainThreadTime, longestHold } from "../../../support/main-thread-time.js";
import { worldWith } from "./asked.js";
import { ASKING_FOR_NOTHING, POLICIES, REQUESTS } from "./hostile.js";

/** Milliseconds that nothing may hold the main thread, and an allowance for garbage collections and slow machines. */
const LIMIT_MS = 100 * 2.5;
/** Milliseconds for one request. */
const PATIENCE_MS = 150;

async function decided(policies: ConstructorParameters<typeof Reviewer>[0], name: string): Promise<Decision> {
  const request = REQUESTS[name];
  assert.ok(request !== undefined);
  const now = () => performance.now();
  const reviewer = new Reviewer(policies, { world: worldWith({ now }), readiness: "self" });
  const ending = new AbortController();
  const timer = setTimeout(() => ending.abort(), PATIENCE_MS);
  const context = { deadline: now() + PATIENCE_MS, signal: ending.signal, turns: new Turns() };
  const { decision } = await reviewer.review({ request }, context);
  clearTimeout(timer);
  return decision;
}

describe("hundreds of policies about requests that ask for much", { skip: !hasMainThreadTime() }, () => {
  for (const [about, make] of Object.entries(POLICIES)) {
    test(about, async () => {
      const policies = make();
      for (const name of Object.keys(REQUESTS)) {
        let decision: Decision | undefined;
        const held = await longestHold(async () => {
          decision = await decided(policies, name);
        });
        assert.ok(held < LIMIT_MS, `${name}: held the main thread for ${held} ms`);
        if (decision?.result === "Approved") assert.ok(ASKING_FOR_NOTHING.has(name), `${name} was approved`);
        if (decision?.result === "Error") assert.equal(decision.failure?.cause, "timeout", decision.cause);
      }
    });
  }
});
