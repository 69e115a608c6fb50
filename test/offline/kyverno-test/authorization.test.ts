/** Test files with requests to be authorized (spec kyverno.md 6.3). */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { policy, runSuite } from "./suite.js";

const ofMode = (mode: string, expression: string, name = "p") =>
  policy({ evaluation: { mode }, validations: [{ expression }] }, { name });
const expecting = (result: string, more: Record<string, unknown> = {}) => ({ policy: "p", result, ...more });

describe("a test with requests", () => {
  test("shows what was decided, under the policy's name and the file's path", async () => {
    const { rows, passed, out } = await runSuite(
      { results: [expecting("fail")], httpPayloads: ["./a.json"] },
      { "policy.yaml": ofMode("HTTP", 'http.Denied("no").Response()'), "a.json": {} },
    );
    assert.equal(passed, true);
    assert.equal(rows.length, 1);
    assert.match(rows[0] ?? "", /\/a\.json: Pass Ok: request denied, reason: no \[p\]$/);
    assert.match(out, /Loading HTTP payloads \.\.\./);
    assert.match(out, /Applying 0 policies to 0 resources/);
  });

  test("asks policies of the request's mode only", async () => {
    const { rows } = await runSuite(
      { results: [expecting("pass")], httpPayloads: ["a.json"], envoyPayloads: ["b.json"] },
      { "policy.yaml": ofMode("Envoy", "envoy.Allowed().Response()"), "a.json": {}, "b.json": {} },
    );
    assert.deepEqual(
      rows.map((row) => row.replace(/^.*\//, "")),
      ["a.json: Fail Not found", "b.json: Pass Ok: request allowed [p]"],
    );
  });

  test("asks about each file once", async () => {
    const { rows } = await runSuite(
      { results: [expecting("skip")], envoyPayloads: ["a.json", "./a.json"] },
      { "policy.yaml": ofMode("Envoy", "null"), "a.json": {} },
    );
    assert.equal(rows.length, 1);
    assert.match(rows[0] ?? "", /request does not match/);
  });

  test("ends with a policy that does not compile, when one of its mode is asked about", async () => {
    const files = { "policy.yaml": ofMode("HTTP", "true"), "a.json": {} };
    const { err, passed } = await runSuite({ results: [expecting("pass")], httpPayloads: ["a.json"] }, files);
    assert.equal(passed, false);
    assert.match(
      err,
      /failed to apply policies on HTTP payload \(failed to compile HTTP policy p: spec.validations\[0\]/,
    );
    const other = await runSuite({ results: [expecting("pass")], envoyPayloads: ["a.json"] }, files);
    assert.match(other.err, /^Error: \S+: failed to compile HTTP policy p: /m);
    assert.doesNotMatch(other.err, /failed to apply/);
  });

  test("ends with a file that is no request", async () => {
    const files = { "policy.yaml": ofMode("HTTP", "null"), "a.json": { attributes: { host: 1 } } };
    const run = (payloads: Record<string, unknown>) => runSuite({ results: [expecting("pass")], ...payloads }, files);
    assert.match(
      (await run({ httpPayloads: ["a.json"] })).err,
      /error: failed to load HTTP payloads from path DIR\/a\.json \(json: cannot unmarshal number/,
    );
    assert.match(
      (await run({ envoyPayloads: ["nope.json"] })).err,
      /failed to load Envoy payloads from path DIR\/nope\.json \(failed to read envoy payload file .*no such file/,
    );
  });

  test("counts a denial of an unscored policy as a warning", async () => {
    const unscored = ofMode("HTTP", 'http.Denied("no").Response()') as { metadata: Record<string, unknown> };
    unscored.metadata.annotations = { "policies.kyverno.io/scored": "false" };
    const { passed } = await runSuite(
      { results: [expecting("warn")], httpPayloads: ["a.json"] },
      { "policy.yaml": unscored, "a.json": {} },
    );
    assert.equal(passed, true);
  });
});
