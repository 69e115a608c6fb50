/** What strings with a format must look like. */
import { parseGoDuration } from "../../data/go/duration.js";
import { isRfc3339 } from "../../data/rfc3339.js";
import type { StringSchema } from "./schema.js";

/** Whether a text has the format. */
export function hasFormat(text: string, format: NonNullable<StringSchema["format"]>): boolean {
  if (format === "duration") return parseGoDuration(text).ok;
  // The API server's own check is laxer, but what it lets pass it cannot read.
  return isRfc3339(text);
}
