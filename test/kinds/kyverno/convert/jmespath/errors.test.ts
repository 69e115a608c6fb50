/** What is an error in Kyverno is one in the converted rule, too: never an allow. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { convertPolicy } from "../../../../../src/kinds/kyverno/convert/index.js";
import type { JsonObject } from "../../../../../src/kubernetes/object.js";
import { cpuMilliseconds } from "../../../../support/cpu-time.js";
import { judged, oldPolicy, reasonsOf } from "../rules.js";

const widget = (spec?: unknown): JsonObject =>
  ({
    apiVersion: "example.com/v1",
    kind: "Widget",
    metadata: { name: "w", namespace: "shop" },
    ...(spec !== undefined && { spec }),
  }) as JsonObject;

/** A rule that denies where a key equals a value. */
const denies = (key: string, value: unknown, context: readonly JsonObject[] = []): JsonObject =>
  oldPolicy(
    { context, validate: { message: "no", deny: { conditions: { any: [{ key, operator: "Equals", value }] } } } },
    ["Widget"],
  );

/** Queries, a value of `spec.v` of another type than they need, and a value that the query never has. */
const ERRORS: readonly (readonly [string, unknown, unknown])[] = [
  ["contains(request.object.spec.v, `1`)", 5, true],
  ["contains(request.object.spec.v[].n, 'x')", { a: 1 }, true],
  ["contains(keys(request.object.spec.v), 'a')", [], true],
  ["length(request.object.spec.v[?n])", {}, 1],
  ["length(request.object.spec.v[].n)", {}, 1],
  ["map(&n, request.object.spec.v)", {}, "x"],
  ["request.object.spec.v[?contains(n, 'x')]", [{}], true],
  ["regex_match('^a', request.object.spec.v)", true, true],
  ["pattern_match('a*', request.object.spec.v)", false, true],
  ["lookup(request.object.spec.v, 'a')", ["b"], "x"],
  ["lookup(request.object.spec.v, `0`)", { a: 1 }, "x"],
  ["split(request.object.spec.v, 'b')[1]", null, true],
];

test("functions of a value of another type are errors, where the answer would be an allow, too", async () => {
  for (const [query, v, value] of ERRORS)
    assert.match(await judged(denies(`{{ ${query} }}`, value), widget({ v })), /^error/, query);
});

test("a key that is missing before the last one of a path is an error behind [*] and slices, too", async () => {
  for (const query of ["v[*].n", "v[1:]", "v[::-1]"]) {
    const policy = denies(`{{ request.object.spec.${query} }}`, "x");
    assert.match(await judged(policy, widget()), /^error/, query);
    assert.equal(await judged(policy, widget({})), "pass", query);
  }
});

test("keys and variables may be named like words of CEL", async () => {
  for (const name of ["true", "null", "in", "for"]) {
    assert.equal(await judged(denies(`{{ request.object.spec."${name}" }}`, "x"), widget({ [name]: "x" })), "fail: no");
    const context = [{ name, variable: { jmesPath: "request.object.spec.v" } }];
    assert.equal(await judged(denies(`{{ ${name} }}`, "x", context), widget({ v: "x" })), "fail: no", name);
  }
});

test("a variable that is null, and what is not found, are errors as a whole, too", async () => {
  const variable = { name: "l", variable: { jmesPath: "request.object.spec.v" } };
  assert.match(await judged(denies("{{ l }}", "x", [variable]), widget({ v: null })), /^error/);
  const apiCall = { name: "l", apiCall: { urlPath: "/api/v1/namespaces/shop/configmaps/none" } };
  for (const key of ["{{ l }}", "{{ l || 'd' }}", "{{ l.data.x || 'd' }}"])
    assert.match(await judged(denies(key, "x", [apiCall]), widget({})), /^error/, key);
});

test("a policy that is too large is refused, before it takes time", async () => {
  const rule = { validate: { message: "m", deny: { conditions: { any: [] } } } };
  const many = Array.from({ length: 2000 }, (_, i) => ({
    key: "{{ request.name }}",
    operator: "Equals",
    value: `n${i}`,
  }));
  rule.validate.deny.conditions.any = many as never;
  assert.match(reasonsOf(oldPolicy(rule)).join(), /rules of more than 32768 characters are not converted/);
  const doubled = Array.from({ length: 31 }, (_, i) => ({
    name: `v${i}`,
    variable: { value: i === 0 ? "abcdefgh" : `{{ v${i - 1} }}{{ v${i - 1} }}` },
  }));
  assert.match(reasonsOf(denies("{{ v30 }}", "x", doubled)).join(), /a text of more than 100000 characters/);
  const long = denies(`{{ ${"x".repeat(30_000)} }}`, "x");
  assert.ok((await cpuMilliseconds(() => convertPolicy(long))) < 1000);
});
