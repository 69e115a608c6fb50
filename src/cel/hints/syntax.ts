/** Hints for texts that are not expressions. */
import { blanked } from "./blank.js";
import { FOREIGN_SYNTAX, type ForeignSyntax } from "./foreign-syntax.js";
import type { Hint } from "./hint.js";
import type { HintSource } from "./hint-source.js";

// A hint must keep the negations of an expression: a rule that lost its `not` means the opposite.

/** Negations of CEL, and of other languages. */
const NEGATIONS = /!|<>|\bnot\b/gi;

/** Whether a text has all negations of another. */
export const keepsNegations = (source: string, fixed: string): boolean => countOf(fixed) >= countOf(source);

const countOf = (text: string): number => blanked(text).text.match(NEGATIONS)?.length ?? 0;

/** An operator at the end, after which an operand is missing. */
const UNFINISHED = /(&&|\|\||[<>=!]=|[-+*/%<>?:.,!])\s*$/;
/** Characters at the end that are searched for it. */
const MAX_TAIL = 200;

/** A hint for a text that can't be parsed; undefined where none leads to a sound expression. */
export function syntaxHint(source: string, environment: HintSource): Hint | undefined {
  const parses = (text: string): boolean => {
    const checked = environment.check(text);
    if (!checked.ok && (checked.issues.length === 0 || checked.issues.some(({ code }) => code === "syntax")))
      return false;
    return keepsNegations(source, text) && environment.isSound(text, source);
  };
  // Each alone, and then all together: people who write & for && do so throughout.
  for (const { hint, mend } of FOREIGN_SYNTAX) {
    const fixed = mend(source);
    if (fixed !== source && parses(fixed)) return { text: hint, fixed };
  }
  let text = source;
  const used: ForeignSyntax[] = [];
  for (const each of FOREIGN_SYNTAX) {
    const next = each.mend(text);
    if (next === text) continue;
    used.push(each);
    text = next;
  }
  if (used.length > 0 && parses(text))
    return { text: [...new Set(used.map(({ hint }) => hint))].join("; "), fixed: text };
  const { open, text: bare } = blanked(source);
  if (open !== undefined) return { text: `close the text that begins with ${source.slice(open, open + 12)}` };
  const [, operator] = UNFINISHED.exec(bare.slice(-MAX_TAIL)) ?? [];
  return operator === undefined
    ? undefined
    : { text: `the expression ends with ${operator}: write what stands behind it, or leave it out` };
}
