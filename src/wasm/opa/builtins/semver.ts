/** `semver.*`: versions as semver.org 2.0 orders them. */
import type { Builtin } from "./index.js";
import { textOf } from "./operands.js";

/** Leading zeros pass, as OPA lets them. */
const VERSION =
  /^(\d+)\.(\d+)\.(\d+)(?:-([0-9a-zA-Z-]+(?:\.[0-9a-zA-Z-]+)*))?(?:\+[0-9a-zA-Z-]+(?:\.[0-9a-zA-Z-]+)*)?$/;

interface Version {
  readonly numbers: readonly bigint[];
  readonly prerelease: readonly string[];
}

/** See the module. */
export const semverBuiltins: Readonly<Record<string, Builtin>> = {
  "semver.is_valid": (text) => typeof text === "string" && VERSION.test(text),
  "semver.compare": (a, b) => compare(parse(a), parse(b)),
};

function parse(value: unknown): Version {
  const text = textOf(value, "semver.compare");
  const match = VERSION.exec(text);
  if (!match) throw new Error(`semver.compare: ${JSON.stringify(text)} is no semantic version`);
  return { numbers: match.slice(1, 4).map((part) => BigInt(part ?? 0)), prerelease: match[4]?.split(".") ?? [] };
}

function compare(a: Version, b: Version): number {
  for (const [index, left] of a.numbers.entries()) {
    const right = b.numbers[index] ?? 0n;
    if (left !== right) return left < right ? -1 : 1;
  }
  // A version with a prerelease comes before the one without.
  if (a.prerelease.length === 0 || b.prerelease.length === 0)
    return Math.sign(b.prerelease.length - a.prerelease.length);
  for (let index = 0; index < Math.max(a.prerelease.length, b.prerelease.length); index++) {
    const order = comparePart(a.prerelease[index], b.prerelease[index]);
    if (order !== 0) return order;
  }
  return 0;
}

function comparePart(a: string | undefined, b: string | undefined): number {
  if (a === b) return 0;
  if (a === undefined) return -1;
  if (b === undefined) return 1;
  const numeric = [/^\d+$/.test(a), /^\d+$/.test(b)];
  if (numeric[0] && numeric[1]) return BigInt(a) < BigInt(b) ? -1 : BigInt(a) > BigInt(b) ? 1 : 0;
  if (numeric[0] !== numeric[1]) return numeric[0] ? -1 : 1;
  return a < b ? -1 : 1;
}
