/** White space by Go's `strings.TrimSpace`: U+0085 is included, U+FEFF is not (JavaScript's `trim` has it the other way round). */
const EDGES = /^\p{White_Space}+|\p{White_Space}+$/gu;

/** The text without white space at both ends. */
export const trimSpace = (text: string): string => text.replace(EDGES, "");
