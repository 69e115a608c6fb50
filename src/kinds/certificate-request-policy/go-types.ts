/** What Go's types of policies and requests have in common: members that are parsed out of texts. */
import { type ApiType, parsed } from "../../cel-policy/decode/api-type.js";
import { parseGoDuration } from "../../data/go-duration.js";

/** A duration. */
export const DURATION: ApiType = parsed((written) => {
  const duration = parseGoDuration(written);
  return duration.ok ? undefined : duration.error;
});
