/** What a recorder gets of a server: all that policies have answered, and nothing else. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { createPolicySet } from "../../src/policy/served/policy-set.js";
import type { AnsweredReview } from "../../src/telemetry/recording/index.js";
import { until } from "../support/until.js";
import { admissionReview, entry, immediate, post, serve } from "./fake-policy.js";
import { connect, postText } from "./raw-client.js";

const DENY = { verdict: "deny", message: "no" } as const;

describe("a recorder gets", () => {
  test("each answered request with its route, its answer and the generation of the policies; no refused one", async () => {
    const got: AnsweredReview[] = [];
    const server = await serve([], { recorder: { record: (answered) => got.push(answered) } });
    try {
      const entries = [immediate("now", () => DENY), entry("later", () => Promise.resolve(DENY))];
      server.evaluator.use(createPolicySet(entries, 7, [{ hash: "0123", members: ["now"] }]));
      const ask = async (path: string, body: unknown = admissionReview()) =>
        (await post(`${server.url}${path}`, body)).text();
      await ask("/validate/unknown");
      await ask("/validate/now", "{");
      await ask("/validate/now");
      await ask("/audit/later");
      await ask("/validate_raw/now", { request: { a: 1 } });
      await ask("/validate/set/0123");
      await until("the records", () => got.length >= 4);
      assert.deepEqual(
        got.map(({ policy, origin, generation, verdict, review }) => [
          ...[policy, origin, generation, verdict.response.allowed, review.kind],
        ]),
        [
          ["now", "validate", 7, false, "admission"],
          ["later", "audit", 7, false, "admission"],
          ["now", "validate_raw", 7, false, "raw"],
          ["set/0123", "validate", 7, false, "admission"],
        ],
      );
      assert.ok(got.every(({ bytes }) => bytes > 0));
    } finally {
      await server.stop({ delay: 0, grace: 0 });
    }
  });

  test("nothing of a client that has gone before it had an answer", async () => {
    const got: AnsweredReview[] = [];
    let asked = false;
    const policy = entry("p", () => {
      asked = true;
      return new Promise(() => {});
    });
    const server = await serve([policy], { recorder: { record: (answered) => got.push(answered) } });
    try {
      const client = await connect(server.port);
      client.send(postText("/validate/p", JSON.stringify(admissionReview())));
      await until("the evaluation", () => asked);
      client.destroy();
      await until("the line", () => server.lines.length > 0);
      assert.deepEqual(got, []);
    } finally {
      await server.stop({ delay: 0, grace: 0 });
    }
  });
});
