import { marshalYaml } from "../../../data/go-yaml/marshal.js";
import { readYamlDocument } from "../../../data/yaml.js";
import { readRego } from "../rego-value.js";
import type { Builtin } from "./builtin.js";
import { applyPatch } from "./json-patch.js";
import { listOf, textOf } from "./operands.js";

/** `json.*` and `yaml.*`. */
export const jsonBuiltins: Readonly<Record<string, Builtin>> = {
  "json.is_valid": (text) => typeof text === "string" && succeeds(() => readRego(text)),
  "json.patch": (target, patch) => applyPatch(target, listOf(patch, "json.patch")),
  "yaml.is_valid": (text) => typeof text === "string" && succeeds(() => readYamlDocument(text)),
  "yaml.marshal": (value) => marshalYaml(value),
  "yaml.unmarshal": (text) => readYamlDocument(textOf(text, "yaml.unmarshal"))?.value ?? null,
};

function succeeds(attempt: () => unknown): boolean {
  try {
    attempt();
    return true;
  } catch {
    return false;
  }
}
