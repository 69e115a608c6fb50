import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough, Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { after, describe, test } from "node:test";
import { runCommandLine } from "../../src/commands/command-line.js";

const folder = mkdtempSync(join(tmpdir(), "test-command-"));
after(() => rmSync(folder, { recursive: true }));
const write = (name: string, content: string): string => {
  const file = join(folder, name);
  writeFileSync(file, content);
  return file;
};

const policies = write(
  "policies.yaml",
  `
limits:
  cel:
    matchConditions:
      - { name: workloads, expression: "object.kind == 'Deployment'" }
    variables:
      - { name: replicas, expression: "object.spec.?replicas.orValue(1)" }
    validations:
      - expression: "variables.replicas < 5 && (object.metadata.name != 'db' || variables.replicas == 1)"
        messageExpression: "'too many replicas: ' + string(variables.replicas)"
advice:
  cel:
    validations: [{ expression: "has(object.metadata.labels)", message: "labels help" }]
  validationActions: [Warn]
any:
  expression: "limits() || advice()"
  message: "nothing holds"
  policies: { limits: { policy: limits }, advice: { policy: advice } }
`,
);

const deployment = (name: string, replicas: number): string =>
  `{ apiVersion: apps/v1, kind: Deployment, metadata: { name: ${name} }, spec: { replicas: ${replicas} } }`;

async function run(...args: string[]): Promise<{ code: number; out: string; err: string }> {
  const stdout = new PassThrough();
  const stderr = new PassThrough();
  const code = await runCommandLine(["test", ...args, "--policies", policies], {
    env: {},
    stdin: Readable.from([]),
    stdout,
    stderr,
  });
  stdout.end();
  stderr.end();
  return { code, out: await text(stdout), err: await text(stderr) };
}

describe("test", () => {
  test("passes when every case is as expected, whatever the policy's kind", async () => {
    const file = write(
      "good.test.yaml",
      `
policy: limits
cases:
  - { name: few, object: ${deployment("web", 2)}, expect: allow }
  - { name: many, object: ${deployment("web", 9)}, expect: deny, message: "too many replicas: 9" }
  - { name: broken, object: ${deployment("web", 2).replace("2", "x")}, expect: error, messageContains: no such overload }
  - { name: other, object: { apiVersion: v1, kind: Pod, metadata: { name: x } }, expect: skip, messageContains: workloads }
  - { name: warned, policy: advice, object: ${deployment("web", 1)}, expect: warn, message: labels help }
  - { name: group, policy: any, object: ${deployment("web", 1)}, expect: allow }
  - { name: raw, policy: advice, raw: { metadata: { labels: {} } }, expect: allow }
`,
    );
    assert.deepEqual(await run(file), { code: 0, out: "7 passed, 0 failed\n", err: "" });
  });

  test("takes requests as AdmissionReviews and as kwctl does, without one around them", async () => {
    const request = `uid: u, kind: {group: apps, version: v1, kind: Deployment}, resource: {group: apps, version: v1, resource: deployments}, operation: CREATE, userInfo: {}, object: ${deployment("web", 9)}`;
    const file = write(
      "requests.test.yaml",
      `
policy: limits
cases:
  - { name: review, request: { request: { ${request} } }, expect: deny }
  - { name: bare, request: { ${request} }, expect: deny, message: "too many replicas: 9" }
`,
    );
    assert.deepEqual(await run(file), { code: 0, out: "2 passed, 0 failed\n", err: "" });
    const neither = write(
      "neither.test.yaml",
      "policy: limits\ncases: [{ name: neither, request: { a: 1 }, expect: deny }]\n",
    );
    assert.match((await run(neither)).err, /missing field `request`/);
  });

  test("says what differs, and writes it as JUnit", async () => {
    const file = write(
      "bad.test.yaml",
      `
policy: limits
cases:
  - { name: "a <b>", object: ${deployment("web", 9)}, expect: allow }
  - { name: text, object: ${deployment("web", 9)}, expect: deny, message: other }
  - { name: unknown, policy: nobody, raw: 1, expect: allow }
  - { name: quiet, object: ${deployment("web", 1)}, expect: warn }
`,
    );
    const junit = join(folder, "results.xml");
    const { code, out } = await run(file, "--junit", junit);
    assert.equal(code, 1);
    assert.deepEqual(
      out.split("\n").map((line) => line.replace(`${file}: `, "")),
      [
        "FAIL a <b> (limits): expected allow, got deny: too many replicas: 9",
        'FAIL text (limits): expected the message "other", got "too many replicas: 9"',
        "FAIL unknown (nobody): there is no policy 'nobody'",
        "FAIL quiet (limits): expected a warning, got allow without one",
        "0 passed, 4 failed",
        "",
      ],
    );
    const xml = readFileSync(junit, "utf8");
    assert.match(xml, /tests="4" failures="4"/);
    assert.match(xml, /name="a &lt;b&gt;".*\n.*<failure message="expected allow, got deny: too many replicas: 9"\/>/);
  });

  test("names the expressions and branches that no case reached", async () => {
    const file = write("some.test.yaml", `policy: limits\ncases: [{ object: ${deployment("web", 2)}, expect: allow }]`);
    const { code, out } = await run(file, "--coverage", "--min-coverage", "90");
    assert.equal(code, 1);
    assert.deepEqual(out.split("\n").slice(1), [
      "limits: spec.matchConditions[0].expression: is never false",
      "limits: spec.validations[0].expression: is never false",
      "limits: spec.validations[0].expression: 1:57: the right side of || is never reached",
      "advice: spec.validations[0].expression: is never evaluated",
      "coverage: 5 of 10 (50.0 %)",
      "",
    ]);
    const more = write(
      "more.test.yaml",
      `policy: limits\ncases:\n${[
        `{ object: ${deployment("web", 2)}, expect: allow }`,
        `{ object: ${deployment("web", 9)}, expect: deny }`,
        `{ object: ${deployment("db", 1)}, expect: allow }`,
        "{ object: { apiVersion: v1, kind: Pod, metadata: { name: x } }, expect: skip }",
        "{ policy: advice, raw: {}, expect: error }",
        "{ policy: advice, raw: { metadata: {} }, expect: warn }",
        "{ policy: advice, raw: { metadata: { labels: {} } }, expect: allow }",
      ]
        .map((each) => `  - ${each}`)
        .join("\n")}`,
    );
    const full = await run(more, "--coverage", "--min-coverage", "100");
    assert.deepEqual(full, { code: full.code, out: full.out, err: "" });
    assert.match(full.out, /coverage: 10 of 10 \(100.0 %\)/);
  });

  test("refuses files that are no test files", async () => {
    for (const [name, content, said] of [
      ["a.yaml", "cases: 1", /expected 'cases', a list/],
      ["b.yaml", "cases: [{ expect: allow, raw: 1 }]", /no 'policy'/],
      ["c.yaml", "policy: limits\ncases: [{ expect: maybe, raw: 1 }]", /'expect' must be one of/],
      ["d.yaml", "policy: limits\ncases: [{ expect: allow }]", /exactly one of object, request and raw/],
      ["e.yaml", "policy: limits\ncases: [{ expect: allow, raw: 1, oject: 1 }]", /unknown key 'oject'/],
    ] as const) {
      const { code, err } = await run(write(name, content));
      assert.equal(code, 2);
      assert.match(err, said);
    }
    assert.match((await run(join(folder, "none.yaml"))).err, /cannot read/);
  });
});
