import assert from "node:assert/strict";
import { after, describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { parseConfig } from "../../src/config/index.js";
import { createLoader } from "../../src/loader/index.js";
import type { Review } from "../../src/policy/index.js";
import { createEvaluator } from "../../src/policy/served/evaluator.js";
import { ask } from "../support/asking.js";

const root = fileURLToPath(new URL("../../..", import.meta.url));
/** Milliseconds for a member: more than any needs on the busiest machine, and what one that never ends gets. */
const [PATIENCE_MS, LOOP_MS] = [60_000, 200];
const loaderOf = (policyTimeout: number) => createLoader({ policyTimeout, workers: 2, downloadDirectory: root });
const [patient, hasty] = [loaderOf(PATIENCE_MS), loaderOf(LOOP_MS)];
after(() => {
  patient.close();
  hasty.close();
});

async function load(yaml: string, loader = patient) {
  const read = parseConfig(yaml, `${root}/test.yaml`);
  assert.ok(read.ok, JSON.stringify(read.problems));
  const { policies, problems } = await loader.load(read.config);
  return { evaluator: createEvaluator(policies, { policyTimeout: PATIENCE_MS }), problems };
}

const raw = (payload: unknown): Review => ({
  kind: "raw",
  payload,
  requestBytes: () => Buffer.from(JSON.stringify(payload)),
});

/** A group over a guest that misbehaves as the request says. */
const groups = (protocol: string) => `
negated:
  expression: "!chaos()"
  message: "negated says no"
  policies:
    chaos: { module: test/fixtures/chaos/${protocol}.wasm }
plain:
  expression: "chaos()"
  message: "plain says no"
  policies:
    chaos: { module: test/fixtures/chaos/${protocol}.wasm }
rescued:
  expression: "chaos() || true_rule()"
  message: "rescued says no"
  policies:
    chaos: { module: test/fixtures/chaos/${protocol}.wasm }
    true_rule: { cel: { validations: [ { expression: "true" } ] } }
`;

for (const protocol of ["extism", "wapc", "wasi"]) {
  describe(`a ${protocol} guest that fails as a member`, async () => {
    const { evaluator, problems } = await load(groups(protocol));
    const looping = await load(groups(protocol), hasty);
    assert.deepEqual([...problems, ...looping.problems], []);
    const answer = async (id: string, mode: string) =>
      (await ask(mode === "loop" ? looping.evaluator : evaluator, id, raw({ mode }), "validate_raw")).response;

    for (const mode of ["loop", "trap", "stack", "oom", "not-json", "empty", "wrong-shape", "mutate", "guest-error"]) {
      test(`${mode}: neither the member nor its negation accepts, and the request is denied with 500`, async () => {
        for (const id of ["plain", "negated"]) {
          const response = await answer(id, mode);
          assert.equal(response.allowed, false, id);
          assert.equal(response.status?.code, 500, id);
          assert.equal(response.status?.message, `${id} says no`);
          assert.equal(response.patch, undefined);
          assert.match(response.warnings?.[0] ?? "", /^chaos failed: /);
        }
      });

      test(`${mode}: the request passes when another member decides, with a warning`, async () => {
        const response = await answer("rescued", mode);
        assert.equal(response.allowed, true);
        assert.equal(response.patch, undefined);
        assert.match(response.warnings?.[0] ?? "", /^chaos failed: /);
      });
    }

    test("a guest that answers is believed", async () => {
      assert.equal((await answer("plain", "accept")).allowed, true);
      assert.equal((await answer("negated", "accept")).allowed, false);
      assert.equal((await answer("negated", "reject")).allowed, true);
      assert.equal((await answer("plain", "reject")).allowed, false);
    });
  });
}

describe("entries that cannot be loaded", () => {
  test("stay unavailable, deny with their error, and do not stop the others", async () => {
    const { evaluator, problems } = await load(`
good: { cel: { validations: [ { expression: "true" } ] } }
missing: { module: test/fixtures/nowhere.wasm, policyMode: monitor }
broken-cel: { cel: { validations: [ { expression: "object." } ] } }
refused: { module: test/fixtures/chaos/extism.wasm, settings: { mode: bad-settings } }
typo:
  expression: "goood()"
  message: "no"
  policies: { good: { policy: good } }
group-of-missing:
  expression: "!missing()"
  message: "no"
  policies: { missing: { policy: missing } }
`);
    const deny = async (id: string) => {
      const response = (await ask(evaluator, id, raw({}), "validate_raw"))?.response;
      assert.equal(response?.allowed, false, id);
      assert.equal(response?.status?.code, 500, id);
      return String(response?.status?.message);
    };
    assert.equal((await ask(evaluator, "good", raw({}), "validate_raw"))?.response.allowed, true);
    assert.match(await deny("missing"), /^Error while downloading policy 'missing': No such file or directory; /);
    assert.match(await deny("broken-cel"), /^the policy is invalid: /);
    assert.match(await deny("refused"), /^Policy settings are invalid: mode bad-settings is not valid/);
    assert.match(await deny("typo"), /unknown name 'goood' \(did you mean "good"\?\)/);
    await deny("group-of-missing");
    const places = problems.map(({ line, column, path }) => `${line}:${column} ${path.join(".")}`);
    assert.deepEqual(places, [
      "3:20 missing.module",
      "4:59 broken-cel.cel.validations.0.expression",
      "5:63 refused.settings",
      "7:21 typo.expression",
    ]);
    for (const text of [await deny("missing"), await deny("broken-cel")]) assert.ok(!text.includes(root), text);
  });
});
