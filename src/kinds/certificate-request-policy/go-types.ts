/** What Go's types of policies and requests parse out of texts. */
import { parseGoDuration } from "../../data/go-duration.js";

/** What is wrong with a duration, in Go's words; `undefined` when nothing is. */
export const durationError = (written: string): string | undefined => {
  const duration = parseGoDuration(written);
  return duration.ok ? undefined : duration.error;
};

/** Go takes a comma for the point of seconds as well, and an hour of one digit. */
const RFC_3339 = /^(\d{4}-\d{2}-\d{2}T)(\d{1,2})(:\d{2}:\d{2})(?:[.,]\d+)?(Z|[+-]\d{2}:\d{2})$/;

/** What is wrong with a time of RFC 3339. */
export function timeError(written: string): string | undefined {
  const [, date = "", hour = "", rest = "", zone = ""] = RFC_3339.exec(written) ?? [];
  if (date !== "" && !Number.isNaN(Date.parse(`${date}${hour.padStart(2, "0")}${rest}${zone}`))) return undefined;
  return `parsing time ${JSON.stringify(written)} as "2006-01-02T15:04:05Z07:00": it is none`;
}
