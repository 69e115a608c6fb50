/** A guest's changed object to the JSON Patch that makes it of the request's. */
import { parseJson, stringifyJson } from "../data/json.js";
import { diff, PatchTooLong } from "../data/json-patch.js";
import type { Mutation } from "../policy/outcome.js";
import { mostPatchBytes } from "./limits.js";
import type { Question } from "./question.js";
import { GuestLimitError } from "./run/guest/guest.js";

/**
 * What a changed object comes to; undefined when it is the request's own. The request is read from the guest's payload, and only here: most
 * policies change nothing.
 * @throws GuestLimitError when the patch is too long
 */
export function mutationTo(mutated: unknown, question: Question): Mutation | undefined {
  const before = originalOf(question);
  if (before === undefined) return { kind: "of-nothing" };
  const most = mostPatchBytes(question.input.length);
  try {
    const operations = diff(before, mutated, most);
    if (operations.length === 0) return undefined;
    const bytes = Buffer.from(stringifyJson(operations));
    if (bytes.length <= most) return { kind: "patch", patch: bytes.toString("base64") };
  } catch (error) {
    if (!(error instanceof PatchTooLong)) throw error;
  }
  throw new GuestLimitError(`the patch that makes the policy's object of the request's is longer than ${most} bytes`);
}

/** What the policy may change; undefined when there is no such thing, as with DELETE. */
function originalOf({ review, input }: Question): unknown {
  const text = Buffer.from(input.buffer, input.byteOffset, input.length).toString();
  const { request } = parseJson(text) as { readonly request: unknown };
  return review === "raw" ? request : ((request as { readonly object?: unknown }).object ?? undefined);
}
