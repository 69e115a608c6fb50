/** Named formats (spec kubernetes-cel.md 4.11). */
import type { Library } from "../declarations.js";
import { added, methodFn, overloadFn } from "../declare.js";
import { listType, opaqueType, optionalType, STRING } from "../types.js";
import { type CelError, noSuchOverload } from "../values/cel-error.js";
import { BUCKET } from "../values/map-key.js";
import { OpaqueValue, Optional, type Value } from "../values/value.js";
import * as rules from "./named-formats.js";

// Named formats as values (spec kubernetes-cel.md 4.11).

/** A named format. */
class FormatValue extends OpaqueValue {
  readonly typeName = "kubernetes.NamedFormat";

  readonly #regexSize: number;

  /**
   * @param name the reference's name of it
   * @param check finds the errors of a text
   * @param regexSize the pattern's size in the cost model
   */
  constructor(
    readonly name: string,
    readonly check: rules.Check,
    regexSize: number,
  ) {
    super();
    this.#regexSize = regexSize;
  }

  override get [BUCKET](): undefined {
    return undefined;
  }

  override get patternSize(): number {
    return this.#regexSize;
  }

  equals(other: Value): boolean | CelError {
    return other instanceof FormatValue ? this.name === other.name : noSuchOverload();
  }

  toString(): string {
    return this.name;
  }
}

const URL_PATTERN_SIZE = 1103;
const DATE_TIME_PATTERN_SIZE = 71;

/** The formats by the name that expressions use. */
const NAMED_FORMATS: ReadonlyMap<string, FormatValue> = new Map(
  (
    [
      ["dns1123Label", new FormatValue("DNS1123Label", rules.dns1123Label, 30)],
      ["dns1123Subdomain", new FormatValue("DNS1123Subdomain", rules.dns1123Subdomain, 60)],
      ["dns1035Label", new FormatValue("DNS1035Label", rules.dns1035Label, 30)],
      ["qualifiedName", new FormatValue("QualifiedName", rules.qualifiedName, 60)],
      ["dns1123LabelPrefix", new FormatValue("DNS1123LabelPrefix", rules.asPrefix(rules.dns1123Label), 30)],
      ["dns1123SubdomainPrefix", new FormatValue("DNS1123SubdomainPrefix", rules.asPrefix(rules.dns1123Subdomain), 60)],
      ["dns1035LabelPrefix", new FormatValue("DNS1035LabelPrefix", rules.asPrefix(rules.dns1035Label), 30)],
      ["labelValue", new FormatValue("LabelValue", rules.labelValue, 40)],
      ["uri", new FormatValue("URI", rules.uri, URL_PATTERN_SIZE)],
      ["uuid", new FormatValue("uuid", rules.uuid, 70)],
      ["byte", new FormatValue("byte", rules.byte, 84)],
      ["date", new FormatValue("date", rules.date, DATE_TIME_PATTERN_SIZE)],
      ["datetime", new FormatValue("datetime", rules.datetime, DATE_TIME_PATTERN_SIZE)],
    ] as const
  ).map(([name, format]) => [name, format]),
);

const FORMAT = opaqueType("kubernetes.NamedFormat");

function named(name: string): Optional {
  const format = NAMED_FORMATS.get(name);
  return format === undefined ? Optional.NONE : Optional.of(format);
}

function validate({ check }: FormatValue, text: string): Optional {
  const problems = check(text);
  return problems.length === 0 ? Optional.NONE : Optional.of(problems);
}

/** `format.NAME()`, `format.named` and `validate`. */
export const formatLibrary: Library = {
  name: "format",
  functions: added(
    "1.31",
    ...Array.from(NAMED_FORMATS, ([name, format]) =>
      overloadFn(`format.${name}`, `format.${name}`, [], FORMAT, () => format),
    ),
    overloadFn("format.named", "format-named", [STRING], optionalType(FORMAT), named),
    methodFn("validate", "format-validate", [FORMAT, STRING], optionalType(listType(STRING)), validate),
  ),
};
