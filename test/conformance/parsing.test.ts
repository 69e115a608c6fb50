import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { tests as parsing } from "@bufbuild/cel-spec/testdata/parsing.js";
import { parserOptions } from "../../src/cel/macros/macro-sets.js";
import { parse } from "../../src/cel/parser/index.js";
import { debugText } from "../cel/support/debug-text.js";

interface ParsingCase {
  readonly original: { readonly expr: string };
  readonly ast?: string;
  readonly error?: string;
}

const cases = (parsing as { readonly tests: readonly ParsingCase[] }).tests;
const options = parserOptions("standard", "1.37");

/** The data was made with optional syntax off where it says so. */
const WITHOUT_OPTIONALS = /unsupported syntax '(\?|\.\?|\[\?)'/;

/** Cases whose errors come from settings that no environment here has; each must differ, or it is listed for nothing. */
const OTHER_SETTINGS: readonly (readonly [RegExp, string])[] = [
  [/limit exceeded: (32|4)$|max recursion depth exceeded/m, "lower limits of depth and recovery"],
  [/unsupported syntax: '`'/, "backquoted names switched off"],
];

function outcome({ original, error }: ParsingCase): string {
  const optionalSyntax = error === undefined || !WITHOUT_OPTIONALS.test(error);
  const result = parse(original.expr, { ...options, optionalSyntax });
  return result.ok ? debugText(result.parsed.expr) : result.text.replaceAll("<input>", "");
}

describe("the official parser data", () => {
  for (const [index, each] of cases.entries()) {
    const { original, ast, error } = each;
    const other = OTHER_SETTINGS.find(([pattern]) => ast === undefined && pattern.test(error ?? ""));
    const name = `${index}: ${original.expr.slice(0, 60)}`;
    if (other === undefined) {
      test(name, () => {
        assert.equal(outcome(each), ast ?? error);
      });
    } else {
      test(`${name} (differs: ${other[1]})`, () => {
        assert.notEqual(outcome(each), error);
      });
    }
  }
});
