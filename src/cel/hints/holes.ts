/** Expressions in which other mistakes are replaced by variables, so that the rest can be tried. */
import type { HintSource } from "./hint-source.js";
import { Part } from "./part.js";

/** Names of variables of any type that stand for wrong parts. */
export const HOLES: readonly string[] = Array.from({ length: 8 }, (_, i) => `__hole${i}__`);

/** The expression with a variable in the place of each part that the environment refuses, as far as there are variables. */
export function withHoles(source: string, environment: Pick<HintSource, "check" | "parse">): string {
  let text = source;
  for (const hole of HOLES) {
    const checked = environment.check(text);
    if (checked.ok) break;
    const parsed = environment.parse(text);
    const wrong = checked.issues.find(({ id }) => id !== undefined)?.id;
    const part = parsed === undefined || wrong === undefined ? undefined : Part.of(parsed, wrong);
    if (part === undefined) break;
    text = part.replacedBy(hole);
  }
  return text;
}
