/** Denials that monitor mode hides from the client, for display. */
import type { Verdict } from "./verdict.js";

/** The message of the denial, `""` where it has none; `undefined` where nothing is hidden. */
export function wouldDeny({ entry, response, vanilla, outcome }: Verdict): string | undefined {
  if (entry.mode !== "monitor" || !response.allowed) return undefined;
  const changes = (outcome.verdict === "allow" || outcome.verdict === "deny") && outcome.mutation !== undefined;
  if (!vanilla.allowed) return vanilla.status?.message ?? "";
  return changes && !entry.allowedToMutate ? "it changes the object, which it is not allowed to" : undefined;
}
