/** The common part of Go's types of policies and requests: members that are parsed from texts. */

import { parseGoDuration } from "../../data/go/duration.js";
import { type ApiType, parsed } from "../shared/decode/api-type.js";

/** A duration. */
export const DURATION: ApiType = parsed((written) => {
  const duration = parseGoDuration(written);
  return duration.ok ? undefined : duration.error;
});
