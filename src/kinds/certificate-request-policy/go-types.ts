/** What Go's types of policies and requests have in common: members that are parsed out of texts. */

import { parseGoDuration } from "../../data/go/duration.js";
import { type ApiType, parsed } from "../shared/decode/api-type.js";

/** A duration. */
export const DURATION: ApiType = parsed((written) => {
  const duration = parseGoDuration(written);
  return duration.ok ? undefined : duration.error;
});
