import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, test } from "node:test";
import { CelError, Waiting } from "../../../src/cel/index.js";
import { createRuleCompiler, RULE_DIALECT } from "../../../src/kinds/certificate-request-policy/dialect.js";
import { RequestValue } from "../../../src/kinds/certificate-request-policy/request-value.js";
import {
  type CompiledRule,
  compileRule,
  type RuleResult,
  runRule,
} from "../../../src/kinds/certificate-request-policy/rules.js";
import { Attempt } from "../../../src/kinds/shared/expressions/attempt.js";
import { Progress } from "../../../src/kinds/shared/expressions/progress.js";
import type { Watcher } from "../../../src/kinds/shared/watcher.js";
import { goQuote } from "../../../src/kubernetes/field-error.js";
import { Turns } from "../../../src/policy/turns.js";
import { NO_OPINION } from "../../../src/world/authorizer/authorizer.js";
import { RequestWorld } from "../../../src/world/request-world.js";
import { worldOf } from "../../../src/world/world.js";

interface Policy {
  readonly spec: { readonly allowed: { readonly commonName: { readonly validations: readonly [{ rule: string }] } } };
}

/** A rule of `commonName` with what approver-policy says of it. */
interface Golden {
  readonly id: string;
  readonly policy?: Policy;
  readonly policies?: readonly [Policy];
  readonly certificateRequest?: {
    readonly metadata: { readonly name: string; readonly namespace: string };
    readonly spec: { readonly username?: string; readonly groups?: readonly string[] };
  };
  readonly csr?: { readonly subject: readonly [readonly [{ readonly value: string }]] };
  readonly expect: { readonly message: string };
}

const file = new URL("../../../../test/vectors/certificate-request-policy/rules.jsonl", import.meta.url);
const cases = readFileSync(file, "utf8")
  .trim()
  .split("\n")
  .map((line) => JSON.parse(line) as Golden);
const PLACE = "spec.allowed.commonName.validations[0]";

const compiler = createRuleCompiler();
const request = (name = "", namespace = "", username = "", groups: readonly string[] = []) =>
  new RequestValue(name, namespace, username, groups);
const requestWorld = (now = () => 0) => new RequestWorld(worldOf([], { authorizer: NO_OPINION, now }));

const ruleOf = (policy: Policy): string => policy.spec.allowed.commonName.validations[0].rule;

/** Rules over items, item by item; `said` is what earlier attempts have found. */
function runRules(
  rules: readonly CompiledRule[],
  { items, cr, attempt }: { items: readonly string[]; cr: RequestValue; attempt: Attempt },
  said: RuleResult[] = [],
): readonly RuleResult[] | Waiting {
  const runs = items.flatMap((self) => rules.map((rule) => ({ self, rule })));
  for (const { self, rule } of runs.slice(said.length)) {
    const result = runRule(rule, { self, cr }, attempt);
    if (result instanceof Waiting) return result;
    said.push(result);
  }
  return said;
}

/** What rules say of items. */
function results(rules: readonly string[], items: readonly string[], cr = request()): readonly RuleResult[] {
  const compiled = rules.map((rule) => compileRule(rule, compiler));
  const attempt = new Attempt(RULE_DIALECT, requestWorld());
  const said = runRules(compiled, { items, cr, attempt });
  assert.ok(!(said instanceof Waiting));
  return said;
}

const worded = (result: RuleResult | undefined): unknown => (result instanceof CelError ? result.message : result);

/** The review's message about a rule. */
function reviewMessage({ policies, certificateRequest, csr }: Golden): string {
  assert.ok(policies !== undefined && certificateRequest !== undefined && csr !== undefined);
  const { metadata, spec } = certificateRequest;
  const self = csr.subject[0][0].value;
  const cr = request(metadata.name, metadata.namespace, spec.username, spec.groups);
  const [result] = results([ruleOf(policies[0])], [self], cr);
  if (result === true) return 'Approved by CertificateRequestPolicy: "p"';
  const objection =
    result instanceof CelError ? `Internal error: ${result.message}` : `Invalid value: ${goQuote(self)}: false`;
  return `No policy approved this request: [p: ${PLACE}: ${objection}]`;
}

describe("what approver-policy says of rules", () => {
  test("is said here, word for word, of those that do not compile", () => {
    const refused = cases.filter(({ policy }) => policy !== undefined);
    assert.ok(refused.length > 150);
    for (const { id, policy, expect } of refused) {
      const rule = policy === undefined ? "" : ruleOf(policy);
      const { error } = compileRule(rule, compiler);
      assert.equal(`${PLACE}: Invalid value: ${goQuote(rule)}: ${error}`, expect.message, id);
    }
  });

  for (const [part, about] of [
    ["run", "of those that are run"],
    ["limit", "of those that just about are within the cost limit, or are not"],
  ] as const) {
    test(`is said here, word for word, ${about}`, () => {
      const run = cases.filter(({ id }) => id.startsWith(`${part}/`));
      assert.ok(run.length > 20);
      for (const golden of run) assert.equal(reviewMessage(golden), golden.expect.message, golden.id);
    });
  }
});

describe("rules", () => {
  test("are compiled once a text, to the letter, those with mistakes too", () => {
    assert.equal(compileRule("self == 'a'", compiler), compileRule("self == 'a'", compiler));
    assert.notEqual(compileRule("self == 'a'", compiler), compileRule("self == 'a' ", compiler));
    assert.equal(compileRule("selv", compiler), compileRule("selv", compiler));
  });

  test("are run item by item, and every one of them", () => {
    const said = results(["self == 'a'", "1 / 0 == 1", "cel", "self == 'b'"], ["a", "b"]).map(worded);
    const undeclared = "ERROR: <input>:1:1: undeclared reference to 'cel' (in container '')\n | cel\n | ^";
    const failed = ["division by zero", undeclared];
    assert.deepEqual(said, [true, ...failed, false, false, ...failed, true]);
    assert.deepEqual(results([], ["a"]), []);
    assert.deepEqual(results(["true"], []), []);
  });

  test("cost what they cost for each item anew", () => {
    // Each takes more than half of the limit.
    const ten = "[0,1,2,3,4,5,6,7,8,9]";
    const rule = `${ten}.all(a, ${ten}.all(b, ${ten}.all(c, ${ten}.all(d, ${ten}.all(e, true)))))`;
    assert.deepEqual(results([rule, rule], ["a", "b", "c"]), Array(6).fill(true));
  });

  test("are watched where they are compiled for somebody who watches", () => {
    const ran: string[] = [];
    const watcher: Watcher = {
      watch: (program) => ({
        source: program.source,
        constant: program.constant,
        checked: program.checked,
        references: program.references,
        evaluate: (bindings, options) => {
          ran.push(`${program.source} of ${String(bindings.self)}`);
          return program.evaluate(bindings, options);
        },
      }),
    };
    const rule = compileRule("self == 'a'", createRuleCompiler(watcher));
    const attempt = new Attempt(RULE_DIALECT, requestWorld());
    runRules([rule], { items: ["a", "b"], cr: request(), attempt });
    assert.deepEqual(ran, ["self == 'a' of a", "self == 'a' of b"]);
  });
});

describe("rules that take long", () => {
  const costly = compileRule("cr.groups.all(g, cr.groups.all(h, g != h + 'x'))", compiler);
  const many = request("", "", "", Array(100).fill("group"));
  const items = Array.from({ length: 12 }, (_, index) => `item-${index}`);

  test("let others have their turn, and go on where they were", async () => {
    let time = 0;
    // Every look at the clock is 6 ms later: after two of them others have their turn.
    const now = (): number => {
      time += 6;
      return time;
    };
    const world = requestWorld(now);
    const turns = new Turns();
    const circumstances = { deadline: { at: Number.POSITIVE_INFINITY, now }, turns, progress: new Progress() };
    const found: RuleResult[] = [];
    let attempts = 0;
    const ask = () => {
      attempts += 1;
      const attempt = new Attempt(RULE_DIALECT, world, circumstances);
      return runRules([costly, costly], { items, cr: many, attempt }, found);
    };
    const waits = { deadline: Number.POSITIVE_INFINITY, signal: new AbortController().signal, turns };
    const said = await world.questions.settle(ask, waits, () => Waiting.INSTANCE);
    assert.deepEqual(said, Array(24).fill(true));
    assert.ok(attempts > 3, `${attempts} attempts`);
  });

  test("end the whole request when time is up, and object to nothing", () => {
    let time = 0;
    const now = (): number => time++;
    const attempt = new Attempt(RULE_DIALECT, requestWorld(now), { deadline: { at: 5, now } });
    assert.ok(runRules([costly], { items, cr: many, attempt }) instanceof Waiting);
    assert.equal(attempt.interruption?.cause, "timeout");
  });

  test("end the whole request when they make what is too large", () => {
    const grow = compileRule(`self${".replace('e', 'eeee')".repeat(20)} == ''`, compiler);
    const attempt = new Attempt(RULE_DIALECT, requestWorld());
    assert.ok(runRules([grow], { items: ["e"], cr: request(), attempt }) instanceof Waiting);
    assert.equal(attempt.interruption?.cause, "timeout");
  });
});
