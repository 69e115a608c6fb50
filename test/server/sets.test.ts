import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { setImmediate as immediateTurn } from "node:timers/promises";
import { createPolicySet } from "../../src/policy/served/policy-set.js";
import { admissionReview, entry, immediate, post, serve } from "./fake-policy.js";

const ALLOW = { verdict: "allow" } as const;
const DENY = { verdict: "deny", message: "no" } as const;

/** An answer goes out before it is reported. */
async function reported(lines: readonly string[]): Promise<void> {
  while (!lines.some((line) => line.includes('"policy evalu'))) await immediateTurn();
}

async function withSet(run: (url: string, server: Awaited<ReturnType<typeof serve>>) => Promise<void>): Promise<void> {
  const server = await serve([]);
  try {
    const entries = [
      immediate("a", () => ALLOW),
      entry("b", () => DENY),
      immediate("c", () => DENY, { mode: "monitor" }),
    ];
    server.evaluator.use(
      createPolicySet(entries, 2, [
        { hash: "0123", members: ["a", "b", "c"] },
        { hash: "4567", members: ["a", "c"] },
      ]),
    );
    await run(server.url, server);
  } finally {
    await server.stop({ delay: 0, grace: 0 });
  }
}

describe("POST /validate/set/<hash>", () => {
  test("asks all of the set and answers for them", () =>
    withSet(async (url) => {
      const answer = await post(`${url}/validate/set/0123?timeout=10s`, admissionReview());
      assert.equal(answer.status, 200);
      const { response } = (await answer.json()) as { response: { allowed: boolean; status: { message: string } } };
      assert.deepEqual([response.allowed, response.status.message], [false, "b: no"]);
    }));

  test("one record says what each came to, and each is counted", () =>
    withSet(async (url, server) => {
      await (await post(`${url}/validate/set/4567`, admissionReview())).text();
      await reported(server.lines);
      const records = server.lines
        .map((line) => JSON.parse(line).fields)
        .filter(({ policy_id: id }) => id === "set/4567");
      assert.equal(records.length, 1);
      const [record] = records;
      assert.equal(record.allowed, true);
      assert.deepEqual(record.would_be, { allowed: false, mutated: false, message: "no" });
      assert.deepEqual(
        record.members.map(({ policy, outcome }: { policy: string; outcome: string }) => [policy, outcome]),
        [
          ["a", "allow"],
          ["c", "deny"],
        ],
      );
      const text = (await server.metrics.text()).join("");
      for (const id of ["a", "c"])
        assert.match(text, new RegExp(`policy_evaluations_total\\{[^}]*policy_name="${id}"`));
    }));

  test("of a set that is not known any more, as after a restart, all are asked that may be in it", () =>
    withSet(async (url, server) => {
      const { entries, generation } = server.evaluator.policies;
      server.evaluator.use(
        createPolicySet(entries.values(), generation, [
          { hash: "everybody", members: ["a", "b"] },
          { hash: "0123456789abcdef", members: ["a"] },
        ]),
      );
      const asked = async (hash: string) => {
        const answer = await post(`${url}/validate/set/${hash}`, admissionReview());
        return answer.status === 200
          ? ((await answer.json()) as { response: { allowed: boolean } }).response.allowed
          : answer.status;
      };
      assert.equal(await asked("0123456789abcdef"), true);
      assert.equal(await asked("fedcba9876543210"), false);
      assert.equal(await asked("FEDCBA9876543210"), 404);
      assert.equal(await asked("member"), 404);
    }));

  test("a set that nobody knows is an unknown policy; other routes know none", () =>
    withSet(async (url) => {
      for (const path of ["validate/set/ffff", "audit/set/0123", "validate_raw/set/0123"]) {
        const answer = await post(`${url}/${path}`, admissionReview());
        assert.equal(answer.status, 404, path);
      }
    }));
});
