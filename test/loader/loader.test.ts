import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { parseConfig } from "../../src/config/index.js";
import { formatProblem } from "../../src/documents/problem.js";
import { createPolicyLoader } from "../../src/loader/index.js";

async function load(context: { after(act: () => void): void }, text: string) {
  const loader = createPolicyLoader({
    policyTimeout: 2000,
    workers: 1,
    now: () => performance.now(),
    log: () => {},
    violation: () => {},
    fetch: { downloadDirectory: "/nonexistent", environment: {} },
  });
  context.after(() => loader.close());
  const read = parseConfig(text, "p.yaml");
  assert.ok(read.ok);
  return loader.load(read.config);
}

const rule = (expression: string, more = "") => `{ cel: { validations: [ { expression: "${expression}" } ] }${more} }`;

describe("loading", () => {
  test("tells every mistake of every entry at its place, and serves the others", async (context) => {
    const { policies, problems } = await load(context, `a: ${rule("nope")}\nb: ${rule("true")}\nc: ${rule("1 +")}\n`);
    assert.deepEqual(
      problems.map((problem) => formatProblem(problem).split(": ").slice(0, 2).join(": ")),
      ["p.yaml:1:43: a.cel.validations[0].expression", "p.yaml:3:46: c.cel.validations[0].expression"],
    );
    assert.deepEqual(
      [...policies.entries.values()].map(({ id, unavailable }) => [id, unavailable === undefined]),
      [
        ["a", false],
        ["b", true],
        ["c", false],
      ],
    );
  });

  test("gives a group the time of its members together, unless it says otherwise", async (context) => {
    const member = (seconds: string) => rule("true", seconds && `, timeoutEvalSeconds: ${seconds}`);
    const group = (more: string) =>
      `{ expression: "x() && z()", message: m, policies: { x: ${member("3")}, z: ${member("")} }${more} }`;
    const { policies } = await load(context, `sum: ${group("")}\nown: ${group(", timeoutEvalSeconds: 4")}\n`);
    assert.deepEqual(
      ["sum", "sum/x", "sum/z", "own"].map((id) => policies.entries.get(id)?.timeout),
      [5000, 3000, 2000, 4000],
    );
  });
});
