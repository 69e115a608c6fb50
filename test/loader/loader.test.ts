import assert from "node:assert/strict";
import { join } from "node:path";
import { describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { formatProblem } from "../../src/config/documents/problem.js";
import { parseConfig } from "../../src/config/index.js";
import { createLoader } from "../../src/loader/index.js";
import { countedThreads } from "../support/counted-threads.js";

const ROOT = fileURLToPath(new URL("../../..", import.meta.url));

const configOf = (text: string) => {
  const read = parseConfig(text, "p.yaml");
  assert.ok(read.ok);
  return read.config;
};

function loaderFor(context: { after(act: () => void): void }) {
  const loader = createLoader({ downloadDirectory: "/nonexistent" });
  context.after(() => loader.close());
  return loader;
}

const load = (context: Parameters<typeof loaderFor>[0], text: string) => loaderFor(context).load(configOf(text));

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

  test("again: new modules are prepared on a thread, because the main thread may have requests to answer", async (context) => {
    const threads = countedThreads(context);
    const loader = loaderFor(context);
    const module = (policy: string, settings = "{}") =>
      `${policy}: { module: ${join(ROOT, "policies", policy, "policy.wasm")}, settings: ${settings} }\n`;
    const first = await loader.load(configOf(module("privileged-pods")));
    assert.equal(threads.started, 0);
    const second = await loader.load(
      configOf(module("privileged-pods") + module("trusted-registries", "{ registries: [a.io] }")),
    );
    assert.equal(threads.started, 1);
    assert.deepEqual([...first.problems, ...second.problems], []);
  });
});
