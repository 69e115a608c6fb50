/** The time of evaluation, and truncating and printing times (spec kyverno.md 4.6). */
import {
  DURATION,
  type Duration,
  type FunctionDeclaration,
  fn,
  overload,
  STRING,
  TIMESTAMP,
  Timestamp,
} from "../../../cel/index.js";
import type { KyvernoState } from "../state.js";
import { functions, SMALL } from "./declare.js";

/** Seconds from the year 1, the origin of truncated times, to 1970. */
const FROM_YEAR_ONE = 62_135_596_800n;
const NANOS = 1_000_000_000n;
const MS = 1_000;
const NANOS_OF_MS = 1_000_000;

/** The time rounded down to a multiple of the duration; unchanged for a duration that is not positive. */
function truncate(time: Timestamp, { nanos }: Duration): Timestamp {
  const step = BigInt(nanos);
  if (step <= 0n) return time;
  const since = (BigInt(time.seconds) + FROM_YEAR_ONE) * NANOS + BigInt(time.nanos);
  const cut = since - (since % step);
  return new Timestamp(Number(cut / NANOS - FROM_YEAR_ONE), Number(cut % NANOS), time.offsetSeconds);
}

/** Minute, hour, day, month and weekday, in the time's own time zone. */
function toCron({ seconds, offsetSeconds }: Timestamp): string {
  const date = new Date((seconds + offsetSeconds) * MS);
  const [minute, hour, day] = [date.getUTCMinutes(), date.getUTCHours(), date.getUTCDate()];
  return `${minute} ${hour} ${day} ${date.getUTCMonth() + 1} ${date.getUTCDay()}`;
}

function now(time: number): Timestamp {
  const seconds = Math.floor(time / MS);
  return new Timestamp(seconds, Math.floor((time - seconds * MS) * NANOS_OF_MS));
}

/** `time.now`, `time.truncate` and `time.toCron`. */
export const TIME_FUNCTIONS: readonly FunctionDeclaration[] = [
  fn("time.now", {
    ...overload("time_now", [], TIMESTAMP),
    call: (state) => now((state as KyvernoState).time),
    work: SMALL,
  }),
  ...functions(["time.truncate"], "time_truncate", [TIMESTAMP, DURATION], TIMESTAMP, truncate, SMALL),
  ...functions(["time.toCron"], "time_to_cron", [TIMESTAMP], STRING, toCron, SMALL),
];
