/** YAML read as JSON (spec kyverno.md 4.6). */
import {
  CelError,
  DYN,
  type FunctionDeclaration,
  opaqueType,
  type Result,
  STRING,
  type Value,
} from "../../../cel/index.js";
import { withDoubles } from "../../../data/doubles.js";
import { readYamlDocument, YamlError, type YamlOptions } from "../../../data/yaml.js";
import { growing, methodOf } from "./declare.js";
import { HelperValue } from "./helper-value.js";

/** Characters of a text that is read, and those of them that may stand for something: some 40 ms, for reading YAML takes long. */
export const LONGEST_YAML = 2 ** 16;
export const MOST_INDICATORS = 2_000;
/** Values that a text may come to after its aliases are followed: some 10 ms. */
export const MOST_YAML_VALUES = 10_000;

const INDICATOR = /[-?:,[\]{}#&*!|>'"%@`\n]/g;

/** The type and value of the variable `yaml`. */
export const YAML_TYPE = opaqueType("yaml.Yaml");
export const YAML_HELPER = new HelperValue("yaml.Yaml", "yaml");

const OPTIONS: YamlOptions = { mostValues: MOST_YAML_VALUES };

const tooLarge = (): CelError => new CelError("too large to be read as YAML", "too-large");

const notConverted = (reason: string): CelError =>
  new CelError(`error converting YAML to JSON: yaml: ${reason}`, "conversion");

function parse(_helper: Value, text: string): Result {
  if (text.length > LONGEST_YAML || (text.match(INDICATOR)?.length ?? 0) > MOST_INDICATORS) return tooLarge();
  try {
    return withDoubles(readYamlDocument(text, OPTIONS)?.value ?? null) as Value;
  } catch (error) {
    if (!(error instanceof YamlError)) throw error;
    if (error.limit) return tooLarge();
    return notConverted(`line ${error.line}: ${error.reason}`);
  }
}

/** `yaml.parse`. */
export const YAML_FUNCTIONS: readonly FunctionDeclaration[] = [
  methodOf("parse", "parse_string_dyn", [YAML_TYPE, STRING], DYN, parse, { ...growing(1_500), fixed: 40_000 }),
];
