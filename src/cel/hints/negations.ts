/** A hint must keep the negations of an expression: a rule that lost its `not` means the opposite. */
import { blanked } from "./blank.js";

/** Negations of CEL, and of other languages. */
const NEGATIONS = /!|<>|\bnot\b/gi;

/** Whether a text has all negations of another. */
export const keepsNegations = (source: string, fixed: string): boolean => countOf(fixed) >= countOf(source);

const countOf = (text: string): number => blanked(text).text.match(NEGATIONS)?.length ?? 0;
