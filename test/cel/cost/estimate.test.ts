import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Declarations } from "../../../src/cel/checked.js";
import { estimateCost, type KnownSize } from "../../../src/cel/cost/estimate.js";
import { listType, STRING } from "../../../src/cel/types.js";
import { checked } from "../support/front-end.js";
import { vectorDeclarations } from "../support/vectors.js";

/** `self` is an array of at most 10 strings of at most 5 characters (20 bytes). */
const declarations: Declarations = {
  ...vectorDeclarations(),
  variables: new Map([["self", listType(STRING)]]),
};

const schema: KnownSize = (path) => {
  if (path.join(".") === "self") return { min: 0n, max: 10n };
  return path.join(".") === "self.@items" ? { min: 0n, max: 20n } : undefined;
};

const rows: readonly (readonly [string, bigint, bigint])[] = [
  ["self.all(x, x.startsWith('a'))", 2n, 52n],
  ["self.exists(x, x == 'ab')", 2n, 62n],
  ["self.filter(x, x.contains('a')).size() < 3", 14n, 174n],
  ["self.all(x, self.exists(y, y == x))", 2n, 852n],
  ["'a' in self", 1n, 11n],
  ["self[0].matches('^[a-z]+$')", 4n, 8n],
  ["self.sort()", 12n, 222n],
  ["self.join(',')", 1n, 22n],
  ["sets.contains(self, ['a'])", 12n, 22n],
  ["format.dns1123Label().validate(self[0]).hasValue()", 4n, 68n],
];

describe("the static estimate with a schema's sizes", () => {
  for (const [expr, min, max] of rows) {
    test(expr, () => {
      const result = checked(expr, declarations);
      assert.ok(!("issues" in result));
      assert.deepEqual(estimateCost(result, schema), { min, max });
    });
  }
});
