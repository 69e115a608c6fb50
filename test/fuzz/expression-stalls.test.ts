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
/** What was found to hold it for up to 14 seconds: work that was not counted, or that one call took. */
const FOUND = [
  "capitals.lowerAscii() != capitals.upperAscii()",
  "letters.replace('a', 'bb').size() > 0",
  "letters.replace('a', 'bb', 1900000).size() > 0",
  "letters.split('a', 1900000).size() > 0",
  "faces.replace('', '-').size() > 0",
  "faces.split('').size() > 0",
  "strings.quote(quotes).size() > 0",
  "ideographs.trim() == ''",
  "duration(span) > duration('1h')",
  "texts.all(t, dyn(short) < faces)",
  "wide.all(k, v, string(beyond < classes) == 'true')",
  "numbers.exists(i, [span < dyn(wide)].size() == 2)",
  "numbers.all(i, optional.ofNonZeroValue(dyn(wider)).hasValue())",
  "wide.exists(k, quantity('1e4000').add(many).isInteger())",
  `[${"lists.range(many), ".repeat(40)}[0]].size() == 40`,
];

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
  const watch = new StallWatch(ALLOWANCE);
  for (const expression of FOUND) watch.try(expression);
  assert.deepEqual(watch.stalls, []);
  assert.equal(watch.refused, 0);
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
