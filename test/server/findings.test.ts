/** What Audit and Warn found, in the metric and in the decision record. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { setImmediate as immediateTurn } from "node:timers/promises";
import type { Found, Outcome } from "../../src/policy/index.js";
import { createPolicySet, type ServedPolicy } from "../../src/policy/served/policy-set.js";
import { withShadows } from "../../src/policy/served/shadow/versions.js";
import { Metrics } from "../../src/telemetry/metrics.js";
import { admissionReview, entry, immediate, post, serve, type TestServer } from "./fake-policy.js";

const audit: Found = { action: "Audit", message: "latest", policy: "p", binding: "b", index: 0, actions: ["Audit"] };
const warn: Found = { action: "Warn", message: "host", policy: "q", index: 0, actions: ["Warn"] };
const FOUND: Outcome = { verdict: "allow", found: [audit, warn] };

/** A policy that observes a member which found something, as a group does. */
const group = entry("g", (_, context) => {
  context.observe?.({ policy: "g/m", outcome: FOUND, milliseconds: 1, member: true });
  return { verdict: "allow", found: [audit, warn].map((each) => ({ ...each, member: "m" })) };
});

/** The series of findings, without the metric's name. */
async function findingsOf({ metrics }: TestServer): Promise<readonly string[]> {
  const text = (await metrics.text()).join("");
  return [...text.matchAll(/^policy_server_policy_findings_total(\{.*)$/gm)].map(([, series = ""]) => series);
}

/** The fields of decision records, once there are as many. */
async function records({ lines }: TestServer, count = 1): Promise<readonly Record<string, unknown>[]> {
  const decisions = (): readonly string[] => lines.filter((line) => line.includes('"policy evaluat'));
  while (decisions().length < count) await immediateTurn();
  return decisions().map((line) => (JSON.parse(line) as { fields: Record<string, unknown> }).fields);
}

async function withServer(
  entries: readonly ServedPolicy[],
  run: (server: TestServer, ask: (path: string, request?: object) => Promise<string>) => Promise<void>,
): Promise<void> {
  const server = await serve(entries);
  const ask = async (path: string, request: object = {}): Promise<string> =>
    (await post(`${server.url}/${path}`, admissionReview(request as Record<string, unknown>))).text();
  try {
    await run(server, ask);
  } finally {
    await server.stop({ delay: 0, grace: 0 });
  }
}

describe("policy_server_policy_findings_total", () => {
  test("counts each finding once, at the policy or member that made it", () =>
    withServer([immediate("p", () => FOUND), group], async (server, ask) => {
      await ask("validate/p");
      await ask("validate/p");
      await ask("validate/g");
      await records(server, 3);
      assert.deepEqual(await findingsOf(server), [
        '{policy_name="p",action="Audit"} 2',
        '{policy_name="p",action="Warn"} 2',
        '{policy_name="g/m",action="Audit"} 1',
        '{policy_name="g/m",action="Warn"} 1',
      ]);
    }));

  test("counts in monitor mode and for raw requests once, and nothing for the audit scanner", () =>
    withServer([immediate("p", () => FOUND, { mode: "monitor" })], async (server, ask) => {
      await ask("audit/p");
      await ask("validate/p");
      await (await post(`${server.url}/validate_raw/p`, { request: { uid: "u" } })).text();
      await records(server, 3);
      assert.deepEqual(await findingsOf(server), [
        '{policy_name="p",action="Audit"} 2',
        '{policy_name="p",action="Warn"} 2',
      ]);
    }));

  test("counts each policy of a set once, and no version in shadow", () =>
    withServer([], async (server, ask) => {
      const served = [immediate("a", () => FOUND), immediate("b", () => ({ verdict: "allow" }))];
      const shadows = { policies: createPolicySet([immediate("b", () => FOUND)]), version: "v" };
      const sets = [{ hash: "0123", members: ["a", "b"] }];
      server.evaluator.use(createPolicySet(withShadows(served, shadows), 2, sets));
      await ask("validate/set/0123");
      await records(server);
      while (server.evaluator.shadows.tally.rows.every((row) => row.agreed + row.notEvaluated === 0))
        await immediateTurn();
      assert.deepEqual(await findingsOf(server), [
        '{policy_name="a",action="Audit"} 1',
        '{policy_name="a",action="Warn"} 1',
      ]);
      const [record] = await records(server);
      assert.deepEqual(record?.found, [
        { action: "Audit", message: "latest", policy: "p", binding: "b", member: "a" },
        { action: "Warn", message: "host", policy: "q", member: "a" },
      ]);
    }));

  test("is bounded like others: what goes beyond is counted as other", async () => {
    const metrics = new Metrics(false);
    for (let i = 0; i < 10_001; i++) metrics.found(`p${i}`, "Audit");
    const text = (await metrics.text()).join("");
    assert.ok(text.includes('policy_server_policy_findings_total{policy_name="other",action="other"} 1\n'));
    assert.ok(text.includes('policy_server_metrics_folded_total{metric="policy_server_policy_findings_total"} 1\n'));
  });
});

describe("the decision record", () => {
  test("has what was found with its policy and member", () =>
    withServer([immediate("p", () => FOUND), group], async (server, ask) => {
      await ask("validate/p");
      const [record] = await records(server);
      assert.deepEqual(record?.found, [
        { action: "Audit", message: "latest", policy: "p", binding: "b" },
        { action: "Warn", message: "host", policy: "q" },
      ]);
      await ask("validate/g");
      const found = (await records(server, 2))[1]?.found as readonly { member?: string }[];
      assert.deepEqual(
        found.map(({ member }) => member),
        ["m", "m"],
      );
    }));

  test("has ten at most, with messages of 1,024 characters, and none about a Secret", () => {
    const many = Array.from({ length: 13 }, () => ({ ...audit, message: "x".repeat(5_000) }));
    return withServer([immediate("p", () => ({ verdict: "allow", found: many }))], async (server, ask) => {
      await ask("validate/p");
      const [record] = await records(server);
      const found = record?.found as readonly { message: string }[];
      assert.deepEqual([found.length, record?.found_left_out, found[0]?.message.length], [10, 3, 1_025]);
      await ask("validate/p", { kind: { group: "", version: "v1", kind: "Secret" } });
      const secret = (await records(server, 2))[1]?.found as readonly { message: string }[];
      assert.ok(secret.every(({ message }) => message === "[redacted]"));
    });
  });
});
