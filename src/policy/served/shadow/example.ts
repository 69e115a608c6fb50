/** What is told of a request that a version in shadow would have answered differently. */
import type { Review } from "../../review.js";
import type { Verdict } from "../verdict.js";
import type { ShadowExample } from "./tally.js";

/** Characters of a message: a policy may answer with megabytes. */
const MESSAGE_CHARACTERS = 256;
/** Longest name that Kubernetes has; whoever sends requests may write more. */
const NAME_CHARACTERS = 253;
/** As in the decision record: nothing that a policy says about a Secret is told. */
const REDACTED = "[redacted]";

/**
 * An example.
 * @param says the answer whose message is the reason
 */
export function exampleOf(review: Review, at: number, result: ShadowExample["result"], says: Verdict): ShadowExample {
  const message = says.response.status?.message ?? says.vanilla.status?.message;
  if (review.kind !== "admission") return { at, result, ...(message !== undefined && { message: cut(message) }) };
  const { operation, kind, namespace, name } = review.request;
  const isSecret = kind.group === "" && kind.kind === "Secret";
  return {
    at,
    result,
    operation: cut(operation),
    kind: cut(kind.kind),
    ...(namespace !== undefined && { namespace: cut(namespace, NAME_CHARACTERS) }),
    ...(name !== undefined && { name: cut(name, NAME_CHARACTERS) }),
    ...(message !== undefined && { message: isSecret ? REDACTED : cut(message) }),
  };
}

function cut(text: string, characters = MESSAGE_CHARACTERS): string {
  return text.length > characters ? `${text.slice(0, characters)}…` : text;
}
