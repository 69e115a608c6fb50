/** Converts scalars to JSON values and to keys. */
import { floatText } from "../float-text.js";
import { jsonDouble } from "../json-double.js";
import { double, numberOf } from "../json-reader.js";
import type { YamlScalar } from "./node.js";
import { Float, Mismatch, type Resolved, resolvePlain, resolveTagged } from "./resolve.js";

const INT64_MAX = 2n ** 63n - 1n;

/**
 * The reader. `kubernetes`: sigs.k8s.io/yaml, which prints JSON of it. `go-yaml-3`: Go programs that decode maps of texts with go-yaml v3 itself: `yes`
 * and its kind are texts, keys are as they are written, and the float 1.0 stays one. `opa`: OPA, which prints JSON of go-yaml v3's values: `yes` and its kind
 * are texts, integers have up to 64 bits without a sign, all else is as for Kubernetes.
 */
export type YamlDialect = "kubernetes" | "go-yaml-3" | "opa";

/** Words that are booleans for Kubernetes and texts for go-yaml v3. */
const OLD_BOOLEAN = /^(?:[yYnN]|yes|Yes|YES|no|No|NO|on|On|ON|off|Off|OFF)$/;

const BOOL = "tag:yaml.org,2002:bool";

/** Numbers that YAML 1.2 does not have: octal ones with only a 0 before them, underscores, prefixes in capitals. */
const OLD_NUMBER = /^[-+]?(?:0[0-9]+$|0[XOB]|.*_)/;

/** Whether a scalar that is a boolean or a number for Kubernetes, by YAML 1.1, is a text or another number by YAML 1.2. */
export function isOldWord({ text, style, tag }: YamlScalar, value: unknown): boolean {
  if (style !== "plain" || tag !== "" || value === null || typeof value === "string") return false;
  return typeof value === "boolean" ? OLD_BOOLEAN.test(text) : OLD_NUMBER.test(text);
}

/** The value of a scalar in the number model of `data/json`, or why it has none. */
export function scalarValue(node: YamlScalar, dialect: YamlDialect = "kubernetes"): unknown {
  if (node.style === "json") return jsonWord(node.text);
  const value = resolved(node, dialect);
  switch (typeof value) {
    case "bigint":
      return value > INT64_MAX && dialect !== "opa" ? double(Number(value)) : value;
    case "boolean":
      return dialect === "kubernetes" || !OLD_BOOLEAN.test(node.text) ? value : node.text;
    case "object":
      return value instanceof Float ? floatValue(node, value.value, dialect) : value;
    default:
      return value;
  }
}

function floatValue({ start, text }: YamlScalar, value: number, dialect: YamlDialect): unknown {
  // The float 1.0 is printed as 1, which is read as an integer.
  const isKept = dialect === "go-yaml-3" || (dialect === "opa" && Object.is(value, -0));
  if (Number.isFinite(value)) return isKept ? double(value) : jsonDouble(value);
  return new Unwritable(start, `JSON can't hold the number ${shown(text)}: use a string or a finite number`);
}

/** The key of a scalar, or the error. */
export function keyName(node: YamlScalar, dialect: YamlDialect = "kubernetes"): string | Unwritable {
  const value = resolved(node, dialect);
  if (value instanceof Unwritable) return value;
  if (dialect === "go-yaml-3" && value !== null) return node.text;
  if (typeof value === "string") return value;
  if (dialect === "opa" && typeof value === "boolean" && OLD_BOOLEAN.test(node.text)) return node.text;
  if (value instanceof Float) return floatKey(value.value);
  if (value !== null && !(typeof value === "bigint" && value > INT64_MAX && dialect !== "opa")) return String(value);
  const reason = node.text === "" ? "a key is missing here" : `${shown(node.text)} can't be a key: write it in quotes`;
  return new Unwritable(node.start, reason);
}

function resolved(node: YamlScalar, dialect: YamlDialect): Resolved | Unwritable {
  if (node.tag === "") return node.style === "plain" ? resolvePlain(node.text) : node.text;
  if (dialect === "opa" && node.tag === "!" && node.style === "plain") return resolvePlain(node.text);
  if (dialect === "opa" && node.tag === BOOL && OLD_BOOLEAN.test(node.text))
    return new Unwritable(node.start, "this is no !!bool", true);
  const value = resolveTagged(node.text, node.tag);
  return value instanceof Mismatch ? new Unwritable(node.start, value.reason, true) : value;
}

/** Characters of a scalar in a message: it may have thousands. */
const MOST_SHOWN = 64;

const shown = (text: string): string => (text.length <= MOST_SHOWN ? text : `${text.slice(0, MOST_SHOWN)}…`);

/** The key of a float, which has the digits of a float of 32 bits. */
function floatKey(value: number): string {
  const single = Math.fround(value);
  if (Number.isNaN(single)) return ".nan";
  if (!Number.isFinite(single)) return single > 0 ? ".inf" : "-.inf";
  if (Object.is(single, -0)) return "-0";
  let digits = 1;
  while (Math.fround(Number(single.toPrecision(digits))) !== single) digits++;
  return floatText(Number(single.toPrecision(digits)), "g", undefined).replace(/^\+/, "");
}

/** The error of a scalar that is not a valid value, or key. */
export class Unwritable {
  /** @param isFinal whether it is an error in any place; others are not where the same key is repeated and replaces them */
  constructor(
    readonly offset: number,
    readonly reason: string,
    readonly isFinal: boolean = false,
  ) {}
}

function jsonWord(text: string): unknown {
  if (text === "null") return null;
  return text === "true" || text === "false" ? text === "true" : numberOf(text);
}
