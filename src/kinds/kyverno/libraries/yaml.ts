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

/** Most characters of a text that is read: some 40 ms where nearly each of them has a meaning. */
export const LONGEST_YAML = 2 ** 16;
/** Most values and keys of a text once its aliases are resolved: some 10 ms. */
export const MOST_YAML_VALUES = 20_000;

/** The type and value of the variable `yaml`. */
export const YAML_TYPE = opaqueType("yaml.Yaml");
export const YAML_HELPER = new HelperValue("yaml.Yaml", "yaml");

const OPTIONS: YamlOptions = { mostValues: MOST_YAML_VALUES };

const tooLarge = (): CelError => new CelError("too large to be read as YAML", "too-large");

const notConverted = (reason: string): CelError =>
  new CelError(`error converting YAML to JSON: yaml: ${reason}`, "conversion");

function parse(_helper: Value, text: string): Result {
  if (text.length > LONGEST_YAML) return tooLarge();
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
