import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, test } from "node:test";
import { parseJson } from "../../../src/data/json.js";
import { createCompilers } from "../../../src/kinds/kyverno/dialect.js";
import { isObject, type JsonObject, text } from "../../../src/kubernetes/object.js";
import { decideOldKyvernoCase, type OldKyvernoExpectation } from "../../../src/offline/cases/kyverno-old/case.js";

const compilers = createCompilers();

interface Expected extends Pick<OldKyvernoExpectation, "patched"> {
  readonly rows: readonly { readonly policy: string; readonly resource: string; readonly result: string }[];
  readonly "load error"?: unknown;
  readonly "command error"?: unknown;
}

interface Case {
  readonly id: string;
  readonly written: JsonObject;
  readonly expected: Expected;
}

function read(name: string): readonly Case[] {
  const file = new URL(`../../../../test/vectors/kyverno-old/${name}`, import.meta.url);
  return readFileSync(file, "utf8")
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => {
      const { id, expect } = JSON.parse(line) as { id: string; expect: Expected };
      return { id, written: parseJson(line) as JsonObject, expected: expect };
    });
}

/** The resources that a policy refuses: a failure and an error count alike. */
function refused({ rows }: Pick<Expected, "rows">): readonly string[] {
  const bad = rows.filter(({ result }) => result === "fail" || result === "error");
  return [...new Set(bad.map(({ policy, resource }) => `${policy.split("/").at(-1)} ${resource}`))].sort();
}

/** The objects that were changed, by policy and resource. */
const patches = ({ patched = [] }: Pick<Expected, "patched">): Readonly<Record<string, unknown>> =>
  Object.fromEntries(
    patched.map(({ policy, resource, object }) => [`${policy.split("/").at(-1)} ${resource}`, object]),
  );

/** Why a case is not converted, or is decided otherwise. */
const NOT_ALIKE: ReadonlyMap<string, string> = new Map([
  ["pat-key-star", "refused: a wildcard key may match several labels"],
  ["pat-key-q", "refused: a wildcard key may match several labels"],
  ["pat-key-star-annotations", "refused: a wildcard key may match several labels"],
  ["pat-key-star-anchor", "refused: a wildcard key may match several labels"],
  ["pat-variable-key", "refused: a key with variables"],
  ["foreach-scope-context-var", "refused: a key with variables"],
  ["jmes-regex-match-lookahead", "refused: not an expression of RE2"],
  ["jmes-is-external-url", "refused: the function asks DNS"],
  ["jmes-function-unknown", "refused: there is no such function"],
  ["context-chain-forward", "refused: a variable names a later one"],
  ["match-var-user-ann", "refused: request.roles"],
  ["match-var-user-sa", "refused: request.roles"],
  ["rules-two-applyone", "refused: applyRules One"],
  ["load-no-rules", "refused: a policy without rules"],
  ["load-two-policies-one-bad", "refused: a policy without rules"],
  ["podsec-privileged", "refused: level privileged"],
  ["deny-op-in-text", "refused: In is not AnyIn there"],
  ["deny-op-notin-text", "refused: NotIn is not AnyNotIn there"],
  ["jmes-request-name", "the command builds no request"],
  ["action-unscored", "a warning of reports is a failure here"],
  ["cel-messageexpr-error", "a message expression that is not a text does not compile"],
  ["cel-params-allow", "the command does not know that ConfigMaps have namespaces"],
  ["exception-podsecurity", "an exception from a control is refused"],
  ["exception-podsecurity-field", "an exception from a control is refused"],
  ["exception-podsecurity-autogen", "an exception from a control is refused"],
  ["oldmutate-json6902-missing", "an object after an error is not told"],
  ["context-globalreference", "the command stands in for the entry"],
  ["context-apicall-length", "the command stands in for the API server"],
  ["context-apicall-get", "the command stands in for the API server"],
  ["jmes-missing-dot", "a parent that is null or a text is an error"],
]);

const isRefusedByKyverno = (expected: Expected): boolean =>
  expected["load error"] !== undefined || expected["command error"] !== undefined;

const asWritten = (value: OldKyvernoExpectation): Expected => JSON.parse(JSON.stringify(value)) as Expected;

describe("what Kyverno 1.19.1 says of cases in its old language", () => {
  const cases = read("cases.jsonl");
  const converted: string[] = [];
  for (const { id, written, expected } of cases)
    test(id, async () => {
      const found = await decideOldKyvernoCase(written, compilers);
      const left = found["not converted"] ?? found["command error"];
      if (isRefusedByKyverno(expected)) return assert.notEqual(left, undefined);
      if (left === undefined) converted.push(id);
      const known = NOT_ALIKE.get(id);
      const own = asWritten(found);
      const isAlike =
        left === undefined &&
        refused(own).join() === refused(expected).join() &&
        JSON.stringify(patches(own)) === JSON.stringify(patches(expected));
      if (known !== undefined) return assert.equal(isAlike, false, "it is decided alike now: take it from the list");
      assert.equal(left, undefined);
      assert.deepEqual(refused(own), refused(expected));
      assert.deepEqual(patches(own), patches(expected));
    });
  test("most are converted", () => assert.ok(converted.length >= 655, String(converted.length)));
});

test("a policy that is not converted has its place and the reason", async () => {
  const [first] = read("cases.jsonl").filter(({ id }) => id === "podsec-privileged");
  const { rows, ...found } = await decideOldKyvernoCase(first?.written ?? {}, compilers);
  assert.deepEqual(rows, []);
  const [reason] = found["not converted"] ?? [];
  assert.equal(isObject(reason) && text(reason, "place"), "spec.rules[0].validate.podSecurity.level");
});
