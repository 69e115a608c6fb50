import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { createEnvironment } from "../../src/cel/index.js";
import { celLine } from "../../src/offline/cases/cel/cel-line.js";
import { readVariables } from "../../src/offline/cases/cel/variables.js";
import { inSteps } from "../cel/support/in-steps.js";
import { readVectors, type Vector } from "../cel/support/vectors.js";

const POINTER = "the reference prints the address of the format's function";

/** Lines that cannot be equal, with the reason. Only texts may differ: never a value, acceptance, or an error for a value. */
const DIFFERS: ReadonlyMap<string, string> = new Map(
  [
    ...["byte", "date", "datetime", "dns1035Label", "dns1035LabelPrefix", "dns1123Label", "dns1123LabelPrefix"],
    ...["dns1123Subdomain", "dns1123SubdomainPrefix", "labelValue", "qualifiedName", "uri", "uuid"],
  ]
    .map((name) => `format.${name}()`)
    .concat("format.named('dns1123Label')", "format.named('uuid')")
    .map((expr) => [expr, POINTER]),
);

/** At most this share of the lines may stand on the list. */
const MOST_DIFFERING = 0.005;

const path = fileURLToPath(new URL("../../../test/vectors/cel/variables.json", import.meta.url));
const { bindings, ...declarations } = await readVariables(path);
const environment = createEnvironment({ flavour: "kubernetes" }).extend(declarations);

for (const file of ["curated.jsonl", "generated.jsonl"]) {
  const vectors = readVectors(file);
  describe(`${file}: issues, texts, types, values, errors, costs and estimates are the reference's`, () => {
    test("hardly a line stands on the list of differences", () => {
      assert.ok(vectors.filter(({ expr }) => DIFFERS.has(expr)).length <= vectors.length * MOST_DIFFERING);
    });

    const pauses = { count: 0 };
    const ways = { "every line": environment, "every line, in steps": inSteps(environment, pauses) };
    for (const [name, how] of Object.entries(ways)) {
      test(name, () => {
        const wrong: unknown[] = [];
        for (const vector of vectors) {
          const line = JSON.parse(JSON.stringify(celLine(how, bindings, vector.expr))) as Vector;
          const equal = isDeepEqual(line, vector);
          if (equal === DIFFERS.has(vector.expr)) wrong.push(equal ? `passes: ${vector.expr}` : { line, vector });
        }
        assert.deepEqual(wrong, []);
      });
    }

    test("lines are left off in hundreds of places", () => {
      assert.ok(pauses.count > 500, `${pauses.count} pauses`);
    });
  });
}

function isDeepEqual(a: unknown, b: unknown): boolean {
  try {
    assert.deepEqual(a, b);
    return true;
  } catch {
    return false;
  }
}
