/** Why something has no counterpart: thrown where it is met, told at its place in the old document. */
import type { FieldPath } from "../../../kubernetes/field-error.js";

/** The reason why a part of an old policy is not converted. */
export class NotConverted extends Error {
  /**
   * @param path its place below what the thrower was given; callers put theirs before it
   * @param message what is not converted, and what to write instead
   * @param isOfRule whether the place is complete below the rule: what is met where it is used, such as an entry of the context
   */
  constructor(
    readonly path: FieldPath,
    message: string,
    readonly isOfRule = false,
  ) {
    super(message);
  }
}

/** Runs a conversion of what stands at a place; its reasons get the place. */
export function placed<T>(path: FieldPath, convert: () => T): T {
  try {
    return convert();
  } catch (error) {
    if (!(error instanceof NotConverted) || error.isOfRule) throw error;
    throw new NotConverted([...path, ...error.path], error.message);
  }
}
