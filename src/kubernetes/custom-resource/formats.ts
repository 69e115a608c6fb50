/** What strings with a format must look like. */
import { parseGoDuration } from "../../data/go-duration.js";
import type { StringSchema } from "./schema.js";

/** RFC 3339. The API server's own check is laxer, but what it lets pass it cannot read. */
const DATE_TIME = /^\d{4}-\d{2}-\d{2}T([01]\d|2[0-3]):[0-5]\d:[0-5]\d([.,]\d+)?(Z|[+-]\d{2}:\d{2})$/;

/** Whether a text has the format. */
export function hasFormat(text: string, format: NonNullable<StringSchema["format"]>): boolean {
  if (format === "duration") return parseGoDuration(text).ok;
  return DATE_TIME.test(text) && !Number.isNaN(Date.parse(text.replace(",", ".")));
}
