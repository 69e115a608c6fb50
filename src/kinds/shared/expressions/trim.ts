/** White space by Go's `strings.TrimSpace`: U+0085 is included, U+FEFF is not (JavaScript's `trim` has it the other way round). */
const EDGES = /^\p{White_Space}+|\p{White_Space}+$/gu;

/** The text without white space at both ends. */
export const trimSpace = (text: string): string => text.replace(EDGES, "");

/** Longest result of a message expression, in bytes. */
const MESSAGE_MAX_BYTES = 5_120;

/** The message that an expression has made, trimmed; `undefined` where the written one stands (spec validating-admission-policy.md 7.3). */
export function usableMessage(made: unknown): string | undefined {
  if (typeof made !== "string") return undefined;
  const message = trimSpace(made);
  return message !== "" && !message.includes("\n") && Buffer.byteLength(message) <= MESSAGE_MAX_BYTES
    ? message
    : undefined;
}
