/** An evaluated expression as data: every part with its value. */
import { CelError, type Explanation, ObjectValue } from "../../cel/index.js";
import { SizeBudget } from "./size-budget.js";
import type { ExplainedValue } from "./types.js";
import { lineOf, valueText } from "./value-text.js";

/** How an expression is made data. */
export interface PartOptions {
  /** Default: one of its own. */
  readonly room?: SizeBudget;
  /** How much earlier the text that was written begins than the one that was compiled; absent: it is another text, and places are not known. */
  readonly shift?: number | undefined;
}

/**
 * An explanation of CEL's as data. Names that have no value of their own are left out, and so are the parts of what was not evaluated.
 */
export function explainedValue(
  explanation: Explanation,
  { room = new SizeBudget(), shift }: PartOptions = {},
): ExplainedValue {
  const visit = ({ text, place, value, parts }: Explanation, always: boolean): readonly ExplainedValue[] => {
    const [line, shown] = [lineOf(text), value === undefined ? undefined : valueText(value)];
    if (!room.take(line, shown) && !always) return [];
    const wanted = value === undefined ? [] : parts.filter((part) => part.parts.length > 0 || !isNameOnly(part));
    return [
      {
        ...(place && shift !== undefined && { from: place.from + shift, to: place.to + shift }),
        text: line,
        ...(shown !== undefined && { value: shown }),
        failed: value instanceof CelError,
        parts: wanted.flatMap((part) => visit(part, false)),
      },
    ];
  };
  return visit(explanation, true)[0] as ExplainedValue;
}

/**
 * Such as `variables` and `authorizer`: what they are has no text, and asking them for their fields would evaluate these. They stand alone, and a name that was
 * not evaluated tells nothing; a call that was not does.
 */
const isNameOnly = ({ text, value }: Explanation): boolean =>
  value instanceof ObjectValue || (value === undefined && /^[.\w]*$/.test(text));
