/** The parts of the time zone database that `Intl` lacks: data/time-zones.json, made by scripts/generate-zones.mjs. */
import { readFileSync } from "node:fs";

/** Relative to the compiled file. */
const FILE = new URL("../../../../data/time-zones.json", import.meta.url);

/** The history before 1970 of a zone whose clocks agree with another zone's since: `Intl` uses the other's history, Go keeps both. */
export interface EarlyOffsets {
  /** The offset before the first transition, in seconds east of UTC. */
  readonly first: number;
  /** Unix seconds and the offset from then on, in order; from the last one on `Intl` agrees. */
  readonly transitions: readonly (readonly [number, number])[];
}

/** The data by zone. */
export interface TimeZoneData {
  /** Every name, in its exact spelling: Go finds a zone by file name, while `Intl` folds case and knows more names. */
  readonly names: ReadonlySet<string>;
  readonly early: ReadonlyMap<string, EarlyOffsets>;
}

/** Reads the data, in less than a millisecond. */
export function readTimeZoneData(): TimeZoneData {
  const { names, early } = JSON.parse(readFileSync(FILE, "utf8")) as {
    readonly names: string;
    /** The first offset, then time and offset in turns. */
    readonly early: Readonly<Record<string, readonly number[]>>;
  };
  return { names: new Set(names.split(" ")), early: new Map(Object.entries(early).map(historyOf)) };
}

function historyOf([name, [first = 0, ...rest]]: readonly [string, readonly number[]]): [string, EarlyOffsets] {
  const transitions: [number, number][] = [];
  for (let at = 0; at + 1 < rest.length; at += 2) transitions.push([rest[at]!, rest[at + 1]!]);
  return [name, { first, transitions }];
}
