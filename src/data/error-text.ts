/** The text of anything that was thrown: its message, when it is an Error. */
export function errorText(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown);
}
