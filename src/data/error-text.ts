/** The text of any exception: its message, when it is an Error. Never throws. */
export function errorText(thrown: unknown): string {
  try {
    return String(thrown instanceof Error ? thrown.message : thrown);
  } catch {
    return "something was thrown that has no text";
  }
}
