import { compareBytes } from "../rego-value.js";
import type { Builtin } from "./builtin.js";
import { textOf } from "./operands.js";

const IDENTIFIERS = /^[0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*$/;
/** Numbers are those of 64 bits. */
const LARGEST = 2n ** 63n - 1n;

interface Version {
  readonly numbers: readonly bigint[];
  readonly prerelease: string;
}

/** `semver.*`: versions as OPA reads and orders them. */
export const semverBuiltins: Readonly<Record<string, Builtin>> = {
  "semver.is_valid": (text) => typeof text === "string" && parse(text) !== undefined,
  "semver.compare": (a, b) => compare(versionOf(a), versionOf(b)),
};

function versionOf(value: unknown): Version {
  const text = textOf(value, "semver.compare");
  const version = parse(text);
  if (version === undefined) throw new Error(`semver.compare: ${JSON.stringify(text)} is no semantic version`);
  return version;
}

/** Leading zeros pass, and so does nothing behind a `-` or `+`. */
function parse(text: string): Version | undefined {
  const [beforeMetadata, metadata] = cut(text, "+");
  const [core, prerelease] = cut(beforeMetadata, "-");
  if (![metadata, prerelease].every((part) => part === "" || IDENTIFIERS.test(part))) return undefined;
  if (!/^\d+\.\d+\.\d+$/.test(core)) return undefined;
  const numbers = core.split(".").map(BigInt);
  return numbers.every((number) => number <= LARGEST) ? { numbers, prerelease } : undefined;
}

function cut(text: string, mark: string): [string, string] {
  const at = text.indexOf(mark);
  return at === -1 ? [text, ""] : [text.slice(0, at), text.slice(at + 1)];
}

function compare(a: Version, b: Version): number {
  for (const [index, left] of a.numbers.entries()) {
    const right = b.numbers[index] ?? 0n;
    if (left !== right) return left < right ? -1 : 1;
  }
  // A version with a prerelease comes before the one without.
  if (a.prerelease === "" || b.prerelease === "")
    return Math.sign(Number(a.prerelease === "") - Number(b.prerelease === ""));
  const [left, right] = [a.prerelease.split("."), b.prerelease.split(".")];
  for (const [index, part] of left.entries()) {
    const order = comparePart(part, right[index]);
    if (order !== 0) return order;
  }
  return left.length < right.length ? -1 : 0;
}

function comparePart(a: string, b: string | undefined): number {
  if (b === undefined) return 1;
  const [left, right] = [numberOf(a), numberOf(b)];
  if ((left === undefined) !== (right === undefined)) return left === undefined ? 1 : -1;
  if (left !== undefined && right !== undefined && left !== right) return left < right ? -1 : 1;
  return compareBytes(a, b);
}

function numberOf(part: string): bigint | undefined {
  if (!/^-?\d+$/.test(part)) return undefined;
  const number = BigInt(part);
  return BigInt.asIntN(64, number) === number ? number : undefined;
}
