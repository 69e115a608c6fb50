/** An evaluated expression as data: every part with its value. */
import { CelError, type Explanation, ObjectValue } from "../../cel/index.js";
import { SizeBudget } from "./size-budget.js";
import type { ExplainedValue } from "./types.js";
import { lineOf, valueText } from "./value-text.js";

/** Options of the conversion. */
export interface PartOptions {
  /** The budget; default: one of its own. */
  readonly room?: SizeBudget;
  /** The offset of the compiled text in the written one; absent: the texts differ, and places are not known. */
  readonly shift?: number | undefined;
}

/**
 * An explanation of CEL's as data. Names without a value of their own are left out, and so are the parts of an expression that was not evaluated.
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
 * Whether a part is a name that says nothing by itself, such as `variables` and `authorizer`: its value has no text, and reading its fields would evaluate them. A
 * name that was not evaluated says nothing either; a call that was not evaluated is shown.
 */
const isNameOnly = ({ text, value }: Explanation): boolean =>
  value instanceof ObjectValue || (value === undefined && /^[.\w]*$/.test(text));
