/**
 * Expressions that hold their thread: all the constructed ones first, those of Kyverno's functions before the others, then by chance; and before them the
 * mutations of large objects.
 */
import { Random } from "../cel/support/mutations.js";
import { hasMainThreadTime } from "../support/main-thread-time.js";
import { LIMIT_MS } from "./answer-stalls.js";
import { StallWatch } from "./expression-stalls.js";
import type { Fuzzer } from "./fuzzer.js";
import { constructedExpressions, randomExpression } from "./hostile-expressions.js";
import { kyvernoExpressions } from "./hostile-kyverno.js";
import { mutationStalls } from "./mutation-stalls.js";

/** See `StallWatch`. */
const ALLOWANCE = 2.5;

/** `stalls`: see `StallWatch`. */
export const stallFuzzer: Fuzzer = {
  name: "stalls",
  async run(milliseconds, seed) {
    const end = performance.now() + milliseconds;
    const mutations = hasMainThreadTime() ? await mutationStalls(LIMIT_MS * ALLOWANCE) : [];
    const kyverno = new StallWatch(ALLOWANCE, "kyverno");
    for (const expression of kyvernoExpressions()) {
      if (performance.now() > end - milliseconds / 2) break;
      kyverno.try(expression);
    }
    const watch = new StallWatch(ALLOWANCE);
    for (const expression of constructedExpressions()) {
      if (performance.now() > end) break;
      watch.try(expression);
    }
    const random = new Random(seed);
    while (performance.now() < end) watch.try(randomExpression(random));
    const compiled = watch.compiled + kyverno.compiled;
    console.log(`${compiled} expressions evaluated, ${watch.refused + kyverno.refused} do not compile`);
    const expressions = [...kyverno.stalls, ...watch.stalls];
    return [...mutations, ...expressions.map(({ expression, held }) => `${Math.round(held)} ms: ${expression}`)];
  },
};
