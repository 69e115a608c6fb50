/** Expressions that hold their thread: all the constructed ones first, then by chance. */
import { Random } from "../cel/support/mutations.js";
import { StallWatch } from "./expression-stalls.js";
import type { Fuzzer } from "./fuzzer.js";
import { constructedExpressions, randomExpression } from "./hostile-expressions.js";

/** See `StallWatch`. */
const ALLOWANCE = 2.5;

/** `stalls`: see `StallWatch`. */
export const stallFuzzer: Fuzzer = {
  name: "stalls",
  run(milliseconds, seed) {
    const end = performance.now() + milliseconds;
    const watch = new StallWatch(ALLOWANCE);
    for (const expression of constructedExpressions()) {
      if (performance.now() > end) break;
      watch.try(expression);
    }
    const random = new Random(seed);
    while (performance.now() < end) watch.try(randomExpression(random));
    console.log(`${watch.compiled} expressions evaluated, ${watch.refused} do not compile`);
    return watch.stalls.map(({ expression, held }) => `${Math.round(held)} ms: ${expression}`);
  },
};
