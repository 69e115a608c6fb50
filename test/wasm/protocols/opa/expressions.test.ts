/** Expressions of Rego, compiled by OPA and run by this host, beside what OPA itself answers. */
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import type { WasmPolicy } from "../../../../src/wasm/index.js";
import { readRegoJson } from "../../../../src/wasm/protocols/opa/read-rego.js";
import { equalityText } from "../../../../src/wasm/protocols/opa/rego-value.js";
import { context, file, raw, testRuntime } from "../../support.js";

interface Expression {
  readonly expr: string;
  /** The value; null where it is undefined, as when a builtin fails. */
  readonly opa: readonly [unknown] | null;
}

/** What OPA compiles into modules answers as its C code does, in OPA's own host as well, and that is not always what its Go code does. */
const COMPILED: ReadonlySet<string> = new Set([
  'net.cidr_contains("10.0.0.0/8", "::ffff:10.0.0.1")',
  'json.is_valid("01")',
  'json.is_valid("[1,]")',
  'json.is_valid("1 2")',
  "ceil(-0.5)",
  "floor(-0.5)",
  "floor(-0.1)",
  "format_int(9007199254740993, 10)",
  'json.unmarshal("{\\"a\\":1}x")',
  'json.unmarshal("1 2")',
  'json.unmarshal("01")',
  'json.marshal({"c": 1, "b": 2, "a": 3})',
  'base64.decode("YQ")',
  'indexof("abc", "")',
  '[k | some k, _ in {"c": 1, "b": 2, "a": 3}]',
  '[x | some x in {"c", "b", "a"}]',
  'concat(",", {"b", "a"})',
]);

/** What the reference host answers otherwise: a `v` in front of a version. */
const REFERENCE: ReadonlySet<string> = new Set(['semver.is_valid("v1.0.0")', 'semver.compare("v1.0.0", "1.0.0")']);

describe("an expression of Rego is what it is in OPA:", () => {
  const { runtime } = testRuntime({});
  let policy: WasmPolicy;
  before(async () => {
    const bytes = file("test/vectors/rego/expressions.wasm");
    policy = await runtime.load({ id: "rego", bytes, settings: {}, timeoutMs: 10_000, executionMode: "opa" });
  });
  after(() => runtime.close());

  const lines = file("test/vectors/rego/expressions.jsonl").toString().trim().split("\n");
  for (const [q, line] of lines.entries()) {
    const { expr, opa } = readRegoJson(line) as Expression;
    const isUnlike = COMPILED.has(expr) || REFERENCE.has(expr);
    test(`${expr}${isUnlike ? " (not here)" : ""}`, async () => {
      const outcome = await policy.evaluate(raw({ q }), context());
      const answer = outcome.verdict === "deny" ? readRegoJson(outcome.message ?? "") : [];
      const isSame = equalityText(answer) === equalityText(opa ?? []);
      assert.equal(isSame, !isUnlike, JSON.stringify(outcome));
    });
  }
});
