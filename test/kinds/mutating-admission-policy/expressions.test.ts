import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, test } from "node:test";
import { readJson } from "../../../src/data/json.js";
import type { MutationSpec } from "../../../src/kinds/shared/mutation/compile-mutation.js";
import type { JsonObject } from "../../../src/kubernetes/object.js";
import { difference, type MapCase, runMutations } from "./support/single-policy.js";

/** A mutation of the Pod, and what comes of it. */
interface Line {
  readonly mutation: MutationSpec;
  readonly variables?: readonly { readonly name: string; readonly expression: string }[];
  readonly object?: JsonObject;
  readonly message?: string;
  readonly panic?: string;
}

const [about, ...lines] = readFileSync(
  new URL("../../../../test/vectors/map/expressions.jsonl", import.meta.url),
  "utf8",
)
  .trim()
  .split("\n")
  .map((line) => readJson(line).value);
const { request, namespaces } = about as Pick<MapCase, "request" | "namespaces">;

function caseOf({ mutation, variables = [], object, message, panic }: Line): MapCase {
  const causes = message === undefined ? [] : [{ message }];
  return {
    id: JSON.stringify(mutation),
    policies: [{ metadata: { name: "p" }, spec: { variables, mutations: [mutation] } }],
    bindings: [{ metadata: { name: "b" }, spec: {} }],
    ...(namespaces && { namespaces }),
    request,
    result: {
      allowed: object !== undefined,
      ...(object && { object }),
      ...(panic !== undefined && { panic }),
      ...(message !== undefined && { status: { code: 403, message, details: { causes } } }),
    },
  };
}

describe("an expression of a mutation", () => {
  test("gives what it gives in the server: types, values, messages of compiling, evaluating and converting", () => {
    const differences: string[] = [];
    for (const line of lines as readonly Line[]) {
      const each = caseOf(line);
      const found = difference(each, runMutations(each));
      if (found !== undefined) differences.push(`${each.id}: ${found}`);
    }
    assert.deepEqual(differences, []);
    assert.ok(lines.length > 200);
  });
});
