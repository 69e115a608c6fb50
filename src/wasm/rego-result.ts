/** Parses answers of OPA and Gatekeeper, spec kubewarden.md 3.6, 6.5. */
import { errorText } from "../data/error-text.js";
import { parseJson, UNIQUE_KEYS } from "../data/json.js";
import type { Outcome } from "../policy/outcome.js";
import { fail } from "./failures.js";
import { GuestLimitError } from "./run/guest/guest.js";

/**
 * Applies `read` to the only result's value; `read` throws when it can't.
 * @param unusable the message for an unreadable result
 * @throws GuestLimitError when `read` does
 */
export function readRegoResult(text: string, unusable: string, read: (value: unknown) => Outcome): Outcome {
  let value: unknown;
  try {
    value = parseJson(text, { unique: UNIQUE_KEYS });
  } catch (error) {
    return fail("protocol", `internal server error: ${errorText(error)}`);
  }
  // A rule has one result; with several it is unknown which one counts.
  const only: unknown = Array.isArray(value) && value.length === 1 ? value[0] : undefined;
  try {
    if (typeof only !== "object" || only === null || !("result" in only)) throw new Error("no result");
    return read(only.result);
  } catch (error) {
    if (error instanceof GuestLimitError) throw error;
    return fail("protocol", `internal server error: ${unusable}`);
  }
}
