import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { CelError } from "../../../src/cel/index.js";
import { createRuleCompiler } from "../../../src/kinds/certificate-request-policy/dialect.js";
import { RequestValue } from "../../../src/kinds/certificate-request-policy/request-value.js";
import { compileRule } from "../../../src/kinds/certificate-request-policy/rules.js";

const compiler = createRuleCompiler();
const BINDINGS = { self: "web.example.com", cr: new RequestValue("req-1", "sandbox", "alice", ["a", "t1"]) };

/** What the cost tracker of cel-go 0.32.0 counts, in approver-policy's environment. */
const COSTS: readonly (readonly [rule: string, cost: number])[] = [
  ["true", 0],
  ["self == 'web.example.com'", 3],
  ["self == cr.name", 4],
  ["has(cr.name)", 2],
  ["has({'a': 1}.a)", 32],
  ["[1, 2] == [1, 2]", 21],
  ["self in ['a', 'b']", 13],
  ["self in []", 11],
  ["1 in [1, 2, 3]", 13],
  ["string(1 / 0) in ['a', 'b']", 2],
  ["{'a': 1}['a'] == 1", 33],
  ["self.matches('^[a-z.]+$')", 7],
  ["self.contains('example')", 3],
  ["self.startsWith('web.example.com')", 3],
  ["self.charAt(1) == 'e'", 6],
  ["self.indexOf('example') == 4", 14],
  ["self.lastIndexOf('.', 9) == 3", 5],
  ["self.lowerAscii() == self", 22],
  ["self.trim() == self", 22],
  ["self.reverse() == self", 22],
  ["self.substring(4, 11) == 'example'", 12],
  ["self.replace('e', 'eee') == self", 28],
  ["''.replace('', 'ab') == 'ab'", 5],
  ["self.split('.').size() == 3", 19],
  ["['a', 'b', self].join('-') == ''", 32],
  ["strings.quote(self) == self", 6],
  ["'%s/%s'.format([self, 1]) == self", 15],
  ["string(bytes(self)) == self", 8],
  ["cr.groups.filter(g, g == 'a') == ['a']", 41],
  ["cr.groups.map(g, g + 'x') == []", 51],
  ["cr.groups.map(g, [1]) == []", 67],
  ["[1].filter(x, 1 / 0 == x) == []", 12],
  ["[1, 2].map(x, 1 / 0) == []", 35],
  ["[1, 2].exists_one(x, 1 / 0 == x)", 13],
  ["1 / 0 == self.size()", 1],
  ["self.size() == 1 / 0", 4],
  ["[1 / 0, 2] == []", 11],
  ["(true ? cr : cr).name == ''", 1],
  ["cm.io.policy.pkg.internal.approver.validation.CertificateRequest{name: 'a'} == cr", 42],
  ["duration('1h') + duration('1h') == duration('2h')", 5],
];

describe("rules", () => {
  test("cost what the reference's tracker counts", () => {
    const counted = COSTS.map(([rule]) => {
      const { program, error } = compileRule(rule, compiler);
      assert.ok(program !== undefined, error);
      return [rule, program.evaluate(BINDINGS).cost];
    });
    assert.deepEqual(counted, COSTS);
  });

  test("end at a million units, and nothing absorbs that", () => {
    const nested = `${"[0,1,2,3,4,5,6,7,8,9].all(x, ".repeat(8)}true${")".repeat(8)}`;
    const { program } = compileRule(`true || ${nested}`, compiler);
    assert.equal(program?.evaluate(BINDINGS, { costLimit: 1_000_000 }).result, true);
    const reached = compileRule(`${nested} || true`, compiler).program?.evaluate(BINDINGS, { costLimit: 1_000_000 });
    assert.ok(reached?.result instanceof CelError);
    assert.equal(reached.result.message, "operation cancelled: actual cost limit exceeded");
  });

  test("give a bool, and nothing that only may be one", () => {
    const errors = ["self", "dyn(true)", "google.protobuf.BoolValue{value: true}", "[true]", "null", "cr"].map(
      (rule) => compileRule(rule, compiler).error,
    );
    const given = [
      "string",
      "dyn",
      "wrapper(bool)",
      "list(bool)",
      "null_type",
      "cm.io.policy.pkg.internal.approver.validation.CertificateRequest",
    ];
    assert.deepEqual(
      errors,
      given.map((type) => `got ${type}, wanted bool result type`),
    );
  });
});
