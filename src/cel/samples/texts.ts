/** Texts that functions take: some of each that they can make something of, and some that they cannot. */
import type { Value } from "../values/value.js";
import { exampleOf } from "./example-text.js";

const QUANTITIES = ["1", "2Gi", "500m", "a"];
const VERSIONS = ["1.0.0", "2.1.0", "a"];
const ADDRESSES = ["10.0.0.1", "192.168.1.1", "::1", "a"];
const BLOCKS = ["10.0.0.0/8", "192.168.0.0/16", "a"];
const URLS = ["https://example.com:80/p?q=r", "http://example.org", "a"];
const TIMES = ["2020-01-02T03:04:05Z", "2030-01-02T03:04:05Z"];
const DURATIONS = ["1h", "90s", "1000h"];
const NUMBERS = ["1", "2", 1, 2];

/** By the function that is called with them. */
export const TEXTS: ReadonlyMap<string, readonly Value[]> = new Map<string, readonly Value[]>([
  ["quantity", QUANTITIES],
  ["isQuantity", QUANTITIES],
  ["semver", VERSIONS],
  ["isSemver", VERSIONS],
  ["ip", ADDRESSES],
  ["isIP", ADDRESSES],
  ["containsIP", ADDRESSES],
  ["cidr", BLOCKS],
  ["isCIDR", BLOCKS],
  ["containsCIDR", BLOCKS],
  ["url", URLS],
  ["isURL", URLS],
  ["timestamp", TIMES],
  ["duration", DURATIONS],
  ["int", NUMBERS],
  ["uint", NUMBERS],
  ["double", NUMBERS],
  ["bool", ["true", "false"]],
  ["string", ["a", 1]],
]);

/** Texts that a method answers in one way, and in the other. */
export function textsFor(method: string, argument: string): readonly string[] {
  switch (method) {
    case "startsWith":
      return [`${argument}z`, "z"];
    case "endsWith":
      return [`z${argument}`, "z"];
    case "matches":
    case "find":
      return [exampleOf(argument), `z${exampleOf(argument)}z`, "z", ""];
    default:
      return [`z${argument}z`, argument, "z"];
  }
}
