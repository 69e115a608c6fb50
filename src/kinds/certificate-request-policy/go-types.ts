/** What Go's types of policies and requests have in common: members that are parsed out of texts. */
import { type ApiType, parsed, struct } from "../../cel-policy/decode/api-type.js";
import { OBJECT_META } from "../../cel-policy/decode/object-meta.js";
import { parseGoDuration } from "../../data/go-duration.js";
import { isRfc3339 } from "../../data/rfc3339.js";

/** A duration. */
export const DURATION: ApiType = parsed((written) => {
  const duration = parseGoDuration(written);
  return duration.ok ? undefined : duration.error;
});

/** A time. */
export const TIME: ApiType = parsed((written) =>
  isRfc3339(written)
    ? undefined
    : `parsing time ${JSON.stringify(written)} as "2006-01-02T15:04:05Z07:00": it is no such time`,
);

/** `metadata`. */
export const METADATA: ApiType = struct("v1.ObjectMeta", {
  ...OBJECT_META.fields,
  creationTimestamp: TIME,
  deletionTimestamp: TIME,
});
