import { marshalYaml } from "../../../data/go-yaml/marshal.js";
import { parseYamlDocuments } from "../../../data/yaml.js";
import { readRego } from "../rego-value.js";
import type { Builtin } from "./builtin.js";
import { applyPatch } from "./json-patch.js";
import { listOf, textOf } from "./operands.js";

/** `json.*` and `yaml.*`. */
export const jsonBuiltins: Readonly<Record<string, Builtin>> = {
  "json.is_valid": (text) => typeof text === "string" && succeeds(() => readRego(text)),
  "json.patch": (target, patch) => applyPatch(target, listOf(patch, "json.patch")),
  "yaml.is_valid": (text) => typeof text === "string" && succeeds(() => parseYamlDocuments(text)),
  "yaml.marshal": (value) => marshalYaml(value),
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
