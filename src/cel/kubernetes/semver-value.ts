/** Semantic versions as values (spec kubernetes-cel.md 4.10). */

import { quoted } from "../../data/go/quoted-text.js";
import { compareStrings } from "../operators/compare.js";
import { CelError, noSuchOverload } from "../values/cel-error.js";
import { MAX_READ_LENGTH, tooLarge } from "../values/limits.js";
import { BUCKET } from "../values/map-key.js";
import { UINT_MAX } from "../values/numbers.js";
import { OpaqueValue, type Value } from "../values/value.js";

/** A part of a pre-release: a number where it is one. */
type Identifier = bigint | string;

const isNumeric = (text: string): boolean => /^[0-9]*$/.test(text);
const isAlphanumeric = (text: string): boolean => /^[-0-9A-Za-z]*$/.test(text);

/** A text cut at its first dots into at most three parts. */
function threeParts(text: string): string[] {
  const [first = "", second, ...rest] = text.split(".");
  return second === undefined ? [first] : rest.length === 0 ? [first, second] : [first, second, rest.join(".")];
}

/** A uint64, or the error; `name` and `zeros` are its words for the number. */
function parseNumber(text: string, name: string, zeros: string): bigint | CelError {
  if (!isNumeric(text)) return new CelError(`Invalid character(s) found in ${name} ${quoted(text)}`);
  if (text.length > 1 && text.startsWith("0")) {
    return new CelError(`${zeros} must not contain leading zeroes ${quoted(text)}`);
  }
  const failure = `strconv.ParseUint: parsing ${quoted(text)}: `;
  if (text === "") return new CelError(`${failure}invalid syntax`);
  if (text.length > 20 || BigInt(text) > UINT_MAX) return new CelError(`${failure}value out of range`);
  return BigInt(text);
}

function parseIdentifier(text: string): Identifier | CelError {
  if (text === "") return new CelError("Prerelease is empty");
  if (isNumeric(text)) return parseNumber(text, "prerelease", "Numeric PreRelease version");
  return isAlphanumeric(text) ? text : new CelError(`Invalid character(s) found in prerelease ${quoted(text)}`);
}

/** Drops a leading `v` and leading zeros, and fills up to three parts. */
function normalised(text: string): string | CelError {
  const parts = threeParts(text.replace(/^v/, "")).map((part) => {
    if (part.length <= 1) return part;
    const stripped = part.replace(/^0+/, "");
    return /^[0-9]/.test(stripped) ? stripped : `0${stripped}`;
  });
  if (parts.length < 3 && /[-+]/.test(parts.at(-1) ?? "")) {
    return new CelError("short version cannot contain PreRelease/Build meta data");
  }
  while (parts.length < 3) parts.push("0");
  return parts.join(".");
}

/** A semantic version. */
export class SemverValue extends OpaqueValue {
  readonly typeName = "kubernetes.Semver";

  readonly #preRelease: readonly Identifier[];
  readonly #build: readonly string[];

  private constructor(
    /** Major, minor and patch: uint64. */
    readonly numbers: readonly [bigint, bigint, bigint],
    preRelease: readonly Identifier[],
    build: readonly string[],
  ) {
    super();
    this.#preRelease = preRelease;
    this.#build = build;
  }

  /** `semver(text)` and `semver(text, normalise)`. */
  static parse(text: string, normalise = false): SemverValue | CelError {
    if (text.length > MAX_READ_LENGTH) return tooLarge();
    const source = normalise ? normalised(text) : text;
    if (source instanceof CelError) return source;
    if (source === "") return new CelError("Version string empty");
    const parts = threeParts(source);
    if (parts.length !== 3) return new CelError("No Major.Minor.Patch elements found");
    const [majorText = "", minorText = "", rest = ""] = parts;
    const major = parseNumber(majorText, "major number", "Major number");
    if (major instanceof CelError) return major;
    const minor = parseNumber(minorText, "minor number", "Minor number");
    if (minor instanceof CelError) return minor;
    const plus = rest.indexOf("+");
    const build = plus === -1 ? [] : rest.slice(plus + 1).split(".");
    const withoutBuild = plus === -1 ? rest : rest.slice(0, plus);
    const dash = withoutBuild.indexOf("-");
    const patch = parseNumber(dash === -1 ? withoutBuild : withoutBuild.slice(0, dash), "patch number", "Patch number");
    if (patch instanceof CelError) return patch;
    const preRelease: Identifier[] = [];
    for (const identifierText of dash === -1 ? [] : withoutBuild.slice(dash + 1).split(".")) {
      const identifier = parseIdentifier(identifierText);
      if (identifier instanceof CelError) return identifier;
      preRelease.push(identifier);
    }
    for (const part of build) {
      if (part === "") return new CelError("Build meta data is empty");
      if (!isAlphanumeric(part)) return new CelError(`Invalid character(s) found in build meta data ${quoted(part)}`);
    }
    return new SemverValue([major, minor, patch], preRelease, build);
  }

  /** The precedence of two versions; build metadata does not count. */
  compareTo(other: SemverValue): number {
    for (const [i, number] of this.numbers.entries()) {
      const order = compareIdentifiers(number, other.numbers[i] as bigint);
      if (order !== 0) return order;
    }
    // A version without a pre-release comes after those with one.
    if (this.#preRelease.length === 0 || other.#preRelease.length === 0) {
      return Math.sign(other.#preRelease.length - this.#preRelease.length);
    }
    for (const [i, identifier] of this.#preRelease.entries()) {
      const counterpart = other.#preRelease[i];
      if (counterpart === undefined) return 1;
      const order = compareIdentifiers(identifier, counterpart);
      if (order !== 0) return order;
    }
    return this.#preRelease.length < other.#preRelease.length ? -1 : 0;
  }

  equals(other: Value): boolean | CelError {
    return other instanceof SemverValue ? this.compareTo(other) === 0 : noSuchOverload();
  }

  override get [BUCKET](): undefined {
    return undefined;
  }

  override get identity(): string {
    return this.toString();
  }

  toString(): string {
    const pre = this.#preRelease.length === 0 ? "" : `-${this.#preRelease.join(".")}`;
    const build = this.#build.length === 0 ? "" : `+${this.#build.join(".")}`;
    return this.numbers.join(".") + pre + build;
  }
}

/** Numbers come before texts. */
function compareIdentifiers(a: Identifier, b: Identifier): number {
  if (typeof a === "string") return typeof b === "string" ? Math.sign(compareStrings(a, b)) : 1;
  if (typeof b === "string") return -1;
  return a === b ? 0 : a < b ? -1 : 1;
}
