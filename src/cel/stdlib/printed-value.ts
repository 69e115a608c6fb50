/** Values of any kind inside the few error texts that print them whole, in the manner of Go's `%v`. */
import { kindOf } from "../operators/kind.js";
import { entriesOf } from "../operators/maps.js";
import { printKey } from "../operators/print.js";
import { durationInUnits } from "../values/duration-text.js";
import type { Duration, Timestamp } from "../values/time.js";
import { timestampText } from "../values/timestamp-text.js";
import type { TypeValue } from "../values/type-value.js";
import type { Optional, Value } from "../values/value.js";

/** Most characters of a printed value: an error text should not contain a whole object. */
const MAX_LENGTH = 10_000;

/** The value's text. */
export function printedValue(value: Value): string {
  const text = print(value);
  return text.length > MAX_LENGTH ? text.slice(0, MAX_LENGTH) : text;
}

function print(value: Value): string {
  switch (kindOf(value)) {
    case "null":
      return "0";
    case "list":
      return `[${(value as readonly Value[]).map(printedValue).join(", ")}]`;
    case "map":
      return `{${Array.from(entriesOf(value), ([key, each]) => `${printedValue(key)}: ${printedValue(each)}`).join(", ")}}`;
    case "bytes":
      return `[${(value as Uint8Array).join(" ")}]`;
    case "timestamp":
      return instant(value as Timestamp);
    case "duration":
      return durationInUnits(value as Duration);
    case "type":
      return (value as TypeValue).name;
    case "optional": {
      const content = (value as Optional).value;
      return content === undefined ? "optional.none()" : `optional(${printedValue(content)})`;
    }
    case "opaque":
    case "object":
      return String(value);
    default:
      return printKey(value);
  }
}

/** `2024-02-29 12:00:00.5 +0000 UTC`. */
function instant(timestamp: Timestamp): string {
  const text = timestampText(timestamp);
  const [, date, time, zone = ""] = /^(.*)T([0-9:.]+)(.*)$/.exec(text) ?? [];
  const offset = zone.replace(":", "");
  return zone === "Z" ? `${date} ${time} +0000 UTC` : `${date} ${time} ${offset} ${offset}`;
}
