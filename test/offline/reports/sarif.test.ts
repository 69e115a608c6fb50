import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, test } from "node:test";
import { pathToFileURL } from "node:url";
import { MOST_SARIF_RESULTS, type SarifResult, sarifDocument } from "../../../src/offline/reports/sarif.js";
import { type Sarif, whatGitHubRefuses } from "../../support/sarif.js";

const result = (more: Partial<SarifResult> = {}): SarifResult => ({
  rule: "r",
  level: "error",
  text: "no",
  place: { file: "a.yaml", line: 3 },
  ...more,
});
const RULES = [{ id: "r", help: "help" }];
const documentOf = (...results: readonly SarifResult[]): Sarif =>
  JSON.parse(sarifDocument(RULES, results).text) as Sarif;
const uriOf = (file: string): string | undefined =>
  documentOf(result({ place: { file, line: 1 } })).runs[0]?.results[0]?.locations[0]?.physicalLocation.artifactLocation
    .uri;

test("a result has a region of lines and columns from 1", () => {
  const regions = [
    { file: "a", line: 3 },
    { file: "a", line: 0 },
    { file: "a", line: 2, column: 5, endColumn: 9 },
    { file: "a", line: 2, column: 5, endColumn: undefined },
  ].map((place) => documentOf(result({ place })).runs[0]?.results[0]?.locations[0]?.physicalLocation.region);
  assert.deepEqual(regions, [
    { startLine: 3, startColumn: 1, endLine: 3, endColumn: 2 },
    { startLine: 1, startColumn: 1, endLine: 1, endColumn: 2 },
    { startLine: 2, startColumn: 5, endLine: 2, endColumn: 9 },
    { startLine: 2, startColumn: 5, endLine: 2, endColumn: 6 },
  ]);
});

test("a rule has all texts that GitHub requires, and stands once", () => {
  const { text } = sarifDocument(
    [...RULES, ...RULES, { id: "s", title: "T", description: "D", help: "h" }],
    [result({ rule: "s" })],
  );
  const document = JSON.parse(text) as Sarif;
  assert.deepEqual(whatGitHubRefuses(document), []);
  assert.deepEqual(document.runs[0]?.tool.driver.rules, [
    { id: "r", shortDescription: { text: "r" }, fullDescription: { text: "r" }, help: { text: "help" } },
    { id: "s", shortDescription: { text: "T" }, fullDescription: { text: "D" }, help: { text: "h" } },
  ]);
  assert.equal(document.runs[0]?.results[0]?.ruleIndex, 1);
});

describe("the URI of a file", () => {
  const before = process.cwd();

  test("is relative to the repository, wherever the command runs in it", (context) => {
    const folder = realpathSync(mkdtempSync(join(tmpdir(), "sarif-")));
    context.after(() => {
      process.chdir(before);
      rmSync(folder, { recursive: true });
    });
    mkdirSync(join(folder, "deploy/.git"), { recursive: true });
    mkdirSync(join(folder, "deploy/prod"));
    process.chdir(join(folder, "deploy/prod"));
    assert.equal(uriOf("a.yaml"), "prod/a.yaml");
    assert.equal(uriOf("../b.yaml"), "b.yaml");
    assert.equal(uriOf(join(folder, "deploy/c.yaml")), "c.yaml");
    assert.equal(uriOf("../..x/y"), "..x/y");
    assert.equal(uriOf(join(folder, "d.yaml")), pathToFileURL(join(folder, "d.yaml")).href);
    rmSync(join(folder, "deploy/.git"), { recursive: true });
    assert.equal(uriOf("a.yaml"), "a.yaml");
  });

  test("has every name in its escaped form", () => {
    for (const name of ["a b.yaml", "ü.yaml", "a:b.yaml", "100%.yaml", "a#b?.yaml", "new\nline.yaml"]) {
      assert.equal(uriOf(join("x y", name)), `x%20y/${encodeURIComponent(name)}`);
    }
  });
});

test("of more results than GitHub takes the errors come first, and the rest is counted", () => {
  const many = Array.from({ length: MOST_SARIF_RESULTS + 7 }, (_, i) =>
    result({ level: i % 2 === 0 ? "warning" : "error" }),
  );
  const { text, leftOut } = sarifDocument(RULES, many);
  const document = JSON.parse(text) as Sarif;
  assert.equal(leftOut, 7);
  assert.deepEqual(whatGitHubRefuses(document), []);
  assert.equal(document.runs[0]?.results.filter(({ level }) => level === "error").length, many.length / 2 - 0.5);
});

test("long texts are cut", () => {
  const document = documentOf(result({ text: "x".repeat(100_000) }));
  assert.equal(document.runs[0]?.results[0]?.message.text.length, 4096);
});
