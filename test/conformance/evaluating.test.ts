import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, test } from "node:test";
import { judge, specCases } from "./spec-cases.js";

/** Cases that ask for messages or enums declared in protobuf: an engine for JSON data has none. */
const NEEDS_PROTOBUF: ReadonlySet<string> = new Set(
  readFileSync(new URL("../../../test/vectors/cel/conformance-needs-protobuf.txt", import.meta.url), "utf8")
    .split("\n")
    .filter((line) => line !== ""),
);

const CHANGED = "the reference implementation has changed since the case was written: -1";
const TOTAL = "the reference implementation gives the whole duration in milliseconds";

/** Where the cases and the implementation that Kubernetes uses differ, Kubernetes is right. */
const DIFFERS: ReadonlyMap<string, string> = new Map([
  ["string_ext/value_errors/indexof_out_of_range", CHANGED],
  ["string_ext/value_errors/lastindexof_out_of_range", CHANGED],
  ["timestamps/duration_converters/get_milliseconds", TOTAL],
  [
    "type_deductions/legacy_nullable_types/null_assignable_to_abstract_parameter_candidate",
    "the reference implementation, too, takes null for the more general type",
  ],
]);

const cases = specCases();

describe("the official conformance cases", () => {
  test("are all there", () => {
    assert.equal(cases.size, 2344);
    assert.ok([...NEEDS_PROTOBUF, ...DIFFERS.keys()].every((name) => cases.has(name)));
  });

  test("that do not pass are named in docs/cel.md, with their numbers", () => {
    const page = readFileSync(new URL("../../../docs/cel.md", import.meta.url), "utf8");
    const rows = [...page.matchAll(/^\| ((?:`\w+`(?:, )?)+) \| (\d+) \|/gm)].map(
      ([, names = "", number]) => [names, Number(number)] as const,
    );
    const count = (names: string): number =>
      [...NEEDS_PROTOBUF].filter((name) => names.split(", ").includes(`\`${name.split("/")[0]}\``)).length;
    assert.deepEqual(
      rows.map(([names]) => [names, count(names)]),
      rows,
    );
    assert.equal(
      rows.reduce((sum, [, number]) => sum + number, 0),
      NEEDS_PROTOBUF.size,
    );
    assert.ok(page.includes(`${NEEDS_PROTOBUF.size} ask for messages or enums`));
  });

  for (const [name, spec] of cases) {
    const skipped = NEEDS_PROTOBUF.has(name) || DIFFERS.has(name);
    test(skipped ? `${name} (not expected to pass)` : name, () => {
      const difference = judge(spec);
      if (skipped) assert.notEqual(difference, undefined, "passes: take it off the list");
      else assert.equal(difference, undefined, spec.expr);
    });
  }
});
