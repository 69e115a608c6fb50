/** Time zones of the getters: names of the time zone database and offsets (spec kubernetes-cel.md 3.4). */
import { LRUCache } from "lru-cache";
import { quoted } from "../../data/go/quoted-text.js";
import { CelError } from "./cel-error.js";
import { INT_MAX, INT_MIN } from "./numbers.js";
import { type EarlyOffsets, readTimeZoneData, type TimeZoneData } from "./time-zone-data.js";

/** A zone's offset, in seconds east of UTC, at an instant (Unix seconds). */
export type Zone = (seconds: number) => number;

const UTC: Zone = () => 0;

/** Most zones kept: making one takes about 50 µs, and an expression names one or two. */
const MAX_ZONES = 64;

/** Finds zones by name and keeps the latest ones. */
export class TimeZones {
  readonly #named = new LRUCache<string, Zone>({ max: MAX_ZONES });
  /** The data, read when the first zone is named: few expressions name one. */
  #data: TimeZoneData | undefined;

  /** The zone of a name or of an offset `H:M`; the reference's error for anything else. */
  zone(text: string): Zone | CelError {
    const colon = text.indexOf(":");
    return colon === -1 ? this.#zoneOfName(text) : fixedZone(text, colon);
  }

  #zoneOfName(name: string): Zone | CelError {
    if (name === "" || name === "UTC" || name === "Factory") return UTC;
    const known = this.#named.get(name);
    if (known !== undefined) return known;
    if (name.includes("..") || name.startsWith("/") || name.startsWith("\\")) {
      return new CelError("time: invalid location name");
    }
    this.#data ??= readTimeZoneData();
    if (name !== "Local" && !this.#data.names.has(name)) return new CelError(`unknown time zone ${name}`);
    const later = namedZone(name === "Local" ? undefined : name);
    if (later === undefined) return new CelError(`unknown time zone ${name}`);
    const zone = withEarlyOffsets(this.#data.early.get(name), later);
    this.#named.set(name, zone);
    return zone;
  }
}

/**
 * Offsets from `Intl`, which prints them with seconds where local mean time had them: `GMT-04:56:02`. Undefined for a zone that is newer than the data of this
 * Node: 20.17.0 does not know America/Coyhaique.
 */
function namedZone(timeZone: string | undefined): Zone | undefined {
  let format: Intl.DateTimeFormat;
  try {
    format = new Intl.DateTimeFormat("en-US", { ...(timeZone && { timeZone }), timeZoneName: "longOffset" });
  } catch {
    return undefined;
  }
  let lastSeconds = Number.NaN;
  let lastOffset = 0;
  // An expression reads several parts of one instant.
  return (seconds) => {
    if (seconds !== lastSeconds) {
      lastOffset = offsetIn(format.format(seconds * 1000));
      lastSeconds = seconds;
    }
    return lastOffset;
  };
}

function offsetIn(text: string): number {
  const match = /GMT([+-])([0-9]{2}):([0-9]{2})(?::([0-9]{2}))?$/.exec(text);
  if (match === null) return 0; // plain "GMT"
  const magnitude = Number(match[2]) * 3600 + Number(match[3]) * 60 + Number(match[4] ?? 0);
  return match[1] === "-" ? -magnitude : magnitude;
}

/** The zone with its own history before 1970, where `Intl` has another's. */
function withEarlyOffsets(early: EarlyOffsets | undefined, later: Zone): Zone {
  const end = early?.transitions.at(-1)?.[0];
  if (early === undefined || end === undefined) return later;
  return (seconds) => {
    if (seconds >= end) return later(seconds);
    const before = early.transitions.findLast(([from]) => from <= seconds);
    return before?.[1] ?? early.first;
  };
}

const NANOS_PER_MINUTE = 60_000_000_000n;
const NANOS_PER_SECOND = 1_000_000_000n;

/** `H:M`, any integers: H·60 + M minutes, or H·60 - M when the text starts with a minus sign. Out of range it wraps like the reference. */
function fixedZone(text: string, colon: number): Zone | CelError {
  const hours = parseInteger(text.slice(0, colon));
  if (hours instanceof CelError) return hours;
  const minutes = parseInteger(text.slice(colon + 1));
  if (minutes instanceof CelError) return minutes;
  const offset = text.startsWith("-") ? hours * 60n - minutes : hours * 60n + minutes;
  const nanos = BigInt.asIntN(64, BigInt.asIntN(64, offset) * NANOS_PER_MINUTE);
  const seconds = Number(nanos / NANOS_PER_SECOND);
  return () => seconds;
}

function parseInteger(text: string): bigint | CelError {
  if (!/^[+-]?[0-9]+$/.test(text)) return parseError(text, "invalid syntax");
  const digits = text.replace(/^[+-]?0*/, "");
  if (digits.length > 19) return parseError(text, "value out of range");
  const value = text.startsWith("-") ? -BigInt(digits) : BigInt(digits);
  return value < INT_MIN || value > INT_MAX ? parseError(text, "value out of range") : value;
}

const parseError = (text: string, reason: string): CelError =>
  new CelError(`strconv.Atoi: parsing ${quoted(text)}: ${reason}`);
