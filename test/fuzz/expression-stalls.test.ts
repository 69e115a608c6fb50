/** No expression that Kubernetes' cost limit allows holds the thread for long, whatever it is given. `npm run fuzz stalls` tries many more. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { Random } from "../cel/support/mutations.js";
import { StallWatch } from "./expression-stalls.js";
import { constructedExpressions, randomExpression } from "./hostile-expressions.js";
import { kyvernoExpressions } from "./hostile-kyverno.js";

/** Of the constructed expressions every so many, in this process: all of them take minutes. */
const EVERY = 12;
/** The same of Kyverno's functions. */
const EVERY_OF_KYVERNO = 40;
const RANDOM_EXPRESSIONS = 30;
/** What was found to hold it for 0.3 to 21 seconds: work that was not counted. */
const FOUND = [
  "duration(span) > duration('1h')",
  "texts.all(t, dyn(short) < faces)",
  "wide.all(k, v, string(beyond < classes) != 'x')",
  "numbers.exists(i, [span < dyn(wide)].size() == 2)",
  "wide.exists(k, quantity('1e4000').add(many).isInteger())",
  `[${"lists.range(many), ".repeat(40)}[0]].size() == 40`,
];
/** Calls that took 0.14 to 0.5 seconds, and a third of the stretch now. */
const CALLS = [
  "capitals.lowerAscii() != capitals.upperAscii()",
  "faces.replace('', '-').size() > 0",
  "faces.split('').size() > 0",
];
/** How many times the stretch one of them may take. */
const CALL_ALLOWANCE = 1.2;

/** See `StallWatch`. */
const ALLOWANCE = 2.5;

test("an evaluation holds its thread for no longer than its stretch", () => {
  const watch = new StallWatch(ALLOWANCE);
  let index = 0;
  for (const expression of constructedExpressions()) if (index++ % EVERY === 0) watch.try(expression);
  const random = new Random(7);
  for (let i = 0; i < RANDOM_EXPRESSIONS; i++) watch.try(randomExpression(random));
  assert.deepEqual(watch.stalls, []);
  assert.ok(watch.compiled > watch.refused, `${watch.refused} of the expressions do not compile`);
});

test("nor do those that once did", () => {
  for (const [expressions, allowance] of [
    [FOUND, ALLOWANCE],
    [CALLS, CALL_ALLOWANCE],
  ] as const) {
    const watch = new StallWatch(allowance);
    for (const expression of expressions) watch.try(expression);
    assert.deepEqual(watch.stalls, []);
    assert.equal(watch.refused, 0);
  }
});

test("nor does one that calls Kyverno's functions, which take long for short texts that are broken", () => {
  const watch = new StallWatch(ALLOWANCE, "kyverno");
  for (const call of ["json.unmarshal('x')", "json.unmarshal(dyn(short))", "yaml.parse('[1')", "gzip.compress('x')"]) {
    watch.try(`numbers.all(i, [${call}].size() == 1)`);
  }
  let index = 0;
  for (const expression of kyvernoExpressions()) if (index++ % EVERY_OF_KYVERNO === 0) watch.try(expression);
  assert.deepEqual(watch.stalls, []);
  assert.equal(watch.refused, 0);
});
