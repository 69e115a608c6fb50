/** The kinds of tokens (spec kubernetes-cel.md 1.2), in the order in which error messages list the expected ones. */

export const EOF = -1;
export const EQUALS = 1;
export const NOT_EQUALS = 2;
export const IN = 3;
export const LESS = 4;
export const LESS_EQUALS = 5;
export const GREATER_EQUALS = 6;
export const GREATER = 7;
export const AND = 8;
export const OR = 9;
export const LEFT_BRACKET = 10;
export const RIGHT_BRACKET = 11;
export const LEFT_BRACE = 12;
export const RIGHT_BRACE = 13;
export const LEFT_PAREN = 14;
export const RIGHT_PAREN = 15;
export const DOT = 16;
export const COMMA = 17;
export const MINUS = 18;
export const NOT = 19;
export const QUESTION = 20;
export const COLON = 21;
export const PLUS = 22;
export const STAR = 23;
export const SLASH = 24;
export const PERCENT = 25;
export const TRUE = 26;
export const FALSE = 27;
export const NULL = 28;
export const FLOAT = 29;
export const INT = 30;
export const UINT = 31;
export const STRING = 32;
export const BYTES = 33;
export const IDENTIFIER = 34;
export const ESCAPED_IDENTIFIER = 35;

/** The tokens with a fixed text, from {@link EQUALS} on, and the others by the names of their kinds. */
const WRITTEN = "== != in < <= >= > && || [ ] { } ( ) . , - ! ? : + * / % true false null".split(" ");
const KINDS = ["NUM_FLOAT", "NUM_INT", "NUM_UINT", "STRING", "BYTES", "IDENTIFIER", "ESC_IDENTIFIER"];
const NAMES: readonly string[] = ["<INVALID>", ...WRITTEN.map((text) => `'${text}'`), ...KINDS];

/** The kind as error messages print it: `'['`, `NUM_INT`, `<EOF>`. */
export const tokenName = (type: number): string => (type === EOF ? "<EOF>" : (NAMES[type] ?? "<INVALID>"));
