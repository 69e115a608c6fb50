/** Functions of times (RFC 3339) and durations. */

import type { Cel } from "../../cel-text.js";
import * as cel from "../../cel-text.js";
import { NotConverted } from "../../not-converted.js";
import { loopOf, type Scope } from "../../scope.js";
import { known, type Value } from "../value.js";
import { declare, knownText } from "./declare.js";

const stamp = (text: Cel): Cel => cel.call("timestamp", text);

/** Go's layouts that are converted: how their texts become RFC 3339. */
const LAYOUTS: Readonly<Record<string, (text: Cel) => Cel>> = {
  "": (text) => text,
  "2006-01-02T15:04:05Z07:00": (text) => text,
  "2006-01-02T15:04:05": (text) => cel.plus(text, cel.literal("Z")),
  "2006-01-02 15:04:05": (text) =>
    cel.plus(cel.method(text, "replace", cel.literal(" "), cel.literal("T")), cel.literal("Z")),
  "2006-01-02": (text) => cel.plus(text, cel.literal("T00:00:00Z")),
};

/** The time of a text. @param layout Go's layout of it, default RFC 3339 */
function timeOf(value: Value, layout = ""): Cel {
  if (value.timestamp !== undefined && layout === "") return value.timestamp;
  const toStandard = LAYOUTS[layout];
  if (toStandard === undefined)
    throw new NotConverted(
      [],
      `times of the layout ${JSON.stringify(layout)} are not converted, only RFC 3339 and 2006-01-02`,
    );
  return stamp(toStandard(value.cel));
}

const lengthOf = (value: Value): Cel => value.duration ?? cel.call("duration", value.cel);

/** A time as a text. */
const ofTime = (timestamp: Cel): Value => known(cel.call("string", timestamp), "string", { timestamp });
/** A time without parts of a second, in UTC. */
const inUtc = (timestamp: Cel): Cel => stamp(cel.call("int", timestamp));

/** A duration as Go prints it, such as `25h30m0s`: without parts of a second. */
export function durationText(duration: Cel, scope: Scope): Cel {
  const [d, s] = [cel.primary(loopOf(scope, "d").name), cel.primary(loopOf(scope, "s").name)];
  const zero = cel.call("duration", cel.literal("0s"));
  const count = (value: Cel, unit: string): Cel => cel.plus(cel.call("string", value), cel.literal(unit));
  const from = (least: number, part: Cel): Cel =>
    cel.conditional(cel.relation(">=", s, cel.literal(least)), part, cel.literal(""));
  const by = (operator: "%" | "/", a: Cel, b: number): Cel => cel.times(operator, a, cel.literal(b));
  const text = cel.plus(
    cel.conditional(cel.relation("<", d, zero), cel.literal("-"), cel.literal("")),
    from(3600, count(by("/", s, 3600), "h")),
    from(60, count(by("%", by("/", s, 60), 60), "m")),
    count(by("%", s, 60), "s"),
  );
  const seconds = cel.call("math.abs", cel.method(d, "getSeconds"));
  return cel.call("cel.bind", d, duration, cel.call("cel.bind", s, seconds, text));
}

const ofLength = (duration: Cel, scope: Scope): Value => known(durationText(duration, scope), "string", { duration });

const bool = (expression: Cel): Value => known(expression, "bool");
const before = (a: Value, b: Value): Cel => cel.relation("<", timeOf(a), timeOf(b));
const now = cel.primary("time.now()");
/** The current time, to the second as a text. */
const current: Value = known(cel.call("string", inUtc(now)), "string", { timestamp: now });

export const TIME_FUNCTIONS = [
  declare("time_now", "", () => current),
  declare("time_now_utc", "", () => current),
  declare("time_since", "string, string, string", (a, b, { c, scope }) => {
    const layout = knownText("time_since", a, "the layout");
    const end = c.constant?.value === "" ? now : timeOf(c, layout);
    return ofLength(cel.minus(end, timeOf(b, layout)), scope);
  }),
  declare("time_diff", "string, string", (a, b, { scope }) => ofLength(cel.minus(timeOf(b), timeOf(a)), scope)),
  declare("time_add", "string, string", (a, b) => ofTime(cel.plus(timeOf(a), lengthOf(b)))),
  declare("time_truncate", "string, string", (a, b) => ofTime(cel.call("time.truncate", timeOf(a), lengthOf(b)))),
  declare("time_utc", "string", (a) => ofTime(inUtc(timeOf(a)))),
  declare("time_parse", "string, string", (a, b) => {
    const layout = knownText("time_parse", a, "the layout");
    return ofTime(
      /^[+-]?\d+$/.test(layout) ? stamp(cel.call("int", b.cel)) : timeOf(b, layout === "" ? "none" : layout),
    );
  }),
  declare("time_to_cron", "string", (a) => known(cel.call("time.toCron", timeOf(a)), "string")),
  declare("time_before", "string, string", (a, b) => bool(before(a, b))),
  declare("time_after", "string, string", (a, b) => bool(before(b, a))),
  declare("time_between", "string, string, string", (a, b, { c }) => bool(cel.and(before(b, a), before(a, c)))),
];
