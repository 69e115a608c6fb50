/** `json.*` and `yaml.*`. */
import { stringify } from "yaml";
import { parseJson } from "../../../data/json.js";
import { parseYamlDocuments } from "../../../data/yaml.js";
import type { Builtin } from "./builtin.js";
import { applyPatch } from "./json-patch.js";
import { listOf, textOf } from "./operands.js";

/** See the module. */
export const jsonBuiltins: Readonly<Record<string, Builtin>> = {
  "json.is_valid": (text) => typeof text === "string" && succeeds(() => parseJson(text)),
  "json.patch": (target, patch) => applyPatch(target, listOf(patch, "json.patch")),
  "yaml.is_valid": (text) => typeof text === "string" && succeeds(() => parseYamlDocuments(text)),
  "yaml.marshal": (value) =>
    stringify(plain(value), { sortMapEntries: true, lineWidth: 0, indentSeq: false, compat: "yaml-1.1" }),
  "yaml.unmarshal": (text) => {
    const documents = parseYamlDocuments(textOf(text, "yaml.unmarshal"));
    return documents[0] ?? null;
  },
};

function succeeds(attempt: () => unknown): boolean {
  try {
    attempt();
    return true;
  } catch {
    return false;
  }
}

/** What the YAML printer prints as a number: it does not know `Number` objects. */
function plain(value: unknown): unknown {
  if (value instanceof Number) return value.valueOf();
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value === "object" && value !== null)
    return new Map(Object.entries(value).map(([key, member]) => [key, plain(member)]));
  return value;
}
