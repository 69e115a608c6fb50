import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { formatLongType } from "../../../src/cel/types.js";
import { checked, issuesOf } from "../support/front-end.js";
import { SPEC_ROWS } from "./spec-rows.js";

describe("the conformance table's compile errors and types", () => {
  for (const { row, expr, issues, type } of SPEC_ROWS) {
    test(`${row}: ${JSON.stringify(expr)}`, () => {
      if (issues !== undefined) {
        assert.deepEqual(
          issuesOf(expr),
          issues.map(([line, column, message]) => `${line}:${column} ${message}`),
        );
        return;
      }
      const result = checked(expr);
      assert.ok(!("issues" in result), "issues" in result ? result.text : "");
      assert.equal(formatLongType(result.type), type);
    });
  }
});
