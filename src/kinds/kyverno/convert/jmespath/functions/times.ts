/** Functions of times (RFC 3339) and durations. */
import * as cel from "../../cel-text.js";
import { type Cel, filled } from "../../cel-text.js";
import { NotConverted } from "../../not-converted.js";
import type { Scope } from "../../scope.js";
import { known, type Value } from "../value.js";
import { declare, knownText, named } from "./declare.js";

/** Go's layouts that are converted: how their texts become times. */
const LAYOUTS: Readonly<Record<string, string>> = {
  "2006-01-02T15:04:05Z07:00": "timestamp(A)",
  "2006-01-02T15:04:05": 'timestamp(A + "Z")',
  "2006-01-02 15:04:05": 'timestamp(A.replace(" ", "T") + "Z")',
  "2006-01-02": 'timestamp(A + "T00:00:00Z")',
};
const RFC3339 = "2006-01-02T15:04:05Z07:00";

/** The time of a text. @param layout Go's layout of it */
function timeOf(value: Value, layout = RFC3339): Cel {
  if (value.timestamp !== undefined && layout === RFC3339) return value.timestamp;
  const template = /^[+-]?\d+$/.test(layout) ? "timestamp(int(A))" : LAYOUTS[layout];
  if (template !== undefined) {
    const { text, level } = filled(template, { A: value.cel });
    return { text: text.replace('" + "', ""), level };
  }
  throw new NotConverted(
    [],
    `times of the layout ${JSON.stringify(layout)} are not converted, only RFC 3339 and 2006-01-02`,
  );
}

/** The duration of a text. */
export const durationOf = (value: Value): Cel => value.duration ?? cel.call("duration", value.cel);

/** A duration as Go prints it, such as `25h30m0s`: without parts of a second. */
const DURATION_TEXT = [
  'cel.bind(d, A, cel.bind(s, math.abs(d.getSeconds()), (d < duration("0s") ? "-" : "")',
  ' + (s >= 3600 ? string(s / 3600) + "h" : "") + (s >= 60 ? string(s / 60 % 60) + "m" : "") + string(s % 60) + "s"))',
].join("");
export const durationText = (duration: Cel): Cel => filled(DURATION_TEXT, { A: duration });
const ofLength = (duration: Cel, scope: Scope): Value =>
  named("duration", known(durationText(duration), "string", { duration }), scope);

/** A time as a text. */
const ofTime = (timestamp: Cel): Value => known(cel.call("string", timestamp), "string", { timestamp });
/** A time without parts of a second, in UTC. */
const inUtc = (timestamp: Cel): Cel => filled("timestamp(int(A))", { A: timestamp });
const NOW = cel.primary("time.now()");
/** The current time, to the second as a text. */
const current: Value = { ...ofTime(inUtc(NOW)), timestamp: NOW };
const before = (a: Value, b: Value): Cel => cel.relation("<", timeOf(a), timeOf(b));

export const TIME_FUNCTIONS = [
  declare("time_now", "", () => current),
  declare("time_now_utc", "", () => current),
  declare("time_since", "string, string, string", (a, b, { c, scope }) => {
    const layout = knownText("time_since", a, "the layout") || RFC3339;
    return ofLength(cel.minus(c.constant?.value === "" ? NOW : timeOf(c, layout), timeOf(b, layout)), scope);
  }),
  declare("time_diff", "string, string", (a, b, { scope }) => ofLength(cel.minus(timeOf(b), timeOf(a)), scope)),
  declare("time_add", "string, string", (a, b) => ofTime(cel.plus(timeOf(a), durationOf(b)))),
  declare("time_truncate", "string, string", (a, b) => ofTime(cel.call("time.truncate", timeOf(a), durationOf(b)))),
  declare("time_utc", "string", (a) => ofTime(inUtc(timeOf(a)))),
  declare("time_parse", "string, string", (a, b) => ofTime(timeOf(b, knownText("time_parse", a, "the layout")))),
  declare("time_to_cron", "string", (a) => known(cel.call("time.toCron", timeOf(a)), "string")),
  declare("time_before", "string, string", (a, b) => known(before(a, b), "bool")),
  declare("time_after", "string, string", (a, b) => known(before(b, a), "bool")),
  declare("time_between", "string, string, string", (a, b, { c }) =>
    known(cel.and(before(b, a), before(a, c)), "bool"),
  ),
];
