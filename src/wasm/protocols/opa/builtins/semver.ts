import { compareBytes } from "../rego-value.js";
import type { Builtin } from "./builtin.js";
import { writtenOf } from "./operands.js";

/** Three numbers, each without leading zeros. */
const CORE = /^(?:0|[1-9]\d*)\.(?:0|[1-9]\d*)\.(?:0|[1-9]\d*)$/;
const IDENTIFIERS = /^[0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*$/;
const NUMERIC = /^\d+$/;
/** The largest number: they have 64 bits. */
const LARGEST = 2n ** 63n - 1n;
/** Digits of the largest number: a longer text need not be parsed. */
const MOST_DIGITS = 19;

interface Version {
  readonly numbers: readonly bigint[];
  /** Its parts; empty without a prerelease. */
  readonly prerelease: readonly string[];
}

/** `semver.*`: versions of SemVer 2.0.0, which OPA follows since 1.22; a leading `v`, which OPA accepts, is refused as in the reference host. */
export const semverBuiltins: Readonly<Record<string, Builtin>> = {
  "semver.is_valid": (text) => typeof text === "string" && parse(writtenOf(text, "semver.is_valid")) !== undefined,
  "semver.compare": (a, b) => compare(versionOf(a), versionOf(b)),
};

function versionOf(value: unknown): Version {
  const text = writtenOf(value, "semver.compare");
  const version = parse(text);
  if (version === undefined) throw new Error(`semver.compare: ${JSON.stringify(text)} is not a semantic version`);
  return version;
}

function parse(text: string): Version | undefined {
  const [beforeMetadata, metadata] = cut(text, "+");
  const [core, prerelease] = cut(beforeMetadata, "-");
  if (metadata !== undefined && !IDENTIFIERS.test(metadata)) return undefined;
  if (prerelease !== undefined && !IDENTIFIERS.test(prerelease)) return undefined;
  const parts = prerelease?.split(".") ?? [];
  if (!CORE.test(core) || parts.some((part) => NUMERIC.test(part) && part.length > 1 && part.startsWith("0")))
    return undefined;
  const written = core.split(".");
  if (written.some((number) => number.length > MOST_DIGITS)) return undefined;
  const numbers = written.map(BigInt);
  return numbers.every((number) => number <= LARGEST) ? { numbers, prerelease: parts } : undefined;
}

function cut(text: string, mark: string): [string, string | undefined] {
  const at = text.indexOf(mark);
  return at === -1 ? [text, undefined] : [text.slice(0, at), text.slice(at + 1)];
}

function compare(a: Version, b: Version): number {
  for (const [index, left] of a.numbers.entries()) {
    const right = b.numbers[index] ?? 0n;
    if (left !== right) return left < right ? -1 : 1;
  }
  const [left, right] = [a.prerelease, b.prerelease];
  // A version with a prerelease comes before the one without.
  if (left.length === 0 || right.length === 0) return Math.sign(right.length - left.length);
  for (const [index, part] of left.entries()) {
    const order = comparePart(part, right[index]);
    if (order !== 0) return order;
  }
  return left.length < right.length ? -1 : 0;
}

function comparePart(a: string, b: string | undefined): number {
  if (b === undefined) return 1;
  const numeric = NUMERIC.test(a);
  if (numeric !== NUMERIC.test(b)) return numeric ? -1 : 1;
  // Without leading zeros the longer number is the larger one.
  if (numeric && a.length !== b.length) return a.length < b.length ? -1 : 1;
  return Math.sign(compareBytes(a, b));
}
