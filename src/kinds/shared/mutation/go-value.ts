/** Go's form of a CEL value once it is unwrapped, as far as messages show it (`%T`, `%v`, `%#v`). */

import {
  type Duration,
  doubleOf,
  EmptyMessage,
  entriesOf,
  type Kind,
  kindOf,
  MapValue,
  type ObjectValue,
  type OpaqueValue,
  type Optional,
  type Timestamp,
  type TypeValue,
  type Uint,
  type Value,
} from "../../../cel/index.js";
import { floatText } from "../../../data/float-text.js";
import { goDurationText } from "../../../data/go/duration.js";
import { quote } from "../../../data/go/quote.js";
import type { GoType } from "../../../kubernetes/go-types/go-type.js";
import { ForeignValue } from "../../../kubernetes/structured-merge/patch-value.js";
import { VARIABLES_TYPE } from "../dialect.js";

/** Most characters that a message shows of a list or map. */
const TEXT_MAX_LENGTH = 1_000;

const OPAQUE_TYPES: ReadonlyMap<string, string> = new Map([
  ["kubernetes.Quantity", "*resource.Quantity"],
  ["kubernetes.URL", "*url.URL"],
  ["net.IP", "netip.Addr"],
  ["net.CIDR", "netip.Prefix"],
  ["kubernetes.Semver", "semver.Version"],
  ["kubernetes.NamedFormat", "cel.Format"],
]);

/** Kinds of values that have one Go type. */
const TYPES: Partial<Record<Kind, string>> = {
  null: "structpb.NullValue",
  int: "int64",
  uint: "uint64",
  double: "float64",
  bytes: "[]uint8",
  list: "[]ref.Val",
  timestamp: "time.Time",
  duration: "time.Duration",
  bool: "bool",
  string: "string",
  type: "string",
};

/** The Go type. */
export function goTypeOf(value: Value): string {
  const kind = kindOf(value);
  if (kind === "map") return value instanceof MapValue ? "map[ref.Val]ref.Val" : "map[string]interface {}";
  if (kind === "opaque") return OPAQUE_TYPES.get((value as OpaqueValue).typeName) ?? "*types.Err";
  if (kind === "object") return objectType(value as ObjectValue);
  const known = TYPES[kind];
  if (known !== undefined) return known;
  const content = (value as Optional).value;
  return content === undefined ? "<nil>" : goTypeOf(content);
}

function objectType(value: ObjectValue): string {
  if (value instanceof EmptyMessage) return "*dynamicpb.Message";
  if (value.typeName === "JSONPatch") return "*mutation.JSONPatchVal";
  // The server has no value for all variables at once.
  return value.typeName === VARIABLES_TYPE ? "*types.Err" : "map[string]interface {}";
}

/** A value without a form in JSON. */
export const foreignValue = (value: Value): ForeignValue =>
  new ForeignValue(
    goTypeOf(value),
    () => goText(value, TEXT_MAX_LENGTH),
    () => goSyntax(value),
  );

/** A list, map or struct that is Go's own. */
export const goValue = (value: Value, type: GoType): ForeignValue =>
  new ForeignValue(
    type.go,
    () => goText(value, TEXT_MAX_LENGTH),
    () => typedSyntax(value, type),
  );

function typedSyntax(value: Value, type: GoType): string {
  if (type.kind === "list" && Array.isArray(value)) {
    const items = (value as readonly Value[]).slice(0, TEXT_MAX_LENGTH);
    return `${type.go}{${items.map((item) => typedSyntax(item, type.element)).join(", ")}}`;
  }
  if (type.kind === "map") {
    const entries = firstEntries(value, TEXT_MAX_LENGTH);
    return `${type.go}{${entries.map(([key, item]) => `${quote(String(key), false)}:${typedSyntax(item, type.element)}`).join(", ")}}`;
  }
  return typeof value === "string" ? quote(value, false) : `${type.go}{${goText(value, TEXT_MAX_LENGTH)}}`;
}

/** The text that `%v` prints; of lists and maps so many characters. The rest is not read. */
export function goText(value: Value, room: number = TEXT_MAX_LENGTH): string {
  switch (kindOf(value)) {
    case "null":
      return "NULL_VALUE";
    case "uint":
      return String((value as Uint).value);
    case "double":
      return doubleText(doubleOf(value) ?? 0);
    case "bytes":
      return `[${shortened((value as Uint8Array).subarray(0, TEXT_MAX_LENGTH).join(" "))}]`;
    case "list":
      return `[${joined(value as readonly Value[], room, goText)}]`;
    case "map":
      return `map[${joined(firstEntries(value, room), room, entryText)}]`;
    case "timestamp":
      return timeText(value as Timestamp);
    case "duration":
      return goDurationText(BigInt((value as Duration).nanos));
    case "type":
      return (value as TypeValue).name;
    case "object":
    case "optional":
      return "";
    default:
      return String(value);
  }
}

const byKey = ([a]: readonly [Value, Value], [b]: readonly [Value, Value]): number =>
  String(a) < String(b) ? -1 : String(a) > String(b) ? 1 : 0;

/** Least characters of a map's entry: its colon, and a space. */
const ENTRY_MIN_LENGTH = 2;

/** As many entries as fit, sorted: all of them where the text is shown whole. */
function firstEntries(map: Value, room: number): readonly (readonly [Value, Value])[] {
  const entries: (readonly [Value, Value])[] = [];
  for (const entry of entriesOf(map)) {
    entries.push(entry);
    if (entries.length * ENTRY_MIN_LENGTH > room + ENTRY_MIN_LENGTH) break;
  }
  return entries.sort(byKey);
}

const entryText = ([key, item]: readonly [Value, Value], room: number): string => {
  const text = `${goText(key, room)}:`;
  return text.length > room ? text : `${text}${goText(item, room - text.length)}`;
};

function joined<T>(items: readonly T[], room: number, text: (item: T, room: number) => string): string {
  let all = "";
  for (const [i, item] of items.entries()) {
    if (i > 0) all += " ";
    if (all.length > room) break;
    all += text(item, room - all.length);
  }
  return shortened(all, room);
}

const shortened = (text: string, room = TEXT_MAX_LENGTH): string =>
  text.length > room ? `${text.slice(0, room)}…` : text;

function doubleText(value: number): string {
  if (Number.isNaN(value)) return "NaN";
  if (!Number.isFinite(value)) return value > 0 ? "+Inf" : "-Inf";
  const magnitude = Math.abs(value);
  const verb = magnitude !== 0 && (magnitude < 1e-4 || magnitude >= 1e21) ? "e" : "f";
  return floatText(value, verb, undefined).replace(/^\+/, "");
}

const MILLISECONDS = 1_000;
const pad = (number: number, digits: number): string => String(number).padStart(digits, "0");

/** `2020-01-01 00:00:00 +0000 UTC`. */
function timeText({ seconds, nanos }: Timestamp): string {
  const [day, time] = new Date(seconds * MILLISECONDS).toISOString().split("T") as [string, string];
  const fraction = nanos === 0 ? "" : `.${pad(nanos, 9).replace(/0+$/, "")}`;
  return `${day} ${time.slice(0, 8)}${fraction} +0000 UTC`;
}

const MONTHS = "January February March April May June July August September October November December".split(" ");

/** The text that `%#v` prints. */
function goSyntax(value: Value): string {
  switch (kindOf(value)) {
    case "null":
      return "0";
    case "uint":
      return `0x${BigInt((value as Uint).value).toString(16)}`;
    case "bytes": {
      const octets = Array.from(
        (value as Uint8Array).subarray(0, TEXT_MAX_LENGTH),
        (octet) => `0x${octet.toString(16)}`,
      );
      return `[]uint8{${shortened(octets.join(", "))}}`;
    }
    case "timestamp": {
      const { seconds, nanos } = value as Timestamp;
      const date = new Date(seconds * MILLISECONDS);
      const day = `${date.getUTCFullYear()}, time.${MONTHS[date.getUTCMonth()]}, ${date.getUTCDate()}`;
      return `time.Date(${day}, ${date.getUTCHours()}, ${date.getUTCMinutes()}, ${date.getUTCSeconds()}, ${nanos}, time.UTC)`;
    }
    case "duration":
      return String((value as Duration).nanos);
    case "list":
      return `[]ref.Val{${(value as readonly Value[]).slice(0, TEXT_MAX_LENGTH).map(wrapped).join(", ")}}`;
    case "map": {
      const entries = firstEntries(value, TEXT_MAX_LENGTH);
      return `${goTypeOf(value)}{${entries.map(([key, item]) => `${wrapped(key)}:${wrapped(item)}`).join(", ")}}`;
    }
    case "optional": {
      const content = (value as Optional).value;
      return content === undefined ? "<nil>" : goSyntax(content);
    }
    case "opaque":
      if ((value as OpaqueValue).typeName === "kubernetes.Semver") return semverSyntax(String(value));
      return `${goTypeOf(value)}{${goText(value)}}`;
    default:
      return `${goTypeOf(value)}{${goText(value, TEXT_MAX_LENGTH)}}`;
  }
}

/** A part of a list or map: CEL's own scalars look like Go's. */
function wrapped(value: Value): string {
  switch (kindOf(value)) {
    case "string":
      return quote(value as string, false);
    case "bool":
    case "int":
    case "double":
      return goText(value);
    default:
      return goSyntax(value);
  }
}

/** The struct of a semantic version. */
function semverSyntax(text: string): string {
  const [, numbers = "", pre, build] = /^([^-+]*)(?:-([^+]*))?(?:\+(.*))?$/.exec(text) ?? [];
  const [major, minor, patch] = numbers.split(".").map((number) => `0x${BigInt(number).toString(16)}`);
  const identifiers = pre?.split(".").map((each) => {
    const isNumber = /^[0-9]+$/.test(each);
    const number = isNumber ? BigInt(each).toString(16) : "0";
    return `semver.PRVersion{VersionStr:${isNumber ? '""' : quote(each, false)}, VersionNum:0x${number}, IsNum:${isNumber}}`;
  });
  const parts = build?.split(".").map((each) => quote(each, false));
  const list = (type: string, items: readonly string[] | undefined): string =>
    items === undefined ? `[]${type}(nil)` : `[]${type}{${items.join(", ")}}`;
  return `semver.Version{Major:${major}, Minor:${minor}, Patch:${patch}, Pre:${list("semver.PRVersion", identifiers)}, Build:${list("string", parts)}}`;
}
